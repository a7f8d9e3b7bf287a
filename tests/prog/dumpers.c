// SPDX-License-Identifier: GPL-2.0
/*
 * dumpers flood THREADS SECONDS: so many threads at the lowest priority (SCHED_IDLE) ask the
 * module without end, in turn for a dump of all processes and for their own process. Prints
 * "ready" when all run, then the numbers of dumps, of dumps refused as busy, and of answers
 * about their own process.
 *
 * dumpers flood-sockets THREADS SECONDS: the same threads open sockets and close them without end,
 * and leave the module alone. Prints "ready" and how many.
 *
 * dumpers ask N: asks N times for the status and for a dump. Prints the time in ms that nine
 * of ten waited at most: for the status, then for that part of the dump which took longest;
 * then for how many ms a CPU was held back meanwhile, which is not in the waits.
 * The sum of the parts depends on the share of the CPU that others leave.
 *
 * dumpers held MARKER: writes "held US" to this file, the trace's, each time a CPU was held back,
 * without end.
 *
 * dumpers families N: asks nlctrl N times about itself and N times for all families. Prints the
 * time in ms that nine of ten waited at most for a part of an answer, and the longest wait.
 *
 * dumpers crowd N: N processes that do nothing, and one at the lowest priority that asks for those
 * in no state, without end. Prints "ready" when all run.
 *
 * dumpers unread: asks for a dump, prints "ready", and never reads the answer.
 *
 * dumpers spaces: makes user namespaces, one after the other, every second one with pid and net
 * namespaces. Each asks the module by a socket of its own and by one from before, and ends with an
 * answer unread. Prints "ready" after the first; on SIGTERM the numbers of namespaces; of requests
 * by sockets of net namespaces that were answered; of changes that were made; of processes told of,
 * and of those among them that have another name than this program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/seepage.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUF	65536

static atomic_ulong dumps, busy, answers;
static atomic_uint running;
static uint16_t family;
static bool sockets;		/* the flood is one of sockets */

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000ULL + (uint64_t)t.tv_nsec / 1000;
}

#include "held.h"

static int connected(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
		die("socket");
	return fd;
}

struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr g;
	struct nlattr a;
	char data[16];
};

/* One attribute, or none if @len is 0. */
static void ask(int fd, uint16_t type, uint8_t cmd, uint16_t flags, uint16_t attr,
		const void *data, uint16_t len)
{
	struct request r = {
		.nlh = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags },
		.g = { .cmd = cmd, .version = 1 },
		.a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = attr },
	};

	if (len)
		memcpy(r.data, data, len);
	r.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + (len ? NLA_ALIGN(r.a.nla_len) : 0);
	if (send(fd, &r, r.nlh.nlmsg_len, 0) < 0)
		die("send");
}

/*
 * Reads to the end of the answer. *@wait: the longest wait for a part, us, since @begin, without
 * the time in which a CPU was held back. Returns 0 or -errno as the kernel said.
 */
static int answer_timed(int fd, char *buf, uint64_t begin, uint64_t *wait)
{
	*wait = 0;
	for (;;) {
		uint64_t held_before = held.us, now, passed;
		ssize_t n = recv(fd, buf, BUF, 0);
		struct nlmsghdr *nlh = (void *)buf;

		now = now_us();
		passed = now - begin - (held.us - held_before);
		if ((int64_t)passed > (int64_t)*wait)
			*wait = passed;
		begin = now;
		if (n < 0)
			return -errno;
		for (; NLMSG_OK(nlh, (size_t)n); nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(nlh);
			if (!(nlh->nlmsg_flags & NLM_F_MULTI))
				return 0;
		}
	}
}

static int answer(int fd, char *buf)
{
	uint64_t wait;

	return answer_timed(fd, buf, now_us(), &wait);
}

static void find_family(void)
{
	int fd = connected();
	char buf[BUF];
	struct nlattr *a = (void *)(buf + NLMSG_LENGTH(GENL_HDRLEN));

	ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME, SEEPAGE_GENL_NAME,
	    sizeof(SEEPAGE_GENL_NAME));
	if (answer(fd, buf))
		die(SEEPAGE_GENL_NAME);
	/* The reply has the id of the family near its beginning. */
	for (; a->nla_type != CTRL_ATTR_FAMILY_ID; a = (void *)((char *)a + NLA_ALIGN(a->nla_len)))
		;
	memcpy(&family, (char *)a + NLA_HDRLEN, sizeof(family));
	close(fd);
}

/* ---- the flood ---- */

static void *flood_one(void *odd)
{
	struct sched_param none = { 0 };
	uint32_t pid = (uint32_t)getpid();
	char *buf = malloc(BUF);
	int fd = connected(), err;

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("SCHED_IDLE");
	running++;
	for (;;) {
		if (sockets) {
			close(connected());
			answers++;
			continue;
		}
		if (odd) {
			ask(fd, family, SEEPAGE_CMD_GET_PROC, 0, SEEPAGE_A_PID, &pid, sizeof(pid));
			answers += !answer(fd, buf);
			continue;
		}
		ask(fd, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
		err = answer(fd, buf);
		dumps += !err;
		busy += err == -EBUSY;
	}
	return NULL;
}

static void flood(unsigned int threads, unsigned int seconds)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (uintptr_t i = 0; i < threads; i++)
		if (pthread_create(&t, &small, flood_one, (void *)(i & 1)))
			die("pthread_create");
	/* A thread that has not begun is not at the lowest priority yet. */
	for (int i = 0; i < 3000 && running < threads; i++)
		usleep(100000);
	printf("ready\n");
	fflush(stdout);
	sleep(seconds);
	printf("%u threads: %lu dumps, %lu refused as busy, %lu single answers\n", running, dumps,
	       busy, answers);
	fflush(stdout);
	_exit(0);
}

static _Noreturn void crowd(unsigned int n)
{
	struct sched_param none = { 0 };
	uint32_t no_state = 0;
	char *buf = malloc(BUF);
	int fd = connected();

	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("SCHED_IDLE");
	puts("ready");
	fflush(stdout);
	for (;;) {
		ask(fd, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, SEEPAGE_A_FILTER_STATES,
		    &no_state, sizeof(no_state));
		answer(fd, buf);
	}
}

/* ---- a reader with rights ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void measure(unsigned int n)
{
	uint64_t *took = calloc(2 * n, sizeof(*took));
	char *buf = malloc(BUF);
	int fd = connected();

	watch_cpu(NULL);
	for (unsigned int i = 0; i < 2 * n; i++) {
		uint64_t begin = now_us();

		if (i < n)
			ask(fd, family, SEEPAGE_CMD_GET_STATUS, 0, 0, NULL, 0);
		else
			ask(fd, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
		if (answer_timed(fd, buf, begin, &took[i]))
			die("ask");
		usleep(50000);
	}
	qsort(took, n, sizeof(*took), compare);
	qsort(took + n, n, sizeof(*took), compare);
	printf("%lu %lu %lu\n", (unsigned long)took[n * 9 / 10] / 1000,
	       (unsigned long)took[n + n * 9 / 10] / 1000, held.us / 1000);
}

/* ---- other families ---- */

static void other_families(unsigned int n)
{
	uint64_t *took = calloc(2 * n, sizeof(*took));
	char *buf = malloc(BUF);
	int fd = connected();

	for (unsigned int i = 0; i < 2 * n; i++) {
		uint64_t begin = now_us();

		if (i & 1)
			ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_DUMP, 0, NULL, 0);
		else
			ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME,
			    "nlctrl", sizeof("nlctrl"));
		if (answer_timed(fd, buf, begin, &took[i]))
			die("GETFAMILY");
		usleep(20000);
	}
	qsort(took, 2 * n, sizeof(*took), compare);
	printf("%lu %lu\n", (unsigned long)took[2 * n * 9 / 10] / 1000,
	       (unsigned long)took[2 * n - 1] / 1000);
}

/* ---- namespaces ---- */

static struct tally {
	unsigned long spaces, answered, changed, told, others;
} *tally;

/* Counts the processes that an answer tells of, to its end. */
static void count_told(int fd, char *buf)
{
	for (;;) {
		ssize_t n = recv(fd, buf, BUF, 0);
		struct nlmsghdr *nlh = (void *)buf;

		if (n < 0)
			return;
		for (; NLMSG_OK(nlh, (size_t)n); nlh = NLMSG_NEXT(nlh, n)) {
			char *end = (char *)nlh + nlh->nlmsg_len;
			struct nlattr *a = (void *)((char *)NLMSG_DATA(nlh) + GENL_HDRLEN);

			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
				return;
			for (; (char *)a + NLA_HDRLEN <= end && a->nla_len >= NLA_HDRLEN;
			     a = (void *)((char *)a + NLA_ALIGN(a->nla_len)))
				if (a->nla_type == SEEPAGE_A_COMM) {
					tally->told++;
					tally->others += !!strcmp((char *)a + NLA_HDRLEN,
								  program_invocation_short_name);
				}
			if (!(nlh->nlmsg_flags & NLM_F_MULTI))
				return;
		}
	}
}

/* @own_net: in a net namespace; @before: a socket of the one that it was made in */
static _Noreturn void ask_from_inside(bool own_net, int before)
{
	uint32_t first = 1, everything = ~0U;
	char *buf = malloc(BUF);
	int fd = connected();

	ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME, SEEPAGE_GENL_NAME,
	    sizeof(SEEPAGE_GENL_NAME));
	tally->answered += !answer(fd, buf) && own_net;
	ask(fd, family, SEEPAGE_CMD_GET_STATUS, 0, 0, NULL, 0);
	tally->answered += !answer(fd, buf) && own_net;
	ask(fd, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
	tally->answered += !answer(fd, buf) && own_net;

	ask(before, family, SEEPAGE_CMD_RESET, NLM_F_ACK, SEEPAGE_A_RESET_WHAT, &everything,
	    sizeof(everything));
	tally->changed += !answer(before, buf);
	ask(before, family, SEEPAGE_CMD_GET_PROC, 0, SEEPAGE_A_PID, &first, sizeof(first));
	count_told(before, buf);
	ask(before, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
	count_told(before, buf);
	ask(before, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
	_exit(0);
}

static void one_space(void)
{
	/* in turn: a pid namespace of its own would hide others even from one with rights */
	bool all = !(tally->spaces & 1);
	int before = connected();
	pid_t pid;

	if (unshare(CLONE_NEWUSER | (all ? CLONE_NEWPID | CLONE_NEWNET : 0)))
		die("unshare");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		ask_from_inside(all, before);	/* with @all it is process 1 there */
	waitpid(pid, NULL, 0);
	_exit(0);
}

static volatile sig_atomic_t over;

static void stop(int sig)
{
	(void)sig;
	over = 1;
}

static void spaces(void)
{
	signal(SIGTERM, stop);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		die("mmap");
	while (!over) {
		int status;
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			one_space();
		if (waitpid(pid, &status, 0) != pid || status)
			exit(1);
		if (!tally->spaces++) {
			puts("ready");
			fflush(stdout);
		}
	}
	printf("%lu %lu %lu %lu %lu\n", tally->spaces, tally->answered, tally->changed,
	       tally->told, tally->others);
}

static void leave_unread(void)
{
	int fd = connected(), size = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	ask(fd, family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, 0, NULL, 0);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "held") && argc > 2) {
		watch_cpu(argv[2]);
		for (;;)
			pause();
	}
	if (strcmp(what, "families"))	/* they may be asked while the module is unloaded */
		find_family();
	sockets = !strcmp(what, "flood-sockets");
	if ((sockets || !strcmp(what, "flood")) && argc > 3)
		flood((unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]));
	else if (!strcmp(what, "ask") && argc > 2)
		measure((unsigned int)atoi(argv[2]));
	else if (!strcmp(what, "families") && argc > 2)
		other_families((unsigned int)atoi(argv[2]));
	else if (!strcmp(what, "spaces"))
		spaces();
	else if (!strcmp(what, "crowd") && argc > 2)
		crowd((unsigned int)atoi(argv[2]));
	else if (!strcmp(what, "unread"))
		leave_unread();
	else
		return 2;
	return 0;
}
