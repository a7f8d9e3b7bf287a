/* SPDX-License-Identifier: GPL-2.0 */
/* What kmod/where/sample.c needs of the kernel, for its unit test. The other headers here are
 * empty or include this one.
 */
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef __u64 u64;
typedef __u32 u32;
typedef __s32 s32;
typedef __u16 u16;
#define atomic64_t		long
#define atomic_t		int
#define spinlock_t		int
#define wait_queue_head_t	int
#define gfp_t			unsigned int

struct kref { int n; };
struct work_struct { int n; };
struct uprobe_consumer { int n; };
struct pt_regs;

#define GFP_KERNEL_ACCOUNT	0
#define U16_MAX			0xffff
#define SEEP_UPROBE_COOKIE
#define min(a, b)		((a) < (b) ? (a) : (b))
#define lockdep_assert_held(l)	((void)(l))
#define ilog2(n)		(31 - __builtin_clz((unsigned int)(n)))
#define roundup_pow_of_two(n)	((n) == 1 ? 1UL : 2UL << ilog2((n) - 1))

u64 get_random_u64(void);

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(n, size);
}

static inline void kvfree(void *p)
{
	free(p);
}

/* A bad hash: many addresses share a chain. */
static inline u32 hash_64(u64 v, unsigned int bits)
{
	return (u32)(v >> 4) & ((1U << bits) - 1) & 3;
}

static inline u32 reciprocal_scale(u32 v, u32 n)
{
	return (u32)(((u64)v * n) >> 32);
}

#endif /* TEST_KERNEL_H */
