// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "stat/stat.h"
#include "tools.h"

#define ASK_TRIES	4	/* readings of which the first that does not stall counts */

static u64 interval_s, count, log_fd;
static bool all, csv, compare;
static const char *file, *output;
static struct stat_limits limits = { 5, 15, 15, 15, 15, 5 };

#define PERCENT	.kind = OPT_NUMBER, .arg = "P", .max = 1000000
static const struct opt opts[] = {
	{ .name = "interval", .letter = 'i', .kind = OPT_NUMBER, .dest = &interval_s, .arg = "SEC",
	  .min = 1, .max = 86400, .help = "print the counts every SEC seconds (default: 1, once)" },
	{ .name = "count", .kind = OPT_NUMBER, .dest = &count, .arg = "N", .min = 1,
	  .max = 10000, .help = "stop after N intervals; execute a COMMAND N times" },
	{ .name = "all", .kind = OPT_FLAG, .dest = &all, .help = "every process, one row each" },
	{ .name = "csv", .kind = OPT_FLAG, .dest = &csv, .help = "print comma-separated values" },
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .dest = &output, .arg = "FILE",
	  .help = "print to FILE; -: standard output, with a COMMAND too" },
	{ .name = "log-fd", .kind = OPT_NUMBER, .dest = &log_fd, .arg = "N", .min = 1,
	  .max = INT32_MAX, .help = "print to the open file descriptor N; 2: standard error" },
	{ .name = "record", .kind = OPT_STRING, .dest = &file, .arg = "FILE",
	  .help = "also write the counts to FILE, for --compare" },
	{ .name = "compare", .kind = OPT_FLAG, .dest = &compare,
	  .help = "compare the files BASE CANDIDATE: exit status 3 if CANDIDATE is worse" },
	{ .name = "max-ipc-drop", .dest = &limits.ipc_drop, PERCENT,
	  .help = "--compare: worse with P % less instructions per cycle (5)" },
	{ .name = "max-llc-increase", .dest = &limits.llc, PERCENT,
	  .help = "--compare: worse with P % more last-level misses (15)" },
	{ .name = "max-tlb-increase", .dest = &limits.tlb, PERCENT,
	  .help = "--compare: worse with P % more dTLB misses (15)" },
	{ .name = "max-walk-increase", .dest = &limits.walk, PERCENT,
	  .help = "--compare: worse with P % more cycles in page walks (15)" },
	{ .name = "max-remote-increase", .dest = &limits.remote, PERCENT,
	  .help = "--compare: worse with P % more loads from another node (15)" },
	{ .name = "max-time-increase", .dest = &limits.time, PERCENT,
	  .help = "--compare: worse with P % more run time of a COMMAND (5)" },
	{ .name = NULL }
};

struct stat {
	struct ctx *ctx;
	struct knl k;
	struct pmc_list list;
	struct stat_share share;
	FILE *out;			/* file of --record, or NULL */
	bool printed;			/* counts were printed */
	bool lost;			/* writing the file failed; an error was printed */
	int signals;
	struct stat_sink sink;
	bool head;			/* the CSV heading was printed */
	u32 *pids;
	size_t n;
	bool whole;			/* the whole system: no PIDs were given */
	bool later;			/* not the first reading */
	struct stat_block *block;	/* counts of the last reading, by rising pid */
	size_t blocks;
};

/* ---- output ---- */

static void append_to_file(struct stat *s, const struct stat_block *b)
{
	struct json_object *o;

	if (!s->out)
		return;
	/* truncate only now: a command that cannot be executed must not empty the file */
	if (!s->printed && ftruncate(fileno(s->out), 0) && errno != EINVAL) {
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

static void print_counts(struct stat *s, const struct stat_block *b)
{
	append_to_file(s, b);
	s->printed = true;
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

/* Reads the event list, and the share. Returns 0, or 1 after printing an error. */
static int ask(struct stat *s)
{
	bool first = !s->share.ns;
	u64 set = s->list.set;
	int err, tries = 0;

	do {
		stat_share_before(&s->share);
		err = stat_ask(s->ctx, &s->k, &s->list);
		if (err)
			return err;
	} while (stat_share_stalled(&s->share) && ++tries < ASK_TRIES);
	if (!first && s->list.set != set)
		return fail(s->ctx, "the list of events has changed meanwhile");
	stat_share_after(s->ctx, &s->share, &s->list);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct stat_block *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Sorts the highest count of the first event first, which is cycles by default. */
static int by_use(const void *a, const void *b)
{
	const struct stat_block *x = a, *y = b;
	u64 u = seep_pmu_scale(&x->v[0]), v = seep_pmu_scale(&y->v[0]);

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
	struct message *msg;
	size_t n, i;

	if (query_dump(&s->k, build, NULL, &m) < 0)
		return knl_fail(s->ctx, &s->k, NEEDS_READ);
	msg = list_messages(&m, &n);
	s->block = must(calloc(n + 1, sizeof(*s->block)));
	for (i = 0; i < n; i++)
		s->blocks += stat_process(&msg[i], &s->list, &s->block[s->blocks]);
	free(msg);
	msgs_free(&m);
	return 0;
}

static int read_pid(struct stat *s, u32 pid)
{
	struct nlmsghdr *nlh;
	struct message msg;
	int err = query_process(&s->k, pid, &nlh);

	if (err < 0 && s->later && s->k.err == ESRCH) {
		note(s->ctx, "pid %u has ended", pid);
		err = -ESRCH;
	} else if (err < 0) {
		err = knl_fail_pid(s->ctx, &s->k, pid, NEEDS_READ);
	} else if (msg_parse(&msg, nlh)) {
		err = fail(s->ctx, "the module sent an invalid message");
	} else {
		stat_process(&msg, &s->list, &s->block[s->blocks++]);
	}
	free(nlh);
	return err;
}

/* Reads the counts of all requested processes. Returns 0, or 1 after printing an error. */
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
		if (!err)		/* an exited process is dropped from the list */
			s->pids[s->n++] = s->pids[i];
		else if (err != -ESRCH)
			return err;
	}
	s->later = true;
	return 0;
}

/* ---- intervals ---- */

/* Waits. Returns true on a signal, or if the reader of stdout went away. */
static bool wait_until(struct stat *s, u64 end_ns)
{
	struct pollfd p = { .fd = s->signals, .events = POLLIN };
	u64 now = clock_ns();
	int ms = end_ns > now ? (int)((end_ns - now + 999999) / 1000000) : 0;

	return poll(&p, 1, ms) > 0 || out_gone();
}

/* Subtracts the counts in @before, unless an exec or a new process began new ones. */
static void since(struct stat_block *b, const struct stat_block *before, size_t n)
{
	const struct stat_block *old = bsearch(b, before, n, sizeof(*before), by_pid);

	if (old && b->age_s >= old->age_s && b->v[0].enabled_ns >= old->v[0].enabled_ns)
		stat_minus(b, old);
}

/* Prints the processes that ran, the busiest first. */
static void print_busiest(struct stat *s, struct stat_block *b, size_t n)
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
		print_counts(s, &b[i]);
}

/* Prints the counts between two readings. */
static void print_interval(struct stat *s, struct stat_block *before, size_t n, u64 ns)
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
		b[i].share = s->share.percent;
	}
	if (all)
		print_busiest(s, b, s->blocks);
	for (i = 0; !all && i < s->blocks; i++)
		print_counts(s, &b[i]);
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
			print_interval(s, before, n, end - begin);
		begin = end;
		free(before);
		stop |= out_broken() || (!all && !s->blocks);
	}
	free(s->block);
	/* status 1 if all processes exited before anything was printed */
	return err || all || s->printed ? err : 1;
}

/* ---- a command ---- */

/* Text of several runs is their means; the file, JSON and CSV have each run. */
static void print_run(struct stat *s, const struct stat_block *b, struct stat_repeat *r)
{
	if (count > 1 && !csv && !s->ctx->json) {
		append_to_file(s, b);
		s->printed = true;
		stat_repeat_add(r, &s->list, b);
	} else {
		print_counts(s, b);
	}
}

static int command(struct stat *s, char **argv)
{
	struct stat_repeat r = { 0 };
	u64 i, times = count ? count : 1;
	int status = 0, err = 0;
	struct stat_block b;

	for (i = 0; i < times && !stat_ending; i++) {
		stat_sink_lend(&s->sink);
		err = stat_run(s->ctx, &s->k, &s->list, argv, &b);
		stat_sink_back(&s->sink);
		if (!err)
			err = ask(s);
		if (err)
			break;
		b.time_ns = clock_real_ns();
		b.share = s->share.percent;
		print_run(s, &b, &r);
		if (!status)		/* keep the status of the first failure */
			status = WIFEXITED(b.status) ? WEXITSTATUS(b.status) :
						       128 + WTERMSIG(b.status);
	}
	if (r.runs > 1)
		stat_repeat_text(&r, &s->list);
	else if (r.runs)
		stat_text(&s->list, &r.sum);
	return err ? err : status;
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
	if (!err)
		err = stat_sink_open(s->ctx, output, log_fd, *argv && !s->ctx->json && !csv,
				     &s->sink);
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
		return usage(ctx, "'%s': allowed one of PIDs, --all, a COMMAND",
			     pids ? argv[0] : "--all");
	if (all && pids)
		return usage(ctx, "'%s': allowed PIDs or --all, not both", argv[0]);
	if (ctx->rest > 0 && interval_s)
		return usage(ctx, "--interval: '%llu': not allowed with a COMMAND, which is "
			     "counted until it ends", interval_s);
	if (file && (all || pids > 1))
		return usage(ctx, "--record: allowed for one PID, a COMMAND or the whole system");
	if (file && !strcmp(file, "-"))
		return usage(ctx, "--record: '-': allowed the name of a file");
	if (output && log_fd)
		return usage(ctx, "--log-fd: not allowed with -o");
	if (csv && ctx->json)
		return usage(ctx, "--csv: not allowed with -j");
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct stat s = { .ctx = ctx, .share = { .noted = 100 } };
	int pids = ctx->rest >= 0 ? argc - ctx->rest : argc, i, status;

	argv[argc] = NULL;
	if (compare) {
		if (argc != 2)
			return usage(ctx, "--compare: %d given: allowed two files, BASE CANDIDATE",
				     argc);
		if (!strcmp(argv[0], "-") && !strcmp(argv[1], "-"))
			return usage(ctx, "--compare: '-': allowed for one of the two files");
		if (all || csv || file || interval_s || count || output || log_fd)
			return usage(ctx, "--compare: allowed with --max-... only");
		return stat_compare(ctx, argv[0], argv[1], &limits);
	}
	status = check_words(ctx, (size_t)pids, argv);
	s.whole = !pids;
	s.pids = must(calloc((size_t)argc + 1, sizeof(*s.pids)));
	for (i = 0; i < pids && !status; i++)
		status = parse_pid_or_command(ctx, argv[i], &s.pids[s.n++]);
	if (!status)
		status = measure(&s, argv + pids);
	free(s.pids);
	return status;
}

const struct command cmd_stat = {
	TOOL_STAT,
	.more = "Counts events of the whole system, of the PIDs, of --all processes, or of a\n"
		"COMMAND that it executes, with its descendants. With a COMMAND the exit status\n"
		"is that of the COMMAND. Figures are scaled up if an event was counted only for\n"
		"a part of the time. With a COMMAND the text is printed on standard error, as\n"
		"by perf stat. stat --compare BASE CANDIDATE needs no module; -: standard input.",
	.opts = opts, .max = -1, .run = run,
};
