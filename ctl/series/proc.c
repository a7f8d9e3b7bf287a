// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the line "proc", which begins a series.
 */
#include <string.h>
#include "series/series.h"

/* Decodes the bytes %XX of a name. Returns false if @s is not a valid name. */
static bool decode(const char *s, char *out, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	for (; *s; s++) {
		const char *hi, *lo;

		if (n + 1 >= size || *s <= ' ' || *s >= 0x7f)
			return false;
		if (*s != '%') {
			out[n++] = *s;
			continue;
		}
		hi = s[1] ? strchr(hex, s[1]) : NULL;
		lo = hi && s[2] ? strchr(hex, s[2]) : NULL;
		if (!lo || (hi == hex && lo == hex))
			return false;
		out[n++] = (char)((hi - hex) << 4 | (lo - hex));
		s += 2;
	}
	out[n] = '\0';
	return true;
}

enum { P_PID, P_COMM, P_BORN, P_BEGUN, P_FAULTS, P_SHIFT, P_EXE, P_UID, P_CGROUP, P_KIND,
	P_HISTORY, P_RISE, P_SPAN, P_KEYS };

static const struct {
	const char *name, *allowed;
	u64 min, max;			/* range of a number; max 0: not a number */
} proc_keys[P_KEYS] = {
	[P_PID]		= { "pid", NULL, 0, UINT32_MAX },
	[P_COMM]	= { "comm", "a name of up to 63 bytes, odd ones as %XX", 0, 0 },
	[P_BORN]	= { "born_ns", NULL, 0, SERIES_TIME_MAX },
	[P_BEGUN]	= { "begun_ns", NULL, 0, SERIES_TIME_MAX },
	[P_FAULTS]	= { "begun_faults", NULL, 0, UINT32_MAX },
	[P_SHIFT]	= { "page_shift", NULL, 12, 16 },
	[P_EXE]		= { "exe", "a name of up to 4095 bytes, odd ones as %XX", 0, 0 },
	[P_UID]		= { "uid", NULL, 0, UINT32_MAX },
	[P_CGROUP]	= { "cgroup", "a name of up to 4095 bytes, odd ones as %XX", 0, 0 },
	[P_KIND]	= { "kind", "process or group", 0, 0 },
	[P_HISTORY]	= { "history", "before", 0, 0 },
	[P_RISE]	= { "known_rise", NULL, 0, UINT64_MAX },
	[P_SPAN]	= { "known_span_ns", NULL, 0, SERIES_TIME_MAX },
};

/* Stores a value that is not a number. Returns false if it is not allowed. */
static bool proc_word(struct series *s, int key, const char *value)
{
	char path[4096], **dest = key == P_EXE ? &s->place.exe : &s->place.cgroup;

	switch (key) {
	case P_COMM:
		return decode(value, s->comm, sizeof(s->comm));
	case P_KIND:
		s->group = !strcmp(value, "group");
		return s->group || !strcmp(value, "process");
	case P_HISTORY:
		s->before = true;
		return !strcmp(value, "before");
	default:
		if (!decode(value, path, sizeof(path)))
			return false;
		*dest = must(strdup(path));
		return true;
	}
}

static void proc_number(struct series *s, int key, u64 v)
{
	switch (key) {
	case P_PID:
		s->pid = (u32)v;
		break;
	case P_BORN:
		s->born_ns = v;
		break;
	case P_BEGUN:
		s->begun_ns = v;
		break;
	case P_FAULTS:
		s->begun_faults = (u32)v;
		break;
	case P_RISE:
		s->known_rise = v;
		break;
	case P_SPAN:
		s->known_span_ns = v;
		break;
	case P_SHIFT:
		s->page_shift = (u8)v;
		break;
	default:
		s->place.has_uid = true;
		s->place.uid = (u32)v;
	}
}

static int proc_word_of(struct series_reader *r, struct series *s, char *word, u32 *seen)
{
	char *value = series_value(r, word), names[TEXT_MAX] = "";
	u64 v;
	int i;

	if (!value)
		return -1;
	for (i = 0; i < P_KEYS && strcmp(proc_keys[i].name, word); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s",
			 proc_keys[i].name);
	if (i == P_KEYS)
		return series_bad(r, "unknown key '%.80s': allowed%s", word, names);
	if (*seen & 1U << i)
		return series_bad(r, "%s: given twice", word);
	*seen |= 1U << i;
	if (proc_keys[i].max) {
		if (!series_number(value, proc_keys[i].max, &v) || v < proc_keys[i].min)
			return series_bad(r, "%s: '%.80s': allowed %llu..%llu", word, value,
					  proc_keys[i].min, proc_keys[i].max);
		proc_number(s, i, v);
	} else if (!proc_word(s, i, value)) {
		return series_bad(r, "%s: '%.80s': allowed %s", word, value, proc_keys[i].allowed);
	}
	return 0;
}

/*
 * Parses @rest, the words after "proc", into @s; members without a word keep their
 * value. Returns 0, or -1 with the reason in r->err.
 */
int series_proc(struct series_reader *r, struct series *s, char *rest)
{
	const char *id = series_word(&rest);
	char *word;
	u32 seen = 0;

	if (!id || !series_number(id, UINT64_MAX, &s->id))
		return series_bad(r, "'%.80s': allowed proc NUMBER KEY=VALUE...", id ? id : "");
	if (series_map_get(&r->map, s->id))
		return series_bad(r, "series %llu: the number is in use, 'gone' is missing", s->id);
	while ((word = series_word(&rest)))
		if (proc_word_of(r, s, word, &seen) < 0)
			return -1;
	if (!(seen & 1U << P_BORN) || !(seen & 1U << P_BEGUN))
		return series_bad(r, "series %llu: %s is missing", s->id,
				  seen & 1U << P_BORN ? "begun_ns" : "born_ns");
	return 0;
}
