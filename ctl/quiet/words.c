// SPDX-License-Identifier: GPL-2.0
/* Helpers of the tools silence, ack and policy: the name of a unit, printing a list. */
#include "quiet/file.h"

/* As systemctl does: a name without a type is a service. Other units have no processes. */
void quiet_unit_name(char *buf, size_t size, const char *unit)
{
	snprintf(buf, size, "%s%s", unit, quiet_ends_in(unit, ".service") ||
		 quiet_ends_in(unit, ".scope") ? "" : ".service");
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
