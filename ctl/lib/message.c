// SPDX-License-Identifier: GPL-2.0
/*
 * One message from the kernel, read in place. Any attribute may be missing or have
 * a wrong length, and a newer module may send more attributes.
 */
#include <string.h>
#include <netlink/genl/genl.h>
#include "ctl.h"

/* Returns 0, or -1 if @nlh is no generic netlink message. @msg points into @nlh. */
int msg_parse(struct message *msg, struct nlmsghdr *nlh)
{
	u64 state;

	if (!genlmsg_valid_hdr(nlh, 0) ||
	    genlmsg_parse(nlh, 0, msg->a, SEEPAGE_A_MAX, NULL) < 0)
		return -1;
	msg->interval_ms = 0;
	msg->pmc = NULL;
	msg->user = NULL;
	msg->unit = NULL;
	msg->note = NULL;
	state = msg_state(msg);
	msg->gone = state == SEEPAGE_STATE_EXITED;
	msg->past = msg->gone || state == SEEPAGE_STATE_RECOVERED;
	return 0;
}

/* Marks @msg, an alert in any state, as one of a process that has exited since. */
void msg_is_gone(struct message *msg)
{
	msg->gone = true;
	msg->past = true;
}

/*
 * Is @alert about the process @now, which has its pid? A process that is younger than the alert
 * says has reused the pid. A second is lost where ages are rounded.
 */
bool msg_same_process(const struct message *now, const struct message *alert)
{
	return msg_state(alert) != SEEPAGE_STATE_EXITED && msg_age(now) + 1 >= msg_age(alert);
}

/* Does any factor have points for a leak? */
bool msg_has_factors(const struct message *msg)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f);

	while (n--)
		if (f[n].points > 0)
			return true;
	return false;
}

/* Returns enum seepage_subject of the verdict, MEMORY if the message has none. */
unsigned int msg_subject(const struct message *msg)
{
	return (unsigned int)msg_get(msg, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_MEMORY);
}

/*
 * Finds the alert that explains @alert: the newest one in an alert state for the
 * same process, up to and including @alert. Pids are reused, so comm must be equal
 * too. Returns its index in @all, or -1.
 */
int msg_accusation(const struct message *alert, const struct message *all, size_t n)
{
	u64 seq = msg_seq(alert), pid = msg_pid(alert);
	const char *name, *other;
	size_t len = msg_string(alert, SEEPAGE_A_COMM, &name);

	while (n--) {
		const struct message *msg = &all[n];

		if (msg_seq(msg) > seq || !pid || msg_pid(msg) != pid)
			continue;
		if (msg_seq(msg) < seq && msg_state(msg) == SEEPAGE_STATE_EXITED)
			break;		/* older alerts are of another process */
		if (state_is_alert((unsigned int)msg_state(msg)) &&
		    msg_string(msg, SEEPAGE_A_COMM, &other) == len && other && name &&
		    !memcmp(name, other, len))
			return (int)n;
	}
	return -1;
}

bool msg_u64(const struct message *msg, unsigned int id, u64 *v)
{
	return attr_u64(msg->a[id], v);
}

u64 msg_get(const struct message *msg, unsigned int id, u64 otherwise)
{
	u64 v;

	return attr_u64(msg->a[id], &v) ? v : otherwise;
}

/* What most messages are asked for; 0 without the attribute */
u64 msg_pid(const struct message *msg)
{
	return msg_get(msg, SEEPAGE_A_PID, 0);
}

u64 msg_seq(const struct message *msg)
{
	return msg_get(msg, SEEPAGE_A_SEQ, 0);
}

u64 msg_state(const struct message *msg)
{
	return msg_get(msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
}

u64 msg_age(const struct message *msg)
{
	return msg_get(msg, SEEPAGE_A_AGE_SECONDS, 0);
}

/* Writes an attribute as text into @buf of TEXT_MAX bytes. */
void msg_text(const struct message *msg, unsigned int id, char *buf)
{
	attr_text(id, msg->a[id], false, buf, TEXT_MAX);
}

bool msg_s64(const struct message *msg, unsigned int id, s64 *v)
{
	return attr_s64(msg->a[id], v);
}

/*
 * Sets @s to the string, which no NUL byte terminates, and returns its length.
 * Without the attribute @s is NULL and the length 0.
 */
size_t msg_string(const struct message *msg, unsigned int id, const char **s)
{
	const struct nlattr *a = msg->a[id];

	*s = a ? nla_data(a) : NULL;
	return a ? strnlen(*s, (size_t)nla_len(a)) : 0;
}

void msg_comm(const struct message *msg, char *buf, size_t size)
{
	const char *s;
	size_t len = msg_string(msg, SEEPAGE_A_COMM, &s);

	if (s)
		fmt_safe(buf, size, s, len);
	else
		snprintf(buf, size, "?");
}

/* Returns the number of known floors, LEVEL_EPOCHS unless they are too few to know a growth. */
static unsigned int known_floors(const struct message *msg)
{
	return (unsigned int)msg_get(msg, SEEPAGE_A_FLOORS, LEVEL_EPOCHS);
}

/* Reads the factors into @f, an array of MSG_LIST_MAX. Returns their number. */
unsigned int msg_factors(const struct message *msg, struct factor *f)
{
	struct nlattr *nest = msg->a[SEEPAGE_A_FACTORS], *pos;
	unsigned int n = 0, floors = known_floors(msg);
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_FACTOR_A_MAX];
		u64 id, points = 0, max = 0, against = 0;

		if (nla_type(pos) != SEEPAGE_A_FACTOR || n == MSG_LIST_MAX ||
		    nla_parse_nested(a, SEEPAGE_FACTOR_A_MAX, pos, NULL) < 0 ||
		    !attr_u64(a[SEEPAGE_FACTOR_A_ID], &id))
			continue;
		attr_u64(a[SEEPAGE_FACTOR_A_POINTS], &points);
		attr_u64(a[SEEPAGE_FACTOR_A_AGAINST], &against);
		attr_u64(a[SEEPAGE_FACTOR_A_MAX_POINTS], &max);
		memset(&f[n], 0, sizeof(f[n]));
		f[n].id = (unsigned int)id;
		f[n].past = msg->past;
		f[n].subject = msg_subject(msg);
		f[n].points = (int)(u8)points - (int)(u8)against;
		f[n].max = (unsigned int)max;
		f[n].has_value = attr_s64(a[SEEPAGE_FACTOR_A_VALUE], &f[n].value);
		f[n].few = id - SEEPAGE_FACTOR_FLOOR <= SEEPAGE_FACTOR_RETAIN -
			   SEEPAGE_FACTOR_FLOOR && floors < LEVEL_EPOCHS;
		f[n].floors = floors;
		f[n].has_baseline = attr_s64(a[SEEPAGE_FACTOR_A_BASELINE], &f[n].baseline);
		n++;
	}
	return n;
}

/*
 * Computes the time that the epochs of each level cover.
 *
 * An epoch of one level has the samples of two epochs of the level below, so the
 * one epoch of the highest level has those of 2^d epochs d levels below. A level
 * that is not full yet began with the first sample of the process, as the highest
 * level did. Its first 2^d epochs therefore cover what the highest epoch covers.
 * That may be less than 2^d * epoch_ms, because the first epoch may be shorter.
 */
static void measure_levels(struct level *l, unsigned int n)
{
	const struct level *top = n ? &l[n - 1] : NULL;
	unsigned int i;

	for (i = 0; i < n; i++) {
		unsigned int d = n - 1 - i;

		l[i].covers_ms = l[i].n * l[i].epoch_ms;
		if (top->n == 1 && l[i].n < LEVEL_EPOCHS && l[i].n >= 1U << d)
			l[i].covers_ms = top->epoch_ms + (l[i].n - (1U << d)) * l[i].epoch_ms;
	}
}

/* Reads the history into @l, an array of MSG_LIST_MAX. Returns the number of levels. */
unsigned int msg_levels(const struct message *msg, struct level *l)
{
	struct nlattr *nest = msg->a[SEEPAGE_A_HISTORY], *pos;
	unsigned int n = 0;
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_LEVEL_A_MAX], *minima;

		if (nla_type(pos) != SEEPAGE_A_LEVEL || n == MSG_LIST_MAX ||
		    nla_parse_nested(a, SEEPAGE_LEVEL_A_MAX, pos, NULL) < 0)
			continue;
		memset(&l[n], 0, sizeof(l[n]));
		minima = a[SEEPAGE_LEVEL_A_MINIMA];
		if (!attr_u64(a[SEEPAGE_LEVEL_A_EPOCH_MS], &l[n].epoch_ms) || !minima)
			continue;
		l[n].has_age = attr_u64(a[SEEPAGE_LEVEL_A_AGE_MS], &l[n].age_ms);
		l[n].n = (unsigned int)nla_len(minima) / sizeof(*l[n].minima);
		if (l[n].n > MINIMA_MAX)
			l[n].n = MINIMA_MAX;
		memcpy(l[n].minima, nla_data(minima), l[n].n * sizeof(*l[n].minima));
		n++;
	}
	measure_levels(l, n);
	return n;
}

/* Reads the gates into @g, an array of MSG_LIST_MAX. Returns their number. */
unsigned int msg_gates(const struct message *msg, struct gate *g)
{
	struct nlattr *nest = msg->a[SEEPAGE_A_GATES], *pos;
	unsigned int n = 0, floors = known_floors(msg);
	bool stands = state_is_alert((unsigned int)msg_state(msg));
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_GATE_A_MAX];
		u64 id, passed = 0;

		if (nla_type(pos) != SEEPAGE_A_GATE || n == MSG_LIST_MAX ||
		    nla_parse_nested(a, SEEPAGE_GATE_A_MAX, pos, NULL) < 0 ||
		    !attr_u64(a[SEEPAGE_GATE_A_ID], &id))
			continue;
		attr_u64(a[SEEPAGE_GATE_A_PASSED], &passed);
		memset(&g[n], 0, sizeof(g[n]));
		g[n].id = (unsigned int)id;
		g[n].past = msg->past;
		g[n].subject = msg_subject(msg);
		g[n].passed = passed;
		g[n].reached = attr_s64(a[SEEPAGE_GATE_A_VALUE], &g[n].value) &&
			     attr_s64(a[SEEPAGE_GATE_A_LIMIT], &g[n].limit);
		g[n].few = id == SEEPAGE_GATE_RISING && !g[n].reached && floors < LEVEL_EPOCHS;
		g[n].floors = floors;
		g[n].stands = stands;
		n++;
	}
	return n;
}

/* Does the verdict take into account whether the gained memory is used? */
bool msg_cold_known(const struct message *msg)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g);

	while (n--)
		if (g[n].id == SEEPAGE_GATE_COLD)
			return true;
	return false;
}
