// SPDX-License-Identifier: GPL-2.0
/*
 * How many silences hold notifications back: those of seepage silence that have not ended.
 */
#include <string.h>
#include "export/export.h"
#include "quiet/quiet.h"

/* The last one: a silence with several of the others */
static const char *const kinds[EXPORT_SILENCE_KINDS] = {
	"alert", "unit", "name", "cgroup", "uid", "several",
};

/* Returns an index in kinds[], its size for one that is damaged: that silences nothing. */
static unsigned int kind_of(const struct json_object *silence)
{
	unsigned int i, kind = ARRAY_SIZE(kinds), n = 0;

	for (i = 0; i + 1 < ARRAY_SIZE(kinds); i++) {
		if (!json_object_object_get(silence, kinds[i]))
			continue;
		kind = i;
		n++;
	}
	return n > 1 ? ARRAY_SIZE(kinds) - 1 : kind;
}

/* A file that cannot be read is another thing than none: it is not known what it has. */
void export_silences_read(struct export_silences *s)
{
	struct json_object *list, *o;
	struct quiet q = { 0 };
	u64 now = clock_real_ns();
	unsigned int kind;
	size_t i;

	memset(s, 0, sizeof(*s));
	quiet_look(&q);
	s->known = !*q.err;
	list = q.o ? json_object_object_get(q.o, "silences") : NULL;
	for (i = 0; list && i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (quiet_over(o, now))
			continue;
		kind = kind_of(o);
		if (kind < ARRAY_SIZE(kinds))
			s->n[kind]++;
	}
	quiet_free(&q);
}

void export_silences(struct prom *p, const struct export_silences *s)
{
	unsigned int i;

	prom_family(p, PROM_GAUGE, "silences",
		    "Silences that hold notifications back, by what they are about.");
	for (i = 0; s->known && i < ARRAY_SIZE(kinds); i++) {
		prom_begin(p);
		prom_label(p, "kind", kinds[i], strlen(kinds[i]));
		prom_end(p, s->n[i], 0);
	}
}
