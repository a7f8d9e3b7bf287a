// SPDX-License-Identifier: GPL-2.0
/*
 * The command line. -j and -p may stand before or after the command. Options of
 * a command are long, and some have a letter too. The value of an option is the
 * next word or follows "=". Options and positional words mix until "--".
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/* Parses decimal digits. Returns false on anything else and on overflow. */
bool parse_u64(const char *s, u64 *out)
{
	u64 v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned int digit = (unsigned char)*s - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

/* Parses a number of bytes with an optional suffix K, M, G or T (powers of 1024). */
bool parse_size(const char *s, u64 *out)
{
	static const char units[] = "KMGT";
	size_t len = strspn(s, "0123456789");
	const char *unit = s[len] ? strchr(units, s[len]) : NULL;
	unsigned int shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	char digits[32];

	if (len >= sizeof(digits) || (s[len] && (!unit || s[len + 1])))
		return false;
	memcpy(digits, s, len);
	digits[len] = '\0';
	if (!parse_u64(digits, out) || *out > UINT64_MAX >> shift)
		return false;
	*out <<= shift;
	return true;
}

static int parse_pid_or(struct ctx *ctx, const char *word, u32 *pid, const char *or)
{
	u64 v;

	if (!parse_u64(word, &v) || v < 1 || v > INT_MAX)
		return usage(ctx, "PID: '%s': allowed 1..%d%s", word, INT_MAX, or);
	*pid = (u32)v;
	return 0;
}

/* Returns 0, or EXIT_USAGE after printing an error. */
int parse_pid(struct ctx *ctx, const char *word, u32 *pid)
{
	return parse_pid_or(ctx, word, pid, "");
}

/* The same where the number of an alert is allowed too; the caller has looked for that. */
int parse_pid_not_alert(struct ctx *ctx, const char *word, u32 *pid)
{
	return parse_pid_or(ctx, word, pid, ", or '#N' with the number of an alert");
}

/*
 * Parses the value of @option, a uid or the name of a user. Returns 0, or EXIT_USAGE after
 * printing an error.
 */
int parse_user(const struct ctx *ctx, const char *option, const char *word, u64 *uid)
{
	const struct passwd *pw;

	if (parse_u64(word, uid) && *uid < UINT32_MAX)
		return 0;
	pw = getpwnam(word);
	if (!pw)
		return usage(ctx, "%s: '%s': allowed a uid or the name of a user", option,
			     word);
	*uid = pw->pw_uid;
	return 0;
}

/*
 * Parses a list of states such as "suspected,confirmed" into a mask of 1 << state.
 * @least: SEEPAGE_STATE_OK for processes, SEEPAGE_STATE_SUSPECTED for alerts: these have no
 *	lower one
 * Returns 0, or EXIT_USAGE after printing an error.
 */
int parse_states(struct ctx *ctx, const char *list, int least, u32 *mask)
{
	*mask = 0;
	for (;;) {
		size_t len = strcspn(list, ",");
		int state = state_from_name(list, len);
		char names[TEXT_MAX];
		size_t n = 0;
		int i;

		if (state >= least) {
			*mask |= 1U << state;
			if (!list[len])
				return 0;
			list += len + 1;
			continue;
		}
		for (i = least; i < __SEEPAGE_STATE_MAX && n < sizeof(names); i++)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
					      n ? " " : "", state_name((unsigned int)i));
		return usage(ctx, "--state: '%.*s': allowed %s", (int)len, list, names);
	}
}

/*
 * Parses the work of watch --where and where --follow: "census", "burst", or one of them with
 * ",PERMILLE". Sets *@permille to 0 where none is given. Returns false on anything else.
 */
bool parse_looks(const char *text, bool *burst, u64 *permille)
{
	size_t n = strcspn(text, ",");

	*burst = n == 5 && !memcmp(text, "burst", n);
	*permille = 0;
	if (!*burst && (n != 6 || memcmp(text, "census", n)))
		return false;
	return !text[n] || (parse_u64(text + n + 1, permille) && *permille - 1 < LOOKS_PERMILLE);
}

/* @opts: the options of the command; NULL for a word before the command */
static void unknown_option(const struct ctx *ctx, const struct opt *opts, const char *word)
{
	char names[TEXT_MAX] = "", letter[] = "-? ";
	size_t n = 0;

	for (; opts && opts->name && n < sizeof(names); opts++) {
		letter[1] = opts->letter;
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s ",
				      opts->letter ? letter : "", opts->name);
	}
	usage(ctx, "unknown option '%s': allowed %s-j -p -h%s", word, names,
	      ctx->cmd ? "" : " -V");
}

/* Takes -j, -p or -h. Returns false if it is another letter. */
static bool global_letter(struct ctx *ctx, char c)
{
	if (c == 'h') {
		ctx->help = true;
		return true;
	}
	if (c == 'p')
		ctx->pretty = true;
	else if (c != 'j')
		return false;
	ctx->json = true;
	return true;
}

/* Reads -j, -p and -h in any combination. Another letter prints an error, returns false. */
static bool short_options(struct ctx *ctx, const struct opt *opts, const char *word)
{
	const char *c;

	for (c = word + 1; *c; c++) {
		if (!global_letter(ctx, *c)) {
			unknown_option(ctx, opts, word);
			return false;
		}
	}
	return true;
}

/* Takes an option by its long name, which begins with its letter. @len: of @name */
static bool global_long(struct ctx *ctx, const char *name, size_t len)
{
	static const char names[] = "json\0pretty\0help\0";
	const char *s;

	for (s = names; *s; s += strlen(s) + 1)
		if (strlen(s) == len && !memcmp(s, name, len))
			return global_letter(ctx, *s);
	return false;
}

static bool store(struct ctx *ctx, const struct opt *o, const char *value)
{
	struct words *words;
	u64 v;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->dest = true;
		return true;
	case OPT_STRING:
		*(const char **)o->dest = value;
		return true;
	case OPT_NUMBER:
		if (!parse_u64(value, &v) || v < o->min || v > o->max) {
			usage(ctx, "--%s: '%s': allowed %llu..%llu%s", o->name, value, o->min,
			      o->max, o->arg && strstr(o->arg, "SEC") ? " seconds" : "");
			return false;
		}
		*(u64 *)o->dest = v;
		return true;
	case OPT_SIZE:
		if (!parse_size(value, &v) || v < o->min || v > o->max) {
			usage(ctx, "--%s: '%s': allowed %llu..%llu bytes, also with K, M, G or T",
			      o->name, value, o->min, o->max);
			return false;
		}
		*(u64 *)o->dest = v;
		return true;
	case OPT_WORDS:
		words = o->dest;
		if (words->n == WORDS_MAX) {
			usage(ctx, "--%s: '%s': allowed at most %d times", o->name, value,
			      WORDS_MAX);
			return false;
		}
		words->v[words->n++] = value;
		return true;
	}
	return false;
}

/*
 * Reads one "-x" of the command with its value. Returns the number of words used,
 * 0 if the command has no such option, or -1 after printing an error.
 */
static int letter_option(struct ctx *ctx, const struct opt *opts, char **argv)
{
	const struct opt *o = opts;

	while (o && o->name && (!o->letter || o->letter != argv[0][1]))
		o++;
	if (!o || !o->name || argv[0][2])
		return 0;
	if (o->kind == OPT_FLAG)
		return store(ctx, o, NULL) ? 1 : -1;
	if (argv[1])
		return store(ctx, o, argv[1]) ? 2 : -1;
	usage(ctx, "-%c: %s is missing", o->letter, o->arg);
	return -1;
}

/*
 * Reads one "--word" with its value. Returns the number of words used, or 0 after
 * printing an error.
 */
static int long_option(struct ctx *ctx, const struct opt *opts, char **argv)
{
	const char *name = argv[0] + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	bool global = global_long(ctx, name, len);
	const struct opt *o = opts;

	while (!global && o && o->name && (strlen(o->name) != len || memcmp(o->name, name, len)))
		o++;
	if (!global && (!o || !o->name)) {
		unknown_option(ctx, opts, argv[0]);
		return 0;
	}
	if (global || o->kind == OPT_FLAG) {
		if (!eq)
			return global || store(ctx, o, NULL);
		usage(ctx, "--%.*s takes no value", (int)len, name);
		return 0;
	}
	if (eq)
		return store(ctx, o, eq + 1) ? 1 : 0;
	if (!argv[1]) {
		usage(ctx, "--%s: %s is missing", o->name, o->arg);
		return 0;
	}
	return store(ctx, o, argv[1]) ? 2 : 0;
}

/* "-x" is an option. "-5" is a (bad) value, "-" names standard input. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9');
}

/*
 * Reads the options before the command. Returns the index of the command in @argv,
 * or -1 after printing an error.
 */
int args_globals(struct ctx *ctx, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && is_option(argv[i]); i++) {
		if (!strcmp(argv[i], "-V") || !strcmp(argv[i], "--version")) {
			ctx->version = true;
		} else if (argv[i][1] != '-') {
			if (!short_options(ctx, NULL, argv[i]))
				return -1;
		} else if (!long_option(ctx, NULL, argv + i)) {
			return -1;
		}
	}
	return i;
}

/*
 * Reads the words after the command and moves the positional ones to the front of
 * @argv. Returns their number, or -1 after printing an error. NULL must end @argv.
 */
int args_parse(struct ctx *ctx, const struct command *cmd, int argc, char **argv)
{
	int i = 0, n = 0, used;

	ctx->rest = -1;
	while (i < argc) {
		if (!is_option(argv[i])) {
			argv[n++] = argv[i++];
			continue;
		}
		if (!strcmp(argv[i], "--")) {
			ctx->rest = argc - i - 1;
			for (i++; i < argc; i++)
				argv[n++] = argv[i];
			break;
		}
		if (argv[i][1] == '-')
			used = long_option(ctx, cmd->opts, argv + i);
		else
			used = letter_option(ctx, cmd->opts, argv + i) ?:
			       short_options(ctx, cmd->opts, argv[i]);
		if (used <= 0)
			return -1;
		i += used;
	}
	if (ctx->help)
		return n;
	if (n < cmd->min) {
		usage(ctx, "words are missing: %s", cmd->args);
		return -1;
	}
	if (cmd->max >= 0 && n > cmd->max) {
		usage(ctx, "unexpected word '%s': allowed %s", argv[cmd->max],
		      *cmd->args ? cmd->args : "none");
		return -1;
	}
	return n;
}
