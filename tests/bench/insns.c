// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's TCG that counts guest instructions between two marks
 * (insns.h), on any number of virtual CPUs, which the counting clock of
 * tests/lab/vm cannot: that has one. Only for the one thread that the lab gives
 * all virtual CPUs (thread=single): what another CPU does while one is between
 * its marks is counted to that as well, so that the median of many short
 * stretches is looked at.
 *
 * At MARK_TELL a line for each CPU is added to the file of the argument out=:
 * cpu, stretches, least and median of their instructions.
 *
 * The declarations are those of version 1 of the plugin interface, QEMU 7.2's
 * include/qemu/qemu-plugin.h, which Debian has no package of.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insns.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int vcpu, void *data),
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *counter,
						uint64_t add);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

#define CPUS		64
#define STRETCHES	65536

static const char *out;
/* Of all CPUs: they take turns in one thread. */
static uint64_t instructions;

static struct {
	uint64_t begun;		/* 0: it is not between its marks */
	uint32_t n;
	uint32_t lost;
	uint32_t took[STRETCHES];
} cpus[CPUS];

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void report_insns(void)
{
	FILE *f = fopen(out, "a");

	if (!f) {
		perror(out);
		exit(1);
	}
	for (unsigned int i = 0; i < CPUS; i++) {
		if (cpus[i].n) {
			qsort(cpus[i].took, cpus[i].n, sizeof(cpus[i].took[0]), by_value);
			fprintf(f, "%u %u %u %u\n", i, cpus[i].n, cpus[i].took[0],
				cpus[i].took[cpus[i].n / 2]);
		}
		if (cpus[i].lost)
			fprintf(f, "lost %u\n", cpus[i].lost);
		cpus[i].n = 0;
		cpus[i].lost = 0;
	}
	fclose(f);
}

static void marked(unsigned int vcpu, void *data)
{
	uint64_t took;

	if (vcpu >= CPUS)
		return;
	switch ((uintptr_t)data) {
	case MARK_BEGIN:
		cpus[vcpu].begun = instructions;
		break;
	case MARK_END:
		took = instructions - cpus[vcpu].begun;
		if (cpus[vcpu].begun && took <= UINT32_MAX && cpus[vcpu].n < STRETCHES)
			cpus[vcpu].took[cpus[vcpu].n++] = (uint32_t)took;
		else
			cpus[vcpu].lost++;
		cpus[vcpu].begun = 0;
		break;
	case MARK_TELL:
		report_insns();
	}
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		uint32_t number;

		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &instructions, 1);
		if (qemu_plugin_insn_size(insn) != 7 || memcmp(code, "\x0f\x1f\x80", 3) != 0)
			continue;
		memcpy(&number, code + 3, sizeof(number));
		if ((number & 0xffff0000u) != MARK_MAGIC)
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)(number & 0xffff));
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (strncmp(argv[i], "out=", 4) == 0)
			out = argv[i] + 4;
	if (!out) {
		fprintf(stderr, "insns: out=FILE is missing\n");
		return -1;
	}
	out = strdup(out);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
