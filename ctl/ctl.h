/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the controller share, grouped by defining file,
 * from the command line down to the socket. The files of commands (cmd/, tools/)
 * export one struct command each and never call one another; tools.h declares those of
 * tools/.
 */
#ifndef SEEPAGE_CTL_H
#define SEEPAGE_CTL_H

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/types.h>
#include <linux/seepage.h>

/* Calls need no GOT then: a byte less for each. */
#pragma GCC visibility push(hidden)

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#ifndef SEEPAGE_CTL_VERSION
#define SEEPAGE_CTL_VERSION "0"
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#ifndef __printf
#define ATTRIBUTE(a)	__attribute__((a))
#define __printf(f, a)	ATTRIBUTE(__format__(__printf__, f, a))
#endif

#define EXIT_USAGE	2

#define NEEDS_READ	"CAP_PERFMON or CAP_SYS_ADMIN"
#define NEEDS_ADMIN	"CAP_SYS_ADMIN"

/* args.c: the command line; error messages name the command and the refused word */
struct ctx {
	const char *cmd;	/* command name, prefix of every message; or NULL */
	bool json;
	bool pretty;
	bool help;
	bool version;
	int rest;		/* number of words after "--"; -1: no "--" was given */
};

enum opt_kind {
	OPT_FLAG,		/* dest: bool * */
	OPT_NUMBER,		/* dest: u64 *, in min..max */
	OPT_STRING,		/* dest: const char ** */
	OPT_SIZE,		/* dest: u64 *, bytes in min..max; suffix K, M, G or T */
	OPT_WORDS,		/* dest: struct words *; the option may be repeated */
};

#define WORDS_MAX	64

struct words {
	const char *v[WORDS_MAX];
	size_t n;
};

struct opt {
	const char *name;	/* NULL ends a list */
	char letter;		/* short form; 0: none */
	enum opt_kind kind;
	void *dest;
	const char *arg;	/* name of the value in --help */
	const char *help;
	u64 min, max;	/* allowed range of OPT_NUMBER and OPT_SIZE */
};

struct command {
	const char *name;
	const char *args;	/* positional words, as --help prints them */
	const char *help;	/* one line */
	const char *more;	/* paragraph below the options in --help, or NULL */
	const struct opt *opts;	/* or NULL */
	int min, max;		/* number of positional words; max < 0: no limit */
	int (*run)(struct ctx *ctx, int argc, char **argv);
};

int args_globals(struct ctx *ctx, int argc, char **argv);
int args_parse(struct ctx *ctx, const struct command *cmd, int argc, char **argv);
bool parse_u64(const char *s, u64 *out);
bool parse_size(const char *s, u64 *out);
int parse_user(const struct ctx *ctx, const char *option, const char *word, u64 *uid);
int parse_pid(struct ctx *ctx, const char *word, u32 *pid);
int parse_pid_not_alert(struct ctx *ctx, const char *word, u32 *pid);
int parse_pid_or_command(struct ctx *ctx, const char *word, u32 *pid);	/* lib/pid.c */
#define LOOKS_PERMILLE	1000	/* most that looks may take of a CPU */
bool parse_looks(const char *text, bool *burst, u64 *permille);
int parse_states(struct ctx *ctx, const char *list, int least, u32 *mask);

/* command.c: runs a command of either kind */
int command_help(const struct command *cmd);
int command_run(struct ctx *ctx, const struct command *cmd, int argc, char **argv);
int tool_main(const struct command *cmd, int argc, char **argv);

/* cmd/: one command per file */
extern const struct command cmd_status, cmd_ps, cmd_show, cmd_watch, cmd_alerts, cmd_get,
	cmd_set, cmd_apply, cmd_reset, cmd_version;

/* words.c: names of enum values, from names.h */
struct cfg_key {
	const char *name;
	const char *help;
	u32 def, min, max;
	bool word;		/* the value is one of a list of words, not a number */
};

extern const struct cfg_key cfg_keys[__SEEPAGE_CFG_MAX];	/* [0] is empty */
/* The functions NAME_name() and NAME_unit() return NULL for an unknown value. */
const char *state_name(unsigned int id);
const char *policy_name(unsigned int policy);
const char *factor_name(unsigned int id);
const char *factor_unit(unsigned int id);
const char *gate_name(unsigned int id);
const char *gate_unit(unsigned int id);
const char *counter_name(unsigned int id);
const char *limit_name(unsigned int id);
const char *subject_name(unsigned int id);
const char *pmc_state_name(unsigned int id);
const char *pmc_signal_name(unsigned int id);
const char *severity_name(unsigned int severity);
int state_from_name(const char *name, size_t len);	/* -1: unknown */
unsigned int cfg_from_name(const char *name);		/* 0: unknown */
u32 reset_from_name(const char *name);		/* 0: unknown */
const char *cfg_word(unsigned int key, u32 value);
bool cfg_word_value(unsigned int key, const char *word, u32 *value);
void cfg_allowed(unsigned int key, char *buf, size_t size);
void cfg_all_names(char *buf, size_t size);
void cfg_value_text(unsigned int key, u32 value, char *buf, size_t size);
bool state_is_alert(unsigned int state);

/* attr.c: the table of netlink attributes, used for text and JSON output */
enum attr_kind {
	KIND_NONE,		/* padding, and nests that have their own code */
	KIND_UINT,		/* 1, 2, 4 or 8 bytes */
	KIND_INT,
	KIND_BOOL,
	KIND_STRING,
	KIND_STATE,
	KIND_POLICY,
	KIND_LIMIT,
	KIND_SUBJECT,
	KIND_REQUEST,		/* sent to the kernel, never received */
};

enum attr_unit {
	UNIT_NONE,
	UNIT_BYTES,
	UNIT_BYTES_PER_HOUR,
	UNIT_SECONDS,
	UNIT_MS,
	UNIT_NS,
	UNIT_TIME,		/* ns since the epoch */
	UNIT_PER_SECOND,
};

struct attr_desc {
	const char *key;	/* JSON key */
	const char *text;	/* column heading or line label */
	enum attr_kind kind;
	enum attr_unit unit;
};

#define TEXT_MAX	256

extern const struct attr_desc attr_table[__SEEPAGE_A_MAX];
bool attr_u64(const struct nlattr *a, u64 *v);
bool attr_s64(const struct nlattr *a, s64 *v);
struct json_object *attr_json(unsigned int id, const struct nlattr *a);
void attr_text(unsigned int id, const struct nlattr *a, bool table, char *buf, size_t size);

/* message.c: one message from the kernel; the attributes point into its buffer */
struct message {
	struct nlattr *a[__SEEPAGE_A_MAX];
	bool gone;		/* the process has exited */
	bool past;		/* exited or recovered: sentences use the past tense */
	char quiet;		/* set by top: 's' silenced, 'a' acknowledged, or NUL */
	u64 interval_ms;	/* sampling interval, set by the caller; 0: unknown */
	const struct pmc_list *pmc;	/* event list that PMC_VALUES belongs to; NULL: unknown */
	const char *user, *unit;	/* set by owner_fill(); NULL or "": unknown */
	char *note;		/* a line below its row of a list; or NULL */
};

struct factor {
	unsigned int id, max;
	int points;			/* negative: counts against a leak */
	s64 value, baseline;
	bool has_value, has_baseline;
	bool past;
	bool few;		/* of growth, for which too few floors are known */
	unsigned int floors;	/* number of known floors */
	unsigned int subject;
};

struct gate {
	unsigned int id;
	bool passed, reached;
	s64 value, limit;
	bool past;
	unsigned int subject;
	bool few;		/* gate RISING: fewer floors are known than it needs */
	bool stands;		/* the process is under alert: a closed gate holds nothing back */
	unsigned int floors;	/* number of known floors */
};

#define MSG_LIST_MAX	32	/* factors, gates or levels read from one message */
#define MINIMA_MAX	64
#define LEVEL_EPOCHS	8U	/* epochs that a level keeps; SEEP_MINIMA in the module */

struct level {
	u64 epoch_ms;		/* length of one epoch */
	u64 covers_ms;		/* time covered by all epochs of the level */
	u64 age_ms;		/* time since the newest epoch ended */
	bool has_age;
	unsigned int n;
	u64 minima[MINIMA_MAX];
};

int msg_parse(struct message *msg, struct nlmsghdr *nlh);
void msg_is_gone(struct message *msg);
bool msg_same_process(const struct message *now, const struct message *alert);
bool msg_has_factors(const struct message *msg);
unsigned int msg_subject(const struct message *msg);
int msg_accusation(const struct message *alert, const struct message *all, size_t n);
bool msg_u64(const struct message *msg, unsigned int id, u64 *v);
u64 msg_get(const struct message *msg, unsigned int id, u64 otherwise);
u64 msg_pid(const struct message *msg);
u64 msg_seq(const struct message *msg);
u64 msg_state(const struct message *msg);
u64 msg_age(const struct message *msg);
void msg_text(const struct message *msg, unsigned int id, char *buf);
bool msg_s64(const struct message *msg, unsigned int id, s64 *v);
size_t msg_string(const struct message *msg, unsigned int id, const char **s);
void msg_comm(const struct message *msg, char *buf, size_t size);
unsigned int msg_factors(const struct message *msg, struct factor *f);
unsigned int msg_gates(const struct message *msg, struct gate *g);
bool msg_cold_known(const struct message *msg);
unsigned int msg_levels(const struct message *msg, struct level *l);

/* child.c: the command that record or stat executes, and its descendants */
int child_start(const struct ctx *ctx, char **argv, int (*ready)(pid_t child), pid_t *child);
int child_signals(void);
bool child_ended(pid_t child, int *status);
bool child_has(pid_t pid);

/* pmc.c: hardware counters */
#define PMC_EVENTS	16	/* events read from one list */
#define PMC_SIGNALS	32	/* bits in a mask of signals */

struct pmc_event {
	char name[32], reason[128];
	unsigned int state;
	u64 type, config;
	struct seepage_pmc_value count, kthreads, idle, others, ended;
};

struct pmc_list {
	u64 set;
	unsigned int n;
	struct pmc_event ev[PMC_EVENTS];
};

void pmc_list(struct pmc_list *l, const struct message *status);
unsigned int pmc_values(const struct message *msg, struct seepage_pmc_value *v);
bool pmc_unavailable(const struct pmc_event *ev);
struct json_object *pmc_value_json(const struct seepage_pmc_value *v);
struct json_object *pmc_json(const struct message *msg);
struct json_object *pmc_list_json(const struct pmc_list *l);
void pmc_list_print(const struct pmc_list *l);
bool pmc_baseline(const struct message *msg, struct seepage_pmc_baseline *b);
struct json_object *pmc_signals_json(const struct seepage_pmc_baseline *b);
struct json_object *pmc_baseline_json(const struct seepage_pmc_baseline *b);
void pmc_signals_print(const struct seepage_pmc_baseline *b, const char *head);
void pmc_signals_text(const struct seepage_pmc_baseline *b, char sep, char *buf, size_t size);

/* clock.c: CLOCK_MONOTONIC; clock_real_ns() is CLOCK_REALTIME */
u64 clock_ns(void);
u64 clock_real_ns(void);
u64 clock_ms(void);

/* procfs.c: what /proc shows of a process, unless its pid has been reused */
struct place {
	char *cgroup, *exe;	/* NULL: unknown; place_free() frees them */
	bool has_uid;		/* uid is valid; only place_of() sets it */
	u32 uid;
	char *cmdline;		/* words with blanks between, up to IDENTITY_MAX bytes; or NULL */
	char *parent;		/* of an alert: comm of the parent; or NULL */
	u32 ppid;		/* likewise; 0: unknown */
};

void place_find(const struct message *msg, bool multicast, struct place *p);
void place_find_parent(const struct message *msg, struct place *p);
bool place_of(u32 pid, s64 least_age_ms, struct place *p);
void place_free(struct place *p);
char *procfs_read(int dir, const char *name);
int procfs_open(u32 pid, s64 least_age_ms);
int procfs_open_msg(const struct message *msg, bool multicast);
u64 procfs_start(int dir);
char *procfs_cgroup(int dir);

/*
 * kept.c: what `seepage where --keep` keeps: "first-KEY" is a look, "answer-KEY" an answer,
 * "ledger" what all of them cost
 */
#define KEPT_OWN	"kept"	/* member that only the tool reads */
#define KEPT_KEY	80	/* "PID-START-BOOT_ID" */
#define KEPT_BYTES	(1 << 19)	/* most of a file */
#define KEPT_PERMILLE	5U	/* of a CPU, in an hour: the limit of cost */

bool kept_path(char *buf, size_t size);
int kept_dir(void);
bool kept_key(int dir, u32 pid, char *key);
struct json_object *kept_read(const char *kind, const char *key);
struct json_object *kept_answer(const char *key, u64 age_s);
struct json_object *kept_of(const struct message *msg);
void kept_print(struct json_object *o, const char *before);
char *kept_age(struct json_object *o, char *buf, size_t size);
struct json_object *kept_cost(void);

/* onesite.c: does one call site keep all while other classes turn over? */
struct json_object *one_site_find(struct json_object *answer);
const char *one_site_text(struct json_object *o, char *buf, size_t size);

/* unit.c: what a cgroup path says of a process */
#define POD_LEN	36		/* characters of a UUID */
#define CONTAINER_ID_LEN	64	/* hexadecimal digits */
#define CONTAINER_ID_SHOWN	12	/* are enough for a person, and for commands of runtimes */

struct unit_name {
	char name[128];		/* systemd unit, or "" */
	s64 of_user;		/* uid of the user manager that runs the unit; -1: systemd itself */
	const char *runtime;	/* of the container: "docker", "podman", ..., or NULL */
	char container[128];	/* id or name, or "" */
	char pod[POD_LEN + 1];	/* Kubernetes: uid of the pod, or "" */
};

void unit_of(const char *cgroup, struct unit_name *u);
bool unit_is_id(const char *s);
void unit_text(const struct unit_name *u, char *buf, size_t size);
void unit_show(const char *cgroup, char *buf, size_t size);

#define IDENTITY_MAX	255	/* bytes of a string that the module keeps of an alert */

/* end.c: how the process of an alert ended */
struct json_object *end_json(const struct message *msg);
void end_text(const struct message *msg, char *buf, size_t size);
void end_print(const struct message *exit);

/* json_text.c: strings for JSON; the caller owns what is returned */
struct json_object *json_text(const char *s, size_t len);
void json_add(struct json_object *o, const struct message *msg, unsigned int id);
void json_add_text(struct json_object *o, const char *key, const char *s);
void json_add_number(struct json_object *o, const char *key, u64 v);

/* json_time.c: times of the day in JSON */
void json_add_utc(struct json_object *o, const char *key, u64 ns);
void json_add_utc_of(struct json_object *o, const char *key);

/* json.c: JSON objects for processes and alerts; the caller owns what is returned */
void json_reasons(struct json_object *o, const struct message *msg);
struct json_object *json_process(const struct message *msg, const struct place *p);
struct json_object *json_alert(const struct message *msg, const struct place *p);

/* fmt.c: figures as text; the functions fmt_*() terminate buf and return it */
char *fmt_bytes(char *buf, size_t size, u64 bytes);
char *fmt_bytes_short(char *buf, size_t size, u64 bytes);
char *fmt_growth(char *buf, size_t size, s64 bytes_per_hour);
char *fmt_growth_short(char *buf, size_t size, s64 bytes_per_hour);
char *fmt_seconds(char *buf, size_t size, u64 s);
char *fmt_ns(char *buf, size_t size, u64 ns);
char *fmt_ms(char *buf, size_t size, u64 ms);
char *fmt_time(char *buf, size_t size, u64 ns);
char *fmt_safe(char *buf, size_t size, const char *s, size_t len);
size_t utf8_char(const char *s, size_t len, u32 *c);
size_t utf8_columns(const char *s, size_t *columns);
bool is_control(u32 c);

/* sentence.c: an English sentence for one figure */
#define FIGURE_MAX	48
const char *sentence_figure(const char *unit, s64 v, char *buf);
const char *sentence_subject(unsigned int subject);
const char *sentence_grew(s64 grew, bool brief);
const char *sentence_points(const struct factor *f, char *buf);
void sentence_group(const struct message *msg, char *buf, size_t size);
void sentence_shares(const struct message *msg, char *buf, size_t size);
void __printf(3, 4) sentence_append(char *buf, size_t size, const char *fmt, ...);
void sentence_headline(const struct message *msg, char *buf, size_t size);
const char *sentence_is(bool past);
const char *sentence_has_been(bool past);
const char *sentence_counts(bool past);
void sentence_factor(const struct factor *f, char *buf, size_t size);
void sentence_signal(unsigned int id, const struct seepage_pmc_baseline *b, char *buf,
		     size_t size);
void sentence_baseline(const struct seepage_pmc_baseline *b, char *buf, size_t size);
/* sentence_gate.c: what a gate measured, and what would open it */
void sentence_gate(const struct gate *g, char *buf, size_t size);
const char *sentence_gate_word(const struct gate *g);
void sentence_gates(const struct message *msg, const char *heading);
void sentence_would_open(const struct gate *g, char *buf, size_t size);
/* sentence_verdict.c: English sentences for the verdict as a whole */
void sentence_alert(const struct message *msg, const struct place *p, char *buf, size_t size);
void sentence_lives(const struct message *msg, char *buf, size_t size);
void sentence_factors(const struct message *msg, char *buf, size_t size);
void sentence_verdict(const struct message *msg, char *buf, size_t size);
void sentence_change(const struct message *msg, char *buf, size_t size);
#define SENTENCE_MAX	1024

/* follow.c: which alerts were printed, across overruns and module reloads */
struct follow {
	u64 instance, next;	/* next: expected sequence number; 0: accept any */
	u64 old_instance, old_next;	/* the same for the previous module load */
};

enum follow_what {
	FOLLOW_NEW,		/* next in order: print it */
	FOLLOW_SEEN,		/* already printed */
	FOLLOW_GAP,		/* alerts before it are missing: read the ring */
	FOLLOW_FOREIGN,		/* from another load of the module */
};

void follow_begin(struct follow *f, u64 instance, u64 next);
bool follow_reloaded(struct follow *f, u64 instance);
enum follow_what follow_look(const struct follow *f, u64 instance, u64 seq);
u64 follow_take(struct follow *f, u64 seq);
bool follow_take_old(struct follow *f, u64 instance, u64 seq);

/* conf.c: configuration from command-line words and JSON files */
#define CONF_EVENTS	"pmc_events"
#define CONF_EVENTS_MAX	256
#define CONF_EVENTS_ALLOWED	"NAME=rHEX, NAME=PERF_NAME or NAME, with commas between"

struct conf {
	bool set[__SEEPAGE_CFG_MAX];
	u32 v[__SEEPAGE_CFG_MAX];
	bool has_events;
	char events[CONF_EVENTS_MAX];	/* value of pmc_events, the only string key */
};

#define CONF_ERR_MAX	768

bool conf_add(struct conf *c, const char *key, const char *value, char *err, size_t size);
bool conf_file(struct conf *c, const char *text, size_t len,
	       void (*ignored)(void *arg, const char *key), void *arg,
	       char *err, size_t size);
bool conf_consistent(const struct conf *c, const struct conf *running, char *err, size_t size);
/* conf_text.c: words of set, JSON of get */
int conf_words(const struct ctx *ctx, struct conf *c, int argc, char **argv);
struct json_object *conf_json(const struct conf *c, unsigned int key, bool events);

/* jsonc.c: JSON with comments, duplicate keys refused */
struct jsonc_bad {		/* a number that cannot be represented; else empty */
	char key[80], value[80];
};

#define JSONC_SHAPE	"{\"KEY\": VALUE, ...}"

void jsonc_no_object(const char *text, const char *type, char *err, size_t size);
struct json_object *jsonc_parse(const char *text, size_t len, struct jsonc_bad *bad,
				char *err, size_t size);

/* A file of one object: "version", and a list. */
struct jsonc_file {
	const char *list;	/* its key */
	int version;
	size_t most;		/* members of the list */
	size_t bytes;		/* of the file, at most */
};

struct json_object *jsonc_file_parse(const char *text, size_t len, const struct jsonc_file *f,
				     char *err, size_t size);
struct json_object *jsonc_file_read(int fd, const struct jsonc_file *f, char *err, size_t size);

/* spark.c: figures as a one-line bar chart */
#define SPARK_WIDE	4		/* most columns for one figure */
#define SPARK_COLUMNS	160
#define SPARK_MAX	(3 * SPARK_COLUMNS + 1)
char *spark(char *buf, const u64 *v, unsigned int n, unsigned int columns, bool utf8);
bool spark_utf8(const char *lc_all, const char *lc_ctype, const char *lang);

/* table.c: text in columns as wide as their widest cell */
struct table;
struct table *table_new(const char *const *heads, const bool *right, unsigned int cols);
void table_cell(struct table *t, const char *text);
void table_write(const struct table *t, FILE *f, const char *indent);
void table_print(const struct table *t, const char *indent);
void table_free(struct table *t);

/* fold.c: a line of text, folded on a terminal, and elsewhere at fold_columns; 0: it stays whole */
extern unsigned int fold_columns;
void fold(const char *head, unsigned int indent, const char *text);
void out_fold(void);
void out_cut(void);

/* out.c: output on stdout, messages on stderr, and what fails on the way */
void out_init(void);
void out_undo(void);
int out_close(int status);
void out_printf(const char *fmt, ...) __printf(1, 2);
void out_raw(const char *text);
extern void (*out_filter)(char *text);
void out_line(const char *text);
unsigned int out_columns(void);
bool out_broken(void);
bool out_gone(void);
int out_json(const struct ctx *ctx, struct json_object *o);
int fail(const struct ctx *ctx, const char *fmt, ...) __printf(2, 3);
int usage(const struct ctx *ctx, const char *fmt, ...) __printf(2, 3);
void note(const struct ctx *ctx, const char *fmt, ...) __printf(2, 3);
void *must(void *p);

/* nl.c: all netlink I/O of the controller */
struct nl_sock;
struct knl {
	struct nl_sock *sk;
	int family;		/* 0: not resolved */
	int group_alert, group_series;	/* 0: the module has no such group */
	int err;		/* errno of the last failure */
	u32 after;		/* a dump that ended with it goes on after that pid; 0: not said */
	char text[256];		/* extack text of that failure, or empty */
};

typedef int (*knl_cb)(struct nlmsghdr *nlh, void *arg);	/* negative: stop reading */

int knl_open(struct knl *k);
void knl_close(struct knl *k);
int knl_resolve(struct knl *k);
struct nl_msg *knl_msg(struct knl *k, int cmd, int flags);
int knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg);
int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs);
int knl_fail_pid(const struct ctx *ctx, struct knl *k, u32 pid, const char *needs);
bool knl_module_seen(void);
int knl_listen(struct knl *k);
void knl_buffer(struct knl *k, int bytes);
int knl_join(struct knl *k, int group);
int knl_fd(const struct knl *k);
int knl_events(struct knl *k, knl_cb cb, void *arg);

/* query.c: requests that several commands send */
struct cgroup_memory {		/* of the cgroup that leaves least; bytes */
	u64 limit, used;	/* limit 0: none has a limit */
	u64 id;			/* the same for all processes below it */
};

struct msgs {			/* copies of messages; msgs_free() frees them */
	struct nlmsghdr **v;
	size_t n, capacity;
};

int query_open(const struct ctx *ctx, struct knl *k);
int query_open_pid(struct ctx *ctx, const char *word, struct knl *k, u32 *pid);
int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply);
int query_dump(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg),
	       void *arg, struct msgs *m);
u64 query_interval(struct knl *k);
void query_pmc(struct knl *k, struct pmc_list *l);
int query_config(struct knl *k, struct conf *c);
int query_configure(const struct ctx *ctx, const struct conf *c);
int query_alerts(struct knl *k, u64 since, struct msgs *m);
int query_facts(struct knl *k, u32 pid, int cold, const struct cgroup_memory *memory);
int query_process(struct knl *k, u32 pid, struct nlmsghdr **reply);
int query_group(struct knl *k, u32 pid, struct nlmsghdr **reply);
void identity_send(struct knl *k, const struct message *msg, const struct place *p);
bool parse_alert(const char *word, u64 *seq);
int query_alert(struct knl *k, u64 seq, struct nlmsghdr **reply);
int query_open_alert(const struct ctx *ctx, u64 seq, struct knl *k, struct nlmsghdr **reply);
size_t query_newest(const struct msgs *m, u32 pid, struct message *msg);
bool query_ended(struct knl *k, const struct msgs *m, const struct message *alert,
		 struct message *exit);
void msgs_free(struct msgs *m);

/* disk.c: files that are whole or not there */
#define DISK_NEW	".new"	/* name while it is written */
#define DISK_LOCK	".seepage.lock"	/* of its directory, while there is a writer */

int disk_write(int dir, const char *name, const char *text, size_t len, mode_t mode);
struct json_object *disk_read(int dir, const char *name);
int disk_parents(const char *path);

/* A file in a directory that is locked against other writers */
struct disk_place {
	int dir, lock;		/* descriptors */
	const char *path;	/* of the file, as disk_lock() got it */
	const char *name;	/* the last part of it */
};

int disk_lock(const struct ctx *ctx, const char *path, struct disk_place *p);
void disk_unlock(struct disk_place *p);
int disk_replace(const struct ctx *ctx, const struct disk_place *p, const char *text);
int disk_keep_older(const struct ctx *ctx, const char *path);

/* next.c: what an operator can do about a process under alert */
#define NEXT_MAX	7
struct next_step {
	char command[TEXT_MAX];
	const char *why;
};

struct next_steps {
	struct next_step step[NEXT_MAX];
	unsigned int n;
};

void next_steps(const struct message *msg, const struct place *p, u64 seq, struct next_steps *n);

/* explain.c: the verdict on a process, with its reasons */
struct cold_report;
struct explain_look {		/* cold/explain.c has one: which memory does the process use? */
	int (*make)(struct ctx *ctx, struct knl *k, u32 pid, u64 window_s,
		    struct cold_report **report);
	void (*print)(const struct cold_report *r);
	struct json_object *(*json)(const struct cold_report *r);
	void (*free)(struct cold_report *r);
	u64 window_s;
	struct cold_report *report;
};

int explain_process(struct ctx *ctx, const char *word, struct explain_look *look);

/* owner.c: user and unit of processes, looked up once for each uid and cgroup */
void owner_fill(struct message *msg, size_t n);
const struct passwd *owner_passwd(uid_t uid);
const char *owner_user(const struct message *msg);
const char *owner_name(const struct message *msg);
void owner_text(const struct message *msg, const struct place *p, char *buf, size_t size);
void owner_forget(void);
/* Replaces the text of a container, of TEXT_MAX bytes, by its names if they are known; or NULL */
extern void (*owner_container)(const char *cgroup, char *text);

/* list.c: processes or alerts, one row each */
#define LIST_COLUMNS	20
#define COLUMN_USER	__SEEPAGE_A_MAX		/* columns that are no attribute */
#define COLUMN_UNIT	(__SEEPAGE_A_MAX + 1)

struct order {
	u8 column;		/* 0: by suspicion */
	bool reverse;
};

struct message *list_messages(const struct msgs *m, size_t *n);
int columns_parse(const struct ctx *ctx, const char *list, u8 *columns, unsigned int *n);
int order_parse(const struct ctx *ctx, const char *word, struct order *o);
const char *column_head(unsigned int column);
bool column_is_figure(unsigned int column);
bool column_value(const struct message *msg, unsigned int column, s64 *v);
void column_text(const struct message *msg, unsigned int column, char *buf);
int list_compare(const struct message *x, const struct message *y, const struct order *o);
void list_sort(struct message *msg, size_t n, struct order o);
void list_print(const u8 *columns, unsigned int cols, const struct message *msg, size_t n);

#pragma GCC visibility pop

#endif /* SEEPAGE_CTL_H */
