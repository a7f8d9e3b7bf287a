// SPDX-License-Identifier: GPL-2.0
/*
 * Names of enum values. All come from names.h except the two lists at the top,
 * which have no counterpart there.
 */
#include <assert.h>
#include <string.h>
#include <seepage/names.h>
#include "ctl.h"

static const struct { unsigned int severity; const char *name; } severities[] = {
	{ 1, "minimal" }, { 2, "low" }, { 4, "medium" }, { 6, "medium-high" },
	{ 8, "high" }, { 10, "critical" },
};

static const char *const reset_names[] = { "history", "alerts", "counters", "config" };

static_assert(SEEPAGE_RESET_ALL == (1U << ARRAY_SIZE(reset_names)) - 1,
	      "every bit of RESET_WHAT has a name");

#define STATE(id, name, ...)	\
	[SEEPAGE_STATE_##id] = #name,
static const char *const state_names[__SEEPAGE_STATE_MAX] = { SEEPAGE_STATES(STATE) };

#define FACTOR_NAME(id, name, unit, ...)	\
	[SEEPAGE_FACTOR_##id] = #name,
#define FACTOR_UNIT(id, name, unit, ...)	\
	[SEEPAGE_FACTOR_##id] = unit,
static const char *const factor_names[__SEEPAGE_FACTOR_MAX] = { SEEPAGE_FACTORS(FACTOR_NAME) };
static const char *const factor_units[__SEEPAGE_FACTOR_MAX] = { SEEPAGE_FACTORS(FACTOR_UNIT) };

#define GATE_NAME(id, name, unit, ...)	\
	[SEEPAGE_GATE_##id] = #name,
#define GATE_UNIT(id, name, unit, ...)	\
	[SEEPAGE_GATE_##id] = unit,
static const char *const gate_names[__SEEPAGE_GATE_MAX] = { SEEPAGE_GATES(GATE_NAME) };
static const char *const gate_units[__SEEPAGE_GATE_MAX] = { SEEPAGE_GATES(GATE_UNIT) };

#define COUNTER(id, name, ...)	\
	[SEEPAGE_COUNTER_##id] = #name,
static const char *const counter_names[__SEEPAGE_COUNTER_MAX] = { SEEPAGE_COUNTERS(COUNTER) };

#define LIMIT(id, name, ...)	\
	[SEEPAGE_LIMIT_##id] = #name,
static const char *const limit_names[__SEEPAGE_LIMIT_MAX] = { SEEPAGE_LIMITS(LIMIT) };

#define SUBJECT(id, name, ...)	\
	[SEEPAGE_SUBJECT_##id] = #name,
static const char *const subject_names[__SEEPAGE_SUBJECT_MAX] = { SEEPAGE_SUBJECTS(SUBJECT) };

#define PMC_STATE(id, name, ...)	\
	[SEEPAGE_PMC_STATE_##id] = #name,
static const char *const pmc_state_names[__SEEPAGE_PMC_STATE_MAX] = {
	SEEPAGE_PMC_STATES(PMC_STATE)
};

#define PMC_SIGNAL(id, name, ...)	\
	[SEEPAGE_PMC_SIGNAL_##id] = #name,
static const char *const pmc_signal_names[__SEEPAGE_PMC_SIGNAL_MAX] = {
	SEEPAGE_PMC_SIGNALS(PMC_SIGNAL)
};

#define CFG_NUMBER(id, n, d, lo, hi, h)						\
	[SEEPAGE_CFG_##id] = { .name = #n, .help = h, .def = d, .min = lo, .max = hi },
#define CFG_WORD(id, n, d, h)							\
	[SEEPAGE_CFG_##id] = { .name = #n, .help = h, .def = SEEPAGE_##id##_##d,	\
			       .max = SEEPAGE_##id##_MAX, .word = true },
const struct cfg_key cfg_keys[__SEEPAGE_CFG_MAX] = {
	SEEPAGE_CONFIG_NUMBERS(CFG_NUMBER)
	SEEPAGE_CONFIG_WORDS(CFG_WORD)
};

#define VALUE(key, id, name) { SEEPAGE_CFG_##key, SEEPAGE_##key##_##id, #name },
static const struct { unsigned int key; u32 value; const char *name; } cfg_words[] = {
	SEEPAGE_CONFIG_WORD_VALUES(VALUE)
};

static const char *lookup(const char *const *list, size_t n, unsigned int id)
{
	return id < n ? list[id] : NULL;
}

#define LOOKUP(what)							\
const char *what##_name(unsigned int id)				\
{									\
	return lookup(what##_names, ARRAY_SIZE(what##_names), id);	\
}

#define LOOKUP_UNIT(what)						\
const char *what##_unit(unsigned int id)				\
{									\
	return lookup(what##_units, ARRAY_SIZE(what##_units), id);	\
}

LOOKUP(state)
LOOKUP(factor)
LOOKUP(gate)
LOOKUP(counter)
LOOKUP(limit)
LOOKUP(subject)
LOOKUP(pmc_state)
LOOKUP(pmc_signal)
LOOKUP_UNIT(factor)
LOOKUP_UNIT(gate)

const char *policy_name(unsigned int policy)
{
	return cfg_word(SEEPAGE_CFG_POLICY, policy);
}

const char *severity_name(unsigned int severity)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(severities); i++)
		if (severities[i].severity == severity)
			return severities[i].name;
	return NULL;
}

int state_from_name(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(state_names); i++)
		if (strlen(state_names[i]) == len && !memcmp(state_names[i], name, len))
			return (int)i;
	return -1;
}

unsigned int cfg_from_name(const char *name)
{
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(cfg_keys); i++)
		if (!strcmp(cfg_keys[i].name, name))
			return i;
	return 0;
}

u32 reset_from_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reset_names); i++)
		if (!strcmp(reset_names[i], name))
			return 1U << i;
	return strcmp(name, "all") ? 0 : SEEPAGE_RESET_ALL;
}

const char *cfg_word(unsigned int key, u32 value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cfg_words); i++)
		if (cfg_words[i].key == key && cfg_words[i].value == value)
			return cfg_words[i].name;
	return NULL;
}

bool cfg_word_value(unsigned int key, const char *word, u32 *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cfg_words); i++) {
		if (cfg_words[i].key == key && !strcmp(cfg_words[i].name, word)) {
			*value = cfg_words[i].value;
			return true;
		}
	}
	return false;
}

/* Writes the values allowed for a key: "100..3600000" or "ladder|classic". */
void cfg_allowed(unsigned int key, char *buf, size_t size)
{
	const struct cfg_key *k = &cfg_keys[key];
	size_t i, n = 0;

	if (!k->word) {
		snprintf(buf, size, "%u..%u", k->min, k->max);
		return;
	}
	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(cfg_words) && n < size; i++)
		if (cfg_words[i].key == key)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "|" : "",
					      cfg_words[i].name);
}

/* Writes the names of all keys, separated by blanks. */
void cfg_all_names(char *buf, size_t size)
{
	unsigned int key;
	size_t n = 0;

	for (key = 1; key <= SEEPAGE_CFG_MAX && n < size; key++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "",
				      cfg_keys[key].name);
	if (n < size)
		snprintf(buf + n, size - n, " " CONF_EVENTS);
}

void cfg_value_text(unsigned int key, u32 value, char *buf, size_t size)
{
	const char *word = cfg_keys[key].word ? cfg_word(key, value) : NULL;

	if (word)
		snprintf(buf, size, "%s", word);
	else
		snprintf(buf, size, "%u", value);
}

bool state_is_alert(unsigned int state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}
