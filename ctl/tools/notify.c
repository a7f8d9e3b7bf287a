// SPDX-License-Identifier: GPL-2.0
/*
 * Tells receivers of alerts. Reads alerts (notify/source.c), puts a note for each receiver
 * into the spool (notify/spool.c), then writes how far it has read (notify/state.c), then
 * delivers (notify/deliver.c). One thread; nothing waits for a receiver.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "notify/notify.h"
#include "tools.h"

#define BATCH		256	/* alerts between two writes of the state */
#define QUIET_LOOK_MS	2000	/* between two looks at silences, while an alert stands */
#define LIMIT_LOOK_MS	10000	/* between two looks at policies with a limit */

struct notify {
	struct ctx *ctx;
	struct source in;
	struct spool spool;
	struct delivery d;
	u64 known;		/* alerts of the input that an earlier run has taken */
	u64 bad;		/* lines up to here, one after the other, that are none */
	int signals;
	int status;
	bool ended;		/* by a signal */
	bool looked;		/* for acknowledgments */
	u64 begun_ms;
	u64 limits_ms;		/* monotonic: the next look at limits */
};

static void read_boot(char *boot, size_t size)
{
	char *text = procfs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id");

	snprintf(boot, size, "%s", text ? text : "unknown");
	boot[strcspn(boot, "\n")] = '\0';
	free(text);
}

/* Of bad lines that follow each other the first one is named, and the others are counted here. */
static void sum_up_bad(struct notify *n)
{
	if (n->bad > 1)
		note(n->ctx, "and %llu more line%s", n->bad - 1, n->bad == 2 ? "" : "s");
	n->bad = 0;
}

static void read_line(struct notify *n, const char *line, size_t len)
{
	struct incident *one;
	char err[256];
	struct alert a;
	bool is_new;

	switch (alert_parse(line, len, &a, err, sizeof(err))) {
	case LINE_BAD:
		if (!n->bad++)
			n->status = fail(n->ctx, "%s%sline %llu: %s", n->in.name ?: "",
					 n->in.name ? ": " : "", n->in.lines, err);
		return;
	case LINE_LOST:
		sum_up_bad(n);
		n->spool.lost += a.seq;
		return;
	case LINE_ALERT:
		break;
	}
	sum_up_bad(n);
	is_new = state_take(&n->spool, &a);
	one = incident_find(&n->spool.open, &a);
	alert_complete(&a, n->spool.boot, one);
	if (is_new) {
		deliver_alert(&n->d, &a);
	} else {
		incident_remember(&n->spool.open, &a);
		n->known++;
	}
	alert_free(&a);
}

/*
 * A file waits while the spool is half full of what will be taken. Others would wait in vain: the
 * ring goes on.
 */
static bool may_read(const struct notify *n)
{
	u64 bytes = n->spool.bytes - n->spool.kept_bytes;

	return n->in.fd >= 0 && !(n->in.is_file && bytes > n->spool.most_bytes / 2);
}

/* Reads what there is, a batch at most. Returns whether there may be more. */
static bool read_alerts(struct notify *n)
{
	unsigned int count = 0;
	size_t len;
	char *line = source_line(&n->in, &len);

	if (!line && may_read(n)) {
		n->status |= source_read(&n->in);
		line = source_line(&n->in, &len);
	}
	for (; line; line = ++count < BATCH ? source_line(&n->in, &len) : NULL) {
		read_line(n, line, len);
		free(line);
	}
	if (count && !n->d.set->dry_run) {
		state_write(&n->spool, n->d.set);
		spool_trim(&n->spool, n->d.set);
	}
	return count == BATCH || (n->in.is_file && may_read(n));
}

/*
 * Looks whether silences have ended or were removed, and what was acknowledged. At the start watch
 * has not said yet what has ended meanwhile.
 */
static void look_at_quiet(struct notify *n)
{
	bool told = false;

	if (!n->spool.open.n || n->d.set->dry_run ||
	    (!n->in.is_file && clock_ms() < n->begun_ms + QUIET_LOOK_MS))
		return;
	hold_look(&n->d);
	if (n->d.changed || !n->looked) {
		told = release_acks(&n->d);
		told = release_later(&n->d) || told;
	}
	n->d.changed = false;
	n->looked = true;
	told = release_held(&n->d) || told;
	if (!told)
		return;
	state_write(&n->spool, n->d.set);
	spool_trim(&n->spool, n->d.set);
}

static void read_signals(struct notify *n)
{
	struct signalfd_siginfo info;

	while (read(n->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			n->ended = true;
}

/* A file is of alerts of another time. */
static void look_at_limits(struct notify *n)
{
	u64 now = clock_ms();

	if (n->in.is_file || n->d.set->dry_run || now < n->limits_ms)
		return;
	n->limits_ms = now + LIMIT_LOOK_MS;
	if (!limits_look(&n->d))
		return;
	state_write(&n->spool, n->d.set);
	spool_trim(&n->spool, n->d.set);
}

/* Is there nothing to be done any more? Without watch it ends; the spool has what is left. */
static bool is_over(const struct notify *n, const struct settings *s)
{
	return n->ended || out_broken() ||
	       (n->in.fd < 0 && !n->in.len && (!s->from || deliver_idle(&n->d)));
}

static void loop(struct notify *n, const struct settings *s)
{
	struct pollfd own[2] = { { .fd = n->signals, .events = POLLIN }, { .events = POLLIN } };
	bool more;

	n->begun_ms = clock_ms();
	for (;;) {
		more = read_alerts(n);
		if (!more)
			look_at_quiet(n);
		look_at_limits(n);
		deliver_finish(&n->d);
		deliver_start(&n->d);
		if (is_over(n, s))
			break;
		own[1].fd = n->in.fd;
		deliver_wait(&n->d, own, n->in.fd >= 0 && !n->in.is_file ? 2 : 1, more ? 0 :
			     n->spool.open.n ? QUIET_LOOK_MS : LIMIT_LOOK_MS);
		read_signals(n);
	}
}

/* Says what became of the notifications. Returns an exit status. */
static int sum_up(struct notify *n, const struct settings *s)
{
	const struct receiver *to;
	int status = n->status;

	sum_up_bad(n);
	if (s->from && n->known)
		note(n->ctx, "--from: '%s': %llu alerts were taken by an earlier run", s->from,
		     n->known);
	if (n->spool.forgotten)
		note(n->ctx, "%llu incidents forgotten so far, as more than %u were open at once",
		     n->spool.forgotten, INCIDENTS_MAX);
	if (n->d.held)
		note(n->ctx, "%llu held back by silences, policies and acknowledgments", n->d.held);
	for (to = s->to; to < s->to + s->n && !s->dry_run; to++) {
		note(n->ctx, "%s: %llu delivered, %llu refused, %llu dropped, %llu waiting",
		     to->label, to->taken, to->refused, to->dropped, to->pending);
		if (s->from && to->failed)
			status = 1;
	}
	return status;
}

static int follow_alerts(struct notify *n, struct settings *s)
{
	int status = s->dry_run ? 0 : spool_open(&n->spool, s);

	if (!status)
		status = source_open(&n->in, n->ctx, s->from);
	if (!status) {
		if (!s->dry_run)
			deliver_rebooted(&n->d);
		loop(n, s);
		deliver_end(&n->d);
		if (!s->dry_run)
			state_write(&n->spool, s);
		status = sum_up(n, s);
	}
	source_close(&n->in);
	spool_close(&n->spool);
	return status;
}

static bool needs_http(const struct settings *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->to[i].url)
			return true;
	return false;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct settings *s = &notify_settings;
	struct notify n = { .ctx = ctx, .spool = { .ctx = ctx, .dir = -1, .lock = -1 } };
	int status = conf_notify(ctx, s);

	n.in.fd = -1;
	n.d = (struct delivery){ .ctx = ctx, .set = s, .spool = &n.spool, .ask_module = !s->from };
	if (!status && s->test && (s->dry_run || s->from))
		status = usage(ctx, "--test: not allowed with --%s", s->from ? "from" : "dry-run");
	if (!status && needs_http(s) && !s->dry_run) {
		status = http_library(ctx);
		n.d.http = status ? NULL : http_new(s);
	}
	if (!status) {
		read_boot(n.spool.boot, sizeof(n.spool.boot));
		/* Where it is ignored, as the caller may have it, nobody can wait for a command. */
		signal(SIGCHLD, SIG_DFL);
		n.signals = child_signals();
		status = s->test ? deliver_test(&n.d) : follow_alerts(&n, s);
		close(n.signals);
	}
	quiet_free(&n.d.quiet);
	http_free(n.d.http);
	receivers_free(s);
	return status;
}

const struct command cmd_notify = {
	TOOL_NOTIFY,
	.more = "Notifications wait on disk until their receiver takes them, also over restarts.\n"
		"Every receiver may be given any number of times and has a queue of its own.\n"
		"It ends with status 0 on SIGINT and SIGTERM.",
	.opts = notify_opts, .run = run,
};
