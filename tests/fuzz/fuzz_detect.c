// SPDX-License-Identifier: GPL-2.0
/*
 * The input is a configuration and a series of samples for kmod/detect/. The guarantees about a
 * verdict are checked after every sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include "detect/detect.h"
#include <seepage/names.h>

#define promise(cond) do {							\
	if (!(cond)) {								\
		fprintf(stderr, "BROKEN PROMISE: %s (line %d)\n", #cond, __LINE__);	\
		abort();							\
	}									\
} while (0)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define NUMBER(ID, name, def, min, max, text)	[SEEPAGE_CFG_##ID] = { min, max },
#define WORD(ID, name, def, text)	[SEEPAGE_CFG_##ID] = { 0, SEEPAGE_##ID##_MAX },
static const struct { u32 min, max; } ranges[__SEEPAGE_CFG_MAX] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

#undef NUMBER
#undef WORD

static const u8 *p, *end;

/* n bytes of the input, little end first; zeros behind its end */
static u64 take(unsigned int n)
{
	u64 v = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		v |= (u64)(p < end ? *p++ : 0) << 8 * i;
	return v;
}

static void set_key(struct seep_conf *c, u32 key, u64 v)
{
	u32 *v_of = c->v;

	key = 1 + key % SEEPAGE_CFG_MAX;
	v_of[key] = (u32)(ranges[key].min + v % ((u64)ranges[key].max - ranges[key].min + 1));
	/* what the module's check of the whole would refuse */
	if (v_of[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] > v_of[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		v_of[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] = v_of[SEEPAGE_CFG_SAMPLE_INTERVAL_MS];
	if (v_of[SEEPAGE_CFG_FAULT_RATE_WARNING] > v_of[SEEPAGE_CFG_FAULT_RATE_CRITICAL])
		v_of[SEEPAGE_CFG_FAULT_RATE_WARNING] = v_of[SEEPAGE_CFG_FAULT_RATE_CRITICAL];
}

static void defaults(struct seep_conf *c)
{
#define NUMBER(ID, name, def, min, max, text)	c->v[SEEPAGE_CFG_##ID] = def;
#define WORD(ID, name, def, text)	c->v[SEEPAGE_CFG_##ID] = SEEPAGE_##ID##_##def;
	c->v[0] = 0;
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
#undef NUMBER
#undef WORD
}

static bool is_alert(u8 state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}

static void check_factors(const struct seep_verdict *v)
{
	bool classic = v->policy == SEEPAGE_POLICY_CLASSIC;
	u32 i, seen = 0, sum = 0;

	promise(v->nfactors <= SEEP_MAX_FACTORS);
	promise(!v->dropped);
	for (i = 0; i < v->nfactors; i++) {
		const struct seep_factor *f = &v->factor[i];

		promise(f->id && f->id <= SEEPAGE_FACTOR_MAX);
		promise((f->id <= SEEPAGE_FACTOR_VSZ_RSS) == classic);
		promise(!(seen >> f->id & 1));
		promise(f->points <= f->max && -f->points <= f->max);
		seen |= 1U << f->id;
		if (f->id == SEEPAGE_FACTOR_KIND)
			promise(f->value <= 1000 && f->baseline <= SEEPAGE_GREW_MAX);
		if (f->id == SEEPAGE_FACTOR_KIND || f->id == SEEPAGE_FACTOR_WORK)
			promise(f->value > 0 && f->baseline >= 0);
		/* these two come on top, where they are known */
		if (f->id != SEEPAGE_FACTOR_COLD && f->id != SEEPAGE_FACTOR_PMC)
			sum += f->max;
	}
	promise(sum <= 100);
}

static void check_gates(const struct seep_verdict *v)
{
	u32 i, seen = 0;

	promise(v->ngates <= SEEP_MAX_GATES);
	for (i = 0; i < v->ngates; i++) {
		const struct seep_gate *g = &v->gate[i];

		promise(g->id && g->id <= SEEPAGE_GATE_MAX);
		promise(!(seen >> g->id & 1));
		promise(g->reached || !g->passed);
		seen |= 1U << g->id;
	}
}

static void check_verdict(const struct seep_verdict *v, u64 rss)
{
	u8 severity = seep_severity(v, rss, rss & 1);

	promise(v->state < SEEPAGE_STATE_EXITED);
	promise(v->confidence <= 100);
	promise(v->policy <= SEEPAGE_POLICY_MAX);
	promise(severity == 1 || severity == 2 || severity == 4 || severity == 6 ||
		severity == 8 || severity == 10);
	check_factors(v);
	check_gates(v);
}

static void check_rungs(const struct seep_ladder *l, const struct seep_run *r, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		promise(!(l->runs >> i & 1) || (r[i].strict >= l->strict && r[i].t0 <= r[i].t1 &&
						r[i].strict < SEEP_MINIMA));
	promise(l->runs < 1U << n);
}

static void check_history(const struct seep_det *d)
{
	promise(d->wpos < SEEP_WINDOW && d->wn >= 1 && d->wn <= SEEP_WINDOW);
	check_rungs(&d->mem, d->w->mem_run, SEEP_SLOW_LEVELS);
	check_rungs(&d->w->fast, d->w->fast_run, SEEP_FAST_LEVELS);
	check_rungs(&d->vsz, d->w->vsz_run, SEEP_VSZ_LEVELS);
}

/* What only shows changes nothing and agrees with what was fed. */
static void check_shown(const struct seep_det *d, const struct seep_sample *s,
			const struct seep_conf *c, const struct seep_verdict *fed)
{
	struct seep_det before = *d;
	struct seep_watch watch = *d->w;
	struct seep_verdict v;
	s64 growth;

	seep_det_explain(d, s, c, &v);
	check_verdict(&v, seep_rss(s));
	promise(v.state == fed->state && v.confidence == fed->confidence);
	seep_det_growth(d, &v, &growth);
	seep_det_fault_rate(d, s, c->v[SEEPAGE_CFG_MONITORING_WINDOW_S]);
	promise(!memcmp(&before, d, sizeof(before)) && !memcmp(&watch, d->w, sizeof(watch)));
}

static void feed(struct seep_det *d, struct seep_det *twin, const struct seep_sample *s,
		 const struct seep_conf *c)
{
	u8 was = d->state, policy = d->policy;
	struct seep_watch *own = twin->w;
	struct seep_verdict v, w;

	memset(&v, 0xa5, sizeof(v));	/* what is left over must not count */
	memset(&w, 0x5a, sizeof(w));
	seep_det_feed(d, s, c, &v);
	seep_det_feed(twin, s, c, &w);
	promise(!memcmp(own, d->w, sizeof(*own)));
	twin->w = d->w;
	promise(!memcmp(d, twin, sizeof(*d)));
	twin->w = own;
	promise(v.state == d->state && v.confidence == d->confidence);
	promise(v.nfactors == w.nfactors && v.ngates == w.ngates && v.tte_s == w.tte_s);
	if (is_alert(was) && d->state != SEEPAGE_STATE_RECOVERED &&
	    policy == SEEPAGE_POLICY_LADDER && d->policy == policy)
		promise(d->state >= was);	/* an alert never steps down */
	if (is_alert(was) && d->policy != policy)	/* one to both, or over */
		promise(is_alert(d->state) || d->state == SEEPAGE_STATE_RECOVERED);
	promise(d->state != SEEPAGE_STATE_RECOVERED || is_alert(was) || was == d->state);
	check_verdict(&v, seep_rss(s));
	check_history(d);
	check_shown(d, s, c, &v);
}

/* A byte tells what changes before the next sample; arguments follow it. */
static void step(struct seep_sample *s, struct seep_conf *c, u8 op)
{
	u64 *const memory[] = { &s->anon, &s->file, &s->shmem, &s->swap, &s->vsz,
				&s->headroom, &s->anon, &s->anon };
	u64 *of = memory[op >> 3 & 7], v;

	s->full = op & 0x40;
	switch (op & 7) {
	case 0:				/* grows, in pages */
		*of += take(2) << 12;
		break;
	case 1:				/* gives back, but no more than there is */
		v = take(2) << 12;
		*of -= v < *of ? v : *of;
		break;
	case 2:
		*of = take(8);
		break;
	case 3:				/* the policies look at the time most */
		s->time_ns += take(2) * 100000000ULL;
		break;
	case 4:
		s->faults += take(2);
		s->faults_anon += take(2);
		s->cpu_ms += (u32)(s->faults_anon << (op >> 3 & 7));
		break;
	case 5:
		v = take(1);
		set_key(c, (u32)v, take(4));
		break;
	case 6:
		s->error = (u32)take(3);
		s->page_shift = (u8)(12 + take(1) % 5);
		s->pmc = (u16)(take(1) << take(1) % 16);
		s->heap = (u32)take(1) << (s->pmc & 31);
		s->peers = (u16)(take(1) & 0x83);
		s->peers_growing = s->peers & 3;
		s->group = s->peers & 0x80;
		s->others = s->peers;
		s->others_rate = s->others ? (u32)take(4) : 0;
		break;
	case 7:				/* much */
		*of += take(1) << take(1) % 48;
		s->time_ns += take(1) * 1000000000ULL;
		s->faults += take(1) << take(1) % 40;
	}
}

static void check_classify(void)
{
	struct seep_fault_delta f = {
		.reads = take(4), .writes = take(4), .access_known = take(1) & 1,
		.anon = (s64)take(8), .file = (s64)take(8), .shmem = (s64)take(8),
		.around = (u32)take(2) + 1,
	};

	promise(seep_classify_anon(&f) <= f.reads + f.writes);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct seep_sample s = { .page_shift = 12, .headroom = 1ULL << 33 };
	static struct seep_det d, twin;
	static struct seep_watch dw, tw;
	struct seep_conf c;
	u32 pushes;

	p = data;
	end = data + size;
	check_classify();
	defaults(&c);
	c.v[SEEPAGE_CFG_POLICY] = take(1) & 1;
	s.time_ns = take(4) * 1000000ULL;
	seep_det_init(&d, &dw, s.time_ns);
	memset(&twin, 0xff, sizeof(twin));
	seep_det_init(&twin, &tw, s.time_ns);
	while (p < end) {
		u8 op = (u8)take(1);

		step(&s, &c, op);
		if (!(op & 0x80))	/* more changes before the sample */
			continue;
		/* the same again, some times: trends need many samples */
		pushes = 1 + take(1) % 16;
		for (; pushes; pushes--) {
			s.time_ns += c.v[s.full ? SEEPAGE_CFG_SAMPLE_INTERVAL_MS :
					 SEEPAGE_CFG_SUSPECT_INTERVAL_MS] * 1000000ULL;
			s.age_ns += c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] * 1000000ULL;
			if (op & 0x40)
				s.anon += (u64)(op & 0x38) << 16;
			feed(&d, &twin, &s, &c);
		}
	}
	return 0;
}
