// SPDX-License-Identifier: GPL-2.0
/*
 * For allocators that are not known: pages of anonymous memory that are new since the
 * first look, and are not written while they are read twice. What occurs in more of them than
 * in pages that are not new is what the process gains. Nothing of the process is changed: the
 * soft-dirty bits stay as they are.
 *
 * A huge page comes as a whole, with the first byte that is written to it. What of it is zero was
 * not used yet, and does not count: else memory would seem to grow in steps of 2 MiB. The page map
 * does not tell whether 512 pages are one, so that they are read if the process has any huge page.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/where.h"

#define PAGE		4096U
#define PAGES_MAX	(1ULL << 28)	/* 1 TiB, of all mappings */
#define MAP_PAGES_MAX	(1ULL << 26)	/* a larger mapping is a reservation */
#define NAMES		256U
#define HUGE		512U		/* pages of a huge one */
#define READ_PAGES	64U		/* that are read at once */
#define READ_MAX	(4096 * MIB)	/* in one look; what is beyond counts as used */

static u64 mix(u64 v)
{
	v ^= v >> 31;
	v *= 0x7fb5d329728ea185ULL;
	v ^= v >> 27;
	v *= 0x81dadef4bc2dd44dULL;
	return v ^ v >> 33;
}

/* Keeps each of @seen addresses with the same chance. Returns the new number of those kept. */
static unsigned int reservoir(u64 *list, unsigned int n, u64 seen, u64 addr)
{
	u64 at;

	if (n < PAGE_SAMPLES) {
		list[n] = addr;
		return n + 1;
	}
	at = mix(seen ^ addr) % seen;
	if (at < PAGE_SAMPLES)
		list[at] = addr;
	return n;
}

static void take(struct page_look *p, struct seen *now, const struct seen *before, u64 page)
{
	p->present++;
	if (now)
		seen_add(now, page << 4);
	if (before && !seen_has(before, page << 4))
		p->n = reservoir(p->sample, p->n, ++p->fresh, page * PAGE);
	else if (before)
		p->old_n = reservoir(p->old, p->old_n, p->present - p->fresh, page * PAGE);
}

static bool is_zero(const unsigned char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* May anonymous memory of the process have huge pages? Not if the kernel says that it has none. */
static bool has_huge(const struct target *t)
{
	char *text = procfs_read(t->dir, "smaps_rollup");
	char *p = text ? strstr(text, "\nAnonHugePages:") : NULL;
	bool has = !p || strtoull(p + 15, NULL, 10);

	free(text);
	return has;
}

/*
 * Which of the pages from @page on are used: all that are there, but of a huge page those that hold
 * something. What was used @before is not read again.
 */
static void used_pages(struct target *t, const u64 *v, unsigned int n, u64 page,
		       const struct seen *before, u64 *room, bool *used)
{
	static unsigned char data[READ_PAGES * PAGE];
	bool huge = n == HUGE && *room;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		used[i] = v[i] & (PAGE_PRESENT | PAGE_SWAPPED);
		huge = huge && (v[i] & PAGE_PRESENT);
	}
	for (i = 0; huge && i < n; i += READ_PAGES) {
		for (k = i; k < i + READ_PAGES && before && seen_has(before, (page + k) << 4); k++)
			;
		if (k == i + READ_PAGES || *room < sizeof(data))
			continue;
		*room -= sizeof(data);
		if (!target_read(t, (page + i) * PAGE, data, sizeof(data)))
			continue;
		for (k = 0; k < READ_PAGES; k++)
			used[i + k] = (before && seen_has(before, (page + i + k) << 4)) ||
				      !is_zero(data + k * PAGE);
	}
}

/**
 * pages_look() - find the pages of anonymous memory that are used
 * @t: the process; its mappings are up to date
 * @p: out
 * @now: to remember them in; or NULL
 * @before: those of the earlier look; or NULL
 *
 * Return: 0, or -1 if the page map cannot be read.
 */
int pages_look(struct target *t, struct page_look *p, struct seen *now, const struct seen *before)
{
	u64 v[HUGE], page, last, scanned = 0, room;
	int pagemap = there_open(t);
	bool used[HUGE];
	size_t n, i, k;

	memset(p, 0, sizeof(*p));
	if (pagemap < 0)
		return -1;
	/* Once it has any, zeros count in no look: else they would be growth when it has none. */
	t->huge = t->huge || has_huge(t);
	room = t->huge ? READ_MAX : 0;
	for (k = 0; k < t->maps; k++) {
		const struct where_map *m = &t->map[k];

		if (!m->anon || !m->write)
			continue;
		last = m->hi / PAGE;
		if ((m->hi - m->lo) / PAGE > MAP_PAGES_MAX)
			continue;
		for (page = m->lo / PAGE; page < last && scanned < PAGES_MAX;
		     page += n, scanned += n) {
			n = HUGE - page % HUGE;
			n = there_read(pagemap, page, v, last - page < n ? last - page : n);
			if (!n)
				break;
			used_pages(t, v, (unsigned int)n, page, before, &room, used);
			for (i = 0; i < n; i++)
				if (used[i])
					take(p, now, before, page + i);
		}
	}
	close(pagemap);
	return 0;
}

/* What occurs in a page: each name once. */
static unsigned int names_of(struct target *t, const unsigned char *data, bool text,
			     struct content_count *list, unsigned int n)
{
	struct content_count own[16];
	unsigned int own_n = 0, i;
	struct content c;
	u64 word;

	for (i = 0; i + 8 <= PAGE; i += 8) {
		memset(&c, 0, sizeof(c));
		memcpy(&word, data + i, sizeof(word));
		if (content_word(t, word, &c) || content_text(data + i, PAGE - i, text, &c))
			own_n = content_add(own, own_n, ARRAY_SIZE(own), &c);
	}
	for (i = 0; i < own_n; i++)
		n = content_add(list, n, NAMES, &own[i].c);
	return n;
}

static unsigned int count_of(const struct content_count *list, unsigned int n,
			     const struct content *c)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i].c.kind == c->kind && !strcmp(list[i].c.name, c->name))
			return list[i].n;
	return 0;
}

/* Keeps in @p->sample the pages that were not written meanwhile. */
static void keep_unwritten(struct target *t, struct page_look *p, const u64 *sum)
{
	unsigned char data[PAGE] __attribute__((aligned(8)));
	unsigned int i, kept = 0, k;
	u64 now;

	for (i = 0; i < p->n; i++) {
		now = 0;
		if (!target_read(t, p->sample[i], data, sizeof(data)))
			continue;
		for (k = 0; k < PAGE; k += 8)
			now = mix(now ^ *(const u64 *)(const void *)(data + k));
		if (now == sum[i])
			p->sample[kept++] = p->sample[i];
	}
	p->n = kept;
}

static void sums(struct target *t, const struct page_look *p, u64 *sum)
{
	unsigned char data[PAGE] __attribute__((aligned(8)));
	unsigned int i, k;

	for (i = 0; i < p->n; i++) {
		sum[i] = 1;
		if (!target_read(t, p->sample[i], data, sizeof(data)))
			continue;
		for (sum[i] = 0, k = 0; k < PAGE; k += 8)
			sum[i] = mix(sum[i] ^ *(const u64 *)(const void *)(data + k));
	}
}

/**
 * pages_content() - what new pages hold
 * @t: the process
 * @p: the second look
 * @text: show text
 * @wait: waits for some seconds between two reads of the pages
 * @arg: of @wait
 * @c: out; permille is the share of the pages that have it
 *
 * Return: number of pages that were looked at, because they are not written.
 */
unsigned int pages_content(struct target *t, struct page_look *p, bool text,
			   bool (*wait)(void *arg), void *arg, struct content *c)
{
	static struct content_count new[NAMES], old[NAMES];
	unsigned int i, n = 0, old_n = 0;
	unsigned char data[PAGE] __attribute__((aligned(8)));
	u64 sum[PAGE_SAMPLES];
	double lead, best = 0;

	memset(c, 0, sizeof(*c));
	sums(t, p, sum);
	wait(arg);
	keep_unwritten(t, p, sum);
	for (i = 0; i < p->n; i++)
		if (target_read(t, p->sample[i], data, sizeof(data)))
			n = names_of(t, data, text, new, n);
	for (i = 0; i < p->old_n; i++)
		if (target_read(t, p->old[i], data, sizeof(data)))
			old_n = names_of(t, data, text, old, old_n);
	for (i = 0; i < n; i++) {
		lead = (double)new[i].n / p->n;
		if (p->old_n)
			lead -= (double)count_of(old, old_n, &new[i].c) / p->old_n;
		if (lead <= best)
			continue;
		best = lead;
		*c = new[i].c;
		c->permille = new[i].n * 1000 / p->n;
	}
	return p->n;
}
