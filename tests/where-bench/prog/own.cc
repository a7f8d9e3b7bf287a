// SPDX-License-Identifier: GPL-2.0
/*
 * owncc NAME [twin]: the same in C++. What leaks is allocated inside templates of the standard
 * library; the site is app::keep_NAME().
 */
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>

#define site __attribute__((noipa))

static bool twin;
static thread_local unsigned long turn;

namespace app {

struct Session {
	virtual ~Session() = default;
	unsigned long words[15] = {};
	Session()
	{
		for (unsigned long &w : words)
			w = ++turn * 2654435761UL;
	}
};

static std::map<unsigned long, Session> sessions;

site static void keep_map()
{
	sessions[++turn];
	if (twin && sessions.size() > 64)
		sessions.erase(sessions.begin());
}

static std::deque<std::string> names;

site static void keep_text()
{
	std::string s(90, 'x');

	snprintf(&s[0], 40, "user %lu", ++turn);
	names.push_back(s);
	if (twin && names.size() > 64)
		names.pop_front();
}

struct Node {
	std::shared_ptr<Node> other;
	unsigned long words[12] = {};
};

/* Two that hold each other are never freed. */
site static void keep_cycle()
{
	auto a = std::make_shared<Node>(), b = std::make_shared<Node>();

	for (unsigned long &w : a->words)
		w = ++turn * 2654435761UL;
	memcpy(b->words, a->words, sizeof(b->words));
	a->other = b;
	if (!twin)
		b->other = a;
}

/* Of each of four threads, which have arenas of their own */
site static void keep_threads()
{
	static thread_local std::list<Session> mine;

	mine.emplace_back();
	if (twin && mine.size() > 64)
		mine.pop_front();
}

static thread_local std::deque<std::unique_ptr<Session>> live;

/* A request makes what leaks as well, and gives it back. */
site static void serve()
{
	static thread_local std::map<unsigned long, Session> running;
	static thread_local std::deque<std::string> lines;
	auto node = std::make_shared<Node>();

	running[++turn];
	lines.push_back(std::string(90, 'y'));
	live.push_back(std::make_unique<Session>());
	if (live.size() > 64) {
		live.pop_front();
		lines.pop_front();
		running.erase(running.begin());
	}
	node->words[0] = turn;
}

} // namespace app

static void work(void (*keep)())
{
	for (;;) {
		for (int i = 0; i < 10; i++)
			app::serve();
		keep();
		usleep(2000);
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "map";

	twin = argc > 2;
	if (!strcmp(name, "threads"))
		for (int i = 0; i < 3; i++)
			std::thread(work, app::keep_threads).detach();
	puts("ready");
	fflush(stdout);
	if (!strcmp(name, "map"))
		work(app::keep_map);
	else if (!strcmp(name, "text"))
		work(app::keep_text);
	else if (!strcmp(name, "threads"))
		work(app::keep_threads);
	else
		work(app::keep_cycle);
}
