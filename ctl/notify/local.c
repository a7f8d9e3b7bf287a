// SPDX-License-Identifier: GPL-2.0
/*
 * Journal and syslog, a datagram each. The journal's protocol is
 * https://systemd.io/JOURNAL_NATIVE_PROTOCOL/. sd_journal_sendv() of libsystemd says nothing
 * when there is no journald; a note has to wait for it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "notify/notify.h"

#define JOURNAL		"/run/systemd/journal/socket"
#define SYSLOG		"/dev/log"
#define MESSAGE_ID	"5b0d4a7e2c9147f3a6b8d1e0f4c27391"	/* of all alerts of seepage */
#define FIELD_MAX	64

static int priority(const struct json_object *alert)
{
	const char *state = quiet_string(alert, "state");
	u64 severity = quiet_number(alert, "severity", 0);

	if (state && (!strcmp(state, "recovered") || !strcmp(state, "exited")))
		return LOG_NOTICE;
	return severity >= 10 ? LOG_CRIT : severity >= 8 ? LOG_ERR :
	       severity >= 4 ? LOG_WARNING : LOG_NOTICE;
}

/* Returns a connected socket, or -errno. */
static int connect_to(const char *variable, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *given = secure_getenv(variable);
	int fd, err;

	path = given && *given ? given : path;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	return -err;
}

static void report(struct result *r, int err)
{
	memset(r, 0, sizeof(*r));
	r->outcome = err ? LATER : TAKEN;
	snprintf(r->text, sizeof(r->text), "%s", err ? strerror(err) : "sent");
}

/* ---- journal ---- */

/* A value with a line feed has its length before it, 8 bytes, the lowest first. */
static void put_field(FILE *f, const char *name, const char *value)
{
	u64 len = strlen(value), i;

	if (!memchr(value, '\n', len)) {
		fprintf(f, "%s=%s\n", name, value);
		return;
	}
	fprintf(f, "%s\n", name);
	for (i = 0; i < 8; i++)
		fputc((int)(len >> (8 * i) & 0xff), f);
	fprintf(f, "%s\n", value);
}

static void put_fields(FILE *f, struct json_object *alert)
{
	const char *text = quiet_string(alert, "text");
	char name[FIELD_MAX + 1], number[24];
	size_t i;

	put_field(f, "MESSAGE", text ? text : "");
	put_field(f, "MESSAGE_ID", MESSAGE_ID);
	snprintf(number, sizeof(number), "%d", priority(alert));
	put_field(f, "PRIORITY", number);
	put_field(f, "SYSLOG_IDENTIFIER", "seepage");
	snprintf(number, sizeof(number), "%llu", quiet_number(alert, "pid", 0));
	put_field(f, "OBJECT_PID", number);
	json_object_object_foreach(alert, key, value) {
		if (!value)
			continue;
		snprintf(name, sizeof(name), "SEEPAGE_%s", key);
		for (i = 0; name[i]; i++)
			name[i] = isalnum((unsigned char)name[i]) ?
				  (char)toupper((unsigned char)name[i]) : '_';
		put_field(f, name, json_object_is_type(value, json_type_string) ?
			  json_object_get_string(value) :
			  json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
	}
}

/* Sends text that is too large for a datagram: a descriptor of a sealed file. */
static int send_file(int fd, const char *text, size_t len)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_control = &control, .msg_controllen = sizeof(control) };
	int file = memfd_create("seepage", MFD_ALLOW_SEALING | MFD_CLOEXEC), err = 0;

	if (file < 0)
		return errno;
	if (write(file, text, len) != (ssize_t)len ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		err = errno ? errno : EIO;
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	if (!err && sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		err = errno;
	close(file);
	return err;
}

/* Sends an alert that is completed, as fields. @r: out; a full queue is tried again */
void journal_send(struct json_object *note, struct result *r)
{
	int fd = connect_to("SEEPAGE_JOURNAL_SOCKET", JOURNAL), err = 0;
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	if (fd < 0) {
		report(r, -fd);
		return;
	}
	f = must(open_memstream(&text, &len));
	put_fields(f, note);
	fclose(f);
	if (send(fd, must(text), len, MSG_NOSIGNAL) < 0)
		err = errno == EMSGSIZE || errno == ENOBUFS ? send_file(fd, text, len) : errno;
	free(text);
	close(fd);
	report(r, err);
}

/* ---- syslog ---- */

/* Sends the sentence of an alert, in the form of RFC 3164 as syslog(3) does. */
void syslog_send(struct json_object *note, struct result *r)
{
	int fd = connect_to("SEEPAGE_SYSLOG_SOCKET", SYSLOG), err = 0, n;
	const char *sentence = quiet_string(note, "text"), *id = quiet_string(note, "id");
	time_t now = time(NULL);
	char text[2 * SENTENCE_MAX], when[32] = "";
	struct tm tm;

	if (fd < 0) {
		report(r, -fd);
		return;
	}
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%b %e %T", &tm);
	n = snprintf(text, sizeof(text), "<%d>%s seepage[%d]: %s [%s]",
		     LOG_DAEMON | priority(note), when, getpid(), sentence ? sentence : "",
		     id ? id : "");
	n = n < (int)sizeof(text) ? n : (int)sizeof(text) - 1;
	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) < 0)
		err = errno;
	close(fd);
	report(r, err);
}
