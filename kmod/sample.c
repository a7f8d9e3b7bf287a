// SPDX-License-Identifier: GPL-2.0
/*
 * Passes: read a record (read.c), judge it (detect/), act on the verdict (suspect.c). A
 * full pass covers all records, a short pass those under watch. tick.c decides when.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "publish.h"
#include "read.h"
#include "seep.h"

#define OWNER_EVERY		SEEP_RESTS	/* full passes between two checks of an owner */

static struct pass {			/* the present pass; seep_table_mutex */
	u64 now_ns;			/* CLOCK_MONOTONIC, one reading for all samples */
	u32 ds[2 * SEEP_RESTS];		/* now_ns of the last full passes in ds, by full; twice */
	u64 full_ns;			/* now_ns of the last full pass */
	u32 full;			/* full passes since load */
	struct seep_conf conf;		/* of the last full pass */
	u64 samples;			/* samples taken in this pass */
	/* of the present record; on the stack each call would clear them */
	struct seep_sample sample;
	u64 rw[2];
	struct seep_verdict verdict;
} *pass;

/*
 * The first sample of a record. Memory that an older process had before its faults were
 * counted is not its gain.
 */
static void __cold first_look(struct seep_rec *rec)
{
	struct seep_sample s;
	u64 rw[2];

	seep_det_init(&rec->det, rec->det.w, rec->seen_ns);
	if (rec->seen_ns - min(READ_ONCE(rec->born_ns), rec->seen_ns) > NSEC_PER_SEC) {
		s.time_ns = max(pass->now_ns, rec->seen_ns);
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
 * seep_sample_welcome() - sample all new records before dead ones leave their groups
 *
 * A process that hands over to a child and ends must not end its group.
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

/**
 * seep_sample_wake() - account for the samples of a record that were put off
 * @rec: its last sample and history are as of its last full pass then
 *
 * Context: seep_table_mutex.
 */
void seep_sample_wake(struct seep_rec *rec)
{
	struct seep_sample *s = &rec->last;

	lockdep_assert_held(&seep_table_mutex);
	if (!rec->rested)
		return;
	seep_det_rested(&rec->det, s, pass->ds + (rec->rest_from + 1) % SEEP_RESTS, rec->rested);
	rec->rest_from += rec->rested;
	rec->rested = 0;
	s->time_ns = pass->full_ns;
	seep_read_around(rec, s);
}

/* Two samples differ in faults or memory. */
static bool changed(const struct seep_sample *a, const struct seep_sample *b)
{
	return a->faults != b->faults || a->anon != b->anon || a->file != b->file ||
	       a->shmem != b->shmem || a->swap != b->swap || a->vsz != b->vsz;
}

/* The process has not faulted since its last sample, and its memory is the same. */
static __always_inline bool unchanged(const struct seep_rec *rec)
{
	const struct seep_sample *last = &rec->last;
	struct mm_struct *mm = rec->mm;

	return seep_rec_faults(rec, 0) + seep_rec_faults(rec, SEEP_F_KERNEL) == last->faults &&
	       seep_mm_counter_is(mm, MM_ANONPAGES, last->anon) &&
	       seep_mm_counter_is(mm, MM_FILEPAGES, last->file) &&
	       seep_mm_counter_is(mm, MM_SHMEMPAGES, last->shmem) &&
	       seep_mm_counter_is(mm, MM_SWAPENTS, last->swap) &&
	       seep_vsz_bytes(mm) == last->vsz;
}

/* The users of a mm are the same as at the last check, and the owner is there. */
static __always_inline bool same_users(const struct seep_rec *rec)
{
	return atomic_read(&rec->mm->mm_users) == rec->users &&
	       !hlist_empty(&rec->pid->tasks[PIDTYPE_TGID]);
}

/*
 * Put the sample of a record off: it would change nothing. Most records in most passes end
 * here. A mm that is torn down has no users, or other figures. @full: pass->full, or ~0U where
 * no sample may be put off.
 */
static __always_inline bool put_off(struct seep_rec *rec, u32 full)
{
	if (full >= rec->rest_end || !same_users(rec) || !unchanged(rec) ||
	    seep_pgtables_bytes(rec->mm) != rec->last.pgtables)
		return false;
	rec->rested++;
	return true;
}

/* @rec was sampled in a full pass: put off as many samples as possible until the next one. */
static void rest(struct seep_rec *rec, const struct seep_conf *c)
{
	u32 most = OWNER_EVERY - 1 - (pass->full + (u32)rec->id) % OWNER_EVERY;

	rec->rest_from = pass->full;
	rec->rest_end = pass->full + 1;
	if (rec->det.mem.same >= SEEP_STILL && !rec->notified.pending)
		rec->rest_end += seep_det_rest(&rec->det, &rec->last, c, most);
}

/*
 * The process is at rest, as most are most of the time. The last sample is then the new
 * one, except for what seep_read_around() reads. A process that is not ok needs the figures
 * of read_surroundings(), and a new one has no sample yet.
 */
static __always_inline bool rests(const struct seep_rec *rec)
{
	return !rec->det.state && rec->last.time_ns && unchanged(rec);
}

/* Make @s the last sample. Return: faults or memory have changed. Cold: most records rest. */
static __cold bool keep(struct seep_rec *rec, const struct seep_sample *s)
{
	bool news = changed(s, &rec->last);

	rec->faults_w = pass->rw[1];
	rec->last = *s;
	return news;
}

/*
 * Check the owner of a record when its process is gone, or when a user of the mm has left
 * since the last check. Every 64 passes it is checked anyhow, because one user may have
 * left and another one come. A mm that a reader of /proc/PID/mem keeps has no process, and is
 * not checked in each pass.
 */
static void check_owner(struct seep_rec *rec)
{
	if ((same_users(rec) || rec->users == SEEP_NO_OWNER) &&
	    (pass->full + (u32)rec->id) % OWNER_EVERY)
		return;
	rec->users = atomic_read(&rec->mm->mm_users);
	seep_owner_check(rec);
	if (!rec->group)
		seep_group_join(rec);	/* the group did not exist before, for want of space */
}

/*
 * CPU time, ms. A full pass takes it from the last short pass, which has less to do, if
 * short passes read the record.
 */
static __always_inline u32 cpu_time(const struct seep_rec *rec, const struct seep_conf *c,
				    bool full)
{
	if (full && rec->last.cpu_ms && seep_suspect_is(rec) &&
	    c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] < c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		return rec->last.cpu_ms;
	return seep_read_cpu(rec);
}

/*
 * Feed the detector, which needs a struct seep_watch. Most records lend the one of the pool and
 * give it back.
 */
static __always_inline void feed(struct seep_rec *rec, const struct seep_sample *s,
				 const struct seep_conf *c, struct seep_verdict *v)
{
	struct seep_det *d = &rec->det;

	if (!d->w)
		d->w = seep_pool_watch;
	seep_det_feed(d, s, c, v);
	if (seep_det_plain(d)) {
		if (d->w != seep_pool_watch)
			seep_pool_drop_watch(rec);
		d->w = NULL;
	} else if (d->w == seep_pool_watch) {
		seep_pool_watch = NULL;
	}
}

/*
 * Sample one record. A pass over many records takes time, and a process that faults
 * meanwhile has gained pages after its fold, which no counted fault explains.
 * seep_sample_read() therefore folds again; a process at rest needs no second fold.
 */
static void sample_one(struct seep_rec *rec, const struct seep_conf *c, bool full)
{
	struct seep_sample *s = &rec->last;
	struct seep_verdict *v = &pass->verdict;
	bool idle = rests(rec), news = false;
	u8 prev = rec->det.state;

	if (rec->rested)
		seep_sample_wake(rec);
	rec->rest_end = 0;
	if (unlikely(!rec->det.w && !seep_pool_watch && !seep_pool_fill_watch())) {
		if (seep_rec_gone(rec))
			seep_tab_death();
		return;			/* memory is short: as if this pass had come late */
	}
	if (!idle) {
		s = &pass->sample;
		if (!rec->ready)
			first_look(rec);
		s->time_ns = max(pass->now_ns, rec->seen_ns);	/* born in this pass? */
		seep_sample_read(rec, s, pass->rw);
		if (prev)
			s->cpu_ms = cpu_time(rec, c, full);
	}
	/*
	 * Figures first: they are not those of a mm that is torn down. Pairs with the full
	 * barrier of atomic_dec_and_test() in kernel/fork.c:mmput().
	 */
	smp_rmb();
	if (seep_rec_gone(rec)) {
		seep_tab_death();	/* its exit may have been counted before it left its mm */
		return;
	}
	if (full)
		check_owner(rec);
	s->full = full;
	s->brief = true;
	if (idle) {
		s->time_ns = pass->now_ns;
		s->pgtables = seep_pgtables_bytes(rec->mm);
		seep_read_around(rec, s);
	} else {
		news = keep(rec, s);
	}

	feed(rec, s, c, v);
	seep_broken(v->dropped);
	seep_publish_fed(rec, s, v);
	if (unlikely(v->state | prev | rec->notified.pending))
		seep_suspect_judged(rec, prev, v, full);
	if (news) {
		seep_group_count(rec);
		seep_publish_sample(rec);
	}
	if (full && idle)
		rest(rec, c);
}

/* Sample all records, then judge the groups. */
static void full_pass(const struct seep_conf *c)
{
	struct seep_rec *rec;
	u32 n = 0, full;

	seep_owner_adopt_all();
	seep_pmu_pass();
	seep_account_fold(NULL);
	pass->now_ns = ktime_get_ns();	/* after adoption: no record may be younger */
	pass->ds[pass->full % SEEP_RESTS] = seep_ds(pass->now_ns);
	pass->ds[pass->full % SEEP_RESTS + SEEP_RESTS] = seep_ds(pass->now_ns);
	seep_publish_begin(pass->now_ns, seep_headroom.left, seep_headroom.shmem_total, true, c);
	/* a listener gets every sample, and a new configuration applies to each record */
	full = seep_series_on || memcmp(&pass->conf, c, sizeof(*c)) ? ~0U : pass->full;
	pass->conf = *c;
	seep_for_each_rec(rec) {
		if (!put_off(rec, full))
			sample_one(rec, c, true);
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
	pass->samples = n;
	pass->full_ns = pass->now_ns;
	seep_share_pass(pass->now_ns, seep_headroom.left, c);
	seep_group_pass(pass->now_ns, seep_headroom.left, c);
}

/* Sample the records under watch. */
static void short_pass(const struct seep_conf *c)
{
	struct seep_rec *rec, *n;

	seep_account_fold(seep_suspect_is);
	seep_publish_begin(pass->now_ns, seep_headroom.left, seep_headroom.shmem_total, false, c);
	seep_for_each_suspect(rec, n) {
		sample_one(rec, c, false);
		pass->samples++;
		cond_resched();
	}
}

/**
 * seep_sample_pass() - one pass
 * @full: over all records, not only those under watch
 * @c: configuration in force
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: true while some record is under watch.
 */
bool seep_sample_pass(bool full, const struct seep_conf *c)
{
	pass->now_ns = ktime_get_ns();
	pass->samples = 0;
	seep_headroom_read();
	if (full) {
		pass->full++;
		full_pass(c);
	} else {
		short_pass(c);
	}
	seep_publish_end();
	seep_count_add(SAMPLES, pass->samples);
	return !list_empty(&seep_suspects);
}

/* Restart the history of one record. */
static void __cold forget_record(struct seep_rec *rec)
{
	if (!rec->ready)
		return;
	seep_pool_drop_watch(rec);
	seep_det_init(&rec->det, NULL, ktime_get_ns());
	rec->rest_end = 0;
	rec->rested = 0;
	/* the fault-rate window begins now; its RSS comes with the next sample */
	rec->det.window[0].faults = (u32)rec->last.faults;
	seep_suspect_forget(rec);
	seep_facts_forget(rec);
	seep_pmu_forget(rec);
}

/**
 * seep_sample_reset() - restart histories, as after load
 * @only: of this record; NULL: of all records and groups
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void __cold seep_sample_reset(struct seep_rec *only)
{
	struct seep_rec *rec;

	if (only) {
		forget_record(only);
		return;
	}
	seep_group_forget();
	seep_share_forget();
	seep_for_each_rec(rec) {
		forget_record(rec);
		cond_resched();
	}
}

/**
 * seep_sample_teach() - user space tells what is known of the service of a process
 * @rec: the process
 * @rise: the highest climb that the service released, bytes; 0: not told
 * @span_s: the longest one, seconds; 0: not told
 *
 * The history of the process itself restarts where it knew less: a recording has what is known
 * at the begin of a history only. One that is under watch, or had an alert, is left alone.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void __cold seep_sample_teach(struct seep_rec *rec, u64 rise, u64 span_s)
{
	u32 known_rise = seep_granules(rise), known_span = min_t(u64, span_s, U32_MAX / 10) * 10;
	struct seep_det *d = &rec->det;
	struct seep_group *g;

	if (!rec->ready)
		first_look(rec);
	g = rec->group;
	if (g) {
		g->known_rise = max(g->known_rise, known_rise);
		g->known_span = max(g->known_span, known_span);
	}
	known_rise = max(d->known_rise, known_rise);
	known_span = max(d->known_span, known_span);
	if (d->state || rec->notified.worst ||
	    (known_rise == d->known_rise && known_span == d->known_span))
		return;
	if (d->samples)
		forget_record(rec);
	seep_det_inherit(d, known_rise, known_span);
}

/**
 * seep_sample_init() - allocate what passes work with
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_sample_init(void)
{
	pass = kzalloc(sizeof(*pass), GFP_KERNEL);
	return pass ? 0 : -ENOMEM;
}

/**
 * seep_sample_exit() - free it
 *
 * Context: module exit, after the worker and all readers have stopped.
 */
void seep_sample_exit(void)
{
	kfree(pass);
}
