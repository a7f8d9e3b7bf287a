/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Units of the detector: granules of memory, deciseconds of time, and the
 * arithmetic on them. Pure, any context, no locks.
 *
 * Memory is a u32 in granules of 16 KiB, so results do not depend on the page
 * size. Bytes are rounded down. Amounts above 64 TiB saturate at 0xffffffff
 * granules, which is 16 KiB less than 64 TiB.
 *
 * Time is a u32 in deciseconds (ds, 100 ms) of the monotonic clock. It wraps
 * after 13 years of uptime.
 */
#ifndef SEEP_DETECT_UNITS_H
#define SEEP_DETECT_UNITS_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/math64.h>
#include <linux/string.h>
#define seep_noinline	noinline
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define seep_noinline	__attribute__((noinline))
#include <linux/types.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s64 s64;
#endif

#define SEEP_GRANULE_SHIFT	14	/* bytes to granules */
#define SEEP_MIB		(1U << (20 - SEEP_GRANULE_SHIFT))	/* granules: 64 */
#define SEEP_DS_PER_S		10U
#define SEEP_MINUTE_DS		(60 * SEEP_DS_PER_S)
#define SEEP_HOUR_DS		(60 * SEEP_MINUTE_DS)

/* 64-bit division: 32-bit kernels have no operator for it. */
static inline u64 seep_div(u64 a, u64 b)
{
#ifdef __KERNEL__
	return div64_u64(a, b);
#else
	return a / b;
#endif
}

/**
 * seep_minus() - difference that saturates at 0
 * @a: minuend, in any unit
 * @b: subtrahend, in the same unit
 *
 * "How much more is @a than @b". For example a process held 256 granules (4 MiB)
 * and holds 300 now: seep_minus(300, 256) is a growth of 44 granules, and
 * seep_minus(256, 300) is a release of 0. Plain u32 arithmetic would make that
 * second difference 4294967252 granules, or almost 64 TiB.
 *
 * Return: @a - @b, or 0 where @b is larger.
 */
static inline u32 seep_minus(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

/* Bytes to granules: 40000 bytes are 2, 65 TiB are 0xffffffff. */
static inline u32 seep_granules(u64 bytes)
{
	u64 g = bytes >> SEEP_GRANULE_SHIFT;

	return g > 0xffffffffULL ? 0xffffffffU : (u32)g;
}

/* Granules to bytes. */
static inline u64 seep_bytes(u32 granules)
{
	return (u64)granules << SEEP_GRANULE_SHIFT;
}

/* Nanoseconds to deciseconds. */
static inline u32 seep_ds(u64 ns)
{
	return (u32)seep_div(ns, 100000000ULL);
}

#endif /* SEEP_DETECT_UNITS_H */
