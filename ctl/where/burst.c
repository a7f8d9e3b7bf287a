// SPDX-License-Identifier: GPL-2.0
/*
 * Takes samples through /dev/seepage_where, in several rounds at random moments: one round would
 * see what the process does in that moment only, and a fixed period may miss what is periodic.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/burst.h"

#define ROUNDS		5U
#define FILL_MS		20	/* in which most blocks are filled in that a round sampled last */
#define BUSY_TRIES	50	/* of 100 ms */
#define DEVICE		"/dev/" SEEPAGE_WHERE_DEVICE
#define NOT_PERMITTED	"--burst: not permitted: needs CAP_PERFMON and CAP_SYS_PTRACE, " \
			"and a kernel that is not locked down"

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

/* Opens the device, and loads its module where it is not. -1 after printing an error */
int burst_open(const struct ctx *ctx)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT && !geteuid()) {
		load_module();
		fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0 && errno == ENOENT)
		fail(ctx, "--burst: module not loaded (modprobe seepage_where)");
	else if (fd < 0 && (errno == EPERM || errno == EACCES))
		fail(ctx, NOT_PERMITTED);
	else if (fd < 0)
		fail(ctx, "--burst: %s: %s", DEVICE, strerror(errno));
	return fd;
}

/* Finds out before the two looks whether a burst may follow. 1 after printing an error */
int burst_check(const struct ctx *ctx)
{
	int fd = burst_open(ctx), err;

	if (fd < 0)
		return 1;
	/* START checks the rights before it reads its argument, which is missing here: EFAULT. */
	err = ioctl(fd, SEEPAGE_WHERE_START, NULL) ? errno : 0;
	close(fd);
	return err == EPERM ? fail(ctx, NOT_PERMITTED) : 0;
}

static int refused(const struct target *t, const struct probes *p,
		   const struct seepage_where_status *s, int err)
{
	if (s)
		return fail(t->ctx, "--burst: no probe on %s: %s", p->name[s->error_probe],
			    strerror(s->error));
	if (err == EPERM)
		return fail(t->ctx, NOT_PERMITTED);
	if (err == EBUSY)
		return fail(t->ctx, "--burst: another burst is under way");
	return fail(t->ctx, "--burst: process %u: %s", t->pid, strerror(err));
}

static int by_time(const void *x, const void *y)
{
	const struct seepage_where_sample *a = x, *b = y;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static void read_samples(int fd, struct burst *b, size_t most)
{
	size_t had = b->n, bytes, at = 0;
	ssize_t n;

	b->s = must(realloc(b->s, (had + most) * sizeof(*b->s)));
	bytes = most * sizeof(*b->s);
	while (at < bytes && (n = read(fd, (char *)(b->s + had) + at, bytes - at)) > 0)
		at += (size_t)n;
	for (most = at / sizeof(*b->s), at = 0; at < most; at++)
		if (b->s[had + at].addr && b->s[had + at].stack_bytes <= SEEPAGE_WHERE_STACK)
			b->s[b->n++] = b->s[had + at];
	if (b->n > had)
		qsort(b->s + had, b->n - had, sizeof(*b->s), by_time);
}

/*
 * Reads the blocks of a round. A leak that takes up places which others free takes them soon:
 * at the end of the burst all of them may hold blocks that stay.
 */
static void read_blocks(struct target *t, struct burst *b, size_t had)
{
	size_t i;

	b->early = must(realloc(b->early, (b->n + 1) * sizeof(*b->early)));
	for (i = had; i < b->n; i++) {
		struct early *e = &b->early[i];

		e->bytes = (unsigned int)(b->s[i].size < BLOCK_KEEP ? b->s[i].size : BLOCK_KEEP);
		if (!target_read(t, b->s[i].addr, e->data, e->bytes))
			e->bytes = 0;
	}
}

static bool wait_nothing(void *arg, u64 ms, int fd)
{
	usleep((useconds_t)ms * 1000);
	return true;
}

static int start(int fd, const struct seepage_where_start *how)
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

/* One round. Returns an exit status. */
static int take_round(struct target *t, const struct probes *p, struct seepage_where_start *how,
		      bool (*wait)(void *arg, u64 ms, int fd), void *arg, struct burst *b)
{
	struct seepage_where_status s;
	int fd = burst_open(t->ctx), err;
	size_t had = b->n;

	if (fd < 0)
		return 1;
	err = start(fd, how);
	if (err) {
		close(fd);
		return refused(t, p, NULL, err);
	}
	/* The module ends it; a signal to this process, or time without an end, does too. */
	wait(arg, how->ms + 1000, fd);
	ioctl(fd, SEEPAGE_WHERE_STOP);
	fcntl(fd, F_SETFL, 0);
	read_samples(fd, b, how->samples);
	wait(arg, FILL_MS, -1);
	read_blocks(t, b, had);
	err = ioctl(fd, SEEPAGE_WHERE_STATUS, &s) ? errno : 0;
	close(fd);
	if (err || s.reason == SEEPAGE_WHERE_BY_ERROR)
		return refused(t, p, err ? NULL : &s, err);
	b->traps += s.traps;
	b->foreign += s.foreign;
	b->armed_ns += s.armed_ns;
	b->arm_ns += s.arm_ns + s.disarm_ns;
	b->reason = s.reason;
	b->rounds++;
	return 0;
}

static u64 random_below(u64 n)
{
	u64 v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = clock_ns();
	return n ? v % n : 0;
}

/* Is a limit used up or the process gone, so that another round would find nothing? */
static bool is_spent(const struct burst *b, const struct burst_limits *l)
{
	return b->n >= l->samples || b->traps >= l->traps || b->reason == SEEPAGE_WHERE_BY_EXIT;
}

/**
 * burst_take() - take samples of one size class
 * @t: the process
 * @p: functions to trap at
 * @l: limits of all rounds together
 * @wait: waits so many milliseconds, or until the descriptor is readable; false: stop
 * @arg: for @wait
 * @b: to fill; burst_free() releases it
 *
 * Return: 0, or an exit status after printing an error.
 */
int burst_take(struct target *t, const struct probes *p, const struct burst_limits *l,
	       bool (*wait)(void *arg, u64 ms, int fd), void *arg, struct burst *b)
{
	struct seepage_where_start how = {
		.pid = (int)t->pid, .probes = p->n, .start_ticks = target_start_ticks(t),
		.lo = l->lo, .hi = l->hi, .cost_permille = (u32)l->cost_permille,
		.trap_ns = TRAP_NS,
	};
	u64 slice = l->seconds * 1000 / ROUNDS, before;
	unsigned int i;
	int status = 0;

	memcpy(how.probe, p->p, sizeof(how.probe));
	memset(b, 0, sizeof(*b));
	slice = slice ? slice : 1;
	for (i = 0; i < ROUNDS && !status && !is_spent(b, l); i++) {
		before = random_below(slice / 2);
		if (!wait(arg, before, -1))
			break;
		how.samples = (u32)((l->samples - b->n + ROUNDS - i - 1) / (ROUNDS - i));
		how.traps = (l->traps - b->traps + ROUNDS - i - 1) / (ROUNDS - i);
		how.ms = (u32)(slice - before);
		status = take_round(t, p, &how, wait, arg, b);
	}
	return status;
}

const char *burst_reason(u32 reason)
{
	static const char *const names[] = {
		[SEEPAGE_WHERE_RUNNING] = "nothing",
		[SEEPAGE_WHERE_BY_SAMPLES] = "its number of samples",
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
	memset(b, 0, sizeof(*b));
}
