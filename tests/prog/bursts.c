// SPDX-License-Identifier: GPL-2.0
/*
 * bursts PID N MS [SEED]: N bursts on malloc() of one process, without the tool: each of 1 to MS
 * milliseconds, ended by its time, by STOP, or by close() in whatever state it is in.
 * bursts PID cost MS: one burst on malloc(1) that no call matches; prints "armed", then the traps
 * and the reason.
 * bursts PID site MS ADDRESS...: one burst at return addresses in that process, with a limit of
 * 1000 traps for each; prints "armed", then traps, reason, samples, traps of children, and the
 * traps of each address.
 * Prints the traps, and the reasons as "REASON:COUNT".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/seepage_where.h>

#define DEVICE	"/dev/" SEEPAGE_WHERE_DEVICE

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The place in a file that is mapped at an address */
static void find_place(const char *maps, unsigned long addr, struct seepage_where_probe *p)
{
	char line[512], path[256];
	unsigned long lo, hi, offset;
	FILE *f = fopen(maps, "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &lo, &hi, &offset, path) != 4 ||
		    addr < lo || addr >= hi)
			continue;
		p->fd = open(path, O_RDONLY);
		p->offset = addr - lo + offset;
		fclose(f);
		if (p->fd < 0)
			die(path);
		return;
	}
	die("no file at the address");
}

/* malloc() of this program's own libc, which is that of the process */
static void find_malloc(struct seepage_where_probe *p)
{
	unsigned long addr = (unsigned long)dlsym(RTLD_NEXT, "malloc");
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	find_place("/proc/self/maps", addr, p);
	if (!memcmp((void *)addr, mark, sizeof(mark)))
		p->offset += sizeof(mark);
}

static unsigned long long start_ticks(int pid)
{
	char path[64], text[1024], *p;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		die(path);
	fclose(f);
	p = strrchr(text, ')');
	for (i = 2; p && i < 22; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static int begin(struct seepage_where_start *how)
{
	int fd = open(DEVICE, O_RDWR);

	if (fd < 0)
		die(DEVICE);
	/* The burst before may be ending. */
	while (ioctl(fd, SEEPAGE_WHERE_START, how)) {
		if (errno != EBUSY)
			die("SEEPAGE_WHERE_START");
		usleep(500);
	}
	return fd;
}

static void wait_armed(int fd)
{
	struct seepage_where_status s;

	do {
		usleep(1000);
		ioctl(fd, SEEPAGE_WHERE_STATUS, &s);
	} while (s.state == SEEPAGE_WHERE_ARMING);
	printf("armed\n");
	fflush(stdout);
}

static struct seepage_where_status await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct seepage_where_status s;

	if (poll(&p, 1, -1) != 1 || ioctl(fd, SEEPAGE_WHERE_STATUS, &s))
		die("SEEPAGE_WHERE_STATUS");
	return s;
}

static struct seepage_where_status finish(int fd)
{
	struct seepage_where_status s = await(fd);

	close(fd);
	return s;
}

/* A burst at return addresses, argv[4] and those behind it */
static int at_sites(struct seepage_where_start *how, char **argv)
{
	struct seepage_where_status s;
	struct seepage_where_sites c;
	char maps[64];
	unsigned int i;
	int fd;

	snprintf(maps, sizeof(maps), "/proc/%s/maps", argv[1]);
	for (i = 0; argv[4 + i] && i < SEEPAGE_WHERE_PROBES; i++) {
		find_place(maps, strtoul(argv[4 + i], NULL, 0), &how->probe[i]);
		how->probe[i].kind = SEEPAGE_WHERE_SITE;
	}
	how->probes = i;
	how->probe_traps = 1000;
	fd = begin(how);
	wait_armed(fd);
	s = await(fd);
	if (ioctl(fd, SEEPAGE_WHERE_SITES, &c))
		die("SEEPAGE_WHERE_SITES");
	printf("%llu %u %llu %llu", (unsigned long long)s.traps, s.reason,
	       (unsigned long long)s.matched, (unsigned long long)s.inherited);
	for (i = 0; i < how->probes; i++)
		printf(" %u", c.traps[i]);
	printf("\n");
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct seepage_where_start how = {
		.probes = 1, .samples = 30, .traps = 100000, .hi = 4096,
	};
	unsigned long long traps = 0;
	unsigned int reasons[16] = { 0 }, i, n, ms;
	struct seepage_where_status s;
	int fd;

	if (argc < 4)
		return 2;
	how.pid = atoi(argv[1]);
	how.start_ticks = start_ticks(how.pid);
	ms = (unsigned int)atoi(argv[3]);
	srandom(argc > 4 ? (unsigned int)atoi(argv[4]) : 1);
	how.ms = ms;
	if (!strcmp(argv[2], "site"))
		return at_sites(&how, argv);
	find_malloc(&how.probe[0]);
	if (!strcmp(argv[2], "cost")) {
		how.lo = 1;
		how.hi = 1;
		how.traps = SEEPAGE_WHERE_TRAPS;
		fd = begin(&how);
		wait_armed(fd);
		s = finish(fd);
		printf("%llu %u\n", (unsigned long long)s.traps, s.reason);
		return 0;
	}
	n = (unsigned int)atoi(argv[2]);
	for (i = 0; i < n; i++) {
		how.ms = 1 + (unsigned int)random() % ms;
		fd = begin(&how);
		switch (random() % 3) {
		case 0:
			usleep((unsigned int)random() % (1000 * ms));
			ioctl(fd, SEEPAGE_WHERE_STOP);
			break;
		case 1:
			usleep((unsigned int)random() % (1000 * ms));
			close(fd);
			continue;
		default:
			break;
		}
		s = finish(fd);
		traps += s.traps;
		reasons[s.reason % 16]++;
		if (s.reason == SEEPAGE_WHERE_BY_ERROR) {
			fprintf(stderr, "refused: %s\n", strerror(s.error));
			return 1;
		}
		if (s.reason == SEEPAGE_WHERE_BY_EXIT) {
			i++;
			break;
		}
	}
	printf("%llu traps in %u bursts", traps, i);
	for (n = 0; n < 16; n++)
		if (reasons[n])
			printf(" %u:%u", n, reasons[n]);
	printf("\n");
	return 0;
}
