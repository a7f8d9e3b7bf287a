// SPDX-License-Identifier: GPL-2.0
/* The receivers of notify: what each was given, checked, and how messages call it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "notify/notify.h"

static const char *const kind_names[] = {
	[TO_EXEC] = "exec", [TO_WEBHOOK] = "webhook", [TO_ALERTMANAGER] = "alertmanager",
	[TO_PAGERDUTY] = "pagerduty", [TO_JOURNAL] = "journal", [TO_SYSLOG] = "syslog",
};

/* FNV-1a: the directory of a receiver stays the same as long as its target does. */
static u64 hash(const char *s)
{
	u64 h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

/* The length of @url without its path, which may be a secret */
static int before_path(const char *url)
{
	const char *scheme = strstr(url, "://");
	size_t n = scheme ? (size_t)(scheme - url) + 3 : 0;

	return (int)(n + strcspn(url + n, "/?#"));
}

/* Scheme and host: the rest of a URL, and what is before an '@', may be a secret. */
static void host_of(const char *url, char *buf, size_t size)
{
	const char *host = strstr(url, "://") + 3;
	size_t len = strcspn(host, "/?#"), skip;

	for (skip = len; skip && host[skip - 1] != '@'; skip--)
		;
	snprintf(buf, size, "%.*s%.*s", (int)(host - url), url, (int)(len - skip), host + skip);
}

static bool is_url(const char *url)
{
	size_t scheme = !strncmp(url, "http://", 7) ? 7 : !strncmp(url, "https://", 8) ? 8 : 0;
	const char *c;

	for (c = url; *c && (unsigned char)*c > ' ' && *c != 0x7f; c++)
		;
	return scheme && !*c && strcspn(url + scheme, "/?#") > 0;
}

/* Returns the new receiver, or NULL after printing an error. */
static struct receiver *add(struct ctx *ctx, struct settings *s, enum receiver_kind kind,
			    const char *target)
{
	struct receiver *to;
	size_t i;
	int n;

	s->to = must(realloc(s->to, (s->n + 1) * sizeof(*s->to)));
	to = &s->to[s->n];
	memset(to, 0, sizeof(*to));
	to->kind = kind;
	to->target = must(strdup(target));
	snprintf(to->label, sizeof(to->label), "%s", kind_names[kind]);
	snprintf(to->dir, sizeof(to->dir), "%s-%016llx", kind_names[kind], hash(target));
	for (i = 0; i < s->n; i++) {
		if (strcmp(s->to[i].dir, to->dir))
			continue;
		/* stderr may be the journal: a key, and the path of a URL, are secrets */
		n = kind == TO_PAGERDUTY ? 0 : kind == TO_EXEC ? 200 : before_path(target);
		usage(ctx, "--%s: '%.*s%s': given twice", kind_names[kind], n, target,
		      strlen(target) > (size_t)n ? "..." : "");
		free(to->target);
		return NULL;
	}
	s->n++;
	return to;
}

static int add_url(struct ctx *ctx, struct settings *s, enum receiver_kind kind, const char *url)
{
	static const char path[] = "/api/v2/alerts";
	struct receiver *to;
	size_t len = strlen(url);
	char host[100];

	if (!is_url(url))
		return usage(ctx, "--%s: '%.*s%s': allowed http://HOST... or https://HOST...",
			     kind_names[kind], before_path(url), url,
			     url[before_path(url)] ? "..." : "");
	to = add(ctx, s, kind, url);
	if (!to)
		return EXIT_USAGE;
	host_of(url, host, sizeof(host));
	snprintf(to->label, sizeof(to->label), "%s %s", kind_names[kind], host);
	while (kind == TO_ALERTMANAGER && len && url[len - 1] == '/')
		len--;
	if (kind == TO_ALERTMANAGER &&
	    (len < strlen(path) || strncmp(url + len - strlen(path), path, strlen(path))))
		must(asprintf(&to->url, "%.*s%s", (int)len, url, path) < 0 ? NULL : to);
	else
		to->url = must(strndup(url, len));
	return 0;
}

/* @option: the one that gave the key, which no error prints */
static int add_pagerduty(struct ctx *ctx, struct settings *s, const char *option, const char *key)
{
	const char *base = s->pagerduty_url ? s->pagerduty_url : "https://events.pagerduty.com";
	struct receiver *to;
	size_t len = strlen(base);
	const char *c;

	for (c = key; isalnum((unsigned char)*c); c++)
		;
	if (*c || !*key)
		return usage(ctx, "%s: allowed a key of letters and digits", option);
	if (!is_url(base))
		return usage(ctx, "--pagerduty-url: '%s': allowed http://HOST... or "
			     "https://HOST...", base);
	to = add(ctx, s, TO_PAGERDUTY, key);
	if (!to)
		return EXIT_USAGE;
	while (base[len - 1] == '/')
		len--;
	must(asprintf(&to->url, "%.*s/v2/enqueue", (int)len, base) < 0 ? NULL : to);
	return 0;
}

static int add_key_file(struct ctx *ctx, struct settings *s, const char *file)
{
	char *text = procfs_read(AT_FDCWD, file);
	struct stat st;
	int status;

	if (!text)
		return fail(ctx, "--pagerduty-key-file: '%s': %s", file, strerror(errno));
	if (!stat(file, &st) && st.st_mode & 0077)
		note(ctx, "--pagerduty-key-file: '%s': others may read it (chmod 600)", file);
	text[strcspn(text, " \t\r\n")] = '\0';
	status = add_pagerduty(ctx, s, "--pagerduty-key-file", text);
	free(text);
	return status;
}

/* Splits @cmd at blanks; quotes of either kind keep them. Returns an exit status. */
static int add_exec(struct ctx *ctx, struct settings *s, const char *cmd)
{
	struct receiver *to = add(ctx, s, TO_EXEC, cmd);
	char *out, quote = 0;
	size_t n = 0, len = strlen(cmd);
	bool inside = false;

	if (!to)
		return EXIT_USAGE;
	to->words = must(calloc(len + 2, sizeof(*to->words)));
	out = must(calloc(1, len + 2));
	to->text = out;
	for (; *cmd; cmd++) {
		if (!quote && strchr(" \t\n", *cmd)) {
			if (inside)
				*out++ = '\0';
			inside = false;
			continue;
		}
		if (!inside)
			to->words[n++] = out;
		inside = true;
		if (quote ? *cmd == quote : *cmd == '"' || *cmd == '\'')
			quote = quote ? 0 : *cmd;
		else
			*out++ = *cmd;
	}
	if (quote || !n)
		return usage(ctx, "--exec: '%s': allowed a command and its words, quotes in pairs",
			     to->target);
	snprintf(to->label, sizeof(to->label), "exec %.100s", to->words[0]);
	return 0;
}

/* The key of an option would be in every list of processes. */
static void hide(const char *word)
{
	memset((char *)word, '*', strlen(word));
}

/* Makes the receivers of the options and of the file. Returns an exit status. */
int receivers_add(struct ctx *ctx, struct settings *s)
{
	int status = 0;
	size_t i;

	for (i = 0; !status && i < s->exec.n; i++)
		status = add_exec(ctx, s, s->exec.v[i]);
	for (i = 0; !status && i < s->webhook.n; i++)
		status = add_url(ctx, s, TO_WEBHOOK, s->webhook.v[i]);
	for (i = 0; !status && i < s->alertmanager.n; i++)
		status = add_url(ctx, s, TO_ALERTMANAGER, s->alertmanager.v[i]);
	for (i = 0; !status && i < s->pagerduty_key.n; i++)
		status = add_pagerduty(ctx, s, "--pagerduty-key", s->pagerduty_key.v[i]);
	for (i = 0; i < s->pagerduty_key.n; i++)
		hide(s->pagerduty_key.v[i]);
	for (i = 0; !status && i < s->pagerduty_key_file.n; i++)
		status = add_key_file(ctx, s, s->pagerduty_key_file.v[i]);
	if (!status && s->journal && !add(ctx, s, TO_JOURNAL, "journal"))
		status = EXIT_USAGE;
	if (!status && s->syslog && !add(ctx, s, TO_SYSLOG, "syslog"))
		status = EXIT_USAGE;
	if (!status && !s->n)
		return usage(ctx, "a receiver is missing: allowed --exec --webhook --alertmanager "
			     "--pagerduty-key --pagerduty-key-file --journal --syslog");
	return status;
}

void receivers_free(struct settings *s)
{
	struct receiver *to;
	struct note *n;

	for (to = s->to; to < s->to + s->n; to++) {
		while ((n = to->first)) {
			to->first = n->next;
			free(n->text);
			free(n);
		}
		free(to->target);
		free(to->url);
		free(to->words);
		free(to->text);
	}
	free(s->to);
	s->to = NULL;
	s->n = 0;
}
