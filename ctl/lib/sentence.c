// SPDX-License-Identifier: GPL-2.0
/*
 * English sentences for single figures. A sentence says what was measured and which
 * limit it was compared with, and no more: growth does not show whether a program
 * still needs its memory. sentence_verdict.c has the sentences for the whole.
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

/* Formats @v in a unit of names.h, NULL: none. @buf has FIGURE_MAX bytes and is returned. */
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

/* Returns a noun phrase for the memory that a subject adds up. */
const char *sentence_subject(unsigned int subject)
{
	static const char *const nouns[] = {
		[SEEPAGE_SUBJECT_MEMORY] =
			"anonymous memory, swap, shared memory and page tables",
		[SEEPAGE_SUBJECT_VSZ] = "address space that never held memory",
		[SEEPAGE_SUBJECT_GROUP] = "the memory of all processes of its name and cgroup",
	};

	static_assert(ARRAY_SIZE(nouns) == __SEEPAGE_SUBJECT_MAX, "every subject has a noun");
	return subject < ARRAY_SIZE(nouns) ? nouns[subject] :
	       "a subject this controller does not know";
}

/* For a group, adds that the message is about all of its processes. */
void sentence_group(const struct message *msg, char *buf, size_t size)
{
	u64 members, growing;

	if (!msg_u64(msg, SEEPAGE_A_MEMBERS, &members))
		return;
	sentence_append(buf, size, ", all %llu processes of its name and cgroup", members);
	if (!msg->past && msg_u64(msg, SEEPAGE_A_GROWING, &growing) && growing)
		sentence_append(buf, size, " (%llu of them growing)", growing);
}

const char *sentence_is(bool past)
{
	return past ? "was" : "is";
}

const char *sentence_has_been(bool past)
{
	return past ? "had been" : "has been";
}

/* Adds which limit the growth reaches. @text: the time until then. */
static void exhaustion(const struct message *msg, const char *text, char *buf, size_t size)
{
	static const char *const limits[__SEEPAGE_LIMIT_MAX] = {
		[SEEPAGE_LIMIT_AS] = "its limit of address space (RLIMIT_AS)",
		[SEEPAGE_LIMIT_DATA] = "its limit of data (RLIMIT_DATA)",
		[SEEPAGE_LIMIT_CGROUP] = "the memory limit of its cgroup",
		[SEEPAGE_LIMIT_TASK_SIZE] = "the end of the addresses that it can have",
		[SEEPAGE_LIMIT_MAPS] = "the most mappings a process may have (vm.max_map_count)",
	};
	u64 limit = msg_get(msg, SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_RAM);

	if (limit < ARRAY_SIZE(limits) && limits[limit])
		sentence_append(buf, size, ", at this pace %s is reached in %s", limits[limit],
				text);
	else	/* the growth of address space, which is told, takes no memory */
		sentence_append(buf, size, ", memory exhausted in %s at %s rate", text,
				msg_subject(msg) == SEEPAGE_SUBJECT_VSZ ? "its own" : "this");
}

#define OWN_SHARE	8	/* two measures of one growth differ by an eighth, at most */

/*
 * Adds what else the time to exhaustion counts: all that grows below the same limit. Without
 * other processes it is what available memory falls by. That says nothing new where the
 * process itself takes as much.
 */
void sentence_shares(const struct message *msg, char *buf, size_t size)
{
	u64 others, growth;
	char text[FIGURE_MAX];
	s64 own = 0;

	if (msg->past || !msg_u64(msg, SEEPAGE_A_SHARES_WITH, &others) ||
	    !msg_u64(msg, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR, &growth))
		return;
	msg_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &own);
	fmt_bytes(text, sizeof(text), growth);
	if (others)
		sentence_append(buf, size, " with %llu other process%s, +%s/h in all", others,
				others == 1 ? "" : "es", text);
	else if (own < (s64)(growth - growth / OWN_SHARE))
		sentence_append(buf, size, " (available memory falls by %s/h; no other known "
				"process grows)", text);
}

/* Writes the first line of show and explain. */
void sentence_headline(const struct message *msg, char *buf, size_t size)
{
	const char *state = state_name((unsigned int)msg_get(msg, SEEPAGE_A_STATE, UINT32_MAX));
	char comm[TEXT_MAX], text[FIGURE_MAX];
	s64 growth = 0;
	bool known = msg_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &growth);
	u64 confidence, tte;

	msg_comm(msg, comm, sizeof(comm));
	snprintf(buf, size, "pid %llu (%s)", msg_pid(msg), comm);
	sentence_group(msg, buf, size);
	sentence_append(buf, size, ": %s", state ? state : "unknown state");
	if (msg_u64(msg, SEEPAGE_A_CONFIDENCE, &confidence))
		sentence_append(buf, size, ", confidence %llu", confidence);
	if (known)
		sentence_append(buf, size, ", %s %s", msg->past ? "last growth" : "growth",
				fmt_growth(text, sizeof(text), growth));
	else
		sentence_append(buf, size, ", growth not known");
	if (msg->past)
		return;
	if (msg_u64(msg, SEEPAGE_A_TTE_SECONDS, &tte))
		exhaustion(msg, fmt_seconds(text, sizeof(text), tte), buf, size);
	else if (known && growth <= 0)
		sentence_append(buf, size, ", no time to exhaustion");
	else
		sentence_append(buf, size, ", time to exhaustion not known yet");
	sentence_shares(msg, buf, size);
}

static void factor_retain(const struct factor *f, char *buf, size_t size)
{
	u64 v = magnitude(f->value);

	if (f->value <= 0)
		snprintf(buf, size, "no growth while under watch: pages kept per fault %s not "
			 "judged", f->past ? "were" : "are");
	else
		snprintf(buf, size, "%llu.%02llu pages stayed for each anonymous page fault%s",
			 v / 1000, v % 1000 / 10,
			 v > 1100 ? ": huge pages, or memory that came without a fault" : "");
}

static void factor_cold(const struct factor *f, const char *value, const char *base,
			char *buf, size_t size)
{
	if (f->value)
		snprintf(buf, size, "%s of what it gained %s not used again; %s or more %s",
			 value, sentence_is(f->past), base, sentence_counts(f->past));
	else
		snprintf(buf, size, "all of what it gained %s used again; %s unused or more %s",
			 sentence_is(f->past), base, sentence_counts(f->past));
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

/* The verb of "at least LIMIT counts" */
const char *sentence_counts(bool past)
{
	return past ? "counted" : "counts";
}

/* Policy classic: a value and the threshold that it is compared with */
static void factor_threshold(const struct factor *f, const char *what, const char *value,
			     const char *limit, char *buf, size_t size)
{
	snprintf(buf, size, "%s %s %s, %s %s", what, sentence_is(f->past), value,
		 f->points ? "above" : "not above", limit);
}

/* Returns a noun for enum seepage_grew. @brief: the short form, for a list of figures. */
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

/* Writes "POINTS/MAXIMUM", or "-" for a factor that informs but never has points. */
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

static void factor_floor(const struct factor *f, const char *value, const char *base,
			 char *buf, size_t size)
{
	const char *subject = sentence_subject(f->subject);

	if (f->value > 0)
		snprintf(buf, size, "the floor of %s rose %s, from %s", subject, value, base);
	else
		snprintf(buf, size, "the floor of %s %s not rise", subject,
			 f->past ? "did" : "does");
}

static void factor_persist(const struct factor *f, const char *value, const char *base,
			   char *buf, size_t size)
{
	if (f->value > 0)
		snprintf(buf, size, "it %s rising for %s; %s %s asked for",
			 sentence_has_been(f->past), value, base, f->past ? "were" : "are");
	else
		snprintf(buf, size, "there %s no lasting rise", sentence_is(f->past));
}

static void factor_pmc(const struct factor *f, const char *value, char *buf, size_t size)
{
	snprintf(buf, size, "cache and TLB misses, at %s of what was usual, %s %s a leak", value,
		 f->past ? "spoke" : "speak", f->points > 0 ? "for" :
		 f->points < 0 ? "against" : "neither for nor against");
}

void sentence_factor(const struct factor *f, char *buf, size_t size)
{
	const char *unit = factor_unit(f->id), *name = factor_name(f->id);
	char value[FIGURE_MAX], base[FIGURE_MAX];

	if (!f->has_value || !f->has_baseline) {
		snprintf(buf, size, "%s %s not known", name ? name : "an unknown factor",
			 sentence_is(f->past));
		return;
	}
	if (f->few && !f->value) {
		snprintf(buf, size, "not known yet, after %u of 8 floors", f->floors);
		static_assert(LEVEL_EPOCHS == 8, "as the text says");
		return;
	}
	sentence_figure(unit, f->value, value);
	sentence_figure(unit, f->baseline, base);
	snprintf(buf, size, "a factor this controller does not know: %s against %s", value, base);
	switch ((enum seepage_factor)f->id) {
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
		factor_floor(f, value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_PERSIST:
		factor_persist(f, value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_RELEASE:
		factor_release(f, value, buf, size);
		break;
	case SEEPAGE_FACTOR_RETAIN:
		factor_retain(f, buf, size);
		break;
	case SEEPAGE_FACTOR_COLD:
		factor_cold(f, value, base, buf, size);
		break;
	case SEEPAGE_FACTOR_PMC:
		factor_pmc(f, value, buf, size);
		break;
	case SEEPAGE_FACTOR_KIND:
		snprintf(buf, size, "%s of what it gained %s %s", value, sentence_is(f->past),
			 sentence_grew(f->baseline, false));
		break;
	case SEEPAGE_FACTOR_WORK:
		factor_work(f, value, buf, size);
		break;
	case SEEPAGE_FACTOR_POP:
		factor_pop(f, buf, size);
		break;
	case SEEPAGE_FACTOR_UNSPEC:
	case __SEEPAGE_FACTOR_MAX:
		break;
	}
}

/*
 * Writes @v / @unit: PERCENT turns millionths into percent, PER_1000 a count in a
 * million into one in 1000. @buf has FIGURE_MAX bytes.
 */
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

/* Says what is unusual. @id: enum seepage_pmc_signal */
void sentence_signal(unsigned int id, const struct seepage_pmc_baseline *b, char *buf, size_t size)
{
	char usual[FIGURE_MAX], now[FIGURE_MAX];

	snprintf(buf, size, "a signal this controller does not know");
	switch ((enum seepage_pmc_signal)id) {
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
	case __SEEPAGE_PMC_SIGNAL_MAX:
		break;
	}
}

#define NEEDED	16

static void samples(u32 n, char *buf, size_t size)
{
	if (n < NEEDED)
		sentence_append(buf, size, " (%u of %u samples)", n, NEEDED);
}

/* Writes the known part of the baseline of a process. */
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
