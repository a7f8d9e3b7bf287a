// SPDX-License-Identifier: GPL-2.0
/*
 * The passes: what read.c reads of a record, what the detector makes of it, and
 * whom that is told. A full pass reads every record, a short one those under
 * suspicion; tick.c says when.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include "read.h"
#include "seep.h"
#include "trace.h"

#define OWNER_EVERY		32	/* full passes */

static struct {				/* of the pass; seep_table_mutex */
	u64 now_ns;			/* one clock reading serves all */
	u64 full;			/* full passes so far */
	u64 samples;			/* taken in this pass */
	/* of the record at hand; on the stack the compiler would clear them each time */
	struct seep_sample sample;
	u64 rw[2];
	struct seep_verdict verdict;
} pass;

static LIST_HEAD(hot);			/* seep_table_mutex */

/* What an old process had before its faults were counted is not their gain. */
static void __cold first_look(struct seep_rec *rec)
{
	struct seep_sample s;
	u64 rw[2];

	seep_det_init(&rec->det, rec->seen_ns);
	if (rec->seen_ns - min(rec->born_ns, rec->seen_ns) > NSEC_PER_SEC) {
		s.time_ns = max(pass.now_ns, rec->seen_ns);
		seep_sample_read(rec, &s, rw);
		rec->last.anon = s.anon;
		rec->last.file = s.file;
		rec->last.shmem = s.shmem;
		rec->last.swap = s.swap;
	}
	if (!seep_rec_gone(rec))
		seep_group_join(rec);
	if (rec->group)
		seep_det_inherit(&rec->det, rec->group->known_rise, rec->group->known_span);
	rec->ready = true;
}

/**
 * seep_sample_welcome() - look at all that are new, before the dead leave
 *
 * A group that only changes hands is not one that ends.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void __cold seep_sample_welcome(void)
{
	struct seep_rec *rec;
	u32 n = 0;

	seep_for_each_rec(rec) {
		if (!rec->ready)
			first_look(rec);
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
}

static bool changed(const struct seep_sample *a, const struct seep_sample *b)
{
	return a->faults != b->faults || a->anon != b->anon || a->file != b->file ||
	       a->shmem != b->shmem || a->swap != b->swap || a->vsz != b->vsz;
}

/* It has not faulted since its last sample, and holds what it held then. */
static __always_inline bool unchanged(const struct seep_rec *rec)
{
	const struct seep_sample *last = &rec->last;
	struct mm_struct *mm = rec->mm;

	return seep_rec_faults(rec, 0) + seep_rec_faults(rec, SEEP_F_KERNEL) == last->faults &&
	       seep_counter_bytes(mm, MM_ANONPAGES) == last->anon &&
	       seep_counter_bytes(mm, MM_FILEPAGES) == last->file &&
	       seep_counter_bytes(mm, MM_SHMEMPAGES) == last->shmem &&
	       seep_counter_bytes(mm, MM_SWAPENTS) == last->swap && seep_vsz_bytes(mm) == last->vsz;
}

/*
 * Most processes, most of the time: the last sample is the new one, but for what
 * seep_read_around() reads. Not for one that is not ok, which read_surroundings() is
 * for, nor for one that has had no sample yet.
 */
static __always_inline bool rests(const struct seep_rec *rec)
{
	return !rec->det.state && rec->last.time_ns && unchanged(rec);
}

/* The last sample is now @s. True when more has changed than what lies around. */
static bool keep(struct seep_rec *rec, const struct seep_sample *s)
{
	bool news = changed(s, &rec->last);

	rec->faults_w = pass.rw[1];
	rec->last = *s;
	return news;
}

/*
 * Looked for when the process is gone or when somebody has left the mm since
 * the last sample; also now and then, as one may have left and another come.
 */
static void check_owner(struct seep_rec *rec)
{
	int users = atomic_read(&rec->mm->mm_users);

	if (users == rec->users && !hlist_empty(&rec->pid->tasks[PIDTYPE_TGID]) &&
	    (pass.full + rec->id) % OWNER_EVERY)
		return;
	rec->users = users;
	if (seep_owner_lost(rec))
		trace_seepage_owner(rec);
	if (!rec->group)
		seep_group_join(rec);	/* there was no place before */
}

/* Not ok, now or before, or still to be told of: tell, and look more often or no more. */
static noinline void follow_up(struct seep_rec *rec, u8 prev, const struct seep_verdict *v,
			       bool full)
{
	if (v->state != prev)
		seep_alert_state(rec, prev, v);
	else if (rec->told.pending)
		seep_alert_retry(rec);
	if (seep_watched(v->state) && list_empty(&rec->hot))
		list_add_tail(&rec->hot, &hot);
	else if (!seep_watched(v->state) && !list_empty(&rec->hot))
		list_del_init(&rec->hot);
	if (full && rec->group)
		seep_group_add(rec);
	if (!v->state)
		seep_read_at_rest(&rec->last);	/* as of one that is ok */
}

/* The short passes between two full ones, which have less to do, read it anew. */
static __always_inline u32 cpu_time(const struct seep_rec *rec, const struct seep_conf *c,
				    bool full)
{
	if (full && rec->last.cpu_ms &&
	    c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] < c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		return rec->last.cpu_ms;
	return seep_read_cpu(rec);
}

/*
 * A pass over many takes time: who faults meanwhile has gained pages since its
 * fold that no fault explains. Who has not changed at all needs no second fold.
 */
static void sample_one(struct seep_rec *rec, const struct seep_conf *c, bool full)
{
	struct seep_sample *s = &rec->last;
	struct seep_verdict *v = &pass.verdict;
	bool idle = rests(rec), news = false;
	u8 prev = rec->det.state;

	if (!idle) {
		s = &pass.sample;
		if (!rec->ready)
			first_look(rec);
		s->time_ns = max(pass.now_ns, rec->seen_ns);	/* born during this pass */
		seep_sample_read(rec, s, pass.rw);
		if (prev)
			s->cpu_ms = cpu_time(rec, c, full);
	}
	smp_rmb();	/* the figures before mm_users: they are not those of its end */
	if (seep_rec_gone(rec))
		return;
	if (full)
		check_owner(rec);
	s->full = full;
	if (idle) {
		s->time_ns = pass.now_ns;
		seep_read_around(rec, s);
	} else {
		news = keep(rec, s);
	}
	pass.samples++;

	seep_det_feed(&rec->det, s, c, v);
	if (unlikely(seep_series_on))
		seep_series_sample(rec, s, v);
	trace_seepage_sample(rec, v);
	if (unlikely(v->state | prev | rec->told.pending))
		follow_up(rec, prev, v, full);
	if (news) {
		seep_group_count(rec);
		seep_netlink_sample(rec);
	}
}

static void full_pass(const struct seep_conf *c)
{
	struct seep_rec *rec;
	u32 n = 0;

	seep_owner_adopt_all();
	seep_pmu_pass();
	seep_account_fold(NULL);
	pass.now_ns = ktime_get_ns();	/* not before anyone was adopted */
	seep_series_begin(pass.now_ns, seep_room.left, seep_room.pool, true, c);
	seep_for_each_rec(rec) {
		sample_one(rec, c, true);
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
	seep_group_pass(pass.now_ns, seep_room.left, c);
}

static bool is_hot(const struct seep_rec *rec)
{
	return !list_empty(&rec->hot);
}

static void short_pass(const struct seep_conf *c)
{
	struct seep_rec *rec, *n;

	seep_account_fold(is_hot);
	seep_series_begin(pass.now_ns, seep_room.left, seep_room.pool, false, c);
	list_for_each_entry_safe(rec, n, &hot, hot) {
		sample_one(rec, c, false);
		cond_resched();
	}
}

/**
 * seep_sample_pass() - read records and judge them
 * @full: all of them, not only those under suspicion
 * @c: configuration in force
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: true while somebody is under suspicion.
 */
bool seep_sample_pass(bool full, const struct seep_conf *c)
{
	pass.now_ns = ktime_get_ns();
	pass.samples = 0;
	seep_room_read();
	if (full) {
		pass.full++;
		full_pass(c);
	} else {
		short_pass(c);
	}
	seep_series_end();
	seep_count_add(SAMPLES, pass.samples);
	return !list_empty(&hot);
}

static void __cold forget(struct seep_rec *rec)
{
	if (!rec->ready)
		return;
	seep_det_init(&rec->det, ktime_get_ns());
	/* the window counts from now on; its RSS comes with the next sample */
	rec->det.window[0].faults = (u32)rec->last.faults;
	memset(&rec->told, 0, sizeof(rec->told));
	seep_evidence_forget(rec);
	seep_pmu_forget(rec);
	list_del_init(&rec->hot);
}

/**
 * seep_sample_reset() - forget what was learned, as if just loaded
 * @only: of this record alone; NULL: of all
 *
 * Context: process, seep_table_mutex.
 */
void __cold seep_sample_reset(struct seep_rec *only)
{
	struct seep_rec *rec;

	if (only) {
		forget(only);
		return;
	}
	seep_group_forget();
	seep_for_each_rec(rec) {
		forget(rec);
		cond_resched();
	}
}
