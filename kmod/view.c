// SPDX-License-Identifier: GPL-2.0
/*
 * Views: a record or a group as it is displayed. Netlink, debugfs and alerts take their
 * figures from here.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "read.h"
#include "seep.h"

#ifdef CONFIG_CGROUPS
/* The same number for a directory that is removed and made again in its parent. Context: RCU. */
static u64 place_of(struct cgroup *cgrp)
{
	struct cgroup *parent = cgroup_parent(cgrp);

	return parent ? cgroup_id(parent) ^ (u64)cgrp->kn->hash << 32 : cgroup_id(cgrp);
}
#endif

/**
 * seep_view_identify() - update comm, uid, cgroup and charge of a record
 * @rec: the record; unchanged if its process runs another program by now
 *
 * READ_ONCE() of p->mm pairs with plain stores under task_lock() in fs/exec.c and
 * kernel/exit.c.
 *
 * Context: process, seep_table_mutex.
 * Return: number of its cgroup by name and parent; 0: not known.
 */
u64 seep_view_identify(struct seep_rec *rec)
{
	const struct cred *cred;
	struct task_struct *p;
	struct cgroup *cgrp __maybe_unused;
	struct mm_struct *mm;
	u64 place = 0;
	bool same;

	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	mm = p ? READ_ONCE(p->mm) : NULL;
	/* NULL: it is exiting, from this mm or from one that it executed into since */
	same = p && (mm == rec->mm || (!mm && !seep_rec_gone(rec)));
	/* never identified: it may have executed just before, it is still the same process */
	if (p && (same || !rec->creds.known)) {
		cred = __task_cred(p);
		rec->creds.known = true;
		rec->creds.uid = cred->uid;
		rec->creds.same_creds = seep_owner_is(p, cred->uid);
		seep_tab_charge(rec, seep_owner_charge(p));
#ifdef CONFIG_CGROUPS
		cgrp = task_dfl_cgroup(p);
		rec->creds.cgroup_id = cgroup_id(cgrp);
		place = place_of(cgrp);
#endif
	}
	if (same) {
		/* it may be changing; its last byte is always NUL */
		data_race(memcpy(rec->comm, p->comm, sizeof(rec->comm)));
		rec->comm[sizeof(rec->comm) - 1] = '\0';
	}
	rcu_read_unlock();
	return place;
}

/* What RAM and the cgroup leave to a process, bytes. */
static u64 headroom(const struct seep_rec *rec)
{
	u64 left;

	if (!seep_facts_headroom(rec, &rec->last, &left))
		left = U64_MAX;
	return min(left, seep_headroom.left);
}

/* Facts beside the figures of a verdict. A process at rest has none. */
static void fill_facts(struct seep_view *v, const struct seep_rec *rec, u64 now_ns)
{
	const struct seep_det *d = &rec->det;

	v->limit = rec->last.limit;
	v->others = rec->last.others;
	v->others_rate = rec->last.others_rate;
	v->own_limit = seep_own_limit(&rec->last, headroom(rec));
	v->floors = seep_known(d->epochs, 0);
	v->has_subject = v->verdict.t1;
	if (!v->has_subject && d->policy == SEEPAGE_POLICY_LADDER && seep_alert_is(d->state)) {
		v->has_subject = true;
		v->verdict.subject = d->accused;
	}
	v->cold_ns = rec->last.cold_ns;
	if (v->cold_ns) {
		v->cold = rec->last.cold;
		v->cold_age_s = div_u64(now_ns - min(v->cold_ns, now_ns), NSEC_PER_SEC);
	}
}

/**
 * seep_view_weigh() - set the severity of a view
 * @v: with figures and verdict
 *
 * Context: any.
 */
void seep_view_weigh(struct seep_view *v)
{
	v->severity = seep_severity(&v->verdict, v->anon + v->file + v->shmem, v->own_limit);
}

/* Clear all but the gates and factors at its end, which are counted, and say what it is of. */
static noinline void begin(struct seep_view *v, struct seep_rec *rec)
{
	BUILD_BUG_ON(offsetofend(struct seep_view, verdict) != sizeof(*v));
	memset(v, 0, offsetof(struct seep_view, verdict));
	seep_verdict_init(&v->verdict);
	seep_view_identify(rec);
	v->pid = pid_nr(rec->pid);
	v->creds = rec->creds;
	memcpy(v->comm, rec->comm, sizeof(v->comm));
}

/**
 * seep_view_fill() - everything that is displayed of a process
 * @v: out; gates and factors beyond their counts are not written
 * @rec: live or buried
 *
 * Memory and faults are read now, the verdict is that of the last sample.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_view_fill(struct seep_view *v, struct seep_rec *rec)
{
	struct seep_sample now;
	struct seep_conf c;
	const struct seep_sample *s = &now;
	u64 rw[2];

	begin(v, rec);
	seep_sample_wake(rec);
	now.time_ns = ktime_get_ns();
	seep_sample_read(rec, &now, rw);
	/*
	 * Figures first: they are not those of a mm that is torn down. Pairs with the full
	 * barrier of atomic_dec_and_test() in kernel/fork.c:mmput().
	 */
	smp_rmb();
	if (seep_rec_gone(rec))
		s = &rec->last;
	v->anon = s->anon;
	v->file = s->file;
	v->shmem = s->shmem;
	v->swap = s->swap;
	v->vsz = s->vsz;
	/* a process that is gone has no pages any more, but all its faults */
	v->faults_anon = now.faults_anon;
	v->age_s = div_u64(s->age_ns, NSEC_PER_SEC);
	v->brk = min(seep_heap_bytes(rec->mm), v->vsz);
	v->faults_user = seep_rec_faults(rec, 0);
	v->faults_kernel = seep_rec_faults(rec, SEEP_F_KERNEL);
	seep_group_known(rec, &v->known_rise, &v->known_span);
	if (!rec->last.time_ns) {	/* no sample yet */
		v->verdict.policy = seep_config_value(SEEPAGE_CFG_POLICY);
		seep_view_weigh(v);
		return;
	}
	seep_config_get(&c);
	v->fault_rate = seep_det_fault_rate(&rec->det, s, c.v[SEEPAGE_CFG_MONITORING_WINDOW_S]);
	seep_det_explain(&rec->det, &rec->last, &c, &v->verdict);
	seep_broken(v->verdict.dropped);
	v->has_growth = seep_det_growth(&rec->det, &v->verdict, &v->growth);
	fill_facts(v, rec, now.time_ns);
	seep_view_weigh(v);
}

/**
 * seep_view_fill_group() - everything that is displayed of a group
 * @v: out; figures are sums, those without a sum are 0
 * @g: with a history
 * @rec: one of its processes, live or buried, for comm, uid, cgroup and pid
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_view_fill_group(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *rec)
{
	const struct seep_sample *s = &g->history->last;
	struct seep_conf c;

	begin(v, rec);
	v->members = max(g->n, 1U);
	v->growing = g->counts[SEEP_MEMBERS_GROWING];
	v->anon = (u64)g->held << SEEP_GRANULE_SHIFT;
	v->vsz = v->anon;
	v->age_s = div_u64(s->age_ns, NSEC_PER_SEC);
	seep_config_get(&c);
	seep_det_explain(&g->history->det, s, &c, &v->verdict);
	seep_broken(v->verdict.dropped);
	v->verdict.subject = SEEPAGE_SUBJECT_GROUP;
	v->has_subject = true;
	v->floors = seep_known(g->history->det.epochs, 0);
	v->limit = s->limit;
	v->others = s->others;
	v->others_rate = s->others_rate;
	v->has_growth = seep_det_growth(&g->history->det, &v->verdict, &v->growth);
	seep_view_weigh(v);
}

/* What the members of a group that grow have gained since then: bytes, and bytes an hour. */
static u64 sum_growth(const struct seep_group *g, u64 *rate)
{
	const struct seep_rec *rec;
	u64 all = 0;

	*rate = 0;
	list_for_each_entry(rec, &g->members, kin) {
		const struct seep_watch *w = rec->det.w;
		u64 gained;
		u32 span;

		if (!(rec->counts_as & BIT(SEEP_MEMBERS_GROWING)) || !w)
			continue;		/* what grows is under watch and has one */
		gained = seep_bytes(seep_minus(rec->det.last_v, w->onset_v));
		span = seep_ds(rec->last.time_ns) - w->onset_t;
		all += gained;
		*rate += seep_div(gained * SEEP_HOUR_DS, max(span, 1U));
	}
	return all;
}

/**
 * seep_view_fill_cause() - the verdict of a group is that of a member
 * @v: from seep_view_fill_group()
 * @g: the group
 * @cause: the member, which would raise an alert; others grow as well
 * @verdict: the verdict on it
 *
 * The figures are those of the group. Its history may be too short for a growth where
 * members are sampled more often; then it is the sum of those of the members. A limit that
 * members share is reached at the pace of the group.
 *
 * Context: process, seep_table_mutex.
 */
void seep_view_fill_cause(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *cause, const struct seep_verdict *verdict)
{
	const struct seep_sample *s = &cause->last;
	u64 rate, gained = sum_growth(g, &rate), tte_s = verdict->tte_s;
	u8 i;

	if (v->verdict.t1 && v->has_growth && v->growth > 0) {
		rate = v->growth;
		memcpy(v->verdict.gate, verdict->gate, sizeof(verdict->gate));
		v->verdict.ngates = verdict->ngates;
		v->verdict.confidence = max(v->verdict.confidence, verdict->confidence);
	} else {
		v->verdict = *verdict;
		for (i = 0; i < verdict->nfactors; i++)
			if (verdict->factor[i].id == SEEPAGE_FACTOR_FLOOR) {
				v->verdict.factor[i].value = gained;
				v->verdict.factor[i].baseline = v->anon - min(gained, v->anon);
			}
	}
	v->verdict.subject = SEEPAGE_SUBJECT_GROUP;
	v->has_growth = rate;
	v->growth = rate;
	if (rate && (s->limit == SEEPAGE_LIMIT_RAM || s->limit == SEEPAGE_LIMIT_CGROUP))
		tte_s = min(tte_s, seep_div(min(s->headroom, BIT_ULL(50)) * 3600, rate));
	v->verdict.tte_s = tte_s;
	v->limit = s->limit;
	v->own_limit = seep_own_limit(s, headroom(cause));
}
