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
	u64 offset[CALLEES_MAX];
	unsigned int n;
};

/* Reads code, from the file: the process cannot change what it has there. Returns its offset. */
static u64 read_code(const struct target *t, int fd, const struct symbol *s, unsigned char *code,
		     size_t *n)
{
	const struct where_map *m = s->addr ? target_at(t, s->addr) : NULL;
	u64 offset = m ? s->addr - m->lo + m->offset : 0;
	ssize_t got = m ? pread(fd, code, s->size < CODE_MAX ? s->size : CODE_MAX,
				(off_t)offset) : 0;

	*n = got > 0 ? (size_t)got : 0;
	return offset;
}

/* An entry of the PLT jumps by way of a table. */
static bool is_plt(int fd, u64 offset)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char code[8] = { 0 };
	const unsigned char *p = code;

	if (pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code))
		return true;
	p += memcmp(p, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	p += *p == 0xf2;	/* bnd */
	return p[0] == 0xff && p[1] == 0x25;
}

/*
 * All that the function may call: bytes that look like a call of the beginning of a function.
 * Code is one segment of the file, so that the distance of two places is the same in the file.
 */
static void find_callees(const struct target *t, int fd, const struct symbol *s, struct callees *c)
{
	unsigned char code[CODE_MAX];
	u64 offset, to;
	int distance;
	size_t n, i;

	c->n = 0;
	offset = read_code(t, fd, s, code, &n);
	for (i = 0; i + 5 <= n && c->n < CALLEES_MAX; i++) {
		if (code[i] != 0xe8)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		to = offset + i + 5 + (u64)(s64)distance;
		if (probe_is_function(fd, to) && !is_plt(fd, to))
			c->offset[c->n++] = to;
	}
}

/* The callee that both have; 0: none, or several */
static u64 common(const struct callees *a, const struct callees *b)
{
	unsigned int i, k;
	u64 found = 0;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++) {
			if (a->offset[i] != b->offset[k] || a->offset[i] == found)
				continue;
			if (found)
				return 0;
			found = a->offset[i];
		}
	return found;
}

/* Finds that function of python, of which an address is given. False: there is none, or several */
bool pool_probe_find(struct target *t, u64 interpreter, struct probes *p)
{
	struct symbol s[] = { { .name = "PyObject_Malloc" }, { .name = "PyMem_Malloc" } };
	const struct where_map *m = interpreter ? target_at(t, interpreter) : NULL;
	struct callees a, b;
	u64 offset;

	memset(p, 0, sizeof(*p));
	p->fd = m && m->file ? map_open(t, m) : -1;
	if (p->fd < 0)
		return false;
	symbols_find(t, m, s, ARRAY_SIZE(s));
	find_callees(t, p->fd, &s[0], &a);
	find_callees(t, p->fd, &s[1], &b);
	offset = common(&a, &b);
	if (!offset)
		return false;
	p->n = 1;
	p->name[0] = "the function of pymalloc that begins a pool";
	p->p[0] = (struct seepage_where_probe){ .fd = p->fd, .kind = SEEPAGE_WHERE_ARG0 };
	p->p[0].offset = probe_place(p->fd, offset, &p->emulated[0]);
	return true;
}

#else

bool pool_probe_find(struct target *t, u64 interpreter, struct probes *p)
{
	memset(p, 0, sizeof(*p));
	p->fd = -1;
	return false;
}

#endif
