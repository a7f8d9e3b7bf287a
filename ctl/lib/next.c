// SPDX-License-Identifier: GPL-2.0
/*
 * What an operator can do about a process under alert, or one that is gone: commands that fit
 * its unit or container, the limit that its growth reaches first, and where to look. They are
 * meant to be copied into a shell, so a name with a character that a shell or systemctl would
 * take for more than a name gives no command: a user may make cgroups of any name below a
 * directory of their own.
 */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include "ctl.h"

/* The characters that systemd allows in the name of a unit, without a backslash. */
static bool is_plain(const char *name)
{
	const char *s;

	for (s = name; isalnum((unsigned char)*s) || (*s && strchr("@._:-", *s)); s++)
		;
	return s != name && !*s && *name != '-';
}

static bool is_service(const struct unit_name *u)
{
	const char *dot = strrchr(u->name, '.');

	return dot && !strcmp(dot, ".service") && is_plain(u->name);
}

/* A command of which a terminal would show something else is none. */
static void __printf(3, 4) step(struct next_steps *n, const char *why, const char *fmt, ...)
{
	struct next_step *s = &n->step[n->n];
	char shown[TEXT_MAX];
	va_list ap;

	if (n->n == NEXT_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(s->command, sizeof(s->command), fmt, ap);
	va_end(ap);
	if (strcmp(fmt_safe(shown, sizeof(shown), s->command, strlen(s->command)), s->command))
		return;
	s->why = why;
	n->n++;
}

static const char restarted[] = "ends it and begins it anew: all of its memory is given back";

/* A pod in a container of Docker or Podman is one of kind: a restart would be of the whole node. */
static void restart_container(struct next_steps *n, const struct unit_name *u)
{
	bool cri = *u->pod || !strncmp(u->name, "cri-", 4) || !strcmp(u->runtime, "cri-o");

	if (!strcmp(u->runtime, "docker") || !strcmp(u->runtime, "podman")) {
		if (!*u->pod)
			step(n, restarted, "%s restart %.12s", u->runtime, u->container);
	} else if (strcmp(u->runtime, "containerd") && strcmp(u->runtime, "cri-o")) {
		return;
	} else if (cri && unit_is_id(u->container)) {
		step(n, "ends the container; the kubelet begins it anew", "crictl stop %.12s",
		     u->container);
	} else if (unit_is_id(u->container)) {
		step(n, restarted, "nerdctl restart %.12s", u->container);
	} else if (is_plain(u->container)) {
		step(n, "ends the container", "ctr -n default tasks kill %s", u->container);
	}
}

/*
 * Scopes that a runtime has made, without a name of a container that can be trusted: one of
 * rootless Podman, and a task of Nomad, /nomad.slice/share.slice/ALLOCATION.TASK.scope (as
 * e2e/oversubscription of Nomad has it).
 */
static void restart_scope(struct next_steps *n, const struct place *p, const struct unit_name *u)
{
	const char *task = strlen(u->name) > POD_LEN ? u->name + POD_LEN : "";
	int len = (int)strlen(task) - (int)strlen(".scope") - 1;

	if (!is_plain(u->name))
		return;
	if (u->of_user >= 0 && !strncmp(u->name, "libpod-", strlen("libpod-")))
		step(n, "ends the container", "systemctl --user -M %lld@ stop %s", u->of_user,
		     u->name);
	else if (!strncmp(p->cgroup, "/nomad.slice/", strlen("/nomad.slice/")) && *task == '.' &&
		 len > 0)
		step(n, restarted, "nomad alloc restart %.*s %.*s", POD_LEN, u->name, len,
		     task + 1);
}

static void restart(struct next_steps *n, const struct place *p, const struct unit_name *u)
{
	if (u->runtime)
		restart_container(n, u);
	else if (!is_service(u) && p->cgroup)
		restart_scope(n, p, u);
	else if (is_service(u) && u->of_user >= 0 && strncmp(u->name, "user@", 5))
		step(n, restarted, "systemctl --user -M %lld@ restart %s", u->of_user, u->name);
	else if (is_service(u) && strncmp(u->name, "user@", 5))
		step(n, restarted, "systemctl restart %s", u->name);
}

static void raise_limit(struct next_steps *n, const struct message *msg,
			const struct unit_name *u)
{
	u64 limit = msg_get(msg, SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_RAM);
	u64 pid = msg_pid(msg);
	const char *why = "raises the limit that it reaches first, which gains time only";

	if (limit == SEEPAGE_LIMIT_CGROUP && u->runtime && !strcmp(u->runtime, "docker") &&
	    !*u->pod)
		step(n, why, "docker update --memory BYTES --memory-swap -1 %.12s", u->container);
	else if (limit == SEEPAGE_LIMIT_CGROUP && !u->runtime && is_service(u) && u->of_user < 0)
		step(n, why, "systemctl set-property --runtime %s MemoryMax=BYTES", u->name);
	else if (limit == SEEPAGE_LIMIT_AS)
		step(n, why, "prlimit --pid %llu --as=BYTES", pid);
	else if (limit == SEEPAGE_LIMIT_DATA)
		step(n, why, "prlimit --pid %llu --data=BYTES", pid);
	else if (limit == SEEPAGE_LIMIT_MAPS)
		step(n, why, "sysctl vm.max_map_count=NUMBER");
}

/* A user may give the same name to a unit of a user manager: that one goes by its processes. */
static void silence(struct next_steps *n, const struct message *msg, const struct unit_name *u)
{
	bool by_unit = !u->runtime && is_service(u) && u->of_user < 0;
	char comm[4 * SEEPAGE_COMM_LEN];

	msg_comm(msg, comm, sizeof(comm));
	if (by_unit || is_plain(comm))
		step(n, "holds notifications back", "seepage silence --%s %s --for 2h",
		     by_unit ? "unit" : "name", by_unit ? u->name : comm);
}

/*
 * Fills @n for a process under alert or one that is gone; else it is empty.
 * @p: where it runs; @seq: number of its last alert, 0: none is held
 */
void next_steps(const struct message *msg, const struct place *p, u64 seq, struct next_steps *n)
{
	static const char page[] = "writes its history and this text as an HTML page";
	u64 state = msg_state(msg);
	u64 pid = msg_pid(msg);
	struct unit_name u;

	n->n = 0;
	if (msg->gone)
		step(n, "says what it kept, if watch looked at it", "seepage where --last %llu",
		     pid);
	if (msg->gone && seq)
		step(n, page, "seepage report '#%llu'", seq);
	if (msg->gone || state < SEEPAGE_STATE_SUSPECTED || state > SEEPAGE_STATE_RUNAWAY)
		return;
	unit_of(p->cgroup, &u);
	restart(n, p, &u);
	raise_limit(n, msg, &u);
	step(n, "says which allocations grow, and from which functions they come",
	     "seepage where %llu", pid);
	step(n, "draws its floors: a straight line speaks for a leak, a curve that flattens for "
	     "a cache", "seepage show %llu", pid);
	step(n, page, "seepage report %llu", pid);
	if (seq)
		step(n, "keeps a note of who sees to it, and holds notifications of it back",
		     "seepage ack '#%llu' TEXT", seq);
	silence(n, msg, &u);
}
