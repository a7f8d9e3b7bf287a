// SPDX-License-Identifier: GPL-2.0
/*
 * Writes series as text: for every sample the values that changed since the last one
 * of the process. A pass is written to the file when it is complete. A full pass without
 * a line of a series means that no value changed: the reader feeds the last values again.
 * So a process that exited before it was sampled in a full pass gets a line "gone".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "series/series.h"

struct written {
	u64 id, number;			/* id in the kernel; number in the file */
	bool skip;			/* not written */
	u8 page_shift;
	u64 v[FIELDS];
	u64 born_ns;
	u8 state, confidence;
	u64 tte_s;
	u64 use_ms;			/* time of the curve that was written last */
	u64 sampled, lined;		/* pass of the last sample; of the last line */
	size_t at;			/* index in live */
};

static void __printf(2, 3) add(struct series_writer *w, const char *fmt, ...)
{
	va_list ap;
	int len;

	for (;;) {
		va_start(ap, fmt);
		len = vsnprintf(w->text + w->n, w->text_capacity - w->n, fmt, ap);
		va_end(ap);
		if (len >= 0 && (size_t)len < w->text_capacity - w->n)
			break;
		w->text_capacity = 2 * w->text_capacity + (size_t)(len > 0 ? len : 0);
		w->text = must(realloc(w->text, w->text_capacity));
	}
	w->n += (size_t)len;
}

/* Adds KEY=NAME as one word. Blanks and other odd bytes become %XX. */
static void add_name(struct series_writer *w, const char *key, const char *s, size_t len)
{
	add(w, " %s=", key);
	for (; len && *s; s++, len--) {
		if (*s > ' ' && *s < 0x7f && *s != '%')
			add(w, "%c", *s);
		else
			add(w, "%%%02X", (unsigned char)*s);
	}
}

static int flush(struct series_writer *w)
{
	errno = 0;
	w->bytes += w->n;
	if (!w->err && w->n && (fwrite(w->text, 1, w->n, w->out) != w->n || fflush(w->out)))
		w->err = errno ? errno : EIO;
	w->n = 0;
	return -w->err;
}

void series_write_begin(struct series_writer *w, FILE *out)
{
	w->out = out;
	w->text_capacity = 4096;
	w->text = must(malloc(w->text_capacity));
	add(w, SERIES_MAGIC "\n");
	flush(w);
}

static void add_conf(struct series_writer *w, const struct conf *c)
{
	char value[TEXT_MAX];
	bool any = false;
	unsigned int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		if (!c->set[key] || (w->conf.set[key] && w->conf.v[key] == c->v[key]))
			continue;
		cfg_value_text(key, c->v[key], value, sizeof(value));
		add(w, "%s %s=%s", any ? "" : "conf", cfg_keys[key].name, value);
		any = true;
	}
	if (any)
		add(w, "\n");
	w->conf = *c;
}

/* Written anew where the clock was set, or the machine slept; slewing stays below a second. */
static void add_clock(struct series_writer *w)
{
	u64 was = w->clock_written_ns, now = w->clock_ns;

	if (!now || (was && (now > was ? now - was : was - now) < 1000000000))
		return;
	add(w, SERIES_CLOCK "%llu\n", now);
	w->clock_written_ns = now;
}

/*
 * Begins a pass. An earlier pass that was not ended is written as far as it came.
 * @gap: messages were lost, so the beginning of this pass may be missing
 */
void series_write_pass(struct series_writer *w, u64 ns, bool full, u64 headroom_bytes,
		       u64 shmem_total_bytes, const struct conf *c, bool gap)
{
	if (w->in_pass) {
		w->missed = true;
		series_write_pass_end(w);
	}
	add_conf(w, c);
	add_clock(w);
	w->pass_at = w->n;
	add(w, "pass %llu %s %llu %llu\n", ns - w->written_ns, full ? "full" : "short",
	    headroom_bytes, shmem_total_bytes);
	w->pass_end = w->n;
	w->pass_ns = ns;
	w->headroom_bytes = headroom_bytes;
	w->pass++;
	w->in_pass = true;
	w->full = full;
	w->missed = gap;
	w->pass_samples = 0;
}

static void values_of(const struct seepage_raw_sample *s, u64 v[FIELDS])
{
	v[FIELD_ANON] = s->anon >> s->page_shift;
	v[FIELD_FILE] = s->file >> s->page_shift;
	v[FIELD_SHMEM] = s->shmem >> s->page_shift;
	v[FIELD_SWAP] = s->swap >> s->page_shift;
	v[FIELD_VSZ] = s->vsz >> s->page_shift;
	v[FIELD_PGTABLES] = s->pgtables >> s->page_shift;
	v[FIELD_FAULTS] = s->faults;
	v[FIELD_FAULTS_ANON] = s->faults_anon;
	v[FIELD_MAPS] = s->maps;
	v[FIELD_CPU] = s->cpu_ns;
	v[FIELD_ERROR] = s->error;
	v[FIELD_LIMIT] = s->limit;
	v[FIELD_COLD] = s->cold;
	v[FIELD_COLD_NS] = s->cold_ns;
	v[FIELD_PEERS] = s->peers;
	v[FIELD_PEERS_GROWING] = s->peers_growing;
	v[FIELD_PMC] = s->pmc;
	v[FIELD_HEAP] = s->heap;
	v[FIELD_OTHERS_RATE] = s->others_rate;
	v[FIELD_OTHERS] = s->others;
}

static struct written *new_series(struct series_writer *w, u64 id)
{
	struct written *k = must(calloc(1, sizeof(*k)));

	if (w->live_n == w->live_capacity) {
		w->live_capacity = w->live_capacity ? 2 * w->live_capacity : 64;
		w->live = must(realloc(w->live, w->live_capacity * sizeof(*w->live)));
	}
	k->id = id;
	k->at = w->live_n;
	w->live[w->live_n++] = k;
	series_map_put(&w->map, id, k);
	return k;
}

static void drop(struct series_writer *w, struct written *k)
{
	series_map_del(&w->map, k->id);
	w->shown -= !k->skip;
	w->live[k->at] = w->live[--w->live_n];
	w->live[k->at]->at = k->at;
	free(k);
}

static struct written *begin(struct series_writer *w, const struct seepage_raw_sample *s)
{
	struct written *k = new_series(w, s->id);
	struct place p = { 0 };

	k->skip = (w->whole && !s->first) || (w->wanted && !w->wanted(w->arg, s));
	if (k->skip)
		return k;
	w->shown++;
	k->number = ++w->series;
	k->page_shift = s->page_shift;
	k->born_ns = s->time_ns - s->age_ns;
	k->tte_s = SEEP_UNKNOWN;
	add(w, "proc %llu pid=%u%s", k->number, s->pid,
	    s->kind == SEEPAGE_KIND_GROUP ? " kind=group" : "");
	add_name(w, "comm", s->comm, sizeof(s->comm));
	add(w, " born_ns=%llu begun_ns=%llu begun_faults=%u page_shift=%u", k->born_ns,
	    s->first ? s->begun_ns : s->time_ns, s->begun_faults, s->page_shift);
	if (!s->first)
		add(w, " history=before");
	if (s->known_rise || s->known_span_ns)
		add(w, " known_rise=%llu known_span_ns=%llu", s->known_rise, s->known_span_ns);
	if (w->place && w->place(w->arg, s, &p)) {
		if (p.has_uid)
			add(w, " uid=%u", p.uid);
		if (p.exe)
			add_name(w, "exe", p.exe, strlen(p.exe));
		if (p.cgroup)
			add_name(w, "cgroup", p.cgroup, strlen(p.cgroup));
		place_free(&p);
	}
	add(w, "\n");
	return k;
}

/* Begins a line with the number of the series, once in a pass. */
static void line(struct series_writer *w, struct written *k)
{
	if (k->lined != w->pass)
		add(w, "%llu", k->number);
	k->lined = w->pass;
}

static void add_values(struct series_writer *w, struct written *k, const u64 v[FIELDS])
{
	const struct series_field *f = series_fields;
	int i;

	for (i = 0; i < FIELDS; i++, f++) {
		if (v[i] == k->v[i])
			continue;
		line(w, k);
		if (f->difference)
			add(w, " %c%+lld", f->letter, (s64)(v[i] - k->v[i]));
		else
			add(w, " %c%llu", f->letter, v[i]);
		k->v[i] = v[i];
	}
}

static void add_verdict(struct series_writer *w, struct written *k,
			const struct seepage_raw_sample *s, bool all)
{
	if (all || s->state != k->state) {
		line(w, k);
		add(w, " S%u", s->state);
	}
	if (all || s->confidence != k->confidence) {
		line(w, k);
		add(w, " C%u", s->confidence);
	}
	if (s->tte_s != k->tte_s) {
		line(w, k);
		if (s->tte_s == SEEP_UNKNOWN)
			add(w, " T-");
		else
			add(w, " T%llu", s->tte_s);
	}
	k->state = s->state;
	k->confidence = s->confidence;
	k->tte_s = s->tte_s;
}

/* Writes " y1004:980,5007:810" for a curve that has not been written. */
static void add_use(struct series_writer *w, struct written *k, const struct seepage_raw_sample *s)
{
	struct cold_kept kept;
	u32 i;

	if (!w->use || !w->use(w->arg, s, &kept) || kept.time_ms == k->use_ms)
		return;
	line(w, k);
	for (i = 0; i < kept.curve.n; i++)
		add(w, "%s%u:%u", i ? "," : " y", kept.curve.at[i].ms,
		    kept.curve.at[i].permille);
	k->use_ms = kept.time_ms;
}

static void add_sample(struct series_writer *w, struct written *k,
		       const struct seepage_raw_sample *s)
{
	u64 born = s->time_ns - s->age_ns, v[FIELDS];
	bool first = !k->sampled;

	if (first || !w->full)
		line(w, k);
	values_of(s, v);
	add_values(w, k, v);
	add_use(w, k, s);
	if (s->time_ns != w->pass_ns) {
		line(w, k);
		add(w, " t%llu", s->time_ns - w->pass_ns);
	}
	if (born != k->born_ns) {
		line(w, k);
		add(w, " b%llu", born);
		k->born_ns = born;
	}
	if (s->headroom != w->headroom_bytes) {
		line(w, k);
		add(w, " h%llu", s->headroom);
	}
	add_verdict(w, k, s, first);
	if (k->lined == w->pass)
		add(w, "\n");
	k->sampled = w->pass;
}

/* Ends a series: the process exited, or its history was reset (@reset). */
static void gone(struct series_writer *w, struct written *k, bool reset)
{
	/* a line for an unchanged sample of this pass, or the reader would not feed it */
	if (!k->skip && k->sampled == w->pass && k->lined != w->pass && w->pass)
		add(w, "%llu\n", k->number);
	if (!k->skip)
		add(w, "gone %llu%s\n", k->number, reset ? " why=reset" : "");
	drop(w, k);
}

void series_write_sample(struct series_writer *w, const struct seepage_raw_sample *s)
{
	struct written *k = series_map_get(&w->map, s->id);

	if (k && s->first) {		/* its history was reset */
		gone(w, k, true);
		k = NULL;
	}
	if (k && k->skip && w->later && w->wanted(w->arg, s)) {
		drop(w, k);
		k = NULL;
	}
	if (!k)
		k = begin(w, s);
	if (k->skip) {
		k->sampled = w->pass;
		return;
	}
	add_sample(w, k, s);
	w->pass_samples++;
}

/* Ends a complete pass. Returns 0, or -errno if writing failed. */
int series_write_pass_end(struct series_writer *w)
{
	size_t i = 0;

	w->in_pass = false;
	while (w->full && !w->missed && i < w->live_n) {
		if (w->live[i]->sampled == w->pass)
			i++;
		else
			gone(w, w->live[i], false);
	}
	if (w->full && !w->missed)
		w->passes++;
	w->samples += w->pass_samples;
	if (w->sparse && !w->shown && w->n == w->pass_end)
		w->n = w->pass_at;
	else
		w->written_ns = w->pass_ns;
	return flush(w);
}

void series_write_gone(struct series_writer *w, u64 id)
{
	struct written *k = series_map_get(&w->map, id);

	if (k)
		gone(w, k, false);
}

/* The lost messages belong to the pass being written, or to an earlier one. */
void series_write_lost(struct series_writer *w, u64 messages)
{
	add(w, "lost %llu\n", messages);
	w->lost += messages;
	w->missed = true;
}

/*
 * Goes on in another file, @out, between two passes. Series that live begin anew in it, with a
 * history before it, which @whole does not leave out: they began whole in the file before.
 * Returns 0, or -errno of the first write that failed.
 */
int series_write_again(struct series_writer *w, FILE *out)
{
	while (w->live_n)
		drop(w, w->live[0]);
	memset(&w->conf, 0, sizeof(w->conf));
	w->whole = false;
	w->out = out;
	w->written_ns = 0;
	w->clock_written_ns = 0;
	w->bytes = 0;
	add(w, SERIES_MAGIC "\n");
	return flush(w);
}

/*
 * Frees the writer and writes what is left, without a pass that has not ended: samples
 * may be missing. Returns 0, or -errno of the first write that failed.
 */
int series_write_close(struct series_writer *w)
{
	if (w->in_pass)
		w->n = 0;
	flush(w);
	while (w->live_n)
		drop(w, w->live[0]);
	free(w->live);
	free(w->map.slot);
	free(w->text);
	return -w->err;
}
