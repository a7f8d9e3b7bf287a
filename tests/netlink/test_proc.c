// SPDX-License-Identifier: GPL-2.0
/* GET_PROC of one process. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "nltest.h"

#define MB	(1ULL << 20)
#define PAGE	((uint64_t)sysconf(_SC_PAGESIZE))
#define SLACK	(256 * PAGE)		/* counters lag by up to 64 pages each */

static struct conn c;
static struct copy m;

static void got(pid_t pid, const char *what)
{
	int rc = get_proc(&c, pid, &m);

	need(!rc, "%s: %s", what, strerror(-rc));
}

static void near(int attr, uint64_t want, uint64_t slack)
{
	uint64_t v = num(&m.p, attr);

	check(v + slack >= want && v <= want + slack, "%s: %llu, expected %llu",
	      attr_name(attr), (unsigned long long)v, (unsigned long long)want);
}

/* Against /proc/PID: what it is, whose it is and how large. */
static void against_proc(pid_t pid)
{
	unsigned long long v[64] = { 0 };
	char path[64], text[2048], *p, *comm_end;
	struct stat st;
	int fd, i;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	need(n > 0, "%s: %s", path, strerror(errno));
	fstat(fd, &st);
	close(fd);
	text[n] = '\0';
	comm_end = strrchr(text, ')');
	*comm_end = '\0';
	check(!strcmp(str(&m.p, SEEPAGE_A_COMM), strchr(text, '(') + 1), "COMM: '%s', not '%s'",
	      str(&m.p, SEEPAGE_A_COMM), strchr(text, '(') + 1);
	p = strchr(comm_end + 2, ' ');
	for (i = 4; i < 64 && p && *p; i++)	/* field 4 is the parent */
		v[i] = strtoull(p, &p, 10);
	check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)pid, "PID: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
	check(num(&m.p, SEEPAGE_A_UID) == st.st_uid, "UID: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_UID));
	near(SEEPAGE_A_VSZ_BYTES, v[23], 0);
	near(SEEPAGE_A_RSS_BYTES, v[24] * PAGE, SLACK);
}

static void self(void)
{
	uint64_t brk0;

	conn_open(&c);
	got(getpid(), "own pid");
	against_proc(getpid());
	/* a change of configuration hurries the next pass */
	set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
		   0);
	wait_passes(&c, 2);
	got(getpid(), "own pid");
	against_proc(getpid());
	check(count_in(&m.p, SEEPAGE_A_FACTORS) == 4, "%u factors",
	      count_in(&m.p, SEEPAGE_A_FACTORS));
	check(num(&m.p, SEEPAGE_A_FAULTS_USER) > 0, "FAULTS_USER: 0");
	brk0 = num(&m.p, SEEPAGE_A_BRK_BYTES);
	sbrk(5 * MB);
	got(getpid(), "own pid");
	check(num(&m.p, SEEPAGE_A_BRK_BYTES) == brk0 + 5 * MB, "BRK_BYTES: %llu after 5 MB more",
	      (unsigned long long)(num(&m.p, SEEPAGE_A_BRK_BYTES) - brk0));
}

/* The figures follow what the process does. */
static void grows(void)
{
	uint64_t anon, faults;
	struct kid k;

	conn_open(&c);
	quick(&c, 100);
	kid_start(&k, MB, 0, "grower", 0);
	kid_ask(&k, 's', 4 * MB);
	wait_passes(&c, 5);
	got(k.pid, "a child");
	against_proc(k.pid);
	near(SEEPAGE_A_SHMEM_BYTES, 4 * MB, SLACK);
	anon = num(&m.p, SEEPAGE_A_ANON_BYTES);
	faults = num(&m.p, SEEPAGE_A_FAULTS_USER) + num(&m.p, SEEPAGE_A_FAULTS_KERNEL);
	kid_ask(&k, '+', 20 * MB);
	wait_passes(&c, 5);
	got(k.pid, "a child");
	against_proc(k.pid);
	near(SEEPAGE_A_ANON_BYTES, anon + 20 * MB, SLACK);
	faults = num(&m.p, SEEPAGE_A_FAULTS_USER) + num(&m.p, SEEPAGE_A_FAULTS_KERNEL) - faults;
	check(faults >= 20 * MB / PAGE && faults < 20 * MB / PAGE + 200,
	      "%llu faults for %llu pages", (unsigned long long)faults,
	      (unsigned long long)(20 * MB / PAGE));
	check(num(&m.p, SEEPAGE_A_FAULTS_ANON) >= 20 * MB / PAGE, "FAULTS_ANON: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_FAULTS_ANON));
	check(num(&m.p, SEEPAGE_A_FAULT_RATE) > 0, "FAULT_RATE: 0");
	check(count_in(&m.p, SEEPAGE_A_HISTORY) > 0, "no HISTORY after 10 samples");
	kid_end(&k);
	fresh(&c);
}

/* Looked at right after it was born: what is not known yet is not 0. */
static void young(void)
{
	unsigned int i, n;
	struct kid k;

	conn_open(&c);
	fresh(&c);
	for (i = 0; i < 10; i++) {
		kid_start(&k, MB, 0, "young", 0);
		/* a change of configuration hurries a pass */
		set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100,
			   SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100 + i, 0);
		msleep(20 * i);
		got(k.pid, "a young process");
		for (n = count_in(&m.p, SEEPAGE_A_HISTORY); n--; )
			check(level_ms(&m.p, n, SEEPAGE_LEVEL_A_EPOCH_MS),
			      "EPOCH_MS of level %u: 0", n);
		check(!has(&m.p, SEEPAGE_A_TTE_SECONDS), "TTE_SECONDS of a young process");
		kid_end(&k);
	}
	fresh(&c);
}

static bool in_group(pid_t pid)
{
	const uint32_t *p = mnl_attr_get_payload(m.p.a[SEEPAGE_A_PIDS]);
	size_t n = mnl_attr_get_payload_len(m.p.a[SEEPAGE_A_PIDS]) / sizeof(*p);

	while (n--)
		if (p[n] == (uint32_t)pid)
			return true;
	return false;
}

/* Two processes of a name are a group after a full pass; one has none. */
static void group(void)
{
	unsigned int wait = 100;
	struct kid k, other;
	int rc;

	conn_open(&c);
	quick(&c, 100);
	kid_start(&k, MB, 0, "of-a-group", 0);
	msleep(500);
	rc = get_group(&c, k.pid, &m);
	check(rc == -ENOENT, "the group of one process: %s", rc ? strerror(-rc) : "answered");
	kid_start(&other, MB, 0, "of-a-group", 0);
	do
		msleep(100);
	while ((rc = get_group(&c, k.pid, &m)) && wait--);
	need(!rc, "the group of two processes: %s", strerror(-rc));
	check(num(&m.p, SEEPAGE_A_MEMBERS) == 2, "MEMBERS: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_MEMBERS));
	check(in_group(k.pid) && in_group(other.pid) && !in_group(getpid()), "PIDS are others");
	kid_end(&k);
	kid_end(&other);
	fresh(&c);
}

static void thread(void)
{
	struct kid k;
	pid_t tid;

	conn_open(&c);
	kid_start(&k, MB, 0, "threaded", 0);
	tid = kid_ask(&k, 't', 0);
	need(tid > 0 && tid != k.pid, "no thread");
	got(tid, "a thread id");
	check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)k.pid, "PID: %llu, not the group's %d",
	      (unsigned long long)num(&m.p, SEEPAGE_A_PID), k.pid);
	kid_end(&k);
}

/* The first thread has ended, another one goes on. */
static void leaderless(void)
{
	struct kid k;

	conn_open(&c);
	kid_start(&k, 4 * MB + SLACK, 0, "leaderless", 0);
	kid_ask(&k, 'z', 0);
	msleep(300);
	got(k.pid, "a process whose first thread has ended");
	check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)k.pid, "PID: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
	check(!strcmp(str(&m.p, SEEPAGE_A_COMM), "leaderless"), "COMM: %s",
	      str(&m.p, SEEPAGE_A_COMM));
	check(num(&m.p, SEEPAGE_A_ANON_BYTES) >= 4 * MB, "ANON_BYTES: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_ANON_BYTES));
	kid_end(&k);
}

static void not_there(void)
{
	static const pid_t none[] = { 4194303, 0x7fffffff, -1, -0x7fffffff };
	unsigned int i;
	pid_t zombie;
	int rc;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		rc = get_proc(&c, none[i], &m);
		check(rc == -ESRCH, "pid %u: %s", none[i], strerror(-rc));
	}
	rc = get_proc(&c, 2, &m);	/* kthreadd */
	check(rc == -ESRCH, "a kernel thread: %s", rc ? strerror(-rc) : "answered");
	zombie = fork();
	if (!zombie)
		_exit(0);
	waitid(P_PID, zombie, NULL, WEXITED | WNOWAIT);
	rc = get_proc(&c, zombie, &m);
	check(rc == -ESRCH, "a zombie: %s", rc ? strerror(-rc) : "answered");
	waitpid(zombie, NULL, 0);
}

/* A vfork child runs in its parent's memory: one record, the parent's. */
static void vforked(void)
{
	volatile pid_t child = 0;
	struct answer a;
	struct seen *s;
	pid_t pid;

	conn_open(&c);
	pid = vfork();
	if (!pid) {
		/* the parent stands still, its memory is ours */
		child = getpid();
		s = dump(&c, NULL, &a, NULL, NULL);
		check(s->n[getppid()] == 1, "the parent is there %u times", s->n[getppid()]);
		check(!s->n[child], "a vfork child is a process of its own");
		if (!get_proc(&c, child, &m))
			check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)getppid(), "PID: %llu",
			      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
		_exit(0);
	}
	need(pid > 0 && child, "vfork: %s", strerror(errno));
}

static int set_cold(pid_t pid, uint32_t permille)
{
	static char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);
	struct answer a;

	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	mnl_attr_put_u32(nlh, SEEPAGE_A_COLD_PERMILLE, permille);
	return ask(&c, nlh, &a, NULL, NULL);
}

static bool knows_cold(pid_t pid)
{
	got(pid, "facts");
	check(has(&m.p, SEEPAGE_A_COLD_PERMILLE) == has(&m.p, SEEPAGE_A_COLD_AGE_SECONDS),
	      "one of COLD_PERMILLE and COLD_AGE_SECONDS without the other");
	return has(&m.p, SEEPAGE_A_COLD_PERMILLE);
}

/* What is told of a process is shown, over samples, until its history is reset. */
static void facts(void)
{
	struct kid k, other;

	conn_open(&c);
	quick(&c, 100);
	kid_start(&k, MB, 0, "cold", 0);
	kid_start(&other, MB, 0, "other", 0);
	check(!knows_cold(k.pid), "COLD_PERMILLE before anybody told it");
	need(!set_cold(k.pid, 321), "SET_FACTS refused");
	kid_ask(&k, '+', 4 * MB);	/* its next sample is not the last one again */
	wait_passes(&c, 5);
	need(knows_cold(k.pid), "no COLD_PERMILLE");
	check(num(&m.p, SEEPAGE_A_COLD_PERMILLE) == 321, "COLD_PERMILLE: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_COLD_PERMILLE));
	check(num(&m.p, SEEPAGE_A_COLD_AGE_SECONDS) <= 30, "COLD_AGE_SECONDS: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_COLD_AGE_SECONDS));
	check(!knows_cold(other.pid), "COLD_PERMILLE of another one");
	need(!set_cold(k.pid, 0), "SET_FACTS refused");
	check(knows_cold(k.pid) && !num(&m.p, SEEPAGE_A_COLD_PERMILLE), "0 is not told");
	need(!reset(&c, SEEPAGE_RESET_HISTORY, k.pid), "RESET refused");
	check(!knows_cold(k.pid), "COLD_PERMILLE after a reset");
	msleep(300);
	check(!knows_cold(k.pid), "COLD_PERMILLE is back");
	kid_end(&k);
	kid_end(&other);
	fresh(&c);
}

static int set_known(pid_t pid, uint64_t rise, uint64_t span_s)
{
	static char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);
	struct answer a;

	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	if (rise)
		mnl_attr_put_u64(nlh, SEEPAGE_A_KNOWN_RISE_BYTES, rise);
	if (span_s)
		mnl_attr_put_u64(nlh, SEEPAGE_A_KNOWN_SPAN_SECONDS, span_s);
	return ask(&c, nlh, &a, NULL, NULL);
}

/* 0 is left out. */
static void knows(pid_t pid, uint64_t rise, uint64_t span_s, const char *when)
{
	bool by_rise, by_span;

	got(pid, when);
	by_rise = has(&m.p, SEEPAGE_A_KNOWN_RISE_BYTES);
	by_span = has(&m.p, SEEPAGE_A_KNOWN_SPAN_SECONDS);
	check(by_rise == !!rise && (!rise || num(&m.p, SEEPAGE_A_KNOWN_RISE_BYTES) == rise),
	      "KNOWN_RISE_BYTES %s", when);
	check(by_span == !!span_s && (!span_s || num(&m.p, SEEPAGE_A_KNOWN_SPAN_SECONDS) == span_s),
	      "KNOWN_SPAN_SECONDS %s", when);
}

/*
 * What a service is told of its climbs adds up, and the next process of it is shown with that, each
 * before its first sample too. Values that are too high count as the highest that the module holds.
 */
static void known(void)
{
	const uint64_t most = (uint64_t)UINT32_MAX << 14, longest = UINT32_MAX / 10;
	struct kid k, other, next;

	conn_open(&c);
	fresh(&c);
	msleep(500);	/* the pass that a change of configuration hurries is over */
	kid_start(&k, MB, 0, "known", 0);
	need(!set_known(k.pid, 64 * MB, 600), "SET_FACTS refused");
	knows(k.pid, 64 * MB, 600, "before the first sample");
	kid_end(&k);
	quick(&c, 100);
	kid_start(&k, MB, 0, "known", 0);
	kid_start(&other, MB, 0, "other", 0);
	wait_passes(&c, 5);
	knows(k.pid, 0, 0, "before anybody told it");
	need(!set_known(k.pid, 64 * MB, 0), "SET_FACTS refused");
	knows(k.pid, 64 * MB, 0, "of a rise alone");
	need(!set_known(k.pid, 0, 600), "SET_FACTS refused");
	knows(k.pid, 64 * MB, 600, "of a rise and a span");
	need(!set_known(k.pid, MB, 60), "SET_FACTS refused");
	knows(k.pid, 64 * MB, 600, "after lower ones");
	wait_passes(&c, 5);
	knows(k.pid, 64 * MB, 600, "some samples later");
	knows(other.pid, 0, 0, "of another one");
	kid_end(&k);
	kid_start(&next, MB, 0, "known", 0);
	wait_passes(&c, 5);
	knows(next.pid, 64 * MB, 600, "of the next life");
	need(!set_known(next.pid, 1ULL << 46, 1ULL << 32), "SET_FACTS refused");
	knows(next.pid, most, longest, "beyond the highest");
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	knows(next.pid, 0, 0, "after a reset");
	kid_end(&next);
	kid_end(&other);
	fresh(&c);
}

static int set_limit(pid_t pid, uint64_t cgroup)
{
	static char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);
	struct answer a;

	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	mnl_attr_put_u64(nlh, SEEPAGE_A_LIMIT_BYTES, 1ULL << 40);
	mnl_attr_put_u64(nlh, SEEPAGE_A_CGROUP_USED_BYTES, 0);
	mnl_attr_put_u64(nlh, SEEPAGE_A_CGROUP_ID, cgroup);
	return ask(&c, nlh, &a, NULL, NULL);
}

/* @n processes of a user from their birth on. Return: pid of their parent, which ends them. */
static pid_t crowd_of(uid_t uid, pid_t *pid, unsigned int n)
{
	pid_t parent;
	unsigned int i;
	int to[2];

	need(!pipe(to), "pipe: %s", strerror(errno));
	parent = fork();
	if (!parent) {
		if (setgid(uid) || setuid(uid))
			_exit(1);
		for (i = 0; i < n; i++) {
			pid_t p = fork();

			if (!p) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				pause();
				_exit(0);
			}
			if (p < 0 || write(to[1], &p, sizeof(p)) != sizeof(p))
				_exit(1);
		}
		pause();
		_exit(0);
	}
	need(parent > 0, "fork: %s", strerror(errno));
	close(to[1]);
	for (i = 0; i < n; i++)
		need(read(to[0], &pid[i], sizeof(*pid)) == sizeof(*pid), "%u of %u", i, n);
	close(to[0]);
	return parent;
}

/* A user has at most half of the cgroups whose limit is shared: 256 in all. */
static void pools(void)
{
	static pid_t pid[2][200];
	pid_t parent[2];
	uint64_t full;
	unsigned int i, u;

	conn_open(&c);
	fresh(&c);
	parent[0] = crowd_of(65533, pid[0], 200);
	parent[1] = crowd_of(65534, pid[1], 100);
	msleep(500);
	full = counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL);
	for (i = 0; i < 200; i++)
		need(!set_limit(pid[0][i], 1 + i), "SET_FACTS refused");
	check(counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL) - full == 72,
	      "of 200 cgroups of a user %llu were refused",
	      (unsigned long long)(counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL) - full));
	full = counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL);
	for (i = 0; i < 100; i++)
		need(!set_limit(pid[1][i], 1001 + i), "SET_FACTS refused");
	check(counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL) == full,
	      "of 100 cgroups of another user %llu were refused",
	      (unsigned long long)(counter(&c, SEEPAGE_COUNTER_SUSPECTS_FULL) - full));
	for (u = 0; u < 2; u++) {
		kill(parent[u], SIGKILL);
		waitpid(parent[u], NULL, 0);
	}
	fresh(&c);
}

static uint64_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

/* exec is a new program: its faults and its age begin anew, under its name. */
static void executed(void)
{
	uint64_t before, old = seconds();	/* when it was seen in the old one */
	int i, rc, go[2];
	pid_t pid;

	conn_open(&c);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, go), "socketpair: %s", strerror(errno));
	/* facts is shown from the first sample on, which must not be put off */
	quick(&c, 500);
	pid = fork();
	if (!pid) {
		close(go[1]);
		touch(20 * MB);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(go[0], "", 1) == 1 && read(go[0], &rc, 1) == 1)
			execlp("sleep", "sleep", "60", NULL);
		_exit(1);
	}
	close(go[0]);		/* or a child that has ended would be waited for */
	need(read(go[1], &rc, 1) == 1, "the child has ended");
	wait_passes(&c, 3);
	got(pid, "before exec");
	before = num(&m.p, SEEPAGE_A_FAULTS_USER);
	rc = set_cold(pid, 1000);
	need(!rc, "SET_FACTS refused: %s", strerror(-rc));
	need(knows_cold(pid), "no COLD_PERMILLE of '%s'", str(&m.p, SEEPAGE_A_COMM));
	need(write(go[1], "", 1) == 1, "write: %s", strerror(errno));
	close(go[1]);
	for (i = 0; i < 100; i++) {	/* a debug kernel takes its time */
		msleep(200);
		got(pid, "after exec");
		if (strcmp(str(&m.p, SEEPAGE_A_COMM), "sleep"))
			old = seconds();
		/* it has the name before it has begun: the loader is read meanwhile */
		else if (num(&m.p, SEEPAGE_A_AGE_SECONDS) <= seconds() - old + 1)
			break;
	}
	check(!strcmp(str(&m.p, SEEPAGE_A_COMM), "sleep"), "COMM: %s", str(&m.p, SEEPAGE_A_COMM));
	check(num(&m.p, SEEPAGE_A_FAULTS_USER) < before, "faults of before the exec");
	check(num(&m.p, SEEPAGE_A_AGE_SECONDS) <= seconds() - old + 1, "AGE_SECONDS: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_AGE_SECONDS));
	check(!has(&m.p, SEEPAGE_A_COLD_PERMILLE), "facts of before the exec");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fresh(&c);
}

static void cgroup(void)
{
	char dir[] = "/tmp/nltest-cg.XXXXXX", path[128], text[32];
	struct stat st;
	struct kid k;
	int fd;

	conn_open(&c);
	need(mkdtemp(dir), "mkdtemp");
	if (mount("cgroup", dir, "cgroup2", 0, NULL))
		skip("cannot mount cgroup2");
	kid_start(&k, MB, 0, "grouped", 0);
	got(k.pid, "before");
	snprintf(path, sizeof(path), "%s/%s", dir, "nltest");
	need(!mkdir(path, 0755), "%s: %s", path, strerror(errno));
	stat(path, &st);
	check(num(&m.p, SEEPAGE_A_CGROUP_ID) != st.st_ino, "in the cgroup already");
	strcat(path, "/cgroup.procs");
	fd = open(path, O_WRONLY);
	snprintf(text, sizeof(text), "%d", k.pid);
	need(write(fd, text, strlen(text)) > 0, "%s: %s", path, strerror(errno));
	close(fd);
	got(k.pid, "after");
	check(num(&m.p, SEEPAGE_A_CGROUP_ID) == st.st_ino, "CGROUP_ID: %llu, inode %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_CGROUP_ID),
	      (unsigned long long)st.st_ino);
	kid_end(&k);
	*strrchr(path, '/') = '\0';
	msleep(200);
	rmdir(path);
	umount(dir);
	rmdir(dir);
}

/* A reader in a pid namespace: its own numbers, and nobody outside it. */
static void in_pidns(void)
{
	struct answer a;
	struct seen *s;
	struct kid k;
	pid_t pid;
	int status;

	need(!unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		conn_open(&c);
		kid_start(&k, MB, 0, "inside", 0);
		need(getpid() == 1 && k.pid > 1 && k.pid < 10,
		     "pids %d and %d, not the first of a pid namespace", getpid(), k.pid);
		got(1, "itself");
		check(num(&m.p, SEEPAGE_A_PID) == 1, "PID of itself: %llu",
		      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
		got(k.pid, "its child");
		check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)k.pid, "PID of its child: %llu",
		      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
		check(!strcmp(str(&m.p, SEEPAGE_A_COMM), "inside"), "COMM: %s",
		      str(&m.p, SEEPAGE_A_COMM));
		check(get_proc(&c, k.pid + 1, &m) == -ESRCH, "pid %d is there", k.pid + 1);
		s = dump(&c, NULL, &a, NULL, NULL);
		check(s->total == 2 && s->n[1] == 1 && s->n[k.pid] == 1,
		      "the dump has %u processes, not 1 and %d alone", s->total, k.pid);
		kid_end(&k);
		_exit(failures() ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "see above");
}

/* The other way: a reader outside, a process inside. */
static void of_pidns(void)
{
	struct answer a;
	struct seen *s;
	pid_t pid;
	int p[2];
	char ch;

	conn_open(&c);
	need(!pipe2(p, 0) && !unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getpid() != 1 || write(p[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	need(read(p[0], &ch, 1) == 1, "no child");
	got(pid, "a process of another pid namespace");
	check(num(&m.p, SEEPAGE_A_PID) == (uint64_t)pid, "PID: %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_PID));
	s = dump(&c, NULL, &a, NULL, NULL);
	check(s->n[pid] == 1 && s->n[1] == 1, "the dump lacks pid %d or 1", pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

const struct test tests_proc[] = {
	{ "proc-self", self },
	{ "proc-grows", grows },
	{ "proc-young", young },
	{ "proc-group", group },
	{ "proc-thread", thread },
	{ "proc-leaderless", leaderless },
	{ "proc-not-there", not_there },
	{ "proc-vfork", vforked },
	{ "proc-facts", facts },
	{ "proc-known", known },
	{ "proc-pools", pools },
	{ "proc-exec", executed },
	{ "proc-cgroup", cgroup },
	{ "proc-in-pidns", in_pidns },
	{ "proc-of-pidns", of_pidns },
	{ NULL, NULL }
};
