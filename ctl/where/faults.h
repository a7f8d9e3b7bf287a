/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults with their stacks: what makes a process grow. That is not what leaks: a page is
 * touched first by what uses it first, and memory that is freed is used again without a fault.
 */
#ifndef SEEPAGE_WHERE_FAULTS_H
#define SEEPAGE_WHERE_FAULTS_H

#include "where/burst.h"

#define FAULTS_HZ	64U	/* samples a second that are aimed at, of all threads */
#define FAULTS_DRAIN_MS	100U	/* milliseconds from one drain of the rings to the next */
#define FAULTS_THREADS	64U	/* that are sampled */
#define FAULTS_MAX	8192U	/* samples that are kept */

struct fault {
	struct seepage_where_sample s;	/* addr, regs and stack of it */
	u64 faults;			/* that it stands for */
};

struct faults {
	struct fault *v;		/* FAULTS_MAX of them */
	struct stack *stack;		/* of each, if the process is one of python; else NULL */
	size_t n;
	u64 counted, total;		/* faults until the last samples, and in all */
	u64 dropped;			/* samples that could not be kept, or not be read */
};

/* faultring.c */
struct fault_rings;
struct fault_rings *faults_open(const struct target *t, unsigned int *left_out, int *err);
void faults_drain(struct fault_rings *f, struct faults *to);
void faults_close(struct fault_rings *f, struct faults *to);

/* faults.c */
struct faults_how {
	u64 seconds;
	size_t top;
	bool (*wait)(void *arg, u64 ms, int fd);	/* false: stop */
	void *arg;
};

int faults_find(struct target *t, const struct faults_how *how, struct result *r);

#endif /* SEEPAGE_WHERE_FAULTS_H */
