// SPDX-License-Identifier: GPL-2.0
/*
 * Strings and numbers for JSON. attr.c and pmc.c make them, and json.c calls both of those: in
 * json.c these functions would close a call circle.
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/*
 * Returns a JSON string. Bytes that are not UTF-8 become \xNN; json-c escapes what
 * JSON requires.
 */
struct json_object *json_text(const char *s, size_t len)
{
	char *buf = must(malloc(4 * len + 1));
	struct json_object *o;
	size_t n = 0, k;
	u32 c;

	while (len) {
		k = utf8_char(s, len, &c);
		if (k) {
			memcpy(buf + n, s, k);
			n += k;
		} else {
			k = 1;
			n += (size_t)snprintf(buf + n, 5, "\\x%02x", (unsigned char)*s);
		}
		s += k;
		len -= k;
	}
	o = json_object_new_string_len(buf, (int)n);
	free(buf);
	return o;
}

/* Adds a string that is known to be UTF-8; NULL: null. */
void json_add_text(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, s ? json_object_new_string(s) : NULL);
}

void json_add_number(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}
