// SPDX-License-Identifier: GPL-2.0
/*
 * Examines suspects while `watch` runs: processes in state watch or worse. It sends
 * the kernel their unused share of the growth and the memory limit of their cgroup.
 * Each step does one thing, such as listing suspects or one look, so that the caller
 * can read alerts in between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cold/cold.h"

#define SUSPECTS_MAX	64
#define LIST_MS		2000		/* interval of listing suspects */
#define LIST_IDLE_MS	10000		/* the same while there are none */
#define CGROUP_MS	10000		/* interval of sending cgroup limits */
#define DROP_MS		(6 * 3600 * 1000)	/* drop a process this long after suspicion */
#define LOCK_MS		60000		/* interval of trying a lock that another has */
#define NEVER		UINT64_MAX

struct suspect {
	u32 pid;
	int dir;		/* descriptor of /proc/PID; invalid if the pid is reused */
	u64 state, age_s;	/* state 0: no suspect at present */
	u64 seen_ms;		/* last time it was suspect */
	u64 first_ms, last_ms;	/* times of the first look and the last that cleared */
	u64 end_ms, next_ms;	/* of the next one that clears, and the next one of all */
	u64 cgroup_ms;		/* next time to send the cgroup limit */
	int permille;		/* unused share in the last window; -1: unknown */
	bool looked;		/* first is valid */
	bool limited;		/* the cgroup had a limit last time */
	struct cold_look first, before;	/* before: the last that cleared, none: first */
	struct cold_curve curve;	/* since then */
};

struct prober {
	struct knl *k;
	struct suspect s[SUSPECTS_MAX];
	size_t n;
	u64 list_ms;		/* next time to list suspects */
	int lock;		/* descriptor; negative: not taken */
	bool noted_look;	/* a failed look was reported; the next ones are not */
	bool off;		/* the kernel refuses facts */
};

struct prober *prober_new(struct knl *k)
{
	struct prober *p = must(calloc(1, sizeof(*p)));

	p->k = k;
	p->lock = -1;
	return p;
}

static void drop(struct prober *p, struct suspect *s)
{
	cold_free(&s->first);
	cold_free(&s->before);
	close(s->dir);
	*s = p->s[--p->n];
}

/* Drops all suspects: a module that was loaded again knows none of the facts. */
void prober_drop_all(struct prober *p)
{
	while (p && p->n)
		drop(p, &p->s[p->n - 1]);
	if (p)
		p->list_ms = 0;
}

void prober_free(struct prober *p)
{
	if (!p)
		return;
	prober_drop_all(p);
	if (p->lock >= 0)
		close(p->lock);
	free(p);
}

/* ---- the list of suspects ---- */

static struct nl_msg *suspects_msg(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);

	nla_put_u32(msg, SEEPAGE_A_FILTER_STATES,
		    1U << SEEPAGE_STATE_WATCH | 1U << SEEPAGE_STATE_SUSPECTED |
		    1U << SEEPAGE_STATE_CONFIRMED | 1U << SEEPAGE_STATE_RUNAWAY);
	return msg;
}

/* Sorts the most severe state first, then the largest RSS. */
static int by_severity(const void *a, const void *b)
{
	const struct message *x = a, *y = b;
	u64 u = msg_state(x), v = msg_state(y);

	if (u == v) {
		u = msg_get(x, SEEPAGE_A_RSS_BYTES, 0);
		v = msg_get(y, SEEPAGE_A_RSS_BYTES, 0);
	}
	return u > v ? -1 : u < v;
}

static struct suspect *find(struct prober *p, u32 pid)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->s[i].pid == pid)
			return &p->s[i];
	return NULL;
}

/* Returns a free slot, if needed that of a suspect less severe than @state; or NULL. */
static struct suspect *free_slot(struct prober *p, u64 state)
{
	struct suspect *least = &p->s[0];
	size_t i;

	if (p->n < SUSPECTS_MAX)
		return &p->s[p->n++];
	for (i = 1; i < p->n; i++)
		if (p->s[i].state < least->state)
			least = &p->s[i];
	if (least->state >= state)
		return NULL;
	drop(p, least);
	return &p->s[p->n++];
}

static void note_suspect(struct prober *p, const struct message *msg, u64 now)
{
	u64 age = msg_age(msg);
	u64 state = msg_state(msg), pid = msg_pid(msg);
	struct suspect *s = find(p, (u32)pid);
	int dir;

	if (s && age < s->age_s) {	/* exec, or the pid was reused */
		drop(p, s);
		s = NULL;
	}
	if (!s) {
		dir = procfs_open((u32)pid, (s64)age * 1000);
		s = dir >= 0 ? free_slot(p, state) : NULL;
		if (!s) {
			if (dir >= 0)
				close(dir);
			return;
		}
		*s = (struct suspect){ .pid = (u32)pid, .dir = dir, .first_ms = now,
					.permille = -1 };
	}
	s->age_s = age;
	s->state = state;
	s->seen_ms = now;
}

static void list_suspects(struct prober *p, u64 now)
{
	struct msgs m = { 0 };
	struct message *msg;
	size_t i, n;

	if (query_dump(p->k, suspects_msg, NULL, &m) < 0)
		return;
	msg = list_messages(&m, &n);
	qsort(msg, n, sizeof(*msg), by_severity);
	for (i = 0; i < n; i++)
		note_suspect(p, &msg[i], now);
	free(msg);
	msgs_free(&m);
	for (i = p->n; i--;) {
		if (p->s[i].seen_ms != now)
			p->s[i].state = SEEPAGE_STATE_OK;
		if (now - p->s[i].seen_ms > DROP_MS)
			drop(p, &p->s[i]);
	}
}

/* ---- facts ---- */

/* Sends facts to the kernel. Returns false if the process has exited or on an error. */
static bool send_facts(struct prober *p, struct suspect *s, int cold,
		       const struct cgroup_memory *memory)
{
	int err = query_facts(p->k, s->pid, cold, memory);

	if (err == -EPERM || err == -EOPNOTSUPP) {
		note(NULL, "watch: suspects are not examined: %s", *p->k->text ? p->k->text :
		     strerror(-err));
		p->off = true;
	}
	return err >= 0;
}

static void send_cgroup_limit(struct prober *p, struct suspect *s, u64 now)
{
	struct cgroup_memory memory;
	bool limited = cgroup_limit(s->dir, &memory, NULL);

	s->cgroup_ms = now + CGROUP_MS;
	if ((limited || s->limited) && !send_facts(p, s, -1, &memory))
		drop(p, s);
	else
		s->limited = limited;
}

/* Handles a failed look. A process that exits is no failure; the first other one is noted. */
static void cannot_look(struct prober *p, struct suspect *s, int err)
{
	if (err == -ESRCH || faccessat(s->dir, "stat", F_OK, 0)) {
		drop(p, s);
		return;
	}
	s->next_ms = NEVER;
	if (p->noted_look)
		return;
	p->noted_look = true;
	note(NULL, "watch: pid %u: cannot measure which memory it uses: %s", s->pid,
	     cold_error(err));
}

/* Unused share of a look, permille: compared with the first one and the last that cleared. */
static int share(const struct suspect *s, const struct cold_look *new)
{
	struct cold_sum sum;

	/* at the second look the first one is also the previous one */
	cold_weigh(&s->first, s->before.v ? &s->before : &s->first, new, &sum);
	return cold_permille(&sum);
}

/* Sets the time of the next look, after one @since_ms after the bits were cleared. */
static void set_next(struct suspect *s, u64 since_ms, u64 cost_ms)
{
	u64 peek = cold_peek(since_ms, cost_ms);

	s->next_ms = peek < s->end_ms - s->last_ms ? s->last_ms + peek : s->end_ms;
}

/* Looks within a window, without clearing. That is shown to people; the module is not told. */
static void peek(struct prober *p, struct suspect *s)
{
	u64 begin = clock_ms(), now;
	struct cold_look new;
	int err = cold_look(s->dir, &new, NULL), permille;

	if (err) {
		cannot_look(p, s, err);
		return;
	}
	now = clock_ms();
	permille = share(s, &new);
	cold_free(&new);
	if (permille >= 0)
		cold_add(&s->curve, now - s->last_ms, permille);
	set_next(s, now - s->last_ms, now - begin);
}

/* Ends a window with a share, tells the module, and keeps its curve for others to read. */
static bool tell(struct prober *p, struct suspect *s, int permille, u64 since_ms)
{
	int expected = cold_foresee(permille, s->permille);

	s->permille = permille;
	if (expected < 0)
		return true;
	cold_add(&s->curve, since_ms, permille);
	cold_keep(s->pid, s->last_ms, &s->curve);
	return send_facts(p, s, expected, NULL);
}

/*
 * Looks at the end of a window, and begins the next one. A window in which seepage where read
 * the memory has no result, and one of half the length follows: reads may come again and again.
 */
static void look(struct prober *p, struct suspect *s)
{
	u64 begin = clock_ms(), now, since, cost, clear_ms;
	struct cold_look new;
	int err = cold_look(s->dir, &new, &clear_ms), permille;
	bool read, gone = false;

	if (err) {
		cannot_look(p, s, err);
		return;
	}
	now = clock_ms();
	cost = now - begin;
	since = now - s->last_ms;
	read = s->looked && cold_was_read(s->pid, s->last_ms);
	s->end_ms = clear_ms > COLD_STALL_MS ? NEVER :
		    cold_next(read ? now - since / 2 : s->first_ms, now, cost);
	s->next_ms = s->end_ms;
	s->last_ms = now;
	if (!s->looked) {
		s->first = new;
		s->first_ms = now;
		s->looked = true;
		return;
	}
	permille = read ? -1 : share(s, &new);
	cold_free(&s->before);
	s->before = new;
	if (read)
		s->permille = -1;	/* cold_foresee() takes one of a window half as long */
	else
		gone = !tell(p, s, permille, since);
	s->curve.n = 0;
	if (gone)
		drop(p, s);
	else if (!read && s->end_ms != NEVER && s->end_ms - now >= cost * COLD_COST * COLD_POINTS)
		set_next(s, 0, cost);
}

/* ---- the schedule ---- */

/*
 * Only one of several running `seepage watch` examines suspects. The others get the
 * results from the module.
 */
static bool may_look(struct prober *p, u64 now)
{
	if (p->lock >= 0)
		return true;
	p->lock = cold_lock();
	if (p->lock != -EWOULDBLOCK)	/* taken, or it cannot be created */
		return true;
	p->list_ms = now + LOCK_MS;
	return false;
}

/* Returns the time in ms until prober_step() has something to do, -1: never. */
int prober_wait(const struct prober *p)
{
	u64 now = clock_ms(), next;
	size_t i;

	if (!p || p->off)
		return -1;
	next = p->list_ms;
	for (i = 0; i < p->n; i++) {
		if (p->s[i].state && p->s[i].next_ms < next)
			next = p->s[i].next_ms;
		if (p->s[i].state && p->s[i].cgroup_ms < next)
			next = p->s[i].cgroup_ms;
	}
	return next > now ? (int)(next - now) : 0;
}

/* Does the next thing that is due, if any. */
void prober_step(struct prober *p)
{
	u64 now = clock_ms();
	size_t i;

	if (!p || p->off)
		return;
	if (p->list_ms <= now) {
		if (!may_look(p, now))
			return;
		list_suspects(p, now);
		p->list_ms = now + (p->n ? LIST_MS : LIST_IDLE_MS);
		return;
	}
	for (i = 0; i < p->n; i++) {
		struct suspect *s = &p->s[i];

		if (!s->state)
			continue;
		if (s->cgroup_ms <= now) {
			send_cgroup_limit(p, s, now);
			return;
		}
		if (s->next_ms <= now) {
			if (s->end_ms <= now)
				look(p, s);
			else
				peek(p, s);
			return;
		}
	}
}
