/* SPDX-License-Identifier: GPL-2.0 */
/* frame.c: an element of "stack", a call site or one of its callers */
#ifndef SEEPAGE_FRAME_H
#define SEEPAGE_FRAME_H

#include "ctl.h"

#define CONTENT_NAME	160	/* bytes of a name from the process */

bool frame_is_python(struct json_object *frame);
const char *frame_source(struct json_object *frame);
bool frame_is_inlined(struct json_object *frame);
#define LINE_FUNCTIONS	4U	/* of a stack, in a line of text */
size_t frames_shown(struct json_object *stack, struct json_object **frame, size_t most,
		    size_t inlined);
const char *frame_symbol(struct json_object *frame);
const char *frame_file(struct json_object *frame);
u64 frame_offset(struct json_object *frame);
#define FRAME_PLACE	(8 * CONTENT_NAME + 8)
const char *frame_place(struct json_object *frame, char *buf, size_t size);
const char *frame_name(struct json_object *frame, char *buf, size_t size);

#endif /* SEEPAGE_FRAME_H */
