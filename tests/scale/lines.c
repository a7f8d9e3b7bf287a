// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's user-mode emulation. Between two marks (scale.h) it counts the
 * instructions of the module, the cache lines that they touch, and how many of these
 * another simulated CPU had.
 *
 * The model is MESI with caches that never overflow. For each line it keeps the set of
 * CPUs that have it and the last writer. A transfer is a read of a line that another CPU
 * wrote and this CPU has not read since, or a write to a line that another CPU has. The
 * first touch of a line is none.
 *
 * A string instruction counts once for each step, as under the counting clock of
 * tests/lab/vm.
 *
 * The declarations are those of version 1 of the plugin interface, QEMU 7.2's
 * include/qemu/qemu-plugin.h, which Debian has no package of.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scale.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
typedef uint32_t qemu_plugin_meminfo_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int vcpu, void *data),
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *counter,
						uint64_t add);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int vcpu, qemu_plugin_meminfo_t info,
						 uint64_t vaddr, void *data),
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *data);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

#define LINE_SHIFT	6

struct line {
	uint64_t has[SCALE_CPUS / 64];	/* CPUs that have it */
	uint32_t stretch;		/* last one that touched it */
	int32_t writer;			/* last CPU that wrote it, plus 1; 0: none did */
};

static struct scale_shared *const shared = (struct scale_shared *)SCALE_SHARED;
static bool started, paused;
static uint64_t insns, begun, paused_at;
static uint32_t stretch;	/* its number */
static uint64_t lines, remote;

/* Lines of the image and of the arena. */
static const struct range {
	uint64_t begin, end;
} ranges[] = { { SCALE_ARENA, SCALE_END }, { SCALE_IMAGE, SCALE_PERCPU } };
static struct line *table[2];

static struct line *line_of(uint64_t vaddr)
{
	for (int i = 0; i < 2; i++)
		if (vaddr >= ranges[i].begin && vaddr < ranges[i].end)
			return &table[i][(vaddr - ranges[i].begin) >> LINE_SHIFT];
	return NULL;
}

/* Return: another CPU has to give the line away, or a copy of what it wrote. */
static bool access_line(struct line *l, unsigned int cpu, bool store)
{
	uint64_t bit = 1ULL << cpu % 64, other = 0;
	bool mine = l->has[cpu / 64] & bit, transfer;

	if (!store) {
		transfer = !mine && l->writer && l->writer - 1 != (int)cpu;
		l->has[cpu / 64] |= bit;
		return transfer;
	}
	for (unsigned int i = 0; i < SCALE_CPUS / 64; i++) {
		other |= l->has[i] & (i == cpu / 64 ? ~bit : ~0ULL);
		l->has[i] = 0;
	}
	l->has[cpu / 64] = bit;
	l->writer = (int)cpu + 1;
	return other;
}

static void touch(uint64_t vaddr, bool store, bool counted)
{
	static const struct line *last;
	static uint64_t last_insn;
	struct line *l = line_of(vaddr);
	bool transfer;

	if (!l)
		return;
	transfer = access_line(l, shared->cpu % SCALE_CPUS, store);
	if (!counted || paused)
		return;
	/* an instruction that reads and writes a line takes it at once, to write */
	remote += transfer && !(store && l == last && insns == last_insn);
	last = transfer ? l : NULL;
	last_insn = insns;
	lines += l->stretch != stretch;
	l->stretch = stretch;
}

static void accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	uint64_t last = vaddr + (1ULL << qemu_plugin_mem_size_shift(info)) - 1;
	bool store = qemu_plugin_mem_is_store(info);

	(void)vcpu;
	touch(vaddr, store, data);
	if (vaddr >> LINE_SHIFT != last >> LINE_SHIFT)
		touch(last, store, data);
}

static void marked(unsigned int vcpu, void *data)
{
	(void)vcpu;
	switch ((uintptr_t)data) {
	case MARK_START:
		started = true;
		shared->magic = SCALE_MAGIC;
		break;
	case MARK_BEGIN:
		stretch++;
		lines = 0;
		remote = 0;
		begun = insns;
		break;
	case MARK_END:
		shared->insns = insns - begun;
		shared->lines = lines;
		shared->remote = remote;
		break;
	case MARK_PAUSE:
		paused = true;
		paused_at = insns;
		break;
	case MARK_GO_ON:
		paused = false;
		begun += insns - paused_at;
	}
}

static void call_mark(struct qemu_plugin_insn *insn, uint32_t number)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)number);
}

static bool within(const unsigned long long range[2], uint64_t vaddr)
{
	return vaddr >= range[0] && vaddr < range[1];
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
		bool counted;
		uint32_t number;

		if (qemu_plugin_insn_size(insn) == 7 && memcmp(code, "\x0f\x1f\x80", 3) == 0) {
			memcpy(&number, code + 3, sizeof(number));
			if ((number & 0xffff0000u) == MARK_MAGIC)
				call_mark(insn, number & 0xffff);
		}
		if (!started)
			continue;
		counted = within(shared->counted[0], vaddr) || within(shared->counted[1], vaddr);
		if (counted)
			qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
								   &insns, 1);
		if (counted || within(shared->followed, vaddr))
			qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW,
							 counted ? &insns : NULL);
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	for (int i = 0; i < 2; i++) {
		size_t size = ((ranges[i].end - ranges[i].begin) >> LINE_SHIFT) *
			      sizeof(*table[i]);

		table[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (table[i] == MAP_FAILED) {
			perror("lines");
			return -1;
		}
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
