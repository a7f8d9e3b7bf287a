// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the module. A refresh takes a dump of all processes and the status, and asks for at
 * most FLOORS_ASKED single processes and the selected one: only their answers have floors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "quiet/file.h"
#include "top/top.h"

#define FLOORS_AGAIN_MS		10000
#define FLOORS_KEPT_MS		60000
#define FORGET_EVERY_MS		60000	/* names of users and units */

static struct nl_msg *build(struct knl *k, void *arg)
{
	return knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
}

static void drop_one(struct top_data *d)
{
	free(d->one_nlh);
	d->one_nlh = NULL;
	d->has_one = false;
	place_free(&d->place);
}

static void drop(struct top_data *d)
{
	free(d->msg);
	d->msg = NULL;
	d->n = 0;
	msgs_free(&d->raw);
	free(d->status_nlh);
	d->status_nlh = NULL;
	d->has_status = false;
	memset(d->states, 0, sizeof(d->states));
}

/* What the user has to know when the module does not answer */
static void say_why(struct top_data *d, const struct knl *k)
{
	d->err = k->err;
	if ((k->err == ENOENT && !*k->text) || k->err == EPROTONOSUPPORT)
		snprintf(d->why, sizeof(d->why), "%s; waiting for it", knl_module_seen() ?
			 "module is loaded, but not reachable from this network namespace" :
			 "module not loaded (modprobe seepage)");
	else
		snprintf(d->why, sizeof(d->why), "%s", *k->text ? k->text : strerror(k->err));
}

static void read_status(struct top_feed *f, struct top_data *d)
{
	int err = query_one(&f->k, knl_msg(&f->k, SEEPAGE_CMD_GET_STATUS, 0), &d->status_nlh);

	d->has_status = err >= 0 && !msg_parse(&d->status, d->status_nlh);
	d->own_only = err == -EPERM;
	d->pmc.n = 0;
	d->pmc.set = 0;
	if (d->has_status)
		pmc_list(&d->pmc, &d->status);
}

/* Opens the socket and resolves the family, unless that was done. Returns 0 or -errno. */
static int prepare(struct top_feed *f)
{
	int err = 0;

	if (!f->open)
		err = knl_open(&f->k);
	f->open = err >= 0;
	if (err >= 0 && !f->k.family)
		err = knl_resolve(&f->k);
	return err;
}

static int read_all(struct top_feed *f, struct top_data *d)
{
	int err = prepare(f);
	bool known = err >= 0;

	if (err >= 0)
		err = query_dump(&f->k, build, NULL, &d->raw);
	d->inconsistent = err > 0;
	if (err >= 0)
		return 0;
	/* loaded again, the module has another number */
	if (known && (err == -ENOENT || err == -EOPNOTSUPP || err == -EPROTONOSUPPORT)) {
		f->k.family = 0;
		err = prepare(f);
		if (err >= 0)
			err = query_dump(&f->k, build, NULL, &d->raw);
	}
	if (err < 0) {
		say_why(d, &f->k);
		f->k.family = 0;
	}
	return err < 0 ? err : 0;
}

static void count_states(struct top_data *d)
{
	u64 state;
	size_t i;

	for (i = 0; i < d->n; i++) {
		state = msg_get(&d->msg[i], SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
		if (state < __SEEPAGE_STATE_MAX)
			d->states[state]++;
	}
}

/* Reads the process under the cursor, with gates and floors, if the pane is open. */
void feed_read_one(struct top_feed *f, struct top_data *d, const struct top_view *v)
{
	drop_one(d);
	if (d->err || !v->pid || v->page == PAGE_NONE || v->cursor >= v->n_lines)
		return;
	if (query_process(&f->k, v->pid, &d->one_nlh) < 0 || msg_parse(&d->one, d->one_nlh))
		return;
	d->has_one = true;
	d->one.pmc = &d->pmc;
	d->one.user = v->line[v->cursor].msg->user;
	d->one.unit = v->line[v->cursor].msg->unit;
	d->one.interval_ms = d->has_status ?
			     msg_get(&d->status, SEEPAGE_A_INTERVAL_MS, 0) : 0;
	place_find(&d->one, false, &d->place);
	container_text(d->place.cgroup, d->container, sizeof(d->container));
	floors_put(&d->floors, v->pid, &d->one, clock_ms());
}

/* Asks for the floors of lines on the screen, the uppermost first. */
static void read_floors(struct top_feed *f, struct top_data *d, const struct top_view *v)
{
	size_t end = v->offset + view_list_rows(v), i;
	unsigned int asked = 0;
	u64 now_ms = clock_ms();

	for (i = v->offset; i < end && i < v->n_lines && asked < FLOORS_ASKED; i++) {
		const struct message *msg = v->line[i].msg;
		u32 pid = v->line[i].unit ? 0 : (u32)msg_get(msg, SEEPAGE_A_PID, 0);
		struct nlmsghdr *nlh;
		struct message one;
		bool got;

		if (!pid || msg_get(msg, SEEPAGE_A_STATE, 0) == SEEPAGE_STATE_OK ||
		    !floors_wanted(d->floors, pid, now_ms, FLOORS_AGAIN_MS))
			continue;
		asked++;
		got = query_process(&f->k, pid, &nlh) >= 0 && !msg_parse(&one, nlh);
		floors_put(&d->floors, pid, got ? &one : NULL, now_ms);
		free(nlh);
	}
	floors_forget(&d->floors, now_ms > FLOORS_KEPT_MS ? now_ms - FLOORS_KEPT_MS : 0);
}

/* One refresh: reads all, and makes the lines of @v. */
void feed_read(struct top_feed *f, struct top_data *d, struct top_view *v)
{
	static u64 forgot_ms;
	u64 now_ms = clock_ms();

	drop_one(d);
	drop(d);
	if (now_ms - forgot_ms >= FORGET_EVERY_MS) {
		owner_forget();
		forgot_ms = now_ms;
	}
	d->err = 0;
	d->real_ns = clock_real_ns();
	if (!read_all(f, d)) {
		read_status(f, d);
		d->msg = list_messages(&d->raw, &d->n);
		owner_fill(d->msg, d->n);
		quiet_mark(d);
		count_states(d);
	} else {
		floors_forget(&d->floors, UINT64_MAX);
	}
	view_make(v, d->msg, d->n);
	if (d->err)
		return;
	feed_read_one(f, d, v);
	read_floors(f, d, v);
}

void feed_close(struct top_feed *f, struct top_data *d)
{
	drop_one(d);
	drop(d);
	floors_forget(&d->floors, UINT64_MAX);
	owner_forget();
	if (f->open)
		knl_close(&f->k);
}
