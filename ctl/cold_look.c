// SPDX-License-Identifier: GPL-2.0
/*
 * One look at one process: smaps, then clear_refs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "cold.h"

#define LOCK_FILE	"/run/seepage-cold.lock"

static int read_smaps(int dir, struct cold_look *look)
{
	int fd = openat(dir, "smaps", O_RDONLY | O_CLOEXEC), err = 0;
	struct cold_reader r;
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	cold_begin(&r, look);		/* also where nothing can be read */
	if (fd < 0)
		return -errno;
	f = must(fdopen(fd, "r"));
	errno = 0;
	while (!err && getline(&line, &room, f) > 0)
		if (!cold_line(&r, line))
			err = -E2BIG;
	if (!err && ferror(f))
		err = errno ? -errno : -EIO;
	if (!err)
		cold_end(&r);
	if (!err && !look->seen)	/* it has no memory any more */
		err = -ESRCH;
	free(line);
	fclose(f);
	return err;
}

/*
 * 1 clears the referenced bits of all pages, no more: 4 would make every write
 * fault, 5 would reset what others measure. The memory map is locked meanwhile.
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

/*
 * A look at the process of /proc/PID, @dir: what is referenced since the last
 * one, and from now on anew. @clear_ms: what that last part took; NULL: a look
 * that leaves everything as it is. -errno: none; -ESRCH: the process is gone,
 * -E2BIG: it has too many mappings.
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

/*
 * Two that clear the same bits would each believe what the other left. Returns
 * a descriptor to keep, -EWOULDBLOCK: another one has it, or another -errno.
 */
int cold_lock(void)
{
	int fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), err;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
