// SPDX-License-Identifier: GPL-2.0
/*
 * The input is a recording. The reader feeds the detector, as replay does, and the writer.
 * A file that is accepted means the same when it is written out and read again.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "series/series.h"

#define SERIES_MAX	64		/* that are written again */
#define FED_MAX		4096

struct feeding {			/* what one reading fed */
	struct seep_sample sample;
	u64 begun_ns, tte_s, cpu_ns, maps;	/* told, not fed */
	u32 pid, begun_faults;
	u64 known_rise, known_span_ns;
	u8 state, confidence;
};

struct reading {
	struct feeding fed[FED_MAX];
	size_t n;
	struct series_writer *w;	/* NULL: the second time */
	u64 pass, ids;
	bool odd;			/* the kernel does not tell such things */
};

static int begin(struct series_reader *r, struct series *s)
{
	struct reading *k = r->arg;
	struct seep_det *d = must(malloc(sizeof(*d) + sizeof(struct seep_watch)));

	seep_det_init(d, (struct seep_watch *)(d + 1), s->begun_ns);
	d->window[0].faults = s->begun_faults;
	seep_det_inherit(d, seep_granules(s->known_rise),
			 seep_ds(s->known_span_ns));
	s->of = d;
	/* what comes out of the kernel is a process, known from its first sample */
	if (k->w) {
		k->ids++;
		s->pid = (u32)k->ids;
	}
	k->odd |= s->group || s->before || strlen(s->comm) >= SEEPAGE_COMM_LEN;
	return 0;
}

static void conf_of(const struct series_reader *r, struct conf *c)
{
	unsigned int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		c->set[key] = true;
		c->v[key] = r->conf.v[key];
	}
}

static void write_again(struct series_reader *r, struct reading *k, const struct series *s,
			const struct feeding *f)
{
	struct seepage_raw_sample raw = {
		.id = s->pid, .pid = s->pid, .time_ns = f->sample.time_ns,
		.age_ns = f->sample.age_ns, .anon = f->sample.anon, .file = f->sample.file,
		.shmem = f->sample.shmem, .swap = f->sample.swap, .vsz = f->sample.vsz,
		.faults = f->sample.faults, .faults_anon = f->sample.faults_anon,
		.headroom = f->sample.headroom, .pgtables = f->sample.pgtables,
		.cpu_ns = f->cpu_ns, .cold_ns = f->sample.cold_ns,
		.begun_ns = f->begun_ns, .tte_s = f->tte_s, .begun_faults = f->begun_faults,
		.known_rise = f->known_rise, .known_span_ns = f->known_span_ns,
		.error = f->sample.error, .maps = (u32)f->maps, .cold = f->sample.cold,
		.peers = f->sample.peers, .peers_growing = f->sample.peers_growing,
		.pmc = f->sample.pmc, .others = f->sample.others,
		.others_rate = seep_bytes(f->sample.others_rate),
		.limit = f->sample.limit, .page_shift = f->sample.page_shift,
		.state = f->state, .confidence = f->confidence,
	};
	struct conf c = { 0 };

	memcpy(raw.comm, s->comm, strlen(s->comm));
	if (k->pass != r->pass) {
		if (k->pass)
			series_write_pass_end(k->w);
		conf_of(r, &c);
		k->w->clock_ns = r->clock_ns;
		series_write_pass(k->w, r->pass_ns, f->sample.full, r->headroom, r->shmem_total, &c,
				  true);
		k->pass = r->pass;
	}
	raw.first = ((struct seep_det *)s->of)->samples == 1;
	series_write_sample(k->w, &raw);
}

static int fed(struct series_reader *r, struct series *s)
{
	struct reading *k = r->arg;
	struct seep_verdict v;
	struct feeding *f;

	seep_det_feed(s->of, &s->sample, &r->conf, &v);
	promise(v.state <= SEEPAGE_STATE_MAX && v.confidence <= 100, "verdict %u %u", v.state,
		v.confidence);
	if (k->n == FED_MAX || r->live_n > SERIES_MAX)
		k->odd = true;
	if (k->odd)
		return 0;
	f = &k->fed[k->n++];
	memset(f, 0, sizeof(*f));
	f->sample = s->sample;
	f->begun_ns = s->begun_ns;
	f->begun_faults = s->begun_faults;
	f->known_rise = s->known_rise;
	f->known_span_ns = s->known_span_ns;
	f->pid = s->pid;
	f->state = s->state;
	f->confidence = s->confidence;
	f->tte_s = s->tte_s;
	f->cpu_ns = s->v[FIELD_CPU];
	f->maps = (u32)s->v[FIELD_MAPS];
	if (k->w)
		write_again(r, k, s, f);
	return 0;
}

static void gone(struct series_reader *r, struct series *s, bool ended)
{
	struct reading *k = r->arg;

	if (k->w && !k->odd)
		series_write_gone(k->w, s->pid);
	free(s->of);
}

static int read_text(struct reading *k, const char *text, size_t len)
{
	struct series_reader r = { .begin = begin, .fed = fed, .gone = gone, .arg = k };
	FILE *f = must(fmemopen((void *)text, len ? len : 1, "r"));
	int err = series_read(&r, f);

	fclose(f);
	promise(err ? strlen(r.err) > strlen("line 1: ") : !*r.err, "%d: '%s'", err, r.err);
	promise(strlen(r.err) < sizeof(r.err) - 1, "a reason without an end");
	return err;
}

/*
 * The order of processes within a pass may differ, so the samples of each are compared by
 * themselves: the next one of @pid.
 */
static const struct feeding *next_of(const struct reading *k, size_t *i, u32 pid)
{
	while (*i < k->n && k->fed[*i].pid != pid)
		++*i;
	return *i < k->n ? &k->fed[(*i)++] : NULL;
}

static void promise_same(const struct reading *a, const struct reading *b)
{
	const struct feeding *x, *y;
	size_t i, k;
	u32 pid;

	promise(a->n == b->n, "%zu samples were read, %zu written", a->n, b->n);
	for (pid = 1; pid <= a->ids; pid++) {
		for (i = 0, k = 0; (x = next_of(a, &i, pid)); ) {
			y = next_of(b, &k, pid);
			promise(y && !memcmp(x, y, sizeof(*x)), "sample %zu of %u differs", i, pid);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct reading first, second;
	struct series_writer w = { .arg = NULL };
	char *text = NULL;
	size_t len = 0;
	FILE *f = must(open_memstream(&text, &len));
	int err;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	first.w = &w;
	series_write_begin(&w, f);
	err = read_text(&first, (const char *)data, size);
	if (first.pass)
		series_write_pass_end(&w);
	promise(!series_write_close(&w), "writing to memory failed");
	fclose(f);
	if (!err && !first.odd) {
		promise(!read_text(&second, text, len), "refused what it had written: %s", text);
		promise_same(&first, &second);
	}
	free(text);
	return 0;
}
