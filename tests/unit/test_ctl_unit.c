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
		cmocka_unit_test(pods), cmocka_unit_test(hostile),
		cmocka_unit_test(what_can_be_done), cmocka_unit_test(how_to_silence),
		cmocka_unit_test(no_steps), cmocka_unit_test(a_process_that_is_gone),
		cmocka_unit_test(no_command_of_users),
		cmocka_unit_test(no_container_of_users), cmocka_unit_test(cut_machine),
	};

	return cmocka_run_group_tests_name("ctl_unit", tests, NULL, NULL);
}
