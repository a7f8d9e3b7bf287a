// SPDX-License-Identifier: GPL-2.0
/*
 * bpfload OBJECT PROGRAM MAP COMMAND [ARG...]: attaches one program of a BPF
 * object while COMMAND runs, and prints on stderr how much the first u64 of
 * all of MAP's values comes to. Exit status: COMMAND's, or 125.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define FAILED		125
#define MAX_VALUE	(1 << 20)

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(FAILED);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		execv(argv[0], argv);
		_exit(FAILED);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* A per-CPU map has a value for each CPU; the first is enough with one CPU. */
static uint64_t total(int fd)
{
	uint64_t sum = 0, *value = malloc(MAX_VALUE);
	uint32_t key, *last = NULL;

	if (!value)
		die("malloc");
	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, value))
			sum += *value;
		last = &key;
	}
	free(value);
	return sum;
}

int main(int argc, char **argv)
{
	struct bpf_object *obj;
	struct bpf_program *p, *wanted = NULL;
	struct bpf_link *link;
	int status, fd;

	if (argc < 5)
		return FAILED;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	obj = bpf_object__open(argv[1]);
	if (!obj)
		die(argv[1]);
	bpf_object__for_each_program(p, obj) {
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), argv[2]));
		if (bpf_program__autoload(p))
			wanted = p;
	}
	if (!wanted || bpf_object__load(obj))
		die(argv[2]);
	fd = bpf_object__find_map_fd_by_name(obj, argv[3]);
	if (fd < 0)
		die(argv[3]);
	link = bpf_program__attach(wanted);
	if (!link)
		die("attach");
	status = run(argv + 4);
	fprintf(stderr, "%llu\n", (unsigned long long)total(fd));
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return status;
}
