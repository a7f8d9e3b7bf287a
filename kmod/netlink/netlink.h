/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces between the netlink files. The stage publishes processes and alerts and takes
 * requests; the manual of the messages is the head comment of the uapi header.
 *
 * netlink.c		family, requests
 * rights.c		what the sender of a request may see and change
 * multicast.c		multicast groups "alert" and "sample"
 * takes.c		attributes that a request may hold; refusals
 * dump.c		dumps of processes and alerts
 * unprivileged.c	requests of users without rights: by one worker, one request a user
 * view.c		a process or an alert as attributes
 * series.c		multicast group "series"
 * facts.c		SET_FACTS
 * pmu.c		hardware counters of the machine as attributes
 * put.c		everything else as attributes
 *
 * Context: process, may sleep. "table mutex": the caller holds seep_table_mutex.
 */
#ifndef SEEP_NETLINK_H
#define SEEP_NETLINK_H

#include <net/genetlink.h>
#include "publish.h"
#include "seep.h"

/* netlink/takes.c */
extern const struct nla_policy seep_dump_proc_takes[SEEPAGE_A_FILTER_AFTER_PID + 1];
extern const struct nla_policy seep_request_takes[SEEPAGE_A_CGROUP_ID + 1];
int seep_netlink_takes(struct genl_info *info);
int seep_refuse(const struct nlattr *attr, struct netlink_ext_ack *extack, const char *text,
		int rc);
int seep_invalid(const struct nlattr *attr, struct netlink_ext_ack *extack, const char *text);
u64 seep_get_u64(const struct nlattr *attr);	/* 0 where there is none */
bool seep_is_text(const struct nlattr *attr, int most);

/* netlink/multicast.c */
enum seep_mcgrp { SEEP_MCGRP_ALERT, SEEP_MCGRP_SAMPLE, SEEP_MCGRP_SERIES };

bool seep_netlink_heard(enum seep_mcgrp group);			/* in callbacks of publish.h */
int seep_netlink_multicast(struct sk_buff *skb, enum seep_mcgrp group); /* table mutex */
struct sk_buff *seep_netlink_small(void);			/* any context */
extern const struct seep_publish_ops seep_netlink_publish;
extern struct sk_buff *seep_netlink_spare;			/* table mutex */

/* netlink/rights.c: in the task that sent the request, but for the last two */
bool seep_netlink_may_read(struct sk_buff *skb);
int seep_netlink_check_read(struct sk_buff *skb, struct netlink_ext_ack *extack);
int seep_netlink_check_write(struct sk_buff *skb, struct genl_info *info);
kuid_t seep_netlink_reader(struct sk_buff *skb);
bool seep_netlink_is_own(const struct seep_rec *rec, kuid_t reader);	/* table mutex */
void seep_netlink_own_only(struct seep_view *v);			/* any context */

/* netlink/netlink.c */
extern struct genl_family seep_family;
extern u64 seep_instance;			/* of this load; the same until the unload */
extern bool seep_multicast_off;			/* likewise */
struct seep_rec *seep_netlink_rec(struct genl_info *info,
				  struct pid_namespace *ns);		/* table mutex */

/* netlink/unprivileged.c */
struct seep_unpriv {			/* a request of a user without rights */
	struct list_head node;
	kuid_t uid;			/* the user; INVALID_UID: none */
	kuid_t account;			/* that the task is charged to */
};

int seep_unpriv_run(void (*f)(void *arg), void *arg);	/* no lock held */
int seep_unpriv_begin(struct seep_unpriv *u, struct netlink_ext_ack *extack);
void seep_unpriv_end(struct seep_unpriv *u);
int seep_unpriv_init(void);
void seep_unpriv_exit(void);

/* netlink/series.c: callbacks of publish.h */
void seep_series_begin(u64 now_ns, u64 headroom, u64 shmem_total, bool full,
		       const struct seep_conf *c);
void seep_series_sample(struct seep_rec *rec, const struct seep_sample *s,
			const struct seep_verdict *v);
void seep_series_group(const struct seep_group *g, const struct seep_verdict *v);
void seep_series_end(void);
void seep_series_gone(struct list_head *graves);

/* netlink/facts.c */
int seep_facts_request(struct sk_buff *skb, struct genl_info *info);

/* netlink/dump.c */
int seep_dump_proc_start(struct netlink_callback *cb);
int seep_dump_proc(struct sk_buff *skb, struct netlink_callback *cb);
int seep_dump_alerts_start(struct netlink_callback *cb);
int seep_dump_alerts(struct sk_buff *skb, struct netlink_callback *cb);
int seep_dump_done(struct netlink_callback *cb);

/* netlink/view.c: 0 or -EMSGSIZE; on failure the caller drops the message. Table mutex */
int seep_put_view(struct sk_buff *skb, const struct seep_view *v, pid_t pid,
		  struct user_namespace *ns, bool gates);
int seep_put_alert(struct sk_buff *skb, const struct seep_alert *a, pid_t pid,
		   struct user_namespace *ns);

/* netlink/put.c: 0 or -EMSGSIZE as above. Table mutex, except for status and config */
int seep_put_u64(struct sk_buff *skb, int attr, u64 v);
int seep_put_64(struct sk_buff *skb, int attr, u64 v, int pad);
int seep_put_u32(struct sk_buff *skb, int attr, u32 v);
int seep_put_u8(struct sk_buff *skb, int attr, u8 v);
int seep_put_text(struct sk_buff *skb, int attr, const char *text);
struct nlattr *seep_nest(struct sk_buff *skb, int attr);
int seep_put_pmu(struct sk_buff *skb, const struct seep_rec *rec);
int seep_put_status(struct sk_buff *skb);
int seep_put_config(struct sk_buff *skb);
int seep_put_conf(struct sk_buff *skb, const struct seep_conf *c);
int seep_put_history(struct sk_buff *skb, const struct seep_rec *rec);

/* netlink/pmu.c: 0 or -EMSGSIZE as above */
int seep_put_pmu_status(struct sk_buff *skb);				/* no table mutex */

#endif /* SEEP_NETLINK_H */
