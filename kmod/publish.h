/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Publishing: alerts, samples, and what the detector is fed, on their way out of the
 * pipeline. The stages call the functions below. netlink.c sets the callbacks once its
 * family is registered, and clears them before the family is gone.
 *
 * Lifetime: the pointer is read and changed under seep_table_mutex only, and callbacks run
 * with the mutex held. So none runs any more when seep_publish_set(NULL) returns. A pass
 * holds the mutex from begin() to end().
 *
 * Context: process, may sleep, seep_table_mutex.
 */
#ifndef SEEP_PUBLISH_H
#define SEEP_PUBLISH_H

#include <linux/lockdep.h>
#include "seep.h"

struct seep_publish_ops {
	void (*alert)(const struct seep_alert *a);
	void (*sample)(struct seep_rec *rec);	/* it has changed; while seep_samples_on */

	/* A pass begins: @left and @shmem_total as in read.h; @c is valid until end(). */
	void (*begin)(u64 now_ns, u64 left, u64 shmem_total, bool full,
		      const struct seep_conf *c);
	/* The detector was fed @s, its verdict is @v. Only while seep_series_on. */
	void (*fed)(struct seep_rec *rec, const struct seep_sample *s,
		    const struct seep_verdict *v);
	void (*fed_group)(const struct seep_group *g, const struct seep_verdict *v);
	void (*end)(void);

	void (*gone)(struct list_head *graves);	/* dead records, linked by hot */
};

/* publish.c; table mutex */
extern const struct seep_publish_ops *seep_publish;	/* or NULL */
/*
 * The series group has listeners and everything so far was sent. Callbacks set it
 * (begin(), gone()) and clear it; so does seep_publish_set().
 */
extern bool seep_series_on;
/* The sample group had listeners when the pass began. seep_publish_set() clears it. */
extern bool seep_samples_on;
void seep_publish_set(const struct seep_publish_ops *ops);	/* takes the mutex itself */

static inline void seep_publish_alert(const struct seep_alert *a)
{
	lockdep_assert_held(&seep_table_mutex);
	if (seep_publish)
		seep_publish->alert(a);
}

static inline void seep_publish_sample(struct seep_rec *rec)
{
	lockdep_assert_held(&seep_table_mutex);
	if (unlikely(seep_samples_on))
		seep_publish->sample(rec);
}

static inline void seep_publish_begin(u64 now_ns, u64 left, u64 shmem_total, bool full,
				      const struct seep_conf *c)
{
	lockdep_assert_held(&seep_table_mutex);
	if (seep_publish)
		seep_publish->begin(now_ns, left, shmem_total, full, c);
}

static inline void seep_publish_fed(struct seep_rec *rec, const struct seep_sample *s,
				    const struct seep_verdict *v)
{
	lockdep_assert_held(&seep_table_mutex);
	if (unlikely(seep_series_on))
		seep_publish->fed(rec, s, v);
}

static inline void seep_publish_fed_group(const struct seep_group *g,
					  const struct seep_verdict *v)
{
	lockdep_assert_held(&seep_table_mutex);
	if (unlikely(seep_series_on))
		seep_publish->fed_group(g, v);
}

static inline void seep_publish_end(void)
{
	lockdep_assert_held(&seep_table_mutex);
	if (seep_publish)
		seep_publish->end();
}

static inline void seep_publish_gone(struct list_head *graves)
{
	lockdep_assert_held(&seep_table_mutex);
	if (seep_publish)
		seep_publish->gone(graves);
}

#endif /* SEEP_PUBLISH_H */
