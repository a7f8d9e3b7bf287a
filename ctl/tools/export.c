// SPDX-License-Identifier: GPL-2.0
/*
 * Exports all figures in the text format of Prometheus: once, into a file at an
 * interval, or over HTTP. Every page is made from new answers of the module. If the
 * module does not answer, the page says so ("up" is 0). Old figures would look like
 * those of an idle machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "export/export.h"
#include "tools.h"

#define DEFAULT_TOP	100

static const char *file, *where;
static u64 interval_s, top;
static bool all;

static const struct opt opts[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .dest = &file, .arg = "FILE",
	  .help = "replace FILE by each page: for the textfile collector" },
	{ .name = "interval", .letter = 'i', .kind = OPT_NUMBER, .dest = &interval_s, .arg = "SEC",
	  .min = 1, .max = 86400, .help = "write FILE every SEC seconds, until SIGINT or SIGTERM" },
	{ .name = "listen", .kind = OPT_STRING, .dest = &where, .arg = "[ADDR:]PORT",
	  .help = "answer GET /metrics over HTTP (default ADDR: 127.0.0.1)" },
	{ .name = "top", .kind = OPT_NUMBER, .dest = &top, .arg = "N", .min = 1,
	  .max = UINT32_MAX, .help = "at most the N most suspicious processes (default: 100)" },
	{ .name = "all", .kind = OPT_FLAG, .dest = &all,
	  .help = "every process, also those in state ok" },
	{ .name = NULL }
};

struct exporter {
	struct ctx *ctx;
	int err;		/* errno of the last request, 0: answered */
};

struct answers {
	struct nlmsghdr *status;
	struct conf conf;
	struct msgs processes, alerts;
};

/* ---- asking ---- */

static struct nl_msg *build(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);

	if (!all)
		nla_put_u32(msg, SEEPAGE_A_FILTER_STATES,
			    ((1U << __SEEPAGE_STATE_MAX) - 1) & ~(1U << SEEPAGE_STATE_OK));
	return msg;
}

/*
 * Asks the module for everything that a page needs. It resolves the family each time,
 * because the module may have been loaded again. Returns 0 or -errno.
 */
static int ask(struct knl *k, struct answers *a)
{
	int err = knl_open(k);

	if (err >= 0)
		err = knl_resolve(k);
	if (err >= 0)
		err = query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &a->status);
	if (err >= 0)
		err = query_config(k, &a->conf);
	if (err >= 0)
		err = query_alerts(k, 0, &a->alerts);
	if (err >= 0)
		err = query_dump(k, build, NULL, &a->processes);
	return err < 0 ? err : 0;
}

/* ---- the page ---- */

/*
 * Drops repeated pids of a dump, which comes by rising pid: Prometheus rejects a page
 * with the same sample twice. Returns the number of messages kept.
 */
static size_t distinct(struct message *msg, size_t n)
{
	u64 last = 0, pid;
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (!msg_u64(&msg[i], SEEPAGE_A_PID, &pid) || pid <= last)
			continue;
		last = pid;
		msg[kept++] = msg[i];
	}
	return kept;
}

static char *format_page(const struct answers *a, const struct message *status, size_t *len)
{
	struct export_data d = { .now_s = (u64)time(NULL), .status = status, .conf = &a->conf };
	struct message *alerts = list_messages(&a->alerts, &d.n_alerts), *msg;
	size_t n, i;
	char *text;
	u64 state;

	d.alerts = alerts;
	export_pressure_read(&d.pressure);
	export_silences_read(&d.silences);
	pmc_list(&d.pmc, status);
	msg = list_messages(&a->processes, &n);
	n = distinct(msg, n);
	list_sort(msg, n, (struct order){ 0 });
	for (i = 0; i < n; i++) {
		state = msg_get(&msg[i], SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
		if (state < __SEEPAGE_STATE_MAX)
			d.states[state]++;
	}
	d.n = all || n < top ? n : (size_t)top;
	d.left_out = n - d.n;
	d.process = must(calloc(d.n + 1, sizeof(*d.process)));
	for (i = 0; i < d.n; i++) {
		d.process[i].msg = &msg[i];
		place_find(&msg[i], false, &d.process[i].place);
	}
	text = export_text(&d, len);
	for (i = 0; i < d.n; i++)
		place_free(&d.process[i].place);
	free(d.process);
	free(msg);
	free(alerts);
	return text;
}

/*
 * Returns the page, which the caller frees. If the module does not answer, the error is
 * printed once, not for every page.
 */
static char *page(void *arg, size_t *len)
{
	struct exporter *e = arg;
	struct answers a = { 0 };
	struct message status;
	struct knl k;
	char *text;
	int err = -ask(&k, &a);

	if (!err && msg_parse(&status, a.status)) {
		err = EPROTO;
		k.err = EPROTO;
		snprintf(k.text, sizeof(k.text), "the module sent an invalid message");
	}
	if (err && !e->err)
		knl_fail(e->ctx, &k, NEEDS_READ);
	else if (!err && e->err)
		note(e->ctx, "the module answers again");
	e->err = err;
	text = err ? export_text(NULL, len) : format_page(&a, &status, len);
	knl_close(&k);
	free(a.status);
	msgs_free(&a.processes);
	msgs_free(&a.alerts);
	return text;
}

/* ---- output ---- */

/*
 * Writes @text to @fd, the temporary file @name, and renames that to FILE. Returns 0 or an
 * errno.
 */
static int write_all(const char *name, int fd, const char *text, size_t len)
{
	ssize_t n = 0;

	if (fchmod(fd, 0644))
		return errno;
	for (; len; text += n, len -= (size_t)n) {
		n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return errno;
		n = n < 0 ? 0 : n;
	}
	return rename(name, file) ? errno : 0;
}

/*
 * Writes a temporary file beside FILE and renames it, so that a reader always sees a
 * complete page. Returns 0 or an errno.
 */
static int write_file(const char *text, size_t len)
{
	char *name = NULL;
	int fd, err;

	must(asprintf(&name, "%s.XXXXXX", file) < 0 ? NULL : name);
	fd = mkostemp(name, O_CLOEXEC);
	err = fd < 0 ? errno : write_all(name, fd, text, len);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && err)
		unlink(name);
	free(name);
	return err;
}

static bool wait_until(int signals, u64 end_ms)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };
	u64 now = clock_ms();

	return poll(&p, 1, end_ms > now ? (int)(end_ms - now) : 0) > 0;
}

/*
 * Writes one page, or pages at the interval until a signal. After the first success a
 * failed write does not end the loop. Returns an exit status.
 */
static int to_file(struct exporter *e, int signals)
{
	u64 next = clock_ms(), now;
	bool written = false;
	int err, said = 0;
	size_t len;
	char *text;

	for (;;) {
		text = page(e, &len);
		err = write_file(text, len);
		free(text);
		if (err && err != said)
			fail(e->ctx, "--output: '%s': %s", file, strerror(err));
		said = err;
		if (err && !written)
			return 1;
		written = true;
		if (!interval_s || e->err == EPERM)
			return e->err != 0;
		now = clock_ms();
		next += interval_s * 1000;
		next = next < now ? now : next;
		if (wait_until(signals, next))
			return 0;
	}
}

static int to_stdout(struct exporter *e)
{
	size_t len;
	char *text = page(e, &len);

	out_printf("%s", text);
	free(text);
	return e->err != 0;
}

/* Makes a page first: without permission the server does not start. Returns an exit status. */
static int to_http(struct exporter *e, struct export_server *s)
{
	size_t len;

	if (export_library(e->ctx))
		return 1;
	free(page(e, &len));
	return e->err == EPERM ? 1 : export_listen(s);
}

/* Refuses devices and links as FILE: rename() would replace them. Returns an exit status. */
static int check_file(struct ctx *ctx)
{
	struct stat st;

	if (!*file)
		return usage(ctx, "--output: '': allowed the name of a file");
	if (!lstat(file, &st) && !S_ISREG(st.st_mode))
		return fail(ctx, "--output: '%s': allowed a regular file, or a new one", file);
	return 0;
}

static int check_words(struct ctx *ctx, struct export_address *a)
{
	if (ctx->json)
		return usage(ctx, "-j: not allowed, the output is in the format of Prometheus");
	if (all && top)
		return usage(ctx, "--top: '%llu': not allowed with --all", top);
	if (where && (file || interval_s))
		return usage(ctx, "--listen: '%s': not allowed with --output or --interval", where);
	if (interval_s && !file)
		return usage(ctx, "--interval: allowed with --output only");
	if (where)
		return export_address(ctx, where, a);
	return file ? check_file(ctx) : 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct exporter e = { .ctx = ctx };
	struct export_server s = { .ctx = ctx, .page = page, .arg = &e };
	int status = check_words(ctx, &s.address);

	if (status)
		return status;
	top = top ? top : DEFAULT_TOP;
	if (!file && !where)
		return to_stdout(&e);
	s.signals = child_signals();
	status = where ? to_http(&e, &s) : to_file(&e, s.signals);
	close(s.signals);
	return status;
}

const struct command cmd_export = {
	TOOL_EXPORT,
	.more = "Figures of the module and of each process in state watch or worse. Output\n"
		"goes to standard output once, into a file for the textfile collector of\n"
		"node_exporter, or over HTTP.",
	.opts = opts, .run = run,
};
