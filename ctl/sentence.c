// SPDX-License-Identifier: GPL-2.0
/*
 * What one figure means, in English. A sentence says what was measured and
 * against what, never more: whether a program still needs its memory cannot be
 * seen from growth. What they mean taken together: sentence_verdict.c.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "ctl.h"

static u64 magnitude(s64 v)
{
	return v < 0 ? 0 - (u64)v : (u64)v;
}

/* A figure in its unit, as names.h spells it; @buf has FIGURE_MAX bytes */
const char *sentence_figure(const char *unit, s64 v, char *buf)
{
	const char *sign = v < 0 ? "-" : "";
	char abs[FIGURE_MAX];

	if (!unit)
		snprintf(buf, FIGURE_MAX, "%lld", v);
	else if (!strcmp(unit, "bytes"))
		snprintf(buf, FIGURE_MAX, "%s%s", sign, fmt_bytes(abs, sizeof(abs), magnitude(v)));
	else if (!strcmp(unit, "seconds"))
		snprintf(buf, FIGURE_MAX, "%s%s", sign,
			 fmt_seconds(abs, sizeof(abs), magnitude(v)));
	else if (!strcmp(unit, "percent"))
		snprintf(buf, FIGURE_MAX, "%lld %%", v);
	else if (!strcmp(unit, "permille"))
		snprintf(buf, FIGURE_MAX, "%s%llu.%llu %%", sign, magnitude(v) / 10,
			 magnitude(v) % 10);
	else if (!strcmp(unit, "points"))
		snprintf(buf, FIGURE_MAX, "%lld", v);
	else
		snprintf(buf, FIGURE_MAX, "%lld %s", v, unit);
	return buf;
}

void __printf(3, 4) sentence_append(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

/* What a series sums up */
const char *sentence_series(unsigned int series)
{
	static const char *const nouns[] = {
		[SEEPAGE_SERIES_MEMORY] =
			"anonymous memory, swap, shared memory and page tables",
		[SEEPAGE_SERIES_VSZ] = "address space that never held memory",
		[SEEPAGE_SERIES_GROUP] = "the memory of all processes of its name and cgroup",
	};

	static_assert(ARRAY_SIZE(nouns) == __SEEPAGE_SERIES_MAX, "every series has a noun");
	return series < ARRAY_SIZE(nouns) ? nouns[series] :
	       "a series this controller does not know";
}

/* Of a group, what is told of one process is told of all. */
void sentence_group(const struct rec *rec, char *buf, size_t size)
{
	u64 members;

	if (rec_u64(rec, SEEPAGE_A_MEMBERS, &members))
		sentence_append(buf, size, ", all %llu processes of its name and cgroup", members);
}

static const char *is(bool past)
{
	return past ? "was" : "is";
}

static const char *has_been(bool past)
{
	return past ? "had been" : "has been";
}

/* What ends when memory goes on to grow: @text is when. */
static void exhaustion(const struct rec *rec, const char *text, char *buf, size_t size)
{
	static const char *const limits[__SEEPAGE_LIMIT_MAX] = {
		[SEEPAGE_LIMIT_AS] = "its limit of address space (RLIMIT_AS)",
		[SEEPAGE_LIMIT_DATA] = "its limit of data (RLIMIT_DATA)",
		[SEEPAGE_LIMIT_CGROUP] = "the memory limit of its cgroup",
		[SEEPAGE_LIMIT_MAPS] = "the most mappings a process may have (vm.max_map_count)",
	};
	u64 limit = rec_get(rec, SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_RAM);

	if (limit < ARRAY_SIZE(limits) && limits[limit])
		sentence_append(buf, size, ", at this pace %s is reached in %s", limits[limit],
				text);
	else
		sentence_append(buf, size, ", memory exhausted in %s at this rate", text);
}

/* First line of every answer about a process */
void sentence_headline(const struct rec *rec, char *buf, size_t size)
{
	const char *state = state_name((unsigned int)rec_get(rec, SEEPAGE_A_STATE, UINT32_MAX));
	char comm[TEXT_MAX], text[FIGURE_MAX];
	u64 confidence, tte;
	s64 growth;

	rec_comm(rec, comm, sizeof(comm));
	snprintf(buf, size, "pid %llu (%s)", rec_get(rec, SEEPAGE_A_PID, 0), comm);
	sentence_group(rec, buf, size);
	sentence_append(buf, size, ": %s", state ? state : "unknown state");
	if (rec_u64(rec, SEEPAGE_A_CONFIDENCE, &confidence))
		sentence_append(buf, size, ", confidence %llu", confidence);
	if (rec_s64(rec, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &growth))
		sentence_append(buf, size, ", %s %s", rec->past ? "last growth" : "growth",
				fmt_growth(text, sizeof(text), growth));
	else
		sentence_append(buf, size, ", growth not known");
	if (rec->past)
		return;
	if (rec_u64(rec, SEEPAGE_A_TTE_SECONDS, &tte))
		exhaustion(rec, fmt_seconds(text, sizeof(text), tte), buf, size);
	else
		sentence_append(buf, size, ", no time to exhaustion");
}

static void factor_retain(const struct factor *f, char *buf, size_t size)
{
	u64 v = magnitude(f->value);

	if (f->value <= 0)
		snprintf(buf, size, "no growth under watch: what faults left behind %s not judged",
			 is(f->past));
	else
		snprintf(buf, size, "%llu.%02llu pages stayed for each anonymous page fault%s",
			 v / 1000, v % 1000 / 10,
			 v > 1100 ? ": memory came in larger pieces than faults" : "");
}

static void factor_release(const struct factor *f, const char *value, char *buf, size_t size)
{
	if (!f->value && !f->points)
		snprintf(buf, size, "no growth that could have been given back");
	else if (!f->value)
		snprintf(buf, size, "nothing of what it grew was given back");
	else
		snprintf(buf, size, "%s of what it grew was given back", value);
}

/* At least or at most so much counts; it counted. */
static const char *counts(bool past)
{
	return past ? "counted" : "counts";
}

/* The policy classic: a value against the threshold it passed or did not */
static void factor_threshold(const struct factor *f, const char *what, const char *value,
			     const char *limit, char *buf, size_t size)
{
	snprintf(buf, size, "%s %s %s, %s %s", what, is(f->past), value,
		 f->points ? "above" : "not above", limit);
}

/* What memory it gained most of; @brief: beside other figures */
const char *sentence_grew(s64 grew, bool brief)
{
	static const char *const nouns[][2] = {
		[SEEPAGE_GREW_HEAP] = { "its heap (brk)", "heap" },
		[SEEPAGE_GREW_MAPPED] = { "memory it mapped (mmap, stacks of threads)", "mmap" },
		[SEEPAGE_GREW_SHMEM] = { "shared memory", "shared memory" },
		[SEEPAGE_GREW_PGTABLES] = { "page tables", "page tables" },
	};

	static_assert(ARRAY_SIZE(nouns) == __SEEPAGE_GREW_MAX, "every kind has a noun");
	return grew >= 0 && grew <= SEEPAGE_GREW_MAX ? nouns[grew][brief] :
	       "memory of another kind";
}

/* How many points of at most; one that has none to give tells, and does not judge. */
const char *sentence_points(const struct factor *f, char *buf)
{
	if (f->max)
		snprintf(buf, FIGURE_MAX, "%d/%u", f->points, f->max);
	else
		snprintf(buf, FIGURE_MAX, "-");
	return buf;
}

static void factor_work(const struct factor *f, const char *value, char *buf, size_t size)
{
	char cpu[FIGURE_MAX];

	fmt_ms(cpu, sizeof(cpu), magnitude(f->baseline));
	snprintf(buf, size, "it gained %s for each second of CPU time; it used %s of it", value,
		 cpu);
}

static void factor_pop(const struct factor *f, char *buf, size_t size)
{
	if (!f->value)
		snprintf(buf, size, "of %lld other%s of its name and cgroup none %s", f->baseline,
			 f->baseline == 1 ? "" : "s", f->past ? "grew" : "grows");
	else
		snprintf(buf, size, "of %lld other%s of its name and cgroup %lld %s as well",
			 f->baseline, f->baseline == 1 ? "" : "s", f->value,
			 f->past ? "grew" : f->value == 1 ? "grows" : "grow");
}

void sentence_factor(const struct factor *f, char *buf, size_t size)
{
	const char *unit = factor_unit(f->id), *name = factor_name(f->id);
	char value[FIGURE_MAX], base[FIGURE_MAX];

	if (!f->has_value || !f->has_baseline) {
		snprintf(buf, size, "%s %s not known", name ? name : "an unknown factor",
			 is(f->past));
		return;
	}
	sentence_figure(unit, f->value, value);
	sentence_figure(unit, f->baseline, base);
	switch (f->id) {
	case SEEPAGE_FACTOR_FAULT_RATE:
		factor_threshold(f, "the fault rate", value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_RSS_GROWTH:
		factor_threshold(f, "RSS growth over the first RSS seen", value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_ANON_SHARE:
		factor_threshold(f, "the anonymous share of page faults", value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_VSZ_RSS:
		factor_threshold(f, "address space over RSS", value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_FLOOR:
		if (f->value > 0)
			snprintf(buf, size, "the floor of %s rose %s, from %s",
				 sentence_series(f->series), value, base);
		else
			snprintf(buf, size, "the floor of %s %s not rise",
				 sentence_series(f->series), f->past ? "did" : "does");
		break;
	case SEEPAGE_FACTOR_PERSIST:
		if (f->value > 0)
			snprintf(buf, size, "it %s rising for %s; %s %s asked for",
				 has_been(f->past), value, base, f->past ? "were" : "are");
		else
			snprintf(buf, size, "there %s no lasting rise", is(f->past));
		break;
	case SEEPAGE_FACTOR_RELEASE:
		factor_release(f, value, buf, size);
		break;
	case SEEPAGE_FACTOR_RETAIN:
		factor_retain(f, buf, size);
		break;
	case SEEPAGE_FACTOR_COLD:
		snprintf(buf, size, "%s of what it gained %s not used again; %s or more %s",
			 value, is(f->past), base, counts(f->past));
		break;
	case SEEPAGE_FACTOR_PMC:
		snprintf(buf, size, "cache and TLB misses, at %s of what was usual, %s %s a leak",
			 value, f->past ? "spoke" : "speak", f->points > 0 ? "for" :
			 f->points < 0 ? "against" : "neither for nor against");
		break;
	case SEEPAGE_FACTOR_KIND:
		snprintf(buf, size, "%s of what it gained %s %s", value, is(f->past),
			 sentence_grew(f->baseline, false));
		break;
	case SEEPAGE_FACTOR_WORK:
		factor_work(f, value, buf, size);
		break;
	case SEEPAGE_FACTOR_POP:
		factor_pop(f, buf, size);
		break;
	default:
		snprintf(buf, size, "a factor this controller does not know: %s against %s", value,
			 base);
	}
}

/* A climb like one that was given back before says nothing; a higher or a longer one does. */
static void gate_novelty(const struct gate *g, const char *value, const char *limit,
			 char *buf, size_t size)
{
	const char *has = g->past ? "had" : "has", *have = g->past ? "had" : "have";

	if (!g->limit)
		snprintf(buf, size, "neither it nor others of its name %s given back a rise "
			 "before", have);
	else if (g->passed && g->value > g->limit)
		snprintf(buf, size, "it %s risen by %s, higher than it or others of its name %s "
			 "done before and given back: more than %s %s", has, value, have, limit,
			 counts(g->past));
	else if (g->passed)
		snprintf(buf, size, "it %s risen for longer than it or others of its name %s done "
			 "before and given back", has, have);
	else
		snprintf(buf, size, "it %s risen by %s, and it or others of its name %s given back "
			 "such rises before: more than %s, or half as long again, %s", has, value,
			 have, limit, counts(g->past));
}

/* @g has no figures: what it waits for. */
static void gate_waits(const struct gate *g, char *buf, size_t size)
{
	if (g->few)
		snprintf(buf, size, "%u of the %u floors needed of %s %s known",
			 g->floors, LEVEL_EPOCHS, sentence_series(g->series),
			 g->floors == 1 ? is(g->past) : g->past ? "were" : "are");
	else if (g->id == SEEPAGE_GATE_RISING)
		snprintf(buf, size, "no floor of %s %s rising", sentence_series(g->series),
			 g->past ? "kept" : "keeps");
	else
		snprintf(buf, size, "not reached");
}

void sentence_gate(const struct gate *g, char *buf, size_t size)
{
	const char *unit = gate_unit(g->id), *be = is(g->past);
	char value[FIGURE_MAX], limit[FIGURE_MAX];

	if (!g->reached) {
		gate_waits(g, buf, size);
		return;
	}
	sentence_figure(unit, g->value, value);
	sentence_figure(unit, g->limit, limit);
	switch (g->id) {
	case SEEPAGE_GATE_SIZE:
		snprintf(buf, size, "%s %s %s; at least %s %s",
			 g->series == SEEPAGE_SERIES_VSZ ? sentence_series(g->series) :
			 "memory in use", be, value, limit, counts(g->past));
		break;
	case SEEPAGE_GATE_WARMUP:
		snprintf(buf, size, "age %s %s; at least %s %s needed", be, value, limit, be);
		break;
	case SEEPAGE_GATE_RISING:
		snprintf(buf, size, "the floor rose %s; at least %s %s needed", value, limit, be);
		break;
	case SEEPAGE_GATE_SATURATION:
		snprintf(buf, size,
			 "the second half of the rise %s %s of the first; at least %s %s needed",
			 be, value, limit, be);
		break;
	case SEEPAGE_GATE_PATIENCE:
		snprintf(buf, size, "it %s rising for %s; %s %s needed", has_been(g->past), value,
			 limit, be);
		break;
	case SEEPAGE_GATE_HORIZON:
		snprintf(buf, size, "memory %s exhausted in %s; at most %s %s",
			 g->past ? "would have been" : "is", value, limit, counts(g->past));
		break;
	case SEEPAGE_GATE_CONFIDENCE:
		snprintf(buf, size, "confidence %s %s; more than %s %s needed", be, value, limit,
			 be);
		break;
	case SEEPAGE_GATE_NOVELTY:
		gate_novelty(g, value, limit, buf, size);
		break;
	case SEEPAGE_GATE_OWN:
		snprintf(buf, size, "%s of the growth %s its own: not shared memory that was "
			 "there before, nor what came without a fault into what it had mapped "
			 "before; at least %s %s needed", value, be, limit, be);
		break;
	case SEEPAGE_GATE_COLD:
		if (g->passed && g->value < g->limit)
			snprintf(buf, size, "%s of what it gained %s not used again, but it %s "
				 "been rising for most of the time there %s", value, be,
				 g->past ? "had" : "has", g->past ? "was" : "is");
		else
			snprintf(buf, size, "%s of what it gained %s not used again; at least %s "
				 "%s needed", value, be, limit, be);
		break;
	case SEEPAGE_GATE_SPREAD:
		snprintf(buf, size, "%s of the processes %s not growing by themselves; at least %s "
			 "%s needed", value, g->past ? "were" : "are", limit, be);
		break;
	default:
		snprintf(buf, size, "a gate this controller does not know: %s against %s", value,
			 limit);
	}
}

/* Millionths as percent, or of a million as of 1000; @buf has FIGURE_MAX bytes */
static const char *millionths(u32 v, unsigned int unit, char *buf)
{
	if (v == SEEPAGE_PMC_UNKNOWN)
		snprintf(buf, FIGURE_MAX, "?");
	else
		snprintf(buf, FIGURE_MAX, "%.2f", (double)v / unit);
	return buf;
}

#define PERCENT		10000
#define PER_1000	1000

/* What is unusual: enum seepage_pmc_signal */
void sentence_signal(unsigned int id, const struct seepage_pmc_baseline *b, char *buf, size_t size)
{
	char usual[FIGURE_MAX], now[FIGURE_MAX];

	switch (id) {
	case SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE:
		snprintf(buf, size,
			 "%s %% of last-level references miss, %s %% did some samples ago",
			 millionths(b->llc_newer, PERCENT, now),
			 millionths(b->llc_older, PERCENT, usual));
		break;
	case SEEPAGE_PMC_SIGNAL_LLC_Z_SCORE:
		snprintf(buf, size, "more last-level references miss than the usual %s %%, "
			 "by more than three standard deviations",
			 millionths(b->llc_mean, PERCENT, usual));
		break;
	case SEEPAGE_PMC_SIGNAL_TLB_PRESSURE:
		snprintf(buf, size, "more than twice the usual %s dTLB misses in 1000 instructions",
			 millionths(b->dtlb_mean, PER_1000, usual));
		break;
	case SEEPAGE_PMC_SIGNAL_TLB_EFFICIENCY:
		snprintf(buf, size, "fewer than 95 %% of loads need no page walk");
		break;
	case SEEPAGE_PMC_SIGNAL_BANDWIDTH:
		if (b->read_mean == SEEPAGE_PMC_UNKNOWN)
			snprintf(usual, sizeof(usual), "?");
		else
			fmt_bytes(usual, sizeof(usual), (u64)b->read_mean << 10);
		snprintf(buf, size, "reads from memory more than twice what it did lately; "
			 "its average is now %s/s", usual);
		break;
	case SEEPAGE_PMC_SIGNAL_NODE_IMBALANCE:
		snprintf(buf, size, "most of its node loads come from another node");
		break;
	default:
		snprintf(buf, size, "a signal this controller does not know");
	}
}

#define NEEDED	16

static void samples(u32 n, char *buf, size_t size)
{
	if (n < NEEDED)
		sentence_append(buf, size, " (%u of %u samples)", n, NEEDED);
}

/* What is usual for a process, as far as it is known */
void sentence_baseline(const struct seepage_pmc_baseline *b, char *buf, size_t size)
{
	const char *comma = "";
	char text[FIGURE_MAX];

	*buf = '\0';
	if (b->llc_mean != SEEPAGE_PMC_UNKNOWN) {
		sentence_append(buf, size, "%s %% of last-level references miss",
				millionths(b->llc_mean, PERCENT, text));
		samples(b->llc_samples, buf, size);
		comma = ", ";
	}
	if (b->dtlb_mean != SEEPAGE_PMC_UNKNOWN) {
		sentence_append(buf, size, "%s%s dTLB misses in 1000 instructions", comma,
				millionths(b->dtlb_mean, PER_1000, text));
		samples(b->dtlb_samples, buf, size);
		comma = ", ";
	}
	if (b->read_mean != SEEPAGE_PMC_UNKNOWN)
		sentence_append(buf, size, "%s%s/s read from memory", comma,
				fmt_bytes(text, sizeof(text), (u64)b->read_mean << 10));
	if (!*buf)
		sentence_append(buf, size, "nothing is known yet");
}
