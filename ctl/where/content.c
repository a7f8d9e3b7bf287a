// SPDX-License-Identifier: GPL-2.0
/*
 * What blocks hold: a C++ object begins with the address of a vtable, behind which its class
 * is named; a python object has the address of its type in its second word, behind up to four
 * words that python keeps in front of it. Contents are secrets: names of types are shown, text
 * only if asked for, and then without its digits.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define DATA_MAX	64U	/* bytes looked at */
#define NAME_MAX_READ	256U
#define TEXT_SHOWN	40U
#define TEXT_LEAST	6U
#define WORDS_CACHED	256U
#define SYMBOLS_MAX	256U	/* looked up: the file of each may be large */
#define OTHERS_LEAST	10U	/* one in so many blocks has a content that is not the first */

static const char *const kinds[] = {
	[CONTENT_NONE] = "unknown", [CONTENT_VTABLE] = "vtable", [CONTENT_PYTHON] = "python",
	[CONTENT_TEXT] = "text", [CONTENT_POINTER] = "pointer", [CONTENT_ZERO] = "zero",
	[CONTENT_BINARY] = "binary",
};

const char *content_kind_name(enum content_kind kind)
{
	return kinds[kind];
}

static bool is_file(const struct target *t, u64 addr)
{
	const struct where_map *m = target_at(t, addr);

	return m && m->file;
}

/* Vtables are constant once the program has been linked. */
static bool is_constant(const struct target *t, u64 addr)
{
	const struct where_map *m = target_at(t, addr);

	return m && m->file && !m->write;
}

static bool printable(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isgraph((unsigned char)*s))
			return false;
	return true;
}

/* Writes the name of a C++ type, as it is if it is not known. */
static void type_name(struct target *t, const char *type, struct content *c)
{
	char buf[CXX_NAME];

	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(c->name) - 1,
		 cxx_type(target_cxx(t), type, buf) ? buf : type);
}

/* A vtable of a class without typeinfo (-fno-rtti) has a symbol, if the file has symbols. */
static bool vtable_symbol(struct target *t, u64 word, struct content *c)
{
	static unsigned int looked_up;
	char name[NAME_MAX_READ];

	if (looked_up == SYMBOLS_MAX)
		return false;
	looked_up++;
	if (!symbol_at(t, word, name, sizeof(name)) || strncmp(name, "_ZTV", 4))
		return false;
	type_name(t, name + 4, c);
	return true;
}

/* In front of the table: 0 (offset to the top), address of the typeinfo, which has the name. */
static bool vtable(struct target *t, u64 word, struct content *c)
{
	char name[NAME_MAX_READ];
	u64 head[2], info[2];

	if ((word & 7) || !is_constant(t, word) || !target_read(t, word - 16, head, sizeof(head)))
		return false;
	if (head[0])
		return false;
	c->kind = CONTENT_VTABLE;
	if (!head[1])
		return vtable_symbol(t, word, c);
	if (!is_file(t, head[1]) || !target_read(t, head[1], info, sizeof(info)) ||
	    !is_file(t, info[0]) || !is_file(t, info[1]) ||
	    !target_string(t, info[1], name, sizeof(name)) || !printable(name) ||
	    !strchr("*NSPK0123456789", name[0]))
		return false;
	type_name(t, name, c);
	return true;
}

/* PyTypeObject: references, type, size, name, basic size, item size */
static bool python_type(struct target *t, u64 word, struct content *c)
{
	char name[NAME_MAX_READ], meta[NAME_MAX_READ];
	u64 v[6], m[4];
	size_t n;

	if ((word & 7) || !target_at(t, word) || !target_read(t, word, v, sizeof(v)) ||
	    !v[0] || v[2] > 10000 || v[4] < 8 || v[4] > MIB || v[5] > MIB || !target_at(t, v[3]))
		return false;
	if (!target_read(t, v[1], m, sizeof(m)) || !target_string(t, m[3], meta, sizeof(meta)) ||
	    !target_string(t, v[3], name, sizeof(name)) || !printable(name))
		return false;
	/* the type of a type is "type", or one that is called so: ABCMeta, EnumType */
	n = strlen(meta);
	if (!((n >= 4 && !strcasecmp(meta + n - 4, "type")) ||
	      (n >= 4 && !strcmp(meta + n - 4, "Meta"))))
		return false;
	c->kind = CONTENT_PYTHON;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(c->name) - 1, name);
	return true;
}

/**
 * content_word() - what a word of memory names
 * @t: the process
 * @word: may be an address
 * @c: out, kind and name
 *
 * Answers are remembered: there are few types and many objects.
 * Return: whether @word is the address of a vtable or of a python type.
 */
bool content_word(struct target *t, u64 word, struct content *c)
{
	static struct {
		u64 word;
		struct content c;
	} cache[WORDS_CACHED];
	size_t at = (size_t)((word * 0x9e3779b97f4a7c15ULL) >> 56);

	if (word < 4096 || word >> 47)
		return false;
	if (cache[at].word != word) {
		struct content *k = &cache[at].c;

		memset(k, 0, sizeof(*k));
		cache[at].word = word;
		if (!vtable(t, word, k)) {
			memset(k, 0, sizeof(*k));
			if (!python_type(t, word, k))
				memset(k, 0, sizeof(*k));
		}
	}
	*c = cache[at].c;
	return c->kind != CONTENT_NONE;
}

/* Text up to a NUL byte; with @show it becomes the name, with each number as one '#'. */
bool content_text(const unsigned char *data, size_t n, bool show, struct content *c)
{
	size_t len = 0, i, out = 0;

	while (len < n && (isprint(data[len]) || data[len] == '\n' || data[len] == '\t'))
		len++;
	if (len < TEXT_LEAST || (len < n && data[len]))
		return false;
	c->kind = CONTENT_TEXT;
	for (i = 0; show && i < len && out < TEXT_SHOWN; i++) {
		if (!isdigit(data[i]))
			c->name[out++] = isprint(data[i]) ? (char)data[i] : ' ';
		else if (!out || c->name[out - 1] != '#')
			c->name[out++] = '#';
	}
	c->name[out] = '\0';
	return true;
}

/*
 * Is there a string of redis (sds) at @data? Its length and the room that it has lie in front of
 * the text, with a byte that says by its lowest bits how wide these are; a short one has its length
 * in that byte.
 */
static bool sds_at(const unsigned char *data, size_t n, bool show, struct content *c)
{
	size_t head[] = { 1, 3, 5 }, length[3], i, end;

	if (n <= head[2])
		return false;
	length[0] = data[0] >> 3;
	length[1] = data[0];
	length[2] = data[0] | (size_t)data[1] << 8;
	for (i = 0; i < ARRAY_SIZE(head); i++) {
		end = head[i] + length[i];
		if ((data[head[i] - 1] & 7) == i && length[i] >= TEXT_LEAST &&
		    (end >= n || !data[end]) &&
		    !memchr(data + head[i], '\0', (end < n ? end : n) - head[i]) &&
		    content_text(data + head[i], n - head[i], show, c))
			return true;
	}
	return false;
}

/* The same in a block of its own, or behind the object of 16 bytes that it is the value of */
static bool sds_text(const unsigned char *data, size_t n, bool show, struct content *c)
{
	return sds_at(data, n, show, c) || (n > 16 && sds_at(data + 16, n - 16, show, c));
}

static void look_at(struct target *t, const unsigned char *data, size_t n, bool text,
		    struct content *c)
{
	static const unsigned char objects[] = { 0, 1, 3, 5 };
	static const unsigned char zeros[DATA_MAX];
	u64 word;
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < ARRAY_SIZE(objects) && 8U * objects[i] + 8 <= n; i++) {
		memcpy(&word, data + 8 * objects[i], sizeof(word));
		if (content_word(t, word, c) &&
		    c->kind == (objects[i] ? CONTENT_PYTHON : CONTENT_VTABLE))
			return;
		memset(c, 0, sizeof(*c));
	}
	if (content_text(data, n, text, c) || sds_text(data, n, text, c))
		return;
	memcpy(&word, data, sizeof(word));
	if (!memcmp(data, zeros, n))
		c->kind = CONTENT_ZERO;
	else if (word >> 16 && target_at(t, word))
		c->kind = CONTENT_POINTER;
	else
		c->kind = CONTENT_BINARY;
}

/* Counts @c in a list of up to @max. Returns the new length of the list. */
unsigned int content_add(struct content_count *list, unsigned int n, unsigned int max,
			 const struct content *c)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (list[i].c.kind == c->kind && !strcmp(list[i].c.name, c->name)) {
			list[i].n++;
			return n;
		}
	}
	if (n == max)
		return n;
	list[n].c = *c;
	list[n].n = 1;
	return n + 1;
}

/* More blocks first; names before what has none, as they say more. */
static int compare(const void *a, const void *b)
{
	const struct content_count *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return !*x->c.name - !*y->c.name;
}

/**
 * content_of() - what some blocks hold
 * @t: the process
 * @addr: addresses of the blocks
 * @n: their number, up to CLASS_SAMPLES
 * @bytes: size of each
 * @text: show text
 * @c: out; what most of them hold, and then what has a name and a tenth of them; permille is the
 *     share of the blocks that could be read
 */
void content_of(struct target *t, const u64 *addr, unsigned int n, size_t bytes, bool text,
		struct content c[CONTENT_KINDS])
{
	struct content_count list[CLASS_SAMPLES];
	unsigned int i, kept = 0, looked = 0, shown = 0;
	unsigned char data[DATA_MAX];
	struct content one;

	memset(c, 0, CONTENT_KINDS * sizeof(*c));
	bytes = bytes < DATA_MAX ? bytes : DATA_MAX;
	for (i = 0; i < n && bytes >= 8; i++) {
		if (!target_read(t, addr[i], data, bytes))
			continue;
		looked++;
		look_at(t, data, bytes, text, &one);
		kept = content_add(list, kept, CLASS_SAMPLES, &one);
	}
	if (!kept)
		return;
	qsort(list, kept, sizeof(*list), compare);
	for (i = 0; i < kept && shown < CONTENT_KINDS; i++) {
		if (i && (!*list[i].c.name || list[i].n * OTHERS_LEAST < looked))
			continue;
		c[shown] = list[i].c;
		c[shown++].permille = list[i].n * 1000 / looked;
	}
}
