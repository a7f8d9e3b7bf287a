// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup path says of a process: the systemd unit that runs it, the container and the
 * Kubernetes pod. Only the path is read, so it works after the process has ended.
 *
 * A user may make cgroups of any name below the unit of a user manager, and a service below its
 * own. A component behind the unit is therefore taken for no container of the machine.
 *
 * Paths are as systemd and the container runtimes make them:
 *	/system.slice/nginx.service
 *	/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service
 *	/system.slice/docker-ID.scope			docker, cgroup driver systemd
 *	/docker/ID					docker, cgroup driver cgroupfs
 *	/machine.slice/libpod-ID.scope			podman
 *	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/crio-ID.scope
 *	/kubepods/burstable/podUID/ID			Kubernetes, cgroup driver cgroupfs
 *	/machine.slice/machine-NAME.scope		systemd-nspawn, libvirt
 *	/lxc.payload.NAME, /lxc/NAME			LXC
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define ID_LEN	64		/* hexadecimal digits */

/* A component of the path. */
struct part {
	const char *s;
	size_t len;
};

static const struct { const char *prefix, *runtime; } runtimes[] = {
	{ "docker-", "docker" }, { "libpod-", "podman" }, { "cri-containerd-", "containerd" },
	{ "nerdctl-", "containerd" }, { "crio-", "cri-o" },
};

static bool begins(const struct part *p, const char *with)
{
	size_t n = strlen(with);

	return p->len > n && !memcmp(p->s, with, n);
}

static bool ends(const struct part *p, const char *with)
{
	size_t n = strlen(with);

	return p->len > n && !memcmp(p->s + p->len - n, with, n);
}

static bool is(const struct part *p, const char *name)
{
	return p->len == strlen(name) && !memcmp(p->s, name, p->len);
}

/* Takes @from bytes off the front, and @to off the end. */
static struct part cut(const struct part *p, size_t from, size_t to)
{
	return (struct part){ p->s + from, p->len - from - to };
}

static void copy(char *buf, size_t size, const struct part *p)
{
	size_t n = p->len < size ? p->len : size - 1;

	memcpy(buf, p->s, n);
	buf[n] = '\0';
}

static bool is_id(const struct part *p)
{
	size_t i;

	for (i = 0; i < p->len; i++) {
		if (!strchr("0123456789abcdef", p->s[i]))
			return false;
	}
	return p->len == ID_LEN;
}

/* systemd puts a _ before a name that the kernel has taken for a file of its own. */
static struct part next_part(const char **at)
{
	struct part p;

	*at += strspn(*at, "/");
	p.s = *at;
	p.len = strcspn(*at, "/");
	*at += p.len;
	return p.len > 1 && *p.s == '_' ? cut(&p, 1, 0) : p;
}

/* The unit is the first component behind the slices; a container may have units of its own. */
static void find_unit(struct unit_name *u, const struct part *p, bool *in_slices)
{
	unsigned int uid;

	if (!*in_slices || ends(p, ".slice"))
		return;
	if (u->of_user < 0 && ends(p, ".service") && sscanf(p->s, "user@%u.", &uid) == 1)
		u->of_user = uid;	/* its manager has slices again */
	else
		*in_slices = false;
	if (ends(p, ".service") || ends(p, ".scope"))
		copy(u->name, sizeof(u->name), p);
}

static void found(struct unit_name *u, const char *runtime, const struct part *id)
{
	u->runtime = runtime;
	copy(u->container, sizeof(u->container), id);
}

/* Returns the character that \xHH at @s stands for, 0 if there is none. */
static char escaped(const char *s)
{
	char digits[3] = { 0 };

	if (s[0] != '\\' || s[1] != 'x' || !isxdigit((unsigned char)s[2]) ||
	    !isxdigit((unsigned char)s[3]))
		return '\0';
	memcpy(digits, s + 2, 2);
	return (char)strtoul(digits, NULL, 16);
}

/* machine-NAME.scope; what is no letter or digit of the name is \xHH. */
static void find_machine(struct unit_name *u, const struct part *p)
{
	struct part name = cut(p, strlen("machine-"), strlen(".scope"));
	const char *from = u->container;
	char *to = u->container, c;

	found(u, "machine", &name);
	while (*from) {
		c = escaped(from);
		*to++ = c ? c : *from;
		from += c ? 4 : 1;
	}
	*to = '\0';
}

static void find_lxc(struct unit_name *u, struct part name)
{
	found(u, "lxc", &name);
}

static void find_container(struct unit_name *u, const struct part *before, const struct part *p)
{
	struct part id = *p;
	size_t i;

	if (ends(&id, ".scope"))
		id = cut(&id, 0, strlen(".scope"));
	for (i = 0; i < ARRAY_SIZE(runtimes); i++) {
		struct part rest;

		if (!begins(&id, runtimes[i].prefix))
			continue;
		rest = cut(&id, strlen(runtimes[i].prefix), 0);
		if (is_id(&rest))
			found(u, runtimes[i].runtime, &rest);
	}
	if (is_id(p) && is(before, "docker"))
		found(u, "docker", p);
	else if (is_id(p) && *u->pod)
		found(u, "kubernetes", p);
	else if (begins(p, "machine-") && ends(p, ".scope"))
		find_machine(u, p);
	else if (begins(p, "lxc.payload."))
		find_lxc(u, cut(p, strlen("lxc.payload."), 0));
	else if (is(before, "lxc"))
		find_lxc(u, *p);
}

/* podUID, or kubepods[-burstable|-besteffort]-podUID.slice with _ for - in the UID. */
static void find_pod(struct unit_name *u, const struct part *p)
{
	struct part uid = *p;
	size_t i;
	char *s;

	if (begins(p, "kubepods-") && ends(p, ".slice")) {
		const char *at = memmem(p->s, p->len, "-pod", 4);

		if (!at)
			return;
		uid.s = at + 1;
		uid.len = (size_t)(p->s + p->len - uid.s) - strlen(".slice");
	}
	if (!begins(&uid, "pod") || uid.len != strlen("pod") + POD_LEN)
		return;
	uid = cut(&uid, strlen("pod"), 0);
	for (i = 0; i < uid.len; i++) {
		if (!isxdigit((unsigned char)uid.s[i]) && !strchr("-_", uid.s[i]))
			return;
	}
	copy(u->pod, sizeof(u->pod), &uid);
	for (s = u->pod; *s; s++) {
		if (*s == '_')
			*s = '-';
	}
}

/*
 * Fills @u from the path of a cgroup as /proc/PID/cgroup has it; NULL is no cgroup. What the
 * path does not say is an empty string, NULL or -1.
 */
void unit_of(const char *cgroup, struct unit_name *u)
{
	struct part before = { "", 0 }, p;
	bool in_slices = true, inside;

	memset(u, 0, sizeof(*u));
	u->of_user = -1;
	while (cgroup && *cgroup) {
		p = next_part(&cgroup);
		if (!p.len)
			break;
		inside = !in_slices && *u->name;	/* behind the unit */
		find_unit(u, &p, &in_slices);
		if (!inside && u->of_user < 0) {
			find_pod(u, &p);
			if (!u->runtime)
				find_container(u, &before, &p);
		}
		before = p;
	}
}

/*
 * Writes the names that people use: "nginx.service", "foo.service of user 1000", "container
 * 0123456789ab (docker)", "container ... (containerd) of pod ...". Empty if nothing is known.
 */
void unit_text(const struct unit_name *u, char *buf, size_t size)
{
	char text[TEXT_MAX] = "";

	if (u->runtime)
		sentence_append(text, sizeof(text), "%s %.*s (%s)",
				strcmp(u->runtime, "machine") ? "container" : "machine",
				strlen(u->container) == ID_LEN ? 12 : ID_LEN, u->container,
				u->runtime);
	else if (*u->name)
		sentence_append(text, sizeof(text), "%s", u->name);
	if (*u->pod)
		sentence_append(text, sizeof(text), "%spod %s", *text ? " of " : "", u->pod);
	if (u->of_user >= 0 && !u->runtime && strncmp(u->name, "user@", 5))
		sentence_append(text, sizeof(text), " of user %lld", u->of_user);
	fmt_safe(buf, size, text, strlen(text));
}

/* Writes the unit or container of a cgroup; empty if it has none. */
void unit_show(const char *cgroup, char *buf, size_t size)
{
	struct unit_name u;

	unit_of(cgroup, &u);
	unit_text(&u, buf, size);
}
