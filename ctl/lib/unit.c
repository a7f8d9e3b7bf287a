// SPDX-License-Identifier: GPL-2.0
/*
 * What a cgroup path says of a process: the systemd unit that runs it, the container and the
 * Kubernetes pod. Only the path is read, so it works after the process has ended.
 *
 * A user may make cgroups of any name below the unit of a user manager, and a service below its
 * own. A component behind the unit is therefore taken for no container of the machine. A container
 * may name pods of its own: they are said to be in it.
 *
 * Paths are as systemd and the container runtimes make them:
 *	/system.slice/nginx.service
 *	/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service
 *	/system.slice/docker-ID.scope			docker, cgroup driver systemd
 *	/docker/ID					docker, cgroup driver cgroupfs
 *	/machine.slice/libpod-ID.scope			podman
 *	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/crio-ID.scope
 *	/kubepods/burstable/podUID/ID			Kubernetes, cgroup driver cgroupfs
 *	/kubepods-burstable-podUID.slice:cri-containerd:ID
 *							the same where the kubelet has the driver
 *							systemd, and the shim has not (runwasi)
 *	/system.slice/docker-ID.scope/kubelet.slice/kubelet-kubepods.slice/...
 *							kind: a node is a container
 *	/default/NAME					containerd: ctr, nerdctl; a namespace
 *	/machine.slice/machine-NAME.scope		systemd-nspawn, libvirt
 *	/lxc.payload.NAME, /lxc.payload/NAME, /lxc/NAME	LXC, LXD
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define noinline	__attribute__((__noinline__))	/* inlined it is larger */

/* A component of the path. */
struct part {
	const char *s;
	size_t len;
};

static const struct { const char *name, *runtime; } runtimes[] = {
	{ "docker", "docker" }, { "libpod", "podman" }, { "cri-containerd", "containerd" },
	{ "nerdctl", "containerd" }, { "crio", "cri-o" },
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

static noinline bool is(const struct part *p, const char *name)
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
	return p->len == CONTAINER_ID_LEN && strspn(p->s, "0123456789abcdef") == CONTAINER_ID_LEN;
}

/* Is this the id of a container, and no name? */
bool unit_is_id(const char *s)
{
	const struct part p = { s, strlen(s) };

	return is_id(&p);
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

static noinline void found(struct unit_name *u, const char *runtime, const struct part *id)
{
	u->runtime = runtime;
	copy(u->container, sizeof(u->container), id);
}

/* machine-NAME.scope; what is no letter or digit of the name is \xHH. */
static void find_machine(struct unit_name *u, const struct part *p)
{
	struct part name = cut(p, strlen("machine-"), strlen(".scope"));
	const char *from = u->container;
	char *to = u->container;
	unsigned int c, low;

	found(u, "machine", &name);
	while (*from) {
		if (sscanf(from, "\\x%1x%1x", &c, &low) == 2 && c + low) {
			c = c << 4 | low;
			from += strlen("\\xHH");
		} else {
			c = (unsigned char)*from++;
		}
		*to++ = (char)c;
	}
	*to = '\0';
}

/* RUNTIME-ID[.scope], or ...:RUNTIME:ID */
static void find_id(struct unit_name *u, const struct part *p, struct part id)
{
	size_t i, n;
	const char *at;

	if (ends(&id, ".scope"))
		id.len -= strlen(".scope");
	if (id.len <= CONTAINER_ID_LEN)
		return;
	id = cut(&id, id.len - CONTAINER_ID_LEN, 0);
	for (i = 0; is_id(&id) && i < ARRAY_SIZE(runtimes); i++) {
		n = strlen(runtimes[i].name);
		at = id.s - n - 1;
		if (at >= p->s && !memcmp(at, runtimes[i].name, n) &&
		    (at == p->s ? at[n] == '-' : at[-1] == ':'))
			found(u, runtimes[i].runtime, &id);
	}
}

/* @path: of which @p is a part, and @before the one before it */
static void find_container(struct unit_name *u, const char *path, const struct part *before,
			   const struct part *p)
{
	struct part name = *p;

	find_id(u, p, *p);
	if (u->runtime)
		return;
	if (is_id(p) && (*u->pod || is(before, "docker"))) {
		found(u, *u->pod ? "kubernetes" : "docker", p);
	} else if (begins(p, "machine-") && ends(p, ".scope")) {
		find_machine(u, p);
	} else if (begins(p, "lxc.payload.")) {
		name = cut(p, strlen("lxc.payload."), 0);
		found(u, "lxc", &name);
	} else if (is(before, "lxc") || is(before, "lxc.payload")) {
		found(u, "lxc", p);
	} else if (is(before, "default") && before->s == path + 1) {
		found(u, "containerd", p);
	}
}

/*
 * podUID, or kubepods[-burstable|-besteffort]-podUID.slice with _ for - in the UID. Behind .slice
 * there may be :cri-containerd:ID, and kind has kubelet- before kubepods.
 */
static void find_pod(struct unit_name *u, const struct part *p)
{
	const char *at = memmem(p->s, p->len, "-pod", 4);
	struct part uid = { p->s, strlen("pod") + POD_LEN };
	char *s;

	if (at && memmem(p->s, p->len, "kubepods-", 9))
		uid.s = at + 1;
	else if (p->len != uid.len || !begins(p, "pod"))
		return;
	uid = cut(&uid, strlen("pod"), 0);
	if (strspn(uid.s, "0123456789ABCDEFabcdef-_") != uid.len)
		return;
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
	const char *path = cgroup;

	memset(u, 0, sizeof(*u));
	u->of_user = -1;
	while (cgroup && *cgroup) {
		p = next_part(&cgroup);
		if (!p.len)
			break;
		inside = !in_slices && *u->name && !u->runtime;	/* behind the unit */
		find_unit(u, &p, &in_slices);
		if (!inside && u->of_user < 0) {
			find_pod(u, &p);
			if (!u->runtime)
				find_container(u, path, &before, &p);
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
				strlen(u->container) == CONTAINER_ID_LEN ? CONTAINER_ID_SHOWN :
				CONTAINER_ID_LEN, u->container,
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
