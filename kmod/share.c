// SPDX-License-Identifier: GPL-2.0
/*
 * Shared limits: the tallies of the machine and of cgroups (detect/share.h).
 *
 * A full pass adds the rate of each record under watch to the tally of the machine, and to
 * that of its cgroup where user space told its limit. The next samples read the sums.
 *
 * The machine as a whole is followed as well. Where it is used up faster than all that is
 * known to grow explains, that rate counts.
 *
 * Context: process. Lock: seep_table_mutex for everything here.
 */
#include <linux/slab.h>
#include "read.h"
#include "seep.h"

#define MAX_TALLIES	256		/* of cgroups: as many as suspects */
#define MACHINE_EVERY	4		/* full passes between two looks at the machine */

struct seep_tally seep_tally_ram;
static struct seep_machine *machine;	/* or NULL */
static u32 machine_rate;		/* granules an hour, as last judged */
static u32 passes;			/* full passes since load */
static LIST_HEAD(tallies);

/* A new tally counts for the user of the record that it is made for: half of all at most. */
static struct seep_cgroup_tally *find(u64 id, u16 row)
{
	struct seep_cgroup_tally *p;

	list_for_each_entry(p, &tallies, all)
		if (p->id == id)
			return p;
	p = kzalloc(sizeof(*p), SEEP_GFP);
	if (!p) {
		seep_count(ALLOC_FAILED);
		return NULL;
	}
	if (!seep_quota_take(row, SEEP_QUOTA_TALLIES, MAX_TALLIES)) {
		seep_count(SUSPECTS_FULL);
		kfree(p);
		return NULL;
	}
	p->row = row;
	p->id = id;
	list_add(&p->all, &tallies);
	return p;
}

/* Take a process out of the tally, which may be NULL, of its cgroup. */
static void leave(struct seep_cgroup_tally *p)
{
	if (!p || --p->users)
		return;
	list_del(&p->all);
	seep_quota_give(p->row, SEEP_QUOTA_TALLIES);
	kfree(p);
}

/**
 * seep_share_leave() - the limit of a record's cgroup is not known any more
 * @rec: live or buried
 *
 * Context: process, seep_table_mutex.
 */
void seep_share_leave(struct seep_rec *rec)
{
	if (!rec->cgroup)
		return;
	leave(rec->cgroup->tally);
	kfree(rec->cgroup);
	rec->cgroup = NULL;
}

/**
 * seep_share_join() - the limit of a cgroup holds for a record
 * @rec: live; without a tally when its user has too many, or there is no memory
 * @id: of the cgroup that has the limit
 *
 * Context: process, seep_table_mutex.
 * Return: false when memory is short; counted. Otherwise rec->cgroup is there.
 */
bool seep_share_join(struct seep_rec *rec, u64 id)
{
	struct seep_cgroup_tally *p;

	if (rec->cgroup && rec->cgroup->tally && rec->cgroup->tally->id == id)
		return true;
	/* a limit that is known stays where memory is short */
	if (rec->cgroup) {
		leave(rec->cgroup->tally);
	} else {
		rec->cgroup = kzalloc(sizeof(*rec->cgroup), SEEP_GFP);
		if (!rec->cgroup) {
			seep_count(ALLOC_FAILED);
			return false;
		}
	}
	p = id ? find(id, seep_rec_row(rec)) : NULL;
	rec->cgroup->tally = p;
	if (p)
		p->users++;
	return true;
}

/*
 * A process that a limit of its own, or its cgroup's, stops before it has taken half of
 * what the machine has left does not count as growth of the machine. A small container that
 * fills and is restarted would make memory seem to end soon for everybody.
 */
static bool takes_from_machine(const struct seep_rec *rec)
{
	return rec->last.limit == SEEPAGE_LIMIT_RAM ||
	       rec->last.headroom >= seep_headroom.left / 2;
}

/* Add the rate of a record to the tally of its cgroup, which it has. */
static noinline void add_to_cgroup(const struct seep_rec *rec)
{
	u64 left;

	if (rec->cgroup->tally && seep_facts_headroom(rec, &rec->last, &left))
		seep_growers_add(&rec->cgroup->tally->tally.sum, rec->rate);
}

/**
 * seep_share_judged() - a record was judged
 * @rec: the record
 * @v: its verdict
 * @full: in a full pass
 *
 * Between two full passes the sums do not change, and the rate of a record stays what they have
 * of it. Growth that ends meanwhile counts for the others until the next full pass: an alert of
 * theirs may come one interval too early. Sums that follow at once would need an order among
 * records that are judged one after the other, for less than a floor takes to show.
 *
 * Context: process, seep_table_mutex.
 */
void seep_share_judged(struct seep_rec *rec, const struct seep_verdict *v, bool full)
{
	if (!seep_watched(v->state))
		rec->rate = 0;
	else if (full)
		rec->rate = v->rate;
	if (!full)
		return;
	if (takes_from_machine(rec))
		seep_growers_add(&seep_tally_ram.sum, rec->rate);
	if (rec->cgroup)
		add_to_cgroup(rec);
}

/**
 * seep_share_pass() - a full pass has judged all records
 * @now_ns: its time, CLOCK_MONOTONIC
 * @left: bytes of available memory and free swap
 * @c: configuration in force
 *
 * Context: process, seep_table_mutex.
 */
void seep_share_pass(u64 now_ns, u64 left, const struct seep_conf *c)
{
	struct seep_cgroup_tally *p;

	list_for_each_entry(p, &tallies, all)
		seep_tally_close(&p->tally);
	seep_tally_close(&seep_tally_ram);
	seep_tally_ram.last.rate = max(seep_tally_ram.last.rate, machine_rate);
	if (passes++ % MACHINE_EVERY)
		return;
	if (!machine)
		machine = kzalloc(sizeof(*machine), SEEP_GFP);
	if (machine)
		machine_rate = seep_machine_feed(machine, now_ns, left, c);
	else
		seep_count(ALLOC_FAILED);
}

/**
 * seep_share_forget() - restart the history of the machine
 *
 * Context: process, seep_table_mutex.
 */
void __cold seep_share_forget(void)
{
	if (machine)
		machine->most = 0;
	machine_rate = 0;
	memset(&seep_tally_ram.last, 0, sizeof(seep_tally_ram.last));
}

/**
 * seep_share_exit() - free all tallies
 *
 * Context: module exit, after the worker has stopped; records are not read any more.
 */
void seep_share_exit(void)
{
	struct seep_cgroup_tally *p, *n;

	list_for_each_entry_safe(p, n, &tallies, all)
		kfree(p);
	kfree(machine);
}
