// SPDX-License-Identifier: GPL-2.0
/*
 * late THREADS: a real-time task for a tracer of delays, while the module looks for the process
 * that a record belongs to, among as many pids. Starts THREADS threads that sleep, which each
 * have a pid. Then a process shares its memory with another one (CLONE_VM) and exits, so that
 * the next full pass looks for the other. Meanwhile it wakes up 10000 times a second, for five
 * seconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS	100000
#define SECOND		1000000000LL

static char stack[65536];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void wake_up(void)
{
	struct timespec t;

	for (long long due = now(), end = due + 5 * SECOND; due < end; due += EVERY_NS) {
		t.tv_sec = due / SECOND;
		t.tv_nsec = due % SECOND;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static int heir(void *arg)
{
	(void)arg;
	sleep(20);
	return 0;
}

/* A process whose memory another one uses too, with a later pid. It ends after three seconds. */
static void leave_an_heir(void)
{
	if (clone(heir, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(1);
	sleep(3);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sched_param p = { .sched_priority = 50 };
	long n = argc == 2 ? atol(argv[1]) : 0;
	int status = 1;
	pthread_attr_t attr;
	pthread_t t;
	pid_t pid;

	if (n < 1) {
		fputs("usage: late THREADS\n", stderr);
		return 2;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (n--)
		if (pthread_create(&t, &attr, rest, NULL))
			die("pthread_create");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		leave_an_heir();
	sleep(1);
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("sched_setscheduler");
	wake_up();
	if (waitpid(pid, &status, 0) != pid || status)
		die("no heir");
	return 0;
}
