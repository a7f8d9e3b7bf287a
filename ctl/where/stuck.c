// SPDX-License-Identifier: GPL-2.0
/*
 * A last bound for a read of memory. The kernel waits in it for what provides the page: a server of
 * a file system, or a program that handles faults in user space. If that does not answer, neither
 * a signal nor a limit of CPU time ends the read; only the end of this program does. So a second
 * thread looks at the first one.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "where/where.h"

/* Nothing of the target: the first thread releases that at its end. */
struct watched {
	const struct ctx *ctx;
	u32 pid;
	void (*end)(void *arg);
	void *arg;
};

static void *watch(void *arg)
{
	const struct watched *w = arg;
	unsigned int seconds = 0, before = 0, now;

	/* Counted, not timed: while the machine is suspended no read goes on. */
	while (seconds < STUCK_SECONDS) {
		sleep(1);
		now = __atomic_load_n(&target_turn, __ATOMIC_RELAXED);
		seconds = now % 2 && now == before ? seconds + 1 : 0;
		before = now;
	}
	fail(w->ctx, "process %u: a read of its memory did not end within %u s", w->pid,
	     STUCK_SECONDS);
	w->end(w->arg);
	_exit(1);
}

/**
 * stuck_watch() - end this program if a read of memory does not end
 * @t: the process, not open yet
 * @end: called before the end of this program, in another thread, while the read is under way
 * @arg: for @end
 *
 * Without memory for a thread there is no such bound.
 */
void stuck_watch(const struct target *t, void (*end)(void *arg), void *arg)
{
	static struct watched watched;
	sigset_t all, old;
	pthread_t thread;

	watched = (struct watched){ t->ctx, t->pid, end, arg };
	/* Signals are for the first thread, which blocks them later. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, watch, &watched))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
