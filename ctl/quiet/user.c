// SPDX-License-Identifier: GPL-2.0
/* Names of users, for the tools that have uids in files and messages. */
#include "quiet/file.h"

/* Returns the name, or NULL if the user has none; the next call overwrites it. */
const char *quiet_user_name(u64 uid)
{
	const struct passwd *pw = uid < UINT32_MAX ? owner_passwd((uid_t)uid) : NULL;

	return pw ? pw->pw_name : NULL;
}

/* Adds the key "user" from "uid" of the object: the name, null if the user has none. */
void quiet_add_user(struct json_object *o)
{
	const char *s = quiet_user_name(quiet_number(o, "uid", UINT64_MAX));

	json_object_object_add(o, "user", s ? json_text(s, strlen(s)) : NULL);
}
