// SPDX-License-Identifier: GPL-2.0
/*
 * Suspects: records under watch or worse, and what follows from a change of state.
 *
 * sample.c passes the verdict. Here a record enters and leaves the list that short passes
 * read, its alert is sent, and its group counts it. Everything that is done for records
 * under watch only starts here.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include "seep.h"
#include "trace.h"

#define MAX_SUSPECTS	256

/* records under watch or worse that short passes read; seep_table_mutex */
LIST_HEAD(seep_suspects);

/*
 * Short passes read at most MAX_SUSPECTS records, and of one user a quarter of them. All
 * others under watch are read in full passes, as long as that is so.
 */
static void enter(struct seep_rec *rec)
{
	u16 row = seep_rec_row(rec);

	if (!seep_quota_take(row, SEEP_QUOTA_SUSPECTS, MAX_SUSPECTS)) {
		seep_count(SUSPECTS_FULL);
		return;
	}
	rec->hot_row = row;
	list_add_tail(&rec->hot, &seep_suspects);
	seep_end_want(rec);
}

static void leave(struct seep_rec *rec)
{
	seep_quota_give(rec->hot_row, SEEP_QUOTA_SUSPECTS);
	rec->hot_row = SEEP_QUOTA_ALL;
	list_del_init(&rec->hot);
	seep_end_drop(rec);
}

/**
 * seep_suspect_judged() - act on the verdict on a record
 * @rec: the record; it is not ok, or was not, or has a pending alert
 * @prev: state before this sample
 * @v: the verdict
 * @full: in a full pass
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_suspect_judged(struct seep_rec *rec, u8 prev, const struct seep_verdict *v, bool full)
{
	lockdep_assert_held(&seep_table_mutex);
	if (v->state != prev)
		trace_seepage_state(rec, 0, prev, v->state);
	seep_group_judged(rec, v);
	if (seep_group_speaks(rec))
		seep_alert_member(rec, v);
	else if (v->state != prev)
		seep_alert_state(rec, prev, v);
	else if (rec->notified.pending)
		seep_alert_retry(rec);
	else if (seep_alert_is(v->state) && v->state > rec->notified.alerted)
		/*
		 * The group was to send this alert and was limited. The group is quiet now,
		 * so the process sends it.
		 */
		seep_alert_state(rec, SEEPAGE_STATE_WATCH, v);
	if (!seep_watched(v->state))
		leave(rec);
	else if (list_empty(&rec->hot))
		enter(rec);
	seep_share_judged(rec, v, full);
	if (full && rec->group)
		seep_group_add(rec);
	if (!v->state)
		seep_sample_clear_watched(&rec->last);	/* read under watch only */
}

/**
 * seep_suspect_forget() - a record restarts: not under watch, no alert sent
 * @rec: the record
 *
 * Context: seep_table_mutex.
 */
void __cold seep_suspect_forget(struct seep_rec *rec)
{
	lockdep_assert_held(&seep_table_mutex);
	memset(&rec->notified, 0, sizeof(rec->notified));
	rec->rate = 0;
	seep_group_uncount(rec);
	leave(rec);
}

/**
 * seep_suspect_is() - do short passes read a record?
 * @rec: in the table
 *
 * Context: seep_table_mutex.
 */
bool seep_suspect_is(const struct seep_rec *rec)
{
	return !list_empty(&rec->hot);
}
