// SPDX-License-Identifier: GPL-2.0
/*
 * Compares two files of stat --record: is the candidate worse than the base? Each
 * line of a file is one repeat of the same measurement. A change counts if it exceeds
 * its limit and also the spread of the repeats, which is twice the standard error of
 * the difference of the two means.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "stat/stat.h"

#define REPEATS_MAX	10000
#define LINE_MAX_BYTES	(64 << 10)
#define KILLED		256		/* status of a command that a signal ended */
/* Tolerance: a change of exactly the limit is not above it because of rounding. */
#define A_HAIR		1.000000001

enum { IPC, LLC, DTLB, WALK, REMOTE, TIME, ROWS };

/* The figures to compare. A difference below @least never counts, whatever its percent. */
static const struct row {
	const char *key, *text;
	size_t at;			/* in struct seep_pmu_figures */
	double unit, least;
	bool drop;			/* less is worse */
} rows[ROWS] = {
	[IPC] = { "instructions_per_cycle", "instructions per cycle",
		  offsetof(struct seep_pmu_figures, ipc), 1e3, 0.005, true },
	[LLC] = { "llc_misses_per_1000_instructions", "LLC misses / 1000 instructions",
		  offsetof(struct seep_pmu_figures, llc_mpmi), 1e3, 0.05, false },
	[DTLB] = { "dtlb_misses_per_1000_instructions", "dTLB misses / 1000 instructions",
		   offsetof(struct seep_pmu_figures, dtlb_mpmi), 1e3, 0.05, false },
	[WALK] = { "page_walk_percent", "% of cycles in page walks",
		   offsetof(struct seep_pmu_figures, walk_share), 1e4, 0.5, false },
	[REMOTE] = { "remote_percent", "% of node loads remote",
		     offsetof(struct seep_pmu_figures, remote_share), 1e4, 1, false },
	[TIME] = { "elapsed_seconds", "seconds (of a command)", 0, 1e9, 0.01, false },
};

/* One figure of one file, over the repeats that have it */
struct figure {
	unsigned int n;
	double sum, squares, least, most;
};

struct file {
	const char *name;
	unsigned int repeats;
	bool command;			/* the repeats are runs of a command */
	u64 status;			/* exit status, which is the same for all repeats */
	struct figure of[ROWS];
};

static void take(struct figure *f, double v)
{
	if (!f->n || v < f->least)
		f->least = v;
	if (!f->n || v > f->most)
		f->most = v;
	f->n++;
	f->sum += v;
	f->squares += v * v;
}

static double mean(const struct figure *f)
{
	return f->sum / f->n;
}

/* Returns the square of the standard error of the mean. */
static double error_squared(const struct figure *f)
{
	double var = (f->squares - f->sum * mean(f)) / (f->n - 1);

	return var > 0 ? var / f->n : 0;
}

/* ---- reading ---- */

static bool whole_number(struct json_object *o, const char *key, u64 *v)
{
	struct json_object *e = json_object_object_get(o, key);

	if (!json_object_is_type(e, json_type_int) || json_object_get_int64(e) < 0)
		return false;
	*v = json_object_get_uint64(e);
	return true;
}

/* Adds one repeat to @file. Returns NULL, or what is wrong with it. */
static const char *read_repeat(struct json_object *o, struct file *file)
{
	struct seepage_pmc_value ev[__SEEP_PMU_MAX] = { 0 };
	struct json_object *pmc = json_object_object_get(o, "pmc");
	struct seep_pmu_figures f;
	u64 ns, status;
	int i;

	if (!whole_number(o, "elapsed_ns", &ns) || !ns)
		return "no elapsed_ns above 0";
	if (json_object_object_get(o, "command")) {
		if (!whole_number(o, "exit_status", &status))
			status = KILLED;
		if (file->command && status != file->status)
			return "its exit_status is not that of the runs before it";
		file->command = true;
		file->status = status;
	}
	if (!json_object_is_type(pmc, json_type_object))
		return "no object pmc";
	json_object_object_foreach(pmc, name, e) {
		struct seepage_pmc_value v;

		i = stat_event_id(name);
		if (i < 0 || !e)		/* no figure needs it, or not counted */
			continue;
		if (!json_object_is_type(e, json_type_object) ||
		    !whole_number(e, "count", &v.count) ||
		    !whole_number(e, "enabled_ns", &v.enabled_ns) ||
		    !whole_number(e, "running_ns", &v.running_ns))
			return "an event without count, enabled_ns and running_ns";
		ev[i] = v;
	}
	seep_pmu_figures(ev, ns, &f);
	for (i = 0; i < TIME; i++) {
		u64 v = *(const u64 *)((const char *)&f + rows[i].at);

		if (v != SEEP_UNKNOWN)
			take(&file->of[i], (double)v / rows[i].unit);
	}
	if (json_object_object_get(o, "command"))
		take(&file->of[TIME], (double)ns / rows[TIME].unit);
	file->repeats++;
	return NULL;
}

static int read_line(const struct ctx *ctx, struct file *file, unsigned int line,
		     const char *text, size_t len)
{
	char err[CONF_ERR_MAX] = "not an object";
	struct jsonc_bad bad;
	struct json_object *o = jsonc_parse(text, len, &bad, err, sizeof(err));
	const char *why = NULL;

	if (!o || !json_object_is_type(o, json_type_object))
		/* jsonc_parse() counts lines within this line of the file */
		why = !strncmp(err, "line 1: ", 8) ? err + 8 : err;
	else
		why = read_repeat(o, file);
	if (why)
		fail(ctx, "%s: line %u: %s", file->name, line, why);
	json_object_put(o);
	return why ? 1 : 0;
}

static int read_lines(const struct ctx *ctx, struct file *file, FILE *f)
{
	char *text = must(malloc(LINE_MAX_BYTES));
	unsigned int line = 0;
	int err = 0;

	while (!err && fgets(text, LINE_MAX_BYTES, f)) {
		size_t len = strlen(text);

		line++;
		if (len == LINE_MAX_BYTES - 1 && text[len - 1] != '\n')
			err = fail(ctx, "%s: line %u: longer than %d bytes", file->name, line,
				   LINE_MAX_BYTES);
		else if (file->repeats == REPEATS_MAX)
			err = fail(ctx, "%s: more than %d repeats", file->name, REPEATS_MAX);
		else if (text[strspn(text, " \t\r\n")])
			err = read_line(ctx, file, line, text, strcspn(text, "\r\n"));
	}
	free(text);
	if (!err && ferror(f))
		return fail(ctx, "%s: %s", file->name, strerror(errno));
	if (!err && !file->repeats)
		return fail(ctx, "%s: there is nothing in it (a file of stat --record is expected)",
			    file->name);
	return err;
}

static int read_file(const struct ctx *ctx, struct file *file)
{
	FILE *f = strcmp(file->name, "-") ? fopen(file->name, "re") : stdin;
	int err;

	if (!f)
		return fail(ctx, "%s: %s", file->name, strerror(errno));
	err = read_lines(ctx, file, f);
	if (f != stdin)
		fclose(f);
	return err;
}

/* ---- comparing ---- */

enum verdict { OK, UNKNOWN, LITTLE, SPREAD, REGRESSED };

static const char *const words[] = {
	[OK] = "ok", [UNKNOWN] = "not known", [LITTLE] = "too little to matter",
	[SPREAD] = "within the spread",
	[REGRESSED] = "REGRESSED",
};

struct change {
	enum verdict verdict;
	bool known;			/* percent is valid */
	double percent;			/* change in percent of the base */
};

static struct change compare_figures(const struct row *row, const struct figure *b,
				     const struct figure *c, u64 limit)
{
	struct change ch = { UNKNOWN, false, 0 };
	double diff, worse;

	if (!b->n || !c->n)
		return ch;
	ch.verdict = OK;
	diff = mean(c) - mean(b);
	worse = row->drop ? -diff : diff;
	ch.known = mean(b) > 0;
	if (ch.known)
		ch.percent = 100 * diff / mean(b);
	/* with a base of 0 any increase exceeds the limit; the limit itself does not count */
	if (worse <= 0 || worse * 100 <= (double)limit * mean(b) * A_HAIR)
		return ch;
	ch.verdict = worse < row->least ? LITTLE : REGRESSED;
	if (ch.verdict == LITTLE)
		return ch;
	if (b->n > 1 && c->n > 1 && diff * diff <= 4 * (error_squared(b) + error_squared(c)))
		ch.verdict = SPREAD;
	return ch;
}

static void mean_cell(struct table *t, const struct figure *f)
{
	char text[64];

	if (!f->n)
		snprintf(text, sizeof(text), "-");
	else if (f->n > 1 && mean(f) > 0)
		snprintf(text, sizeof(text), "%.3f +-%.1f%%", mean(f),
			 50 * (f->most - f->least) / mean(f));
	else
		snprintf(text, sizeof(text), "%.3f", mean(f));
	table_cell(t, text);
}

static void print_text(const struct file *b, const struct file *c, const u64 *limit,
		       const struct change *ch)
{
	static const char *const heads[] = {
		"FIGURE", "BASE", "CANDIDATE", "CHANGE", "LIMIT", "VERDICT",
	};
	static const bool right[] = { false, true, true, true, true, false };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	char text[64];
	int i;

	for (i = 0; i < ROWS; i++) {
		if (i == TIME && !b->of[i].n && !c->of[i].n)
			continue;
		table_cell(t, rows[i].text);
		mean_cell(t, &b->of[i]);
		mean_cell(t, &c->of[i]);
		snprintf(text, sizeof(text), "%+.1f%%", ch[i].percent);
		table_cell(t, ch[i].known ? text : "-");
		snprintf(text, sizeof(text), "%s%llu%%", rows[i].drop ? "-" : "+", limit[i]);
		table_cell(t, text);
		table_cell(t, words[ch[i].verdict]);
	}
	out_fold();
	table_print(t, "");
	table_free(t);
}

static struct json_object *real(bool known, double v)
{
	return known ? json_object_new_double(v) : NULL;
}

static void add_side(struct json_object *o, const char *mean_key, const char *spread_key,
		     const struct figure *f)
{
	bool spread = f->n > 1 && mean(f) > 0;

	json_object_object_add(o, mean_key, real(f->n, f->n ? mean(f) : 0));
	json_object_object_add(o, spread_key,
			       real(spread, spread ? 50 * (f->most - f->least) / mean(f) : 0));
}

static void print_json(const struct ctx *ctx, const struct file *b, const struct file *c,
		       const u64 *limit, const struct change *ch, bool regressed)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	int i;

	for (i = 0; i < ROWS; i++) {
		struct json_object *e = json_object_new_object();

		json_object_object_add(e, "figure", json_object_new_string(rows[i].key));
		add_side(e, "base", "base_spread_percent", &b->of[i]);
		add_side(e, "candidate", "candidate_spread_percent", &c->of[i]);
		json_object_object_add(e, "change_percent", real(ch[i].known, ch[i].percent));
		json_object_object_add(e, "limit_percent", json_object_new_uint64(limit[i]));
		json_object_object_add(e, "regressed", ch[i].verdict == UNKNOWN ? NULL :
				       json_object_new_boolean(ch[i].verdict == REGRESSED));
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "regressed", json_object_new_boolean(regressed));
	json_object_object_add(o, "base_repeats", json_object_new_uint64(b->repeats));
	json_object_object_add(o, "candidate_repeats", json_object_new_uint64(c->repeats));
	json_object_object_add(o, "figures", list);
	out_json(ctx, o);
}

/* Says how the runs of a command ended. */
static const char *ended(const struct file *f, char *buf, size_t size)
{
	if (f->status == KILLED)
		return "by a signal";
	snprintf(buf, size, "with status %llu", f->status);
	return buf;
}

/*
 * Returns 0, 1 after printing why the files cannot be compared, or EXIT_REGRESSED if a
 * figure has become worse.
 */
int stat_compare(const struct ctx *ctx, const char *base, const char *cand,
		 const struct stat_limits *limits)
{
	const u64 limit[ROWS] = {
		[IPC] = limits->ipc_drop, [LLC] = limits->llc, [DTLB] = limits->tlb,
		[WALK] = limits->walk, [REMOTE] = limits->remote, [TIME] = limits->time,
	};
	struct file b = { .name = base }, c = { .name = cand };
	char of_base[40], of_cand[40];
	bool known = false, regressed = false;
	struct change ch[ROWS];
	int i;

	if (read_file(ctx, &b) || read_file(ctx, &c))
		return 1;
	/* a run that fails early is not faster */
	if (b.command && c.command && b.status != c.status)
		return fail(ctx, "%s: its command ended %s, that of %s %s: not compared", cand,
			    ended(&c, of_cand, sizeof(of_cand)), base,
			    ended(&b, of_base, sizeof(of_base)));
	if (b.command && b.status)
		note(ctx, "the commands ended %s", ended(&b, of_base, sizeof(of_base)));
	for (i = 0; i < ROWS; i++) {
		ch[i] = compare_figures(&rows[i], &b.of[i], &c.of[i], limit[i]);
		known |= ch[i].verdict != UNKNOWN;
		regressed |= ch[i].verdict == REGRESSED;
	}
	if (!known)
		return fail(ctx, "%s and %s: no figure is in both", base, cand);
	if (ctx->json)
		print_json(ctx, &b, &c, limit, ch, regressed);
	else
		print_text(&b, &c, limit, ch);
	if (!ctx->json && (b.repeats < 2 || c.repeats < 2))
		note(ctx, "with one repeat the spread is unknown (use --count)");
	return regressed ? EXIT_REGRESSED : 0;
}
