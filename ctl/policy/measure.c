// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that limits are about: anonymous memory and swap, from /proc/PID/status, which any
 * user may read. How it grows is from the module, which only root may ask.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/policy.h"

/* A process that a policy fits */
struct member {
	u32 pid;
	char comm[SEEPAGE_COMM_LEN + 1];
	u64 bytes, start;
	bool has_growth;
	s64 growth;
};

/* What the module has measured of a process */
struct growth_of {
	u64 pid;
	s64 growth;
};

struct growths {
	struct growth_of *v;		/* by pid */
	size_t n;
	bool asked;
};

static struct nl_msg *all_processes(struct knl *k, void *arg)
{
	return knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
}

static int by_pid(const void *a, const void *b)
{
	const struct growth_of *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void take_growths(struct growths *g, const struct msgs *m)
{
	struct message msg;
	size_t i;

	g->v = must(calloc(m->n + 1, sizeof(*g->v)));
	for (i = 0; i < m->n; i++) {
		if (msg_parse(&msg, m->v[i]) ||
		    !msg_s64(&msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &g->v[g->n].growth))
			continue;
		g->v[g->n++].pid = msg_get(&msg, SEEPAGE_A_PID, 0);
	}
	qsort(g->v, g->n, sizeof(*g->v), by_pid);
}

/* Reads what the module has measured of all processes; nothing if it may not be asked. */
static void read_growths(struct growths *g)
{
	struct msgs m = { 0 };
	struct knl k;

	g->asked = true;
	if (knl_open(&k) < 0)
		return;
	if (knl_resolve(&k) >= 0)
		query_dump(&k, all_processes, NULL, &m);
	knl_close(&k);
	take_growths(g, &m);
	msgs_free(&m);
}

static void find_growth(const struct growths *g, struct member *m)
{
	const struct growth_of key = { .pid = m->pid }, *found;

	found = g->n ? bsearch(&key, g->v, g->n, sizeof(key), by_pid) : NULL;
	m->has_growth = found;
	m->growth = found ? found->growth : 0;
}

/* Returns the figure of a line as "RssAnon:	 1234 kB" in bytes. */
static u64 status_bytes(const char *status, const char *line)
{
	const char *at = strstr(status, line);

	return at ? strtoull(at + strlen(line), NULL, 10) << 10 : 0;
}

static void read_name(int dir, char *comm, size_t size)
{
	char *text = procfs_read(dir, "comm");

	snprintf(comm, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
}

/* Reads the memory of @m. Returns false for a kernel thread, and where it has ended. */
static bool read_memory(int dir, struct member *m)
{
	char *status = procfs_read(dir, "status");
	bool found = status && strstr(status, "\nRssAnon:");

	if (found) {
		m->bytes = status_bytes(status, "\nRssAnon:") + status_bytes(status, "\nVmSwap:");
		m->start = procfs_start(dir);
	}
	free(status);
	return found && m->start;
}

static struct policy_row *add_row(struct policy_rows *rows, struct json_object *policy,
				  const char *name)
{
	struct policy_row *row;

	rows->v = must(realloc(rows->v, (rows->n + 1) * sizeof(*rows->v)));
	row = &rows->v[rows->n++];
	memset(row, 0, sizeof(*row));
	row->policy = json_object_get(policy);
	snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

/* A unit or a cgroup has a row, and so has a name, for its largest process. */
static struct policy_row *row_of(struct policy_rows *rows, struct json_object *policy,
				 const struct quiet_subject *s)
{
	const char *value, *kind = policy_subject(policy, &value), *name;
	size_t i;

	name = *kind == 'u' ? s->unit : *kind == 'n' ? s->comm : value;
	for (i = 0; i < rows->n; i++)
		if (rows->v[i].policy == policy && (*kind == 'n' || !strcmp(rows->v[i].name, name)))
			return &rows->v[i];
	return add_row(rows, policy, name);
}

/* A unit of a user's manager is left out: a user may give it any name. */
static void set_place(struct policy_row *row, const struct quiet_subject *s)
{
	free(row->unit);
	free(row->cgroup);
	row->unit = s->unit && *s->unit && s->unit_uid < 0 ? must(strdup(s->unit)) : NULL;
	row->cgroup = s->cgroup ? must(strdup(s->cgroup)) : NULL;
}

static void add_member(struct policy_row *row, const struct member *m,
		       const struct quiet_subject *s)
{
	bool by_name = quiet_string(row->policy, "name"), largest;
	struct policy_use *use = &row->use;

	largest = !use->processes || m->bytes > row->largest;
	if (by_name && !largest)
		return;
	if (by_name) {
		row->start = m->start;
		snprintf(row->name, sizeof(row->name), "%s", m->comm);
		set_place(row, s);
		*use = (struct policy_use){ .bytes = 0 };
	}
	if (largest) {
		row->largest = m->bytes;
		use->pid = m->pid;
		memcpy(use->comm, m->comm, sizeof(use->comm));
	}
	use->processes++;
	use->bytes += m->bytes;
	use->growth += m->has_growth ? m->growth : 0;
	use->measured += m->has_growth ? m->bytes : 0;
	use->has_growth |= m->has_growth;
}

/* Adds the process of @dir to the rows of the policies with a limit that fit it. */
static void look_at(const struct policies *p, int dir, struct member *m, struct growths *g,
		    struct policy_rows *rows)
{
	struct quiet_subject s = { .comm = m->comm };
	char *cgroup = procfs_cgroup(dir);
	struct json_object *o;
	struct unit_name unit;
	bool known = false;
	size_t i;

	read_name(dir, m->comm, sizeof(m->comm));
	unit_of(cgroup, &unit);
	s.unit = unit.name;
	s.unit_uid = unit.of_user;
	s.cgroup = cgroup;
	for (i = 0; i < json_object_array_length(p->o); i++) {
		o = json_object_array_get_idx(p->o, i);
		if (!json_object_object_get(o, "limit_bytes") || !quiet_fits(o, &s))
			continue;
		if (!known && !read_memory(dir, m))
			break;
		if (!known && !g->asked)
			read_growths(g);
		if (!known)
			find_growth(g, m);
		known = true;
		add_member(row_of(rows, o, &s), m, &s);
	}
	free(cgroup);
}

static bool has_limit(const struct policies *p)
{
	size_t i;

	for (i = 0; p->o && i < json_object_array_length(p->o); i++)
		if (json_object_object_get(json_object_array_get_idx(p->o, i), "limit_bytes"))
			return true;
	return false;
}

/*
 * Measures what the policies with a limit are about: a row for each unit, cgroup and process that
 * there is. @ask_module: for the growth. policy_rows_free() frees the rows. Returns false if
 * processes may be missing.
 */
bool policy_measure(const struct policies *p, bool ask_module, struct policy_rows *rows)
{
	struct growths g = { .asked = !ask_module };
	DIR *proc = has_limit(p) ? opendir("/proc") : NULL;
	bool whole = proc || !has_limit(p);
	const struct dirent *e;
	struct member m;
	int dir;

	memset(rows, 0, sizeof(*rows));
	for (errno = 0; proc && (e = readdir(proc)); errno = 0) {
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		dir = openat(dirfd(proc), e->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0) {
			whole &= errno == ENOENT || errno == ESRCH;
			continue;
		}
		m = (struct member){ .pid = (u32)strtoul(e->d_name, NULL, 10) };
		look_at(p, dir, &m, &g, rows);
		close(dir);
	}
	whole &= !proc || !errno;
	if (proc)
		closedir(proc);
	free(g.v);
	return whole;
}

void policy_rows_free(struct policy_rows *rows)
{
	while (rows->n--) {
		json_object_put(rows->v[rows->n].policy);
		free(rows->v[rows->n].unit);
		free(rows->v[rows->n].cgroup);
	}
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}
