/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies: what an operator wants to know of a unit, a name or a cgroup. Notifications follow
 * them; the module does not know them, and goes on judging and raising alerts.
 *
 * They are a JSON object in one file below /etc/seepage, which any user may read and root writes:
 *	version		1
 *	policies	[{unit|name|cgroup, ignore, confidence, state, growth_bytes_per_hour,
 *			  limit_bytes, comment}]
 * A policy has exactly one of unit, name and cgroup, no other policy has the same one, and it has
 * at least one of the four that follow. Sizes are whole numbers or strings as "500M". Comments
 * (// and slash-star) are allowed, other keys are not; null is as good as no key.
 */
#ifndef SEEPAGE_CTL_POLICY_H
#define SEEPAGE_CTL_POLICY_H

#include "quiet/file.h"

#define POLICY_VERSION	1
#define POLICY_FILE	"policies.json"
#define POLICY_BYTES	(128 << 10)	/* most of the file */
#define POLICY_MOST	128		/* policies */
#define POLICY_SIZE_MIN	(1ULL << 20)
#define POLICY_SIZE_MAX	(1ULL << 50)
#define POLICY_SIZE	"1M to 1024T, as 500M, 2G or a number of bytes"
#define POLICY_STATES	"suspected, confirmed, runaway"

/* lib/policy.c: reads and checks them */
struct policies {
	struct json_object *o;		/* array; NULL: none, or they cannot be read */
	struct quiet_file file;
	char err[CONF_ERR_MAX];		/* why they cannot be read, or "" */
};

bool policies_path(char *buf, size_t size);
struct json_object *policies_parse(const char *text, size_t len, char *err, size_t size);
bool policies_look(struct policies *p);
void policies_free(struct policies *p);
const char *policy_subject(const struct json_object *policy, const char **value);
void policy_text(const struct json_object *policy, char *buf, size_t size);

/* lib/policy_rule.c: what follows from them */
struct policy_figures {
	int state;			/* enum seepage_state; negative: unknown */
	u64 confidence;
	bool has_growth;
	s64 growth;			/* bytes per hour */
};

struct policy_use {			/* of a limit */
	u64 bytes;			/* anonymous memory and swap; 0: no process */
	bool has_growth;
	s64 growth;			/* bytes per hour: sum of what the module measured */
	u64 measured;			/* of bytes: those of the processes in that sum */
	u64 processes;
	u64 pid;			/* of the largest one */
	char comm[SEEPAGE_COMM_LEN + 1];	/* likewise */
};

enum policy_level { LIMIT_BELOW, LIMIT_NEAR, LIMIT_EXCEEDED };

struct json_object *policies_ignoring(const struct policies *p, const struct quiet_subject *s);
struct json_object *policies_holding(const struct policies *p, const struct quiet_subject *s,
				     const struct policy_figures *f, char *why, size_t size);
u64 policy_left_s(u64 limit, const struct policy_use *use);
enum policy_level policy_level(u64 limit, const struct policy_use *use, enum policy_level before);

/* policy/measure.c: the memory that limits are about */
struct policy_row {
	struct json_object *policy;
	u64 start;			/* of the process by name: clock ticks since boot; else 0 */
	u64 largest;			/* bytes of its largest process */
	char name[QUIET_TEXT + 1];	/* of the unit, the process or the cgroup */
	char *unit, *cgroup;		/* of the process by name, owned; NULL: not known */
	struct policy_use use;
};

struct policy_rows {
	struct policy_row *v;
	size_t n;
};

bool policy_measure(const struct policies *p, bool ask_module, struct policy_rows *rows);
void policy_rows_free(struct policy_rows *rows);

/* policy/store.c: changes the file, one writer at a time */
typedef int (*policy_change)(const struct ctx *ctx, struct json_object *list, void *arg);

char *policy_read_file(const char *path, size_t *len);
int policy_edit(const struct ctx *ctx, policy_change change, void *arg);
int policy_replace(const struct ctx *ctx, struct json_object *list);

#endif /* SEEPAGE_CTL_POLICY_H */
