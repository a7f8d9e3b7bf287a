// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "ctl.h"

static struct json_object *value_json(const struct conf *c, unsigned int key)
{
	char text[TEXT_MAX];

	if (!c->set[key])
		return NULL;
	if (!cfg_keys[key].word)
		return json_object_new_uint64(c->v[key]);
	cfg_value_text(key, c->v[key], text, sizeof(text));
	return json_object_new_string(text);
}

/* The one key to print; both members 0: all keys */
struct only {
	unsigned int key;
	bool events;
};

static int print_json(const struct ctx *ctx, const struct conf *c, const struct only *only)
{
	struct json_object *o = json_object_new_object();
	unsigned int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		if (only->key ? key == only->key : !only->events)
			json_object_object_add(o, cfg_keys[key].name, value_json(c, key));
	if (!only->key)
		json_object_object_add(o, CONF_EVENTS, c->has_events ?
				       json_object_new_string(c->events) : NULL);
	return out_json(ctx, o);
}

static void value_cell(const struct conf *c, unsigned int key, char *buf, size_t size)
{
	if (c->set[key])
		cfg_value_text(key, c->v[key], buf, size);
	else
		snprintf(buf, size, "-");
}

static void print_all(const struct conf *c)
{
	static const char *const heads[] = { "KEY", "VALUE", "DEFAULT", "ALLOWED", "WHAT IT IS" };
	static const bool right[] = { false, true, true, false, false };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	unsigned int key;
	char text[TEXT_MAX];

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		table_cell(t, cfg_keys[key].name);
		value_cell(c, key, text, sizeof(text));
		table_cell(t, text);
		cfg_value_text(key, cfg_keys[key].def, text, sizeof(text));
		table_cell(t, text);
		cfg_allowed(key, text, sizeof(text));
		table_cell(t, text);
		table_cell(t, cfg_keys[key].help);
	}
	table_cell(t, CONF_EVENTS);
	table_cell(t, *c->events ? c->events : "-");
	table_cell(t, "-");
	table_cell(t, "NAME[=EVENT],...");
	table_cell(t, "hardware events to count; -: the default ones of this processor");
	table_print(t, "");
	table_free(t);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct only only = {
		.key = argc ? cfg_from_name(argv[0]) : 0,
		.events = argc && !strcmp(argv[0], CONF_EVENTS),
	};
	char text[TEXT_MAX], names[CONF_ERR_MAX];
	struct conf c;
	struct knl k;
	int err;

	if (argc && !only.key && !only.events) {
		cfg_all_names(names, sizeof(names));
		return fail(ctx, "unknown key '%s': allowed %s", argv[0], names);
	}
	if (query_open(ctx, &k))
		return 1;
	err = query_config(&k, &c);
	if (err < 0) {
		err = knl_fail(ctx, &k, NEEDS_READ);
	} else if (ctx->json) {
		err = print_json(ctx, &c, &only);
	} else if (!argc) {
		print_all(&c);
	} else {
		value_cell(&c, only.key, text, sizeof(text));
		out_line(only.events ? c.events : text);
	}
	knl_close(&k);
	return err;
}

const struct command cmd_get = {
	.name = "get", .args = "[KEY]", .help = "print the configuration, or one value of it",
	.max = 1, .run = run,
};
