// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios over the simulated machine: what a user does on purpose, so that passes take long or
 * processes of others have no record. What each prints must be what NAME.txt has.
 */
#include <stdbool.h>
#include <stdio.h>

#include "scale.h"
#include "lives.h"

#define UID	2000U
#define NAMES	1500U		/* a user has 2048 groups at most */
#define MOST	64U		/* groups in one of 128 buckets; twelve are usual */

/*
 * The halves of each name have the same exclusive or, so that a hash of that is the same for all.
 * The eighth byte of a name is the same in all, because the last one is always NUL.
 */
static void choose(char comm[16], unsigned int i)
{
	snprintf(comm, 16, "%07xz%07x", i, i);
	for (unsigned int at = 8; at < 15; at++)
		comm[at] ^= 1;
}

/* 1500 programs of a user. The table mutex is held while the group of each is looked for. */
void names(char **args)
{
	static struct w_process *processes[NAMES];
	unsigned int longest = 0, n;
	char comm[16];

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	for (unsigned int i = 0; i < NAMES; i++) {
		choose(comm, i);
		processes[i] = w_fork(comm);
		w_become(processes[i], UID);
		w_announce(processes[i]);
	}
	leak(30, 0, 0, 0);
	for (unsigned int i = 0; i < NAMES; i++) {
		n = w_chain((struct task_struct *)processes[i]);
		longest = n > longest ? n : longest;
	}
	printf("%u records, %s groups in one bucket\n", w_records(),
	       !longest ? "no" : longest <= MOST ? "few" : "many");
}

/*
 * A user has half of a full table, root the other half. The lightest process of the user faults
 * on CPU 1 as soon as that CPU has taken an interrupt, so the CPU counts for its record nearly
 * always. A service of another user comes: it gets that record all the same.
 */
void restless(char **args)
{
	(void)args;
	w_boot(2, "pmc=off hook=tracepoint max_processes=64");
	programs(UID, "asleep", 0, 31);
	for (unsigned int i = 0; i < 31; i++)
		w_grow(task(i), 1000);
	serve_as(UID, "restless", 31, 1);
	programs(0, "root", 32, 33);
	leak(30, 0, 0, 0);
	w_restless = (struct w_process *)task(31);
	w_fault(1, w_restless);
	w_interrupts();
	serve_as(3000, "service", 70, 1);
	w_grow(task(70), 100000);
	leak(120, 0, 0, 0);
	printf("%u of 1 service of another user has a record, %u of 31 asleep, %u of 1 restless\n",
	       count(w_has, 70, 1), count(w_has, 0, 31), count(w_has, 31, 1));
	w_restless = NULL;
	leak(30, 0, 0, 0);
	printf("%u records freed\n", w_freed());
}
