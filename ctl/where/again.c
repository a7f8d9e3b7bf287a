// SPDX-License-Identifier: GPL-2.0
/*
 * When the sampled blocks are looked at. Looks between those that are asked for find blocks that
 * are freed and given out again meanwhile.
 */
#include <string.h>
#include "where/burst.h"

#define LOOKS		8U	/* up to the first one that is asked for */
#define LOOKS_BETWEEN	4U	/* and between any two of them */
#define SETTLE_MS	1000U	/* in which a program fills in a block, at most */
#define SECONDS_MAX	86400U

/* Reads "5,30,120". Returns false if these are not up to AGAIN_MAX numbers that ascend. */
bool again_parse(const char *list, struct again *again)
{
	char word[16];
	size_t n;
	u64 v;

	for (again->n = 0; again->n < AGAIN_MAX; list++) {
		n = strcspn(list, ",");
		if (!n || n >= sizeof(word))
			return false;
		memcpy(word, list, n);
		word[n] = '\0';
		if (!parse_u64(word, &v) || !v || v > SECONDS_MAX ||
		    (again->n && v <= again->seconds[again->n - 1]))
			return false;
		again->seconds[again->n++] = v;
		list += n;
		if (!*list)
			return true;
	}
	return false;
}

static u64 ms_since(u64 start)
{
	return (clock_ns() - start) / 1000000;
}

/* Waits until @at milliseconds after @start. Returns false after a signal. */
static bool wait_until(u64 start, u64 at, bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
	u64 now = ms_since(start);

	return wait(arg, at > now ? at - now : 0, -1);
}

/**
 * again_look() - look at the sampled blocks at the times that are asked for
 * @t: the process; its end is the end of the looks
 * @v: the blocks
 * @again: the times, from now on
 * @wait: waits so many milliseconds; false: look once more, and stop
 * @arg: for @wait
 */
void again_look(struct target *t, struct survivors *v, const struct again *again,
		bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
	u64 start = clock_ns(), from = again->seconds[0] * 1000 / 4, to;
	unsigned int i, k, looks;
	bool more = true;

	from = from < SETTLE_MS ? from : SETTLE_MS;
	wait_until(start, from, wait, arg);
	survivors_look(v);
	for (i = 0; i < again->n; i++) {
		to = again->seconds[i] * 1000;
		looks = i ? LOOKS_BETWEEN : LOOKS;
		for (k = 1; k <= looks && more && target_alive(t); k++) {
			more = wait_until(start, from + (to - from) * k / looks, wait, arg);
			survivors_look(v);
		}
		if (!target_alive(t))
			break;
		survivors_mark(v, more ? again->seconds[i] : ms_since(start) / 1000);
		if (!more)
			break;
		from = to;
	}
}

/**
 * again_longer() - look at the blocks for longer
 * @t: the process; its end is the end of the looks
 * @v: the blocks, after again_look()
 * @after: seconds from the burst to the last of these looks
 * @seconds: from now on
 * @wait: as of again_look()
 * @arg: for @wait
 */
void again_longer(struct target *t, struct survivors *v, u64 after, u64 seconds,
		  bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
	u64 start = clock_ns();
	unsigned int k;

	for (k = 1; k <= LOOKS && target_alive(t); k++) {
		if (!wait_until(start, seconds * 1000 * k / LOOKS, wait, arg))
			break;
		survivors_look(v);
	}
	survivors_mark(v, after + ms_since(start) / 1000);
}
