// SPDX-License-Identifier: GPL-2.0
/*
 * siteleak MODE: a program with a site that leaks, site_leak(), beside another that allocates ten
 * times as often in the same class and frees, site_churn(). MODE is one of
 *
 *	leak	that
 *	twin	it frees all
 *	storm	a twin that forks children that allocate, execute and exit, and loads libraries
 *	rare	it leaks once in RARE rounds
 *	grow	a twin with one block that realloc() makes larger, site_grow()
 *	cache	a twin with a full cache of the same class, whose entries live for minutes
 *	block	rare, and with one large block that is new, after five seconds
 *
 * It prints "ready PID MALLOC", the address of malloc(). At SIGUSR1 it forks two children, one
 * that allocates and one that does not, and prints "children BUSY QUIET"; at SIGUSR2 it executes
 * itself anew. `siteleak leak UID` becomes that user.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	200
#define LIVE	64	/* blocks of the churn that are in use at a time */
#define RARE	100U
#define CACHE	100000U

static void *live[LIVE];
static unsigned long turn;
static volatile sig_atomic_t fork_now, exec_now;

static void __attribute__((noipa)) fill(char *p)
{
	turn++;
	for (size_t i = 0; i + sizeof(turn) <= BYTES; i += sizeof(turn))
		memcpy(p + i, &turn, sizeof(turn));
}

static __attribute__((noipa)) void *wrapped(size_t n)
{
	char *p = malloc(n);

	if (!p)
		abort();
	fill(p);
	return p;
}

static __attribute__((noipa)) void *site_leak(void)
{
	char *p = wrapped(BYTES);

	p[0] = 1;	/* no tail call */
	return p;
}

static __attribute__((noipa)) void site_churn(void)
{
	unsigned int at = (unsigned int)(turn % LIVE);
	void *old = live[at];

	/* The place of the old one is the next one's, or that of what leaks. */
	live[at] = wrapped(BYTES);
	((char *)live[at])[0] = 2;
	free(old);
}

static __attribute__((noipa)) void site_grow(void)
{
	static size_t n = 300000;
	static char *list;

	n += 1000;
	list = realloc(list, n);
	if (!list)
		abort();
	memset(list + n - 1000, 1 + (int)(n % 251), 1000);
	list[0] = 3;
}

static __attribute__((noipa)) void site_cache(void)
{
	static void *entry[CACHE];
	static unsigned int at;

	at = (at + 1) % CACHE;
	free(entry[at]);
	entry[at] = wrapped(BYTES);
}

static __attribute__((noipa)) void site_block(void)
{
	static char *block;

	if (!block)
		block = calloc(1, 3 << 20);
}

/* What the modes do beside the churn, once in a round */
static void extra(const char *mode, unsigned long n)
{
	int block = !strcmp(mode, "block");

	if (!strcmp(mode, "leak") || ((block || !strcmp(mode, "rare")) && n % RARE == 0))
		site_leak();
	if (!strcmp(mode, "grow") && n % 4 == 0)
		site_grow();
	if (!strcmp(mode, "cache"))
		site_cache();
	if (block && n * 2 > 5000)
		site_block();
}

static void note(int sig)
{
	if (sig == SIGUSR1)
		fork_now = 1;
	else
		exec_now = 1;
}

static pid_t child(int busy)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; busy && i < 100; i++)
		site_churn();
	for (;;)
		pause();
}

static void storm(char *self)
{
	static const char *const libraries[] = { "libm.so.6", "libdl.so.2", "libpthread.so.0" };
	void *lib = dlopen(libraries[turn % 3], RTLD_NOW);
	pid_t pid = fork();

	if (!pid) {
		site_churn();
		if (turn % 2)
			execl(self, self, "short", NULL);
		_exit(0);
	}
	if (lib)
		dlclose(lib);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	char *mode = argc > 1 ? argv[1] : "leak";
	unsigned long n;

	if (!strcmp(mode, "short"))
		return 0;
	if (argc > 2 && setuid((uid_t)atoi(argv[2])))
		return 1;
	signal(SIGUSR1, note);
	signal(SIGUSR2, note);
	for (n = 0; !strcmp(mode, "cache") && n < CACHE; n++)
		site_cache();
	printf("ready %d %lu\n", getpid(), (unsigned long)dlsym(RTLD_NEXT, "malloc"));
	fflush(stdout);
	for (n = 1; ; n++) {
		for (int i = 0; i < 10; i++)
			site_churn();
		extra(mode, n);
		if (!strcmp(mode, "storm"))
			storm(argv[0]);
		if (fork_now) {
			fork_now = 0;
			printf("children %d", child(1));
			printf(" %d\n", child(0));
			fflush(stdout);
		}
		if (exec_now)
			execl("/proc/self/exe", argv[0], mode, NULL);
		usleep(2000);
	}
}
