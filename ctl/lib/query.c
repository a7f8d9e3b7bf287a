// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that several commands send. Unless noted, they return 0 or -errno with
 * the error in struct knl.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netlink/genl/genl.h>
#include "ctl.h"

#define DUMP_TRIES	5

/* Opens the socket and resolves the family. Returns 0, or 1 after printing an error. */
int query_open(const struct ctx *ctx, struct knl *k)
{
	if (knl_open(k) >= 0 && knl_resolve(k) >= 0)
		return 0;
	knl_fail(ctx, k, NEEDS_READ);
	knl_close(k);
	return 1;
}

/*
 * The same for a request about one process; parses @word into @pid, where the number of an
 * alert would be allowed too. Returns 0, or an exit status after printing an error.
 */
int query_open_pid(struct ctx *ctx, const char *word, struct knl *k, u32 *pid)
{
	int err = parse_pid_not_alert(ctx, word, pid);

	return err ? err : query_open(ctx, k);
}

static int keep(struct nlmsghdr *nlh, void *arg)
{
	struct msgs *m = arg;

	if (m->n == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 16;
		m->v = must(realloc(m->v, m->capacity * sizeof(*m->v)));
	}
	m->v[m->n] = must(malloc(nlh->nlmsg_len));
	memcpy(m->v[m->n++], nlh, nlh->nlmsg_len);
	return 0;
}

void msgs_free(struct msgs *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->v[i]);
	free(m->v);
	memset(m, 0, sizeof(*m));
}

/* Sends @msg. The caller frees @reply, which is NULL on failure. */
int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply)
{
	struct msgs m = { 0 };
	int err = knl_call(k, msg, keep, &m);

	*reply = NULL;
	if (err >= 0 && !m.n) {
		k->err = EPROTO;
		snprintf(k->text, sizeof(k->text), "the module did not answer");
		err = -EPROTO;
	}
	if (err >= 0) {
		*reply = m.v[0];
		m.v[0] = NULL;
	}
	msgs_free(&m);
	return err < 0 ? err : 0;
}

/* Asks for one process, with gates and history. The caller frees @reply. */
int query_process(struct knl *k, u32 pid, struct nlmsghdr **reply)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	return query_one(k, msg, reply);
}

/* Asks for the group of a process, with gates and pids. The caller frees @reply. */
int query_group(struct knl *k, u32 pid, struct nlmsghdr **reply)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	nla_put_u8(msg, SEEPAGE_A_GROUP, 1);
	return query_one(k, msg, reply);
}

/*
 * Sends facts about a process to the module.
 * @cold: share of the gained memory that is not used, in permille; negative: not sent
 * @memory: what its cgroup leaves; NULL: not sent
 */
int query_facts(struct knl *k, u32 pid, int cold, const struct cgroup_memory *memory)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_SET_FACTS, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	if (cold >= 0)
		nla_put_u32(msg, SEEPAGE_A_COLD_PERMILLE, (u32)cold);
	if (memory) {
		nla_put_u64(msg, SEEPAGE_A_LIMIT_BYTES, memory->limit);
		nla_put_u64(msg, SEEPAGE_A_CGROUP_USED_BYTES, memory->used);
		if (memory->limit)
			nla_put_u64(msg, SEEPAGE_A_CGROUP_ID, memory->id);
	}
	return knl_call(k, msg, NULL, NULL);
}

/* The pid of the last process in @m, 0: none. */
static u32 last_pid(const struct msgs *m)
{
	struct message msg;

	if (!m->n || msg_parse(&msg, m->v[m->n - 1]))
		return 0;
	return (u32)msg_pid(&msg);
}

/*
 * Reads a dump once. Without rights, an answer that does not fit the receive buffer, or takes
 * long, comes in pieces: the module then says -ENOBUFS, and where to go on. An earlier one went
 * on after the last process.
 */
static int dump_once(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg), void *arg,
		     struct msgs *m)
{
	int err, interrupted = 0;
	u32 after = 0, last = 0;
	struct nl_msg *msg;

	do {
		after = last;
		msg = build(k, arg);
		if (after)
			nla_put_u32(msg, SEEPAGE_A_FILTER_AFTER_PID, after);
		err = knl_call(k, msg, keep, m);
		interrupted |= err == 1;
		last = k->after ?: last_pid(m);
	} while (err == -ENOBUFS && last > after);
	return err < 0 ? err : interrupted;
}

/*
 * Reads a whole dump into @m and repeats it up to DUMP_TRIES times if changes
 * interrupted it. @build makes the request. msgs_free() frees @m.
 *
 * Returns 0, or 1 if it was interrupted every time and may not be consistent, or
 * -errno with @m empty.
 */
int query_dump(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg), void *arg,
	       struct msgs *m)
{
	int tries, err = 0;

	for (tries = 0; tries < DUMP_TRIES; tries++) {
		msgs_free(m);
		err = dump_once(k, build, arg, m);
		if (err != 1)
			break;
	}
	if (err < 0)
		msgs_free(m);
	return err;
}

static struct nl_msg *alerts_msg(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);
	u64 since = *(u64 *)arg;

	if (since)
		nla_put_u64(msg, SEEPAGE_A_SINCE_SEQ, since);
	return msg;
}

/* Dumps the ring of alerts from @since on, 0: all. Returns the same as query_dump(). */
int query_alerts(struct knl *k, u64 since, struct msgs *m)
{
	return query_dump(k, alerts_msg, &since, m);
}

static void put_string(struct nl_msg *msg, int attr, const char *s)
{
	char text[IDENTITY_MAX + 1];

	if (!s)
		return;
	snprintf(text, sizeof(text), "%s", s);
	nla_put_string(msg, attr, text);
}

/*
 * Hands the module what the process of the alert @msg is, as far as /proc has shown it. An
 * alert that has an identity needs none. A failure does no harm.
 */
void identity_send(struct knl *k, const struct message *msg, const struct place *p)
{
	struct nlattr *nest;
	struct nl_msg *m;

	if (msg->a[SEEPAGE_A_IDENTITY] || (!p->exe && !p->cmdline && !p->cgroup))
		return;
	m = knl_msg(k, SEEPAGE_CMD_SET_FACTS, 0);
	nla_put_u32(m, SEEPAGE_A_PID, (u32)msg_pid(msg));
	/* refused where the pid is another process by now */
	nla_put_u64(m, SEEPAGE_A_SINCE_SEQ, msg_seq(msg));
	nest = must(nla_nest_start(m, NLA_F_NESTED | SEEPAGE_A_IDENTITY));
	put_string(m, SEEPAGE_IDENTITY_A_EXE, p->exe);
	put_string(m, SEEPAGE_IDENTITY_A_CMDLINE, p->cmdline);
	put_string(m, SEEPAGE_IDENTITY_A_CGROUP, p->cgroup);
	put_string(m, SEEPAGE_IDENTITY_A_PARENT, p->parent);
	if (p->ppid)
		nla_put_u32(m, SEEPAGE_IDENTITY_A_PPID, p->ppid);
	nla_nest_end(m, nest);
	knl_call(k, m, NULL, NULL);
}

/* Parses "#N", the number of an alert. Returns false if @word is no such number. */
bool parse_alert(const char *word, u64 *seq)
{
	return *word == '#' && parse_u64(word + 1, seq) && *seq;
}

/* Reads the alert with number @seq. The caller frees @reply; -ENOENT: it is not held. */
int query_alert(struct knl *k, u64 seq, struct nlmsghdr **reply)
{
	struct msgs m = { 0 };
	struct message msg;
	int err = query_alerts(k, seq, &m);

	*reply = NULL;
	if (err >= 0 && m.n && !msg_parse(&msg, m.v[0]) && msg_seq(&msg) == seq) {
		*reply = m.v[0];
		m.v[0] = NULL;
	}
	msgs_free(&m);
	return err < 0 ? err : *reply ? 0 : -ENOENT;
}

/* Opens the socket and reads the alert @seq. Returns 0, or 1 after printing an error. */
int query_open_alert(const struct ctx *ctx, u64 seq, struct knl *k, struct nlmsghdr **reply)
{
	int err;

	if (query_open(ctx, k))
		return 1;
	err = query_alert(k, seq, reply);
	if (!err)
		return 0;
	if (err == -ENOENT && !*k->text)
		fail(ctx, "alert #%llu is not held (see seepage alerts; of an earlier boot: "
		     "seepage report PID)", seq);
	else
		knl_fail(ctx, k, NEEDS_READ);
	knl_close(k);
	return 1;
}

/* Parses the newest alert of @pid in @m. Returns its index plus one, 0: there is none. */
size_t query_newest(const struct msgs *m, u32 pid, struct message *msg)
{
	size_t i = m->n;

	while (i && (msg_parse(msg, m->v[i - 1]) || msg_pid(msg) != pid))
		i--;
	return i;
}

static bool of_group(const struct message *alert)
{
	return msg_subject(alert) == SEEPAGE_SUBJECT_GROUP;
}

/*
 * Has what @alert is about ended? What cannot be asked lives. A group lives on without the process
 * that it is shown by: until an alert says that it ended. A process may live without a record.
 * @m: the alerts that are held
 * @exit: out, the one that says so; its number is 0 if there is none, and nothing else is set
 */
bool query_ended(struct knl *k, const struct msgs *m, const struct message *alert,
		 struct message *exit)
{
	u32 pid = (u32)msg_pid(alert);
	bool group = of_group(alert), ended;
	u64 seq = msg_seq(alert);
	struct nlmsghdr *now;
	struct message msg;
	int err;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!msg_parse(exit, m->v[i]) && msg_state(exit) == SEEPAGE_STATE_EXITED &&
		    msg_seq(exit) >= seq && msg_pid(exit) == pid && of_group(exit) == group)
			return true;
	exit->a[SEEPAGE_A_SEQ] = NULL;
	if (group)
		return false;
	err = query_process(k, pid, &now);
	if (err == -ENOENT)	/* no record: closing fails where there was nothing to open */
		ended = close(procfs_open_msg(alert, false)) < 0;
	else if (err)
		ended = err == -ESRCH;
	else
		ended = !msg_parse(&msg, now) && !msg_same_process(&msg, alert);
	free(now);
	return ended;
}

/* Returns the sampling interval in force in ms, 0 if it is unknown or not permitted. */
u64 query_interval(struct knl *k)
{
	struct nlmsghdr *nlh;
	struct message msg;
	u64 ms = 0;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !msg_parse(&msg, nlh))
		ms = msg_get(&msg, SEEPAGE_A_INTERVAL_MS, 0);
	free(nlh);
	return ms;
}

/* Reads the event list that PMC_VALUES belongs to; empty without the right to read it. */
void query_pmc(struct knl *k, struct pmc_list *l)
{
	struct nlmsghdr *nlh;
	struct message msg;

	l->n = 0;
	l->set = 0;
	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !msg_parse(&msg, nlh))
		pmc_list(l, &msg);
	free(nlh);
}

int query_config(struct knl *k, struct conf *c)
{
	struct nlattr *pos;
	struct nlmsghdr *nlh;
	struct message msg;
	int rem, err = query_one(k, knl_msg(k, SEEPAGE_CMD_GET_CONFIG, 0), &nlh);

	memset(c, 0, sizeof(*c));
	if (err < 0)
		return err;
	if (!msg_parse(&msg, nlh) && msg.a[SEEPAGE_A_CONFIG]) {
		nla_for_each_nested(pos, msg.a[SEEPAGE_A_CONFIG], rem) {
			u64 v;

			if (nla_type(pos) > SEEPAGE_CFG_MAX || !attr_u64(pos, &v))
				continue;
			c->set[nla_type(pos)] = true;
			c->v[nla_type(pos)] = (u32)v;
		}
	}
	c->has_events = msg.a[SEEPAGE_A_PMC_WANTED];
	if (c->has_events)
		attr_text(SEEPAGE_A_PMC_WANTED, msg.a[SEEPAGE_A_PMC_WANTED], false, c->events,
			  sizeof(c->events));
	free(nlh);
	return 0;
}

static int send_config(struct knl *k, const struct conf *c)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_SET_CONFIG, 0);
	struct nlattr *nest = must(nla_nest_start(msg, NLA_F_NESTED | SEEPAGE_A_CONFIG));
	int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		if (c->set[key])
			nla_put_u32(msg, key, c->v[key]);
	nla_nest_end(msg, nest);
	if (c->has_events)
		nla_put_string(msg, SEEPAGE_A_PMC_WANTED, c->events);
	return knl_call(k, msg, NULL, NULL);
}

static bool changes(const struct conf *c, const struct conf *running, unsigned int key)
{
	return c->set[key] && !(running->set[key] && running->v[key] == c->v[key]);
}

/* A value that is in force already asks for nothing: get -j prints them all. */
static bool asks_for_counters(const struct conf *c, const struct conf *running)
{
	return (c->has_events && strcmp(c->events, running->events)) ||
	       changes(c, running, SEEPAGE_CFG_PMC_MAX_COUNTERS) ||
	       (changes(c, running, SEEPAGE_CFG_PMC) && c->v[SEEPAGE_CFG_PMC] != SEEPAGE_PMC_OFF &&
		c->v[SEEPAGE_CFG_PMC] != SEEPAGE_PMC_HOLD);
}

/* Prints a note if the new configuration asks for counters but they are not on. */
static void note_counters_off(const struct ctx *ctx, struct knl *k)
{
	struct nlmsghdr *nlh;
	char state[TEXT_MAX];
	struct message msg;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !msg_parse(&msg, nlh)) {
		msg_text(&msg, SEEPAGE_A_PMC, state);
		if (strcmp(state, "on") && !strstr(state, "held") &&
		    !strstr(state, "under watch") && strcmp(state, "off: by configuration"))
			note(ctx, "changed, but counters are %s", state);
	}
	free(nlh);
}

/*
 * Applies all keys of @c, or none if one is refused. Returns 0, or 1 after printing
 * an error.
 */
int query_configure(const struct ctx *ctx, const struct conf *c)
{
	struct conf running;
	int status = 0;
	struct knl k;

	if (query_open(ctx, &k))
		return 1;
	query_config(&k, &running);
	if (send_config(&k, c) < 0)
		status = knl_fail(ctx, &k, NEEDS_ADMIN);
	else if (asks_for_counters(c, &running))
		note_counters_off(ctx, &k);
	knl_close(&k);
	return status;
}
