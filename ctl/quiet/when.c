// SPDX-License-Identifier: GPL-2.0
/* Durations and times as people write them. */
#include <string.h>
#include "quiet/quiet.h"

#define DAY_S	86400
#define MOST_S	(3650ULL * DAY_S)

static u64 unit_seconds(char c)
{
	switch (c) {
	case 's': return 1;
	case 'm': return 60;
	case 'h': return 3600;
	case 'd': return DAY_S;
	case 'w': return 7ULL * DAY_S;
	}
	return 0;
}

/* Parses QUIET_FOR. Returns false on anything else. */
bool quiet_duration(const char *s, u64 *seconds)
{
	char digits[8];
	u64 n, sum = 0;
	size_t len;

	do {
		len = strspn(s, "0123456789");
		if (!len || len >= sizeof(digits) || !unit_seconds(s[len]))
			return false;
		memcpy(digits, s, len);
		digits[len] = '\0';
		if (!parse_u64(digits, &n))
			return false;
		sum += n * unit_seconds(s[len]);
		if (sum > MOST_S)
			return false;
		s += len + 1;
	} while (*s);
	*seconds = sum;
	return sum;
}

/*
 * mktime() takes what is no date for another one, as February 30; local time jumps too. Returns
 * false if @tm is none.
 */
static bool make_time(const struct tm *tm, bool utc, u64 *t)
{
	struct tm made = *tm;
	time_t v;

	made.tm_isdst = -1;
	v = utc ? timegm(&made) : mktime(&made);
	if (v <= 0 || made.tm_mday != tm->tm_mday || made.tm_mon != tm->tm_mon ||
	    made.tm_hour != tm->tm_hour || made.tm_min != tm->tm_min || made.tm_sec != tm->tm_sec)
		return false;
	*t = (u64)v;
	return true;
}

/* HH:MM: today, or tomorrow where that is over. A day may have 23 hours, or 25. */
static bool next_clock(const char *s, u64 now_s, u64 *t)
{
	time_t now = (time_t)now_s;
	struct tm tm, day, clock = { 0 };
	const char *end = strptime(s, "%H:%M", &clock);
	int i;

	if (!end || *end || !localtime_r(&now, &tm))
		return false;
	for (i = 0; i < 2; i++) {
		day = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon,
				   .tm_mday = tm.tm_mday + i, .tm_hour = 12, .tm_isdst = -1 };
		mktime(&day);
		day.tm_hour = clock.tm_hour;
		day.tm_min = clock.tm_min;
		if (make_time(&day, false, t) && *t > now_s)
			return true;
	}
	return false;
}

/* Parses QUIET_UNTIL. Returns false on anything else, and on a time that is over or too far. */
bool quiet_time(const char *s, u64 now_s, u64 *t)
{
	static const char *const formats[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",
	};
	bool found = *s == '@' ? parse_u64(s + 1, t) : next_clock(s, now_s, t);
	size_t i;

	for (i = 0; !found && i < ARRAY_SIZE(formats); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(s, formats[i], &tm);
		bool utc = end && *end == 'Z' && strchr(s, ':');

		if (end && !end[utc])
			found = make_time(&tm, utc, t);
	}
	return found && *t > now_s && *t - now_s <= MOST_S;
}
