// SPDX-License-Identifier: GPL-2.0
/*
 * A process of a known shape for the corpus: shape seed=N PART[:KEY=VALUE,...]...
 *
 * Every PART is one behaviour, takes real memory VIA one of the ways there are
 * and sleeps in between. Sizes are MB, times seconds, rates MB an hour.
 *
 *  base    size via            taken at the start and kept
 *  grow    rate every via      never given back; since onset, up to until or cap;
 *          poisson=1: random arrivals; noise: of a step, percent; day: the rate
 *          follows a day, percent; curve=log or fill: of tau and cap
 *  cache   cap fill every via  filled in fill seconds, then the oldest goes
 *  cycle   amp period rise hold via jitter   up in rise, held, given back
 *  level   mean amp period every via curve=sine|random|steps
 *  pool    size every n via    n random pages of a fixed area are used
 *  churn   size every          given to the kernel and taken again
 *  lazy    size every          the same with MADV_FREE
 *  huge    size every cap      small pages that khugepaged collapses
 *  frag    size every n share hot   live blocks of all sizes in n threads' arenas;
 *          share percent of them are replaced in a step, hot percent used
 *  reader  size every n file   a mapped file is read, n MB at a time
 *  cow     every life share    children that write on what they inherit
 *  spawn   every size life keep  children; life=0: for ever; keep: KB that the
 *          parent keeps of each
 *  heir    every               a child goes on with all of it, the parent ends
 *  fork    n                   n workers go on with all parts, the parent waits
 *  again   every               the program executes itself in place
 *  walk    every n             n MB of what is kept is used, in turn
 *  hup     size via            a step for every SIGHUP
 */
#define _GNU_SOURCE

#include <poll.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
#define HUGE	(2UL << 20)
#define MB	(1024 * 1024.)
#define DAY	86400.
#define NEVER	1e18

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- random numbers, which depend on the seed only ---- */

static uint64_t dice;

static uint64_t roll(void)
{
	dice ^= dice >> 12;
	dice ^= dice << 25;
	dice ^= dice >> 27;
	return dice * 0x2545f4914f6cdd1dULL;
}

static double uniform(void)
{
	return (roll() >> 11) / 9007199254740992.;
}

/* 1 on average, by plus or minus percent */
static double vary(double percent)
{
	return 1 + (2 * uniform() - 1) * percent / 100;
}

/* ---- ways to take memory ---- */

struct block {
	struct block *next;
	const struct via *via;
	char *at;
	size_t size;
	int fd;
};

struct via {
	const char *name;
	size_t grain;			/* the least it can take */
	void (*take)(struct block *b);
	void (*give)(struct block *b);
};

static const char *big_file = "/usr/bin/node";

/* What is written differs from page to page: there is nothing to merge. */
static void touch(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		*(volatile uint64_t *)(p + i) = i | 1;
}

static char *map(size_t size, int flags, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void unmap(struct block *b)
{
	munmap(b->at, b->size);
	if (b->fd >= 0)
		close(b->fd);
}

static void take_malloc(struct block *b)
{
	b->at = malloc(b->size);
	if (!b->at)
		die("malloc");
	touch(b->at, b->size);
}

static void give_malloc(struct block *b)
{
	free(b->at);
}

static void take_brk(struct block *b)
{
	b->at = sbrk(b->size);
	if (b->at == (void *)-1)
		die("sbrk");
	touch(b->at, b->size);
}

static void take_mmap(struct block *b)
{
	b->at = map(b->size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	touch(b->at, b->size);
}

static void take_populate(struct block *b)
{
	b->at = map(b->size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

/* the kernel faults the pages in */
static void take_read(struct block *b)
{
	int fd = open("/dev/zero", O_RDONLY);

	b->at = map(b->size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (fd < 0 || read(fd, b->at, b->size) != (ssize_t)b->size)
		die("read");
	close(fd);
}

static void take_thp(struct block *b)
{
	char *p = map(b->size + HUGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	size_t off = -(uintptr_t)p & (HUGE - 1);

	if (off)
		munmap(p, off);
	munmap(p + off + b->size, HUGE - off);
	b->at = p + off;
	madvise(b->at, b->size, MADV_HUGEPAGE);
	touch(b->at, b->size);
}

static void take_shmem(struct block *b)
{
	b->at = map(b->size, MAP_SHARED | MAP_ANONYMOUS, -1);
	touch(b->at, b->size);
}

static void take_fd(struct block *b)
{
	if (b->fd < 0 || ftruncate(b->fd, b->size))
		die("file");
	b->at = map(b->size, MAP_SHARED, b->fd);
	touch(b->at, b->size);
	close(b->fd);
	b->fd = -1;
}

static void take_memfd(struct block *b)
{
	b->fd = memfd_create("shape", MFD_CLOEXEC);
	take_fd(b);
}

/* A file in a tmpfs; its name is gone at once, so that the runner need not. */
static void take_tmpfs(struct block *b)
{
	b->fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	take_fd(b);
}

static void take_vsz(struct block *b)
{
	b->at = map(b->size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* b->size of page tables: one page of them maps 2 MB of zeroes that are read */
static void take_tables(struct block *b)
{
	size_t size = b->size / PAGE * HUGE;
	volatile char *p = map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	madvise((void *)p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += HUGE)
		(void)p[i];
	b->at = (char *)p;
	b->size = size;
}

/* the next part of a big file, a quarter of it used */
static void take_file(struct block *b)
{
	static off_t off;
	int fd = open(big_file, O_RDONLY | O_CLOEXEC);
	volatile char *p;
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (off + (off_t)b->size > end)
		off = 0;
	p = mmap(NULL, b->size, PROT_READ, MAP_SHARED, fd, off);
	if (p == MAP_FAILED)
		die(big_file);
	madvise((void *)p, b->size, MADV_RANDOM);
	for (size_t i = 0; i < b->size / 4; i += PAGE)
		(void)p[i];
	off += b->size;
	close(fd);
	b->at = (char *)p;
}

static void *sleeper(void *arg)
{
	size_t size = (size_t)arg;
	char frame[size];

	touch(frame, size);
	while (frame[0] || 1)
		pause();
	return NULL;
}

/* a thread that nobody ends, with a stack that it has used */
static void take_stack(struct block *b)
{
	pthread_t t;

	if (pthread_create(&t, NULL, sleeper, (void *)b->size))
		die("pthread_create");
}

static const struct via vias[] = {
	{ "malloc", PAGE, take_malloc, give_malloc },
	{ "brk", PAGE, take_brk, NULL },
	{ "mmap", PAGE, take_mmap, unmap },
	{ "populate", PAGE, take_populate, unmap },
	{ "read", PAGE, take_read, unmap },
	{ "thp", HUGE, take_thp, unmap },
	{ "shmem", PAGE, take_shmem, unmap },
	{ "memfd", PAGE, take_memfd, unmap },
	{ "tmpfs", PAGE, take_tmpfs, unmap },
	{ "vsz", PAGE, take_vsz, unmap },
	{ "tables", PAGE, take_tables, unmap },
	{ "file", PAGE, take_file, unmap },
	{ "stack", PAGE, take_stack, NULL },
};

/* ---- parts ---- */

struct part {
	const struct kind *kind;
	double due;			/* when it is run again */
	const struct via *via;
	const char *curve, *file;
	double rate, every, onset, until, cap, noise, poisson, day, tau, fill, amp, period, rise,
	       hold, jitter, size, mean, n, life, share, hot, keep, block;
	/* what it has */
	struct block *oldest, *newest, *at;
	double held, owed, begun, phase, scale;
	char *area;
};

struct kind {
	const char *name;
	void (*run)(struct part *p, double t);	/* sets due; t: since the start */
};

static double start;
static char **args;
static int hups;
static struct part parts[16];
static int nparts;

static struct block *new_block(struct part *p, size_t size)
{
	struct block *b = malloc(sizeof(*b));

	if (!b)
		die("malloc");
	*b = (struct block){ .via = p->via, .size = size, .fd = -1 };
	if (p->newest)
		p->newest->next = b;
	else
		p->oldest = b;
	p->newest = b;
	p->held += size;
	return b;
}

static void take_one(struct part *p, size_t size)
{
	p->via->take(new_block(p, size));
}

/* Takes what is owed, in blocks of about the size that was asked for. */
static void take(struct part *p, double bytes)
{
	size_t grain = p->via->grain, size;

	for (p->owed += bytes; p->owed >= grain; p->owed -= size) {
		double want = p->block ? p->block * MB * vary(50) : p->owed;

		if (p->block && p->owed < want)
			return;
		size = (size_t)(want < grain ? grain : want) / grain * grain;
		if (size > p->owed)
			size = (size_t)p->owed / grain * grain;
		take_one(p, size);
	}
}

static void give(struct part *p, double bytes)
{
	struct block *b;

	while (bytes > 0 && (b = p->oldest) && b->via->give) {
		p->oldest = b->next;
		if (!p->oldest)
			p->newest = NULL;
		if (p->at == b)
			p->at = b->next;
		p->held -= b->size;
		bytes -= b->size;
		b->via->give(b);
		free(b);
	}
}

static void level(struct part *p, double bytes)
{
	if (bytes > p->held)
		take(p, bytes - p->held - p->owed);
	else
		give(p, p->held - bytes);
}

static void base(struct part *p, double t)
{
	(void)t;
	take(p, p->size * MB);
	p->due = NEVER;
}

/* 1 on average over a day */
static double of_day(const struct part *p, double t)
{
	return 1 + p->day / 100 * sin(2 * M_PI * t / DAY);
}

static double curve(const struct part *p, double t)
{
	if (!strcmp(p->curve, "log"))
		return p->cap * log1p(t / p->tau) / log1p(DAY / p->tau);
	if (!strcmp(p->curve, "fill"))
		return p->cap * -expm1(-t / p->tau);
	return p->rate * t / 3600;
}

static void grow(struct part *p, double t)
{
	double step = curve(p, t - p->onset) - curve(p, p->begun - p->onset);

	if (t < p->onset) {
		p->begun = p->onset;
		p->due = p->onset;
		return;
	}
	if (t >= p->until || (!*p->curve && p->cap && p->held >= p->cap * MB)) {
		p->due = NEVER;
		return;
	}
	if (p->poisson) {
		/* every arrival brings the same on average, whenever it comes */
		step = p->begun > p->onset ? p->rate * p->every / 3600 * 2 * uniform() : 0;
		p->due = t - p->every / of_day(p, t) * log1p(-uniform());
	} else {
		step *= vary(p->noise) * of_day(p, t);
		p->due = t + p->every;
	}
	p->begun = t;
	if (p->via->take == take_vsz || step > 0)
		take(p, step * MB);
}

static void cache(struct part *p, double t)
{
	double step = p->cap * MB / p->fill * p->every * vary(p->noise);

	take(p, step);
	if (p->held > p->cap * MB)
		give(p, p->held - p->cap * MB);
	p->due = t + p->every;
}

static void cycle(struct part *p, double t)
{
	double since = t - p->begun;

	if (!p->scale || since >= p->period * p->phase) {
		give(p, p->held);
		p->begun = t;
		since = 0;
		p->scale = vary(p->jitter);
		p->phase = vary(p->jitter / 4);
	}
	if (since < p->rise * p->phase) {
		level(p, p->amp * MB * p->scale * since / (p->rise * p->phase));
		p->due = t + p->every;
	} else if (since < (p->rise + p->hold) * p->phase) {
		level(p, p->amp * MB * p->scale);
		p->due = p->begun + (p->rise + p->hold) * p->phase;
	} else {
		give(p, p->held);
		p->due = p->begun + p->period * p->phase;
	}
}

static void follow(struct part *p, double t)
{
	double want = p->mean;

	if (!strcmp(p->curve, "sine"))
		want += p->amp * (sin(2 * M_PI * (t / p->period - .25)) +
				  2 * uniform() * p->noise / 100);
	else if (!strcmp(p->curve, "steps"))
		want += p->amp * ((int)(uniform() * 5) - 2) / 2;
	else
		want += p->amp * (2 * uniform() - 1);
	level(p, want < 0 ? 0 : want * MB);
	p->due = t + p->every * vary(p->noise);
}

static void pool(struct part *p, double t)
{
	size_t pages = p->size * MB / PAGE;

	if (!p->area)
		p->area = map(pages * PAGE, MAP_ANONYMOUS | (!strcmp(p->via->name, "shmem") ?
							     MAP_SHARED : MAP_PRIVATE), -1);
	for (int i = 0; i < p->n * of_day(p, t); i++)
		p->area[roll() % pages * PAGE]++;
	p->due = t + p->every;
}

static void churn(struct part *p, double t)
{
	size_t size = p->size * MB;

	if (!p->area) {
		p->area = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		madvise(p->area, size, MADV_NOHUGEPAGE);
	}
	madvise(p->area, size, MADV_DONTNEED);
	touch(p->area, size);
	p->due = t + p->every * vary(p->noise);
}

/* half of it is freed lazily, another half used again */
static void lazy(struct part *p, double t)
{
	size_t size = p->size * MB / 2, half = (size / PAGE & ~1UL) * PAGE;

	if (!p->area) {
		p->area = map(2 * half, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		touch(p->area, 2 * half);
	}
	p->phase = !p->phase;
	madvise(p->area + (p->phase ? half : 0), half, MADV_FREE);
	touch(p->area + (p->phase ? 0 : half), half * uniform());
	p->due = t + p->every;
}

/* One page of eight of a new area: khugepaged makes it whole. */
static void huge(struct part *p, double t)
{
	struct block *b;

	if (p->held >= p->cap * MB) {
		p->due = NEVER;
		return;
	}
	b = new_block(p, (size_t)(p->size * MB) & ~(HUGE - 1));
	b->at = map(b->size + HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	b->at += -(uintptr_t)b->at & (HUGE - 1);
	madvise(b->at, b->size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < b->size; i += 8 * PAGE)
		b->at[i] = 1;
	madvise(b->at, b->size, MADV_HUGEPAGE);
	p->due = t + p->every;
}

/* ---- many blocks of all sizes, by several threads in turn ---- */

struct arena {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t go, done;
	int turn;
	void **live;
	size_t slots;
	double rounds, uses;
	uint64_t dice;
};

static void *fragmenter(void *arg)
{
	struct arena *a = arg;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->turn)
			pthread_cond_wait(&a->go, &a->lock);
		for (int i = 0; i < a->rounds; i++) {
			uint64_t x = a->dice * 6364136223846793005ULL + 1442695040888963407ULL;
			size_t slot = (x >> 33) % a->slots;
			/* 64 bytes to 64 KB, as many of each power */
			size_t size = (64 + ((x >> 20) & 63)) << ((x >> 28) % 11);

			a->dice = x;
			free(a->live[slot]);
			a->live[slot] = malloc(size);
			if (!a->live[slot])
				die("malloc");
			memset(a->live[slot], 1, size);
		}
		for (int i = 0; i < a->uses; i++) {
			char *p;

			a->dice = a->dice * 6364136223846793005ULL + 1442695040888963407ULL;
			p = a->live[(a->dice >> 33) % a->slots];
			for (size_t j = 0, n = malloc_usable_size(p); j < n; j += PAGE)
				(void)((volatile char *)p)[j];
		}
		a->turn = 0;
		pthread_cond_signal(&a->done);
	}
	return NULL;
}

static void frag(struct part *p, double t)
{
	struct arena *a = (struct arena *)p->area;

	if (!a) {
		a = calloc(p->n, sizeof(*a));
		p->area = (char *)a;
		for (int i = 0; i < p->n; i++) {
			a[i].slots = p->size * MB / p->n / 12000;
			a[i].live = calloc(a[i].slots, sizeof(void *));
			a[i].dice = roll();
			pthread_mutex_init(&a[i].lock, NULL);
			pthread_cond_init(&a[i].go, NULL);
			pthread_cond_init(&a[i].done, NULL);
			if (pthread_create(&a[i].thread, NULL, fragmenter, &a[i]))
				die("pthread_create");
		}
	}
	a += roll() % (int)p->n;
	pthread_mutex_lock(&a->lock);
	a->rounds = a->slots * p->share / 100 * (1 + 2 * uniform());
	a->uses = a->slots * p->hot / 100;
	a->turn = 1;
	pthread_cond_signal(&a->go);
	while (a->turn)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	p->due = t + p->every;
}

static void reader(struct part *p, double t)
{
	size_t size = p->size * MB, n = p->n * MB, from;
	int fd;

	if (!p->area) {
		fd = open(p->file ? p->file : big_file, O_RDONLY | O_CLOEXEC);
		p->area = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
		if (p->area == MAP_FAILED)
			die("file");
		close(fd);
	}
	from = (size_t)p->phase % size;
	for (size_t i = from; i < from + n && i < size; i += PAGE)
		(void)((volatile char *)p->area)[i];
	p->phase += n;
	p->due = t + p->every;
}

/* ---- children ---- */

static void rest(double seconds)
{
	struct timespec left = { (time_t)seconds, 0 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

static void cow(struct part *p, double t)
{
	p->due = t + p->every * vary(p->noise);
	if (child())
		return;
	for (int i = 0; i < nparts; i++)
		for (struct block *b = parts[i].oldest; b; b = b->next)
			if (uniform() * 100 < p->share)
				touch(b->at, b->size);
	rest(p->life);
	_exit(0);
}

static void spawn(struct part *p, double t)
{
	p->due = t + p->every * vary(p->noise);
	if (p->keep)
		take(p, p->keep / 1024 * MB);
	if (child())
		return;
	take(p, p->size * MB * vary(50));
	rest(p->life ? p->life * vary(50) : NEVER);
	_exit(0);
}

static void heir(struct part *p, double t)
{
	p->due = t + p->every * vary(p->noise);
	if (p->begun && child())
		_exit(0);
	p->begun = 1;
}

/* Each worker throws dice of its own and is not in step with the others. */
static void workers(struct part *p, double t)
{
	p->due = NEVER;
	for (int i = 1; i <= p->n; i++) {
		if (child())
			continue;
		dice ^= i * 0x9e3779b97f4a7c15ULL;
		for (int j = 0; j < 8; j++)
			roll();
		for (struct part *q = p + 1; q < parts + nparts; q++)
			q->due = t + q->every * uniform();
		return;
	}
	for (;;)
		pause();
}

static void again(struct part *p, double t)
{
	char word[32];

	p->due = t + p->every;
	if (!p->begun) {
		p->begun = 1;
		return;
	}
	snprintf(word, sizeof(word), "seed=%llu", (unsigned long long)(roll() >> 40));
	args[1] = word;
	execv("/proc/self/exe", args);
	die("exec");
}

/* Goes on where it was; every part has its turn, and none has two in a step. */
static void walk(struct part *p, double t)
{
	double left = p->n * MB;

	for (int tried = 0; left > 0 && tried < nparts; ) {
		struct part *q = &parts[(int)p->phase % nparts];
		struct block *b = q->at ? q->at : q->oldest;

		if (b && q->via->grain == PAGE && q->via->take != take_vsz) {
			for (size_t j = 0; j < b->size; j += PAGE)
				(void)((volatile char *)b->at)[j];
			left -= b->size;
			q->at = b->next;
		} else {
			q->at = NULL;
		}
		if (!q->at) {
			p->phase++;
			tried++;
		}
	}
	p->due = t + p->every;
}

static void on_hup(int sig)
{
	(void)sig;
	hups++;
}

static void hup(struct part *p, double t)
{
	(void)t;
	for (; p->begun < hups; p->begun++)
		take(p, p->size * MB * vary(p->noise));
	p->due = NEVER;
}

static const struct kind kinds[] = {
	{ "base", base }, { "grow", grow }, { "cache", cache }, { "cycle", cycle },
	{ "level", follow }, { "pool", pool }, { "churn", churn }, { "lazy", lazy },
	{ "huge", huge }, { "frag", frag }, { "reader", reader }, { "cow", cow },
	{ "spawn", spawn }, { "heir", heir }, { "fork", workers }, { "again", again },
	{ "walk", walk }, { "hup", hup },
};

/* ---- words ---- */

#define NUMBER(name)	{ #name, offsetof(struct part, name) }
static const struct {
	const char *name;
	size_t at;
} numbers[] = {
	NUMBER(rate), NUMBER(every), NUMBER(onset), NUMBER(until), NUMBER(cap), NUMBER(noise),
	NUMBER(poisson), NUMBER(day), NUMBER(tau), NUMBER(fill), NUMBER(amp), NUMBER(period),
	NUMBER(rise), NUMBER(hold), NUMBER(jitter), NUMBER(size), NUMBER(mean), NUMBER(n),
	NUMBER(life), NUMBER(share), NUMBER(hot), NUMBER(keep),
	NUMBER(block),
};

static void bad(const char *word)
{
	fprintf(stderr, "shape: '%s'? The head of its source is the manual\n", word);
	exit(2);
}

static void set(struct part *p, char *key)
{
	char *value = strchr(key, '='), *end;
	double number;

	if (!value)
		bad(key);
	*value++ = 0;
	if (!strcmp(key, "via")) {
		for (size_t i = 0; i < sizeof(vias) / sizeof(vias[0]); i++)
			if (!strcmp(vias[i].name, value)) {
				p->via = &vias[i];
				return;
			}
		bad(value);
	}
	if (!strcmp(key, "curve")) {
		p->curve = value;
		return;
	}
	if (!strcmp(key, "file")) {
		p->file = value;
		big_file = value;
		return;
	}
	number = strtod(value, &end);
	if (*end || end == value)
		bad(value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, key)) {
			*(double *)((char *)p + numbers[i].at) = number;
			return;
		}
	bad(key);
}

static void parse(const char *arg)
{
	char *word = strdup(arg), *options = strchr(word, ':');
	struct part *p = &parts[nparts++];

	if (nparts > 16)
		bad(arg);
	if (options)
		*options++ = 0;
	*p = (struct part){ .via = vias, .curve = "", .every = 10, .until = NEVER, .tau = 600 };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, word))
			p->kind = &kinds[i];
	if (!p->kind)
		bad(word);
	for (char *key = options ? strtok(options, ",") : NULL; key; key = strtok(NULL, ","))
		set(p, key);
}

int main(int argc, char **argv)
{
	unsigned long seed = 0;
	sigset_t hup_only, others;

	if (argc < 3 || sscanf(argv[1], "seed=%lu", &seed) != 1)
		bad(argc > 1 ? argv[1] : "");
	dice = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 8; i++)
		roll();
	args = argv;
	for (int i = 2; i < argc; i++)
		parse(argv[i]);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGHUP, on_hup);
	prctl(PR_SET_TIMERSLACK, 1000000000UL);	/* who is in no hurry wakes up together */
	sigemptyset(&hup_only);
	sigaddset(&hup_only, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &hup_only, &others);
	start = now();
	for (;;) {
		double t = now() - start, next = NEVER, left;

		for (int i = 0; i < nparts; i++) {
			struct part *p = &parts[i];

			if (p->due <= t || p->kind->run == hup)
				p->kind->run(p, t);
			if (p->due < next)
				next = p->due;
		}
		left = next - (now() - start);
		if (left > 0) {
			struct timespec wait = { left > 1e8 ? 100000000 : (time_t)left,
						 (long)(fmod(left, 1) * 1e9) };

			/* A step per SIGHUP comes at once, and none is lost. */
			ppoll(NULL, 0, &wait, &others);
		}
	}
}
