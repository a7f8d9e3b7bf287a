// SPDX-License-Identifier: GPL-2.0
/*
 * The input is a command line, one word a line. Fuzzes the options before and after every
 * command, and the parsers for words.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

#define WORDS	32

static const struct command *const commands[] = {
	&cmd_status, &cmd_ps, &cmd_show, &cmd_explain, &cmd_watch, &cmd_alerts,
	&cmd_get, &cmd_set, &cmd_apply, &cmd_reset, &cmd_stat, &cmd_record,
	&cmd_replay, &cmd_export, &cmd_version,
};

/* strtoull() reads more than decimal digits, but what it reads it reads right. */
static void numbers(struct ctx *ctx, char *word)
{
	bool digits = *word && !word[strspn(word, "0123456789")];
	unsigned long long want;
	u32 pid = 0;
	u64 v;
	int rc;

	errno = 0;
	want = strtoull(word, NULL, 10);
	digits = digits && !errno;
	promise(parse_u64(word, &v) == digits, "number '%s'", word);
	promise(!digits || v == want, "'%s' was read as %llu", word, v);
	rc = parse_pid(ctx, word, &pid);
	promise(rc == (digits && want && want <= INT_MAX ? 0 : EXIT_USAGE), "pid '%s'", word);
	promise(rc || pid == want, "pid '%s' was read as %u", word, pid);
}

static void states(struct ctx *ctx, char *word)
{
	u32 mask;
	int rc = parse_states(ctx, word, SEEPAGE_STATE_OK, &mask);

	promise(!rc || rc == EXIT_USAGE, "states '%s': %d", word, rc);
	promise(rc || (mask && mask < 1U << __SEEPAGE_STATE_MAX), "states '%s': %#x", word, mask);
	rc |= mask & 3 ? EXIT_USAGE : 0;
	promise(parse_states(ctx, word, SEEPAGE_STATE_SUSPECTED, &mask) == rc,
		"states '%s' of alerts", word);
}

/* KEY VALUE of the command set */
static void setting(const char *key, const char *value)
{
	char err[CONF_ERR_MAX] = "", text[TEXT_MAX];
	unsigned int id = cfg_from_name(key);
	struct conf c = { 0 };

	if (!conf_add(&c, key, value, err, sizeof(err))) {
		promise(*err, "%s %s: refused without a reason", key, value);
		return;
	}
	if (!strcmp(key, CONF_EVENTS)) {	/* a list, which the module looks at */
		promise(c.has_events && !strcmp(c.events, value), "%s was read as %s", value,
			c.events);
		promise(!conf_add(&c, key, value, err, sizeof(err)), "%s: taken twice", key);
		return;
	}
	promise(id && c.set[id] && c.v[id] >= cfg_keys[id].min && c.v[id] <= cfg_keys[id].max,
		"%s %s was taken", key, value);
	cfg_value_text(id, c.v[id], text, sizeof(text));
	value += cfg_keys[id].word ? 0 : strspn(value, "0");
	promise(!strcmp(*value ? value : "0", text), "%s %s was read as %s", key, value, text);
	promise(!conf_add(&c, key, text, err, sizeof(err)), "%s: taken twice", key);
}

static bool is_among(char *word, char **words, int n)
{
	while (n--)
		if (words[n] == word)
			return true;
	return false;
}

static int command(const struct command *cmd, int argc, char **words)
{
	char *argv[WORDS + 1];
	struct ctx ctx = { .cmd = cmd->name };
	int i, n;

	memcpy(argv, words, ((size_t)argc + 1) * sizeof(*argv));
	n = args_parse(&ctx, cmd, argc, argv);
	promise(n >= -1 && n <= argc, "%s: %d words of %d", cmd->name, n, argc);
	for (i = 0; i < n; i++)
		promise(is_among(argv[i], words, argc), "%s: a word of its own", cmd->name);
	promise(n < 0 || ctx.help || (n >= cmd->min && (cmd->max < 0 || n <= cmd->max)),
		"%s: %d positional words", cmd->name, n);
	options_reset(cmd);
	return n < 0 ? EXIT_USAGE : 0;
}

/* Line by line; the last one ends with the input. */
static int split(char *text, char **words)
{
	int n = 0;

	while (n < WORDS - 1 && text) {
		words[n++] = strsep(&text, "\n");
		words[n] = NULL;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = must(strndup((const char *)data, size)), *words[WORDS + 1];
	struct ctx ctx = { .cmd = NULL };
	struct captured c;
	int argc = split(text, words), i, first, status;
	size_t k;

	capture_begin();
	first = args_globals(&ctx, argc, words);
	promise(first == -1 || (first >= 1 && first <= argc), "globals end at %d of %d", first,
		argc);
	capture_end(&c);
	promise_readable(&c, first < 0 ? EXIT_USAGE : 0);
	captured_free(&c);
	for (k = 0; k < ARRAY_SIZE(commands); k++) {
		capture_begin();
		status = command(commands[k], argc - 1, words + 1);
		capture_end(&c);
		promise_readable(&c, status);
		promise(!c.out_len, "parsing printed on stdout");
		captured_free(&c);
	}
	capture_begin();
	for (i = 0; i < argc; i++) {
		numbers(&ctx, words[i]);
		states(&ctx, words[i]);
		if (i + 1 < argc)
			setting(words[i], words[i + 1]);
	}
	capture_end(&c);
	promise_readable(&c, 0);
	captured_free(&c);
	free(text);
	return 0;
}
