// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: a process or an alert as attributes.
 *
 * A process has some 80 attributes and a dump has thousands of processes. A call of
 * nla_put() for each would be most of the cost. Here space for all attributes that a
 * process may have is checked once, and those it has are written one after another.
 *
 * Context: any; the caller keeps the view or alert unchanged (seep_table_mutex for alerts).
 */
#include <linux/mm.h>
#include "netlink.h"

/* Space that an attribute of each size takes at most. */
#define SIZE_32			nla_total_size(sizeof(u32))
#define SIZE_64			nla_total_size_64bit(sizeof(u64))
#define SIZE_COMM		nla_total_size(SEEPAGE_COMM_LEN)

/* Begin an attribute at *@at. Return: place of its value. *@at moves behind it. */
static __always_inline void *begin(u8 **at, int attr, int len)
{
	struct nlattr *nla = (struct nlattr *)*at;

	nla->nla_type = attr;
	nla->nla_len = nla_attr_size(len);
	*at += nla_total_size(len);
	return nla_data(nla);
}

static __always_inline u8 *put_u8(u8 *at, int attr, u8 v)
{
	*(__le32 *)begin(&at, attr, sizeof(v)) = cpu_to_le32(v);	/* with its padding */
	return at;
}

static __always_inline u8 *put_u32(u8 *at, int attr, u32 v)
{
	*(u32 *)begin(&at, attr, sizeof(v)) = v;
	return at;
}

/* Pad as nla_align_64bit() does on machines that need aligned u64. */
static __always_inline u8 *put_64(u8 *at, int attr, u64 v, int pad)
{
	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) &&
	    IS_ALIGNED((unsigned long)at, sizeof(v)))
		begin(&at, pad, 0);
	memcpy(begin(&at, attr, sizeof(v)), &v, sizeof(v));	/* aligned to 4 only */
	return at;
}

static __always_inline u8 *put_u64(u8 *at, int attr, u64 v)
{
	return put_64(at, attr, v, SEEPAGE_A_PAD);
}

/* Begin a nest at @at; it holds everything up to its end(). */
static __always_inline u8 *nest(u8 *at, int attr)
{
	begin(&at, attr | NLA_F_NESTED, 0);
	return at;
}

/* End the nest that began at @nest. */
static __always_inline u8 *end(u8 *at, u8 *nest)
{
	((struct nlattr *)nest)->nla_len = at - nest;
	return at;
}

#define SIZE_FACTOR		(NLA_HDRLEN + 4 * SIZE_32 + 2 * SIZE_64)

static u8 *put_factor(u8 *from, const struct seep_factor *f)
{
	u8 *at = nest(from, SEEPAGE_A_FACTOR);

	at = put_u8(at, SEEPAGE_FACTOR_A_ID, f->id);
	at = put_u8(at, SEEPAGE_FACTOR_A_POINTS, max_t(s8, f->points, 0));
	if (f->points < 0)
		at = put_u8(at, SEEPAGE_FACTOR_A_AGAINST, -f->points);
	at = put_u8(at, SEEPAGE_FACTOR_A_MAX_POINTS, f->max);
	at = put_64(at, SEEPAGE_FACTOR_A_VALUE, f->value, SEEPAGE_FACTOR_A_PAD);
	at = put_64(at, SEEPAGE_FACTOR_A_BASELINE, f->baseline, SEEPAGE_FACTOR_A_PAD);
	return end(at, from);
}

static u8 *put_factors(u8 *from, const struct seep_verdict *v)
{
	u8 *at = nest(from, SEEPAGE_A_FACTORS);
	int i;

	for (i = 0; i < v->nfactors; i++)
		at = put_factor(at, &v->factor[i]);
	return end(at, from);
}

#define SIZE_GATE		(NLA_HDRLEN + 2 * SIZE_32 + 2 * SIZE_64)
#define SIZE_GATES		(NLA_HDRLEN + SEEP_MAX_GATES * SIZE_GATE)

static u8 *put_gate(u8 *from, const struct seep_gate *g)
{
	u8 *at = nest(from, SEEPAGE_A_GATE);

	at = put_u8(at, SEEPAGE_GATE_A_ID, g->id);
	at = put_u8(at, SEEPAGE_GATE_A_PASSED, g->passed);
	if (g->reached) {
		at = put_64(at, SEEPAGE_GATE_A_VALUE, g->value, SEEPAGE_GATE_A_PAD);
		at = put_64(at, SEEPAGE_GATE_A_LIMIT, g->limit, SEEPAGE_GATE_A_PAD);
	}
	return end(at, from);
}

static u8 *put_gates(u8 *from, const struct seep_verdict *v)
{
	u8 *at = nest(from, SEEPAGE_A_GATES);
	int i;

	for (i = 0; i < v->ngates; i++)
		at = put_gate(at, &v->gate[i]);
	return end(at, from);
}

#define SIZE_IDENTITY		(2 * SIZE_32 + SIZE_COMM + SIZE_64)

static u8 *put_identity(u8 *at, const struct seep_view *v, pid_t pid,
			struct user_namespace *ns)
{
	int len = strnlen(v->comm, SEEPAGE_COMM_LEN - 1);
	u8 *comm;

	if (pid)
		at = put_u32(at, SEEPAGE_A_PID, pid);
	comm = begin(&at, SEEPAGE_A_COMM, len + 1);
	memcpy(comm, v->comm, len);
	memset(comm + len, 0, at - comm - len);
	if (v->creds.known)
		at = put_u32(at, SEEPAGE_A_UID, from_kuid_munged(ns, v->creds.uid));
	if (v->creds.cgroup_id)
		at = put_u64(at, SEEPAGE_A_CGROUP_ID, v->creds.cgroup_id);
	return at;
}

#define SIZE_VERDICT		(NLA_HDRLEN + SEEP_MAX_FACTORS * SIZE_FACTOR + \
				 6 * SIZE_32 + 2 * SIZE_64)

static u8 *put_verdict(u8 *at, const struct seep_view *v)
{
	at = put_u8(at, SEEPAGE_A_STATE, v->verdict.state);
	at = put_u8(at, SEEPAGE_A_POLICY, v->verdict.policy);
	at = put_u8(at, SEEPAGE_A_CONFIDENCE, v->verdict.confidence);
	at = put_u8(at, SEEPAGE_A_SEVERITY, v->severity);
	at = put_factors(at, &v->verdict);
	if (v->members) {
		at = put_u32(at, SEEPAGE_A_MEMBERS, v->members);
		at = put_u32(at, SEEPAGE_A_GROWING, v->growing);
	}
	if (v->has_growth)
		at = put_u64(at, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, v->growth);
	if (v->verdict.tte_s != SEEP_UNKNOWN)
		at = put_u64(at, SEEPAGE_A_TTE_SECONDS, v->verdict.tte_s);
	return at;
}

#define SIZE_FIGURES		(12 * SIZE_64 + SIZE_32)

static u8 *put_figures(u8 *at, const struct seep_view *v)
{
	u64 faults = v->faults_user + v->faults_kernel;

	at = put_u64(at, SEEPAGE_A_RSS_BYTES, v->anon + v->file + v->shmem);
	at = put_u64(at, SEEPAGE_A_ANON_BYTES, v->anon);
	at = put_u64(at, SEEPAGE_A_FILE_BYTES, v->file);
	at = put_u64(at, SEEPAGE_A_SHMEM_BYTES, v->shmem);
	at = put_u64(at, SEEPAGE_A_SWAP_BYTES, v->swap);
	at = put_u64(at, SEEPAGE_A_VSZ_BYTES, v->vsz);
	at = put_u64(at, SEEPAGE_A_BRK_BYTES, v->brk);
	at = put_u64(at, SEEPAGE_A_FAULTS_USER, v->faults_user);
	at = put_u64(at, SEEPAGE_A_FAULTS_KERNEL, v->faults_kernel);
	at = put_u64(at, SEEPAGE_A_FAULTS_ANON, v->faults_anon);
	at = put_u64(at, SEEPAGE_A_FAULTS_FILE, faults - min(v->faults_anon, faults));
	at = put_u32(at, SEEPAGE_A_FAULT_RATE, v->fault_rate);
	return put_u64(at, SEEPAGE_A_AGE_SECONDS, v->age_s);
}

#define SIZE_FACTS		(5 * SIZE_32 + 4 * SIZE_64)

/* Facts that are not known are left out: most processes are at rest and have none. */
static u8 *put_facts(u8 *at, const struct seep_view *v)
{
	if (v->cold_ns) {
		at = put_u32(at, SEEPAGE_A_COLD_PERMILLE, v->cold);
		at = put_u64(at, SEEPAGE_A_COLD_AGE_SECONDS, v->cold_age_s);
	}
	if (v->verdict.tte_s != SEEP_UNKNOWN) {
		at = put_u8(at, SEEPAGE_A_LIMIT, v->limit);
		if (v->others_rate) {
			at = put_u32(at, SEEPAGE_A_SHARES_WITH, v->others);
			at = put_u64(at, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR,
				     seep_bytes(v->verdict.rate) + seep_bytes(v->others_rate));
		}
	}
	if (v->has_subject)
		at = put_u8(at, SEEPAGE_A_SUBJECT, v->verdict.subject);
	if (v->known_rise)
		at = put_u64(at, SEEPAGE_A_KNOWN_RISE_BYTES, seep_bytes(v->known_rise));
	if (v->known_span)
		at = put_u64(at, SEEPAGE_A_KNOWN_SPAN_SECONDS, v->known_span / 10);
	if (!v->verdict.t1 && v->floors < SEEP_MINIMA)
		at = put_u8(at, SEEPAGE_A_FLOORS, v->floors);
	return at;
}

/**
 * seep_put_view() - a process
 * @skb: message being built; on failure the caller drops it
 * @v: the process
 * @pid: its pid in the reader's namespace; 0: none, left out
 * @ns: user namespace of the reader
 * @gates: include the gates
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE where the largest possible process would not fit.
 */
int seep_put_view(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
		  struct user_namespace *ns, bool gates)
{
	int size = SIZE_IDENTITY + SIZE_VERDICT + SIZE_FIGURES + SIZE_FACTS;
	u8 *from = skb_tail_pointer(skb), *at;

	if (gates)
		size += SIZE_GATES;
	if (skb_tailroom(skb) < size)
		return -EMSGSIZE;
	at = put_identity(from, v, pid, ns);
	at = put_verdict(at, v);
	at = put_figures(at, v);
	at = put_facts(at, v);
	if (gates)
		at = put_gates(at, &v->verdict);
	seep_broken(at - from > size);
	__skb_put(skb, at - from);
	return 0;
}

/* Puts the lives of the service that had an alert and ended before this one. */
static int put_lives(struct sk_buff *skb, const struct seep_lives *l)
{
	u64 span = seep_div(l->last_end_ns - l->first_end_ns, NSEC_PER_SEC);
	s64 rise = (s64)l->last_top - l->first_top;

	if (!l->n)
		return 0;
	if (seep_put_u32(skb, SEEPAGE_A_TIMES, l->n + 1) ||
	    (l->first_alert_ns &&
	     seep_put_u64(skb, SEEPAGE_A_FIRST_TIME_NS, l->first_alert_ns)) ||
	    seep_put_u64(skb, SEEPAGE_A_LIFE_SECONDS, seep_div(l->sum_s, l->n)))
		return -EMSGSIZE;
	if (!span)
		return 0;
	return seep_put_u64(skb, SEEPAGE_A_LIFE_GROWTH_BYTES_PER_HOUR,
			    div64_s64(rise * (1 << SEEP_GRANULE_SHIFT) * 3600, span));
}

/**
 * seep_put_alert() - an alert
 * @skb: message being built; on failure the caller drops it
 * @a: the alert
 * @pid: its pid in the reader's namespace; 0: none, left out
 * @ns: user namespace of the reader
 *
 * Context: any; seep_table_mutex keeps @a.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_alert(struct sk_buff *skb, const struct seep_alert *a, pid_t pid,
		   struct user_namespace *ns)
{
	if (seep_put_u64(skb, SEEPAGE_A_SEQ, a->seq) ||
	    seep_put_u64(skb, SEEPAGE_A_TIME_NS, a->time_ns) ||
	    seep_put_u64(skb, SEEPAGE_A_INSTANCE, seep_instance) ||
	    seep_put_u8(skb, SEEPAGE_A_PREV_STATE, a->prev_state))
		return -EMSGSIZE;
	if ((a->end.how && seep_put_u32(skb, SEEPAGE_A_END, a->end.how)) ||
	    (a->merged_into && seep_put_u64(skb, SEEPAGE_A_MERGED_INTO, a->merged_into)) ||
	    (a->end.cgroup && seep_put_u64(skb, SEEPAGE_A_END_CGROUP_ID, a->end.cgroup)) ||
	    (a->identity && nla_put(skb, SEEPAGE_A_IDENTITY | NLA_F_NESTED, a->identity->len,
				    a->identity->attrs)) ||
	    put_lives(skb, &a->lives))
		return -EMSGSIZE;
	return seep_put_view(skb, &a->view, pid, ns, true);
}
