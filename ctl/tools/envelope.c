// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps on disk what processes of a service climbed and released, and hands it back to a module
 * that was loaded later: once, or as a service.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "envelope/envelope.h"
#include "tools.h"

#define EVERY_S		600U
#define LOOK_S		30U	/* between two looks for processes that have begun */

static u64 every;
static bool all;

static const struct opt opts[] = {
	{ .name = "every", .kind = OPT_NUMBER, .dest = &every, .arg = "SEC", .min = 1,
	  .max = 86400, .help = "run: save every SEC seconds (default: 600)" },
	{ .name = "all", .kind = OPT_FLAG, .dest = &all, .help = "forget: all that is kept" },
	{ .name = NULL }
};

/* ---- list ---- */

static void list_cells(struct table *t, const struct envelope_entry *entry)
{
	const struct envelope_key *key = &entry->key;
	const char *user = quiet_user_name(key->uid);
	char text[4 * QUIET_TEXT + 1];

	table_cell(t, fmt_safe(text, sizeof(text), key->unit, strlen(key->unit)));
	table_cell(t, fmt_safe(text, sizeof(text), key->comm, strlen(key->comm)));
	snprintf(text, sizeof(text), "%u", key->uid);
	table_cell(t, user ? fmt_safe(text, sizeof(text), user, strlen(user)) : text);
	table_cell(t, fmt_bytes(text, sizeof(text), entry->rise));
	table_cell(t, fmt_seconds(text, sizeof(text), entry->span_s));
	table_cell(t, fmt_time(text, sizeof(text), entry->learned_ns));
}

/* As the file has it, with the user in place of the owner, and the load as status -j has it */
static struct json_object *list_json(const struct envelope_entry *entry)
{
	struct json_object *o = envelope_json(entry);
	const char *user = quiet_user_name(entry->key.uid);

	json_object_object_del(o, "owner");
	json_add_utc_of(o, "learned_ns");
	json_add_utc_of(o, "confirmed_ns");
	json_object_object_add(o, "instance", json_object_new_uint64(entry->instance));
	json_object_object_add(o, "user", user ? json_text(user, strlen(user)) : NULL);
	return o;
}

/* Prints entries, unless @status says that they could not be read. Returns @status. */
static int show(const struct ctx *ctx, int status, const struct envelope *e)
{
	static const char *const heads[] = { "UNIT", "COMM", "USER", "RISE", "SPAN", "LEARNED" };
	static const bool right[] = { false, false, false, true, true, false };
	struct json_object *out = json_object_new_array();
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	size_t i;

	for (i = 0; i < e->n; i++) {
		list_cells(t, &e->v[i]);
		json_object_array_add(out, list_json(&e->v[i]));
	}
	return quiet_show(ctx, status, t, out);
}

static int list(struct ctx *ctx)
{
	struct envelope e;
	int status = envelope_read(ctx, &e);

	status = show(ctx, status, &e);
	envelope_free(&e);
	return status;
}

/* ---- forget ---- */

struct forgetting {
	char **words;		/* NULL: all */
	int n;
	struct envelope gone;
};

/* Is @word the unit, with or without .service, the name or the user of the entry? */
static bool is_called(const struct envelope_key *key, const char *word)
{
	char unit[QUIET_TEXT + sizeof(".service")];
	const char *user = quiet_user_name(key->uid);
	u64 uid;

	snprintf(unit, sizeof(unit), "%s.service", word);
	return !strcmp(key->unit, word) || !strcmp(key->unit, unit) || !strcmp(key->comm, word) ||
	       (user && !strcmp(user, word)) || (parse_u64(word, &uid) && uid == key->uid);
}

/* Returns the word that the entry is called, NULL: none of them */
static char *called(const struct forgetting *f, const struct envelope_key *key)
{
	int i;

	for (i = 0; i < f->n; i++)
		if (is_called(key, f->words[i]))
			return f->words[i];
	return NULL;
}

static bool fits_one(const struct envelope *e, const char *word)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (is_called(&e->v[i].key, word))
			return true;
	return false;
}

/* Takes the entries out that the words name; nothing if one of them names none. */
static int take_out(const struct ctx *ctx, struct envelope *e, void *arg)
{
	struct forgetting *f = arg;
	size_t i = 0;
	int k;

	for (k = 0; k < f->n; k++)
		if (!fits_one(e, f->words[k]))
			return fail(ctx, "forget: '%.80s': no entry has it: allowed a unit, a name "
				    "or a user of seepage envelope list", f->words[k]);
	while (i < e->n) {
		if (f->words && !called(f, &e->v[i].key)) {
			i++;
			continue;
		}
		envelope_add(&f->gone, &e->v[i]);
		envelope_remove(e, i);
	}
	return f->gone.n ? 0 : -1;
}

static int forget(struct ctx *ctx, char **words, int n)
{
	struct forgetting f = { .words = all ? NULL : words, .n = n };
	int status;

	if (all && n)
		return usage(ctx, "forget: '%.80s': not allowed with --all", words[0]);
	if (!all && !n)
		return usage(ctx, "forget: WHAT is missing: allowed a unit, a name or a user, or "
			     "--all");
	status = envelope_edit(ctx, take_out, &f);
	if (status || f.gone.n || ctx->json)
		status = show(ctx, status, &f.gone);
	else
		note(ctx, "there is none");
	if (!status && f.gone.n && knl_module_seen())
		note(ctx, "the module that is loaded still knows it: seepage reset history makes "
		     "it forget all that it has learned");
	envelope_free(&f.gone);
	return status;
}

/* ---- save, restore ---- */

struct saving {
	const struct envelope_look *look;
	unsigned int raised;
	size_t entries;
};

static int merge(const struct ctx *ctx, struct envelope *e, void *arg)
{
	struct saving *s = arg;
	bool changed;

	s->raised = envelope_learn(e, s->look, &changed);
	s->entries = e->n;
	return changed ? 0 : -1;
}

static int print_saved(const struct ctx *ctx, const struct saving *s)
{
	struct json_object *o;
	char path[PATH_MAX];

	if (!envelope_path(path, sizeof(path)))
		return 1;
	if (!ctx->json) {
		out_printf("%s: %zu %s\n", path, s->entries,
			   s->entries == 1 ? "entry" : "entries");
		return 0;
	}
	o = json_object_new_object();
	json_object_object_add(o, "path", json_text(path, strlen(path)));
	json_object_object_add(o, "entries", json_object_new_uint64(s->entries));
	return out_json(ctx, o);
}

static const char *processes(unsigned int n)
{
	return n == 1 ? "process" : "processes";
}

static int print_told(const struct ctx *ctx, unsigned int told)
{
	struct json_object *o;

	if (!ctx->json) {
		out_printf("%u %s\n", told, processes(told));
		return 0;
	}
	o = json_object_new_object();
	json_object_object_add(o, "processes", json_object_new_uint64(told));
	return out_json(ctx, o);
}

/* Looks at all processes. Returns an exit status; then @l has nothing. */
static int look(const struct ctx *ctx, struct knl *k, struct envelope_look *l)
{
	if (query_open(ctx, k))
		return 1;
	if (!envelope_look(k, l))
		return 0;
	knl_fail(ctx, k, NEEDS_READ);
	knl_close(k);
	return 1;
}

static int save(struct ctx *ctx)
{
	struct envelope_look l;
	struct saving s = { .look = &l };
	struct knl k;
	int status = look(ctx, &k, &l);

	if (status)
		return status;
	status = envelope_edit(ctx, merge, &s) ?: print_saved(ctx, &s);
	msgs_free(&l.m);
	knl_close(&k);
	return status;
}

static int teach(const struct ctx *ctx, struct knl *k, const struct envelope_look *l,
		 unsigned int *told)
{
	struct envelope e;
	int status = envelope_read(ctx, &e);

	if (!status && envelope_teach(k, &e, l, told) < 0)
		status = knl_fail(ctx, k, NEEDS_ADMIN);
	envelope_free(&e);
	return status;
}

static int restore(struct ctx *ctx)
{
	struct envelope_look l;
	unsigned int told = 0;
	struct knl k;
	int status = look(ctx, &k, &l);

	if (status)
		return status;
	status = teach(ctx, &k, &l, &told) ?: print_told(ctx, told);
	msgs_free(&l.m);
	knl_close(&k);
	return status;
}

/* ---- run ---- */

/* Returns whether a signal has come that ends the service, by @until_ms at the latest. */
static bool wait_until(int signals, u64 until_ms)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };
	struct signalfd_siginfo info;
	u64 now;

	while ((now = clock_ms()) < until_ms) {
		if (poll(&p, 1, (int)(until_ms - now)) <= 0)
			continue;
		while (read(signals, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo != SIGCHLD)
				return true;
	}
	return false;
}

static void say_told(const struct ctx *ctx, unsigned int told)
{
	static bool said;

	if (told && !said)
		note(ctx, "handed back to %u %s", told, processes(told));
	said |= told;
}

/*
 * Hands back, then saves if @is_due: what has just begun is younger than what is saved then.
 * Returns an exit status; that the module is not loaded is no error.
 */
static int look_once(const struct ctx *ctx, bool is_due)
{
	struct envelope_look l;
	struct saving s = { .look = &l };
	unsigned int told = 0;
	struct knl k;
	int status;

	if (!knl_module_seen())
		return 0;
	status = look(ctx, &k, &l);
	if (status)
		return status;
	status = teach(ctx, &k, &l, &told);
	say_told(ctx, told);
	if (!status && is_due)
		status = envelope_edit(ctx, merge, &s);
	msgs_free(&l.m);
	knl_close(&k);
	return status;
}

/* Is the file one that can be read and changed? Returns an exit status after saying why not. */
static int check_file(const struct ctx *ctx)
{
	struct envelope e;
	int status = envelope_read(ctx, &e);

	envelope_free(&e);
	return status;
}

/* A mistake of the first look ends it, so that somebody sees it; later ones may pass. */
static int serve(struct ctx *ctx)
{
	int signals = child_signals(), status = check_file(ctx) ?: look_once(ctx, false);
	u64 every_ms = (every ? every : EVERY_S) * 1000, save_ms = clock_ms() + every_ms, look_ms;
	bool ended = status, is_due;

	while (!ended) {
		/* what failed is tried again, and said again, when it is time to save */
		look_ms = clock_ms() + LOOK_S * 1000;
		ended = wait_until(signals, status || look_ms > save_ms ? save_ms : look_ms);
		is_due = ended || clock_ms() >= save_ms;
		status = look_once(ctx, is_due);
		if (is_due)
			save_ms = clock_ms() + every_ms;
	}
	close(signals);
	return status;
}

/* ---- words ---- */

static const struct verb {
	const char *name;
	int (*run)(struct ctx *ctx);
} verbs[] = {
	{ "list", list }, { "run", serve }, { "save", save }, { "restore", restore },
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	const char *verb = argc ? argv[0] : "list";
	bool is_run = !strcmp(verb, "run");
	size_t i;

	if (every && !is_run)
		return usage(ctx, "--every: '%llu': allowed with run only", every);
	if (!strcmp(verb, "forget"))
		return forget(ctx, argv + 1, argc - 1);
	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verb, verbs[i].name))
			continue;
		if (argc > 1)
			return usage(ctx, "%s: '%.80s': allowed no other word", verb, argv[1]);
		if (all)
			return usage(ctx, "--all: allowed with forget only");
		if (is_run && ctx->json)
			return usage(ctx, "-j: not allowed with run, which prints nothing");
		return verbs[i].run(ctx);
	}
	return usage(ctx, "'%.80s': allowed list, run, save, restore, forget", verb);
}

const struct command cmd_envelope = {
	TOOL_ENVELOPE,
	.more = "VERB is list, run, save, restore, or forget WHAT... with units, names or users;\n"
		"without one it lists. The module finds out how far the memory of a service\n"
		"climbs before it is given back. run saves that, and hands it back after a boot.",
	.opts = opts, .max = -1, .run = run,
};
