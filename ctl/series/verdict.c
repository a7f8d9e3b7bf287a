// SPDX-License-Identifier: GPL-2.0
/*
 * Builds a netlink message from a verdict of the detector in this process, as the
 * kernel builds one from its verdicts. Thus the same code prints both.
 */
#include <netlink/genl/genl.h>
#include "series/series.h"

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

/* Adds the subject as the kernel does: of the growth, or of an alert without growth. */
static void put_subject(struct nl_msg *msg, const struct series *s, const struct seep_det *d,
			const struct seep_verdict *v)
{
	bool accused = d->policy == SEEPAGE_POLICY_LADDER && state_is_alert(d->state);

	if (s->group) {
		nla_put_u32(msg, SEEPAGE_A_MEMBERS, s->sample.peers ? s->sample.peers : 1);
		nla_put_u8(msg, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_GROUP);
	} else if (v->t1 || accused) {
		nla_put_u8(msg, SEEPAGE_A_SUBJECT, v->t1 ? v->subject : d->accused);
	}
}

/* Adds when memory is exhausted, and what else takes it. */
static void put_exhaustion(struct nl_msg *msg, const struct seep_sample *s,
			   const struct seep_verdict *v)
{
	nla_put_u64(msg, SEEPAGE_A_TTE_SECONDS, v->tte_s);
	if (!s->others_rate)
		return;
	nla_put_u32(msg, SEEPAGE_A_SHARES_WITH, s->others);
	nla_put_u64(msg, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR,
		    seep_bytes(v->rate) + seep_bytes(s->others_rate));
}

/* An exit is as severe as the alert that it ends, as push() of kmod/alert.c has it. */
static u8 severity(const struct series *s, const struct seep_verdict *v, u8 prev_state)
{
	struct seep_verdict weighed = *v;

	if (v->state == SEEPAGE_STATE_EXITED)
		weighed.state = prev_state;
	return seep_severity(&weighed, seep_rss(&s->sample),
			     seep_own_limit(&s->sample, s->headroom));
}

/*
 * @t: out, series_verdict_free() frees it
 * @s: the series, with the sample that was fed last
 * @d: its detector
 * @v: the verdict; its state may differ from that of @d (exited)
 * @c: configuration in force
 * @prev_state: state before the verdict
 */
void series_verdict_message(struct series_verdict *t, const struct series *s,
			    const struct seep_det *d, const struct seep_verdict *v,
			    const struct seep_conf *c, u8 prev_state)
{
	struct nl_msg *msg = must(nlmsg_alloc());
	struct seep_verdict now;
	s64 growth;

	/* the growth shown comes from the history after the last sample */
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
	nla_put_u8(msg, SEEPAGE_A_SEVERITY, severity(s, v, prev_state));
	if (seep_det_growth(d, &now, &growth))
		nla_put_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, growth);
	if (v->tte_s != SEEP_UNKNOWN)
		put_exhaustion(msg, &s->sample, v);
	nla_put_u32(msg, SEEPAGE_A_FAULT_RATE,
		    seep_det_fault_rate(d, &s->sample,
					c->v[SEEPAGE_CFG_MONITORING_WINDOW_S]));
	put_figures(msg, &s->sample);
	put_subject(msg, s, d, v);
	put_factors(msg, v);
	put_gates(msg, v);
	t->nlmsg = msg;
	must(msg_parse(&t->msg, nlmsg_hdr(msg)) ? NULL : msg);
}

void series_verdict_free(struct series_verdict *t)
{
	nlmsg_free(t->nlmsg);
}

/*
 * Is the verdict complete? Returns 0, or series_bad() if the detector had no room for a
 * gate or factor, which is a bug: the comparison would miss it.
 */
int series_verdict_check(struct series_reader *r, const struct series *s,
			 const struct seep_verdict *v)
{
	if (!v->dropped)
		return 0;
	return series_bad(r, "series %llu: the detector dropped a gate or factor, a bug in it",
			  s->id);
}
