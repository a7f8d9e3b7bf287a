// SPDX-License-Identifier: GPL-2.0
/* From attributes of the module's messages to the writer of a recording. */
#include <stddef.h>
#include <string.h>
#include "series/series.h"

/**
 * series_take_conf() - read the configuration of a pass
 * @nest: SEEPAGE_A_CONFIG
 * @c: what it has; keys that this program does not know are left out
 *
 * Context: none. Cannot fail.
 */
void series_take_conf(const struct nlattr *nest, struct conf *c)
{
	struct nlattr *pos;
	int rem;
	u64 v;

	memset(c, 0, sizeof(*c));
	nla_for_each_nested(pos, nest, rem) {
		if (nla_type(pos) < 1 || nla_type(pos) > SEEPAGE_CFG_MAX || !attr_u64(pos, &v))
			continue;
		c->set[nla_type(pos)] = true;
		c->v[nla_type(pos)] = (u32)v;
	}
}

/**
 * series_take_gone() - write that series have ended
 * @a: SEEPAGE_A_GONE: their numbers
 *
 * Context: between passes or in one. The writer keeps its errors until series_write_close().
 */
void series_take_gone(struct series_writer *w, const struct nlattr *a)
{
	size_t n = (size_t)nla_len(a) / sizeof(u64), i;
	u64 id;

	for (i = 0; i < n; i++) {
		memcpy(&id, (char *)nla_data(a) + i * sizeof(id), sizeof(id));
		series_write_gone(w, id);
	}
}

/**
 * series_take_samples() - write samples of a pass
 * @a: SEEPAGE_A_SAMPLES
 * @size: bytes of each. A newer module may add members at the end. The samples of the first module
 *	version end before known_rise; what is missing stays 0
 *
 * Context: in a pass. The writer keeps its errors until series_write_close().
 */
void series_take_samples(struct series_writer *w, const struct nlattr *a, u64 size)
{
	struct seepage_raw_sample s = { 0 };
	const char *p = nla_data(a);
	size_t left = (size_t)nla_len(a);

	if (size < offsetof(struct seepage_raw_sample, known_rise))
		return;
	for (; left >= size; left -= size, p += size) {
		memcpy(&s, p, size < sizeof(s) ? size : sizeof(s));
		series_write_sample(w, &s);
	}
}
