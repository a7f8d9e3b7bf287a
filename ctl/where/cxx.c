// SPDX-License-Identifier: GPL-2.0
/*
 * Names of C++ functions and types as people write them, by __cxa_demangle() of libstdc++ if that
 * is installed. A name comes from the process, and a short one may stand for gigabytes or hours.
 * So a child does it, which has limits of its own and no rights. A name that ends the child stays
 * as it is; another child takes the next one, some times.
 */
#include <dlfcn.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/where.h"

#define CHILDREN	4U
#define CPU_S		1U
#define MEMORY		(64 * MIB)
#define NOBODY		65534
#define FILES		1024	/* more than the tool ever has open */

struct cxx {
	pid_t child;
	int fd;			/* -1: no child */
	unsigned int children;	/* so far */
	bool none;		/* there is no libstdc++ */
};

typedef char *(*demangler)(const char *name, char *buf, size_t *size, int *status);

/* What the tool has mapped comes on top. */
static u64 memory_limit(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return MEMORY + (u64)pages * (u64)sysconf(_SC_PAGESIZE);
}

static void limit(int keep)
{
	const struct rlimit cpu = { CPU_S, CPU_S }, no = { 0, 0 };
	struct rlimit memory = { memory_limit(), memory_limit() };
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	int fd;

	for (fd = 3; fd < FILES; fd++)
		if (fd != keep)
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

/* Rust's older names are C++ names with a hash at the end, ::h and 16 digits. */
static size_t without_hash(const char *s)
{
	size_t n = strlen(s);

	return n > 19 && !strncmp(s + n - 19, "::h", 3) &&
	       strspn(s + n - 16, "0123456789abcdef") == 16 ? n - 19 : n;
}

/* Answers each name with a mark and the name, or with the mark only. */
static void serve(int fd)
{
	char in[CXX_NAME], answer[CXX_NAME + 1] = "=", *out;
	demangler f = NULL;
	void *lib;
	ssize_t n;
	size_t len;

	limit(fd);
	lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (lib)
		*(void **)&f = dlsym(lib, "__cxa_demangle");
	/* The first answer says that there is a library. */
	if (!f || send(fd, answer, 1, 0) < 0)
		_exit(0);
	while ((n = recv(fd, in, sizeof(in) - 1, 0)) > 0) {
		in[n] = '\0';
		out = f(in, NULL, NULL, NULL);
		len = out ? without_hash(out) : 0;
		len = len < CXX_NAME ? len : CXX_NAME - 1;
		memcpy(answer + 1, out ? out : "", len);
		free(out);
		if (send(fd, answer, len + 1, 0) < 0)
			break;
	}
	_exit(0);
}

static void end(struct cxx *c)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	kill(c->child, SIGKILL);
	waitpid(c->child, NULL, 0);
	c->fd = -1;
}

static bool begin(struct cxx *c)
{
	int pair[2];
	char ready;

	if (c->none || c->children == CHILDREN ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	c->children++;
	c->child = fork();
	if (!c->child) {
		close(pair[0]);
		serve(pair[1]);
	}
	close(pair[1]);
	if (c->child < 0) {
		close(pair[0]);
		return false;
	}
	c->fd = pair[0];
	c->none = recv(c->fd, &ready, 1, 0) != 1;
	if (c->none)
		end(c);
	return !c->none;
}

struct cxx *cxx_new(void)
{
	struct cxx *c = must(calloc(1, sizeof(*c)));

	c->fd = -1;
	return c;
}

/**
 * cxx_name() - write the name of a C++ function
 * @c: from cxx_new()
 * @symbol: as the file has it
 * @buf: of CXX_NAME bytes
 *
 * Return: false if it is no such name, or if it takes too much time or memory.
 */
bool cxx_name(struct cxx *c, const char *symbol, char *buf)
{
	size_t len = strlen(symbol);
	char answer[CXX_NAME + 1];
	ssize_t n = -1;

	if (strncmp(symbol, "_Z", 2) || len >= CXX_NAME || (c->fd < 0 && !begin(c)))
		return false;
	if (send(c->fd, symbol, len, MSG_NOSIGNAL) >= 0)
		n = recv(c->fd, answer, CXX_NAME, 0);
	if (n <= 0) {
		end(c);
		return false;
	}
	memcpy(buf, answer + 1, (size_t)n - 1);
	buf[n - 1] = '\0';
	return n > 1;
}

/**
 * cxx_type() - write the name of a C++ type
 * @c: from cxx_new()
 * @type: as typeinfo has it, "N3app7SessionE"; a '*' in front says that addresses are compared
 * @buf: of CXX_NAME bytes
 *
 * Return: false as cxx_name().
 */
bool cxx_type(struct cxx *c, const char *type, char *buf)
{
	static const char says[] = "typeinfo name for ";
	char symbol[CXX_NAME];
	size_t n = sizeof(says) - 1;

	if (snprintf(symbol, sizeof(symbol), "_ZTS%s", type + (*type == '*')) >=
	    (int)sizeof(symbol) || !cxx_name(c, symbol, buf) || strncmp(buf, says, n))
		return false;
	memmove(buf, buf + n, strlen(buf + n) + 1);
	return true;
}

void cxx_free(struct cxx *c)
{
	if (c)
		end(c);
	free(c);
}
