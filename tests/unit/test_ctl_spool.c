// SPDX-License-Identifier: GPL-2.0
/* notify: notes that wait on disk are found, or it is said that they cannot be */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "notify/notify.h"
#include <cmocka.h>

static const struct ctx ctx = { .cmd = "notify" };
static unsigned int good = UINT32_MAX;	/* entries that can be read before the disk fails */

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);

struct dirent *__wrap_readdir(DIR *d)
{
	if (good) {
		good--;
		return __real_readdir(d);
	}
	errno = EIO;
	return NULL;
}

static bool no_list;		/* of the files of a receiver */

typedef int (*filter)(const struct dirent *e);
typedef int (*order)(const struct dirent **a, const struct dirent **b);
int __real_scandirat(int dir, const char *name, struct dirent ***list, filter f, order o);
int __wrap_scandirat(int dir, const char *name, struct dirent ***list, filter f, order o);

int __wrap_scandirat(int dir, const char *name, struct dirent ***list, filter f, order o)
{
	if (!no_list)
		return __real_scandirat(dir, name, list, f, o);
	errno = EIO;
	return -1;
}

/* Opens the spool of a receiver, and one that is not configured. Returns a status. */
static int open_spool(char *dir, u64 *pending, bool put)
{
	struct spool s = { .ctx = &ctx, .dir = -1, .lock = -1, .boot = "b" };
	struct settings set = { .state_dir = dir, .spool_bytes = 1 << 20, .n = 1 };
	struct json_object *o = json_object_new_object();
	FILE *err = stderr;
	int status;
	size_t i;

	set.to = calloc(1, sizeof(*set.to));
	strcpy(set.to->dir, "exec-1");
	stderr = fopen("/dev/null", "w");
	status = spool_open(&s, &set);
	if (put) {
		spool_put(&s, set.to, "000000000001-7-1", o);
		strcpy(set.to->dir, "exec-2");
		spool_put(&s, set.to, "000000000002-7-2", o);
	}
	fclose(stderr);
	stderr = err;
	*pending = 0;
	for (i = 0; i < set.n; i++) {
		*pending += set.to[i].pending;
		while (set.to[i].first) {
			struct note *n = set.to[i].first;

			set.to[i].first = n->next;
			free(n->text);
			free(n);
		}
	}
	free(set.to);
	json_object_put(o);
	spool_close(&s);
	return status;
}

/* Else notes would wait for ever, as if there were none. */
static void a_directory_that_cannot_be_read_is_not_empty(void **state)
{
	char dir[] = "/tmp/spool-XXXXXX", command[64];
	u64 pending;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(open_spool(dir, &pending, true), 0);
	assert_int_equal(open_spool(dir, &pending, false), 0);
	assert_int_equal(pending, 2);
	good = 1;
	assert_int_equal(open_spool(dir, &pending, false), 1);
	good = UINT32_MAX;
	no_list = true;
	assert_int_equal(open_spool(dir, &pending, false), 1);
	no_list = false;
	assert_int_equal(open_spool(dir, &pending, false), 0);
	assert_int_equal(pending, 2);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_that_cannot_be_read_is_not_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
