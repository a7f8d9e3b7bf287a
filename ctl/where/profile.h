/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The heap profile that a runtime or an allocator keeps by itself: a site for each stack that
 * allocated, with what it has in use.
 */
#ifndef SEEPAGE_WHERE_PROFILE_H
#define SEEPAGE_WHERE_PROFILE_H

#include "where/burst.h"

enum profile_kind {
	PROFILE_NONE,
	PROFILE_GO,
	PROFILE_JEMALLOC,
};

struct profile_site {
	u64 id;			/* stays the same from look to look */
	u64 stack;		/* address of its return addresses, */
	unsigned int frames;	/* and their number */
	u64 blocks, bytes;	/* in use */
	u64 samples;		/* blocks, before they are scaled */
	s64 growth;		/* bytes */
};

struct profile {
	struct profile_site *site;
	size_t n, room;
	u64 bytes;
};

/* go.c */
bool go_is(const struct target *t);
bool go_look(struct target *t, struct profile *p);

/* jeprof.c */
bool jeprof_look(struct target *t, const char *file, struct profile *p);

/* profile.c */
void profile_add(struct profile *p, const struct profile_site *s);
void profile_compare(struct profile *a, struct profile *b);
void profile_sites(struct target *t, const struct profile *p, size_t most, bool native,
		   struct result *r);
void profile_free(struct profile *p);

#endif /* SEEPAGE_WHERE_PROFILE_H */
