// SPDX-License-Identifier: GPL-2.0
/*
 * Changes the file of policies. A writer locks its directory, reads the file, changes the list,
 * checks all of it as a reader does, and writes the file beside its place, syncs and renames it. A
 * writer that is killed leaves the file as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/policy.h"

/* Reads a file, - is standard input. Returns its text, which the caller frees, or NULL: errno. */
char *policy_read_file(const char *path, size_t *len)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO), err;
	char *text;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	text = must(malloc(POLICY_BYTES + 2));
	*len = 0;
	while (*len <= POLICY_BYTES &&
	       (n = read(fd, text + *len, POLICY_BYTES + 1 - *len)) > 0)
		*len += (size_t)n;
	err = errno;
	close(fd);
	text[*len] = '\0';
	if (n >= 0)
		return text;
	free(text);
	errno = err;
	return NULL;
}

/* The file for @list, to be read by people as well: keys that are null are left out. */
static char *text_of(struct json_object *list)
{
	struct json_object *root = json_object_new_object(), *all = json_object_new_array(), *o;
	const char *json;
	char *text = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_new_object();
		json_object_object_foreach(json_object_array_get_idx(list, i), key, v)
			if (v)
				json_object_object_add(o, key, json_object_get(v));
		json_object_array_add(all, o);
	}
	json_object_object_add(root, "version", json_object_new_int(POLICY_VERSION));
	json_object_object_add(root, "policies", all);
	json = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_SPACED |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (asprintf(&text, "%s\n", json) < 0)
		text = NULL;
	json_object_put(root);
	return must(text);
}

static int write_list(const struct ctx *ctx, const char *path, const struct disk_place *place,
		      struct json_object *list)
{
	char *text = text_of(list), err[CONF_ERR_MAX];
	struct json_object *checked = policies_parse(text, strlen(text), err, sizeof(err));
	int status = 0, code;

	if (!checked) {
		status = fail(ctx, "%s", err);
	} else {
		code = disk_replace(ctx, place, text);
		if (code)
			status = fail(ctx, "%s: %s", path, strerror(code));
	}
	json_object_put(checked);
	free(text);
	return status;
}

/* @path: room for PATH_MAX. Returns an exit status; the caller calls disk_unlock(). */
static int lock_file(const struct ctx *ctx, char *path, struct disk_place *place)
{
	if (!policies_path(path, PATH_MAX))
		return fail(ctx, "SEEPAGE_CONF_DIR: allowed is a shorter path");
	return disk_lock(ctx, path, place);
}

/*
 * Changes the list by @change, which returns an exit status; only if that is 0 the file is
 * written. Returns an exit status.
 */
int policy_edit(const struct ctx *ctx, policy_change change, void *arg)
{
	struct policies p = { 0 };
	struct disk_place place;
	char path[PATH_MAX];
	int status = lock_file(ctx, path, &place);

	if (status)
		return status;
	policies_look(&p);
	status = *p.err ? fail(ctx, "%s", p.err) : 0;
	if (!status) {
		p.o = p.o ? p.o : json_object_new_array();
		status = change(ctx, p.o, arg);
	}
	if (!status)
		status = write_list(ctx, path, &place, p.o);
	policies_free(&p);
	disk_unlock(&place);
	return status;
}

/* Makes @list the policies, whatever the file is like by now. Returns an exit status. */
int policy_replace(const struct ctx *ctx, struct json_object *list)
{
	struct disk_place place;
	char path[PATH_MAX];
	int status = lock_file(ctx, path, &place);

	if (status)
		return status;
	status = write_list(ctx, path, &place, list);
	disk_unlock(&place);
	return status;
}
