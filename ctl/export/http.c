// SPDX-License-Identifier: GPL-2.0
/*
 * Answers GET /metrics through libmicrohttpd, in one thread and one request at a time.
 * The library is loaded with dlopen() only for --listen. Linking it, with the libraries
 * it needs, would make every command take six times as long to start.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "export/export.h"

#define DEFAULT_HOST	"127.0.0.1"

/* Parses [ADDR:]PORT. Returns 0, or EXIT_USAGE after printing an error. */
int export_address(struct ctx *ctx, const char *word, struct export_address *a)
{
	const char *colon = strrchr(word, ':'), *host = word;
	size_t len = colon ? (size_t)(colon - word) : 0;
	struct in6_addr binary;
	u64 port;

	memset(a, 0, sizeof(*a));
	a->ipv6 = len > 2 && host[0] == '[' && host[len - 1] == ']';
	if (a->ipv6) {
		host++;
		len -= 2;
	}
	if (len < sizeof(a->host))
		snprintf(a->host, sizeof(a->host), "%.*s", colon ? (int)len : INT_MAX,
			 colon ? host : DEFAULT_HOST);
	if (!parse_u64(colon ? colon + 1 : word, &port) || port < 1 || port > UINT16_MAX ||
	    inet_pton(a->ipv6 ? AF_INET6 : AF_INET, a->host, &binary) != 1)
		return usage(ctx, "--listen: '%s': allowed [ADDR:]PORT, ADDR numeric like "
			     DEFAULT_HOST " or [::1], PORT 1..%d", word, UINT16_MAX);
	a->port = (u16)port;
	return 0;
}

#ifdef HAVE_MICROHTTPD

#include <dlfcn.h>
#include <microhttpd.h>

#define LIBRARY		"libmicrohttpd.so.12"
#define CONNECTIONS	16
#define TIMEOUT_S	10
#define CONNECTION_MEM	(16 << 10)
#define CONTENT_TYPE	"text/plain; version=0.0.4; charset=utf-8"

#define FUNCTIONS(X)								\
	X(start_daemon) X(stop_daemon) X(get_daemon_info) X(get_timeout) X(run)	\
	X(create_response_from_buffer) X(add_response_header)			\
	X(queue_response) X(destroy_response)

#define POINTER(name)	__typeof__(MHD_##name) *(name);
static struct {
	FUNCTIONS(POINTER)
} mhd;

#define SYMBOL(name)	{ "MHD_" #name, offsetof(__typeof__(mhd), name) },

/* Loads the library. Returns 0, or 1 after printing an error. */
int export_library(struct ctx *ctx)
{
	static const struct { const char *name; size_t at; } symbols[] = { FUNCTIONS(SYMBOL) };
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *symbol;
	size_t i;

	for (i = 0; lib && i < ARRAY_SIZE(symbols); i++) {
		symbol = dlsym(lib, symbols[i].name);
		if (!symbol)
			break;
		memcpy((char *)&mhd + symbols[i].at, &symbol, sizeof(symbol));
	}
	return lib && i == ARRAY_SIZE(symbols) ? 0 : fail(ctx, "--listen: %s", dlerror());
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned int status, char *text,
			     size_t len, const char *type)
{
	struct MHD_Response *r = mhd.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result done;

	if (!r) {
		free(text);
		return MHD_NO;
	}
	mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	done = mhd.queue_response(c, status, r);
	mhd.destroy_response(r);
	return done;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_len, void **begun)
{
	static const char missing[] = "404: only GET /metrics is here\n";
	const struct export_server *s = arg;
	size_t len;
	char *text;

	if (strcmp(url, "/metrics") ||
	    (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)))
		return reply(c, MHD_HTTP_NOT_FOUND, must(strdup(missing)), sizeof(missing) - 1,
			     "text/plain");
	/* The first call comes after the request head, the next ones after body data. */
	if (!*begun) {
		*begun = arg;
		return MHD_YES;
	}
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	text = s->page(s->arg, &len);
	return reply(c, MHD_HTTP_OK, text, len, CONTENT_TYPE);
}

/* Returns a listening socket, or -1 after printing an error. */
static int open_socket(struct ctx *ctx, const struct export_address *a)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(a->port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(a->port) };
	struct sockaddr *addr = a->ipv6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
	socklen_t len = a->ipv6 ? sizeof(v6) : sizeof(v4);
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	inet_pton(addr->sa_family, a->host, a->ipv6 ? (void *)&v6.sin6_addr :
						      (void *)&v4.sin_addr);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd >= 0 && !bind(fd, addr, len) && !listen(fd, CONNECTIONS))
		return fd;
	fail(ctx, "--listen: %s, port %u: %s", a->host, a->port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Serves until a signal comes. Returns 0, or 1 after printing an error. */
static int serve(const struct export_server *s, struct MHD_Daemon *d)
{
	const union MHD_DaemonInfo *info = mhd.get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd p[2] = { { .fd = s->signals, .events = POLLIN }, { .events = POLLIN } };
	MHD_UNSIGNED_LONG_LONG ms;
	int wait;

	if (!info)
		return fail(s->ctx, "--listen: " LIBRARY " has no epoll");
	p[1].fd = info->epoll_fd;
	for (;;) {
		wait = -1;
		if (mhd.get_timeout(d, &ms) == MHD_YES)
			wait = ms < INT_MAX ? (int)ms : INT_MAX;
		if (poll(p, ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
			return fail(s->ctx, "--listen: %s", strerror(errno));
		if (p[0].revents)
			return 0;
		mhd.run(d);
	}
}

/*
 * Serves until SIGINT or SIGTERM. The caller has loaded libmicrohttpd with
 * export_library(). Returns an exit status, and prints an error if it is not 0.
 */
int export_listen(struct export_server *s)
{
	int fd = open_socket(s->ctx, &s->address), err;
	struct MHD_Daemon *d;

	if (fd < 0)
		return 1;
	d = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, s,
			     MHD_OPTION_LISTEN_SOCKET, fd,
			     MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
			     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
			     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEM,
			     MHD_OPTION_END);
	if (!d) {
		close(fd);
		return fail(s->ctx, "--listen: " LIBRARY " does not start");
	}
	err = serve(s, d);
	mhd.stop_daemon(d);
	return err;
}

#else

int export_library(struct ctx *ctx)
{
	return fail(ctx, "--listen: built without libmicrohttpd");
}

int export_listen(struct export_server *s)
{
	return export_library(s->ctx);
}

#endif
