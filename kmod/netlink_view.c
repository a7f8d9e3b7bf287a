// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: a process or an alert as netlink attributes. The manual is the head
 * comment of the uapi header.
 *
 * A process has some 80 attributes and a dump thousands of processes: with a call
 * of nla_put() for each, those are most of what a record costs. Here room is made
 * for all that a process may have, and what it has is written one after another.
 */
#include <linux/mm.h>
#include "netlink.h"

/* What attributes of these sizes take at most. */
#define ROOM_32			nla_total_size(sizeof(u32))
#define ROOM_64			nla_total_size_64bit(sizeof(u64))
#define ROOM_COMM		nla_total_size(SEEPAGE_COMM_LEN)

/* Where the value goes of the attribute that begins at *at; at: behind it. */
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
	*(__le32 *)begin(&at, attr, sizeof(v)) = cpu_to_le32(v);	/* and its padding */
	return at;
}

static __always_inline u8 *put_u32(u8 *at, int attr, u32 v)
{
	*(u32 *)begin(&at, attr, sizeof(v)) = v;
	return at;
}

/* As nla_align_64bit() does, where the machine needs that. */
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

/* A nest begins at @at and has all that is put before its end(). */
static __always_inline u8 *nest(u8 *at, int attr)
{
	begin(&at, attr | NLA_F_NESTED, 0);
	return at;
}

static __always_inline u8 *end(u8 *at, u8 *nest)
{
	((struct nlattr *)nest)->nla_len = at - nest;
	return at;
}

#define ROOM_FACTOR		(NLA_HDRLEN + 4 * ROOM_32 + 2 * ROOM_64)

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

#define ROOM_GATE		(NLA_HDRLEN + 2 * ROOM_32 + 2 * ROOM_64)
#define ROOM_GATES		(NLA_HDRLEN + SEEP_MAX_GATES * ROOM_GATE)

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

#define ROOM_IDENTITY		(2 * ROOM_32 + ROOM_COMM + ROOM_64)

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
	if (v->who.known)
		at = put_u32(at, SEEPAGE_A_UID, from_kuid_munged(ns, v->who.uid));
	if (v->who.cgroup_id)
		at = put_u64(at, SEEPAGE_A_CGROUP_ID, v->who.cgroup_id);
	return at;
}

#define ROOM_VERDICT		(NLA_HDRLEN + SEEP_MAX_FACTORS * ROOM_FACTOR + \
				 5 * ROOM_32 + 2 * ROOM_64)

static u8 *put_verdict(u8 *at, const struct seep_view *v)
{
	at = put_u8(at, SEEPAGE_A_STATE, v->verdict.state);
	at = put_u8(at, SEEPAGE_A_POLICY, v->verdict.policy);
	at = put_u8(at, SEEPAGE_A_CONFIDENCE, v->verdict.confidence);
	at = put_u8(at, SEEPAGE_A_SEVERITY, v->severity);
	at = put_factors(at, &v->verdict);
	if (v->members)
		at = put_u32(at, SEEPAGE_A_MEMBERS, v->members);
	if (v->has_growth)
		at = put_u64(at, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, v->growth);
	if (v->verdict.tte_s != SEEP_UNKNOWN)
		at = put_u64(at, SEEPAGE_A_TTE_SECONDS, v->verdict.tte_s);
	return at;
}

#define ROOM_FIGURES		(12 * ROOM_64 + ROOM_32)

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

#define ROOM_EVIDENCE		(3 * ROOM_32 + ROOM_64)

/* What is not known of a process at rest, which most are, is not put. */
static u8 *put_evidence(u8 *at, const struct seep_view *v)
{
	if (v->cold_ns) {
		at = put_u32(at, SEEPAGE_A_COLD_PERMILLE, v->cold);
		at = put_u64(at, SEEPAGE_A_COLD_AGE_SECONDS, v->cold_age_s);
	}
	if (v->verdict.tte_s != SEEP_UNKNOWN)
		at = put_u8(at, SEEPAGE_A_LIMIT, v->limit);
	if (v->has_series)
		at = put_u8(at, SEEPAGE_A_SERIES, v->verdict.series);
	return at;
}

/**
 * seep_put_view() - a process
 * @skb: message being built; on failure the caller drops it
 * @v: what to put
 * @pid: as the reader knows it
 * @ns: the reader's user namespace
 * @gates: with what each gate said
 *
 * Return: 0, or -EMSGSIZE where not all that a process may have has room.
 */
int seep_put_view(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
		  struct user_namespace *ns, bool gates)
{
	int room = ROOM_IDENTITY + ROOM_VERDICT + ROOM_FIGURES + ROOM_EVIDENCE;
	u8 *from = skb_tail_pointer(skb), *at;

	if (gates)
		room += ROOM_GATES;
	if (skb_tailroom(skb) < room)
		return -EMSGSIZE;
	at = put_identity(from, v, pid, ns);
	at = put_verdict(at, v);
	at = put_figures(at, v);
	at = put_evidence(at, v);
	if (gates)
		at = put_gates(at, &v->verdict);
	seep_broken(at - from > room);
	__skb_put(skb, at - from);
	return 0;
}

int seep_put_alert(struct sk_buff *skb, const struct seep_alert *a, pid_t pid,
		   struct user_namespace *ns)
{
	if (nla_put_u64_64bit(skb, SEEPAGE_A_SEQ, a->seq, SEEPAGE_A_PAD) ||
	    nla_put_u64_64bit(skb, SEEPAGE_A_TIME_NS, a->time_ns, SEEPAGE_A_PAD) ||
	    nla_put_u64_64bit(skb, SEEPAGE_A_INSTANCE, seep_instance, SEEPAGE_A_PAD) ||
	    nla_put_u8(skb, SEEPAGE_A_PREV_STATE, a->prev_state))
		return -EMSGSIZE;
	return seep_put_view(skb, &a->view, pid, ns, true);
}
