/* SPDX-License-Identifier: GPL-2.0 */
/* One record's figures: read.c reads them all, sample.c those of one that rests. */
#ifndef SEEP_READ_H
#define SEEP_READ_H

#include <linux/mm.h>
#include "seep.h"

/* What all have in common, as of the running pass; seep_table_mutex. */
extern struct seep_room {
	u64 left;		/* bytes of memory and swap still to be had */
	u64 pool;		/* bytes of shared memory, of all */
} seep_room;

void seep_room_read(void);
u32 seep_read_cpu(const struct seep_rec *rec);

static inline u64 seep_counter_bytes(struct mm_struct *mm, int member)
{
	return (u64)get_mm_counter(mm, member) << PAGE_SHIFT;
}

static inline u64 seep_vsz_bytes(const struct mm_struct *mm)
{
	return (u64)READ_ONCE(mm->total_vm) << PAGE_SHIFT;
}

/* The brk heap. Readings without a lock: exec or prctl may come between them. */
static inline u64 seep_heap_bytes(const struct mm_struct *mm)
{
	unsigned long start = READ_ONCE(mm->start_brk), end = READ_ONCE(mm->brk);

	return start && end > start ? end - start : 0;
}

/* What may be another for a process that does nothing; s->time_ns is given. */
static __always_inline void seep_read_around(const struct seep_rec *rec, struct seep_sample *s)
{
	struct mm_struct *mm = rec->mm;

	s->age_ns = s->time_ns - min(READ_ONCE(rec->born_ns), s->time_ns);
	s->pgtables = mm_pgtables_bytes(mm) & PAGE_MASK;
	s->error = min_t(u64, (u64)seep_mm_counter_error(mm) << PAGE_SHIFT, U32_MAX);
	s->pool = seep_room.pool;
	s->headroom = seep_room.left;
	s->limit = SEEPAGE_LIMIT_RAM;
}

#endif /* SEEP_READ_H */
