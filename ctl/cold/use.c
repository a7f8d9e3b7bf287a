// SPDX-License-Identifier: GPL-2.0
/*
 * What is shown of a curve: its shares, and what follows from how fast they fall.
 */
#include "cold/cold.h"

/* "98.0 % after 1.0s, 81.0 % after 5.0s" */
void cold_curve_text(const struct cold_curve *c, char *buf, size_t size)
{
	char time[32];
	u32 i;

	*buf = '\0';
	for (i = 0; i < c->n; i++)
		sentence_append(buf, size, "%s%u.%u %% after %s", i ? ", " : "",
				c->at[i].permille / 10, c->at[i].permille % 10,
				fmt_ms(time, sizeof(time), c->at[i].ms));
}

static const char rates[][8] = { "none", "at_once", "fast", "slow", "late" };

const char *cold_rate_text(const struct cold_curve *c)
{
	switch (cold_rate(c)) {
	case COLD_FAST:
		return "In use: half was used within 5 s.";
	case COLD_SLOW:
		return "Not known: half was used within 2 min, not within 5 s, as of a leak that "
		       "shares pages.";
	case COLD_LATE:
		return "Little or none was used soon.";
	case COLD_NONE:
	case COLD_AT_ONCE:
		break;
	}
	return "Not known: all was used by the first look: live and leaked objects may share "
	       "pages.";
}

struct json_object *cold_curve_json(const struct cold_curve *c)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *e;
	enum cold_rate rate = cold_rate(c);
	u32 i;

	json_add_text(o, "rate", rates[rate]);
	json_object_object_add(o, "known", json_object_new_boolean(rate == COLD_FAST ||
								   rate == COLD_LATE));
	for (i = 0; i < c->n; i++) {
		e = json_object_new_object();
		json_add_number(e, "after_ms", c->at[i].ms);
		json_add_number(e, "unused_permille", c->at[i].permille);
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "looks", list);
	return o;
}
