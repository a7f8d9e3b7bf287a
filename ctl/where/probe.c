// SPDX-License-Identifier: GPL-2.0
/*
 * Which instructions a burst traps at: the entries of the functions that allocate, as offsets in
 * the file that is mapped and has them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/where.h"
#include "where/burst.h"

/**
 * probe_place() - where to put the probe on a function
 * @fd: of the file
 * @offset: of the function in it
 * @emulated: out, whether the probe needs no single step
 *
 * A probe is behind an endbr64, which would be single-stepped. It is emulated if it is at a push,
 * which costs a tenth. On arm64 the first instruction has to be the one: behind a paciasp the
 * return address is signed.
 */
u64 probe_place(int fd, u64 offset, bool *emulated)
{
	*emulated = false;
#ifdef __x86_64__
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char code[8] = { 0 };
	const unsigned char *p = code;

	if (pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code))
		return offset;
	if (!memcmp(p, endbr64, sizeof(endbr64))) {
		p += sizeof(endbr64);
		offset += sizeof(endbr64);
	}
	p += p[0] == 0x41;
	*emulated = *p >= 0x50 && *p <= 0x57;
#endif
	return offset;
}

/**
 * probe_follows_call() - is there a call just in front?
 * @fd: of the file
 * @offset: of an instruction in it, as a stack has it
 *
 * A breakpoint within an instruction would change what the process does. A word that a stack has
 * for a return address, behind what can be a call, is taken for one.
 *
 * Return: true if it is so.
 */
bool probe_follows_call(int fd, u64 offset)
{
#ifdef __x86_64__
	/* call near: e8 and 4 bytes; through memory or a register: ff /2, of these lengths */
	static const unsigned char lengths[] = { 2, 3, 4, 6, 7 };
	unsigned char code[8];
	const unsigned char *end = code + sizeof(code);
	size_t i;

	if (offset < sizeof(code) ||
	    pread(fd, code, sizeof(code), (off_t)(offset - sizeof(code))) != sizeof(code))
		return false;
	for (i = 0; i < sizeof(lengths); i++)
		if (end[-lengths[i]] == 0xff && (end[1 - lengths[i]] >> 3 & 7) == 2)
			return true;
	return end[-5] == 0xe8;
#else
	u32 code;

	if (offset < sizeof(code) ||
	    pread(fd, &code, sizeof(code), (off_t)(offset - sizeof(code))) != sizeof(code))
		return false;
	/* bl; blr and its forms that authenticate */
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
#endif
}

#ifdef HAVE_LIBELF
#include "where/elf.h"

/* In the order in which they get probes */
static const struct function {
	const char *name;
	u32 kind;
	bool is_new;		/* of C++; most of them call malloc() */
} functions[] = {
	{ "malloc", SEEPAGE_WHERE_ARG0, false },
	{ "calloc", SEEPAGE_WHERE_PRODUCT, false },
	{ "realloc", SEEPAGE_WHERE_REALLOC, false },
	{ "memalign", SEEPAGE_WHERE_ARG1, false },
	{ "aligned_alloc", SEEPAGE_WHERE_ARG1, false },
	{ "posix_memalign", SEEPAGE_WHERE_POSIX, false },
	{ "_Znwm", SEEPAGE_WHERE_ARG0, true },
	{ "_Znam", SEEPAGE_WHERE_ARG0, true },
	{ "_ZnwmRKSt9nothrow_t", SEEPAGE_WHERE_ARG0, true },
	{ "_ZnamRKSt9nothrow_t", SEEPAGE_WHERE_ARG0, true },
	{ "_ZnwmSt11align_val_t", SEEPAGE_WHERE_ARG0, true },
	{ "_ZnamSt11align_val_t", SEEPAGE_WHERE_ARG0, true },
	{ "mallocx", SEEPAGE_WHERE_ARG0, false },
	{ "rallocx", SEEPAGE_WHERE_REALLOC, false },
	{ "valloc", SEEPAGE_WHERE_ARG0, false },
	{ "pvalloc", SEEPAGE_WHERE_ARG0, false },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", SEEPAGE_WHERE_ARG0, true },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", SEEPAGE_WHERE_ARG0, true },
};

#define FUNCTIONS	ARRAY_SIZE(functions)

/* Which of the functions a symbol is, and of which family; FUNCTIONS: none */
static size_t function_of(const char *name, enum family *family)
{
	size_t i, n;

	for (*family = FAMILY_PLAIN + 1; *family < FAMILIES; (*family)++) {
		n = strlen(family_prefix(*family));
		if (!strncmp(name, family_prefix(*family), n)) {
			name += n;
			break;
		}
	}
	if (*family == FAMILIES)
		*family = FAMILY_PLAIN;
	for (i = 0; i < FUNCTIONS && strcmp(name, functions[i].name); i++)
		;
	return i;
}

/* Is it the name of a function that allocates? */
bool probe_allocates(const char *name, enum family *family)
{
	return function_of(name, family) < FUNCTIONS;
}

static bool file_offset(Elf *elf, u64 addr, u64 *offset)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

/* Where a file has the functions of one family */
struct found {
	const struct object *object;
	u64 offset[FUNCTIONS], size[FUNCTIONS];	/* offset 0: nowhere */
	bool twice[FUNCTIONS];	/* there are several local ones of that name */
};

static bool see_symbol(void *arg, Elf *elf, const char *name, const GElf_Sym *sym)
{
	struct found *f = arg;
	enum family family;
	u64 offset;
	size_t i;

	/* The symbol of an STT_GNU_IFUNC is what chooses a function, at start. */
	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return false;
	i = function_of(name, &family);
	if (i == FUNCTIONS || family != f->object->family)
		return false;
	/* A helper may be called memalign, too. A prefix says that it is no helper. */
	if (!elf_is_visible(sym) && family == FAMILY_PLAIN && !f->object->is_local)
		return false;
	if (!file_offset(elf, sym->st_value, &offset))
		return false;
	f->twice[i] = f->twice[i] || (f->offset[i] && f->offset[i] != offset &&
				      !elf_is_visible(sym));
	if (!f->offset[i]) {
		f->offset[i] = offset;
		f->size[i] = sym->st_size;
	}
	return false;
}

/*
 * Does the code at @at call the function at @to, or go on there? Bytes that look like it are
 * enough: the probe is left out then. What cannot be read calls nothing: one more is no fault.
 */
static bool calls(int fd, u64 at, u64 size, u64 to)
{
#ifdef __x86_64__
	unsigned char code[512];
	ssize_t n, i;
	int distance;

	n = pread(fd, code, size < sizeof(code) ? size : sizeof(code), (off_t)at);
	for (i = 0; i + 5 <= n; i++) {
		memcpy(&distance, code + i + 1, sizeof(distance));
		if ((code[i] & 0xfe) == 0xe8 && at + (u64)i + 5 + (u64)(s64)distance == to)
			return true;
	}
#endif
	return false;
}

static void add(struct probes *p, const struct function *f, u64 offset)
{
	bool emulated;
	u32 i;

	offset = probe_place(p->fd, offset, &emulated);
	for (i = 0; i < p->n; i++)
		if (p->p[i].offset == offset)
			return;		/* another name of the same function */
	if (p->n == SEEPAGE_WHERE_PROBES)
		return;
	p->name[p->n] = f->name;
	p->emulated[p->n] = emulated;
	p->p[p->n++] = (struct seepage_where_probe){
		.fd = p->fd, .kind = f->kind, .offset = offset,
	};
}

/* Does function @i call one that has a probe? */
static bool ends_in_another(const struct probes *p, const struct found *f, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (f->offset[k] && calls(p->fd, f->offset[i], f->size[i], f->offset[k]))
			return true;
	return false;
}

static void add_all(struct probes *p, const struct found *f)
{
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		if (f->offset[i] && !f->twice[i] &&
		    !(functions[i].is_new && ends_in_another(p, f, i)))
			add(p, &functions[i], f->offset[i]);
}

/**
 * probes_find() - find the functions of an allocator
 * @t: the process, its mappings up to date
 * @o: what allocates
 * @p: out; probes_close() releases it
 *
 * Return: NULL, or why there are none.
 */
const char *probes_find(struct target *t, const struct object *o, struct probes *p)
{
	const struct where_map *m = object_map(t, o);
	struct found f = { .object = o };
	struct elf_room room = { .left = ELF_TABLES };

	memset(p, 0, sizeof(*p));
	p->fd = m ? map_open(t, m) : -1;
	if (!m)
		return "the file that allocates is not mapped any more";
	if (p->fd < 0)
		return "the file that allocates cannot be opened";
	elf_file_symbols(p->fd, &room, see_symbol, &f);
	add_all(p, &f);
	return p->n ? NULL : "the file that allocates has no function that can have a probe: its "
			     "malloc is chosen when it starts, or not in its code";
}

/* Where the code at @offset of the file is linked; *eh: the segment of .eh_frame_hdr */
static bool linked_at(Elf *elf, u64 offset, u64 *addr, GElf_Phdr *eh)
{
	bool found = false;
	GElf_Phdr ph;
	size_t n, i;

	eh->p_filesz = 0;
	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_GNU_EH_FRAME)
			*eh = ph;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || offset < ph.p_offset ||
		    offset - ph.p_offset >= ph.p_filesz)
			continue;
		*addr = offset - ph.p_offset + ph.p_vaddr;
		found = true;
	}
	return found && eh->p_filesz;
}

/* Does the table of .eh_frame_hdr, which is sorted, have a function that begins at @addr? */
static bool has_function(int fd, const GElf_Phdr *eh, u64 addr)
{
	/* version 1; any; number: 4 bytes; table: of 4 bytes, from the beginning of this head */
	static const unsigned char form[] = { 0x03, 0x3b };
	unsigned char head[12];
	s64 want = (s64)(addr - eh->p_vaddr);
	u32 lo = 0, hi;
	int at;

	if (pread(fd, head, sizeof(head), (off_t)eh->p_offset) != sizeof(head) || head[0] != 1 ||
	    memcmp(head + 2, form, sizeof(form)))
		return false;
	memcpy(&hi, head + 8, sizeof(hi));
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (pread(fd, &at, sizeof(at), (off_t)(eh->p_offset + 12 + 8ULL * mid)) !=
		    sizeof(at))
			return false;
		if (at == want)
			return true;
		if (at < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* Does a function begin at @offset of the file? */
bool probe_is_function(int fd, u64 offset)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Phdr eh;
	u64 addr;
	bool is;

	is = elf && linked_at(elf, offset, &addr, &eh) && has_function(fd, &eh, addr);
	elf_end(elf);
	return is;
}

#else

bool probe_is_function(int fd, u64 offset)
{
	return false;
}

const char *probes_find(struct target *t, const struct object *o, struct probes *p)
{
	memset(p, 0, sizeof(*p));
	p->fd = -1;
	return "this build cannot read symbols: it has no libelf";
}

#endif

void probes_close(struct probes *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}
