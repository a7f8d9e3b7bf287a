/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The envelope of services: the highest climb of memory held that a process of a service released,
 * and the longest one. The module learns them while it is loaded. They are kept on disk here, and
 * handed back to a module that was loaded later.
 *
 * They are a JSON object in one file, which only root may read:
 *	version		1
 *	entries		[{unit, comm, uid, owner, rise_bytes, span_seconds, learned_ns,
 *			  confirmed_ns, instance}]
 * A service is a unit, a comm and a uid. unit is the text of unit_text(), or the path of a cgroup
 * that is of no unit. owner is the user in charge: that of the user manager, else the uid.
 * instance, a string of digits, is the load of the module that reported the figures. learned_ns is
 * the time when one of them last rose, confirmed_ns when a process was last seen with them.
 */
#ifndef SEEPAGE_CTL_ENVELOPE_H
#define SEEPAGE_CTL_ENVELOPE_H

#include "quiet/file.h"

#define ENVELOPE_VERSION	1
#define ENVELOPE_FILE		"envelope.json"
#define ENVELOPE_BYTES		(4 << 20)	/* most of the file */
#define ENVELOPE_MOST		1024		/* entries */
#define ENVELOPE_OF_USER	64		/* of them, those of an owner that is not root */
#define ENVELOPE_COMM		60		/* bytes: \xNN for each that is not UTF-8 */
#define ENVELOPE_RISE_MAX	(UINT32_MAX * 16384ULL)	/* the most that the detector counts */
#define ENVELOPE_SPAN_MAX	31536000ULL	/* a year, seconds */
#define ENVELOPE_STEP_NS	3600000000000ULL	/* between two writes of confirmed_ns */
#define ENVELOPE_AGE_NS		(90 * 24 * ENVELOPE_STEP_NS)	/* an entry lasts as long */

struct envelope_key {
	char unit[QUIET_TEXT + 1], comm[ENVELOPE_COMM + 1];
	u32 uid, owner;
};

struct envelope_entry {
	struct envelope_key key;
	u64 rise, span_s, instance, learned_ns, confirmed_ns;
};

struct envelope {
	struct envelope_entry *v;
	size_t n;
};

/* entry.c: entries in memory */
struct envelope_entry *envelope_find(const struct envelope *e, const struct envelope_key *key);
struct envelope_entry *envelope_add(struct envelope *e, const struct envelope_entry *entry);
bool envelope_take(struct envelope *e, const struct envelope_entry *seen);
bool envelope_trim(struct envelope *e, u64 now_ns);
void envelope_remove(struct envelope *e, size_t i);
void envelope_free(struct envelope *e);

/* file.c: the file, one writer at a time */
typedef int (*envelope_change)(const struct ctx *ctx, struct envelope *e, void *arg);

bool envelope_path(char *buf, size_t size);
bool envelope_parse(const char *text, size_t len, struct envelope *e, char *err, size_t size);
struct json_object *envelope_json(const struct envelope_entry *entry);
int envelope_read(const struct ctx *ctx, struct envelope *e);
int envelope_edit(const struct ctx *ctx, envelope_change change, void *arg);

/* life.c: what the module knows of the processes there are, and what it is told */
struct envelope_look {
	u64 instance;		/* of the module's load */
	struct msgs m;		/* all processes */
};

bool envelope_key(const struct message *msg, const char *cgroup, struct envelope_key *key);
int envelope_look(struct knl *k, struct envelope_look *l);
unsigned int envelope_learn(struct envelope *e, const struct envelope_look *l, bool *changed);
int envelope_teach(struct knl *k, const struct envelope *e, const struct envelope_look *l,
		   unsigned int *told);

#endif /* SEEPAGE_CTL_ENVELOPE_H */
