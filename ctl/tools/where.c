// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where: which class of blocks of a process grows, what they hold, and where they are
 * allocated. The heap is read from outside, twice, without stopping the process; then a burst
 * samples its allocations, for which the kernel puts breakpoints into it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "tools.h"
#include "where/alerts.h"
#include "where/faults.h"
#include "where/survey.h"

#define SECONDS		60
#define AGAIN		60ULL
#define SAMPLES		300
#define MAX_TRAPS	200000
#define COST		50

static bool census, burst, faults, profile, text, folded, last, no_probes;
static bool automatic;		/* none of them is asked for: the census, then a burst */
static u64 seconds, top, class_bytes, samples, max_traps, cost, limit;
static const char *diff, *svg, *again_after, *keep, *follow, *object;
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
	  "show the profile that Go or jemalloc keeps; the default for Go", 0, 0 },
	{ "burst", 0, OPT_FLAG, &burst, NULL, "then sample allocations of the class that grows, "
	  "and show the call sites whose blocks stay; the default if it is possible", 0, 0 },
	{ "object", 'O', OPT_STRING, &object, "FILE|NAME",
	  "of the burst: the program or library whose functions allocate", 0, 0 },
	{ "samples", 0, OPT_NUMBER, &samples, "N", "of the burst: keep N samples (300)", 1,
	  SEEPAGE_WHERE_SAMPLES },
	{ "max-traps", 0, OPT_NUMBER, &max_traps, "N", "end it after N traps (200000)", 1,
	  SEEPAGE_WHERE_TRAPS },
	{ "cost", 0, OPT_NUMBER, &cost, "PERMILLE", "or when traps take PERMILLE of a CPU (50)", 1,
	  1000 },
	{ "no-probes", 0, OPT_FLAG, &no_probes, NULL,
	  "leave out probes at call sites of which it saw too few blocks", 0, 0 },
	{ "again-after", 0, OPT_STRING, &again_after, "SEC[,...]",
	  "times from the burst to looks at its blocks (60, without --burst --seconds if less)",
	  0, 0 },
	{ "folded", 0, OPT_FLAG, &folded, NULL, "show sites as flame graph tools read them", 0, 0 },
	{ "svg", 0, OPT_STRING, &svg, "FILE", "draw sites as a flame graph in FILE as well", 0, 0 },
	{ "faults", 0, OPT_FLAG, &faults, NULL,
	  "show the stacks whose page faults make the process grow", 0, 0 },
	{ NULL, 0, 0, NULL, NULL, NULL, 0, 0 },
};

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
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
	if (!burst && !automatic && (samples || max_traps || cost || again_after || object ||
				     no_probes))
		return usage(ctx, "--samples, --max-traps, --cost, --no-probes, --again-after, "
			     "--object: not allowed without a burst");
	if (object && !*object)
		return usage(ctx, "--object: '': allowed the name of a file");
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
		.again = again, .top = top ? top : TOP, .recent = !diff,
		.wait = survey_wait, .count = survey_count, .second = &s->b, .arg = s,
		.longer = !again_after, .probes = !no_probes, .first = s->first,
	};

	if (s->stopped) {
		result_note(&s->r, "burst: none, because of the signal");
		return 0;
	}
	return sites_find(&s->t, &s->object, &s->bins, &how, class_bytes, &s->r);
}

/* Returns an exit status. */
static int burst_possible(const struct survey *s)
{
	const char *why = burst_check() ?: survey_missing(s);

	return why ? fail(s->ctx, "--burst: %s", why) : 0;
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
	else if (!survey_grows(&s->r))
		why = "the heap did not grow between the looks; --burst samples it all the same";
	else
		why = burst_check() ?: survey_missing(s);
	if (!why) {
		survey_say(s, again.seconds[again.n - 1]);
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

	if (burst && !s->profile) {
		keep_answer(&s->keeper, &s->r, false);
		status = burst_possible(s) ?: sites(s);
		if (status)
			result_note(&s->r, "burst: not possible, seepage where --burst says why");
	}
	survey_notes(s);
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
		.seconds = seconds, .top = top ? top : TOP, .wait = survey_wait, .arg = s,
	};
	int status = target_maps(&s->t);

	status = status ? target_refused(&s->t, status) : faults_find(&s->t, &how, &s->r);
	return status ? status : show(s);
}

/* With --diff: the sites of both answers, if both took a burst */
static void compare_sites(struct result *r)
{
	if (!strcmp(r->method, "burst") && r->before)
		r->changes = changes_find(r->before, r->sites, r->sampled, r->bursts);
	else
		result_note(r, "sites are not compared: %s took no burst",
			    r->before ? "this answer" : "the earlier answer");
}

static int answer(struct survey *s)
{
	bool drawn = automatic && (svg || (folded && !s->ctx->json)) && !go_is(&s->t);
	int status = (burst && !keep) || drawn ? burst_possible(s) : 0;

	if (!status && !diff)
		status = survey_first(s);
	if (!status)
		status = survey_second(s);
	s->looks_cpu = cpu_ns();
	s->looks_bytes = s->t.read_bytes;
	if (keep && !status)
		return keep_sites(s);
	if (!status && !s->profile && burst) {
		survey_say(s, again.seconds[again.n - 1]);
		status = sites(s);
		if (diff && !status)
			compare_sites(&s->r);
	} else if (!status && !s->profile && automatic) {
		status = sites_if_possible(s);
	}
	if (status)
		return status;
	survey_notes(s);
	return show(s);
}

/*
 * A first look is kept where --diff can compare with it: of pages and of profiles it is not, nor
 * if a part of a heap was lost, so that the second look is two of them.
 */
static int keep_look(struct survey *s)
{
	int status = 0;

	if (strcmp(keep, "first")) {
		diff = *s->keeper.first ? s->keeper.first : NULL;
		s->want.diff = diff;
		return answer(s);
	}
	if (!go_is(&s->t))
		status = survey_look(s, &s->a, false, NULL);
	if (!status && !go_is(&s->t) && !survey_is_unknown(s, &s->a) && !s->a.lost_n &&
	    !s->a.cut_ns && !(s->a.je == JE_COUNTED && s->a.pools))
		keep_first(&s->keeper, &s->a);
	return status;
}

/* Called where a read of memory does not end. The follower of alerts takes no further look then. */
static void give_up(void *arg)
{
	struct survey *s = arg;

	drawing_drop(&s->drawing);
	if (!keep)
		return;
	if (s->is_charged)
		keep_close(&s->keeper, cpu_ns());
	kill(getpid(), SIGKILL);
}

static int kept(struct survey *s)
{
	int status = 0;

	switch (keep_open(&s->keeper, &s->t, !strcmp(keep, "second"), burst, limit)) {
	case KEEP_LOOK:
		s->is_charged = true;
		s->signals = child_signals();
		/* Files take time as well: not before the limit allows it. */
		status = survey_object(s) ?: keep_look(s);
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
		return usage(ctx, "--follow: '%s': allowed census burst, with ,1 to ,%d for the "
			     "limit of cost", follow, LOOKS_PERMILLE);
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
	s->want = (struct wanted){
		.census = census, .burst = burst, .profile = profile, .text = text,
		.automatic = automatic, .keep = keep, .seconds = seconds, .top = top,
		.class_bytes = class_bytes, .diff = diff, .object = object,
	};
	prctl(PR_SET_NAME, "seepage-where");	/* not "exe", as watch --where executes it */
	s->t.ctx = ctx;
	s->t.pid = pid;
	s->t.mem = -1;
	stuck_watch(&s->t, give_up, s);
	status = open_target(s, pid);
	if (!status && !faults && !keep)
		status = survey_object(s);
	if (!status)
		status = drawing_open(ctx, svg, &s->drawing);
	if (!status && keep) {
		status = kept(s);
	} else if (!status) {
		s->signals = child_signals();
		status = faults ? fault_stacks(s) : answer(s);
	}
	survey_free(s);
	return status;
}

const struct command cmd_where = {
	TOOL_WHERE,
	.more = "Reads the heap of the process twice, without stopping it, and compares blocks in\n"
		"use by size. What new blocks hold often names their type. Needs CAP_SYS_PTRACE,\n"
		"or to be the user of the process. ^C takes the second look at once.\n"
		"--keep second takes both looks if there is no first one that is kept.\n"
		"If the heap grows, a burst of samples follows, and a look at what stays of them:\n"
		"three times --seconds in all, or up to seven where the first classes have no\n"
		"site. Probes at call sites of which too few blocks were seen may take five times\n"
		"--seconds more. Samples need CAP_PERFMON as well, and the module seepage_where;\n"
		"without them the blocks are the answer, and a note says why. After ^C between\n"
		"the looks no burst follows.",
	.opts = opts, .max = 1, .run = run,
};
