// SPDX-License-Identifier: GPL-2.0
/*
 * Reads policies and checks them. A file of which a word is refused has no policy at all: nothing
 * is held back, and no limit is watched. notify says so.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/policy.h"

struct check {
	size_t index;		/* of the policy in its list */
	char *err;
	size_t size;
};

static const char *const subjects[] = { "unit", "name", "cgroup" };
static const char *const rules[] = { "ignore", "confidence", "state", "growth_bytes_per_hour",
				     "limit_bytes" };

#define KEYS	"unit, name, cgroup, ignore, confidence, state, growth_bytes_per_hour, "	\
		"limit_bytes, comment"

/* The file. SEEPAGE_CONF_DIR takes the place of /etc/seepage, for tests. */
bool policies_path(char *buf, size_t size)
{
	const char *dir = secure_getenv("SEEPAGE_CONF_DIR");
	int n = snprintf(buf, size, "%s/" POLICY_FILE, dir && *dir ? dir : "/etc/seepage");

	return n > 0 && (size_t)n < size;
}

/* Which of unit, name and cgroup the policy has. @value: what it is, or NULL */
const char *policy_subject(const struct json_object *policy, const char **value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		*value = quiet_string(policy, subjects[i]);
		if (*value)
			return subjects[i];
	}
	return NULL;
}

/* "unit nginx.service" */
void policy_text(const struct json_object *policy, char *buf, size_t size)
{
	const char *value = NULL, *kind = policy_subject(policy, &value);
	char safe[4 * QUIET_TEXT + 1];

	snprintf(buf, size, "%s %s", kind ? kind : "?",
		 fmt_safe(safe, sizeof(safe), value ? value : "", value ? strlen(value) : 0));
}

/* ---- one policy ---- */

static bool refuse(const struct check *c, const char *key, struct json_object *value,
		   const char *allowed)
{
	const char *text = json_object_is_type(value, json_type_string) ?
			   json_object_get_string(value) :
			   json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	char safe[TEXT_MAX];

	fmt_safe(safe, sizeof(safe), text, strnlen(text, 80));
	snprintf(c->err, c->size, "policies[%zu]: %s: '%s': allowed %s", c->index, key, safe,
		 allowed);
	return false;
}

static bool check_text(const struct check *c, const char *key, struct json_object *v)
{
	const char *s = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

	if (!quiet_is_text(s) || strlen(s) != (size_t)json_object_get_string_len(v))
		return refuse(c, key, v, "1 to 255 bytes of UTF-8 without control characters");
	if (!strcmp(key, "cgroup") && *s != '/')
		return refuse(c, key, v, "a path that begins with /, as seepage -j ps has it");
	if (!strcmp(key, "name") && strlen(s) >= SEEPAGE_COMM_LEN && !strpbrk(s, "*?["))
		return refuse(c, key, v, "1 to 15 bytes, which is what the kernel keeps, or a "
			      "pattern");
	if (!strcmp(key, "unit") && !quiet_ends_in(s, ".service") && !quiet_ends_in(s, ".scope"))
		return refuse(c, key, v, "a name that ends in .service or .scope");
	return true;
}

/* Makes a number of a string as "500M". */
static bool check_size(const struct check *c, const char *key, struct json_object *v)
{
	u64 bytes = 0;

	if (json_object_is_type(v, json_type_string)) {
		if (!parse_size(json_object_get_string(v), &bytes))
			bytes = 0;
	} else if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) > 0) {
		bytes = json_object_get_uint64(v);
	}
	if (bytes < POLICY_SIZE_MIN || bytes > POLICY_SIZE_MAX)
		return refuse(c, key, v, POLICY_SIZE);
	return true;
}

static bool check_state(const struct check *c, const char *key, struct json_object *v)
{
	const char *s = json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";

	if (!strcmp(s, "suspected") || !strcmp(s, "confirmed") || !strcmp(s, "runaway"))
		return true;
	return refuse(c, key, v, POLICY_STATES);
}

static bool check_key(const struct check *c, const char *key, struct json_object *v)
{
	if (!v)
		return true;
	if (!strcmp(key, "unit") || !strcmp(key, "name") || !strcmp(key, "cgroup") ||
	    !strcmp(key, "comment"))
		return check_text(c, key, v);
	if (!strcmp(key, "state"))
		return check_state(c, key, v);
	if (!strcmp(key, "growth_bytes_per_hour") || !strcmp(key, "limit_bytes"))
		return check_size(c, key, v);
	if (!strcmp(key, "ignore"))
		return json_object_is_type(v, json_type_boolean) ||
		       refuse(c, key, v, "true, false");
	if (strcmp(key, "confidence")) {
		snprintf(c->err, c->size, "policies[%zu]: unknown key '%.80s': allowed " KEYS,
			 c->index, key);
		return false;
	}
	if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 1 &&
	    json_object_get_int64(v) <= 100)
		return true;
	return refuse(c, key, v, "1 to 100");
}

static unsigned int count(const struct json_object *o, const char *const *keys, size_t n)
{
	unsigned int found = 0;
	struct json_object *v;

	while (n--) {
		v = json_object_object_get(o, keys[n]);
		found += v && (!json_object_is_type(v, json_type_boolean) ||
			       json_object_get_boolean(v));
	}
	return found;
}

static bool check_policy(const struct check *c, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object)) {
		snprintf(c->err, c->size, "policies[%zu]: allowed an object, " JSONC_SHAPE,
			 c->index);
		return false;
	}
	json_object_object_foreach(o, key, v)
		if (!check_key(c, key, v))
			return false;
	if (count(o, subjects, ARRAY_SIZE(subjects)) != 1) {
		snprintf(c->err, c->size, "policies[%zu]: allowed exactly one of unit, name, "
			 "cgroup", c->index);
		return false;
	}
	if (count(o, rules, ARRAY_SIZE(rules)))
		return true;
	snprintf(c->err, c->size, "policies[%zu]: it says nothing: allowed ignore, confidence, "
		 "state, growth_bytes_per_hour, limit_bytes", c->index);
	return false;
}

/* The policy with all keys in the order of a list; sizes are numbers. */
static struct json_object *whole(const struct json_object *o)
{
	static const char *const keys[] = { "unit", "name", "cgroup", "ignore", "confidence",
					    "state", "growth_bytes_per_hour", "limit_bytes",
					    "comment" };
	struct json_object *made = json_object_new_object(), *v;
	bool size;
	u64 bytes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		v = json_object_object_get(o, keys[i]);
		size = strstr(keys[i], "_bytes") && json_object_is_type(v, json_type_string) &&
		       parse_size(json_object_get_string(v), &bytes);
		if (json_object_is_type(v, json_type_boolean) && !json_object_get_boolean(v))
			v = NULL;
		json_object_object_add(made, keys[i], size ? json_object_new_uint64(bytes) :
				       json_object_get(v));
	}
	return made;
}

/* ---- the list ---- */

static bool is_the_same(struct json_object *a, struct json_object *b)
{
	const char *one, *other;
	const char *kind = policy_subject(a, &one), *other_kind = policy_subject(b, &other);

	return !strcmp(kind, other_kind) && !strcmp(one, other);
}

/* Returns the list with its policies whole, or NULL with the reason in @err. */
static struct json_object *check_list(struct json_object *list, char *err, size_t size)
{
	struct json_object *made = json_object_new_array(), *o;
	struct check c = { 0, err, size };
	char text[6 * QUIET_TEXT];
	size_t k;

	for (; c.index < json_object_array_length(list); c.index++) {
		o = json_object_array_get_idx(list, c.index);
		if (!check_policy(&c, o))
			goto refused;
		o = whole(o);
		json_object_array_add(made, o);
		for (k = 0; k < c.index; k++) {
			if (!is_the_same(o, json_object_array_get_idx(made, k)))
				continue;
			policy_text(o, text, sizeof(text));
			snprintf(err, size, "policies[%zu]: %.300s: policies[%zu] has it already",
				 c.index, text, k);
			goto refused;
		}
	}
	return made;
refused:
	json_object_put(made);
	return NULL;
}

static const struct jsonc_file policies_file = {
	"policies", POLICY_VERSION, POLICY_MOST, POLICY_BYTES
};

/* Returns the list of policies in @o, which is dropped, or NULL with the reason in @err. */
static struct json_object *list_of(struct json_object *o, char *err, size_t size)
{
	struct json_object *list = NULL;

	if (o)
		list = check_list(json_object_object_get(o, "policies"), err, size);
	json_object_put(o);
	return list;
}

/*
 * Returns the list of policies of a file's text, which the caller drops, or NULL with the reason
 * in @err.
 */
struct json_object *policies_parse(const char *text, size_t len, char *err, size_t size)
{
	return list_of(jsonc_file_parse(text, len, &policies_file, err, size), err, size);
}

/* Reads the file of @fd. */
static void read_file(struct policies *p, int fd, const char *path)
{
	char err[CONF_ERR_MAX - 200];

	p->o = list_of(jsonc_file_read(fd, &policies_file, err, sizeof(err)), err, sizeof(err));
	if (!p->o)
		snprintf(p->err, sizeof(p->err), "%.160s: %s", path, err);
}

/* Reads the file, unless that was done. Returns whether there is something new. */
bool policies_look(struct policies *p)
{
	bool first = !p->file.looked;
	char path[PATH_MAX];
	const char *why;
	int fd;

	if (!policies_path(path, sizeof(path)) || !quiet_file_open(&p->file, path, &fd, &why))
		return false;
	json_object_put(p->o);
	p->o = NULL;
	*p->err = '\0';
	if (why)
		snprintf(p->err, sizeof(p->err), "%.160s: %s", path, why);
	if (fd >= 0) {
		read_file(p, fd, path);
		close(fd);
	}
	return !first || p->o || *p->err;
}

void policies_free(struct policies *p)
{
	json_object_put(p->o);
	memset(p, 0, sizeof(*p));
}
