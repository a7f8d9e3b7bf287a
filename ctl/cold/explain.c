// SPDX-License-Identifier: GPL-2.0
/*
 * explain --cold: looks at one process, and the unused memory of each mapping; the limit of its
 * cgroups that leaves least.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cold/cold.h"

#define SHOWN		12	/* mappings in the table */
#define WAIT_MS		3000	/* most to wait for a sample that uses the result */
#define FRESH_S		3600	/* a result of watch younger than this is not replaced */

struct cold_report {
	u64 window_ms;
	struct cold_look look;		/* sorted by unused memory, most first */
	u64 size, unused;
	s64 grown;			/* growth seen by the kernel in bytes; 0: unknown */
	int permille;			/* unused share of the growth; -1: unknown */
	u64 known_age_s;		/* age of the result that the kernel has */
	bool known;			/* the kernel has a result for this growth */
	bool handed;			/* the result was sent to the kernel */
	int refused;			/* errno of sending it; 0: not refused */
	struct {
		u64 ms, unused;
	} at[COLD_POINTS];		/* looks since the bits were cleared */
	unsigned int looks;
	struct cold_curve curve;	/* the same for the growth; empty: unknown */
	unsigned int floors;		/* known ones, if too few for a growth; else LEVEL_EPOCHS */
	bool alone;			/* no watch looked at the process at the same time */
	struct cgroup_memory cgroup;	/* limit 0: none */
	char limit[CGROUP_LIMIT_NAME];	/* the file of it and the cgroup */
};

static int by_unused(const void *a, const void *b)
{
	const struct cold_map *x = a, *y = b;
	u64 u = cold_unused(x), v = cold_unused(y);

	if (u == v) {
		u = x->size;
		v = y->size;
	}
	return u > v ? -1 : u < v;
}

/* Reads from the verdict how much the process gained since its growth began. */
static void growth_of(struct cold_report *r, const struct message *msg)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;

	for (i = 0; i < n; i++) {
		if (f[i].id != SEEPAGE_FACTOR_FLOOR || !f[i].has_value)
			continue;
		r->grown = f[i].value;
		if (f[i].few)
			r->floors = f[i].floors;
	}
	if (msg_get(msg, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_MAX) != SEEPAGE_SUBJECT_MEMORY)
		r->grown = 0;
	/* the kernel ignores a result that is older than the growth */
	r->known = msg_cold_known(msg) &&
		   msg_u64(msg, SEEPAGE_A_COLD_AGE_SECONDS, &r->known_age_s);
}

/* The unused shares of the growth: unused memory is taken for new, up to the growth. */
static void share_of_growth(struct cold_report *r)
{
	struct cold_sum sum = { .grown = (u64)r->grown };
	unsigned int i;

	for (i = 0; r->grown > 0 && i < r->looks; i++) {
		sum.unused = r->at[i].unused < sum.grown ? r->at[i].unused : sum.grown;
		r->permille = cold_permille(&sum);
		if (r->permille >= 0)
			cold_add(&r->curve, r->at[i].ms, r->permille);
	}
}

/*
 * Sends the result to the kernel and waits for the next sample to use it. A recent
 * result of watch is kept instead: it covers a longer time and compares the growth of
 * each mapping.
 */
static void hand_on(struct cold_report *r, struct knl *k, u32 pid)
{
	struct nlmsghdr *nlh;
	struct message msg;
	u64 begin = clock_ms();
	bool taken;

	share_of_growth(r);
	if (r->permille < 0 || (r->known && r->known_age_s < FRESH_S))
		return;
	if (query_facts(k, pid, r->permille, NULL) < 0) {
		r->refused = k->err;
		return;
	}
	r->handed = true;
	while (clock_ms() - begin < WAIT_MS) {
		if (query_process(k, pid, &nlh) < 0)
			return;
		taken = !msg_parse(&msg, nlh) && msg_cold_known(&msg);
		free(nlh);
		if (taken)
			return;
		usleep(200000);
	}
}

/* Sums up a look, @ms after the bits were cleared. */
static void add_look(struct cold_report *r, const struct cold_look *look, u64 ms)
{
	size_t i;

	r->size = 0;
	r->unused = 0;
	for (i = 0; i < look->n; i++) {
		r->size += look->v[i].size;
		r->unused += cold_unused(&look->v[i]);
	}
	if (r->looks == COLD_POINTS)
		r->looks--;
	r->at[r->looks].ms = ms;
	r->at[r->looks++].unused = r->unused;
}

/* Clears the bits, looks as `watch` does, and at the end of the window. */
static int looks(struct cold_report *r, int dir, u32 pid, u64 window_s)
{
	u64 begin = clock_ms(), clear_ms, since = 0, cost, next;
	int err = cold_look(dir, &r->look, &clear_ms);

	cost = clock_ms() - begin;
	begin = clock_ms();
	while (!err && since < window_s * 1000) {
		cold_free(&r->look);
		next = cold_peek(since, cost);
		if (next > window_s * 1000)
			next = window_s * 1000;
		since = clock_ms() - begin;
		if (next > since)
			poll(NULL, 0, (int)(next - since));
		since = clock_ms() - begin;
		err = cold_look(dir, &r->look, NULL);
		cost = clock_ms() - begin - since;
		if (!err)
			add_look(r, &r->look, since);
	}
	r->window_ms = since;
	return !err && cold_was_read(pid, begin) ? -EAGAIN : err;
}

static void report_free(struct cold_report *r)
{
	if (r)
		cold_free(&r->look);
	free(r);
}

/*
 * Looks at process @pid for @window_s. Returns 0 and sets *@report, which
 * report_free() frees, or returns an exit status after printing an error.
 */
static int report_make(struct ctx *ctx, struct knl *k, u32 pid, u64 window_s,
		       struct cold_report **report)
{
	struct cold_report *r;
	struct nlmsghdr *nlh;
	struct message msg;
	int dir = procfs_open(pid, 0), lock, err;

	*report = NULL;
	if (dir < 0)
		return fail(ctx, "pid %u: %s", pid, strerror(errno == ENOENT ? ESRCH : errno));
	r = must(calloc(1, sizeof(*r)));
	r->permille = -1;
	r->floors = LEVEL_EPOCHS;
	lock = cold_lock();
	r->alone = lock != -EWOULDBLOCK;
	err = looks(r, dir, pid, window_s);
	if (lock >= 0)
		close(lock);
	cgroup_limit(dir, &r->cgroup, r->limit);
	close(dir);
	if (err) {
		report_free(r);
		return fail(ctx, "pid %u: cannot measure which memory it uses: %s", pid,
			    cold_error(err));
	}
	if (r->look.n)
		qsort(r->look.v, r->look.n, sizeof(*r->look.v), by_unused);
	if (query_process(k, pid, &nlh) >= 0) {
		if (!msg_parse(&msg, nlh))
			growth_of(r, &msg);
		free(nlh);
		hand_on(r, k, pid);
	}
	*report = r;
	return 0;
}

static void print_table(const struct cold_report *r)
{
	static const char *const heads[] = { "ADDRESSES", "NAME", "SIZE", "USED", "UNUSED" };
	static const bool right[] = { false, false, true, true, true };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	char text[64];
	size_t i;

	for (i = 0; i < r->look.n && i < SHOWN; i++) {
		const struct cold_map *m = &r->look.v[i];

		snprintf(text, sizeof(text), "%llx-%llx", m->start, m->end);
		table_cell(t, text);
		fmt_safe(text, sizeof(text), m->name, strlen(m->name));
		table_cell(t, *text ? text : "-");
		table_cell(t, fmt_bytes_short(text, sizeof(text), m->size));
		table_cell(t, fmt_bytes_short(text, sizeof(text), m->used));
		table_cell(t, fmt_bytes_short(text, sizeof(text), cold_unused(m)));
	}
	table_print(t, "  ");
	table_free(t);
	if (r->look.n > SHOWN)
		out_printf("  and %zu smaller ones\n", r->look.n - SHOWN);
}

/* The path of the cgroup in the name of the limit, and the length of the file before it. */
static const char *limit_path(const struct cold_report *r, int *file)
{
	const char *path = strchr(r->limit, ' ');

	*file = (int)(path - r->limit);
	return path[1] ? path + 1 : "/";
}

static bool is_high(const struct cold_report *r)
{
	return !strncmp(r->limit, "memory.high ", strlen("memory.high "));
}

static void print_limit(const struct cold_report *r)
{
	char text[CGROUP_LIMIT_NAME], left[FIGURE_MAX];
	const char *path;
	int file;

	if (!r->cgroup.limit)
		return;
	path = limit_path(r, &file);
	out_printf("Of the limits of its cgroups %.*s of %s leaves least, %s.%s\n", file, r->limit,
		   fmt_safe(text, sizeof(text), path, strlen(path)),
		   fmt_bytes(left, sizeof(left), r->cgroup.limit - r->cgroup.used),
		   is_high(r) ? " Beyond it the kernel slows the processes of that cgroup down, "
				"and kills none; systemd sets it by MemoryHigh=." : "");
}

static struct json_object *limit_json(const struct cold_report *r)
{
	struct json_object *o;
	const char *path;
	int file;

	if (!r->cgroup.limit)
		return NULL;
	path = limit_path(r, &file);
	o = json_object_new_object();
	json_object_object_add(o, "file", json_text(r->limit, (size_t)file));
	json_object_object_add(o, "cgroup", json_text(path, strlen(path)));
	json_object_object_add(o, "left_bytes",
			       json_object_new_uint64(r->cgroup.limit - r->cgroup.used));
	return o;
}

static void report_print(const struct cold_report *r)
{
	bool barred = r->refused == EPERM || r->refused == EACCES;
	char window[32], size[32], unused[32], grown[32], curve[TEXT_MAX];

	fmt_ms(window, sizeof(window), r->window_ms);
	out_printf("In %s it used %s of %s of its own memory and did not use %s:\n", window,
		   fmt_bytes(grown, sizeof(grown), r->size - r->unused),
		   fmt_bytes(size, sizeof(size), r->size),
		   fmt_bytes(unused, sizeof(unused), r->unused));
	print_table(r);
	if (!r->alone)
		out_line("A running watch measures the same memory: both results may be wrong.");
	if (r->permille < 0 && r->floors < LEVEL_EPOCHS)
		out_printf("Whether it grows is not known yet, after %u of %u floors: nor whether "
			   "the growth is used.\n", r->floors, LEVEL_EPOCHS);
	else if (r->permille < 0)
		out_line("The module has not seen it grow by 4 MB, too little to judge whether "
			 "the growth is used.");
	else
		out_printf("Of the %s it grew by, %d.%d %% may be unused; the module %s%s.\n",
			   fmt_bytes(grown, sizeof(grown), (u64)r->grown), r->permille / 10,
			   r->permille % 10, r->handed ? "was sent" :
			   !r->refused ? "knows it from a watch, which looked longer" :
			   "was not sent: ", r->handed || !r->refused ? "" :
			   barred ? "that needs " NEEDS_ADMIN : strerror(r->refused));
	if (r->curve.n) {
		cold_curve_text(&r->curve, curve, sizeof(curve));
		out_printf("Not used: %s. %s\n", curve, cold_rate_text(&r->curve));
	}
	print_limit(r);
	out_line("");
}

static struct json_object *report_json(const struct cold_report *r)
{
	struct json_object *o, *list;
	size_t i;

	if (!r)
		return NULL;
	o = json_object_new_object();
	list = json_object_new_array();
	json_object_object_add(o, "window_ms", json_object_new_uint64(r->window_ms));
	json_object_object_add(o, "size_bytes", json_object_new_uint64(r->size));
	json_object_object_add(o, "unused_bytes", json_object_new_uint64(r->unused));
	json_object_object_add(o, "grown_bytes", r->grown > 0 ? json_object_new_int64(r->grown) :
								NULL);
	json_object_object_add(o, "cold_permille", r->permille < 0 ? NULL :
			       json_object_new_int64(r->permille));
	json_object_object_add(o, "use", r->curve.n ? cold_curve_json(&r->curve) : NULL);
	json_object_object_add(o, "sent", json_object_new_boolean(r->handed));
	json_object_object_add(o, "cgroup_limit", limit_json(r));
	for (i = 0; i < r->look.n; i++) {
		const struct cold_map *m = &r->look.v[i];
		struct json_object *e = json_object_new_object();
		char text[64];

		snprintf(text, sizeof(text), "%llx-%llx", m->start, m->end);
		json_object_object_add(e, "addresses", json_object_new_string(text));
		json_object_object_add(e, "name", json_text(m->name, strlen(m->name)));
		json_object_object_add(e, "size_bytes", json_object_new_uint64(m->size));
		json_object_object_add(e, "unused_bytes", json_object_new_uint64(cold_unused(m)));
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "mappings", list);
	return o;
}

/**
 * cold_explain() - look at which memory a process uses, then explain the verdict on it
 * @word: its pid
 * @window_s: how long to look, s; 0: 10 s
 *
 * Return: an exit status, after printing an error if it is not 0.
 */
int cold_explain(struct ctx *ctx, const char *word, u64 window_s)
{
	struct explain_look look = {
		.make = report_make, .print = report_print, .json = report_json,
		.free = report_free, .window_s = window_s ? window_s : 10,
	};
	u32 pid;

	if (parse_pid(ctx, word, &pid))
		return EXIT_USAGE;
	ctx->cmd = "explain";	/* in messages: most people call it by that name */
	return explain_process(ctx, word, &look);
}
