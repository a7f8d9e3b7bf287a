// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the memory and the mappings of a process from outside. The process runs on, so
 * that anything may change or go away between two reads: a read that fails is an answer.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "where/where.h"

#define MAPS_MAX	(1U << 18)
#define NEAR_MAPS	16U	/* from a mapping of a file back to the one before */
#define NEEDS_PTRACE	"CAP_SYS_PTRACE, or to be the user of the process"

#define NOWHERE		(INT64_MAX & ~4095LL)	/* an address that nothing is ever mapped at */
#define START_BRK	47
#define BOUND_ASK_NS	100000000ULL
#define BOUND_STOP_S	5ULL

/* Field @n of /proc/PID/stat; 1 is the pid, 3 the state. 0: unknown, or not allowed to know */
static u64 stat_field(const struct target *t, int n)
{
	char *text = procfs_read(t->dir, "stat"), *p = text ? strrchr(text, ')') : NULL;
	u64 v = 0;
	int field;

	for (field = 2; p && field < n; field++)
		p = strchr(p + 1, ' ');
	if (p)
		v = strtoull(p + 1, NULL, 10);
	free(text);
	return v;
}

static void read_comm(struct target *t)
{
	char *text = procfs_read(t->dir, "comm");

	if (text)
		text[strcspn(text, "\n")] = '\0';
	fmt_safe(t->comm, sizeof(t->comm), text ? text : "?", text ? strlen(text) : 1);
	free(text);
}

/* Prints why a process cannot be looked at. Returns an exit status. */
int target_refused(const struct target *t, int err)
{
	if (err == EACCES || err == EPERM)
		return fail(t->ctx, "process %u: not permitted: needs %s", t->pid, NEEDS_PTRACE);
	if (err == ENOENT || err == ESRCH)
		return fail(t->ctx, "process %u: %s", t->pid, strerror(ESRCH));
	return fail(t->ctx, "process %u: %s", t->pid, strerror(err));
}

/* Is the program a 32-bit one? Its heap has another layout. */
static bool is_narrow(const struct target *t)
{
	unsigned char ident[5] = { 0 };
	int fd = openat(t->dir, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(ident) && !memcmp(ident, "\177ELF", 4) && ident[4] == 1;
}

/*
 * What tells the program from others that the process executes, where addresses are not random:
 * made from the random bytes that each exec puts on the stack. Those are secret, and cannot be had
 * from it. They are not read if the process took their page away.
 */
static u64 program_of(struct target *t)
{
	int fd = openat(t->dir, "auxv", O_RDONLY | O_CLOEXEC), pagemap = there_open(t);
	Elf64_auxv_t v = { AT_NULL, { 0 } };
	u64 word[2] = { 0, 0 };

	while (fd >= 0 && read(fd, &v, sizeof(v)) == (ssize_t)sizeof(v) && v.a_type != AT_NULL &&
	       v.a_type != AT_RANDOM)
		;
	if (v.a_type == AT_RANDOM && there_has(pagemap, v.a_un.a_val, v.a_un.a_val + sizeof(word)))
		target_read(t, v.a_un.a_val, word, sizeof(word));
	if (fd >= 0)
		close(fd);
	if (pagemap >= 0)
		close(pagemap);
	word[0] ^= word[1];
	return (word[0] ^ word[0] >> 32) & 0xffffffff;
}

/**
 * target_open() - begin to look at a process
 * @ctx: names the command in messages
 * @pid: of the process, in this pid namespace
 * @t: to fill; target_close() releases it
 *
 * Return: 0, or an exit status after printing an error.
 */
int target_open(const struct ctx *ctx, u32 pid, struct target *t)
{
	char byte;
	int err;

	memset(t, 0, sizeof(*t));
	t->ctx = ctx;
	t->pid = pid;
	t->mem = -1;
	t->dir = procfs_open(pid, INT64_MIN);
	if (t->dir < 0)
		return target_refused(t, errno);
	if (sizeof(long) < 8)
		return fail(ctx, "process %u: a 32-bit seepage cannot look at heaps", pid);
	read_comm(t);
	err = target_maps(t);
	if (err)
		return target_refused(t, err);
	if (!t->maps)
		return fail(ctx, "process %u: it has no memory of its own, as a kernel thread",
			    pid);
	if (!target_read(t, NOWHERE, &byte, 1) && t->err != EFAULT)
		return target_refused(t, t->err);
	t->mem = openat(t->dir, "mem", O_RDONLY | O_CLOEXEC);
	if (t->mem < 0)
		return target_refused(t, errno);
	if (is_narrow(t))
		return fail(ctx, "process %u: a 32-bit program, allowed 64-bit ones", pid);
	t->start_brk = stat_field(t, START_BRK);
	t->program = program_of(t);
	return 0;
}

/* Forgets the mappings. */
void target_free_maps(struct target *t)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		free(t->map[i].file);
	free(t->map);
	t->map = NULL;
	t->maps = 0;
}

static bool parse_map(char *line, struct where_map *m)
{
	char perm[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", (uint64_t *)&m->lo,
		   (uint64_t *)&m->hi, perm, (uint64_t *)&m->offset, &at) < 4 || !at)
		return false;
	line[strcspn(line, "\n")] = '\0';
	m->write = perm[0] == 'r' && perm[1] == 'w' && perm[3] == 'p';
	m->exec = perm[2] == 'x';
	m->anon = !line[at] || !strcmp(line + at, "[heap]") || !strncmp(line + at, "[anon", 5);
	m->file = line[at] == '/' ? must(strdup(line + at)) : NULL;
	return m->lo < m->hi;
}

/*
 * Index of the mapping with the ELF header of the file that is mapped at @i: the last one of the
 * file's begin, up to @i. The file may be mapped once more elsewhere, as data.
 */
static size_t header_of(const struct target *t, size_t i)
{
	const struct where_map *m = &t->map[i], *p = m;

	while (m->file && m->offset && p > t->map && m - p < (ptrdiff_t)NEAR_MAPS)
		if ((--p)->file && !strcmp(p->file, m->file))
			return p->header;
	return i;
}

/*
 * Reads the mappings anew. Neighbours that are anonymous and writable are joined: a fork
 * divides what was one mapping. Returns 0 or an errno.
 */
int target_maps(struct target *t)
{
	int fd = openat(t->dir, "maps", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	size_t size = 0, capacity = 0;
	struct where_map m, *last;
	char *line = NULL;
	int err;

	target_free_maps(t);
	if (!f) {
		err = errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (t->maps < MAPS_MAX && getline(&line, &size, f) > 0) {
		if (!parse_map(line, &m))
			continue;
		last = t->maps ? &t->map[t->maps - 1] : NULL;
		if (last && last->anon && m.anon && last->write && m.write && last->hi == m.lo &&
		    last->exec == m.exec) {
			last->hi = m.hi;
			continue;
		}
		if (t->maps == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			t->map = must(realloc(t->map, capacity * sizeof(m)));
		}
		t->map[t->maps] = m;
		t->map[t->maps].header = header_of(t, t->maps);
		t->maps++;
	}
	free(line);
	fclose(f);
	return 0;
}

/**
 * target_bound() - let reads of memory fail after a while, so that a look ends
 * @t: the process
 * @bytes: that may be read from now on
 * @seconds: from now on
 * @stop: asked ten times a second; true: there are BOUND_STOP_S left
 * @arg: of @stop
 */
void target_bound(struct target *t, u64 bytes, u64 seconds, bool (*stop)(void *arg), void *arg)
{
	u64 now = clock_ns();

	t->bound = (struct target_bound){
		.bytes = t->read_bytes + bytes, .end_ns = now + seconds * 1000000000,
		.ask_ns = now + BOUND_ASK_NS, .stop = stop, .arg = arg,
	};
}

void target_unbound(struct target *t)
{
	memset(&t->bound, 0, sizeof(t->bound));
}

/* Has the look come to its bound? */
bool target_over(struct target *t)
{
	struct target_bound *b = &t->bound;
	u64 now;

	if (!b->end_ns || b->over)
		return b->over;
	now = clock_ns();
	if (b->ask_ns && now >= b->ask_ns) {
		b->ask_ns = now + BOUND_ASK_NS;
		if (b->stop(b->arg)) {
			b->ask_ns = 0;
			if (b->end_ns > now + BOUND_STOP_S * 1000000000)
				b->end_ns = now + BOUND_STOP_S * 1000000000;
		}
	}
	b->over = now >= b->end_ns || t->read_bytes >= b->bytes;
	return b->over;
}

/* Not in the target, which is released before the thread of stuck.c ends. */
unsigned int target_turn;

/* Returns false, with errno in @t->err, if not all @n bytes could be read. */
bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	struct iovec here = { buf, n }, there = { (void *)(uintptr_t)addr, n };
	ssize_t got;

	if (!n || addr + n < addr) {
		t->err = EFAULT;
		return false;
	}
	if (target_over(t)) {
		t->err = ETIME;
		return false;
	}
	target_mark(t);
	__atomic_add_fetch(&target_turn, 1, __ATOMIC_RELAXED);
	got = process_vm_readv((pid_t)t->pid, &here, 1, &there, 1, 0);
	__atomic_add_fetch(&target_turn, 1, __ATOMIC_RELAXED);
	t->err = got < 0 ? errno : got == (ssize_t)n ? 0 : EFAULT;
	if (got > 0)
		t->read_bytes += (u64)got;
	return got == (ssize_t)n;
}

/* Reads a string; returns false if there is no NUL byte within @size. */
bool target_string(struct target *t, u64 addr, char *buf, size_t size)
{
	size_t n = 0, part;

	while (n < size) {
		part = 64 - (addr + n) % 64;	/* within a page */
		part = part < size - n ? part : size - n;
		if (!target_read(t, addr + n, buf + n, part))
			return false;
		if (memchr(buf + n, '\0', part))
			return true;
		n += part;
	}
	return false;
}

/* Returns the mapping at @addr, or NULL. */
const struct where_map *target_at(const struct target *t, u64 addr)
{
	size_t lo = 0, hi = t->maps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (addr < t->map[mid].lo)
			hi = mid;
		else if (addr >= t->map[mid].hi)
			lo = mid + 1;
		else
			return &t->map[mid];
	}
	return NULL;
}

/* Address of the file's ELF header, from which the offsets of a frame count */
u64 target_base(const struct target *t, const struct where_map *m)
{
	return t->map[m->header].lo;
}

/*
 * Has nobody the memory any more? A read finds its end then, instead of an error. Memory that the
 * process shared, as a child of vfork(), is still there when it has executed another program.
 */
static bool has_no_memory(const struct target *t)
{
	char byte;

	return !pread64(t->mem, &byte, 1, NOWHERE);
}

/*
 * False as well if another process has the pid by now, as @t->dir is the old one's, and if the
 * process has executed another program.
 */
bool target_alive(const struct target *t)
{
	char *text = procfs_read(t->dir, "stat"), *p = text ? strrchr(text, ')') : NULL;
	bool alive = p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';

	free(text);
	return alive && !has_no_memory(t) && stat_field(t, START_BRK) == t->start_brk;
}

/* Anonymous memory that is present or swapped out; 0: unknown */
u64 target_anon_bytes(const struct target *t)
{
	char *text = procfs_read(t->dir, "status"), *p;
	u64 kib = 0;

	p = text ? strstr(text, "\nRssAnon:") : NULL;
	kib += p ? strtoull(p + 9, NULL, 10) : 0;
	p = text ? strstr(text, "\nVmSwap:") : NULL;
	kib += p ? strtoull(p + 8, NULL, 10) : 0;
	free(text);
	return kib * KIB;
}

/* Start of the process in clock ticks since boot, which tells it from others; 0: unknown */
u64 target_start_ticks(const struct target *t)
{
	return stat_field(t, 22);
}

/* Returns the second since 1970 in which the process started, 0: unknown. */
s64 target_started(const struct target *t)
{
	u64 ticks = target_start_ticks(t);
	long hz = sysconf(_SC_CLK_TCK);
	struct timespec now, up;

	if (!ticks || hz <= 0 || clock_gettime(CLOCK_REALTIME, &now) ||
	    clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return (s64)now.tv_sec - (s64)up.tv_sec + (s64)(ticks / (u64)hz);
}

/* What names C++ functions and types of the process; it lasts as long as @t. */
struct cxx *target_cxx(struct target *t)
{
	if (!t->cxx)
		t->cxx = cxx_new();
	return t->cxx;
}

void target_close(struct target *t)
{
	target_free_maps(t);
	cxx_free(t->cxx);
	t->cxx = NULL;
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	if (t->dir >= 0)
		close(t->dir);
	t->dir = -1;
}
