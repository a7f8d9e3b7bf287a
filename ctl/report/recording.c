// SPDX-License-Identifier: GPL-2.0
/*
 * The sections of a recording: each series is fed to the detector, as replay does, and becomes a
 * section when it ends. The sections are sorted: those that were under alert first, then by what
 * they grew by.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "quiet/file.h"
#include "report/report.h"
#include "series/series.h"

#define LIFE_NS	2000000000ULL	/* between births of two lives of a pid */

struct section {
	unsigned int worst;	/* alert state, or 0 */
	s64 grew;
	char *html;
};

struct fed {			/* series->of */
	struct seep_det det;
	struct seep_watch watch;
	struct seep_verdict verdict;
	struct chart chart, faults;
	char *events, *reasons;	/* HTML */
	size_t events_n, reasons_n;
	FILE *events_file;
	unsigned int worst, alerts;
	double first, last;	/* bytes of its own */
	struct {		/* at the sample before */
		u64 ns, all, anon;
	} before;
	u64 samples;
	u16 cold;
	bool has_cold;
};

static double seconds(const struct series *s)
{
	return (double)(s->sample.time_ns - s->begun_ns) / 1e9;
}

static int begin(struct series_reader *r, struct series *s)
{
	const struct report_of *of = ((struct pages *)r->arg)->of;
	struct fed *f;

	if (of && (s->pid != of->pid || s->group != of->group ||
		   (*of->comm && strcmp(s->comm, of->comm))))
		return 0;
	f = must(calloc(1, sizeof(*f)));
	seep_det_init(&f->det, &f->watch, s->begun_ns);
	f->det.window[0].faults = s->begun_faults;
	seep_det_inherit(&f->det, seep_granules(s->known_rise), seep_ds(s->known_span_ns));
	f->events_file = must(open_memstream(&f->events, &f->events_n));
	f->chart.title = "memory over time, with its states";
	f->chart.x_name = "time since its history began";
	f->chart.line[0].name = "anonymous, swap, shared";
	f->chart.line[1].name = "resident (RSS)";
	f->chart.line[2].name = "of files";
	f->chart.line[3].name = "swapped out";
	f->chart.lines = 4;
	f->faults.title = "page faults a second over time";
	f->faults.x_name = f->chart.x_name;
	f->faults.counts = true;
	f->faults.line[0].name = "page faults a second";
	f->faults.line[1].name = "anonymous";
	f->faults.lines = 2;
	s->of = f;
	return 0;
}

/* Keeps the reasons of the last verdict; those of an alert are not replaced by those of ok. */
static void keep_reasons(struct fed *f, const struct message *msg)
{
	FILE *m;

	free(f->reasons);
	f->reasons = NULL;
	m = must(open_memstream(&f->reasons, &f->reasons_n));
	html_reasons(m, msg);
	must(fclose(m) ? NULL : f->reasons);
}

/* A row of the table of changes of state */
static void event(struct series_reader *r, struct series *s, struct fed *f, u8 prev)
{
	unsigned int state = f->verdict.state;
	bool alert = state_is_alert(state);
	struct pages *pages = r->arg;
	char text[SENTENCE_MAX], since[64], when[64], label[32] = "";
	struct series_verdict t;

	series_verdict_message(&t, s, &f->det, &f->verdict, &r->conf, prev);
	fmt_seconds(since, sizeof(since), (u64)seconds(s));
	sentence_alert(&t.msg, NULL, text, sizeof(text));
	if (alert || state == SEEPAGE_STATE_EXITED)
		snprintf(label, sizeof(label), "%s", state_name(state));
	if (r->clock_ns)
		fprintf(f->events_file, "<tr><td class=\"n\">%s</td>",
			fmt_time(when, sizeof(when), r->clock_ns + s->sample.time_ns));
	else
		fputs("<tr>", f->events_file);
	fprintf(f->events_file, "<td class=\"n\">%s</td><td><span class=\"s s%u\">%s</span>"
		"</td><td>", since, state, state_name(state));
	html_text(f->events_file, text);
	if (alert) {
		sentence_factors(&t.msg, text, sizeof(text));
		fputs("<br><span class=\"m\">", f->events_file);
		html_text(f->events_file, text);
		fputs("</span>", f->events_file);
		f->worst = state > f->worst ? state : f->worst;
		f->alerts++;
		pages->alerts++;
	}
	fputs("</td></tr>\n", f->events_file);
	chart_mark(&f->chart, seconds(s), state, label);
	if (alert || !f->worst)
		keep_reasons(f, &t.msg);
	series_verdict_free(&t);
}

/* The rate of each time between two samples is at the end of that time. */
static void fault_rates(struct fed *f, const struct series *s)
{
	const struct seep_sample *now = &s->sample;
	double took = (double)(now->time_ns - f->before.ns) / 1e9;

	if (f->samples && took > 0 && now->faults >= f->before.all &&
	    now->faults_anon >= f->before.anon) {
		chart_add(&f->faults.line[0], seconds(s),
			  (double)(now->faults - f->before.all) / took);
		chart_add(&f->faults.line[1], seconds(s),
			  (double)(now->faults_anon - f->before.anon) / took);
	}
	f->before.ns = now->time_ns;
	f->before.all = now->faults;
	f->before.anon = now->faults_anon;
}

static int fed(struct series_reader *r, struct series *s)
{
	const struct seep_sample *now = &s->sample;
	struct pages *pages = r->arg;
	struct fed *f = s->of;
	u8 prev;

	if (!f)
		return 0;
	prev = f->det.state;
	seep_det_feed(&f->det, now, &r->conf, &f->verdict);
	if (series_verdict_check(r, s, &f->verdict) < 0)
		return -1;
	f->last = (double)(now->anon + now->swap + now->shmem);
	fault_rates(f, s);
	if (!f->samples++)
		f->first = f->last;
	chart_add(&f->chart.line[0], seconds(s), f->last);
	chart_add(&f->chart.line[1], seconds(s), (double)seep_rss(now));
	chart_add(&f->chart.line[2], seconds(s), (double)now->file);
	chart_add(&f->chart.line[3], seconds(s), (double)now->swap);
	if (now->cold_ns) {
		f->cold = now->cold;
		f->has_cold = true;
	}
	pages->samples++;
	if (!pages->begun_ns)
		pages->begun_ns = now->time_ns;
	pages->ended_ns = now->time_ns;
	if (f->verdict.state != prev)
		event(r, s, f, prev);
	return 0;
}

/* The name is that which the user has here: the recording has none. */
static void user_fact(FILE *out, const struct place *p)
{
	const struct passwd *pw = p->has_uid ? getpwuid(p->uid) : NULL;
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%u", p->uid);
	if (pw)
		sentence_append(text, sizeof(text), ", here %s", pw->pw_name);
	html_fact(out, "user id", p->has_uid ? text : "");
}

static void facts(FILE *out, const struct series *s, const struct fed *f)
{
	char text[TEXT_MAX], a[32], b[32];

	fputs("<table>\n", out);
	html_fact(out, "executable", s->place.exe);
	html_fact(out, "cgroup", s->place.cgroup);
	unit_show(s->place.cgroup, text, sizeof(text));
	html_fact(out, "unit", text);
	html_fact(out, "container", container_text(s->place.cgroup, text, sizeof(text)));
	user_fact(out, &s->place);
	snprintf(text, sizeof(text), "%s, at first %s", fmt_bytes(a, sizeof(a), (u64)f->last),
		 fmt_bytes(b, sizeof(b), (u64)f->first));
	html_fact(out, "memory of its own", text);
	snprintf(text, sizeof(text), "%llu, anonymous %llu", s->sample.faults,
		 s->sample.faults_anon);
	html_fact(out, "page faults", text);
	snprintf(text, sizeof(text), "%u.%u %% of what it gained", f->cold / 10, f->cold % 10);
	html_fact(out, "not used again", f->has_cold ? text : "nobody looked");
	snprintf(text, sizeof(text), "%u permille of the usual cache and TLB misses",
		 s->sample.pmc);
	html_fact(out, "hardware counters", s->sample.pmc ? text : "");
	snprintf(text, sizeof(text), "%llu%s%s", f->samples, s->before ?
		 "; its history began before the recording" : "", s->lost ?
		 "; samples were lost" : "");
	html_fact(out, "samples", text);
	fputs("</table>\n", out);
}

/*
 * Is the series that of an earlier life of the pid? A program that is executed begins another. The
 * birth of a live process is known from its age, of which a second is lost.
 */
static bool of_another_life(const struct pages *p, const struct series *s)
{
	u64 born_ns = p->of ? p->of->born_ns : 0;

	return born_ns && (s->born_ns > born_ns + LIFE_NS || born_ns > s->born_ns + LIFE_NS);
}

static char *section(struct series *s, struct fed *f, u64 clock_ns)
{
	char *html = NULL;
	size_t n = 0;
	FILE *out = must(open_memstream(&html, &n));

	f->chart.zero_ns = clock_ns ? clock_ns + s->begun_ns : 0;
	f->faults.zero_ns = f->chart.zero_ns;
	fprintf(out, "<section>\n<h2>%s %u: ", s->group ? "group of pid" : "pid", s->pid);
	html_text(out, s->comm);
	fprintf(out, " <span class=\"s s%u\">%s</span></h2>\n",
		f->worst ? f->worst : f->verdict.state,
		state_name(f->worst ? f->worst : f->verdict.state));
	chart_prune(&f->chart);
	chart_draw(out, &f->chart);
	chart_prune(&f->faults);
	chart_draw(out, &f->faults);
	facts(out, s, f);
	if (f->events_n)
		fprintf(out, "<h3>Changes of state</h3>\n<table>\n%s</table>\n", f->events);
	if (f->reasons)
		fprintf(out, "<details%s><summary>Why: gates and factors of the last %s</summary>\n"
			"%s</details>\n", f->worst ? " open" : "", f->worst ? "alert" : "verdict",
			f->reasons);
	fputs("</section>\n", out);
	must(fclose(out) ? NULL : html);
	return html;
}

/* @ended: the process has exited; else the recording or its history ended */
static void gone(struct series_reader *r, struct series *s, bool ended)
{
	struct pages *p = r->arg;
	struct fed *f = s->of;
	struct series_verdict t;
	u8 prev;

	if (!f)
		return;
	prev = f->det.state;
	if (f->samples && !of_another_life(p, s)) {
		seep_det_explain(&f->det, &s->sample, &r->conf, &f->verdict);
		if (ended && state_is_alert(prev)) {
			f->verdict.state = SEEPAGE_STATE_EXITED;
			event(r, s, f, prev);
		} else if (!f->worst || state_is_alert(prev)) {
			series_verdict_message(&t, s, &f->det, &f->verdict, &r->conf, prev);
			keep_reasons(f, &t.msg);
			series_verdict_free(&t);
		}
		fflush(f->events_file);
		if (p->n == p->capacity) {
			p->capacity = p->capacity ? 2 * p->capacity : 64;
			p->v = must(realloc(p->v, p->capacity * sizeof(*p->v)));
		}
		p->v[p->n++] = (struct section){ f->worst, (s64)(f->last - f->first),
						 section(s, f, r->clock_ns) };
	}
	fclose(f->events_file);
	free(f->events);
	free(f->reasons);
	chart_free(&f->chart);
	chart_free(&f->faults);
	free(f);
	s->of = NULL;
}

/**
 * pages_read() - read a recording
 * @p: @of says what is wanted; gets a section of each series
 * @r: zeros; afterwards says what was wrong, as after series_read()
 *
 * Return: that of series_read().
 */
int pages_read(struct pages *p, struct series_reader *r, FILE *in)
{
	int err;

	r->begin = begin;
	r->fed = fed;
	r->gone = gone;
	r->arg = p;
	err = series_read(r, in);
	p->clock_ns = r->clock_ns;
	return err;
}

static int by_urgency(const void *x, const void *y)
{
	const struct section *a = x, *b = y;

	if (a->worst != b->worst)
		return a->worst < b->worst ? 1 : -1;
	return a->grew < b->grew ? 1 : a->grew > b->grew ? -1 : 0;
}

/* What a crash or a full disk has left is worth a page. */
static void note_cut(const struct ctx *ctx, const char *path, const struct series_reader *r,
		     FILE *f)
{
	note(ctx, "%s: %s: the page has what is before", path, r->err);
	fprintf(f, "<p><b>The recording ends within line %lu: it was cut off, or is being written. "
		"This page has what is before.</b></p>\n", r->line);
}

static void overview(FILE *f, const char *path, const struct pages *p, const struct conf *c)
{
	char text[256], took[64], from[64], to[64];
	size_t i, accused = 0;

	for (i = 0; i < p->n; i++)
		accused += p->v[i].worst > 0;
	fputs("<table>\n", f);
	html_fact(f, "recording", path);
	snprintf(text, sizeof(text), "%zu processes and groups, %llu samples", p->n, p->samples);
	html_fact(f, "series", text);
	fmt_seconds(took, sizeof(took), (p->ended_ns - p->begun_ns) / 1000000000);
	snprintf(text, sizeof(text), "%s", took);
	if (p->clock_ns)
		sentence_append(text, sizeof(text), ", from %s to %s %s",
				fmt_time(from, sizeof(from), p->clock_ns + p->begun_ns),
				fmt_time(to, sizeof(to), p->clock_ns + p->ended_ns), html_zone());
	html_fact(f, "time", text);
	snprintf(text, sizeof(text), "%zu series, %llu alerts", accused, p->alerts);
	html_fact(f, "under alert", text);
	html_fact(f, "policy", policy_name(c->v[SEEPAGE_CFG_POLICY]));
	fputs("</table>\n<p class=\"m\">Bands: yellow is state watch, orange and red are alerts; "
	      "the dashed lines say when each alert was raised.</p>\n", f);
}

/* Writes the sections, in their order, and frees them. */
void pages_write(FILE *f, struct pages *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		fputs(p->v[i].html, f);
		free(p->v[i].html);
	}
	free(p->v);
}

int report_recording(const struct ctx *ctx, const char *path, FILE *f)
{
	struct pages p = { 0 };
	struct series_reader r = { 0 };
	bool from_stdin = !strcmp(path, "-");
	FILE *in = from_stdin ? stdin : fopen(path, "re");
	struct conf c = { 0 };
	int status = 0;

	if (!in)
		return fail(ctx, "%s: %s", path, strerror(errno));
	if ((pages_read(&p, &r, in) || *r.err) && !(r.cut && p.n))
		status = fail(ctx, "%s: %s", path, r.err);
	if (!from_stdin)
		fclose(in);
	if (p.n)
		qsort(p.v, p.n, sizeof(*p.v), by_urgency);
	if (!status && r.cut)
		note_cut(ctx, path, &r, f);
	c.v[SEEPAGE_CFG_POLICY] = r.conf.v[SEEPAGE_CFG_POLICY];
	overview(f, path, &p, &c);
	pages_write(f, &p);
	return status;
}
