/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the simulation share: world.c (compiled as kernel code), main.c (user
 * space) and lines.c (the plugin of QEMU, which runs in the same address space).
 */
#ifndef SCALE_H
#define SCALE_H

#define SCALE_CPUS	256

/*
 * Addresses. Per-CPU data is linked at SCALE_PERCPU, so that the base of %gs of CPU n,
 * SCALE_ARENA + n * SCALE_STRIDE - SCALE_PERCPU, is below the arena. The stack canary,
 * %gs:40, is there as well.
 */
#define SCALE_IMAGE	0x400000ULL
#define SCALE_PERCPU	0x4000000ULL
#define SCALE_SHARED	0x0f0000000000ULL
#define SCALE_ARENA	0x100000000000ULL
#define SCALE_STRIDE	0x20000ULL
#define SCALE_HEAP	(SCALE_ARENA + SCALE_CPUS * SCALE_STRIDE)
#define SCALE_END	(SCALE_ARENA + 0x200000000ULL)
#define SCALE_MMS	0x20000ULL	/* below the end, for the mm of a process each */
#define SCALE_MM_BYTES	2496ULL

#define SCALE_MAGIC	0x5ca1e

/* Between the program and the plugin, at SCALE_SHARED. */
struct scale_shared {
	/* set by the program before MARK_START */
	unsigned long long counted[2][2];	/* text of the module; of stand-ins: begin, end */
	unsigned long long followed[2];		/* text that only moves lines: begin, end */
	unsigned long long cpu;			/* simulated CPU that runs */
	/* set by the plugin: at MARK_START, and of the stretch at MARK_END */
	unsigned long long magic;
	unsigned long long insns;		/* instructions of counted text */
	unsigned long long lines;		/* different lines that it touched */
	unsigned long long remote;		/* transfers of lines from other CPUs */
};

/* A no-op of x86 with a number that no compiler writes, as in tests/bench/insns.h. */
#define MARK_MAGIC	0x5ca10000u

enum {
	MARK_START = 1,		/* the program has filled in struct scale_shared */
	MARK_BEGIN,		/* of a stretch */
	MARK_END,
	MARK_PAUSE,		/* what comes up to MARK_GO_ON is not of the stretch */
	MARK_GO_ON,
};

#define mark(kind)                                      \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long %c0" \
			 :                                   \
			 : "i"(MARK_MAGIC | (kind))          \
			 : "memory")

/* world.c, called by main.c */
struct w_process;
void w_boot(unsigned int cpus, const char *params);
void w_patch(void);
struct w_process *w_fork(const char *comm);
void w_fault(unsigned int cpu, const struct w_process *p);
void w_announce(struct w_process *p);
void w_others(struct w_process **running, unsigned int each);
void w_empty(unsigned int cpu, const struct w_process *p);
void w_interrupts(void);
void w_sleep(void);
unsigned int w_work(unsigned int cpu);
unsigned long long w_now(void);
unsigned long long w_bytes(void);
unsigned long long w_object(const char *cache);
extern int w_prove_shared;

/* main.c, called by world.c through lib.S, which aligns the stack */
void u_set_gs(unsigned long base);
void u_die(const char *text);
void u_print(const char *fmt, __builtin_va_list args);
int u_format(char *buf, unsigned long size, const char *fmt, __builtin_va_list args);
void *u_writable(void *begin, void *end);

#endif
