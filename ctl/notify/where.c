// SPDX-License-Identifier: GPL-2.0
/*
 * Where a process leaks, as far as `watch --where` has found out: the newest answer that is kept
 * about the process of an alert. Its file has pid, start and boot in its name, so that it is found
 * after the end of the process as well. One about an earlier program of the process is older than
 * that program, and one about a later process of the pid has a later start.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "notify/notify.h"
#include "where/frame.h"

#define NS		1000000000ULL
#define START_SLACK_S	5	/* ages of alerts are whole seconds; clocks are set */
#define STACK_MOST	5U	/* functions that are named */
#define INLINED_MOST	1U	/* of those that are inlined into one function */

static const char prefix[] = "answer-";

/* Seconds since 1970 when a process started, of which /proc/PID/stat has @ticks */
static s64 started_s(u64 ticks)
{
	struct timespec up;
	long hz = sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &up);
	ticks /= (u64)(hz > 0 ? hz : 100);
	return (s64)(clock_real_ns() / NS) - (s64)up.tv_sec + (s64)ticks;
}

/* Is file @name an answer about process @pid in @boot, which began by @begun_s? */
static bool is_of_process(const char *name, u64 pid, const char *boot, s64 begun_s)
{
	char start[32];
	u64 ticks;
	int n;

	n = snprintf(start, sizeof(start), "%s%llu-", prefix, pid);
	if (strncmp(name, start, (size_t)n))
		return false;
	name += n;
	ticks = strtoull(name, (char **)&name, 10);
	return ticks && *name == '-' && !strcmp(name + 1, boot) &&
	       started_s(ticks) <= begun_s + START_SLACK_S;
}

/* Reads the newest answer about the program that process @pid executes since @begun_s. */
static struct json_object *newest(DIR *d, u64 pid, const char *boot, s64 begun_s)
{
	struct json_object *found = NULL, *o;
	u64 best = begun_s > 1 ? (u64)(begun_s - 1) * NS : 0, then;
	struct dirent *e;

	while ((e = readdir(d))) {
		if (!is_of_process(e->d_name, pid, boot, begun_s))
			continue;
		o = kept_read("answer", e->d_name + strlen(prefix));
		then = o ? quiet_number(o, "time_ns", 0) : 0;
		if (then < best || !then) {
			json_object_put(o);
			continue;
		}
		json_object_put(found);
		found = o;
		best = then;
	}
	return found;
}

/* Returns the answer, NULL if there is none or another user keeps it. */
static struct json_object *answer(u64 pid, const char *boot, s64 begun_s)
{
	int fd = kept_dir();
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct json_object *o = NULL;

	if (d) {
		o = newest(d, pid, boot, begun_s);
		closedir(d);
	} else if (fd >= 0) {
		close(fd);
	}
	return o;
}

static struct json_object *first_of(struct json_object *o, const char *key)
{
	struct json_object *list = json_object_object_get(o, key);

	return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, 0) :
	       NULL;
}

static void add_text(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, s && *s ? json_text(s, strlen(s)) : NULL);
}

static void copy(struct json_object *to, const char *key, struct json_object *from)
{
	json_object_object_add(to, key, json_object_get(json_object_object_get(from, key)));
}

/* The class that grew most: its size, what its blocks are, and its part of the growth */
static void add_class(struct json_object *o, struct json_object *row)
{
	struct json_object *content = json_object_object_get(row, "content");
	const char *kind = quiet_string(content, "kind"), *name = quiet_string(content, "name");
	char text[2 * CONTENT_NAME], cut[CONTENT_NAME + 1] = "";

	if (name)
		fmt_safe(cut, sizeof(cut), name, strlen(name));
	snprintf(text, sizeof(text), "%s%s%s", kind ? kind : "", name ? " " : "", cut);
	copy(o, "size_bytes", row);
	add_text(o, "content", text);
	copy(o, "share_permille", row);
}

static bool begins(const char *s, const char *const *list)
{
	for (; s && *list; list++)
		if (!strncmp(s, *list, strlen(*list)))
			return true;
	return false;
}

/* Is it a function of malloc()'s family, "malloc@@GLIBC_2.2.5" or "malloc"? */
static bool is_malloc(const char *s)
{
	static const char *const names[] = { "malloc", "calloc", "realloc", NULL };
	size_t n = s ? strcspn(s, "@") : 0, i;

	for (i = 0; names[i]; i++)
		if (n == strlen(names[i]) && !strncmp(s, names[i], n))
			return true;
	return false;
}

/* Does a frame only pass on what its caller asks for, as operator new and std::vector do? */
static bool passes_on(struct json_object *frame)
{
	static const char *const files[] = {
		"libc.so", "libc-2", "ld-musl", "libstdc++", "libc++", "libjemalloc", "libtcmalloc",
		"libmimalloc", NULL,
	};
	/*
	 * operator new, std:: and __gnu_cxx:: as they are mangled: the name of a template begins
	 * with its return type once it is demangled.
	 */
	static const char *const mangled[] = {
		"_Znw", "_Zna", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "__libc_", NULL,
	};
	static const char *const names[] = {
		"operator new", "alloc::", "<alloc::", "__rust_", "__rdl_", NULL,
	};
	const char *symbol = quiet_string(frame, "symbol");

	return begins(frame_file(frame), files) || is_malloc(symbol) || begins(symbol, mangled) ||
	       begins(quiet_string(frame, "demangled") ?: frame_symbol(frame), names);
}

/* The stack from the first function on that does not pass on, whole if all do; caller puts it. */
static struct json_object *stack_of(struct json_object *site)
{
	struct json_object *list = json_object_object_get(site, "stack"), *from;
	size_t n, i, first = 0;

	n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	while (first < n && passes_on(json_object_array_get_idx(list, first)))
		first++;
	from = json_object_new_array();
	for (i = first < n ? first : 0; i < n; i++)
		json_object_array_add(from, json_object_get(json_object_array_get_idx(list, i)));
	return from;
}

static void add_site(struct json_object *o, struct json_object *site)
{
	struct json_object *list = stack_of(site), *names, *frame[STACK_MOST];
	size_t n = frames_shown(list, frame, STACK_MOST, INLINED_MOST), i;
	char text[FRAME_PLACE];

	names = json_object_new_array();
	for (i = 0; i < n; i++) {
		frame_place(frame[i], text, sizeof(text));
		json_object_array_add(names, json_text(text, strlen(text)));
	}
	add_text(o, "function", n ? quiet_string(frame[0], "demangled") ?: frame_symbol(frame[0]) :
		 NULL);
	add_text(o, "source", n ? frame_source(frame[0]) : NULL);
	add_text(o, "module", n ? quiet_string(frame[0], "module") : NULL);
	copy(o, "bytes_per_hour", site);
	copy(o, "survival_permille", site);
	json_object_object_add(o, "stack", names);
	json_object_put(list);
}

/**
 * alert_where() - find out where the process of an alert leaks
 * @a: the alert, not one of a limit
 * @begun_s: start of the program that the process executes, seconds since 1970
 * @boot: id of this boot
 *
 * Return: an object for the key "where" that the caller owns; NULL: nobody has looked. Of an
 * answer without call sites the members of a site are null, and the stack is empty.
 */
struct json_object *alert_where(const struct alert *a, s64 begun_s, const char *boot)
{
	struct json_object *kept = answer(a->pid, boot, begun_s), *o;

	if (!kept)
		return NULL;
	o = json_object_new_object();
	copy(o, "time_ns", kept);
	copy(o, "time", kept);
	copy(o, "method", kept);
	copy(o, "allocator", kept);
	add_class(o, first_of(kept, "classes"));
	add_site(o, first_of(kept, "sites"));
	json_object_put(kept);
	return o;
}

/*
 * Writes where it leaks in words: "most likely add_node (leak.cpp:12)" of a site, "blocks of up to
 * 88 bytes grow (vtable Session)" of a class; nothing if neither is known. @where: of
 * alert_where(), or NULL. Returns @buf.
 */
const char *alert_where_text(struct json_object *where, char *buf, size_t size)
{
	const char *place = json_object_get_string(first_of(where, "stack"));
	const char *content = quiet_string(where, "content");
	u64 bytes = quiet_number(where, "size_bytes", 0);

	*buf = '\0';
	if (place)
		snprintf(buf, size, "most likely %s", place);
	else if (bytes)
		snprintf(buf, size, "blocks of up to %llu bytes grow%s%s%s", bytes,
			 content ? " (" : "", content ? content : "", content ? ")" : "");
	return buf;
}
