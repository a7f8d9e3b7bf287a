/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tools are separate programs, seepage-NAME, which `seepage NAME` executes. Name,
 * arguments and help of each are defined here, because the help of seepage lists all
 * tools, also those that are not installed.
 */
#ifndef SEEPAGE_CTL_TOOLS_H
#define SEEPAGE_CTL_TOOLS_H

#include "ctl.h"

#pragma GCC visibility push(hidden)

/* The first three members of struct command, and those of struct tool */
#define TOOL_EXPLAIN	"explain", "PID|'#N'",				\
			"say why a process is under alert, or why not"
#define TOOL_STAT	"stat", "[PID... | -- COMMAND [WORD...]]",	\
			"count hardware events, as perf stat does"
#define TOOL_RECORD	"record", "[PID... | -- COMMAND [WORD...]]",	\
			"record for replay"
#define TOOL_REPLAY	"replay", "FILE",				\
			"run the detector on a recording"
#define TOOL_EXPORT	"export", "",					\
			"print all figures for Prometheus"
#define TOOL_TOP	"top", "",					\
			"show processes live"
#define TOOL_WHERE	"where", "PID",					\
			"find what grows in a process"
#define TOOL_COLD	"cold", "PID",					\
			"measure which memory it uses, then explain"
#define TOOL_NOTIFY	"notify", "",					\
			"send alerts to receivers"
#define TOOL_SILENCE	"silence", "['#N']",				\
			"hold notifications back"
#define TOOL_IGNORE	"ignore", "['#N']",				\
			"the same as silence"
#define TOOL_ACK	"ack", "['#N' TEXT]",				\
			"say that an alert is seen to"
#define TOOL_POLICY	"policy", "[VERB]",				\
			"set thresholds and limits"
#define TOOL_ENVELOPE	"envelope", "[VERB]",				\
			"keep what services released"
#define TOOL_SAVE	"save", "[KEY VALUE...]",			\
			"keep the configuration for the next boot"
#define TOOL_DOCTOR	"doctor", "",					\
			"say what this machine lacks"
#define TOOL_SELFTEST	"selftest", "",					\
			"try a leak and a look-alike"
#define TOOL_REPORT	"report", "PID|'#N'|FILE",			\
			"write an HTML page of a recording"

/* The files of tools/ */
extern const struct command cmd_explain, cmd_stat, cmd_record, cmd_replay, cmd_export, cmd_top,
	cmd_where, cmd_cold, cmd_notify, cmd_silence, cmd_ack, cmd_policy, cmd_envelope, cmd_save,
	cmd_doctor, cmd_selftest, cmd_report;

/* tools.c: finds tools and executes them */
struct tool {
	const char *name, *args, *help;
};

bool tools_next(struct tool *t);
const char *tools_package(const struct tool *t);
bool tools_find(const char *name, char *path, size_t size);
int tools_missing(struct ctx *ctx, const char *name);
int tools_run(struct ctx *ctx, const char *name, char **words);
int tools_exec(struct ctx *ctx, const char *name, const char *path, char **words);
void tools_container(const char *cgroup, char *text);

/* cmd/looks.c: `where --follow`, which watch executes beside itself */
int looks_check(const struct ctx *ctx, const char *looks);
void looks_start(struct ctx *ctx, const char *looks);

#pragma GCC visibility pop

#endif /* SEEPAGE_CTL_TOOLS_H */
