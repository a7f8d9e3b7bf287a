// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "stat.h"

static u64 interval_s, count;
static bool all, csv, compare;
static const char *file;
static struct stat_limits limits = { 5, 15, 15, 15, 15, 5 };

#define PERCENT	.kind = OPT_NUMBER, .arg = "P", .max = 1000000
static const struct opt opts[] = {
	{ .name = "interval", .letter = 'i', .kind = OPT_NUMBER, .dest = &interval_s, .arg = "SEC",
	  .min = 1, .max = 86400, .help = "count for SEC seconds, again and again (1, once)" },
	{ .name = "count", .kind = OPT_NUMBER, .dest = &count, .arg = "N", .min = 1,
	  .max = 10000, .help = "so many times; execute a COMMAND so many times" },
	{ .name = "all", .kind = OPT_FLAG, .dest = &all, .help = "every process, a row each" },
	{ .name = "csv", .kind = OPT_FLAG, .dest = &csv, .help = "comma-separated values" },
	{ .name = "record", .kind = OPT_STRING, .dest = &file, .arg = "FILE",
	  .help = "write them to FILE as well, for --compare" },
	{ .name = "compare", .kind = OPT_FLAG, .dest = &compare,
	  .help = "compare the files BASE CANDIDATE: exit status 3 if it is worse" },
	{ .name = "max-ipc-drop", .dest = &limits.ipc_drop, PERCENT,
	  .help = "worse: so many percent less instructions per cycle (5)" },
	{ .name = "max-llc-increase", .dest = &limits.llc, PERCENT,
	  .help = "or so many percent more last-level misses (15)" },
	{ .name = "max-tlb-increase", .dest = &limits.tlb, PERCENT,
	  .help = "or dTLB misses (15)" },
	{ .name = "max-walk-increase", .dest = &limits.walk, PERCENT,
	  .help = "or cycles in page walks (15)" },
	{ .name = "max-remote-increase", .dest = &limits.remote, PERCENT,
	  .help = "or loads from another node (15)" },
	{ .name = "max-time-increase", .dest = &limits.time, PERCENT,
	  .help = "or seconds that a COMMAND runs (5)" },
	{ .name = NULL }
};

struct stat {
	struct ctx *ctx;
	struct knl k;
	struct pmc_list list;
	struct {			/* when that was known */
		u64 ns, enabled_ns;
		long cpus;
	} at;
	u64 share;			/* percent of the CPUs' time that was counted */
	u64 told_share;			/* 100: nothing is told, or that it is all again */
	FILE *out;			/* --record, or NULL */
	bool told;			/* something; there is something in it */
	bool lost;			/* it could not be written, told */
	int signals;
	bool head;			/* of CSV, printed */
	u32 *pids;
	size_t n;
	bool whole;			/* system: no PIDs were given */
	bool later;			/* not the first reading */
	struct stat_block *block;	/* what was read last, by rising pid */
	size_t blocks;
};

/* ---- telling ---- */

static void tell_file(struct stat *s, const struct stat_block *b)
{
	struct json_object *o;

	if (!s->out)
		return;
	/* not before: what was there is not lost to a command that there is not */
	if (!s->told && ftruncate(fileno(s->out), 0) && errno != EINVAL) {
		fail(s->ctx, "%s: %s", file, strerror(errno));
		fclose(s->out);
		s->out = NULL;
		s->lost = true;
		return;
	}
	o = stat_json(&s->list, b);
	fprintf(s->out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(s->out);
	json_object_put(o);
}

static void tell(struct stat *s, const struct stat_block *b)
{
	tell_file(s, b);
	s->told = true;
	if (s->ctx->json) {
		out_json(s->ctx, stat_json(&s->list, b));
	} else if (csv) {
		if (!s->head)
			stat_csv_head(&s->list);
		s->head = true;
		stat_csv(&s->list, b);
	} else {
		stat_text(&s->list, b);
	}
}

/* ---- reading ---- */

#define PART		90	/* percent: less is told */
#define WHOLE_AGAIN	95
#define OTHER_PART	5

static void tell_share(struct stat *s)
{
	u64 share = s->share, told = s->told_share;

	if (told == 100 ? share < PART : share < WHOLE_AGAIN &&
	    (share + OTHER_PART < told || told + OTHER_PART < share)) {
		note(s->ctx, "only %llu %% of the CPUs' time was counted: counters were held, "
		     "or CPUs were offline or lack them", share);
		s->told_share = share;
	} else if (told < 100 && share >= WHOLE_AGAIN) {
		note(s->ctx, "all of the CPUs' time is counted again");
		s->told_share = 100;
	}
}

/* The list of events, and how much of the time since it was known last they counted */
static int ask(struct stat *s)
{
	u64 set = s->list.set, enabled_ns = s->at.enabled_ns, whole, counted;
	u64 ns = s->at.ns ? clock_ns() - s->at.ns : 0;	/* no more than between the two */
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err = stat_ask(s->ctx, &s->k, &s->list);

	if (err)
		return err;
	if (s->at.ns && s->list.set != set)
		return fail(s->ctx, "the list of events has changed meanwhile");
	s->at.ns = clock_ns();
	s->at.enabled_ns = s->list.ev[0].count.enabled_ns;
	counted = s->at.enabled_ns - enabled_ns;
	whole = cpus > 0 ? ns * (u64)(cpus < s->at.cpus ? cpus : s->at.cpus) : 0;
	s->share = counted < whole ? counted / (whole / 100 + 1) : 100;
	s->at.cpus = cpus;
	tell_share(s);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct stat_block *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The most cycles first, or whatever is counted first */
static int by_use(const void *a, const void *b)
{
	const struct stat_block *x = a, *y = b;
	u64 u = seep_pmc_scale(&x->v[0]), v = seep_pmc_scale(&y->v[0]);

	if (u != v)
		return u == SEEP_UNKNOWN || (v != SEEP_UNKNOWN && u < v) ? 1 : -1;
	return by_pid(a, b);
}

static struct nl_msg *build(struct knl *k, void *arg)
{
	return knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
}

static int read_all(struct stat *s)
{
	struct msgs m = { 0 };
	struct rec *rec;
	size_t n, i;

	if (query_dump(&s->k, build, NULL, &m) < 0)
		return knl_fail(s->ctx, &s->k, NEEDS_READ);
	rec = list_records(&m, &n);
	s->block = must(calloc(n + 1, sizeof(*s->block)));
	for (i = 0; i < n; i++)
		s->blocks += stat_process(&rec[i], &s->list, &s->block[s->blocks]);
	free(rec);
	msgs_free(&m);
	return 0;
}

static int read_pid(struct stat *s, u32 pid)
{
	struct nlmsghdr *nlh;
	struct rec rec;
	int err = query_process(&s->k, pid, &nlh);

	if (err < 0 && s->later && s->k.err == ESRCH) {
		note(s->ctx, "pid %u has ended", pid);
		err = -ESRCH;
	} else if (err < 0) {
		err = knl_fail_pid(s->ctx, &s->k, pid, NEEDS_READ);
	} else if (rec_parse(&rec, nlh)) {
		err = fail(s->ctx, "the module sent something that is no message");
	} else {
		stat_process(&rec, &s->list, &s->block[s->blocks++]);
	}
	free(nlh);
	return err;
}

/* What all that is asked for has counted by now; 0, or failed, told */
static int read_now(struct stat *s)
{
	size_t i, n = s->n;
	int err;

	s->blocks = 0;
	s->block = NULL;
	if (all)
		return read_all(s);
	s->block = must(calloc(n + 1, sizeof(*s->block)));
	if (s->whole)
		stat_whole(&s->list, &s->block[s->blocks++]);
	for (i = s->n = 0; i < n; i++) {
		err = read_pid(s, s->pids[i]);
		if (!err)		/* who has ended is not asked for again */
			s->pids[s->n++] = s->pids[i];
		else if (err != -ESRCH)
			return err;
	}
	s->later = true;
	return 0;
}

/* ---- intervals ---- */

/* True when a signal ends it, or nobody reads any more */
static bool wait_until(struct stat *s, u64 end_ns)
{
	struct pollfd p = { .fd = s->signals, .events = POLLIN };
	u64 now = clock_ns();
	int ms = end_ns > now ? (int)((end_ns - now + 999999) / 1000000) : 0;

	return poll(&p, 1, ms) > 0 || out_gone();
}

/* From @before, by pid, to @b; another program has counted all of it in between. */
static void since(struct stat_block *b, const struct stat_block *before, size_t n)
{
	const struct stat_block *old = bsearch(b, before, n, sizeof(*before), by_pid);

	if (old && b->age_s >= old->age_s && b->v[0].enabled_ns >= old->v[0].enabled_ns)
		stat_minus(b, old);
}

/* Those that ran, the most busy first */
static void tell_all(struct stat *s, struct stat_block *b, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (b[i].v[0].enabled_ns)
			b[kept++] = b[i];
	qsort(b, kept, sizeof(*b), by_use);
	if (!csv && !s->ctx->json) {
		stat_all(&s->list, b, kept);
		out_line("");
		return;
	}
	for (i = 0; i < kept; i++)
		tell(s, &b[i]);
}

/* What was counted between two readings */
static void tell_interval(struct stat *s, struct stat_block *before, size_t n, u64 ns)
{
	struct stat_block *b = must(malloc((s->blocks + 1) * sizeof(*b)));
	u64 time_ns = clock_real_ns();
	size_t i;

	memcpy(b, s->block, s->blocks * sizeof(*b));
	qsort(before, n, sizeof(*before), by_pid);
	for (i = 0; i < s->blocks; i++) {
		since(&b[i], before, n);
		b[i].ns = ns;
		b[i].time_ns = time_ns;
		b[i].share = s->share;
	}
	if (all)
		tell_all(s, b, s->blocks);
	for (i = 0; !all && i < s->blocks; i++)
		tell(s, &b[i]);
	free(b);
}

static int intervals(struct stat *s)
{
	u64 seconds = interval_s ? interval_s : 1, times = count ? count : interval_s ? 0 : 1;
	u64 begin = clock_ns(), end, i;
	struct stat_block *before;
	bool stop = false;
	size_t n;
	int err = read_now(s);

	for (i = 0; !err && !stop && (!times || i < times); i++) {
		stop = wait_until(s, begin + seconds * 1000000000);
		before = s->block;
		n = s->blocks;
		err = ask(s);
		end = clock_ns();
		s->block = NULL;
		if (!err)
			err = read_now(s);
		if (!err)
			tell_interval(s, before, n, end - begin);
		begin = end;
		free(before);
		stop |= out_broken() || (!all && !s->blocks);
	}
	free(s->block);
	/* all have ended, before there was anything to tell */
	return err || all || s->told ? err : 1;
}

static int command(struct stat *s, char **argv)
{
	u64 i, times = count ? count : 1;
	int status = 0, err;
	struct stat_block b;

	for (i = 0; i < times && !stat_ending; i++) {
		err = stat_run(s->ctx, &s->k, &s->list, argv, &b);
		if (!err)
			err = ask(s);
		if (err)
			return err;
		b.time_ns = clock_real_ns();
		b.share = s->share;
		tell(s, &b);
		if (!status)		/* that of the first that failed */
			status = WIFEXITED(b.status) ? WEXITSTATUS(b.status) :
						       128 + WTERMSIG(b.status);
	}
	return status;
}

static int measure(struct stat *s, char **argv)
{
	int err = query_open(s->ctx, &s->k);

	if (err)
		return err;
	err = ask(s);
	if (!err && file) {
		s->out = fopen(file, "ae");
		if (!s->out)
			err = fail(s->ctx, "%s: %s", file, strerror(errno));
	}
	if (!err && *argv) {
		err = command(s, argv);
	} else if (!err) {
		s->signals = child_signals();
		err = intervals(s);
		close(s->signals);
	}
	if (s->out) {
		bool lost = ferror(s->out);

		if (fclose(s->out) || lost)
			err = fail(s->ctx, "%s: cannot be written", file);
	}
	knl_close(&s->k);
	return s->lost ? 1 : err;
}

static int check_words(struct ctx *ctx, size_t pids, char **argv)
{
	if (ctx->rest == 0)
		return usage(ctx, "COMMAND is missing after --");
	if (ctx->rest > 0 && (pids || all))
		return usage(ctx, "'%s': allowed PIDs, --all or a COMMAND, not both",
			     pids ? argv[0] : "--all");
	if (all && pids)
		return usage(ctx, "'%s': allowed PIDs or --all, not both", argv[0]);
	if (ctx->rest > 0 && interval_s)
		return usage(ctx, "--interval: not with a COMMAND: it is counted until it ends");
	if (file && (all || pids > 1))
		return usage(ctx, "--record: allowed for one PID, a COMMAND or the whole system");
	if (file && !strcmp(file, "-"))
		return usage(ctx, "--record: '-': allowed a file");
	if (csv && ctx->json)
		return usage(ctx, "--csv: not with -j");
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct stat s = { .ctx = ctx, .told_share = 100 };
	int pids = ctx->rest >= 0 ? argc - ctx->rest : argc, i, status;

	argv[argc] = NULL;
	if (compare) {
		if (argc != 2)
			return usage(ctx, "--compare: two files are needed, BASE CANDIDATE");
		if (all || csv || file || interval_s || count)
			return usage(ctx, "--compare: allowed with --max-... only");
		return stat_compare(ctx, argv[0], argv[1], &limits);
	}
	status = check_words(ctx, (size_t)pids, argv);
	s.whole = !pids;
	s.pids = must(calloc((size_t)argc + 1, sizeof(*s.pids)));
	for (i = 0; i < pids && !status; i++)
		status = parse_pid(ctx, argv[i], &s.pids[s.n++]);
	if (!status)
		status = measure(&s, argv + pids);
	free(s.pids);
	return status;
}

const struct command cmd_stat = {
	.name = "stat", .args = "[PID... | -- COMMAND [WORD...]]",
	.help = "what hardware counters count, as perf stat does",
	.more = "Of the whole system, of PIDs, of --all processes, or of a COMMAND that is\n"
		"executed and what descends from it; then its exit status is that of the\n"
		"command. Figures are scaled to the time in which an event was not counted.\n"
		"stat --compare BASE CANDIDATE needs no module; - is standard input.",
	.opts = opts, .max = -1, .run = run,
};
