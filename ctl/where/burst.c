// SPDX-License-Identifier: GPL-2.0
/*
 * Takes samples through /dev/seepage_where, in several rounds at random moments: one round would
 * see what the process does in that moment only, and a fixed period may miss what is periodic. A
 * round ends by its part of the traps or the time, and samples are thinned over all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/burst.h"

#define ROUNDS		BURST_ROUNDS
#define FEW		100U	/* part of all traps that the first round takes: a hundredth */
#define MANY		6U	/* how often the traps of a round are made four times as many */
#define ENOUGH		10U	/* blocks that stay: the next round may be short */
#define LEAST_MS	10U	/* of a round */
#define FILL_MS		20	/* in which most blocks are filled in that a round sampled last */
#define BUSY_TRIES	50	/* of 100 ms */
#define DEVICE		"/dev/" SEEPAGE_WHERE_DEVICE
#define OTHER_VERSION	"seepage_where is loaded in another version (rmmod seepage_where)"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

/* Says which rights are missing. The level confidentiality refuses kprobes, and so bursts. */
static const char *not_permitted(void)
{
	char *level = procfs_read(AT_FDCWD, LOCKDOWN);
	bool locked = level && strstr(level, "[confidentiality]");

	free(level);
	return locked ? "not permitted: the kernel is locked down (confidentiality)" :
	       "not permitted: needs CAP_PERFMON and CAP_SYS_PTRACE";
}

static void load_module(void)
{
	pid_t child = fork();

	if (!child) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execl("/sbin/modprobe", "modprobe", "seepage_where", NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* Opens the device, and loads its module where it is not. -1: *why says what is missing. */
int burst_open(const char **why)
{
	static char text[128];
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK), err;

	if (fd < 0 && errno == ENOENT && !geteuid()) {
		load_module();
		fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0)
		return fd;
	err = errno;
	snprintf(text, sizeof(text), "%s: %s", DEVICE, strerror(err));
	*why = text;
	if (err == ENOENT)
		*why = "module not loaded (modprobe seepage_where)";
	else if (err == EPERM || err == EACCES)
		*why = not_permitted();
	return -1;
}

/*
 * Finds out before the two looks whether a burst may follow. Returns NULL, or what is missing;
 * valid until the next call.
 */
const char *burst_check(void)
{
	const char *why = NULL;
	int fd = burst_open(&why), err;

	if (fd < 0)
		return why;
	/* START checks the rights before it reads its argument, which is missing here: EFAULT. */
	err = ioctl(fd, SEEPAGE_WHERE_START, NULL) ? errno : 0;
	close(fd);
	if (err == ENOTTY)
		return OTHER_VERSION;
	return err == EPERM ? not_permitted() : NULL;
}

static int refused(const struct target *t, const struct probes *p,
		   const struct seepage_where_status *s, int err)
{
	if (s)
		return fail(t->ctx, "--burst: no probe on %s: %s", p->name[s->error_probe],
			    strerror(s->error));
	if (err == EPERM)
		return fail(t->ctx, "--burst: %s", not_permitted());
	if (err == ENOTTY)
		return fail(t->ctx, "--burst: %s", OTHER_VERSION);
	if (err == EBUSY)
		return fail(t->ctx, "--burst: another burst is under way");
	return fail(t->ctx, "--burst: process %u: %s", t->pid, strerror(err));
}

static bool wait_nothing(void *arg, u64 ms, int fd)
{
	usleep((useconds_t)ms * 1000);
	return true;
}

/* Begins a burst of an open device. Returns 0 or an errno. */
int burst_start(int fd, const struct seepage_where_start *how)
{
	int tries, err = 0;

	/* A burst of a tool that was killed takes a moment to end. */
	for (tries = 0; tries < BUSY_TRIES; tries++) {
		err = ioctl(fd, SEEPAGE_WHERE_START, how) ? errno : 0;
		if (err != EBUSY)
			break;
		wait_nothing(NULL, 100, -1);
	}
	return err;
}

/* What a burst is made of */
struct rounds {
	struct target *t;
	const struct bins *bins;
	const struct probes *p;
	const struct burst_limits *l;
	bool (*wait)(void *arg, u64 ms, int fd);
	void *arg;
	struct seepage_where_start how;
	u64 begin, slice;	/* in ns */
	unsigned int barren;	/* rounds in a row after which nothing stayed */
};

/*
 * A round could not begin. Later ones only add to what is there: one is left out while another
 * burst is under way, and there are no more when the process has ended. Returns an exit status.
 */
static int not_begun(struct rounds *r, struct burst *b, int err)
{
	if (!b->rounds || (err != ESRCH && err != EBUSY))
		return refused(r->t, r->p, NULL, err);
	if (err == ESRCH)
		b->reason = SEEPAGE_WHERE_BY_EXIT;
	return 0;
}

static bool wait_until(const struct rounds *r, u64 ns)
{
	u64 now = clock_ns();

	return r->wait(r->arg, ns > now ? (ns - now) / 1000000 : 0, -1);
}

/* One round. Returns an exit status. */
static int take_round(struct rounds *r, struct burst *b)
{
	struct seepage_where_status s;
	const char *why = NULL;
	int fd = burst_open(&why), err;
	size_t had = b->n;
	u64 end;

	if (fd < 0)
		return fail(r->t->ctx, "--burst: %s", why);
	err = burst_start(fd, &r->how);
	if (err) {
		close(fd);
		return not_begun(r, b, err);
	}
	/* The module ends it; a signal to this process, or time without an end, does too. */
	r->wait(r->arg, r->how.ms + 1000, fd);
	ioctl(fd, SEEPAGE_WHERE_STOP);
	fcntl(fd, F_SETFL, 0);
	end = clock_ns();
	samples_read(fd, r->p, r->how.samples + r->how.latest, b);
	wait_until(r, end + FILL_MS * 1000000ULL);
	samples_read_blocks(r->t, r->bins, b, had);
	samples_unwind(b, had);
	err = ioctl(fd, SEEPAGE_WHERE_STATUS, &s) ? errno : 0;
	close(fd);
	if (err || s.reason == SEEPAGE_WHERE_BY_ERROR)
		return refused(r->t, r->p, err ? NULL : &s, err);
	b->round[b->rounds % ROUNDS] = (struct burst_round){ s.armed_ns, s.matched };
	b->traps += s.traps;
	b->matched += s.matched;
	b->inherited += s.inherited;
	b->armed_ns += s.armed_ns;
	b->arm_ns += s.arm_ns + s.disarm_ns;
	b->reason = s.reason;
	b->rounds++;
	return 0;
}

/* Is a limit used up or the process gone, so that another round would find nothing? */
static bool is_spent(const struct burst *b, const struct burst_limits *l)
{
	return b->traps >= l->traps || b->reason == SEEPAGE_WHERE_BY_EXIT;
}

/*
 * The traps of a round: few, but four times as many after each in a row of which nothing stays.
 * What is rare is found by a round that lasts.
 */
static u64 traps_of(const struct rounds *r, const struct burst *b, unsigned int left)
{
	u64 rest = (r->l->traps - b->traps + left - 1) / left, n = r->l->traps / FEW;

	if (r->l->even)
		return rest;
	n = (n ? n : 1) << 2 * (r->barren < MANY ? r->barren : MANY);
	return n < rest ? n : rest;
}

/* When a round begins within its slice: anywhere, as far as its traps leave time for it */
static u64 moment(const struct rounds *r, const struct burst *b)
{
	u64 need = r->slice / 2;

	if (b->traps)
		need = (u64)((double)b->armed_ns / (double)b->traps * (double)r->how.traps);
	return need < r->slice ? samples_random(r->slice - need) : 0;
}

/* The next round, in its slice of the time. Returns an exit status; *stop: a signal came. */
static int next_round(struct rounds *r, struct burst *b, unsigned int i, bool *stop)
{
	u64 begin = r->begin + i * r->slice, now;

	r->how.traps = traps_of(r, b, ROUNDS - i);
	*stop = !wait_until(r, begin + moment(r, b));
	if (*stop)
		return 0;
	if (i) {
		bool enough = samples_thin(r->t, r->bins, b, r->l->samples) >= ENOUGH;

		r->barren = enough ? 0 : r->barren + 1;
		r->how.traps = traps_of(r, b, ROUNDS - i);
	}
	/* Its pid and its start stay the same after an exec: the module would take it. */
	if (!target_alive(r->t)) {
		b->reason = SEEPAGE_WHERE_BY_EXIT;
		return 0;
	}
	now = clock_ns();
	begin += r->slice;
	r->how.ms = (u32)((begin > now ? begin - now : 0) / 1000000);
	r->how.ms = r->how.ms < LEAST_MS ? LEAST_MS : r->how.ms;
	r->how.ms = r->how.ms > SEEPAGE_WHERE_MS ? SEEPAGE_WHERE_MS : r->how.ms;
	return take_round(r, b);
}

/**
 * burst_take() - take samples of one size class
 * @t: the process
 * @bins: keys of free blocks
 * @p: functions to trap at
 * @l: limits of all rounds together
 * @wait: waits so many milliseconds, or until the descriptor is readable; false: stop
 * @arg: for @wait
 * @b: to fill, all zeros but the unwinder; burst_free() releases it
 *
 * Return: 0, or an exit status after printing an error.
 */
int burst_take(struct target *t, const struct bins *bins, const struct probes *p,
	       const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd), void *arg,
	       struct burst *b)
{
	struct rounds r = {
		.t = t, .bins = bins, .p = p, .l = l, .wait = wait, .arg = arg,
		.how = {
			.pid = (int)t->pid, .probes = p->n, .start_ticks = target_start_ticks(t),
			.lo = l->lo, .hi = l->hi, .cost_permille = (u32)l->cost_permille,
			.trap_ns = TRAP_NS, .samples = (u32)((l->samples + ROUNDS - 1) / ROUNDS),
			.latest = (u32)(l->even ? SEEPAGE_WHERE_SAMPLES : l->samples),
		},
		.begin = clock_ns(), .slice = l->seconds * 1000000000 / ROUNDS,
	};
	bool stop = false;
	unsigned int i;
	int status = 0;

	memcpy(r.how.probe, p->p, sizeof(r.how.probe));
	for (i = 0; i < ROUNDS && !status && !stop && !is_spent(b, l); i++)
		status = next_round(&r, b, i, &stop);
	if (!status && l->even)
		samples_thin(t, bins, b, l->samples);
	return status;
}

const char *burst_reason(u32 reason)
{
	static const char *const names[] = {
		[SEEPAGE_WHERE_RUNNING] = "nothing",
		[SEEPAGE_WHERE_BY_TRAPS] = "its number of traps",
		[SEEPAGE_WHERE_BY_TIME] = "its time",
		[SEEPAGE_WHERE_BY_COST] = "its cost",
		[SEEPAGE_WHERE_BY_EXIT] = "the end of the process, or its exec",
		[SEEPAGE_WHERE_BY_CALLER] = "a signal",
		[SEEPAGE_WHERE_BY_ERROR] = "an error",
	};

	return reason < ARRAY_SIZE(names) ? names[reason] : "?";
}

void burst_free(struct burst *b)
{
	free(b->s);
	free(b->early);
	free(b->stack);
	memset(b, 0, sizeof(*b));
}
