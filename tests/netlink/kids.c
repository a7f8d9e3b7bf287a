// SPDX-License-Identifier: GPL-2.0
/*
 * Child processes for the tests: processes that follow commands, crowds that stay, and crowds
 * that start and exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "nltest.h"

#ifdef SYS_setresuid32
#define SETRESUID SYS_setresuid32	/* the other one has uids of 16 bits */
#else
#define SETRESUID SYS_setresuid
#endif

void msleep(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

int run(const char *cmd)
{
	int status = system(cmd);

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* ---- one that does as it is told ---- */

struct order {
	char what;
	size_t n;
};

void *map(size_t n, int prot)
{
	void *p = n ? mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
		    : NULL;

	if (p == MAP_FAILED)
		_exit(3);
	return p;
}

void touch(size_t n)
{
	char *p = map(n, PROT_READ | PROT_WRITE);

	if (!n)
		return;
	madvise(p, n, MADV_NOHUGEPAGE);
	memset(p, 1, n);
}

static void touch_shared(size_t n)
{
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(3);
	memset(p, 1, n);
}

static void *thread(void *arg)
{
	*(volatile pid_t *)arg = syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static pid_t start_thread(void)
{
	static volatile pid_t tid;
	pthread_t t;

	tid = 0;
	if (pthread_create(&t, NULL, thread, (void *)&tid))
		_exit(4);
	while (!tid)
		msleep(1);
	return tid;
}

static void obey(int in, int out, void *reserve, size_t reserved)
{
	struct order o;
	pid_t reply;

	while (read(in, &o, sizeof(o)) == sizeof(o)) {
		reply = 0;
		switch (o.what) {
		case '+':
			touch(o.n);
			break;
		case 's':
			touch_shared(o.n);
			break;
		case '-':
			munmap(reserve, reserved);
			break;
		case 't':
			reply = start_thread();
			break;
		case 'z':
			start_thread();
			if (write(out, &reply, sizeof(reply)) < 0)
				_exit(5);
			syscall(SYS_exit, 0);	/* of this thread alone */
		}
		if (write(out, &reply, sizeof(reply)) < 0)
			_exit(5);
	}
	_exit(0);
}

/*
 * A fork that has a name and a user from its first instant on: the module takes those that a
 * process has at its first sample, and several of one name and user for one service. A task that
 * shares the memory of this one, so that it is none to the module, takes them and forks its
 * sibling. It calls the kernel itself, as the library may hold what it knows of uids in this
 * memory. @comm: NULL for the name of this one. @uid: 0 for the user of this one.
 * Return: as fork().
 */
static pid_t fork_named(const char *comm, uid_t uid)
{
	volatile pid_t pid = -1;
	pid_t namer;

	if (!comm && !uid)
		return fork();
	namer = vfork();
	if (!namer) {
		if (comm)
			prctl(PR_SET_NAME, comm);
		if (uid && syscall(SETRESUID, uid, uid, uid))
			_exit(2);
		pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
		if (!pid)
			return 0;	/* with a stack of its own */
		_exit(0);
	}
	if (namer > 0)
		waitpid(namer, NULL, 0);
	return pid;
}

void kid_start(struct kid *k, size_t touched, size_t reserve, const char *comm, uid_t uid)
{
	int to[2], from[2];
	void *r;

	need(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe: %s", strerror(errno));
	k->pid = fork_named(comm, uid);
	need(k->pid >= 0, "fork: %s", strerror(errno));
	if (!k->pid) {
		close(to[1]);
		close(from[0]);
		alarm(0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		touch(touched);
		r = map(reserve, PROT_NONE);
		obey(to[0], from[1], r, reserve);
	}
	close(to[0]);
	close(from[1]);
	k->in = to[1];
	k->out = from[0];
	kid_ask(k, '+', 0);		/* it is up */
}

pid_t kid_ask(struct kid *k, char what, size_t n)
{
	struct order o;
	pid_t reply = -1;

	memset(&o, 0, sizeof(o));
	o.what = what;
	o.n = n;
	need(write(k->in, &o, sizeof(o)) == sizeof(o), "a child is gone");
	need(read(k->out, &reply, sizeof(reply)) == sizeof(reply), "a child died");
	return reply;
}

void kid_end(struct kid *k)
{
	kill(k->pid, SIGKILL);
	waitpid(k->pid, NULL, 0);
	close(k->in);
	close(k->out);
}

/* ---- crowds ---- */

void kids_start(pid_t *pid, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pid[i] = fork();
		need(pid[i] >= 0, "fork %u: %s", i, strerror(errno));
		if (!pid[i]) {
			alarm(0);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	msleep(200);		/* each has run, and faulted on its stack */
}

void kids_end(const pid_t *pid, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		kill(pid[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(pid[i], NULL, 0);
}

int exec_churn(const char *rounds)
{
	char next[16];

	snprintf(next, sizeof(next), "%d", atoi(rounds) - 1);
	if (atoi(rounds) <= 0)
		return 0;
	msleep(1);
	execl("/proc/self/exe", "nltest", "--exec-churn", next, NULL);
	return 1;
}

static void churn(enum churn how)
{
	volatile char *p;
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid && how == CHURN_EXEC) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/proc/self/exe", "nltest", "--exec-churn", "20", NULL);
			_exit(1);
		}
		if (!pid) {
			p = map(65536, PROT_READ | PROT_WRITE);
			p[0] = 1;
			p[8192] = 1;
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

pid_t churn_start(enum churn how, unsigned int wide)
{
	pid_t group = fork(), pid;

	need(group >= 0, "fork: %s", strerror(errno));
	if (!group) {
		alarm(0);
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (wide--) {
			pid = fork();
			if (!pid) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				churn(how);
			}
		}
		for (;;)
			pause();
	}
	setpgid(group, group);
	return group;
}

void churn_end(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
