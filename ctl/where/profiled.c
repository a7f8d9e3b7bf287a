// SPDX-License-Identifier: GPL-2.0
/*
 * The two looks where the process keeps a profile of its heap, and that is the answer.
 */
#include "where/survey.h"

#define SITES_MAX	100

/* Go: unless --census or --burst is given. jemalloc: only with --profile, as it samples rarely. */
static bool profile_is_wanted(const struct survey *s)
{
	if (s->want.profile)
		return true;
	return go_is(&s->t) && !s->want.census && (!s->want.burst || s->want.keep);
}

/*
 * Reads the profile that the process keeps; the caller bounds the time. PROFILE_NONE: there is
 * none, it is empty, or it was not read to its end.
 */
static enum profile_kind read_profile(struct survey *s, struct profile *p)
{
	enum profile_kind kind = PROFILE_NONE;

	if (go_is(&s->t))
		kind = go_look(&s->t, p) ? PROFILE_GO : PROFILE_NONE;
	else if (s->object.kind == ALLOCATOR_JEMALLOC && jeprof_look(&s->t, s->object.file, p))
		kind = PROFILE_JEMALLOC;
	return target_over(&s->t) ? PROFILE_NONE : kind;
}

/* The first look, if it is one at a profile: s->profile says so. Returns an exit status. */
int survey_profile(struct survey *s)
{
	if (profile_is_wanted(s))
		s->profile = read_profile(s, &s->profile_a);
	if (s->want.profile && !s->profile)
		return fail(s->ctx,
			    "--profile: process %u: no profile of Go or jemalloc in it%s",
			    s->t.pid, target_over(&s->t) ? " that could be read to its end" : "");
	return 0;
}

/* The second look at it, which fills in the answer. Returns an exit status. */
int survey_profile_again(struct survey *s)
{
	struct result *r = &s->r;
	size_t most = s->want.top ? s->want.top : TOP;

	most = most < SITES_MAX ? most : SITES_MAX;
	if (target_maps(&s->t))
		return fail(s->ctx, "process %u ended while its profile was read", s->t.pid);
	if (!read_profile(s, &s->profile_b))
		return fail(s->ctx,
			    "process %u: its profile is empty, or changed while it was read",
			    s->t.pid);
	r->seconds = (double)(clock_ns() - s->a.ns) / 1e9;
	r->look_time_ns = clock_real_ns();
	profile_compare(&s->profile_a, &s->profile_b);
	r->method = "profile";
	r->allocator = s->profile == PROFILE_GO ? "go" : "jemalloc";
	r->heap_bytes = s->profile_b.bytes;
	r->growth = (s64)(s->profile_b.bytes - s->profile_a.bytes);
	profile_sites(&s->t, &s->profile_b, most, s->profile == PROFILE_JEMALLOC, r);
	if (s->profile == PROFILE_GO)
		result_note(r, "the profile is that of the last garbage collections");
	else
		result_note(r, "the profile is that of jemalloc, which samples by bytes "
			    "(lg_prof_sample); --census counts blocks, --burst says what stays");
	return 0;
}
