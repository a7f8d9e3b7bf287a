// SPDX-License-Identifier: GPL-2.0
/*
 * owner NAME: processes with an mm that has no obvious owner. Each line on stdin is a step, and
 * the result is printed on stdout for the case.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	((size_t)sysconf(_SC_PAGESIZE))

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void touch(size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static void step(void)
{
	char c;

	do {
		if (read(0, &c, 1) != 1)
			exit(0);
	} while (c != '\n');
}

/*
 * A vfork child that faults while its parent is held in vfork(): 200 pages
 * after the first step, and as many after the second.
 */
static void do_vfork(void)
{
	int status;
	pid_t pid;

	say("ready");
	pid = vfork();
	if (!pid) {
		prctl(PR_SET_NAME, "the-child");
		step();
		touch(200);
		say("%d", (int)getpid());
		step();
		touch(200);
		say("touched");
		step();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("vfork");
	say("parent again");
	step();
}

static char stack[1 << 16];

static int survivor(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "survivor");
	step();
	touch(300);
	say("touched");
	step();
	return 0;
}

/* Two processes, one memory; the first one ends. */
static void do_clonevm(void)
{
	pid_t pid;

	touch(100);
	say("ready");
	step();
	pid = clone(survivor, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		die("clone");
	say("%d", (int)pid);
	_exit(0);
}

static int stays(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "stays");
	for (;;)
		pause();
	return 0;
}

/* Two processes, one memory; the first one becomes somebody else and executes. */
static void do_leaves(void)
{
	pid_t pid;

	touch(100);
	pid = clone(stays, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		die("clone");
	if (setuid(1234))
		die("setuid");
	execlp("sh", "sh", "-c", "echo ready; read x; echo $0; read x", "left", NULL);
	die("execlp");
}

static void *goes_on(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "a-thread");
	for (;;) {
		step();
		touch(250);
		say("touched");
	}
	return NULL;
}

/* The first thread ends, another one goes on. */
static void do_leader(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, goes_on, NULL))
		die("pthread_create");
	say("ready");
	pthread_exit(NULL);
}

/* Root at first, then uid 1234 in effect only, then for good. */
static void do_setuid(void)
{
	say("ready");
	step();
	if (seteuid(1234))
		die("seteuid");
	say("effective");
	step();
	if (seteuid(0) || setuid(1234))
		die("setuid");
	touch(100);
	say("real");
	step();
}

static void do_comm(void)
{
	say("ready");
	step();
	prctl(PR_SET_NAME, "another name");
	say("renamed");
	step();
	prctl(PR_SET_NAME, "\"\\\n\t{\x01\xff");
	say("odd");
	step();
}

/* The first process of a pid namespace, if started by unshare -pf. */
static void do_init(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "inner child");
		touch(100);
		for (;;)
			pause();
	}
	say("ready");
	step();
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "vfork", do_vfork }, { "clonevm", do_clonevm }, { "leaves", do_leaves },
	{ "leader", do_leader }, { "setuid", do_setuid }, { "comm", do_comm }, { "init", do_init },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run();
		return 0;
	}
	fprintf(stderr, "usage: owner vfork|clonevm|leaves|leader|setuid|comm|init\n");
	return 2;
}
