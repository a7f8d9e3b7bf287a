// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds recorded series to the detector of the module, which is compiled into this
 * program, and prints its verdicts. Under the recorded configuration the verdict of
 * every sample must equal that of the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "detect/share.h"
#include "replay/merge.h"
#include "replay/replay.h"
#include "tools.h"

static u64 limit, only_id;
static const char *policy;
static struct words settings;
static bool all, alerts, no_cold, verbose;

static const struct opt opts[] = {
	{ .name = "policy", .kind = OPT_STRING, .dest = &policy, .arg = "POLICY",
	  .help = "judge by this policy: ladder or classic" },
	{ .name = "set", .kind = OPT_WORDS, .dest = &settings, .arg = "KEY=VALUE",
	  .help = "judge with this value in place of the recorded one" },
	{ .name = "limit", .kind = OPT_SIZE, .dest = &limit, .arg = "BYTES", .min = 1,
	  .max = 1ULL << 62, .help = "judge as if all were in a cgroup with this memory limit" },
	{ .name = "no-cold", .kind = OPT_FLAG, .dest = &no_cold,
	  .help = "judge as if nothing was known about the use of gained memory" },
	{ .name = "id", .kind = OPT_NUMBER, .dest = &only_id, .arg = "N", .max = UINT64_MAX,
	  .help = "only the series with this number" },
	{ .name = "all", .kind = OPT_FLAG, .dest = &all,
	  .help = "print the verdict of every sample" },
	{ .name = "alerts", .kind = OPT_FLAG, .dest = &alerts,
	  .help = "print as well which alerts the module raises: of a service, one" },
	{ .name = "verbose", .letter = 'v', .kind = OPT_FLAG, .dest = &verbose,
	  .help = "print the totals of every series, not only of those that matter" },
	{ .name = NULL }
};

struct totals {
	u64 samples, compared, differing;
};

/* The memory of all processes of the file, which take from --limit together. */
struct shared {
	struct seep_tally tally;
	u64 pass;			/* number of the present pass */
	bool full;			/* it is a full one */
	u64 private;			/* bytes held by all of them, without shmem */
};

struct replay {
	const struct ctx *ctx;
	struct conf given;		/* configuration of --policy and --set */
	bool changed;			/* options change the verdicts: compare nothing */
	struct seep_conf conf;		/* recorded configuration, changed by @given */
	u64 conf_changes;
	u64 series;
	struct shared shared;
	struct merge merge;
	u64 merged_pass;		/* number of the pass that merge knows of */
	bool merged_full;		/* it is a full one */
	struct totals totals;
	struct {			/* at rest and agree: no totals are shown */
		u64 n, before, lost;
	} hidden;
	struct json_object *list;	/* summaries of the series */
};

struct fed {				/* series->of */
	struct seep_det det;
	struct seep_watch watch;
	struct seep_verdict verdict;
	u8 accused;			/* the alert state it is in or left last, or 0 */
	u64 private, shmem;		/* bytes of it in the sums of struct shared */
	struct seep_growers own;	/* growth of it in the tally; 0: a group */
	struct merge_member member;	/* of its group; not that of a group */
	struct totals totals;
};

/* ---- feeding ---- */

static bool skipped(const struct series *s)
{
	return only_id && s->id != only_id;
}

static int begin(struct series_reader *r, struct series *s)
{
	struct replay *p = r->arg;
	struct fed *f;

	if (skipped(s))
		return 0;
	f = must(calloc(1, sizeof(*f)));
	seep_det_init(&f->det, &f->watch, s->begun_ns);
	f->det.window[0].faults = s->begun_faults;
	seep_det_inherit(&f->det, seep_granules(s->known_rise),
			 seep_ds(s->known_span_ns));
	s->of = f;
	if (alerts && !s->group)
		merge_join(&p->merge, &f->member, s, &f->det);
	p->series++;
	return 0;
}

static void take_conf(struct replay *p, const struct series_reader *r)
{
	unsigned int key;

	if (p->conf_changes == r->conf_changes)
		return;
	p->conf_changes = r->conf_changes;
	p->conf = r->conf;
	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		if (p->given.set[key])
			p->conf.v[key] = p->given.v[key];
}

static void compare(const struct series_reader *r, const struct series *s, struct fed *f)
{
	const struct seep_verdict *v = &f->verdict;
	const struct replay *p = r->arg;

	if (!s->judged || s->before || s->lost || p->changed)
		return;
	f->totals.compared++;
	if (v->state == s->state && v->confidence == s->confidence && v->tte_s == s->tte_s)
		return;
	f->totals.differing++;
	replay_difference(p->ctx, r, s, v);
}

/* ---- a limit that all processes of the file share ---- */

/* Same key as in the module: name, user and cgroup, as far as they were recorded. */
static bool member(const struct series *group, const struct series *s)
{
	const struct place *a = &group->place, *b = &s->place;

	return !s->group && !strcmp(group->comm, s->comm) &&
	       (!a->has_uid || !b->has_uid || a->uid == b->uid) &&
	       (!a->cgroup || !b->cgroup || !strcmp(a->cgroup, b->cgroup));
}

/* Adds up the growth of a group's members. */
static struct seep_growers growth_of(const struct series_reader *r, const struct series *group)
{
	struct seep_growers sum = { 0 };
	size_t i;

	for (i = 0; i < r->live_n; i++) {
		const struct fed *f = r->live[i]->of;

		if (f && member(group, r->live[i]))
			seep_growers_add(&sum, f->own.rate);
	}
	return sum;
}

/*
 * Shared memory counts once: the most that one process of the file maps. Recordings do not
 * say which of it is the same.
 */
static u64 most_shmem(const struct series_reader *r)
{
	u64 most = 0;
	size_t i;

	for (i = 0; i < r->live_n; i++) {
		const struct fed *f = r->live[i]->of;

		if (f && f->shmem > most)
			most = f->shmem;
	}
	return most;
}

/* Counts what a process holds. A group is the sum of processes that are counted. */
static void count(struct shared *below, const struct series *s, struct fed *f)
{
	if (s->group)
		return;
	below->private -= f->private;
	f->private = s->sample.anon + s->sample.swap;
	f->shmem = s->sample.shmem;
	below->private += f->private;
}

/* Puts the sample below the limit, as the module does with those of one cgroup. */
static void confine(struct series_reader *r, struct series *s, struct fed *f)
{
	struct replay *p = r->arg;
	struct shared *below = &p->shared;
	struct seep_growers own = f->own;
	u64 used;

	if (below->pass != r->pass) {
		if (below->full)
			seep_tally_close(&below->tally);
		below->pass = r->pass;
		below->full = s->sample.full;
	}
	count(below, s, f);
	used = below->private + most_shmem(r);
	s->sample.headroom = limit - (used < limit ? used : limit);
	s->sample.limit = SEEPAGE_LIMIT_CGROUP;
	s->sample.others_rate = 0;
	s->sample.others = 0;
	if (s->group)
		own = growth_of(r, s);
	if (s->group || f->det.state)
		seep_tally_others(&below->tally, &own, &s->sample);
}

/* Adds what a process grows by, as seep_share_judged() of the module does. */
static void share(struct shared *below, const struct series *s, struct fed *f)
{
	if (s->group)
		return;
	if (!seep_watched(f->det.state))
		f->own = (struct seep_growers){ 0 };
	else if (s->sample.full)
		f->own = (struct seep_growers){ f->verdict.rate, !!f->verdict.rate };
	if (s->sample.full)
		seep_growers_add(&below->tally.sum, f->own.rate);
}

/* Passes the verdict on to what says which alerts the module raises. */
static void merge(struct series_reader *r, const struct series *s, struct fed *f, u8 prev)
{
	struct replay *p = r->arg;

	if (p->merged_pass != r->pass) {
		if (p->merged_full)
			merge_full_pass_ended(&p->merge);
		p->merged_pass = r->pass;
		p->merged_full = s->sample.full;
	}
	p->merge.now_ns = r->pass_ns;
	if (s->group)
		merge_group_judged(&p->merge, s, &f->det, prev, growth_of(r, s).rate,
				   &f->verdict);
	else
		merge_judged(&p->merge, &f->member, prev, &f->verdict);
}

static int fed(struct series_reader *r, struct series *s)
{
	struct replay *p = r->arg;
	struct fed *f = s->of;
	struct seep_sample *now = &s->sample;
	u8 prev;

	if (!f)
		return 0;
	take_conf(p, r);
	if (limit)
		confine(r, s, f);
	if (no_cold) {
		now->cold_ns = 0;
		now->cold = 0;
	}
	prev = f->det.state;
	seep_det_feed(&f->det, now, &p->conf, &f->verdict);
	if (limit || alerts)		/* merge() asks for growth of the members */
		share(&p->shared, s, f);
	if (alerts)
		merge(r, s, f, prev);
	if (series_verdict_check(r, s, &f->verdict) < 0)
		return -1;
	f->totals.samples++;
	if (state_is_alert(f->verdict.state))
		f->accused = f->verdict.state;
	else if (f->verdict.state == SEEPAGE_STATE_RECOVERED)
		f->accused = SEEPAGE_STATE_OK;
	if (all || f->verdict.state != prev)
		replay_print(p->ctx, r->clock_ns, s, &f->det, &f->verdict, &p->conf, prev);
	compare(r, s, f);
	/* stop if the reader of stdout went away */
	return all && !(f->totals.samples % 256) && out_broken() ? -1 : 0;
}

/* ---- the end of a series ---- */

static void add_totals(struct json_object *o, const struct totals *t)
{
	json_object_object_add(o, "samples", json_object_new_uint64(t->samples));
	json_object_object_add(o, "compared", json_object_new_uint64(t->compared));
	json_object_object_add(o, "differing", json_object_new_uint64(t->differing));
}

/* With 100 series, those that are at rest and agree are not worth a line each. */
static bool hide(struct replay *p, const struct series *s, const struct fed *f)
{
	if (verbose || f->det.state != SEEPAGE_STATE_OK || f->totals.differing)
		return false;
	p->hidden.n++;
	p->hidden.before += s->before;
	p->hidden.lost += !s->before && s->lost;
	return true;
}

static void summarize(struct replay *p, const struct series *s, const struct fed *f)
{
	const char *why = s->before ? " (it began before the file)" :
			  s->lost ? " (samples were lost)" : "";
	struct json_object *o;

	if (!p->ctx->json) {
		if (hide(p, s, f))
			return;
		note(NULL, "replay: series %llu, pid %u (%s): %llu samples, %llu compared, "
		     "%llu differing%s, %s", s->id, s->pid, s->comm, f->totals.samples,
		     f->totals.compared, f->totals.differing, why, state_name(f->det.state));
		return;
	}
	o = replay_identity(s);
	add_totals(o, &f->totals);
	json_object_object_add(o, "state", json_object_new_string(state_name(f->det.state)));
	json_object_object_add(o, "history_before", json_object_new_boolean(s->before));
	json_object_object_add(o, "lost", json_object_new_boolean(s->lost));
	json_object_array_add(p->list, o);
}

static void gone(struct series_reader *r, struct series *s, bool ended)
{
	struct replay *p = r->arg;
	struct fed *f = s->of;

	if (!f)
		return;
	if (ended && f->accused) {	/* the kernel alerts only about accused processes */
		u8 prev = f->det.state;

		take_conf(p, r);
		seep_det_explain(&f->det, &s->sample, &p->conf, &f->verdict);
		series_verdict_check(r, s, &f->verdict);	/* run() looks at r->err */
		f->verdict.state = SEEPAGE_STATE_EXITED;
		replay_print(p->ctx, r->clock_ns, s, &f->det, &f->verdict, &p->conf, prev);
	}
	if (alerts && s->group)
		merge_group_gone(&p->merge, s, ended);
	else if (alerts)
		merge_leave(&p->merge, &f->member, ended);
	p->totals.samples += f->totals.samples;
	p->totals.compared += f->totals.compared;
	p->totals.differing += f->totals.differing;
	summarize(p, s, f);
	p->shared.private -= f->private;
	free(f);
}

static void told(void *arg, const struct merge_told *t)
{
	replay_alert(((struct replay *)arg)->ctx, t);
}

static void finish(struct replay *p)
{
	struct json_object *o, *outer;

	if (!p->ctx->json) {
		if (p->hidden.n)
			note(NULL, "replay: %llu series end in state ok, none of their samples "
			     "differs; -v lists them", p->hidden.n);
		if (p->hidden.before)
			note(NULL, "replay: %llu of them began before the file: not compared",
			     p->hidden.before);
		if (p->hidden.lost)
			note(NULL, "replay: %llu of them lost samples: not compared from there on",
			     p->hidden.lost);
		note(NULL, "replay: %llu series, %llu samples, %llu compared, %llu differing",
		     p->series, p->totals.samples, p->totals.compared, p->totals.differing);
		return;
	}
	outer = json_object_new_object();
	o = json_object_new_object();
	add_totals(o, &p->totals);
	json_object_object_add(o, "series", p->list);
	json_object_object_add(outer, "summary", o);
	p->list = NULL;
	out_json(p->ctx, outer);
}

/* Reads --policy and --set. Returns 0, or EXIT_USAGE after printing an error. */
static int take_options(struct replay *p)
{
	char err[CONF_ERR_MAX], *key, *eq;
	size_t i;
	bool ok;

	if (policy && !conf_add(&p->given, "policy", policy, err, sizeof(err)))
		return usage(p->ctx, "--%s", err);
	for (i = 0; i < settings.n; i++) {
		eq = strchr(settings.v[i], '=');
		if (!eq)
			return usage(p->ctx, "--set: '%s': allowed KEY=VALUE", settings.v[i]);
		key = must(strndup(settings.v[i], (size_t)(eq - settings.v[i])));
		ok = conf_add(&p->given, key, eq + 1, err, sizeof(err));
		free(key);
		if (!ok)
			return usage(p->ctx, "%s", err);
	}
	p->changed = policy || settings.n || limit || no_cold;
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct replay p = { .ctx = ctx };
	struct series_reader r = { .begin = begin, .fed = fed, .gone = gone, .arg = &p };
	bool from_stdin = !strcmp(argv[0], "-");
	int err = take_options(&p);
	FILE *f;

	if (err)
		return err;
	p.merge = (struct merge){ .conf = &p.conf, .tell = told, .arg = &p };
	f = from_stdin ? stdin : fopen(argv[0], "re");
	if (!f)
		return fail(ctx, "%s: %s", argv[0], strerror(errno));
	if (ctx->json)
		p.list = json_object_new_array();
	else
		out_fold();
	err = series_read(&r, f);
	if (!from_stdin)
		fclose(f);
	if (*r.err)		/* also from gone(), which cannot end the reading */
		err = fail(ctx, "%s: %s", argv[0], r.err);
	else if (!err && only_id && !p.series)
		err = fail(ctx, "%s: no series with number %llu", argv[0], only_id);
	else if (!err)
		finish(&p);
	json_object_put(p.list);
	merge_free(&p.merge);
	return err || p.totals.differing ? 1 : 0;
}

const struct command cmd_replay = {
	TOOL_REPLAY,
	.more = "FILE is a file of record, -: standard input. The module is not needed. replay\n"
		"prints each change of state, with -j one object a line. It compares every\n"
		"verdict with the recorded one, unless --policy, --set, --limit or --no-cold is\n"
		"given, and exits with status 1 if one differs. All processes of FILE share\n"
		"--limit.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
