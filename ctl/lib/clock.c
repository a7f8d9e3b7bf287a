// SPDX-License-Identifier: GPL-2.0
/*
 * Monotonic and real time.
 */
#include <time.h>
#include "ctl.h"

static u64 read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

u64 clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

u64 clock_ms(void)
{
	return clock_ns() / 1000000;
}
