// SPDX-License-Identifier: GPL-2.0
/*
 * Facts: what only user space can find out about a process. They are whether the process
 * uses again the memory that it gained, and how much its cgroup may use. The controller
 * sends them now and then; in between the headroom of the cgroup shrinks by what the
 * process itself gains.
 *
 * Coldness is kept in the last sample, and every new sample copies it. The detector thus
 * gets it like any other figure, and a recording has it.
 *
 * Context: process. Lock: seep_table_mutex for everything here.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include "seep.h"

/*
 * A limit is valid for an hour. Meanwhile it may be lifted, the process may move to
 * another cgroup, and other members of the cgroup may grow.
 */
#define CGROUP_HOLDS_NS		(3600ULL * NSEC_PER_SEC)
#define MOST_BYTES		BIT_ULL(62)

/**
 * seep_facts_cold() - set coldness
 * @rec: the process
 * @permille: 0 to 1000 of the growth, measured now
 *
 * Context: seep_table_mutex.
 */
void seep_facts_cold(struct seep_rec *rec, u16 permille)
{
	rec->last.cold = permille;
	rec->last.cold_ns = ktime_get_ns();
}

/**
 * seep_facts_cgroup() - set the limit of the cgroup
 * @rec: the process
 * @limit: bytes the cgroup may use; 0: no limit known
 * @used: bytes it uses now that cannot be reclaimed
 * @id: inode of the cgroup that has the limit; 0: not told, taken for its own cgroup
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_facts_cgroup(struct seep_rec *rec, u64 limit, u64 used, u64 id)
{
	struct seep_sample now;
	u64 rw[2];

	if (!limit) {
		seep_share_leave(rec);
		return;
	}
	if (!seep_share_join(rec, id ?: rec->creds.cgroup_id))
		return;
	rec->cgroup->ns = 0;
	now.time_ns = ktime_get_ns();
	seep_sample_read(rec, &now, rw);
	rec->cgroup->full = seep_held(&now) +
			    min(limit > used ? limit - used : 0, MOST_BYTES);
	rec->cgroup->ns = now.time_ns;
}

/**
 * seep_facts_headroom() - headroom that the cgroup leaves
 * @rec: the process
 * @s: the sample, with the memory that it holds
 * @headroom: out, bytes
 *
 * Context: seep_table_mutex.
 * Return: false when no valid limit is known.
 */
bool seep_facts_headroom(const struct seep_rec *rec, const struct seep_sample *s, u64 *headroom)
{
	const struct seep_confined *c = rec->cgroup;
	u64 held = seep_held(s);

	if (!c || !c->ns || s->time_ns > c->ns + CGROUP_HOLDS_NS)
		return false;
	*headroom = c->full > held ? c->full - held : 0;
	return true;
}

/**
 * seep_facts_forget() - discard all facts
 * @rec: new, with a new program, or with a history that restarts
 *
 * Context: seep_table_mutex.
 */
void seep_facts_forget(struct seep_rec *rec)
{
	rec->last.cold = 0;
	rec->last.cold_ns = 0;
	seep_sample_clear_watched(&rec->last);
	seep_share_leave(rec);
}
