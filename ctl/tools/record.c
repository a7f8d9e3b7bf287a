// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the samples that the detector in the kernel gets to a file, for replay. The
 * module sends them by multicast, pass by pass. Messages that the socket dropped leave
 * a gap in the message numbers, for which a line "lost" is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>
#include "series/series.h"
#include "tools.h"

#define BUFFER_BYTES	(32 << 20)	/* several passes over a full table */
#define ROTATE_LEAST	(64 << 10)

static const char *file, *comm;
static u64 duration_s, count_passes, rotate_bytes;
static bool reset, suspects;

static const struct opt opts[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .dest = &file, .arg = "FILE",
	  .help = "write to FILE; -: standard output (default: seepage.series)" },
	{ .name = "reset", .kind = OPT_FLAG, .dest = &reset,
	  .help = "clear all histories first, so that every series begins in FILE" },
	{ .name = "duration", .kind = OPT_NUMBER, .dest = &duration_s, .arg = "SECONDS",
	  .min = 1, .max = INT32_MAX, .help = "end after this time" },
	{ .name = "count-passes", .kind = OPT_NUMBER, .dest = &count_passes, .arg = "N",
	  .min = 1, .max = UINT64_MAX, .help = "end after N full passes" },
	{ .name = "comm", .kind = OPT_STRING, .dest = &comm, .arg = "NAME",
	  .help = "only processes of this name" },
	{ .name = "suspects", .kind = OPT_FLAG, .dest = &suspects,
	  .help = "only processes from state watch on" },
	{ .name = "rotate", .kind = OPT_SIZE, .dest = &rotate_bytes, .arg = "BYTES",
	  .min = ROTATE_LEAST, .max = 1ULL << 40,
	  .help = "go on in a new FILE after BYTES; keep one FILE.old" },
	{ .name = NULL }
};

struct recorder {
	struct ctx *ctx;
	struct knl ask, events;
	struct series_writer w;
	FILE *out;
	int signals;
	u32 *pids;			/* record only these; n 0: all */
	size_t n;
	pid_t child;			/* the command, 0: none */
	int child_status;		/* that of the command, 0 as long as it runs */
	u64 seq;			/* number of the last message, 0: none yet */
	u64 pass_ns;			/* time of the pass being received */
	u64 deadline_ms;		/* monotonic; 0: none */
	int err;			/* -errno of what ended it, 0: nothing did */
	bool done;
};

/* ---- the processes to record ---- */

static bool wanted(void *arg, const struct seepage_raw_sample *s)
{
	const struct recorder *r = arg;
	size_t i;

	if (comm && strncmp(comm, s->comm, sizeof(s->comm)))
		return false;
	if (suspects && (s->state < SEEPAGE_STATE_WATCH || s->state > SEEPAGE_STATE_RUNAWAY))
		return false;
	if (r->child)
		return child_has((pid_t)s->pid);
	for (i = 0; i < r->n; i++)
		if (r->pids[i] == s->pid)
			return true;
	return !r->n;
}

static bool place(void *arg, const struct seepage_raw_sample *s, struct place *p)
{
	return place_of(s->pid, (s64)(s->age_ns / 1000000), p);
}

/* What watch found of the use of its growth. A group has none. */
static bool use(void *arg, const struct seepage_raw_sample *s, struct cold_kept *k)
{
	return s->kind != SEEPAGE_KIND_GROUP && s->state != SEEPAGE_STATE_OK &&
	       cold_kept(s->pid, (s->time_ns - s->age_ns) / 1000000, k);
}

/* ---- messages from the kernel ---- */

/* After each pass. Returns 0, or -ECANCELED if the recording ends. */
static int pass_ended(struct recorder *r)
{
	int err = series_write_pass_end(&r->w);

	if (!err && rotate_bytes && r->w.bytes >= rotate_bytes)
		err = series_rotate(&r->w, &r->out, file);
	if (err < 0 && !r->err)
		r->err = err;
	if (err < 0 || (count_passes && r->w.passes >= count_passes))
		r->done = true;
	return r->done ? -ECANCELED : 0;
}

static int read_pass(struct recorder *r, const struct message *msg, bool gap)
{
	u64 ns, headroom = msg_get(msg, SEEPAGE_A_HEADROOM_BYTES, 0);
	u64 shmem_total = msg_get(msg, SEEPAGE_A_SHMEM_TOTAL_BYTES, 0);
	bool full = msg_get(msg, SEEPAGE_A_PASS_FULL, 0);
	struct conf c;

	if (!msg_u64(msg, SEEPAGE_A_PASS_NS, &ns) || !msg->a[SEEPAGE_A_CONFIG] ||
	    !msg->a[SEEPAGE_A_SAMPLES])
		return 0;
	if (ns != r->pass_ns) {
		series_take_conf(msg->a[SEEPAGE_A_CONFIG], &c);
		r->w.clock_ns = clock_real_ns() - clock_ns();
		series_write_pass(&r->w, ns, full, headroom, shmem_total, &c, gap);
		r->pass_ns = ns;
	}
	series_take_samples(&r->w, msg->a[SEEPAGE_A_SAMPLES],
			    msg_get(msg, SEEPAGE_A_SAMPLE_SIZE, 0));
	return msg_get(msg, SEEPAGE_A_PASS_END, 0) ? pass_ended(r) : 0;
}

static int on_series(struct recorder *r, struct nlmsghdr *nlh)
{
	struct message msg;
	bool gap;
	u64 seq;

	if (msg_parse(&msg, nlh) || !msg_u64(&msg, SEEPAGE_A_PASS_SEQ, &seq))
		return 0;
	gap = r->seq && seq != r->seq + 1;
	if (gap)
		series_write_lost(&r->w, seq - r->seq - 1);
	r->seq = seq;
	if (msg.a[SEEPAGE_A_GONE])
		series_take_gone(&r->w, msg.a[SEEPAGE_A_GONE]);
	return read_pass(r, &msg, gap);
}

/* Was the family of the module removed? */
static bool is_unload(struct nlmsghdr *nlh)
{
	struct nlattr *a[CTRL_ATTR_MAX + 1];

	return genlmsg_valid_hdr(nlh, 0) && genlmsg_hdr(nlh)->cmd == CTRL_CMD_DELFAMILY &&
	       genlmsg_parse(nlh, 0, a, CTRL_ATTR_MAX, NULL) >= 0 && a[CTRL_ATTR_FAMILY_NAME] &&
	       !nla_strcmp(a[CTRL_ATTR_FAMILY_NAME], SEEPAGE_GENL_NAME);
}

static int on_event(struct nlmsghdr *nlh, void *arg)
{
	struct recorder *r = arg;

	if (nlh->nlmsg_type == GENL_ID_CTRL && is_unload(nlh)) {
		note(NULL, "record: module unloaded: the recording ends");
		r->done = true;
		return -ECANCELED;
	}
	if (nlh->nlmsg_type == r->ask.family && genlmsg_valid_hdr(nlh, 0) &&
	    genlmsg_hdr(nlh)->cmd == SEEPAGE_CMD_SERIES)
		return on_series(r, nlh);
	return 0;
}

static void on_signal(struct recorder *r)
{
	struct signalfd_siginfo s;

	if (read(r->signals, &s, sizeof(s)) != sizeof(s))
		return;
	if (s.ssi_signo != SIGCHLD || child_ended(r->child, &r->child_status))
		r->done = true;
}

/* ---- recording ---- */

static int patience(const struct recorder *r)
{
	u64 now = clock_ms();

	if (!r->deadline_ms)
		return -1;
	return now >= r->deadline_ms ? 0 : (int)(r->deadline_ms - now);
}

static int record(struct recorder *r)
{
	struct pollfd p[] = {
		{ .fd = knl_fd(&r->events), .events = POLLIN },
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = r->out == stdout ? STDOUT_FILENO : -1 },	/* its reader may leave */
	};
	int err = 0, n;

	while (!r->done) {
		n = poll(p, ARRAY_SIZE(p), patience(r));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && p[1].revents)
			on_signal(r);
		if ((n > 0 && p[2].revents && out_gone()) ||
		    (r->deadline_ms && clock_ms() >= r->deadline_ms))
			r->done = true;
		err = knl_events(&r->events, on_event, r);	/* even if done: reads the rest */
		/* -ENOBUFS: on_series() sees the gap in the message numbers */
		if (err < 0 && err != -ENOBUFS && err != -ECANCELED)
			return err;
	}
	return 0;
}

/* Does the module send nothing? Then it cannot be asked for a series either. */
static bool multicast_is_off(struct recorder *r)
{
	struct nlmsghdr *nlh = NULL;
	struct message msg;
	bool off = query_one(&r->ask, knl_msg(&r->ask, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
		   !msg_parse(&msg, nlh) && msg_get(&msg, SEEPAGE_A_MULTICAST_OFF, 0);

	free(nlh);
	return off;
}

/* Joins the multicast group. Returns 0, or a negative value with r->ask.err set. */
static int listen_series(struct recorder *r)
{
	int err = knl_open(&r->events);

	if (err >= 0)
		err = knl_listen(&r->events);
	if (err >= 0) {
		knl_buffer(&r->events, BUFFER_BYTES);
		err = knl_join(&r->events, r->ask.group_series);
	}
	r->ask.err = r->events.err;
	return err;
}

static int reset_history(struct recorder *r)
{
	struct nl_msg *msg = knl_msg(&r->ask, SEEPAGE_CMD_RESET, 0);

	nla_put_u32(msg, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_HISTORY);
	return knl_call(&r->ask, msg, NULL, NULL);
}

static int finish(struct recorder *r, int status)
{
	const struct series_writer *w = &r->w;
	int err = series_write_close(&r->w) ?: r->err;
	struct json_object *o;

	if (r->out != stdout && fclose(r->out) && !err)
		err = -errno;
	if (err < 0 && err != -EPIPE)
		return fail(r->ctx, "%s: %s", file, strerror(-err));
	if (status)
		return status;
	status = r->child_status;
	if (!r->ctx->json || r->out == stdout) {
		note(NULL, "record: %llu full passes, %llu series, %llu samples, "
		     "%llu messages lost, in %s", w->passes, w->series, w->samples, w->lost,
		     file);
		if (!w->series)
			note(NULL, "record: no series: no process lived at a full pass, which "
			     "comes every sample_interval_ms");
		return status;
	}
	o = json_object_new_object();
	json_object_object_add(o, "file", json_text(file, strlen(file)));
	json_object_object_add(o, "passes", json_object_new_uint64(w->passes));
	json_object_object_add(o, "series", json_object_new_uint64(w->series));
	json_object_object_add(o, "samples", json_object_new_uint64(w->samples));
	json_object_object_add(o, "lost", json_object_new_uint64(w->lost));
	return out_json(r->ctx, o) ?: status;
}

/* Refuses a pid that the module does not track: it would never have samples. */
static int check_pid(struct recorder *r, u32 pid)
{
	struct nlmsghdr *nlh = NULL;
	int err = query_process(&r->ask, pid, &nlh);

	free(nlh);
	return err < 0 ? knl_fail_pid(r->ctx, &r->ask, pid, NEEDS_ADMIN) : 0;
}

/* Opens the file without truncating it: an older recording stays until record starts. */
static FILE *open_file(bool *is_new)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : must(fdopen(fd, "w"));
}

/* Makes the file an empty one: another one, unless it is empty or a link. */
static int empty_file(struct recorder *r)
{
	struct stat st;
	int fd;

	if (r->out == stdout || (!fstat(fileno(r->out), &st) && !S_ISREG(st.st_mode)))
		return 0;
	if (rotate_bytes ? series_rotate_start(r->ctx, file) : disk_keep_older(r->ctx, file))
		return 1;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		fclose(r->out);
		r->out = must(fdopen(fd, "w"));
		return 0;
	}
	if (errno == EEXIST && !lstat(file, &st) && (S_ISLNK(st.st_mode) || !st.st_size) &&
	    !ftruncate(fileno(r->out), 0))
		return 0;
	return fail(r->ctx, "%s: %s", file, strerror(errno));
}

/*
 * Records to the file. The module answers and listening is permitted, so the file may
 * be created. Returns an exit status.
 */
static int record_to_file(struct recorder *r, char **command)
{
	bool is_new = false;
	int status = 0, err;

	r->out = strcmp(file, "-") ? open_file(&is_new) : stdout;
	if (!r->out)
		return fail(r->ctx, "%s: %s", file, strerror(errno));
	if (*command) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		status = child_start(r->ctx, command, NULL, &r->child);
	}
	if (status || empty_file(r)) {
		if (is_new)
			unlink(file);
		if (r->out && r->out != stdout)
			fclose(r->out);
		if (r->child)
			kill(r->child, SIGTERM);
		return status ? status : 1;
	}
	r->w.wanted = wanted;
	r->w.place = place;
	r->w.use = use;
	r->w.arg = r;
	r->w.whole = reset;
	r->w.later = suspects;
	r->w.sparse = suspects;
	series_write_begin(&r->w, r->out);
	if (duration_s)
		r->deadline_ms = clock_ms() + duration_s * 1000;
	err = record(r);
	if (err < 0) {
		r->ask.err = -err;
		status = knl_fail(r->ctx, &r->ask, NEEDS_ADMIN);
	}
	if (r->child && waitpid(r->child, NULL, WNOHANG) == 0)
		kill(r->child, SIGTERM);
	return finish(r, status);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct recorder r = { .ctx = ctx };
	struct stat st;
	int pids = ctx->rest >= 0 ? argc - ctx->rest : argc, i, status = 0;

	argv[argc] = NULL;
	if (ctx->rest == 0)
		return usage(ctx, "COMMAND is missing after --");
	if (ctx->rest > 0 && pids)
		return usage(ctx, "'%s': allowed PIDs or a COMMAND, not both", argv[0]);
	if (suspects && reset)
		return usage(ctx, "--suspects: not allowed with --reset");
	if (comm && (!*comm || strlen(comm) >= SEEPAGE_COMM_LEN))
		return usage(ctx, "--comm: '%.80s': allowed 1 to %d bytes, which is what the "
			     "kernel keeps", comm, SEEPAGE_COMM_LEN - 1);
	if (file && !*file)
		return usage(ctx, "--output: '': allowed the name of a file");
	if (!file)
		file = "seepage.series";
	if (rotate_bytes && (!strcmp(file, "-") || (!lstat(file, &st) && !S_ISREG(st.st_mode))))
		return usage(ctx, "--rotate: '%s': allowed with a regular file only", file);
	r.pids = must(calloc((size_t)argc + 1, sizeof(*r.pids)));
	for (i = 0; i < pids && !status; i++)
		status = parse_pid_or_command(ctx, argv[i], &r.pids[r.n++]);
	if (status || query_open(ctx, &r.ask)) {
		free(r.pids);
		return status ? status : 1;
	}
	for (i = 0; i < pids && !status; i++)
		status = check_pid(&r, r.pids[i]);
	r.signals = child_signals();
	if (status)
		;			/* an error was printed */
	else if (!r.ask.group_series)
		status = fail(ctx, "the loaded module sends no samples (it has no group '"
			      SEEPAGE_MCGRP_SERIES "')");
	else if (multicast_is_off(&r))
		status = fail(ctx, "the module sends no samples: multicast is off "
			      "(see seepage doctor)");
	else if (listen_series(&r) < 0 || (reset && reset_history(&r) < 0))
		status = knl_fail(ctx, &r.ask, NEEDS_ADMIN);
	else
		status = record_to_file(&r, argv + pids);
	knl_close(&r.events);
	knl_close(&r.ask);
	if (r.signals >= 0)
		close(r.signals);
	free(r.pids);
	return status;
}

const struct command cmd_record = {
	TOOL_RECORD,
	.more = "Records all processes, the PIDs, or a COMMAND that it executes, with its\n"
		"descendants, for as long as the COMMAND runs, and exits with its status. On\n"
		"SIGINT and SIGTERM it completes the file and ends the COMMAND. An older\n"
		"recording is kept as FILE.old. replay does not compare series that began before\n"
		"the recording.",
	.opts = opts, .max = -1, .run = run,
};
