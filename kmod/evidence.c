// SPDX-License-Identifier: GPL-2.0
/*
 * What only user space can find out of a process: whether it uses again what it
 * gained, and how much room its cgroup has left. The controller says so now and
 * then; in between the room shrinks by what the process itself gains.
 *
 * Whether it uses its memory is kept in the last sample, from which every new
 * one takes it: the detector is fed it like a figure of the kernel's own, and a
 * recorded series has it.
 *
 * All of this is under seep_table_mutex.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include "seep.h"

/*
 * The limit may be lifted, the process moved to another cgroup and others of it
 * may grow while nobody looks: what was told longer ago is not believed.
 */
#define CGROUP_HOLDS_NS		(3600ULL * NSEC_PER_SEC)
#define MOST_BYTES		BIT_ULL(62)

/**
 * seep_evidence_cold() - how much of what grew was not used again
 * @rec: of this process
 * @permille: 0 to 1000, as looked at just now
 */
void seep_evidence_cold(struct seep_rec *rec, u16 permille)
{
	rec->last.cold = permille;
	rec->last.cold_ns = ktime_get_ns();
}

/**
 * seep_evidence_cgroup() - the limit of its cgroup
 * @rec: of this process
 * @limit: bytes the cgroup may use; 0: none is known any more
 * @used: bytes it uses now that cannot be reclaimed
 */
void seep_evidence_cgroup(struct seep_rec *rec, u64 limit, u64 used)
{
	struct seep_sample now;
	u64 rw[2];

	rec->cgroup_ns = 0;
	if (!limit)
		return;
	now.time_ns = ktime_get_ns();
	seep_sample_read(rec, &now, rw);
	rec->cgroup_full = seep_held(&now) +
			   min(limit > used ? limit - used : 0, MOST_BYTES);
	rec->cgroup_ns = now.time_ns;
}

/**
 * seep_evidence_room() - what its cgroup leaves it
 * @rec: of this process
 * @s: the sample, with what it holds
 * @room: bytes out
 *
 * Return: false when that is not known.
 */
bool seep_evidence_room(const struct seep_rec *rec, const struct seep_sample *s, u64 *room)
{
	u64 held = seep_held(s);

	if (!rec->cgroup_ns || s->time_ns > rec->cgroup_ns + CGROUP_HOLDS_NS)
		return false;
	*room = rec->cgroup_full > held ? rec->cgroup_full - held : 0;
	return true;
}

/* A history that begins anew has no evidence; nor has a new program, a new record. */
void seep_evidence_forget(struct seep_rec *rec)
{
	rec->last.cold = 0;
	rec->last.cold_ns = 0;
	seep_read_at_rest(&rec->last);
	rec->cgroup_ns = 0;
}
