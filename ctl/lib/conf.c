// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration from command-line words (set) and from files (apply). A file is a
 * JSON object. It holds the keys of names.h at its top level, or the sections that
 * configuration files of the older page-fault tracer have, or both.
 */
#include <string.h>
#include "ctl.h"

/* Keys of the older tracer. Key 0: accepted and ignored, seepage has no such setting. */
static const struct older {
	const char *section, *name;
	unsigned int key;
} older[] = {
	{ "thresholds", "fault_rate_warning", SEEPAGE_CFG_FAULT_RATE_WARNING },
	{ "thresholds", "fault_rate_critical", SEEPAGE_CFG_FAULT_RATE_CRITICAL },
	{ "thresholds", "rss_growth_percent", SEEPAGE_CFG_RSS_GROWTH_PERCENT },
	{ "thresholds", "monitoring_window_sec", SEEPAGE_CFG_MONITORING_WINDOW_S },
	{ "thresholds", "min_process_size_mb", SEEPAGE_CFG_MIN_PROCESS_SIZE_MB },
	{ "sampling", "enabled", 0 },
	{ "sampling", "rate", 0 },
	{ "stack_traces", "enabled", 0 },
	{ "stack_traces", "max_depth", 0 },
	{ "alerting", "confidence_threshold", SEEPAGE_CFG_ALERT_CONFIDENCE },
	{ "alerting", "rate_limit_seconds", SEEPAGE_CFG_ALERT_INTERVAL_S },
	{ "alerting", "webhook_url", 0 },
	{ "alerting", "pagerduty_key", 0 },
	{ "alerting", "escalation_delay_minutes", 0 },
	{ "performance", "max_processes", SEEPAGE_CFG_MAX_PROCESSES },
	{ "performance", "ring_buffer_size_mb", 0 },
	{ "performance", "cleanup_interval_sec", 0 },
	{ "", "log_level", 0 },
};

static const char *const wrappers[] = { "production_config", "default_config" };

struct reader {
	struct conf *c;
	void (*ignored)(void *arg, const char *key);
	void *arg;
	char *err;
	size_t size;
};

static bool bad_value(unsigned int key, const char *name, const char *value, char *err,
		      size_t size)
{
	char allowed[TEXT_MAX];

	cfg_allowed(key, allowed, sizeof(allowed));
	snprintf(err, size, "%s: '%.80s': allowed %s", name, value, allowed);
	return false;
}

static bool unknown_key(const char *name, char *err, size_t size)
{
	char names[CONF_ERR_MAX - 128];

	cfg_all_names(names, sizeof(names));
	snprintf(err, size, "unknown key '%.80s': allowed %s", name, names);
	return false;
}

static bool store(struct conf *c, unsigned int key, const char *name, u32 value,
		  char *err, size_t size)
{
	if (c->set[key]) {
		snprintf(err, size, "%s: given twice", name);
		return false;
	}
	c->set[key] = true;
	c->v[key] = value;
	return true;
}

static bool in_range(unsigned int key, u64 v)
{
	return v >= cfg_keys[key].min && v <= cfg_keys[key].max;
}

/* Stores pmc_events. The module checks the contents when it gets them. */
static bool store_events(struct conf *c, const char *value, char *err, size_t size)
{
	if (strlen(value) >= sizeof(c->events)) {
		snprintf(err, size, CONF_EVENTS ": allowed up to %zu bytes",
			 sizeof(c->events) - 1);
		return false;
	}
	if (c->has_events) {
		snprintf(err, size, CONF_EVENTS ": given twice");
		return false;
	}
	c->has_events = true;
	snprintf(c->events, sizeof(c->events), "%s", value);
	return true;
}

/*
 * Adds one KEY and VALUE from the command line to @c. Returns false if it is
 * refused; @err then has the reason.
 */
bool conf_add(struct conf *c, const char *name, const char *value, char *err, size_t size)
{
	unsigned int key = cfg_from_name(name);
	u32 word = 0;
	u64 v;

	if (!strcmp(name, CONF_EVENTS))
		return store_events(c, value, err, size);
	if (!key)
		return unknown_key(name, err, size);
	if (cfg_keys[key].word) {
		if (!cfg_word_value(key, value, &word))
			return bad_value(key, name, value, err, size);
		v = word;
	} else if (!parse_u64(value, &v) || !in_range(key, v)) {
		return bad_value(key, name, value, err, size);
	}
	return store(c, key, name, (u32)v, err, size);
}

/* A value of the wrong JSON type: the error names the type besides the allowed range. */
static bool bad_type(unsigned int key, const char *name, const char *value, char *err,
		     size_t size)
{
	size_t n;

	bad_value(key, name, value, err, size);
	n = strlen(err);
	snprintf(err + n, size - n, ", %s", cfg_keys[key].word ? "in double quotes" :
		 "a whole number without quotes");
	return false;
}

/* A word must be a JSON string and a number an integer. Nothing is converted. */
static bool add_json(struct reader *r, unsigned int key, const char *name,
		     struct json_object *value)
{
	const char *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	bool word = cfg_keys[key].word;
	u32 v = 0;
	s64 n;

	if (!json_object_is_type(value, word ? json_type_string : json_type_int))
		return bad_type(key, name, text, r->err, r->size);
	if (word)
		return cfg_word_value(key, json_object_get_string(value), &v) ?
		       store(r->c, key, name, v, r->err, r->size) :
		       bad_value(key, name, text, r->err, r->size);
	n = json_object_get_int64(value);	/* saturates */
	return n >= 0 && in_range(key, (u64)n) ?
	       store(r->c, key, name, (u32)n, r->err, r->size) :
	       bad_value(key, name, text, r->err, r->size);
}

static const struct older *find_older(const char *section, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(older); i++)
		if (!strcmp(older[i].section, section) && !strcmp(older[i].name, name))
			return &older[i];
	return NULL;
}

/* Lists the keys allowed in @section; each section has its own. */
static bool unknown_in(const char *section, const char *path, char *err, size_t size)
{
	size_t i, n;

	snprintf(err, size, "unknown key '%.160s': allowed", path);
	for (i = 0; i < ARRAY_SIZE(older); i++) {
		n = strlen(err);
		if (!strcmp(older[i].section, section))
			snprintf(err + n, size - n, " %s", older[i].name);
	}
	return false;
}

static bool add_older(struct reader *r, const char *section, const char *name,
		      struct json_object *value)
{
	const struct older *o = find_older(section, name);
	char path[TEXT_MAX];

	snprintf(path, sizeof(path), "%.80s%s%.80s", section, *section ? "." : "", name);
	if (!o && *section)
		return unknown_in(section, path, r->err, r->size);
	if (!o)
		return unknown_key(path, r->err, r->size);
	if (o->key)
		return add_json(r, o->key, path, value);
	r->ignored(r->arg, path);
	return true;
}

static bool is_section(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(older); i++)
		if (*name && !strcmp(older[i].section, name))
			return true;
	return false;
}

static bool is_wrapper(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrappers); i++)
		if (!strcmp(wrappers[i], name))
			return true;
	return false;
}

static bool read_section(struct reader *r, const char *section, struct json_object *o)
{
	json_object_object_foreach(o, name, value)
		if (!add_older(r, section, name, value))
			return false;
	return true;
}

static bool add_events(struct reader *r, struct json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		return store_events(r->c, json_object_get_string(value), r->err, r->size);
	snprintf(r->err, r->size, CONF_EVENTS ": '%.80s': allowed " CONF_EVENTS_ALLOWED
		 ", in double quotes",
		 json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
	return false;
}

static bool read_object(struct reader *r, struct json_object *o, bool outer)
{
	json_object_object_foreach(o, name, value) {
		bool wrapper = outer && is_wrapper(name), ok;
		unsigned int key = cfg_from_name(name);

		/* get -j prints null where the module was built without counters */
		if (!value && !strcmp(name, CONF_EVENTS))
			continue;
		if ((wrapper || is_section(name)) &&
		    !json_object_is_type(value, json_type_object)) {
			snprintf(r->err, r->size,
				 "%s: '%.80s': an object is expected, " JSONC_SHAPE, name,
				 json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
			return false;
		}
		if (wrapper)
			ok = read_object(r, value, false);
		else if (is_section(name))
			ok = read_section(r, name, value);
		else if (!strcmp(name, CONF_EVENTS))
			ok = add_events(r, value);
		else if (key)
			ok = add_json(r, key, name, value);
		else
			ok = add_older(r, "", name, value);
		if (!ok)
			return false;
	}
	return true;
}

/* Returns the key that @name stands for in any section, 0 if there is none. */
static unsigned int key_anywhere(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(older); i++)
		if (older[i].key && !strcmp(older[i].name, name))
			return older[i].key;
	return cfg_from_name(name);
}

/*
 * Reads the text of a configuration file into @c. Returns false if it is refused:
 * @err then has the reason, and @c must not be used. @ignored is called for each
 * key of the older tracer that seepage has no setting for.
 */
bool conf_file(struct conf *c, const char *text, size_t len,
	       void (*ignored)(void *arg, const char *key), void *arg, char *err, size_t size)
{
	struct reader r = { c, ignored, arg, err, size };
	struct jsonc_bad bad;
	struct json_object *o;
	bool ok;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {	/* a byte order mark */
		text += 3;
		len -= 3;
	}
	o = jsonc_parse(text, len, &bad, err, size);
	if (!o && key_anywhere(bad.key))
		return bad_value(key_anywhere(bad.key), bad.key, bad.value, err, size);
	if (!o)
		return false;
	ok = json_object_is_type(o, json_type_object);
	if (ok)
		ok = read_object(&r, o, true);
	else
		jsonc_no_object(text, json_type_to_name(json_object_get_type(o)), err, size);
	json_object_put(o);
	return ok;
}

/* low must not exceed high. The module refuses the same pairs with the same text. */
static const struct {
	unsigned int low, high;
} pairs[] = {
	{ SEEPAGE_CFG_SUSPECT_INTERVAL_MS, SEEPAGE_CFG_SAMPLE_INTERVAL_MS },
	{ SEEPAGE_CFG_FAULT_RATE_WARNING, SEEPAGE_CFG_FAULT_RATE_CRITICAL },
};

struct origin {
	u32 v;
	const char *from;
};

static struct origin value_of(const struct conf *c, const struct conf *running, unsigned int key)
{
	if (c->set[key])
		return (struct origin){ c->v[key], "" };
	if (running && running->set[key])
		return (struct origin){ running->v[key], " now" };
	return (struct origin){ cfg_keys[key].def, " by default" };
}

/*
 * Checks that @c is consistent once it is applied on top of @running. A NULL
 * @running stands for the defaults. Returns false with the reason in @err.
 */
bool conf_consistent(const struct conf *c, const struct conf *running, char *err, size_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct origin low = value_of(c, running, pairs[i].low);
		struct origin high = value_of(c, running, pairs[i].high);

		if (low.v <= high.v)
			continue;
		snprintf(err, size, "%s must not exceed %s (%u%s, %u%s)",
			 cfg_keys[pairs[i].low].name, cfg_keys[pairs[i].high].name,
			 low.v, low.from, high.v, high.from);
		return false;
	}
	return true;
}
