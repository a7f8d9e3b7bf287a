// SPDX-License-Identifier: GPL-2.0
/*
 * Runtimes and allocators that keep a profile of their own: what to ask them for.
 */
#include <string.h>
#include "where/where.h"

static const struct {
	const char *file;	/* part of the name of a mapped file */
	const char *text;
} runtimes[] = {
	{ "jemalloc", "jemalloc: with MALLOC_CONF=prof:true,prof_leak:true it profiles itself" },
	{ "tcmalloc", "tcmalloc: with HEAPPROFILE=PREFIX it writes profiles of the heap" },
	{ "libjvm.so", "Java: jcmd PID GC.class_histogram counts its objects" },
	{ "/node", "node: --heapsnapshot-signal=SIGUSR2 lets it write its heap" },
	{ "libcoreclr.so", ".NET: dotnet-gcdump collect -p PID counts its objects" },
	{ "libruby", "ruby: ObjectSpace.trace_object_allocations_start, then dump_all" },
	{ "/perl", "perl: Devel::MAT reads a dump of its heap" },
	{ "python", "python: tracemalloc names the lines that allocate" },
};

static bool has_file(const struct target *t, const char *part)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec && strstr(t->map[i].file, part))
			return true;
	return false;
}

/* Adds a note for each runtime that the process has. */
void runtime_notes(const struct target *t, struct result *r)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (has_file(t, runtimes[i].file))
			result_note(r, "%s", runtimes[i].text);
	if (go_is(t) && !json_object_array_length(r->sites))
		result_note(r, "Go: /debug/pprof/heap of the process has its profile");
}
