// SPDX-License-Identifier: GPL-2.0
/* seepage where: which file allocates for a process, which allocator it is, and where probes go */
#define HAVE_LIBELF
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include "where/symbol.c"
#include "where/probe.c"
#define link_order real_link_order
#define link_program real_link_program
#include "where/linkmap.c"
#undef link_order
#undef link_program
#include "where/allocator.c"
#include "where/object.c"
#include <cmocka.h>

#define FILES	(OBJECT_FILES + 8)
#define SYMBOLS	24U
#define CODE	0x1000U		/* of a forged file: 4 KiB, at this place of file and memory */
#define FUNC	ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define IFUNC	ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC)
#define LOCAL	ELF64_ST_INFO(STB_LOCAL, STT_FUNC)

static char folder[] = "/tmp/test_ctl_object-XXXXXX";
static char path[FILES][80];
static struct where_map map[FILES];
static struct target target = { .map = map };
static u64 order[1024];	/* the link map */
static size_t order_n;
static u64 program;

struct entry {
	const char *name;
	unsigned char info;
	u64 at;			/* 0: not defined here */
	unsigned char other;
};

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

const struct where_map *target_at(const struct target *t, u64 addr)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (addr >= map[i].lo && addr < map[i].hi)
			return &map[i];
	return NULL;
}

u64 target_base(const struct target *t, const struct where_map *m)
{
	return m->lo;
}

/* The process is this one. */
bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	bool read = pread(fd, buf, n, (off_t)addr) == (ssize_t)n;

	close(fd);
	return read;
}

bool used_read(struct target *t, u64 addr, void *buf, size_t n)
{
	return target_read(t, addr, buf, n);
}

size_t link_order(struct target *t, u64 *at, size_t most)
{
	memcpy(at, order, (order_n < most ? order_n : most) * sizeof(*at));
	return order_n < most ? order_n : most;
}

u64 link_program(const struct target *t)
{
	return program;
}

static void put(int fd, const void *data, size_t n, u64 at)
{
	assert_int_equal(pwrite(fd, data, n, (off_t)at), n);
}

/* A file with these symbols, and code of which @code are the first bytes at 0x1100 */
static void forge(unsigned int i, const char *name, const struct entry *e, const char *code)
{
	Elf64_Ehdr eh = { .e_ident = ELFMAG "\2\1\1", .e_type = ET_DYN, .e_version = 1,
			  .e_phoff = 64, .e_phnum = 1, .e_phentsize = sizeof(Elf64_Phdr),
			  .e_shoff = 256, .e_ehsize = sizeof(eh), .e_shnum = 3,
			  .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 2 * CODE,
			  .p_memsz = 2 * CODE };
	Elf64_Sym sym[SYMBOLS] = { { 0 } };
	Elf64_Shdr sh[3] = {
		{ 0 },
		{ .sh_type = SHT_SYMTAB, .sh_offset = 2 * CODE, .sh_size = sizeof(sym),
		  .sh_link = 2, .sh_entsize = sizeof(*sym), .sh_addralign = 8 },
		{ .sh_type = SHT_STRTAB, .sh_offset = 3 * CODE, .sh_size = CODE,
		  .sh_addralign = 1 },
	};
	char names[CODE] = { 0 };
	size_t n = 1, k;
	int fd;

	for (k = 0; e && e[k].name; k++) {
		Elf64_Sym one = {
			.st_name = (u32)n, .st_info = e[k].info, .st_other = e[k].other,
			.st_value = e[k].at, .st_shndx = e[k].at ? 1 : SHN_UNDEF, .st_size = 64,
		};

		sym[k + 1] = one;
		strcpy(names + n, e[k].name);
		n += strlen(e[k].name) + 1;
	}
	snprintf(path[i], sizeof(path[i]), "%s/%s", folder, name);
	fd = open(path[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
	put(fd, names, sizeof(names), 3 * CODE);
	put(fd, sym, sizeof(sym), 2 * CODE);
	put(fd, &eh, sizeof(eh), 0);
	put(fd, &ph, sizeof(ph), eh.e_phoff);
	put(fd, sh, sizeof(sh), eh.e_shoff);
	if (code)
		put(fd, code, 16, 0x1100);
	close(fd);
	map[i] = (struct where_map){ .lo = 0x100000 * (i + 1), .hi = 0x100000 * (i + 2),
				     .exec = true, .file = path[i] };
	target.maps = i + 1;
}

static const struct entry none[] = { { "main", FUNC, 0x1000, 0 }, { 0 } };
static const struct entry has[] = { { "malloc", FUNC, 0x1000, 0 }, { 0 } };
static const struct entry local[] = { { "malloc", LOCAL, 0x1000, 0 }, { 0 } };
static const struct entry wants[] = { { "malloc", FUNC, 0, 0 }, { 0 } };
static const struct entry hidden[] = { { "malloc", FUNC, 0x1000, STV_HIDDEN }, { 0 } };
static const struct entry chooser[] = { { "malloc", IFUNC, 0x1000, 0 }, { 0 } };

/* The file that is found, or "" */
static const char *found(const char *name, enum allocator kind)
{
	static char file[80];
	struct object o;

	*file = '\0';
	if (object_find(&target, name, &o)) {
		snprintf(file, sizeof(file), "%s", strrchr(o.file, '/') + 1);
		assert_string_equal(object_map(&target, &o)->file, o.file);
	}
	assert_int_equal(o.kind, kind);
	object_drop(&o);
	return file;
}

static void the_first_one_of_the_link_map(void **state)
{
	forge(0, "program", wants, NULL);
	forge(1, "libc.so.6", has, NULL);
	forge(2, "libother.so", has, NULL);
	order[0] = map[0].lo;
	order[1] = map[2].lo + 0x100;
	order[2] = map[1].lo;
	order_n = 3;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libother.so");
	order[1] = map[1].lo;
	order[2] = map[2].lo;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
	/* The program comes first if others see its function. */
	forge(0, "program", has, NULL);
	target.maps = 3;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "program");
	forge(0, "program", local, NULL);
	target.maps = 3;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
	forge(0, "program", hidden, NULL);
	target.maps = 3;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
	forge(0, "program", chooser, NULL);
	target.maps = 3;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
	/* The linker's own is for itself, and an address may lead nowhere. */
	forge(2, "ld-linux-x86-64.so.2", has, NULL);
	order[0] = 0x42;
	order[1] = map[2].lo;
	order[2] = map[1].lo;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
	order_n = 2;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "");
}

static void without_a_link_map_libc_comes_last(void **state)
{
	order_n = 0;
	forge(0, "program", none, NULL);
	forge(1, "libc.so.6", has, NULL);
	forge(2, "libother.so", has, NULL);
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libother.so");
	target.maps = 2;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "libc.so.6");
}

static void a_static_program(void **state)
{
	order_n = 0;
	forge(0, "program", local, NULL);
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "");
	program = map[0].lo + 64;
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "program");
	forge(0, "program", none, NULL);
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "");
	program = 0;
	forge(0, "program", has, NULL);
	assert_string_equal(found(NULL, ALLOCATOR_UNKNOWN), "program");
}

static void which_allocator_it_is(void **state)
{
	static const struct {
		const char *file, *sign;
		enum allocator kind;
	} kinds[] = {
		{ "libjemalloc.so.2", "mallctl", ALLOCATOR_JEMALLOC },
		{ "server", "mallctl", ALLOCATOR_JEMALLOC },
		{ "libtcmalloc.so.4", "tc_malloc", ALLOCATOR_TCMALLOC },
		{ "libmimalloc.so.2", "mi_malloc", ALLOCATOR_MIMALLOC },
		{ "libc.so.6", "gnu_get_libc_version", ALLOCATOR_GLIBC },
		{ "program", "gnu_get_libc_version", ALLOCATOR_STATIC_GLIBC },
		{ "program", "_int_malloc", ALLOCATOR_STATIC_GLIBC },
		{ "libc.so", "__dls3", ALLOCATOR_MUSL },
		{ "program", "__init_libc", ALLOCATOR_MUSL },
		{ "program", "other", ALLOCATOR_UNKNOWN },
	};
	size_t i;

	order_n = 0;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct entry e[] = {
			{ "malloc", FUNC, 0x1000, 0 }, { kinds[i].sign, LOCAL, 0x1200, 0 }, { 0 },
		};

		forge(0, kinds[i].file, e, NULL);
		assert_string_equal(found(NULL, kinds[i].kind), kinds[i].file);
	}
	assert_string_equal(allocator_name(ALLOCATOR_STATIC_GLIBC), "static glibc");
	assert_int_equal(allocator_rule(ALLOCATOR_STATIC_GLIBC), BLOCK_CHUNK);
	assert_int_equal(allocator_rule(ALLOCATOR_UNKNOWN), BLOCK_LINKED);
}

static void an_object_by_name(void **state)
{
	static const struct entry news[] = { { "_Znwm", FUNC, 0x1000, 0 }, { 0 } };
	static const struct entry prefixed[] = { { "_rjem_malloc", LOCAL, 0x1000, 0 },
						 { "_rjem_mallctl", LOCAL, 0x1100, 0 }, { 0 } };

	order_n = 0;
	forge(0, "program", prefixed, NULL);
	forge(1, "libc.so.6", has, NULL);
	forge(2, "libpool-2.so", news, NULL);
	forge(3, "libpoolside.so", has, NULL);
	forge(4, "libm.so.6", none, NULL);
	assert_string_equal(found("libpool", ALLOCATOR_UNKNOWN), "libpool-2.so");
	assert_string_equal(found("libpool-2.so", ALLOCATOR_UNKNOWN), "libpool-2.so");
	assert_string_equal(found(path[3], ALLOCATOR_UNKNOWN), "libpoolside.so");
	assert_string_equal(found("program", ALLOCATOR_JEMALLOC), "program");
	assert_string_equal(found("libm", ALLOCATOR_UNKNOWN), "");
	assert_string_equal(found("pool", ALLOCATOR_UNKNOWN), "");
	assert_string_equal(found("/none", ALLOCATOR_UNKNOWN), "");
}

static const char *why;

static struct probes probes_of_family(const struct entry *e, const char *code, enum family family,
				      bool is_local)
{
	struct object o = { .file = path[0], .family = family, .is_local = is_local };
	struct probes p;

	forge(0, "program", e, code);
	why = probes_find(&target, &o, &p);
	probes_close(&p);
	return p;
}

static struct probes probes_of(const struct entry *e, const char *code)
{
	return probes_of_family(e, code, FAMILY_PLAIN, false);
}

static void probes_are_at_what_allocates(void **state)
{
	static const struct entry e[] = {
		{ "realloc", FUNC, 0x1300, 0 }, { "posix_memalign", FUNC, 0x1400, 0 },
		{ "malloc", FUNC, 0x1000, 0 }, { "calloc", FUNC, 0x1200, 0 },
		{ "__libc_malloc", FUNC, 0x1000, 0 }, { "valloc", FUNC, 0x1000, 0 },
		{ "memalign", IFUNC, 0x1500, 0 }, { "aligned_alloc", FUNC, 0, 0 },
		{ "free", FUNC, 0x1600, 0 }, { 0 },
	};
	static const struct seepage_where_probe want[] = {
		{ .offset = 0x1000, .kind = SEEPAGE_WHERE_ARG0 },
		{ .offset = 0x1200, .kind = SEEPAGE_WHERE_PRODUCT },
		{ .offset = 0x1300, .kind = SEEPAGE_WHERE_REALLOC },
		{ .offset = 0x1400, .kind = SEEPAGE_WHERE_POSIX },
	};
	struct object gone = { .file = (char *)"/gone" };
	struct probes p = probes_of(e, NULL);
	size_t i;

	assert_int_equal(p.n, ARRAY_SIZE(want));
	for (i = 0; i < p.n; i++) {
		assert_int_equal(p.p[i].offset, want[i].offset);
		assert_int_equal(p.p[i].kind, want[i].kind);
	}
	assert_string_equal(probes_find(&target, &gone, &p),
			    "the file that allocates is not mapped any more");
	assert_int_equal(probes_of(none, NULL).n, 0);
	assert_non_null(strstr(why, "has no function that can have a probe"));
	gone.file = path[0];
	unlink(path[0]);
	assert_string_equal(probes_find(&target, &gone, &p),
			    "the file that allocates cannot be opened");
}

static void a_helper_of_the_same_name_has_no_probe(void **state)
{
	static const struct entry e[] = {
		{ "memalign", LOCAL, 0x1400, 0 }, { "malloc", FUNC, 0x1000, 0 },
		{ "valloc", FUNC, 0x1500, STV_HIDDEN }, { "pvalloc", FUNC, 0x1600, STV_INTERNAL },
		{ "calloc", FUNC, 0x1200, STV_PROTECTED }, { 0 },
	};
	static const struct entry locals[] = {
		{ "memalign", LOCAL, 0x1400, 0 }, { "malloc", LOCAL, 0x1000, 0 },
		{ "memalign", LOCAL, 0x1440, 0 }, { "calloc", LOCAL, 0x1200, 0 }, { 0 },
	};
	static const struct entry helper[] = { { "memalign", LOCAL, 0x1400, 0 }, { 0 } };
	struct probes p = probes_of(e, NULL);

	assert_int_equal(p.n, 2);
	assert_int_equal(p.p[0].offset, 0x1000);
	assert_int_equal(p.p[1].offset, 0x1200);
	/* All are local ones: then those of which there is one each */
	p = probes_of_family(locals, NULL, FAMILY_PLAIN, true);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.p[1].offset, 0x1200);
	order_n = 0;
	forge(0, "program", helper, NULL);
	assert_string_equal(found("program", ALLOCATOR_UNKNOWN), "");
}

static void functions_of_one_allocator(void **state)
{
	static const struct entry e[] = {
		{ "je_calloc", LOCAL, 0x1200, 0 }, { "_rjem_malloc", LOCAL, 0x1400, 0 },
		{ "malloc", FUNC, 0x1000, 0 }, { "je_malloc", LOCAL, 0x1100, 0 },
		{ "realloc", FUNC, 0x1300, 0 }, { "_Znwm", FUNC, 0x1500, 0 },
		{ "je_mallctl", LOCAL, 0x1600, 0 }, { "_int_malloc", LOCAL, 0x1700, 0 }, { 0 },
	};
	char prefix[OBJECT_PREFIX];
	struct probes p;
	struct object o;

	p = probes_of_family(e, NULL, FAMILY_PLAIN, false);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.p[0].offset, 0x1000);
	assert_int_equal(p.p[1].offset, 0x1300);
	assert_int_equal(p.p[2].offset, 0x1500);
	p = probes_of_family(e, NULL, FAMILY_JE, false);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.p[0].offset, 0x1100);
	assert_int_equal(p.p[1].offset, 0x1200);
	p = probes_of_family(e, NULL, FAMILY_RJEM, false);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.p[0].offset, 0x1400);
	/* Which of them the file has, and which one is asked for */
	order_n = 0;
	assert_string_equal(found("program", ALLOCATOR_STATIC_GLIBC), "program");
	assert_string_equal(found("program:je_", ALLOCATOR_JEMALLOC), "program");
	assert_string_equal(found("program:_rjem_", ALLOCATOR_UNKNOWN), "program");
	assert_string_equal(found("program:other_", ALLOCATOR_UNKNOWN), "");
	assert_true(object_find(&target, "program:je_", &o));
	assert_int_equal(o.family, FAMILY_JE);
	object_drop(&o);
	assert_true(object_find(&target, NULL, &o));
	assert_int_equal(o.family, FAMILY_PLAIN);
	assert_true(object_other(&o, prefix));
	assert_string_equal(prefix, "_rjem_");
	object_drop(&o);
	forge(0, "program", has, NULL);
	assert_true(object_find(&target, NULL, &o));
	assert_false(object_other(&o, prefix));
	object_drop(&o);
}

/* The bytes of all files that are read, as the kernel counts them for this process */
static u64 bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %llu", &n), 1);
	fclose(f);
	return n;
}

static void a_file_is_looked_at_once(void **state)
{
	u64 before, once;
	struct object o;
	size_t i;

	forge(0, "program", none, NULL);
	order[0] = map[0].lo;
	order_n = 1;
	before = bytes_read();
	assert_false(object_find(&target, NULL, &o));
	once = bytes_read() - before;
	for (i = 0; i < 1000; i++)
		order[i] = map[0].lo;
	order_n = 1000;
	before = bytes_read();
	assert_false(object_find(&target, NULL, &o));
	/* The head of the file is read to open it. */
	assert_in_range(bytes_read() - before, once, once + 1000 * 100);
	assert_false(o.is_cut);
	/* Another name of the same file, as a hard link */
	snprintf(path[1], sizeof(path[1]), "%s/again", folder);
	assert_int_equal(link(path[0], path[1]), 0);
	map[1] = map[0];
	map[1].lo += 0x100000;
	map[1].hi += 0x100000;
	map[1].file = path[1];
	target.maps = 2;
	order[1] = map[1].lo;
	order_n = 2;
	before = bytes_read();
	assert_false(object_find(&target, NULL, &o));
	assert_in_range(bytes_read() - before, once, once + 200);
	unlink(path[1]);
}

static void so_many_files_are_looked_at(void **state)
{
	char name[20];
	struct object o;
	size_t i;

	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "lib%zu.so", i);
		forge((unsigned int)i, name, none, NULL);
		order[i] = map[i].lo;
	}
	order_n = FILES;
	forge(FILES - 1, "last.so", has, NULL);
	assert_false(object_find(&target, NULL, &o));
	assert_true(o.is_cut);
	assert_non_null(strstr(object_missing(&o), "too many or too large"));
	order_n = 0;
	assert_false(object_find(&target, NULL, &o));
	assert_true(o.is_cut);
	forge(OBJECT_FILES - 1, "last.so", has, NULL);
	target.maps = FILES;
	assert_true(object_find(&target, NULL, &o));
	assert_false(o.is_cut);
	object_drop(&o);
}

/* Eight files of which the tables have 64 MiB each: four of them are as much as is read. */
static void so_much_of_them_is_read(void **state)
{
	Elf64_Shdr sh = { .sh_type = SHT_SYMTAB, .sh_offset = 4 * CODE,
			  .sh_size = 64 * MIB / 24 * 24, .sh_link = 2,
			  .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 };
	char name[20];
	struct object o;
	u64 before;
	int i, fd;

	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "lib%d.so", i);
		forge((unsigned int)i, name, none, NULL);
		fd = open(path[i], O_RDWR);
		put(fd, &sh, sizeof(sh), 256 + sizeof(sh));
		assert_int_equal(ftruncate(fd, 65 * MIB), 0);
		close(fd);
		order[i] = map[i].lo;
	}
	order_n = 8;
	before = bytes_read();
	assert_false(object_find(&target, NULL, &o));
	assert_in_range(bytes_read() - before, 180 * MIB, OBJECT_MIB * MIB + MIB);
	assert_true(o.is_cut);
	assert_int_equal(o.why, OBJECT_CUT);
	for (i = 0; i < 8; i++)
		unlink(path[i]);
}

/* What is no regular file is not opened, which would have effects. inotify tells. */
static void no_fifo_is_opened(void **state)
{
	char event[512];
	struct object o;
	int watch = inotify_init1(IN_NONBLOCK);

	forge(0, "program", has, NULL);
	unlink(path[0]);
	assert_int_equal(mkfifo(path[0], 0600), 0);
	assert_true(inotify_add_watch(watch, path[0], IN_OPEN) >= 0);
	order[0] = map[0].lo;
	order_n = 1;
	assert_false(object_find(&target, NULL, &o));
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(o.why, OBJECT_NO_FILE);
	assert_non_null(strstr(object_missing(&o), "can be opened"));
	close(watch);
	unlink(path[0]);
	forge(0, "program", none, NULL);
	assert_false(object_find(&target, NULL, &o));
	assert_int_equal(o.why, OBJECT_NO_SYMBOL);
	assert_non_null(strstr(object_missing(&o), "has a symbol malloc"));
}

static void operator_new_that_does_not_call_malloc(void **state)
{
	static const struct entry e[] = {
		{ "malloc", FUNC, 0x1000, 0 }, { "_Znwm", FUNC, 0x1100, 0 },
		{ "_Znam", FUNC, 0x1200, 0 }, { 0 },
	};
	static const struct entry small[] = { { "_Znwm", FUNC, 0x1100, 0 }, { 0 } };
	/* push %rbx; call 0x1000: from behind it, at 0x1106, that is -0x106 */
	static const char call[16] = "\x53\xe8\xfa\xfe\xff\xff";
	static const char jump[16] = "\x53\xe9\xfa\xfe\xff\xff";
	static const char other[16] = "\x53\xe8\xfb\xfe\xff\xff";

#ifdef __x86_64__
	assert_int_equal(probes_of(e, call).n, 2);
	assert_int_equal(probes_of(e, jump).n, 2);
#endif
	assert_int_equal(probes_of(e, other).n, 3);
	assert_int_equal(probes_of(e, other).p[1].kind, SEEPAGE_WHERE_ARG0);
	assert_int_equal(probes_of(small, call).n, 1);
}

static void at_most_as_many_as_the_module_takes(void **state)
{
	struct entry e[FUNCTIONS + 1] = { { 0 } };
	struct probes p;
	size_t i;

	assert_true(FUNCTIONS > SEEPAGE_WHERE_PROBES && FUNCTIONS < SYMBOLS);
	for (i = 0; i < FUNCTIONS; i++)
		e[i] = (struct entry){ functions[i].name, FUNC, 0x1000 + 0x40 * i, 0 };
	p = probes_of(e, NULL);
	assert_int_equal(p.n, SEEPAGE_WHERE_PROBES);
	assert_string_equal(p.name[0], "malloc");
	i = SEEPAGE_WHERE_PROBES - 1;
	assert_string_equal(p.name[i], functions[i].name);
}

struct seen_links {
	u64 at[64];
	size_t n;
};

static int add_link(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct seen_links *l = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC && l->n < 64)
			l->at[l->n++] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 0;
}

/* That of this process, as its own linker has it */
static void the_link_map_of_a_process(void **state)
{
	struct seen_links want = { .n = 0 };
	u64 at[64];
	size_t n;

	n = real_link_order(&target, at, 64);
	dl_iterate_phdr(add_link, &want);
	assert_true(want.n >= 3);
	assert_int_equal(n, want.n);
	assert_memory_equal(at, want.at, n * sizeof(*at));
	assert_int_equal(real_link_order(&target, at, 2), 2);
	assert_true(real_link_program(&target) != 0);
}

static int begin_all(void **state)
{
	target.dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	return !mkdtemp(folder) || target.dir < 0;
}

static int end_all(void **state)
{
	char command[120];

	close(target.dir);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

#ifdef __x86_64__
static bool follows_call(const char *code, size_t n)
{
	FILE *f = tmpfile();
	bool is;

	assert_non_null(f);
	fwrite("\x90\x90\x90\x90\x90\x90\x90\x90", 1, 8, f);
	fwrite(code, 1, n, f);
	fflush(f);
	is = probe_follows_call(fileno(f), 8 + n);
	fclose(f);
	return is;
}

static void a_return_address_is_behind_a_call(void **state)
{
	assert_true(follows_call("\xe8\x01\x02\x03\x04", 5));	/* call 4030201 */
	assert_true(follows_call("\xff\xd0", 2));		/* call *%rax */
	assert_true(follows_call("\x41\xff\xd4", 3));		/* call *%r12 */
	assert_true(follows_call("\xff\x15\x01\x02\x03\x04", 6));	/* call *4030201(%rip) */
	assert_true(follows_call("\xff\x50\x18", 3));		/* call *24(%rax) */
	assert_false(follows_call("", 0));
	assert_false(follows_call("\x48\x89\xc3", 3));		/* mov %rax,%rbx */
	assert_false(follows_call("\xe9\x01\x02\x03\x04", 5));	/* jmp */
	assert_false(follows_call("\xff\xe0", 2));		/* jmp *%rax */
	assert_false(probe_follows_call(-1, 100));
}
#else
static void a_return_address_is_behind_a_call(void **state)
{
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_one_of_the_link_map),
		cmocka_unit_test(without_a_link_map_libc_comes_last),
		cmocka_unit_test(a_static_program),
		cmocka_unit_test(which_allocator_it_is),
		cmocka_unit_test(an_object_by_name),
		cmocka_unit_test(probes_are_at_what_allocates),
		cmocka_unit_test(a_helper_of_the_same_name_has_no_probe),
		cmocka_unit_test(functions_of_one_allocator),
		cmocka_unit_test(a_file_is_looked_at_once),
		cmocka_unit_test(so_many_files_are_looked_at),
		cmocka_unit_test(so_much_of_them_is_read),
		cmocka_unit_test(no_fifo_is_opened),
		cmocka_unit_test(operator_new_that_does_not_call_malloc),
		cmocka_unit_test(at_most_as_many_as_the_module_takes),
		cmocka_unit_test(a_return_address_is_behind_a_call),
		cmocka_unit_test(the_link_map_of_a_process),
	};

	return cmocka_run_group_tests(tests, begin_all, end_all);
}
