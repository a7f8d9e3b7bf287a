// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios over the simulated machine that show what does not give way: alerts, limits and
 * deaths where records or memory are short, what users have beside each other, the mutex and
 * the counters. What each prints must be what NAME.txt has.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "lives.h"

#define UID	2000U

/* @n programs of a process each, @name and a number, of a user. */
void programs(unsigned int uid, const char *name, unsigned int first, unsigned int n)
{
	char comm[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(comm, sizeof(comm), "%.8s%u", name, i);
		serve_as(uid, comm, first + i, 1);
	}
}

unsigned int count(bool (*is)(struct task_struct *t), unsigned int first, unsigned int n)
{
	unsigned int sum = 0;

	for (unsigned int i = first; i < first + n; i++)
		sum += is(task(i));
	return sum;
}

void ignore(const char *alert)
{
	(void)alert;
}

/* A table of 200 records and four alerts a minute. What is told is not printed. */
void begin_limited(void)
{
	w_little = true;
	w_available = 1L << 24;
	on_alert = ignore;
	w_boot(4, "pmc=off hook=tracepoint max_processes=200 alerts_per_minute=4");
}

/*
 * The share of a user in a full table is taken by 99 processes that leak and one that does not.
 * Short passes read 64 of them, and alerts of the others are held back. 40 processes of the
 * user that are far heavier come: they get the record of the one that is at rest, no other.
 */
void held(char **args)
{
	(void)args;
	begin_limited();
	programs(UID, "leak", 0, 99);
	serve_as(UID, "rests", 99, 1);
	leak(300, 0, 99, 512);
	printf("before: %u of 99 told, %u held back\n", count(w_told, 0, 99),
	       count(w_held_back, 0, 99));
	programs(UID, "heavy", 100, 40);
	for (unsigned int i = 100; i < 140; i++) {
		w_grow(task(i), 1L << 22);
		w_available += 1L << 22;
	}
	leak(60, 0, 99, 512);
	printf("after: %u of 99 told, %u held back\n", count(w_told, 0, 99),
	       count(w_held_back, 0, 99));
	printf("%u of 99 that leak have a record, %u of 1 at rest, %u of 40 heavy ones\n",
	       count(w_has, 0, 99), count(w_has, 99, 1), count(w_has, 100, 40));
}

/*
 * No allocation succeeds: the limit of a cgroup stays where it is told again, nine of twelve
 * leaks are told, and a process that ends is noticed, although its exit was counted before it
 * left its mm and no memory is left to sample it with. The other leaks are told later.
 */
void shortage(char **args)
{
	unsigned int records;

	(void)args;
	w_little = true;
	w_available = 1L << 22;
	w_boot(4, "pmc=off hook=tracepoint");
	serve("limited", 0, 1);
	serve("late", 1, 1);
	programs(0, "leak", 2, 12);
	leak(300, 0, 0, 0);
	printf("told: %u MiB left\n", w_tell(task(0), 7));
	w_short = true;
	printf("told again, of another cgroup: %u MiB left\n", w_tell(task(0), 8));
	leak(400, 2, 12, 1024);
	records = w_records();
	w_exit();
	leak(30, 2, 12, 1024);
	w_leave(task(1), 0, true);
	leak(60, 2, 12, 1024);
	printf("late: %u of 1 record freed\n", records - w_records());
	w_short = false;
	puts("there is memory again");
	leak(300, 2, 12, 1024);
}

/* @n programs of a user climb, and end. */
static void climbs(unsigned int uid, const char *name, unsigned int first, unsigned int n)
{
	programs(uid, name, first, n);
	leak(30, 0, 0, 0);
	for (unsigned int i = first; i < first + n; i++)
		w_grow(task(i), 15000);
	leak(1500, 0, 0, 0);
	for (unsigned int i = first; i < first + n; i++)
		w_end(task(i), 0, true);
	leak(30, 0, 0, 0);
}

static void knows(unsigned int uid, const char *name)
{
	serve_as(uid, name, 399, 1);
	leak(30, 0, 0, 0);
	printf("%s of user %u: its group knows %u MiB\n", name, uid, w_known_mb(task(399)));
}

/*
 * 128 groups without members are remembered: one of user 1000, the oldest, 64 of another and 63
 * of a third. The second has its share: one more of its takes the place of its own oldest.
 */
void shares(char **args)
{
	(void)args;
	w_little = true;
	w_available = 1L << 24;
	w_boot(4, "pmc=off hook=tracepoint");
	climbs(1000, "theirs", 0, 1);
	climbs(UID, "many", 10, 64);
	climbs(3000, "else", 100, 63);
	climbs(UID, "more", 200, 1);
	knows(1000, "theirs0");
	knows(UID, "many0");
	knows(UID, "many1");
	knows(UID, "more0");
	knows(3000, "else0");
}

/* Two users in a namespace that root has made ask, both at a time. @first: ~0U: it has no map. */
static void two_ask(const char *where, unsigned int i, unsigned int first)
{
	for (unsigned int k = 0; k < 2; k++) {
		serve_as(400000 + i + k, "asks", i + k, 1);
		w_enter((struct w_process *)task(i + k), 0);
		if (first != ~0U)
			w_map((struct w_process *)task(i + k), first);
	}
	printf("two users of %s ask: %d", where, w_ask(task(i)));
	printf(" and %d\n", w_ask(task(i + 1)));
}

/*
 * The users of a container have one request together. Those of a service with PrivateUsers= are
 * users outside as well. A namespace that has no map yet has no root to count for.
 */
static void containers(void)
{
	two_ask("a container", 310, 300000);
	two_ask("PrivateUsers=", 312, 0);
	two_ask("a namespace without a map", 314, ~0U);
}

/*
 * A dump of 300 processes lets the worker have the mutex every 64 pids. A user without rights has
 * one request under way, whatever others have, and however many uids.
 */
void dump(char **args)
{
	unsigned int before, n;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	programs(0, "p", 0, 300);
	leak(30, 0, 0, 0);
	before = w_released;
	n = w_dump();
	printf("%u processes dumped, the mutex was released %u times\n", n, w_released - before);
	serve_as(UID, "asks", 300, 2);
	serve_as(3000, "asks", 302, 1);
	printf("a user asks: %d\n", w_ask(task(300)));
	printf("and once more: %d\n", w_ask(task(301)));
	printf("another user asks: %d\n", w_ask(task(302)));
	/* uids of a namespace that user 1000 has made: newuidmap lends it these */
	serve_as(200000, "asks", 303, 1);
	serve_as(200001, "asks", 304, 1);
	w_enter((struct w_process *)task(303), 1000);
	w_enter((struct w_process *)task(304), 1000);
	printf("a uid of a namespace asks: %d\n", w_ask(task(303)));
	printf("another uid of it asks: %d\n", w_ask(task(304)));
	w_answer(task(300));
	printf("the user was answered and asks: %d\n", w_ask(task(301)));
	containers();
}

/* A user without rights asks for its processes until it has the whole answer. */
static void ask_all(const char *what, struct w_process *p, const char *comm, unsigned int states)
{
	unsigned int requests = 0, told = 0, twice = 0, after;
	unsigned long long begun, longest = 0;
	int rc;

	memset(w_seen, 0, sizeof(w_seen));
	w_after = 0;
	do {
		after = w_after;
		begun = w_now();
		rc = w_dump_own((struct task_struct *)p, comm, states);
		if (w_now() - begun > longest)
			longest = w_now() - begun;
		requests++;
	} while (rc == -ENOBUFS && w_after > after);
	for (unsigned int pid = 0; pid < W_PIDS; pid++) {
		told += w_seen[pid];
		twice += w_seen[pid] > 1;
	}
	printf("%s: %u told, %u twice, %u requests of up to %llu ms, the last ended with %d\n",
	       what, told, twice, requests, longest / 1000000, rc);
}

/*
 * A user without rights has 30000 processes; the worker takes 1 ms for 16 of them. A request ends
 * in its time whatever the answer holds, and says where to go on. So does one of another user,
 * who has to pass over these processes: 10 us each.
 */
void slices(char **args)
{
	struct w_process *last = NULL;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint max_processes=65536");
	for (unsigned int i = 0; i < 30000; i++) {
		last = w_fork(i % 1000 ? "many" : "few");
		w_become(last, UID);
	}
	leak(30, 0, 0, 0);
	w_errand_ns = 1000000;
	ask_all("all", last, NULL, ~0U);
	ask_all("one of 1000", last, "few", ~0U);
	ask_all("by name, none", last, "none", ~0U);
	ask_all("by state, none", last, NULL, 0);
	last = w_fork("other");
	w_become(last, 3000);
	w_yield_ns = 10000;
	ask_all("another user", last, NULL, ~0U);
}

/* Somebody joins the groups again each time that he is evicted: nothing is sent, as status says. */
void strangers(char **args)
{
	(void)args;
	w_strangers = true;
	w_boot(4, "pmc=off hook=tracepoint");
	w_strangers = false;
	w_records_series = true;
	serve("leak", 0, 1);
	leak(600, 0, 1, 7168);
	printf("registered %u times; the status says that multicast is %s; %u messages\n",
	       w_registered, w_status_off() ? "off" : "on", w_messages);
}

/*
 * Somebody joins while the family is registered, because he was checked before. He is evicted. The
 * registration that this takes fails once for want of memory, and is tried again. The status says
 * that multicast is off until then.
 */
void late(char **args)
{
	(void)args;
	w_late = true;
	w_no_family = true;
	w_boot(4, "pmc=off hook=tracepoint");
	printf("registered %u times, %u times with multicast on; then multicast is %s\n",
	       w_registered, w_on_early, w_status_off() ? "off" : "on");
}

static void counted(const char *when)
{
	unsigned long long area, kept;

	w_counted(task(0), &area, &kept);
	printf("%s: %llu events in the area of the first, %llu kept by the CPU\n", when, area,
	       kept);
}

/* Counts of a process in turn with idle stay with the CPU until another process runs there. */
void kept(char **args)
{
	struct w_process *first, *second;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	serve("first", 0, 1);
	serve("second", 1, 1);
	leak(30, 0, 0, 0);
	first = (struct w_process *)task(0);
	second = (struct w_process *)task(1);
	w_count_here(task(0), task(1));
	for (unsigned int i = 0; i < 100; i++) {
		w_switch(first);
		w_advance(5000);
		w_switch(NULL);
		w_advance(5000);
	}
	counted("100 turns with idle");
	w_switch(first);
	w_advance(5000);
	w_switch(second);
	counted("the second runs");
}

/* Two full passes of 300 processes, as a recorder gets them. */
static void recorded(const char *when)
{
	unsigned int before = w_lost();

	w_messages = 0;
	w_largest = 0;
	w_samples = 0;
	w_ends = 0;
	leak(20, 0, 0, 0);
	printf("%s: %u samples of %u passes in %u messages of up to %u KiB, %u lost\n", when,
	       w_samples, w_ends, w_messages, (w_largest + 1023) / 1024, w_lost() - before);
}

/* Where no four pages in a row are free, a recording has the same samples in more messages. */
void record(char **args)
{
	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	programs(0, "p", 0, 300);
	leak(30, 0, 0, 0);
	w_records_series = true;
	recorded("there is memory");
	w_scattered = true;
	recorded("it is scattered");
}

/* 100 processes end, from @first on, and @s seconds go by. */
static void hundred_end(unsigned int first, unsigned int s)
{
	unsigned int passes = w_passes(), freed = w_freed();

	for (unsigned int i = first; i < first + 100; i++)
		w_end(task(i), 0, true);
	leak(s, 0, 0, 0);
	printf("100 end: %u records, %u freed, %u full passes in %u s\n", w_records(),
	       w_freed() - freed, w_passes() - passes, s);
}

/*
 * A grace period takes 35 seconds. Records are freed after it. Those that are buried meanwhile wait
 * for the next one. Full passes are not late for that.
 */
void grace(char **args)
{
	(void)args;
	w_boot(4, "pmc=off hook=tracepoint sample_interval_ms=5000");
	programs(0, "p", 0, 300);
	leak(30, 0, 0, 0);
	printf("%u records\n", w_records());
	w_grace_ns = 35000000000ULL;
	hundred_end(0, 30);
	hundred_end(100, 2);
	hundred_end(200, 4);
	w_grace_ns = 0;
	leak(40, 0, 0, 0);
	printf("%u records, %u freed\n", w_records(), w_freed());
}

/*
 * 2000 processes come and end while a grace period lasts and no full pass is due. Buried records
 * that wait for their readers are memory beside the table: two burials of 100 may wait, no more.
 */
void waits(char **args)
{
	unsigned int most = 0, waiting, n = 0;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint sample_interval_ms=3600000 suspect_interval_ms=60000");
	leak(2, 0, 0, 0);
	w_grace_ns = 35000000000ULL;
	for (unsigned int round = 0; round < 20; round++) {
		programs(0, "p", 0, 100);
		n += 100;
		for (unsigned int i = 0; i < 100; i++)
			w_end(task(i), 0, true);
		for (unsigned int i = 0; i < 10; i++) {
			w_interrupts();
			w_advance(100000000);
			w_work(0);
		}
		waiting = w_births() - w_records() - w_freed();
		most = waiting > most ? waiting : most;
	}
	printf("%u of %u that end have records, at most %u wait\n", w_births(), n, most);
}

/*
 * Three processes fault on a CPU each, and two of these CPUs go offline. The module is called for
 * one of them: its cache is empty then. For the other it is not called yet when its process ends.
 */
void offline(char **args)
{
	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	programs(0, "p", 0, 4);
	for (unsigned int i = 0; i < 4; i++)
		w_fault(i, (struct w_process *)task(i));
	w_offline(1, true);
	w_offline(2, false);
	for (unsigned int i = 0; i < 4; i++)
		printf("p%u: %u slots\n", i, w_slots(task(i)));
	w_end(task(2), 0, true);
	leak(60, 0, 0, 0);
	printf("%u records, %u freed\n", w_records(), w_freed());
}

static unsigned int of_flood;
static unsigned long long told_ns;

static void sort(const char *alert)
{
	if (!strncmp(alert, "flood", 5))
		of_flood++;
	else if (!told_ns)
		told_ns = w_now();
}

/*
 * 60 leaks of a user would take all alerts of many minutes. They have a quarter of them, and the
 * leak of another user is told all the same.
 */
void flood(char **args)
{
	unsigned long long begun;

	(void)args;
	w_little = true;
	w_available = 1L << 24;
	on_alert = sort;
	w_boot(4, "pmc=off hook=tracepoint alerts_per_minute=12");
	programs(UID, "flood", 0, 60);
	leak(600, 0, 60, 1024);
	printf("the flood had %u alerts in ten minutes\n", of_flood);
	serve_as(1000, "one", 60, 1);
	begun = w_now();
	leak(600, 0, 61, 1024);
	if (told_ns)
		printf("the leak of another user was told after %llu s\n",
		       (told_ns - begun) / 1000000000);
	else
		puts("the leak of another user was not told");
}

/*
 * Hardware counters with pmc=watched: with nobody under watch none is asked for. A leak brings
 * them, by a work of its own: the worker, which must not wait for memory, asks for none.
 */
void watched(char **args)
{
	(void)args;
	w_little = true;
	w_boot(4, "pmc=watched hook=tracepoint");
	serve("calm", 0, 1);
	leak(600, 0, 0, 0);
	w_run_works();
	printf("nobody is under watch: %u counters were asked for\n", w_events);
	serve("leak", 1, 1);
	leak(120, 1, 1, 7168);
	printf("a leak: the worker asked for %u\n", w_events);
	w_run_works();
	printf("a work of its own asked for %s\n", w_events ? "some" : "none");
}
