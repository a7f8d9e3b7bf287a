// SPDX-License-Identifier: GPL-2.0
/*
 * The input is the heap of a process, for where/heap.c, and a name of a type. The first bytes
 * choose the kind of arena, where it is cut off, and the key of cached chunks.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"
#include "fuzz.h"

#define BASE	0x7f0000000000ULL

struct heap {
	const uint8_t *data;
	size_t size, readable;
	u64 end, calls, reads;
};

static bool read_heap(void *arg, u64 addr, void *buf, size_t n)
{
	struct heap *h = arg;

	h->reads++;
	promise(addr >= BASE && n && addr - BASE + n <= h->size, "read of %zu at %llx", n, addr);
	if (addr - BASE + n > h->readable)
		return false;
	memcpy(buf, h->data + (addr - BASE), n);
	return true;
}

static void used(void *arg, u64 addr, u64 size)
{
	struct heap *h = arg;

	h->calls++;
	promise(addr >= h->end && !(size & 15) && size >= 32, "chunk %llx of %llu", addr, size);
	promise(addr + size <= BASE + h->size, "chunk %llx leads out of the heap", addr);
	h->end = addr + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap h = { .end = BASE };
	struct heap_walk w = { .read = read_heap, .used = used, .arg = &h, .lo = BASE };
	enum heap_end end;
	u64 key = 0;

	if (size < 16)
		return 0;
	memcpy(&key, data + 8, sizeof(key));
	h.data = data + 16;
	h.size = size - 16;
	h.readable = data[0] & 1 ? h.size : h.size * data[1] / 256;
	w.hi = BASE + h.size;
	w.main = data[0] & 2;
	w.keys = &key;
	w.keys_n = data[0] >> 2 & 1;
	end = heap_walk(&w);
	promise(w.end_addr >= BASE && w.end_addr <= w.hi, "the walk ended at %llx", w.end_addr);
	promise(w.free_bytes + w.cached_bytes + w.top_bytes <= h.size, "more than the heap has");
	promise(end != HEAP_AT_TOP || !h.size || h.calls <= h.size / 32, "too many chunks");
	promise(h.reads <= 8 * (h.size / 32 + 1), "%llu reads", h.reads);
	return 0;
}
