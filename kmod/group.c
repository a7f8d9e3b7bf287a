// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: processes of one program in one cgroup, taken together. A leak that is
 * spread over many processes, each too small to be judged, shows in what all of
 * them hold.
 *
 * The program is its name when the process was first looked at: modules cannot
 * read a process's executable on all kernels. What a group of one holds is that
 * process's own matter; once there were two a group has a history like a process,
 * fed with the sum at every full pass. A process that hands all it holds to a child
 * and ends is followed that way.
 *
 * A group also knows how high its processes rose that ended in peace: the next one
 * of the name may do so too. What it knows outlives its last process.
 *
 * All of this is under seep_table_mutex, in process context.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include "seep.h"

#define HASH_BITS	8
#define MAX_GROUPS	4096
#define MAX_HISTORIES	256
#define MAX_EMPTY	128

#define GROUP_ID	BIT_ULL(63)

static struct hlist_head bucket[1 << HASH_BITS];
static LIST_HEAD(all_groups);
static LIST_HEAD(empty_groups);		/* nobody is in them; the longest so first */
static u32 groups, histories, empty;

static struct hlist_head *bucket_of(const char *comm, u64 cgroup_id)
{
	u32 h = jhash(comm, TASK_COMM_LEN, (u32)cgroup_id);

	return &bucket[hash_32(h, HASH_BITS)];
}

static struct seep_group *find(const char *comm, u64 cgroup_id)
{
	struct seep_group *g;

	hlist_for_each_entry(g, bucket_of(comm, cgroup_id), hash)
		if (g->cgroup_id == cgroup_id && !memcmp(g->comm, comm, sizeof(g->comm)))
			return g;
	return NULL;
}

static void forget_history(struct seep_group *g)
{
	if (!g->history)
		return;
	kfree(g->history);
	g->history = NULL;
	histories--;
}

static void dissolve(struct seep_group *g)
{
	hlist_del(&g->hash);
	list_del(&g->all);
	forget_history(g);
	kfree(g);
	groups--;
}

static void dissolve_empty(void)
{
	dissolve(list_first_entry(&empty_groups, struct seep_group, all));
	empty--;
}

static struct seep_group *make(const struct seep_rec *rec, const char *comm)
{
	struct seep_group *g;

	if (groups >= MAX_GROUPS && empty)
		dissolve_empty();
	if (groups >= MAX_GROUPS) {
		seep_count(GROUPS_FULL);
		return NULL;
	}
	g = kzalloc(sizeof(*g), GFP_KERNEL | __GFP_NOWARN);
	if (!g) {
		seep_count(ALLOC_FAILED);
		return NULL;
	}
	memcpy(g->comm, comm, sizeof(g->comm));
	g->cgroup_id = rec->who.cgroup_id;
	INIT_LIST_HEAD(&g->members);
	hlist_add_head(&g->hash, bucket_of(comm, g->cgroup_id));
	list_add_tail(&g->all, &empty_groups);
	empty++;
	groups++;
	return g;
}

/**
 * seep_group_join() - a process that is looked at for the first time
 * @rec: its record; it stays without a group when there is no place for one
 */
void seep_group_join(struct seep_rec *rec)
{
	char comm[TASK_COMM_LEN] = "";	/* without what may lie behind its end */
	struct seep_group *g;

	seep_view_identify(rec);
	strscpy(comm, rec->comm, sizeof(comm));
	g = find(comm, rec->who.cgroup_id);
	if (!g)
		g = make(rec, comm);
	if (!g)
		return;
	if (g->n) {
		g->shared = true;
	} else {
		list_move_tail(&g->all, &all_groups);
		empty--;
		g->id = rec->id | GROUP_ID;
		g->born_ns = rec->born_ns;
	}
	rec->group = g;
	list_add_tail(&rec->kin, &g->members);
	g->n++;
	seep_group_count(rec);
}

/**
 * seep_group_count() - what a process holds has changed
 * @rec: its last sample is the new one
 *
 * Shared memory is left out: each of those that share it would have it.
 */
void seep_group_count(struct seep_rec *rec)
{
	struct seep_group *g = rec->group;
	u32 held;

	if (!g)
		return;
	held = seep_granules(rec->last.anon + rec->last.swap + rec->last.pgtables);
	g->held += held;
	g->held -= rec->counted;
	rec->counted = held;
}

/**
 * seep_group_learn() - what a process did that has ended is known of its group
 * @rec: its record, buried
 *
 * Who is accused when it ends, or took more than it left to others, sets no example.
 */
void seep_group_learn(const struct seep_rec *rec)
{
	const struct seep_det *d = &rec->det;
	struct seep_group *g = rec->group;
	u32 rise = d->high_v - d->low_v;

	if (!g || seep_alert_is(d->state) || seep_alert_is(g->told.alerted))
		return;
	if (rise >= seep_needed_rise(seep_least_rise(&rec->last), d->high_v) &&
	    rise <= seep_granules(rec->last.headroom)) {
		g->known_rise = max(g->known_rise, rise);
		g->known_span = max(g->known_span, d->high_t - d->low_t);
	}
	g->known_rise = max(g->known_rise, d->known_rise);
	g->known_span = max(g->known_span, d->known_span);
}

/**
 * seep_group_leave() - a process has ended, and its group has learned of it
 * @rec: its record, buried; the last one says what there is to say for all
 */
void seep_group_leave(struct seep_rec *rec)
{
	struct seep_group *g = rec->group;

	if (!g)
		return;
	rec->group = NULL;
	list_del_init(&rec->kin);
	g->held -= rec->counted;
	rec->counted = 0;
	if (g->grew && seep_watched(rec->det.state))
		g->grew--;
	if (--g->n)
		return;
	seep_alert_group_exited(g, rec);
	forget_history(g);
	memset(&g->told, 0, sizeof(g->told));
	g->silent = false;
	g->shared = false;
	if (!g->known_rise) {
		dissolve(g);
		return;
	}
	list_move_tail(&g->all, &empty_groups);
	if (++empty > MAX_EMPTY)
		dissolve_empty();
}

/**
 * seep_group_add() - a member that is not ok was sampled in a full pass
 * @rec: with a group
 */
void seep_group_add(const struct seep_rec *rec)
{
	struct seep_group *g = rec->group;

	if (!seep_watched(rec->det.state))
		return;
	g->sum.growing++;
	g->sum.alerting += seep_alert_is(rec->det.state);
	if (!rec->last.cold_ns)
		return;
	g->sum.looked_at++;
	g->sum.cold += rec->last.cold;
	g->sum.cold_ns = max(g->sum.cold_ns, rec->last.cold_ns);
}

/**
 * seep_group_peers() - the others of a process's group
 * @rec: not ok
 * @s: peers out, and how many of them grew in the last full pass
 */
void seep_group_peers(const struct seep_rec *rec, struct seep_sample *s)
{
	const struct seep_group *g = rec->group;
	u32 others, grew;

	if (!g)
		return;
	others = g->n - 1;
	grew = g->grew;
	if (grew && seep_watched(rec->det.state))	/* itself */
		grew--;
	s->peers = min_t(u32, others, U16_MAX);
	s->peers_growing = min_t(u32, grew, s->peers);
}

/* The sum of what its members held when they were last sampled, as a sample. */
static void sum_up(const struct seep_group *g, struct seep_sample *s, u64 now_ns, u64 room)
{
	const struct seep_rec *first = list_first_entry(&g->members, struct seep_rec, kin);

	memset(s, 0, sizeof(*s));
	s->time_ns = now_ns;
	s->age_ns = now_ns - min(g->born_ns, now_ns);
	s->anon = g->held << SEEP_GRANULE_SHIFT;
	s->vsz = s->anon;
	s->headroom = room;
	/* each counter errs by itself: the sum by the root of their number */
	s->error = min_t(u64, (u64)first->last.error * int_sqrt(g->n), U32_MAX);
	s->page_shift = PAGE_SHIFT;
	s->peers = min_t(u32, g->n, U16_MAX);
	s->peers_growing = min_t(u32, g->sum.growing, U16_MAX);
	/* what most of those that grow do with it */
	if (2 * g->sum.looked_at > g->sum.growing) {
		s->cold = g->sum.cold / g->sum.looked_at;
		s->cold_ns = g->sum.cold_ns;
	}
	s->full = true;
	s->group = true;
}

/* A group that is one process now, and at rest, was one for a fork only. */
static bool make_room(void)
{
	struct seep_group *g;

	list_for_each_entry(g, &all_groups, all)
		if (g->history && g->n == 1 && !g->told.alerted &&
		    g->history->det.state == SEEPAGE_STATE_OK) {
			forget_history(g);
			g->shared = false;
			return true;
		}
	return false;
}

/* @full: there is no room in this pass, as was found out before or here. */
static void begin_history(struct seep_group *g, u64 now_ns, bool *full)
{
	if (histories >= MAX_HISTORIES && !*full)
		*full = !make_room();
	if (*full) {
		seep_count(GROUPS_FULL);
		return;
	}
	g->history = kzalloc(sizeof(*g->history), GFP_KERNEL | __GFP_NOWARN);
	if (!g->history) {
		seep_count(ALLOC_FAILED);
		return;
	}
	histories++;
	seep_det_init(&g->history->det, now_ns);
}

/*
 * While a member is accused by itself its group has nothing to add, unless it was
 * told of before; afterwards the others have to show a rise of their own.
 */
static bool is_silent(struct seep_group *g)
{
	if (g->sum.alerting && !g->told.alerted) {
		g->silent = true;
		return true;
	}
	if (g->silent) {
		g->silent = false;
		seep_det_init(&g->history->det, g->history->last.time_ns);
	}
	return false;
}

static void judge(struct seep_group *g, const struct seep_conf *c)
{
	struct seep_group_history *h = g->history;
	struct seep_verdict v;
	u8 prev;

	if (is_silent(g))
		return;
	prev = h->det.state;
	seep_det_feed(&h->det, &h->last, c, &v);
	v.series = SEEPAGE_SERIES_GROUP;
	if (unlikely(seep_series_on))
		seep_series_group(g, &v);
	if (v.state != prev)
		seep_alert_group_state(g, prev, &v);
	else if (g->told.pending)
		seep_alert_group_retry(g, &v);
}

void seep_group_forget(void)
{
	struct seep_group *g;

	while (empty)
		dissolve_empty();
	list_for_each_entry(g, &all_groups, all) {
		forget_history(g);
		memset(&g->told, 0, sizeof(g->told));
		g->known_rise = 0;
		g->known_span = 0;
	}
}

/* Memory that groups take. Takes no lock: for display. */
u64 seep_group_bytes(void)
{
	return (u64)READ_ONCE(groups) * sizeof(struct seep_group) +
	       (u64)READ_ONCE(histories) * sizeof(struct seep_group_history);
}

/* When the worker has stopped: nobody is told any more. Before the records go. */
void seep_group_exit(void)
{
	struct seep_group *g, *n;

	while (empty)
		dissolve_empty();
	list_for_each_entry_safe(g, n, &all_groups, all)
		dissolve(g);
}

/**
 * seep_group_pass() - all members have been sampled: judge the groups
 * @now_ns: time of the pass
 * @room: bytes of memory and swap still to be had
 * @c: configuration in force
 */
void seep_group_pass(u64 now_ns, u64 room, const struct seep_conf *c)
{
	struct seep_group *g;
	bool full = false;
	u32 n = 0;

	list_for_each_entry(g, &all_groups, all) {
		if (!g->history && g->shared)
			begin_history(g, now_ns, &full);
		if (g->history) {
			sum_up(g, &g->history->last, now_ns, room);
			judge(g, c);
		}
		g->grew = g->sum.growing;
		memset(&g->sum, 0, sizeof(g->sum));
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
}
