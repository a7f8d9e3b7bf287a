// SPDX-License-Identifier: GPL-2.0
/* The error of a failed write to stdout is printed, whichever write failed */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char said[512];

/*
 * Prints n lines to @path (NULL: a closed stdout) in a process of its own; its status,
 * @said: its stderr
 */
static int print_to(const char *path, int n, size_t long_line)
{
	char *line = calloc(1, long_line + 1);
	int err[2], status, i;
	ssize_t len;
	pid_t pid;

	memset(line, 'x', long_line);
	assert_int_equal(pipe(err), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		int fd = path ? open(path, O_WRONLY) : -1;

		if (path ? fd < 0 || dup2(fd, STDOUT_FILENO) < 0 : close(STDOUT_FILENO) < 0)
			_exit(100);
		if (dup2(err[1], STDERR_FILENO) < 0)
			_exit(100);
		out_init();
		for (i = 0; i < n; i++) {
			if (i & 1)
				out_line(line);
			else
				out_printf("%s\n", line);
			errno = EBADMSG;	/* as other work in between may leave it */
		}
		_exit(out_close(0));
	}
	free(line);
	close(err[1]);
	len = read(err[0], said, sizeof(said) - 1);
	close(err[0]);
	said[len > 0 ? len : 0] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Who asked for an answer and has closed stdout does not get it; who asked for none is well. */
static void closed(void **state)
{
	(void)state;
	assert_int_equal(print_to(NULL, 1, 10), 1);
	assert_string_equal(said, "seepage: cannot write: Bad file descriptor\n");
	assert_int_equal(print_to(NULL, 0, 10), 0);
	assert_string_equal(said, "");
}

/* However much of it stdio had written, and dropped, before the end */
static void full_disk(void **state)
{
	static const char full[] = "seepage: cannot write: No space left on device\n";
	size_t len;
	int n;

	(void)state;
	for (len = 0; len < 20000; len += 1365) {
		for (n = 1; n < 200; n += 33) {
			assert_int_equal(print_to("/dev/full", n, len), 1);
			assert_string_equal(said, full);
		}
	}
}

static void no_trouble(void **state)
{
	(void)state;
	assert_int_equal(print_to("/dev/null", 3000, 10), 0);
	assert_string_equal(said, "");
}

/* What a terminal obeys is escaped, whoever named the process; the value is the same. */
static void hostile_name(void **state)
{
	static const char name[] = "a\033[31m\x7f\xc2\x9bmm\xe2\x80\xae\xc3\xbc\n";
	static const char want[] =
		"{\"comm\":\"a\\u001b[31m\\u007f\\u009bmm\\u202e\xc3\xbc\\n\"}\n";
	struct json_object *o = json_object_new_object(), *again;
	struct ctx ctx = { .json = true };
	FILE *terminal = stdout;
	char *text = NULL;
	size_t len = 0;

	(void)state;
	json_object_object_add(o, "comm", json_object_new_string(name));
	stdout = open_memstream(&text, &len);
	assert_non_null(stdout);
	out_json(&ctx, o);
	fclose(stdout);
	stdout = terminal;
	assert_string_equal(text, want);
	again = json_tokener_parse(text);
	assert_string_equal(json_object_get_string(json_object_object_get(again, "comm")), name);
	json_object_put(again);
	free(text);
}

static char shown[4096];

/* What out_printf() makes of two texts after out_fold(); @columns of the terminal, 0: a file */
static void fold_on(unsigned short columns, const char *first, const char *second)
{
	struct winsize w = { .ws_row = 24, .ws_col = columns };
	int from = posix_openpt(O_RDWR | O_NOCTTY), to, status;
	char name[] = "/tmp/fold-XXXXXX";
	size_t n = 0;
	ssize_t got;
	char *cr;
	pid_t pid;

	assert_true(from >= 0 && !grantpt(from) && !unlockpt(from));
	to = columns ? open(ptsname(from), O_RDWR | O_NOCTTY) : mkstemp(name);
	assert_true(to >= 0);
	if (columns)
		assert_int_equal(ioctl(to, TIOCSWINSZ, &w), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(to, STDOUT_FILENO);
		out_init();
		out_fold();
		out_printf("%s", first);
		out_line(second);
		_exit(out_close(0));
	}
	if (!columns) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		close(from);
		from = open(name, O_RDONLY);
		unlink(name);
	}
	close(to);
	while (n < sizeof(shown) - 1 && (got = read(from, shown + n, sizeof(shown) - 1 - n)) > 0)
		n += (size_t)got;
	shown[n] = '\0';
	close(from);
	if (columns)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	while ((cr = strstr(shown, "\r\n")))
		memmove(cr, cr + 1, strlen(cr));
}

#define TEN	"123456789 "
#define WORD	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"	/* 29 */
#define SIXTY	TEN TEN TEN TEN TEN TEN

/* Lines are broken between words, below the column that they are in. Other text is as it was. */
static void lines_of_a_terminal(void **state)
{
	(void)state;
	fold_on(80, "  passed      size        " SIXTY "next\nshort\n", SIXTY TEN TEN);
	assert_string_equal(shown, "  passed      size        " TEN TEN TEN TEN "123456789\n"
			    "                          " TEN "next\nshort\n"
			    SIXTY TEN TEN "\n");
	fold_on(80, "no whole ", "line");
	assert_string_equal(shown, "no whole line\n");
	/* the last column begins too far right */
	fold_on(80, SIXTY "  right\n", SIXTY " a-word-that-is-longer");
	assert_string_equal(shown, SIXTY "  right\n" SIXTY "\n    a-word-that-is-longer\n");
	/* a word that is longer than a line, in characters of two bytes */
	fold_on(60, "", "\303\251\303\251" WORD WORD WORD "end");
	assert_string_equal(shown, "\303\251\303\251" WORD WORD "\n    " WORD "end\n");
	fold_on(40, "", SIXTY);
	assert_string_equal(shown, SIXTY "\n");
	fold_on(0, SIXTY, SIXTY);
	assert_string_equal(shown, SIXTY SIXTY "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_name),
		cmocka_unit_test(closed), cmocka_unit_test(full_disk), cmocka_unit_test(no_trouble),
		cmocka_unit_test(lines_of_a_terminal),
	};

	return cmocka_run_group_tests_name("ctl_out", tests, NULL, NULL);
}
