// SPDX-License-Identifier: GPL-2.0
/*
 * Reads series as text, in the format of docs/recording.md. The file may come from a
 * script or an attacker. Anything invalid is refused, and the error names the line,
 * the word and what is allowed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "series/series.h"

/* ---- feeding ---- */

static u64 bytes(const struct series *s, int field)
{
	return s->v[field] << s->page_shift;
}

static void fill_sample(const struct series_reader *r, struct series *s)
{
	s->sample.anon = bytes(s, FIELD_ANON);
	s->sample.file = bytes(s, FIELD_FILE);
	s->sample.shmem = bytes(s, FIELD_SHMEM);
	s->sample.swap = bytes(s, FIELD_SWAP);
	s->sample.vsz = bytes(s, FIELD_VSZ);
	s->sample.pgtables = bytes(s, FIELD_PGTABLES);
	s->sample.faults = s->v[FIELD_FAULTS];
	s->sample.faults_anon = s->v[FIELD_FAULTS_ANON];
	s->sample.error = (u32)s->v[FIELD_ERROR];
	s->sample.limit = (u8)s->v[FIELD_LIMIT];
	s->sample.cold = (u16)s->v[FIELD_COLD];
	s->sample.cold_ns = s->v[FIELD_COLD_NS];
	s->sample.peers = (u16)s->v[FIELD_PEERS];
	s->sample.peers_growing = (u16)s->v[FIELD_PEERS_GROWING];
	s->sample.pmc = (u16)s->v[FIELD_PMC];
	s->sample.cpu_ms = (u32)(s->v[FIELD_CPU] / 1000000);
	s->sample.heap = seep_granules(s->v[FIELD_HEAP]);
	s->sample.others_rate = seep_granules(s->v[FIELD_OTHERS_RATE]);
	s->sample.others = (u16)s->v[FIELD_OTHERS];
	s->sample.group = s->group;
	s->sample.page_shift = s->page_shift;
	s->sample.shmem_total = r->shmem_total;
	s->sample.full = r->full;
}

static int feed(struct series_reader *r, struct series *s, u64 time_ns, u64 headroom)
{
	if (time_ns < s->fed_ns)
		return series_bad(r, "series %llu: time %llu: before its last sample, %llu", s->id,
				  time_ns, s->fed_ns);
	if (time_ns < s->begun_ns)
		return series_bad(r, "series %llu: time %llu: before its begun_ns, %llu", s->id,
				  time_ns, s->begun_ns);
	fill_sample(r, s);
	s->sample.time_ns = time_ns;
	s->sample.age_ns = time_ns - (s->born_ns < time_ns ? s->born_ns : time_ns);
	s->sample.headroom = headroom;
	s->headroom = r->headroom;
	s->fed_pass = r->pass;
	s->fed_ns = time_ns;
	return r->fed(r, s);
}

/* At the end of a full pass, feeds the unchanged series too: they have no line. */
static int end_pass(struct series_reader *r)
{
	unsigned long line = r->line;
	size_t i;

	if (!r->in_pass)
		return 0;
	r->in_pass = false;
	r->line = r->pass_line;
	for (i = 0; r->full && i < r->live_n; i++)
		if (r->live[i]->fed_pass != r->pass &&
		    feed(r, r->live[i], r->pass_ns, r->headroom) < 0)
			return -1;
	r->line = line;
	return 0;
}

/* ---- one sample ---- */

struct sample_line {
	u64 t;				/* ns since the pass */
	u64 h;				/* headroom in bytes; SEEP_UNKNOWN: that of the pass */
};

static int read_value(struct series_reader *r, struct series *s, const struct series_field *f,
		      const char *word)
{
	u64 *v = &s->v[f - series_fields], n;
	bool minus = word[1] == '-';

	if (!f->difference) {
		if (!series_number(word + 1, f->max, &n))
			return series_bad(r, "'%.80s': allowed %c and 0..%llu", word, f->letter,
					  f->max);
		*v = n;
		return 0;
	}
	if ((word[1] != '+' && !minus) || !series_number(word + 2, f->max, &n))
		return series_bad(r, "'%.80s': allowed %c, + or - and a number up to %llu", word,
				  f->letter, f->max);
	if (minus ? n > *v : n > f->max - *v)
		return series_bad(r, "'%.80s': makes %s: %llu before, allowed 0..%llu", word,
				  minus ? "less than 0" : "too much", *v, f->max);
	*v = minus ? *v - n : *v + n;
	return 0;
}

static int read_verdict(struct series_reader *r, struct series *s, const char *word)
{
	u64 max = *word == 'S' ? SEEPAGE_STATE_MAX : 100, n;

	if (*word == 'T') {
		if (strcmp(word, "T-") == 0)
			n = SEEP_UNKNOWN;
		else if (!series_number(word + 1, SEEP_UNKNOWN - 1, &n))
			return series_bad(r, "'%.80s': allowed T and a number, or T-", word);
		s->tte_s = n;
		return 0;
	}
	if (!series_number(word + 1, max, &n))
		return series_bad(r, "'%.80s': allowed %c and 0..%llu", word, *word, max);
	if (*word == 'S') {
		s->state = (u8)n;
		s->judged = true;
	} else {
		s->confidence = (u8)n;
	}
	return 0;
}

/* @word: yMS:PERMILLE[,MS:PERMILLE...], in rising order of time */
static int read_use(struct series_reader *r, struct series *s, char *word)
{
	struct cold_curve c = { 0 };
	char *at = word, *next, *colon;
	u64 ms, permille;

	for (; at; at = next) {
		next = strchr(at + 1, ',');
		if (next)
			*next = '\0';
		colon = strchr(at + 1, ':');
		if (colon)
			*colon++ = '\0';
		if (!colon || c.n == COLD_POINTS || !series_number(at + 1, UINT32_MAX, &ms) ||
		    !series_number(colon, 1000, &permille) || (c.n && ms <= c.at[c.n - 1].ms))
			return series_bad(r, "'%.80s': allowed y and up to %u times MS:PERMILLE, "
					  "with commas between, times rising", word, COLD_POINTS);
		c.at[c.n++] = (struct cold_point){ (u32)ms, (u32)permille };
	}
	s->use = c;
	return 0;
}

static int read_field(struct series_reader *r, struct series *s, struct sample_line *l,
		      char *word)
{
	u64 *dest = NULL;
	int i;

	for (i = 0; i < FIELDS; i++)
		if (series_fields[i].letter == *word)
			return read_value(r, s, &series_fields[i], word);
	switch (*word) {
	case 'S':
	case 'C':
	case 'T':
		return read_verdict(r, s, word);
	case 'y':
		return read_use(r, s, word);
	case 't':
		dest = &l->t;
		break;
	case 'b':
		dest = &s->born_ns;
		break;
	case 'h':
		dest = &l->h;
		break;
	default:
		return series_bad(r, "'%.80s': allowed a value with one of the letters "
				  "afswvgnmxuetbhlckypqrdojSCT before it", word);
	}
	if (!series_number(word + 1, SERIES_TIME_MAX, dest))
		return series_bad(r, "'%.80s': allowed %c and 0..%llu", word, *word,
				  (u64)SERIES_TIME_MAX);
	return 0;
}

static int read_sample(struct series_reader *r, const char *number_word, char *rest)
{
	struct sample_line l = { .t = 0, .h = SEEP_UNKNOWN };
	struct series *s;
	char *word;
	u64 id;

	if (!series_number(number_word, UINT64_MAX, &id))
		return series_bad(r, "'%.80s': allowed the number of a series", number_word);
	s = series_map_get(&r->map, id);
	if (!s)
		return series_bad(r, "series %llu: it has not begun (proc), or is gone", id);
	if (!r->in_pass)
		return series_bad(r, "series %llu: a sample, but no pass before it", id);
	if (s->fed_pass == r->pass)
		return series_bad(r, "series %llu: a second sample in the same pass", id);
	while ((word = series_word(&rest)))
		if (read_field(r, s, &l, word) < 0)
			return -1;
	return feed(r, s, r->pass_ns + l.t, l.h == SEEP_UNKNOWN ? r->headroom : l.h);
}

/* ---- conf, pass, gone, lost ---- */

static int read_conf(struct series_reader *r, char *rest)
{
	char err[CONF_ERR_MAX], *word, *value;
	struct conf c = { 0 }, running;
	unsigned int key;

	if (end_pass(r) < 0)
		return -1;
	while ((word = series_word(&rest))) {
		value = series_value(r, word);
		if (!value)
			return -1;
		if (!conf_add(&c, word, value, err, sizeof(err)))
			return series_bad(r, "%s", err);
	}
	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		running.set[key] = true;
		running.v[key] = r->conf.v[key];
	}
	if (!conf_consistent(&c, &running, err, sizeof(err)))
		return series_bad(r, "%s", err);
	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		if (c.set[key])
			r->conf.v[key] = c.v[key];
	r->conf_changes++;
	return 0;
}

static int read_clock(struct series_reader *r, char *rest)
{
	const char *word = series_word(&rest);

	if (end_pass(r) < 0)
		return -1;
	if (!word || rest || !series_number(word, SERIES_TIME_MAX, &r->clock_ns))
		return series_bad(r, "allowed " SERIES_CLOCK "NANOSECONDS, 0..%llu",
				  SERIES_TIME_MAX);
	return 0;
}

static int read_pass(struct series_reader *r, char *rest)
{
	const char *delta = series_word(&rest), *kind = series_word(&rest);
	const char *headroom = series_word(&rest), *shmem_total = series_word(&rest);
	u64 ns;

	if (end_pass(r) < 0)
		return -1;
	if (!headroom || rest)
		return series_bad(r, "allowed pass NANOSECONDS full|short BYTES [BYTES]");
	if (!series_number(delta, SERIES_TIME_MAX - r->pass_ns, &ns))
		return series_bad(r, "'%.80s': allowed ns since the pass before, 0..%llu", delta,
				  SERIES_TIME_MAX - r->pass_ns);
	if (strcmp(kind, "full") && strcmp(kind, "short"))
		return series_bad(r, "'%.80s': allowed full or short", kind);
	if (!series_number(headroom, SERIES_TIME_MAX, &r->headroom))
		return series_bad(r, "'%.80s': allowed bytes, 0..%llu", headroom,
				  (u64)SERIES_TIME_MAX);
	r->shmem_total = 0;
	if (shmem_total && !series_number(shmem_total, SERIES_TIME_MAX, &r->shmem_total))
		return series_bad(r, "'%.80s': allowed bytes, 0..%llu", shmem_total,
				  (u64)SERIES_TIME_MAX);
	r->pass_ns += ns;
	r->full = *kind == 'f';
	r->pass++;
	r->in_pass = true;
	r->pass_line = r->line;
	return 0;
}

static void free_series(struct series *s)
{
	place_free(&s->place);
	free(s);
}

static void remove_series(struct series_reader *r, struct series *s, bool ended)
{
	series_map_del(&r->map, s->id);
	r->live[s->at] = r->live[--r->live_n];
	r->live[s->at]->at = s->at;
	r->gone(r, s, ended);
	free_series(s);
}

static int read_gone(struct series_reader *r, char *rest)
{
	const char *word = series_word(&rest), *why = series_word(&rest);
	struct series *s;
	u64 id;

	if (!word || !series_number(word, UINT64_MAX, &id) || rest)
		return series_bad(r, "allowed gone NUMBER [why=reset]");
	if (why && strcmp(why, "why=reset"))
		return series_bad(r, "'%.80s': allowed why=reset", why);
	s = series_map_get(&r->map, id);
	if (!s)
		return series_bad(r, "series %llu: it has not begun (proc), or is gone", id);
	remove_series(r, s, !why);
	return 0;
}

static int read_lost(struct series_reader *r, char *rest)
{
	const char *word = series_word(&rest);
	size_t i;
	u64 n;

	if (!word || rest || !series_number(word, UINT64_MAX, &n))
		return series_bad(r, "allowed lost NUMBER");
	for (i = 0; i < r->live_n; i++)
		r->live[i]->lost = true;
	return 0;
}

/* ---- proc ---- */

static int read_proc(struct series_reader *r, char *rest)
{
	struct series *s = must(calloc(1, sizeof(*s)));

	s->page_shift = 12;
	s->tte_s = SEEP_UNKNOWN;
	if (series_proc(r, s, rest) < 0) {
		free_series(s);
		return -1;
	}
	if (r->live_n == r->live_capacity) {
		r->live_capacity = r->live_capacity ? 2 * r->live_capacity : 64;
		r->live = must(realloc(r->live, r->live_capacity * sizeof(*r->live)));
	}
	s->at = r->live_n;
	r->live[r->live_n++] = s;
	series_map_put(&r->map, s->id, s);
	return r->begin(r, s);
}

/* ---- the file ---- */

static int read_line(struct series_reader *r, char *text)
{
	static const struct {
		const char *word;
		int (*read)(struct series_reader *r, char *rest);
	} kinds[] = {
		{ "pass", read_pass }, { "gone", read_gone }, { "proc", read_proc },
		{ "conf", read_conf }, { "lost", read_lost },
	};
	char *rest = text;
	const char *word = series_word(&rest);
	size_t i;

	if (*word >= '0' && *word <= '9')
		return read_sample(r, word, rest);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].word, word))
			return kinds[i].read(r, rest);
	return series_bad(r, "'%.80s': allowed conf, proc, pass, gone, lost or the number of a "
			  "series", word);
}

static int read_lines(struct series_reader *r, FILE *f)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t len;
	int err = 0;

	errno = 0;
	while (!err && (len = getline(&text, &capacity, f)) > 0) {
		r->line++;
		r->cut = text[len - 1] != '\n';
		if (r->line == 1 && strncmp(text, SERIES_KIND, strlen(SERIES_KIND)))
			err = series_bad(r, "not a recording, which begins with '"
					 SERIES_MAGIC "'");
		else if (r->cut)
			err = series_bad(r, "its end is missing: the file was cut off");
		else if (memchr(text, '\0', (size_t)len))
			err = series_bad(r, "a byte 0: not a recording");
		else
			text[len - 1] = '\0';
		if (err)
			break;
		if (r->line == 1 && strcmp(text, SERIES_MAGIC))
			err = series_bad(r, "'%.80s': allowed '" SERIES_MAGIC "'", text);
		else if (r->line > 1 && !strncmp(text, SERIES_CLOCK, strlen(SERIES_CLOCK)))
			err = read_clock(r, text + strlen(SERIES_CLOCK));
		else if (r->line > 1 && *text && *text != '#')
			err = read_line(r, text);
		errno = 0;
	}
	if (!err && ferror(f))
		err = series_bad(r, "cannot read on: %s", strerror(errno ? errno : EIO));
	if (!err && !r->line++)
		err = series_bad(r, "the file is empty: allowed '" SERIES_MAGIC "'");
	free(text);
	return err;
}

/*
 * Reads all of @f and calls the callbacks, which the caller has set together with
 * r->arg. Returns 0, or -1 with the reason in r->err. The reason is empty if a
 * callback ended the reading without one. r->cut says that the reason is a file that
 * ends within a line.
 */
int series_read(struct series_reader *r, FILE *f)
{
	unsigned int key;
	size_t i;
	int err;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		r->conf.v[key] = cfg_keys[key].def;
	r->conf_changes = 1;
	err = read_lines(r, f);
	if (!err)
		err = end_pass(r);
	for (i = 0; i < r->live_n; i++) {
		r->gone(r, r->live[i], false);
		free_series(r->live[i]);
	}
	free(r->live);
	free(r->map.slot);
	return err;
}
