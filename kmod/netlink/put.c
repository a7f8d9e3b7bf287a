// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: status, configuration, floors, counters and the hardware counters of a process
 * as attributes. netlink/view.c has processes and alerts.
 *
 * Context: process, may sleep. Lock: seep_table_mutex where a record is put.
 */
#include <linux/mm.h>
#include "netlink.h"

/**
 * seep_put_u64() - a u64 attribute beside SEEPAGE_A_PAD
 * @skb: message being built
 * @attr: its type
 * @v: its value
 *
 * This and those below are functions of <net/netlink.h> out of line.
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_u64(struct sk_buff *skb, int attr, u64 v)
{
	return seep_put_64(skb, attr, v, SEEPAGE_A_PAD);
}

/**
 * seep_put_64() - a u64 attribute in a nest
 * @skb: message being built
 * @attr: its type
 * @v: its value
 * @pad: type of the padding in that nest
 *
 * noinline: five copies in this file are larger.
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
noinline int seep_put_64(struct sk_buff *skb, int attr, u64 v, int pad)
{
	return nla_put_u64_64bit(skb, attr, v, pad);
}

/**
 * seep_put_u8() - a u8 attribute
 * @skb: message being built
 * @attr: its type
 * @v: its value
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_u8(struct sk_buff *skb, int attr, u8 v)
{
	return nla_put_u8(skb, attr, v);
}

/**
 * seep_put_text() - an attribute of text
 * @skb: message being built
 * @attr: its type
 * @text: its value, or NULL: none, left out
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_text(struct sk_buff *skb, int attr, const char *text)
{
	return text ? nla_put_string(skb, attr, text) : 0;
}

/**
 * seep_nest() - begin a nest; nla_nest_end() ends it
 * @skb: message being built
 * @attr: its type
 *
 * Context: any.
 * Return: the nest, or NULL where it does not fit.
 */
struct nlattr *seep_nest(struct sk_buff *skb, int attr)
{
	return nla_nest_start(skb, attr);
}

/**
 * seep_put_u32() - a u32 attribute
 * @skb: message being built
 * @attr: its type
 * @v: its value
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_u32(struct sk_buff *skb, int attr, u32 v)
{
	return nla_put_u32(skb, attr, v);
}

/* Floors of level @j; @now in ds. */
static int put_level(struct sk_buff *skb, const struct seep_det *d, u32 j, u32 now)
{
	struct nlattr *nest = seep_nest(skb, SEEPAGE_A_LEVEL);
	u32 n = seep_known(d->epochs, j), epoch = seep_epoch(&d->clock[j], n), i;
	u64 bytes[SEEP_MINIMA];

	if (!nest)
		return -EMSGSIZE;
	if (!epoch)	/* one floor only: use the nominal length */
		epoch = (d->interval_ms / 100) << j;
	for (i = 0; i < n; i++)
		bytes[i] = seep_bytes(seep_floor(&d->mem_level[j], d->epochs >> j, n - 1 - i));
	if (seep_put_64(skb, SEEPAGE_LEVEL_A_EPOCH_MS, max(epoch, 1U) * 100ULL,
			SEEPAGE_LEVEL_A_PAD) ||
	    seep_put_64(skb, SEEPAGE_LEVEL_A_AGE_MS, (now - d->clock[j].t_close) * 100ULL,
			SEEPAGE_LEVEL_A_PAD) ||
	    nla_put(skb, SEEPAGE_LEVEL_A_MINIMA, n * sizeof(u64), bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * seep_put_history() - floors of memory held, level by level
 * @skb: message being built; on failure the caller drops it
 * @rec: in the table
 *
 * Context: process, seep_table_mutex.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_history(struct sk_buff *skb, const struct seep_rec *rec)
{
	struct nlattr *nest = seep_nest(skb, SEEPAGE_A_HISTORY);
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
	struct nlattr *nest = seep_nest(skb, SEEPAGE_A_COUNTERS);
	int id;

	if (!nest)
		return -EMSGSIZE;
	for (id = 1; id < __SEEPAGE_COUNTER_MAX; id++)
		/* attribute type 0 is the padding */
		if (seep_put_64(skb, id, seep_counter(id), SEEPAGE_COUNTER_UNSPEC))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct seep_tick_stats *st)
{
	if (seep_put_u64(skb, SEEPAGE_A_TICKS, st->ticks) ||
	    seep_put_u64(skb, SEEPAGE_A_TICK_COST_NS, st->cost_ns) ||
	    seep_put_u64(skb, SEEPAGE_A_TICK_COST_MAX_NS, st->cost_max_ns) ||
	    seep_put_u32(skb, SEEPAGE_A_INTERVAL_MS, st->interval_ms) ||
	    seep_put_u8(skb, SEEPAGE_A_STRETCHED, st->stretched))
		return -EMSGSIZE;
	return 0;
}

/**
 * seep_put_pmu() - hardware counters of a process
 * @skb: message being built; on failure the caller drops it
 * @rec: in the table; its counts are those of the last seep_pmu_sync()
 *
 * Context: process, seep_table_mutex.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_pmu(struct sk_buff *skb, const struct seep_rec *rec)
{
	struct nlattr *values, *usual;
	u32 set, n = seep_pmu_events(rec, &set);

	if (!n)
		return 0;
	if (seep_put_u32(skb, SEEPAGE_A_PMC_SET, set))
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

/**
 * seep_put_status() - what GET_STATUS answers
 * @skb: message being built; on failure the caller drops it
 *
 * Context: process, may sleep, no lock held.
 * Return: 0, -EMSGSIZE, or -EINTR when current was killed.
 */
int seep_put_status(struct sk_buff *skb)
{
	struct seep_status s;
	int rc = seep_status_get(&s);

	if (rc)
		return rc;
	if (seep_put_text(skb, SEEPAGE_A_VERSION, SEEP_VERSION) ||
	    seep_put_u64(skb, SEEPAGE_A_INSTANCE, seep_instance) ||
	    seep_put_text(skb, SEEPAGE_A_HOOK, seep_hook->name) ||
	    seep_put_u8(skb, SEEPAGE_A_POLICY, seep_config_value(SEEPAGE_CFG_POLICY)) ||
	    seep_put_u32(skb, SEEPAGE_A_PROCESSES, s.processes) ||
	    seep_put_u32(skb, SEEPAGE_A_REC_BYTES, sizeof(struct seep_rec)) ||
	    seep_put_u64(skb, SEEPAGE_A_MEMORY_BYTES, seep_tab_bytes() + seep_group_bytes() +
		   seep_alert_bytes() + seep_pmu_bytes()) ||
	    seep_put_u64(skb, SEEPAGE_A_SEQ_FIRST, s.first) ||
	    seep_put_u64(skb, SEEPAGE_A_SEQ_LAST, s.last) ||
	    seep_put_pmu_status(skb) ||
	    seep_put_text(skb, SEEPAGE_A_DISABLED, seep_disabled()) ||
	    seep_put_u8(skb, SEEPAGE_A_MULTICAST_OFF, seep_multicast_off) ||
	    put_stats(skb, &s.tick))
		return -EMSGSIZE;
	return put_counters(skb);
}

/**
 * seep_put_conf() - a configuration, all keys
 * @skb: message being built; on failure the caller drops it
 * @c: the configuration
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_conf(struct sk_buff *skb, const struct seep_conf *c)
{
	struct nlattr *nest = seep_nest(skb, SEEPAGE_A_CONFIG);
	int key;

	if (!nest)
		return -EMSGSIZE;
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		if (seep_put_u32(skb, key, c->v[key]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * seep_put_config() - the configuration in force, what GET_CONFIG answers
 * @skb: message being built; on failure the caller drops it
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int seep_put_config(struct sk_buff *skb)
{
	char events[SEEP_CONFIG_EVENTS_BYTES];
	struct seep_conf c;

	seep_config_get(&c);
	seep_config_pmc_events(events, sizeof(events));
	return seep_put_conf(skb, &c) ?: seep_put_text(skb, SEEPAGE_A_PMC_WANTED, events);
}
