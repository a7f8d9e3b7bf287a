// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: hardware counters of the whole machine as attributes of GET_STATUS.
 *
 * Context: process, may sleep. Lock: none; seep_pmu_show() takes pmu_mutex, therefore
 * seep_table_mutex must not be held.
 */
#include "netlink.h"
#include "pmu/pmu.h"

#ifdef SEEP_PMU

static int put_value(struct sk_buff *skb, int attr, const struct seepage_pmc_value *v)
{
	return nla_put(skb, attr, sizeof(*v), v);
}

static int put_event(struct sk_buff *skb, const struct seep_pmu_shown *s)
{
	struct nlattr *nest = seep_nest(skb, SEEPAGE_A_PMC_EVENT);

	if (!nest ||
	    seep_put_text(skb, SEEPAGE_PMC_A_NAME, s->name) ||
	    seep_put_u32(skb, SEEPAGE_PMC_A_TYPE, s->type) ||
	    seep_put_64(skb, SEEPAGE_PMC_A_CONFIG, s->config, SEEPAGE_PMC_A_PAD) ||
	    seep_put_u8(skb, SEEPAGE_PMC_A_STATE, s->state) ||
	    seep_put_text(skb, SEEPAGE_PMC_A_REASON, s->reason) ||
	    put_value(skb, SEEPAGE_PMC_A_COUNT, &s->total) ||
	    put_value(skb, SEEPAGE_PMC_A_KTHREADS, &s->kthreads) ||
	    put_value(skb, SEEPAGE_PMC_A_IDLE, &s->idle) ||
	    put_value(skb, SEEPAGE_PMC_A_OTHERS, &s->others) ||
	    put_value(skb, SEEPAGE_PMC_A_ENDED, &s->ended))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Return: 0, -EMSGSIZE or -ENOMEM. */
static int put_events(struct sk_buff *skb)
{
	struct seep_pmu_shown *s = kcalloc(SEEP_PMU_EVENTS, sizeof(*s), GFP_KERNEL);
	struct nlattr *nest;
	int rc = -EMSGSIZE;
	u32 set;
	u8 i, n;

	if (!s)
		return -ENOMEM;
	n = seep_pmu_show(s, &set);
	if (!n) {
		rc = 0;
		goto free;
	}
	if (seep_put_u32(skb, SEEPAGE_A_PMC_SET, set))
		goto free;
	nest = seep_nest(skb, SEEPAGE_A_PMC_EVENTS);
	if (!nest)
		goto free;
	for (i = 0; i < n; i++)
		if (put_event(skb, &s[i]))
			goto free;
	nla_nest_end(skb, nest);
	rc = 0;
free:
	kfree(s);
	return rc;
}

#else

static int put_events(struct sk_buff *skb)
{
	return 0;
}

#endif

/**
 * seep_put_pmu_status() - the list of events with state and counts of each
 * @skb: message being built; on failure the caller drops it
 *
 * Context: process, may sleep, no table mutex.
 * Return: 0, -EMSGSIZE or -ENOMEM.
 */
int seep_put_pmu_status(struct sk_buff *skb)
{
	char text[SEEP_PMU_TEXT];

	seep_pmu_text(text, sizeof(text));
	return seep_put_text(skb, SEEPAGE_A_PMC, text) ?: put_events(skb);
}
