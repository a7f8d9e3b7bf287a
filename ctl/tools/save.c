// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the configuration for the next boot: changes keys as set does, if there are any, then
 * writes all that is in force to a file that apply reads.
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

/* @text: the whole file. Returns an exit status. */
static int write_file(const struct ctx *ctx, const char *path, const char *text)
{
	struct disk_place place;
	int err, status = disk_lock(ctx, path, &place);

	if (status)
		return status;
	err = disk_replace(ctx, &place, text);
	disk_unlock(&place);
	return err ? fail(ctx, "%s: %s", path, strerror(err)) : 0;
}

/* What an older module does not know is null: no value that apply takes. */
static struct json_object *known_keys(const struct conf *c)
{
	struct json_object *o = conf_json(c, 0, false);

	json_object_object_foreach(o, key, value)
		if (!value)
			json_object_object_del(o, key);
	return o;
}

static int save(const struct ctx *ctx, const struct conf *c)
{
	const char *path = output ? output : CONF_PATH;
	struct json_object *o = known_keys(c);
	char *text = NULL;
	int status;

	if (asprintf(&text, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
		text = NULL;
	json_object_put(o);
	status = write_file(ctx, path, must(text));
	free(text);
	if (!status && !ctx->json)
		out_printf("%s\n", path);
	return status;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct conf c = { 0 };
	struct knl k;
	int status = conf_words(ctx, &c, argc, argv);

	if (output && (!*output || strlen(output) >= PATH_MAX))
		return usage(ctx, "-o: '%.80s': allowed the path of a file", output);
	if (!status && argc)
		status = query_configure(ctx, &c);
	if (status)
		return status;
	if (query_open(ctx, &k))
		return 1;
	if (query_config(&k, &c) < 0)
		status = knl_fail(ctx, &k, NEEDS_READ);
	else
		status = save(ctx, &c);
	knl_close(&k);
	return status;
}

const struct command cmd_save = {
	TOOL_SAVE,
	.more = "Writes the configuration in force as get -j prints it; the service\n"
		"seepage-config applies it at the next boot. With KEY VALUE or KEY=VALUE it first\n"
		"changes these keys, as set does. The earlier file is kept as FILE~.",
	.opts = opts, .max = -1, .run = run,
};
