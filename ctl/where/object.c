// SPDX-License-Identifier: GPL-2.0
/*
 * The file with the malloc() that a process calls: the first one in the order of the link map that
 * defines it, as the dynamic linker has it. So what is preloaded comes before what is linked, and
 * the program before both. A program without a link map is linked statically: then it is the
 * program, and its symbols may be local ones. Where the link map cannot be read, it is the first
 * file by address but libc, then libc. Which allocator that is, other symbols of the file tell.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "where/burst.h"

#ifdef HAVE_LIBELF
#include "where/elf.h"

#define OBJECTS_MAX	1024U

/* What tells allocators apart: the first one that a file has */
static const struct {
	const char *symbol;
	enum allocator kind;
	enum family family;
} signs[] = {
	{ "mi_malloc", ALLOCATOR_MIMALLOC, FAMILY_PLAIN },
	{ "tc_malloc", ALLOCATOR_TCMALLOC, FAMILY_PLAIN },
	{ "mallctl", ALLOCATOR_JEMALLOC, FAMILY_PLAIN },
	{ "je_mallctl", ALLOCATOR_JEMALLOC, FAMILY_JE },
	{ "_rjem_mallctl", ALLOCATOR_JEMALLOC, FAMILY_RJEM },
	{ "gnu_get_libc_version", ALLOCATOR_GLIBC, FAMILY_PLAIN },
	{ "_int_malloc", ALLOCATOR_STATIC_GLIBC, FAMILY_PLAIN },
	{ "__dls3", ALLOCATOR_MUSL, FAMILY_PLAIN },
	{ "__init_libc", ALLOCATOR_MUSL, FAMILY_PLAIN },
};

/* What a file has */
struct scan {
	bool has[FAMILIES];	/* a function that allocates, which others may call */
	bool has_malloc;	/* that one, without a prefix */
	bool has_local;		/* it is a local one */
	bool sign[ARRAY_SIZE(signs)];
};

/* All that is looked at in one search. What the process has mapped is its choice, and how often. */
struct hunt {
	const struct target *t;
	struct elf_room room;
	struct {
		dev_t dev;
		ino_t ino;
	} file[OBJECT_FILES];
	unsigned int files, missed;
	bool cut;
	enum family other;	/* that a file has which was looked at */
};

static bool see(void *arg, Elf *elf, const char *name, const GElf_Sym *sym)
{
	bool visible = elf_is_visible(sym), is_malloc = !strcmp(name, "malloc");
	enum family family;
	struct scan *s = arg;
	size_t i;

	if (sym->st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym->st_info) != STT_FUNC)
		return false;
	for (i = 0; i < ARRAY_SIZE(signs); i++)
		s->sign[i] = s->sign[i] || !strcmp(name, signs[i].symbol);
	/* A name without a prefix may be that of a helper, if others do not see it. */
	if (probe_allocates(name, &family) && (visible || family != FAMILY_PLAIN))
		s->has[family] = true;
	s->has_malloc = s->has_malloc || (is_malloc && visible);
	s->has_local = s->has_local || (is_malloc && !visible);
	return false;
}

/* Is it a file that was not looked at yet, and may one more be? */
static bool is_next(struct hunt *h, int fd)
{
	struct stat st;
	unsigned int i;

	if (fstat(fd, &st))
		return false;
	for (i = 0; i < h->files; i++)
		if (h->file[i].dev == st.st_dev && h->file[i].ino == st.st_ino)
			return false;
	if (h->files == OBJECT_FILES) {
		h->cut = true;
		return false;
	}
	h->file[h->files].dev = st.st_dev;
	h->file[h->files++].ino = st.st_ino;
	return true;
}

static bool scan_file(struct hunt *h, const struct where_map *m, struct scan *s)
{
	int fd = map_open(h->t, m);
	bool is_elf = false;

	h->missed += fd < 0;
	if (fd >= 0 && is_next(h, fd))
		is_elf = elf_file_symbols(fd, &h->room, see, s);
	if (fd >= 0)
		close(fd);
	if (s->has[FAMILY_RJEM] || s->has[FAMILY_JE])
		h->other = s->has[FAMILY_RJEM] ? FAMILY_RJEM : FAMILY_JE;
	return is_elf;
}

static bool is_libc(const char *file)
{
	const char *name = strrchr(file, '/');

	name = name ? name + 1 : file;
	return !strncmp(name, "libc.so.", 8) || !strncmp(name, "libc-2.", 7);
}

/* The dynamic linker of an older glibc has a malloc() of its own, for itself. */
static bool is_linker(const char *file)
{
	const char *name = strrchr(file, '/');

	return name && (!strncmp(name, "/ld-linux", 9) || !strncmp(name, "/ld-2.", 6));
}

static void set(struct object *o, const struct where_map *m, const struct scan *s,
		enum family family, bool is_local)
{
	size_t i;

	o->file = must(strdup(m->file));
	o->family = family;
	o->is_local = is_local;
	for (i = ARRAY_SIZE(signs); i-- > 0;)
		if (s->sign[i] && signs[i].family == family)
			o->kind = signs[i].kind;
	if (o->kind == ALLOCATOR_GLIBC && !is_libc(m->file))
		o->kind = ALLOCATOR_STATIC_GLIBC;
}

/* Takes @m if it defines malloc(). @is_static: the program, where nothing else is linked */
static bool take(struct hunt *h, const struct where_map *m, bool is_static, struct object *o)
{
	struct scan s = { .has_malloc = false };

	if (!m || !m->file || is_linker(m->file) || !scan_file(h, m, &s) ||
	    !(s.has_malloc || (is_static && s.has_local)))
		return false;
	set(o, m, &s, FAMILY_PLAIN, !s.has_malloc);
	return true;
}

static bool by_link_map(struct hunt *h, struct target *t, struct object *o, size_t *n)
{
	u64 at[OBJECTS_MAX];
	size_t i;

	*n = link_order(t, at, ARRAY_SIZE(at));
	h->cut = h->cut || *n == ARRAY_SIZE(at);
	for (i = 0; i < *n && !h->cut; i++)
		if (take(h, target_at(t, at[i]), false, o))
			return true;
	return false;
}

/* Files by address: @libc says which of them may be taken. */
static bool by_address(struct hunt *h, bool libc, struct object *o)
{
	size_t i;

	for (i = 0; i < h->t->maps && !h->cut; i++) {
		const struct where_map *m = &h->t->map[i];

		if (m->file && m->exec && is_libc(m->file) == libc && take(h, m, false, o))
			return true;
	}
	return false;
}

static void by_order(struct hunt *h, struct target *t, struct object *o)
{
	size_t n;

	if (by_link_map(h, t, o, &n) || (!n && (by_address(h, false, o) || by_address(h, true, o))))
		return;
	/* It may have been looked at as one that is linked. */
	h->files = 0;
	take(h, target_at(t, link_program(t)), true, o);
}

/* Is the file the one that --object names: by its path, or by the first part of its name? */
static bool is_named(const struct target *t, const struct where_map *m, const char *name)
{
	const char *base = strrchr(m->file, '/');
	size_t n = strlen(name);
	struct stat a, b;
	bool same;
	int fd;

	base = base ? base + 1 : m->file;
	if (!strchr(name, '/'))
		return !strncmp(base, name, n) && (!base[n] || base[n] == '.' || base[n] == '-');
	if (!strcmp(name, m->file))
		return true;
	if (stat(name, &a))
		return false;
	fd = map_open(t, m);
	same = fd >= 0 && !fstat(fd, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	if (fd >= 0)
		close(fd);
	return same;
}

/* FILE:PREFIX asks for a family. Returns a copy without it. */
static char *named_family(const char *name, enum family *family)
{
	char *file = must(strdup(name)), *prefix = strrchr(file, ':');

	for (*family = FAMILY_PLAIN + 1; prefix && *family < FAMILIES; (*family)++)
		if (!strcmp(prefix + 1, family_prefix(*family))) {
			*prefix = '\0';
			return file;
		}
	*family = FAMILIES;
	return file;
}

/* Takes of the file those functions that are wanted, or that it has; FAMILIES: any. */
static bool take_family(const struct where_map *m, const struct scan *s, enum family want,
			bool is_static, struct object *o)
{
	enum family family = want;

	if (want == FAMILIES)
		for (family = FAMILY_PLAIN; family < FAMILIES && !s->has[family]; family++)
			;
	if (family < FAMILIES && s->has[family])
		set(o, m, s, family, false);
	else if (want == FAMILIES && is_static && s->has_local)
		set(o, m, s, FAMILY_PLAIN, true);
	return o->file;
}

static void by_name(struct hunt *h, struct target *t, const char *name, struct object *o)
{
	enum family want;
	char *file = named_family(name, &want);
	u64 first;
	size_t i;

	for (i = 0; i < t->maps && !h->cut && !o->file; i++) {
		const struct where_map *m = &t->map[i];
		struct scan s = { .has_malloc = false };

		if (m->file && m->exec && is_named(t, m, file) && scan_file(h, m, &s))
			take_family(m, &s, want, !link_order(t, &first, 1), o);
	}
	free(file);
}

/**
 * object_find() - find the file with the functions that allocate for a process
 * @t: the process, its mappings up to date
 * @name: the file that is wanted, by path or name, with the prefix of its functions; or NULL
 * @o: out
 *
 * Return: false if no file has a symbol of such a function.
 */
bool object_find(struct target *t, const char *name, struct object *o)
{
	struct hunt h = { .t = t, .room = { .left = OBJECT_MIB * MIB } };

	*o = (struct object){ 0 };
	if (name)
		by_name(&h, t, name, o);
	else
		by_order(&h, t, o);
	if (h.other != o->family)
		o->other = h.other;
	o->is_cut = h.cut || h.room.cut;
	if (!o->file && h.missed && !h.files)
		o->why = OBJECT_NO_FILE;
	else if (!o->file && o->is_cut)
		o->why = OBJECT_CUT;
	return o->file;
}

/* Why none was found, and what would help */
const char *object_missing(const struct object *o)
{
	switch (o->why) {
	case OBJECT_NO_FILE:
		return "neither the program nor a library of it can be opened, to look for malloc: "
		       "that takes CAP_SYS_ADMIN, or that they are still at their paths";
	case OBJECT_CUT:
		return "no symbol malloc in what was looked at of the files of the process, which "
		       "are too many or too large, see --object";
	case OBJECT_NO_SYMBOL:
		break;
	}
	return "neither the program nor a library of it has a symbol malloc: a burst needs the "
	       "symbols of a program that is linked statically (see strip, --object)";
}

#else

const char *object_missing(const struct object *o)
{
	return "this build cannot read symbols: it has no libelf";
}

bool object_find(struct target *t, const char *name, struct object *o)
{
	*o = (struct object){ 0 };
	return false;
}

#endif
