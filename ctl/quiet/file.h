/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What silences and policies have in common: a file that only root writes, and subjects that are
 * named by unit, name, user or cgroup.
 */
#ifndef SEEPAGE_CTL_QUIET_FILE_H
#define SEEPAGE_CTL_QUIET_FILE_H

#include <sys/stat.h>
#include <time.h>
#include "ctl.h"

#define QUIET_TEXT	255	/* bytes of a name or a comment */

/* A process, or the process of an alert. A pointer that is NULL: unknown */
struct quiet_subject {
	const char *comm, *unit, *cgroup;
	s64 unit_uid;			/* of the user manager of @unit, -1: systemd itself */
	bool has_uid;
	u64 uid, instance, pid, cgroup_id;
	s64 begun_s;			/* start, seconds since 1970 */
	bool of_group;
};

/* The file that was read last */
struct quiet_file {
	struct timespec changed;
	u64 inode;
	int open_err;
	bool looked;
};

/* lib/quiet_file.c */
bool quiet_file_open(struct quiet_file *f, const char *path, int *fd, const char **why);
const char *quiet_string(const struct json_object *o, const char *key);
u64 quiet_number(const struct json_object *o, const char *key, u64 otherwise);
bool quiet_is_text(const char *s);
bool quiet_ends_in(const char *s, const char *end);
bool quiet_fits(const struct json_object *o, const struct quiet_subject *s);

/* lib/container.c: names of containers and pods, which the path of a cgroup does not have */
void container_names(struct json_object *alert, const struct json_object *before);
void container_append(const struct json_object *alert, char *buf, size_t size);
char *container_text(const char *cgroup, char *buf, size_t size);
void container_unit(const char *cgroup, char *text);

/* quiet/user.c */
const char *quiet_user_name(u64 uid);
void quiet_add_user(struct json_object *o);

/* quiet/words.c: what the tools for them have in common */
int quiet_unit_name(const struct ctx *ctx, char *buf, size_t size, const char *unit);
int quiet_once(const struct ctx *ctx, const char *option, const struct words *given,
	       const char **word);
int quiet_show(const struct ctx *ctx, int status, struct table *t, struct json_object *list);

#endif /* SEEPAGE_CTL_QUIET_FILE_H */
