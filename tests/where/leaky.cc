// SPDX-License-Identifier: GPL-2.0
// The same as leaky.c with objects of a C++ class, app::Session, of 120 bytes. With an argument
// memory comes from mappings of its own, which no census knows, and is not freed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <sys/mman.h>

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

static bool own;

void *operator new(size_t n)
{
	static char *next, *end;
	char *p;

	if (!own)
		return malloc(n);
	n = (n + 15) & ~15UL;
	if (n > (size_t)(end - next)) {
		next = (char *)mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = next + (4 << 20);
	}
	p = next;
	next += n;
	return p;
}

void operator delete(void *p) noexcept
{
	if (!own)
		free(p);
}

void operator delete(void *p, size_t n) noexcept
{
	operator delete(p);
}

static void run(long n, bool keep)
{
	unsigned long blocks = 0, bytes = 0;

	for (long i = 0; i < n; i++) {
		std::unique_ptr<Request> request;

		if (!own)
			request = std::make_unique<Request>(200 + i % 3000);
		auto *s = new app::Session(i);

		if (!keep) {
			delete s;
			continue;
		}
		blocks++;
		bytes += own ? sizeof(*s) + 8 : malloc_usable_size(s) + 8;
	}
	printf("%lu %lu\n", blocks, bytes);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char word[16];
	long n;

	own = argc > 1;
	for (long i = 0; i < 100000 && own; i++)
		new Base;	/* so that most of the memory is not malloc's */
	puts("ready");
	fflush(stdout);
	while (scanf("%15s %ld", word, &n) == 2)
		run(n, !strcmp(word, "leak"));
	return 0;
}
