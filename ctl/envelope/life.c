// SPDX-License-Identifier: GPL-2.0
/*
 * What the module knows of the processes there are, and what it is told of earlier lives.
 *
 * The module is told what an earlier load of it has reported, never what the same load has: that
 * would come back to it for ever. A process is told only what was learned before it began: that
 * is of earlier lives, not of this one.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "envelope/envelope.h"

#define LOOK_TRIES	3
#define DELETED		" (deleted)"

/* ---- of which service? ---- */

/* Names that systemd gives to what is started once, as sessions and systemd-run, and never again */
static bool is_transient(const struct unit_name *u)
{
	static const char *const made_up[] = {
		"run-u[0-9]*.service", "run-p[0-9]*.service",
		"run-r[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*.service",
	};
	size_t i;

	if (u->runtime)
		return false;
	if (quiet_ends_in(u->name, ".scope"))
		return strcmp(u->name, "init.scope");
	for (i = 0; i < ARRAY_SIZE(made_up); i++)
		if (!fnmatch(made_up[i], u->name, 0))
			return true;
	return false;
}

/* The comm in UTF-8. Returns false if it is not known, or empty. */
static bool comm_of(const struct message *msg, char *buf, size_t size)
{
	struct json_object *text;
	const char *comm;
	size_t len = msg_string(msg, SEEPAGE_A_COMM, &comm);

	if (!len)
		return false;
	text = json_text(comm, len);
	snprintf(buf, size, "%s", json_object_get_string(text));
	json_object_put(text);
	return true;
}

/**
 * envelope_key() - the service that a process is of
 * @msg: the process
 * @cgroup: its path as /proc has it, NULL: unknown
 * @key: out
 *
 * Return: false if that is not known, or no later process can be of it.
 */
bool envelope_key(const struct message *msg, const char *cgroup, struct envelope_key *key)
{
	u64 uid = msg_get(msg, SEEPAGE_A_UID, UINT32_MAX);
	struct unit_name u;

	memset(key, 0, sizeof(*key));
	if (!cgroup || quiet_ends_in(cgroup, DELETED) || uid >= UINT32_MAX ||
	    !comm_of(msg, key->comm, sizeof(key->comm)))
		return false;
	unit_of(cgroup, &u);
	unit_text(&u, key->unit, sizeof(key->unit));
	if (!*key->unit)
		snprintf(key->unit, sizeof(key->unit), "%s", cgroup);
	if (is_transient(&u) || (*key->unit == '/' && !quiet_is_text(cgroup)))
		return false;
	key->uid = (u32)uid;
	key->owner = u.of_user >= 0 ? (u32)u.of_user : key->uid;
	return true;
}

/* ---- what the module says ---- */

static struct nl_msg *all_processes(struct knl *k, void *arg)
{
	return knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
}

static int read_instance(struct knl *k, u64 *instance)
{
	struct nlmsghdr *reply;
	struct message msg;
	int err = query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &reply);

	*instance = 0;
	if (err >= 0 && !msg_parse(&msg, reply))
		*instance = msg_get(&msg, SEEPAGE_A_INSTANCE, 0);
	free(reply);
	return err;
}

/*
 * Asks for all processes, and for the load that has answered: the module may be loaded anew in
 * between. Returns 0 or -errno; the caller frees @l->m.
 */
int envelope_look(struct knl *k, struct envelope_look *l)
{
	u64 after = 0;
	int err, tries;

	memset(l, 0, sizeof(*l));
	for (tries = 0; tries < LOOK_TRIES; tries++) {
		err = read_instance(k, &l->instance);
		if (err >= 0)
			err = query_dump(k, all_processes, NULL, &l->m);
		if (err >= 0)
			err = read_instance(k, &after);
		if (err < 0 || l->instance == after)
			break;
	}
	if (err >= 0 && (l->instance != after || !after)) {
		k->err = EAGAIN;
		snprintf(k->text, sizeof(k->text), "the module was loaded again meanwhile");
		err = -EAGAIN;
	}
	if (err < 0)
		msgs_free(&l->m);
	return err < 0 ? err : 0;
}

/* ---- learning ---- */

/* The cgroup of a process that is there; / where the kernel has none. NULL: it has ended */
static char *cgroup_of(int dir)
{
	char *path = procfs_cgroup(dir);

	return path || !procfs_start(dir) ? path : must(strdup("/"));
}

/* Adds what the module knows of the process. Returns whether an entry has changed. */
static bool learn(struct envelope *e, const struct message *msg, u64 instance, u64 now_ns)
{
	struct envelope_entry seen = { .instance = instance, .confirmed_ns = now_ns };
	char *cgroup;
	bool changed;
	int dir;

	seen.rise = msg_get(msg, SEEPAGE_A_KNOWN_RISE_BYTES, 0);
	seen.span_s = msg_get(msg, SEEPAGE_A_KNOWN_SPAN_SECONDS, 0);
	dir = seen.rise ? procfs_open_msg(msg, false) : -1;
	if (dir < 0)
		return false;
	cgroup = cgroup_of(dir);
	close(dir);
	changed = envelope_key(msg, cgroup, &seen.key) && envelope_take(e, &seen);
	free(cgroup);
	return changed;
}

/*
 * Merges what the module knows into @e, and drops what is too old or too much. Returns how many
 * processes have changed an entry. @changed: is there something to be written?
 */
unsigned int envelope_learn(struct envelope *e, const struct envelope_look *l, bool *changed)
{
	u64 now_ns = clock_real_ns();
	unsigned int n = 0;
	struct message msg;
	size_t i;

	for (i = 0; i < l->m.n; i++)
		if (!msg_parse(&msg, l->m.v[i]))
			n += learn(e, &msg, l->instance, now_ns);
	*changed = envelope_trim(e, now_ns) || n;
	return n;
}

/* ---- telling ---- */

/* When the process began, ns since 1970. @start: clock ticks since boot */
static u64 begun_ns(u64 start)
{
	u64 hz = (u64)sysconf(_SC_CLK_TCK), up_ns, since_ns = start * (1000000000ULL / hz);
	struct timespec up;

	clock_gettime(CLOCK_BOOTTIME, &up);
	up_ns = (u64)up.tv_sec * 1000000000ULL + (u64)up.tv_nsec;
	return clock_real_ns() - (up_ns > since_ns ? up_ns - since_ns : 0);
}

/* Does @entry say more than the module knows, and is it from another load of it? */
static bool is_news(const struct envelope_entry *entry, const struct message *msg, u64 instance)
{
	return entry->instance != instance &&
	       (entry->rise > msg_get(msg, SEEPAGE_A_KNOWN_RISE_BYTES, 0) ||
		entry->span_s > msg_get(msg, SEEPAGE_A_KNOWN_SPAN_SECONDS, 0));
}

/* Is there something to tell a process of this name and uid? /proc is not asked for the others. */
static bool may_be_told(const struct envelope *e, const struct message *msg, u64 instance)
{
	u64 uid = msg_get(msg, SEEPAGE_A_UID, UINT32_MAX);
	char comm[ENVELOPE_COMM + 1];
	size_t i;

	if (!comm_of(msg, comm, sizeof(comm)))
		return false;
	for (i = 0; i < e->n; i++)
		if (e->v[i].key.uid == uid && !strcmp(e->v[i].key.comm, comm) &&
		    is_news(&e->v[i], msg, instance))
			return true;
	return false;
}

static int send_known(struct knl *k, u32 pid, const struct envelope_entry *entry)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_SET_FACTS, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	nla_put_u64(msg, SEEPAGE_A_KNOWN_RISE_BYTES, entry->rise);
	nla_put_u64(msg, SEEPAGE_A_KNOWN_SPAN_SECONDS, entry->span_s);
	return knl_call(k, msg, NULL, NULL);
}

/*
 * Tells the module what it does not know of the service of a process. The pid may be another
 * process by now, with the same age to a second: the start of the one that was looked at must still
 * be there when the module is told. Returns 1: told, 0: there is nothing to tell, or -errno
 */
static int tell(struct knl *k, const struct envelope *e, const struct message *msg, u64 instance)
{
	const struct envelope_entry *entry = NULL;
	struct envelope_key key;
	char *cgroup;
	int dir, err;
	u64 start;

	dir = may_be_told(e, msg, instance) ? procfs_open_msg(msg, false) : -1;
	if (dir < 0)
		return 0;
	start = procfs_start(dir);
	cgroup = cgroup_of(dir);
	if (start && envelope_key(msg, cgroup, &key))
		entry = envelope_find(e, &key);
	free(cgroup);
	if (!entry || !is_news(entry, msg, instance) || begun_ns(start) <= entry->learned_ns ||
	    procfs_start(dir) != start) {
		close(dir);
		return 0;
	}
	err = send_known(k, (u32)msg_get(msg, SEEPAGE_A_PID, 0), entry);
	close(dir);
	return err == -ESRCH ? 0 : err < 0 ? err : 1;
}

/*
 * Tells the module what earlier loads of it knew of the services of these processes. @told: out,
 * the number of processes. Returns 0 or -errno.
 */
int envelope_teach(struct knl *k, const struct envelope *e, const struct envelope_look *l,
		   unsigned int *told)
{
	struct message msg;
	size_t i;
	int n;

	*told = 0;
	for (i = 0; i < l->m.n; i++) {
		if (msg_parse(&msg, l->m.v[i]))
			continue;
		n = tell(k, e, &msg, l->instance);
		if (n < 0)
			return n;
		*told += (unsigned int)n;
	}
	return 0;
}
