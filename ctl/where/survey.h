/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two looks of `seepage where`, and all that is known of the process.
 */
#ifndef SEEPAGE_WHERE_SURVEY_H
#define SEEPAGE_WHERE_SURVEY_H

#include "where/burst.h"
#include "where/keep.h"
#include "where/profile.h"

#define TOP		10

/* What the user asked for, as far as the looks have to know it */
struct wanted {
	bool census, burst, profile, text, automatic, keep;
	u64 seconds, top, class_bytes;
	const char *diff, *object;
};

struct survey {
	struct ctx *ctx;
	struct wanted want;
	struct target t;
	struct object object;	/* what allocates */
	struct bins bins;
	struct look a, b;
	struct seen *pages;	/* present at the first look; NULL: there was none, but a file */
	u64 anon_a;		/* bytes of anonymous memory at the first look */
	bool unknown;		/* chunks are less than half of them, or do not add up */
	struct page_look new_pages;
	struct page_count first;	/* the number of pages at the first look */
	struct profile profile_a, profile_b;
	enum profile_kind profile;	/* that the process keeps, and that is the answer */
	struct result r;
	int signals;
	bool stopped;		/* by a signal between the looks */
	struct drawing drawing;
	struct keeper keeper;		/* with --keep */
	bool is_charged;		/* that has a look to close */
	u64 looks_cpu, looks_bytes;	/* CPU time in ns, and what was read, without the burst */
};

/* looks.c */
#define LOOK_BYTES	(32768 * MIB)	/* that one look reads of heaps, */
#define LOOK_SECONDS	300U		/* and how long it may take */
bool survey_wait(void *arg, u64 ms, int fd);
int survey_object(struct survey *s);
bool survey_is_other(const struct survey *s);
int survey_look(struct survey *s, struct look *l, bool remember, const struct seen *before);
bool survey_count(void *arg, struct look *l);
bool survey_is_unknown(const struct survey *s, const struct look *l);
int survey_first(struct survey *s);
int survey_second(struct survey *s);
void survey_free(struct survey *s);

/* profiled.c */
int survey_profile(struct survey *s);
int survey_profile_again(struct survey *s);

/* notes.c */
void survey_notes(struct survey *s);
const char *survey_missing(const struct survey *s);
void survey_say(const struct survey *s, u64 again);
bool survey_grows(const struct result *r);

#endif /* SEEPAGE_WHERE_SURVEY_H */
