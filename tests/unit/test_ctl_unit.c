// SPDX-License-Identifier: GPL-2.0
/* What the path of a cgroup says: the unit, the container, the pod. */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD	"12345678-1234-5678-9abc-123456789abc"
#define POD_	"12345678_1234_5678_9abc_123456789abc"

static struct unit_name u;
static char text[TEXT_MAX];

static const char *of(const char *cgroup)
{
	unit_of(cgroup, &u);
	unit_text(&u, text, sizeof(text));
	return text;
}

static void nothing(void **state)
{
	static const char *const paths[] = {
		NULL, "", "/", "//", "/system.slice", "/init", "/a/b.service", "/-.slice/.service",
		"/docker", "/docker/", "/docker/0123", "/podx/" ID, "/lxc", "/lxc/", "/_",
		"/default", "/batch/default/web", "/lxc.payload", "/lxc.monitor/web",
		"/lxc.monitor.web", "/docker-0123",
		"/docker-" ID "0", "/xdocker-" ID, "/docker:" ID, "/a:docker-" ID "x",
		"/kubepods-pod" POD "0", "/pod" POD "0/" ID, "/-pod" POD_ ".slice/" ID,
		"/kubepods-pod", "/kubepods-burstable-pod0.slice:cri-containerd:0", ":" ID,
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_string_equal(of(paths[i]), "");
		assert_string_equal(u.name, "");
		assert_string_equal(u.container, "");
		assert_null(u.runtime);
		assert_int_equal(u.of_user, -1);
	}
}

static void units(void **state)
{
	(void)state;
	assert_string_equal(of("/system.slice/nginx.service"), "nginx.service");
	assert_string_equal(of("/init.scope"), "init.scope");
	assert_string_equal(of("/system.slice/system-getty.slice/getty@tty1.service"),
			    "getty@tty1.service");
	/* what a service makes below its own directory is not a unit of the system */
	assert_string_equal(of("/system.slice/runner.service/system.slice/nginx.service"),
			    "runner.service");
	assert_string_equal(of("/system.slice/_cgroup.procs.service"), "cgroup.procs.service");
	assert_string_equal(of("/user.slice/user-1000.slice/session-3.scope"), "session-3.scope");
	assert_int_equal(u.of_user, -1);
}

static void units_of_users(void **state)
{
	(void)state;
	assert_string_equal(of("/user.slice/user-1000.slice/user@1000.service/app.slice/"
			       "foo.service"), "foo.service of user 1000");
	assert_string_equal(u.name, "foo.service");
	assert_int_equal(u.of_user, 1000);
	assert_string_equal(of("/user.slice/user-0.slice/user@0.service"), "user@0.service");
	assert_string_equal(of("/system.slice/user@x.service"), "user@x.service");
	assert_int_equal(u.of_user, -1);
}

static void containers(void **state)
{
	(void)state;
	assert_string_equal(of("/system.slice/docker-" ID ".scope"),
			    "container 0123456789ab (docker)");
	assert_string_equal(u.name, "docker-" ID ".scope");
	assert_string_equal(u.container, ID);
	assert_string_equal(of("/docker/" ID), "container 0123456789ab (docker)");
	assert_string_equal(u.name, "");
	assert_string_equal(of("/machine.slice/libpod-" ID ".scope/container"),
			    "container 0123456789ab (podman)");
	assert_string_equal(of("/lxc.payload.web"), "container web (lxc)");
	assert_string_equal(of("/lxc/web/system.slice/nginx.service"), "container web (lxc)");
	assert_string_equal(of("/machine.slice/machine-web\\x2d1.scope/payload"),
			    "machine web-1 (machine)");
	assert_string_equal(u.container, "web-1");
	/* a container within a container: the outer one, which this machine knows */
	assert_string_equal(of("/docker/" ID "/docker/f" ID), "container 0123456789ab (docker)");
	assert_null(strstr(of("/system.slice/docker-0123.scope"), "container"));
}

static void pods(void **state)
{
	(void)state;
	assert_string_equal(of("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
			       POD_ ".slice/cri-containerd-" ID ".scope"),
			    "container 0123456789ab (containerd) of pod " POD);
	assert_string_equal(of("/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope"),
			    "container 0123456789ab (cri-o) of pod " POD);
	assert_string_equal(of("/kubepods/burstable/pod" POD "/" ID),
			    "container 0123456789ab (kubernetes) of pod " POD);
	assert_string_equal(u.pod, POD);
	assert_string_equal(of("/kubepods.slice/kubepods-pod.slice"), "");
}

/* Paths that people have published of their machines; @from says where. */
static void published(void **state)
{
#define BURSTABLE	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
#define BESTEFFORT	"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod"
#define KIND		"/kubelet.slice/kubelet-kubepods.slice/" \
			"kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod"
#define USER_1000	"/user.slice/user-1000.slice/user@1000.service"
	static const struct { const char *from, *cgroup, *text, *runtime; } paths[] = {
		{ "github.com/opencontainers/runc/issues/4620: CRI-O, burstable",
		  BURSTABLE "a5c1f8d5_1919_434d_add7_4afaafdaef89.slice/crio-"
		  "5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c.scope",
		  "container 5eed91756358 (cri-o) of pod a5c1f8d5-1919-434d-add7-4afaafdaef89",
		  "cri-o" },
		{ "github.com/netdata/netdata/issues/4868: containerd, besteffort",
		  BESTEFFORT "e1465238_4518_4c21_832f_fd9f87033dad.slice/cri-containerd-"
		  "66be9b2efdf4d85288c319b8c1a2f50d2439b5617e36f45d9d0d0be1381113be.scope",
		  "container 66be9b2efdf4 (containerd) of pod "
		  "e1465238-4518-4c21-832f-fd9f87033dad", "containerd" },
		{ "github.com/kontena/pharos-cluster/issues/440: docker below kubelet",
		  BESTEFFORT "9692aa0e_748e_11e8_8dfa_76d458035df6.slice/docker-"
		  "abddff03dfd7710c79a750ce3e730365cbb2c8247a974170c1062683bc3e9152.scope",
		  "container abddff03dfd7 (docker) of pod 9692aa0e-748e-11e8-8dfa-76d458035df6",
		  "docker" },
		{ "github.com/containerd/cri/pull/290: a parent that is no pod",
		  "/system.slice/system-getty.slice/cri-containerd-"
		  "0e768f8db752fcd648adb264498daa1d8f31562320e881d6a9ec593d24b1f779.scope",
		  "container 0e768f8db752 (containerd)", "containerd" },
		{ "github.com/kubernetes/minikube/issues/11280: a node that is a container",
		  "/docker/d6701ec289c56e4391acb11d07474b3139466857a305490575508a8b7a9fcf22"
		  BESTEFFORT "2ca4a155_3599_498d_bb9d_4446693fa3ea.slice/crio-"
		  "358607a37e7ada357032e7f5729c9ae6a3efdb7962acbcbe47ff6a3c5506cb1c.scope",
		  "container d6701ec289c5 (docker) of pod 2ca4a155-3599-498d-bb9d-4446693fa3ea",
		  "docker" },
		{ "github.com/containerd/nri/pull/227: kind, within the node",
		  KIND "1e597579_417e_482f_bf65_5fe170c3aebd.slice/cri-containerd-"
		  "a09bc17f5aa29b0dbdec9ede5f46cf1396d2405917ab02e6f1eb1019f388396e.scope",
		  "container a09bc17f5aa2 (containerd) of pod "
		  "1e597579-417e-482f-bf65-5fe170c3aebd", "containerd" },
		{ "the same, from the machine that has the node (Docker's driver systemd)",
		  "/system.slice/docker-" ID ".scope"
		  KIND "1e597579_417e_482f_bf65_5fe170c3aebd.slice/cri-containerd-"
		  "a09bc17f5aa29b0dbdec9ede5f46cf1396d2405917ab02e6f1eb1019f388396e.scope",
		  "container 0123456789ab (docker) of pod 1e597579-417e-482f-bf65-5fe170c3aebd",
		  "docker" },
		{ "github.com/spinframework/containerd-shim-spin/issues/180: runwasi",
		  "/kubepods-pod99afd520_5b3e_4c8d_8471_4b6c8ee26b4c.slice:cri-containerd:"
		  "c339025b3f0d9bec908636b49764fbca659636f54ad45c2eddd281049eb4df00",
		  "container c339025b3f0d (containerd) of pod "
		  "99afd520-5b3e-4c8d-8471-4b6c8ee26b4c", "containerd" },
		{ "github.com/containerd/runwasi/issues/821: besteffort",
		  "/kubepods-besteffort-podb7c2cbdb_9ab5_47ef_977e_97e39a73da6d.slice:"
		  "cri-containerd:"
		  "66dda1e97c4fc48204b066f07fc1e28bab94a571820484e01576982d4cb9d32b",
		  "container 66dda1e97c4f (containerd) of pod "
		  "b7c2cbdb-9ab5-47ef-977e-97e39a73da6d", "containerd" },
		{ "github.com/lxc/lxc/pull/2606: LXC 3.1 to 4.0", "/lxc.payload/c1",
		  "container c1 (lxc)", "lxc" },
		{ "containerd, oci/spec.go: the namespace and the name", "/default/web",
		  "container web (containerd)", "containerd" },
		/* A user could make these by hand: the unit is named, not the container. */
		{ "github.com/containers/podman/issues/24942: rootless, quadlet",
		  USER_1000 "/app.slice/nextcloud.service/libpod-payload-"
		  "c7bcf94f6dff735d99a74161201bd7b9272f113188b22b93ad48cd853966a22d",
		  "nextcloud.service of user 1000", NULL },
		{ "github.com/containers/podman/pull/4639: rootless",
		  USER_1000 "/user.slice/libpod-" ID ".scope",
		  "libpod-" ID ".scope of user 1000", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		print_message("%s\n", paths[i].from);
		assert_string_equal(of(paths[i].cgroup), paths[i].text);
		assert_string_equal(u.runtime ? u.runtime : "",
				    paths[i].runtime ? paths[i].runtime : "");
		assert_int_equal(u.of_user, paths[i].runtime ? -1 : 1000);
	}
}

/* A user can make cgroups of any name below a directory of theirs. */
static void hostile(void **state)
{
	char path[4096];

	(void)state;
	assert_string_equal(of("/system.slice/a\n\x1b[31m.service"),
			    "a\\x0a\\x1b[31m.service");
	assert_string_equal(of("/machine.slice/machine-\\x1b\\x0a\\x00.scope"),
			    "machine \\x1b\\x0a\\x00 (machine)");
	memset(path, 'a', sizeof(path));
	memcpy(path, "/system.slice/", strlen("/system.slice/"));
	strcpy(path + sizeof(path) - sizeof(".service"), ".service");
	of(path);
	assert_int_equal(strlen(u.name), sizeof(u.name) - 1);
	memset(path + strlen("/system.slice/"), '\\', 3000);
	memcpy(path + strlen("/system.slice/"), "machine-", 8);
	strcpy(path + 3000, ".scope");
	of(path);
	assert_string_equal(u.runtime, "machine");
}

static struct next_steps next;
static const char *comm;	/* of the process; NULL: it has none */
static u64 alert_seq;		/* number of its last alert; 0: none is held */

/* next_for(): the steps for a process in the state, below the limit, in the cgroup */
static void next_for(int proc_state, int limit, const char *cgroup)
{
	struct nl_msg *m = msg_new();
	struct place p = { .cgroup = (char *)cgroup };
	struct message msg;

	nla_put_u32(m, SEEPAGE_A_PID, 136);
	if (comm)
		nla_put_string(m, SEEPAGE_A_COMM, comm);
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)proc_state);
	nla_put_u8(m, SEEPAGE_A_LIMIT, (u8)limit);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	next_steps(&msg, &p, alert_seq, &next);
	nlmsg_free(m);
}

static bool has(const char *command)
{
	for (unsigned int i = 0; i < next.n; i++)
		if (!strcmp(next.step[i].command, command))
			return true;
	return false;
}

static void what_can_be_done(void **state)
{
	(void)state;
	next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_RAM, "/system.slice/nginx.service");
	assert_int_equal(next.n, 5);
	assert_true(has("systemctl restart nginx.service"));
	assert_true(has("seepage silence --unit nginx.service --for 2h"));
	assert_true(has("seepage where 136") && has("seepage show 136"));
	assert_true(has("seepage report 136"));
	alert_seq = 7;
	next_for(SEEPAGE_STATE_RUNAWAY, SEEPAGE_LIMIT_CGROUP, "/system.slice/nginx.service");
	alert_seq = 0;
	assert_int_equal(next.n, NEXT_MAX);
	assert_true(has("seepage ack '#7' TEXT"));
	assert_true(has("systemctl set-property --runtime nginx.service MemoryMax=BYTES"));
	next_for(SEEPAGE_STATE_CONFIRMED, SEEPAGE_LIMIT_AS, "/user.slice/user-1000.slice/"
		 "user@1000.service/app.slice/foo.service");
	assert_true(has("systemctl --user -M 1000@ restart foo.service"));
	assert_true(has("prlimit --pid 136 --as=BYTES"));
	next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_CGROUP, "/docker/" ID);
	assert_true(has("docker restart 0123456789ab"));
	assert_true(has("docker update --memory BYTES --memory-swap -1 0123456789ab"));
	next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_MAPS, "/kubepods/pod" POD "/" ID);
	assert_true(has("sysctl vm.max_map_count=NUMBER"));
	assert_int_equal(next.n, 4);
}

/* What ends a container, by what made it; nothing where that would end more than it. */
static void how_to_end_a_container(void **state)
{
#define SHARE		"/nomad.slice/share.slice/"
	static const struct { const char *cgroup, *command; } of_paths[] = {
		{ "/machine.slice/libpod-" ID ".scope/container", "podman restart 0123456789ab" },
		{ "/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID ".scope",
		  "crictl stop 0123456789ab" },
		{ "/system.slice/cri-containerd-" ID ".scope", "crictl stop 0123456789ab" },
		{ "/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope",
		  "crictl stop 0123456789ab" },
		{ "/system.slice/nerdctl-" ID ".scope", "nerdctl restart 0123456789ab" },
		{ "/default/" ID, "nerdctl restart 0123456789ab" },
		{ "/default/web", "ctr -n default tasks kill web" },
		{ "/default/$(reboot)", NULL },
		{ "/lxc.payload.web", NULL },
		{ "/docker/" ID "/kubelet.slice/kubelet-kubepods-pod" POD_ ".slice", NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
		  "systemctl --user -M 1000@ stop libpod-" ID ".scope" },
		{ SHARE POD ".web.scope", "nomad alloc restart " POD " web" },
		{ SHARE POD ".web.1.scope", "nomad alloc restart " POD " web.1" },
		{ SHARE POD "..scope", NULL }, { SHARE POD ".scope", NULL },
		{ SHARE POD ".`x`.scope", NULL }, { SHARE "short.scope", NULL },
		{ "/system.slice/" POD ".web.scope", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(of_paths); i++) {
		print_message("%s\n", of_paths[i].cgroup);
		next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_RAM, of_paths[i].cgroup);
		assert_int_equal(next.n, of_paths[i].command ? 4 : 3);
		assert_true(!of_paths[i].command || has(of_paths[i].command));
	}
}

/* Where there is no unit of systemd itself, by the name of the process, if it is a plain one. */
static void how_to_silence(void **state)
{
	static const char *const paths[] = {
		"/", "/docker/" ID,
		"/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		comm = "php-fpm";
		next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_RAM, paths[i]);
		assert_true(has("seepage silence --name php-fpm --for 2h"));
		comm = "$(reboot)";
		next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_RAM, paths[i]);
		assert_false(strstr(next.step[next.n - 1].command, "silence"));
	}
	comm = NULL;
}

static void no_steps(void **state)
{
	static const int others[] = { SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH,
				      SEEPAGE_STATE_RECOVERED };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		next_for(others[i], SEEPAGE_LIMIT_RAM, "/system.slice/nginx.service");
		assert_int_equal(next.n, 0);
	}
}

/* Nothing can be done about it any more, but what it kept may be known. */
static void a_process_that_is_gone(void **state)
{
	(void)state;
	next_for(SEEPAGE_STATE_EXITED, SEEPAGE_LIMIT_CGROUP, "/system.slice/nginx.service");
	assert_int_equal(next.n, 1);
	assert_true(has("seepage where --last 136"));
	alert_seq = 7;
	next_for(SEEPAGE_STATE_EXITED, SEEPAGE_LIMIT_CGROUP, "/system.slice/nginx.service");
	alert_seq = 0;
	assert_int_equal(next.n, 2);
	assert_true(has("seepage report '#7'"));
}

/* What is copied into a shell must not run what a user has named a directory. */
static void no_command_of_users(void **state)
{
	static const char *const paths[] = {
		"/system.slice/x;reboot.service", "/system.slice/$(reboot).service",
		"/system.slice/-H evil.service", "/system.slice/--now.service",
		"/system.slice/a\nb.service", "/system.slice/a\\x2db.service",
		"/user.slice/user-0.slice/user@0.service/app.slice/`x`.service",
		"/user.slice/user-1000.slice/session-3.scope", "/", NULL,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_RAM, paths[i]);
		assert_int_equal(next.n, 3);
	}
	next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_CGROUP, paths[0]);
	assert_int_equal(next.n, 3);
}

/* Nor may it end the container of somebody else, or come from the name of one. */
static void no_container_of_users(void **state)
{
	static const char *const paths[] = {
		"/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID ".scope",
		"/user.slice/user-1000.slice/user@1000.service/docker/" ID,
		"/system.slice/runner.service/docker/" ID,
		"/user.slice/user-1000.slice/user@1000.service/app.slice/pod" POD
			"/lxc.payload.$(reboot)",
		"/pod" POD "/lxc.payload.$(reboot)",
		"/pod" POD "/machine-\\x0areboot\\x0a\\x1b[2J.scope",
		"/pod$(reboot)5678-1234-5678-9abc-12345678/" ID,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		next_for(SEEPAGE_STATE_SUSPECTED, SEEPAGE_LIMIT_CGROUP, paths[i]);
		for (unsigned int j = 0; j < next.n; j++)
			assert_null(strpbrk(next.step[j].command, "$`;|&<>(){}\n\x1b\\'\""));
		assert_false(has("docker restart 0123456789ab"));
		assert_false(has("docker update --memory BYTES --memory-swap -1 0123456789ab"));
	}
	of(paths[6]);
	assert_string_equal(u.pod, "");
	of(paths[0]);
	assert_null(u.runtime);
	assert_string_equal(text, "docker-" ID ".scope of user 1000");
}

/* A name that is cut within \\xHH. */
static void cut_machine(void **state)
{
	char path[512] = "/pod" POD "/machine-";
	size_t n = strlen(path);

	(void)state;
	for (size_t many = 100; many < 140; many++) {
		memset(path + n, 'a', many);
		strcpy(path + n + many, "\\x41\\x4.scope");
		of(path);
		assert_true(memchr(u.container, 0, sizeof(u.container)));
		assert_string_equal(u.pod, POD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing), cmocka_unit_test(units),
		cmocka_unit_test(units_of_users), cmocka_unit_test(containers),
		cmocka_unit_test(pods),
		cmocka_unit_test(published), cmocka_unit_test(hostile),
		cmocka_unit_test(what_can_be_done),
		cmocka_unit_test(how_to_end_a_container), cmocka_unit_test(how_to_silence),
		cmocka_unit_test(no_steps), cmocka_unit_test(a_process_that_is_gone),
		cmocka_unit_test(no_command_of_users),
		cmocka_unit_test(no_container_of_users), cmocka_unit_test(cut_machine),
	};

	return cmocka_run_group_tests_name("ctl_unit", tests, NULL, NULL);
}
