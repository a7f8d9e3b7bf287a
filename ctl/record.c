// SPDX-License-Identifier: GPL-2.0
/*
 * One message of the kernel, read in place. Nothing in it is trusted to be
 * there or to have the right length; a newer module may send more.
 */
#include <string.h>
#include <netlink/genl/genl.h>
#include "ctl.h"

int rec_parse(struct rec *rec, struct nlmsghdr *nlh)
{
	u64 state;

	if (!genlmsg_valid_hdr(nlh, 0) ||
	    genlmsg_parse(nlh, 0, rec->a, SEEPAGE_A_MAX, NULL) < 0)
		return -1;
	rec->interval_ms = 0;
	rec->pmc = NULL;
	state = rec_get(rec, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
	rec->gone = state == SEEPAGE_STATE_EXITED;
	rec->past = rec->gone || state == SEEPAGE_STATE_RECOVERED;
	return 0;
}

/* An alert, whatever it says, of a process that has ended since */
void rec_is_gone(struct rec *rec)
{
	rec->gone = true;
	rec->past = true;
}

bool rec_has_evidence(const struct rec *rec)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(rec, f);

	while (n--)
		if (f[n].points > 0)
			return true;
	return false;
}

/* What its verdict is about; memory where nothing else is said */
unsigned int rec_series(const struct rec *rec)
{
	return (unsigned int)rec_get(rec, SEEPAGE_A_SERIES, SEEPAGE_SERIES_MEMORY);
}

/*
 * The newest of the @n alerts that accused the process of @alert, before it or
 * itself; pids come again, so the name has to be the same. -1: none.
 */
int rec_accusation(const struct rec *alert, const struct rec *all, size_t n)
{
	u64 seq = rec_get(alert, SEEPAGE_A_SEQ, 0), pid = rec_get(alert, SEEPAGE_A_PID, 0);
	const char *name, *other;
	size_t len = rec_string(alert, SEEPAGE_A_COMM, &name);

	while (n--) {
		const struct rec *rec = &all[n];

		if (rec_get(rec, SEEPAGE_A_SEQ, 0) > seq || !pid ||
		    rec_get(rec, SEEPAGE_A_PID, 0) != pid)
			continue;
		if (rec_get(rec, SEEPAGE_A_SEQ, 0) < seq &&
		    rec_get(rec, SEEPAGE_A_STATE, 0) == SEEPAGE_STATE_EXITED)
			break;		/* what was before is another process */
		if (state_is_alert((unsigned int)rec_get(rec, SEEPAGE_A_STATE, 0)) &&
		    rec_string(rec, SEEPAGE_A_COMM, &other) == len && other && name &&
		    !memcmp(name, other, len))
			return (int)n;
	}
	return -1;
}

bool rec_u64(const struct rec *rec, unsigned int id, u64 *v)
{
	return attr_u64(rec->a[id], v);
}

u64 rec_get(const struct rec *rec, unsigned int id, u64 otherwise)
{
	u64 v;

	return attr_u64(rec->a[id], &v) ? v : otherwise;
}

bool rec_s64(const struct rec *rec, unsigned int id, s64 *v)
{
	return attr_s64(rec->a[id], v);
}

/* Not terminated. Returns its length; NULL and 0 if there is none. */
size_t rec_string(const struct rec *rec, unsigned int id, const char **s)
{
	const struct nlattr *a = rec->a[id];

	*s = a ? nla_data(a) : NULL;
	return a ? strnlen(*s, (size_t)nla_len(a)) : 0;
}

void rec_comm(const struct rec *rec, char *buf, size_t size)
{
	const char *s;
	size_t len = rec_string(rec, SEEPAGE_A_COMM, &s);

	if (s)
		fmt_safe(buf, size, s, len);
	else
		snprintf(buf, size, "?");
}

unsigned int rec_factors(const struct rec *rec, struct factor *f)
{
	struct nlattr *nest = rec->a[SEEPAGE_A_FACTORS], *pos;
	unsigned int n = 0;
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_FACTOR_A_MAX];
		u64 id, points = 0, max = 0, against = 0;

		if (nla_type(pos) != SEEPAGE_A_FACTOR || n == REC_LIST_MAX ||
		    nla_parse_nested(a, SEEPAGE_FACTOR_A_MAX, pos, NULL) < 0 ||
		    !attr_u64(a[SEEPAGE_FACTOR_A_ID], &id))
			continue;
		attr_u64(a[SEEPAGE_FACTOR_A_POINTS], &points);
		attr_u64(a[SEEPAGE_FACTOR_A_AGAINST], &against);
		attr_u64(a[SEEPAGE_FACTOR_A_MAX_POINTS], &max);
		memset(&f[n], 0, sizeof(f[n]));
		f[n].id = (unsigned int)id;
		f[n].past = rec->past;
		f[n].series = rec_series(rec);
		f[n].points = (int)(u8)points - (int)(u8)against;
		f[n].max = (unsigned int)max;
		f[n].has_value = attr_s64(a[SEEPAGE_FACTOR_A_VALUE], &f[n].value);
		f[n].has_baseline = attr_s64(a[SEEPAGE_FACTOR_A_BASELINE], &f[n].baseline);
		n++;
	}
	return n;
}

/*
 * How long a time the epochs of each level cover. That of a level which is not
 * full yet began when the process was first seen, as that of the highest did;
 * the highest has one epoch, of the same samples as 2^d epochs d levels below.
 * The first epoch of each may be shorter than the others.
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

unsigned int rec_levels(const struct rec *rec, struct level *l)
{
	struct nlattr *nest = rec->a[SEEPAGE_A_HISTORY], *pos;
	unsigned int n = 0;
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_LEVEL_A_MAX], *minima;

		if (nla_type(pos) != SEEPAGE_A_LEVEL || n == REC_LIST_MAX ||
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

/* Of the shortest epochs; an alert says nothing of them, and has had enough. */
static unsigned int known_floors(const struct rec *rec)
{
	struct level l[REC_LIST_MAX];

	if (!rec->a[SEEPAGE_A_HISTORY])
		return LEVEL_EPOCHS;
	return rec_levels(rec, l) ? l[0].n : 0;
}

unsigned int rec_gates(const struct rec *rec, struct gate *g)
{
	struct nlattr *nest = rec->a[SEEPAGE_A_GATES], *pos;
	unsigned int n = 0, floors = known_floors(rec);
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(pos, nest, rem) {
		struct nlattr *a[__SEEPAGE_GATE_A_MAX];
		u64 id, passed = 0;

		if (nla_type(pos) != SEEPAGE_A_GATE || n == REC_LIST_MAX ||
		    nla_parse_nested(a, SEEPAGE_GATE_A_MAX, pos, NULL) < 0 ||
		    !attr_u64(a[SEEPAGE_GATE_A_ID], &id))
			continue;
		attr_u64(a[SEEPAGE_GATE_A_PASSED], &passed);
		memset(&g[n], 0, sizeof(g[n]));
		g[n].id = (unsigned int)id;
		g[n].past = rec->past;
		g[n].series = rec_series(rec);
		g[n].passed = passed;
		g[n].reached = attr_s64(a[SEEPAGE_GATE_A_VALUE], &g[n].value) &&
			     attr_s64(a[SEEPAGE_GATE_A_LIMIT], &g[n].limit);
		g[n].few = id == SEEPAGE_GATE_RISING && !g[n].reached && floors < LEVEL_EPOCHS;
		g[n].floors = floors;
		n++;
	}
	return n;
}

/* Whether it uses what it gained is part of the verdict. */
bool rec_cold_known(const struct rec *rec)
{
	struct gate g[REC_LIST_MAX];
	unsigned int n = rec_gates(rec, g);

	while (n--)
		if (g[n].id == SEEPAGE_GATE_COLD)
			return true;
	return false;
}
