/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The device /dev/seepage_where of the module seepage_where: one burst of allocation samples.
 *
 * A caller opens the device and starts a burst with SEEPAGE_WHERE_START. The burst puts probes on
 * functions that allocate, in one process. It samples calls that ask for a size between lo and hi:
 * time, size, address, registers and the top of the stack. There are two sets of samples: calls
 * that are drawn at random from all of them, and by address the latest call that returned it. A
 * block of the second set that is freed goes when its address is given out again for a size
 * between lo and hi, so that one block that stays is found among many that do not. When that set
 * is full, one of its samples, drawn at random, makes room for each new one. A burst ends by itself
 * at the first of its limits, and when the process ends or executes another program, and when the
 * file is closed. SEEPAGE_WHERE_STATUS can be asked at any time. poll() reports POLLIN after the
 * end; read() waits for the end and then returns samples, each a struct seepage_where_sample, those
 * of the first set before the others.
 *
 * A burst may also be on call sites, SEEPAGE_WHERE_SITE: each probe is at the return address of a
 * call that returns a block. Each hit is sampled where 64-bit code has just returned an address
 * that is not 0. The size is not known there: it is 0 in a sample, and lo and hi are not used. Such
 * probes have no others beside them. probe_traps is a limit of each: it is taken out, the others
 * stay, and the burst ends with the last one, as by traps.
 *
 * One file serves one burst, and the machine runs one burst at a time: EBUSY otherwise. EPERM:
 * CAP_PERFMON or CAP_SYS_PTRACE is missing, or the kernel is locked down. ESRCH: no such process,
 * or another one has its pid.
 */
#ifndef _UAPI_LINUX_SEEPAGE_WHERE_H
#define _UAPI_LINUX_SEEPAGE_WHERE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SEEPAGE_WHERE_DEVICE	"seepage_where"
#define SEEPAGE_WHERE_PROBES	16
#define SEEPAGE_WHERE_SAMPLES	4096	/* most of each set */
#define SEEPAGE_WHERE_TRAPS	10000000
#define SEEPAGE_WHERE_MS	600000
#define SEEPAGE_WHERE_STACK	1024	/* bytes of the stack */
#define SEEPAGE_WHERE_REGS	33

/* Where a function has the size that it is asked for, and where it returns the address */
enum seepage_where_kind {
	SEEPAGE_WHERE_ARG0,		/* malloc, operator new, valloc */
	SEEPAGE_WHERE_ARG1,		/* memalign, aligned_alloc */
	SEEPAGE_WHERE_PRODUCT,		/* calloc: the first argument times the second */
	SEEPAGE_WHERE_POSIX,		/* posix_memalign: argument 3; 1: where the address goes */
	SEEPAGE_WHERE_REALLOC,		/* realloc: argument 2; 1: the block that is resized */
	SEEPAGE_WHERE_SITE,		/* a return address: the block is what was returned */
	__SEEPAGE_WHERE_KINDS
};

enum seepage_where_state {
	SEEPAGE_WHERE_NEW,
	SEEPAGE_WHERE_ARMING,
	SEEPAGE_WHERE_ARMED,
	SEEPAGE_WHERE_DISARMING,
	SEEPAGE_WHERE_ENDED,
};

enum seepage_where_reason {
	SEEPAGE_WHERE_RUNNING,
	SEEPAGE_WHERE_BY_TRAPS,
	SEEPAGE_WHERE_BY_TIME,
	SEEPAGE_WHERE_BY_COST,
	SEEPAGE_WHERE_BY_EXIT,		/* the process exited, or executed a program */
	SEEPAGE_WHERE_BY_CALLER,	/* SEEPAGE_WHERE_STOP, or close() */
	SEEPAGE_WHERE_BY_ERROR,		/* a probe was refused */
};

struct seepage_where_probe {
	__s32 fd;			/* of the mapped file */
	__u32 kind;
	__u64 offset;			/* of the instruction, in the file */
};

struct seepage_where_start {
	__s32 pid;			/* as the caller sees it */
	__u32 probes;
	__u64 start_ticks;		/* field 22 of /proc/PID/stat */
	__u64 lo, hi;			/* sizes to sample, in bytes */
	__u64 traps;			/* a limit */
	__u32 samples;			/* most of the first set, at least 1 */
	__u32 ms;			/* a limit */
	__u32 cost_permille;		/* of the time ms of one CPU; 0: no such limit */
	__u32 trap_ns;			/* what a trap is taken to cost */
	__u32 latest;			/* most of the second set; may be 0 */
	__u32 probe_traps;		/* a limit of each probe, of call sites only; 0: none */
	struct seepage_where_probe probe[SEEPAGE_WHERE_PROBES];
};

struct seepage_where_status {
	__u32 state, reason;
	__s32 error;			/* a positive errno of BY_ERROR */
	__u32 error_probe;		/* index of the probe that was refused */
	__u32 samples;			/* of both sets */
	__u32 dropped;			/* calls of that size that were not counted */
	__u64 matched;			/* calls of that size that returned a block */
	__u64 traps;			/* of the process, entries and returns */
	__u64 inherited;		/* of children that have the breakpoints too, once each */
	__u64 armed_ns;			/* how long the probes were there */
	__u64 arm_ns, disarm_ns;	/* what it took to place and to remove them */
};

struct seepage_where_sample {
	__u64 ns;			/* CLOCK_MONOTONIC */
	__u64 size;
	__u64 addr;
	__u64 first_size;		/* of a block that realloc() resizes, at first */
	__u32 resized;			/* how often meanwhile */
	__u32 set;			/* 0: random calls; 1: the latest by address */
	__u32 probe;
	__u32 stack_bytes;		/* copied, from the stack pointer up */
	__u64 regs[SEEPAGE_WHERE_REGS];	/* at the probe, by their DWARF numbers; then pc where
					 * these do not have it
					 */
	__u8 stack[SEEPAGE_WHERE_STACK];
};

/* What each probe of call sites has had */
struct seepage_where_sites {
	__u32 traps[SEEPAGE_WHERE_PROBES];
};

#define SEEPAGE_WHERE_START	_IOW(0xb7, 1, struct seepage_where_start)
#define SEEPAGE_WHERE_STOP	_IO(0xb7, 2)
#define SEEPAGE_WHERE_STATUS	_IOR(0xb7, 3, struct seepage_where_status)
#define SEEPAGE_WHERE_SITES	_IOR(0xb7, 4, struct seepage_where_sites)

#endif /* _UAPI_LINUX_SEEPAGE_WHERE_H */
