// SPDX-License-Identifier: GPL-2.0
/*
 * Child processes for the fuzzer: two of root and two of nobody. One of them grows and gives
 * memory back, so that there are verdicts and alerts.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "nlfuzz.h"

#define STEP	(512U << 10)
#define TOP	(64U << 20)

pid_t kids[KIDS];

static _Noreturn void live(unsigned int i)
{
	struct timespec t = { .tv_nsec = 100000000 };
	size_t n = 0;
	char *p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "nlfuzz-kid");
	if (i % 2 && setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	while (i)
		pause();
	p = mmap(NULL, TOP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(1);
	for (;; nanosleep(&t, NULL)) {
		if (n == TOP) {
			madvise(p, TOP, MADV_DONTNEED);
			n = 0;
		}
		memset(p + n, 1, STEP);
		n += STEP;
	}
}

void kids_begin(void)
{
	unsigned int i;

	for (i = 0; i < KIDS; i++) {
		kids[i] = fork();
		need(kids[i] >= 0, "fork: %s", strerror(errno));
		if (!kids[i])
			live(i);
	}
}

void kids_stop(void)
{
	unsigned int i;

	for (i = 0; i < KIDS && kids[i] > 0; i++) {
		kill(kids[i], SIGKILL);
		waitpid(kids[i], NULL, 0);
	}
}
