// SPDX-License-Identifier: GPL-2.0
/*
 * A preloaded library. The clocks of the process run SHIFTED_RATE times as fast as those of the
 * machine, and what it waits for with poll() is shorter by that. SHIFTED_BOOT names a file that is
 * read in place of the boot id.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS	1000000000LL
#define CLOCKS	16

static long long rate;
static long long begun[CLOCKS];	/* when the process began, by each clock */

static long long real_ns(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
	const char *s = getenv("SHIFTED_RATE");
	int i;

	rate = s ? atoll(s) : 1;
	for (i = 0; i < CLOCKS; i++)
		begun[i] = real_ns(i);
}

/* SHIFTED_LATER: so many seconds have passed before the process began. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	const char *later = getenv("SHIFTED_LATER");
	long long ns = real_ns(clock);

	if (clock >= 0 && clock < CLOCKS && rate) {
		ns = begun[clock] + (ns - begun[clock]) * rate;
		if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
			ns += later ? atoll(later) * NS : 0;
	}
	t->tv_sec = ns / NS;
	t->tv_nsec = ns % NS;
	return 0;
}

time_t time(time_t *to)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	__typeof__(poll) *next = dlsym(RTLD_NEXT, "poll");

	return next(fds, n, ms > 0 ? (int)((ms + rate - 1) / rate) : ms);
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	__typeof__(openat) *next = dlsym(RTLD_NEXT, "openat64");
	const char *boot = getenv("SHIFTED_BOOT");

	if (boot && !strcmp(path, "/proc/sys/kernel/random/boot_id"))
		path = boot;
	return next(dir, path, flags, mode);
}

/* libraries may use either name */
int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return open_at(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
	__attribute__((alias("openat"), nonnull(2)));
