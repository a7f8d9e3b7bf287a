// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast group "series": what the detector is fed, and what it says, so that
 * the same can be fed to it elsewhere. A pass that begins while somebody
 * listens is told whole, in messages of some ninety samples; nobody else pays
 * for it but with a test per sample.
 *
 * All of this is under seep_table_mutex, which a pass holds.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include "netlink.h"

/* With its skb in one allocation of four pages at most. */
#define MSG_BYTES	(SKB_WITH_OVERHEAD(16384) - NLMSG_HDRLEN)

bool seep_series_on;

static struct {
	u64 seq;			/* of the last message, sent or not */
	struct sk_buff *skb;		/* the one being built, or NULL */
	void *head;
	struct nlattr *array;		/* SAMPLES or GONE, the last of it */

	u64 now_ns, room, pool;		/* of the pass */
	bool full;
	const struct seep_conf *conf;
} msg;

/* What is left of this pass cannot be told; the gap in PASS_SEQ says that. */
static void give_up(void)
{
	seep_series_on = false;
	seep_count(NOTIFY_FAILED);
}

static int put_pass(struct sk_buff *skb)
{
	if (nla_put_u64_64bit(skb, SEEPAGE_A_PASS_NS, msg.now_ns, SEEPAGE_A_PAD) ||
	    nla_put_u8(skb, SEEPAGE_A_PASS_FULL, msg.full) ||
	    nla_put_u64_64bit(skb, SEEPAGE_A_ROOM_BYTES, msg.room, SEEPAGE_A_PAD) ||
	    nla_put_u64_64bit(skb, SEEPAGE_A_POOL_BYTES, msg.pool, SEEPAGE_A_PAD) ||
	    nla_put_u32(skb, SEEPAGE_A_SAMPLE_SIZE, sizeof(struct seepage_raw_sample)))
		return -EMSGSIZE;
	return seep_put_conf(skb, msg.conf);
}

/* A message whose array is to be filled; on failure there is none. */
static bool open_msg(int array)
{
	struct sk_buff *skb = nlmsg_new(MSG_BYTES, GFP_KERNEL | __GFP_NOWARN);
	void *head;

	msg.seq++;
	if (!skb)
		goto failed;
	head = genlmsg_put(skb, 0, 0, &seep_family, 0, SEEPAGE_CMD_SERIES);
	if (!head || nla_put_u64_64bit(skb, SEEPAGE_A_PASS_SEQ, msg.seq, SEEPAGE_A_PAD) ||
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

/* @end: the pass is over. */
static void send_msg(bool end)
{
	struct sk_buff *skb = msg.skb;

	msg.skb = NULL;
	if (end && nla_put_u8(skb, SEEPAGE_A_PASS_END, 1)) {
		nlmsg_free(skb);
		give_up();
		return;
	}
	genlmsg_end(skb, msg.head);
	if (seep_netlink_tell(skb, SEEP_GROUP_SERIES) == -ESRCH)
		seep_series_on = false;
}

/* Room for one more of @len bytes in an array, and for PASS_END; NULL: gave up. */
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
 * seep_series_begin() - a pass begins
 * @now_ns: its time
 * @room: what every process can still take at most
 * @pool: shared memory of the whole system, bytes
 * @full: of all records
 * @c: configuration it uses, valid until seep_series_end()
 */
void seep_series_begin(u64 now_ns, u64 room, u64 pool, bool full, const struct seep_conf *c)
{
	seep_series_on = seep_netlink_heard(SEEP_GROUP_SERIES);
	msg.now_ns = now_ns;
	msg.room = room;
	msg.pool = pool;
	msg.full = full;
	msg.conf = c;
}

/* @who: what is not of the sample: whose it is, and its number of mappings */
static void put_sample(const struct seepage_raw_sample *who, const struct seep_det *d,
		       const struct seep_sample *s, const struct seep_verdict *v)
{
	/* the first point of the window is where the history began; it stays so far */
	const struct seep_point *begun = &d->window[0];
	struct seepage_raw_sample *raw = add(SEEPAGE_A_SAMPLES, sizeof(*raw));

	if (!raw)
		return;
	*raw = *who;
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
 * seep_series_sample() - the detector was fed
 * @rec: of this process
 * @s: with this
 * @v: and said this
 */
void seep_series_sample(struct seep_rec *rec, const struct seep_sample *s,
			const struct seep_verdict *v)
{
	struct seepage_raw_sample who = {
		.id = rec->id, .kind = SEEPAGE_KIND_PROCESS,
		.pid = pid_nr(rec->pid),
		.maps = READ_ONCE(rec->mm->map_count),
	};

	seep_view_identify(rec);
	memcpy(who.comm, rec->comm, sizeof(who.comm));
	put_sample(&who, &rec->det, s, v);
}

/* The same of a group, which goes by the id of its oldest process. */
void seep_series_group(const struct seep_group *g, const struct seep_verdict *v)
{
	struct seepage_raw_sample who = {
		.id = g->id, .kind = SEEPAGE_KIND_GROUP,
		.pid = pid_nr(list_first_entry(&g->members, struct seep_rec, kin)->pid),
	};

	memcpy(who.comm, g->comm, sizeof(who.comm));
	put_sample(&who, &g->history->det, &g->history->last, v);
}

/* The pass is over, also when there was nobody to sample. */
void seep_series_end(void)
{
	if (seep_series_on && (msg.skb || open_msg(SEEPAGE_A_SAMPLES)))
		send_msg(true);
	seep_series_on = false;
	msg.conf = NULL;
}

/**
 * seep_series_gone() - processes have ended
 * @graves: their records, linked by hot
 */
void seep_series_gone(struct list_head *graves)
{
	struct seep_rec *rec;
	u64 *id;

	if (list_empty(graves))
		return;
	seep_series_on = seep_netlink_heard(SEEP_GROUP_SERIES);
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
