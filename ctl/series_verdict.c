// SPDX-License-Identifier: GPL-2.0
/*
 * A verdict of the detector in this process, laid out as the kernel lays out
 * its own: what prints those prints these, in the same words.
 */
#include <netlink/genl/genl.h>
#include "series.h"

static void put_factors(struct nl_msg *msg, const struct seep_verdict *v)
{
	struct nlattr *all = must(nla_nest_start(msg, SEEPAGE_A_FACTORS)), *one;
	int i, points;

	for (i = 0; i < v->nfactors; i++) {
		one = must(nla_nest_start(msg, SEEPAGE_A_FACTOR));
		nla_put_u8(msg, SEEPAGE_FACTOR_A_ID, v->factor[i].id);
		points = v->factor[i].points;
		if (points < 0)
			nla_put_u8(msg, SEEPAGE_FACTOR_A_AGAINST, (u8)-points);
		nla_put_u8(msg, SEEPAGE_FACTOR_A_POINTS, points > 0 ? (u8)points : 0);
		nla_put_u8(msg, SEEPAGE_FACTOR_A_MAX_POINTS, v->factor[i].max);
		nla_put_s64(msg, SEEPAGE_FACTOR_A_VALUE, v->factor[i].value);
		nla_put_s64(msg, SEEPAGE_FACTOR_A_BASELINE, v->factor[i].baseline);
		nla_nest_end(msg, one);
	}
	nla_nest_end_keep_empty(msg, all);
}

static void put_gates(struct nl_msg *msg, const struct seep_verdict *v)
{
	struct nlattr *all = must(nla_nest_start(msg, SEEPAGE_A_GATES)), *one;
	int i;

	for (i = 0; i < v->ngates; i++) {
		one = must(nla_nest_start(msg, SEEPAGE_A_GATE));
		nla_put_u8(msg, SEEPAGE_GATE_A_ID, v->gate[i].id);
		nla_put_u8(msg, SEEPAGE_GATE_A_PASSED, v->gate[i].passed);
		if (v->gate[i].reached) {
			nla_put_s64(msg, SEEPAGE_GATE_A_VALUE, v->gate[i].value);
			nla_put_s64(msg, SEEPAGE_GATE_A_LIMIT, v->gate[i].limit);
		}
		nla_nest_end(msg, one);
	}
	nla_nest_end_keep_empty(msg, all);
}

static void put_figures(struct nl_msg *msg, const struct seep_sample *s)
{
	nla_put_u64(msg, SEEPAGE_A_RSS_BYTES, seep_rss(s));
	nla_put_u64(msg, SEEPAGE_A_ANON_BYTES, s->anon);
	nla_put_u64(msg, SEEPAGE_A_FILE_BYTES, s->file);
	nla_put_u64(msg, SEEPAGE_A_SHMEM_BYTES, s->shmem);
	nla_put_u64(msg, SEEPAGE_A_SWAP_BYTES, s->swap);
	nla_put_u64(msg, SEEPAGE_A_VSZ_BYTES, s->vsz);
	nla_put_u64(msg, SEEPAGE_A_FAULTS_ANON, s->faults_anon);
	nla_put_u64(msg, SEEPAGE_A_FAULTS_FILE,
		    s->faults - (s->faults_anon < s->faults ? s->faults_anon : s->faults));
	nla_put_u64(msg, SEEPAGE_A_AGE_SECONDS, s->age_ns / 1000000000);
}

/* As the kernel does: of what grows, or of what is accused and at rest. */
static void put_series(struct nl_msg *msg, const struct series *s, const struct seep_det *d,
		       const struct seep_verdict *v)
{
	bool accused = d->policy == SEEPAGE_POLICY_LADDER && state_is_alert(d->state);

	if (s->group) {
		nla_put_u32(msg, SEEPAGE_A_MEMBERS, s->sample.peers ? s->sample.peers : 1);
		nla_put_u8(msg, SEEPAGE_A_SERIES, SEEPAGE_SERIES_GROUP);
	} else if (v->t1 || accused) {
		nla_put_u8(msg, SEEPAGE_A_SERIES, v->t1 ? v->series : d->accused);
	}
}

/*
 * @t: out, to be freed
 * @s: with the sample that was fed last
 * @d: its history
 * @v: what was said; its state may be another than the detector's (exited)
 * @c: configuration in force
 * @prev_state: the one it left
 */
void series_tell(struct series_told *t, const struct series *s, const struct seep_det *d,
		 const struct seep_verdict *v, const struct seep_conf *c, u8 prev_state)
{
	struct nl_msg *msg = must(nlmsg_alloc());
	struct seep_verdict now;
	s64 growth;

	/* the growth that is shown is that of the history as it is by now */
	seep_det_explain(d, &s->sample, c, &now);
	must(genlmsg_put(msg, 0, 0, GENL_ID_CTRL + 1, 0, 0, SEEPAGE_CMD_ALERT,
			 SEEPAGE_GENL_VERSION));
	nla_put_u64(msg, SEEPAGE_A_TIME_NS, s->sample.time_ns);
	nla_put_u8(msg, SEEPAGE_A_PREV_STATE, prev_state);
	nla_put_u32(msg, SEEPAGE_A_PID, s->pid);
	nla_put_string(msg, SEEPAGE_A_COMM, s->comm);
	if (s->place.has_uid)
		nla_put_u32(msg, SEEPAGE_A_UID, s->place.uid);
	nla_put_u8(msg, SEEPAGE_A_STATE, v->state);
	nla_put_u8(msg, SEEPAGE_A_POLICY, v->policy);
	nla_put_u8(msg, SEEPAGE_A_CONFIDENCE, v->confidence);
	nla_put_u8(msg, SEEPAGE_A_SEVERITY, seep_severity(v, seep_rss(&s->sample)));
	if (seep_det_growth(d, &now, &growth))
		nla_put_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, growth);
	if (v->tte_s != SEEP_UNKNOWN)
		nla_put_u64(msg, SEEPAGE_A_TTE_SECONDS, v->tte_s);
	nla_put_u32(msg, SEEPAGE_A_FAULT_RATE,
		    seep_det_fault_rate(d, &s->sample,
					c->v[SEEPAGE_CFG_MONITORING_WINDOW_S]));
	put_figures(msg, &s->sample);
	put_series(msg, s, d, v);
	put_factors(msg, v);
	put_gates(msg, v);
	t->msg = msg;
	must(rec_parse(&t->rec, nlmsg_hdr(msg)) ? NULL : msg);
}

void series_told_free(struct series_told *t)
{
	nlmsg_free(t->msg);
}
