// SPDX-License-Identifier: GPL-2.0
/*
 * Runtimes and allocators that keep a profile of their own: what to ask them for.
 */
#include <ctype.h>
#include <string.h>
#include "where/profile.h"

static const struct {
	const char *name;	/* of a mapped file, without "lib" and the version */
	const char *text;
} runtimes[] = {
	{ "jemalloc",
	  "jemalloc: started with MALLOC_CONF=prof:true it keeps a profile; --profile shows it" },
	{ "tcmalloc", "tcmalloc: with HEAPPROFILE=PREFIX it writes profiles of the heap" },
	{ "tcmalloc_and_profiler",
	  "tcmalloc: with HEAPPROFILE=PREFIX it writes profiles of the heap" },
	{ "jvm", "Java: jcmd PID GC.class_histogram counts its objects" },
	{ "node", "node: --heapsnapshot-signal=SIGUSR2 lets it write its heap" },
	{ "nodejs", "node: --heapsnapshot-signal=SIGUSR2 lets it write its heap" },
	{ "coreclr", ".NET: dotnet-gcdump collect -p PID counts its objects" },
	{ "ruby", "ruby: ObjectSpace.trace_object_allocations_start, then dump_all" },
	{ "perl", "perl: Devel::MAT reads a dump of its heap" },
	{ "python", "python: tracemalloc names the lines that allocate" },
};

/*
 * Is the file of a runtime: "perl", "perl5.36", "libperl.so.5.36", "libruby-3.1.so.3.1"? Others
 * have more of a name, such as "node_exporter", or only a folder of it.
 */
static bool is_runtime(const char *path, const char *name)
{
	const char *base = strrchr(path, '/'), *rest;
	size_t n = strlen(name);

	base = base ? base + 1 : path;
	if (!strncmp(base, "lib", 3))
		base += 3;
	if (strncmp(base, name, n))
		return false;
	rest = base + n;
	if (*rest == '-')
		return isdigit((unsigned char)rest[1]);
	return !isalpha((unsigned char)*rest) && *rest != '_';
}

static bool has_file(const struct target *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec && is_runtime(t->map[i].file, name))
			return true;
	return false;
}

static void add(struct result *r, const char *text)
{
	result_note(r, "%s", text);
	if (!r->profiler)
		r->profiler = text;
}

/*
 * Adds a note for each runtime that the process has; the first is the one to ask. If the
 * profile of one is the answer, there is nothing to say of it.
 */
void runtime_notes(const struct target *t, struct result *r)
{
	const char *shown = strcmp(r->method ?: "", "profile") ? "" : r->allocator;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (strcmp(runtimes[i].name, shown) && has_file(t, runtimes[i].name))
			add(r, runtimes[i].text);
	if (go_is(t) && !json_object_array_length(r->sites))
		add(r, "Go: /debug/pprof/heap of the process has its profile");
}
