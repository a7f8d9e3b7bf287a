// SPDX-License-Identifier: GPL-2.0
/*
 * In place of ctl/top/feed.c: processes from the file $TOP_FIXTURE, which is read at each
 * refresh. A line is "PID STATE CONFIDENCE RSS_MB GROWTH_MB UID COMM UNIT"; UNIT "-" is none.
 * Without the file the module is not loaded. Each refresh adds a byte to $TOP_FIXTURE.count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/msg.h"
#include "top/top.h"

#define MOST	4096
#define MB	(1ULL << 20)

static struct {
	struct nl_msg *raw;
	char unit[TEXT_MAX];
} process[MOST];

static void count(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.count", name);
	f = fopen(path, "a");
	if (f) {
		fputc('.', f);
		fclose(f);
	}
}

static void drop(struct top_data *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		nlmsg_free(process[i].raw);
	free(d->msg);
	d->msg = NULL;
	d->n = 0;
	d->has_one = false;
	memset(d->states, 0, sizeof(d->states));
}

static void add_floors(struct nl_msg *raw, u64 rss)
{
	struct nlattr *nest = nla_nest_start(raw, SEEPAGE_A_HISTORY);
	u64 minima[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		minima[i] = rss / 8 * (i + 1);
	put_level(raw, 10000, minima, 8);
	put_level(raw, 20000, minima, 8);
	put_level(raw, 40000, minima, 5);
	nla_nest_end(raw, nest);
	nest = nla_nest_start(raw, SEEPAGE_A_GATES);
	put_gate(raw, SEEPAGE_GATE_RISING, 1, true, 8, 8);
	nla_nest_end(raw, nest);
	nest = nla_nest_start(raw, SEEPAGE_A_FACTORS);
	put_factor(raw, SEEPAGE_FACTOR_FLOOR, 30, 30, (s64)rss / 2, (s64)rss / 2);
	put_factor(raw, SEEPAGE_FACTOR_PERSIST, 20, 20, 3600, 600);
	nla_nest_end(raw, nest);
}

/* A path stands for the unit of that cgroup, as owner_fill() would have it. */
static void name_unit(char *unit)
{
	char cgroup[TEXT_MAX];

	if (*unit != '/')
		return;
	snprintf(cgroup, sizeof(cgroup), "%s", unit);
	unit_show(cgroup, unit, TEXT_MAX);
	if (owner_container)
		owner_container(cgroup, unit);
}

static void add(struct top_data *d, const char *line)
{
	char state[32], comm[32];
	unsigned int pid, confidence, rss, uid;
	struct nl_msg *raw;
	int growth;

	if (sscanf(line, "%u %31s %u %u %d %u %31s %255s", &pid, state, &confidence, &rss, &growth,
		   &uid, comm, process[d->n].unit) != 8)
		return;
	name_unit(process[d->n].unit);
	raw = msg_new();
	process[d->n].raw = raw;
	nla_put_u32(raw, SEEPAGE_A_PID, pid);
	nla_put_string(raw, SEEPAGE_A_COMM, comm);
	nla_put_u32(raw, SEEPAGE_A_UID, uid);
	nla_put_u8(raw, SEEPAGE_A_STATE, (u8)state_from_name(state, strlen(state)));
	nla_put_u8(raw, SEEPAGE_A_CONFIDENCE, (u8)confidence);
	nla_put_u64(raw, SEEPAGE_A_RSS_BYTES, rss * MB);
	nla_put_u64(raw, SEEPAGE_A_AGE_SECONDS, 60 * pid);
	put_s64(raw, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, (s64)growth * (s64)MB);
	if (growth > 0)
		nla_put_u64(raw, SEEPAGE_A_TTE_SECONDS, 36000000U / (u32)growth);
	if (confidence)
		add_floors(raw, rss * MB);
	msg_parse(&d->msg[d->n], nlmsg_hdr(raw));
	if (strcmp(process[d->n].unit, "-"))
		d->msg[d->n].unit = process[d->n].unit;
	d->states[msg_get(&d->msg[d->n], SEEPAGE_A_STATE, 0)]++;
	d->n++;
}

void feed_read_one(struct top_feed *f, struct top_data *d, const struct top_view *v)
{
	d->has_one = v->page != PAGE_NONE && v->pid && v->cursor < v->n_lines;
	if (d->has_one)
		d->one = *v->line[v->cursor].msg;
}

void feed_read(struct top_feed *f, struct top_data *d, struct top_view *v)
{
	const char *name = getenv("TOP_FIXTURE");
	FILE *file = fopen(name, "r");
	char line[256];
	size_t i;

	drop(d);
	d->err = file ? 0 : ENOENT;
	d->real_ns = 1700000000ULL * 1000000000;
	snprintf(d->why, sizeof(d->why), "module not loaded (modprobe seepage); waiting for it");
	d->msg = calloc(MOST, sizeof(*d->msg));
	while (file && d->n < MOST && fgets(line, sizeof(line), file))
		add(d, line);
	if (file)
		fclose(file);
	quiet_mark(d);
	view_make(v, d->msg, d->n);
	feed_read_one(f, d, v);
	for (i = 0; i < d->n; i++)
		floors_put(&d->floors, (u32)msg_get(&d->msg[i], SEEPAGE_A_PID, 0), &d->msg[i], 1);
	count(name);
}

void feed_close(struct top_feed *f, struct top_data *d)
{
	drop(d);
	floors_forget(&d->floors, UINT64_MAX);
}
