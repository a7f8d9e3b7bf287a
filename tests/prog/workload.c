// SPDX-License-Identifier: GPL-2.0
/*
 * Workloads with a known number of faults, for the VM cases: workload NAME [ARG].
 * Each exits by itself and prints the pages it touched as "NAME pages=N".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096UL

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *map(size_t pages, int flags)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static void touch(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

/* n pages, one write fault each */
static void do_anon(size_t n)
{
	touch(map(n, MAP_PRIVATE), n);
}

/* the same pages given back and taken again: faults without growth */
static void do_churn(size_t n)
{
	char *p = map(256, MAP_PRIVATE);

	for (size_t done = 0; done < n; done += 256) {
		touch(p, 256);
		madvise(p, 256 * PAGE, MADV_DONTNEED);
	}
}

static void do_shmem(size_t n)
{
	touch(map(n, MAP_SHARED), n);
}

/* the kernel faults the pages in: read(2) into a fresh buffer */
static void do_readbuf(size_t n)
{
	int fd = open("/dev/zero", O_RDONLY);
	char *p = map(n, MAP_PRIVATE);

	if (fd < 0 || read(fd, p, n * PAGE) != (ssize_t)(n * PAGE))
		die("read");
	close(fd);
}

static void do_populate(size_t n)
{
	map(n, MAP_PRIVATE | MAP_POPULATE);
}

static int file_of(size_t n)
{
	char name[] = "workload.XXXXXX", buf[PAGE];
	int fd = mkstemp(name);

	if (fd < 0)
		die("mkstemp");
	unlink(name);
	memset(buf, 1, sizeof(buf));
	for (size_t i = 0; i < n; i++)
		if (write(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf))
			die("write");
	return fd;
}

/* a mapped file read through: up to 16 pages a fault */
static void do_fileread(size_t n)
{
	volatile char *p = mmap(NULL, n * PAGE, PROT_READ, MAP_SHARED, file_of(n), 0);
	unsigned int sum = 0;

	if (p == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < n; i++)
		sum += p[i * PAGE];
	if (sum != n)
		exit(1);
}

/* a shared mapping written: file pages, one write fault each */
static void do_filewrite(size_t n)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file_of(n), 0);

	if (p == MAP_FAILED)
		die("mmap");
	touch(p, n);
}

/* a private mapping written: anonymous pages from file pages */
static void do_cow(size_t n)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_of(n), 0);

	if (p == MAP_FAILED)
		die("mmap");
	touch(p, n);
}

static size_t share;

static void *thread(void *unused)
{
	(void)unused;
	do_anon(share);
	return NULL;
}

static void do_threads(size_t n)
{
	pthread_t t[8];

	share = n / 8;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, thread, NULL))
			die("pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* a child in the parent's memory faults before it executes another program */
static void do_vfork(size_t n)
{
	char *p = map(n, MAP_PRIVATE);
	int status;
	pid_t pid = vfork();

	if (!pid) {
		touch(p, n);
		execl("/proc/self/exe", "workload", "anon", "100", NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("vfork");
}

/* exec in place: the same pid, another mm */
static void do_exec(size_t n)
{
	char arg[32];

	do_anon(n);
	snprintf(arg, sizeof(arg), "%zu", n);
	execl("/proc/self/exe", "workload", "anon", arg, NULL);
	die("exec");
}

/* memory shared by two processes that are not threads; the first one ends */
static char clone_stack[65536];
static size_t clone_pages;

static int clone_child(void *stays)
{
	do_anon(clone_pages);
	if (stays)
		pause();
	usleep(1500000);
	return 0;
}

static void go_on_in_a_clone(size_t n, void *stays)
{
	clone_pages = n;
	if (clone(clone_child, clone_stack + sizeof(clone_stack), CLONE_VM | SIGCHLD, stays) < 0)
		die("clone");
	_exit(0);	/* the child goes on in this memory */
}

static void do_clonevm(size_t n)
{
	go_on_in_a_clone(n, NULL);
}

/* the same, until it is killed */
static void do_clonestay(size_t n)
{
	go_on_in_a_clone(n, clone_stack);
}

static void do_migrate(size_t n)
{
	char *p = map(n, MAP_PRIVATE);
	cpu_set_t set;

	for (size_t i = 0; i < n; i++) {
		CPU_ZERO(&set);
		CPU_SET(i / 16 % 2, &set);
		if (i % 16 == 0)
			sched_setaffinity(0, sizeof(set), &set);
		touch(p + i * PAGE, 1);
	}
}

/* n children that fault and end, four at a time */
static void do_forks(size_t n)
{
	int running = 0, status;

	for (size_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			do_anon(50);
			_exit(0);
		}
		if (pid < 0)
			die("fork");
		if (++running == 4 && wait(&status) > 0)
			running--;
	}
	while (wait(&status) > 0)
		;
}

static const struct {
	const char *name;
	void (*run)(size_t n);
} workloads[] = {
	{ "anon", do_anon }, { "churn", do_churn }, { "shmem", do_shmem },
	{ "readbuf", do_readbuf }, { "populate", do_populate }, { "fileread", do_fileread },
	{ "filewrite", do_filewrite }, { "cow", do_cow }, { "threads", do_threads },
	{ "vfork", do_vfork }, { "exec", do_exec }, { "clonevm", do_clonevm },
	{ "clonestay", do_clonestay },
	{ "migrate", do_migrate }, { "forks", do_forks },
};

/* workload NAME [N [stay]]: with "stay" it waits to be killed when it is done */
int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;

	for (size_t i = 0; argc > 1 && i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(argv[1], workloads[i].name))
			continue;
		workloads[i].run(n);
		if (argc > 3) {
			printf("ready\n");
			fflush(stdout);
			pause();
		}
		return 0;
	}
	fprintf(stderr, "usage: workload NAME [PAGES [stay]]\n");
	return 2;
}
