// SPDX-License-Identifier: GPL-2.0
/*
 * usage: nlfuzz [--seed N] [--messages N | --seconds N] [--keep FILE]
 *               [--load FILE] [--save FILE]
 *        nlfuzz --replay FILE
 * Runs as root. --load first sends the batches that --save of an earlier run wrote. The seed is
 * printed; the same seed gives the same messages as long as the kernel gives the same answers.
 * A broken guarantee ends the run with status 1 and writes the last batches sent to the FILE of
 * --keep, for --replay.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "nlfuzz.h"

#define KEPT		64

struct totals totals;
const struct batch *in_flight;

static struct {
	enum sender sender;
	struct batch b;
} kept[KEPT];
static unsigned int n_kept;
static const char *keep_file;
static unsigned long long seed, max_messages, max_seconds;

void keep(enum sender sender, const struct batch *b)
{
	unsigned int i = n_kept++ % KEPT;

	kept[i].sender = sender;
	kept[i].b.len = b->len;
	memcpy(kept[i].b.data, b->data, b->len);
}

static void write_kept(FILE *f)
{
	unsigned int i = n_kept > KEPT ? n_kept - KEPT : 0;

	for (; i < n_kept; i++) {
		fprintf(f, "%d ", kept[i % KEPT].sender);
		batch_write(f, &kept[i % KEPT].b);
	}
}

/* The first broken promise ends it. */
void fail(const char *fmt, ...)
{
	FILE *f = keep_file ? fopen(keep_file, "w") : NULL;
	va_list ap;

	printf("nlfuzz: seed %llu, message %llu: ", seed, (unsigned long long)totals.messages);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (f) {
		write_kept(f);
		fclose(f);
	}
	fflush(stdout);
	stop();
}

_Noreturn void stop(void)
{
	kids_stop();
	_exit(1);
}

unsigned int failures(void)
{
	return 0;
}

/* ---- the family ---- */

static void on_groups(const struct nlattr *list)
{
	const struct nlattr *g, *a;

	mnl_attr_for_each_nested(g, list) {
		const char *name = "";
		uint32_t id = 0;

		mnl_attr_for_each_nested(a, g) {
			if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_NAME)
				name = mnl_attr_get_str(a);
			if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_ID)
				id = mnl_attr_get_u32(a);
		}
		if (!strcmp(name, SEEPAGE_MCGRP_ALERT))
			groups[0] = id;
		else
			groups[strcmp(name, SEEPAGE_MCGRP_SAMPLE) ? 2 : 1] = id;
	}
}

void family_find(void)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_GENERIC);
	char buf[8192] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	const struct nlattr *a;

	need(nl && !mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID), "socket: %s", strerror(errno));
	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	g->cmd = CTRL_CMD_GETFAMILY;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SEEPAGE_GENL_NAME);
	need(mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0 &&
	     mnl_socket_recvfrom(nl, buf, sizeof(buf)) > 0, "no answer of nlctrl");
	nlh = (void *)buf;
	need(nlh->nlmsg_type == GENL_ID_CTRL, "no family %s", SEEPAGE_GENL_NAME);
	mnl_attr_for_each(a, nlh, sizeof(*g)) {
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			family = mnl_attr_get_u16(a);
		if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GROUPS)
			on_groups(a);
	}
	need(family && groups[0] && groups[1] && groups[2], "a group is missing");
	mnl_socket_close(nl);
}

/* ---- the run ---- */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void print_totals(bool kcov, double seconds)
{
	int e;

	printf("%llu messages in %llu sends, %llu accepted, %llu replies, ",
	       (unsigned long long)totals.messages, (unsigned long long)totals.batches,
	       (unsigned long long)totals.accepted, (unsigned long long)totals.replies);
	printf("%llu dumps ended, %llu closed, %llu overruns, %llu not sent; refused:",
	       (unsigned long long)totals.dumps, (unsigned long long)totals.closed,
	       (unsigned long long)totals.overruns, (unsigned long long)totals.unheard);
	for (e = 1; e < (int)ARRAY_SIZE(totals.refused); e++)
		if (totals.refused[e])
			printf(" %s %llu,", strerrorname_np(e),
			       (unsigned long long)totals.refused[e]);
	if (kcov)
		printf(" %u PCs,", kcov_pcs());
	printf(" corpus %u, seed %llu, %.0f s\n", corpus_size(), seed, seconds);
}

static void replay(const char *path)
{
	FILE *f = fopen(path, "r");
	static struct batch b;
	unsigned int sender;

	need(f, "%s: %s", path, strerror(errno));
	while (fscanf(f, "%u ", &sender) == 1 && sender < WHO_MAX && batch_read(f, &b))
		act_again(sender, &b);
	fclose(f);
}

static void load(const char *path)
{
	FILE *f = fopen(path, "r");
	static struct batch b;

	need(f, "%s: %s", path, strerror(errno));
	while (batch_read(f, &b)) {
		act_again(ROOT, &b);
		corpus_add(&b, true);
	}
	fclose(f);
}

static unsigned long long number_of(const char *name, const char *word)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = word && *word >= '0' && *word <= '9' ? strtoull(word, &end, 10) : 0;
	if (v && !errno && !*end && v <= INT_MAX)
		return v;
	fprintf(stderr, "nlfuzz: %s '%s': allowed 1..%d\n", name, word ? word : "", INT_MAX);
	exit(2);
}

static const char *again, *load_file, *save_file;

static void arguments(int argc, char **argv)
{
	const struct {
		const char *name;
		unsigned long long *number;
		const char **word;
	} all[] = {
		{ "--seed", &seed, NULL }, { "--messages", &max_messages, NULL },
		{ "--seconds", &max_seconds, NULL }, { "--keep", NULL, &keep_file },
		{ "--replay", NULL, &again }, { "--load", NULL, &load_file },
		{ "--save", NULL, &save_file },
	};
	unsigned int k;
	int i;

	for (i = 1; i < argc; i += 2) {
		for (k = 0; k < ARRAY_SIZE(all) && strcmp(argv[i], all[k].name); k++)
			;
		if (k == ARRAY_SIZE(all) || !argv[i + 1]) {
			fprintf(stderr, "nlfuzz: unknown word '%s', or its value is missing\n",
				argv[i]);
			exit(2);
		}
		if (all[k].number)
			*all[k].number = number_of(argv[i], argv[i + 1]);
		else
			*all[k].word = argv[i + 1];
	}
	if (!max_messages && !max_seconds)
		max_messages = 10000;
}

int main(int argc, char **argv)
{
	bool kcov;
	double start;

	seed = time(NULL) % 100000000 + 1;
	arguments(argc, argv);
	printf("nlfuzz: seed %llu\n", seed);
	fflush(stdout);
	rnd_seed(seed);
	execs_go_on = true;	/* processes of the machine may be told without an owner */
	family_find();
	model_begin();
	kids_begin();
	act_begin();
	kcov = kcov_open();
	start = now_s();
	if (again)
		replay(again);
	if (load_file)
		load(load_file);
	while (!again && (!max_messages || totals.messages < max_messages) &&
	       (!max_seconds || now_s() - start < max_seconds))
		act();
	act_end();
	model_end();
	kids_stop();
	print_totals(kcov, now_s() - start);
	if (save_file)
		corpus_save(save_file);
	return 0;
}
