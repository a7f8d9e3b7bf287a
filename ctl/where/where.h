/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations of `seepage where`, grouped by defining file. All that is read from the
 * process is untrusted: every size, address and list from it has a bound.
 */
#ifndef SEEPAGE_WHERE_H
#define SEEPAGE_WHERE_H

#include "ctl.h"
#include "where/frame.h"

#define KIB		1024ULL
#define MIB		(1024 * KIB)

/* target.c: the process that is looked at; it is never stopped */
struct where_map {
	u64 lo, hi;
	u64 offset;		/* of a mapped file */
	bool write;
	bool exec;
	bool anon;		/* anonymous memory, "[heap]" and named regions included */
	char *file;		/* path of a mapped file; or NULL */
	size_t header;		/* index of the mapping that has the file's ELF header */
};

struct target {
	const struct ctx *ctx;
	u32 pid;
	int dir;		/* descriptor of /proc/PID; it never names another process */
	char comm[64];
	int mem;		/* descriptor of its memory, which ends with an exec; or -1 */
	u64 start_brk;
	u64 program;		/* random, of the program that it executes; 0: not known */
	struct where_map *map;	/* by address */
	size_t maps;
	u64 read_bytes;
	u64 mark_ms;		/* time of the last mark, clock_ms(); 0: none */
	u64 searched;		/* mappings, for blocks that moved */
	bool huge;		/* it had huge pages when they were counted */
	int err;		/* errno of the last read of memory that failed */
	struct target_bound {	/* of one look */
		u64 bytes;	/* of read_bytes */
		u64 end_ns;	/* of clock_ns(); 0: there is no bound */
		u64 ask_ns;	/* when to ask @stop next; 0: no more */
		bool (*stop)(void *arg);
		void *arg;
		bool over;	/* reads fail */
	} bound;
	struct cxx *cxx;	/* for target_cxx() */
	struct used *used;	/* for used_read(); used_free() releases it */
};

int target_open(const struct ctx *ctx, u32 pid, struct target *t);
int target_refused(const struct target *t, int err);
int target_maps(struct target *t);
void target_free_maps(struct target *t);
extern unsigned int target_turn;	/* odd: a read of memory is under way, see stuck.c */
bool target_read(struct target *t, u64 addr, void *buf, size_t n);
void target_bound(struct target *t, u64 bytes, u64 seconds, bool (*stop)(void *arg), void *arg);
void target_unbound(struct target *t);
bool target_over(struct target *t);
bool target_string(struct target *t, u64 addr, char *buf, size_t size);
const struct where_map *target_at(const struct target *t, u64 addr);
u64 target_base(const struct target *t, const struct where_map *m);
bool target_alive(const struct target *t);
u64 target_anon_bytes(const struct target *t);
u64 target_start_ticks(const struct target *t);
s64 target_started(const struct target *t);
struct cxx *target_cxx(struct target *t);
void target_close(struct target *t);

/* there.c: which memory of a process was ever used; bits of an entry of /proc/PID/pagemap */
#define PAGE_PRESENT	(1ULL << 63)
#define PAGE_SWAPPED	(1ULL << 62)
int there_open(const struct target *t);
size_t there_read(int pagemap, u64 page, u64 *v, size_t n);
bool there_has(int pagemap, u64 lo, u64 hi);

/* used.c: reads memory that was used */
bool used_read(struct target *t, u64 addr, void *buf, size_t n);
bool used_has(struct target *t, u64 addr);
void used_free(struct target *t);

/* stuck.c: a last bound for a read of memory */
#define STUCK_SECONDS	30U
void stuck_watch(const struct target *t, void (*end)(void *arg), void *arg);

/* linkmap.c: files of a process in the order in which the dynamic linker looks for symbols */
size_t link_order(struct target *t, u64 *at, size_t most);
u64 link_program(const struct target *t);
u64 link_random(const struct target *t);

/* allocator.c: what is known of them. object.c: the file with the malloc() that a process calls */
enum allocator {
	ALLOCATOR_UNKNOWN,
	ALLOCATOR_GLIBC,
	ALLOCATOR_STATIC_GLIBC,
	ALLOCATOR_MUSL,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC,
	ALLOCATOR_MIMALLOC,
};

/* What tells, from outside, that a block was freed, besides other content */
enum block_rule {
	BLOCK_CHUNK,		/* the head of its chunk, of glibc */
	BLOCK_MUSL,		/* the bytes in front of it, of mallocng */
	BLOCK_LINKED,		/* a pointer in its first word, which was another one before */
	BLOCK_PLAIN,		/* nothing */
	BLOCK_BITMAP,		/* the bitmap of its slab, of jemalloc with a census */
};

/* What the functions of an allocator may have in front of their names */
enum family {
	FAMILY_PLAIN,		/* nothing */
	FAMILY_RJEM,		/* jemalloc of Rust */
	FAMILY_JE,
	FAMILIES,
};

enum object_why {
	OBJECT_NO_SYMBOL,
	OBJECT_NO_FILE,		/* none of the files could be opened */
	OBJECT_CUT,		/* not all were looked at */
};

struct object {
	char *file;		/* as the mappings have it; NULL: not found */
	enum allocator kind;
	enum family family;	/* of its functions: those of others do not count */
	bool is_local;		/* they are local ones, of a program that is linked statically */
	enum family other;	/* another one that some file has; FAMILY_PLAIN: none */
	bool is_cut;		/* not all files were looked at */
	enum object_why why;	/* it was not found */
};

#define OBJECT_LIBC	"libc"	/* a name for object_find() */
#define OBJECT_FILES	256U	/* that are looked at */
#define OBJECT_MIB	256U	/* of their tables that are read */
#define OBJECT_PREFIX	8U
bool object_find(struct target *t, const char *name, struct object *o);
bool object_other(const struct object *o, char prefix[OBJECT_PREFIX]);
const char *family_prefix(enum family family);
const struct where_map *object_map(const struct target *t, const struct object *o);
void object_drop(struct object *o);
const char *object_missing(const struct object *o);
const char *allocator_name(enum allocator kind);
bool allocator_has_chunks(enum allocator kind);
enum block_rule allocator_rule(enum allocator kind);
const char *allocator_note(enum block_rule rule);

/* mark.c */
void target_mark(struct target *t);

/* seen.c: a set of addresses, one bit for each 16 bytes */
struct seen;
struct seen *seen_new(void);
void seen_add(struct seen *s, u64 addr);
void seen_remove(struct seen *s, u64 addr);
bool seen_has(const struct seen *s, u64 addr);
void seen_free(struct seen *s);

/*
 * class.c: blocks in use by size. Blocks of malloc have a class for each chunk size up to
 * 64 KiB and one for each power of two above; pymalloc and jemalloc have classes of their own.
 */
#define CLASS_EXACT	4096U	/* chunk sizes 16, 32, .. 65520 */
#define CLASS_LARGE	32U	/* up to 2^17, 2^18, .. bytes */
#define CLASS_POOLS	32U	/* blocks of pymalloc: 16, 32, .. 512 bytes */
#define CLASS_JE	172U	/* blocks of jemalloc: 8, 16, 24, .. 2^47 bytes */
#define CLASS_OF_JE	(CLASS_EXACT + CLASS_LARGE + CLASS_POOLS)
#define CLASSES		(CLASS_OF_JE + CLASS_JE)
#define CLASS_SAMPLES	64U
#define LOST_RANGES	64U

struct where_class {
	u64 blocks, bytes;	/* in use */
	u64 old_blocks, old_bytes;	/* of these, where the earlier look could not look */
	u64 fresh;		/* blocks that the earlier look did not have */
	u64 *sample;		/* addresses of some fresh blocks; or NULL */
	unsigned int samples;
};

struct look {
	u64 ns;			/* CLOCK_MONOTONIC */
	struct seen *seen;	/* addresses of blocks in use; or NULL */
	const struct seen *before;	/* those of the earlier look; or NULL */
	const struct look *earlier;	/* or NULL */
	u64 random;
	struct where_class c[CLASSES];
	u64 heap_bytes;		/* in use */
	u64 walked_bytes;	/* size of all regions that were walked */
	u64 chunks, free_bytes, cached_bytes, mmapped_bytes, pool_bytes;
	unsigned int arenas, pools;
	unsigned int torn, retries;	/* walks without an end; windows read again */
	u64 torn_bytes;		/* not walked */
	u64 skipped_bytes;	/* swapped out and not read; a block may begin there */
	struct lost_range {
		u64 lo, hi;
	} lost[LOST_RANGES];	/* where they are */
	unsigned int lost_n;
	u64 fast_read;		/* chunks of fast bins that were read */
	bool fast_cut;		/* not all of them were */
	u64 unscanned_bytes;	/* mappings that the bounds of the search for blocks left out */
	u64 cut_ns, cut_bytes;	/* it ended after so much, before all was read; 0: it did not */
	u64 outside_bytes;	/* of the main arena, not in the data segment */
	bool no_fastbins;	/* the head of the main arena was not found */
	enum je_end {		/* of the walk of jemalloc's extents */
		JE_NONE,	/* there was none */
		JE_COUNTED,
		JE_NOT_FOUND,	/* the table that leads to them; nothing was counted */
		JE_UNSOUND,	/* they do not agree with each other; nothing is counted */
	} je;
};

unsigned int class_of_chunk(u64 size);
unsigned int class_of_pool(u32 size);
unsigned int class_of_request(u64 bytes);
bool class_is_small(unsigned int id);
u64 class_je_size(unsigned int quantum_bits, unsigned int index);
unsigned int class_of_je(u64 size);
bool class_serves(unsigned int id, u64 bytes);
bool class_from_size(u64 size_bytes, bool je, unsigned int *id);
u64 class_size(unsigned int id);
u64 class_least(unsigned int id);
u64 class_above(unsigned int id);
u64 class_room(unsigned int id);
bool class_is_pool(unsigned int id);
void look_begin(struct look *l, bool remember, const struct seen *before);
void look_restart(struct look *l);
void look_lose(struct look *l, u64 lo, u64 hi);
void look_skip(struct look *l, u64 lo, u64 hi);
void look_add(struct look *l, unsigned int id, u64 addr, u64 bytes);
void look_remove(struct look *l, unsigned int id, u64 addr, u64 bytes);
s64 class_gained(const struct look *a, const struct look *b, unsigned int id);
void look_free(struct look *l);

/* heap.c: walks the chunks of one region; pure, the source may be a buffer */
#define HEAP_WINDOW	(128 * KIB)
#define HEAP_KEYS	64U

enum heap_end {
	HEAP_AT_TOP,		/* sizes add up and lead to the top chunk or to the fence */
	HEAP_TORN,		/* a size that cannot be */
	HEAP_UNREADABLE,
};

struct heap_walk {
	bool (*read)(void *arg, u64 addr, void *buf, size_t n);
	void (*used)(void *arg, u64 addr, u64 size);	/* for each chunk in use */
	void *arg;
	u64 lo, hi;
	bool main;		/* the main arena: no chunk has the bit of the others */
	const u64 *keys;	/* marks of chunks that a thread keeps for reuse */
	unsigned int keys_n;

	/* results */
	u64 end_addr;		/* where it ended */
	u64 again_addr;		/* all chunks below are handed out: to go on from here */
	u64 top_addr;		/* 0: none, as in the older heaps of an arena */
	u64 chunks, free_bytes, cached_bytes, top_bytes;
	u64 doubts;		/* free chunks without their size behind them */
	unsigned int retries;
};

enum heap_end heap_walk(struct heap_walk *w);

/* jemalloc.c: finds the extents of jemalloc 5 and counts what is in them */
struct jemalloc {
	u64 root;		/* address of the table that leads to them; 0: not known */
	unsigned int layout;	/* of their records, enum je_layout */
	unsigned int quantum_bits;
};

void jemalloc_look(struct target *t, const char *file, struct jemalloc *je, struct look *l);
struct result;
void jemalloc_note(struct result *r, const struct look *a, const struct look *b);
bool jemalloc_is_used(struct target *t, const struct jemalloc *je, u64 addr, u64 size);

/* bins.c: free chunks that look as if they were in use */
struct bins {
	u64 keys[HEAP_KEYS];
	unsigned int keys_n;
	u64 main_top;		/* address of the word with the top of the main arena, or 0 */
	u64 layout;		/* where that word is in the head of an arena; 0: not known */
	u64 pool_block;		/* size of those of pymalloc that are looked at; or 0 */
	enum block_rule rule;	/* of all others */
	u64 mallocng;		/* its secret, if the blocks of such a heap are counted; or 0 */
	struct jemalloc je;
};

bool bins_thread_cache(struct target *t, struct bins *b, u64 chunk);
bool bins_is_key(const struct bins *b, u64 word);
bool bins_may_be_cache(u64 size);
void bins_fast(struct target *t, u64 top, u64 layout, struct look *l);

/* state.c: heads of arenas */
void state_find_main(struct target *t, struct bins *b, u64 lo, u64 hi);
u64 state_of_heap(struct target *t, struct bins *b, u64 state);
u64 state_bytes(u64 layout);
u64 state_system_bytes(struct target *t, u64 top);

/* arena.c: finds the heaps of glibc and counts what is in them */
#define HEAP_ALIGN	(64 * MIB)	/* all heaps but the main one begin at multiples of it */
void arena_look(struct target *t, struct bins *b, struct look *l);
bool arena_heap_info(struct target *t, u64 lo, u64 info[4]);

/* mmapped.c: finds the chunks of glibc that have mappings of their own */
void mmapped_look(struct target *t, struct look *l);
void mmapped_find(struct target *t, struct look *l,
		  void (*each)(void *arg, u64 addr, u64 size), void *arg);

/* mallocng.c: the heap of musl */
bool mallocng_look(struct target *t, struct bins *b, struct look *l);
bool mallocng_is_used(struct target *t, const struct bins *b, u64 addr);

/* pool.c: the pools of pymalloc, python's allocator for blocks of up to 512 bytes */
#define POOL_BYTES	(16 * KIB)
void pool_look(struct target *t, struct look *l);
bool pool_is_used(struct target *t, u64 addr, u64 size);

/* content.c: what kind of data a block holds */
enum content_kind {
	CONTENT_NONE,		/* not looked at, or unreadable */
	CONTENT_VTABLE,		/* an object of a C++ class */
	CONTENT_PYTHON,
	CONTENT_TEXT,
	CONTENT_POINTER,
	CONTENT_ZERO,
	CONTENT_BINARY,
};

#define CONTENT_KINDS	4	/* that are shown of a class */

struct content {
	enum content_kind kind;
	char name[CONTENT_NAME];	/* or empty: none, or not to be shown */
	unsigned int permille;		/* share of the sampled blocks */
};

const char *content_kind_name(enum content_kind kind);
void content_of(struct target *t, const u64 *addr, unsigned int n, size_t bytes, bool text,
		struct content c[CONTENT_KINDS]);
struct content_count {
	struct content c;
	unsigned int n;
};

unsigned int content_add(struct content_count *list, unsigned int n, unsigned int max,
			 const struct content *c);
bool content_word(struct target *t, u64 word, struct content *c);
bool content_text(const unsigned char *data, size_t n, bool show, struct content *c);

/* symbol.c: the symbol at an address, from the ELF file that is mapped there */
bool symbol_at(struct target *t, u64 addr, char *buf, size_t size);
bool symbol_find(struct target *t, const char *name, u64 *addr);

struct symbol {
	const char *name;
	u64 addr, size;		/* addr 0: not found */
};

void symbols_find(const struct target *t, const struct where_map *m, struct symbol *s, size_t n);
int map_open(const struct target *t, const struct where_map *m);
int elf_open(const char *path);

/* cxx.c: names of C++ functions and types */
#define CXX_NAME	4096U

struct cxx;
struct cxx *cxx_new(void);
bool cxx_name(struct cxx *c, const char *symbol, char *buf);
bool cxx_type(struct cxx *c, const char *type, char *buf);
void cxx_free(struct cxx *c);

/* pages.c: for allocators that are not known: pages that are new and stay as they are */
#define PAGE_SAMPLES	400U

struct page_look {
	u64 present, fresh;	/* pages of anonymous memory that are used */
	unsigned int n, old_n;
	u64 sample[PAGE_SAMPLES];	/* of fresh ones */
	u64 old[PAGE_SAMPLES];		/* of the others, to compare with */
};

int pages_look(struct target *t, struct page_look *p, struct seen *now, const struct seen *before);
unsigned int pages_content(struct target *t, struct page_look *p, bool text,
			   bool (*wait)(void *arg), void *arg, struct content *c);

/* result.c: the difference of two looks */
struct where_row {
	unsigned int id;
	u64 blocks;
	s64 growth_blocks, growth_bytes;
	unsigned int permille;		/* share of the growth of all classes that grew */
	struct content content[CONTENT_KINDS];	/* the largest share first; others are empty */
};

#define BURSTS_MAX	16U	/* of an answer; there are five at most */

struct result {
	const struct target *t;
	const char *method, *allocator;
	bool pages;		/* the one class is pages of memory */
	u64 heap_bytes;
	s64 growth;		/* bytes, of all classes */
	double seconds;
	u64 look_time_ns;	/* of the second look, since 1970 */
	u64 traps, samples, cost_permille;	/* of a burst */
	bool has_others;	/* beside the burst that names sites, */
	u64 other_calls;	/* calls for sizes that are not of its class, */
	u64 other_blocks;	/* and blocks that other classes that grew have more in that time */
	struct where_row *row;	/* by growth, largest first */
	size_t rows;
	struct where_row *block;	/* the same of chunks, if the row is of pages; or NULL */
	size_t blocks;
	struct json_object *notes, *sites;
	u64 sampled[BURSTS_MAX];	/* class_bytes of each burst; 0: all sizes */
	size_t bursts;
	struct json_object *before;	/* with --diff, sites of a burst in the file; or NULL */
	struct json_object *changes;	/* of the sites since then; or NULL */
	const char *profiler;	/* how to ask the runtime for its own profile; NULL: it has none */
};

void result_compare(struct result *r, const struct look *a, const struct look *b);
bool result_earlier(const struct ctx *ctx, const char *file, const struct target *t,
		    const struct look *now, struct look *l, struct result *r);
void __printf(2, 3) result_note(struct result *r, const char *fmt, ...);
s64 result_per_hour(const struct result *r, s64 bytes);

/* changes.c: sites of two answers */
struct json_object *changes_find(struct json_object *before, struct json_object *now,
				 const u64 *sampled, size_t bursts);
void changes_text(FILE *f, struct json_object *change);

/* runtime.c */
void runtime_notes(const struct target *t, struct result *r);

/* svg.c */
void show_svg(const struct result *r, FILE *f);

/* zoom.c */
void svg_script(FILE *f);

/* drawing.c: the file of --svg */
struct drawing {
	const char *path;
	FILE *f;		/* NULL: none, or it is written */
	bool is_new;
};

int drawing_open(const struct ctx *ctx, const char *path, struct drawing *d);
int drawing_write(const struct ctx *ctx, struct drawing *d, const struct result *r);
void drawing_drop(struct drawing *d);

/* show.c */
void show_table(const struct result *r, size_t top);
void show_folded(const struct result *r);
#define CONTENT_CELL	(2 * CONTENT_NAME)
void content_cell(const struct where_row *row, char *buf, size_t size);
const char *size_cell(const struct where_row *row, char *buf, size_t size);
struct json_object *result_json(const struct result *r, size_t top, size_t sites);

#endif /* SEEPAGE_WHERE_H */
