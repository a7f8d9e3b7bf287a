// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for ctl/lib/procfs.c, ctl/lib/clock.c and ctl/cold/look.c: /proc shows no
 * process, and no program has read the memory of one. tests/house/test_fuzz.py demands
 * each of their functions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cold/cold.h"
#include "fuzz.h"

void place_find(const struct message *rec, bool multicast, struct place *p)
{
	memset(p, 0, sizeof(*p));
}

void place_find_parent(const struct message *msg, struct place *p)
{
}

/* Those that the reader of series has found in its input */
void place_free(struct place *p)
{
	free(p->cgroup);
	free(p->exe);
}

bool place_of(u32 pid, s64 least_age_ms, struct place *p)
{
	return false;
}

char *procfs_read(int dir, const char *name)
{
	return NULL;
}

int procfs_open(u32 pid, s64 least_age_ms)
{
	return -1;
}

/* Time goes by when it is looked at. */
u64 clock_ms(void)
{
	static u64 now;

	return now += 10;
}

u64 clock_ns(void)
{
	return clock_ms() * 1000000;
}

u64 clock_real_ns(void)
{
	return clock_ns();
}

int cold_look(int dir, struct cold_look *look, u64 *clear_ms)
{
	return -ESRCH;
}

const char *cold_error(int err)
{
	return strerror(-err);
}

int cold_open(void)
{
	return -EROFS;
}

int cold_lock(void)
{
	return cold_open();
}

bool cold_was_read(u32 pid, u64 since_ms)
{
	return false;
}

void cold_keep(u32 pid, u64 now_ms, const struct cold_curve *c)
{
}

bool cold_kept(u32 pid, u64 born_ms, struct cold_kept *k)
{
	return false;
}

int procfs_open_msg(const struct message *rec, bool multicast)
{
	return -1;
}

u64 procfs_start(int dir)
{
	return 0;
}

char *procfs_cgroup(int dir)
{
	return NULL;
}
