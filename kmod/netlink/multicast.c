// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast of alerts and samples to the groups of the family.
 *
 * An alert is worth most when memory is nearly gone, and then its message may not be
 * allocated. One is kept ready for that; the next pass replaces it.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include <linux/slab.h>
#include "netlink.h"

/* An empty message for an alert, or NULL; set at load, then seep_table_mutex. */
struct sk_buff *seep_netlink_spare;

/**
 * seep_netlink_small() - allocate an empty message of a page
 *
 * It is allocated with its first clone, because multicast hands the message to one listener and
 * a clone to each further one. `seepage watch` alone is two, with the looks that it starts.
 *
 * Context: any.
 * Return: NULL when memory is short.
 */
struct sk_buff *seep_netlink_small(void)
{
	return alloc_skb_fclone(nlmsg_total_size(NLMSG_DEFAULT_SIZE), SEEP_GFP);
}

/**
 * seep_netlink_heard() - does a group have listeners?
 * @group: the group
 *
 * Context: seep_table_mutex, callbacks of publish.h only: before the family is
 * registered and after it is gone, its group numbers belong to another family.
 */
bool seep_netlink_heard(enum seep_mcgrp group)
{
	return genl_has_listeners(&seep_family, &init_net, group);
}

/**
 * seep_netlink_multicast() - multicast a message
 * @skb: the message, consumed
 * @group: the group
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: 0; -ESRCH: the last listener has left; other errors are counted here.
 */
int seep_netlink_multicast(struct sk_buff *skb, enum seep_mcgrp group)
{
	int rc = seep_genl_multicast(&seep_family, skb, group, SEEP_GFP);

	if (rc && rc != -ESRCH)
		seep_count(NOTIFY_FAILED);
	return rc;
}

/* Multicast the alert @a, or the view @v of @rec. A failure is counted. */
static void multicast(enum seep_mcgrp group, u8 cmd, const struct seep_alert *a,
		      struct seep_view *v, const struct seep_rec *rec)
{
	struct sk_buff *skb = seep_netlink_small();
	void *head;
	int rc;

	if (!skb && a) {
		seep_count(ALLOC_FAILED);
		swap(skb, seep_netlink_spare);
	}
	if (!skb)
		goto failed;
	head = genlmsg_put(skb, 0, 0, &seep_family, 0, cmd);
	if (!head) {
		rc = -EMSGSIZE;
	} else if (a) {
		rc = seep_put_alert(skb, a, a->view.pid, &init_user_ns);
	} else {
		seep_pmu_sync(rec);
		rc = seep_put_view(skb, v, v->pid, &init_user_ns, false) ?: seep_put_pmu(skb, rec);
	}
	if (rc) {
		nlmsg_free(skb);
		goto failed;
	}
	genlmsg_end(skb, head);
	seep_netlink_multicast(skb, group);
	return;
failed:
	seep_count(NOTIFY_FAILED);
}

/* Multicasts an alert, if there are listeners. Context: process, seep_table_mutex. */
static void publish_alert(const struct seep_alert *a)
{
	if (seep_netlink_heard(SEEP_MCGRP_ALERT))
		multicast(SEEP_MCGRP_ALERT, SEEPAGE_CMD_ALERT, a, NULL, NULL);
}

/* Multicasts a process that was sampled. Context: likewise, while seep_samples_on. */
static void publish_sample(struct seep_rec *rec)
{
	struct seep_view *v = kmalloc(sizeof(*v), SEEP_GFP);

	if (!v) {
		seep_count(NOTIFY_FAILED);
		return;
	}
	seep_view_fill(v, rec);
	multicast(SEEP_MCGRP_SAMPLE, SEEPAGE_CMD_SAMPLE, NULL, v, rec);
	kfree(v);
}

const struct seep_publish_ops seep_netlink_publish = {
	.alert		= publish_alert,
	.sample		= publish_sample,
	.begin		= seep_series_begin,
	.fed		= seep_series_sample,
	.fed_group	= seep_series_group,
	.end		= seep_series_end,
	.gone		= seep_series_gone,
};
