// SPDX-License-Identifier: GPL-2.0
/*
 * Prints alerts as they arrive. It joins the multicast group first, then reads the
 * ring, then the multicasts, so that no alert is lost between the ring and the group.
 * Alerts that arrive twice have the same sequence number (follow.c). After an overrun
 * or a reload it starts again from the ring. Where the module leaves multicast off, it reads
 * the ring once a second.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>
#include "cold/cold.h"
#include "tools.h"

#define POLL_MS		1000	/* interval of asking a module that is unloaded, or tells nobody */
#define UNTOLD_NOTED	5	/* of these, after which that is no longer its load */

static u64 since, min_confidence, count, timeout_s;
static const char *states, *since_text, *looks;
static bool wait_for_module, no_cold;

static const struct opt opts[] = {
	{ .name = "since", .kind = OPT_STRING, .dest = &since_text, .arg = "SEQ",
	  .help = "first print the alerts still held, from #SEQ on" },
	{ .name = "states", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "only alerts with one of these states" },
	{ .name = "state", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "the same" },
	{ .name = "min-confidence", .kind = OPT_NUMBER, .dest = &min_confidence, .arg = "N",
	  .max = 100, .help = "only alerts with at least this confidence" },
	{ .name = "count", .kind = OPT_NUMBER, .dest = &count, .arg = "N", .min = 1,
	  .max = UINT64_MAX, .help = "end after N alerts" },
	{ .name = "timeout", .kind = OPT_NUMBER, .dest = &timeout_s, .arg = "SECONDS", .min = 1,
	  .max = INT32_MAX, .help = "end after this time" },
	{ .name = "wait", .kind = OPT_FLAG, .dest = &wait_for_module,
	  .help = "wait for the module if it is not loaded" },
	{ .name = "no-cold", .kind = OPT_FLAG, .dest = &no_cold,
	  .help = "do not measure use and limits of suspects" },
	{ .name = "where", .kind = OPT_STRING, .dest = &looks, .arg = "WHAT",
	  .help = "look where they leak: census (default), burst, off" },
	{ .name = NULL }
};

struct watch {
	struct ctx *ctx;
	struct knl ask, events;	/* requests; multicasts of alerts and of nlctrl */
	struct prober *prober;		/* NULL with --no-cold */
	struct follow follow;
	u32 states;	/* mask; 0: all */
	u64 printed;
	u64 deadline_ms;	/* monotonic; 0: none */
	bool started;		/* follow is valid */
	bool away;		/* the module is not loaded now */
	bool waited;		/* the module was not loaded at the start */
	bool stale;		/* connect again: the module multicasts nothing, or has changed */
	u32 untold;		/* how often in turn the module said that it multicasts nothing */
	bool done;
	int status;
	int signals;
};

static void print_text(const struct message *msg, const struct place *p)
{
	char when[TEXT_MAX], text[SENTENCE_MAX];

	msg_text(msg, SEEPAGE_A_TIME_NS, when);
	sentence_alert(msg, p, text, sizeof(text));
	out_printf("%s #%llu %s\n", when, msg_seq(msg), text);
	owner_text(msg, p, text, sizeof(text));
	if (*text)
		out_printf("    %s\n", text);
	sentence_factors(msg, text, sizeof(text));
	out_printf("    %s\n", text);
}

static bool wanted(const struct watch *w, const struct message *msg)
{
	u64 state = msg_get(msg, SEEPAGE_A_STATE, 31);

	if (w->states && (state > 31 || !(w->states >> state & 1)))
		return false;
	return msg_get(msg, SEEPAGE_A_CONFIDENCE, 0) >= min_confidence;
}

static void show(struct watch *w, const struct message *msg, bool multicast)
{
	struct place place;

	if (w->done || !wanted(w, msg))
		return;
	place_find(msg, multicast, &place);
	if (w->ctx->json)
		out_json(w->ctx, json_alert(msg, &place));
	else
		print_text(msg, &place);
	place_free(&place);
	owner_forget();		/* names may change */
	w->printed++;
	if (out_broken() || (count && w->printed >= count))
		w->done = true;
}

static void report_lost(const struct watch *w, u64 from, u64 to)
{
	note(NULL, "watch: lost alerts %llu..%llu", from, to);
	if (!w->ctx->json)
		return;
	out_printf("{\"lost\":{\"from\":%llu,\"to\":%llu}}\n", from, to);
	out_broken();
}

/*
 * Hands the module what the process is, while /proc shows it. From within a dump no other
 * request can be sent; those of the ring are older and mostly have an identity.
 */
static void identify(struct watch *w, const struct message *msg, bool multicast)
{
	struct place place;

	if (!multicast || no_cold)
		return;
	place_find(msg, multicast, &place);
	identity_send(&w->ask, msg, &place);
	place_free(&place);
}

/* Prints the next alert. Alerts missing before it are lost and reported first. */
static void take(struct watch *w, const struct message *msg, u64 seq, bool multicast)
{
	u64 lost;

	if (w->done)
		return;
	identify(w, msg, multicast);
	lost = follow_take(&w->follow, seq);
	if (lost)
		report_lost(w, seq - lost, seq - 1);
	show(w, msg, multicast);
}

static int from_ring(struct nlmsghdr *nlh, void *arg)
{
	struct watch *w = arg;
	struct message msg;
	u64 seq, instance;

	if (msg_parse(&msg, nlh) || !msg_u64(&msg, SEEPAGE_A_SEQ, &seq))
		return 0;
	instance = msg_get(&msg, SEEPAGE_A_INSTANCE, w->follow.instance);
	switch (follow_look(&w->follow, instance, seq)) {
	case FOLLOW_NEW:
	case FOLLOW_GAP:
		take(w, &msg, seq, false);
		break;
	case FOLLOW_FOREIGN:
		w->stale = true;
		break;
	case FOLLOW_SEEN:
		break;
	}
	return 0;
}

/*
 * Reads the ring from the next expected alert on. An interrupted dump does no harm,
 * because the alerts come in order and have numbers.
 */
static int read_ring(struct watch *w)
{
	struct nl_msg *msg = knl_msg(&w->ask, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);

	if (w->follow.next)
		nla_put_u64(msg, SEEPAGE_A_SINCE_SEQ, w->follow.next);
	return knl_call(&w->ask, msg, from_ring, w);
}

/* Notes which alerts the ring holds from before the start; they are not printed. */
static void note_earlier(u64 first, u64 last)
{
	if (!first || last < first)
		note(NULL, "watch: no alert is held, waiting for the first");
	else
		note(NULL, "watch: %llu earlier alert%s held: "
		     "seepage alerts, or watch --since %llu",
		     last - first + 1, last > first ? "s are" : " is", first);
}

/* Decides which alert to begin with, at the first contact with the module. */
static void begin(struct watch *w, const struct message *status)
{
	u64 instance = msg_get(status, SEEPAGE_A_INSTANCE, 0);
	u64 last = msg_get(status, SEEPAGE_A_SEQ_LAST, 0);

	w->started = true;
	looks_start(w->ctx, looks);
	if (w->waited) {	/* loaded after the start: every alert is new */
		follow_begin(&w->follow, instance, 1);
		return;
	}
	if (!since_text) {
		note_earlier(msg_get(status, SEEPAGE_A_SEQ_FIRST, 0), last);
		/* an empty ring does not show the next number */
		follow_begin(&w->follow, instance, last ? last + 1 : 0);
		return;
	}
	if (!last && since > 1)
		note(NULL, "watch: --since: '%llu': no alert is held, waiting "
		     "for the first", since);
	if (last && since > last + 1) {
		note(NULL, "watch: --since: '%llu': the last alert is %llu (module reloaded?), "
		     "printing all", since, last);
		since = 1;
	}
	follow_begin(&w->follow, instance, last ? since : 0);
}

/*
 * Connects at the start, after an overrun and after a reload: resolves the family, asks
 * for the status, joins the group and reads the ring. Returns 0 or -errno. If the
 * module is not loaded, it sets w->away and returns 0. While multicast is off it does not
 * join: a module that is being loaded could not tell it from one that may not listen.
 */
static int connect_module(struct watch *w)
{
	struct nlmsghdr *nlh;
	struct message msg;
	int err;

	w->stale = false;
	err = knl_resolve(&w->ask);
	if (err >= 0)
		err = query_one(&w->ask, knl_msg(&w->ask, SEEPAGE_CMD_GET_STATUS, 0), &nlh);
	if (err == -ENOENT && w->started && !w->away)
		note(NULL, "watch: module unloaded, waiting for it");
	w->away = err == -ENOENT;
	if (err < 0)
		return w->away ? 0 : err;
	if (msg_parse(&msg, nlh)) {
		free(nlh);
		w->ask.err = EPROTO;
		return -EPROTO;
	}
	if (!msg_get(&msg, SEEPAGE_A_MULTICAST_OFF, 0)) {
		w->untold = 0;
		err = w->ask.group_alert ? knl_join(&w->events, w->ask.group_alert) : -EPROTO;
		w->ask.err = -err;
	} else {
		w->stale = true;
	}
	if (err >= 0 && !w->started) {
		begin(w, &msg);		/* not before it may listen */
	} else if (err >= 0 && follow_reloaded(&w->follow, msg_get(&msg, SEEPAGE_A_INSTANCE, 0))) {
		note(NULL, "watch: module reloaded");
		prober_drop_all(w->prober);
	}
	if (w->stale && ++w->untold == UNTOLD_NOTED)
		note(NULL, "watch: multicast is off");
	free(nlh);
	if (err >= 0)
		err = read_ring(w);
	/* the module was unloaded, or the ring changed meanwhile: try again */
	if (err == -ENOENT || err == 1)
		w->stale = true;
	return err == -ENOENT || err >= 0 ? 0 : err;
}

static void from_stream(struct watch *w, struct nlmsghdr *nlh)
{
	struct message msg;
	u64 seq, instance;
	enum follow_what what;

	if (!w->started || msg_parse(&msg, nlh) || !msg_u64(&msg, SEEPAGE_A_SEQ, &seq))
		return;
	instance = msg_get(&msg, SEEPAGE_A_INSTANCE, w->follow.instance);
	what = follow_look(&w->follow, instance, seq);
	if (what == FOLLOW_GAP || (what == FOLLOW_FOREIGN && instance != w->follow.old_instance)) {
		/* the ring may have the missing alerts */
		if (connect_module(w) < 0)
			w->stale = true;
		what = follow_look(&w->follow, instance, seq);
	}
	if (what == FOLLOW_NEW || what == FOLLOW_GAP)
		take(w, &msg, seq, true);
	else if (what == FOLLOW_FOREIGN && follow_take_old(&w->follow, instance, seq))
		show(w, &msg, true);
}

/*
 * A family was registered or removed. If it is that of the module, connect again. The
 * message itself does not tell whether the module is loaded: that may have changed
 * since it was sent.
 */
static void from_ctrl(struct watch *w, struct nlmsghdr *nlh)
{
	struct nlattr *a[CTRL_ATTR_MAX + 1];

	if (genlmsg_valid_hdr(nlh, 0) && genlmsg_parse(nlh, 0, a, CTRL_ATTR_MAX, NULL) >= 0 &&
	    a[CTRL_ATTR_FAMILY_NAME] &&
	    !nla_strcmp(a[CTRL_ATTR_FAMILY_NAME], SEEPAGE_GENL_NAME))
		w->stale = true;
}

static int on_event(struct nlmsghdr *nlh, void *arg)
{
	struct watch *w = arg;

	if (nlh->nlmsg_type == GENL_ID_CTRL)
		from_ctrl(w, nlh);
	else if (nlh->nlmsg_type == w->ask.family && genlmsg_valid_hdr(nlh, 0) &&
		 genlmsg_hdr(nlh)->cmd == SEEPAGE_CMD_ALERT)
		from_stream(w, nlh);
	return w->done ? -ECANCELED : 0;
}

/* Returns the time to sleep in ms, -1: no limit. */
static int patience(const struct watch *w)
{
	int ms = w->away || w->stale ? POLL_MS : prober_wait(w->prober);
	u64 now, left;

	if (!w->deadline_ms)
		return ms;
	now = clock_ms();
	left = now < w->deadline_ms ? w->deadline_ms - now : 0;
	if (ms < 0)
		ms = INT32_MAX;
	return left < (u64)ms ? (int)left : ms;
}

/* One round: sleeps, reads events and connects again if needed. Returns 0 or -errno. */
static int step(struct watch *w)
{
	struct pollfd p[] = {
		{ .fd = knl_fd(&w->events), .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* POLLERR: the reader of the pipe has gone */
	};
	int n = poll(p, ARRAY_SIZE(p), patience(w)), err;

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n > 0 && (p[1].revents || (p[2].revents && out_gone()))) {
		w->done = true;
		return 0;
	}
	err = knl_events(&w->events, on_event, w);
	if (w->done || (w->deadline_ms && clock_ms() >= w->deadline_ms)) {
		w->done = true;
		return 0;
	}
	if (err == -ENOBUFS)
		w->stale = true;
	else if (err < 0)
		return err;
	if (w->away || w->stale) {
		err = connect_module(w);
		if (err == -ENOMEM) {	/* the kernel has none; it passes */
			w->stale = true;
			return 0;
		}
		if (err < 0 || w->away)
			return err;
	}
	if (!p[0].revents)	/* no alert is queued */
		prober_step(w->prober);
	return 0;
}

static int follow_alerts(struct watch *w)
{
	int err = connect_module(w);

	if (!err && w->away && !wait_for_module)
		return knl_fail(w->ctx, &w->ask, NEEDS_ADMIN);
	w->waited = w->away;
	if (!err && w->away)
		note(NULL, "watch: module not loaded, waiting for it");
	while (!err && !w->done)
		err = step(w);
	return err < 0 ? knl_fail(w->ctx, &w->ask, NEEDS_ADMIN) : 0;
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct watch w = { .ctx = ctx };
	int err = looks_check(ctx, looks);

	if (err)
		return err;
	if (since_text && !parse_u64(since_text, &since))
		return usage(ctx, "--since: '%s': allowed 0..%llu", since_text,
			     (u64)UINT64_MAX);
	if (states)
		err = parse_states(ctx, states, SEEPAGE_STATE_SUSPECTED, &w.states);
	if (err || out_gone())
		return err;
	if (timeout_s)
		w.deadline_ms = clock_ms() + timeout_s * 1000;
	if (!ctx->json)
		out_fold();
	w.signals = block_signals();
	err = knl_open(&w.ask);
	if (err >= 0) {
		err = knl_open(&w.events);
		if (err >= 0)
			err = knl_listen(&w.events);
		w.ask.err = w.events.err;
	}
	if (!no_cold)
		w.prober = prober_new(&w.ask);
	err = err < 0 ? knl_fail(ctx, &w.ask, NEEDS_ADMIN) : follow_alerts(&w);
	prober_free(w.prober);
	knl_close(&w.events);
	knl_close(&w.ask);
	if (w.signals >= 0)
		close(w.signals);
	return err;
}

const struct command cmd_watch = {
	.name = "watch", .args = "", .help = "print alerts as they arrive",
	.more = "It tells the module whether suspects use the memory they gained, and the limits\n"
		"of their cgroups. With -j it prints one object a line, also of lost alerts.",
	.opts = opts, .run = run,
};
