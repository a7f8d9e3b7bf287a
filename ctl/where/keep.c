// SPDX-License-Identifier: GPL-2.0
/*
 * Writes looks and answers to files that only root may read, and takes notice of what they cost.
 * There is one look at a time: the lock is held from keep_open() to keep_close().
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "where/alerts.h"
#include "where/keep.h"

#define FILES_MAX	128U	/* looks and answers; the oldest are removed */
#define RECENT_NS	(3600ULL * 1000000000)	/* an answer that is younger is not replaced */
#define APART_S		10	/* least time from the first look to the second */
#define LOOK_NS		1000000ULL	/* CPU time of a look at 1 MiB, more than was measured */
#define BURST_NS	500000000ULL	/* of a burst: 200000 traps of 2 us, and stacks */
#define CPU_S		60	/* in which the tool is killed, whatever it does */
#define SETTLE_MS	2000	/* that are waited for the lock of a look that was killed, */
#define SETTLE_STEP_MS	20	/* with times apart */

/* Creates the directory and the one above it. Returns a descriptor; -1: errno is set. */
static int make_dir(void)
{
	char path[PATH_MAX], *slash;
	int fd;

	if (!kept_path(path, sizeof(path))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	slash = strrchr(path, '/');
	*slash = '\0';
	if (mkdir(path, 0755) && errno != EEXIST)
		return -1;
	*slash = '/';
	if (mkdir(path, 0700) && errno != EEXIST)
		return -1;
	errno = EPERM;		/* it is there, and others may read it */
	fd = kept_dir();
	return fd;
}

/* Writes @o to file @name, which is there as a whole or not at all. Puts @o. */
static void write_file(struct keeper *k, const char *name, struct json_object *o)
{
	int fd = openat(k->dir, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool whole = fd >= 0 && !json_object_to_fd(fd, o, JSON_C_TO_STRING_NOSLASHESCAPE);

	if (fd >= 0)
		close(fd);
	if (!whole || renameat(k->dir, "new", k->dir, name))
		unlinkat(k->dir, "new", 0);
	json_object_put(o);
}

static void file_name(const struct keeper *k, const char *kind, char *buf, size_t size)
{
	snprintf(buf, size, "%s-%s", kind, k->key);
}

static void write_kind(struct keeper *k, const char *kind, struct json_object *o)
{
	char name[KEPT_KEY + 16];

	file_name(k, kind, name, sizeof(name));
	write_file(k, name, o);
}

static void remove_kind(struct keeper *k, const char *kind)
{
	char name[KEPT_KEY + 16];

	file_name(k, kind, name, sizeof(name));
	unlinkat(k->dir, name, 0);
}

/* Finds the oldest look or answer. Returns how many there are. */
static unsigned int oldest(DIR *d, char *name, size_t size)
{
	struct timespec least = { 0 };
	unsigned int n = 0;
	struct dirent *e;
	struct stat st;

	rewinddir(d);
	while ((e = readdir(d))) {
		if ((strncmp(e->d_name, "first-", 6) && strncmp(e->d_name, "answer-", 7)) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!n++ || st.st_mtim.tv_sec < least.tv_sec ||
		    (st.st_mtim.tv_sec == least.tv_sec && st.st_mtim.tv_nsec < least.tv_nsec)) {
			least = st.st_mtim;
			snprintf(name, size, "%s", e->d_name);
		}
	}
	return n;
}

static void remove_oldest(struct keeper *k)
{
	int fd = openat(k->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char name[256];

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (oldest(d, name, sizeof(name)) > FILES_MAX)
		if (unlinkat(k->dir, name, 0))
			break;
	closedir(d);
}

/* A number of the object "kept" of @o, which readers of an answer do not see */
static u64 member(struct json_object *o, const char *name)
{
	struct json_object *kept, *v;

	return o && json_object_object_get_ex(o, KEPT_OWN, &kept) &&
	       json_object_object_get_ex(kept, name, &v) ? json_object_get_uint64(v) : 0;
}

/* Is @o about the program that the process executes now? An exec begins another heap. */
static bool same_program(const struct keeper *k, struct json_object *o)
{
	return o && member(o, "start_brk") == k->t->start_brk &&
	       member(o, "program") == k->t->program;
}

/*
 * Is there a first look? k->first is its file, or empty if that is too recent to compare with. One
 * of another program is removed.
 */
static bool find_first(struct keeper *k)
{
	struct json_object *o = kept_read("first", k->key);
	char dir[PATH_MAX];
	u64 now = clock_ns();
	bool same = same_program(k, o), apart;

	apart = o && now > member(o, "taken_ns") &&
		now - member(o, "taken_ns") >= APART_S * 1000000000ULL;
	if (same && apart && kept_path(dir, sizeof(dir)) &&
	    snprintf(k->first, sizeof(k->first), "%s/first-%s", dir, k->key) >=
	    (int)sizeof(k->first))
		*k->first = '\0';
	if (o && !same)
		remove_kind(k, "first");
	json_object_put(o);
	return same;
}

/* Is there an answer that is recent, and has the sites if there is to be a burst? */
static bool has_answer(struct keeper *k, bool burst)
{
	struct json_object *o = kept_read("answer", k->key);
	bool same = same_program(k, o), found;
	u64 now = clock_ns(), taken = member(o, "taken_ns");

	found = same && now >= taken && now - taken < RECENT_NS &&
		(!burst || member(o, "burst"));
	if (o && !same)
		remove_kind(k, "answer");
	json_object_put(o);
	return found;
}

/* Gives way to others, and cannot take more than CPU_S. */
static void be_modest(void)
{
	struct rlimit cpu = { CPU_S, CPU_S };

	setpriority(PRIO_PROCESS, 0, 19);
	setrlimit(RLIMIT_CPU, &cpu);
}

static int open_lock(int dir)
{
	return openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int fail_dir(const struct ctx *ctx, const char *name)
{
	char path[PATH_MAX] = "";
	int err = errno;

	kept_path(path, sizeof(path));
	return fail(ctx, "--keep: %s%s%s: %s", path, *name ? "/" : "", name,
		    err == EPERM ? "allowed a directory of this user that nobody else may read" :
		    strerror(err));
}

/* Can looks be kept? Returns 0, or an exit status after printing an error. */
int keep_check(const struct ctx *ctx)
{
	int dir = make_dir();

	if (dir < 0)
		return fail_dir(ctx, "");
	close(dir);
	return 0;
}

/**
 * keep_open() - begin a look that is kept
 * @k: to fill; keep_close() releases it, whatever this returns
 * @t: the process, open
 * @second: the second look, else the first one
 * @burst: with a burst
 * @permille: the limit of cost, of a CPU in an hour
 *
 * Waits while another process is looked at.
 *
 * Return: what is to be done.
 */
enum keep_what keep_open(struct keeper *k, const struct target *t, bool second, bool burst,
			 u64 permille)
{
	struct ledger charged;
	struct json_object *o;
	u64 cost = target_anon_bytes(t) / MIB * LOOK_NS + (burst ? BURST_NS : 0);
	bool first;

	*k = (struct keeper){ .t = t, .lock = -1, .dir = make_dir() };
	if (k->dir < 0) {
		fail_dir(t->ctx, "");
		return KEEP_FAILED;
	}
	k->lock = open_lock(k->dir);
	while (k->lock >= 0 && flock(k->lock, LOCK_EX))
		if (errno != EINTR)
			break;
	if (k->lock < 0) {
		fail_dir(t->ctx, "lock");
		return KEEP_FAILED;
	}
	if (!kept_key(t->dir, t->pid, k->key)) {
		fail(t->ctx, "process %u: %s", t->pid, strerror(ESRCH));
		return KEEP_FAILED;
	}
	first = find_first(k);
	if (has_answer(k, burst) || (first && !second))
		return KEEP_DONE;
	o = kept_read("ledger", "");
	ledger_read(&k->ledger, o, clock_ns());
	json_object_put(o);
	k->ledger.limit_permille = permille;
	if (!ledger_allows(&k->ledger, clock_ns(), cost)) {
		write_file(k, "ledger", ledger_json(&k->ledger));
		return KEEP_LEFT_OUT;
	}
	k->ledger.looks++;
	/*
	 * Until keep_close() or keep_settle() says what it took, this hour has the most: this
	 * program may be killed meanwhile. The sum that people see has it not.
	 */
	k->ledger.charged_ns = 0;
	k->ledger.charged_pid = 0;
	charged = k->ledger;
	ledger_charge(&charged, (u64)getpid(), CPU_S * 1000000000ULL);
	write_file(k, "ledger", ledger_json(&charged));
	be_modest();
	return KEEP_LOOK;
}

static struct json_object *number(u64 v)
{
	return json_object_new_uint64(v);
}

static void add_own(struct keeper *k, struct json_object *o, bool burst)
{
	struct json_object *kept = json_object_new_object();

	json_object_object_add(kept, "start_brk", number(k->t->start_brk));
	json_object_object_add(kept, "program", number(k->t->program));
	json_object_object_add(kept, "taken_ns", number(clock_ns()));
	json_object_object_add(kept, "burst", number(burst));
	json_object_object_add(o, KEPT_OWN, kept);
}

/* Keeps the first look, in the form that --diff reads. */
void keep_first(struct keeper *k, const struct look *l)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *c;
	unsigned int id;

	json_object_object_add(o, "pid", number(k->t->pid));
	for (id = 0; id < CLASSES; id++) {
		if (!l->c[id].blocks)
			continue;
		c = json_object_new_object();
		json_object_object_add(c, "size_bytes", number(class_size(id)));
		json_object_object_add(c, "blocks", number(l->c[id].blocks));
		json_object_object_add(c, "bytes", number(l->c[id].bytes));
		json_object_array_add(list, c);
	}
	json_object_object_add(o, "classes", list);
	add_own(k, o, false);
	write_kind(k, "first", o);
	remove_oldest(k);
}

/* Keeps the answer as far as it is known. @burst: a burst was tried */
void keep_answer(struct keeper *k, const struct result *r, bool burst)
{
	struct json_object *o = result_json(r, KEEP_TOP, KEEP_TOP);

	json_object_object_add(o, "text", summary(r));
	json_object_object_add(o, "time_ns", number(clock_real_ns()));
	json_add_utc_of(o, "time_ns");
	add_own(k, o, burst);
	k->ledger.bursts += burst && r->traps;
	write_kind(k, "answer", o);
	remove_oldest(k);
}

/* @cpu_ns: what the look and the burst took */
void keep_close(struct keeper *k, u64 cpu_ns)
{
	if (cpu_ns) {
		ledger_add(&k->ledger, cpu_ns);
		write_file(k, "ledger", ledger_json(&k->ledger));
	}
	if (k->lock >= 0)
		close(k->lock);
	if (k->dir >= 0)
		close(k->dir);
}

/* Takes the lock that a look had. A child of it may hold it for a moment longer. */
static bool lock_after(int lock)
{
	const struct timespec pause = { .tv_nsec = SETTLE_STEP_MS * 1000000L };
	unsigned int ms;

	for (ms = 0; flock(lock, LOCK_EX | LOCK_NB); ms += SETTLE_STEP_MS) {
		if (ms >= SETTLE_MS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/**
 * keep_settle() - charge what a look took that was killed, in place of the most that one may take
 * @look: pid of the program that took it, which has ended
 * @cpu_ns: its CPU time
 *
 * If another look has begun meanwhile, the most stays charged until the end of the hour.
 */
void keep_settle(pid_t look, u64 cpu_ns)
{
	struct keeper k = { .dir = kept_dir() };
	struct json_object *o;

	k.lock = k.dir >= 0 ? open_lock(k.dir) : -1;
	if (k.lock >= 0 && lock_after(k.lock)) {
		o = kept_read("ledger", "");
		ledger_read(&k.ledger, o, clock_ns());
		json_object_put(o);
		if (ledger_settle(&k.ledger, (u64)look, cpu_ns))
			write_file(&k, "ledger", ledger_json(&k.ledger));
	}
	if (k.lock >= 0)
		close(k.lock);
	if (k.dir >= 0)
		close(k.dir);
}
