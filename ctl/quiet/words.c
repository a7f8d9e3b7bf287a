// SPDX-License-Identifier: GPL-2.0
/* Helpers of the tools silence, ack and policy: the name of a unit, printing a list. */
#include <limits.h>
#include <string.h>
#include "quiet/file.h"

/*
 * Finds the path of a slice: user-1000.slice is below user.slice, -.slice is the root. A path
 * that is longer than @buf is cut.
 */
static const char *slice_path(const char *slice, char *buf, size_t size)
{
	size_t i, end = strlen(slice) - strlen(".slice");

	*buf = '\0';
	for (i = 1; i < end; i++)
		if (slice[i] == '-')
			sentence_append(buf, size, "/%.*s.slice", (int)i, slice);
	sentence_append(buf, size, "/%s", strcmp(slice, "-.slice") ? slice : "");
	return buf;
}

/*
 * As systemctl does: a name without a type is a service. Units of other types have no processes of
 * their own. Returns an exit status.
 */
int quiet_unit_name(const struct ctx *ctx, char *buf, size_t size, const char *unit)
{
	static const char *const others[] = {
		".slice", ".timer", ".socket", ".mount", ".target", ".path", ".swap", ".automount",
		".device",
	};
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others) && !quiet_ends_in(unit, others[i]); i++)
		;
	if (!i && !strpbrk(unit, "*?["))
		return usage(ctx, "--unit: '%.80s': allowed a service or scope; of a slice: "
			     "--cgroup %.200s", unit, slice_path(unit, path, sizeof(path)));
	if (i < ARRAY_SIZE(others))
		return usage(ctx, "--unit: '%.80s': allowed a service or scope", unit);
	snprintf(buf, size, "%s%s", unit, quiet_ends_in(unit, ".service") ||
		 quiet_ends_in(unit, ".scope") ? "" : ".service");
	return 0;
}

/*
 * Takes the value of an option that may be given once. A later one would take the place of an
 * earlier one unseen. @word: NULL: not given. Returns an exit status.
 */
int quiet_once(const struct ctx *ctx, const char *option, const struct words *given,
	       const char **word)
{
	*word = given->n ? given->v[0] : NULL;
	return given->n < 2 ? 0 : usage(ctx, "--%s: '%.80s': given twice", option, given->v[1]);
}

/*
 * Shows a list, unless @status says that it could not be read. @t: its rows. @list: the same for
 * JSON, NULL is an empty one. Both are dropped here. Returns @status.
 */
int quiet_show(const struct ctx *ctx, int status, struct table *t, struct json_object *list)
{
	list = list ? list : json_object_new_array();
	if (!ctx->json)
		out_fold();
	if (!status && ctx->json)
		out_json(ctx, json_object_get(list));
	else if (!status && json_object_array_length(list))
		table_print(t, "");
	else if (!status)
		note(ctx, "there is none");
	table_free(t);
	json_object_put(list);
	return status;
}
