/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Silences and acknowledgments. Both are about notifications only: the module goes on judging
 * and raising alerts, and `alerts` and `watch` show all of them.
 *
 * They are a JSON object in one file, which any user may read and root writes:
 *	version		1
 *	next_id		number of the next silence
 *	silences	[{id, unit, name, uid, cgroup, alert, comment, by, made_ns, until_ns}]
 *	acks		[{alert, text, by, made_ns}]
 * A silence has those of unit, name, uid, cgroup and alert that were given; all of them have to
 * fit. until_ns is null where it has no end. alert is what tells the process, or the group, of an
 * alert from all others: {instance, seq, time_ns, state, pid, comm, uid, cgroup_id, begun_s,
 * of_group}.
 */
#ifndef SEEPAGE_CTL_QUIET_H
#define SEEPAGE_CTL_QUIET_H

#include "policy/policy.h"

#define QUIET_VERSION	1
#define QUIET_FILE	"silences.json"
#define QUIET_SILENCES	256
#define QUIET_ACKS	256	/* of more, the oldest are forgotten */
#define QUIET_NS	1000000000ULL

/* lib/quiet.c: reads them, and finds those that fit a process */
struct quiet {
	struct json_object *o;		/* NULL: none, or they cannot be read */
	struct quiet_file file;
	struct policies policies;	/* one that ignores is a silence without an end */
	char err[TEXT_MAX];		/* why they cannot be read, or "" */
};

bool quiet_path(char *buf, size_t size);
bool quiet_look(struct quiet *q);
void quiet_free(struct quiet *q);
struct json_object *quiet_silence(const struct quiet *q, const struct quiet_subject *s,
				  u64 now_ns);
struct json_object *quiet_ack(const struct quiet *q, const struct quiet_subject *s);
bool quiet_over(const struct json_object *silence, u64 now_ns);
void quiet_subject_text(const struct json_object *silence, char *buf, size_t size);
void quiet_silence_text(const struct json_object *silence, char *buf, size_t size);
void quiet_ack_text(const struct json_object *ack, char *buf, size_t size);

/* lib/quiet_of.c: the subject of a message. Valid as long as @room and @p are */
struct quiet_room {
	char comm[SEEPAGE_COMM_LEN + 1];
	struct unit_name unit;
};

void quiet_of(const struct message *msg, const struct place *p, u64 instance,
	      struct quiet_room *room, struct quiet_subject *s);

/* quiet/store.c: changes them, one writer at a time */
typedef int (*quiet_change)(const struct ctx *ctx, struct json_object *root, void *arg);

int quiet_read(const struct ctx *ctx, struct quiet *q);
int quiet_edit(const struct ctx *ctx, quiet_change change, void *arg);
int quiet_check_text(const struct ctx *ctx, const char *what, const char *s);
void quiet_by(char *buf, size_t size);

/* quiet/when.c: durations and times as people write them */
#define QUIET_FOR	"1s to 3650d, as 90s, 30m, 2h, 1d12h, 4w"
#define QUIET_UNTIL	"a time to come: HH:MM, YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS][Z], or @SECONDS"

bool quiet_duration(const char *s, u64 *seconds);
bool quiet_time(const char *s, u64 now_s, u64 *t);

/* quiet/alert.c: the alert with a number, from the module or from a file */
bool quiet_alert_number(const char *word, u64 *seq);
int quiet_alert_word(const struct ctx *ctx, const char *word, u64 *seq);
int quiet_alert(struct ctx *ctx, const char *word, const char *from, struct json_object **o);

#endif /* SEEPAGE_CTL_QUIET_H */
