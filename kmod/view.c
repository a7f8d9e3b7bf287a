// SPDX-License-Identifier: GPL-2.0
/*
 * A record as it is shown: netlink, debugfs, alerts and trace events all take
 * their figures from here.
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

/**
 * seep_view_identify() - what the process is called and whose it is, as of now
 * @rec: unchanged when its process already runs another program
 *
 * Context: process, seep_table_mutex.
 */
void seep_view_identify(struct seep_rec *rec)
{
	const struct cred *cred;
	struct task_struct *p;
	struct mm_struct *mm;
	bool same;

	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	mm = p ? READ_ONCE(p->mm) : NULL;
	/* NULL: it is exiting; out of this mm, or out of one it has executed into since */
	same = p && (mm == rec->mm || (!mm && !seep_rec_gone(rec)));
	/* it may have executed just before its first look: still the same process */
	if (p && (same || !rec->who.known)) {
		cred = __task_cred(p);
		rec->who.known = true;
		rec->who.uid = cred->uid;
		rec->who.own = uid_eq(cred->uid, cred->euid) && uid_eq(cred->uid, cred->suid);
#ifdef CONFIG_CGROUPS
		rec->who.cgroup_id = cgroup_id(task_dfl_cgroup(p));
#endif
	}
	if (same) {
		/* may be changing; its last byte is NUL at any time */
		data_race(memcpy(rec->comm, p->comm, sizeof(rec->comm)));
		rec->comm[sizeof(rec->comm) - 1] = '\0';
	}
	rcu_read_unlock();
}

/* What is known of a verdict beyond its own figures; nothing of one at rest. */
static void fill_evidence(struct seep_view *v, const struct seep_rec *rec, u64 now_ns)
{
	const struct seep_det *d = &rec->det;

	v->limit = rec->last.limit;
	v->has_series = v->verdict.t1;
	if (!v->has_series && d->policy == SEEPAGE_POLICY_LADDER && seep_alert_is(d->state)) {
		v->has_series = true;
		v->verdict.series = d->accused;
	}
	v->cold_ns = rec->last.cold_ns;
	if (v->cold_ns) {
		v->cold = rec->last.cold;
		v->cold_age_s = div_u64(now_ns - min(v->cold_ns, now_ns), NSEC_PER_SEC);
	}
}

/**
 * seep_view_weigh() - the severity of a view
 * @v: with its figures, and the verdict that is shown
 */
void seep_view_weigh(struct seep_view *v)
{
	v->severity = seep_severity(&v->verdict, v->anon + v->file + v->shmem);
}

/* All but the gates and factors, which end the view: those are counted. */
static void blank(struct seep_view *v)
{
	BUILD_BUG_ON(offsetofend(struct seep_view, verdict) != sizeof(*v));
	memset(v, 0, offsetof(struct seep_view, verdict));
	seep_verdict_init(&v->verdict);
}

/**
 * seep_view_fill() - everything that is shown of a record
 * @v: all of it is written, but for gates and factors beyond those counted
 * @rec: live or buried
 *
 * Memory and faults are read now, the verdict is that of the last sample.
 *
 * Context: process, seep_table_mutex.
 */
void seep_view_fill(struct seep_view *v, struct seep_rec *rec)
{
	struct seep_sample now;
	struct seep_conf c;
	const struct seep_sample *s = &now;
	u64 rw[2];

	blank(v);
	seep_view_identify(rec);
	v->pid = pid_nr(rec->pid);
	v->who = rec->who;
	memcpy(v->comm, rec->comm, sizeof(v->comm));
	now.time_ns = ktime_get_ns();
	seep_sample_read(rec, &now, rw);
	smp_rmb();	/* the figures before mm_users: they are not those of its end */
	if (seep_rec_gone(rec))
		s = &rec->last;
	v->anon = s->anon;
	v->file = s->file;
	v->shmem = s->shmem;
	v->swap = s->swap;
	v->vsz = s->vsz;
	/* of one that is gone no pages are known, but all faults */
	v->faults_anon = now.faults_anon;
	v->age_s = div_u64(s->age_ns, NSEC_PER_SEC);
	v->brk = min(seep_heap_bytes(rec->mm), v->vsz);
	v->faults_user = seep_rec_faults(rec, 0);
	v->faults_kernel = seep_rec_faults(rec, SEEP_F_KERNEL);
	if (!rec->last.time_ns) {	/* no sample yet */
		v->verdict.policy = seep_config_value(SEEPAGE_CFG_POLICY);
		seep_view_weigh(v);
		return;
	}
	seep_config_get(&c);
	v->fault_rate = seep_det_fault_rate(&rec->det, s, c.v[SEEPAGE_CFG_MONITORING_WINDOW_S]);
	seep_det_explain(&rec->det, &rec->last, &c, &v->verdict);
	v->has_growth = seep_det_growth(&rec->det, &v->verdict, &v->growth);
	fill_evidence(v, rec, now.time_ns);
	seep_view_weigh(v);
}

/**
 * seep_view_fill_group() - everything that is shown of a group
 * @v: likewise; figures are sums, what there is no sum of is 0
 * @g: with a history
 * @rec: one of its processes, live or buried: it lends its names and numbers
 *
 * Context: process, seep_table_mutex.
 */
void seep_view_fill_group(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *rec)
{
	const struct seep_sample *s = &g->history->last;
	struct seep_conf c;

	blank(v);
	seep_view_identify(rec);
	v->pid = pid_nr(rec->pid);
	v->who = rec->who;
	memcpy(v->comm, rec->comm, sizeof(v->comm));
	v->members = max(g->n, 1U);
	v->anon = s->anon;
	v->vsz = s->vsz;
	v->age_s = div_u64(s->age_ns, NSEC_PER_SEC);
	seep_config_get(&c);
	seep_det_explain(&g->history->det, s, &c, &v->verdict);
	v->verdict.series = SEEPAGE_SERIES_GROUP;
	v->has_series = true;
	v->limit = s->limit;
	v->has_growth = seep_det_growth(&g->history->det, &v->verdict, &v->growth);
	seep_view_weigh(v);
}
