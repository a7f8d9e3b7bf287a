/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the netlink files share: netlink.c (the family, requests, multicast),
 * netlink_takes.c (what a request may hold),
 * netlink_dump.c (dumps), netlink_view.c (processes and alerts), netlink_series.c
 * (series), netlink_evidence.c (evidence), netlink_pmc.c (hardware counters of the
 * machine), netlink_put.c (all else).
 */
#ifndef SEEP_NETLINK_H
#define SEEP_NETLINK_H

#include <net/genetlink.h>
#include "seep.h"

/* netlink_takes.c */
extern const struct nla_policy seep_dump_proc_takes[SEEPAGE_A_FILTER_COMM + 1];
extern const struct nla_policy seep_dump_alerts_takes[SEEPAGE_A_SINCE_SEQ + 1];
extern const struct nla_policy seep_request_takes[SEEPAGE_A_PMC_WANTED + 1];
int seep_netlink_takes(struct genl_info *info);

/* netlink.c */
enum seep_mcgrp { SEEP_GROUP_ALERT, SEEP_GROUP_SAMPLE, SEEP_GROUP_SERIES };

bool seep_netlink_heard(enum seep_mcgrp group);			/* table mutex */
int seep_netlink_tell(struct sk_buff *skb, enum seep_mcgrp group); /* table mutex */
extern struct genl_family seep_family;
bool seep_netlink_may_read(struct sk_buff *skb);
int seep_netlink_check_read(struct sk_buff *skb, struct netlink_ext_ack *extack);
kuid_t seep_netlink_reader(struct sk_buff *skb);
bool seep_netlink_is_own(const struct seep_rec *rec, kuid_t reader);
void seep_netlink_own_only(struct seep_view *v);
int seep_netlink_check_write(struct sk_buff *skb, struct netlink_ext_ack *extack);
struct seep_rec *seep_netlink_rec(const struct nlattr *attr,
				  struct netlink_ext_ack *extack);	/* table mutex */

/* netlink_evidence.c */
int seep_evidence_request(struct sk_buff *skb, struct genl_info *info);

/* netlink_dump.c */
int seep_dump_proc_start(struct netlink_callback *cb);
int seep_dump_proc(struct sk_buff *skb, struct netlink_callback *cb);
int seep_dump_alerts_start(struct netlink_callback *cb);
int seep_dump_alerts(struct sk_buff *skb, struct netlink_callback *cb);
int seep_dump_done(struct netlink_callback *cb);

/* netlink_view.c: 0 or -EMSGSIZE, after which the message is to be given up */
int seep_put_view(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
		  struct user_namespace *ns, bool gates);
int seep_put_alert(struct sk_buff *skb, const struct seep_alert *a, pid_t pid,
		   struct user_namespace *ns);

/* netlink_put.c: the same */
int seep_put_pmc(struct sk_buff *skb, const struct seep_rec *rec);
int seep_put_status(struct sk_buff *skb);
int seep_put_config(struct sk_buff *skb);
int seep_put_conf(struct sk_buff *skb, const struct seep_conf *c);
int seep_put_history(struct sk_buff *skb, const struct seep_rec *rec);

/* netlink_pmc.c: the same */
int seep_put_pmc_status(struct sk_buff *skb);				/* no table mutex */

#endif /* SEEP_NETLINK_H */
