// SPDX-License-Identifier: GPL-2.0
/*
 * The file of the envelope. It is read whole or not at all: of a file that is damaged, that another
 * user may write, or that another version wrote, nothing is handed back, and it is not replaced.
 * A writer locks the directory, reads the file, changes the entries, and writes the file beside its
 * place, syncs and renames it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "envelope/envelope.h"
#include "quiet/quiet.h"

#define HINT	"; it is left alone: remove it to begin anew"

bool envelope_path(char *buf, size_t size)
{
	char dir[PATH_MAX];
	int n;

	if (!quiet_path(dir, sizeof(dir)))
		return false;
	n = snprintf(buf, size, "%s/" ENVELOPE_FILE, dir);
	return n > 0 && (size_t)n < size;
}

/* ---- reading ---- */

struct check {
	size_t index;
	char *err;
	size_t size;
};

/* A value that is no text has @min and @max. */
static const struct field {
	const char *key;
	size_t offset;
	u64 min, max;
} texts[] = {
	{ "unit", offsetof(struct envelope_entry, key.unit), 1, QUIET_TEXT },
	{ "comm", offsetof(struct envelope_entry, key.comm), 1, ENVELOPE_COMM },
}, uids[] = {
	{ "uid", offsetof(struct envelope_entry, key.uid), 0, UINT32_MAX - 1 },
	{ "owner", offsetof(struct envelope_entry, key.owner), 0, UINT32_MAX - 1 },
}, numbers[] = {
	{ "rise_bytes", offsetof(struct envelope_entry, rise), 1, ENVELOPE_RISE_MAX },
	{ "span_seconds", offsetof(struct envelope_entry, span_s), 0, ENVELOPE_SPAN_MAX },
	{ "learned_ns", offsetof(struct envelope_entry, learned_ns), 0, INT64_MAX },
	{ "confirmed_ns", offsetof(struct envelope_entry, confirmed_ns), 0, INT64_MAX },
}, load = { "instance", offsetof(struct envelope_entry, instance), 0, UINT64_MAX };

#define ENTRY_KEYS	(ARRAY_SIZE(texts) + ARRAY_SIZE(uids) + ARRAY_SIZE(numbers) + 1)

#define KEYS	"unit, comm, uid, owner, rise_bytes, span_seconds, learned_ns, confirmed_ns, "	\
		"instance"

static bool refuse(const struct check *c, const struct field *f, struct json_object *v,
		   const char *what)
{
	const char *text = json_object_is_type(v, json_type_string) ? json_object_get_string(v) :
			   json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);
	char safe[TEXT_MAX];

	fmt_safe(safe, sizeof(safe), text, strnlen(text, 60));
	snprintf(c->err, c->size, "entries[%zu]: %s: '%s': allowed %llu to %llu%s", c->index,
		 f->key, safe, f->min, f->max, what);
	return false;
}

static bool take_text(const struct check *c, const struct field *f, struct json_object *o,
		      struct envelope_entry *entry)
{
	struct json_object *v = json_object_object_get(o, f->key);
	const char *s = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
	size_t len = strlen(s);

	if (!len || len > f->max || len != (size_t)json_object_get_string_len(v))
		return refuse(c, f, v, " bytes of text");
	memcpy((char *)entry + f->offset, s, len + 1);
	return true;
}

static bool take_number(const struct check *c, const struct field *f, struct json_object *o, u64 *n)
{
	struct json_object *v = json_object_object_get(o, f->key);

	*n = json_object_get_uint64(v);
	if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 0 &&
	    *n >= f->min && *n <= f->max)
		return true;
	return refuse(c, f, v, "");
}

/* A string: as a number, half of all loads would be more than other readers of JSON take. */
static bool take_load(const struct check *c, struct json_object *o, u64 *instance)
{
	struct json_object *v = json_object_object_get(o, load.key);

	return (json_object_is_type(v, json_type_string) &&
		parse_u64(json_object_get_string(v), instance)) ||
	       refuse(c, &load, v, ", in double quotes");
}

static bool take_entry(const struct check *c, struct json_object *o, struct envelope_entry *entry)
{
	size_t i;
	u64 n;

	memset(entry, 0, sizeof(*entry));
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (!take_text(c, &texts[i], o, entry))
			return false;
	for (i = 0; i < ARRAY_SIZE(uids); i++) {
		if (!take_number(c, &uids[i], o, &n))
			return false;
		*(u32 *)((char *)entry + uids[i].offset) = (u32)n;
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!take_number(c, &numbers[i], o, (u64 *)((char *)entry + numbers[i].offset)))
			return false;
	if (!take_load(c, o, &entry->instance))
		return false;
	if (json_object_object_length(o) == ENTRY_KEYS)
		return true;
	snprintf(c->err, c->size, "entries[%zu]: '%d' keys: allowed are " KEYS, c->index,
		 json_object_object_length(o));
	return false;
}

static bool take_list(struct json_object *list, struct envelope *e, char *err, size_t size)
{
	struct check c = { 0, err, size };
	struct envelope_entry entry;
	struct json_object *o;

	for (; c.index < json_object_array_length(list); c.index++) {
		o = json_object_array_get_idx(list, c.index);
		if (!json_object_is_type(o, json_type_object)) {
			snprintf(err, size, "entries[%zu]: allowed an object, " JSONC_SHAPE,
				 c.index);
			return false;
		}
		if (!take_entry(&c, o, &entry))
			return false;
		if (envelope_find(e, &entry.key)) {
			snprintf(err, size, "entries[%zu]: %.200s: an entry before it has the same "
				 "unit, comm and uid", c.index, entry.key.unit);
			return false;
		}
		envelope_add(e, &entry);
	}
	return true;
}

static const struct jsonc_file file = {
	"entries", ENVELOPE_VERSION, ENVELOPE_MOST, ENVELOPE_BYTES
};

/* Takes the entries of @o, which is dropped; NULL: @err has the reason already. */
static bool take_root(struct json_object *o, struct envelope *e, char *err, size_t size)
{
	bool taken;

	memset(e, 0, sizeof(*e));
	taken = o && take_list(json_object_object_get(o, "entries"), e, err, size);
	json_object_put(o);
	if (!taken)
		envelope_free(e);
	return taken;
}

/**
 * envelope_parse() - read the text of a file
 * @text: with a NUL byte behind its end
 * @len: bytes of it
 * @e: out, the entries; none if the text is refused
 * @err: out, why it is refused
 * @size: of @err
 *
 * Return: false if the text is refused.
 */
bool envelope_parse(const char *text, size_t len, struct envelope *e, char *err, size_t size)
{
	return take_root(jsonc_file_parse(text, len, &file, err, size), e, err, size);
}

/* @path: room for PATH_MAX. Returns an exit status. */
static int find_path(const struct ctx *ctx, char *path)
{
	return envelope_path(path, PATH_MAX) ? 0 :
	       fail(ctx, "SEEPAGE_STATE_DIR: allowed is a shorter path");
}

/* Reads the file; without one there is no entry. Returns an exit status after saying why. */
int envelope_read(const struct ctx *ctx, struct envelope *e)
{
	char path[PATH_MAX], err[CONF_ERR_MAX];
	struct quiet_file seen = { 0 };
	const char *why;
	int fd, status = find_path(ctx, path);

	memset(e, 0, sizeof(*e));
	if (status)
		return status;
	quiet_file_open(&seen, path, &fd, &why);
	if (why)
		return fail(ctx, "%s: %s", path, why);
	if (fd < 0)
		return 0;
	if (!take_root(jsonc_file_read(fd, &file, err, sizeof(err)), e, err, sizeof(err)))
		status = fail(ctx, "%s: %s" HINT, path, err);
	close(fd);
	return status;
}

/* ---- writing ---- */

static void add_number(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

/* @entry as the file has it */
struct json_object *envelope_json(const struct envelope_entry *entry)
{
	const char *from = (const char *)entry;
	struct json_object *o = json_object_new_object();
	char text[24];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		json_object_object_add(o, texts[i].key,
				       json_object_new_string(from + texts[i].offset));
	for (i = 0; i < ARRAY_SIZE(uids); i++)
		add_number(o, uids[i].key, *(const u32 *)(from + uids[i].offset));
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		add_number(o, numbers[i].key, *(const u64 *)(from + numbers[i].offset));
	snprintf(text, sizeof(text), "%llu", entry->instance);
	json_object_object_add(o, load.key, json_object_new_string(text));
	return o;
}

/* The text of a file with these entries. The caller frees it. */
static char *text_of(const struct envelope *e)
{
	struct json_object *root = json_object_new_object(), *list = json_object_new_array();
	char *text = NULL;
	size_t i;

	for (i = 0; i < e->n; i++)
		json_object_array_add(list, envelope_json(&e->v[i]));
	json_object_object_add(root, "version", json_object_new_int(ENVELOPE_VERSION));
	json_object_object_add(root, "entries", list);
	if (asprintf(&text, "%s\n", json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0)
		text = NULL;
	json_object_put(root);
	return must(text);
}

static int write_file(const struct ctx *ctx, const struct disk_place *place,
		      const struct envelope *e)
{
	char *text = text_of(e);
	int err = disk_write(place->dir, place->name, text, strlen(text), 0600);

	free(text);
	if (!err && fsync(place->dir))
		err = errno;
	return err ? fail(ctx, "%s: %s", place->path, strerror(err)) : 0;
}

/*
 * Changes the entries by @change, which returns -1 where nothing is to be written, else an exit
 * status; the file is written if that is 0. Returns an exit status.
 */
int envelope_edit(const struct ctx *ctx, envelope_change change, void *arg)
{
	struct disk_place place;
	struct envelope e;
	char path[PATH_MAX];
	int status = find_path(ctx, path) ?: disk_lock(ctx, path, &place);

	if (status)
		return status;
	status = envelope_read(ctx, &e);
	if (!status)
		status = change(ctx, &e, arg);
	if (!status)
		status = write_file(ctx, &place, &e);
	envelope_free(&e);
	disk_unlock(&place);
	return status < 0 ? 0 : status;
}
