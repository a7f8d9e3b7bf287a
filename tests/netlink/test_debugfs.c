// SPDX-License-Identifier: GPL-2.0
/* The five files of debugfs: each has a table that agrees with netlink. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <seepage/names.h>
#include "nltest.h"

#define DIR_NAME	"/sys/kernel/debug/seepage"
#define MB		(1UL << 20)
#define COLUMNS		40
#define NOBODY		65534

static struct conn c;

static const char * const files[] = { "status", "processes", "alerts", "config", "counters" };

/* ---- reading ---- */

static int open_file(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), DIR_NAME "/%s", name);
	return open(path, flags);
}

/* The whole file in reads of so many bytes. */
static char *slurp(const char *name, size_t piece)
{
	size_t len = 0, capacity = 1 << 20;
	char *text = malloc(capacity);
	int fd = open_file(name, O_RDONLY);
	ssize_t n;

	need(fd >= 0, "%s: %s", name, strerror(errno));
	while ((n = read(fd, text + len,
			 piece < capacity - len - 1 ? piece : capacity - len - 1)) > 0) {
		len += n;
		if (capacity - len < 4096)
			text = realloc(text, capacity *= 2);
	}
	need(!n, "%s: %s", name, strerror(errno));
	close(fd);
	text[len] = '\0';
	return text;
}

struct table {
	char *text;
	unsigned int rows, columns;
	char *line[8192];		/* the header is not among them */
	char name[COLUMNS][32];
	unsigned int from[COLUMNS], to[COLUMNS];	/* of the header's words */
};

static unsigned int split(char *line, char **word, unsigned int *at)
{
	unsigned int n = 0;
	char *p = line;

	while (*p && n < COLUMNS) {
		while (*p == ' ')
			p++;
		if (!*p)
			break;
		at[n] = p - line;
		word[n++] = p;
		while (*p && *p != ' ')
			p++;
	}
	return n;
}

/* Every word stands under the left or the right edge of its header. */
static void check_columns(const struct table *t, unsigned int row)
{
	unsigned int at[COLUMNS], n, i, end;
	char *word[COLUMNS], *line = t->line[row];

	n = split(line, word, at);
	if (n != t->columns) {
		fail("row %u has %u columns, the header %u: '%s'", row, n, t->columns, line);
		return;
	}
	for (i = 0; i < n; i++) {
		end = at[i] + strcspn(word[i], " ");
		check(at[i] == t->from[i] || end == t->to[i], "column %s of row %u is not aligned",
		      t->name[i], row);
	}
}

static void read_table(struct table *t, const char *name, size_t piece)
{
	char *p, *nl, *word[COLUMNS];
	unsigned int i;

	memset(t, 0, sizeof(*t));
	p = slurp(name, piece);
	t->text = p;
	need(*p, "%s is empty", name);
	for (; *p; p = nl + 1) {
		nl = strchr(p, '\n');
		need(nl, "%s: the last line does not end", name);
		*nl = '\0';
		for (i = 0; p[i]; i++)
			if (p[i] < ' ' || p[i] > '~') {
				fail("%s: byte 0x%02x in a line", name, (unsigned char)p[i]);
				break;
			}
		if (t->columns) {
			need(t->rows < ARRAY_SIZE(t->line), "%s: too many rows", name);
			t->line[t->rows++] = p;
			continue;
		}
		t->columns = split(p, word, t->from);
		for (i = 0; i < t->columns; i++) {
			t->to[i] = t->from[i] + strcspn(word[i], " ");
			snprintf(t->name[i], sizeof(t->name[i]), "%.*s",
				 (int)(t->to[i] - t->from[i]), word[i]);
		}
	}
	for (i = 0; i < t->rows && strcmp(name, "status"); i++)
		check_columns(t, i);
}

static int column(const struct table *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->columns; i++)
		if (!strcmp(t->name[i], name))
			return i;
	return -1;
}

static char *cell(const struct table *t, unsigned int row, const char *name)
{
	static char text[4][64];
	static unsigned int turn;
	unsigned int at[COLUMNS];
	char *word[COLUMNS], *out = text[turn++ % 4];
	int i = column(t, name);

	need(i >= 0, "no column %s", name);
	need(split(t->line[row], word, at) > i, "row %u ends before %s", row, name);
	snprintf(out, 64, "%.*s", (int)strcspn(word[i], " "), word[i]);
	return out;
}

static int row_of(const struct table *t, pid_t pid)
{
	unsigned int i;
	int found = -1;

	for (i = 0; i < t->rows; i++) {
		if (atoi(cell(t, i, "pid")) != pid)
			continue;
		check(found < 0, "pid %d twice", pid);
		found = i;
	}
	return found;
}

/* The value of a key, all that is behind it. */
static const char *value_of(const struct table *t, const char *key)
{
	unsigned int i, n = strlen(key);

	for (i = 0; i < t->rows; i++)
		if (!strncmp(t->line[i], key, n) && t->line[i][n] == ' ')
			return t->line[i] + n + strspn(t->line[i] + n, " ");
	fail("no line '%s'", key);
	return "";
}

static void same_num(const struct table *t, const char *key, uint64_t want)
{
	uint64_t v = strtoull(value_of(t, key), NULL, 10);

	check(v == want, "%s: %llu, by netlink %llu", key, (unsigned long long)v,
	      (unsigned long long)want);
}

/*
 * A pass may come between two readings, also one that was long due. So a table is read between
 * two messages, and compared where these are alike in all that is compared. Passes do not come
 * that often.
 */
#define TRIES	50

struct shown {
	const char *name;
	int attr;
};

static bool alike(const struct parsed *a, const struct parsed *b, const struct shown *s,
		  unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (has(a, s[i].attr) != has(b, s[i].attr) ||
		    (has(a, s[i].attr) && snum(a, s[i].attr) != snum(b, s[i].attr)))
			return false;
	return true;
}

/* Once more, a little later; the test ends where it was too often. */
static void again(unsigned int *tries, struct table *t)
{
	need(++*tries < TRIES, "no two messages are alike in %u tries", TRIES);
	free(t->text);
	msleep(100);
}

/* ---- tests ---- */

static void modes(void)
{
	char path[128];
	struct stat st;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DIR_NAME "/%s", files[i]);
		need(!stat(path, &st), "%s: %s", path, strerror(errno));
		check(S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0400, "%s: mode %o", path,
		      st.st_mode & 07777);
		check(!st.st_uid && !st.st_gid, "%s belongs to %u:%u", path, st.st_uid, st.st_gid);
		fd = open_file(files[i], O_RDWR);
		if (fd >= 0) {
			check(write(fd, "1\n", 2) < 0, "%s can be written", files[i]);
			close(fd);
		}
		fd = open_file(files[i], O_WRONLY | O_TRUNC);
		if (fd >= 0) {
			check(write(fd, "", 1) < 0, "%s can be written", files[i]);
			close(fd);
		}
	}
	need(!chmod("/sys/kernel/debug", 0755), "chmod");	/* only the files themselves */
	need(!seteuid(NOBODY), "seteuid");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		fd = open_file(files[i], O_RDONLY);
		check(fd < 0 && errno == EACCES, "%s can be read by anybody", files[i]);
	}
	need(!seteuid(0), "seteuid");
	chmod("/sys/kernel/debug", 0700);
}

static const struct shown status_nums[] = {
	{ "processes", SEEPAGE_A_PROCESSES }, { "rec_bytes", SEEPAGE_A_REC_BYTES },
	{ "memory_bytes", SEEPAGE_A_MEMORY_BYTES }, { "seq_first", SEEPAGE_A_SEQ_FIRST },
	{ "seq_last", SEEPAGE_A_SEQ_LAST }, { "ticks", SEEPAGE_A_TICKS },
	{ "tick_cost_ns", SEEPAGE_A_TICK_COST_NS },
	{ "tick_cost_max_ns", SEEPAGE_A_TICK_COST_MAX_NS },
	{ "interval_ms", SEEPAGE_A_INTERVAL_MS }, { "stretched", SEEPAGE_A_STRETCHED },
};

static void status(void)
{
	unsigned int i, tries = 0;
	struct copy before, m;
	struct table t;

	conn_open(&c);
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, 0), "SET_CONFIG refused");
	msleep(300);
	for (;; again(&tries, &t)) {
		get_status(&c, &before);
		read_table(&t, "status", 65536);
		get_status(&c, &m);
		if (alike(&before.p, &m.p, status_nums, ARRAY_SIZE(status_nums)))
			break;
	}
	check(t.columns == 2 && !strcmp(t.name[0], "key") && !strcmp(t.name[1], "value"),
	      "the header is not key and value");
	check(!strcmp(value_of(&t, "version"), str(&m.p, SEEPAGE_A_VERSION)), "version");
	check(!strcmp(value_of(&t, "hook"), str(&m.p, SEEPAGE_A_HOOK)), "hook");
	check(!strcmp(value_of(&t, "pmc"), str(&m.p, SEEPAGE_A_PMC)), "pmc");
	check(!strcmp(value_of(&t, "policy"), "ladder"), "policy");
	check(!strcmp(value_of(&t, "disabled"), "-"), "disabled");
	for (i = 0; i < ARRAY_SIZE(status_nums); i++)
		same_num(&t, status_nums[i].name, num(&m.p, status_nums[i].attr));
	fresh(&c);
}

static void config(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct table t;

	conn_open(&c);
	fresh(&c);
	need(!set_config(&c, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 77,
			 0), "SET_CONFIG refused");
	get_config(&c, v);
	read_table(&t, "config", 65536);
	check(t.rows == __SEEPAGE_CFG_MAX, "%u keys", t.rows);	/* with pmc_events */
#define NUMBER(ID, word, def, lo, hi, text)	same_num(&t, #word, v[SEEPAGE_CFG_##ID]);
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
#undef NUMBER
	check(!strcmp(value_of(&t, "policy"), "classic"), "policy");
	check(!strcmp(value_of(&t, "pmc"), "watched"), "pmc");
	check(!strcmp(value_of(&t, "pmc_events"), "-"), "pmc_events");
	fresh(&c);
}

static const struct {
	const char *name;
	int id;
} counter_nums[] = {
#define COUNTER(ID, name, ...)	{ #name, SEEPAGE_COUNTER_##ID },
	SEEPAGE_COUNTERS(COUNTER)
#undef COUNTER
};

static bool counted_alike(const struct parsed *a, const struct parsed *b)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counter_nums); i++)
		if (keyed(a, SEEPAGE_A_COUNTERS, counter_nums[i].id) !=
		    keyed(b, SEEPAGE_A_COUNTERS, counter_nums[i].id))
			return false;
	return true;
}

static void counters(void)
{
	unsigned int i, tries = 0;
	struct copy before, m;
	struct table t;

	conn_open(&c);
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, 0), "SET_CONFIG refused");
	msleep(300);
	for (;; again(&tries, &t)) {
		get_status(&c, &before);
		read_table(&t, "counters", 65536);
		get_status(&c, &m);
		if (counted_alike(&before.p, &m.p))
			break;
	}
	check(t.rows == __SEEPAGE_COUNTER_MAX - 1, "%u counters", t.rows);
	for (i = 0; i < ARRAY_SIZE(counter_nums); i++)
		same_num(&t, counter_nums[i].name,
			 keyed(&m.p, SEEPAGE_A_COUNTERS, counter_nums[i].id));
	fresh(&c);
}

/* The JSON keys of the contract that a table may have as columns. */
static void known_names(const struct table *t)
{
	static const char keys[] =
		" pid comm uid cgroup exe state confidence policy rss_bytes anon_bytes"
		" file_bytes shmem_bytes swap_bytes vsz_bytes growth_bytes_per_hour tte_seconds"
		" faults_user faults_kernel faults_anon faults_file fault_rate age_seconds"
		" seq time_ns prev_state severity ";
	char word[40];
	unsigned int i;

	for (i = 0; i < t->columns; i++) {
		snprintf(word, sizeof(word), " %s ", t->name[i]);
		check(strstr(keys, word), "column %s is no JSON key", t->name[i]);
	}
}

static const struct shown view_nums[] = {
	{ "confidence", SEEPAGE_A_CONFIDENCE }, { "rss_bytes", SEEPAGE_A_RSS_BYTES },
	{ "anon_bytes", SEEPAGE_A_ANON_BYTES }, { "file_bytes", SEEPAGE_A_FILE_BYTES },
	{ "shmem_bytes", SEEPAGE_A_SHMEM_BYTES }, { "swap_bytes", SEEPAGE_A_SWAP_BYTES },
	{ "vsz_bytes", SEEPAGE_A_VSZ_BYTES }, { "tte_seconds", SEEPAGE_A_TTE_SECONDS },
	{ "faults_user", SEEPAGE_A_FAULTS_USER }, { "fault_rate", SEEPAGE_A_FAULT_RATE },
	{ "faults_kernel", SEEPAGE_A_FAULTS_KERNEL },
	{ "faults_anon", SEEPAGE_A_FAULTS_ANON },
	{ "faults_file", SEEPAGE_A_FAULTS_FILE },
	{ "growth_bytes_per_hour", SEEPAGE_A_GROWTH_BYTES_PER_HOUR },
	/* as a word in the table */
	{ "state", SEEPAGE_A_STATE },
};

#define VIEW_NUMS	(ARRAY_SIZE(view_nums) - 1)	/* without the word */

static void same_view(const struct table *t, unsigned int row, const struct parsed *p)
{
#define NAME(ID, name, ...) [SEEPAGE_STATE_##ID] = #name,
	static const char * const states[] = { SEEPAGE_STATES(NAME) };
#undef NAME
	unsigned int i;
	const char *v;

	check(!strcmp(cell(t, row, "state"), states[num(p, SEEPAGE_A_STATE)]), "state %s",
	      cell(t, row, "state"));
	for (i = 0; i < VIEW_NUMS; i++) {
		v = cell(t, row, view_nums[i].name);
		if (!has(p, view_nums[i].attr))
			check(!strcmp(v, "-"), "%s: %s, by netlink unknown", view_nums[i].name, v);
		else
			check(strtoll(v, NULL, 10) == snum(p, view_nums[i].attr),
			      "%s: %s, by netlink %lld", view_nums[i].name, v,
			      (long long)snum(p, view_nums[i].attr));
	}
}

static void processes(void)
{
	struct copy before, m;
	unsigned int tries = 0;
	struct table t;
	struct kid k;
	int row;

	conn_open(&c);
	/* 1000: else passes that take long make the last one come later than awaited */
	quick(&c, 100);
	kid_start(&k, 20 * MB, 100 * MB, "shown", 0);
	kid_ask(&k, 's', 4 * MB);
	msleep(1500);
	set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, SEEPAGE_CFG_SUSPECT_INTERVAL_MS,
		   3600000, 0);
	msleep(300 * slowness());
	for (;; again(&tries, &t)) {
		need(!get_proc(&c, k.pid, &before), "GET_PROC");
		read_table(&t, "processes", 65536);
		need(!get_proc(&c, k.pid, &m), "GET_PROC");
		if (alike(&before.p, &m.p, view_nums, ARRAY_SIZE(view_nums)))
			break;
	}
	known_names(&t);
	row = row_of(&t, k.pid);
	need(row >= 0, "no row of pid %d", k.pid);
	check(!strcmp(cell(&t, row, "comm"), "shown"), "comm: %s", cell(&t, row, "comm"));
	same_view(&t, row, &m.p);
	check(row_of(&t, 1) >= 0 && row_of(&t, getpid()) >= 0, "others are missing");
	kid_end(&k);
	msleep(100);
	read_table(&t, "processes", 65536);
	check(row_of(&t, k.pid) < 0, "a row of a process that has ended");
	fresh(&c);
}

/*
 * Waits until process @k was told of in state @state; ends the test where it never is. One that
 * grew before its first sample, on a busy machine, grows again.
 */
static void wait_told(struct kid *k, unsigned int state)
{
	unsigned int i, round;
	struct alerts l;

	for (round = 0; round < 200; round++) {
		get_alerts(&c, false, 0, &l);
		for (i = 0; i < l.n; i++)
			if (num(&l.m[i].p, SEEPAGE_A_PID) == (uint64_t)k->pid &&
			    num(&l.m[i].p, SEEPAGE_A_STATE) == state)
				return;
		msleep(100);
		if (state != SEEPAGE_STATE_EXITED && round % 10 == 9)
			kid_ask(k, 's', 2 * MB);
	}
	for (i = 0; i < l.n; i++)
		printf("  alert on %s, pid %llu: state %llu\n", str(&l.m[i].p, SEEPAGE_A_COMM),
		       (unsigned long long)num(&l.m[i].p, SEEPAGE_A_PID),
		       (unsigned long long)num(&l.m[i].p, SEEPAGE_A_STATE));
	need(false, "state %u of process %d is never told, among %u alerts", state, k->pid, l.n);
}

/*
 * Each with a name of its own: of one name their group may be told of in their place. The group
 * is that of the name at the first sample: no pass may come before a process has its name.
 */
static void start_alarming(struct kid *k, unsigned int n)
{
	char name[16];
	unsigned int i;

	set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, SEEPAGE_CFG_SUSPECT_INTERVAL_MS,
		   3600000, 0);
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "alarming%u", i);
		kid_start(&k[i], 4 * MB, 100 * MB, name, 0);
	}
}

static void alerts(void)
{
	unsigned int i, tries = 0;
	struct alerts l;
	struct kid k[5];
	struct table t;
	uint64_t before;

	conn_open(&c);
	fresh(&c);
	read_table(&t, "alerts", 65536);
	check(!t.rows && t.columns > 10, "%u rows of no alerts", t.rows);
	start_alarming(k, ARRAY_SIZE(k));
	set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
		   SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, SEEPAGE_CFG_POLICY,
		   SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
		   SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 1, SEEPAGE_CFG_ALERT_CONFIDENCE, 20,
		   SEEPAGE_CFG_ALERTS_PER_MINUTE, 100000, 0);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		kid_ask(&k[i], 's', 2 * MB);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		wait_told(&k[i], SEEPAGE_STATE_SUSPECTED);
	kid_end(&k[0]);
	wait_told(&k[0], SEEPAGE_STATE_EXITED);
	set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, SEEPAGE_CFG_SUSPECT_INTERVAL_MS,
		   3600000, 0);
	msleep(300);
	for (;; again(&tries, &t)) {
		before = status_num(&c, SEEPAGE_A_SEQ_LAST);
		get_alerts(&c, false, 0, &l);
		read_table(&t, "alerts", 65536);
		if (before == status_num(&c, SEEPAGE_A_SEQ_LAST))
			break;
	}
	known_names(&t);
	check(l.n >= 6, "%u alerts", l.n);
	need(t.rows == l.n, "%u rows, %u alerts", t.rows, l.n);
	for (i = 0; i < l.n; i++) {
		check(strtoull(cell(&t, i, "seq"), NULL, 10) == num(&l.m[i].p, SEEPAGE_A_SEQ),
		      "seq %s", cell(&t, i, "seq"));
		check(strtoull(cell(&t, i, "time_ns"), NULL, 10) ==
		      num(&l.m[i].p, SEEPAGE_A_TIME_NS), "time_ns %s", cell(&t, i, "time_ns"));
		check(atoi(cell(&t, i, "pid")) == (int)num(&l.m[i].p, SEEPAGE_A_PID), "pid");
		same_view(&t, i, &l.m[i].p);
	}
	free(t.text);
	read_table(&t, "alerts", 7);
	check(t.rows == l.n, "%u rows when read 7 bytes at a time, %u alerts", t.rows, l.n);
	for (i = 1; i < ARRAY_SIZE(k); i++)
		kid_end(&k[i]);
	fresh(&c);
}

/* ---- processes: each once ---- */

#define CROWD	300
static pid_t crowd[CROWD];

static void each_once(size_t piece)
{
	static uint8_t seen[PID_LIMIT];
	unsigned int i, twice = 0, missing = 0, crowd_twice = 0;
	static struct table t;
	pid_t pid;

	memset(seen, 0, sizeof(seen));
	read_table(&t, "processes", piece);
	for (i = 0; i < t.rows; i++) {
		pid = atoi(cell(&t, i, "pid"));
		need(pid > 0 && pid < PID_LIMIT, "pid %d", pid);
		twice += !!seen[pid]++;
	}
	for (i = 0; i < CROWD; i++) {
		missing += !seen[crowd[i]];
		crowd_twice += seen[crowd[i]] > 1;
	}
	check(!twice, "%u pids twice (%u of them stand still), read %zu bytes at a time", twice,
	      crowd_twice, piece);
	check(!missing, "%u of %u missing, read %zu bytes at a time", missing, CROWD, piece);
	free(t.text);
}

static void once(void)
{
	conn_open(&c);
	kids_start(crowd, CROWD);
	each_once(1 << 20);
	each_once(4096);
	each_once(100);
	each_once(1);
	kids_end(crowd, CROWD);
}

static void once_churned(void)
{
	unsigned int rounds = 0, i;
	pid_t group;
	uint64_t end;

	conn_open(&c);
	/* none that exec: what starts while we read is a child of the churn */
	kids_start(crowd, CROWD);
	group = churn_start(CHURN_FORK, 6);
	for (end = now_ms() + 15000; now_ms() < end; rounds++) {
		static const size_t piece[] = { 1 << 20, 4096, 1000, 100, 1 };

		for (i = 0; i < 8; i++)
			each_once(piece[0]);
		each_once(piece[rounds % ARRAY_SIZE(piece)]);
	}
	churn_end(group);
	note("%u rounds", rounds);
	kids_end(crowd, CROWD);
}

/* From the middle, and again from the beginning. */
static void seeking(void)
{
	char *whole = slurp("config", 65536), part[256];
	int fd = open_file("config", O_RDONLY);
	unsigned int at;

	for (at = 0; at < 400; at += 37) {
		ssize_t n = pread(fd, part, sizeof(part), at);

		check(n > 0 && !memcmp(part, whole + at, n), "config from byte %u on", at);
	}
	close(fd);
	fd = open_file("processes", O_RDONLY);
	need(read(fd, part, 200) == 200, "processes");
	need(!lseek(fd, 0, SEEK_SET), "lseek");
	memset(part, 0, sizeof(part));
	check(read(fd, part, 200) > 0 && strstr(part, "pid"), "no header after lseek to 0");
	close(fd);
}

/* A process chooses its own name. */
static void named(const char * const *comm, unsigned int n)
{
	struct kid k[16];
	static struct table t;
	struct copy m;
	unsigned int i;

	conn_open(&c);
	for (i = 0; i < n; i++)
		kid_start(&k[i], MB, 0, comm[i], 0);
	read_table(&t, "processes", 65536);	/* checks columns and bytes */
	for (i = 0; i < n && !failures(); i++)
		check(row_of(&t, k[i].pid) >= 0, "no row of a process named oddly (%u)", i);
	for (i = 0; i < n; i++) {
		check(!get_proc(&c, k[i].pid, &m), "GET_PROC");
		check(!strcmp(str(&m.p, SEEPAGE_A_COMM), comm[i]),
		      "netlink does not tell the name as it is (%u)", i);
		kid_end(&k[i]);
	}
}

static void names(void)
{
	static const char * const comm[] = {
		"a\nb", "\033[2J\033[31mred", "tab\there", "sp ace", "\xff\xfe\x80z", "\r\r\r",
		"\x7f\x01\x9b[31m", " ", "15 letters long",
	};

	named(comm, ARRAY_SIZE(comm));
}

/* A row keeps its columns for a process without a name. */
static void no_name(void)
{
	static const char * const comm[] = { "" };

	named(comm, 1);
}

const struct test tests_debugfs[] = {
	{ "debugfs-modes", modes },
	{ "debugfs-status", status },
	{ "debugfs-config", config },
	{ "debugfs-counters", counters },
	{ "debugfs-processes", processes },
	{ "debugfs-alerts", alerts },
	{ "debugfs-once", once },
	{ "debugfs-once-churned", once_churned },
	{ "debugfs-seeking", seeking },
	{ "debugfs-names", names },
	{ "debugfs-no-name", no_name },
	{ NULL, NULL }
};
