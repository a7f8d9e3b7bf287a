// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios over the simulated machine of world.c, each in a process of its own.
 * usage: scale SCENARIO [ARGUMENT...], under the plugin of lines.c
 * Figures go to stdout as "fig KEY VALUE".
 */
#include <asm/prctl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scale.h"
#include "lives.h"

#define DEFAULT_TABLE	8192
#define LARGEST_TABLE	65536
#define PROGRAMS	499
#define INTERVAL_NS	10000000000ULL

static struct scale_shared *const shared = (struct scale_shared *)SCALE_SHARED;

/* ---- for world.c ---- */

void u_set_gs(unsigned long base)
{
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, base) != 0)
		u_die("cannot set the base of %gs");
}

void u_die(const char *text)
{
	fflush(stdout);
	fprintf(stderr, "scale: %s\n", text);
	_exit(1);
}

void u_print(const char *fmt, va_list args)
{
	if (fmt[0] == 1) /* KERN_SOH and the level */
		fmt += 2;
	if (getenv("SCALE_VERBOSE"))
		vfprintf(stderr, fmt, args);
}

int u_format(char *buf, unsigned long size, const char *fmt, va_list args)
{
	return vsnprintf(buf, size, fmt, args);
}

void *u_writable(void *begin, void *end)
{
	unsigned long page = (unsigned long)begin & ~4095UL;

	if (mprotect((void *)page, (unsigned long)end - page, PROT_READ | PROT_WRITE | PROT_EXEC))
		u_die("cannot make text writable");
	return begin;
}

/* ---- kernel symbols that world.c lacks: a page each, which nobody can touch ---- */

extern const char *const scale_missing[];
extern char scale_traps[], scale_traps_end[];

/* QEMU 7.2 calls handlers with a stack that is not aligned to 16 bytes. */
__attribute__((force_align_arg_pointer)) static void segv(int sig, siginfo_t *info, void *context)
{
	char *at = info->si_addr;

	(void)sig;
	(void)context;
	if (at >= scale_traps && at < scale_traps_end)
		fprintf(stderr,
			"scale: the module uses the kernel's %s here, which tests/scale/world.c "
			"does not define; add it there\n",
			scale_missing[(at - scale_traps) / 4096]);
	else
		fprintf(stderr, "scale: segmentation fault at %p\n", (void *)at);
	_exit(1);
}

static void *map(unsigned long long at, size_t size)
{
	void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)at)
		u_die("cannot map the memory of the simulated machine");
	return p;
}

/* ---- measuring ---- */

struct sum {
	unsigned long long n, insns, lines, remote;
};

static void begin(void)
{
	mark(MARK_BEGIN);
}

static void end(struct sum *s)
{
	mark(MARK_END);
	s->n++;
	s->insns += shared->insns;
	s->lines += shared->lines;
	s->remote += shared->remote;
}

static double mean(unsigned long long sum, unsigned long long n)
{
	return n ? (double)sum / (double)n : 0;
}

static void figure(const char *key, double value)
{
	printf("fig scale.%s %.3f\n", key, value);
}

static void figures(const char *key, const struct sum *s)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.instructions", key);
	figure(name, mean(s->insns, s->n));
	snprintf(name, sizeof(name), "%s.lines", key);
	figure(name, mean(s->lines, s->n));
	snprintf(name, sizeof(name), "%s.remote", key);
	figure(name, mean(s->remote, s->n));
}

/* ---- the machine ---- */

static struct w_process *processes[100000];

/* Processes of that many programs; those of one are a group. */
static void fork_all(unsigned int n, unsigned int programs)
{
	char comm[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(comm, sizeof(comm), "p%u", i % programs);
		processes[i] = w_fork(comm);
	}
}

static void boot(unsigned int cpus, unsigned int max_processes)
{
	char params[128];

	snprintf(params, sizeof(params), "max_processes=%u pmc=off hook=tracepoint",
		 max_processes);
	w_boot(cpus, params);
}

/* Works on @cpu until a full pass is done, which @s gets. */
static void pass_on(unsigned int cpu, struct sum *s)
{
	static unsigned long long last;
	unsigned long long now;

	do {
		w_sleep();
		now = w_now();
		begin();
		w_work(cpu);
		end(&(struct sum){ 0 });
		w_interrupts();
	} while (last && now < last + INTERVAL_NS - INTERVAL_NS / 100);
	last = now;
	s->n++;
	s->insns += shared->insns;
	s->lines += shared->lines;
	s->remote += shared->remote;
}

static void pass(struct sum *s)
{
	pass_on(0, s);
}

static void passes(unsigned int n)
{
	struct sum unused = { 0 };

	while (n--)
		pass(&unused);
}

/* ---- scenarios ---- */

static void quiet_fault(unsigned int cpu, const struct w_process *p)
{
	w_fault(cpu, p);
	w_interrupts();
}

static void measured_fault(struct sum *s, unsigned int cpu, const struct w_process *p)
{
	begin();
	w_fault(cpu, p);
	end(s);
	w_interrupts();
}

/* A process on each CPU that faults on and on; then the threads of one process. */
static void same(char **args)
{
	struct sum same = { 0 }, threads = { 0 }, empty = { 0 };

	(void)args;
	boot(SCALE_CPUS, DEFAULT_TABLE);
	fork_all(2 * SCALE_CPUS, PROGRAMS);
	passes(2);
	for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
		quiet_fault(cpu, processes[cpu]);
	for (unsigned int round = 0; round < 16; round++)
		for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
			measured_fault(&same, cpu, processes[cpu]);
	for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
		quiet_fault(cpu, processes[SCALE_CPUS]);
	for (unsigned int round = 0; round < 16; round++)
		for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
			measured_fault(&threads, cpu, processes[SCALE_CPUS]);
	begin();
	w_empty(0, processes[0]);
	end(&empty);
	figures("same", &same);
	figures("threads", &threads);
	figures("empty", &empty);
}

/* Two processes in turn on a CPU, with @args[0] processes in the table. */
static void turn(char **args)
{
	unsigned int n = (unsigned int)atoi(args[0]);
	struct sum s = { 0 };
	char key[32];

	boot(SCALE_CPUS, n);
	fork_all(n, PROGRAMS);
	passes(2);
	for (unsigned int i = 0; i < 2 * SCALE_CPUS; i++)
		quiet_fault(i / 2, processes[i]);
	for (unsigned int round = 0; round < 8; round++)
		for (unsigned int i = 0; i < 2 * SCALE_CPUS; i++)
			measured_fault(&s, i / 2, processes[i]);
	snprintf(key, sizeof(key), "turn_%u", n);
	figures(key, &s);
}

/* Processes that a full table of @args[0] does not hold, one on each CPU. */
static void full(char **args)
{
	unsigned int n = (unsigned int)atoi(args[0]);
	struct sum s = { 0 };
	char key[32];

	boot(SCALE_CPUS, n);
	fork_all(n + SCALE_CPUS, PROGRAMS);
	passes(2);
	for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
		quiet_fault(cpu, processes[n + cpu]);
	for (unsigned int round = 0; round < 16; round++)
		for (unsigned int cpu = 0; cpu < SCALE_CPUS; cpu++)
			measured_fault(&s, cpu, processes[n + cpu]);
	snprintf(key, sizeof(key), "full_%u", n);
	figures(key, &s);
}

/* @args[0] idle processes for 20 minutes, then 64 passes. */
static void idle(char **args)
{
	unsigned int n = (unsigned int)atoi(args[0]);
	struct sum s = { 0 };
	char key[32];

	boot(SCALE_CPUS, DEFAULT_TABLE);
	fork_all(n, 1);
	passes(130);
	for (int i = 0; i < 64; i++)
		pass(&s);
	snprintf(key, sizeof(key), "idle_%u", n);
	figures(key, &s);
}

/* What a process takes, beside what the module takes without any. */
static void memory(char **args)
{
	unsigned long long empty;

	(void)args;
	boot(4, LARGEST_TABLE);
	passes(2);
	empty = w_bytes();
	fork_all(DEFAULT_TABLE, 1);
	for (unsigned int i = 0; i < DEFAULT_TABLE; i++)
		w_announce(processes[i]);
	w_interrupts();
	passes(2);
	figure("memory.process", (double)(w_bytes() - empty) / DEFAULT_TABLE);
	figure("memory.record", (double)w_object("seep_rec"));
}

/*
 * A machine of @args[0] CPUs and @args[1] processes with the largest table. Between two
 * passes one process of 32 faults, each on another CPU than the last time. While the worker
 * samples 64 records, which takes it 25 us, six other CPUs fault: on 256 CPUs that is 1000
 * faults a second on each. The worker is on one CPU; or, with @args[2] not 0, on another
 * one each time.
 */
static void busy(char **args)
{
	unsigned int cpus = (unsigned int)atoi(args[0]), n = (unsigned int)atoi(args[1]);
	unsigned int roams = (unsigned int)atoi(args[2]), warm = 4, measured = 4;
	static struct w_process *running[SCALE_CPUS];
	struct sum s = { 0 }, unused = { 0 };
	char key[32];

	boot(cpus, LARGEST_TABLE);
	fork_all(n, PROGRAMS);
	for (unsigned int i = 0; i < n; i++)
		w_announce(processes[i]);
	w_interrupts();
	passes(2);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		running[cpu] = processes[cpu * 16 % n];
	w_others(running, (6 * cpus + SCALE_CPUS - 1) / SCALE_CPUS);
	for (unsigned int round = 0; round < warm + measured; round++) {
		for (unsigned int i = 0; i < n; i += 32)
			quiet_fault((i / 32 + 7 * round) % cpus, processes[i]);
		pass_on(roams ? (round + 1) * 5 % cpus : 0, round < warm ? &unused : &s);
	}
	snprintf(key, sizeof(key), "busy_%u_%u%s", cpus, n, roams ? "_roams" : "");
	figures(key, &s);
}

/*
 * @args[0] processes of one program that gain 64 KB a second each: @args[1] full passes are
 * not counted, then 64 are, and the short ones between them.
 */
static void growing(char **args)
{
	unsigned int n = (unsigned int)atoi(args[0]), warm = (unsigned int)atoi(args[1]);
	struct sum full = { 0 }, brief = { 0 }, unused = { 0 };
	unsigned long long last = 0, spent, full_at = 0;
	char key[32];
	bool is_full;

	w_boot(4, "pmc=off hook=tracepoint min_process_size_mb=1 alert_confidence=100");
	fork_all(n, 1);
	passes(2);
	for (unsigned int i = 0; full.n < 64; i += is_full) {
		w_sleep();
		spent = last ? w_now() - last : 0;
		last = w_now();
		is_full = last - full_at > INTERVAL_NS - INTERVAL_NS / 100;
		if (is_full)
			full_at = last;
		for (unsigned int j = 0; j < n; j++)
			w_grow((struct task_struct *)processes[j],
			       (long)(spent / 1000 * 64 / 4000000));
		begin();
		w_work(0);
		end(i < warm ? &unused : is_full ? &full : &brief);
		w_interrupts();
	}
	snprintf(key, sizeof(key), "growing_%u", n);
	figures(key, &full);
	snprintf(key, sizeof(key), "growing_%u_short", n);
	figures(key, &brief);
}

static const struct {
	const char *name;
	void (*run)(char **args);
	int args;
} scenarios[] = {
	{ "same", same, 0 },	 { "turn", turn, 1 }, { "full", full, 1 }, { "idle", idle, 1 },
	{ "memory", memory, 0 }, { "busy", busy, 3 },
	{ "subjects", subjects, 0 },	{ "growing", growing, 2 },
	{ "held", held, 0 },		{ "shortage", shortage, 0 },
	{ "shares", shares, 0 },	{ "dump", dump, 0 },
	{ "kept", kept, 0 },		{ "record", record, 0 },
	{ "flood", flood, 0 },		{ "watched", watched, 0 },
	{ "becomes", becomes, 0 },	{ "past", past, 0 },
	{ "given", given, 0 },		{ "outlives", outlives, 0 },
	{ "losses", losses, 0 },	{ "orphans", orphans, 0 },
	{ "grace", grace, 0 },		{ "waits", waits, 0 },
	{ "offline", offline, 0 },
	{ "unseen", unseen, 0 },	{ "behind", behind, 0 },
	{ "threads", threads, 0 },	{ "slices", slices, 0 },
	{ "strangers", strangers, 0 },	{ "late", late, 0 },
	{ "taught", taught, 0 },	{ "names", names, 0 },
	{ "restless", restless, 0 },
};

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = segv, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	if (mprotect(scale_traps, (size_t)(scale_traps_end - scale_traps), PROT_NONE))
		u_die("cannot protect the traps");
	map(SCALE_SHARED, 4096);
	map(SCALE_ARENA - SCALE_PERCPU, SCALE_END - SCALE_ARENA + SCALE_PERCPU);
	u_set_gs(SCALE_ARENA - SCALE_PERCPU); /* kernel code looks for its stack canary */
	w_prove_shared = !!getenv("SCALE_PROVE_SHARED");
	w_patch();
	mark(MARK_START);
	if (shared->magic != SCALE_MAGIC && !getenv("SCALE_NATIVE"))
		u_die("not under the plugin of lines.c");
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc < 2 || strcmp(argv[1], scenarios[i].name) != 0)
			continue;
		if (argc - 2 != scenarios[i].args)
			break;
		scenarios[i].run(argv + 2);
		return 0;
	}
	u_die("usage: scale SCENARIO [ARGUMENT...]");
	return 2;
}
