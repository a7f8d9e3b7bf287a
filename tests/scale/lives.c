// SPDX-License-Identifier: GPL-2.0
/*
 * Lives of processes over the simulated machine of world.c: they grow and end, and the alerts
 * about them are printed. What "subjects" prints must be what subjects.txt has: one alert a
 * service, one a life.
 */
#include <stdbool.h>
#include <stdio.h>

#include "scale.h"
#include "lives.h"

static struct w_process *processes[400];

struct task_struct *task(unsigned int i)
{
	return (struct task_struct *)processes[i];	/* its first member */
}

static void print(const char *alert)
{
	puts(alert);
}

void (*on_alert)(const char *alert) = print;

/* @n processes of a name and a user, from @first on: a master and its workers. */
void serve_as(unsigned int uid, const char *comm, unsigned int first, unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++) {
		processes[i] = w_fork(comm);
		w_become(processes[i], uid);
		w_announce(processes[i]);
	}
}

void serve(const char *comm, unsigned int first, unsigned int n)
{
	serve_as(0, comm, first, n);
}

/* Works for @s seconds. @n processes from @first on gain @kb each second. */
void leak(unsigned int s, unsigned int first, unsigned int n, unsigned int kb)
{
	static unsigned long long last;
	unsigned long long until = w_now() + s * 1000000000ULL, spent;
	char alert[160];

	while (w_now() < until) {
		w_sleep();
		spent = last ? w_now() - last : 0;
		last = w_now();
		for (unsigned int i = first; i < first + n; i++)
			w_grow(task(i), (long)(spent / 1000 * kb / 4000000));
		w_work(0);
		w_interrupts();
		while (w_alert(alert, sizeof(alert)))
			on_alert(alert);
	}
}

static void stop(unsigned int first, unsigned int n, int status, bool reaped)
{
	for (unsigned int i = first; i < first + n; i++)
		w_end(task(i), status, reaped);
	leak(30, 0, 0, 0);
}

/*
 * Processes at rest, whose samples are put off: when one ends, its group learns its climb only
 * where others have as much left by now; and a record is freed although the exit was counted,
 * and a pass looked for the dead, before the process left its mm.
 */
static void rests(void)
{
	static const char *const names[] = { "plenty", "scarce" };
	unsigned int records;

	for (unsigned int scarce = 0; scarce < 2; scarce++) {
		unsigned int first = 90 + 10 * scarce;
		long taken;

		serve(names[scarce], first, 3);
		leak(30, 0, 0, 0);
		w_grow(task(first + 1), 15000);
		leak(1500, 0, 0, 0);
		taken = scarce ? w_available - 10000 : 0;
		w_available -= taken;
		leak(30, 0, 0, 0);
		w_end(task(first + 1), 0, true);
		leak(30, 0, 0, 0);
		w_available += taken;
		printf("%s: the group knows %u MiB\n", names[scarce], w_known_mb(task(first)));
	}

	serve("late", 110, 1);
	leak(600, 0, 0, 0);
	records = w_records();
	w_exit();
	leak(30, 0, 0, 0);
	w_leave(task(110), 0, true);
	leak(60, 0, 0, 0);
	printf("late: %u of 1 record freed\n", records - w_records());
}

/* Prints the alerts, and what rests() saw; subjects.txt has what they must be. */
void subjects(char **args)
{
	(void)args;
	w_little = true;
	w_boot(4, "pmc=off hook=tracepoint");
	serve("six", 0, 7);
	leak(400, 1, 6, 1024);
	stop(1, 1, 3 << 8, true);	/* a worker is replaced: the alert goes on */
	leak(60, 2, 5, 1024);
	w_end(task(0), 9, true);
	stop(2, 5, 9, true);

	serve("one", 10, 7);
	leak(600, 11, 1, 2048);		/* one of six: an alert of its own */
	leak(300, 11, 3, 2048);		/* it passes to the group */
	stop(10, 7, 1 << 8, false);

	for (int life = 1; life <= 6; life++) {
		serve("again", 20, 2);
		leak(240, 21, 1, 7168 + 1024 * (unsigned int)life);
		stop(20, 2, life << 8, true);
	}

	serve("calm", 30, 7);
	leak(400, 31, 6, 1024);
	for (unsigned int i = 31; i < 37; i++)
		w_grow(task(i), -90000);
	leak(2400, 0, 0, 0);

	for (int life = 1; life <= 2; life++) {
		serve("fleet", 60, 7);
		leak(400, 61, 6, 1024);
		stop(60, 7, 9, true);	/* six end together: one life */
	}

	serve("parts", 70, 2);
	leak(240, 71, 1, 7168);
	stop(71, 1, 1 << 8, true);	/* a worker is replaced: no life has ended */
	serve("parts", 71, 1);
	leak(240, 71, 1, 7168);
	stop(70, 2, 9, true);
	serve("parts", 70, 2);
	leak(240, 71, 1, 7168);
	stop(71, 1, 1 << 8, true);
	w_end(task(70), 9, true);

	serve("quick", 80, 1);
	leak(240, 80, 1, 7168);
	w_end(task(80), 9, true);
	w_sleep();
	serve("quick", 80, 1);		/* before anybody has looked */
	leak(240, 80, 1, 7168);
	w_end(task(80), 9, true);
	rests();
}
