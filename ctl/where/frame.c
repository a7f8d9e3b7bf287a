// SPDX-License-Identifier: GPL-2.0
/*
 * What a frame of a stack is called. Names come from files of the process.
 */
#include <string.h>
#include "where/frame.h"

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

bool frame_is_python(struct json_object *frame)
{
	const char *language = text_of(frame, "language");

	return language && !strcmp(language, "python");
}

/* "FILE:LINE"; NULL: not known */
const char *frame_source(struct json_object *frame)
{
	return text_of(frame, "source");
}

/* The file of python's interpreter, if the stack has functions of python; else NULL */
static const char *interpreter(struct json_object *stack)
{
	const char *symbol, *file = NULL;
	struct json_object *frame;
	bool python = false;
	size_t i;

	for (i = 0; i < json_object_array_length(stack); i++) {
		frame = json_object_array_get_idx(stack, i);
		symbol = frame_symbol(frame);
		python = python || frame_is_python(frame);
		if (symbol && !strcmp(symbol, "_PyEval_EvalFrameDefault"))
			file = frame_file(frame);
	}
	return python ? file : NULL;
}

/* Is it a function that is inlined into the next frame? */
bool frame_is_inlined(struct json_object *frame)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(frame, "inlined", &v) && json_object_get_boolean(v);
}

/* Is it left out of a line? If the stack has functions of python, @interpreter has the others. */
static bool is_left_out(struct json_object *frame, const char *interpreter)
{
	const char *file = frame_file(frame);

	return interpreter && !frame_is_python(frame) && file && !strcmp(file, interpreter);
}

/**
 * frames_shown() - choose the frames of a stack that a line shows
 * @stack: the function that allocates first
 * @frame: out, of @most elements
 * @inlined: most of those that are inlined into one function; the outermost are shown
 *
 * Up to LINE_FUNCTIONS functions are shown that are not inlined, without those that an interpreter
 * of python is made of.
 *
 * Return: how many.
 */
size_t frames_shown(struct json_object *stack, struct json_object **frame, size_t most,
		    size_t inlined)
{
	const char *python = stack ? interpreter(stack) : NULL;
	size_t len = stack ? json_object_array_length(stack) : 0, functions = 0, n = 0, run = 0, i;

	for (i = 0; i < len && n < most && functions < LINE_FUNCTIONS; i++) {
		frame[n] = json_object_array_get_idx(stack, i);
		if (is_left_out(frame[n], python))
			continue;
		if (!frame_is_inlined(frame[n])) {
			functions++;
			run = 0;
			n++;
		} else if (run < inlined) {
			run++;
			n++;
		} else if (run) {
			/* The innermost one goes. */
			memmove(&frame[n - run], &frame[n - run + 1], run * sizeof(*frame));
		}
	}
	return n;
}

/* "leak (server.py:12)" */
static const char *python_name(struct json_object *frame, char *buf, size_t size)
{
	const char *source = frame_source(frame), *symbol = frame_symbol(frame);
	const char *slash = source ? strrchr(source, '/') : NULL;
	char text[2 * CONTENT_NAME];

	source = slash ? slash + 1 : source;
	snprintf(text, sizeof(text), "%s (%.*s)", symbol ? symbol : "?", CONTENT_NAME - 4,
		 source ? source : "?");
	return fmt_safe(buf, size, text, strlen(text));
}

/* malloc@@GLIBC_2.2.5 is shown as malloc. */
static size_t without_version(const char *symbol)
{
	const char *at = strchr(symbol, '@');

	return at && at > symbol ? (size_t)(at - symbol) : strlen(symbol);
}

static const char *native_name(struct json_object *frame, char *buf, size_t size)
{
	const char *symbol = text_of(frame, "demangled"), *file = frame_file(frame);
	char safe[CONTENT_NAME];

	if (!symbol)
		symbol = frame_symbol(frame);
	if (symbol)
		return fmt_safe(buf, size, symbol, file ? without_version(symbol) : strlen(symbol));
	if (!file)
		file = "?";
	fmt_safe(safe, sizeof(safe), file, strlen(file));
	if (frame_offset(frame))
		snprintf(buf, size, "%s+0x%llx", safe, frame_offset(frame));
	else
		snprintf(buf, size, "%s", safe);
	return buf;
}

/*
 * Writes the name of a frame, that of C++ if it has one, or its file and the offset in it. It is
 * safe for a terminal.
 */
const char *frame_name(struct json_object *frame, char *buf, size_t size)
{
	static const char mark[] = " (inlined)";

	if (frame_is_python(frame))
		return python_name(frame, buf, size);
	if (!frame_is_inlined(frame) || size < sizeof(mark))
		return native_name(frame, buf, size);
	native_name(frame, buf, size - sizeof(mark) + 1);
	strcpy(buf + strlen(buf), mark);
	return buf;
}

/*
 * Writes the name of a frame and its line, up to FRAME_PLACE bytes: "add_node (leak.cpp:12)". A
 * function of python has it in its name. It is safe for a terminal.
 */
const char *frame_place(struct json_object *frame, char *buf, size_t size)
{
	const char *source = frame_source(frame), *slash = source ? strrchr(source, '/') : NULL;
	char name[4 * CONTENT_NAME], text[FRAME_PLACE];

	frame_name(frame, name, sizeof(name));
	if (!source || frame_is_python(frame)) {
		snprintf(buf, size, "%s", name);
		return buf;
	}
	source = slash ? slash + 1 : source;
	fmt_safe(text, sizeof(text), source, strnlen(source, CONTENT_NAME));
	snprintf(buf, size, "%s (%s)", name, text);
	return buf;
}
