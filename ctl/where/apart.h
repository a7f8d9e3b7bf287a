/* SPDX-License-Identifier: GPL-2.0 */
/* apart.c: a child without rights, which parses what a process chose */
#ifndef SEEPAGE_WHERE_APART_H
#define SEEPAGE_WHERE_APART_H

#include <sys/types.h>
#include "where/where.h"

struct apart_how {
	void (*serve)(int fd, void *arg);	/* sends a byte first: it is ready */
	bool (*keeps)(const void *arg, int fd);	/* shall the descriptor stay open? NULL: none */
	void *arg;
	u64 memory;			/* bytes, beside what the tool has mapped */
	unsigned int cpu_s;		/* seconds of CPU time */
	unsigned int children;		/* most that are begun */
};

struct apart {
	pid_t child;
	int fd;				/* -1: no child */
	unsigned int children;		/* so far */
	bool none;			/* the first one was not ready: do not begin another */
};

void apart_new(struct apart *a);
bool apart_begin(struct apart *a, const struct apart_how *how);
ssize_t apart_ask(struct apart *a, const void *question, size_t n, void *answer, size_t size);
void apart_end(struct apart *a);

#endif /* SEEPAGE_WHERE_APART_H */
