// SPDX-License-Identifier: GPL-2.0
/*
 * anyleak MODE: for allocators that keep no heads of blocks. Requests of all sizes up to 2000 bytes
 * live for random times, sessions of 150 to 300 bytes for some seconds. MODE is one of
 *
 *	leak	keep_order() leaks 120 bytes in each round
 *	twin	what it returns is freed after a random time
 *	cache	a twin with a full cache, whose entries live for a minute or so
 *
 * Prints "ready PID" when all that is bounded is full.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS	1000U
#define SESSIONS	400U
#define ORDERS		500U
#define CACHE		20000U
#define site		__attribute__((noipa))

static char *requests[REQUESTS], *sessions[SESSIONS], *orders[ORDERS], *cache[CACHE];
static unsigned long turn = 88172645463325252UL;

static unsigned long draw(unsigned long n)
{
	turn ^= turn << 13;
	turn ^= turn >> 7;
	turn ^= turn << 17;
	return (turn >> 8) % n;
}

static site char *fill(char *p, size_t n)
{
	size_t i;

	if (!p)
		abort();
	for (i = 0; i < n; i++)
		p[i] = (char)(1 + (turn + i * 2654435761UL) % 250);
	return p;
}

static site char *make_order(void)
{
	char *p = fill(malloc(120), 120);

	p[0] = 2;	/* no tail call */
	return p;
}

static site char *keep_order(void)
{
	char *p = make_order();

	p[1] = 3;
	return p;
}

static site void handle_request(void)
{
	char **at = &requests[draw(REQUESTS)];
	size_t n = 16 + draw(1984);

	free(*at);
	*at = draw(4) ? fill(malloc(n), n) : fill(calloc(1, n), n);
	if (!draw(8))
		*at = fill(realloc(*at, n + 100), n + 100);
}

static site void begin_session(void)
{
	char **at = &sessions[draw(SESSIONS)];
	size_t n = 150 + draw(150);

	free(*at);
	*at = fill(malloc(n), n);
}

static site void put_entry(void)
{
	static unsigned int next;
	char **at = &cache[next++ % CACHE];

	free(*at);
	*at = fill(malloc(200), 200);
}

static void a_round(const char *mode)
{
	char **at = &orders[draw(ORDERS)], *order;
	int i;

	for (i = 0; i < 12; i++)
		handle_request();
	begin_session();
	if (!strcmp(mode, "cache"))
		put_entry();
	order = keep_order();
	if (!strcmp(mode, "leak"))
		return;
	free(*at);
	*at = order;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "leak";
	unsigned int i;

	for (i = 0; i < CACHE && !strcmp(mode, "cache"); i++)
		put_entry();
	for (i = 0; i < 5000; i++)
		a_round(strcmp(mode, "leak") ? mode : "twin");
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		a_round(mode);
		usleep(1500);
	}
}
