// SPDX-License-Identifier: GPL-2.0
/*
 * Captures the output of the controller in memory and checks it: it must be safe on a terminal,
 * and JSON if JSON was requested.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

static FILE *real_out, *real_err;
static struct captured now;

void capture_begin(void)
{
	real_out = stdout;
	real_err = stderr;
	memset(&now, 0, sizeof(now));
	stdout = must(open_memstream(&now.out, &now.out_len));
	stderr = must(open_memstream(&now.err, &now.err_len));
}

static void put_back(void)
{
	if (!real_err)
		return;
	fclose(stdout);
	fclose(stderr);
	stdout = real_out;
	stderr = real_err;
	real_err = NULL;
}

void capture_end(struct captured *c)
{
	put_back();
	*c = now;
}

void captured_free(struct captured *c)
{
	free(c->out);
	free(c->err);
}

_Noreturn void broken(const char *fmt, ...)
{
	va_list ap;

	put_back();
	fputs("BROKEN PROMISE: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

/* What a terminal would obey rather than show: all controls but the line feed. */
void promise_safe(const char *text, size_t len, const char *what)
{
	size_t i = 0;

	while (i < len) {
		u32 c;
		size_t n = utf8_char(text + i, len - i, &c);

		promise(n, "%s: no UTF-8 at byte %zu: %.*s", what, i, (int)len, text);
		promise(c == '\n' || (c >= 0x20 && c != 0x7f && (c < 0x80 || c > 0x9f)),
			"%s: control character U+%04X at byte %zu", what, c, i);
		i += n;
	}
}

/* One value after the other, as a stream has them. */
void promise_json(const char *text, size_t len)
{
	struct json_tokener *tok = must(json_tokener_new());
	size_t i = 0;

	json_tokener_set_flags(tok, JSON_TOKENER_VALIDATE_UTF8 | JSON_TOKENER_STRICT |
			       JSON_TOKENER_ALLOW_TRAILING_CHARS);
	for (;;) {
		struct json_object *o;

		i += strspn(text + i, "\n ");
		if (i >= len)
			break;
		json_tokener_reset(tok);
		o = json_tokener_parse_ex(tok, text + i, (int)(len - i));
		promise(json_tokener_get_error(tok) == json_tokener_success,
			"no JSON (%s) at byte %zu: %s",
			json_tokener_error_desc(json_tokener_get_error(tok)), i, text);
		i += json_tokener_get_parse_end(tok);
		json_object_put(o);
	}
	json_tokener_free(tok);
}

void promise_readable(const struct captured *c, int status)
{
	promise(status == 0 || status == 1 || status == EXIT_USAGE, "status %d", status);
	promise(!status || c->err_len, "status %d without a word", status);
	promise_safe(c->out, c->out_len, "stdout");
	promise_safe(c->err, c->err_len, "stderr");
}

void options_reset(const struct command *cmd)
{
	const struct opt *o;

	for (o = cmd->opts; o && o->name; o++) {
		if (o->kind == OPT_FLAG)
			*(bool *)o->dest = false;
		else if (o->kind == OPT_WORDS)
			((struct words *)o->dest)->n = 0;
		else if (o->kind == OPT_NUMBER || o->kind == OPT_SIZE)
			*(u64 *)o->dest = 0;
		else
			*(const char **)o->dest = NULL;
	}
}
