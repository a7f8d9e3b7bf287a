// SPDX-License-Identifier: GPL-2.0
/*
 * User and unit of processes. NSS and /proc are asked once for each uid and each cgroup, and
 * the answers are kept until owner_forget().
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

struct known {
	u64 id;		/* uid, or inode of the cgroup; 0: none, never found again */
	bool unit;
	char *text;
};

static struct known *known;
static size_t n_known;

static const char *find(u64 id, bool unit)
{
	size_t i;

	for (i = 0; i < n_known; i++)
		if (known[i].id == id && known[i].unit == unit)
			return known[i].text;
	return NULL;
}

static const char *keep(u64 id, bool unit, const char *text)
{
	known = must(realloc(known, (n_known + 1) * sizeof(*known)));
	known[n_known] = (struct known){ id, unit, must(strdup(text)) };
	return known[n_known++].text;
}

static const char *user_of(u64 uid)
{
	const char *s = find(uid, false);
	const struct passwd *pw;
	char text[TEXT_MAX];

	if (s)
		return s;
	pw = getpwuid((uid_t)uid);
	if (pw)
		fmt_safe(text, sizeof(text), pw->pw_name, strlen(pw->pw_name));
	else
		snprintf(text, sizeof(text), "%llu", uid);
	return keep(uid, false, text);
}

/*
 * Returns NULL if it is unknown. A process that has just ended has no cgroup any more; another
 * one of the same cgroup may have.
 */
static const char *unit_name(const struct message *msg)
{
	u64 id = msg_get(msg, SEEPAGE_A_CGROUP_ID, 0);
	const char *s = id ? find(id, true) : NULL;
	char text[TEXT_MAX];
	struct place place;

	if (s)
		return s;
	place_find(msg, false, &place);
	if (place.cgroup) {
		unit_show(place.cgroup, text, sizeof(text));
		s = keep(id, true, text);
	}
	place_free(&place);
	return s;
}

/* Sets user and unit. The strings are valid until owner_forget(). */
void owner_fill(struct message *msg, size_t n)
{
	u64 uid;

	for (; n--; msg++) {
		if (msg_u64(msg, SEEPAGE_A_UID, &uid))
			msg->user = user_of(uid);
		msg->unit = unit_name(msg);
	}
}

/* Frees what is kept: a name may have changed, and cgroups come and go. */
void owner_forget(void)
{
	while (n_known)
		free(known[--n_known].text);
	free(known);
	known = NULL;
}
