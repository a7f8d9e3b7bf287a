// SPDX-License-Identifier: GPL-2.0
/*
 * What a frame of a stack is called. Names come from files of the process.
 */
#include <string.h>
#include "where/where.h"

static const char *text_of(struct json_object *frame, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(frame, key, &v);
	return v ? json_object_get_string(v) : NULL;
}

const char *frame_symbol(struct json_object *frame)
{
	return text_of(frame, "symbol");
}

/* The file's name without its folder; NULL: no file is mapped there */
const char *frame_file(struct json_object *frame)
{
	const char *path = text_of(frame, "module"), *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

u64 frame_offset(struct json_object *frame)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(frame, "offset", &v);
	return v ? json_object_get_uint64(v) : 0;
}

/* malloc@@GLIBC_2.2.5 is shown as malloc. */
static size_t without_version(const char *symbol)
{
	const char *at = strchr(symbol, '@');

	return at && at > symbol ? (size_t)(at - symbol) : strlen(symbol);
}

/*
 * Writes the name of a frame, that of C++ if it has one, or its file and the offset in it. It is
 * safe for a terminal.
 */
const char *frame_name(struct json_object *frame, char *buf, size_t size)
{
	const char *symbol = text_of(frame, "demangled"), *file = frame_file(frame);
	char safe[CONTENT_NAME];

	if (!symbol)
		symbol = frame_symbol(frame);
	if (symbol)
		return fmt_safe(buf, size, symbol, without_version(symbol));
	if (!file)
		file = "?";
	fmt_safe(safe, sizeof(safe), file, strlen(file));
	if (frame_offset(frame))
		snprintf(buf, size, "%s+0x%llx", safe, frame_offset(frame));
	else
		snprintf(buf, size, "%s", safe);
	return buf;
}
