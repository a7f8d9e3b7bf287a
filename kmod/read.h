/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading figures of one record. read.c reads all of them, sample.c only those that may
 * change for a process at rest.
 *
 * Context: process, seep_table_mutex. The counters of a mm need no lock.
 */
#ifndef SEEP_READ_H
#define SEEP_READ_H

#include <linux/mm.h>
#include "seep.h"

/* Figures that all processes share, as of the running pass; seep_table_mutex. */
extern struct seep_headroom {
	u64 left;		/* bytes of available memory and free swap */
	u64 shmem_total;		/* bytes of shmem of the whole system */
} seep_headroom;

void seep_headroom_read(void);
u32 seep_read_cpu(const struct seep_rec *rec);

/* An mm counter (MM_ANONPAGES ...), bytes. */
static inline u64 seep_counter_bytes(struct mm_struct *mm, int member)
{
	return (u64)get_mm_counter(mm, member) << PAGE_SHIFT;
}

/* Address space, bytes. total_vm is written under mmap_lock, which is not held here. */
static inline u64 seep_vsz_bytes(const struct mm_struct *mm)
{
	return (u64)READ_ONCE(mm->total_vm) << PAGE_SHIFT;
}

/* What RLIMIT_DATA limits: private writable address space without stacks. As total_vm. */
static inline u64 seep_data_bytes(const struct mm_struct *mm)
{
	return (u64)READ_ONCE(mm->data_vm) << PAGE_SHIFT;
}

/*
 * The brk heap, bytes. Written under mmap_lock, which is not held here: exec or prctl may
 * come between the two readings.
 */
static inline u64 seep_heap_bytes(const struct mm_struct *mm)
{
	unsigned long start = READ_ONCE(mm->start_brk), end = READ_ONCE(mm->brk);

	return start && end > start ? end - start : 0;
}

/* Page tables, bytes. */
static inline u64 seep_pgtables_bytes(const struct mm_struct *mm)
{
	return mm_pgtables_bytes(mm) & PAGE_MASK;
}

/*
 * Figures that may change even for a process that does nothing; s->time_ns is set before.
 * READ_ONCE() of born_ns pairs with WRITE_ONCE() in seep_tab_exec().
 */
static __always_inline void seep_read_around(const struct seep_rec *rec, struct seep_sample *s)
{
	struct mm_struct *mm = rec->mm;

	s->age_ns = s->time_ns - min(READ_ONCE(rec->born_ns), s->time_ns);
	s->error = min_t(u64, (u64)seep_mm_counter_error(mm) << PAGE_SHIFT, U32_MAX);
	s->shmem_total = seep_headroom.shmem_total;
	s->headroom = seep_headroom.left;
	s->limit = SEEPAGE_LIMIT_RAM;
}

#endif /* SEEP_READ_H */
