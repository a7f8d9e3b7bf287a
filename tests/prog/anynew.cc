// SPDX-License-Identifier: GPL-2.0
/*
 * anynew leak|twin: objects of C++ that live for random times. keep_session() leaks; the twin
 * deletes what it returns after a random time. Prints "ready PID" when all that is bounded is full.
 */
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

struct Request {
	virtual ~Request() = default;
	std::string text;
};

struct Session {
	virtual ~Session() = default;
	unsigned long words[24] = {};
};

static Request *requests[500];
static Session *sessions[500];
static unsigned long turn = 88172645463325252UL;

static unsigned long draw(unsigned long n)
{
	turn ^= turn << 13;
	turn ^= turn >> 7;
	turn ^= turn << 17;
	return (turn >> 8) % n;
}

__attribute__((noipa)) static Session *keep_session()
{
	Session *s = new Session;

	for (unsigned long &w : s->words)
		w = draw(~0UL);
	return s;
}

__attribute__((noipa)) static void handle_request()
{
	Request *&at = requests[draw(500)];

	delete at;
	at = new Request;
	at->text.assign(draw(600), static_cast<char>('a' + draw(26)));
}

static void a_round(bool leak)
{
	Session *&at = sessions[draw(500)];

	for (int i = 0; i < 10; i++)
		handle_request();
	if (leak) {
		keep_session();
		return;
	}
	delete at;
	at = keep_session();
}

int main(int argc, char **argv)
{
	bool leak = argc < 2 || strcmp(argv[1], "twin");

	for (int i = 0; i < 5000; i++)
		a_round(false);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;) {
		a_round(leak);
		usleep(1500);
	}
}
