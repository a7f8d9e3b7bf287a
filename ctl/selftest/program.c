// SPDX-License-Identifier: GPL-2.0
/* The two programs: children of the tool, which end with it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "selftest/selftest.h"

/* Memory is taken in mappings of one step, as an allocator does with large blocks. */
static unsigned char *take(u64 bytes)
{
	unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	memset(p, 1, bytes);
	return p;
}

static void use(const unsigned char *p, u64 bytes)
{
	u64 i;

	for (i = 0; i < bytes; i += 4096)
		(void)*(const volatile unsigned char *)(p + i);
}

static _Noreturn void live(const struct selftest_program *p)
{
	const struct timespec step = { .tv_nsec = SELFTEST_STEP_MS * 1000000L };
	static unsigned char *block[SELFTEST_LIMIT / SELFTEST_STEP];
	const unsigned char *base = take(SELFTEST_BASE);
	size_t n = 0, i;

	for (;;) {
		/* An extra step, so that the programs are bounded without any limit too. */
		if (n * SELFTEST_STEP < p->grows && n < ARRAY_SIZE(block))
			block[n++] = take(SELFTEST_STEP);
		for (i = 0; p->used && i < n; i++)
			use(block[i], SELFTEST_STEP);
		if (p->used)
			use(base, SELFTEST_BASE);
		nanosleep(&step, NULL);
	}
}

/*
 * On a machine that is out of memory the programs die first, before anything of the owner. Where
 * this cannot be said, the kernel chooses as it does of others: the test is no worse for that.
 */
static void die_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		close(fd);
	}
}

static _Noreturn void child(const struct selftest_program *p, pid_t parent, int cgroup)
{
	struct rlimit limit = { SELFTEST_LIMIT, SELFTEST_LIMIT };
	struct rlimit no_core = { 0, 0 };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)	/* it ended before that call */
		_exit(1);
	prctl(PR_SET_NAME, p->comm);
	die_first();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (cgroup >= 0 && write(cgroup, "0", 1) != 1)
		_exit(1);
	if (setrlimit(RLIMIT_DATA, &limit) || setrlimit(RLIMIT_CORE, &no_core))
		_exit(1);
	live(p);
}

/* Returns false with errno set if there cannot be another process. */
bool selftest_start(struct selftest_program *p, int cgroup)
{
	pid_t parent = getpid();

	p->pid = fork();
	if (!p->pid)
		child(p, parent, cgroup);
	return p->pid > 0;
}

void selftest_end(struct selftest_program *p)
{
	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}
