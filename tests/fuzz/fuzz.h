/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the harnesses of the controller share.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "tools.h"

/* A broken promise: says which and dies, so that libFuzzer keeps the input. */
#define promise(cond, ...)	do { if (!(cond)) broken(__VA_ARGS__); } while (0)
_Noreturn void broken(const char *fmt, ...) __printf(1, 2);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* capture.c: what the controller prints while one input is tried */
struct captured {
	char *out, *err;
	size_t out_len, err_len;
};

void capture_begin(void);
void capture_end(struct captured *c);
void captured_free(struct captured *c);
void promise_safe(const char *text, size_t len, const char *what);
void promise_json(const char *text, size_t len);
/* A run of a command or a parser: its status fits what it has printed. */
void promise_readable(const struct captured *c, int status);
/* Sets the options of a command, which are static variables, back to their defaults. */
void options_reset(const struct command *cmd);

/* wire.c: libnl's socket, answering from the input */
void wire_begin(const uint8_t *data, size_t size, bool own_family);
void wire_end(void);

#endif /* FUZZ_H */
