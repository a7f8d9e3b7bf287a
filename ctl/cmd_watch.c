// SPDX-License-Identifier: GPL-2.0
/*
 * Prints alerts as they come. The order is what makes it complete: join the
 * group, then read the ring, then the stream; what comes twice is told apart
 * by its number (follow.c). After an overrun or a reload: the same again.
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
#include "cold.h"

#define POLL_MS		1000	/* look for the module this often while it is away */

static u64 since, min_confidence, count, timeout_s;
static const char *states, *since_text;
static bool wait_for_module, no_cold;

static const struct opt opts[] = {
	{ .name = "since", .kind = OPT_STRING, .dest = &since_text, .arg = "SEQ",
	  .help = "first print what the module still holds, from this number on" },
	{ .name = "states", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "only alerts that say one of these states" },
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
	  .help = "do not look at what suspects use, nor at their cgroups" },
	{ .name = NULL }
};

struct watch {
	struct ctx *ctx;
	struct knl ask, events;	/* requests; the group and news of families */
	struct prober *prober;		/* NULL: --no-cold */
	struct follow follow;
	u32 states;	/* mask; 0: all */
	u64 printed;
	u64 deadline_ms;	/* monotonic; 0: none */
	bool started;		/* follow is valid */
	bool away;		/* no module now */
	bool waited;		/* there was none at the start */
	bool stale;		/* connect again: something was missed or changed */
	bool done;
	int status;
	int signals;
};

static void print_text(const struct rec *rec)
{
	char when[TEXT_MAX], text[SENTENCE_MAX], evidence[SENTENCE_MAX];

	attr_text(SEEPAGE_A_TIME_NS, rec->a[SEEPAGE_A_TIME_NS], false, when, sizeof(when));
	sentence_alert(rec, text, sizeof(text));
	sentence_evidence(rec, evidence, sizeof(evidence));
	out_printf("%s #%llu %s\n    %s\n", when, rec_get(rec, SEEPAGE_A_SEQ, 0), text, evidence);
}

static bool wanted(const struct watch *w, const struct rec *rec)
{
	u64 state = rec_get(rec, SEEPAGE_A_STATE, 31);

	if (w->states && (state > 31 || !(w->states >> state & 1)))
		return false;
	return rec_get(rec, SEEPAGE_A_CONFIDENCE, 0) >= min_confidence;
}

static void show(struct watch *w, const struct rec *rec, bool multicast)
{
	struct place place;

	if (w->done || !wanted(w, rec))
		return;
	if (w->ctx->json) {
		place_find(rec, multicast, &place);
		out_json(w->ctx, json_alert(rec, &place));
		place_free(&place);
	} else {
		print_text(rec);
	}
	w->printed++;
	if (out_broken() || (count && w->printed >= count))
		w->done = true;
}

static void tell_lost(const struct watch *w, u64 from, u64 to)
{
	struct json_object *o, *range;

	note(NULL, "watch: lost alerts %llu..%llu", from, to);
	if (!w->ctx->json)
		return;
	o = json_object_new_object();
	range = json_object_new_object();
	json_object_object_add(range, "from", json_object_new_uint64(from));
	json_object_object_add(range, "to", json_object_new_uint64(to));
	json_object_object_add(o, "lost", range);
	out_json(w->ctx, o);
	out_broken();
}

/* The next alert, whatever is missing before it will not come any more. */
static void take(struct watch *w, const struct rec *rec, u64 seq, bool multicast)
{
	u64 lost;

	if (w->done)
		return;
	lost = follow_take(&w->follow, seq);
	if (lost)
		tell_lost(w, seq - lost, seq - 1);
	show(w, rec, multicast);
}

static int from_ring(struct nlmsghdr *nlh, void *arg)
{
	struct watch *w = arg;
	struct rec rec;
	u64 seq, instance;

	if (rec_parse(&rec, nlh) || !rec_u64(&rec, SEEPAGE_A_SEQ, &seq))
		return 0;
	instance = rec_get(&rec, SEEPAGE_A_INSTANCE, w->follow.instance);
	switch (follow_look(&w->follow, instance, seq)) {
	case FOLLOW_NEW:
	case FOLLOW_GAP:
		take(w, &rec, seq, false);
		break;
	case FOLLOW_FOREIGN:
		w->stale = true;
		break;
	case FOLLOW_SEEN:
		break;
	}
	return 0;
}

/* From the next one on. Order and numbers make an interrupted dump harmless. */
static int read_ring(struct watch *w)
{
	struct nl_msg *msg = knl_msg(&w->ask, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);

	if (w->follow.next)
		nla_put_u64(msg, SEEPAGE_A_SINCE_SEQ, w->follow.next);
	return knl_call(&w->ask, msg, from_ring, w);
}

/* What came before is not printed: whoever does not know has to be told. */
static void tell_earlier(u64 first, u64 last)
{
	if (first && last >= first)
		note(NULL, "watch: %llu earlier alert%s held: "
		     "seepage alerts, or watch --since %llu",
		     last - first + 1, last > first ? "s are" : " is", first);
}

/* Where to begin, now that the module is there for the first time */
static void begin(struct watch *w, const struct rec *status)
{
	u64 instance = rec_get(status, SEEPAGE_A_INSTANCE, 0);
	u64 last = rec_get(status, SEEPAGE_A_SEQ_LAST, 0);

	w->started = true;
	if (w->waited) {	/* loaded since: all that it says is news */
		follow_begin(&w->follow, instance, 1);
		return;
	}
	if (!since_text) {
		tell_earlier(rec_get(status, SEEPAGE_A_SEQ_FIRST, 0), last);
		/* an empty ring does not tell the next number */
		follow_begin(&w->follow, instance, last ? last + 1 : 0);
		return;
	}
	if (last && since > last + 1) {
		note(NULL, "watch: its last alert is %llu, %llu is not known here "
		     "(module reloaded?): from the beginning", last, since);
		since = 1;
	}
	follow_begin(&w->follow, instance, last ? since : 0);
}

/*
 * Whatever happened: find the family, join, ask, read the ring. 0 also when
 * there is no module, which w->away tells; -errno for all else.
 */
static int connect_module(struct watch *w)
{
	struct nlmsghdr *nlh;
	struct rec rec;
	int err;

	w->stale = false;
	err = knl_resolve(&w->ask);
	if (err >= 0 && !w->ask.group_alert) {
		w->ask.err = EPROTO;
		err = -EPROTO;
	}
	if (err >= 0) {
		err = knl_join(&w->events, w->ask.group_alert);
		if (err < 0)
			w->ask.err = w->events.err;
	}
	if (err >= 0)
		err = query_one(&w->ask, knl_msg(&w->ask, SEEPAGE_CMD_GET_STATUS, 0), &nlh);
	if (err == -ENOENT && w->started && !w->away)
		note(NULL, "watch: module unloaded, waiting for it");
	w->away = err == -ENOENT;
	if (err < 0)
		return w->away ? 0 : err;
	if (rec_parse(&rec, nlh)) {
		free(nlh);
		w->ask.err = EPROTO;
		return -EPROTO;
	}
	if (!w->started) {
		begin(w, &rec);
	} else if (follow_reloaded(&w->follow, rec_get(&rec, SEEPAGE_A_INSTANCE, 0))) {
		note(NULL, "watch: module reloaded");
		prober_forget(w->prober);
	}
	free(nlh);
	err = read_ring(w);
	if (err == -ENOENT || err == 1)
		w->stale = true;	/* gone meanwhile, or to be read again */
	return err == -ENOENT || err >= 0 ? 0 : err;
}

static void from_stream(struct watch *w, struct nlmsghdr *nlh)
{
	struct rec rec;
	u64 seq, instance;
	enum follow_what what;

	if (!w->started || rec_parse(&rec, nlh) || !rec_u64(&rec, SEEPAGE_A_SEQ, &seq))
		return;
	instance = rec_get(&rec, SEEPAGE_A_INSTANCE, w->follow.instance);
	what = follow_look(&w->follow, instance, seq);
	if (what == FOLLOW_GAP || (what == FOLLOW_FOREIGN && instance != w->follow.old_instance)) {
		/* the ring may have what is missing; then look again */
		if (connect_module(w) < 0)
			w->stale = true;
		what = follow_look(&w->follow, instance, seq);
	}
	if (what == FOLLOW_NEW || what == FOLLOW_GAP)
		take(w, &rec, seq, true);
	else if (what == FOLLOW_FOREIGN && follow_take_old(&w->follow, instance, seq))
		show(w, &rec, true);
}

/*
 * Families and groups come and go: is it ours? Whether the module is there is
 * asked, not taken from this: it may be gone, and back, since.
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

/* How long to sleep; -1: for ever */
static int patience(const struct watch *w)
{
	u64 now = clock_ms();
	int ms = w->away || w->stale ? POLL_MS : prober_wait(w->prober);

	if (!w->deadline_ms)
		return ms;
	if (now >= w->deadline_ms)
		return 0;
	if (ms < 0 || w->deadline_ms - now < (u64)ms)
		ms = w->deadline_ms - now > INT32_MAX ? INT32_MAX : (int)(w->deadline_ms - now);
	return ms;
}

/* One round: sleep, read events, connect again if that is called for. */
static int step(struct watch *w)
{
	struct pollfd p[] = {
		{ .fd = knl_fd(&w->events), .events = POLLIN },
		{ .fd = w->signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* a reader that goes away */
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
	if (w->away || w->stale)
		return connect_module(w);
	if (!p[0].revents)	/* no alert waits */
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
	int err = 0;

	if (since_text && !parse_u64(since_text, &since))
		return usage(ctx, "--since: '%s': allowed 0..%llu", since_text,
			     (u64)UINT64_MAX);
	if (states)
		err = parse_states(ctx, states, &w.states);
	if (err || out_gone())
		return err;
	if (timeout_s)
		w.deadline_ms = clock_ms() + timeout_s * 1000;
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
	.name = "watch", .args = "", .help = "print alerts as they come",
	.more = "While it runs it looks at whether suspects use again what they gained, and\n"
		"at the memory limits of their cgroups, and tells the module.\n"
		"Goes on when the module is unloaded and loaded again.\n"
		"With -j: one object a line; {\"lost\":{\"from\":A,\"to\":B}} says that these\n"
		"numbers were overwritten before they could be read. Ends with status 0 on SIGINT, SIGTERM and when its reader goes away.",
	.opts = opts, .run = run,
};
