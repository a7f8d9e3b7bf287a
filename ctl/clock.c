// SPDX-License-Identifier: GPL-2.0
/*
 * The monotonic clock.
 */
#include <time.h>
#include "ctl.h"

u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 clock_ms(void)
{
	return clock_ns() / 1000000;
}
