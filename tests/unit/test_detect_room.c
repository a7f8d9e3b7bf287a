// SPDX-License-Identifier: GPL-2.0
/* The gates and factors of a verdict: how many there is room for, and which are hidden. */
#include "sim.h"

struct guarded {
	struct seep_verdict v;
	u8 behind[64];
};

static void guard(struct guarded *g)
{
	memset(g, 0xa5, sizeof(*g));
	seep_verdict_init(&g->v);
}

static void assert_untouched(const struct guarded *g)
{
	for (size_t i = 0; i < sizeof(g->behind); i++)
		assert_int_equal(g->behind[i], 0xa5);
}

static void test_gates_beyond_the_last_are_dropped_and_marked(void **state)
{
	struct guarded g;

	(void)state;
	guard(&g);
	for (int i = 0; i < SEEP_MAX_GATES; i++) {
		seep_add_gate(&g.v, (u8)(i + 1), i & 1, i, 2 * i);
		assert_false(g.v.dropped);
	}
	assert_int_equal(g.v.ngates, SEEP_MAX_GATES);
	seep_add_gate(&g.v, SEEPAGE_GATE_SIZE, true, -1, -1);
	assert_true(g.v.dropped);
	seep_add_gate_unreached(&g.v, SEEPAGE_GATE_SIZE);
	for (int i = 0; i < 300; i++)
		seep_add_gate(&g.v, SEEPAGE_GATE_SIZE, true, -1, -1);
	assert_int_equal(g.v.ngates, SEEP_MAX_GATES);
	for (int i = 0; i < SEEP_MAX_GATES; i++) {
		assert_int_equal(g.v.gate[i].id, i + 1);
		assert_int_equal(g.v.gate[i].value, i);
		assert_int_equal(g.v.gate[i].limit, 2 * i);
	}
	assert_int_equal(g.v.nfactors, 0);
	assert_untouched(&g);
	/* one without figures needs a place as well */
	guard(&g);
	for (int i = 0; i < SEEP_MAX_GATES; i++)
		seep_add_gate_unreached(&g.v, SEEPAGE_GATE_RISING);
	assert_false(g.v.dropped);
	seep_add_gate_unreached(&g.v, SEEPAGE_GATE_RISING);
	assert_true(g.v.dropped);
	assert_int_equal(g.v.ngates, SEEP_MAX_GATES);
	assert_untouched(&g);
}

static void test_factors_beyond_the_last_are_dropped_and_marked(void **state)
{
	struct guarded g;

	(void)state;
	guard(&g);
	for (int i = 0; i < SEEP_MAX_FACTORS; i++) {
		seep_add_factor(&g.v, (u8)(i + 1), 1, 2, i, -i);
		assert_false(g.v.dropped);
	}
	for (int i = 0; i < 300; i++)
		seep_add_factor(&g.v, SEEPAGE_FACTOR_POP, 99, 99, 99, 99);
	assert_true(g.v.dropped);
	assert_int_equal(g.v.nfactors, SEEP_MAX_FACTORS);
	for (int i = 0; i < SEEP_MAX_FACTORS; i++) {
		assert_int_equal(g.v.factor[i].id, i + 1);
		assert_int_equal(g.v.factor[i].value, i);
	}
	assert_untouched(&g);
	seep_verdict_init(&g.v);
	assert_false(g.v.dropped);
}

static void test_only_pop_is_marked_for_readers_with_capabilities(void **state)
{
	(void)state;
	assert_int_equal(SEEPAGE_FACTORS_PERFMON, 1U << SEEPAGE_FACTOR_POP);
	/* a mask has room for all of them */
	assert_true(SEEPAGE_FACTOR_MAX < 32);
}

/* Every rotation of a verdict's factors, with and without the marked one. */
static void test_what_is_hidden_depends_on_no_order(void **state)
{
	static const u8 ids[] = {
		SEEPAGE_FACTOR_FLOOR, SEEPAGE_FACTOR_PERSIST, SEEPAGE_FACTOR_RETAIN,
		SEEPAGE_FACTOR_KIND, SEEPAGE_FACTOR_WORK, SEEPAGE_FACTOR_POP,
	};
	const u8 n = sizeof(ids);
	struct guarded g;

	(void)state;
	for (u8 first = 0; first < n; first++) {
		for (u8 count = 0; count <= n; count++) {
			u8 shown = 0;

			guard(&g);
			for (u8 i = 0; i < count; i++) {
				u8 id = ids[(first + i) % n];

				seep_add_factor(&g.v, id, 1, 2, 10 * id, id);
			}
			seep_verdict_hide(&g.v, SEEPAGE_FACTORS_PERFMON);
			for (u8 i = 0; i < count; i++) {
				u8 id = ids[(first + i) % n];

				if (id == SEEPAGE_FACTOR_POP)
					continue;
				assert_true(shown < g.v.nfactors);
				assert_int_equal(g.v.factor[shown].id, id);
				assert_int_equal(g.v.factor[shown].value, 10 * id);
				shown++;
			}
			assert_int_equal(g.v.nfactors, shown);
			assert_untouched(&g);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gates_beyond_the_last_are_dropped_and_marked),
		cmocka_unit_test(test_factors_beyond_the_last_are_dropped_and_marked),
		cmocka_unit_test(test_only_pop_is_marked_for_readers_with_capabilities),
		cmocka_unit_test(test_what_is_hidden_depends_on_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
