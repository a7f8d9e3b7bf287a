// SPDX-License-Identifier: GPL-2.0
/*
 * Series as text. A series that was written is read back unchanged, sample by sample.
 * Invalid text is refused with the line, the word and what is allowed.
 */
#include "series/series.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define NPROC	24
#define NPASS	300
#define PAGE	4096ULL

/* ---- round trip ---- */

struct life {			/* of one series, as the kernel tells it */
	struct seepage_raw_sample fed[NPASS];
	bool full[NPASS];
	size_t n, read;
	bool ended;
};

static struct life lives[NPROC * 8];
static unsigned int nlives, seed;
static struct conf running;

static u32 below(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void change(u64 *v, u64 unit)
{
	switch (below(6)) {
	case 0:
		*v += (1 + below(1000)) * unit;
		break;
	case 1:
		if (*v >= unit)
			*v -= (1 + below((u32)(*v / unit < 1000 ? *v / unit : 1000))) * unit;
	}
}

static void change_sample(struct seepage_raw_sample *s)
{
	u64 maps = s->maps, error = s->error;

	change(&s->anon, PAGE);
	change(&s->file, PAGE);
	change(&s->shmem, PAGE);
	change(&s->swap, PAGE);
	change(&s->vsz, PAGE);
	change(&s->pgtables, PAGE);
	s->faults += below(3) ? 0 : below(100000);
	s->faults_anon += below(3) ? 0 : below(10000);
	change(&s->cpu_ns, 1);
	change(&s->heap, 1);
	change(&maps, 1);
	change(&error, 1);
	s->maps = (u32)maps;
	s->error = (u32)error;
	s->limit = below(8) ? s->limit : (u8)below(__SEEPAGE_LIMIT_MAX);
	s->cold = below(8) ? s->cold : (u16)below(1001);
	s->cold_ns = below(8) ? s->cold_ns : below(1000000);
	s->peers = below(8) ? s->peers : (u16)below(65536);
	s->peers_growing = below(8) ? s->peers_growing : (u16)below(65536);
	s->pmc = below(8) ? s->pmc : (u16)below(65536);
	s->others_rate = below(8) ? s->others_rate : (u64)below(1000000) << 10;
	s->others = below(8) ? s->others : below(65536);
	s->state = below(4) ? s->state : (u8)below(__SEEPAGE_STATE_MAX);
	s->confidence = below(4) ? s->confidence : (u8)below(101);
	s->tte_s = below(4) ? s->tte_s : below(3) ? below(100000) : SEEP_UNKNOWN;
}

struct proc {			/* one that runs */
	struct seepage_raw_sample s;
	struct life *life;
	u64 born_ns;
};

static void be_born(struct proc *p, u64 id, u64 now)
{
	memset(p, 0, sizeof(*p));
	p->s.id = id;
	p->s.first = 1;
	p->s.page_shift = 12;
	p->s.tte_s = SEEP_UNKNOWN;
	p->born_ns = now > 5000 ? now - below(5000) : now;
	p->s.begun_ns = now / 100000000 * 100000000;
	p->s.begun_faults = below(1000);
	p->s.known_rise = below(2) * 0x4000ULL * below(1000);
	p->s.known_span_ns = below(2) * 100000000ULL * below(1000);
	snprintf(p->s.comm, sizeof(p->s.comm), "%s", below(2) ? "a b%c\n" : "plain");
	assert_true(nlives < ARRAY_SIZE(lives));
	p->life = &lives[nlives++];
	p->s.pid = nlives;	/* life k has pid k + 1 */
}

static void be_sampled(struct series_writer *w, struct proc *p, u64 now, u64 headroom, bool full)
{
	struct life *l = p->life;

	p->s.time_ns = now + (below(8) ? 0 : below(1000));
	if (!below(16))
		p->born_ns = now;		/* executed */
	p->s.age_ns = p->s.time_ns - p->born_ns;
	p->s.headroom = below(4) ? headroom : below(1000000);
	if (below(2) || p->s.first)
		change_sample(&p->s);
	series_write_sample(w, &p->s);
	l->full[l->n] = full;
	l->fed[l->n++] = p->s;
	p->s.first = 0;
}

/* A run of the machine, into @f. Returns the passes. */
static void write_all(struct series_writer *w, FILE *f)
{
	static struct proc procs[NPROC];
	u64 now = 123456789, headroom = 1 << 30, id = 0;
	unsigned int i, k;

	for (i = 0; i < NPROC; i++)
		be_born(&procs[i], ++id, now);
	running.set[SEEPAGE_CFG_POLICY] = true;
	series_write_begin(w, f);
	for (k = 0; k < NPASS; k++) {
		bool full = below(3);

		now += 1000000000 + below(1000000000);
		headroom += below(2) ? below(1000) : 0;
		running.v[SEEPAGE_CFG_POLICY] = k / 50 % 2;
		for (i = 0; i < NPROC && nlives < ARRAY_SIZE(lives) - 1; i++) {
			if (below(100))
				continue;
			if (below(2)) {	/* the writer is told, or has to find out */
				series_write_gone(w, procs[i].s.id);
				procs[i].life->ended = true;
			}
			be_born(&procs[i], below(2) ? ++id : procs[i].s.id, now);
		}
		series_write_pass(w, now, full, headroom, 7 * PAGE, &running, false);
		for (i = 0; i < NPROC; i++)
			if (full || !below(3))
				be_sampled(w, &procs[i], now, headroom, full);
		assert_int_equal(series_write_pass_end(w), 0);
	}
	/* this one does not come to its end: it must not be in the file */
	series_write_pass(w, now + 1000000000, true, headroom, 7 * PAGE, &running, false);
	procs[0].s.anon += PAGE;
	series_write_sample(w, &procs[0].s);
	assert_int_equal(series_write_close(w), 0);
}

static int on_begin(struct series_reader *r, struct series *s)
{
	const struct life *l = &lives[s->pid - 1];

	(void)r;
	assert_in_range(s->pid, 1, nlives);
	assert_string_equal(s->comm, l->fed[0].comm);
	assert_int_equal(s->begun_ns, l->fed[0].begun_ns);
	assert_int_equal(s->begun_faults, l->fed[0].begun_faults);
	assert_int_equal(s->known_rise, l->fed[0].known_rise);
	assert_int_equal(s->known_span_ns, l->fed[0].known_span_ns);
	assert_false(s->before || s->lost);
	return 0;
}

static int on_fed(struct series_reader *r, struct series *s)
{
	struct life *l = &lives[s->pid - 1];
	const struct seepage_raw_sample *w = &l->fed[l->read];
	const struct seep_sample *g = &s->sample;

	(void)r;
	assert_true(l->read < l->n);
	assert_true(g->time_ns == w->time_ns && g->age_ns == w->age_ns);
	assert_true(g->anon == w->anon && g->file == w->file && g->shmem == w->shmem);
	assert_true(g->swap == w->swap && g->vsz == w->vsz && g->pgtables == w->pgtables);
	assert_true(g->faults == w->faults && g->faults_anon == w->faults_anon);
	assert_true(g->headroom == w->headroom && g->limit == w->limit);
	assert_true(g->cold_ns == w->cold_ns && g->cold == w->cold && g->error == w->error);
	assert_true(s->v[FIELD_CPU] == w->cpu_ns && s->v[FIELD_MAPS] == w->maps);
	assert_true(g->cpu_ms == (u32)(w->cpu_ns / 1000000));
	assert_int_equal(g->heap, seep_granules(w->heap));
	assert_true(g->group == (w->kind == SEEPAGE_KIND_GROUP));
	assert_true(g->peers == w->peers && g->peers_growing == w->peers_growing);
	assert_int_equal(g->pmc, w->pmc);
	assert_int_equal(g->others_rate, seep_granules(w->others_rate));
	assert_int_equal(g->others, w->others);
	assert_true(g->page_shift == w->page_shift && g->full == l->full[l->read]);
	assert_true(s->judged && s->state == w->state && s->confidence == w->confidence);
	assert_true(s->tte_s == w->tte_s);
	l->read++;
	return 0;
}

static void on_gone(struct series_reader *r, struct series *s, bool ended)
{
	const struct life *l = &lives[s->pid - 1];

	(void)r;
	assert_int_equal(l->read, l->n);	/* told after its last sample was fed */
	if (l->ended)
		assert_true(ended);
}

static void round_trip(void **state)
{
	(void)state;
	for (seed = 1; seed < 2000; seed += 77) {
		struct series_writer w = { .arg = NULL };
		struct series_reader r = { .begin = on_begin, .fed = on_fed, .gone = on_gone };
		unsigned int i, first = seed;
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		nlives = 0;
		memset(lives, 0, sizeof(lives));
		memset(&running, 0, sizeof(running));
		write_all(&w, f);
		assert_int_equal(w.lost, 0);
		fclose(f);
		f = fmemopen(text, len, "r");
		if (series_read(&r, f))
			fail_msg("seed %u: %s", first, r.err);
		fclose(f);
		for (i = 0; i < nlives; i++)
			assert_int_equal(lives[i].read, lives[i].n);
		assert_int_equal(r.conf.v[SEEPAGE_CFG_POLICY], (NPASS - 1) / 50 % 2);
		free(text);
		seed = first;
	}
}

/* ---- what the writer leaves out, and what it admits ---- */

struct count {
	unsigned int begun, fed, before, lost, ended;
};

static int count_begin(struct series_reader *r, struct series *s)
{
	struct count *c = r->arg;

	c->begun++;
	c->before += s->before;
	return 0;
}

static int count_fed(struct series_reader *r, struct series *s)
{
	struct count *c = r->arg;

	c->fed++;
	c->lost += s->lost;
	return 0;
}

static void count_gone(struct series_reader *r, struct series *s, bool ended)
{
	(void)s;
	((struct count *)r->arg)->ended += ended;
}

/* Returns what went wrong, "" if nothing */
static const char *read_text(const char *text, size_t len, struct count *c)
{
	static struct series_reader r;
	FILE *f = fmemopen((void *)text, len, "r");
	struct count none;
	int rc;

	memset(&r, 0, sizeof(r));
	memset(&none, 0, sizeof(none));
	r.begin = count_begin;
	r.fed = count_fed;
	r.gone = count_gone;
	r.arg = c ? c : &none;
	rc = series_read(&r, f);
	assert_int_equal(rc < 0, *r.err != '\0');
	fclose(f);
	return r.err;
}

static bool is_wanted(void *arg, const struct seepage_raw_sample *s)
{
	(void)arg;
	return strcmp(s->comm, "other");
}

/* What a writer writes, as text */
struct written_text {
	FILE *f;
	char *text;
	size_t len;
};

static void open_text(struct written_text *t, struct series_writer *w)
{
	t->f = open_memstream(&t->text, &t->len);
	series_write_begin(w, t->f);
}

static void close_text(struct written_text *t, struct series_writer *w)
{
	series_write_close(w);
	fclose(t->f);
}

static void begin_pass(struct series_writer *w, u64 ns, bool gap)
{
	series_write_pass(w, ns, true, 1, 7 * PAGE, &running, gap);
}

/* A sample of the pass that was begun last */
static void sample(struct series_writer *w, u64 id, bool first, const char *comm)
{
	struct seepage_raw_sample s = { .id = id, .pid = (u32)id, .time_ns = w->pass_ns,
		.page_shift = 12, .first = first, .tte_s = SEEP_UNKNOWN };

	strcpy(s.comm, comm);
	series_write_sample(w, &s);
}

static void filters(void **state)
{
	struct series_writer w = { .wanted = is_wanted, .whole = true };
	struct written_text text;
	struct count c = { 0 };
	u64 t;

	(void)state;
	open_text(&text, &w);
	for (t = 1; t <= 3; t++) {
		begin_pass(&w, t * 1000, false);
		sample(&w, 1, t == 1, "one");
		sample(&w, 2, t == 2, "one");		/* not whole before */
		sample(&w, 3, t == 1, "other");
		series_write_pass_end(&w);
	}
	close_text(&text, &w);
	assert_string_equal(read_text(text.text, text.len, &c), "");
	assert_int_equal(c.begun, 2);
	assert_int_equal(c.before, 0);
	assert_int_equal(c.fed, 3 + 2);
	free(text.text);
}

/* The clock is written once, again when it was set, and anew in each file. */
static void clock_lines(void **state)
{
	static const u64 clocks[] = {
		0, 1764323742000000000, 1764323742999999999, 1764323743000000000,
		1764323742000000001, 1764323742000000000,
	};
	struct series_writer w = { .whole = false };
	struct written_text text;
	struct count c = { 0 };
	size_t i;
	FILE *f;

	(void)state;
	open_text(&text, &w);
	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		w.clock_ns = clocks[i];
		begin_pass(&w, (i + 1) * 1000, false);
		sample(&w, 1, !i, "one");
		series_write_pass_end(&w);
	}
	f = must(fopen("/dev/null", "w"));
	assert_int_equal(series_write_again(&w, f), 0);
	assert_int_equal(w.clock_written_ns, 0);
	w.out = text.f;
	close_text(&text, &w);
	fclose(f);
	assert_string_equal(read_text(text.text, text.len, &c), "");
	assert_int_equal(c.fed, ARRAY_SIZE(clocks));
	assert_non_null(strstr(text.text, "\n#clock 1764323742000000000\npass 1000 "));
	assert_non_null(strstr(text.text, "\n#clock 1764323743000000000\npass 1000 "));
	assert_null(strstr(text.text, "#clock 1764323742999999999"));
	assert_null(strstr(text.text, "#clock 1764323742000000001"));
	free(text.text);
}

/* After a loss nobody is taken for dead, and nobody who was there is compared. */
static void losses(void **state)
{
	struct series_writer w = { .whole = false };
	struct written_text text;
	struct count c = { 0 };
	u64 t;

	(void)state;
	open_text(&text, &w);
	for (t = 1; t <= 4; t++) {
		if (t == 2)
			series_write_lost(&w, 3);
		begin_pass(&w, t * 1000, t == 2);
		if (t != 2)			/* that message was lost */
			sample(&w, 1, t == 1, "one");
		if (t >= 3)
			sample(&w, 2, t == 3, "one");
		series_write_pass_end(&w);
	}
	close_text(&text, &w);
	assert_string_equal(read_text(text.text, text.len, &c), "");
	assert_int_equal(c.begun, 2);
	assert_int_equal(c.ended, 0);
	assert_int_equal(c.fed, 4 + 2);
	assert_int_equal(c.lost, 3);	/* the first series, after its first sample */
	assert_int_equal(w.lost, 3);
	free(text.text);
}

/* Of one that the detector knew before nothing is said that is not known. */
static void history_before(void **state)
{
	struct series_writer w = { .whole = false };
	struct written_text text;

	(void)state;
	open_text(&text, &w);
	begin_pass(&w, 1000, false);
	sample(&w, 1, false, "one");
	series_write_pass_end(&w);
	close_text(&text, &w);
	assert_non_null(strstr(text.text, " history=before"));
	free(text.text);
}

/* What --suspects records: one that comes under watch, from then on, whatever becomes of it */
static bool under_watch(void *arg, const struct seepage_raw_sample *s)
{
	(void)arg;
	return s->state >= SEEPAGE_STATE_WATCH;
}

static void sample_in(struct series_writer *w, u64 id, u8 state)
{
	struct seepage_raw_sample s = { .id = id, .pid = (u32)id, .time_ns = w->pass_ns,
		.page_shift = 12, .first = w->pass == 1, .tte_s = SEEP_UNKNOWN, .state = state,
		.comm = "one" };

	series_write_sample(w, &s);
}

static size_t count_words(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void suspects_only(void **state)
{
	struct series_writer w = { .wanted = under_watch, .later = true, .sparse = true };
	struct written_text text;
	struct count c = { 0 };
	u64 t;

	(void)state;
	open_text(&text, &w);
	for (t = 1; t <= 9; t++) {
		begin_pass(&w, t * 1000, false);
		if (t <= 7)
			sample_in(&w, 1, t == 4 || t == 5 ? SEEPAGE_STATE_WATCH : SEEPAGE_STATE_OK);
		sample_in(&w, 2, SEEPAGE_STATE_OK);
		series_write_pass_end(&w);
	}
	close_text(&text, &w);
	assert_string_equal(read_text(text.text, text.len, &c), "");
	assert_int_equal(c.begun, 1);
	assert_int_equal(c.before, 1);
	assert_int_equal(c.fed, 4);		/* passes 4 to 7 */
	assert_int_equal(c.ended, 1);
	/* 4 to 7, and 8, when it is missed; the time is whole although three are left out */
	assert_int_equal(count_words(text.text, "\npass "), 5);
	assert_int_equal(count_words(text.text, "\npass 4000 full "), 1);
	assert_int_equal(count_words(text.text, "\npass 1000 full "), 4);
	free(text.text);
}

static char *read_path(const char *path)
{
	char *text = calloc(1, 1 << 16);
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Each file can be read by itself, and at most two are there. */
static void rotation(void **state)
{
	char dir[] = "/tmp/series-XXXXXX", path[64], old[80], command[96], *text;
	struct series_writer w = { .whole = false };
	struct count c = { 0 };
	u64 t, turns = 0;
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(old, sizeof(old), "%s.old", path);
	out = fopen(path, "w");
	series_write_begin(&w, out);
	for (t = 1; t <= 40; t++) {
		begin_pass(&w, t * 1000, false);
		sample(&w, 1, t == 1, "one");
		if (t < 35)
			sample(&w, 2, t == 1, "two");
		assert_int_equal(series_write_pass_end(&w), 0);
		if (t % 10)
			continue;
		assert_int_equal(series_rotate(&w, &out, path), 0);
		assert_int_equal(access(path, R_OK), 0);
		turns++;
	}
	assert_int_equal(turns, 4);
	begin_pass(&w, 41000, false);
	sample(&w, 1, false, "one");
	assert_int_equal(series_write_pass_end(&w), 0);
	assert_int_equal(series_write_close(&w), 0);
	fclose(out);
	text = read_path(old);
	assert_string_equal(read_text(text, strlen(text), &c), "");
	assert_int_equal(c.begun, 2);
	assert_int_equal(c.before, 2);
	assert_int_equal(c.ended, 1);
	assert_int_equal(c.fed, 10 + 4);
	free(text);
	memset(&c, 0, sizeof(c));
	text = read_path(path);
	assert_string_equal(read_text(text, strlen(text), &c), "");
	assert_int_equal(c.begun, 1);
	assert_int_equal(c.fed, 1);
	assert_non_null(strstr(text, "\npass 41000 full "));
	assert_non_null(strstr(text, "\nconf "));
	free(text);
	snprintf(command, sizeof(command), "test $(ls %s | wc -l) = 2 && rm -r %s", dir, dir);
	assert_int_equal(system(command), 0);
	out = fopen("/dev/null", "w");
	memset(&w, 0, sizeof(w));
	series_write_begin(&w, out);
	assert_int_equal(series_rotate(&w, &out, "/no/such/file"), -ENOENT);
	series_write_close(&w);
	fclose(out);
}

/* ---- rotation that is interrupted or fails, and the next start ---- */

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static bool no_links;		/* as on vfat */
static unsigned int renames;	/* that succeed before one fails; 0: all do */

int __wrap_link(const char *from, const char *to)
{
	if (!no_links)
		return __real_link(from, to);
	errno = EPERM;
	return -1;
}

int __wrap_rename(const char *from, const char *to)
{
	if (!renames || --renames)
		return __real_rename(from, to);
	errno = EIO;
	return -1;
}

struct place_of_files {
	char dir[32], path[48], old[56];
};

static void make_place(struct place_of_files *p)
{
	strcpy(p->dir, "/tmp/series-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/file", p->dir);
	snprintf(p->old, sizeof(p->old), "%s.old", p->path);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* @path holds @text, or there is none if @text is NULL. */
static void holds(const char *path, const char *text)
{
	char *got;

	assert_int_equal(access(path, F_OK), text ? 0 : -1);
	if (!text)
		return;
	got = read_path(path);
	assert_string_equal(got, text);
	free(got);
}

/* What is there is @n files; removes them. */
static void remove_place(const struct place_of_files *p, int n)
{
	char command[128];

	snprintf(command, sizeof(command), "test $(ls %s | wc -l) = %d && rm -r %s", p->dir, n,
		 p->dir);
	assert_int_equal(system(command), 0);
}

#define BARE	SERIES_MAGIC "\nconf policy=ladder\n"
#define SHORT	BARE "proc 1 pid=1 comm=a born_ns=0 begun_ns=0\n"

/* A kill before the new file has its name leaves one file with both names. */
static void killed_between(void **state)
{
	struct ctx ctx = { .cmd = "record" };
	struct place_of_files p;
	char name[56];

	(void)state;
	make_place(&p);
	put(p.path, SHORT);
	assert_int_equal(link(p.path, p.old), 0);
	snprintf(name, sizeof(name), "%s.lnk", p.path);
	put(name, SHORT);
	snprintf(name, sizeof(name), "%s.new", p.path);
	put(name, BARE);
	assert_int_equal(series_rotate_start(&ctx, p.path), 0);
	holds(p.path, NULL);
	holds(p.old, SHORT);
	remove_place(&p, 1);
}

/* What has a series is kept, however short; what has none does not replace what has. */
static void starts(void **state)
{
	static const struct {
		const char *file, *old;		/* old: after the start */
	} c[] = {
		{ SHORT, SHORT },
		{ BARE, "history" },
		{ "seepage-ser", "history" },
		{ BARE "# proc\n", "history" },
		{ "a text\n", "a text\n" },
	};
	struct ctx ctx = { .cmd = "record" };
	struct place_of_files p;
	char big[16384];
	size_t i;

	(void)state;
	make_place(&p);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		put(p.old, "history");
		put(p.path, c[i].file);
		assert_int_equal(series_rotate_start(&ctx, p.path), 0);
		holds(p.path, NULL);
		holds(p.old, c[i].old);
	}
	snprintf(big, sizeof(big), "%s#%*s\n", BARE, 10000, "");	/* one may come */
	put(p.path, big);
	assert_int_equal(series_rotate_start(&ctx, p.path), 0);
	holds(p.old, big);
	remove_place(&p, 1);
}

/* Writes a recording with one series and turns it once. Returns what series_rotate() does. */
static int turn(const struct place_of_files *p, bool whole, char **text)
{
	struct series_writer w = { .whole = whole };
	FILE *out = fopen(p->path, "w");
	u64 t;
	int err = 0;

	series_write_begin(&w, out);
	for (t = 1; t <= 4 && !err; t++) {
		begin_pass(&w, t * 1000, false);
		sample(&w, 1, t == 1, "one");
		assert_int_equal(series_write_pass_end(&w), 0);
		if (t != 2)
			continue;
		*text = read_path(p->path);
		err = series_rotate(&w, &out, p->path);
	}
	series_write_close(&w);
	fclose(out);
	return err;
}

/* With --reset too the series go on in the new file. */
static void rotation_of_whole(void **state)
{
	struct place_of_files p;
	struct count c = { 0 };
	char *text, *first;

	(void)state;
	make_place(&p);
	assert_int_equal(turn(&p, true, &first), 0);
	holds(p.old, first);
	text = read_path(p.path);
	assert_string_equal(read_text(text, strlen(text), &c), "");
	assert_int_equal(c.begun, 1);
	assert_int_equal(c.before, 1);
	assert_int_equal(c.fed, 2);
	free(text);
	free(first);
	remove_place(&p, 2);
}

static void rotation_that_fails(void **state)
{
	struct place_of_files p;
	char *first;

	(void)state;
	make_place(&p);
	no_links = true;
	assert_int_equal(turn(&p, false, &first), 0);
	holds(p.old, first);
	free(first);
	remove_place(&p, 2);
	no_links = false;

	for (renames = 1; renames <= 2; ) {
		unsigned int at = renames;

		make_place(&p);
		assert_int_equal(turn(&p, false, &first), -EIO);
		holds(p.path, first);
		holds(p.old, at == 2 ? first : NULL);
		free(first);
		remove_place(&p, (int)at);	/* neither .new nor .lnk */
		renames = at + 1;
	}
	renames = 0;
}

static int on_any(struct series_reader *r, struct series *s)
{
	(void)r;
	(void)s;
	return 0;
}

/* What watch found of the use of growth: once for each time it looked */
static struct cold_kept kept_use;

static bool use_of(void *arg, const struct seepage_raw_sample *s, struct cold_kept *k)
{
	(void)arg;
	*k = kept_use;
	return s->id == 2 && kept_use.time_ms;
}

static int use_fed(struct series_reader *r, struct series *s)
{
	unsigned int *n = r->arg;

	if (s->pid == 1)
		assert_int_equal(s->use.n, 0);
	else
		assert_int_equal(s->use.n, *n < 4 ? 0 : 2);
	if (s->use.n)
		assert_true(s->use.at[1].ms == 5007 && s->use.at[1].permille == 810);
	++*n;
	return 0;
}

static void use_gone(struct series_reader *r, struct series *s, bool ended)
{
	(void)r;
	(void)s;
	(void)ended;
}

static void use_of_growth(void **state)
{
	struct series_writer w = { .use = use_of };
	unsigned int n = 0, i;
	struct series_reader r = { .begin = on_any, .fed = use_fed, .gone = use_gone, .arg = &n };
	struct written_text t;
	FILE *f;

	(void)state;
	kept_use = (struct cold_kept){ .pid = 2, .curve = { .n = 2,
		.at = { { 1004, 980 }, { 5007, 810 } } } };
	open_text(&t, &w);
	for (i = 0; i < 4; i++) {
		if (i == 2)
			kept_use.time_ms = 1;
		begin_pass(&w, 1000 * (i + 1), false);
		sample(&w, 1, !i, "a");
		sample(&w, 2, !i, "b");
		series_write_pass_end(&w);
	}
	close_text(&t, &w);
	assert_non_null(strstr(t.text, "\n2 y1004:980,5007:810 "));
	assert_null(strstr(strstr(t.text, " y") + 1, " y"));
	f = fmemopen(t.text, t.len, "r");
	if (series_read(&r, f))
		fail_msg("%s", r.err);
	fclose(f);
	assert_int_equal(n, 8);
	free(t.text);
}

static void full_disk(void **state)
{
	struct series_writer w = { .whole = false };
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	series_write_begin(&w, f);
	begin_pass(&w, 1000, false);
	assert_true(series_write_pass_end(&w) < 0);
	assert_true(series_write_close(&w) == -ENOSPC);
	fclose(f);
}

/* ---- bad files ---- */

#define MAGIC	SERIES_MAGIC "\n"
#define PROC	MAGIC "proc 1 pid=1 comm=a born_ns=0 begun_ns=0\n"
#define PASS	PROC "pass 1000 full 4096\n"

static const struct {
	const char *text, *why;		/* "": it is good */
} files[] = {
	{ "", "empty" },
	{ "\n", "line 1: not a recording, which begins with 'seepage-series 1'" },
	{ "\177ELF", "line 1: not a recording" },
	{ "seepage-series 2\n", "allowed 'seepage-series 1'" },
	{ "seepage-series 1", "cut off" },
	{ MAGIC, "" },
	{ MAGIC "\n# a comment\n", "" },
	{ PASS, "" },
	{ PASS "1 a+1", "line 4: its end is missing" },
	{ PASS "1 a+1 S4 C100 T5 t7 h9 l4 b3 c1000 k5 p65535 q0 e+4294967295\n", "" },
	{ PASS "1\ngone 1\n", "" },
	{ PASS "gone 1 why=reset\nproc 1 born_ns=0 begun_ns=0 kind=group\n", "" },
	{ MAGIC "hello\n", "line 2: 'hello': allowed conf, proc, pass, gone, lost" },
	{ MAGIC "#clock x\n", "line 2: allowed #clock NANOSECONDS" },
	{ MAGIC "#clock -1\n", "line 2: allowed #clock NANOSECONDS" },
	{ MAGIC "#clock 1 2\n", "line 2: allowed #clock NANOSECONDS" },
	{ MAGIC "#clock 9223372036854775807\n", "line 2: allowed #clock NANOSECONDS, 0..4611686" },
	{ MAGIC " x\n", "line 2: '': allowed conf" },
	{ MAGIC "conf\n", "" },
	{ MAGIC "conf policy=classic\n", "" },
	{ MAGIC "conf policy=new\n", "policy: 'new': allowed ladder|classic" },
	{ MAGIC "conf nothing=1\n", "unknown key 'nothing': allowed sample_interval_ms" },
	{ MAGIC "conf warmup_s\n", "'warmup_s': allowed KEY=VALUE" },
	{ MAGIC "conf warmup_s=1 warmup_s=1\n", "warmup_s: given twice" },
	{ MAGIC "conf sample_interval_ms=100\n", "suspect_interval_ms must not exceed" },
	{ MAGIC "conf  warmup_s=1\n", "'': allowed KEY=VALUE" },
	{ MAGIC "proc\n", "'': allowed proc NUMBER" },
	{ MAGIC "proc x\n", "'x': allowed proc NUMBER" },
	{ MAGIC "proc -1 born_ns=0 begun_ns=0\n", "'-1': allowed proc NUMBER" },
	{ MAGIC "proc 18446744073709551616 born_ns=0 begun_ns=0\n", "allowed proc NUMBER" },
	{ MAGIC "proc 18446744073709551615 born_ns=0 begun_ns=0\n", "" },
	{ MAGIC "proc 1\n", "born_ns is missing" },
	{ MAGIC "proc 1 born_ns=1\n", "begun_ns is missing" },
	{ MAGIC "proc 1 colour=red\n", "unknown key 'colour': allowed pid comm" },
	{ MAGIC "proc 1 pid=1 pid=1\n", "pid: given twice" },
	{ MAGIC "proc 1 page_shift=11\n", "page_shift: '11': allowed 12..16" },
	{ MAGIC "proc 1 kind=thing\n", "kind: 'thing': allowed process or group" },
	{ MAGIC "proc 1 history=after\n", "history: 'after': allowed before" },
	{ MAGIC "proc 1 comm=%4\n", "comm: '%4': allowed a name" },
	{ MAGIC "proc 1 comm=%00\n", "comm: '%00': allowed a name" },
	{ MAGIC "proc 1 comm=%zz\n", "comm: '%zz': allowed a name" },
	{ MAGIC "proc 1 exe=\x01\n", "exe: '\x01': allowed a name" },
	{ PROC "proc 1 born_ns=0 begun_ns=0\n", "series 1: the number is in use" },
	{ PROC "1 a+1\n", "line 3: series 1: a sample, but no pass" },
	{ PASS "conf\n1 a+1\n", "line 5: series 1: a sample, but no pass" },
	{ PASS "2 a+1\n", "series 2: it has not begun" },
	{ PASS "1 a+1\n1 a+1\n", "line 5: series 1: a second sample" },
	{ PASS "gone 1\n1 a+1\n", "series 1: it has not begun (proc), or is gone" },
	{ PASS "gone 1 2\n", "'2': allowed why=reset" },
	{ PASS "gone\n", "allowed gone NUMBER" },
	{ PASS "lost\n", "allowed lost NUMBER" },
	{ PASS "lost 1\n", "" },
	{ PASS "1 z+1\n", "'z+1': allowed a value with one of the letters" },
	{ PASS "1 y1004:980,5007:810,4294967295:0 a+1\n", "" },
	{ PASS "1 y1:1,2:1,3:1,4:1,5:1\n", "" },
	{ PASS "1 y1:1,2:1,3:1,4:1,5:1,6:1\n", "allowed y and up to 5 times MS:PERMILLE" },
	{ PASS "1 y\n", "'y': allowed y and up to" },
	{ PASS "1 y5\n", "'y5': allowed y and up to" },
	{ PASS "1 y5:\n", "allowed y and up to" },
	{ PASS "1 y5:1001\n", "allowed y and up to" },
	{ PASS "1 y5:1,\n", "allowed y and up to" },
	{ PASS "1 y5:1,5:1\n", "allowed y and up to" },
	{ PASS "1 y4294967296:1\n", "allowed y and up to" },
	{ PASS "1  a+1\n", "'': allowed a value with one of the letters" },
	{ PASS "1 a1\n", "'a1': allowed a, + or - and a number" },
	{ PASS "1 a+\n", "'a+': allowed a, + or - and a number" },
	{ PASS "1 a-1\n", "'a-1': makes less than 0: 0 before" },
	{ PASS "1 a+17592186044417\n", "allowed a, + or - and a number up to 17592186044416" },
	{ PASS "1 x+4294967295\npass 1 full 1\n1 x+1\n", "makes too much: 4294967295 before" },
	{ PASS "1 l9\n", "'l9': allowed l and 0..5" },
	{ PASS "1 l+1\n", "'l+1': allowed l and 0..5" },
	{ PASS "1 S7\n", "'S7': allowed S and 0..6" },
	{ PASS "1 C101\n", "'C101': allowed C and 0..100" },
	{ PASS "1 T-1\n", "'T-1': allowed T and a number, or T-" },
	{ PASS "1 T18446744073709551615\n", "allowed T and a number" },
	{ PASS "1 t-1\n", "'t-1': allowed t and 0.." },
	{ PASS "1 t5000\npass 1000 full 1\n",
	  "line 5: series 1: time 2000: before its last sample" },
	{ MAGIC "proc 1 born_ns=0 begun_ns=9\npass 1 full 1\n", "before its begun_ns" },
	{ MAGIC "pass\n", "allowed pass NANOSECONDS full|short BYTES" },
	{ MAGIC "pass 1 full\n", "allowed pass NANOSECONDS" },
	{ MAGIC "pass 1 full 1 1 1\n", "allowed pass NANOSECONDS" },
	{ MAGIC "pass 1 half 1\n", "'half': allowed full or short" },
	{ MAGIC "pass -1 full 1\n", "'-1': allowed ns since the pass before" },
	{ MAGIC "pass 4611686018427387904 full 1\npass 1 full 1\n", "line 3: '1': allowed ns" },
	{ MAGIC "pass 1 full 1 y\n", "'y': allowed bytes" },
	{ MAGIC "pass 1 full x\n", "'x': allowed bytes" },
};

static void bad_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		const char *why = read_text(files[i].text, strlen(files[i].text), NULL);

		if (!*files[i].why ? *why : !strstr(why, files[i].why))
			fail_msg("%s\ngot '%s', wanted '%s'", files[i].text, why, files[i].why);
	}
	assert_non_null(strstr(read_text(MAGIC "\0\n", sizeof(MAGIC) + 1, NULL), "a byte 0"));
}

/* Short passes feed those with a line only. */
static void feeding(void **state)
{
	static const char text[] = PROC "proc 2 born_ns=0 begun_ns=0\n"
		"pass 1000 full 1\n1 a+1\npass 1 short 1\n2\n"
		"pass 1 full 1\ngone 1\npass 1 full 1\n";
	struct count c = { 0 };

	(void)state;
	assert_string_equal(read_text(text, sizeof(text) - 1, &c), "");
	assert_int_equal(c.fed, 2 + 1 + 1 + 1);
	assert_int_equal(c.ended, 1);
}

/* ---- numbers to pointers ---- */

static void map(void **state)
{
	static char there[1000];
	struct series_map m = { 0 };
	u64 id;
	int i;

	(void)state;
	for (seed = 3, i = 0; i < 100000; i++) {
		u32 k = below(1000);

		id = k * 0x123456789ULL;
		assert_ptr_equal(series_map_get(&m, id), there[k] ? &there[k] : NULL);
		if (there[k])
			series_map_del(&m, id);
		else
			series_map_put(&m, id, &there[k]);
		there[k] = !there[k];
	}
	free(m.slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(filters),
		cmocka_unit_test(clock_lines),
		cmocka_unit_test(losses),
		cmocka_unit_test(history_before),
		cmocka_unit_test(suspects_only),
		cmocka_unit_test(rotation),
		cmocka_unit_test(killed_between),
		cmocka_unit_test(starts),
		cmocka_unit_test(rotation_of_whole),
		cmocka_unit_test(rotation_that_fails),
		cmocka_unit_test(use_of_growth), cmocka_unit_test(full_disk),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(feeding),
		cmocka_unit_test(map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
