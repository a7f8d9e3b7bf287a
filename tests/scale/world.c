// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel around the module, as far as the simulation needs one: CPUs with per-CPU areas,
 * processes, a clock that is set, memory, works, and the functions that the module imports.
 * It is compiled with the kernel's own headers and flags, so that structures and inline
 * functions are the real ones.
 *
 * Functions marked __standin are short ones on the measured paths, written as the kernel has
 * them; their instructions are counted with the module's. What the others do is not counted,
 * but the lines that they write move to the CPU that runs them.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/idr.h>
#include <linux/irq_work.h>
#include <linux/kernfs.h>
#include <linux/kernel.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/swait.h>
#include <linux/swap.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <asm/alternative.h>
#include <asm/trap_pf.h>
#include "scale.h"
#include "lives.h"

#define __standin __section("standin_text")

/* lib.S */
void k_set_gs(unsigned long base);
void k_die(const char *text);
void *k_writable(void *begin, void *end);

static struct scale_shared *const shared = (void *)SCALE_SHARED;

/* ---- CPUs ---- */

DEFINE_PER_CPU(struct task_struct *, current_task);
DEFINE_PER_CPU(int, __preempt_count);
DEFINE_PER_CPU_READ_MOSTLY(int, cpu_number);
DEFINE_PER_CPU_READ_MOSTLY(unsigned long, this_cpu_off);
unsigned long __per_cpu_offset[NR_CPUS];
struct cpumask __cpu_possible_mask, __cpu_online_mask;
unsigned int nr_cpu_ids;
unsigned int nr_online_nodes = 1;
atomic_t __num_online_cpus;
struct cpuinfo_x86 boot_cpu_data;
struct paravirt_patch_template pv_ops;

static unsigned long base_of(unsigned int cpu)
{
	return SCALE_ARENA + cpu * SCALE_STRIDE - SCALE_PERCPU;
}

/* From here on @cpu runs. */
static void run_on(unsigned int cpu)
{
	k_set_gs(base_of(cpu));
	shared->cpu = cpu;
}

static void start_cpus(unsigned int cpus)
{
	extern char __start_scale_percpu[], __stop_scale_percpu[];
	unsigned int cpu;

	if (__stop_scale_percpu - __start_scale_percpu > SCALE_STRIDE)
		k_die("the module's per-CPU data is larger than SCALE_STRIDE");
	nr_cpu_ids = cpus;
	atomic_set(&__num_online_cpus, cpus);
	for (cpu = 0; cpu < cpus; cpu++) {
		__per_cpu_offset[cpu] = base_of(cpu);
		memcpy(__start_scale_percpu + base_of(cpu), __start_scale_percpu,
		       __stop_scale_percpu - __start_scale_percpu);
		run_on(cpu);
		this_cpu_write(cpu_number, cpu);
		this_cpu_write(this_cpu_off, base_of(cpu));
		this_cpu_write(__preempt_count, PREEMPT_NEED_RESCHED);
		this_cpu_write(current_task, &init_task);
		cpumask_set_cpu(cpu, &__cpu_possible_mask);
		cpumask_set_cpu(cpu, &__cpu_online_mask);
	}
	run_on(0);
}

void __percpu *__alloc_percpu(size_t size, size_t align)
{
	extern char __start_scale_percpu[], __stop_scale_percpu[];
	static size_t used;

	if (!used)
		used = __stop_scale_percpu - __start_scale_percpu;
	used = ALIGN(used, align) + size;
	if (used > SCALE_STRIDE)
		k_die("the module's per-CPU data is larger than SCALE_STRIDE");
	return (void __percpu *)(__start_scale_percpu + used - size);
}

void free_percpu(void __percpu *p)
{
}

struct w_process *w_restless;

int smp_call_function_single(int cpu, smp_call_func_t func, void *info, int wait)
{
	unsigned int from = shared->cpu;

	if (!cpu_online(cpu))
		return -ENXIO;
	run_on(cpu);
	func(info);
	if (w_restless && cpu == 1)
		w_fault(cpu, w_restless);
	run_on(from);
	return 0;
}

void on_each_cpu_cond_mask(smp_cond_func_t cond, smp_call_func_t func, void *info, bool wait,
			   const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		if (!cond || cond(cpu, info))
			smp_call_function_single(cpu, func, info, true);
}

static int (*is_dead)(unsigned int cpu);

int __cpuhp_setup_state(enum cpuhp_state state, const char *name, bool invoke,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu),
			bool multi)
{
	if (state == CPUHP_BP_PREPARE_DYN)
		is_dead = teardown;
	return 0;
}

/* A CPU has stopped. Where that is not @told, the module was not called yet. */
void w_offline(unsigned int cpu, bool told)
{
	cpumask_clear_cpu(cpu, &__cpu_online_mask);
	if (told)
		is_dead(cpu);
}

void cpus_read_lock(void)
{
}

void cpus_read_unlock(void)
{
}

/* As apply_alternatives() and its like do at load, on a processor that needs no mitigation. */
static void patch(void *at, const void *with, size_t n, size_t room)
{
	u8 *code = at;
	size_t i;

	memcpy(code, with, n);
	/* User space may not switch interrupts: nop takes one instruction as well. */
	for (i = 0; i < n; i++)
		if (n <= 2 && (code[i] == 0xfa || code[i] == 0xfb))
			code[i] = 0x90;
	if (n == room)
		return;
	if (room - n > 8)
		k_die("an alternative is much shorter than what it replaces");
	memcpy(code + n, x86_nops[room - n], room - n);
}

/* One no-op of each length. */
const unsigned char * const x86_nops[ASM_NOP_MAX + 1] = {
	NULL, "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00",
	"\x0f\x1f\x84\x00\x00\x00\x00\x00",
};

void w_patch(void)
{
	extern char __start_module_text[], __stop_module_text[];
	extern char __start_world_text[], __stop_world_text[];
	extern char __start_standin_text[], __stop_standin_text[];
	extern struct alt_instr __start_scale_alternatives[], __stop_scale_alternatives[];
	extern s32 __start_scale_returns[], __stop_scale_returns[];
	/* weak: no such section where nothing is compiled for the function tracer */
	extern unsigned long __start___mcount_loc[] __attribute__((weak));
	extern unsigned long __stop___mcount_loc[] __attribute__((weak));
	struct alt_instr *a;
	unsigned long *call;
	s32 *r;

	k_writable(__start_module_text, __stop_module_text);
	k_writable(__start_world_text, __stop_world_text);
	k_writable(__start_standin_text, __stop_standin_text);
	for (a = __start_scale_alternatives; a < __stop_scale_alternatives; a++)
		if (a->cpuid == (X86_FEATURE_XENPV | ALTINSTR_FLAG_INV))
			patch((u8 *)&a->instr_offset + a->instr_offset,
			      (u8 *)&a->repl_offset + a->repl_offset, a->replacementlen,
			      a->instrlen);
	for (r = __start_scale_returns; r < __stop_scale_returns; r++)
		memcpy((u8 *)r + *r, "\xc3\xcc\xcc\xcc\xcc", 5);
	for (call = __start___mcount_loc; call < __stop___mcount_loc; call++)
		memcpy((void *)*call, x86_nops[5], 5);
	shared->counted[0][0] = (unsigned long)__start_module_text;
	shared->counted[0][1] = (unsigned long)__stop_module_text;
	shared->counted[1][0] = (unsigned long)__start_standin_text;
	shared->counted[1][1] = (unsigned long)__stop_standin_text;
	shared->followed[0] = (unsigned long)__start_world_text;
	shared->followed[1] = (unsigned long)__stop_world_text;
}

/* ---- memory ---- */

struct kmem_cache {
	const char *name;
	size_t size, align;
	void *free;
};

static unsigned long brk = SCALE_HEAP;
static u64 live;		/* bytes that the module holds */
static struct kmem_cache caches[64];
static u32 n_caches;
static struct task_struct worker;

bool w_short, w_scattered;

struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];

static void *carve(size_t size, size_t align)
{
	brk = ALIGN(brk, align);
	brk += size;
	if (brk > SCALE_END - SCALE_MMS * SCALE_MM_BYTES)
		k_die("the arena is full");
	return (void *)(brk - size);
}

static struct kmem_cache *cache_of(const char *name, size_t size, size_t align)
{
	struct kmem_cache *c;

	for (c = caches; c < caches + n_caches; c++)
		if (c->size == size && c->align == align && !strcmp(c->name, name))
			return c;
	if (n_caches == ARRAY_SIZE(caches))
		k_die("more kinds of object than caches[] holds");
	n_caches++;
	c->name = name;
	c->size = size;
	c->align = align;
	return c;
}

/*
 * Objects lie side by side, as in a slab, so that two may share a line. Return: NULL: memory is
 * short.
 */
static void *take(struct kmem_cache *c, gfp_t flags)
{
	void *object = c->free;

	if (flags & __GFP_DIRECT_RECLAIM && this_cpu_read(current_task) == &worker)
		k_die("the worker allocates in a way that may wait for memory");
	if (w_short)
		return NULL;
	if (object)
		c->free = *(void **)object;
	else
		object = carve(c->size, c->align);
	if (flags & __GFP_ZERO)
		memset(object, 0, c->size);
	return object;
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     slab_flags_t flags, void (*ctor)(void *))
{
	align = max_t(u32, align, flags & SLAB_HWCACHE_ALIGN ? L1_CACHE_BYTES : sizeof(void *));
	return cache_of(name, ALIGN(size, align), align);
}

void *kmem_cache_alloc(struct kmem_cache *c, gfp_t flags)
{
	void *object = take(c, flags);

	if (object)
		live += c->size;
	return object;
}

void kmem_cache_free(struct kmem_cache *c, void *object)
{
	live -= c->size;
	*(void **)object = c->free;
	c->free = object;
}

/* What kmalloc() gives has its cache in front. */
struct block {
	struct kmem_cache *cache;
	u64 data[];
};

void *__kmalloc(size_t size, gfp_t flags)
{
	static const u32 sizes[] = { 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096,
				     8192 };
	size_t align = L1_CACHE_BYTES, full = PAGE_ALIGN(size);
	struct block *b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] < size; i++)
		;
	if (i < ARRAY_SIZE(sizes)) {
		full = sizes[i];
		align = full & (full - 1) ? L1_CACHE_BYTES / 2 : min_t(size_t, full, PAGE_SIZE);
	}
	if (w_scattered && size > PAGE_SIZE)
		return NULL;
	/* a line of its own for the head, which the kernel does not have */
	align = max_t(size_t, align, L1_CACHE_BYTES);
	b = take(cache_of("kmalloc", align + full, align), flags);
	if (!b)
		return NULL;
	b = (void *)b + align - sizeof(*b);
	b->cache = cache_of("kmalloc", align + full, align);
	live += full;
	return b->data;
}

static struct block *block_of(const void *p)
{
	return container_of(p, struct block, data);
}

size_t ksize(const void *p)
{
	struct kmem_cache *c = block_of(p)->cache;

	return c->size - c->align;
}

void kfree(const void *p)
{
	struct kmem_cache *c;

	if (!p)
		return;
	c = block_of(p)->cache;
	live -= c->size - c->align;
	p -= c->align;
	*(void **)p = c->free;
	c->free = (void *)p;
}

void *mempool_kmalloc(gfp_t flags, void *size)
{
	return __kmalloc((size_t)size, flags);
}

void mempool_kfree(void *element, void *size)
{
	kfree(element);
}

mempool_t *mempool_create(int min_nr, mempool_alloc_t *alloc, mempool_free_t *free, void *data)
{
	mempool_t *pool = __kmalloc(sizeof(*pool), GFP_KERNEL | __GFP_ZERO);

	pool->alloc = alloc;
	pool->free = free;
	pool->pool_data = data;
	pool->min_nr = min_nr;
	pool->elements = __kmalloc(min_nr * sizeof(void *), GFP_KERNEL);
	while (pool->curr_nr < min_nr)
		pool->elements[pool->curr_nr++] = alloc(GFP_KERNEL, data);
	return pool;
}

void mempool_destroy(mempool_t *pool)
{
	while (pool->curr_nr)
		pool->free(pool->elements[--pool->curr_nr], pool->pool_data);
	kfree(pool->elements);
	kfree(pool);
}

void *mempool_alloc(mempool_t *pool, gfp_t flags)
{
	void *element = pool->alloc(flags, pool->pool_data);

	return element || !pool->curr_nr ? element : pool->elements[--pool->curr_nr];
}

void mempool_free(void *element, mempool_t *pool)
{
	if (element && pool->curr_nr < pool->min_nr)
		pool->elements[pool->curr_nr++] = element;
	else if (element)
		pool->free(element, pool->pool_data);
}

void *kmalloc_trace(struct kmem_cache *c, gfp_t flags, size_t size)
{
	return __kmalloc(size, flags);
}

void *kmalloc_large(size_t size, gfp_t flags)
{
	return __kmalloc(size, flags);
}

void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
	return __kmalloc(size, flags);
}

void kvfree(const void *p)
{
	kfree(p);
}

void *kmemdup(const void *from, size_t size, gfp_t flags)
{
	void *to = __kmalloc(size, flags);

	memcpy(to, from, size);
	return to;
}

char *kstrdup(const char *text, gfp_t flags)
{
	return kmemdup(text, strlen(text) + 1, flags);
}

/* Bytes that the module holds. */
u64 w_bytes(void)
{
	return live;
}

/* Size of the objects of a cache, or 0. */
u64 w_object(const char *name)
{
	struct kmem_cache *c;

	for (c = caches; c < caches + n_caches; c++)
		if (!strcmp(c->name, name))
			return c->size;
	return 0;
}

atomic_long_t vm_node_stat[NR_VM_NODE_STAT_ITEMS] ____cacheline_aligned_in_smp;
atomic_long_t nr_swap_pages;

bool w_little;

long si_mem_available(void)
{
	return w_little ? w_available : 1L << 26;	/* 256 GiB */
}

/* ---- locks and time ---- */

void __standin __rcu_read_lock(void)
{
	WRITE_ONCE(current->rcu_read_lock_nesting, READ_ONCE(current->rcu_read_lock_nesting) + 1);
	barrier();
}

void __standin __rcu_read_unlock(void)
{
	struct task_struct *t = current;
	int left = READ_ONCE(t->rcu_read_lock_nesting) - 1;

	barrier();
	WRITE_ONCE(t->rcu_read_lock_nesting, left);
	if (!left && unlikely(READ_ONCE(t->rcu_read_unlock_special.s)))
		k_die("rcu_read_unlock_special");
}

void __lockfunc _raw_spin_lock(raw_spinlock_t *lock)
{
	__this_cpu_inc(__preempt_count);
	if (unlikely(atomic_cmpxchg_acquire(&lock->raw_lock.val, 0, 1)))
		k_die("a spinlock is taken twice");
}

void __lockfunc _raw_spin_unlock(raw_spinlock_t *lock)
{
	smp_store_release(&lock->raw_lock.locked, 0);	/* as queued_spin_unlock() */
	__this_cpu_dec(__preempt_count);
}

void mutex_lock(struct mutex *lock)
{
	if (atomic_long_cmpxchg(&lock->owner, 0, 1))
		k_die("a mutex is taken twice");
}

int mutex_lock_killable(struct mutex *lock)
{
	mutex_lock(lock);
	return 0;
}

int mutex_trylock(struct mutex *lock)
{
	return !atomic_long_cmpxchg(&lock->owner, 0, 1);
}

extern struct mutex seep_table_mutex;
unsigned int w_released;

void mutex_unlock(struct mutex *lock)
{
	w_released += lock == &seep_table_mutex;
	atomic_long_set(&lock->owner, 0);
}

void synchronize_srcu(struct srcu_struct *s)
{
}

void __init_swait_queue_head(struct swait_queue_head *q, const char *name,
			     struct lock_class_key *key)
{
}

#define START_NS (NSEC_PER_SEC * 1000)
static u64 now = START_NS;
unsigned long volatile __cacheline_aligned_in_smp jiffies = START_NS / TICK_NSEC;

u64 w_now(void)
{
	return now;
}

u64 w_grace_ns;			/* that a grace period takes from now on */

void synchronize_rcu(void)
{
	now += w_grace_ns;
}

void w_advance(u64 ns)
{
	now += ns;
	jiffies = now / TICK_NSEC;
}

signed long schedule_timeout_uninterruptible(signed long ticks)
{
	w_advance(ticks * TICK_NSEC);
	return 0;
}

ktime_t ktime_get(void)
{
	return now;
}

u64 ktime_get_mono_fast_ns(void)
{
	return now;
}

ktime_t ktime_get_with_offset(enum tk_offsets offs)
{
	return now;
}

u64 sched_clock_cpu(int cpu)
{
	return now;
}

unsigned long nsecs_to_jiffies(u64 n)
{
	return n / TICK_NSEC;
}

unsigned long __msecs_to_jiffies(const unsigned int ms)
{
	return DIV_ROUND_UP(ms, MSEC_PER_SEC / HZ);
}

u64 get_random_u64(void)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

void get_random_bytes(void *to, size_t n)
{
	u64 x;
	size_t at;

	for (at = 0; at < n; at += sizeof(x)) {
		x = get_random_u64();
		memcpy(to + at, &x, min(n - at, sizeof(x)));
	}
}

#define SIPROUND(v)							\
	((v)[0] += (v)[1], (v)[1] = rol64((v)[1], 13) ^ (v)[0], (v)[0] = rol64((v)[0], 32),	\
	 (v)[2] += (v)[3], (v)[3] = rol64((v)[3], 16) ^ (v)[2],	\
	 (v)[0] += (v)[3], (v)[3] = rol64((v)[3], 21) ^ (v)[0],	\
	 (v)[2] += (v)[1], (v)[1] = rol64((v)[1], 17) ^ (v)[2], (v)[2] = rol64((v)[2], 32))

u64 __standin siphash_4u64(u64 a, u64 b, u64 c, u64 d, const siphash_key_t *key)
{
	u64 v[] = { 0x736f6d6570736575ULL ^ key->key[0], 0x646f72616e646f6dULL ^ key->key[1],
		    0x6c7967656e657261ULL ^ key->key[0], 0x7465646279746573ULL ^ key->key[1] };
	const u64 words[] = { a, b, c, d, 32ULL << 56 };
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		v[3] ^= words[i];
		SIPROUND(v);
		SIPROUND(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		SIPROUND(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

unsigned long __standin int_sqrt(unsigned long x)
{
	unsigned long root = 0, bit;

	if (x <= 1)
		return x;
	for (bit = 1UL << (__fls(x) & ~1UL); bit; bit >>= 2) {
		unsigned long with = root + bit;

		root >>= 1;
		if (x >= with) {
			x -= with;
			root += bit;
		}
	}
	return root;
}

/* ---- lists, bits ---- */

bool __standin __list_add_valid(struct list_head *new, struct list_head *prev,
				struct list_head *next)
{
	return likely(prev && next && next->prev == prev && prev->next == next && new != prev &&
		      new != next);
}

bool __standin __list_del_entry_valid(struct list_head *entry)
{
	struct list_head *prev = entry->prev, *next = entry->next;

	return likely(next && prev && next != LIST_POISON1 && prev != LIST_POISON2 &&
		      prev->next == entry && next->prev == entry);
}

unsigned long __standin _find_next_bit(const unsigned long *bits, unsigned long n,
				       unsigned long start)
{
	unsigned long i = start / BITS_PER_LONG, word;

	if (unlikely(start >= n))
		return n;
	for (word = bits[i] & ~0UL << start % BITS_PER_LONG; !word; word = bits[i])
		if (++i * BITS_PER_LONG >= n)
			return n;
	return min(i * BITS_PER_LONG + __ffs(word), n);
}

unsigned long __standin _find_first_bit(const unsigned long *bits, unsigned long n)
{
	return _find_next_bit(bits, n, 0);
}

unsigned int __standin __bitmap_weight(const unsigned long *bits, unsigned int n)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n / BITS_PER_LONG; i++)
		sum += __builtin_popcountl(bits[i]);
	if (n % BITS_PER_LONG)
		sum += __builtin_popcountl(bits[i] & BITMAP_LAST_WORD_MASK(n));
	return sum;
}

bool llist_add_batch(struct llist_node *first, struct llist_node *last, struct llist_head *head)
{
	last->next = head->first;
	head->first = first;
	return !last->next;
}

struct llist_node *llist_del_first(struct llist_head *head)
{
	struct llist_node *first = head->first;

	if (first)
		head->first = first->next;
	return first;
}

/* ---- works ---- */

static struct queued {
	struct work_struct *work;
	u64 due;
} queue[16];
static struct irq_work *raised;
struct workqueue_struct *system_wq;

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int max, ...)
{
	return carve(64, 64);
}

static struct queued *entry_of(const struct work_struct *work)
{
	struct queued *q;

	for (q = queue; q < queue + ARRAY_SIZE(queue); q++)
		if (q->work == work)
			return q;
	if (!work)
		k_die("more works than queue[] holds");
	return NULL;
}

static bool queue_at(struct work_struct *work, u64 due)
{
	struct queued *q;

	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	q = entry_of(NULL);
	q->work = work;
	q->due = due;
	return true;
}

bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			   unsigned long delay)
{
	return queue_at(&work->work, now + delay * TICK_NSEC);
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	return queue_at(&rwork->work, now + w_grace_ns);
}

bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			 unsigned long delay)
{
	struct queued *q = entry_of(&work->work);

	if (!q)
		return !queue_delayed_work_on(cpu, wq, work, delay);
	q->due = now + delay * TICK_NSEC;
	return true;
}

bool irq_work_queue(struct irq_work *work)
{
	if (raised && raised != work)
		k_die("two irq_works are raised, which irq_work_queue() of world.c does not know");
	raised = work;
	return true;
}

/* Interrupts that were raised meanwhile. */
void w_interrupts(void)
{
	struct irq_work *work = raised;

	raised = NULL;
	if (work)
		work->func(work);
}

static struct queued *next_work(void)
{
	struct queued *q, *first = NULL;

	for (q = queue; q < queue + ARRAY_SIZE(queue); q++)
		if (q->work && (!first || q->due < first->due))
			first = q;
	if (!first)
		k_die("the module has queued no work");
	return first;
}

/* Time passes until a work is due. */
void w_sleep(void)
{
	now = max(now, next_work()->due);
	jiffies = now / TICK_NSEC;
}

/* Run the works that are due, on @cpu. Return: how many. */
u32 w_work(u32 cpu)
{
	struct queued *q;
	u32 n = 0;

	run_on(cpu);
	this_cpu_write(current_task, &worker);
	for (q = next_work(); q->due <= now; q = next_work()) {
		struct work_struct *work = q->work;

		q->work = NULL;
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
		work->func(work);
		n++;
	}
	this_cpu_write(current_task, &init_task);
	return n;
}

/* ---- processes ---- */

struct task_struct init_task;
struct user_namespace init_user_ns;
struct pid_namespace init_pid_ns;
static struct cred cred = { .user_ns = &init_user_ns };
static struct kernfs_node directory = { .id = 1 };
static struct cgroup cgroup = { .kn = &directory };
static struct css_set css_set = { .dfl_cgrp = &cgroup };

struct w_process {
	struct task_struct task;
	struct signal_struct signal ____cacheline_aligned;
	struct mm_struct *mm;
	struct pid pid ____cacheline_aligned;
	struct upid number[2];		/* pid.numbers, a flexible array in some kernels */
};

/*
 * Memory for a mm, in no order, as from a slab of the kernel after a while. The length of the
 * module's hash chains depends on these addresses, so they depend on nothing else.
 */
static struct mm_struct *next_mm(void)
{
	static u32 n;
	u32 slot = n++ & (SCALE_MMS - 1);

	/* each step maps 17 bits one to one */
	BUILD_BUG_ON(SCALE_MMS != 1 << 17);
	BUILD_BUG_ON(sizeof(struct mm_struct) + sizeof(struct cpumask) > SCALE_MM_BYTES);
	slot = (slot * 0x9e3b5 + 77) & (SCALE_MMS - 1);
	slot ^= slot >> 9;
	slot = slot * 0x85eb5 & (SCALE_MMS - 1);
	slot ^= slot >> 7;
	if (n > SCALE_MMS)
		k_die("more processes than SCALE_MMS");
	return (void *)(SCALE_END - (slot + 1) * SCALE_MM_BYTES);
}

/*
 * pid number -> struct pid, instead of init_pid_ns.idr: a tree of three levels with 64 slots
 * a node, as the kernel's becomes with 100 000 processes.
 */
struct pid_node {
	void *slot[64];
};

static struct pid_node pids;

static void add_pid(int nr, struct pid *pid)
{
	void **slot = &pids.slot[nr >> 12];

	if (!*slot)
		*slot = carve(sizeof(struct pid_node), L1_CACHE_BYTES);
	slot = &((struct pid_node *)*slot)->slot[nr >> 6 & 63];
	if (!*slot)
		*slot = carve(sizeof(struct pid_node), L1_CACHE_BYTES);
	((struct pid_node *)*slot)->slot[nr & 63] = pid;
}

struct pid __standin *find_pid_ns(int nr, struct pid_namespace *ns)
{
	const struct pid_node *node = nr >> 18 ? NULL : pids.slot[nr >> 12];

	node = node ? node->slot[nr >> 6 & 63] : NULL;
	return node ? node->slot[nr & 63] : NULL;
}

unsigned int w_visits;

/* From the root down each time; where a node is missing, on to what follows it. */
void __standin *idr_get_next(struct idr *idr, int *next)
{
	const struct pid_node *node;
	int nr = *next;

	w_visits++;
	while (nr < 1 << 18) {
		node = pids.slot[nr >> 12];
		if (!node) {
			nr = ((nr >> 12) + 1) << 12;
			continue;
		}
		node = node->slot[nr >> 6 & 63];
		if (!node) {
			nr = ((nr >> 6) + 1) << 6;
			continue;
		}
		do {
			if (node->slot[nr & 63]) {
				*next = nr;
				return node->slot[nr & 63];
			}
		} while (++nr & 63);
	}
	return NULL;
}

static void start_processes(void)
{
	INIT_LIST_HEAD(&init_task.tasks);
	init_task.group_leader = &init_task;
	RCU_INIT_POINTER(init_task.real_parent, &init_task);
	RCU_INIT_POINTER(init_task.real_cred, &cred);
	worker = init_task;
	worker.flags = PF_KTHREAD;
}

/* A process of one thread with a few MB. It runs on no CPU and has not faulted. */
struct w_process *w_fork(const char *comm)
{
	static int last_pid;
	struct w_process *p = carve(sizeof(*p), L1_CACHE_BYTES);
	struct task_struct *t = &p->task;
	int i;

	p->mm = next_mm();
	atomic_set(&p->mm->mm_users, 1);
	atomic_set(&p->mm->mm_count, 1);
	p->mm->task_size = 1UL << 47;
	p->mm->total_vm = 5000;
	atomic_long_set(&p->mm->pgtables_bytes, 16 * PAGE_SIZE);
	atomic_long_set(&p->mm->rss_stat.count[MM_ANONPAGES], 600);
	atomic_long_set(&p->mm->rss_stat.count[MM_FILEPAGES], 400);
	for (i = 0; i < RLIM_NLIMITS; i++)
		p->signal.rlim[i].rlim_cur = RLIM_INFINITY;
	p->signal.nr_threads = 1;
	atomic_set(&p->signal.live, 1);
	INIT_LIST_HEAD(&p->signal.thread_head);
	refcount_set(&p->pid.count, 1);
	p->pid.numbers[0].nr = ++last_pid;
	p->pid.numbers[0].ns = &init_pid_ns;
	p->signal.pids[PIDTYPE_TGID] = &p->pid;
	add_pid(last_pid, &p->pid);

	t->mm = p->mm;
	t->pid = last_pid;
	t->tgid = last_pid;
	t->group_leader = t;
	t->signal = &p->signal;
	t->thread_pid = &p->pid;
	t->start_time = now;
	strscpy(t->comm, comm, sizeof(t->comm));
	spin_lock_init(&t->alloc_lock);
	RCU_INIT_POINTER(t->real_parent, &init_task);
	RCU_INIT_POINTER(t->real_cred, &cred);
	RCU_INIT_POINTER(t->cred, &cred);
	RCU_INIT_POINTER(t->cgroups, &css_set);
	hlist_add_head_rcu(&t->pid_links[PIDTYPE_TGID], &p->pid.tasks[PIDTYPE_TGID]);
	list_add_tail_rcu(&t->thread_node, &p->signal.thread_head);
	list_add_tail_rcu(&t->tasks, &init_task.tasks);
	return p;
}

/* Process @p has one thread more. @dead: it has exited; a tracer keeps it in the list. */
void w_thread(struct w_process *p, bool dead)
{
	struct task_struct *t = carve(sizeof(*t), L1_CACHE_BYTES);

	t->mm = dead ? NULL : p->mm;
	t->group_leader = &p->task;
	t->signal = &p->signal;
	t->thread_pid = &p->pid;
	t->tgid = p->task.tgid;
	spin_lock_init(&t->alloc_lock);
	list_add_tail_rcu(&t->thread_node, &p->signal.thread_head);
}

/* The first thread of @p exits; the others go on. */
void w_first_exits(struct w_process *p)
{
	p->task.mm = NULL;
}

/* From now on @p is of that user. */
void w_become(struct w_process *p, unsigned int uid)
{
	struct cred *c = &cred;

	if (uid) {
		c = carve(sizeof(*c), L1_CACHE_BYTES);
		c->user_ns = &init_user_ns;
		c->uid = KUIDT_INIT(uid);
		c->euid = c->uid;
		c->suid = c->uid;
	}
	RCU_INIT_POINTER(p->task.real_cred, c);
	RCU_INIT_POINTER(p->task.cred, c);
}

/* A process is in a user namespace of its own, which the user @owner has made. */
void w_enter(struct w_process *p, unsigned int owner)
{
	struct user_namespace *ns = carve(sizeof(*ns), L1_CACHE_BYTES);

	ns->parent = &init_user_ns;
	ns->owner = KUIDT_INIT(owner);
	((struct cred *)p->task.cred)->user_ns = ns;
}

/* The namespace of a process has a map: its root is the user @first outside. */
void w_map(struct w_process *p, unsigned int first)
{
	struct uid_gid_map *map = &p->task.cred->user_ns->uid_map;

	map->nr_extents = 1;
	map->extent[0].lower_first = first;
	map->extent[0].count = 65536;
}

kuid_t make_kuid(struct user_namespace *ns, uid_t uid)
{
	const struct uid_gid_extent *e = &ns->uid_map.extent[0];

	if (!ns->uid_map.nr_extents || uid - e->first >= e->count)
		return INVALID_UID;
	return KUIDT_INIT(e->lower_first + (uid - e->first));
}

struct task_struct __standin *pid_task(struct pid *pid, enum pid_type type)
{
	struct hlist_node *first = pid ? rcu_dereference_raw(hlist_first_rcu(&pid->tasks[type])) :
					 NULL;

	return first ? hlist_entry(first, struct task_struct, pid_links[type]) : NULL;
}

void put_pid(struct pid *pid)
{
	if (pid && refcount_dec_and_test(&pid->count))
		k_die("a process lost its last reference, which none of the scenarios does");
}

pid_t pid_nr_ns(struct pid *pid, struct pid_namespace *ns)
{
	return pid ? pid->numbers[0].nr : 0;
}

/* ---- tracepoints: the page faults ---- */

enum {
	AT_FAULT_USER,
	AT_FAULT_KERNEL,
	AT_FORK,
	AT_EXEC,
	AT_EXIT,
	AT_SWITCH,
	AT_NR
};

static struct tracepoint tracepoints[AT_NR] = {
	[AT_FAULT_USER]		= { .name = "page_fault_user" },
	[AT_FAULT_KERNEL]	= { .name = "page_fault_kernel" },
	[AT_FORK]		= { .name = "sched_process_fork" },
	[AT_EXEC]		= { .name = "sched_process_exec" },
	[AT_EXIT]		= { .name = "sched_process_exit" },
	[AT_SWITCH]		= { .name = "sched_switch" },
};

typedef void (*fault_probe)(void *data, unsigned long address, struct pt_regs *regs,
			    unsigned long error_code);
static struct tracepoint_func attached[AT_NR];

void all_tracepoints(void (*fct)(struct tracepoint *tp, void *priv), void *priv);
void all_tracepoints(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++)
		fct(&tracepoints[i], priv);
}

/* checkpatch takes a function of this name for a loop. */
typeof(all_tracepoints) for_each_kernel_tracepoint __alias(all_tracepoints);

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	attached[tp - tracepoints].func = probe;
	attached[tp - tracepoints].data = data;
	return 0;
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	attached[tp - tracepoints].func = NULL;
	return 0;
}

int w_prove_shared;
static atomic64_t prove_shared;

/* For `run --prove`: a handler that counts in one place for all CPUs. */
static void __standin shared_counter(void *data, unsigned long address, struct pt_regs *regs,
				     unsigned long error_code)
{
	atomic64_inc(&prove_shared);
	((fault_probe)attached[AT_FAULT_USER].func)(data, address, regs, error_code);
}

/* For `run --prove`: a look at every CPU's counts. */
DECLARE_PER_CPU(unsigned long, seep_acc);
void w_prove_scan(void);
void __standin w_prove_scan(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		READ_ONCE(per_cpu(seep_acc, cpu));
}

static noinline void __standin nothing(void *data, unsigned long address, struct pt_regs *regs,
				       unsigned long error_code)
{
	barrier();	/* or the compiler drops the call */
}

static void fault(u32 cpu, const struct w_process *p, fault_probe probe)
{
	static struct pt_regs regs;

	run_on(cpu);
	if (this_cpu_read(current_task) != &p->task)
		this_cpu_write(current_task, (struct task_struct *)&p->task);
	/* a page comes and one goes: the counters are written, and have the same value */
	atomic_long_add(0, (atomic_long_t *)&p->mm->rss_stat.count[MM_ANONPAGES]);
	probe(attached[AT_FAULT_USER].data, 0x7f0000000000, &regs, X86_PF_WRITE | X86_PF_USER);
}

/* @p runs on @cpu and stores to a page that it does not have yet. */
void w_fault(u32 cpu, const struct w_process *p)
{
	fault_probe probe = attached[AT_FAULT_USER].func;

	if (!probe)
		k_die("the module has attached no handler to page_fault_user");
	fault(cpu, p, w_prove_shared ? shared_counter : probe);
}

static struct {
	struct w_process **running;
	u32 each;
} others;

/* While the worker runs, CPU n faults in @running[n]; @each CPUs in turn where it yields. */
void w_others(struct w_process **running, u32 each)
{
	others.running = running;
	others.each = each;
}

u64 w_yield_ns;

/* What cond_resched() does. */
int others_run(void);
int others_run(void)
{
	static u32 next;
	u32 cpu = shared->cpu, i;

	if (w_yield_ns)
		w_advance(w_yield_ns);
	if (!others.running)
		return 0;
	mark(MARK_PAUSE);
	for (i = 0; i < others.each; i++) {
		next = (next + 1) % nr_cpu_ids;
		if (next != cpu)
			w_fault(next, others.running[next]);
	}
	run_on(cpu);
	mark(MARK_GO_ON);
	return 0;
}

/* The module hears that @p was forked. */
void w_announce(struct w_process *p)
{
	void (*probe)(void *data, struct task_struct *parent, struct task_struct *child) =
		attached[AT_FORK].func;

	run_on(0);
	this_cpu_write(current_task, &init_task);
	if (probe)
		probe(NULL, &init_task, &p->task);
}

/* CPU 0 switches to @next; NULL: to idle. */
void w_switch(struct w_process *next)
{
	static struct task_struct idle = { .flags = PF_KTHREAD | PF_IDLE };
	struct task_struct *to = next ? &next->task : &idle;
	void (*probe)(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state) =
		attached[AT_SWITCH].func;

	run_on(0);
	probe(NULL, false, current, to, 0);
	this_cpu_write(current_task, to);
}

/* As w_fault(), with a handler that does nothing. */
void w_empty(u32 cpu, const struct w_process *p)
{
	fault(cpu, p, nothing);
}

/* ---- what starts, and is not there ---- */

struct module __this_module;
struct net init_net;

static int set_number(const char *text, const struct kernel_param *kp)
{
	u32 *to = kp->arg;

	for (*to = 0; *text >= '0' && *text <= '9'; text++)
		*to = *to * 10 + *text - '0';
	return 0;
}

static int set_text(const char *text, const struct kernel_param *kp)
{
	*(const char **)kp->arg = text;
	return 0;
}

const struct kernel_param_ops param_ops_uint = { .set = set_number };
const struct kernel_param_ops param_ops_int = { .set = set_number };
const struct kernel_param_ops param_ops_bool = { .set = set_number };
const struct kernel_param_ops param_ops_charp = { .set = set_text };

int kstrtoull(const char *text, unsigned int base, unsigned long long *to)
{
	for (*to = 0; *text >= '0' && *text <= '9'; text++)
		*to = *to * 10 + *text - '0';
	return 0;
}

/* "NAME=VALUE ...", as for insmod. */
static void set_params(const char *params)
{
	extern const struct kernel_param __start___param[], __stop___param[];
	char *text = carve(strlen(params) + 1, 1), *word;

	strscpy(text, params, strlen(params) + 1);
	while ((word = strsep(&text, " ")) && *word) {
		const struct kernel_param *kp = __start___param;
		char *value = strchr(word, '=');

		if (!value)
			k_die("a parameter without value");
		*value++ = '\0';
		while (kp < __stop___param && strcmp(kp->name, word))
			kp++;
		if (kp == __stop___param)
			k_die("the module does not have a parameter that a scenario sets");
		kp->ops->set(value, kp);
	}
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return ERR_PTR(-ENODEV);
}

struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	return ERR_PTR(-ENODEV);
}

void __cpuhp_remove_state(enum cpuhp_state state, bool invoke)
{
}

unsigned int w_events;

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t handler, void *context)
{
	w_events++;
	return ERR_PTR(-ENOENT);
}

/* Load the module on a machine of @cpus CPUs. */
void w_boot(u32 cpus, const char *params)
{
	start_processes();
	start_cpus(cpus);
	set_params(params);
	if (init_module())
		k_die("init_module() failed");
}
