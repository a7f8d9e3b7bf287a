// SPDX-License-Identifier: GPL-2.0
/*
 * User and unit of processes. NSS and /proc are asked once for each uid and each cgroup, and
 * the answers are kept until owner_forget().
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

struct known {
	u64 id;		/* uid, or inode of the cgroup; 0: none, never found again */
	bool unit;
	char *text;
};

/* What a name service that does not answer may cost: one long call in REST_MS */
#define SLOW_MS		2000U
#define REST_MS		600000U

void (*owner_container)(const char *cgroup, char *text);

static u64 rest_until;	/* clock_ms() */

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

/**
 * owner_passwd() - look a user up, unless the last answer took too long
 * @uid: of the user
 *
 * Context: NSS, which may ask a machine that is gone. A call of more than SLOW_MS is the last one
 * for REST_MS: a directory that hangs delays one alert, not each. Returns what getpwuid() does,
 * NULL while it is not asked.
 */
const struct passwd *owner_passwd(uid_t uid)
{
	u64 began = clock_ms();
	const struct passwd *pw;

	if (began < rest_until)
		return NULL;
	pw = getpwuid(uid);
	if (clock_ms() - began > SLOW_MS)
		rest_until = clock_ms() + REST_MS;
	return pw;
}

/* The name of the user of a process, else the uid. NULL: it is not known */
const char *owner_user(const struct message *msg)
{
	const struct passwd *pw;
	char text[TEXT_MAX];
	const char *s;
	u64 uid;

	if (!msg_u64(msg, SEEPAGE_A_UID, &uid))
		return NULL;
	s = find(uid, false);
	if (s)
		return s;
	pw = owner_passwd((uid_t)uid);
	if (pw)
		fmt_safe(text, sizeof(text), pw->pw_name, strlen(pw->pw_name));
	else
		snprintf(text, sizeof(text), "%llu", uid);
	return keep(uid, false, text);
}

/* The same, but NULL for a user without a name, as JSON has it */
const char *owner_name(const struct message *msg)
{
	const char *user = owner_user(msg);
	char uid[TEXT_MAX];

	msg_text(msg, SEEPAGE_A_UID, uid);
	return user && strcmp(user, uid) ? user : NULL;
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
		if (owner_container && !strncmp(text, "container ", 10))
			owner_container(place.cgroup, text);
		s = keep(id, true, text);
	}
	place_free(&place);
	return s;
}

/* Sets user and unit. The strings are valid until owner_forget(). */
void owner_fill(struct message *msg, size_t n)
{
	for (; n--; msg++) {
		msg->user = owner_user(msg);
		msg->unit = unit_name(msg);
	}
}

/*
 * Frees what is kept: a name may have changed, and cgroups come and go. While the name service
 * rests, the names of users stay.
 */
void owner_forget(void)
{
	bool rest = clock_ms() < rest_until;
	size_t i, n = 0;

	for (i = 0; i < n_known; i++) {
		if (rest && !known[i].unit)
			known[n++] = known[i];
		else
			free(known[i].text);
	}
	n_known = n;
}

/* Bytes of owner_text(), and of its parts: at most, but of a command line at least */
#define LINE_WIDE	96
#define USER_MOST	32
#define PARENT_MOST	24
#define CMDLINE_LEAST	32

/* Adds @s with its control characters escaped, and with "..." in the place of what is too long. */
static void add_short(const char *s, size_t bytes, char *buf, size_t size)
{
	char safe[4 * TEXT_MAX];
	bool cut = strlen(fmt_safe(safe, sizeof(safe), s, strlen(s))) > bytes;

	if (cut)
		fmt_safe(safe, bytes - 2, s, strlen(s));
	sentence_append(buf, size, "%s%s", safe, cut ? "..." : "");
}

/**
 * owner_text() - write the user, the parent and the command line of a process
 * @msg: about the process
 * @p: where place_find() found it; what is not known is left out
 * @buf: "by alice, parent gunicorn (812): python3 app.py", empty if nothing is known
 * @size: of @buf
 *
 * The text is for a line of its own: what is too long for that is shortened.
 */
void owner_text(const struct message *msg, const struct place *p, char *buf, size_t size)
{
	const char *user = owner_user(msg), *command = p->cmdline ?: p->exe;
	size_t used;

	*buf = '\0';
	if (user) {
		sentence_append(buf, size, "by ");
		add_short(user, USER_MOST, buf, size);
	}
	if (p->ppid) {
		sentence_append(buf, size, "%sparent ", *buf ? ", " : "");
		if (p->parent)
			add_short(p->parent, PARENT_MOST, buf, size);
		sentence_append(buf, size, p->parent ? " (%u)" : "%u", p->ppid);
	}
	if (!command)
		return;
	sentence_append(buf, size, "%s", *buf ? ": " : "");
	used = strlen(buf);
	add_short(command, used + CMDLINE_LEAST < LINE_WIDE ? LINE_WIDE - used : CMDLINE_LEAST,
		  buf, size);
}
