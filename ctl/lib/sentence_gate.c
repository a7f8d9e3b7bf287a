// SPDX-License-Identifier: GPL-2.0
/*
 * English sentences for gates: what each one measured, and what would open it. A new gate
 * needs a case in both switches; the compiler asks for it.
 */
#include <stdint.h>
#include <stdio.h>
#include "ctl.h"

/* The gate passes if the rise is higher or longer than any that was given back before. */
static void gate_novelty(const struct gate *g, const char *value, const char *limit,
			 char *buf, size_t size)
{
	const char *have = g->past ? "had" : "have", *be = sentence_is(g->past);

	if (!g->limit)
		snprintf(buf, size, "neither it nor others of its name %s given back a rise "
			 "before", have);
	else if (g->passed && g->value > g->limit)
		snprintf(buf, size, "the rise %s %s; more than %s %s needed, as it or others of "
			 "its name %s given back rises before", be, value, limit, be, have);
	else if (g->passed)
		snprintf(buf, size, "the rise %s longer than any that it or others of its name %s "
			 "given back before", be, have);
	else
		snprintf(buf, size, "the rise %s %s; more than %s, or half as long again, %s "
			 "needed, as it or others of its name %s given back such rises before",
			 be, value, limit, be, have);
}

static void gate_origin(const struct gate *g, const char *value, const char *limit,
			char *buf, size_t size)
{
	const char *be = sentence_is(g->past);

	snprintf(buf, size, "%s of the growth %s new memory of its own, neither shared "
		 "memory that existed before nor pages that came without a fault into "
		 "older mappings; at least %s %s needed", value, be, limit, be);
}

/* Below the limit, the gate passes when growth has gone on for long enough. */
static void gate_cold(const struct gate *g, const char *value, const char *limit,
		      char *buf, size_t size)
{
	const char *be = sentence_is(g->past), *unused = g->value ? "" : " unused";

	if (!g->value)
		snprintf(buf, size, "all of what it gained %s used again", be);
	else
		snprintf(buf, size, "%s of what it gained %s not used again", value, be);
	if (g->passed && g->value < g->limit)
		sentence_append(buf, size, ", at least %s%s %s needed, but it %s been rising for "
				"12 hours or for three quarters of the time to exhaustion",
				limit, unused, be, g->past ? "had" : "has");
	else
		sentence_append(buf, size, "; at least %s%s %s needed", limit, unused, be);
}

/* Says what a gate without figures waits for. */
static void gate_waits(const struct gate *g, char *buf, size_t size)
{
	if (g->few)
		snprintf(buf, size, "%u of the %u floors needed of %s %s known",
			 g->floors, LEVEL_EPOCHS, sentence_subject(g->subject),
			 g->floors == 1 ? sentence_is(g->past) : g->past ? "were" : "are");
	else if (g->id == SEEPAGE_GATE_RISING)
		snprintf(buf, size, "no floor of %s %s rising", sentence_subject(g->subject),
			 g->past ? "kept" : "keeps");
	else
		snprintf(buf, size, "not reached");
}

void sentence_gate(const struct gate *g, char *buf, size_t size)
{
	const char *unit = gate_unit(g->id), *be = sentence_is(g->past);
	char value[FIGURE_MAX], limit[FIGURE_MAX];

	if (!g->reached) {
		gate_waits(g, buf, size);
		return;
	}
	sentence_figure(unit, g->value, value);
	sentence_figure(unit, g->limit, limit);
	snprintf(buf, size, "a gate this controller does not know: %s against %s", value, limit);
	switch ((enum seepage_gate)g->id) {
	case SEEPAGE_GATE_SIZE:
		snprintf(buf, size, "%s %s %s; at least %s %s",
			 g->subject == SEEPAGE_SUBJECT_VSZ ? sentence_subject(g->subject) :
			 "memory in use", be, value, limit, sentence_counts(g->past));
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
		snprintf(buf, size, "it %s rising for %s; %s %s needed", sentence_has_been(g->past),
			 value, limit, be);
		break;
	case SEEPAGE_GATE_HORIZON:
		snprintf(buf, size, "memory %s exhausted in %s; at most %s %s",
			 g->past ? "would have been" : "is", value, limit,
			 sentence_counts(g->past));
		break;
	case SEEPAGE_GATE_CONFIDENCE:
		snprintf(buf, size, "confidence %s %s; more than %s %s needed", be, value, limit,
			 be);
		break;
	case SEEPAGE_GATE_NOVELTY:
		gate_novelty(g, value, limit, buf, size);
		break;
	case SEEPAGE_GATE_ORIGIN:
		gate_origin(g, value, limit, buf, size);
		break;
	case SEEPAGE_GATE_COLD:
		gate_cold(g, value, limit, buf, size);
		break;
	case SEEPAGE_GATE_SPREAD:
		snprintf(buf, size, "%s of its processes %s not growing individually; at least %s "
			 "%s needed", value, g->past ? "were" : "are", limit, be);
		break;
	case SEEPAGE_GATE_UNSPEC:
	case __SEEPAGE_GATE_MAX:
		break;
	}
}

/* An alert that stands was raised when all gates were open; none of them ends it. */
const char *sentence_gate_word(const struct gate *g)
{
	return g->passed ? "passed" : g->stands ? "closed" : "held back";
}

/* Prints a line for each gate below @heading, nothing without gates. */
void sentence_gates(const struct message *msg, const char *heading)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX];

	if (n)
		out_line(heading);
	for (i = 0; i < n; i++) {
		sentence_gate(&g[i], text, sizeof(text));
		out_printf("  %-12s%-12s%s\n", sentence_gate_word(&g[i]),
			   gate_name(g[i].id) ?: "?", text);
	}
}

/* Says what would open a gate that is closed. */
void sentence_would_open(const struct gate *g, char *buf, size_t size)
{
	s64 more = 0;
	char text[FIGURE_MAX], value[FIGURE_MAX];

	if (g->reached && __builtin_sub_overflow(g->limit, g->value, &more))
		more = INT64_MAX;
	sentence_figure(gate_unit(g->id), g->reached ? g->limit : 0, text);
	snprintf(buf, size, "%s", g->few ? "More samples, and a floor that keeps rising." :
		 g->id == SEEPAGE_GATE_RISING ? "A floor that keeps rising." :
		 "The gates before it come first.");
	if (!g->reached)
		return;
	switch ((enum seepage_gate)g->id) {
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
		snprintf(buf, size, "Factors worth more than %s points in all.", text);
		break;
	case SEEPAGE_GATE_NOVELTY:
		snprintf(buf, size, "A rise by more than %s, or one that lasts half as long again "
			 "as any it, or others of its name, have given back.", text);
		break;
	case SEEPAGE_GATE_ORIGIN:
		snprintf(buf, size, "Growth of new memory of its own.");
		break;
	case SEEPAGE_GATE_SPREAD:
		snprintf(buf, size, "Growth spread over its processes; now too many of them grow "
			 "individually and are judged each.");
		break;
	case SEEPAGE_GATE_COLD:
		snprintf(buf, size, "Growth of which at least %s is not used again, or that goes "
			 "on for 12 hours or until a quarter of its time is left.", text);
		break;
	case SEEPAGE_GATE_UNSPEC:
	case __SEEPAGE_GATE_MAX:
		break;
	}
}
