/* SPDX-License-Identifier: GPL-2.0 */
/* A simulated process, and the detector that gets its samples */
#ifndef SEEPAGE_TEST_SIM_H
#define SEEPAGE_TEST_SIM_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "../../kmod/detect/detect.h"
#include <seepage/names.h>

#define MB		(1ULL << 20)
#define GB		(1ULL << 30)
#define S_NS		1000000000ULL
#define START_NS	(1000 * S_NS)

struct sim {
	struct seep_det d;
	struct seep_watch w;
	struct seep_conf c;
	struct seep_sample s;
	struct seep_verdict v;
	u64 limit;		/* bytes */
	u64 t0;			/* ns: begin of the process */
	u64 older;		/* ns: it had this age at t0 (classic_feed() only) */
	double at[__SEEPAGE_STATE_MAX];	/* seconds: when each state was first entered */
	u8 worst;
	u64 held;		/* bytes of all kinds at the last sample */
};

static inline void defaults(struct seep_conf *c)
{
	memset(c, 0, sizeof(*c));
#define NUMBER(ID, word, def, lo, hi, text)	c->v[SEEPAGE_CFG_##ID] = def;
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
#undef NUMBER
	c->v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
}

static inline void sim_init(struct sim *m, u64 limit)
{
	memset(m, 0, sizeof(*m));
	defaults(&m->c);
	m->limit = limit;
	m->t0 = START_NS;
	m->s.page_shift = 12;
	m->s.error = 64 * 4096;
	seep_det_init(&m->d, &m->w, START_NS);
	for (int i = 0; i < __SEEPAGE_STATE_MAX; i++)
		m->at[i] = -1;
}

/* One sample at t seconds; what it maps and faults is given. */
static inline void sample(struct sim *m, double t, u64 anon, bool full)
{
	m->s.time_ns = m->t0 + (u64)(t * 1e9);
	m->s.age_ns = m->s.time_ns - m->t0;
	m->s.anon = anon;
	m->s.headroom = m->limit > anon ? m->limit - anon : 0;
	m->s.full = full;
	seep_det_feed(&m->d, &m->s, &m->c, &m->v);
	assert_false(m->v.dropped);
	if (m->at[m->v.state] < 0)
		m->at[m->v.state] = t;
	if (m->v.state <= SEEPAGE_STATE_RUNAWAY && m->v.state > m->worst)
		m->worst = m->v.state;
}

/* One sample at t seconds with these many bytes of anonymous memory. */
static inline void feed(struct sim *m, double t, u64 anon, bool full)
{
	u64 before = m->s.anon, held = anon + m->s.swap + m->s.shmem + m->s.pgtables;

	if (anon > before)
		m->s.faults_anon += (anon - before) / 4096;
	if (held > m->held)
		m->s.faults += (held - m->held) / 4096;
	m->held = held;
	m->s.vsz = anon + 10 * MB;
	sample(m, t, anon, full);
}

typedef double (*shape)(double t);

/* As the worker does: every 10 s, every second while under suspicion. */
static inline void run(struct sim *m, shape f, double seconds)
{
	double t = 0, next_full = 0;

	while (t <= seconds) {
		bool full = t >= next_full;

		if (full)
			next_full = t + 10;
		feed(m, t, (u64)f(t), full);
		if (m->v.state >= SEEPAGE_STATE_WATCH && m->v.state <= SEEPAGE_STATE_RUNAWAY)
			t = t + 1 < next_full ? t + 1 : next_full;
		else
			t = next_full;
	}
}

static inline double leak_20mb_min(double t)
{
	return 5.0 * MB + 20.0 * MB / 60 * t;
}

static inline int points(const struct seep_verdict *v, u8 id)
{
	for (int i = 0; i < v->nfactors; i++)
		if (v->factor[i].id == id)
			return v->factor[i].points;
	fail_msg("factor %d missing", id);
	return 0;
}

static inline const struct seep_gate *gate(const struct seep_verdict *v, u8 id)
{
	for (int i = 0; i < v->ngates; i++)
		if (v->gate[i].id == id)
			return &v->gate[i];
	return NULL;
}

static inline double noise(double t)
{
	static u32 x = 12345;

	(void)t;
	x = x * 1664525U + 1013904223U;
	return (double)(x >> 8) / (1 << 24);
}

static inline double sawtooth(double t)
{
	return 50.0 * MB + 200.0 * MB * fmod(t, 480) / 480;
}

static inline double flat_noise(double t)
{
	return 500.0 * MB + 100.0 * MB * noise(t);
}

static inline double saturating(double t)
{
	return 10.0 * MB + 400.0 * MB * (1 - exp(-t / 600));
}

static inline double given_back(double t)
{
	return t < 1200 ? leak_20mb_min(t) : 5.0 * MB;
}

#endif
