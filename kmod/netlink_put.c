// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: a process, an alert, the status and the configuration as netlink
 * attributes. The one place that knows how each is laid out (the manual is the
 * head comment of the uapi header).
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include "netlink.h"

/*
 * nla_put() for what a dump has thousands of: a process has some 80 attributes,
 * and the calls below nla_put() are more than half of what a record costs.
 */
static __always_inline int put(struct sk_buff *skb, int attr, const void *data, int len)
{
	struct nlattr *nla;

	if (skb_tailroom(skb) < nla_total_size(len))
		return -EMSGSIZE;
	nla = __skb_put(skb, nla_total_size(len));
	nla->nla_type = attr;
	nla->nla_len = nla_attr_size(len);
	memcpy(nla_data(nla), data, len);
	memset(nla_data(nla) + len, 0, nla_padlen(len));
	return 0;
}

static int put_u8(struct sk_buff *skb, int attr, u8 v)
{
	return put(skb, attr, &v, sizeof(v));
}

static int put_u32(struct sk_buff *skb, int attr, u32 v)
{
	return put(skb, attr, &v, sizeof(v));
}

static int put_64(struct sk_buff *skb, int attr, u64 v, int pad)
{
	return nla_align_64bit(skb, pad) ?: put(skb, attr, &v, sizeof(v));
}

static int put_u64(struct sk_buff *skb, int attr, u64 v)
{
	return put_64(skb, attr, v, SEEPAGE_A_PAD);
}

/* nla_nest_start(), as put() is nla_put() */
static struct nlattr *nest_start(struct sk_buff *skb, int attr)
{
	struct nlattr *nest = (struct nlattr *)skb_tail_pointer(skb);

	return put(skb, attr | NLA_F_NESTED, NULL, 0) ? NULL : nest;
}

static int put_factor(struct sk_buff *skb, const struct seep_factor *f)
{
	struct nlattr *nest = nest_start(skb, SEEPAGE_A_FACTOR);

	if (!nest ||
	    put_u8(skb, SEEPAGE_FACTOR_A_ID, f->id) ||
	    put_u8(skb, SEEPAGE_FACTOR_A_POINTS, max_t(s8, f->points, 0)) ||
	    (f->points < 0 && put_u8(skb, SEEPAGE_FACTOR_A_AGAINST, -f->points)) ||
	    put_u8(skb, SEEPAGE_FACTOR_A_MAX_POINTS, f->max) ||
	    put_64(skb, SEEPAGE_FACTOR_A_VALUE, f->value, SEEPAGE_FACTOR_A_PAD) ||
	    put_64(skb, SEEPAGE_FACTOR_A_BASELINE, f->baseline, SEEPAGE_FACTOR_A_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_factors(struct sk_buff *skb, const struct seep_verdict *v)
{
	struct nlattr *nest = nest_start(skb, SEEPAGE_A_FACTORS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < v->nfactors; i++)
		if (put_factor(skb, &v->factor[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_gate(struct sk_buff *skb, const struct seep_gate *g)
{
	struct nlattr *nest = nest_start(skb, SEEPAGE_A_GATE);

	if (!nest ||
	    put_u8(skb, SEEPAGE_GATE_A_ID, g->id) ||
	    put_u8(skb, SEEPAGE_GATE_A_PASSED, g->passed))
		return -EMSGSIZE;
	if (g->reached &&
	    (put_64(skb, SEEPAGE_GATE_A_VALUE, g->value, SEEPAGE_GATE_A_PAD) ||
	     put_64(skb, SEEPAGE_GATE_A_LIMIT, g->limit, SEEPAGE_GATE_A_PAD)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_gates(struct sk_buff *skb, const struct seep_verdict *v)
{
	struct nlattr *nest = nest_start(skb, SEEPAGE_A_GATES);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < v->ngates; i++)
		if (put_gate(skb, &v->gate[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_identity(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
			struct user_namespace *ns)
{
	if ((pid && put_u32(skb, SEEPAGE_A_PID, pid)) ||
	    nla_put_string(skb, SEEPAGE_A_COMM, v->comm))
		return -EMSGSIZE;
	if (v->who.known &&
	    put_u32(skb, SEEPAGE_A_UID, from_kuid_munged(ns, v->who.uid)))
		return -EMSGSIZE;
	if (v->who.cgroup_id && put_u64(skb, SEEPAGE_A_CGROUP_ID, v->who.cgroup_id))
		return -EMSGSIZE;
	return 0;
}

static int put_verdict(struct sk_buff *skb, const struct seep_view *v)
{
	if (put_u8(skb, SEEPAGE_A_STATE, v->verdict.state) ||
	    put_u8(skb, SEEPAGE_A_POLICY, v->verdict.policy) ||
	    put_u8(skb, SEEPAGE_A_CONFIDENCE, v->verdict.confidence) ||
	    put_u8(skb, SEEPAGE_A_SEVERITY, v->severity) ||
	    put_factors(skb, &v->verdict))
		return -EMSGSIZE;
	if (v->members && put_u32(skb, SEEPAGE_A_MEMBERS, v->members))
		return -EMSGSIZE;
	if (v->has_growth &&
	    put_64(skb, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, v->growth, SEEPAGE_A_PAD))
		return -EMSGSIZE;
	if (v->verdict.tte_s != SEEP_UNKNOWN &&
	    put_u64(skb, SEEPAGE_A_TTE_SECONDS, v->verdict.tte_s))
		return -EMSGSIZE;
	return 0;
}

/* What is not known of a process at rest, which most are, is not put. */
static int put_evidence(struct sk_buff *skb, const struct seep_view *v)
{
	if (v->cold_ns &&
	    (put_u32(skb, SEEPAGE_A_COLD_PERMILLE, v->cold) ||
	     put_u64(skb, SEEPAGE_A_COLD_AGE_SECONDS, v->cold_age_s)))
		return -EMSGSIZE;
	if (v->verdict.tte_s != SEEP_UNKNOWN && put_u8(skb, SEEPAGE_A_LIMIT, v->limit))
		return -EMSGSIZE;
	if (v->has_series && put_u8(skb, SEEPAGE_A_SERIES, v->verdict.series))
		return -EMSGSIZE;
	return 0;
}

static int put_figures(struct sk_buff *skb, const struct seep_view *v)
{
	u64 faults = v->faults_user + v->faults_kernel;

	if (put_u64(skb, SEEPAGE_A_RSS_BYTES, v->anon + v->file + v->shmem) ||
	    put_u64(skb, SEEPAGE_A_ANON_BYTES, v->anon) ||
	    put_u64(skb, SEEPAGE_A_FILE_BYTES, v->file) ||
	    put_u64(skb, SEEPAGE_A_SHMEM_BYTES, v->shmem) ||
	    put_u64(skb, SEEPAGE_A_SWAP_BYTES, v->swap) ||
	    put_u64(skb, SEEPAGE_A_VSZ_BYTES, v->vsz) ||
	    put_u64(skb, SEEPAGE_A_BRK_BYTES, v->brk) ||
	    put_u64(skb, SEEPAGE_A_FAULTS_USER, v->faults_user) ||
	    put_u64(skb, SEEPAGE_A_FAULTS_KERNEL, v->faults_kernel) ||
	    put_u64(skb, SEEPAGE_A_FAULTS_ANON, v->faults_anon) ||
	    put_u64(skb, SEEPAGE_A_FAULTS_FILE, faults - min(v->faults_anon, faults)) ||
	    put_u32(skb, SEEPAGE_A_FAULT_RATE, v->fault_rate) ||
	    put_u64(skb, SEEPAGE_A_AGE_SECONDS, v->age_s))
		return -EMSGSIZE;
	return 0;
}

/**
 * seep_put_view() - a process
 * @skb: message being built; on failure the caller drops it
 * @v: what to put
 * @pid: as the reader knows it
 * @ns: the reader's user namespace
 * @gates: with what each gate said
 */
int seep_put_view(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
		  struct user_namespace *ns, bool gates)
{
	int rc = put_identity(skb, v, pid, ns);

	if (!rc)
		rc = put_verdict(skb, v);
	if (!rc)
		rc = put_figures(skb, v);
	if (!rc)
		rc = put_evidence(skb, v);
	if (!rc && gates)
		rc = put_gates(skb, &v->verdict);
	return rc;
}

int seep_put_alert(struct sk_buff *skb, const struct seep_alert *a, pid_t pid,
		   struct user_namespace *ns)
{
	if (put_u64(skb, SEEPAGE_A_SEQ, a->seq) ||
	    put_u64(skb, SEEPAGE_A_TIME_NS, a->time_ns) ||
	    put_u64(skb, SEEPAGE_A_INSTANCE, seep_instance) ||
	    nla_put_u8(skb, SEEPAGE_A_PREV_STATE, a->prev_state))
		return -EMSGSIZE;
	return seep_put_view(skb, &a->view, pid, ns, true);
}

static int put_level(struct sk_buff *skb, const struct seep_det *d, u32 j, u32 now)
{
	struct nlattr *nest = nla_nest_start(skb, SEEPAGE_A_LEVEL);
	u32 n = seep_known(d->epochs, j), epoch = seep_epoch(&d->clock[j], n), i;
	u64 bytes[SEEP_MINIMA];

	if (!nest)
		return -EMSGSIZE;
	if (!epoch)	/* one floor has no distance to another */
		epoch = (d->interval_ms / 100) << j;
	for (i = 0; i < n; i++)
		bytes[i] = seep_bytes(seep_floor(&d->mem_rung[j], d->epochs >> j, n - 1 - i));
	if (nla_put_u64_64bit(skb, SEEPAGE_LEVEL_A_EPOCH_MS, max(epoch, 1U) * 100ULL,
			      SEEPAGE_LEVEL_A_PAD) ||
	    nla_put_u64_64bit(skb, SEEPAGE_LEVEL_A_AGE_MS, (now - d->clock[j].t_close) * 100ULL,
			      SEEPAGE_LEVEL_A_PAD) ||
	    nla_put(skb, SEEPAGE_LEVEL_A_MINIMA, n * sizeof(u64), bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The floors that the verdict looks at, level by level. */
int seep_put_history(struct sk_buff *skb, const struct seep_rec *rec)
{
	struct nlattr *nest = nla_nest_start(skb, SEEPAGE_A_HISTORY);
	const struct seep_det *d = &rec->det;
	u32 j, now = seep_ds(ktime_get_ns());

	if (!nest)
		return -EMSGSIZE;
	for (j = 0; j < SEEP_SLOW_LEVELS && seep_known(d->epochs, j); j++)
		if (put_level(skb, d, j, now))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counters(struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, SEEPAGE_A_COUNTERS);
	int id;

	if (!nest)
		return -EMSGSIZE;
	for (id = 1; id < __SEEPAGE_COUNTER_MAX; id++)
		/* type 0 pads: SEEPAGE_COUNTER_UNSPEC */
		if (nla_put_u64_64bit(skb, id, seep_counter(id), SEEPAGE_COUNTER_UNSPEC))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb)
{
	struct seep_tick_stats st;

	seep_tick_get_stats(&st);
	if (put_u64(skb, SEEPAGE_A_TICKS, st.ticks) ||
	    put_u64(skb, SEEPAGE_A_TICK_COST_NS, st.cost_ns) ||
	    put_u64(skb, SEEPAGE_A_TICK_COST_MAX_NS, st.cost_max_ns) ||
	    nla_put_u32(skb, SEEPAGE_A_INTERVAL_MS, st.interval_ms) ||
	    nla_put_u8(skb, SEEPAGE_A_STRETCHED, st.stretched))
		return -EMSGSIZE;
	return 0;
}

/**
 * seep_put_pmc() - what hardware counters counted of a process
 * @skb: message being built; on failure the caller drops it
 * @rec: in the table; as of its last seep_pmu_sync()
 *
 * Context: process, seep_table_mutex.
 */
int seep_put_pmc(struct sk_buff *skb, const struct seep_rec *rec)
{
	struct nlattr *values, *usual;
	u32 set, n = seep_pmu_events(rec, &set);

	if (!n)
		return 0;
	if (put_u32(skb, SEEPAGE_A_PMC_SET, set))
		return -EMSGSIZE;
	values = nla_reserve(skb, SEEPAGE_A_PMC_VALUES, n * sizeof(struct seepage_pmc_value));
	if (!values)
		return -EMSGSIZE;
	seep_pmu_values(rec, nla_data(values));
	if (!seep_pmu_learns(rec))
		return 0;
	usual = nla_reserve(skb, SEEPAGE_A_PMC_BASELINE, sizeof(struct seepage_pmc_baseline));
	if (!usual)
		return -EMSGSIZE;
	seep_pmu_baseline(rec, nla_data(usual));
	return 0;
}

int seep_put_status(struct sk_buff *skb)
{
	const char *why = seep_disabled();
	u64 first, last;

	seep_alert_range(&first, &last);
	if (nla_put_string(skb, SEEPAGE_A_VERSION, SEEP_VERSION) ||
	    put_u64(skb, SEEPAGE_A_INSTANCE, seep_instance) ||
	    nla_put_string(skb, SEEPAGE_A_HOOK, seep_hook->name) ||
	    nla_put_u8(skb, SEEPAGE_A_POLICY, seep_config_value(SEEPAGE_CFG_POLICY)) ||
	    nla_put_u32(skb, SEEPAGE_A_PROCESSES, seep_tab_count_alive()) ||
	    nla_put_u32(skb, SEEPAGE_A_REC_BYTES, sizeof(struct seep_rec)) ||
	    put_u64(skb, SEEPAGE_A_MEMORY_BYTES, seep_tab_bytes() + seep_group_bytes() +
		   seep_alert_bytes() + seep_pmu_bytes()) ||
	    put_u64(skb, SEEPAGE_A_SEQ_FIRST, first) ||
	    put_u64(skb, SEEPAGE_A_SEQ_LAST, last) ||
	    seep_put_pmc_status(skb) ||
	    (why && nla_put_string(skb, SEEPAGE_A_DISABLED, why)) ||
	    put_stats(skb))
		return -EMSGSIZE;
	return put_counters(skb);
}

int seep_put_conf(struct sk_buff *skb, const struct seep_conf *c)
{
	struct nlattr *nest = nla_nest_start(skb, SEEPAGE_A_CONFIG);
	int key;

	if (!nest)
		return -EMSGSIZE;
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		if (nla_put_u32(skb, key, c->v[key]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The one in force now. */
int seep_put_config(struct sk_buff *skb)
{
	char events[SEEP_PMC_WANTED];
	struct seep_conf c;

	seep_config_get(&c);
	seep_config_pmc_events(events, sizeof(events));
	return seep_put_conf(skb, &c) ?: nla_put_string(skb, SEEPAGE_A_PMC_WANTED, events);
}
