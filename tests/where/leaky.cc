// SPDX-License-Identifier: GPL-2.0
// The same as leaky.c with objects of a C++ class, app::Session, of 120 bytes.
#include <cstdio>
#include <cstring>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>

struct Base {
	virtual ~Base() {}
};

namespace app {
struct Session : Base {
	char user[104];
	long id;
	explicit Session(long i) : id(i) { memset(user, 0x99, sizeof(user)); }
};
}

struct Request : Base {
	std::string body;
	explicit Request(size_t n) : body(n, 'a') {}
};

static void run(long n, bool keep)
{
	unsigned long blocks = 0, bytes = 0;

	for (long i = 0; i < n; i++) {
		auto request = std::make_unique<Request>(200 + i % 3000);
		auto *s = new app::Session(i);

		if (!keep) {
			delete s;
			continue;
		}
		blocks++;
		bytes += malloc_usable_size(s) + 8;
	}
	printf("%lu %lu\n", blocks, bytes);
	fflush(stdout);
}

int main()
{
	char word[16];
	long n;

	puts("ready");
	fflush(stdout);
	while (scanf("%15s %ld", word, &n) == 2)
		run(n, !strcmp(word, "leak"));
	return 0;
}
