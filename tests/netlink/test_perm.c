// SPDX-License-Identifier: GPL-2.0
/*
 * Permissions. The tests before perm-setuid use the credentials of the caller, which the cases
 * set (tests/cases/perm-*.sh). The other tests start as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nltest.h"

#define MB	(1UL << 20)
#define NOBODY	65534		/* also what stands for a uid that a namespace has not mapped */
#define USER	2003

static struct conn c;
static char buf[REQ_SIZE] __attribute__((aligned(8)));

static struct nlmsghdr *setting(void)
{
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
	struct nlattr *nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);

	mnl_attr_put_u32(nlh, SEEPAGE_CFG_WARMUP_S, 300);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

static struct nlmsghdr *resetting(uint32_t what)
{
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);

	mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, what);
	return nlh;
}

static struct nlmsghdr *facts(void)
{
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);

	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, getpid());
	mnl_attr_put_u32(nlh, SEEPAGE_A_COLD_PERMILLE, 1000);
	return nlh;
}

static void no_write(void)
{
	uint32_t what;

	refused(&c, setting(), -EPERM, "CAP_SYS_ADMIN", NULL, "SET_CONFIG");
	for (what = 1; what <= SEEPAGE_RESET_ALL; what++)
		refused(&c, resetting(what), -EPERM, "CAP_SYS_ADMIN", NULL, "RESET");
	refused(&c, facts(), -EPERM, "CAP_SYS_ADMIN", NULL, "SET_FACTS");
	/* not even one's own history */
	refused(&c, resetting(SEEPAGE_RESET_HISTORY), -EPERM, "CAP_SYS_ADMIN", NULL, "RESET");
}

static void no_join(void)
{
	struct sockaddr_nl at = { .nl_family = AF_NETLINK };
	int group, fd, rc;

	for (group = GROUP_ALERT; group <= GROUP_SERIES; group++) {
		rc = conn_join(&c, group);
		check(rc == -EPERM, "joining group %d: %s", group, rc ? strerror(-rc) : "done");
		if (c.group[group] > 32)
			continue;
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
		at.nl_groups = 1U << (c.group[group] - 1);
		rc = bind(fd, (void *)&at, sizeof(at)) ? errno : 0;
		check(rc == EPERM, "binding to group %d: %s", group, rc ? strerror(rc) : "done");
		close(fd);
	}
}

/* Neither CAP_PERFMON nor CAP_SYS_ADMIN in the initial user namespace. */
static void denied(void)
{
	struct answer a;

	conn_open(&c);
	refused(&c, request(&c, buf, SEEPAGE_CMD_GET_STATUS, 0), -EPERM, "CAP_PERFMON", NULL,
		"GET_STATUS");
	refused(&c, request(&c, buf, SEEPAGE_CMD_GET_CONFIG, 0), -EPERM, "CAP_PERFMON", NULL,
		"GET_CONFIG");
	refused(&c, request(&c, buf, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP), -EPERM,
		"CAP_PERFMON", NULL, "GET_ALERTS");
	ask(&c, request(&c, buf, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP), &a, NULL, NULL);
	check(!a.messages, "%u alerts in spite of the refusal", a.messages);
	no_write();
	no_join();
}

static void on_own(const struct parsed *p, void *data)
{
	(void)data;
	check(num(p, SEEPAGE_A_UID) == getuid(), "process %llu '%s' of uid %llu",
	      (unsigned long long)num(p, SEEPAGE_A_PID), str(p, SEEPAGE_A_COMM),
	      (unsigned long long)num(p, SEEPAGE_A_UID));
}

/* Somebody unprivileged sees what is its own and nothing else. */
static void own_processes(void)
{
	struct filter by_root = { .by_uid = true, .uid = 0 };
	struct answer a;
	struct seen *s;
	struct copy m;
	struct kid k;
	int rc;

	conn_open(&c);
	kid_start(&k, MB, 0, "owned", 0);
	s = dump(&c, NULL, &a, on_own, NULL);
	check(s->n[getpid()] == 1 && s->n[k.pid] == 1, "own processes are missing");
	check(!s->n[getpid() == 1 ? 0 : 1], "process 1 is in the dump");
	if (getuid()) {
		s = dump(&c, &by_root, &a, on_own, NULL);
		check(!s->total, "FILTER_UID 0 shows %u processes", s->total);
	}
	check(!get_proc(&c, getpid(), &m), "GET_PROC of itself is refused");
	check(!get_proc(&c, k.pid, &m), "GET_PROC of its child is refused");
	if (getpid() != 1) {
		rc = get_proc(&c, 1, &m);
		check(rc == -EPERM, "GET_PROC of process 1: %s", rc ? strerror(-rc) : "answered");
	}
	kid_end(&k);
}

/* Reads all. */
static void reader_all(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct answer a;
	struct alerts l;
	struct seen *s;
	struct copy m;

	conn_open(&c);
	get_status(&c, &m);
	get_config(&c, v);
	get_alerts(&c, false, 0, &l);
	check(!get_proc(&c, 1, &m), "GET_PROC of process 1 is refused");
	s = dump(&c, NULL, &a, NULL, NULL);
	check(s->n[1] == 1 && s->n[getpid()] == 1, "the dump is not of all");
}

/* CAP_PERFMON: reads all, changes nothing. */
static void reader(void)
{
	reader_all();
	no_write();
	no_join();
}

/* Leaves alerts in the ring for those who may not read them. */
static void leave_alerts(void)
{
	struct alerts l;
	struct kid k;
	int i;

	conn_open(&c);
	kid_start(&k, 4 * MB, 100 * MB, "alarming", 0);
	set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
		   SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, SEEPAGE_CFG_POLICY,
		   SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
		   SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 1, SEEPAGE_CFG_ALERT_CONFIDENCE, 20,
		   SEEPAGE_CFG_ALERTS_PER_MINUTE, 100000, 0);
	wait_accused(&c, k.pid);
	kid_end(&k);
	for (i = 0; i < 100; i++) {
		get_alerts(&c, false, 0, &l);
		if (l.n >= 2)
			break;
		msleep(100);
	}
	set_config(&c, SEEPAGE_CFG_ALERT_CONFIDENCE, 100, 0);
	check(l.n >= 2, "%u alerts", l.n);
}

static void admin(void)
{
	struct answer a;
	struct copy m;

	conn_open(&c);
	get_status(&c, &m);
	check(!get_proc(&c, 1, &m), "GET_PROC of process 1 is refused");
	check(!ask(&c, setting(), &a, NULL, NULL), "SET_CONFIG: %s", a.text);
	check(!ask(&c, resetting(SEEPAGE_RESET_ALL), &a, NULL, NULL), "RESET: %s", a.text);
	check(!conn_join(&c, GROUP_ALERT) && !conn_join(&c, GROUP_SAMPLE), "join");
}

static void absent(void)
{
	int rc = conn_try(&c, 0);

	check(rc == -ENOENT, "the family in this namespace: %s", rc ? strerror(-rc) : "there");
}

/* A program with another uid's rights is not its caller's to look into. */
static void own_setuid(void)
{
	struct answer a;
	struct seen *s;
	struct copy m;
	pid_t pid, me;
	int status, rc, ready[2];
	char ch;

	need(!pipe2(ready, O_CLOEXEC), "pipe");
	pid = fork();
	if (!pid) {		/* as a setuid root program of NOBODY's is */
		if (setresuid(NOBODY, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	need(read(ready[0], &ch, 1) == 1, "no child");
	me = fork();
	if (!me) {
		if (setresuid(NOBODY, NOBODY, NOBODY))
			_exit(2);
		conn_open(&c);
		rc = get_proc(&c, pid, &m);
		check(rc == -EPERM, "GET_PROC of a setuid program: %s",
		      rc ? strerror(-rc) : "answered");
		s = dump(&c, NULL, &a, NULL, NULL);
		check(!s->n[pid], "a setuid program is in the dump");
		check(s->n[getpid()] == 1, "the dump lacks the reader");
		_exit(failures() ? 1 : 0);
	}
	waitpid(me, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "see above");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * write() alone, as a setuid program does that takes the socket for its output.
 * A message with an address is meant, and counts as its sender's.
 */
static void refused_write(struct nlmsghdr *nlh, const char *what)
{
	struct answer a;

	need(write(mnl_socket_get_fd(c.nl), nlh, nlh->nlmsg_len) == (ssize_t)nlh->nlmsg_len,
	     "write: %s", strerror(errno));
	conn_answer(&c, nlh->nlmsg_seq, &a, NULL, NULL);
	check(a.rc == -EPERM, "%s: %s", what, a.rc ? strerror(-a.rc) : "accepted");
	check(a.text[0], "%s: no text", what);
}

/* Who opened the socket counts as well as who sends: rights cannot be lent. */
static void opener(void)
{
	struct answer a;

	need(!getuid(), "not root");
	conn_open(&c);			/* by root, used by NOBODY */
	need(!seteuid(NOBODY), "seteuid");
	refused(&c, request(&c, buf, SEEPAGE_CMD_GET_STATUS, 0), -EPERM, NULL, NULL,
		"root's socket in the hands of another");
	refused(&c, setting(), -EPERM, NULL, NULL, "SET_CONFIG on root's socket");
	conn_close(&c);
	conn_open(&c);			/* by NOBODY, used by root */
	need(!seteuid(0), "seteuid");
	refused_write(request(&c, buf, SEEPAGE_CMD_GET_STATUS, 0),
		      "GET_STATUS by root on another's socket");
	refused_write(setting(), "SET_CONFIG by root on another's socket");
	conn_close(&c);
	conn_open(&c);
	check(!ask(&c, setting(), &a, NULL, NULL), "root on its own socket: %s", a.text);
}

static void is_refused(pid_t pid, const char *what)
{
	struct copy m;
	int rc = get_proc(&c, pid, &m);

	check(rc == -EPERM, "GET_PROC of %s: %s", what, rc ? strerror(-rc) : "answered");
}

/* No process passes FILTER_UID. */
static void none_of(uid_t uid)
{
	struct filter f = { .by_uid = true, .uid = uid };
	struct answer a;
	struct seen *s = dump(&c, &f, &a, NULL, NULL);

	check(!a.rc && !s->total, "FILTER_UID %u: %u processes, %s", (unsigned int)uid, s->total,
	      strerror(-a.rc));
}

/*
 * The namespace has not mapped the reader's uid. It stands as that of NOBODY there, which gives no
 * right to processes of NOBODY.
 */
static void ask_unmapped(pid_t own, pid_t of_nobody)
{
	struct answer a;
	struct seen *s;
	struct copy m;

	need(!unshare(CLONE_NEWUSER), "unshare: %s", strerror(errno));
	need(getuid() == NOBODY, "uid %u", getuid());
	conn_open(&c);
	s = dump(&c, NULL, &a, on_own, NULL);
	check(!a.rc && s->n[getpid()] == 1 && s->n[own] == 1 && s->total == 2,
	      "%u processes in the dump, %s", s->total, strerror(-a.rc));
	check(!get_proc(&c, own, &m), "GET_PROC of its own process is refused");
	is_refused(of_nobody, "a process of NOBODY");
	is_refused(1, "process 1");
	/* no uid of this namespace is that of a process */
	none_of(NOBODY);
	none_of(USER);
	none_of(0);
}

/* The socket is of NOBODY, the reader another user: it is nobody's reader. */
static void ask_by_other(pid_t own, pid_t of_nobody)
{
	struct filter itself = { .pid = getpid() };
	struct answer a;
	struct seen *s = dump(&c, NULL, &a, NULL, NULL);

	check(!a.rc && !s->total, "%u processes in the dump, %s", s->total, strerror(-a.rc));
	s = dump(&c, &itself, &a, NULL, NULL);
	check(!a.rc && !s->total, "%u processes in the dump of itself, %s", s->total,
	      strerror(-a.rc));
	is_refused(getpid(), "itself");
	is_refused(own, "its process");
	is_refused(of_nobody, "a process of who opened the socket");
	is_refused(1, "process 1");
	no_write();
	no_join();
}

/* Runs @f as USER in a child; USER has one more process, and so has NOBODY. */
static void as_user(void (*f)(pid_t own, pid_t of_nobody))
{
	struct kid own, other;
	int status;
	pid_t me;

	kid_start(&own, MB, 0, "own", USER);
	kid_start(&other, MB, 0, "other", NOBODY);
	me = fork();
	if (!me) {
		if (setresuid(USER, USER, USER))
			_exit(2);
		f(own.pid, other.pid);
		_exit(failures() ? 1 : 0);
	}
	waitpid(me, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "see above");
	kid_end(&own);
	kid_end(&other);
}

static void unmapped(void)
{
	as_user(ask_unmapped);
}

static void passed_on(void)
{
	need(!seteuid(NOBODY), "seteuid");
	conn_open(&c);
	need(!seteuid(0), "seteuid");
	as_user(ask_by_other);
}

/* The factors of a process, as a mask of their numbers; 0: it is not told of. */
static uint32_t factors_of(struct conn *conn, pid_t pid)
{
	const struct nlattr *f, *a;
	uint32_t mask = 0;
	struct copy m;

	if (get_proc(conn, pid, &m) || !m.p.a[SEEPAGE_A_FACTORS])
		return 0;
	mnl_attr_for_each_nested(f, m.p.a[SEEPAGE_A_FACTORS])
		mnl_attr_for_each_nested(a, f)
			if (mnl_attr_get_type(a) == SEEPAGE_FACTOR_A_ID)
				mask |= 1U << mnl_attr_get_u8(a);
	return mask;
}

/* The same, as another user sees them. */
static uint32_t factors_as(uid_t uid, pid_t pid)
{
	struct conn other;
	uint32_t mask = 0;
	int from[2];
	pid_t child;

	need(!pipe2(from, O_CLOEXEC), "pipe");
	child = fork();
	if (!child) {
		if (setresuid(uid, uid, uid))
			_exit(2);
		conn_open(&other);
		mask = factors_of(&other, pid);
		_exit(write(from[1], &mask, sizeof(mask)) == sizeof(mask) ? 0 : 1);
	}
	close(from[1]);
	need(read(from[0], &mask, sizeof(mask)) == sizeof(mask), "the reader died");
	close(from[0]);
	waitpid(child, NULL, 0);
	return mask;
}

/*
 * Two processes of one name that grow: root is told how many others grow, their own user
 * gets all factors but that one.
 */
static void hidden_factors(void)
{
	const uint32_t pop = 1U << SEEPAGE_FACTOR_POP;
	uint32_t before = 0, user = 0, after = 1;
	struct kid k[2];
	int i;

	conn_open(&c);
	need(!set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS,
			 200, SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, SEEPAGE_CFG_MIN_PROCESS_SIZE_MB,
			 1, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_LADDER, 0), "SET_CONFIG refused");
	for (i = 0; i < 2; i++)
		kid_start(&k[i], 4 * MB, 0, "twins", NOBODY);
	/* factors may come and go between two looks: until both of root's are the same */
	for (i = 0; i < 400 && !(before & pop && before == after); i++) {
		kid_ask(&k[0], '+', MB / 4);
		kid_ask(&k[1], '+', MB / 4);
		msleep(50);
		before = factors_of(&c, k[0].pid);
		if (!(before & pop))
			continue;
		user = factors_as(NOBODY, k[0].pid);
		after = factors_of(&c, k[0].pid);
	}
	need(before & pop, "root is not told of others of its name: factors %x", before);
	need(before == after, "factors changed all the time: %x, then %x", before, after);
	check(user == (before & ~pop), "a plain user is told of factors %x, root of %x", user,
	      before);
	kid_end(&k[0]);
	kid_end(&k[1]);
}

const struct test tests_perm[] = {
	{ "perm-alerts", leave_alerts },
	{ "perm-denied", denied },
	{ "perm-own", own_processes },
	{ "perm-reader", reader },
	{ "perm-reader-all", reader_all },
	{ "perm-admin", admin },
	{ "perm-absent", absent },
	{ "perm-setuid", own_setuid },
	{ "perm-opener", opener },
	{ "perm-unmapped", unmapped },
	{ "perm-passed-on", passed_on },
	{ "perm-factors", hidden_factors },
	{ NULL, NULL }
};
