// SPDX-License-Identifier: GPL-2.0
/* The list of findings: text for people, one object for programs. */
#include <stdarg.h>
#include <string.h>
#include "doctor/doctor.h"

static const char *const level_names[DOCTOR_LEVELS] = {
	[DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_BAD] = "bad",
	[DOCTOR_UNKNOWN] = "unknown",
};

/* Adds a finding. More than DOCTOR_FINDINGS would be a mistake here: the last one is replaced. */
void doctor_find(struct doctor *d, const char *check, enum doctor_level level, const char *fmt, ...)
{
	struct finding *f = &d->found[d->n < DOCTOR_FINDINGS ? d->n++ : DOCTOR_FINDINGS - 1];
	char raw[sizeof(f->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	f->check = check;
	f->level = level;
	f->remedy[0] = '\0';
	fmt_safe(f->text, sizeof(f->text), raw, strlen(raw));
}

/* Adds the remedy of the finding that was added last. */
void doctor_remedy(struct doctor *d, const char *fmt, ...)
{
	struct finding *f = &d->found[d->n - 1];
	char raw[sizeof(f->remedy)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	fmt_safe(f->remedy, sizeof(f->remedy), raw, strlen(raw));
}

unsigned int doctor_count(const struct doctor *d, enum doctor_level level)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < d->n; i++)
		n += d->found[i].level == level;
	return n;
}

#define INDENT	21	/* columns before the text of a finding */

void doctor_print(const struct doctor *d)
{
	enum doctor_level level;
	char head[64];
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct finding *f = &d->found[i];

		snprintf(head, sizeof(head), "%-7s %-12s ", level_names[f->level], f->check);
		fold(head, INDENT, f->text);
		snprintf(head, sizeof(head), "%*s-> ", INDENT, "");
		if (*f->remedy)
			fold(head, INDENT + 3, f->remedy);
	}
	for (level = DOCTOR_OK; level < DOCTOR_LEVELS; level++)
		out_printf("%s%u %s", level ? ", " : "", doctor_count(d, level),
			   level_names[level]);
	out_printf("\n");
}

static struct json_object *text_json(const char *s)
{
	return *s ? json_text(s, strlen(s)) : NULL;
}

int doctor_json(const struct ctx *ctx, const struct doctor *d)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	enum doctor_level level;
	size_t i;

	json_object_object_add(o, "version", json_object_new_string(SEEPAGE_CTL_VERSION));
	json_object_object_add(o, "kernel", text_json(d->release));
	for (i = 0; i < d->n; i++) {
		const struct finding *f = &d->found[i];
		struct json_object *e = json_object_new_object();

		json_object_object_add(e, "check", json_object_new_string(f->check));
		json_object_object_add(e, "level", json_object_new_string(level_names[f->level]));
		json_object_object_add(e, "text", text_json(f->text));
		json_object_object_add(e, "remedy", text_json(f->remedy));
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "findings", list);
	for (level = DOCTOR_OK; level < DOCTOR_LEVELS; level++)
		json_object_object_add(o, level_names[level],
				       json_object_new_int64(doctor_count(d, level)));
	return out_json(ctx, o);
}
