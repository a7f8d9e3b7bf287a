// SPDX-License-Identifier: GPL-2.0
/* notify: which descriptors libcurl is to wait for; the library has a stand-in */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__has_include) && __has_include("curl/curl.h")
#define HAVE_LIBCURL
#endif
#define SEEPAGE_CTL_VERSION	"0"
#include "notify/http.c"
#include <cmocka.h>

/* Those of the options and of the configuration file, and the signals and the input of notify */
#define FDS	(WORDS_MAX + 2)

#ifdef HAVE_LIBCURL

static struct curl_waitfd waited[2 * FDS];
static unsigned int waited_n;

static CURLMcode perform(CURLM *multi, int *running)
{
	return CURLM_OK;
}

static CURLMsg *info_read(CURLM *multi, int *left)
{
	return NULL;
}

static CURLMcode wait_for(CURLM *multi, struct curl_waitfd *fds, unsigned int n, int ms, int *got)
{
	assert_in_range(n, 0, 2 * FDS);
	memcpy(waited, fds, n * sizeof(*fds));
	waited_n = n;
	return CURLM_OK;
}

/* The last commands of many would be fed when something else happens. */
static void all_descriptors_are_waited_for(void **state)
{
	struct pollfd fds[FDS] = { { .fd = 0, .events = POLLIN }, { .fd = 1, .events = POLLIN } };
	struct http h = { .multi = NULL };
	unsigned int i;

	curl.multi_perform = perform;
	curl.multi_info_read = info_read;
	curl.multi_poll = wait_for;
	for (i = 2; i < FDS; i++)
		fds[i] = (struct pollfd){ .fd = (int)i, .events = POLLOUT };
	http_poll(&h, fds, FDS, 0);
	assert_int_equal(waited_n, FDS);
	for (i = 0; i < FDS; i++) {
		assert_int_equal(waited[i].fd, i);
		assert_int_equal(waited[i].events, i < 2 ? CURL_WAIT_POLLIN : CURL_WAIT_POLLOUT);
		assert_int_equal(waited[i].revents, 0);
	}
	http_poll(&h, NULL, 0, 0);
	assert_int_equal(waited_n, 0);
}

#else

static void all_descriptors_are_waited_for(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_descriptors_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
