// SPDX-License-Identifier: GPL-2.0
/* Which alerts the module raises from verdicts on processes and their groups; see merge.h. */
#include <stdlib.h>
#include <string.h>
#include "replay/merge.h"

#define HOUR_S	3600

struct merge_group {
	struct merge_group *next;
	char comm[SERIES_NAME_MAX];
	char *cgroup;			/* NULL: not recorded */
	bool has_uid;
	u32 uid;
	u64 id;				/* of its first member */
	struct merge_member *first;
	u32 n;
	u32 counts[MERGE_COUNTS];	/* members that are so */
	bool shared, history;		/* it had two members at a time; it is judged */
	bool told;			/* an alert of this life was told */
	u8 alerted, worst;		/* in this life */
	u32 hold;			/* ds, before it can recover */
	u64 trouble_ns;			/* when a member last grew */
	u64 born_ns;			/* of this life */
	u64 empty_ns;			/* when the last member left; 0: there are members */
	bool empty_pass;		/* a full pass has ended since then */
	struct series last;		/* what the last member was; its pointers are not valid */
	u32 lives;			/* that had an alert and ended */
	u64 lives_s;			/* sum of their length */
	const struct seep_det *det;	/* of the sum, and what it was fed last; NULL: none yet */
	const struct series *sum;
};

/* Same name, user and cgroup, as far as they were recorded. */
static bool is_of(const struct merge_group *g, const struct series *s)
{
	const struct place *p = &s->place;

	return !strcmp(g->comm, s->comm) && (!g->has_uid || !p->has_uid || g->uid == p->uid) &&
	       (!g->cgroup || !p->cgroup || !strcmp(g->cgroup, p->cgroup));
}

static struct merge_group *group_of(struct merge *m, const struct series *s)
{
	const struct place *p = &s->place;
	struct merge_group *g = m->groups;

	while (g && !is_of(g, s))
		g = g->next;
	if (!g) {
		g = must(calloc(1, sizeof(*g)));
		strcpy(g->comm, s->comm);
		g->next = m->groups;
		m->groups = g;
	}
	if (!g->cgroup && p->cgroup)
		g->cgroup = must(strdup(p->cgroup));
	if (!g->has_uid && p->has_uid) {
		g->has_uid = true;
		g->uid = p->uid;
	}
	return g;
}

/* A number that no series has: that of the first member, with bit 63. */
u64 merge_group_id(const struct merge_group *g)
{
	return g->id | 1ULL << 63;
}

/* The lives of the service are short, and an earlier one had an alert: one alert a life. */
static bool repeats(const struct merge *m, const struct merge_group *g, u64 born_ns)
{
	u64 mean_s;

	if (!g->lives)
		return false;
	mean_s = g->lives_s / g->lives;
	return mean_s < HOUR_S && (m->now_ns - (born_ns < m->now_ns ? born_ns : m->now_ns)) / 2 <=
				  (mean_s + 1) * 1000000000ULL;
}

/* What the members that grow have gained since then, bytes an hour. */
static u64 sum_growth(const struct merge_group *g)
{
	const struct merge_member *one;
	u64 rate = 0, gained;
	u32 span;

	for (one = g->first; one; one = one->next) {
		const struct seep_watch *w = one->det->w;

		if (!(one->counts_as & 1U << MERGE_GROWING) || !w)
			continue;
		gained = seep_bytes(seep_minus(one->det->last_v, w->onset_v));
		span = seep_ds(one->series->sample.time_ns) - w->onset_t;
		rate += gained * SEEP_HOUR_DS / (span ? span : 1);
	}
	return rate;
}

/* The figures of an alert on a group. @cause: the member that the verdict is on; NULL: the sum */
static void figures(const struct merge *m, const struct merge_group *g,
		    const struct merge_member *cause, const struct seep_verdict *v,
		    struct merge_told *t)
{
	const struct seep_sample *s;
	struct seep_verdict now = { .t1 = 0 };
	u64 left, tte;

	if (g->det) {
		seep_det_explain(g->det, &g->sum->sample, m->conf, &now);
		t->has_growth = seep_det_growth(g->det, &now, &t->growth);
	}
	t->tte_s = v ? v->tte_s : now.tte_s;
	if (!cause)
		return;
	if (!now.t1 || !t->has_growth || t->growth <= 0)
		t->growth = (s64)sum_growth(g);
	t->has_growth = t->growth > 0;
	s = &cause->series->sample;
	if (!t->has_growth ||
	    (s->limit != SEEPAGE_LIMIT_RAM && s->limit != SEEPAGE_LIMIT_CGROUP))
		return;
	left = s->headroom < 1ULL << 50 ? s->headroom : 1ULL << 50;
	tte = left * HOUR_S / (u64)t->growth;
	if (tte < t->tte_s)
		t->tte_s = tte;
}

/* No life, or one of which nothing is known. */
static void begin_anew(struct merge_group *g)
{
	g->empty_ns = 0;
	g->alerted = 0;
	g->worst = 0;
	g->hold = 0;
	g->told = false;
	g->shared = false;
	g->history = false;
}

/*
 * The last member has left, and the series of the group with it: the life is over, and its
 * alert. A process that hands all on to a child and ends has left before the recording has the
 * child; the series of the group goes on then.
 */
static void end_life(struct merge *m, struct merge_group *g)
{
	struct merge_told t = { .s = &g->last, .group = g, .prev = g->alerted,
				.state = SEEPAGE_STATE_EXITED, .members = 1,
				.tte_s = SEEP_UNKNOWN };

	if (g->told && !repeats(m, g, g->born_ns)) {
		if (g->det)
			figures(m, g, NULL, NULL, &t);
		m->tell(m->arg, &t);
	}
	if (g->worst) {
		g->lives++;
		g->lives_s += (g->empty_ns - (g->born_ns < g->empty_ns ? g->born_ns :
					      g->empty_ns)) / 1000000000;
	}
	begin_anew(g);
}

/* The process of @member begins: it is in its group from now on. */
void merge_join(struct merge *m, struct merge_member *member, const struct series *s,
		const struct seep_det *det)
{
	struct merge_group *g = group_of(m, s);
	struct merge_member **last = &g->first;
	bool goes_on = g->empty_ns && g->det;

	if (g->empty_ns && !goes_on)
		end_life(m, g);
	g->empty_ns = 0;
	*member = (struct merge_member){ .group = g, .series = s, .det = det };
	while (*last)
		last = &(*last)->next;
	*last = member;
	if (g->n++ || goes_on) {
		g->shared = true;
		return;
	}
	g->id = s->id;
	g->born_ns = s->born_ns;
}

/* Tells of one process, with what its detector says of the growth. */
static void tell_process(const struct merge *m, struct merge_member *member, u8 prev, u8 state,
			 const struct seep_verdict *v)
{
	struct merge_told t = { .s = member->series, .prev = prev, .state = state,
				.tte_s = v ? v->tte_s : SEEP_UNKNOWN };
	struct seep_verdict now;

	if (state_is_alert(member->alerted) && state_is_alert(state) &&
	    repeats(m, member->group, member->series->born_ns))
		return;
	seep_det_explain(member->det, &member->series->sample, m->conf, &now);
	t.has_growth = seep_det_growth(member->det, &now, &t.growth);
	m->tell(m->arg, &t);
	member->alerted = state_is_alert(state) ? state : SEEPAGE_STATE_OK;
	if (state_is_alert(state) && state > member->group->worst)
		member->group->worst = state;
}

/* Tells of a group. The alerts that its members have end. */
static void tell_group(const struct merge *m, struct merge_group *g,
		       const struct merge_member *cause, u8 prev, u8 state,
		       const struct seep_verdict *v)
{
	struct merge_told t = { .s = g->first->series, .group = g, .prev = prev, .state = state,
				.members = g->n, .growing = g->counts[MERGE_GROWING] };
	struct merge_member *one;

	if (state_is_alert(g->alerted) && state_is_alert(state) && repeats(m, g, g->born_ns))
		return;
	figures(m, g, cause, v, &t);
	m->tell(m->arg, &t);
	g->told = state_is_alert(state);
	g->alerted = g->told ? state : SEEPAGE_STATE_OK;
	if (!g->told)
		return;
	g->worst = state;
	for (one = g->first; one; one = one->next) {
		if (state_is_alert(one->alerted))
			tell_process(m, one, one->alerted, SEEPAGE_STATE_RECOVERED, NULL);
		one->alerted = SEEPAGE_STATE_OK;
	}
}

static void count_as(struct merge_member *member, u8 now)
{
	u32 *counts = member->group->counts;
	int i;

	for (i = 0; i < MERGE_COUNTS; i++)
		counts[i] += (u32)(now >> i & 1) - (u32)(member->counts_as >> i & 1);
	member->counts_as = now;
}

/* The process of @member is gone, or starts anew without having @ended. */
void merge_leave(struct merge *m, struct merge_member *member, bool ended)
{
	struct merge_group *g = member->group;
	struct merge_member **at = &g->first;

	if (ended && state_is_alert(member->alerted) &&
	    !repeats(m, g, member->series->born_ns))
		tell_process(m, member, member->det->state, SEEPAGE_STATE_EXITED, NULL);
	count_as(member, 0);
	while (*at != member)
		at = &(*at)->next;
	*at = member->next;
	if (--g->n)
		return;
	if (!ended) {
		begin_anew(g);
		return;
	}
	g->empty_ns = m->now_ns;
	g->empty_pass = false;
	g->last = *member->series;
}

/* A full pass ended: groups that had two members have a history from now on. */
void merge_full_pass_ended(struct merge *m)
{
	struct merge_group *g;

	for (g = m->groups; g; g = g->next) {
		if (g->empty_ns && g->empty_pass)
			end_life(m, g);
		g->empty_pass = true;
		g->history = g->shared;
	}
}

/* The group raises, or keeps, an alert that the verdict on a member gives cause for. */
static void member_judged(struct merge *m, struct merge_member *member,
			  const struct seep_verdict *v)
{
	struct merge_group *g = member->group;
	u32 hold = v->patience;

	if (!state_is_alert(v->state)) {
		if (state_is_alert(member->alerted) && v->state != SEEPAGE_STATE_WATCH)
			tell_process(m, member, member->alerted, SEEPAGE_STATE_RECOVERED, v);
		return;
	}
	if (member->alerted > g->alerted)
		g->alerted = member->alerted;
	hold = hold < SEEP_MINUTE_DS ? SEEP_MINUTE_DS : hold > SEEP_HOUR_DS ? SEEP_HOUR_DS : hold;
	if (hold > g->hold)
		g->hold = hold;
	g->trouble_ns = member->series->sample.time_ns;
	if (v->state > g->alerted)
		tell_group(m, g, member, g->alerted ? g->alerted : SEEPAGE_STATE_WATCH, v->state,
			   v);
}

/* A process was judged. @prev: its state before. */
void merge_judged(struct merge *m, struct merge_member *member, u8 prev,
		  const struct seep_verdict *v)
{
	struct merge_group *g = member->group;
	u8 now = 0;

	if (!v->state && !prev && !member->counts_as)
		return;
	if (seep_watched(v->state)) {
		now = 1U << MERGE_WATCHED;
		if (v->t1 || member->det->t_run == seep_ds(member->series->sample.time_ns))
			now |= 1U << MERGE_GROWING;
	}
	if (state_is_alert(v->state))
		now |= 1U << MERGE_ALERTING;
	count_as(member, now);
	if (g->history && (state_is_alert(g->alerted) ||
			   (now & 1U << MERGE_GROWING && g->counts[MERGE_GROWING] > 1))) {
		member_judged(m, member, v);
		return;
	}
	if (state_is_alert(v->state) && v->state > member->alerted)
		tell_process(m, member, prev, v->state, v);
	else if (v->state == SEEPAGE_STATE_RECOVERED && v->state != prev &&
		 state_is_alert(member->alerted))
		tell_process(m, member, member->alerted, v->state, v);
}

/* Does the alert of a group end? Its members must have been quiet for as long as it holds. */
static void settle(struct merge *m, struct merge_group *g, const struct seep_verdict *v)
{
	const struct merge_member *one;

	if (!g->told && g->alerted) {	/* those of members count */
		g->alerted = SEEPAGE_STATE_OK;
		for (one = g->first; one; one = one->next)
			if (one->alerted > g->alerted)
				g->alerted = one->alerted;
	}
	if (!state_is_alert(g->alerted))
		return;
	if (state_is_alert(v->state) || g->counts[MERGE_GROWING] || g->counts[MERGE_ALERTING])
		g->trouble_ns = m->now_ns;
	else if (g->told && m->now_ns - g->trouble_ns >=
			    g->hold * (1000000000ULL / SEEP_DS_PER_S))
		tell_group(m, g, NULL, g->alerted, SEEPAGE_STATE_RECOVERED, v);
}

/*
 * The sum of a group was judged. @prev: its state before; @own_rate: growth of its members
 * together, granules an hour.
 */
void merge_group_judged(struct merge *m, const struct series *s, const struct seep_det *det,
			u8 prev, u32 own_rate, const struct seep_verdict *v)
{
	struct merge_group *g = group_of(m, s);
	bool alone;

	g->det = det;
	g->sum = s;
	if (!g->n)
		return;
	if (g->counts[MERGE_ALERTING] && !g->alerted)
		return;		/* silent: a member has an alert of its own */
	alone = g->counts[MERGE_GROWING] == 1 && 2ULL * own_rate >= v->rate;
	if (state_is_alert(v->state) && v->state > g->alerted && (g->alerted || !alone))
		tell_group(m, g, NULL, prev, v->state, v);
	settle(m, g, v);
}

/* The series of a group's sum ends. @ended: with the group */
void merge_group_gone(struct merge *m, const struct series *s, bool ended)
{
	struct merge_group *g;

	/* By the series, not by its name: where user or cgroup is unknown, several may fit. */
	for (g = m->groups; g; g = g->next) {
		if (g->sum != s)
			continue;
		if (ended && g->empty_ns)
			end_life(m, g);
		g->det = NULL;
		g->sum = NULL;
	}
}

void merge_free(struct merge *m)
{
	struct merge_group *g;

	while ((g = m->groups)) {
		m->groups = g->next;
		free(g->cgroup);
		free(g);
	}
}
