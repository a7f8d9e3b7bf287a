// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where: which class of blocks of a process grows, what they hold, and where they are
 * allocated. The heap is read from outside, twice, without stopping the process; then a burst
 * samples its allocations, for which the kernel puts breakpoints into it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "tools.h"
#include "where/alerts.h"
#include "where/burst.h"
#include "where/faults.h"
#include "where/keep.h"

#define SECONDS		60
#define AGAIN		60ULL
#define TOP		10
#define PAGE		4096U
#define SITES_MAX	100
#define SETTLE_S	10	/* most seconds between two reads of new pages */
#define SAMPLES		300
#define MAX_TRAPS	200000
#define COST		50

static bool census, burst, faults, profile, text, folded, last;
static bool automatic;		/* none of them is asked for: the census, then a burst */
static u64 seconds, top, class_bytes, samples, max_traps, cost, limit;
static const char *diff, *svg, *again_after, *keep, *follow;
static struct again again;

static const struct opt opts[] = {
	{ "seconds", 's', OPT_NUMBER, &seconds, "SECONDS",
	  "time between the two looks (60)", 1, 86400 },
	{ "diff", 0, OPT_STRING, &diff, "FILE",
	  "compare with FILE, output of where -j, in place of a first look", 0, 0 },
	{ "class", 0, OPT_SIZE, &class_bytes, "BYTES",
	  "show only the class that serves malloc(BYTES)", 1, 1ULL << 40 },
	{ "top", 'n', OPT_NUMBER, &top, "N", "show the N classes that grow most (10; -j: all)",
	  1, CLASSES },
	{ "keep", 0, OPT_STRING, &keep, "first|second",
	  "keep a look, or compare with it and keep the answer, for explain", 0, 0 },
	{ "follow", 0, OPT_STRING, &follow, "census|burst",
	  "do that with each process that an alert is about, as watch --where does", 0, 0 },
	{ "limit", 0, OPT_NUMBER, &limit, "PERMILLE",
	  "with --keep: what all such looks may take of a CPU in an hour (5)", 1, 1000 },
	{ "last", 0, OPT_FLAG, &last, NULL,
	  "show the last answer that is kept, also of a process that has ended", 0, 0 },
	{ "text", 0, OPT_FLAG, &text, NULL, "show text of blocks, without its digits", 0, 0 },
	{ "census", 0, OPT_FLAG, &census, NULL, "only count blocks by size", 0, 0 },
	{ "profile", 0, OPT_FLAG, &profile, NULL,
	  "show the profile that Go keeps; the default for Go", 0, 0 },
	{ "burst", 0, OPT_FLAG, &burst, NULL, "then sample allocations of the class that grows, "
	  "and show the call sites whose blocks stay; the default if it is possible", 0, 0 },
	{ "samples", 0, OPT_NUMBER, &samples, "N", "of the burst: keep N samples (300)", 1,
	  SEEPAGE_WHERE_SAMPLES },
	{ "max-traps", 0, OPT_NUMBER, &max_traps, "N", "end it after N traps (200000)", 1,
	  SEEPAGE_WHERE_TRAPS },
	{ "cost", 0, OPT_NUMBER, &cost, "PERMILLE", "or when traps take PERMILLE of a CPU (50)", 1,
	  1000 },
	{ "again-after", 0, OPT_STRING, &again_after, "SECONDS[,...]",
	  "times from the burst to looks at its blocks (60, without --burst --seconds if less)",
	  0, 0 },
	{ "folded", 0, OPT_FLAG, &folded, NULL, "show sites as flame graph tools read them", 0, 0 },
	{ "svg", 0, OPT_STRING, &svg, "FILE", "draw sites as a flame graph in FILE as well", 0, 0 },
	{ "faults", 0, OPT_FLAG, &faults, NULL,
	  "show the stacks whose page faults make the process grow", 0, 0 },
	{ NULL, 0, 0, NULL, NULL, NULL, 0, 0 },
};

struct survey {
	struct ctx *ctx;
	struct target t;
	struct bins bins;
	struct look a, b;
	struct seen *pages;	/* present at the first look; NULL: pages are not looked at */
	struct page_look new_pages;
	struct go_profile go_a, go_b;
	bool go;		/* the process has a profile */
	struct result r;
	int signals;
	bool stopped;		/* by a signal between the looks */
	struct drawing drawing;
	struct keeper keeper;		/* with --keep */
	u64 looks_cpu, looks_bytes;	/* CPU time in ns, and what was read, without the burst */
};

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

/* Waits, or until @fd is readable if it is not -1. Returns false after a signal. */
static bool wait_ms(void *arg, u64 ms, int fd)
{
	struct survey *s = arg;
	struct pollfd p[2] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	u64 end = clock_ns() + ms * 1000000, now;
	struct signalfd_siginfo info;

	while (!s->stopped && (now = clock_ns()) < end) {
		if (poll(p, 2, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		/* SIGCHLD comes when modprobe, a child of this tool, ends. */
		while (read(s->signals, &info, sizeof(info)) == sizeof(info))
			s->stopped |= info.ssi_signo != SIGCHLD;
		if (p[1].revents)
			break;
	}
	return !s->stopped;
}

static bool wait_seconds(struct survey *s, u64 n)
{
	return wait_ms(s, n * 1000, -1);
}

static bool wait_settle(void *arg)
{
	struct survey *s = arg;

	return s->stopped || wait_seconds(s, seconds < SETTLE_S ? seconds : SETTLE_S);
}

/* Reads the heap once. Returns an exit status. */
static int look(struct survey *s, struct look *l, bool remember, const struct seen *before)
{
	int err = target_maps(&s->t);

	if (err)
		return target_refused(&s->t, err);
	look_begin(l, remember, before);
	arena_look(&s->t, &s->bins, l);
	pool_look(&s->t, l);
	target_forget(&s->t);
	if (!target_alive(&s->t))
		return fail(s->ctx, "process %u ended, or executed a program, while its heap was "
			    "read", s->t.pid);
	return 0;
}

/* Data of files, which counts as anonymous memory once it is written. The most it can be */
static u64 file_data(const struct target *t)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].write)
			sum += t->map[i].hi - t->map[i].lo;
	return sum;
}

/*
 * Does the census know less than half of the memory, or heaps that do not add up? Data of files
 * is no heap. A process with less than 1 MiB may have most of it in stacks, but then it has chunks.
 */
static bool is_unknown(const struct survey *s, const struct look *l)
{
	u64 known = l->walked_bytes + l->mmapped_bytes, anon = target_anon_bytes(&s->t);
	u64 data = file_data(&s->t);

	anon -= data < anon ? data : anon;
	return l->torn_bytes > l->walked_bytes || ((anon > MIB || !l->chunks) && known < anon / 2);
}

static void pages_row(struct survey *s)
{
	struct result *r = &s->r;
	unsigned int kept;

	r->method = "pages";
	r->allocator = "unknown";
	free(r->row);
	r->row = must(calloc(1, sizeof(*r->row)));
	r->rows = 1;
	r->row[0] = (struct where_row){
		.id = class_of_request(PAGE), .blocks = s->new_pages.present,
		.growth_blocks = (s64)s->new_pages.fresh,
		.growth_bytes = (s64)s->new_pages.fresh * PAGE, .permille = 1000,
	};
	r->growth = r->row[0].growth_bytes;
	r->heap_bytes = s->new_pages.present * PAGE;
	kept = pages_content(&s->t, &s->new_pages, text, wait_settle, s, r->row[0].content);
	result_note(r, "unknown allocator: the class is pages of memory that are new");
	result_note(r, "%u of the new pages were not written again and were looked at", kept);
}

static void contents(struct survey *s)
{
	struct result *r = &s->r;
	size_t i, n = 0;

	for (i = 0; i < r->rows && n < (top ? top : TOP); i++) {
		struct where_class *c = &s->b.c[r->row[i].id];

		if (r->row[i].growth_bytes <= 0)
			break;
		n++;
		content_of(&s->t, c->sample, c->samples, class_room(r->row[i].id), text,
			   r->row[i].content);
	}
}

static const char *allocator(const struct look *l)
{
	if (l->pools)
		return "glibc and pymalloc";
	return l->chunks ? "glibc" : "none";
}

static void notes(struct survey *s)
{
	struct result *r = &s->r;
	const struct look *l = &s->b;
	double mb = (double)s->looks_bytes / MIB, ms = (double)s->looks_cpu / 1e6;
	char size[32];

	if (s->stopped)
		result_note(r, "stopped by a signal after %.1f s", r->seconds);
	if (l->torn)
		result_note(r, "%u heaps do not add up or changed too fast: %s not counted",
			    l->torn, fmt_bytes(size, sizeof(size), l->torn_bytes));
	if (l->outside_bytes)
		result_note(r, "%s of the main arena are outside the data segment: not counted",
			    fmt_bytes(size, sizeof(size), l->outside_bytes));
	if (l->no_fastbins && l->arenas)
		result_note(r, "no main arena found: some free chunks may count as in use");
	runtime_notes(&s->t, r);
	result_note(r, "read %.1f MiB with %.0f ms of CPU (%.2f ms per MiB)", mb, ms,
		    mb > 0 ? ms / mb : 0);
	if (!s->go && !burst && !automatic)
		result_note(r, "sites: not known, --burst finds them");
}

/* Drops all rows but that of --class. */
static void choose_class(struct result *r)
{
	unsigned int id = class_of_request(class_bytes), pool;
	size_t i, n = 0;

	pool = class_bytes <= 512 ? class_of_pool((u32)((class_bytes + 15) & ~15ULL)) : id;
	for (i = 0; class_bytes && i < r->rows; i++)
		if (r->row[i].id == id || r->row[i].id == pool)
			r->row[n++] = r->row[i];
	if (class_bytes)
		r->rows = n;
}

/* The first look, then the time between the two. Returns an exit status. */
static int first_look(struct survey *s)
{
	struct page_look p;
	u64 start = clock_ns();
	int status;

	s->go = !census && (!burst || keep) && go_is(&s->t) && go_look(&s->t, &s->go_a);
	if (profile && !s->go)
		return fail(s->ctx, "--profile: process %u: no profile of Go in it", s->t.pid);
	status = s->go ? 0 : look(s, &s->a, true, NULL);
	if (status)
		return status;
	s->a.ns = s->go ? start : s->a.ns;
	if (!s->go && is_unknown(s, &s->a)) {
		s->pages = seen_new();
		if (pages_look(&s->t, &p, s->pages, NULL))
			return fail(s->ctx, "process %u: its page map cannot be read", s->t.pid);
	}
	if (clock_ns() - start < seconds * 1000000000)
		wait_seconds(s, seconds);
	if (!target_alive(&s->t))
		return fail(s->ctx, "process %u ended, or executed a program, between the two "
			    "looks", s->t.pid);
	return 0;
}

static int second_profile(struct survey *s)
{
	struct result *r = &s->r;
	size_t most = top ? top : TOP, i;

	most = most < SITES_MAX ? most : SITES_MAX;
	if (target_maps(&s->t) || !go_look(&s->t, &s->go_b))
		return fail(s->ctx, "process %u ended while its profile was read", s->t.pid);
	r->seconds = (double)(clock_ns() - s->a.ns) / 1e9;
	go_compare(&s->go_a, &s->go_b);
	r->method = "profile";
	r->allocator = "go";
	r->heap_bytes = s->go_b.bytes;
	r->growth = (s64)(s->go_b.bytes - s->go_a.bytes);
	for (i = 0; i < s->go_b.n && i < most && s->go_b.site[i].bytes; i++)
		json_object_array_add(r->sites,
				      go_site_json(&s->t, &s->go_b.site[i], i + 1,
						   result_per_hour(r, s->go_b.site[i].growth)));
	result_note(r, "the profile is that of the last garbage collections");
	return 0;
}

static int second_look(struct survey *s)
{
	int status = look(s, &s->b, false, s->a.seen);

	if (status)
		return status;
	s->r.seconds = (double)(s->b.ns - s->a.ns) / 1e9;
	if (diff && !result_earlier(s->ctx, diff, &s->t, &s->b, &s->a, &s->r.seconds))
		return 1;
	result_compare(&s->r, &s->a, &s->b);
	choose_class(&s->r);
	s->r.method = "census";
	s->r.allocator = allocator(&s->b);
	if (s->pages && !pages_look(&s->t, &s->new_pages, NULL, s->pages))
		pages_row(s);
	else
		contents(s);
	target_forget(&s->t);
	return 0;
}

/* When to look at the blocks again, as --again-after has it */
static const char *again_list(void)
{
	static char list[24];

	snprintf(list, sizeof(list), "%llu", automatic && seconds < AGAIN ? seconds : AGAIN);
	return again_after ? again_after : list;
}

static int check_words(struct ctx *ctx)
{
	automatic = !(census || burst || profile || faults || keep || diff || last);
	if (last && (faults || census || burst || profile || diff || keep || class_bytes || text ||
		     top || seconds || folded || svg))
		return usage(ctx, "--last: allowed with -j only");
	if (faults && (census || burst || profile || diff || keep || class_bytes || text))
		return usage(ctx, "--faults: allowed with --seconds, --top, --folded, --svg, -j "
			     "only");
	if (!burst && !automatic && (samples || max_traps || cost || again_after))
		return usage(ctx, "--samples, --max-traps, --cost, --again-after: "
			     "not allowed without a burst");
	if (!burst && !automatic && !profile && !faults && (folded || svg))
		return usage(ctx, "--folded, --svg: not allowed with --census, --diff, --keep");
	if (keep && strcmp(keep, "first") && strcmp(keep, "second"))
		return usage(ctx, "--keep: '%s': allowed first second", keep);
	if (limit && !keep)
		return usage(ctx, "--limit: allowed with --keep only");
	if (keep && (diff || svg || folded || text || top || class_bytes || ctx->json))
		return usage(ctx, "--keep: allowed with --seconds, --census, --profile, "
			     "--limit and those of --burst only");
	if (keep && burst && !strcmp(keep, "first"))
		return usage(ctx, "--burst: allowed with --keep second only");
	if (svg && !*svg)
		return usage(ctx, "--svg: '': allowed the name of a file");
	if (burst && profile)
		return usage(ctx, "--burst: not allowed with --profile");
	if (profile && (diff || census))
		return usage(ctx, "--profile: not allowed with --diff or --census");
	if (diff && !*diff)
		return usage(ctx, "--diff: '': allowed the name of a file");
	if (diff && seconds)
		return usage(ctx, "--seconds: '%llu': not allowed with --diff", seconds);
	seconds = seconds ? seconds : SECONDS;
	samples = samples ? samples : SAMPLES;
	max_traps = max_traps ? max_traps : MAX_TRAPS;
	cost = cost ? cost : COST;
	limit = limit ? limit : KEPT_PERMILLE;
	if (!again_parse(again_list(), &again))
		return usage(ctx, "--again-after: '%s': allowed up to %u numbers, 1..86400, each "
			     "larger than the one before", again_after, AGAIN_MAX);
	return 0;
}

static int sites(struct survey *s)
{
	struct sites_how how = {
		.limits = { .samples = samples, .traps = max_traps, .seconds = seconds,
			    .cost_permille = cost },
		.again = again, .top = top ? top : TOP, .recent = !diff, .wait = wait_ms, .arg = s,
	};
	int status;

	if (s->stopped) {
		result_note(&s->r, "burst: none, because of the signal");
		return 0;
	}
	status = sites_find(&s->t, &s->bins, &how, class_bytes, &s->r);
	target_forget(&s->t);
	return status;
}

/* Returns an exit status. */
static int burst_possible(const struct survey *s)
{
	const char *why = burst_check();

	return why ? fail(s->ctx, "--burst: %s", why) : 0;
}

/* Tells a person at a terminal what the census found, before the time that a burst takes. */
static void say_what_grows(const struct survey *s)
{
	const struct where_row *row = s->r.row;
	char size[64], grew[32], cell[CONTENT_CELL];

	if (s->stopped || !isatty(STDERR_FILENO) || !s->r.rows || row->growth_bytes <= 0)
		return;
	content_cell(row, cell, sizeof(cell));
	fprintf(stderr, "%s: blocks of %s, %s: %s\n", s->t.comm,
		size_cell(row, size, sizeof(size)),
		fmt_growth(grew, sizeof(grew), result_per_hour(&s->r, row->growth_bytes)), cell);
	fprintf(stderr, "now call sites: up to %llu s of samples, then %llu s to see what stays; "
		"^C shows what is known\n", seconds, again.seconds[again.n - 1]);
}

/* The heap as a whole, or one class by much, beside which others shrank. */
static bool grows(const struct result *r)
{
	s64 most = r->rows ? r->row[0].growth_bytes : 0;

	return most > 0 && (r->growth > 0 || (u64)most >= r->heap_bytes / 128);
}

/*
 * Without a choice of the user a burst follows the census if something grows and it is possible.
 * If not, the census is the answer, and says why.
 */
static int sites_if_possible(struct survey *s)
{
	const char *why;

	if (s->stopped)
		why = "a signal came between the looks";
	else if (!strcmp(s->r.method, "pages"))
		why = "the allocator is not known, allowed is glibc";
	else if (!grows(&s->r))
		why = "the heap did not grow between the looks; --burst samples it all the same";
	else
		why = burst_check();
	if (!why) {
		say_what_grows(s);
		why = sites(s) ? "the burst failed" : NULL;
	}
	if (why && (folded || svg))
		return fail(s->ctx, "%s: no sites: %s", folded ? "--folded" : "--svg", why);
	if (why)
		result_note(&s->r, "sites: not known: %s", why);
	return 0;
}

/* The census is an answer of its own, also where a burst is not possible or cut short. */
static int keep_sites(struct survey *s)
{
	int status = 0;

	if (burst && !s->go) {
		keep_answer(&s->keeper, &s->r, false);
		status = burst_possible(s) ?: sites(s);
		if (status)
			result_note(&s->r, "burst: not possible, seepage where --burst says why");
	}
	notes(s);
	keep_answer(&s->keeper, &s->r, burst);
	return status;
}

static int show(struct survey *s)
{
	int status = drawing_write(s->ctx, &s->drawing, &s->r);

	if (status)
		return status;
	if (folded && !s->ctx->json) {
		show_folded(&s->r);
		return 0;
	}
	if (s->ctx->json)
		return out_json(s->ctx, result_json(&s->r, top ? top : CLASSES, SIZE_MAX));
	show_table(&s->r, top ? top : TOP);
	return 0;
}

static int fault_stacks(struct survey *s)
{
	const struct faults_how how = {
		.seconds = seconds, .top = top ? top : TOP, .wait = wait_ms, .arg = s,
	};
	int status = target_maps(&s->t);

	status = status ? target_refused(&s->t, status) : faults_find(&s->t, &how, &s->r);
	return status ? status : show(s);
}

static int answer(struct survey *s)
{
	bool drawn = automatic && (svg || (folded && !s->ctx->json)) && !go_is(&s->t);
	int status = (burst && !keep) || drawn ? burst_possible(s) : 0;

	if (!status && !diff)
		status = first_look(s);
	if (!status)
		status = s->go ? second_profile(s) : second_look(s);
	s->looks_cpu = cpu_ns();
	s->looks_bytes = s->t.read_bytes;
	if (keep && !status)
		return keep_sites(s);
	if (!status && !s->go && burst) {
		say_what_grows(s);
		status = sites(s);
	} else if (!status && !s->go && automatic) {
		status = sites_if_possible(s);
	}
	if (status)
		return status;
	notes(s);
	return show(s);
}

/*
 * A first look is kept where --diff can compare with it: of pages and of profiles it is not, so
 * that the second look is two of them.
 */
static int keep_look(struct survey *s)
{
	int status = 0;

	if (strcmp(keep, "first")) {
		diff = *s->keeper.first ? s->keeper.first : NULL;
		return answer(s);
	}
	if (!go_is(&s->t))
		status = look(s, &s->a, false, NULL);
	if (!status && !go_is(&s->t) && !is_unknown(s, &s->a))
		keep_first(&s->keeper, &s->a);
	return status;
}

static int kept(struct survey *s)
{
	int status = 0;

	switch (keep_open(&s->keeper, &s->t, !strcmp(keep, "second"), burst, limit)) {
	case KEEP_LOOK:
		s->signals = child_signals();
		status = keep_look(s);
		keep_close(&s->keeper, cpu_ns() + s->r.traps * TRAP_NS);
		return status;
	case KEEP_LEFT_OUT:
		status = fail(s->ctx, "--keep: process %u: the limit of cost, %llu permille of a "
			      "CPU in an hour, does not allow a look", s->t.pid, limit);
		break;
	case KEEP_FAILED:
		status = 1;
		break;
	case KEEP_DONE:
		break;
	}
	keep_close(&s->keeper, 0);
	return status;
}

static int follow_alerts(struct ctx *ctx, int argc)
{
	struct alerts_how how;
	const char *why;
	int status;

	if (!alerts_parse(follow, &how))
		return usage(ctx, "--follow: '%s': allowed census burst, with ,1 to ,1000 for the "
			     "limit of cost", follow);
	if (argc || keep || diff || svg || folded || text || census || profile || burst || limit ||
	    seconds || top || class_bytes)
		return usage(ctx, "--follow: allowed without PID and other options only");
	status = keep_check(ctx);
	why = !status && how.burst ? burst_check() : NULL;
	if (why)
		fail(ctx, "--burst: %s", why);	/* the census goes on */
	return status ?: alerts_follow(ctx, &how);
}

static int open_target(struct survey *s, u32 pid)
{
	struct json_object *o = NULL;
	bool ended;

	if (kill((pid_t)pid, 0) && errno == ESRCH)
		o = last_answer(pid, &ended);
	if (!o)
		return target_open(s->ctx, pid, &s->t);
	json_object_put(o);
	s->t.dir = -1;
	return fail(s->ctx, "process %u: it has ended, --last shows the last answer about it", pid);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct survey *s;
	int status;
	u32 pid;

	if (follow)
		return follow_alerts(ctx, argc);
	status = argc ? check_words(ctx) : usage(ctx, "PID is missing");
	if (!status)
		status = parse_pid(ctx, argv[0], &pid);
	if (status)
		return status;
	if (last)
		return last_show(ctx, pid);
	s = must(calloc(1, sizeof(*s)));
	s->ctx = ctx;
	s->r.t = &s->t;
	s->r.notes = must(json_object_new_array());
	s->r.sites = must(json_object_new_array());
	status = open_target(s, pid);
	if (!status)
		status = drawing_open(ctx, svg, &s->drawing);
	if (!status && keep) {
		status = kept(s);
	} else if (!status) {
		s->signals = child_signals();
		status = faults ? fault_stacks(s) : answer(s);
	}
	if (s->signals > 0)
		close(s->signals);
	drawing_drop(&s->drawing);
	json_object_put(s->r.notes);
	json_object_put(s->r.sites);
	go_free(&s->go_a);
	go_free(&s->go_b);
	free(s->r.row);
	look_free(&s->a);
	look_free(&s->b);
	seen_free(s->pages);
	target_close(&s->t);
	free(s);
	return status;
}

const struct command cmd_where = {
	TOOL_WHERE,
	.more = "Reads the heap of the process twice, without stopping it, and compares blocks in\n"
		"use by size. What new blocks hold often names their type. Needs CAP_SYS_PTRACE,\n"
		"or to be the user of the process. ^C takes the second look at once.\n"
		"--keep second takes both looks if there is no first one that is kept.\n"
		"If the heap grows, a burst of samples follows, and a look at what stays of them: three\n"
		"times --seconds in all, or up to seven where the first classes have no site. It needs\n"
		"CAP_PERFMON as well, and the module seepage_where; without them the blocks are the\n"
		"answer, and a note says why. After ^C between the looks no burst follows.",
	.opts = opts, .max = 1, .run = run,
};
