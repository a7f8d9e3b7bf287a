// SPDX-License-Identifier: GPL-2.0
/*
 * How long tasks waited for memory: the totals of /proc/pressure/memory (PSI), Linux 4.20 or
 * later with CONFIG_PSI and not switched off.
 */
#include <string.h>
#include "export/export.h"

/*
 * Parses lines "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" and "full ...". What @text
 * lacks stays unknown.
 */
void export_pressure_parse(const char *text, struct export_pressure *p)
{
	static const struct { const char *name; size_t at; } kinds[] = {
		{ "some ", offsetof(struct export_pressure, some_us) },
		{ "full ", offsetof(struct export_pressure, full_us) },
	};
	const char *line, *total;
	u64 v;
	size_t i;

	p->some_us = UINT64_MAX;
	p->full_us = UINT64_MAX;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			if (strncmp(line, kinds[i].name, strlen(kinds[i].name)))
				continue;
			total = strstr(line, " total=");
			if (total && total < line + strcspn(line, "\n") &&
			    sscanf(total, " total=%llu", &v) == 1)
				memcpy((char *)p + kinds[i].at, &v, sizeof(v));
		}
	}
}

void export_pressure_read(struct export_pressure *p)
{
	char text[512];
	FILE *f = fopen("/proc/pressure/memory", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	export_pressure_parse(text, p);
}

void export_pressure(struct prom *p, const struct export_pressure *pressure)
{
	static const char *const kind[] = { "some", "full" };
	u64 us[] = { pressure->some_us, pressure->full_us };
	size_t i;

	prom_family(p, PROM_COUNTER, "memory_pressure_seconds_total",
		    "Time in which some tasks, or all of them (full), waited for memory.");
	for (i = 0; i < ARRAY_SIZE(kind); i++) {
		if (us[i] == UINT64_MAX)
			continue;
		prom_begin(p);
		prom_label(p, "kind", kind[i], strlen(kind[i]));
		prom_end(p, us[i], 6);
	}
}
