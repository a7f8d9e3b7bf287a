// SPDX-License-Identifier: GPL-2.0
/*
 * English sentences for the verdict as a whole: an alert in one line, the factors,
 * the verdict and what would change it.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "ctl.h"

#define RUNAWAY_S	900	/* the same as in verdict_ladder.c of the detector */

/* "first", "second" and so on as a number: 1st, 2nd, 3rd, 11th, 21st */
static const char *ordinal(u64 n)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };

	return n % 100 / 10 == 1 || n % 10 > 3 ? ends[0] : ends[n % 10];
}

/* For a service that leaks again, adds how often it did. */
void sentence_lives(const struct message *msg, char *buf, size_t size)
{
	char text[TEXT_MAX];
	u64 times, life;

	if (!msg_u64(msg, SEEPAGE_A_TIMES, &times))
		return;
	msg_text(msg, SEEPAGE_A_FIRST_TIME_NS, text);
	sentence_append(buf, size, ", %llu%s time since %s", times, ordinal(times), text);
	if (msg_u64(msg, SEEPAGE_A_LIFE_SECONDS, &life))
		sentence_append(buf, size, ", each life %s", fmt_seconds(text, sizeof(text), life));
	if (!msg->a[SEEPAGE_A_LIFE_GROWTH_BYTES_PER_HOUR])
		return;
	msg_text(msg, SEEPAGE_A_LIFE_GROWTH_BYTES_PER_HOUR, text);
	sentence_append(buf, size, " (%s from life to life)", text);
}

/* Writes an alert in one line, for watch and replay. */
void sentence_alert(const struct message *msg, const struct place *p, char *buf, size_t size)
{
	char comm[TEXT_MAX], text[TEXT_MAX];
	u64 v;

	msg_text(msg, SEEPAGE_A_STATE, text);
	snprintf(buf, size, "%s: ", text);
	msg_text(msg, SEEPAGE_A_PID, text);
	msg_comm(msg, comm, sizeof(comm));
	sentence_append(buf, size, "pid %s (%s)", text, comm);
	unit_show(p ? p->cgroup : NULL, text, sizeof(text));
	if (*text)
		sentence_append(buf, size, " in %s", text);
	if (msg_u64(msg, SEEPAGE_A_MERGED_INTO, &v))
		sentence_append(buf, size, " merged into #%llu, which goes on", v);
	sentence_group(msg, buf, size);
	msg_text(msg, SEEPAGE_A_RSS_BYTES, text);
	sentence_append(buf, size, ", RSS %s", text);
	if (msg->a[SEEPAGE_A_GROWTH_BYTES_PER_HOUR]) {
		msg_text(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, text);
		sentence_append(buf, size, ", %s%s", msg->past ? "last " : "", text);
	}
	if (!msg->past && msg_u64(msg, SEEPAGE_A_TTE_SECONDS, &v))
		sentence_append(buf, size, ", %s left", fmt_seconds(text, sizeof(text), v));
	sentence_shares(msg, buf, size);
	if (msg_u64(msg, SEEPAGE_A_SEVERITY, &v) && severity_name((unsigned int)v))
		sentence_append(buf, size, ", severity %s", severity_name((unsigned int)v));
	if (msg_u64(msg, SEEPAGE_A_CONFIDENCE, &v))
		sentence_append(buf, size, ", confidence %llu", v);
	sentence_lives(msg, buf, size);
	end_text(msg, text, sizeof(text));
	if (*text)
		sentence_append(buf, size, "; %s%s", msg->gone ? "" : "last time ", text);
}

static const char *brief_subject(unsigned int subject)
{
	static const char *const nouns[__SEEPAGE_SUBJECT_MAX] = {
		[SEEPAGE_SUBJECT_MEMORY] = "its memory",
		[SEEPAGE_SUBJECT_VSZ] = "its address space",
		[SEEPAGE_SUBJECT_GROUP] = "their memory",
	};

	return subject < ARRAY_SIZE(nouns) ? nouns[subject] : sentence_subject(subject);
}

/* Writes a factor in a few words. */
static void brief(const struct factor *f, char *buf, size_t size)
{
	const char *unit = factor_unit(f->id);
	char value[FIGURE_MAX], base[FIGURE_MAX];
	u64 kept;

	sentence_figure(unit, f->value, value);
	sentence_figure(unit, f->baseline, base);
	sentence_factor(f, buf, size);	/* in full, unless there are fewer words */
	if (!f->has_value || !f->has_baseline)
		return;
	switch ((enum seepage_factor)f->id) {
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
		snprintf(buf, size, "floor of %s rose %s from %s", brief_subject(f->subject), value,
			 base);
		break;
	case SEEPAGE_FACTOR_PERSIST:
		snprintf(buf, size, "%s for %s", f->past ? "rose" : "rising", value);
		break;
	case SEEPAGE_FACTOR_RELEASE:
		snprintf(buf, size, "%s given back", f->value ? value : "nothing");
		break;
	case SEEPAGE_FACTOR_RETAIN:
		/* huge pages, or pages without a fault: more than 1 means all were kept */
		kept = f->value > 1000 ? 1000 : f->value < 0 ? 0 : (u64)f->value;
		snprintf(buf, size, "%llu.%02llu pages kept per fault", kept / 1000,
			 kept % 1000 / 10);
		break;
	case SEEPAGE_FACTOR_COLD:
		snprintf(buf, size, f->value ? "%s not used again" : "all of it used again",
			 value);
		break;
	case SEEPAGE_FACTOR_PMC:
		snprintf(buf, size, "misses at %s of usual", value);
		break;
	case SEEPAGE_FACTOR_KIND:
		snprintf(buf, size, "%s of it %s", value, sentence_grew(f->baseline, true));
		break;
	case SEEPAGE_FACTOR_WORK:
	case SEEPAGE_FACTOR_POP:
	case SEEPAGE_FACTOR_UNSPEC:
	case __SEEPAGE_FACTOR_MAX:
		break;
	}
}

/*
 * Writes the factors that have points, and the kind of memory that grew, in the order
 * in which the kernel sent them. If there are none and the alert is over, writes the
 * state before.
 */
void sentence_factors(const struct message *msg, char *buf, size_t size)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;
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
	if (msg->past && msg_u64(msg, SEEPAGE_A_PREV_STATE, &before) && before <= SEEPAGE_STATE_MAX)
		snprintf(buf, size, "was %s", state_name((unsigned int)before));
	else
		snprintf(buf, size, "no factors at this moment");
}

/* The first gate that is closed, of those with this @id; 0: of all. NULL: none. */
static const struct gate *first_closed(const struct gate *g, unsigned int n, unsigned int id)
{
	for (; n--; g++)
		if (!g->passed && (!id || g->id == id))
			return g;
	return NULL;
}

/* The meaning of each state: [0] for a process that exists, [1] for one that exited */
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

/*
 * For an alert of a process that is not rising now. Right after a change of the
 * sampling interval too few floors are known to say so.
 */
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

/* For a verdict without facts about used memory (watch, explain --cold) */
static const char *const caveats[] = {
	"Only growth is measured, not whether the program still uses that memory.",
	"Only growth was measured, not whether the program still used that memory.",
};

static const char vsz_caveat[] =
	"This is address space, not memory: reserved and not touched, or of mapped files.";

/* Has the process not been sampled since it was first seen, so that it has no gates? */
static bool not_judged(const struct message *msg, unsigned int gates)
{
	return !msg->past && !gates &&
	       msg_get(msg, SEEPAGE_A_STATE, UINT32_MAX) == SEEPAGE_STATE_OK;
}

static void next_sample(const struct message *msg, char *buf, size_t size)
{
	u64 ms = msg->interval_ms;
	char text[FIGURE_MAX];

	sentence_append(buf, size, "Not judged yet: it has not been sampled; ");
	if (ms)
		sentence_append(buf, size, "next sample in at most %s.",
				ms < 1000 ? fmt_ms(text, sizeof(text), ms) :
				fmt_seconds(text, sizeof(text), (ms + 999) / 1000));
	else
		sentence_append(buf, size, "the next sample is awaited.");
}

/* The state stays runaway even when growth slows down. Is the end no longer near? */
static bool slowed(const struct message *msg, unsigned int state)
{
	u64 tte;

	return !msg->gone && !msg->past && state == SEEPAGE_STATE_RUNAWAY &&
	       msg_u64(msg, SEEPAGE_A_TTE_SECONDS, &tte) && tte > RUNAWAY_S;
}

void sentence_verdict(const struct message *msg, char *buf, size_t size)
{
	unsigned int state = (unsigned int)msg_get(msg, SEEPAGE_A_STATE, UINT32_MAX);
	const char *policy = policy_name((unsigned int)msg_get(msg, SEEPAGE_A_POLICY, UINT32_MAX));
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g);
	const struct gate *closed = first_closed(g, n, 0);
	const struct gate *rising = first_closed(g, n, SEEPAGE_GATE_RISING);
	bool alert = state_is_alert(state);
	char text[SENTENCE_MAX / 2];

	if (not_judged(msg, n)) {
		buf[0] = '\0';
		next_sample(msg, buf, size);
	} else if (!msg->gone && alert && rising) {
		accused_at_rest(rising, buf, size);
	} else if (slowed(msg, state)) {
		snprintf(buf, size, "It grew so fast that memory would have been exhausted within "
			 "minutes; it grows more slowly now: an alert.");
	} else {
		snprintf(buf, size, "%s", state < ARRAY_SIZE(state_sentences) ?
			 state_sentences[state][msg->gone] :
			 "Its state is one this controller does not know.");
	}
	if (!msg->gone && !alert && closed) {
		sentence_gate(closed, text, sizeof(text));
		sentence_append(buf, size, " %s by %s: %s.",
				msg->past ? "A new alert is held back" : "Held back",
				gate_name(closed->id) ?: "a gate", text);
	}
	if ((alert || msg->gone) && msg_subject(msg) == SEEPAGE_SUBJECT_VSZ)
		sentence_append(buf, size, " %s", vsz_caveat);
	else if ((alert || msg->gone) && !msg_cold_known(msg))
		sentence_append(buf, size, " %s", caveats[msg->gone]);
	if (policy)
		sentence_append(buf, size, " Policy: %s.", policy);
}

static void change_alert(const struct message *msg, char *buf, size_t size)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;
	char text[FIGURE_MAX];

	if (msg_get(msg, SEEPAGE_A_POLICY, SEEPAGE_POLICY_LADDER) == SEEPAGE_POLICY_CLASSIC) {
		snprintf(buf, size,
			 "The alert ends when neither the points nor a rule of the policy support it.");
		return;
	}
	snprintf(buf, size, "The alert stays, whatever gate closes, until half of the accused "
		 "growth is given back");
	for (i = 0; i < n; i++) {
		if (f[i].id != SEEPAGE_FACTOR_FLOOR || f[i].value <= 0 || f[i].baseline < 0)
			continue;
		sentence_append(buf, size, " (%s: below about %s)", sentence_subject(f[i].subject),
				fmt_bytes(text, sizeof(text),
					  (u64)f[i].baseline + (u64)f[i].value / 2));
	}
	sentence_append(buf, size, ", or until it has not grown for an hour or more.");
}

void sentence_change(const struct message *msg, char *buf, size_t size)
{
	unsigned int state = (unsigned int)msg_get(msg, SEEPAGE_A_STATE, UINT32_MAX);
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g);
	const struct gate *closed = first_closed(g, n, 0);

	if (msg->gone)
		snprintf(buf, size, "Nothing: the process is gone.");
	else if (state_is_alert(state))
		change_alert(msg, buf, size);
	else if (closed)
		sentence_would_open(closed, buf, size);
	else if (not_judged(msg, n))
		snprintf(buf, size, "The next sample.");
	else
		snprintf(buf, size, "More samples: no gate is closed.");
}
