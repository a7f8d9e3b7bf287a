// SPDX-License-Identifier: GPL-2.0
/*
 * seldom RATE MS [twin]: a site that leaks a block of 4000 bytes each MS milliseconds, beside one
 * that allocates and frees RATE blocks of the same class in a second. The twin frees the block
 * after a while. Each site calls malloc() itself.
 *
 * It prints "ready PID SELDOM BUSY", the return addresses of these calls. At SIGUSR1 it forks two
 * children, one that runs both sites and one that does not, and prints "children BUSY QUIET".
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES	4000
#define LIVE	64	/* blocks of the busy site that are in use at a time */

static void *live[LIVE], *kept[LIVE];
static unsigned long turn, leaked;
static volatile sig_atomic_t fork_now;

static void __attribute__((noipa)) fill(char *p)
{
	if (!p)
		abort();
	turn++;
	for (size_t i = 0; i + sizeof(turn) <= 128; i += sizeof(turn))
		memcpy(p + i, &turn, sizeof(turn));
}

static __attribute__((noipa)) void site_seldom(int twin)
{
	char *p = malloc(BYTES);

	fill(p);
	if (twin) {
		free(kept[leaked % LIVE % 2]);
		kept[leaked % LIVE % 2] = p;
	}
	leaked++;
}

static __attribute__((noipa)) void site_busy(void)
{
	unsigned int at = (unsigned int)(turn % LIVE);
	void *old = live[at];

	/* The place of the old one is the next one's, or that of what leaks. */
	live[at] = malloc(BYTES);
	fill(live[at]);
	free(old);
}

/* The address behind the first call in a function */
static unsigned long behind_call(void (*function)())
{
	unsigned char code[128];

	memcpy(code, (void *)function, sizeof(code));
#ifdef __x86_64__
	for (size_t i = 0; i + 5 < sizeof(code); i++)
		if (code[i] == 0xe8)
			return (unsigned long)function + i + 5;
#else
	for (size_t i = 0; i + 4 < sizeof(code); i += 4)
		if (code[i + 3] >> 2 == 0x25)
			return (unsigned long)function + i + 4;
#endif
	abort();
}

static void children(void)
{
	pid_t busy = fork(), quiet = busy ? fork() : 0;

	if (busy && quiet) {
		printf("children %d %d\n", busy, quiet);
		fflush(stdout);
		return;
	}
	signal(SIGUSR1, SIG_IGN);
	while (busy)
		pause();
}

static void note(int sig)
{
	(void)sig;
	fork_now = 1;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double rate, ms, next, begin, now;
	unsigned long busy = 0;
	int twin = argc > 3;

	if (argc < 3)
		return 2;
	rate = atof(argv[1]) / 1000;
	ms = atof(argv[2]);
	signal(SIGUSR1, note);
	for (int i = 0; i < LIVE; i++)
		site_busy();
	printf("ready %d %lu %lu\n", getpid(), behind_call((void (*)())site_seldom),
	       behind_call(site_busy));
	fflush(stdout);
	begin = now_ms();
	next = begin + ms;
	for (;;) {
		now = now_ms();
		for (; (double)busy < (now - begin) * rate; busy++)
			site_busy();
		if (now >= next) {
			site_seldom(twin);
			next += ms;
		}
		if (fork_now) {
			fork_now = 0;
			children();
		}
		usleep(1000);
	}
}
