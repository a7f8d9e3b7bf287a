// SPDX-License-Identifier: GPL-2.0
/*
 * Finds and executes tools. The build directory comes before the installed one, so that
 * a program that is not installed does not execute an older tool that is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools.h"

#ifndef SEEPAGE_LIBEXECDIR
#define SEEPAGE_LIBEXECDIR	"/usr/local/libexec/seepage"
#endif

#define PACK_(name, args, help)	name "\0" args "\0" help "\0"
#define PACK(...)		PACK_(__VA_ARGS__)

/* In the order of the help. A pointer to each string would take as much room again. */
static const char tools[] =
	PACK(TOOL_EXPLAIN)
	PACK(TOOL_STAT) PACK(TOOL_RECORD) PACK(TOOL_REPLAY) PACK(TOOL_EXPORT) PACK(TOOL_TOP)
	PACK(TOOL_WHERE) PACK(TOOL_COLD) PACK(TOOL_NOTIFY) PACK(TOOL_SILENCE) PACK(TOOL_IGNORE)
	PACK(TOOL_ACK) PACK(TOOL_POLICY) PACK(TOOL_ENVELOPE) PACK(TOOL_SAVE) PACK(TOOL_DOCTOR)
	PACK(TOOL_SELFTEST) PACK(TOOL_REPORT);

static const char *after(const char *s)
{
	return s + strlen(s) + 1;
}

/* Makes @t the next tool, the first if it is all NULL. Returns false behind the last one. */
bool tools_next(struct tool *t)
{
	t->name = t->help ? after(t->help) : tools;
	if (!*t->name)
		return false;
	t->args = after(t->name);
	t->help = after(t->args);
	return true;
}

/* The package with the tool @t, as tools_next() made it: explain comes with this program. */
const char *tools_package(const struct tool *t)
{
	return t->name == tools ? "seepage" : "seepage-tools";
}

/* Ignored where the program has more rights than its user (capabilities of the file) */
static const char *given_dir(void)
{
	const char *dir = secure_getenv("SEEPAGE_LIBEXEC");

	return dir && *dir ? dir : NULL;
}

/*
 * May only root and the user of this process change the directory? Another user could
 * put a program there, which this process would execute with its rights. @dir: a path
 */
static bool is_safe(const char *dir)
{
	struct stat st;

	return !stat(dir, &st) && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & 0022);
}

/*
 * The directory of this program, without a '/' at the end. Returns false if /proc is
 * missing, if others may change the directory, or if the program has more rights than
 * its user: a hard link would choose the directory.
 */
static bool program_dir(char *dir, size_t size)
{
	ssize_t n = getauxval(AT_SECURE) ? -1 : readlink("/proc/self/exe", dir, size - 1);
	char *end;

	if (n <= 0 || (size_t)n == size - 1)
		return false;
	dir[n] = '\0';
	end = strrchr(dir, '/');
	if (!end)
		return false;
	*end = '\0';
	return is_safe(*dir ? dir : "/");
}

/* One program has two names. */
static const char *program_of(const char *tool)
{
	return strcmp(tool, "ignore") ? tool : "silence";
}

/* Finds an executable file; a directory of that name is none. */
static bool is_in(const char *dir, const char *below, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s%s/seepage-%s", dir, below, program_of(name));
	struct stat st;

	return n > 0 && (size_t)n < size && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !access(path, X_OK);
}

/* The same below the directory of this program, if only root or the user may change it. */
static bool is_in_safe(const char *base, const char *below, const char *name, char *path,
		       size_t size)
{
	char dir[PATH_MAX];
	int n = snprintf(dir, sizeof(dir), "%s%s", base, below);

	return n > 0 && (size_t)n < sizeof(dir) && is_safe(dir) &&
	       is_in(dir, "", name, path, size);
}

/**
 * tools_find() - find the program of a tool
 * @name: the word on the command line; a name has small letters, digits and '-' only
 * @path: the path of the program, if it exists
 * @size: of @path
 *
 * Looks in $SEEPAGE_LIBEXEC, in tools/ beside this program (in a build directory), in
 * PREFIX/libexec/seepage, and in ../libexec/seepage from this program, for an
 * installation that was moved. The directories beside this program count only if nobody
 * but root and the user may change them. Return: false if no directory has it.
 */
bool tools_find(const char *name, char *path, size_t size)
{
	const char *given = given_dir();
	char program[PATH_MAX];
	bool known;

	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return false;
	if (given && is_in(given, "", name, path, size))
		return true;
	known = program_dir(program, sizeof(program));
	return (known && is_in_safe(program, "/tools", name, path, size)) ||
	       is_in(SEEPAGE_LIBEXECDIR, "", name, path, size) ||
	       (known && is_in_safe(program, "/../libexec/seepage", name, path, size));
}

/*
 * Prints that the tool @name is not installed, after tools_find() did not find it. Returns
 * the exit status, or 0 without printing if there is no such tool.
 */
int tools_missing(struct ctx *ctx, const char *name)
{
	const char *given = given_dir();
	struct tool t = { NULL };

	while (tools_next(&t)) {
		if (strcmp(t.name, name))
			continue;
		ctx->cmd = name;
		return fail(ctx, "not installed: no %s/seepage-%s, which is in the package %s",
			    given ? given : SEEPAGE_LIBEXECDIR, program_of(name),
			    tools_package(&t));
	}
	return 0;
}

/*
 * Executes the tool in place of this program. @words: the words after its name, ended
 * by NULL. The options before the name are in @ctx and passed on.
 */
int tools_exec(struct ctx *ctx, const char *name, const char *path, char **words)
{
	char **argv, **to;
	size_t n = 0;

	while (words[n])
		n++;
	argv = must(calloc(n + 4, sizeof(*argv)));
	to = argv;
	*to++ = (char *)path;
	if (ctx->json)
		*to++ = (char *)(ctx->pretty ? "-p" : "-j");
	if (ctx->help)
		*to++ = (char *)"-h";
	memcpy(to, words, n * sizeof(*words));
	out_undo();
	execv(path, argv);
	free(argv);
	ctx->cmd = name;
	return fail(ctx, "%s: %s", path, strerror(errno));
}

/*
 * Executes the tool @name, wherever it is. Returns only if it cannot run: the exit status, 0
 * without printing if there is no such tool.
 */
int tools_run(struct ctx *ctx, const char *name, char **words)
{
	char path[PATH_MAX];

	return tools_find(name, path, sizeof(path)) ? tools_exec(ctx, name, path, words) :
						      tools_missing(ctx, name);
}

/* Starts the tool top; returns the socket that it answers lines on, or -1. */
static int start_naming(void)
{
	char *words[3] = { (char *)"--container", (char *)"-" };
	struct ctx ctx = { 0 };
	char path[PATH_MAX];
	int s[2];

	if (!tools_find("top", path, sizeof(path)) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return -1;
	if (!fork()) {
		dup2(s[1], STDIN_FILENO);
		dup2(s[1], STDOUT_FILENO);
		_exit(tools_exec(&ctx, "top", path, words));
	}
	close(s[1]);
	return s[0];
}

/**
 * tools_container() - ask the tool top what a container is called
 * @cgroup: of the container
 * @text: TEXT_MAX bytes; left as it is where the tool is not installed
 *
 * The code that reads the files of container runtimes is larger than this. One tool answers for all
 * containers; it ends with this program.
 */
void tools_container(const char *cgroup, char *text)
{
	static int names;
	ssize_t n;

	names = names ?: start_naming();
	dprintf(names, "%s\n", cgroup);
	n = read(names, text, TEXT_MAX);	/* a line, written at once */
	if (n > 0)
		text[n - 1] = '\0';
}
