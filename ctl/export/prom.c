// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the text format of Prometheus, version 0.0.4. HELP and TYPE of a family are
 * printed before its first sample, so a family without samples is left out.
 */
#include "export/export.h"

void prom_family(struct prom *p, enum prom_type type, const char *name, const char *help)
{
	p->name = name;
	p->type = type == PROM_COUNTER ? "counter" : "gauge";
	p->help = help;
	p->headed = false;
}

/* Begins a sample. prom_label() may follow, prom_end() or prom_end_signed() must. */
void prom_begin(struct prom *p)
{
	if (!p->headed)
		fprintf(p->f, "# HELP seepage_%s %s\n# TYPE seepage_%s %s\n", p->name, p->help,
			p->name, p->type);
	p->headed = true;
	p->labels = false;
	fprintf(p->f, "seepage_%s", p->name);
}

static void escape(FILE *f, const char *s, size_t len)
{
	size_t k, i;
	u32 c;

	for (; len; s += k, len -= k) {
		k = utf8_char(s, len, &c);
		if (k && c == '\n') {
			fputs("\\n", f);
		} else if (k && (c == '"' || c == '\\')) {
			fprintf(f, "\\%c", (char)c);
		} else if (k && !is_control(c)) {
			fwrite(s, 1, k, f);
		} else {
			/* no UTF-8, or a terminal would obey it: escaped as in fmt_safe() */
			k = k ? k : 1;
			for (i = 0; i < k; i++)
				fprintf(f, "\\\\x%02x", (unsigned char)s[i]);
		}
	}
}

/* Adds a label; none if @s is NULL. */
void prom_label(struct prom *p, const char *label, const char *s, size_t len)
{
	if (!s)
		return;
	fprintf(p->f, "%s%s=\"", p->labels ? "," : "{", label);
	escape(p->f, s, len);
	fputc('"', p->f);
	p->labels = true;
}

void prom_label_number(struct prom *p, const char *label, u64 v)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", v);

	prom_label(p, label, text, (size_t)len);
}

/* Ends a sample with its value. @v: in units of 10^-@decimals */
void prom_end(struct prom *p, u64 v, unsigned int decimals)
{
	u64 unit = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	fprintf(p->f, "%s %llu", p->labels ? "}" : "", v / unit);
	if (decimals)
		fprintf(p->f, ".%0*llu", (int)decimals, v % unit);
	fputc('\n', p->f);
}

void prom_end_signed(struct prom *p, double v)
{
	fprintf(p->f, "%s %.3f\n", p->labels ? "}" : "", v);
}
