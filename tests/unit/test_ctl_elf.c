// SPDX-License-Identifier: GPL-2.0
/* seepage where: symbols and functions of ELF files, which may be made up to cost much */
#define HAVE_LIBELF
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include "where/symbol.c"
#include "where/probe.c"
#include <cmocka.h>

#define SECTIONS	41U
#define STRINGS		(SECTIONS - 1)	/* the section of names */
#define AT		8192U		/* the first table in the file */

static char path[] = "/tmp/test_ctl_elf-XXXXXX";
static struct where_map map = { .lo = 0x400000, .hi = 0x500000, .exec = true, .file = path };
static struct target target = { .map = &map, .maps = 1 };
static Elf64_Ehdr eh;
static Elf64_Shdr sh[SECTIONS];

const struct where_map *target_at(const struct target *t, u64 addr)
{
	return &map;
}

u64 target_base(const struct target *t, const struct where_map *m)
{
	return m->lo;
}

static void put(int fd, const void *data, size_t n, u64 at)
{
	assert_int_equal(pwrite(fd, data, n, (off_t)at), n);
}

/* A file with the one symbol "f" at 0x1000, in tables as large as is wanted, else zeros */
static void forge(u32 type, unsigned int tables, u64 table_bytes, u64 string_bytes)
{
	static const Elf64_Sym f = { .st_name = 1, .st_shndx = 1, .st_value = 0x1000,
				     .st_size = 16 };
	int fd = open(path, O_RDWR | O_TRUNC);
	unsigned int i;

	eh = (Elf64_Ehdr){ .e_ident = ELFMAG "\2\1\1", .e_type = ET_DYN, .e_version = 1,
			   .e_shoff = 4096, .e_ehsize = sizeof(eh), .e_shnum = SECTIONS,
			   .e_shentsize = sizeof(*sh) };
	memset(sh, 0, sizeof(sh));
	for (i = 1; i <= tables; i++)
		sh[i] = (Elf64_Shdr){ .sh_type = type, .sh_offset = AT, .sh_size = table_bytes,
				      .sh_link = STRINGS, .sh_entsize = sizeof(f),
				      .sh_addralign = 8 };
	sh[STRINGS] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = AT + table_bytes,
				    .sh_size = string_bytes, .sh_addralign = 1 };
	put(fd, &eh, sizeof(eh), 0);
	put(fd, sh, sizeof(sh), eh.e_shoff);
	put(fd, &f, sizeof(f), AT + table_bytes - sizeof(f));
	put(fd, "\0f", 3, AT + table_bytes);
	assert_int_equal(ftruncate(fd, (off_t)(AT + table_bytes + string_bytes)), 0);
	close(fd);
}

static void head_again(void)
{
	int fd = open(path, O_RDWR);

	put(fd, &eh, sizeof(eh), 0);
	put(fd, sh, sizeof(sh), eh.e_shoff);
	close(fd);
}

static u64 find_symbol(const char *name)
{
	struct symbol s = { .name = name };

	symbols_find(&target, &map, &s, 1);
	return s.addr;
}

static void a_symbol_is_found(void **state)
{
	char name[8];

	forge(SHT_SYMTAB, 1, 24 * 100, 100);
	assert_int_equal(find_symbol("f"), map.lo + 0x1000);
	assert_int_equal(find_symbol("g"), 0);
	assert_true(symbol_at(&target, map.lo + 0x100f, name, sizeof(name)));
	assert_string_equal(name, "f");
	assert_false(symbol_at(&target, map.lo + 0x1010, name, sizeof(name)));
	forge(SHT_DYNSYM, 1, 24 * 100, 100);
	assert_int_equal(find_symbol("f"), map.lo + 0x1000);
	forge(SHT_DYNSYM, 1, 24 * 100, 100);
	/* Names that do not end */
	sh[STRINGS].sh_size = 2;
	head_again();
	assert_int_equal(find_symbol("f"), 0);
	/* No names, a table behind the end of the file */
	sh[STRINGS].sh_size = 100;
	sh[1].sh_link = 2;
	head_again();
	assert_int_equal(find_symbol("f"), 0);
	sh[1].sh_link = STRINGS;
	sh[1].sh_size = 24 * 1000;
	head_again();
	assert_int_equal(find_symbol("f"), 0);
}

static u64 peak_bytes(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u64)u.ru_maxrss * KIB;
}

/* Tables that lie one above another, in a file that needs no space on a disk */
static void many_tables_cost_as_much_as_one(void **state)
{
	u64 peak = peak_bytes();

	forge(SHT_SYMTAB, STRINGS - 1, 24 * MIB, MIB);
	assert_int_equal(find_symbol("f"), map.lo + 0x1000);
	assert_int_equal(find_symbol("g"), 0);
	assert_in_range(peak_bytes() - peak, 0, 100 * MIB);
}

static void tables_that_are_too_large_are_not_read(void **state)
{
	u64 peak = peak_bytes();

	forge(SHT_SYMTAB, 1, 24 * 30 * MIB, MIB);
	assert_int_equal(find_symbol("f"), 0);
	forge(SHT_SYMTAB, 1, 24, 600 * MIB);
	assert_int_equal(find_symbol("f"), 0);
	assert_in_range(peak_bytes() - peak, 0, 50 * MIB);
}

static void heads_that_libraries_would_believe(void **state)
{
	int fd;

	forge(SHT_SYMTAB, 1, 24, 100);
	fd = map_open(&target, &map);
	assert_true(fd >= 0);
	close(fd);
	eh.e_shnum = 0;		/* a number of 64 bits, in the first section */
	head_again();
	assert_int_equal(map_open(&target, &map), -1);
	eh.e_shnum = SECTIONS;
	eh.e_phnum = PN_XNUM;	/* one of 32 bits there */
	head_again();
	assert_int_equal(map_open(&target, &map), -1);
	eh.e_phnum = 0;
	eh.e_ident[EI_CLASS] = ELFCLASS32;
	head_again();
	assert_int_equal(map_open(&target, &map), -1);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_type = ET_REL;	/* which libdwfl links, with a callback that is not there */
	head_again();
	assert_int_equal(map_open(&target, &map), -1);
	memcpy(&eh, "!<arch>\n", 8);
	head_again();
	assert_int_equal(map_open(&target, &map), -1);
}

/* Where the code of this test is in its file */
static u64 own_offset(const void *code)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi, offset;
	u64 at = (uintptr_t)code, found = 0;
	char line[4096];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &lo, &hi, &offset) == 3 && at >= lo && at < hi)
			found = at - lo + offset;
	fclose(f);
	return found;
}

static void where_a_function_begins(void **state)
{
	static const void *const functions[] = {
		find_symbol, forge, own_offset, where_a_function_begins,
	};
	int fd = open("/proc/self/exe", O_RDONLY);
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		u64 offset = own_offset(functions[i]);

		assert_true(probe_is_function(fd, offset));
		for (k = 1; k < 16; k++)
			assert_false(probe_is_function(fd, offset + k));
	}
	assert_false(probe_is_function(fd, 0));
	assert_false(probe_is_function(fd, UINT64_MAX));
	close(fd);
	/* A file without that table */
	forge(SHT_SYMTAB, 1, 24, 100);
	fd = open(path, O_RDONLY);
	assert_false(probe_is_function(fd, 0x1000));
	close(fd);
}

static int begin_all(void **state)
{
	int fd = mkstemp(path);

	close(fd);
	target.dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	return fd < 0 || target.dir < 0;
}

static int end_all(void **state)
{
	close(target.dir);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_found),
		cmocka_unit_test(tables_that_are_too_large_are_not_read),
		cmocka_unit_test(many_tables_cost_as_much_as_one),
		cmocka_unit_test(heads_that_libraries_would_believe),
		cmocka_unit_test(where_a_function_begins),
	};

	return cmocka_run_group_tests(tests, begin_all, end_all);
}
