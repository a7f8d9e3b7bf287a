// SPDX-License-Identifier: GPL-2.0
/* Samples that are put off: the history is the same, bit for bit, as if each had been fed. */
#include "sim.h"

/* A detector that gets every sample, and one that gets what cannot be put off. */
struct pair {
	struct sim m;
	struct seep_det lazy;
	struct seep_sample last;	/* that lazy was fed */
	u32 t[SEEP_RESTS], n, most;	/* put off: times; how many; at most */
	u64 fed, put_off;
};

static u32 seed;

static u32 below(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (u32)((u64)seed * n >> 32);
}

static void wake(struct pair *p)
{
	seep_det_rested(&p->lazy, &p->last, p->t, p->n);
	p->most -= p->n;
	p->n = 0;
}

static bool equal(const struct seep_sample *a, const struct seep_sample *b)
{
	return a->faults == b->faults && a->anon == b->anon && a->file == b->file &&
	       a->shmem == b->shmem && a->swap == b->swap && a->vsz == b->vsz &&
	       a->pgtables == b->pgtables;
}

/* One sample, as it is in m.s. */
static void give(struct pair *p, bool full)
{
	struct sim *m = &p->m;
	struct seep_verdict v;

	m->s.full = full;
	m->s.age_ns = m->s.time_ns - m->t0;
	seep_det_feed(&m->d, &m->s, &m->c, &m->v);
	if (full && p->n < p->most && equal(&m->s, &p->last)) {
		p->t[p->n++] = seep_ds(m->s.time_ns);
		p->put_off++;
		assert_int_equal(m->v.state, SEEPAGE_STATE_OK);
		return;
	}
	wake(p);
	seep_det_feed(&p->lazy, &m->s, &m->c, &v);
	p->fed++;
	p->last = m->s;
	assert_memory_equal(&p->lazy, &m->d, sizeof(m->d));
	assert_int_equal(v.state, m->v.state);
	p->most = full ? seep_det_rest(&p->lazy, &m->s, &m->c,
				       below(4) ? SEEP_RESTS - 1 : below(SEEP_RESTS)) : 0;
}

static void begin(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	sim_init(&p->m, 8 * GB);
	p->m.s.anon = 100 * MB;
	p->m.s.vsz = 150 * MB;
	p->m.s.headroom = 8 * GB;
	p->m.s.time_ns = START_NS;
	p->lazy = p->m.d;
}

/* What a process may do between two full samples. Rests are long. */
static void change(struct sim *m)
{
	u64 *const figure[] = { &m->s.anon, &m->s.file, &m->s.shmem, &m->s.swap, &m->s.vsz,
				&m->s.pgtables, &m->s.faults };
	u64 *of = figure[below(7)];

	switch (below(4)) {
	case 0:
		*of += below(64) << 12;
		break;
	case 1:
		*of += below(200) * MB;
		break;
	case 2:
		*of -= below(2) ? *of / 2 : *of % 4096;
		break;
	case 3:
		m->s.error = below(1 << 20);
	}
}

/* For one sample, less memory or less address space. */
static void dip(struct pair *p)
{
	u64 *of = below(2) ? &p->m.s.anon : &p->m.s.vsz, was = *of;

	p->m.s.time_ns += S_NS;
	*of -= *of / (2 + below(20));
	give(p, below(2));
	*of = was;
}

static void test_history_is_the_same(void **state)
{
	u64 put_off = 0, fed = 0;

	(void)state;
	for (u32 run = 0; run < 200; run++) {
		u32 often = 1 + below(400), late = 1 + below(30);
		struct pair p;

		seed = run * 7919 + 1;
		begin(&p);
		p.m.c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] = run % 3 ? 10000 : 1000 + below(20000);
		for (u32 i = 0; i < 5000; i++) {
			p.m.s.time_ns += p.m.c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] * 1000000ULL;
			p.m.s.time_ns += below(late) ? below(100) * 1000000ULL : below(90) * S_NS;
			if (!below(often))
				change(&p.m);
			give(&p, true);
			if (run % 2 && !below(40))
				dip(&p);
			if (below(50))
				continue;
			wake(&p);	/* it is shown */
			assert_memory_equal(&p.lazy, &p.m.d, sizeof(p.m.d));
		}
		put_off += p.put_off;
		fed += p.fed;
	}
	assert_true(put_off > fed);
}

/* Nothing is put off that could change a state: growth, classic, another interval. */
static void test_nothing_is_put_off_that_counts(void **state)
{
	struct pair p;

	(void)state;
	begin(&p);
	for (u32 i = 0; i < 400; i++) {
		p.m.s.time_ns += 10 * S_NS;
		give(&p, true);
	}
	wake(&p);
	assert_true(p.put_off > 300);
	assert_true(seep_det_rest(&p.lazy, &p.last, &p.m.c, 1));
	p.m.c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] = 5000;
	assert_false(seep_det_rest(&p.lazy, &p.last, &p.m.c, 1));
	p.m.c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] = 10000;
	p.m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	assert_false(seep_det_rest(&p.lazy, &p.last, &p.m.c, 1));
	p.m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
	assert_true(seep_det_rest(&p.lazy, &p.last, &p.m.c, 1));
	for (u32 i = 0; i < 12; i++) {	/* it grows, and is then under watch */
		p.m.s.time_ns += 10 * S_NS;
		p.m.s.anon += 20 * MB;
		give(&p, true);
	}
	assert_int_not_equal(p.lazy.state, SEEPAGE_STATE_OK);
	assert_int_equal(p.most, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history_is_the_same),
		cmocka_unit_test(test_nothing_is_put_off_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
