// SPDX-License-Identifier: GPL-2.0
/*
 * Room: which processes have a record when there are more of them than records.
 *
 * The table refuses a process when it is full, or when half of it is charged to one user
 * other than root. Processes without a record are looked at in full passes, a part of them
 * in each. They get a record if there is room by then, or take one that is lighter
 * (detect/room.h).
 *
 * A record is not given up while short passes read it, or once its alert was sent. A user can
 * have 64 of the former, and so many more of the latter each minute. A record with an alert that
 * is held back goes last, and not for another process of its user. A record under watch, or of a
 * group in alert, weighs eight times what it has: it goes late, but for a process that is far
 * heavier it goes. Otherwise processes that all grow a little could keep out any other one of
 * their user.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "detect/room.h"
#include "publish.h"
#include "read.h"
#include "seep.h"

#define VISITS		8192U		/* pids looked at in a full pass, at most */
#define WATCHED		3		/* log2: so many times a record under watch weighs */

static struct {				/* seep_table_mutex */
	int nr;				/* pid that the last pass stopped at */
	bool again;			/* some process had no record since pid 1 */
} walk;

static u64 weight_of(struct mm_struct *mm)
{
	return seep_counter_bytes(mm, MM_ANONPAGES) + seep_counter_bytes(mm, MM_SWAPENTS);
}

/* Create the record of a process, or offer the process. Context: task_lock(). */
static void look(struct task_struct *t, void *arg)
{
	kuid_t charged = seep_owner_charge(READ_ONCE(t->group_leader));
	struct seep_room *r = arg;

	if (seep_tab_find(t->mm))
		return;
	walk.again = true;
	if (seep_tab_full() || !seep_tab_room(charged, r->max))
		seep_room_offer(r, seep_tab_share(charged), weight_of(t->mm), t->tgid);
	else if (seep_pool_left())
		seep_tab_birth(t->mm, t);
	else
		seep_owner_missed();
}

/* Look at the next processes. */
static void look_on(struct seep_room *r)
{
	u32 n = 0;

	if (!walk.nr) {
		WRITE_ONCE(seep_tab_refused, false);
		walk.again = false;
	}
	while (seep_owner_visit(&walk.nr, look, r)) {
		if (++n == VISITS)
			return;		/* the next pass goes on */
		if (!(n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
	walk.nr = 0;
	if (walk.again)
		WRITE_ONCE(seep_tab_refused, true);
}

/* An alert of the group that would have one member less. */
static bool in_alert(const struct seep_group *g)
{
	return g && (g->notified.alerted | g->notified.pending ||
		     (g->history && g->history->det.state));
}

/* Records that may be given up. A floor that rises counts double. */
static void consider(struct seep_room *r)
{
	struct seep_rec *rec;
	u32 n = 0, share;
	u64 weight;

	seep_for_each_rec(rec) {
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
		if (!rec->ready || seep_suspect_is(rec) || rec->notified.alerted)
			continue;
		share = seep_tab_share(rec->charged);
		if (in_alert(rec->group) && rec->group->n == 1)
			continue;
		weight = weight_of(rec->mm) << rec->det.slow_rose;
		if (rec->notified.pending)
			weight = SEEP_ROOM_LAST;
		else if (rec->det.state || in_alert(rec->group))
			weight <<= WATCHED;
		seep_room_consider(r, share, weight, rec);
	}
}

/* Argument of take(). */
struct move {
	struct seep_room_side newcomer;
	struct seep_rec *rec;		/* given up for it */
	struct list_head *graves;
};

/* Context: task_lock(). */
static void take(struct task_struct *t, void *arg)
{
	struct move *m = arg;

	if (t->tgid == m->newcomer.nr)	/* it is still there */
		seep_tab_exchange(m->rec, t->mm, t, m->graves);
}

/* Carry the exchanges out. Empty records first: nothing is given up while memory is short. */
static void exchange(struct seep_room *r, struct list_head *graves)
{
	struct move m = { .graves = graves };
	void *given;
	int nr;

	while (seep_room_next(r, &m.newcomer, &given)) {
		m.rec = given;
		if (!seep_pool_left() && !seep_pool_add())
			return;
		nr = m.newcomer.nr - 1;
		/*
		 * Keep the last member of a group in alert. A CPU may count for the record:
		 * seep_tab_given_up() folds it. A process that faults on and on keeps nothing.
		 */
		if (!(in_alert(m.rec->group) && m.rec->group->n == 1))
			seep_owner_visit(&nr, take, &m);
		if (m.rec->dead) {
			seep_group_leave(m.rec);
			seep_share_leave(m.rec);
		}
		cond_resched();
	}
}

/**
 * seep_room_pass() - look at processes without a record
 * @graves: list that records are added to that were given up, as by seep_tab_bury()
 *
 * Context: process, may sleep, seep_table_mutex, outside a pass of samples.
 */
void seep_room_pass(struct list_head *graves)
{
	struct seep_room *r;
	LIST_HEAD(given);

	lockdep_assert_held(&seep_table_mutex);
	if (!READ_ONCE(seep_tab_refused) && !walk.nr)
		return;
	r = kmalloc(sizeof(*r), GFP_NOWAIT | __GFP_NOWARN);
	if (!r) {
		seep_count(ALLOC_FAILED);
		return;
	}
	seep_room_begin(r, seep_tab_shares, seep_config_value(SEEPAGE_CFG_MAX_PROCESSES));
	look_on(r);
	if (r->newcomers) {
		seep_room_ask(r);
		consider(r);
		exchange(r, &given);
	}
	kfree(r);
	if (list_empty(&given))
		return;
	seep_tab_given_up(&given);
	seep_publish_gone(&given);
	list_splice_tail(&given, graves);
}
