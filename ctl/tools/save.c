// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the configuration for the next boot: changes keys as set does, if there are any, then
 * writes all that is in force to a file that apply reads. Where that cannot be written, keys that
 * were changed get their earlier values again.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"
#include "tools.h"

#define CONF_PATH	"/etc/seepage/seepage.conf"

static const char *output;

static const struct opt opts[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .dest = &output, .arg = "FILE",
	  .help = "write FILE (" CONF_PATH ")" },
	{ .name = NULL }
};

/* What an older module does not know is null: no value that apply takes. */
static struct json_object *known_keys(const struct conf *c)
{
	struct json_object *o = conf_json(c, 0, false);

	json_object_object_foreach(o, key, value)
		if (!value)
			json_object_object_del(o, key);
	return o;
}

/* Writes @c. Returns an exit status. */
static int write_file(const struct ctx *ctx, const struct disk_place *place, const struct conf *c)
{
	struct json_object *o = known_keys(c);
	char *text = NULL;
	int err;

	if (asprintf(&text, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
		text = NULL;
	json_object_put(o);
	err = disk_replace(ctx, place, must(text));
	free(text);
	if (err)
		return fail(ctx, "%s: %s", place->path, strerror(err));
	if (!ctx->json)
		out_printf("%s\n", place->path);
	return 0;
}

/* Sets the keys of @c to what they were before. */
static void put_back(const struct ctx *ctx, const struct conf *c, const struct conf *before)
{
	struct conf back = *before;
	unsigned int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		back.set[key] = before->set[key] && c->set[key];
	back.has_events = before->has_events && c->has_events;
	if (query_configure(ctx, &back))
		fail(ctx, "the changed keys stay in force");
}

static int read_config(const struct ctx *ctx, struct conf *c)
{
	struct knl k;
	int status = 0;

	if (query_open(ctx, &k))
		return 1;
	if (query_config(&k, c) < 0)
		status = knl_fail(ctx, &k, output ? NEEDS_READ : NEEDS_ADMIN " and to write "
				  CONF_PATH ": run it as root");
	knl_close(&k);
	return status;
}

/*
 * @c: what to change before; @changes: is there any? The lock tells whether a file can be made
 * there before a key is changed.
 */
static int save(const struct ctx *ctx, const struct conf *c, bool changes)
{
	struct disk_place place;
	struct conf before, now;
	int status = read_config(ctx, &before) ?:
		     disk_lock(ctx, output ? output : CONF_PATH, &place);

	if (status)
		return status;
	if (changes)
		status = query_configure(ctx, c);
	if (!status) {
		status = read_config(ctx, &now) ?: write_file(ctx, &place, &now);
		if (status && changes)
			put_back(ctx, c, &before);
	}
	disk_unlock(&place);
	return status;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct conf c = { 0 };
	int status = conf_words(ctx, &c, argc, argv);

	if (output && (!*output || strlen(output) >= PATH_MAX))
		return usage(ctx, "-o: '%.80s': allowed the path of a file", output);
	return status ?: save(ctx, &c, argc);
}

const struct command cmd_save = {
	TOOL_SAVE,
	.more = "Writes the configuration in force as get -j prints it; the service\n"
		"seepage-config applies it each time that the module is loaded. With KEY VALUE\n"
		"or KEY=VALUE it first changes these keys, as set does. The earlier file is kept\n"
		"as FILE~.",
	.opts = opts, .max = -1, .run = run,
};
