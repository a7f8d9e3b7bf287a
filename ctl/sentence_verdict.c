// SPDX-License-Identifier: GPL-2.0
/*
 * What the figures mean taken together, in English: an alert in one line, the
 * evidence, the verdict and what would change it.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "ctl.h"

#define RUNAWAY_S	900	/* as the detector has it (verdict_ladder.c) */

/* An alert in one line, for the list that grows; explain has the rest. */
void sentence_alert(const struct rec *rec, char *buf, size_t size)
{
	char comm[TEXT_MAX], text[TEXT_MAX];
	u64 v;

	attr_text(SEEPAGE_A_STATE, rec->a[SEEPAGE_A_STATE], false, text, sizeof(text));
	snprintf(buf, size, "%s: ", text);
	attr_text(SEEPAGE_A_PID, rec->a[SEEPAGE_A_PID], false, text, sizeof(text));
	rec_comm(rec, comm, sizeof(comm));
	sentence_append(buf, size, "pid %s (%s)", text, comm);
	sentence_group(rec, buf, size);
	attr_text(SEEPAGE_A_RSS_BYTES, rec->a[SEEPAGE_A_RSS_BYTES], false, text, sizeof(text));
	sentence_append(buf, size, ", RSS %s", text);
	if (rec->a[SEEPAGE_A_GROWTH_BYTES_PER_HOUR]) {
		attr_text(SEEPAGE_A_GROWTH_BYTES_PER_HOUR,
			  rec->a[SEEPAGE_A_GROWTH_BYTES_PER_HOUR], false, text, sizeof(text));
		sentence_append(buf, size, ", %s%s", rec->past ? "last " : "", text);
	}
	if (!rec->past && rec_u64(rec, SEEPAGE_A_TTE_SECONDS, &v))
		sentence_append(buf, size, ", %s left", fmt_seconds(text, sizeof(text), v));
	if (rec_u64(rec, SEEPAGE_A_CONFIDENCE, &v))
		sentence_append(buf, size, ", confidence %llu", v);
}

static const char *brief_series(unsigned int series)
{
	static const char *const nouns[__SEEPAGE_SERIES_MAX] = {
		[SEEPAGE_SERIES_MEMORY] = "its memory",
		[SEEPAGE_SERIES_VSZ] = "its address space",
		[SEEPAGE_SERIES_GROUP] = "their memory",
	};

	return series < ARRAY_SIZE(nouns) ? nouns[series] : sentence_series(series);
}

/* A factor in as few words as tell it apart */
static void brief(const struct factor *f, char *buf, size_t size)
{
	const char *unit = factor_unit(f->id);
	char value[FIGURE_MAX], base[FIGURE_MAX];
	u64 kept;

	sentence_figure(unit, f->value, value);
	sentence_figure(unit, f->baseline, base);
	switch (f->has_value && f->has_baseline ? f->id : SEEPAGE_FACTOR_UNSPEC) {
	case SEEPAGE_FACTOR_FAULT_RATE:
		snprintf(buf, size, "%s (over %s)", value, base);
		break;
	case SEEPAGE_FACTOR_RSS_GROWTH:
		snprintf(buf, size, "RSS growth %s (over %s)", value, base);
		break;
	case SEEPAGE_FACTOR_ANON_SHARE:
		snprintf(buf, size, "%s of faults anonymous (over %s)", value, base);
		break;
	case SEEPAGE_FACTOR_VSZ_RSS:
		snprintf(buf, size, "address space %s of RSS (over %s)", value, base);
		break;
	case SEEPAGE_FACTOR_FLOOR:
		snprintf(buf, size, "floor of %s rose %s from %s", brief_series(f->series), value,
			 base);
		break;
	case SEEPAGE_FACTOR_PERSIST:
		snprintf(buf, size, "%s for %s", f->past ? "rose" : "rising", value);
		break;
	case SEEPAGE_FACTOR_RELEASE:
		snprintf(buf, size, "%s given back", f->value ? value : "nothing");
		break;
	case SEEPAGE_FACTOR_RETAIN:
		/* more than one came with a huge page or was there before: all were kept */
		kept = f->value > 1000 ? 1000 : f->value < 0 ? 0 : (u64)f->value;
		snprintf(buf, size, "%llu.%02llu pages kept per fault", kept / 1000,
			 kept % 1000 / 10);
		break;
	case SEEPAGE_FACTOR_COLD:
		snprintf(buf, size, "%s not used again", value);
		break;
	case SEEPAGE_FACTOR_PMC:
		snprintf(buf, size, "misses at %s of usual", value);
		break;
	case SEEPAGE_FACTOR_KIND:
		snprintf(buf, size, "%s of it %s", value, sentence_grew(f->baseline, true));
		break;
	default:
		sentence_factor(f, buf, size);
	}
}

/* Factors with points, and what grew, in the order they were sent; of what is over, what it was */
void sentence_evidence(const struct rec *rec, char *buf, size_t size)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(rec, f), i;
	char text[SENTENCE_MAX / 2];
	u64 before;

	buf[0] = '\0';
	for (i = 0; i < n; i++) {
		if (!f[i].points && (f[i].id != SEEPAGE_FACTOR_KIND || !*buf))
			continue;
		brief(&f[i], text, sizeof(text));
		sentence_append(buf, size, "%s%s", *buf ? ", " : "", text);
	}
	if (*buf)
		return;
	if (rec->past && rec_u64(rec, SEEPAGE_A_PREV_STATE, &before) && before <= SEEPAGE_STATE_MAX)
		snprintf(buf, size, "was %s", state_name((unsigned int)before));
	else
		snprintf(buf, size, "no evidence at this moment");
}

static const struct gate *first_closed(const struct gate *g, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!g[i].passed)
			return &g[i];
	return NULL;
}

/* What each state means, of a process that is there and of one that is gone */
static const char *const state_sentences[][2] = {
	[SEEPAGE_STATE_OK] = { "No leak is suspected.", "No leak was suspected." },
	[SEEPAGE_STATE_WATCH] = {
		"It grows and is watched more closely; this is no alert.",
		"It grew and was watched more closely; this was no alert.",
	},
	[SEEPAGE_STATE_SUSPECTED] = {
		"It grows as a leak would: an alert.",
		"It grew as a leak would: an alert.",
	},
	[SEEPAGE_STATE_CONFIRMED] = {
		"It grows as a leak would and has done so for long: an alert.",
		"It grew as a leak would and had done so for long: an alert.",
	},
	[SEEPAGE_STATE_RUNAWAY] = {
		"It grows so fast that memory is soon exhausted: an alert.",
		"It grew so fast that memory would soon have been exhausted: an alert.",
	},
	[SEEPAGE_STATE_RECOVERED] = {
		"It was under alert and is no longer.",
		"It was under alert, and no longer at the end.",
	},
	[SEEPAGE_STATE_EXITED] = {
		"It was under alert and has exited.",
		"It was under alert and has exited.",
	},
};

static_assert(ARRAY_SIZE(state_sentences) == __SEEPAGE_STATE_MAX, "every state has a sentence");

static const char at_rest[] =
	"It grew as a leak does; it does not grow now. The alert stays until half of the growth "
	"is given back or it has not grown for an hour (longer for slow leaks).";

/* NULL: it rises */
static const struct gate *at_rest_by(const struct gate *g, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (g[i].id == SEEPAGE_GATE_RISING && !g[i].passed)
			return &g[i];
	return NULL;
}

/* An alert, and nothing rises: too little may be known, after a change of the interval. */
static void accused_at_rest(const struct gate *rising, char *buf, size_t size)
{
	char text[SENTENCE_MAX / 2];

	if (!rising->few) {
		snprintf(buf, size, "%s", at_rest);
		return;
	}
	sentence_gate(rising, text, sizeof(text));
	snprintf(buf, size, "It grew as a leak does; whether it still grows is not known yet, its "
		 "history began anew: %s. The alert stays.", text);
}

/* Without a look at what is used (watch, explain --cold) */
static const char *const caveats[] = {
	"Only growth is measured: whether the program still uses that memory is not known.",
	"Only growth was measured: whether the program still used that memory is not known.",
};

static const char *const vsz_caveats[] = {
	"It takes address space, not memory: reserved and not touched, or of mapped files.",
	"It took address space, not memory: reserved and not touched, or of mapped files.",
};

/* Seen since its last sample, if there was one: there is nothing to hold it back yet. */
static bool not_judged(const struct rec *rec, unsigned int gates)
{
	return !rec->past && !gates &&
	       rec_get(rec, SEEPAGE_A_STATE, UINT32_MAX) == SEEPAGE_STATE_OK;
}

static void next_sample(const struct rec *rec, char *buf, size_t size)
{
	u64 ms = rec->interval_ms;
	char text[FIGURE_MAX];

	sentence_append(buf, size, "Not judged yet: it has not been sampled; ");
	if (ms)
		sentence_append(buf, size, "next sample in at most %s.",
				ms < 1000 ? fmt_ms(text, sizeof(text), ms) :
				fmt_seconds(text, sizeof(text), (ms + 999) / 1000));
	else
		sentence_append(buf, size, "the next sample is awaited.");
}

/* A runaway stays one: it may have as long as others now. */
static bool slowed(const struct rec *rec, unsigned int state)
{
	u64 tte;

	return !rec->gone && !rec->past && state == SEEPAGE_STATE_RUNAWAY &&
	       rec_u64(rec, SEEPAGE_A_TTE_SECONDS, &tte) && tte > RUNAWAY_S;
}

void sentence_verdict(const struct rec *rec, char *buf, size_t size)
{
	unsigned int state = (unsigned int)rec_get(rec, SEEPAGE_A_STATE, UINT32_MAX);
	const char *policy = policy_name((unsigned int)rec_get(rec, SEEPAGE_A_POLICY, UINT32_MAX));
	struct gate g[REC_LIST_MAX];
	unsigned int n = rec_gates(rec, g);
	const struct gate *closed = first_closed(g, n), *rising = at_rest_by(g, n);
	char text[SENTENCE_MAX / 2];

	if (not_judged(rec, n)) {
		buf[0] = '\0';
		next_sample(rec, buf, size);
	} else if (!rec->gone && state_is_alert(state) && rising) {
		accused_at_rest(rising, buf, size);
	} else if (slowed(rec, state)) {
		snprintf(buf, size, "It grew so fast that memory would have been exhausted within "
			 "minutes; it grows more slowly now: an alert.");
	} else {
		snprintf(buf, size, "%s", state < ARRAY_SIZE(state_sentences) ?
			 state_sentences[state][rec->gone] :
			 "Its state is one this controller does not know.");
	}
	if (!rec->gone && !state_is_alert(state) && closed) {
		sentence_gate(closed, text, sizeof(text));
		sentence_append(buf, size, " %s by %s: %s.",
				rec->past ? "A new alert is held back" : "Held back",
				gate_name(closed->id) ? gate_name(closed->id) : "a gate", text);
	}
	if ((state_is_alert(state) || rec->gone) && rec_series(rec) == SEEPAGE_SERIES_VSZ)
		sentence_append(buf, size, " %s", vsz_caveats[rec->gone]);
	else if ((state_is_alert(state) || rec->gone) && !rec_cold_known(rec))
		sentence_append(buf, size, " %s", caveats[rec->gone]);
	if (policy)
		sentence_append(buf, size, " Policy: %s.", policy);
}

/* What it takes to open a gate */
static void change_gate(const struct gate *g, char *buf, size_t size)
{
	s64 more = 0;
	char text[FIGURE_MAX], value[FIGURE_MAX];

	if (g->reached && __builtin_sub_overflow(g->limit, g->value, &more))
		more = INT64_MAX;
	sentence_figure(gate_unit(g->id), g->reached ? g->limit : 0, text);
	switch (g->reached ? g->id : SEEPAGE_GATE_UNSPEC) {
	case SEEPAGE_GATE_SIZE:
		snprintf(buf, size, "It is too small to be judged until it uses %s.", text);
		break;
	case SEEPAGE_GATE_WARMUP:
		snprintf(buf, size, "It can raise an alert when it is %s old.", text);
		break;
	case SEEPAGE_GATE_RISING:
		snprintf(buf, size, "A rise of the floor by at least %s.", text);
		break;
	case SEEPAGE_GATE_SATURATION:
		snprintf(buf, size, "Growth that does not level off as it does now.");
		break;
	case SEEPAGE_GATE_PATIENCE:
		snprintf(buf, size, "Rising for another %s at this pace.",
			 sentence_figure("seconds", more > 0 ? more : 0, value));
		break;
	case SEEPAGE_GATE_HORIZON:
		snprintf(buf, size, "Growth that exhausts memory within %s.", text);
		break;
	case SEEPAGE_GATE_CONFIDENCE:
		snprintf(buf, size, "Evidence worth more than %s points in all.", text);
		break;
	case SEEPAGE_GATE_NOVELTY:
		snprintf(buf, size, "A rise by more than %s, or one that lasts half as long again "
			 "as any it, or others of its name, have given back.", text);
		break;
	case SEEPAGE_GATE_OWN:
		snprintf(buf, size, "Growth of memory that is its own.");
		break;
	case SEEPAGE_GATE_SPREAD:
		snprintf(buf, size, "Growth that is spread: most of its processes are judged by "
			 "themselves.");
		break;
	case SEEPAGE_GATE_COLD:
		snprintf(buf, size, "Growth of which at least %s is not used again, or that goes "
			 "on for 14 hours or until a quarter of its time is left.", text);
		break;
	default:
		snprintf(buf, size, "%s", g->few ?
			 "More samples, and a floor that keeps rising." :
			 g->id == SEEPAGE_GATE_RISING ? "A floor that keeps rising." :
			 "The gates before it come first.");
	}
}

static void change_alert(const struct rec *rec, char *buf, size_t size)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(rec, f), i;
	char text[FIGURE_MAX];

	if (rec_get(rec, SEEPAGE_A_POLICY, SEEPAGE_POLICY_LADDER) == SEEPAGE_POLICY_CLASSIC) {
		snprintf(buf, size,
			 "The alert ends when neither the points nor a rule of the policy support it.");
		return;
	}
	snprintf(buf, size, "The alert ends when half of the accused growth is given back");
	for (i = 0; i < n; i++) {
		if (f[i].id != SEEPAGE_FACTOR_FLOOR || f[i].value <= 0 || f[i].baseline < 0)
			continue;
		sentence_append(buf, size, " (%s: below about %s)", sentence_series(f[i].series),
				fmt_bytes(text, sizeof(text),
					  (u64)f[i].baseline + (u64)f[i].value / 2));
	}
	sentence_append(buf, size, ", or when it has not grown for long.");
}

void sentence_change(const struct rec *rec, char *buf, size_t size)
{
	unsigned int state = (unsigned int)rec_get(rec, SEEPAGE_A_STATE, UINT32_MAX);
	struct gate g[REC_LIST_MAX];
	unsigned int n = rec_gates(rec, g);
	const struct gate *closed = first_closed(g, n);

	if (rec->gone)
		snprintf(buf, size, "Nothing: the process is gone.");
	else if (state_is_alert(state))
		change_alert(rec, buf, size);
	else if (closed)
		change_gate(closed, buf, size);
	else if (not_judged(rec, n))
		snprintf(buf, size, "The next sample.");
	else
		snprintf(buf, size, "More samples: no gate is closed.");
}
