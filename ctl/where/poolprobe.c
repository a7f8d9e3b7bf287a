// SPDX-License-Identifier: GPL-2.0
/*
 * Where pymalloc asks for a pool. Compilers put the short way of pymalloc, which takes a block of
 * a pool that has a free one, into some hundred functions. The long way is one function without a
 * symbol: it has the number of the class as its argument, and returns the first block of a pool.
 * Each leak goes that way when a pool is full, once in 16 KiB.
 *
 * The functions PyObject_Malloc() and PyMem_Malloc() have symbols and both call it. They have one
 * callee in common besides: malloc(), through the PLT. What else is common is no answer. Whether
 * it is the right one is seen again later: its blocks lie in pools of the class.
 */
#include <string.h>
#include <unistd.h>
#include "where/burst.h"

#ifdef __x86_64__
#define CODE_MAX	2048U
#define CALLEES_MAX	64U

struct callees {
	u64 addr[CALLEES_MAX];
	unsigned int n;
};

static bool is_code(const struct target *t, const struct where_map *file, u64 addr)
{
	const struct where_map *m = target_at(t, addr);

	return m && m->exec && m->file && !strcmp(m->file, file->file);
}

/* An entry of the PLT jumps by way of a table. */
static bool is_plt(struct target *t, u64 addr)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char code[8] = { 0 };
	const unsigned char *p = code;

	if (!target_read(t, addr, code, sizeof(code)))
		return true;
	p += memcmp(p, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	p += *p == 0xf2;	/* bnd */
	return p[0] == 0xff && p[1] == 0x25;
}

/* All that the function may call: bytes that look like a call of code in the same file */
static void find_callees(struct target *t, const struct where_map *m, const struct symbol *s,
			 struct callees *c)
{
	unsigned char code[CODE_MAX];
	size_t n = s->size < CODE_MAX ? s->size : CODE_MAX, i;
	int offset;

	c->n = 0;
	if (!s->addr || !n || !target_read(t, s->addr, code, n))
		return;
	for (i = 0; i + 5 <= n && c->n < CALLEES_MAX; i++) {
		u64 to;

		if (code[i] != 0xe8)
			continue;
		memcpy(&offset, code + i + 1, sizeof(offset));
		to = s->addr + i + 5 + (u64)(s64)offset;
		if (is_code(t, m, to) && !is_plt(t, to))
			c->addr[c->n++] = to;
	}
}

/* The callee that both have; 0: none, or several */
static u64 common(const struct callees *a, const struct callees *b)
{
	unsigned int i, k;
	u64 found = 0;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++) {
			if (a->addr[i] != b->addr[k] || a->addr[i] == found)
				continue;
			if (found)
				return 0;
			found = a->addr[i];
		}
	return found;
}

static u64 find_long_way(struct target *t, const struct where_map *m)
{
	struct symbol s[] = { { .name = "PyObject_Malloc" }, { .name = "PyMem_Malloc" } };
	struct callees a, b;

	symbols_find(t, m, s, ARRAY_SIZE(s));
	find_callees(t, m, &s[0], &a);
	find_callees(t, m, &s[1], &b);
	return common(&a, &b);
}

/* Finds that function. Returns false if there is none, or several that may be it. */
bool pool_probe_find(struct target *t, struct probes *p)
{
	const struct where_map *m;
	u64 addr = 0;
	size_t i;

	for (i = 0; i < t->maps && !addr; i++)
		if (t->map[i].file && t->map[i].exec && strstr(t->map[i].file, "python"))
			addr = find_long_way(t, &t->map[i]);
	m = addr ? target_at(t, addr) : NULL;
	memset(p, 0, sizeof(*p));
	p->fd = m ? map_open(t, m) : -1;
	if (p->fd < 0)
		return false;
	p->n = 1;
	p->name[0] = "the function of pymalloc that begins a pool";
	p->p[0] = (struct seepage_where_probe){ .fd = p->fd, .kind = SEEPAGE_WHERE_ARG0 };
	p->p[0].offset = probe_place(p->fd, addr - m->lo + m->offset, &p->emulated[0]);
	return true;
}

#else

bool pool_probe_find(struct target *t, struct probes *p)
{
	memset(p, 0, sizeof(*p));
	p->fd = -1;
	return false;
}

#endif
