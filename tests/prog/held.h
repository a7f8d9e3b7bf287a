/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long a CPU of a virtual machine was held back, by the host or because the emulator ran
 * another CPU. A thread of the highest real-time priority sleeps for 1 ms again and again. What it
 * wakes late by over 1 ms is the time in which the CPU that it is on did not run. In the guest only
 * kernel code that runs on without a chance to schedule keeps it waiting as well. That is not seen
 * here: `make latency` measures it.
 */
#include <fcntl.h>

static struct {
	atomic_ulong us;	/* the sum of all since the beginning */
	int marker;		/* the trace's, or -1 */
} held = { .marker = -1 };

static void *sleep_shortly(void *unused)
{
	struct sched_param first = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("SCHED_FIFO");
	for (;;) {
		uint64_t due = now_us() + 1000, woke;

		usleep(1000);
		woke = now_us();
		if (woke <= due + 1000)
			continue;
		held.us += woke - due;
		if (held.marker >= 0)
			dprintf(held.marker, "held %lu\n", (unsigned long)(woke - due));
	}
	return unused;
}

/* Begins to measure. @marker: a file that gets a line "held US" for each hold, or NULL. */
static void watch_cpu(const char *marker)
{
	pthread_t t;

	if (marker) {
		held.marker = open(marker, O_WRONLY | O_CLOEXEC);
		if (held.marker < 0)
			die(marker);
	}
	if (pthread_create(&t, NULL, sleep_shortly, NULL))
		die("pthread_create");
}
