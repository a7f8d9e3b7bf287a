// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios over the simulated machine: what users can do to each other by processes that become
 * another user, by alerts that are over, and by memory that has no process. What each prints must
 * be what NAME.txt has.
 */
#include <stdbool.h>
#include <stdio.h>

#include "scale.h"
#include "lives.h"

#define UID	2000U

static void shared_out(const char *when)
{
	printf("%s: %u records, %u of root and %u of the user\n", when, w_records(), w_share(0),
	       w_share(UID));
}

/*
 * A server of root forks 40 workers, which become a user and execute nothing, as those of php-fpm
 * do. They count for the share of that user: of 40 other processes of its ten get a record. Twenty
 * processes of another user become root, as sudo does before it asks. They count for the user.
 * What a share is charged for it has back in the end.
 */
void becomes(char **args)
{
	(void)args;
	w_boot(4, "pmc=off hook=tracepoint max_processes=100");
	programs(0, "worker", 0, 40);
	for (unsigned int i = 0; i < 40; i++)
		w_become((struct w_process *)task(i), UID);
	leak(30, 0, 0, 0);
	programs(UID, "other", 40, 40);
	leak(30, 0, 0, 0);
	printf("%u of 40 workers and %u of 40 others of the user have a record\n",
	       count(w_has, 0, 40), count(w_has, 40, 40));
	for (unsigned int i = 40; i < 80; i++)
		w_end(task(i), 0, true);
	leak(60, 0, 0, 0);
	programs(3000, "sudo", 80, 20);
	for (unsigned int i = 80; i < 100; i++)
		w_become((struct w_process *)task(i), 0);
	leak(30, 0, 0, 0);
	programs(3000, "more", 100, 35);
	leak(30, 0, 0, 0);
	printf("%u of 20 that became root and %u of 35 others have a record\n",
	       count(w_has, 80, 20), count(w_has, 100, 35));
	for (unsigned int i = 80; i < 135; i++)
		w_end(task(i), 0, true);
	leak(60, 0, 0, 0);
	programs(0, "worker", 200, 10);
	shared_out("ten of root");
	for (unsigned int i = 200; i < 204; i++)
		w_become((struct w_process *)task(i), UID);
	leak(30, 0, 0, 0);
	shared_out("four of them became a user");
	for (unsigned int i = 200; i < 209; i++)
		w_end(task(i), 0, true);
	leak(60, 0, 0, 0);
	shared_out("nine have ended");
	w_bury(task(209), UID);
	shared_out("the last one, charged when it is dead");
}

/* A table of 64 records. @n programs of a user; @leaks processes of it are to be told of. */
static void begin(unsigned int n, unsigned int leaks)
{
	w_little = true;
	w_available = (long)leaks << 19;
	on_alert = ignore;
	w_boot(4, "pmc=off hook=tracepoint max_processes=64 alerts_per_minute=240");
	programs(UID, "told", 0, n);
}

/* The first @leaks processes are told of. Then the @n programs give their memory back. */
static void told(unsigned int n, unsigned int leaks)
{
	leak(900, 0, leaks, 1024);
	printf("%u of %u are told of\n", count(w_told, 0, leaks), leaks);
	for (unsigned int i = 0; i < n; i++)
		w_grow(task(i), -225000);
}

/*
 * A user has half of a full table. All its processes were told of, gave their memory back, and
 * rest. They keep no record by that from a user that has none.
 */
void past(char **args)
{
	(void)args;
	begin(32, 32);
	told(32, 32);
	leak(3600, 0, 0, 0);
	printf("%u of 32 were told of\n", count(w_was_told, 0, 32));
	programs(3000, "other", 32, 31);
	programs(0, "root", 63, 2);
	leak(30, 0, 0, 0);
	serve_as(4000, "heavy", 65, 1);
	w_grow(task(65), 100000);
	leak(60, 0, 0, 0);
	printf("a user without a record has %u, the other one %u\n", count(w_has, 65, 1),
	       count(w_has, 0, 32));
}

/*
 * A user has half of a full table, root the other half. All processes of the user leak, and are
 * told of, read in short passes, or held back. They keep no record by that from a user that has
 * none. A grace period takes an hour then, and the record of a process that has ended waits for it:
 * neither exchanges nor full passes do.
 */
void behind(char **args)
{
	unsigned int passes;

	(void)args;
	begin_limited();
	programs(UID, "leak", 0, 100);
	programs(0, "root", 100, 100);
	leak(300, 0, 100, 512);
	printf("%u of 100 are held back\n", count(w_held_back, 0, 100));
	w_grace_ns = 3600000000000ULL;
	w_end(task(199), 0, true);
	programs(0, "root", 199, 1);
	leak(20, 0, 100, 512);
	passes = w_passes();
	programs(4000, "other", 200, 2);
	for (unsigned int i = 200; i < 202; i++)
		w_grow(task(i), 100000);
	leak(60, 0, 100, 512);
	printf("%u of 2 of another user have a record, %u of 100 that leak, %u of 100 of root\n",
	       count(w_has, 200, 2), count(w_has, 0, 100), count(w_has, 100, 100));
	printf("%u full passes in 60 s, %u records freed\n", w_passes() - passes, w_freed());
}

static void print_alert(const char *alert)
{
	puts(alert);
}

/* 56 processes of other users fill the table but for eight records, those of the first user. */
static void fill(void)
{
	for (unsigned int i = 0; i < 8; i++)
		programs(3000 + i, "other", 10 + 7 * i, 7);
	leak(60, 0, 0, 0);
}

/* They end: there is a record for each process again. */
static void make_room(void)
{
	for (unsigned int i = 10; i < 66; i++)
		w_end(task(i), 0, true);
	leak(60, 0, 0, 0);
}

/* @n heavy processes of the first user come. */
static void heavy(unsigned int n)
{
	programs(UID, "heavy", 70, n);
	for (unsigned int i = 70; i < 70 + n; i++)
		w_grow(task(i), 100000);
	leak(60, 0, 0, 0);
}

/*
 * Nobody has more records of a full table than a user with an eighth of them: seven programs that
 * were told of, and a service whose worker was told of and has ended. All are at rest. Two heavy
 * processes of that user get the records of the service and of one program. Both go on without a
 * record and get another one later. Neither has ended by that: what is told of them then is the
 * first alert of a life. The second one comes after an end.
 */
void given(char **args)
{
	unsigned int k;

	(void)args;
	begin(7, 8);
	serve_as(UID, "pair", 7, 2);
	told(7, 8);
	w_end(task(7), 9, true);
	leak(3600, 0, 0, 0);
	fill();
	printf("%u of 7 programs have a record, %u of 1 service\n", count(w_has, 0, 7),
	       count(w_has, 8, 1));
	heavy(2);
	printf("%u of 2 heavy ones have a record, %u of 7 programs, %u of 1 service\n",
	       count(w_has, 70, 2), count(w_has, 0, 7), count(w_has, 8, 1));
	for (k = 0; k < 6 && w_has(task(k)); k++)
		;
	make_room();
	printf("%u of 7 programs have a record, %u of 1 service\n", count(w_has, 0, 7),
	       count(w_has, 8, 1));
	on_alert = print_alert;
	leak(400, k, 1, 8192);
	serve_as(UID, "pair", 7, 1);
	leak(400, 7, 1, 8192);
	w_end(task(7), 9, true);
	w_end(task(8), 9, true);
	leak(30, 0, 0, 0);
	serve_as(UID, "pair", 7, 1);
	leak(400, 7, 1, 8192);
}

/*
 * A service has two workers. One was told of and is at rest; a heavy process of the same user gets
 * its record. The other worker ends. The first one lives: what is told of it after that is the
 * first alert of a life.
 */
void outlives(char **args)
{
	(void)args;
	begin(6, 7);
	serve_as(UID, "pair", 6, 2);
	w_grow(task(7), 100000);
	told(6, 7);
	w_grow(task(6), -229000);
	leak(3600, 0, 0, 0);
	fill();
	heavy(1);
	printf("%u of 1 heavy one has a record, %u of 1 worker that was told of, %u of 1 other\n",
	       count(w_has, 70, 1), count(w_has, 6, 1), count(w_has, 7, 1));
	w_end(task(7), 9, true);
	make_room();
	printf("the other has ended: %u of 1 worker has a record\n", count(w_has, 6, 1));
	on_alert = print_alert;
	leak(400, 6, 1, 8192);
}

/*
 * Three lives of a service, from process @first on. The first is killed. The second recovers from
 * its alert and rests, so that its end is not looked at. What is told of the third does not say
 * that the second was killed. @at_once: a life begins before anybody has looked at the end before,
 * so that the third seems to belong to the second life, the end of which is not known.
 */
static void live_thrice(const char *name, unsigned int first, bool at_once)
{
	for (unsigned int i = first; i < first + 3; i++) {
		serve(name, i, 1);
		w_advance(2000000);
		leak(400, i, 1, 4096);
		if (i == first + 1) {
			w_grow(task(i), -390000);
			leak(3600, 0, 0, 0);
		}
		w_end(task(i), i > first ? 3 << 8 : 9, true);
		if (at_once)
			w_advance(2000000);
		else
			leak(30, 0, 0, 0);
	}
	leak(30, 0, 0, 0);
}

void unseen(char **args)
{
	(void)args;
	w_little = true;
	w_available = 1L << 20;
	w_boot(4, "pmc=off hook=tracepoint");
	live_thrice("unseen", 0, false);
	live_thrice("at-once", 10, true);
}

#define CLIMB_S		450U

/* A process climbs 900 MiB, releases them and ends. */
static void climb(unsigned int i)
{
	leak(CLIMB_S, i, 1, 2048);
	w_grow(task(i), -(long)CLIMB_S * 512);
	leak(60, 0, 0, 0);
	w_end(task(i), 0, true);
	leak(60, 0, 0, 0);
}

static void print_known(const char *name, unsigned int i)
{
	unsigned int mib, span_s;
	bool begins = w_knows(task(i), &mib, &span_s);

	printf("%s: knows %u MiB in %u s%s\n", name, mib, span_s,
	       begins ? ", its history begins" : "");
}

/* A user asks for its processes, one of which was taught. */
static void ask_taught(unsigned int i)
{
	unsigned int n = 0;

	print_known("mine", i);
	memset(w_seen, 0, sizeof(w_seen));
	w_after = 0;
	w_dump_own(task(i), NULL, ~0U);
	for (unsigned int pid = 0; pid < W_PIDS; pid++)
		n += w_seen[pid];
	printf("mine: the user is told of %u process, of earlier lives in %u\n", n, w_known);
}

/*
 * Services climb alike. What user space kept of earlier lives is told of two of them, before and
 * after their first sample, and a second life inherits it: these have no alert. One that is not
 * taught has one. One that is taught only under watch, or when it has an alert, is left alone.
 * Values that do not fit count as the highest that do. Even these excuse no leak: of a taught rise
 * a quarter of headroom counts. A user without rights is not told what is known.
 */
void taught(char **args)
{
	(void)args;
	w_little = true;
	w_available = 1L << 20;
	w_boot(4, "pmc=off hook=tracepoint");
	serve("untaught", 0, 1);
	climb(0);
	serve("early", 1, 1);
	w_teach(task(1), CLIMB_S << 21, CLIMB_S);
	print_known("early", 1);
	climb(1);
	serve("rested", 2, 1);
	leak(600, 0, 0, 0);
	print_known("rested", 2);
	w_teach(task(2), CLIMB_S << 21, CLIMB_S);
	print_known("rested", 2);
	leak(60, 0, 0, 0);
	w_teach(task(2), 1 << 20, 1);
	print_known("rested", 2);
	climb(2);
	serve("rested", 3, 1);
	climb(3);

	serve("watched", 4, 1);
	while (!w_watched(task(4)))
		leak(10, 4, 1, 2048);
	w_teach(task(4), CLIMB_S << 21, CLIMB_S);
	printf("watched: %u of 1 still is\n", count(w_watched, 4, 1));
	leak(CLIMB_S, 4, 1, 2048);
	w_teach(task(4), CLIMB_S << 22, CLIMB_S);
	printf("watched: %u of 1 still has its alert\n", count(w_told, 4, 1));
	w_end(task(4), 0, true);
	leak(60, 0, 0, 0);

	serve("huge", 5, 1);
	w_teach(task(5), 1ULL << 46, 1ULL << 32);
	print_known("huge", 5);
	leak(1200, 5, 1, 2048);

	serve_as(UID, "mine", 6, 1);
	w_teach(task(6), CLIMB_S << 21, CLIMB_S);
	ask_taught(6);	/* before its first sample */
	leak(60, 0, 0, 0);
	ask_taught(6);
}

/*
 * The first threads of three processes have exited. One has another thread; the others have one
 * behind 1100 that have exited too. Another process comes to run in the memory of the first two. It
 * is the owner then: the threads of the first owner are not looked at for that. The third process
 * is not found by its pid, because so many threads are not looked at.
 */
void threads(char **args)
{
	struct w_process *p;
	unsigned int i;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	serve("few", 0, 1);
	serve("many", 1, 1);
	serve("alone", 2, 1);
	serve("heir", 3, 2);
	leak(30, 0, 0, 0);
	for (i = 0; i < 3; i++) {
		p = (struct w_process *)task(i);
		for (unsigned int n = 0; i && n < 1100; n++)
			w_thread(p, true);
		w_thread(p, false);
	}
	w_run_in(task(3), w_mm(task(0)));
	w_run_in(task(4), w_mm(task(1)));
	for (i = 0; i < 3; i++)
		w_first_exits((struct w_process *)task(i));
	leak(700, 0, 0, 0);
	printf("%u of 2 that came are owners, %u records\n", count(w_owns, 3, 2), w_records());
	printf("asked for by pid: %u of 5 processes\n", w_dump());
}

/*
 * No process is found that a memory belongs to. A reader asks for one that has come to run in it:
 * the record is known by that one from then on. When it ends, the next pass finds another one.
 */
static void found_again(void)
{
	struct mm_struct *mm;

	serve("memory", 320, 1);
	serve("first", 321, 1);
	serve("second", 322, 1);
	leak(60, 0, 0, 0);
	mm = w_orphan(task(320));
	leak(60, 0, 0, 0);
	w_run_in(task(321), mm);
	w_dump();
	printf("a reader asked: %u of 1 is the owner\n", count(w_owns, 321, 1));
	leak(30, 0, 0, 0);
	w_run_in(task(322), mm);
	w_run_in(task(321), NULL);
	leak(20, 0, 0, 0);
	printf("it has ended: %u of 1 is the owner\n", count(w_owns, 322, 1));
}

/*
 * 60 of 300 processes share their memory with one of 60 others each, and end, ten in each pass.
 * Each memory has its other process as owner two passes later at most. Then those 60 end in one
 * pass, while readers of /proc/PID/mem have their memory. All of them cost a few walks over the
 * processes, not one each.
 */
void losses(char **args)
{
	unsigned int before, owned = 0;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	programs(0, "p", 0, 300);
	programs(0, "heir", 300, 60);
	leak(60, 0, 0, 0);
	for (unsigned int i = 0; i < 60; i++)
		w_run_in(task(300 + i), w_mm(task(i)));
	leak(30, 0, 0, 0);
	before = w_visits;
	for (unsigned int i = 0; i < 60; i++) {
		w_run_in(task(i), NULL);
		if (i % 10 == 9)
			leak(10, 0, 0, 0);
	}
	leak(20, 0, 0, 0);
	for (unsigned int i = 0; i < 60; i++)
		owned += w_owns(task(300 + i));
	printf("%u of 60 have a new owner, after %s pids in 8 passes\n", owned,
	       w_visits - before < 2 * 8 * 360 ? "few" : "many");
	before = w_visits;
	for (unsigned int i = 0; i < 60; i++)
		w_orphan(task(300 + i));
	leak(20, 0, 0, 0);
	printf("60 have none, after %s pids in 2 passes\n",
	       w_visits - before < 2 * 2 * 360 + 100 ? "few" : "many");
}

/*
 * 300 processes, and 20 that have ended while a reader of /proc/PID/mem has their memory. No
 * process is found that they belong to, and it is not looked for in each pass.
 */
void orphans(char **args)
{
	unsigned int before;

	(void)args;
	w_boot(4, "pmc=off hook=tracepoint");
	programs(0, "p", 0, 320);
	leak(60, 0, 0, 0);
	for (unsigned int i = 300; i < 320; i++)
		w_orphan(task(i));
	leak(60, 0, 0, 0);
	before = w_visits;
	leak(640, 0, 0, 0);
	printf("64 passes looked at %s pids, of %u records\n",
	       w_visits - before < 3 * 20 * 300 ? "few" : "many", w_records());
	found_again();
}
