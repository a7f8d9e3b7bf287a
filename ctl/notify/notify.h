/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the tool notify share, from the input down to the
 * receivers. An alert becomes one note for each receiver; notes wait in the spool until
 * their receiver has taken them.
 */
#ifndef SEEPAGE_CTL_NOTIFY_H
#define SEEPAGE_CTL_NOTIFY_H

#include <poll.h>
#include "quiet/quiet.h"

#define LIMIT_KEY_MAX	1200	/* what has the limit of a policy, in words */
#define LOADS_MAX	64	/* of more loads of the module, the oldest are forgotten */
#define NOTIFY_NAME_MAX	64	/* name of a note or of a receiver's directory */

/* notify/alert.c: an alert as `watch -j` prints it */
struct alert {
	struct json_object *o;	/* owned; alert_free() drops it */
	u64 instance, seq, time_ns, pid, confidence, severity;
	s64 begun_s;		/* start of the process, seconds since 1970, within a second */
	const char *state;	/* points into o */
	bool ends;		/* state recovered or exited */
	bool of_group;
	bool test;		/* made by --test */
	const char *limit;	/* of a policy: what has the limit; points into o; else NULL */
};

enum alert_line { LINE_ALERT, LINE_LOST, LINE_BAD };

enum alert_line alert_parse(const char *line, size_t len, struct alert *a, char *err, size_t size);
void alert_of(struct json_object *o, struct alert *a);
bool alert_of_name(const struct alert *a);
void alert_test(struct alert *a);
const char *alert_end_text(const struct json_object *o, char *buf, size_t size);
struct incident;
void alert_complete(struct alert *a, const char *boot, const struct incident *one);
void alert_free(struct alert *a);
const char *alert_host(void);

/* notify/where.c: where it leaks, as watch --where has found out */
#define WHERE_TEXT_MAX	256	/* bytes of it in the sentence of an alert */
struct json_object *alert_where(const struct alert *a, s64 begun_s, const char *boot);
const char *alert_where_text(struct json_object *where, char *buf, size_t size);

/* notify/incident.c: which processes are under an alert that receivers were told of */
struct incident {
	u64 instance, pid;
	s64 begun_s;		/* of the process, as its first alert has it: part of the key */
	u64 first_ns;		/* time of its first alert */
	bool of_group;
	char key[96];		/* dedup_key: boot id, pid, start */
	struct json_object *alert;	/* last alert, completed; owned */
	struct json_object *labels;	/* of Alertmanager, as last sent; NULL: nobody was told */
	struct json_object *held;	/* last alert that was held back, or NULL; owned */
	struct json_object *last;	/* last alert, whole; NULL: not known; owned, not on disk */
	struct json_object *pids;	/* of a group, by the last answer; owned, not on disk */
	int told;			/* state that receivers were told of last; -1: none */
	bool acked;			/* those that keep incidents were told of that */
	char *limit;			/* owned; NULL: a leak */
};

#define INCIDENTS_MAX	1024	/* open at once; of more, deliver_alert() forgets one */

struct incidents {
	struct incident *v;
	size_t n;
};

bool incident_is_of_group(const struct incident *one, const struct json_object *o);
u64 incident_hash(const char *s);
u64 incident_number(const struct incident *one);
struct incident *incident_find(struct incidents *i, const struct alert *a);
struct incident *incident_open(struct incidents *i, const struct alert *a, const char *boot);
void incident_update(struct incident *one, const struct alert *a);
void incident_hold(struct incident *one, const struct alert *a, bool held);
void incident_remember(struct incidents *i, const struct alert *a);
struct incident *incident_least_needed(struct incidents *i);
void incident_drop(struct incidents *i, struct incident *one);
struct json_object *incidents_json(const struct incidents *i);
void incidents_read(struct incidents *i, struct json_object *list);
void incidents_free(struct incidents *i);

/* Receivers */
enum receiver_kind {
	TO_EXEC, TO_WEBHOOK, TO_ALERTMANAGER, TO_PAGERDUTY, TO_JOURNAL, TO_SYSLOG,
	TO_NOBODY,		/* of the spool, not configured any more */
};

enum outcome {
	TAKEN,			/* delivered */
	LATER,			/* tried again after a while */
	REFUSED,		/* never tried again */
};

struct note {
	char name[NOTIFY_NAME_MAX];	/* of its file; the order of arrival */
	u64 born_ms;		/* CLOCK_REALTIME */
	size_t size;
	char *text;		/* kept in memory if the spool could not be written; or NULL */
	struct note *next;
};

struct receiver {
	enum receiver_kind kind;
	char *target;		/* URL, command or key, as given */
	char *url;		/* that requests go to */
	char label[128];	/* for messages, without what may be secret */
	char dir[NOTIFY_NAME_MAX];	/* its directory in the spool */
	char **words;		/* of the command, ended by NULL; they point into text */
	char *text;

	struct note *first, *last;	/* waiting, oldest first */
	u64 pending;
	u64 taken, refused, dropped;	/* counted over restarts */
	u64 trimmed;		/* of dropped, by the last spool_trim() */
	u64 next_ms;		/* monotonic: no try before it */
	unsigned int tries;	/* of the first note, since it came to the front */
	bool failed;		/* this run refused or dropped one */
	bool complained;	/* a failed try was said; the next ones are not */
	u64 refresh_ms;		/* Alertmanager: next time to repeat what is open */

	void *job;		/* a delivery under way: struct http_job or struct exec_job */
	struct json_object *sent;	/* note of that delivery */
	bool refreshing;	/* the delivery under way is no note */
};

/* What was reported of a delivery. retry_s: what the receiver asks for, 0: nothing */
struct result {
	enum outcome outcome;
	u64 retry_s;
	char text[256];
};

/* notify/keys.c: options, and the keys of the configuration file */
#define SETTING_NOT_GIVEN	UINT64_MAX	/* of what may be 0 */
#define SETTING_STATE_DIR	"/var/lib/seepage/notify"

struct settings {
	struct words exec, webhook, alertmanager, pagerduty_key, pagerduty_key_file;
	const char *config, *state_dir, *states, *cacert, *url, *pagerduty_url, *from;
	u64 min_confidence, min_severity, spool_bytes, retry_s, exec_s, timeout_s;
	bool journal, syslog, dry_run, test;
	u32 state_mask;		/* 0: all */
	struct receiver *to;
	size_t n;
};

extern struct settings notify_settings;
extern const struct opt notify_opts[];
const struct opt *key_find(const char *key);
const char *key_list(char *buf, size_t size);
bool key_number(const struct opt *o, struct json_object *v, u64 *n);
bool key_refuses(const struct opt *o, struct json_object *v, struct json_object **bad,
		 char *allowed, size_t size);

/* notify/conf.c: the configuration file */
int conf_notify(struct ctx *ctx, struct settings *s);

/* notify/receivers.c: where notes go */
int receivers_add(struct ctx *ctx, struct settings *s);
void receivers_free(struct settings *s);

/* notify/payload.c: what each receiver gets */
struct json_object *payload_note(const struct settings *s, const struct receiver *to,
				 const struct alert *a, struct incident *one);
struct json_object *payload_labels(const struct alert *a);
struct json_object *payload_refresh(const struct settings *s, const struct incidents *open);
struct json_object *payload_forgotten(const struct receiver *to, const struct incident *one);
struct json_object *payload_acked(const struct receiver *to, const struct incident *one);

/* A load of the module, and the number of its first alert that was not read */
struct load {
	u64 instance, next;
};

/* notify/spool.c: notes on disk, and the state beside them */
struct spool {
	const struct ctx *ctx;
	int dir, lock;		/* descriptors; -1: none */
	char boot[40];
	bool rebooted;		/* the state is of an earlier boot */
	u64 arrivals;		/* number of the next note */
	struct load position;
	struct load past[LOADS_MAX];	/* the loads before, the latest last */
	size_t n_past;
	u64 bytes, most_bytes;	/* of all notes */
	u64 kept_bytes;		/* of bytes: for receivers that are not configured any more */
	u64 limits;		/* looks at limits that found a change */
	u64 lost;		/* alerts that the module overwrote before they were read */
	u64 forgotten;		/* incidents, as more than INCIDENTS_MAX were open */
	bool complained;
	struct incidents open;
};

/* notify/disk.c: the directory */
void disk_complain(struct spool *s, const char *what, int err);
int disk_open(struct spool *s, const char *path);

/* notify/state.c: position, incidents, counts */
void state_write(struct spool *s, struct settings *set);
bool state_take(struct spool *s, const struct alert *a);
int state_read(struct spool *s, struct settings *set);

/* notify/spool.c */
int spool_open(struct spool *s, struct settings *set);
void spool_put(struct spool *s, struct receiver *to, const char *name, struct json_object *what);
struct json_object *spool_get(struct spool *s, const struct receiver *to, const struct note *n);
void spool_remove(struct spool *s, struct receiver *to, struct note *n);
void spool_trim(struct spool *s, struct settings *set);
void spool_close(struct spool *s);

/*
 * notify/http.c: requests, through libcurl. All run at the same time, none waits for
 * another.
 */
struct http;
struct http *http_new(const struct settings *s);
int http_library(struct ctx *ctx);
void http_free(struct http *h);
bool http_begin(struct http *h, struct receiver *to, struct json_object *body);
void http_poll(struct http *h, struct pollfd *extra, unsigned int n, int ms);
bool http_done(struct http *h, struct receiver *to, struct result *r);
void http_cancel(struct http *h, struct receiver *to);

/* notify/exec.c: a command for each note */
bool exec_begin(struct receiver *to, struct json_object *note, u64 limit_s, struct result *r);
void exec_step(struct receiver *to);
bool exec_done(struct receiver *to, struct result *r);
void exec_cancel(struct receiver *to);
int exec_fd(const struct receiver *to);
u64 exec_deadline_ms(const struct receiver *to);

/* notify/local.c: journal and syslog, one datagram each */
void journal_send(struct json_object *note, struct result *r);
void syslog_send(struct json_object *note, struct result *r);

/* notify/source.c: lines of `seepage watch -j`, from the program or from a file */
struct source {
	const struct ctx *ctx;
	const char *name;	/* of the file, NULL: watch or standard input */
	int fd;			/* -1: at its end */
	pid_t child;		/* watch; 0: a file */
	char *buf;
	size_t len, capacity;
	u64 lines;
	bool is_file;		/* always readable, poll() is of no use */
};

int source_open(struct source *s, const struct ctx *ctx, const char *from);
int source_read(struct source *s);
char *source_line(struct source *s, size_t *len);
void source_close(struct source *s);

/* notify/deliver.c: tries, waits, tries again */
struct delivery {
	const struct ctx *ctx;
	struct settings *set;
	struct spool *spool;	/* NULL with --test */
	struct http *http;	/* NULL: no receiver needs it */
	struct quiet quiet;
	bool changed;		/* it has, since acknowledgments were looked at */
	char why[2 * TEXT_MAX + 6 * QUIET_TEXT];	/* of the last hold_verdict() */
	u64 held;		/* alerts held back by this run */
	bool ask_module;	/* alerts come from it: for figures of now */
	u64 now_ms;		/* monotonic: the next now_refresh() */
};

void deliver_start(struct delivery *d);
void deliver_finish(struct delivery *d);
void deliver_wait(struct delivery *d, struct pollfd *own, unsigned int n, int ms);
void deliver_end(struct delivery *d);
bool deliver_idle(const struct delivery *d);
int deliver_test(struct delivery *d);

/* notify/notes.c: from an alert to notes */
void deliver_rebooted(struct delivery *d);
void deliver_alert(struct delivery *d, const struct alert *a);
void deliver_made(struct delivery *d, const struct alert *a, struct incident *one);
void deliver_acked(struct delivery *d, struct incident *one);
bool deliver_wanted(const struct settings *s, const struct alert *a);

/* notify/hold.c: silences, policies and acknowledgments */
enum hold { HOLD_NOT, HOLD_SILENCED, HOLD_POLICY, HOLD_ACKED };

void hold_look(struct delivery *d);
enum hold hold_verdict(struct delivery *d, const struct alert *a, const struct incident *one);
void hold_back(struct delivery *d, const struct alert *a, struct incident *one, enum hold why);
bool hold_acked(const struct delivery *d, struct incident *one);

/* notify/release.c: what is told later */
bool release_held(struct delivery *d);
bool release_later(struct delivery *d);
bool release_acks(struct delivery *d);

/* notify/now.c: figures of what a policy holds back */
void now_refresh(struct delivery *d);

/* notify/limit.c: limits of policies */
bool limits_look(struct delivery *d);

#endif /* SEEPAGE_CTL_NOTIFY_H */
