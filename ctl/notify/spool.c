// SPDX-License-Identifier: GPL-2.0
/*
 * What is to be sent, on disk. DIR/RECEIVER/NOTE is a file for each note that a receiver has
 * not taken; DIR/state.json has the position (boot, load of the module, last alert read), the
 * open incidents and the counts. Every file is written beside its place, synced and renamed,
 * and then the directory is synced.
 *
 * Notes are on disk before the position is. After a crash in between, the same alerts are
 * read again and get the same names, so that no alert has two notes. After a crash between a
 * delivery and the removal of its note, the note is sent again with the same id.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "notify/notify.h"

static int receiver_dir(const struct spool *s, const struct receiver *to)
{
	return openat(s->dir, to->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* ---- notes ---- */

static struct note *append(struct spool *s, struct receiver *to, const char *name, size_t size)
{
	struct note *n = must(calloc(1, sizeof(*n)));

	snprintf(n->name, sizeof(n->name), "%s", name);
	n->size = size;
	n->born_ms = clock_real_ns() / 1000000;
	if (to->last)
		to->last->next = n;
	else
		to->first = n;
	to->last = n;
	to->pending++;
	s->bytes += size;
	s->kept_bytes += to->kind == TO_NOBODY ? size : 0;
	return n;
}

/* The part of a name that is the alert's own. */
static const char *suffix(const char *name)
{
	return name + strcspn(name, "-");
}

static bool is_waiting(const struct receiver *to, const char *name)
{
	const struct note *n;

	for (n = to->first; n; n = n->next)
		if (!strcmp(suffix(n->name), suffix(name)))
			return true;
	return false;
}

/*
 * Keeps @what until spool_remove(). One that cannot be written is kept in memory; then the
 * position stays, and a restart reads the alert again.
 */
void spool_put(struct spool *s, struct receiver *to, const char *name, struct json_object *what)
{
	const char *text = json_object_to_json_string_ext(what, JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t len = strlen(text);
	int dir, err;

	if (is_waiting(to, name))
		return;
	if (mkdirat(s->dir, to->dir, 0700) && errno != EEXIST)
		disk_complain(s, to->dir, errno);
	dir = receiver_dir(s, to);
	err = dir < 0 ? errno : disk_write(dir, name, text, len, 0600);
	if (!err && fsync(dir))
		err = errno;
	if (dir >= 0)
		close(dir);
	if (err) {
		disk_complain(s, "cannot write the spool", err);
		append(s, to, name, len)->text = must(strdup(text));
	} else {
		append(s, to, name, len);
	}
}

/* Returns a note, which the caller drops, or NULL with an errno as disk_read() has it. */
struct json_object *spool_get(struct spool *s, const struct receiver *to, const struct note *n)
{
	struct json_object *o;
	int dir, err;

	if (n->text)
		return json_tokener_parse(n->text);
	dir = receiver_dir(s, to);
	if (dir < 0)
		return NULL;
	o = disk_read(dir, n->name);
	err = errno;
	close(dir);
	errno = err;
	return o;
}

void spool_remove(struct spool *s, struct receiver *to, struct note *n)
{
	struct note **at = &to->first, *before = NULL;
	int dir = receiver_dir(s, to);

	if (dir >= 0) {
		unlinkat(dir, n->name, 0);
		close(dir);
	}
	for (; *at != n; at = &(*at)->next)
		before = *at;
	*at = n->next;
	if (to->last == n)
		to->last = before;
	to->pending--;
	s->bytes -= n->size;
	s->kept_bytes -= to->kind == TO_NOBODY ? n->size : 0;
	free(n->text);
	free(n);
}

/* The oldest note that is not under way; the receivers' order decides between equals. */
static struct note *oldest(struct settings *set, struct receiver **of)
{
	struct receiver *to;
	struct note *n, *best = NULL;

	for (to = set->to; to < set->to + set->n; to++) {
		n = to->job && !to->refreshing && to->first ? to->first->next : to->first;
		if (!n || (best && strcmp(n->name, best->name) >= 0))
			continue;
		best = n;
		*of = to;
	}
	return best;
}

/* Drops the oldest notes until the size is within its limit. */
void spool_trim(struct spool *s, struct settings *set)
{
	struct receiver *of = NULL, *to;
	struct note *n;

	for (to = set->to; to < set->to + set->n; to++)
		to->trimmed = 0;
	while (s->bytes > s->most_bytes && (n = oldest(set, &of))) {
		of->dropped++;
		of->failed = true;
		of->trimmed++;
		spool_remove(s, of, n);
	}
	for (to = set->to; to < set->to + set->n; to++)
		if (to->trimmed)
			note(s->ctx, "%s: the spool is full: dropped the oldest %llu "
			     "(%llu so far)", to->label, to->trimmed, to->dropped);
}

/* ---- start ---- */

static int is_note(const struct dirent *e)
{
	return e->d_name[0] >= '0' && e->d_name[0] <= '9' && strlen(e->d_name) < NOTIFY_NAME_MAX;
}

/* Finds the notes that wait. Returns 0 or an errno. */
static int load(struct spool *s, struct receiver *to)
{
	struct dirent **names = NULL;
	int dir = receiver_dir(s, to), n, i, err;
	struct stat st;
	u64 number;

	if (dir < 0)
		return errno == ENOENT ? 0 : errno;
	unlinkat(dir, DISK_NEW, 0);
	n = scandirat(dir, ".", &names, is_note, alphasort);
	err = n < 0 ? errno : 0;
	for (i = 0; i < n; i++) {
		/* a run that was killed has not written how many there were */
		number = strtoull(names[i]->d_name, NULL, 10);
		if (number >= s->arrivals && number < UINT64_MAX)
			s->arrivals = number + 1;
		if (!fstatat(dir, names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW))
			append(s, to, names[i]->d_name, (size_t)st.st_size)->born_ms =
				(u64)st.st_mtim.tv_sec * 1000;
		free(names[i]);
	}
	free(names);
	close(dir);
	return err;
}

static bool is_configured(const struct settings *set, const char *dir)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (!strcmp(set->to[i].dir, dir))
			return true;
	return false;
}

/*
 * Adds a receiver that takes nothing for each directory of one that is not configured. Returns 0 or
 * an errno.
 */
static int find_orphans(struct spool *s, struct settings *set)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct receiver *to;
	struct dirent *e;

	for (errno = d ? 0 : errno; d && (e = readdir(d)); errno = 0) {
		if (!strchr(e->d_name, '-') ||
		    (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
		    strlen(e->d_name) >= NOTIFY_NAME_MAX || is_configured(set, e->d_name))
			continue;
		set->to = must(realloc(set->to, (set->n + 1) * sizeof(*set->to)));
		to = &set->to[set->n++];
		memset(to, 0, sizeof(*to));
		to->kind = TO_NOBODY;
		snprintf(to->dir, sizeof(to->dir), "%.*s", NOTIFY_NAME_MAX - 1, e->d_name);
		snprintf(to->label, sizeof(to->label), "%s (not configured)", to->dir);
	}
	err = errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return err;
}

/* @s->ctx is set. Finds what waits since an earlier run. Returns an exit status. */
int spool_open(struct spool *s, struct settings *set)
{
	u64 waiting = 0;
	size_t i;
	int status = disk_open(s, set->state_dir), err;

	if (status)
		return status;
	s->most_bytes = set->spool_bytes;
	err = find_orphans(s, set);
	if (err)
		return fail(s->ctx, "--state-dir: '%s': %s", set->state_dir, strerror(err));
	status = state_read(s, set);
	if (status)
		return status;
	for (i = 0; i < set->n; i++) {
		err = load(s, &set->to[i]);
		if (err)
			return fail(s->ctx, "--state-dir: '%s/%s': %s", set->state_dir,
				    set->to[i].dir, strerror(err));
		if (set->to[i].kind == TO_NOBODY && set->to[i].pending)
			note(s->ctx, "%s: %llu waiting, kept for --retry", set->to[i].label,
			     set->to[i].pending);
		else
			waiting += set->to[i].pending;
	}
	if (waiting)
		note(s->ctx, "%llu waiting since the last run", waiting);
	return 0;
}

void spool_close(struct spool *s)
{
	if (s->dir >= 0)
		close(s->dir);
	if (s->lock >= 0)
		close(s->lock);
	incidents_free(&s->open);
}
