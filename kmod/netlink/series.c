// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast group "series": everything the detector is fed, with its verdicts, so that
 * `seepage replay` can feed it again elsewhere.
 *
 * A pass is published whole if somebody listens when it begins, in messages of some ninety
 * samples. Without a listener it costs one test a sample. The begin of a pass also asks whether
 * the group "sample" has listeners, and sets its flag.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here; a pass holds it.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include "netlink.h"

/* An skb with its data then takes four pages at most; one page where four in a row are not free. */
#define MSG_BYTES	(SKB_WITH_OVERHEAD(16384) - NLMSG_HDRLEN)

static struct {
	u64 seq;			/* PASS_SEQ of the last message, sent or lost */
	struct sk_buff *skb;		/* the message being built, or NULL */
	void *head;			/* its genl header */
	struct nlattr *array;		/* its last attribute, SAMPLES or GONE */

	u64 now_ns, headroom, shmem_total;	/* of the pass: CLOCK_MONOTONIC, bytes, bytes */
	bool full;			/* it samples all records */
	const struct seep_conf *conf;	/* of the pass; valid until seep_series_end() */
} msg;

/* The rest of this pass is lost. The gap in PASS_SEQ tells the reader. */
static void give_up(void)
{
	seep_series_on = false;
	seep_count(NOTIFY_FAILED);
}

/* The figures of the pass, at the begin of each message. */
static int put_pass(struct sk_buff *skb)
{
	if (seep_put_u64(skb, SEEPAGE_A_PASS_NS, msg.now_ns) ||
	    seep_put_u8(skb, SEEPAGE_A_PASS_FULL, msg.full) ||
	    seep_put_u64(skb, SEEPAGE_A_HEADROOM_BYTES, msg.headroom) ||
	    seep_put_u64(skb, SEEPAGE_A_SHMEM_TOTAL_BYTES, msg.shmem_total) ||
	    seep_put_u32(skb, SEEPAGE_A_SAMPLE_SIZE, sizeof(struct seepage_raw_sample)))
		return -EMSGSIZE;
	return seep_put_conf(skb, msg.conf);
}

/* Begin a message that ends in @array. Return: false: it failed, msg.skb is NULL. */
static bool open_msg(int array)
{
	struct sk_buff *skb = nlmsg_new(MSG_BYTES, SEEP_GFP) ?: seep_netlink_small();
	void *head;

	msg.seq++;
	if (!skb)
		goto failed;
	head = genlmsg_put(skb, 0, 0, &seep_family, 0, SEEPAGE_CMD_SERIES);
	if (!head || seep_put_u64(skb, SEEPAGE_A_PASS_SEQ, msg.seq) ||
	    (array == SEEPAGE_A_SAMPLES && put_pass(skb)) ||
	    nla_align_64bit(skb, SEEPAGE_A_PAD))
		goto failed;
	msg.array = nla_reserve(skb, array, 0);
	if (!msg.array)
		goto failed;
	msg.skb = skb;
	msg.head = head;
	return true;
failed:
	nlmsg_free(skb);
	give_up();
	return false;
}

/* Send the message; @end: it is the last one of the pass. */
static void send_msg(bool end)
{
	struct sk_buff *skb = msg.skb;

	msg.skb = NULL;
	if (end && seep_put_u8(skb, SEEPAGE_A_PASS_END, 1)) {
		nlmsg_free(skb);
		give_up();
		return;
	}
	genlmsg_end(skb, msg.head);
	if (seep_netlink_multicast(skb, SEEP_MCGRP_SERIES) == -ESRCH)
		seep_series_on = false;
}

/* Space for @len more bytes in @array, with space left for PASS_END; NULL: given up. */
static void *add(int array, size_t len)
{
	if (msg.skb && skb_tailroom(msg.skb) < len + nla_total_size(sizeof(u8)))
		send_msg(false);
	if (!seep_series_on || (!msg.skb && !open_msg(array)))
		return NULL;
	msg.array->nla_len += len;
	return skb_put(msg.skb, len);
}

/**
 * seep_series_begin() - a pass begins: sets the flags of the groups "series" and "sample"
 * @now_ns: its time, CLOCK_MONOTONIC
 * @headroom: bytes of available RAM and free swap, the same for all processes
 * @shmem_total: shared memory of the whole system, bytes
 * @full: all records are sampled
 * @c: configuration of the pass, valid until seep_series_end()
 *
 * Context: process, seep_table_mutex.
 */
void seep_series_begin(u64 now_ns, u64 headroom, u64 shmem_total, bool full,
		       const struct seep_conf *c)
{
	if (!seep_netlink_spare)	/* an alert has used it */
		seep_netlink_spare = seep_netlink_small();
	seep_series_on = seep_netlink_heard(SEEP_MCGRP_SERIES);
	seep_samples_on = seep_netlink_heard(SEEP_MCGRP_SAMPLE);
	msg.now_ns = now_ns;
	msg.headroom = headroom;
	msg.shmem_total = shmem_total;
	msg.full = full;
	msg.conf = c;
}

/* @identity: id, kind, pid, comm and mappings, which are not part of the sample. */
static void put_sample(const struct seepage_raw_sample *identity, const struct seep_det *d,
		       const struct seep_sample *s, const struct seep_verdict *v)
{
	/* while samples is 1, the first point of the window is the begin of the history */
	const struct seep_point *begun = &d->window[0];
	struct seepage_raw_sample *raw = add(SEEPAGE_A_SAMPLES, sizeof(*raw));

	if (!raw)
		return;
	*raw = *identity;
	raw->time_ns = s->time_ns;
	raw->age_ns = s->age_ns;
	raw->anon = s->anon;
	raw->file = s->file;
	raw->shmem = s->shmem;
	raw->swap = s->swap;
	raw->vsz = s->vsz;
	raw->pgtables = s->pgtables;
	raw->cpu_ns = s->cpu_ms * (u64)NSEC_PER_MSEC;
	raw->heap = seep_bytes(s->heap);
	raw->faults = s->faults;
	raw->faults_anon = s->faults_anon;
	raw->headroom = s->headroom;
	raw->limit = s->limit;
	raw->cold_ns = s->cold_ns;
	raw->cold = s->cold;
	raw->peers = s->peers;
	raw->peers_growing = s->peers_growing;
	raw->pmc = s->pmc;
	raw->others_rate = seep_bytes(s->others_rate);
	raw->others = s->others;
	raw->error = s->error;
	raw->page_shift = s->page_shift;
	raw->state = v->state;
	raw->confidence = v->confidence;
	raw->tte_s = v->tte_s;
	if (d->samples > 1)
		return;
	raw->first = 1;
	raw->begun_ns = begun->t * (u64)(NSEC_PER_SEC / 10);
	raw->begun_faults = begun->faults;
	raw->known_rise = seep_bytes(d->known_rise);
	raw->known_span_ns = d->known_span * (u64)(NSEC_PER_SEC / 10);
}

/**
 * seep_series_sample() - publish a sample of a process
 * @rec: the process, after the detector was fed
 * @s: the sample
 * @v: the verdict
 *
 * Context: process, may sleep, seep_table_mutex; only while seep_series_on.
 */
void seep_series_sample(struct seep_rec *rec, const struct seep_sample *s,
			const struct seep_verdict *v)
{
	struct seepage_raw_sample raw = {
		.id = rec->id, .kind = SEEPAGE_KIND_PROCESS,
		.pid = pid_nr(rec->pid),
		/* for display: written under mmap_lock, which is not held here */
		.maps = READ_ONCE(rec->mm->map_count),
	};

	seep_view_identify(rec);
	memcpy(raw.comm, rec->comm, sizeof(raw.comm));
	put_sample(&raw, &rec->det, s, v);
}

/**
 * seep_series_group() - publish a sample of a group
 * @g: the group, after the detector was fed; it has a history and members
 * @v: the verdict
 *
 * Context: process, may sleep, seep_table_mutex; only while seep_series_on.
 */
void seep_series_group(const struct seep_group *g, const struct seep_verdict *v)
{
	struct seepage_raw_sample raw = {
		.id = g->id, .kind = SEEPAGE_KIND_GROUP,
		.pid = pid_nr(list_first_entry(&g->members, struct seep_rec, kin)->pid),
	};

	memcpy(raw.comm, g->comm, sizeof(raw.comm));
	put_sample(&raw, &g->history->det, &g->history->last, v);
}

/**
 * seep_series_end() - a pass ends; a listener gets a last message even of an empty pass
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_series_end(void)
{
	if (seep_series_on && (msg.skb || open_msg(SEEPAGE_A_SAMPLES)))
		send_msg(true);
	seep_series_on = false;
	msg.conf = NULL;
}

/**
 * seep_series_gone() - publish processes that have ended
 * @graves: their records, linked by hot
 *
 * Context: process, may sleep, seep_table_mutex, outside a pass.
 */
void seep_series_gone(struct list_head *graves)
{
	struct seep_rec *rec;
	u64 *id;

	if (list_empty(graves))
		return;
	seep_series_on = seep_netlink_heard(SEEP_MCGRP_SERIES);
	list_for_each_entry(rec, graves, hot) {
		id = seep_series_on ? add(SEEPAGE_A_GONE, sizeof(*id)) : NULL;
		if (!id)
			break;
		*id = rec->id;
	}
	if (msg.skb)
		send_msg(false);
	seep_series_on = false;
}
