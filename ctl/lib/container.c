// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a container and of its pod, from the files of its runtime: the path of a cgroup has
 * the id of the container and the uid of the pod only. The files are root's, the names in them are
 * what users chose. Where a runtime keeps its files elsewhere, nothing is found.
 *
 * Sources: the OCI runtime specification (config.md: annotations); for the keys containerd
 * (internal/cri/annotations), kubelet (io.kubernetes.*) and nerdctl (pkg/labels); for Docker moby
 * (container/container.go); for Podman containers/storage (containers.go).
 */
#include <fcntl.h>
#include <json-c/json_util.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "quiet/file.h"

#define FILE_MAX	(4 << 20)	/* bytes; the list of Podman's containers is the largest */

#define TASKS		"containerd/io.containerd.runtime.v2.task/"
#define STORE		"/var/lib/containers/storage/"

/* The file of one container: the id is between @path and @file. @file is NULL: a list of all */
static const struct runtime_file {
	const char *runtime, *path, *file;
} files[] = {
	{ "docker", "/var/lib/docker/containers/", "/config.v2.json" },
	{ "containerd", "/run/" TASKS "k8s.io/", "/config.json" },
	{ "containerd", "/run/" TASKS "default/", "/config.json" },
	{ "containerd", "/run/k3s/" TASKS "k8s.io/", "/config.json" },
	{ "cri-o", "/run/containers/storage/overlay-containers/", "/userdata/config.json" },
	{ "cri-o", STORE "overlay-containers/", "/userdata/config.json" },
	/* of each storage driver; the second is that of podman run --rm */
	{ "podman", STORE "overlay-containers/containers.json", NULL },
	{ "podman", STORE "overlay-containers/volatile-containers.json", NULL },
	{ "podman", STORE "vfs-containers/containers.json", NULL },
	{ "podman", STORE "vfs-containers/volatile-containers.json", NULL },
	{ "podman", STORE "btrfs-containers/containers.json", NULL },
	{ "podman", STORE "btrfs-containers/volatile-containers.json", NULL },
	{ "podman", STORE "zfs-containers/containers.json", NULL },
	{ "podman", STORE "zfs-containers/volatile-containers.json", NULL },
};

/* A key of an alert, and what runtimes call it, the first one that is there counts. */
static const struct name {
	const char *key, *labels[3];
} names[] = {
	{ "container_name", { "io.kubernetes.cri.container-name", "io.kubernetes.container.name",
			      "nerdctl/name" } },
	{ "pod_name", { "io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name" } },
	{ "pod_namespace", { "io.kubernetes.cri.sandbox-namespace",
			     "io.kubernetes.pod.namespace" } },
};

/* Returns what the file has; NULL if it is not there, no JSON, too large, or not root's. */
static struct json_object *read_json(const char *path)
{
	const char *root = secure_getenv("SEEPAGE_ROOT");	/* for tests */
	struct json_object *o = NULL;
	char whole[1024];
	struct stat st;
	int fd;

	snprintf(whole, sizeof(whole), "%s%s", root ? root : "", path);
	fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX &&
	    (!st.st_uid || st.st_uid == geteuid()))
		o = json_object_from_fd(fd);
	close(fd);
	return o;
}

static void add(struct json_object *alert, const char *key, const char *name)
{
	if (name && *name && quiet_is_text(name))
		json_object_object_add(alert, key, json_text(name, strlen(name)));
}

/* @o: an OCI configuration, or one of Docker */
static void take_config(struct json_object *alert, const struct json_object *o)
{
	struct json_object *docker = json_object_object_get(o, "Config");
	const char *own = quiet_string(o, "Name"), *name;
	const struct json_object *labels;
	size_t i, j;

	labels = docker ? json_object_object_get(docker, "Labels") :
			  json_object_object_get(o, "annotations");
	if (docker && own)
		add(alert, "container_name", own + (*own == '/'));
	if (!json_object_is_type(labels, json_type_object))
		return;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		name = NULL;
		for (j = 0; j < ARRAY_SIZE(names[i].labels) && names[i].labels[j] && !name; j++)
			name = quiet_string(labels, names[i].labels[j]);
		add(alert, names[i].key, name);
	}
}

/* @list: [{ "id": ID, "names": [NAME, ...] }, ...] */
static void take_list(struct json_object *alert, const struct json_object *list, const char *id)
{
	struct json_object *one, *all, *first;
	const char *its;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		its = quiet_string(one, "id");
		if (!its || strcmp(its, id))
			continue;
		all = json_object_object_get(one, "names");
		first = json_object_is_type(all, json_type_array) ?
			json_object_array_get_idx(all, 0) : NULL;
		if (json_object_is_type(first, json_type_string))
			add(alert, "container_name", json_object_get_string(first));
	}
}

static bool known(const struct json_object *alert)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (quiet_string(alert, names[i].key))
			return true;
	return false;
}

static void look(struct json_object *alert, const char *runtime, const char *id)
{
	bool any = !strcmp(runtime, "kubernetes");	/* the path does not say which */
	const struct runtime_file *f;
	struct json_object *o;
	char path[256];

	for (f = files; f < files + ARRAY_SIZE(files) && !known(alert); f++) {
		if (!any && strcmp(runtime, f->runtime))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", f->path, f->file ? id : "",
			 f->file ? f->file : "");
		o = read_json(path);
		if (json_object_is_type(o, json_type_object))
			take_config(alert, o);
		else if (json_object_is_type(o, json_type_array))
			take_list(alert, o, id);
		json_object_put(o);
	}
}

/**
 * container_names() - add container_name, pod_name and pod_namespace to an alert
 * @alert: has runtime and container
 * @before: an earlier alert of the same process, or NULL. Its names count: a container that has
 *	ended may have no files any more
 *
 * What is not known is null. Names are text without control characters, of any length.
 */
void container_names(struct json_object *alert, const struct json_object *before)
{
	const char *runtime = quiet_string(alert, "runtime");
	const char *id = quiet_string(alert, "container"), *was;
	size_t i;

	was = before ? quiet_string(before, "container") : NULL;
	for (i = 0; id && was && !strcmp(id, was) && i < ARRAY_SIZE(names); i++)
		add(alert, names[i].key, quiet_string(before, names[i].key));
	if (runtime && id && unit_is_id(id) && !known(alert))
		look(alert, runtime, id);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!quiet_string(alert, names[i].key))
			json_object_object_add(alert, names[i].key, NULL);
}

/* "web", "app of pod web-7d in shop"; nothing where no name is known */
static void append_names(const struct json_object *alert, char *buf, size_t size)
{
	const char *name = quiet_string(alert, "container_name");
	const char *pod = quiet_string(alert, "pod_name");
	const char *space = quiet_string(alert, "pod_namespace");

	sentence_append(buf, size, "%.64s", name ? name : "");
	if (pod)
		sentence_append(buf, size, "%spod %.64s%s%.64s", name ? " of " : "", pod,
				space ? " in " : "", space ? space : "");
}

/**
 * container_append() - append " (NAMES)", or nothing where no name is known
 * @alert: has been through container_names()
 * @buf, @size: bytes; what does not fit is cut off
 */
void container_append(const struct json_object *alert, char *buf, size_t size)
{
	char text[TEXT_MAX] = "";

	append_names(alert, text, sizeof(text));
	if (*text)
		sentence_append(buf, size, " (%s)", text);
}

/**
 * container_text() - say what the container of a cgroup, and its pod, are called
 * @cgroup: the path, NULL: unknown
 * @buf, @size: bytes; it becomes "" where there is no container, or no name is known
 *
 * Context: reads files of the container's runtime, as the user of this program may. Returns @buf.
 */
char *container_text(const char *cgroup, char *buf, size_t size)
{
	struct json_object *o;
	struct unit_name u;

	*buf = '\0';
	unit_of(cgroup, &u);
	if (!u.runtime || !*u.container)
		return buf;
	o = json_object_new_object();
	json_object_object_add(o, "runtime", json_object_new_string(u.runtime));
	json_object_object_add(o, "container", json_object_new_string(u.container));
	container_names(o, NULL);
	append_names(o, buf, size);
	json_object_put(o);
	return buf;
}

/**
 * container_unit() - name a container as a unit is named, "container web (docker)"
 * @cgroup: the path
 * @text: TEXT_MAX bytes; where no name is known it stays as it is
 *
 * Context: as container_text().
 */
void container_unit(const char *cgroup, char *text)
{
	char called[TEXT_MAX], safe[TEXT_MAX];
	struct unit_name u;

	container_text(cgroup, called, sizeof(called));
	unit_of(cgroup, &u);
	if (*called)
		snprintf(text, TEXT_MAX, "container %s (%s)",
			 fmt_safe(safe, sizeof(safe) / 2, called, strlen(called)), u.runtime);
}
