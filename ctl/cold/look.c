// SPDX-License-Identifier: GPL-2.0
/*
 * One look at one process: reads smaps, then writes clear_refs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "cold/cold.h"

#define LOCK_FILE	"/run/seepage-cold.lock"
#define KEPT_AT		(8 << 22)	/* behind the marks of the highest pid */
#define KEPT_SLOTS	4096U		/* 256 KiB */
#define KEPT_SLOT	64

/* Shows what a negative errno of cold_look() says. */
const char *cold_error(int err)
{
	return err == -E2BIG ? "too many mappings" : strerror(-err);
}

static int read_smaps(int dir, struct cold_look *look)
{
	int fd = openat(dir, "smaps", O_RDONLY | O_CLOEXEC), err = 0;
	struct cold_reader r;
	char *line = NULL;
	size_t capacity = 0;
	FILE *f;

	cold_begin(&r, look);		/* on failure, too: the caller frees @look */
	if (fd < 0)
		return -errno;
	f = must(fdopen(fd, "r"));
	errno = 0;
	while (!err && getline(&line, &capacity, f) > 0)
		if (!cold_line(&r, line))
			err = -E2BIG;
	if (!err && ferror(f))
		err = errno ? -errno : -EIO;
	if (!err)
		cold_end(&r);
	if (!err && !look->seen)	/* the process has given up its mm */
		err = -ESRCH;
	free(line);
	fclose(f);
	return err;
}

/*
 * Writes 1, which only clears the referenced bits of all pages. 4 would write-protect
 * every page, 5 would reset the peak RSS that others read. The kernel holds the mmap
 * lock of the process meanwhile.
 */
static int clear(int dir)
{
	int fd = openat(dir, "clear_refs", O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) < 0)
		err = -errno;
	close(fd);
	return err;
}

/**
 * cold_look() - read which memory a process has used since the last look
 * @dir: descriptor of /proc/PID
 * @look: out, cold_free() frees it
 * @clear_ms: out, time that clearing the referenced bits took; NULL: do not clear them
 *
 * Return: 0, -ESRCH if the process has exited, -E2BIG if it has more than
 * COLD_MAPS_MAX mappings, or another -errno. @look is empty on failure.
 */
int cold_look(int dir, struct cold_look *look, u64 *clear_ms)
{
	int err = read_smaps(dir, look);
	u64 begin;

	if (!err && clear_ms) {
		begin = clock_ms();
		err = clear(dir);
		*clear_ms = clock_ms() - begin;
	}
	if (err)
		cold_free(look);
	return err;
}

/* Opens the file of the lock and of the marks. Returns a descriptor or -errno. */
int cold_open(void)
{
	int fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/*
 * Takes the system-wide lock for clearing referenced bits: two programs that clear
 * the same bits would both get wrong results. Returns a descriptor that the caller
 * closes to unlock, -EWOULDBLOCK if another program has the lock, or another -errno.
 */
int cold_lock(void)
{
	int fd = cold_open(), err;

	if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * Did seepage where read the memory of @pid after @since_ms? That sets referenced bits.
 * The file of the lock has the time of its last mark, clock_ms(), at 8 * pid. Reads go on
 * for COLD_MARK_MS after a mark; twice that is allowed for. A mark of the future is one of
 * a namespace with another clock.
 */
bool cold_was_read(u32 pid, u64 since_ms)
{
	u64 mark = 0, now = clock_ms();		/* 0: none */
	int fd = cold_open();

	if (pread(fd, &mark, sizeof(mark), (off_t)pid * 8) != sizeof(mark))
		mark = 0;
	close(fd);
	return now - mark < now - since_ms + 2 * COLD_MARK_MS;
}

/*
 * Keeps the curve of a process where `explain` and `record` read it: in the file of the lock,
 * behind the marks. Of processes with the same last digits of the pid it is the last one's.
 */
void cold_keep(u32 pid, u64 now_ms, const struct cold_curve *c)
{
	const struct cold_kept k = { .time_ms = now_ms, .pid = pid, .curve = *c };
	int fd = cold_open();

	_Static_assert(sizeof(k) <= KEPT_SLOT, "a slot is too small");
	/* it is not shown where /run is full */
	(void)!pwrite(fd, &k, sizeof(k), KEPT_AT + (off_t)(pid % KEPT_SLOTS) * KEPT_SLOT);
	close(fd);
}

/*
 * Reads the curve of a process that was born at @born_ms, clock_ms(): one that is older is of
 * another with that pid. Returns false if there is none, or if the user may not know it.
 */
bool cold_kept(u32 pid, u64 born_ms, struct cold_kept *k)
{
	int fd = open(LOCK_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = pread(fd, k, sizeof(*k), KEPT_AT + (off_t)(pid % KEPT_SLOTS) * KEPT_SLOT);

	close(fd);
	if (n < (ssize_t)sizeof(*k) || k->pid != pid)
		return false;
	return k->time_ms >= born_ms && k->time_ms <= clock_ms() && k->curve.n &&
	       k->curve.n <= COLD_POINTS;
}
