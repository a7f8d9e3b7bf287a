// SPDX-License-Identifier: GPL-2.0
/*
 * brood MB SECONDS COUNT [LIFE]: starts COUNT children of MB megabytes, one every SECONDS
 * seconds. Each lives LIFE seconds, or as long as its parent. Then waits.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void child(size_t bytes, unsigned int life)
{
	volatile char *p = malloc(bytes);	/* volatile: nobody reads it */
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!p)
		_exit(1);
	for (i = 0; i < bytes; i += 4096)
		p[i] = 1;
	if (life)
		sleep(life);
	else
		pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	int i, count;

	if (argc < 4) {
		fputs("usage: brood MB SECONDS COUNT [LIFE]\n", stderr);
		return 2;
	}
	signal(SIGCHLD, SIG_IGN);
	count = atoi(argv[3]);
	for (i = 0; i < count; i++) {
		if (fork() == 0)
			child((size_t)atoi(argv[1]) << 20,
			      argc > 4 ? (unsigned int)atoi(argv[4]) : 0);
		sleep((unsigned int)atoi(argv[2]));
	}
	for (;;)
		pause();
}
