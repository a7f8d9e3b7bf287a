// SPDX-License-Identifier: GPL-2.0
/* Files below the root, compressed ones too, and what several checks ask of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "doctor/doctor.h"

#define BYTES_MAX	(64U << 20)	/* of a file, after its compression is undone */

void doctor_path(const struct doctor *d, const char *path, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", d->root, path);
}

static void format_path(const struct doctor *d, char *path, const char *fmt, va_list ap)
{
	char name[PATH_SIZE];

	vsnprintf(name, sizeof(name), fmt, ap);
	doctor_path(d, name, path, PATH_SIZE);
}

/* Reads a file of up to 1 MB; the name is a format. */
char *doctor_text(const struct doctor *d, const char *fmt, ...)
{
	char path[PATH_SIZE];
	va_list ap;

	va_start(ap, fmt);
	format_path(d, path, fmt, ap);
	va_end(ap);
	return procfs_read(AT_FDCWD, path);
}

bool doctor_exists(const struct doctor *d, const char *fmt, ...)
{
	char path[PATH_SIZE];
	va_list ap;

	va_start(ap, fmt);
	format_path(d, path, fmt, ap);
	va_end(ap);
	return !access(path, F_OK);
}

/* Reads the first line of a file without its end. Returns false if there is none. */
bool doctor_line(const struct doctor *d, const char *path, char *buf, size_t size)
{
	char *text = doctor_text(d, "%s", path);

	snprintf(buf, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
	return *buf;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

/* The program that undoes the compression of a file of this name, or NULL. */
static const char *program_for(const char *path)
{
	if (ends_with(path, ".gz"))
		return "gzip";
	if (ends_with(path, ".xz"))
		return "xz";
	return ends_with(path, ".zst") ? "zstd" : NULL;
}

/* Starts @program with @fd as its input. Returns a descriptor of its output, or -1. */
static int decompress(const char *program, int fd, pid_t *child)
{
	int out[2], null;

	if (pipe2(out, O_CLOEXEC))
		return -1;
	*child = fork();
	if (!*child) {
		null = open("/dev/null", O_WRONLY);
		dup2(fd, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp(program, program, "-dc", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (*child > 0)
		return out[0];
	close(out[0]);
	return -1;
}

/* Reads all of @fd and adds a byte 0. Returns NULL if that fails or is too much. */
static unsigned char *read_all(int fd, size_t *n)
{
	size_t capacity = 1 << 16;
	unsigned char *buf = must(malloc(capacity));
	ssize_t got;

	*n = 0;
	while ((got = read(fd, buf + *n, capacity - *n)) > 0 || (got < 0 && errno == EINTR)) {
		*n += got > 0 ? (size_t)got : 0;
		if (*n == capacity && capacity < BYTES_MAX) {
			capacity *= 2;
			buf = must(realloc(buf, capacity));
		}
	}
	if (!got && *n < BYTES_MAX) {
		buf[*n] = '\0';
		return buf;
	}
	free(buf);
	return NULL;
}

/* Reads a file of bytes; what its name says to be compressed is decompressed. */
unsigned char *doctor_bytes(const struct doctor *d, const char *path, size_t *n)
{
	const char *program = program_for(path);
	int fd, out = -1, status = 0;
	unsigned char *buf;
	char full[PATH_SIZE];
	pid_t child = 0;

	doctor_path(d, path, full, sizeof(full));
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (program)
		out = decompress(program, fd, &child);
	buf = program && out < 0 ? NULL : read_all(program ? out : fd, n);
	close(fd);
	if (out >= 0)
		close(out);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return buf;
	free(buf);
	return NULL;
}

/* ---- what several checks need ---- */

/* Is a file system of this type mounted? */
bool doctor_mounted(const struct doctor *d, const char *type)
{
	char *mounts = doctor_text(d, "/proc/mounts");
	char word[64];
	bool found;

	snprintf(word, sizeof(word), " %s ", type);
	found = mounts && strstr(mounts, word);
	free(mounts);
	return found;
}

/* Is there a file of the service seepage-@name? */
bool doctor_has_unit(const struct doctor *d, const char *name)
{
	static const char *const dirs[] = { "/etc", "/lib", "/usr/lib", "/usr/local/lib" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		if (doctor_exists(d, "%s/systemd/system/seepage-%s.service", dirs[i], name))
			return true;
	return false;
}

/* Does /proc hide processes of others from this user, as with hidepid? Process 1 always exists. */
bool doctor_proc_hides(const struct doctor *d)
{
	char *text = doctor_text(d, "/proc/1/status");

	free(text);
	return !text;
}
