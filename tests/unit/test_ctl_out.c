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
static void (*long_lines)(void) = out_fold;

/*
 * What out_printf() makes of two texts after out_fold(), or *long_lines. The terminal has
 * @columns, 0: it is a file; @later from then on.
 */
static void fold_from(unsigned short columns, unsigned short later, const char *first,
		      const char *second)
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
		long_lines();
		w.ws_col = later;
		if (columns && ioctl(STDOUT_FILENO, TIOCSWINSZ, &w))
			_exit(100);
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

static void fold_on(unsigned short columns, const char *first, const char *second)
{
	fold_from(columns, columns, first, second);
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
	assert_string_equal(shown, SIXTY "  right\n" TEN TEN TEN TEN TEN
			    "123456789\n    a-word-that-is-longer\n");
	/* the last column that leaves least room */
	fold_on(60, "", TEN TEN TEN "12345678  " TEN TEN "next");
	assert_string_equal(shown, TEN TEN TEN "12345678  " TEN "123456789\n"
			    "                                        next\n");
	fold_on(40, "", SIXTY);
	assert_string_equal(shown, SIXTY "\n");
	fold_on(0, SIXTY, SIXTY);
	assert_string_equal(shown, SIXTY SIXTY "\n");
}

/* A path or a command that is longer than a line can be copied: no line feed is in it. */
static void long_words(void **state)
{
	(void)state;
	fold_on(60, "", "see /" WORD "/" WORD WORD " at once");
	assert_string_equal(shown, "see\n    /" WORD "/" WORD WORD "\n    at once\n");
	fold_on(60, "", "  /" WORD "/" WORD WORD);
	assert_string_equal(shown, "  /" WORD "/" WORD WORD "\n");
	/* of characters of two bytes, which take one column */
	fold_on(60, "", "\303\251\303\251" WORD "/" WORD " end");
	assert_string_equal(shown, "\303\251\303\251" WORD "/" WORD "\n    end\n");
	fold_on(60, "", "\303\251\303\251" WORD WORD);
	assert_string_equal(shown, "\303\251\303\251" WORD WORD "\n");
}

#define HAN	"\346\274\242"			/* two columns */
#define HAN11	HAN HAN HAN HAN HAN " "		/* 11 columns, 6 characters */
#define ACCENT	"e\314\201"			/* one column, two characters */

/* What counts is columns. */
static void wide_characters(void **state)
{
	(void)state;
	fold_on(80, "", HAN11 HAN11 HAN11 HAN11 HAN11 HAN11 HAN11 HAN11 HAN11 "end");
	assert_string_equal(shown, HAN11 HAN11 HAN11 HAN11 HAN11 HAN11 HAN HAN HAN HAN HAN
			    "\n    " HAN11 HAN11 "end\n");
	fold_on(60, "", ACCENT ACCENT ACCENT ACCENT ACCENT TEN TEN TEN TEN TEN "12345");
	assert_string_equal(shown, ACCENT ACCENT ACCENT ACCENT ACCENT
			    TEN TEN TEN TEN TEN "12345\n");
	/* the last column of a table */
	fold_on(60, "", "  " HAN HAN "  " TEN TEN TEN TEN TEN "next");
	assert_string_equal(shown, "  " HAN HAN "  " TEN TEN TEN TEN "123456789\n        next\n");
}

/* Each line is folded to the width that the window has then. */
static void window_changes(void **state)
{
	(void)state;
	fold_from(80, 200, SIXTY SIXTY "\n", "second");
	assert_string_equal(shown, SIXTY SIXTY "\nsecond\n");
	fold_from(200, 80, "", SIXTY TEN TEN "next");
	assert_string_equal(shown, SIXTY TEN "123456789\n    next\n");
	/* the last column of a table is too far right now */
	fold_from(120, 80, "", SIXTY "12345678  " TEN "next");
	assert_string_equal(shown, SIXTY "12345678  123456789\n    next\n");
	fold_from(80, 40, "", SIXTY SIXTY);
	assert_string_equal(shown, SIXTY SIXTY "\n");
	fold_from(40, 80, "", SIXTY TEN TEN "next");
	assert_string_equal(shown, SIXTY TEN "123456789\n    next\n");
}

/* Lines of a table end where the terminal does, and a file gets them whole. */
static void tables_are_cut(void **state)
{
	(void)state;
	long_lines = out_cut;
	fold_on(60, SIXTY "next\nshort\n", HAN11 HAN11 HAN11 HAN11 HAN11 "1234" HAN);
	assert_string_equal(shown, SIXTY "\nshort\n" HAN11 HAN11 HAN11 HAN11 HAN11 "1234\n");
	fold_on(20, "", TEN TEN ACCENT);
	assert_string_equal(shown, TEN TEN "\n");
	fold_on(0, SIXTY SIXTY "\n", "next");
	assert_string_equal(shown, SIXTY SIXTY "\nnext\n");
	long_lines = out_fold;
}

/* In a process of its own: the terminal has ended after out_fold(). Returns whether writes fail. */
static bool print_to_none(void)
{
	int from = posix_openpt(O_RDWR | O_NOCTTY), to, none = open("/dev/null", O_WRONLY);

	if (from < 0 || grantpt(from) || unlockpt(from))
		return false;
	to = open(ptsname(from), O_RDWR | O_NOCTTY);
	if (to < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(none, STDERR_FILENO) < 0)
		return false;
	out_init();
	out_fold();
	if (!isatty(STDOUT_FILENO))
		return false;
	close(from);
	out_line(SIXTY SIXTY);
	fold("head ", 2, SIXTY SIXTY);
	return !isatty(STDOUT_FILENO) && out_close(0) == 1;
}

static void terminal_gone(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(print_to_none() ? 42 : 100);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

static void as_it_is(char *text)
{
	out_raw(text);
}

/* Text that cannot be formatted is not lost in silence. */
static void no_text(void **state)
{
	static const wchar_t none[] = { 0xd800, 0 };	/* no character: vasprintf() fails */
	int err[2], status;
	ssize_t len;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(err), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (dup2(err[1], STDERR_FILENO) < 0)
			_exit(100);
		out_init();
		out_filter = as_it_is;
		out_printf("%ls\n", none);
		_exit(out_close(0));
	}
	close(err[1]);
	len = read(err[0], said, sizeof(said) - 1);
	close(err[0]);
	said[len > 0 ? len : 0] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_string_equal(said, "seepage: out of memory\n");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_name),
		cmocka_unit_test(closed), cmocka_unit_test(full_disk), cmocka_unit_test(no_trouble),
		cmocka_unit_test(lines_of_a_terminal), cmocka_unit_test(long_words),
		cmocka_unit_test(wide_characters), cmocka_unit_test(window_changes),
		cmocka_unit_test(tables_are_cut), cmocka_unit_test(terminal_gone),
		cmocka_unit_test(no_text),
	};

	return cmocka_run_group_tests_name("ctl_out", tests, NULL, NULL);
}
