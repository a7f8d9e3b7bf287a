// SPDX-License-Identifier: GPL-2.0
/* Times of the day in JSON, for the tools. The controller itself has json_alert(). */
#include <string.h>
#include <time.h>
#include "ctl.h"

/**
 * json_add_utc() - add a time as people read it
 * @key: for the new key
 * @ns: CLOCK_REALTIME, nanoseconds; 0: not known
 *
 * Adds UTC to the second, as ISO 8601 has it, null if it is not known. Context: any.
 */
void json_add_utc(struct json_object *o, const char *key, u64 ns)
{
	time_t t = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	if (ns && gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_add_text(o, key, text);
	else
		json_object_object_add(o, key, NULL);
}

/**
 * json_add_utc_of() - add to a time in nanoseconds the same as people read it
 * @key: such a key, which ends in _ns; the new one is without that end. An object that has no such
 *	key stays as it is; null stays null
 *
 * Context: any.
 */
void json_add_utc_of(struct json_object *o, const char *key)
{
	struct json_object *v;
	char name[32];

	if (!json_object_object_get_ex(o, key, &v))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(key) - strlen("_ns")), key);
	json_add_utc(o, name, json_object_get_uint64(v));
}
