// SPDX-License-Identifier: GPL-2.0
/*
 * POST requests with JSON, through libcurl, any number at the same time in one thread. The
 * library is loaded with dlopen() when a receiver needs it: whoever uses --exec or the journal
 * only does without.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "notify/notify.h"

#ifdef HAVE_LIBCURL

#include <dlfcn.h>
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#define CONNECT_S	10
#define REDIRECTS	5
#define RETRY_MOST_S	3600

#define FUNCTIONS(X)								\
	X(global_init) X(easy_init) X(easy_setopt) X(easy_getinfo) X(easy_cleanup)	\
	X(easy_strerror) X(multi_init) X(multi_add_handle) X(multi_remove_handle)	\
	X(multi_perform) X(multi_info_read) X(multi_poll) X(multi_cleanup)	\
	X(slist_append) X(slist_free_all)

#define POINTER(name)	__typeof__(curl_##name) *(name);
static struct {
	FUNCTIONS(POINTER)
} curl;

#define SYMBOL(name)	{ "curl_" #name, offsetof(__typeof__(curl), name) },

struct http_job {
	CURL *easy;
	char *text;
	struct curl_slist *headers;
	char answer[160];	/* begin of the answer's body */
	size_t answer_len;
	bool done;
	CURLcode code;
};

struct http {
	CURLM *multi;
	const struct settings *set;
};

/* Loads the library. Returns 0, or 1 after printing an error. */
int http_library(struct ctx *ctx)
{
	static const struct { const char *name; size_t at; } symbols[] = { FUNCTIONS(SYMBOL) };
	void *lib = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL), *symbol;
	size_t i;

	if (!lib)
		lib = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	for (i = 0; lib && i < ARRAY_SIZE(symbols); i++) {
		symbol = dlsym(lib, symbols[i].name);
		if (!symbol)
			break;
		memcpy((char *)&curl + symbols[i].at, &symbol, sizeof(symbol));
	}
	if (!lib || i < ARRAY_SIZE(symbols))
		return fail(ctx, "receivers with a URL need libcurl: %s", dlerror());
	return curl.global_init(CURL_GLOBAL_DEFAULT) ? fail(ctx, "libcurl does not start") : 0;
}

struct http *http_new(const struct settings *s)
{
	struct http *h = must(calloc(1, sizeof(*h)));

	h->multi = must(curl.multi_init());
	h->set = s;
	return h;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	curl.multi_cleanup(h->multi);
	free(h);
}

static size_t on_answer(char *data, size_t size, size_t n, void *arg)
{
	struct http_job *job = arg;
	size_t room = sizeof(job->answer) - 1 - job->answer_len, len = size * n;

	len = len < room ? len : room;
	memcpy(job->answer + job->answer_len, data, len);
	job->answer_len += len;
	return size * n;
}

/*
 * Redirects: as many as REDIRECTS, the request as it is, and never to another scheme: what
 * was to be encrypted stays so. With a key in the request there are none.
 */
static void set_redirects(CURL *e, const struct receiver *to)
{
	bool tls = !strncasecmp(to->target, "https:", 6);
	long scheme = tls ? CURLPROTO_HTTPS : CURLPROTO_HTTP;

	curl.easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	curl.easy_setopt(e, CURLOPT_REDIR_PROTOCOLS, scheme);
	curl.easy_setopt(e, CURLOPT_FOLLOWLOCATION, to->kind == TO_PAGERDUTY ? 0L : 1L);
	curl.easy_setopt(e, CURLOPT_MAXREDIRS, (long)REDIRECTS);
	curl.easy_setopt(e, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
}

/* Begins to send @body to the URL of @to. Returns false without memory. */
bool http_begin(struct http *h, struct receiver *to, struct json_object *body)
{
	struct http_job *job = must(calloc(1, sizeof(*job)));
	CURL *e = must(curl.easy_init());

	job->easy = e;
	job->text = must(strdup(json_object_to_json_string_ext(body,
							       JSON_C_TO_STRING_NOSLASHESCAPE)));
	job->headers = curl.slist_append(NULL, "Content-Type: application/json");
	job->headers = curl.slist_append(job->headers, "Expect:");
	curl.easy_setopt(e, CURLOPT_URL, to->url);
	curl.easy_setopt(e, CURLOPT_USERAGENT, "seepage/" SEEPAGE_CTL_VERSION);
	curl.easy_setopt(e, CURLOPT_HTTPHEADER, job->headers);
	curl.easy_setopt(e, CURLOPT_POSTFIELDS, job->text);
	curl.easy_setopt(e, CURLOPT_POSTFIELDSIZE, (long)strlen(job->text));
	curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)h->set->timeout_s * 1000);
	curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_answer);
	curl.easy_setopt(e, CURLOPT_WRITEDATA, job);
	curl.easy_setopt(e, CURLOPT_PRIVATE, to);
	if (h->set->cacert)
		curl.easy_setopt(e, CURLOPT_CAINFO, h->set->cacert);
	set_redirects(e, to);
	to->job = job;
	curl.multi_add_handle(h->multi, e);
	return true;
}

/* Marks the requests that have ended. Returns whether there are any. */
static bool collect(struct http *h)
{
	bool any = false;
	struct receiver *to;
	struct http_job *job;
	CURLMsg *m;
	int left;

	while ((m = curl.multi_info_read(h->multi, &left))) {
		if (m->msg != CURLMSG_DONE)
			continue;
		curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &to);
		job = to->job;
		job->done = true;
		job->code = m->data.result;
		any = true;
	}
	return any;
}

/* Sleeps until something happens to a request or to one of @extra, at most @ms. */
void http_poll(struct http *h, struct pollfd *extra, unsigned int n, int ms)
{
	struct curl_waitfd *fds;
	unsigned int i;
	int running;

	if (!h) {
		poll(extra, n, ms);
		return;
	}
	curl.multi_perform(h->multi, &running);
	if (collect(h))
		return;
	fds = must(calloc(n + 1, sizeof(*fds)));
	for (i = 0; i < n; i++) {
		fds[i].fd = extra[i].fd;
		fds[i].events = extra[i].events & POLLOUT ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN;
	}
	curl.multi_poll(h->multi, fds, n, ms, NULL);
	free(fds);
	curl.multi_perform(h->multi, &running);
	collect(h);
}

/* Nothing of these can be right the next time. */
static bool is_final(CURLcode code)
{
	return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT ||
	       code == CURLE_TOO_MANY_REDIRECTS;
}

static void set_outcome(struct http_job *job, struct result *r)
{
	curl_off_t retry = 0;
	long status = 0;

	memset(r, 0, sizeof(*r));
	curl.easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
	/* It was taken, even where the answer has no proper end (TLS without close_notify). */
	if (job->code != CURLE_OK && status / 100 != 2) {
		r->outcome = is_final(job->code) ? REFUSED : LATER;
		snprintf(r->text, sizeof(r->text), "%s%s",
			 job->code == CURLE_UNSUPPORTED_PROTOCOL ? "redirect to another scheme: " :
			 "", curl.easy_strerror(job->code));
		return;
	}
	curl.easy_getinfo(job->easy, CURLINFO_RETRY_AFTER, &retry);
	r->outcome = status / 100 == 2 ? TAKEN :
		     status / 100 == 5 || status == 408 || status == 429 ? LATER : REFUSED;
	if (r->outcome == LATER && retry > 0)
		r->retry_s = retry < RETRY_MOST_S ? (u64)retry : RETRY_MOST_S;
	job->answer[strcspn(job->answer, "\r\n")] = '\0';
	snprintf(r->text, sizeof(r->text), "HTTP %ld%s%s", status,
		 r->outcome != TAKEN && *job->answer ? ": " : "",
		 r->outcome != TAKEN ? job->answer : "");
}

static void job_free(struct http *h, struct receiver *to)
{
	struct http_job *job = to->job;

	curl.multi_remove_handle(h->multi, job->easy);
	curl.easy_cleanup(job->easy);
	curl.slist_free_all(job->headers);
	free(job->text);
	free(job);
	to->job = NULL;
}

/* Has the request ended? Then @r has how. */
bool http_done(struct http *h, struct receiver *to, struct result *r)
{
	struct http_job *job = to->job;

	if (!job->done)
		return false;
	set_outcome(job, r);
	job_free(h, to);
	return true;
}

void http_cancel(struct http *h, struct receiver *to)
{
	job_free(h, to);
}

#else

int http_library(struct ctx *ctx)
{
	return fail(ctx, "receivers with a URL need libcurl: built without libcurl");
}

struct http *http_new(const struct settings *s)
{
	return NULL;
}

void http_free(struct http *h)
{
}

bool http_begin(struct http *h, struct receiver *to, struct json_object *body)
{
	return false;
}

void http_poll(struct http *h, struct pollfd *extra, unsigned int n, int ms)
{
	poll(extra, n, ms);
}

bool http_done(struct http *h, struct receiver *to, struct result *r)
{
	return false;
}

void http_cancel(struct http *h, struct receiver *to)
{
}

#endif
