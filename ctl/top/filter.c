// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes are shown: by state, user, name and unit.
 */
#include <stdlib.h>
#include <string.h>
#include "top/top.h"

#define ALLOWED	"allowed state=S[,S...] user=USER name=TEXT unit=TEXT, or TEXT for a name"

/* Returns false if @list is no list of states. */
static bool read_states(const char *list, size_t len, u32 *mask)
{
	*mask = 0;
	for (;;) {
		size_t n = strcspn(list, ", ");
		int state = state_from_name(list, n < len ? n : len);

		if (state < 0)
			return false;
		*mask |= 1U << state;
		if (n >= len)
			return true;
		list += n + 1;
		len -= n + 1;
	}
}

/* @word: one word, not ended by NUL */
static bool read_word(struct top_filter *f, const char *word, size_t len)
{
	static const char *const keys[] = { "name", "user", "unit" };
	char *const to[] = { f->name, f->user, f->unit };
	const char *eq = memchr(word, '=', len);
	size_t key = eq ? (size_t)(eq - word) : 0, i;

	if (key == 5 && !memcmp(word, "state", key))
		return read_states(eq + 1, len - key - 1, &f->states);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (eq && key == strlen(keys[i]) && !memcmp(word, keys[i], key))
			break;
	if (eq && i == ARRAY_SIZE(keys))
		return false;
	i = eq ? i : 0;
	word += eq ? key + 1 : 0;
	len -= eq ? key + 1 : 0;
	if (!len || len >= FILTER_MAX)
		return false;
	memcpy(to[i], word, len);
	to[i][len] = '\0';
	return true;
}

/*
 * Parses words such as "state=watch,suspected unit=nginx". Nothing clears the filter.
 * Returns false, with @f unchanged, after writing an error.
 */
bool filter_parse(struct top_filter *f, const char *words, char *err, size_t size)
{
	struct top_filter new = { 0 };
	size_t len;

	for (words += strspn(words, " "); *words; words += len + strspn(words + len, " ")) {
		len = strcspn(words, " ");
		if (!read_word(&new, words, len)) {
			snprintf(err, size, "filter: '%.*s': " ALLOWED, (int)len, words);
			return false;
		}
	}
	*f = new;
	return true;
}

static bool is_user(const struct message *msg, const char *user)
{
	u64 uid, wanted;

	if (msg->user && !strcmp(msg->user, user))
		return true;
	return parse_u64(user, &wanted) && msg_u64(msg, SEEPAGE_A_UID, &uid) && uid == wanted;
}

bool filter_passes(const struct top_filter *f, const struct message *msg)
{
	u64 state = msg_get(msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
	char comm[TEXT_MAX];

	if (f->states && !(state < 32 && f->states >> state & 1))
		return false;
	if (*f->user && !is_user(msg, f->user))
		return false;
	msg_comm(msg, comm, sizeof(comm));
	return (!*f->name || strcasestr(comm, f->name)) &&
	       (!*f->unit || (msg->unit && strcasestr(msg->unit, f->unit)));
}

/* The filter as words that filter_parse() takes; empty if all are shown. */
void filter_text(const struct top_filter *f, char *buf, size_t size)
{
	unsigned int i;
	bool first = true;

	*buf = '\0';
	for (i = 0; i < __SEEPAGE_STATE_MAX; i++) {
		if (!(f->states >> i & 1))
			continue;
		sentence_append(buf, size, "%s%s", first ? "state=" : ",", state_name(i));
		first = false;
	}
	if (*f->user)
		sentence_append(buf, size, "%suser=%s", *buf ? " " : "", f->user);
	if (*f->name)
		sentence_append(buf, size, "%sname=%s", *buf ? " " : "", f->name);
	if (*f->unit)
		sentence_append(buf, size, "%sunit=%s", *buf ? " " : "", f->unit);
}

/* Does a search for @text find the process, by pid, name, user or unit? */
bool filter_matches(const struct message *msg, const char *text)
{
	static const u8 in[] = { SEEPAGE_A_COMM, COLUMN_USER, COLUMN_UNIT };
	char cell[TEXT_MAX];
	size_t i;
	u64 pid;

	if (!*text)
		return false;
	if (parse_u64(text, &pid) && msg_get(msg, SEEPAGE_A_PID, 0) == pid)
		return true;
	for (i = 0; i < ARRAY_SIZE(in); i++) {
		column_text(msg, in[i], cell);
		if (strcasestr(cell, text))
			return true;
	}
	return false;
}
