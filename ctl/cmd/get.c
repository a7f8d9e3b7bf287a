// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include "ctl.h"

/* The one key to print; both members 0: all keys */
struct only {
	unsigned int key;
	bool events;
};

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
		return usage(ctx, "unknown key '%s': allowed %s", argv[0], names);
	}
	if (query_open(ctx, &k))
		return 1;
	err = query_config(&k, &c);
	if (err < 0) {
		err = knl_fail(ctx, &k, NEEDS_READ);
	} else if (ctx->json) {
		err = out_json(ctx, conf_json(&c, only.key, only.events));
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
