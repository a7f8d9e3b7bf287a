// SPDX-License-Identifier: GPL-2.0
/*
 * JSON with comments. json-c in its lenient mode accepts much more than comments,
 * and even in strict mode it silently takes the last of duplicate keys. So this
 * file blanks out comments, looks for duplicate keys, then parses strictly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

#define DEPTH_MAX	16
#define KEYS_MAX	16384	/* ENVELOPE_MOST entries have all of theirs */
#define LARGEST	"9223372036854775807"	/* INT64_MAX */

struct key {
	unsigned int object;	/* number of the object that has the key */
	const char *s;
	size_t len;
};

struct scan {
	char *text;
	size_t len, pos;
	unsigned int object[DEPTH_MAX], objects, depth;
	struct key key[KEYS_MAX];
	unsigned int keys;
	struct jsonc_bad *bad;
	char *err;
	size_t size;
};

static unsigned int line_of(const char *text, size_t pos)
{
	unsigned int line = 1;
	size_t i;

	for (i = 0; i < pos; i++)
		line += text[i] == '\n';
	return line;
}

static bool refuse(struct scan *s, size_t pos, const char *what)
{
	snprintf(s->err, s->size, "line %u: not JSON: %s (" JSONC_SHAPE " is expected)",
		 line_of(s->text, pos), what);
	return false;
}

/* Overwrites a comment with blanks. Line breaks stay, for line numbers in errors. */
static bool blank_comment(struct scan *s)
{
	bool block = s->text[s->pos + 1] == '*', ended = !block;
	size_t i = s->pos + 2;

	for (; i < s->len; i++) {
		if (!block && s->text[i] == '\n')
			break;
		if (block && s->text[i] == '*' && i + 1 < s->len && s->text[i + 1] == '/') {
			i += 2;
			ended = true;
			break;
		}
	}
	if (!ended)
		return refuse(s, s->pos, "comment without an end");
	for (; s->pos < i; s->pos++)
		if (s->text[s->pos] != '\n')
			s->text[s->pos] = ' ';
	return true;
}

static bool blank_comments(struct scan *s)
{
	bool inside = false;

	for (s->pos = 0; s->pos < s->len;) {
		char c = s->text[s->pos], next = s->pos + 1 < s->len ? s->text[s->pos + 1] : 0;

		if (!inside && c == '/' && (next == '/' || next == '*')) {
			if (!blank_comment(s))
				return false;
			continue;
		}
		if (inside && c == '\\' && next)
			s->pos++;
		else if (c == '"')
			inside = !inside;
		s->pos++;
	}
	return true;
}

static bool note_key(struct scan *s, const char *str, size_t len)
{
	unsigned int object = s->depth ? s->object[s->depth - 1] : 0, i;

	if (memchr(str, '\\', len)) {
		snprintf(s->err, s->size, "line %u: unknown key '%.*s'",
			 line_of(s->text, (size_t)(str - s->text)), (int)len, str);
		return false;
	}
	for (i = 0; i < s->keys; i++) {
		if (s->key[i].object == object && s->key[i].len == len &&
		    !memcmp(s->key[i].s, str, len)) {
			snprintf(s->err, s->size, "line %u: key '%.*s' twice",
				 line_of(s->text, (size_t)(str - s->text)), (int)len, str);
			return false;
		}
	}
	if (s->keys == KEYS_MAX)
		return refuse(s, s->pos, "more keys than there can be");
	s->key[s->keys++] = (struct key){ object, str, len };
	return true;
}

/* A string is a key if a colon follows. json-c checks whether a key is allowed there. */
static bool quoted(struct scan *s)
{
	size_t begin = ++s->pos, end;

	while (s->pos < s->len && s->text[s->pos] != '"')
		s->pos += s->text[s->pos] == '\\' ? 2 : 1;
	if (s->pos >= s->len)
		return refuse(s, begin, "string without an end");
	end = s->pos++;
	while (s->pos < s->len && strchr(" \t\r\n", s->text[s->pos]))
		s->pos++;
	if (s->pos == s->len || s->text[s->pos] != ':')
		return true;
	return note_key(s, s->text + begin, end - begin);
}

/* Names the key and value of a bad number at @pos; json-c's own error names neither. */
static bool bad_number(struct scan *s, size_t pos)
{
	const struct key *k = NULL;
	unsigned int i;
	const char *v;

	for (i = 0; i < s->keys; i++)
		if (s->key[i].s + s->key[i].len <= s->text + pos)
			k = &s->key[i];
	if (!k)
		return refuse(s, pos, "not a number that can be represented");
	v = k->s + k->len + 1;
	v += strspn(v, " \t\r\n:");
	snprintf(s->bad->key, sizeof(s->bad->key), "%.*s", (int)k->len, k->s);
	snprintf(s->bad->value, sizeof(s->bad->value), "%.*s", (int)strcspn(v, " \t\r\n,}]"), v);
	snprintf(s->err, s->size, "%s: '%s': not a number that can be represented", s->bad->key,
		 s->bad->value);
	return false;
}

/* json-c saturates at INT64_MAX; a larger number is refused here instead. */
static bool number(struct scan *s)
{
	size_t begin = s->pos, n = strspn(s->text + begin, "0123456789");
	bool larger = n > strlen(LARGEST) ||
		      (n == strlen(LARGEST) && strncmp(s->text + begin, LARGEST, n) > 0);

	s->pos += n;
	if (larger && !strchr(".eE", s->text[s->pos]))
		return bad_number(s, begin);
	return true;
}

static bool scan_tokens(struct scan *s)
{
	for (s->pos = 0; s->pos < s->len;) {
		char c = s->text[s->pos];

		if (c == '"') {
			if (!quoted(s))
				return false;
			continue;
		}
		if (c == '\'')	/* json-c takes these around a key */
			return refuse(s, s->pos, "a string needs double quotes");
		if (c >= '0' && c <= '9') {
			if (!number(s))
				return false;
			continue;
		}
		if (c == '{' || c == '[') {
			if (s->depth == DEPTH_MAX)
				return refuse(s, s->pos, "nested too deep");
			s->object[s->depth++] = ++s->objects;
		} else if ((c == '}' || c == ']') && s->depth) {
			s->depth--;
		}
		s->pos++;
	}
	return true;
}

static void parse_error(struct scan *s, enum json_tokener_error error, size_t pos)
{
	if (error == json_tokener_error_parse_number)
		bad_number(s, pos);
	else
		refuse(s, pos, !s->text[strspn(s->text, " \t\r\n")] ? "there is nothing in it" :
		       error == json_tokener_continue || pos >= s->len ?
		       "the text ends too early" : json_tokener_error_desc(error));
}

/* Writes an error to @err for valid JSON that has a @type other than object. */
void jsonc_no_object(const char *text, const char *type, char *err, size_t size)
{
	snprintf(err, size, "line %u: not an object but of type %s (" JSONC_SHAPE " is expected)",
		 line_of(text, strspn(text, " \t\r\n")), type);
}

/*
 * Returns an object, which the caller frees with json_object_put(), or NULL if the text
 * is refused. @err then has the reason, and @bad the key and value of a number that
 * cannot be represented.
 */
struct json_object *jsonc_parse(const char *text, size_t len, struct jsonc_bad *bad,
				char *err, size_t size)
{
	struct scan *s = must(calloc(1, sizeof(*s)));
	struct json_object *o = NULL;
	struct json_tokener *tok;
	enum json_tokener_error error;

	memset(bad, 0, sizeof(*bad));
	s->text = must(malloc(len + 1));
	memcpy(s->text, text, len);
	s->text[len] = '\0';
	s->len = len;
	s->bad = bad;
	s->err = err;
	s->size = size;
	if (memchr(text, '\0', len)) {
		refuse(s, (size_t)((char *)memchr(text, '\0', len) - text), "a NUL byte");
	} else if (blank_comments(s) && scan_tokens(s)) {
		tok = must(json_tokener_new_ex(DEPTH_MAX + 1));
		json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		o = json_tokener_parse_ex(tok, s->text, (int)len + 1);
		error = json_tokener_get_error(tok);
		if (error != json_tokener_success) {
			parse_error(s, error, json_tokener_get_parse_end(tok));
			o = NULL;
		} else if (!o) {
			jsonc_no_object(s->text, "null", err, size);
		}
		json_tokener_free(tok);
	}
	free(s->text);
	free(s);
	return o;
}

static bool check_file(struct json_object *o, const struct jsonc_file *f, char *err, size_t size)
{
	struct json_object *version = json_object_object_get(o, "version");
	struct json_object *list = json_object_object_get(o, f->list);

	json_object_object_foreach(o, key, v) {
		if (strcmp(key, "version") && strcmp(key, f->list)) {
			snprintf(err, size, "unknown key '%.80s': allowed version, %s", key,
				 f->list);
			return false;
		}
	}
	*err = '\0';
	if (!json_object_is_type(version, json_type_int) ||
	    json_object_get_int64(version) != f->version)
		snprintf(err, size, "version: '%.80s': allowed %d",
			 json_object_to_json_string_ext(version, JSON_C_TO_STRING_PLAIN),
			 f->version);
	else if (!json_object_is_type(list, json_type_array))
		snprintf(err, size, "%s: '%.80s': allowed an array", f->list,
			 json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN));
	else if (json_object_array_length(list) > f->most)
		snprintf(err, size, "%s: '%zu' of them: allowed are %zu", f->list,
			 json_object_array_length(list), f->most);
	return !*err;
}

/*
 * Returns the object of a file that has a version and one list, which are checked, or NULL with
 * the reason in @err. @text: with a NUL byte behind its @len bytes. The caller drops the object.
 */
struct json_object *jsonc_file_parse(const char *text, size_t len, const struct jsonc_file *f,
				     char *err, size_t size)
{
	struct jsonc_bad bad;
	struct json_object *o;

	if (len > f->bytes) {
		snprintf(err, size, "'%zu' bytes or more: allowed are %zu", len, f->bytes);
		return NULL;
	}
	o = jsonc_parse(text, len, &bad, err, size);
	if (o && json_object_is_type(o, json_type_object) && check_file(o, f, err, size))
		return o;
	if (o && !json_object_is_type(o, json_type_object))
		jsonc_no_object(text, json_type_to_name(json_object_get_type(o)), err, size);
	json_object_put(o);
	return NULL;
}

/* The same of a file that is open. */
struct json_object *jsonc_file_read(int fd, const struct jsonc_file *f, char *err, size_t size)
{
	char *text = must(malloc(f->bytes + 2));
	struct json_object *o = NULL;
	size_t len = 0;
	ssize_t n = 0;

	while (len <= f->bytes && (n = read(fd, text + len, f->bytes + 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	if (n < 0)
		snprintf(err, size, "%s", strerror(errno));
	else
		o = jsonc_file_parse(text, len, f, err, size);
	free(text);
	return o;
}
