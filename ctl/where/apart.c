// SPDX-License-Identifier: GPL-2.0
/*
 * A child that parses what a process chose: names, and debug data. A few bytes of these may stand
 * for gigabytes or hours, and a library that reads them may have mistakes. So the child has limits
 * of its own and no rights. What ends it is not answered; another child takes the next question,
 * some times.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/apart.h"

#define NOBODY		65534
#define FILES		1024	/* more than the tool ever has open */
#define ANSWER_S	30	/* seconds: to read a slow file takes no CPU time */

/* What the tool has mapped comes on top. */
static u64 memory_limit(u64 bytes)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return bytes + (u64)pages * (u64)sysconf(_SC_PAGESIZE);
}

/* ^C is for the tool, and what libraries print is no message of it. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

static void limit(const struct apart_how *how, int own)
{
	const struct rlimit cpu = { how->cpu_s, how->cpu_s }, no = { 0, 0 };
	struct rlimit memory = { memory_limit(how->memory), memory_limit(how->memory) };
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	int fd;

	be_quiet();
	for (fd = 3; fd < FILES; fd++)
		if (fd != own && !(how->keeps && how->keeps(how->arg, fd)))
			close(fd);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CORE, &no);
	setrlimit(RLIMIT_FSIZE, &no);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	if (syscall(SYS_capset, &header, none))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of the user takes it back */
}

void apart_new(struct apart *a)
{
	*a = (struct apart){ .fd = -1 };
}

static ssize_t receive(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

/**
 * apart_begin() - have a child, a new one if the last has ended
 * @a: from apart_new()
 * @how: what it does, and its limits
 *
 * Context: forks.
 * Return: false if there is none.
 */
bool apart_begin(struct apart *a, const struct apart_how *how)
{
	const struct timeval most = { ANSWER_S, 0 };
	int pair[2];
	char ready;

	if (a->fd >= 0)
		return true;
	if (a->none || a->children == how->children ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	a->children++;
	a->child = fork();
	if (!a->child) {
		close(pair[0]);
		limit(how, pair[1]);
		how->serve(pair[1], how->arg);
		_exit(0);
	}
	close(pair[1]);
	if (a->child < 0) {
		close(pair[0]);
		return false;
	}
	a->fd = pair[0];
	setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	a->none = receive(a->fd, &ready, 1) != 1;
	if (a->none)
		apart_end(a);
	return !a->none;
}

/**
 * apart_ask() - ask the child
 * @a: after apart_begin()
 * @question: of @n bytes
 * @answer: out, of @size bytes; it is no more to be trusted than what the child parsed
 *
 * Return: length of the answer in bytes, 0 if there is none; the child is ended then.
 */
ssize_t apart_ask(struct apart *a, const void *question, size_t n, void *answer, size_t size)
{
	ssize_t got = -1;

	if (send(a->fd, question, n, MSG_NOSIGNAL) >= 0)
		got = receive(a->fd, answer, size);
	if (got > 0)
		return got;
	apart_end(a);
	return 0;
}

void apart_end(struct apart *a)
{
	if (a->fd < 0)
		return;
	close(a->fd);
	kill(a->child, SIGKILL);
	waitpid(a->child, NULL, 0);
	a->fd = -1;
}
