// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: all processes of one program and one user in one cgroup, taken as one. A leak
 * that is spread over many processes, each too small to be judged, shows in their sum.
 *
 * The program is comm at the first sample: not every kernel lets a module read the
 * executable of a process. A group with one member is left to the verdict on that process.
 * Once it had two at a time, a group has a history like a process, and is fed its sum in
 * every full pass. A process that passes all its memory to a child and ends is followed
 * that way.
 *
 * A group in which two or more members grow is one subject: an alert that one of them would
 * raise is raised by the group, with the figures of the group. See seep_group_speaks().
 *
 * A group that had an alert outlives its last member: a service that is restarted and leaks
 * again is the same subject, and its alerts say so. A life ends with the last of its members;
 * a worker that is replaced by another one ends none. A cgroup directory that is removed and
 * made again by that name, in the same parent, is the same cgroup.
 *
 * A group also learns how high the climbs of its members were that ended without an alert:
 * the next member may climb as high. That outlives the last member.
 *
 * The user is the one that a record is charged to. Without it in the key a user could make
 * processes of the same name, raise what is excused to processes of another user, and see
 * what those released. Groups are shared out by user (quota.h).
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include "publish.h"
#include "seep.h"

#define MAX_GROUPS	4096
#define MAX_HISTORIES	256
#define MAX_EMPTY	128

#define OOM_SPREADS_NS	(30LL * NSEC_PER_SEC)	/* after the kill of a member others end */
#define GROUP_ID	BIT_ULL(63)

static struct hlist_head *heads;	/* SEEP_GROUP_HEADS of them */
static siphash_key_t key;		/* random, set at load */
static LIST_HEAD(all_groups);
static LIST_HEAD(empty_groups);		/* without members; the first has been so for longest */

/* A user chooses names. With a hash that is known all groups of a user could be in one bucket. */
static struct hlist_head *bucket_of(const char *comm, const struct seep_rec *rec, u64 place)
{
	u64 half[TASK_COMM_LEN / sizeof(u64)];

	memcpy(half, comm, sizeof(half));
	return &heads[siphash_4u64(half[0], half[1], place, __kuid_val(rec->charged), &key) %
		      SEEP_GROUP_HEADS];
}

static struct seep_group *find(const char *comm, const struct seep_rec *rec, u64 place)
{
	struct seep_group *g;

	hlist_for_each_entry(g, bucket_of(comm, rec, place), hash)
		if (g->place == place && uid_eq(g->charged, rec->charged) &&
		    !memcmp(g->comm, comm, sizeof(g->comm)))
			return g;
	return NULL;
}

static void forget_history(struct seep_group *g)
{
	if (!g->history)
		return;
	kfree(g->history);
	g->history = NULL;
	g->rate = 0;
	seep_quota_give(g->row, SEEP_QUOTA_HISTORIES);
}

static void dissolve(struct seep_group *g)
{
	hlist_del(&g->hash);
	list_del(&g->all);
	forget_history(g);
	seep_quota_give(g->row, SEEP_QUOTA_GROUPS);
	kfree(g);
}

/*
 * Dissolve the group that has been empty for longest. It is one of the user @row where that
 * one has all of its share, else of any user. Return: false: there is none.
 */
static bool dissolve_empty(u16 row, enum seep_quota_kind kind, u32 most)
{
	bool any = !seep_quota_used_up(row, kind, most);
	struct seep_group *g;

	list_for_each_entry(g, &empty_groups, all)
		if (any || g->row == row) {
			seep_quota_give(g->row, SEEP_QUOTA_EMPTY);
			dissolve(g);
			return true;
		}
	return false;
}

static struct seep_group *make(const struct seep_rec *rec, const char *comm, u64 place)
{
	u16 row = seep_rec_row(rec);
	struct seep_group *g;

	while (!seep_quota_left(row, SEEP_QUOTA_GROUPS, MAX_GROUPS))
		if (!dissolve_empty(row, SEEP_QUOTA_GROUPS, MAX_GROUPS)) {
			seep_count(GROUPS_FULL);
			return NULL;
		}
	g = kzalloc(sizeof(*g), SEEP_GFP);
	if (!g) {
		seep_count(ALLOC_FAILED);
		return NULL;
	}
	seep_quota_take(row, SEEP_QUOTA_GROUPS, MAX_GROUPS);
	memcpy(g->comm, comm, sizeof(g->comm));
	g->place = place;
	g->charged = rec->charged;
	g->row = row;
	INIT_LIST_HEAD(&g->members);
	hlist_add_head(&g->hash, bucket_of(comm, rec, place));
	list_add_tail(&g->all, &all_groups);
	return g;
}

/* A life begins with the first member. */
static void begin_life(struct seep_group *g)
{
	const struct seep_rec *first = list_first_entry(&g->members, struct seep_rec, kin);

	g->id = first->id | GROUP_ID;
	g->born_ns = READ_ONCE(first->born_ns);
}

/**
 * seep_group_join() - put a process into its group
 * @rec: the process at its first sample; it stays without a group when there are too many,
 *       or when its cgroup is not known
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_group_join(struct seep_rec *rec)
{
	char comm[TASK_COMM_LEN] = "";	/* zeroed: bytes behind the NUL are compared as well */
	u64 place = seep_view_identify(rec);
	struct seep_group *g;

	if (IS_ENABLED(CONFIG_CGROUPS) && !place)
		return;		/* not known; the owner is checked again */
	seep_copy(comm, rec->comm, sizeof(comm));
	g = find(comm, rec, place);
	if (g && !g->n) {
		list_move_tail(&g->all, &all_groups);
		seep_quota_give(g->row, SEEP_QUOTA_EMPTY);
	}
	if (!g)
		g = make(rec, comm, place);
	if (!g)
		return;
	rec->group = g;
	list_add_tail(&rec->kin, &g->members);
	if (g->n++)
		g->shared = true;
	else
		begin_life(g);
	seep_group_count(rec);
}

/**
 * seep_group_count() - the memory that a process holds has changed
 * @rec: the process, with its new last sample
 *
 * Shared memory is left out: otherwise it would count once for each process that maps it.
 *
 * Context: seep_table_mutex.
 */
void seep_group_count(struct seep_rec *rec)
{
	struct seep_group *g = rec->group;
	u32 held;

	if (!g)
		return;
	held = seep_granules(rec->last.anon + rec->last.swap + rec->last.pgtables);
	g->held += held;
	g->held -= rec->held;
	g->top = max_t(u64, g->top, g->held);
	rec->held = held;
}

/**
 * seep_group_known() - what the group of a process would know if the process ended now
 * @rec: the process
 * @known_rise: out: the highest climb that members released, granules
 * @known_span: out: the longest one, ds
 *
 * Nothing is learned from a process with an alert, nor from a climb that was higher than
 * the headroom left to others.
 *
 * Context: seep_table_mutex.
 */
void seep_group_known(const struct seep_rec *rec, u32 *known_rise, u32 *known_span)
{
	const struct seep_det *d = &rec->det;
	const struct seep_group *g = rec->group;
	u32 rise = d->high_v - d->low_v;

	*known_rise = g ? g->known_rise : 0;
	*known_span = g ? g->known_span : 0;
	if (!g || seep_alert_is(d->state) || seep_alert_is(g->notified.alerted))
		return;
	if (rise >= seep_needed_rise(seep_least_rise(&rec->last), d->high_v) &&
	    rise <= seep_granules(rec->last.headroom)) {
		*known_rise = max(*known_rise, rise);
		*known_span = max(*known_span, d->high_t - d->low_t);
	}
	*known_rise = max(*known_rise, d->known_rise);
	*known_span = max(*known_span, d->known_span);
}

/**
 * seep_group_learn() - learn from a process that has ended
 * @rec: its record, buried
 *
 * Context: seep_table_mutex.
 */
void seep_group_learn(const struct seep_rec *rec)
{
	struct seep_group *g = rec->group;

	if (g)
		seep_group_known(rec, &g->known_rise, &g->known_span);
}

/*
 * The end of a group under an alert is that of its last member, which ended at @end_ns. The OOM
 * killer takes one member, and the service may end the others because of that. A master without a
 * slot ends last, and how is not known then. An end of an earlier life says nothing about this one.
 */
static void note_end(struct seep_group *g, const struct seep_rec *rec, u64 end_ns)
{
	struct seep_end end;

	if (!seep_rec_gone(rec))
		return;		/* it was given up: its process lives */
	if (!seep_alert_is(g->notified.alerted) && !rec->notified.worst)
		return;
	seep_end_find(rec, &end);
	/* signed: members are buried in any order */
	if (g->end_ns > g->born_ns &&
	    (!end.how || (g->end.how & SEEPAGE_END_OOM &&
			  (s64)(end_ns - g->end_ns) < OOM_SPREADS_NS)))
		return;
	g->end = end;
	g->end_ns = end_ns;
}

/*
 * A member ended at @end_ns. Did all that are left come after that? Then they are those of a
 * restart that nobody looked at in between.
 */
static bool is_over(const struct seep_group *g, u64 end_ns)
{
	const struct seep_rec *rec;

	list_for_each_entry(rec, &g->members, kin)
		if (READ_ONCE(rec->born_ns) <= end_ns)
			return false;
	return true;
}

/* The last member has left. A life ends with its process, not where a record is given up. */
static void end_life(struct seep_group *g, struct seep_rec *last, u64 now_ns)
{
	struct seep_lives *l = &g->lives;

	seep_alert_group_exited(g, last);
	if (g->notified.worst && seep_rec_gone(last)) {
		if (!l->n++) {
			l->first_end_ns = now_ns;
			l->first_top = g->top;
		}
		l->last_end_ns = now_ns;
		l->last_top = g->top;
		l->sum_s += seep_div(now_ns - min(g->born_ns, now_ns), NSEC_PER_SEC);
	}
	forget_history(g);
	memset(&g->notified, 0, sizeof(g->notified));
	g->hold = 0;
	g->top = 0;
	g->silent = false;
	g->shared = g->n > 1;
}

/**
 * seep_group_leave() - take a process that has ended, or was given up, out of its group
 * @rec: its record, out of the table; if it has ended, after seep_group_learn()
 *
 * The last member ends the life of its group, and its alert. A record among the graves is no
 * suspect any more: its place is given back here.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_group_leave(struct seep_rec *rec)
{
	struct seep_group *g = rec->group;
	u64 now_ns = ktime_get_ns(), end_ns = seep_end_ns(rec, now_ns) ?: now_ns;

	seep_quota_give(rec->hot_row, SEEP_QUOTA_SUSPECTS);
	rec->hot_row = SEEP_QUOTA_ALL;
	if (g)
		note_end(g, rec, end_ns);
	seep_end_drop(rec);
	if (!g)
		return;
	/* An alert of a process that lives and lost its record is none of a life that ended. */
	if (seep_rec_gone(rec))
		g->notified.worst = max(g->notified.worst, rec->notified.worst);
	seep_group_uncount(rec);
	rec->group = NULL;
	list_del_init(&rec->kin);
	g->held -= rec->held;
	rec->held = 0;
	g->n--;
	if (!is_over(g, end_ns))
		return;
	end_life(g, rec, now_ns);
	if (g->n) {
		begin_life(g);
		return;
	}
	if (!g->known_rise && !g->lives.n) {
		dissolve(g);
		return;
	}
	while (!seep_quota_take(g->row, SEEP_QUOTA_EMPTY, MAX_EMPTY))
		if (seep_broken(!dissolve_empty(g->row, SEEP_QUOTA_EMPTY, MAX_EMPTY)))
			break;
	list_move_tail(&g->all, &empty_groups);
}

/* Count a member of a group as what @now says, bits of SEEP_MEMBERS_*. */
static void count_as(struct seep_rec *rec, u8 now)
{
	u32 *counts = rec->group->counts;
	int i;

	for (i = 0; i < SEEP_MEMBERS_NR; i++)
		counts[i] += (now >> i & 1) - (rec->counts_as >> i & 1);
	rec->counts_as = now;
}

/**
 * seep_group_uncount() - a member leaves its group, or its history restarts
 * @rec: a record, maybe of no group
 *
 * Context: seep_table_mutex.
 */
void seep_group_uncount(struct seep_rec *rec)
{
	if (rec->counts_as)
		count_as(rec, 0);
}

/**
 * seep_group_judged() - a member that is not ok, or was not, was judged
 * @rec: a record, maybe of no group
 * @v: the verdict
 *
 * A process stays under watch for a minute after its growth has ended; it does not grow
 * then. t_run is now also where growth is too fast to wait for a run.
 *
 * Context: seep_table_mutex.
 */
void seep_group_judged(struct seep_rec *rec, const struct seep_verdict *v)
{
	u8 now = 0;

	if (!rec->group)
		return;
	if (seep_watched(v->state)) {
		now = BIT(SEEP_MEMBERS_WATCHED);
		if (v->t1 || rec->det.t_run == seep_ds(rec->last.time_ns))
			now |= BIT(SEEP_MEMBERS_GROWING);
	}
	if (seep_alert_is(v->state))
		now |= BIT(SEEP_MEMBERS_ALERTING);
	if (now != rec->counts_as)
		count_as(rec, now);
}

/**
 * seep_group_speaks() - does the group raise the alerts of a member?
 * @rec: the member, after seep_group_judged()
 *
 * It does while it has an alert, and where the member and another one grow. A member that
 * alone grows has an alert of its own.
 *
 * Context: seep_table_mutex.
 */
bool seep_group_speaks(const struct seep_rec *rec)
{
	const struct seep_group *g = rec->group;

	return g && g->history &&
	       (seep_alert_is(g->notified.alerted) ||
		(rec->counts_as & BIT(SEEP_MEMBERS_GROWING) &&
		 g->counts[SEEP_MEMBERS_GROWING] > 1));
}

/**
 * seep_group_add() - a member that is not ok was sampled in a full pass
 * @rec: a member
 *
 * Context: seep_table_mutex.
 */
void seep_group_add(const struct seep_rec *rec)
{
	struct seep_group *g = rec->group;

	if (!seep_watched(rec->det.state))
		return;
	seep_growers_add(&g->sum.own, rec->rate);
	if (rec->last.limit == SEEPAGE_LIMIT_CGROUP &&
	    (!g->sum.tight || rec->last.headroom < g->sum.tight->last.headroom))
		g->sum.tight = rec;
	if (!rec->last.cold_ns)
		return;
	g->sum.looked_at++;
	g->sum.cold += rec->last.cold;
	g->sum.cold_ns = max(g->sum.cold_ns, rec->last.cold_ns);
}

/**
 * seep_group_peers() - the other members of a process's group
 * @rec: the process, not ok
 * @s: out: peers, and how many of them are under watch
 *
 * Context: seep_table_mutex; interrupts may be off.
 */
void seep_group_peers(const struct seep_rec *rec, struct seep_sample *s)
{
	const struct seep_group *g = rec->group;
	u32 others, grew;

	if (!g)
		return;
	others = g->n - 1;
	grew = g->counts[SEEP_MEMBERS_WATCHED] - (rec->counts_as >> SEEP_MEMBERS_WATCHED & 1);
	s->peers = min_t(u32, others, U16_MAX);
	s->peers_growing = min_t(u32, grew, s->peers);
}

/* The sum of the last samples of all members, as a sample. */
static void sum_up(const struct seep_group *g, struct seep_sample *s, u64 now_ns, u64 headroom)
{
	const struct seep_rec *first = list_first_entry(&g->members, struct seep_rec, kin);
	/* the machine's rate may be that of members too small to be under watch */
	struct seep_growers own = { max(g->sum.own.rate, g->rate), g->sum.own.n };

	memset(s, 0, sizeof(*s));
	s->time_ns = now_ns;
	s->age_ns = now_ns - min(g->born_ns, now_ns);
	s->anon = g->held << SEEP_GRANULE_SHIFT;
	s->vsz = s->anon;
	s->headroom = headroom;
	seep_tally_others(&seep_tally_ram, &own, s);
	if (g->sum.tight)
		seep_sample_confine(s, g->sum.tight->last.headroom, SEEPAGE_LIMIT_CGROUP,
				    seep_share_cgroup(g->sum.tight), &own);
	/* errors of counters are independent: that of n members grows by the root of n */
	s->error = min_t(u64, ((u64)seep_mm_counter_error(first->mm) << PAGE_SHIFT) *
		       int_sqrt(g->n), U32_MAX);
	s->page_shift = PAGE_SHIFT;
	s->peers = min_t(u32, g->n, U16_MAX);
	s->peers_growing = min_t(u32, g->counts[SEEP_MEMBERS_WATCHED], U16_MAX);
	/* valid where more than half of the growing members were measured */
	if (2 * g->sum.looked_at > g->counts[SEEP_MEMBERS_WATCHED]) {
		s->cold = g->sum.cold / g->sum.looked_at;
		s->cold_ns = g->sum.cold_ns;
	}
	s->full = true;
	s->group = true;
}

/*
 * A group had two members for the time of a fork only, has one and is ok: it needs no
 * history when others do.
 */
static bool is_dispensable(const struct seep_group *g)
{
	return g->n == 1 && !g->notified.alerted && g->history->det.state == SEEPAGE_STATE_OK &&
	       !seep_quota_left(g->row, SEEP_QUOTA_HISTORIES, MAX_HISTORIES);
}

/*
 * Allocate a history. Where all are taken, those that are dispensable are free in the next
 * pass.
 */
static void begin_history(struct seep_group *g, u64 now_ns)
{
	if (!seep_quota_left(g->row, SEEP_QUOTA_HISTORIES, MAX_HISTORIES)) {
		seep_count(GROUPS_FULL);
		return;
	}
	g->history = kzalloc(sizeof(*g->history), SEEP_GFP);
	if (!g->history) {
		seep_count(ALLOC_FAILED);
		return;
	}
	seep_quota_take(g->row, SEEP_QUOTA_HISTORIES, MAX_HISTORIES);
	seep_det_init(&g->history->det, &g->history->watch, now_ns);
}

/*
 * While a member has an alert of its own, its group raises none, unless it had one
 * before. Afterwards the other members must show a rise of their own.
 */
static bool is_silent(struct seep_group *g)
{
	if (g->counts[SEEP_MEMBERS_ALERTING] && !g->notified.alerted) {
		g->silent = true;
		return true;
	}
	if (g->silent) {
		g->silent = false;
		seep_det_init(&g->history->det, &g->history->watch,
			      g->history->last.time_ns);
	}
	return false;
}

/*
 * The alert of a group ends when no member grows or has an alert of its own, and their sum
 * raises none, for as long as its workers needed to be suspected. A worker that is replaced
 * by a new one, which leaks as well, does not end it.
 */
static void settle(struct seep_group *g, struct seep_verdict *v)
{
	u64 now_ns = g->history->last.time_ns;
	const struct seep_rec *rec;

	if (!g->notified.seq && g->notified.alerted) {	/* those of members count */
		g->notified.alerted = SEEPAGE_STATE_OK;
		list_for_each_entry(rec, &g->members, kin)
			g->notified.alerted = max(g->notified.alerted, rec->notified.alerted);
	}
	if (!seep_alert_is(g->notified.alerted)) {
		if (!seep_alert_is(v->state) && !g->counts[SEEP_MEMBERS_ALERTING])
			g->notified.pending = SEEPAGE_STATE_OK;
		return;
	}
	if (seep_alert_is(v->state) || g->counts[SEEP_MEMBERS_GROWING] ||
	    g->counts[SEEP_MEMBERS_ALERTING]) {
		g->trouble_ns = now_ns;
		return;
	}
	if (!g->notified.seq ||
	    now_ns - g->trouble_ns < g->hold * (u64)(NSEC_PER_SEC / SEEP_DS_PER_S))
		return;
	v->state = SEEPAGE_STATE_RECOVERED;
	seep_alert_group(g, g->notified.alerted, v);
}

/* One member grows, by half of what its group does or more: the alert is to be its own. */
static bool one_grows_alone(const struct seep_group *g)
{
	return g->counts[SEEP_MEMBERS_GROWING] == 1 && 2ULL * g->sum.own.rate >= g->rate;
}

/* Feed the detector the sum of a group, and publish what follows. */
static void feed_history(struct seep_group *g, const struct seep_conf *c)
{
	struct seep_group_history *h = g->history;
	struct seep_verdict v;
	u8 prev;

	if (is_silent(g)) {
		g->rate = 0;
		return;
	}
	prev = h->det.state;
	seep_det_feed(&h->det, &h->last, c, &v);
	seep_broken(v.dropped);
	g->rate = v.rate;
	v.subject = SEEPAGE_SUBJECT_GROUP;
	seep_publish_fed_group(g, &v);
	if (seep_alert_is(v.state) && v.state > g->notified.alerted &&
	    (g->notified.alerted || !one_grows_alone(g)))
		seep_alert_group(g, prev, &v);
	settle(g, &v);
}

/**
 * seep_group_forget() - discard all histories and everything learned
 *
 * Context: process, seep_table_mutex.
 */
void seep_group_forget(void)
{
	struct seep_group *g;

	while (dissolve_empty(SEEP_QUOTA_ROOT, SEEP_QUOTA_EMPTY, 0))
		;
	list_for_each_entry(g, &all_groups, all) {
		forget_history(g);
		memset(&g->notified, 0, sizeof(g->notified));
		memset(&g->lives, 0, sizeof(g->lives));
		g->known_rise = 0;
		g->known_span = 0;
	}
}

/**
 * seep_group_bytes() - memory of all groups and histories
 *
 * Context: any, for display.
 * Return: bytes.
 */
u64 seep_group_bytes(void)
{
	/* changed under seep_table_mutex only; old figures do no harm */
	return data_race((u64)seep_quota_sum(SEEP_QUOTA_GROUPS) * sizeof(struct seep_group) +
			 (u64)seep_quota_sum(SEEP_QUOTA_HISTORIES) *
			 sizeof(struct seep_group_history));
}

/**
 * seep_group_init() - take the memory of the hash table
 * @mem: SEEP_GROUP_HEADS of them, zeroed; kept until seep_group_exit()
 *
 * Context: module init.
 */
void __init seep_group_init(struct hlist_head *mem)
{
	heads = mem;
	get_random_bytes(&key, sizeof(key));
}

/**
 * seep_group_exit() - free all groups
 *
 * Context: module exit, after the worker has stopped and before records are freed.
 */
void seep_group_exit(void)
{
	struct seep_group *g, *n;

	list_splice_init(&empty_groups, &all_groups);
	list_for_each_entry_safe(g, n, &all_groups, all)
		dissolve(g);
}

/**
 * seep_group_pass() - judge all groups, after their members were sampled in a full pass
 * @now_ns: time of the pass, CLOCK_MONOTONIC
 * @headroom: bytes of available memory and free swap
 * @c: configuration in force
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_group_pass(u64 now_ns, u64 headroom, const struct seep_conf *c)
{
	struct seep_group *g;
	u32 n = 0;

	list_for_each_entry(g, &all_groups, all) {
		if (!g->history && g->shared) {
			begin_history(g, now_ns);
		} else if (g->history && is_dispensable(g)) {
			forget_history(g);
			g->shared = false;
		}
		if (g->history) {
			sum_up(g, &g->history->last, now_ns, headroom);
			feed_history(g, c);
		}
		memset(&g->sum, 0, sizeof(g->sum));
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
}
