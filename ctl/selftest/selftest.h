/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that leaks and one that does not, in a cgroup of their own. Both begin with BASE
 * bytes and grow at the same pace. RLIMIT_DATA refuses both of them more than LIMIT bytes, so
 * that the detector expects them to be out of memory soon: its patience is about a minute.
 */
#ifndef SEEPAGE_CTL_SELFTEST_H
#define SEEPAGE_CTL_SELFTEST_H

#include "ctl.h"

#define SELFTEST_MIB	(1ULL << 20)
#define SELFTEST_STEP	(256ULL << 10)		/* bytes of one step of growth */
#define SELFTEST_STEP_MS	500
#define SELFTEST_BASE	(16 * SELFTEST_MIB)
#define SELFTEST_LIMIT	(160 * SELFTEST_MIB)	/* of each program */
#define SELFTEST_CACHE	(12 * SELFTEST_MIB)	/* growth of the cache until it is full */
#define SELFTEST_MAX	(2 * SELFTEST_LIMIT)	/* memory.max of both together */
#define SELFTEST_NAME	"seepage-selftest"

/* selftest/program.c */
struct selftest_program {
	const char *comm;	/* up to 15 characters */
	u64 grows;		/* bytes until it is full */
	bool used;		/* it uses all of its memory again and again */
	pid_t pid;
};

/* @cgroup: descriptor of cgroup.procs, -1: none */
bool selftest_start(struct selftest_program *p, int cgroup);
void selftest_end(struct selftest_program *p);

/* selftest/cgroup.c */
struct selftest_cgroup {
	char path[4096];	/* "" if there is none */
	int procs;		/* descriptor of cgroup.procs, or -1 */
};

bool selftest_cgroup_make(struct selftest_cgroup *c);
void selftest_cgroup_remove(struct selftest_cgroup *c);

#endif /* SEEPAGE_CTL_SELFTEST_H */
