// SPDX-License-Identifier: GPL-2.0
/* What replay prints while it reads: changes of state, verdicts, and those that differ. */
#include <string.h>
#include "replay/merge.h"
#include "replay/replay.h"

static struct json_object *text_or_null(const char *s)
{
	return s ? json_text(s, strlen(s)) : NULL;
}

/**
 * replay_identity() - a JSON object that names a series
 *
 * Context: none. Returns the object, which the caller drops or adds to another.
 */
struct json_object *replay_identity(const struct series *s)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "id", json_object_new_uint64(s->id));
	json_object_object_add(o, "pid", json_object_new_uint64(s->pid));
	json_object_object_add(o, "comm", json_text(s->comm, strlen(s->comm)));
	return o;
}

static void print_json(const struct ctx *ctx, u64 clock_ns, const struct series *s,
		       const struct message *msg)
{
	static const u8 before[] = {
		SEEPAGE_A_TIME_NS, SEEPAGE_A_AGE_SECONDS, SEEPAGE_A_PREV_STATE, SEEPAGE_A_STATE,
		SEEPAGE_A_CONFIDENCE, SEEPAGE_A_SEVERITY, SEEPAGE_A_POLICY, SEEPAGE_A_TTE_SECONDS,
		SEEPAGE_A_SHARES_WITH, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR,
		SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES,
		SEEPAGE_A_FILE_BYTES, SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES,
		SEEPAGE_A_VSZ_BYTES, SEEPAGE_A_FAULTS_ANON, SEEPAGE_A_FAULTS_FILE,
		SEEPAGE_A_FAULT_RATE, SEEPAGE_A_UID, SEEPAGE_A_SUBJECT, SEEPAGE_A_MEMBERS,
	};
	struct json_object *o = replay_identity(s);
	size_t i;

	json_object_object_add(o, "kind", json_object_new_string(s->group ? "group" : "process"));
	for (i = 0; i < ARRAY_SIZE(before); i++)
		json_object_object_add(o, attr_table[before[i]].key,
				       attr_json(before[i], msg->a[before[i]]));
	json_add_utc(o, "time", clock_ns ? clock_ns + s->sample.time_ns : 0);
	json_object_object_add(o, "headroom_bytes", json_object_new_uint64(s->sample.headroom));
	json_object_object_add(o, "limit", text_or_null(limit_name(s->sample.limit)));
	json_object_object_add(o, "exe", text_or_null(s->place.exe));
	json_object_object_add(o, "cgroup", text_or_null(s->place.cgroup));
	json_reasons(o, msg);
	out_json(ctx, o);
}

/* "2026-11-28 06:26:09 2h05m pid 4711 (redis-server): watch -> suspected, ..., factors" */
static void print_text(u64 clock_ns, const struct series *s, const struct message *msg, u8 prev)
{
	char line[SENTENCE_MAX], factors[SENTENCE_MAX], text[3 * SENTENCE_MAX];
	char when[64] = "", since[TEXT_MAX];

	fmt_seconds(since, sizeof(since), (s->sample.time_ns - s->begun_ns) / 1000000000);
	sentence_alert(msg, NULL, line, sizeof(line));
	sentence_factors(msg, factors, sizeof(factors));
	if (clock_ns)
		fmt_time(when, sizeof(when), clock_ns + s->sample.time_ns);
	snprintf(text, sizeof(text), "%s%s%s %s -> %s: %s", when, clock_ns ? " " : "",
		 since, state_name(prev), line, factors);
	fold("", 2, text);
}

/**
 * replay_print() - print a change of state, or the verdict on a sample
 * @clock_ns: CLOCK_REALTIME less CLOCK_MONOTONIC of the recording; 0: not known, no time is printed
 * @det, @v: the detector of the series, and what it says
 * @prev: state before the sample
 *
 * Context: after the sample was fed. Cannot fail: out_broken() says whether stdout is gone.
 */
void replay_print(const struct ctx *ctx, u64 clock_ns, const struct series *s,
		  const struct seep_det *det, const struct seep_verdict *v,
		  const struct seep_conf *conf, u8 prev)
{
	struct series_verdict t;

	series_verdict_message(&t, s, det, v, conf, prev);
	if (ctx->json)
		print_json(ctx, clock_ns, s, &t.msg);
	else
		print_text(clock_ns, s, &t.msg, prev);
	series_verdict_free(&t);
}

/**
 * replay_alert() - print an alert as the module raises it: of one process, or of a service
 *
 * Context: while a sample is fed, or a series ends. Cannot fail, as replay_print().
 */
void replay_alert(const struct ctx *ctx, const struct merge_told *t)
{
	char growth[FIGURE_MAX], group[TEXT_MAX] = "";
	struct json_object *o, *outer;

	if (t->group)
		snprintf(group, sizeof(group), ", all %u processes of its name and cgroup "
			 "(%u of them growing)", t->members, t->growing);
	if (!ctx->json) {
		out_printf("alert: pid %u (%s)%s: %s -> %s, growth %s\n", t->s->pid, t->s->comm,
			   group, state_name(t->prev), state_name(t->state), t->has_growth ?
			   fmt_growth(growth, sizeof(growth), t->growth) : "not known");
		return;
	}
	outer = json_object_new_object();
	o = replay_identity(t->s);
	if (t->group)
		json_object_object_add(o, "id", json_object_new_uint64(merge_group_id(t->group)));
	json_object_object_add(o, "kind", json_object_new_string(t->group ? "group" : "process"));
	json_object_object_add(o, "time_ns", json_object_new_uint64(t->s->sample.time_ns));
	json_object_object_add(o, "prev_state", json_object_new_string(state_name(t->prev)));
	json_object_object_add(o, "state", json_object_new_string(state_name(t->state)));
	json_object_object_add(o, "members", t->group ? json_object_new_int64(t->members) : NULL);
	json_object_object_add(o, "growing", t->group ? json_object_new_int64(t->growing) : NULL);
	json_object_object_add(o, "growth_bytes_per_hour", t->has_growth ?
			       json_object_new_int64(t->growth) : NULL);
	json_object_object_add(o, "tte_seconds", t->tte_s == SEEP_UNKNOWN ? NULL :
			       json_object_new_uint64(t->tte_s));
	json_object_object_add(outer, "alert", o);
	out_json(ctx, outer);
}

static void verdict_text(char *buf, size_t size, unsigned int state, unsigned int confidence,
			 u64 tte_s)
{
	snprintf(buf, size, "%s, confidence %u, ", state_name(state), confidence);
	if (tte_s == SEEP_UNKNOWN)
		sentence_append(buf, size, "no time to exhaustion");
	else
		sentence_append(buf, size, "exhausted in %llu s", tte_s);
}

static struct json_object *verdict_json(unsigned int state, unsigned int confidence, u64 tte_s)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "state", json_object_new_string(state_name(state)));
	json_object_object_add(o, "confidence", json_object_new_uint64(confidence));
	json_object_object_add(o, "tte_seconds", tte_s == SEEP_UNKNOWN ? NULL :
			       json_object_new_uint64(tte_s));
	return o;
}

/**
 * replay_difference() - print a verdict that is not the recorded one
 * @r: its line is that of the sample
 * @s: has the recorded verdict
 * @v: the verdict of this program
 *
 * Context: after the sample was fed. Cannot fail, as replay_print().
 */
void replay_difference(const struct ctx *ctx, const struct series_reader *r,
		       const struct series *s, const struct seep_verdict *v)
{
	char here[TEXT_MAX], there[TEXT_MAX];
	struct json_object *o, *outer;

	if (!ctx->json) {
		verdict_text(here, sizeof(here), v->state, v->confidence, v->tte_s);
		verdict_text(there, sizeof(there), s->state, s->confidence, s->tte_s);
		out_printf("line %lu: series %llu differs: %s; recorded %s\n", r->line, s->id,
			   here, there);
		return;
	}
	outer = json_object_new_object();
	o = replay_identity(s);
	json_object_object_add(o, "line", json_object_new_uint64(r->line));
	json_object_object_add(o, "time_ns", json_object_new_uint64(s->sample.time_ns));
	json_object_object_add(o, "replayed", verdict_json(v->state, v->confidence, v->tte_s));
	json_object_object_add(o, "recorded", verdict_json(s->state, s->confidence, s->tte_s));
	json_object_object_add(outer, "difference", o);
	out_json(ctx, outer);
}
