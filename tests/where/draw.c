// SPDX-License-Identifier: GPL-2.0
/* draw FILE: the flame graph of the sites in FILE, an answer of seepage where in JSON */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

static const char *text(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

int main(int argc, char **argv)
{
	struct json_object *o = argc == 2 ? json_object_from_file(argv[1]) : NULL;
	static struct target t;
	struct result r = { .t = &t };

	if (!o)
		return 2;
	t.pid = (u32)json_object_get_int(json_object_object_get(o, "pid"));
	snprintf(t.comm, sizeof(t.comm), "%s", text(o, "comm"));
	r.method = text(o, "method");
	r.samples = json_object_get_uint64(json_object_object_get(o, "samples"));
	r.sites = json_object_object_get(o, "sites");
	show_svg(&r, stdout);
	json_object_put(o);
	return 0;
}
