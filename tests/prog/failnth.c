// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the memory allocations of a system call fail, one after the other, with
 * /proc/self/fail-nth (CONFIG_FAULT_INJECTION), until none is left to fail.
 *   failnth load FILE.ko [PARAMETERS [FIRST]]	unloads the module if it was loaded
 *   failnth read FILE...			from open to close
 *   failnth count FILE.ko [PARAMETERS]		only counts the allocations of a load
 * Prints the number of failed allocations, and how many of them the call itself survived.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 5000	/* a call with more allocations never ends */

static char buf[65536];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* 0 switches it off; returns what was left of it. */
static int fail_nth(int n)
{
	static int fd = -1;
	char text[16];
	int left;

	if (fd < 0)
		fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("/proc/self/fail-nth");
	if (pread(fd, text, sizeof(text), 0) <= 0)
		die("read fail-nth");
	left = atoi(text);
	snprintf(text, sizeof(text), "%d", n);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		die("write fail-nth");
	return left;
}

static int load(int fd, const char *parameters)
{
	return syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "seepage", O_NONBLOCK) ? -errno : 0;
}

static int read_all(const char *file)
{
	ssize_t got;
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	do
		got = read(fd, buf, sizeof(buf));
	while (got > 0);
	if (got < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int open_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(file);
	return fd;
}

/* Whether it loads or not. */
static void count(const char *file, const char *parameters)
{
	int fd = open_file(file), rc, left;

	fail_nth(MOST);
	rc = load(fd, parameters);
	left = fail_nth(0);
	if (!rc && unload())
		die("unload");
	printf("%d\n", MOST - left);
}

static void fail_each(const char *file, const char *parameters, int first, int loads)
{
	int n, rc, left, survived = 0, fd = loads ? open_file(file) : -1;

	for (n = first; n <= MOST; n++) {
		fail_nth(n);
		rc = loads ? load(fd, parameters) : read_all(file);
		left = fail_nth(0);
		if (loads && !rc && unload())
			die("unload");
		if (left) {
			if (rc) {
				fprintf(stderr, "%s: %s although nothing failed\n", file,
					strerror(-rc));
				exit(1);
			}
			break;
		}
		survived += !rc;
		if (rc && rc != -ENOMEM && rc != -EAGAIN && rc != -EINTR && rc != -ENOSPC) {
			fprintf(stderr, "%s: allocation %d fails: %s\n", file, n, strerror(-rc));
			exit(1);
		}
	}
	if (n > MOST) {
		fprintf(stderr, "%s: no end after %d allocations\n", file, MOST);
		exit(1);
	}
	printf("%d allocations failed, %d of them borne: %s\n", n - first, survived, file);
}

int main(int argc, char **argv)
{
	memset(buf, 1, sizeof(buf));	/* no faults while allocations fail */
	if (argc >= 3 && !strcmp(argv[1], "load")) {
		int first = argc > 4 ? atoi(argv[4]) : 1;

		fail_each(argv[2], argc > 3 ? argv[3] : "", first > 0 ? first : 1, 1);
	} else if (argc >= 3 && !strcmp(argv[1], "count")) {
		count(argv[2], argc > 3 ? argv[3] : "");
	} else if (argc >= 3 && !strcmp(argv[1], "read")) {
		for (int i = 2; i < argc; i++)
			fail_each(argv[i], NULL, 1, 0);
	} else {
		fprintf(stderr, "usage: failnth load FILE.ko [PARAMETERS [FIRST]] | read FILE... |"
			" count FILE.ko [PARAMETERS]\n");
		return 2;
	}
	return 0;
}
