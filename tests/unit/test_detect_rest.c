// SPDX-License-Identifier: GPL-2.0
/* Samples that are put off: the history is the same, bit for bit, as if each had been fed. */
#include "sim.h"

/* A detector that gets every sample, and one that gets what cannot be put off. */
struct pair {
	struct sim m;
	struct seep_det lazy;
	struct seep_watch watch;	/* of lazy */
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

/* Of what one of both has, the other has the same. */
static void assert_same(const struct pair *p)
{
	struct seep_det d = p->m.d;

	d.w = p->lazy.w;
	assert_memory_equal(&p->lazy, &d, sizeof(d));
	assert_memory_equal(&p->watch, &p->m.w, sizeof(p->watch));
}

static bool equal(const struct seep_sample *a, const struct seep_sample *b)
{
	return a->faults == b->faults && a->anon == b->anon && a->file == b->file &&
	       a->shmem == b->shmem && a->swap == b->swap && a->vsz == b->vsz &&
	       a->pgtables == b->pgtables;
}

/* What differs in equal samples: other processes take memory and give it back. */
static void around(struct seep_sample *s)
{
	s->headroom = below(3) ? 8 * GB : below(1000) * MB;
	s->limit = below(3) ? SEEPAGE_LIMIT_RAM : SEEPAGE_LIMIT_CGROUP;
	s->others = below(2) ? (u16)below(100) : 0;
	s->others_rate = s->others ? below(1 << 24) : 0;
}

/* One sample, as it is in m.s. */
static void give(struct pair *p, bool full)
{
	struct sim *m = &p->m;
	struct seep_verdict v;

	m->s.full = full;
	m->s.age_ns = m->s.time_ns - m->t0;
	around(&m->s);
	seep_det_feed(&m->d, &m->s, &m->c, &m->v);
	if (full && p->n < p->most && equal(&m->s, &p->last)) {
		p->t[p->n++] = seep_ds(m->s.time_ns);
		p->put_off++;
		assert_int_equal(m->v.state, SEEPAGE_STATE_OK);
		assert_int_equal(m->v.rate, 0);
		return;
	}
	wake(p);
	seep_det_feed(&p->lazy, &m->s, &m->c, &v);
	p->fed++;
	p->last = m->s;
	assert_same(p);
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
	seep_det_init(&p->lazy, &p->watch, START_NS);
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
			assert_same(&p);
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

static void assert_same_verdict(const struct seep_verdict *a, const struct seep_verdict *b)
{
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->confidence, b->confidence);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->patience, b->patience);
	assert_true(a->tte_s == b->tte_s && a->v0 == b->v0 && a->t0 == b->t0 && a->t1 == b->t1);
	assert_int_equal(a->ngates, b->ngates);
	assert_int_equal(a->nfactors, b->nfactors);
	for (u32 i = 0; i < a->ngates; i++)
		assert_true(a->gate[i].value == b->gate[i].value &&
			    a->gate[i].passed == b->gate[i].passed);
	for (u32 i = 0; i < a->nfactors; i++)
		assert_true(a->factor[i].value == b->factor[i].value &&
			    a->factor[i].points == b->factor[i].points);
}

/*
 * A struct seep_watch is lent for each sample, with what another process has left in it, and
 * taken away when it says nothing. The verdicts are those of one that always has its own.
 */
static void test_watch_is_lent(void **state)
{
	u32 worst = 0, plain = 0;

	(void)state;
	for (u32 run = 0; run < 300; run++) {
		struct seep_verdict v, w;
		u64 rate = 0, next = 0;
		struct pair p;

		seed = run * 104729 + 5;
		begin(&p);
		p.lazy.w = NULL;
		p.m.c.v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] = run % 3 ? 20 : 300;
		for (u32 i = 0; i < 3000; i++) {
			bool full = !seep_watched(p.m.d.state) || i % 5 == 0;

			if (i >= next) {	/* another phase: it grows, rests, or gives back */
				rate = below(2) ? below(8 * MB) : 0;
				next = i + 20 + below(600);
				if (!below(3))
					p.m.s.anon /= 2;
				p.m.s.headroom = below(2) ? GB : 8 * GB;
				p.m.s.others = (u16)below(20);
				p.m.s.others_rate = p.m.s.others * below(1 << 16);
			}
			if (!below(500))
				p.m.c.v[SEEPAGE_CFG_POLICY] ^= SEEPAGE_POLICY_CLASSIC;
			p.m.s.anon += rate;
			p.m.s.vsz = 2 * p.m.s.anon + (run % 7 ? 0 : i * MB);
			p.m.s.faults += rate >> 12;
			p.m.s.faults_anon += rate >> 12;
			p.m.s.time_ns += full ? 10 * S_NS : 2 * S_NS;
			p.m.s.age_ns = p.m.s.time_ns - p.m.t0;
			p.m.s.full = full;
			p.m.s.cpu_ms = p.m.d.state ? i + 1 : 0;
			if (!p.lazy.w) {
				memset(&p.watch, 0x5a + (int)(i % 100), sizeof(p.watch));
				p.watch.fast.runs = 0;
				p.lazy.w = &p.watch;
			}
			seep_det_feed(&p.m.d, &p.m.s, &p.m.c, &v);
			seep_det_feed(&p.lazy, &p.m.s, &p.m.c, &w);
			assert_same_verdict(&v, &w);
			if (seep_det_plain(&p.lazy)) {
				p.lazy.w = NULL;
				plain++;
			}
			if (below(20) == 0) {
				seep_det_explain(&p.m.d, &p.m.s, &p.m.c, &v);
				seep_det_explain(&p.lazy, &p.m.s, &p.m.c, &w);
				assert_same_verdict(&v, &w);
			}
			worst = v.state > worst ? v.state : worst;
		}
	}
	assert_int_equal(worst, SEEPAGE_STATE_RECOVERED);
	assert_true(plain > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history_is_the_same),
		cmocka_unit_test(test_nothing_is_put_off_that_counts),
		cmocka_unit_test(test_watch_is_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
