// SPDX-License-Identifier: GPL-2.0
/* Figures and verdicts as English sentences */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char buf[SENTENCE_MAX];

static unsigned int series;	/* of the next factor and gate */

static const char *factor(int id, int points, s64 value, s64 baseline)
{
	struct factor f = { .id = (unsigned int)id, .points = points, .max = 30,
			    .value = value, .baseline = baseline, .subject = series,
			    .has_value = true, .has_baseline = true };

	sentence_factor(&f, buf, sizeof(buf));
	return buf;
}

static const char *gate(int id, s64 value, s64 limit)
{
	struct gate g = { .id = (unsigned int)id, .reached = true, .value = value,
			  .limit = limit, .subject = series };

	sentence_gate(&g, buf, sizeof(buf));
	return buf;
}

static void begins(const char *s)
{
	assert_memory_equal(buf, s, strlen(s));
}

static void ends(const char *s)
{
	assert_in_range(strlen(s), 1, strlen(buf));
	assert_string_equal(buf + strlen(buf) - strlen(s), s);
}

static void factors(void **state)
{
	struct factor unknown = { .id = SEEPAGE_FACTOR_FLOOR };

	(void)state;
	assert_string_equal(factor(SEEPAGE_FACTOR_FLOOR, 30, 100 << 20, 10 << 20),
			    "the floor of anonymous memory, swap, shared memory and page tables "
			    "rose 100.0 MiB, from 10.0 MiB");
	assert_string_equal(factor(SEEPAGE_FACTOR_PERSIST, 30, 300, 120),
			    "it has been rising for 5m00s; 2m00s are asked for");
	assert_string_equal(factor(SEEPAGE_FACTOR_RELEASE, 10, 0, 0),
			    "nothing of what it grew was given back");
	assert_string_equal(factor(SEEPAGE_FACTOR_RELEASE, 9, 25, 0),
			    "2.5 % of what it grew was given back");
	assert_string_equal(factor(SEEPAGE_FACTOR_RETAIN, 15, 950, 1000),
			    "0.95 pages stayed for each anonymous page fault");
	assert_non_null(strstr(factor(SEEPAGE_FACTOR_RETAIN, 15, 512000, 1000),
			       "512.00 pages stayed for each anonymous page fault: huge pages"));
	assert_string_equal(factor(SEEPAGE_FACTOR_PMC, 6, 990, 1100),
			    "cache and TLB misses, at 99.0 % of what was usual, speak for a leak");
	assert_string_equal(factor(SEEPAGE_FACTOR_PMC, -6, 2100, 1100),
			    "cache and TLB misses, at 210.0 % of what was usual, speak against a leak");
	assert_string_equal(factor(SEEPAGE_FACTOR_KIND, 0, 973, SEEPAGE_GREW_HEAP),
			    "97.3 % of what it gained is its heap (brk)");
	assert_string_equal(factor(SEEPAGE_FACTOR_KIND, 0, 1000, SEEPAGE_GREW_PGTABLES),
			    "100.0 % of what it gained is page tables");
	assert_string_equal(factor(SEEPAGE_FACTOR_WORK, 0, 3 << 20, 12300),
			    "it gained 3.0 MiB for each second of CPU time; it used 12.3 s of it");
	assert_string_equal(factor(SEEPAGE_FACTOR_POP, 0, 0, 4),
			    "of 4 others of its name and cgroup none grows");
	assert_string_equal(factor(SEEPAGE_FACTOR_POP, 0, 1, 1),
			    "of 1 other of its name and cgroup 1 grows as well");
	assert_string_equal(factor(SEEPAGE_FACTOR_POP, 0, 3, 4),
			    "of 4 others of its name and cgroup 3 grow as well");
	assert_string_equal(factor(SEEPAGE_FACTOR_FAULT_RATE, 30, 1500, 1000),
			    "the fault rate is 1500 faults/s, above 1000 faults/s");
	assert_string_equal(factor(SEEPAGE_FACTOR_FAULT_RATE, 0, 5, 500),
			    "the fault rate is 5 faults/s, not above 500 faults/s");
	assert_string_equal(factor(SEEPAGE_FACTOR_VSZ_RSS, 12, 250, 200),
			    "address space over RSS is 250 %, above 200 %");
	sentence_factor(&unknown, buf, sizeof(buf));
	assert_string_equal(buf, "floor is not known");
}

/* Every factor and gate has its own sentence, whatever the figures. */
static void extremes(void **state)
{
	static const s64 v[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	size_t i, j;
	int id;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		for (j = 0; j < ARRAY_SIZE(v); j++) {
			for (id = 1; id <= SEEPAGE_FACTOR_MAX; id++)
				assert_null(strstr(factor(id, 1, v[i], v[j]), "does not know"));
			for (id = 1; id <= SEEPAGE_GATE_MAX; id++)
				assert_null(strstr(gate(id, v[i], v[j]), "does not know"));
		}
	}
	assert_non_null(strstr(factor(200, 1, 2, 3), "does not know"));
	assert_non_null(strstr(gate(200, 2, 3), "does not know"));
}

static void gates(void **state)
{
	struct gate g = { .id = SEEPAGE_GATE_RISING };

	(void)state;
	assert_string_equal(gate(SEEPAGE_GATE_SIZE, 1 << 20, 10 << 20),
			    "memory in use is 1.0 MiB; at least 10.0 MiB counts");
	assert_string_equal(gate(SEEPAGE_GATE_SATURATION, 300, 850),
			    "the second half of the rise is 30.0 % of the first; at least 85.0 % is needed");
	assert_string_equal(gate(SEEPAGE_GATE_HORIZON, 400 * 86400, 180 * 86400),
			    "memory is exhausted in 1y035d; at most 180d00h counts");
	assert_string_equal(gate(SEEPAGE_GATE_CONFIDENCE, 70, 70),
			    "confidence is 70; more than 70 is needed");
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "no floor of anonymous memory, swap, shared memory and page "
			    "tables keeps rising");
	assert_string_equal(gate(SEEPAGE_GATE_RISING, 3 << 20, 4 << 20),
			    "the floor rose 3.0 MiB; at least 4.0 MiB is needed");
	g.id = SEEPAGE_GATE_HORIZON;
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "not reached");
}

static void used(void **state)
{
	struct gate g = { .id = SEEPAGE_GATE_COLD, .reached = true, .value = 120, .limit = 500 };

	(void)state;
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "12.0 % of what it gained is not used again; at least 50.0 % is "
			    "needed");
	g.value = 0;
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "all of what it gained is used again; at least 50.0 % unused is "
			    "needed");
	g.value = 120;
	g.passed = true;
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "12.0 % of what it gained is not used again, at least 50.0 % is "
			    "needed, but it has been rising for 12 hours or for three quarters of the "
			    "time to exhaustion");
	g.value = 900;
	sentence_gate(&g, buf, sizeof(buf));
	assert_string_equal(buf, "90.0 % of what it gained is not used again; at least 50.0 % is "
			    "needed");
}

static const char *novelty(bool passed, bool past, s64 value, s64 limit)
{
	struct gate g = { .id = SEEPAGE_GATE_NOVELTY, .reached = true, .value = value,
			  .limit = limit, .passed = passed, .past = past };

	sentence_gate(&g, buf, sizeof(buf));
	return buf;
}

/* What was given back before: a higher rise counts, a longer one, and the first. */
static void climbs(void **state)
{
	(void)state;
	assert_string_equal(novelty(true, false, 50 << 20, 0),
			    "neither it nor others of its name have given back a rise before");
	assert_string_equal(novelty(true, false, 100 << 20, 75 << 20),
			    "the rise is 100.0 MiB; more than 75.0 MiB is needed, as it or others "
			    "of its name have given back rises before");
	assert_string_equal(novelty(true, false, 50 << 20, 75 << 20),
			    "the rise is longer than any that it or others of its name have "
			    "given back before");
	assert_string_equal(novelty(false, false, 50 << 20, 75 << 20),
			    "the rise is 50.0 MiB; more than 75.0 MiB, or half as long again, is "
			    "needed, as it or others of its name have given back such rises before");
	assert_string_equal(novelty(false, true, 50 << 20, 75 << 20),
			    "the rise was 50.0 MiB; more than 75.0 MiB, or half as long again, was "
			    "needed, as it or others of its name had given back such rises before");
}

/* What a sentence is about is what the verdict is about. */
static void of_series(void **state)
{
	(void)state;
	series = SEEPAGE_SUBJECT_VSZ;
	assert_string_equal(factor(SEEPAGE_FACTOR_FLOOR, 30, 100 << 20, 10 << 20),
			    "the floor of address space that never held memory rose 100.0 MiB, "
			    "from 10.0 MiB");
	assert_string_equal(gate(SEEPAGE_GATE_SIZE, 1 << 20, 10 << 20),
			    "address space that never held memory is 1.0 MiB; at least 10.0 MiB "
			    "counts");
	series = SEEPAGE_SUBJECT_GROUP;
	assert_string_equal(factor(SEEPAGE_FACTOR_FLOOR, 0, 0, 0),
			    "the floor of the memory of all processes of its name and cgroup "
			    "does not rise");
	assert_string_equal(gate(SEEPAGE_GATE_SIZE, 1 << 20, 10 << 20),
			    "memory in use is 1.0 MiB; at least 10.0 MiB counts");
	series = 200;
	assert_non_null(strstr(factor(SEEPAGE_FACTOR_FLOOR, 0, 0, 0), "does not know"));
	series = SEEPAGE_SUBJECT_MEMORY;
}

static struct nl_msg *process(int proc_state, int policy)
{
	struct nl_msg *m = msg_new();

	nla_put_u32(m, SEEPAGE_A_PID, 42);
	nla_put_string(m, SEEPAGE_A_COMM, "leaky\n");
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)proc_state);
	nla_put_u8(m, SEEPAGE_A_POLICY, (u8)policy);
	nla_put_u8(m, SEEPAGE_A_CONFIDENCE, 85);
	return m;
}

static void headline(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_SUSPECTED, SEEPAGE_POLICY_LADDER);
	struct message rec;

	(void)state;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	begins("pid 42 (leaky\\x0a): suspected, confidence 85, ");
	ends(", growth not known, time to exhaustion not known yet");
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 0);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(", growth 0 B/h, no time to exhaustion");
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 60 << 20);
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 7500);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	begins("pid 42 (leaky\\x0a): suspected, confidence 85, growth +60.0 MiB/h, ");
	ends(" +60.0 MiB/h, memory exhausted in 2h05m at this rate");
	nla_put_u8(m, SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_CGROUP);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(", at this pace the memory limit of its cgroup is reached in 2h05m");
	nla_put_u8(m, SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_RAM);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(", memory exhausted in 2h05m at this rate");
	nla_put_u32(m, SEEPAGE_A_SHARES_WITH, 5);
	nla_put_u64(m, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR, 360 << 20);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(" in 2h05m at this rate with 5 other processes, +360.0 MiB/h in all");
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	assert_non_null(strstr(buf, ", 2h05m left with 5 other processes, +360.0 MiB/h in all, "
			       "confidence"));
	nla_put_u32(m, SEEPAGE_A_SHARES_WITH, 1);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(" with 1 other process, +360.0 MiB/h in all");
	nla_put_u32(m, SEEPAGE_A_SHARES_WITH, 0);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(" at this rate (available memory falls by 360.0 MiB/h; no other known process grows)");
	/* The growth told is that of address space, which takes no memory. */
	nla_put_u8(m, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_VSZ);
	nla_put_u64(m, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR, 0);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, ", memory exhausted in 2h05m at its own rate"));
	nlmsg_free(m);
}

/* Available memory that falls as fast as the process grows needs no other reason. */
static void alone(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_SUSPECTED, SEEPAGE_POLICY_LADDER);
	struct message rec;

	(void)state;
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 60 << 20);
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 7500);
	nla_put_u32(m, SEEPAGE_A_SHARES_WITH, 0);
	nla_put_u64(m, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR, 64 << 20);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	ends(", memory exhausted in 2h05m at this rate");
	nlmsg_free(m);
}

static void held_back(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_WATCH, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATES);
	struct message rec;

	(void)state;
	put_gate(m, SEEPAGE_GATE_SIZE, 1, true, 20 << 20, 10 << 20);
	put_gate(m, SEEPAGE_GATE_PATIENCE, 0, true, 60, 300);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grows and is watched more closely; this is no alert. Held back by patience: ");
	ends(" by patience: it has been rising for 1m00s; 5m00s is needed. Policy: ladder.");
	sentence_change(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "Rising for another 4m00s at this pace.");
	nlmsg_free(m);
}

/* Patience grows with the time that is left: its gate may close below an alert that stands. */
static void stands(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_SUSPECTED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATES);
	struct gate g[MSG_LIST_MAX];
	struct message rec;

	(void)state;
	put_gate(m, SEEPAGE_GATE_SIZE, 1, true, 20 << 20, 10 << 20);
	put_gate(m, SEEPAGE_GATE_PATIENCE, 0, true, 60, 300);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	assert_int_equal(msg_gates(&rec, g), 2);
	assert_string_equal(sentence_gate_word(&g[0]), "passed");
	assert_string_equal(sentence_gate_word(&g[1]), "closed");
	sentence_verdict(&rec, buf, sizeof(buf));
	assert_null(strstr(buf, "eld back"));
	sentence_change(&rec, buf, sizeof(buf));
	begins("The alert stays, whatever gate closes, until half of the accused growth is given ");
	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_WATCH);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	assert_int_equal(msg_gates(&rec, g), 2);
	assert_string_equal(sentence_gate_word(&g[1]), "held back");
	nlmsg_free(m);
}

/* What a growth alone would tell; the peers are known at any time. */
static void factors_without_growth(const struct message *rec, unsigned int floors)
{
	static const char *const nothing[] = {
		"does not rise", "there is no lasting rise", "no growth that could",
	};
	struct factor f[MSG_LIST_MAX];
	char want[64];
	size_t i;

	assert_int_equal(msg_factors(rec, f), ARRAY_SIZE(nothing) + 1);
	snprintf(want, sizeof(want), "not known yet, after %u of 8 floors", floors);
	for (i = 0; i < ARRAY_SIZE(nothing); i++) {
		sentence_factor(&f[i], buf, sizeof(buf));
		assert_int_equal(!strcmp(buf, want), floors < 8);
		assert_int_equal(!!strstr(buf, nothing[i]), floors == 8);
	}
	sentence_factor(&f[i], buf, sizeof(buf));
	begins("of 3 others");
}

/* That nothing rises is not known before there are floors; in a row of `ps` as in `show`. */
static void few_floors(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 0; n <= LEVEL_EPOCHS; n++) {
		struct nl_msg *m = process(SEEPAGE_STATE_OK, SEEPAGE_POLICY_LADDER);
		struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATES);
		char says[32];
		struct message rec;

		put_gate(m, SEEPAGE_GATE_RISING, 0, false, 0, 0);
		nla_nest_end(m, nest);
		nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
		put_factor(m, SEEPAGE_FACTOR_FLOOR, 0, 30, 0, 0);
		put_factor(m, SEEPAGE_FACTOR_PERSIST, 0, 48, 0, 0);
		put_factor(m, SEEPAGE_FACTOR_RELEASE, 0, 12, 0, 0);
		put_factor(m, SEEPAGE_FACTOR_POP, 0, 0, 0, 3);
		nla_nest_end(m, nest);
		if (n < LEVEL_EPOCHS)
			nla_put_u8(m, SEEPAGE_A_FLOORS, (u8)n);
		assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
		sentence_verdict(&rec, buf, sizeof(buf));
		snprintf(says, sizeof(says), "rising: %u of the 8 floors", n);
		assert_int_equal(!strstr(buf, says), n == 8);
		assert_int_equal(!strstr(buf, "rising: no floor of"), n != 8);
		factors_without_growth(&rec, n);
		sentence_change(&rec, buf, sizeof(buf));
		assert_string_equal(buf, n < 8 ? "More samples, and a floor that keeps rising." :
				    "A floor that keeps rising.");
		nlmsg_free(m);
	}
}

static void not_sampled(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_OK, SEEPAGE_POLICY_LADDER);
	struct message rec;

	(void)state;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("Not judged yet: it has not been sampled; the next sample is awaited. Policy");
	rec.interval_ms = 10000;
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("Not judged yet: it has not been sampled; next sample in at most 10s. Policy");
	sentence_change(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "The next sample.");
	nlmsg_free(m);
}

static void accused(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_CONFIRMED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	struct message rec;

	(void)state;
	put_factor(m, SEEPAGE_FACTOR_FLOOR, 30, 30, 100 << 20, 10 << 20);
	put_factor(m, SEEPAGE_FACTOR_RELEASE, 0, 10, 600, 0);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_factors(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "floor of its memory rose 100.0 MiB from 10.0 MiB");
	sentence_change(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, "(anonymous memory, swap, shared memory and page tables: "
			       "below about 60.0 MiB)"));
	sentence_verdict(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, "not whether the program still uses that memory"));
	nla_put_u8(m, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_VSZ);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_factors(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "floor of its address space rose 100.0 MiB from 10.0 MiB");
	sentence_change(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, "(address space that never held memory: below about 60.0 "
			       "MiB)"));
	sentence_verdict(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, "This is address space, not memory"));
	assert_null(strstr(buf, "still uses"));
	nlmsg_free(m);
}

/* A runaway stays one when it slows down: "soon" is said of those alone whose end is near. */
static void slowed(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_RUNAWAY, SEEPAGE_POLICY_LADDER);
	struct message rec;

	(void)state;
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 900);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grows so fast that memory is soon exhausted: an alert.");
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 4140);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grew so fast that memory would have been exhausted within minutes; it grows "
	       "more slowly now: an alert.");
	nlmsg_free(m);
}

/* An alert of a group says so wherever it is told. */
static void accused_group(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_CONFIRMED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	struct message rec;

	(void)state;
	put_factor(m, SEEPAGE_FACTOR_FLOOR, 30, 30, 100 << 20, 10 << 20);
	nla_nest_end(m, nest);
	nla_put_u32(m, SEEPAGE_A_MEMBERS, 40);
	nla_put_u8(m, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_GROUP);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_headline(&rec, buf, sizeof(buf));
	begins("pid 42 (leaky\\x0a), all 40 processes of its name and cgroup: confirmed, ");
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	begins("confirmed: pid 42 (leaky\\x0a), all 40 processes of its name and cgroup, RSS ");
	sentence_factors(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "floor of their memory rose 100.0 MiB from 10.0 MiB");
	sentence_change(&rec, buf, sizeof(buf));
	assert_non_null(strstr(buf, "(the memory of all processes of its name and cgroup: "
			       "below about 60.0 MiB)"));
	ends(", or until it has not grown for an hour or more.");
	nlmsg_free(m);
}

/* An alert outlives the growth: that is said, not that it grows. */
static void accused_at_rest(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_CONFIRMED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATES);
	struct message rec;

	(void)state;
	put_gate(m, SEEPAGE_GATE_SIZE, 1, true, 20 << 20, 10 << 20);
	put_gate(m, SEEPAGE_GATE_RISING, 0, false, 0, 0);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grew as a leak does; it does not grow now. The alert stays until half of the "
	       "growth is given back or it has not grown for an hour (longer for slow leaks).");
	msg_is_gone(&rec);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grew as a leak would and had done so for long: an alert.");
	nlmsg_free(m);
}

/* Nor that it rests, where the floors that would tell were forgotten. */
static void accused_anew(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_CONFIRMED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATES);
	struct message rec;

	(void)state;
	put_gate(m, SEEPAGE_GATE_SIZE, 1, true, 20 << 20, 10 << 20);
	put_gate(m, SEEPAGE_GATE_RISING, 0, false, 0, 0);
	nla_nest_end(m, nest);
	nla_put_u8(m, SEEPAGE_A_FLOORS, 3);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_verdict(&rec, buf, sizeof(buf));
	begins("It grew as a leak does; whether it still grows is not known yet, its history began "
	       "anew: 3 of the 8 floors needed of anonymous memory, swap, shared memory and page "
	       "tables are known. The alert stays.");
	nlmsg_free(m);
}

static struct nl_msg *alert_message(u64 seq, u32 pid, int alert_state, const char *name, int points)
{
	struct nl_msg *m = msg_new();
	struct nlattr *nest;

	nla_put_u64(m, SEEPAGE_A_SEQ, seq);
	nla_put_u32(m, SEEPAGE_A_PID, pid);
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)alert_state);
	nla_put_u8(m, SEEPAGE_A_PREV_STATE, SEEPAGE_STATE_CONFIRMED);
	nla_put_string(m, SEEPAGE_A_COMM, name);
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	put_factor(m, SEEPAGE_FACTOR_FLOOR, points, 30, points ? 100 << 20 : 0, 10 << 20);
	nla_nest_end(m, nest);
	return m;
}

/* What is over names the alert that had factors: of that process, not of its pid. */
static void before(void **state)
{
	struct nl_msg *m[] = {
		alert_message(1, 42, SEEPAGE_STATE_SUSPECTED, "leaky", 30),
		alert_message(2, 42, SEEPAGE_STATE_CONFIRMED, "leaky", 30),
		alert_message(3, 42, SEEPAGE_STATE_CONFIRMED, "other", 30),
		alert_message(4, 43, SEEPAGE_STATE_RUNAWAY, "leaky", 30),
		alert_message(5, 42, SEEPAGE_STATE_RECOVERED, "leaky", 0),
		alert_message(6, 42, SEEPAGE_STATE_EXITED, "leaky", 0),
		alert_message(7, 42, SEEPAGE_STATE_EXITED, "leaky", 0),
	};
	struct message all[ARRAY_SIZE(m)];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(m); i++)
		assert_int_equal(msg_parse(&all[i], nlmsg_hdr(m[i])), 0);
	assert_true(msg_has_factors(&all[1]));
	assert_false(msg_has_factors(&all[5]));
	assert_int_equal(msg_accusation(&all[4], all, ARRAY_SIZE(m)), 1);
	assert_int_equal(msg_accusation(&all[5], all, ARRAY_SIZE(m)), 1);
	assert_int_equal(msg_accusation(&all[6], all, ARRAY_SIZE(m)), -1);
	assert_int_equal(msg_accusation(&all[4], all, 0), -1);
	sentence_factors(&all[5], buf, sizeof(buf));
	assert_string_equal(buf, "was confirmed");
	for (i = 0; i < ARRAY_SIZE(m); i++)
		nlmsg_free(m[i]);
}

/* Every factor with points, in the short form that follows an alert */
static void factors_together(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_SUSPECTED, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	struct message rec;

	(void)state;
	put_factor(m, SEEPAGE_FACTOR_FAULT_RATE, 30, 30, 1500, 1000);
	put_factor(m, SEEPAGE_FACTOR_RSS_GROWTH, 30, 30, 250, 200);
	put_factor(m, SEEPAGE_FACTOR_ANON_SHARE, 20, 20, 95, 80);
	put_factor(m, SEEPAGE_FACTOR_VSZ_RSS, 12, 25, 250, 200);
	put_factor(m, SEEPAGE_FACTOR_FLOOR, 30, 30, 100 << 20, 10 << 20);
	put_factor(m, SEEPAGE_FACTOR_PERSIST, 45, 45, 300, 120);
	put_factor(m, SEEPAGE_FACTOR_RELEASE, 10, 10, 0, 0);
	put_factor(m, SEEPAGE_FACTOR_RELEASE, 9, 10, 25, 0);
	put_factor(m, SEEPAGE_FACTOR_RETAIN, 15, 15, 950, 1000);
	put_factor(m, SEEPAGE_FACTOR_RETAIN, 15, 15, 512000, 1000);
	put_factor(m, SEEPAGE_FACTOR_RETAIN, 0, 15, 950, 1000);
	put_factor(m, SEEPAGE_FACTOR_KIND, 0, 0, 973, SEEPAGE_GREW_HEAP);
	put_factor(m, SEEPAGE_FACTOR_WORK, 0, 0, 3 << 20, 12300);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_factors(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "1500 faults/s (over 1000 faults/s), "
			    "RSS growth 250 % (over 200 %), "
			    "95 % of faults anonymous (over 80 %), "
			    "address space 250 % of RSS (over 200 %), "
			    "floor of its memory rose 100.0 MiB from 10.0 MiB, "
			    "rising for 5m00s, nothing given back, 2.5 % given back, "
			    "0.95 pages kept per fault, 1.00 pages kept per fault, "
			    "97.3 % of it heap");
	nlmsg_free(m);
}

static void alert(void **state)
{
	struct nl_msg *m = process(SEEPAGE_STATE_SUSPECTED, SEEPAGE_POLICY_LADDER);
	struct message rec;

	(void)state;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	assert_string_equal(buf, "suspected: pid 42 (leaky\\x0a), RSS -, confidence 85");
	nla_put_u64(m, SEEPAGE_A_RSS_BYTES, 150 << 20);
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 60 << 20);
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 7500);
	nla_put_u8(m, SEEPAGE_A_SEVERITY, 6);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	assert_string_equal(buf, "suspected: pid 42 (leaky\\x0a), RSS 150.0 MiB, +60.0 MiB/h, "
			    "2h05m left, severity medium-high, confidence 85");
	*(u8 *)nla_data(rec.a[SEEPAGE_A_STATE]) = SEEPAGE_STATE_EXITED;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	assert_string_equal(buf, "exited: pid 42 (leaky\\x0a), RSS 150.0 MiB, last +60.0 MiB/h, "
			    "severity medium-high, confidence 85");
	nlmsg_free(m);
}

/* A message with one of each factor and gate, all of them reached */
static struct nl_msg *full(int proc_state)
{
	struct nl_msg *m = process(proc_state, SEEPAGE_POLICY_LADDER);
	struct nlattr *nest;
	int id;

	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 60 << 20);
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 7500);
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	for (id = 1; id <= SEEPAGE_FACTOR_MAX; id++) {
		put_factor(m, id, 1, 30, 0, 5);
		put_factor(m, id, 1, 30, 2000, 5);
	}
	nla_nest_end(m, nest);
	nest = nla_nest_start(m, SEEPAGE_A_GATES);
	for (id = 1; id <= SEEPAGE_GATE_MAX; id++) {
		put_gate(m, id, 0, true, 2000, 3000);
		put_gate(m, id, 0, false, 0, 0);
	}
	nla_nest_end(m, nest);
	return m;
}

static const char *const present[] = {
	" is ", " are ", " has been ", " does ", " keeps ", " counts", " grows ", " exhausts ",
	" holds ", " stays ", " at this rate", "rising for",
};

/* False: @text speaks of now; "is not known" and "is no longer" are true ever after. */
static bool of_the_past(const char *text)
{
	char copy[SENTENCE_MAX], *p;
	size_t i;

	snprintf(copy, sizeof(copy), " %s", text);
	for (i = 0; i < 3; i++) {
		static const char *const ever[] = { "is not known.", "is no longer.", "is gone." };

		p = strstr(copy, ever[i]);
		if (p)
			memcpy(p, "--", 2);
	}
	p = strstr(copy, " had been rising for");
	if (p)
		memset(p, '-', strlen(" had been rising for"));
	for (i = 0; i < ARRAY_SIZE(present); i++)
		if (strstr(copy, present[i]))
			return false;
	return true;
}

/* How many of all that is said of the process speak of the present */
static unsigned int speak_of_now(const struct message *rec)
{
	struct factor f[MSG_LIST_MAX];
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_factors(rec, f), found = 0, i;

	for (i = 0; i < n; i++) {
		sentence_factor(&f[i], buf, sizeof(buf));
		found += !of_the_past(buf);
	}
	n = msg_gates(rec, g);
	for (i = 0; i < n; i++) {
		sentence_gate(&g[i], buf, sizeof(buf));
		found += !of_the_past(buf);
	}
	sentence_headline(rec, buf, sizeof(buf));
	found += !of_the_past(buf);
	sentence_alert(rec, NULL, buf, sizeof(buf));
	found += !of_the_past(buf) || strstr(buf, " left");
	sentence_factors(rec, buf, sizeof(buf));
	found += !of_the_past(buf);
	return found;
}

static void tense(void **state)
{
	struct message rec;
	int s;

	(void)state;
	for (s = 0; s <= SEEPAGE_STATE_MAX; s++) {
		struct nl_msg *m = full(s);
		bool over = s == SEEPAGE_STATE_EXITED || s == SEEPAGE_STATE_RECOVERED;

		assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
		assert_int_equal(rec.past, over);
		assert_int_equal(rec.gone, s == SEEPAGE_STATE_EXITED);
		if (over)
			assert_int_equal(speak_of_now(&rec), 0);
		else
			assert_in_range(speak_of_now(&rec), 15, 100);
		msg_is_gone(&rec);
		assert_int_equal(speak_of_now(&rec), 0);
		sentence_verdict(&rec, buf, sizeof(buf));
		if (!of_the_past(buf))
			fail_msg("state %d: %s", s, buf);
		sentence_change(&rec, buf, sizeof(buf));
		assert_string_equal(buf, "Nothing: the process is gone.");
		nlmsg_free(m);
	}
}

/* What is unusual is told with what is usual, and what is not known is no figure. */
static void usual(void **state)
{
	struct seepage_pmc_baseline b = {
		.signals = 1U << SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE |
			   1U << SEEPAGE_PMC_SIGNAL_TLB_PRESSURE,
		.llc_samples = 20, .dtlb_samples = 3,
		.llc_mean = 123400, .llc_older = 120000, .llc_newer = 310000,
		.dtlb_mean = 520, .dtlb_now = 1700, .read_mean = 2048,
	};
	unsigned int i;
	size_t size;

	(void)state;
	sentence_baseline(&b, buf, sizeof(buf));
	assert_string_equal(buf, "12.34 % of last-level references miss, 0.52 dTLB misses in 1000 "
			    "instructions (3 of 16 samples), 2.0 MiB/s read from memory");
	sentence_signal(SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE, &b, buf, sizeof(buf));
	assert_string_equal(buf, "31.00 % of last-level references miss, 12.00 % did some "
			    "samples ago");
	sentence_signal(SEEPAGE_PMC_SIGNAL_TLB_PRESSURE, &b, buf, sizeof(buf));
	assert_string_equal(buf, "more than twice the usual 0.52 dTLB misses in 1000 instructions");
	pmc_signals_text(&b, ',', buf, sizeof(buf));
	assert_string_equal(buf, "llc_divergence,tlb_pressure");
	pmc_signals_text(&b, ';', buf, 5);
	assert_string_equal(buf, "llc_");
	memset(&b, 0xff, sizeof(b));
	sentence_baseline(&b, buf, sizeof(buf));
	assert_string_equal(buf, "nothing is known yet");
	b.signals = 1U << __SEEPAGE_PMC_SIGNAL_MAX;	/* of a later module */
	pmc_signals_text(&b, ',', buf, sizeof(buf));
	assert_string_equal(buf, "?");
	for (i = 0; i <= __SEEPAGE_PMC_SIGNAL_MAX; i++) {
		sentence_signal(i, &b, buf, sizeof(buf));
		assert_true(strlen(buf) > 20);
		assert_null(strstr(buf, "4294"));
		for (size = 1; size < 200; size++)
			sentence_signal(i, &b, buf, size);
	}
	for (size = 1; size < 200; size++) {
		sentence_baseline(&b, buf, size);
		pmc_signals_text(&b, ',', buf, size);
		assert_true(strlen(buf) < size);
	}
}

/* How the process of an alert ended; @how: SEEPAGE_END_*, 0: not known */
static void ended(u32 how, const char *text, const char *json)
{
	struct nl_msg *m = msg_new();
	struct json_object *o;
	struct message rec;

	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_EXITED);
	if (how)
		nla_put_u32(m, SEEPAGE_A_END, how);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	end_text(&rec, buf, sizeof(buf));
	assert_string_equal(buf, text);
	o = end_json(&rec);
	assert_string_equal(o ? json_object_to_json_string_ext(o, 0) : "null", json);
	json_object_put(o);
	nlmsg_free(m);
}

static void end(void **state)
{
	(void)state;
	ended(0, "", "null");
	ended(SEEPAGE_END_EXIT | 3 << 8, "it exited with code 3",
	      "{\"kind\":\"exit\",\"code\":3,\"signal\":null,\"oom\":false,"
	      "\"oom_cgroup\":null,\"oom_cgroup_id\":null}");
	ended(SEEPAGE_END_EXIT | 0x80 | 11, "signal 11 (Segmentation fault) ended it",
	      "{\"kind\":\"signal\",\"code\":null,\"signal\":11,\"oom\":false,"
	      "\"oom_cgroup\":null,\"oom_cgroup_id\":null}");
	ended(SEEPAGE_END_EXIT | SEEPAGE_END_OOM | 9, "the OOM killer ended it",
	      "{\"kind\":\"signal\",\"code\":null,\"signal\":9,\"oom\":true,"
	      "\"oom_cgroup\":null,\"oom_cgroup_id\":null}");
	ended(SEEPAGE_END_EXEC, "it executed another program",
	      "{\"kind\":\"exec\",\"code\":null,\"signal\":null,\"oom\":false,"
	      "\"oom_cgroup\":null,\"oom_cgroup_id\":null}");
}

/* A service that leaks again: the number of the life, and how long lives are */
static void lives(void **state)
{
	static const struct { u32 n; const char *text; } times[] = {
		{ 2, ", 2nd time since " }, { 3, ", 3rd time since " }, { 6, ", 6th time since " },
		{ 11, ", 11th time since " }, { 12, ", 12th time since " },
		{ 21, ", 21st time since " }, { 112, ", 112th time since " },
	};
	struct message rec;
	struct nl_msg *m;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		m = msg_new();
		nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_SUSPECTED);
		nla_put_u32(m, SEEPAGE_A_TIMES, times[i].n);
		nla_put_u64(m, SEEPAGE_A_FIRST_TIME_NS, 1000000000);
		nla_put_u64(m, SEEPAGE_A_LIFE_SECONDS, 240);
		assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
		*buf = '\0';
		sentence_lives(&rec, buf, sizeof(buf));
		begins(times[i].text);
		ends(", each life 4m00s");
		nlmsg_free(m);
	}
}

/* An alert of a process that goes on as one of its group says where */
static void merged(void **state)
{
	struct nl_msg *m = msg_new();
	struct message rec;

	(void)state;
	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_RECOVERED);
	nla_put_u32(m, SEEPAGE_A_PID, 12);
	nla_put_string(m, SEEPAGE_A_COMM, "web");
	nla_put_u64(m, SEEPAGE_A_MERGED_INTO, 7);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	sentence_alert(&rec, NULL, buf, sizeof(buf));
	begins("recovered: pid 12 (web) merged into #7, which goes on");
	nlmsg_free(m);
}

/* Small buffers and messages with nothing in them */
static void nothing(void **state)
{
	struct nl_msg *m = msg_new();
	struct message rec;
	size_t size;

	(void)state;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	for (size = 1; size < 200; size++) {
		sentence_headline(&rec, buf, size);
		sentence_verdict(&rec, buf, size);
		sentence_change(&rec, buf, size);
		sentence_factors(&rec, buf, size);
		sentence_alert(&rec, NULL, buf, size);
	}
	sentence_factors(&rec, buf, sizeof(buf));
	assert_string_equal(buf, "no factors at this moment");
	nlmsg_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(factors), cmocka_unit_test(extremes), cmocka_unit_test(gates),
		cmocka_unit_test(used), cmocka_unit_test(climbs), cmocka_unit_test(of_series),
		cmocka_unit_test(accused_group),
		cmocka_unit_test(headline), cmocka_unit_test(alone),
		cmocka_unit_test(stands),
		cmocka_unit_test(held_back),
		cmocka_unit_test(slowed), cmocka_unit_test(accused),
		cmocka_unit_test(accused_at_rest),
		cmocka_unit_test(accused_anew),
		cmocka_unit_test(few_floors), cmocka_unit_test(not_sampled),
		cmocka_unit_test(before), cmocka_unit_test(factors_together),
		cmocka_unit_test(alert), cmocka_unit_test(tense), cmocka_unit_test(usual),
		cmocka_unit_test(end), cmocka_unit_test(lives), cmocka_unit_test(merged),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests_name("ctl_sentence", tests, NULL, NULL);
}
