// SPDX-License-Identifier: GPL-2.0
/* What follows from policies: what is ignored, what is held back, how near a limit is. */
#include <string.h>
#include "policy/policy.h"

#define NEAR_S		3600	/* a limit is near where the growth takes no longer */
#define LEAVES_S	7200	/* and is not any more where it takes longer than this */

static struct json_object *at(const struct policies *p, size_t i)
{
	return p->o && i < json_object_array_length(p->o) ? json_object_array_get_idx(p->o, i) :
							    NULL;
}

/* Returns a policy that ignores the subject, NULL: none does. */
struct json_object *policies_ignoring(const struct policies *p, const struct quiet_subject *s)
{
	struct json_object *o;
	size_t i;

	for (i = 0; (o = at(p, i)); i++)
		if (json_object_object_get(o, "ignore") && quiet_fits(o, s))
			return o;
	return NULL;
}

/* Writes what is missing: "state suspected, confirmed is wanted". Nothing: all is reached. */
static void lacks(const struct json_object *o, const struct policy_figures *f, char *buf,
		  size_t size)
{
	const char *state = quiet_string(o, "state"), *now;
	u64 confidence = quiet_number(o, "confidence", 0);
	u64 growth = quiet_number(o, "growth_bytes_per_hour", 0);
	char text[FIGURE_MAX], wanted[FIGURE_MAX];

	*buf = '\0';
	now = f->state < 0 ? NULL : state_name((unsigned int)f->state);
	if (state && f->state < state_from_name(state, strlen(state)))
		snprintf(buf, size, "state %s, %s is wanted", now ? now : "not known", state);
	else if (f->confidence < confidence)
		snprintf(buf, size, "confidence %llu, %llu is wanted", f->confidence, confidence);
	else if (growth && (!f->has_growth || f->growth < (s64)growth))
		snprintf(buf, size, "growth %s, %s is wanted", f->has_growth ?
			 fmt_growth(text, sizeof(text), f->growth) : "not known",
			 fmt_growth(wanted, sizeof(wanted), (s64)growth));
}

/*
 * Returns a policy of which the alert has not reached a threshold, NULL: there is none. @why: in
 * words
 */
struct json_object *policies_holding(const struct policies *p, const struct quiet_subject *s,
				     const struct policy_figures *f, char *why, size_t size)
{
	char text[6 * QUIET_TEXT], what[TEXT_MAX];
	struct json_object *o;
	size_t i;

	for (i = 0; (o = at(p, i)); i++) {
		if (!quiet_fits(o, s))
			continue;
		lacks(o, f, what, sizeof(what));
		if (!*what)
			continue;
		policy_text(o, text, sizeof(text));
		snprintf(why, size, "by the policy of %s: %s", text, what);
		return o;
	}
	return NULL;
}

/* Seconds until the limit at the measured growth; UINT64_MAX: not known, or never */
u64 policy_left_s(u64 limit, const struct policy_use *use)
{
	if (use->bytes >= limit)
		return 0;
	if (!use->has_growth || use->growth <= 0)
		return UINT64_MAX;
	return (u64)((double)(limit - use->bytes) * 3600 / (double)use->growth);
}

/*
 * A limit is near from nine tenths of it on, or from half of it on where an hour of the growth
 * leads to it. It has to go down further than it came before that is taken back: a level that
 * is swinging about a border tells once.
 */
enum policy_level policy_level(u64 limit, const struct policy_use *use, enum policy_level before)
{
	u64 left = policy_left_s(limit, use), tenth = limit / 10;
	bool grows = use->bytes >= limit / 2 && left <= (before ? LEAVES_S : NEAR_S);

	if (use->bytes >= limit - (before == LIMIT_EXCEEDED ? tenth / 2 : 0))
		return LIMIT_EXCEEDED;
	if (grows || use->bytes >= limit - (before ? 2 * tenth : tenth))
		return LIMIT_NEAR;
	return LIMIT_BELOW;
}
