/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEPAGE_WHERE_GO_H
#define SEEPAGE_WHERE_GO_H

#include "where/where.h"

/* go.c: the profile of Go's runtime */
struct go_site {
	u64 bucket;		/* its address */
	unsigned int frames;
	u64 blocks, bytes;	/* in use */
	u64 samples;		/* blocks, before they are scaled */
	s64 growth;		/* bytes */
};

struct go_profile {
	struct go_site *site;
	size_t n;
	u64 bytes;
};

bool go_is(const struct target *t);
bool go_look(struct target *t, struct go_profile *p);
void go_compare(const struct go_profile *a, struct go_profile *b);
struct json_object *go_site_json(struct target *t, const struct go_site *s, size_t rank,
				 s64 bytes_per_hour);
void go_free(struct go_profile *p);

#endif /* SEEPAGE_WHERE_GO_H */
