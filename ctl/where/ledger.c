// SPDX-License-Identifier: GPL-2.0
/*
 * What the looks that are kept cost, all of them on this machine, and the limit. Pure code: it
 * opens no file and reads no clock.
 */
#include <string.h>
#include "where/keep.h"

#define HOUR_NS		(3600ULL * 1000000000)

static const struct {
	const char *name;
	size_t at;
} members[] = {
	{ "looks", offsetof(struct ledger, looks) },
	{ "bursts", offsetof(struct ledger, bursts) },
	{ "left_out", offsetof(struct ledger, left_out) },
	{ "cpu_ns", offsetof(struct ledger, cpu_ns) },
	{ "since_ns", offsetof(struct ledger, since_ns) },
	{ "hour_ns", offsetof(struct ledger, hour_ns) },
	{ "hour_cpu_ns", offsetof(struct ledger, hour_cpu_ns) },
	{ "limit_permille", offsetof(struct ledger, limit_permille) },
	{ "charged_ns", offsetof(struct ledger, charged_ns) },
	{ "charged_pid", offsetof(struct ledger, charged_pid) },
};

static u64 *at(struct ledger *l, size_t member)
{
	return (u64 *)((char *)l + members[member].at);
}

/*
 * Fills @l from the file, NULL if there is none. @now: of CLOCK_MONOTONIC. A ledger that was
 * begun later than now is of an earlier boot, and counts for nothing.
 */
void ledger_read(struct ledger *l, struct json_object *o, u64 now)
{
	struct json_object *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++)
		*at(l, i) = o && json_object_object_get_ex(o, members[i].name, &v) ?
			    json_object_get_uint64(v) : 0;
	if (!o || l->since_ns > now || l->hour_ns > now || l->since_ns > l->hour_ns)
		*l = (struct ledger){ .since_ns = now, .hour_ns = now };
}

/* The caller puts what is returned. */
struct json_object *ledger_json(const struct ledger *l)
{
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++)
		json_object_object_add(o, members[i].name,
				       json_object_new_uint64(*at((struct ledger *)l, i)));
	return o;
}

/*
 * May a look that is expected to take @cost_ns of CPU time be taken? An hour begins with the
 * first look after the last one. Worked example: the limit is 5 permille, so that an hour has 18 s.
 * After looks of 10 s in all, one of 8 s may follow, and one of 9 s may not.
 */
bool ledger_allows(struct ledger *l, u64 now, u64 cost_ns)
{
	u64 limit = HOUR_NS / 1000 * l->limit_permille;

	if (now - l->hour_ns >= HOUR_NS) {
		l->hour_ns = now;
		l->hour_cpu_ns = 0;
		l->charged_ns = 0;
	}
	if (cost_ns <= limit && l->hour_cpu_ns <= limit - cost_ns)
		return true;
	l->left_out++;
	return false;
}

void ledger_add(struct ledger *l, u64 cpu_ns)
{
	l->cpu_ns += cpu_ns;
	l->hour_cpu_ns += cpu_ns;
}

/* Charges the look that program @pid begins with the most that it may take. */
void ledger_charge(struct ledger *l, u64 pid, u64 most_ns)
{
	l->charged_pid = pid;
	l->charged_ns = most_ns;
	l->hour_cpu_ns += most_ns;
}

/*
 * Charges what the look of program @pid took, which was killed. Returns false if the last look that
 * was charged is another one.
 */
bool ledger_settle(struct ledger *l, u64 pid, u64 cpu_ns)
{
	if (!l->charged_pid || l->charged_pid != pid)
		return false;
	l->hour_cpu_ns -= l->charged_ns < l->hour_cpu_ns ? l->charged_ns : l->hour_cpu_ns;
	l->charged_ns = 0;
	l->charged_pid = 0;
	ledger_add(l, cpu_ns);
	return true;
}
