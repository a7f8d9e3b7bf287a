// SPDX-License-Identifier: GPL-2.0
/*
 * Leaks objects of one class, in keep_session(), beside others of its size that it deletes. Prints
 * "ready PID".
 */
#include <cstdio>
#include <unistd.h>

struct Session {
	virtual ~Session() = default;
	unsigned long words[24] = {};
};

static Session *live[64];
static unsigned long turn;

__attribute__((noipa)) static Session *keep_session()
{
	Session *s = new Session;

	for (unsigned long &w : s->words)
		w = ++turn;
	return s;
}

__attribute__((noipa)) static void handle_request()
{
	unsigned int at = static_cast<unsigned int>(turn % 61);

	delete live[at];
	live[at] = new Session;
	for (unsigned long &w : live[at]->words)
		w = ++turn;
}

int main()
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		for (int i = 0; i < 10; i++)
			handle_request();
		keep_session();
		usleep(2000);
	}
}
