// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of minor page faults, by perf_event_open(2): one event and one ring for each thread that
 * there is. A sample has the address, the faults that it stands for, the registers of user space
 * and the top of the stack. The period is set whenever the rings are emptied, so that about
 * FAULTS_HZ samples come in a second. The kernel's own choice, attr.freq, follows the clock of the
 * CPU: it is right for a thread that always runs, and far too long for one that sleeps between its
 * faults.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "where/faults.h"

#define RING_PAGES	16U	/* a power of two; beside the page of positions */
#define FIRST_PERIOD	16U	/* faults a sample, until it is known how many there are */

#ifdef __x86_64__
#define ABI	PERF_SAMPLE_REGS_ABI_64
/* ax bx cx dx si di bp sp ip, r8 to r15. Source: arch/x86/include/uapi/asm/perf_regs.h */
#define REGS_MASK	0xff01ffULL
#define REGS	17U
/* The number of DWARF of each. Source: System V ABI, AMD64, figure 3.36 */
static const unsigned char dwarf[REGS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15,
};
#elif defined(__aarch64__)
#define ABI	PERF_SAMPLE_REGS_ABI_64
/* x0 to x30, sp, pc, as DWARF has them. Source: arch/arm64/include/uapi/asm/perf_regs.h */
#define REGS_MASK	0x1ffffffffULL
#define REGS	33U
static const unsigned char dwarf[REGS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
	25, 26, 27, 28, 29, 30, 31, 32,
};
#endif

struct fault_rings {
	struct {
		int fd;
		struct perf_event_mmap_page *page;
		u64 counted;	/* faults of the thread until its last sample */
		u64 read;	/* faults of the thread when the ring was last emptied */
		u64 period;	/* faults a sample, as it was last set; 0: FIRST_PERIOD */
	} ring[FAULTS_THREADS];
	unsigned int n;
	unsigned char sample[65536];	/* one that wraps round the end of its ring */
};

#ifdef REGS_MASK
static int open_event(pid_t tid, bool user_only)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a),
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_period = FIRST_PERIOD,
		.sample_regs_user = REGS_MASK, .sample_stack_user = SEEPAGE_WHERE_STACK,
		.exclude_kernel = user_only, .exclude_hv = 1, .disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Faults within system calls, as read(), need more rights. */
static int open_thread(struct fault_rings *f, pid_t tid)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open_event(tid, false);
	void *map;

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		fd = open_event(tid, true);
	if (fd < 0)
		return errno;
	map = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* It counts once there is a ring: what had none would be lost, and nothing would say so. */
	if (map == MAP_FAILED || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		int err = errno;

		if (map != MAP_FAILED)
			munmap(map, (1 + RING_PAGES) * page);
		close(fd);
		return err;
	}
	f->ring[f->n].page = map;
	f->ring[f->n++].fd = fd;
	return 0;
}
#else
static int open_thread(struct fault_rings *f, pid_t tid)
{
	int err = EOPNOTSUPP;

	return err;
}
#endif

/* The threads of the process, up to FAULTS_THREADS; *all: how many there are */
static unsigned int threads_of(const struct target *t, pid_t *tid, unsigned int *all)
{
	int fd = openat(t->dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	unsigned int n = 0;

	*all = 0;
	while (dir && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		if (n < FAULTS_THREADS)
			tid[n++] = (pid_t)strtol(e->d_name, NULL, 10);
		++*all;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return n;
}

/* Returns the rings, or NULL with *err set. *left_out: threads without one */
struct fault_rings *faults_open(const struct target *t, unsigned int *left_out, int *err)
{
	struct fault_rings *f = must(calloc(1, sizeof(*f)));
	pid_t tid[FAULTS_THREADS];
	unsigned int all, n = threads_of(t, tid, &all), i;

	*err = ESRCH;
	for (i = 0; i < n; i++) {
		int failed = open_thread(f, tid[i]);

		/* A thread may have ended meanwhile. */
		if (failed && failed != ESRCH && !f->n) {
			*err = failed;
			break;
		}
	}
	*left_out = all - f->n;
	if (f->n)
		return f;
	free(f);
	return NULL;
}

#ifdef REGS_MASK
/* What perf_event_open(2) describes as PERF_RECORD_SAMPLE, for the sample_type above */
static bool parse(const unsigned char *p, size_t n, struct fault *to)
{
	u64 word[3], reg[REGS], size, copied = 0;
	unsigned int i;

	if (n < sizeof(word))
		return false;
	memcpy(word, p, sizeof(word));
	p += sizeof(word);
	n -= sizeof(word);
	/* No registers: a kernel thread; others: the 32-bit mode */
	if (word[2] != ABI || n < sizeof(reg) + sizeof(size))
		return false;
	memcpy(reg, p, sizeof(reg));
	memcpy(&size, p + sizeof(reg), sizeof(size));
	p += sizeof(reg) + sizeof(size);
	n -= sizeof(reg) + sizeof(size);
	memset(to, 0, sizeof(*to));
	if (size && size <= sizeof(to->s.stack) && n >= size + sizeof(copied)) {
		memcpy(&copied, p + size, sizeof(copied));
		to->s.stack_bytes = (u32)(copied < size ? copied : size);
		memcpy(to->s.stack, p, to->s.stack_bytes);
	}
	to->s.addr = word[0];
	to->faults = word[1];		/* until now; drain() subtracts */
	for (i = 0; i < REGS; i++)
		to->s.regs[dwarf[i]] = reg[i];
	return true;
}
#else
static bool parse(const unsigned char *p, size_t n, struct fault *to)
{
	return false;
}
#endif

/* Copies @n bytes at @at of a ring, which may wrap. */
static void copy(const struct perf_event_mmap_page *page, u64 at, void *to, size_t n)
{
	size_t bytes = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE), from = at & (bytes - 1);
	const unsigned char *data = (const unsigned char *)page + bytes / RING_PAGES;
	size_t first = n < bytes - from ? n : bytes - from;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, n - first);
}

/*
 * A sample stands for the faults of its thread since the one before. The period that the kernel
 * reports is another figure: it changes while the faults are counted.
 */
static void weigh(struct faults *to, struct fault *fault, u64 *counted)
{
	u64 now = fault->faults;

	fault->faults -= *counted;
	to->counted += fault->faults;
	*counted = now;
}

static void drain(struct fault_rings *f, unsigned int i, struct faults *to)
{
	struct perf_event_mmap_page *page = f->ring[i].page;
	/* Pairs with the barriers of perf_output_put_handle() and of ring_buffer_write_tail(). */
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	struct perf_event_header h;
	u64 lost[2];

	while (head - at >= sizeof(h)) {
		copy(page, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;	/* which the kernel does not do */
		copy(page, at, f->sample, h.size);
		if (h.type == PERF_RECORD_SAMPLE && to->n < FAULTS_MAX &&
		    parse(f->sample + sizeof(h), h.size - sizeof(h), &to->v[to->n]))
			weigh(to, &to->v[to->n++], &f->ring[i].counted);
		else if (h.type == PERF_RECORD_SAMPLE)
			to->dropped++;
		if (h.type == PERF_RECORD_LOST && h.size >= sizeof(h) + sizeof(lost)) {
			memcpy(lost, f->sample + sizeof(h), sizeof(lost));
			to->dropped += lost[1];
		}
		at += h.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/*
 * Sets the period by the faults since the last time. A thread that had none keeps its period: one
 * fault is as likely as a thousand.
 */
static void set_period(struct fault_rings *f, unsigned int i)
{
	u64 faults, period;

	if (read(f->ring[i].fd, &faults, sizeof(faults)) != sizeof(faults) ||
	    faults == f->ring[i].read)
		return;
	period = (faults - f->ring[i].read) * f->n * 1000 / (FAULTS_HZ * FAULTS_DRAIN_MS);
	period = period ? period : 1;
	f->ring[i].read = faults;
	/* The kernel samples the next fault when a period is set: a similar one is kept. */
	if (period * 4 >= f->ring[i].period * 3 && period * 3 <= f->ring[i].period * 4)
		return;
	f->ring[i].period = period;
	ioctl(f->ring[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* Adds what the rings hold. To be called every FAULTS_DRAIN_MS. */
void faults_drain(struct fault_rings *f, struct faults *to)
{
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		drain(f, i, to);
		set_period(f, i);
	}
}

/* Adds how many faults there were. */
void faults_close(struct fault_rings *f, struct faults *to)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int i;
	u64 faults;

	for (i = 0; i < f->n; i++) {
		if (read(f->ring[i].fd, &faults, sizeof(faults)) == sizeof(faults))
			to->total += faults;
		munmap(f->ring[i].page, (1 + RING_PAGES) * page);
		close(f->ring[i].fd);
	}
	free(f);
}
