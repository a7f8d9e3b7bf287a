/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the stages of the module know of each other, in pipeline order. Each
 * group names its file and the context its functions are called in.
 */
#ifndef SEEP_H
#define SEEP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/seepage.h>
#include <seepage/names.h>
#include "detect/detect.h"

struct netlink_ext_ack;
struct nlattr;

/* Kinds of fault: bit 0 is the access, bit 1 the mode. */
enum {
	SEEP_F_WRITE	= 1,
	SEEP_F_KERNEL	= 2,
	SEEP_F_NR	= 4
};

/* What was told of a process or a group; seep_table_mutex. */
struct seep_told {
	u8 alerted;			/* the alert it was told of, until it recovers */
	u8 worst;			/* the same, but kept after */
	u8 pending;			/* state to tell once the limits allow, or 0 */
	u64 alerted_ns;			/* monotonic, last alert; 0: never */
};

/*
 * The record of one mm. Identity is written before the record is published and
 * does not change, but for pid, comm and born_ns (seep_table_mutex).
 */
struct seep_rec {
	struct hlist_node hash;		/* tab.lock; walked under RCU */
	struct mm_struct *mm;		/* mmgrab()ed: the address is not reused */
	atomic64_t faults[SEEP_F_NR];	/* folded from the per-CPU caches */
	struct seep_pmu_area *pmu;	/* table mutex, once published; or NULL */

	struct list_head all;		/* tab.lock to add, seep_table_mutex too to remove */
	u64 id;				/* rises with every birth */
	struct pid *pid;		/* of the thread group; referenced */
	u64 seen_ns;			/* monotonic: faults count since then */
	u64 born_ns;			/* monotonic: fork or exec */
	char comm[TASK_COMM_LEN];	/* this and who: as last seen, table mutex */
	struct seep_who {
		kuid_t uid;
		bool known;
		bool own;		/* uid, euid and suid are the same */
		u64 cgroup_id;		/* 0: not known */
	} who;
	bool dead;			/* unhashed, waiting for its end */

	/* from here on: seep_table_mutex, but for the first look of a new one */
	bool ready;			/* det is initialised */
	int users;			/* mm_users when the owner was last looked for */
	struct seep_told told;
	struct seep_group *group;	/* or NULL */
	struct list_head kin;		/* of the group */
	u32 counted;			/* granules of it in what the group holds */
	struct list_head hot;		/* under suspicion: sampled faster; or buried */
	u64 faults_w;			/* of last.faults, the writes */
	u64 cgroup_full;		/* bytes it holds when its cgroup is full */
	u64 cgroup_ns;			/* monotonic, when that was told; 0: not known */
	struct seep_sample last;
	struct seep_det det;
};

/* Processes of one name in one cgroup; see group.c. */
struct seep_group {
	struct {			/* of the members, in the running full pass */
		u32 growing, alerting;	/* how many */
		u32 looked_at;		/* of the growing: whether they use what they gained */
		u32 cold;		/* permille, of all these */
		u64 cold_ns;		/* the newest look */
	} sum;
	struct hlist_node hash;
	struct list_head all;
	char comm[TASK_COMM_LEN];
	u64 cgroup_id;
	u64 id;				/* of its first record, with the top bit */
	u64 born_ns;			/* monotonic, of its first process */
	struct list_head members;	/* by joining: the oldest first */
	u32 n;				/* of them */
	u32 grew;			/* in the last full pass */
	bool silent;			/* a member was accused, and told of, by itself */
	bool shared;			/* two were in it at once, be it between two passes */
	u32 known_rise, known_span;	/* of those who ended in peace: granules, ds */
	u64 held;			/* granules, of all members */
	struct seep_told told;
	struct seep_group_history {	/* of one that is shared; or NULL */
		struct seep_sample last;
		struct seep_det det;
	} *history;
};

/* A process as it is shown, and an alert as it is kept. */
struct seep_view {
	pid_t pid;			/* initial pid namespace */
	char comm[TASK_COMM_LEN];
	struct seep_who who;
	bool has_growth;
	u64 anon, file, shmem, swap, vsz, brk;	/* bytes */
	u64 faults_user, faults_kernel, faults_anon;
	u64 age_s;
	s64 growth;			/* bytes per hour */
	u32 fault_rate;
	u32 members;			/* of a group: all figures are sums; else 0 */
	u8 severity;
	u8 limit;			/* enum seepage_limit, of verdict.tte_s */
	bool has_series;		/* of the verdict */
	u16 cold;			/* permille, with cold_ns */
	u64 cold_age_s;
	u64 cold_ns;			/* 0: not known */
	struct seep_verdict verdict;
};

struct seep_alert {
	u64 seq;
	u64 time_ns;			/* CLOCK_REALTIME */
	u8 prev_state;
	struct seep_view view;
};

/* config.c: any context to read; SET_CONFIG in process context */
extern struct seep_conf __rcu *seep_config;
int seep_config_init(void);
void seep_config_exit(void);
void seep_config_get(struct seep_conf *c);
u32 seep_config_value(enum seepage_cfg key);
#define SEEP_PMC_WANTED	256		/* bytes of pmc_events, with the NUL */
void seep_config_pmc_events(char *buf, size_t size);
int seep_config_set(struct nlattr *nest, struct nlattr *events, struct netlink_ext_ack *extack);
int seep_config_reset(void);
const char *seep_config_word(enum seepage_cfg key, u32 value);
extern const char * const seep_config_names[__SEEPAGE_CFG_MAX];

/* counters.c: any context, NMI too */
struct seep_counters {
	u64 n[__SEEPAGE_COUNTER_MAX];
};

DECLARE_PER_CPU(struct seep_counters, seep_counters);
extern const char * const seep_counter_names[__SEEPAGE_COUNTER_MAX];
extern const char * const seep_state_names[__SEEPAGE_STATE_MAX];
extern const char * const seep_factor_names[__SEEPAGE_FACTOR_MAX];
extern const char * const seep_gate_names[__SEEPAGE_GATE_MAX];
#define seep_count_add(id, k)	this_cpu_add(seep_counters.n[SEEPAGE_COUNTER_##id], k)
#define seep_count(id)		seep_count_add(id, 1)
u64 seep_counter(enum seepage_counter id);
void seep_counters_reset(void);

/* hook.c: process context. hook_*.c: the sources, irqs off where faults are handled */
struct seep_hook_ops {
	const char *name;
	bool access_known;		/* read or write, not just a fault */
	int (*start)(void);
	void (*stop)(void);		/* no handler runs any more on return */
};

extern const struct seep_hook_ops seep_hook_tracepoint;
extern const struct seep_hook_ops seep_hook_software;
extern const struct seep_hook_ops *seep_hook;	/* in use; set before sampling starts */
int seep_hook_start(void);
void seep_hook_stop(void);
int seep_hook_life_start(void);
void seep_hook_life_stop(void);
void seep_hook_life_full(void);					/* any context but NMI */
struct tracepoint *seep_find_tracepoint(const char *name);
void seep_tracepoint_unregister(struct tracepoint *tp, void *probe);	/* may sleep */

/*
 * account.c. The cache of one CPU: whose faults it counts, and how many since
 * the last fold. Only the CPU itself writes, with interrupts off, except when
 * it is offline.
 */
struct seep_acc {
	struct mm_struct *mm;		/* SEEP_NO_MM: none */
	struct seep_rec *rec;		/* of mm */
	unsigned long n[SEEP_F_NR];
	u32 busy;			/* in our own code: a fault in here only counts */
};

#define SEEP_NO_MM	((struct mm_struct *)1UL)

DECLARE_PER_CPU(struct seep_acc, seep_acc);
void seep_account_slow(struct mm_struct *mm, unsigned int kind);	/* irqs off, or NMI */
void seep_account_fold(bool (*which)(const struct seep_rec *rec));	/* may sleep */
void seep_account_fold_and(const struct seep_rec *rec, void (*then)(void *arg),
			   void *arg);				/* may sleep; then: irqs off */

/*
 * Whatever takes tab.lock or folds marks its CPU first: tracing of our own code
 * (lock events, kprobes) may walk the user stack and fault right there. Also
 * for NMIs. Interrupts are off.
 */
static __always_inline void seep_busy_begin(void)
{
	this_cpu_inc(seep_acc.busy);
	barrier();
}

static __always_inline void seep_busy_end(void)
{
	barrier();
	this_cpu_dec(seep_acc.busy);
}

/* The fault path: interrupts are off, or this is an NMI. */
static __always_inline void seep_account(unsigned int kind)
{
	struct mm_struct *mm = current->mm;

	if (likely(this_cpu_read(seep_acc.mm) == mm))
		this_cpu_inc(seep_acc.n[kind]);
	else
		seep_account_slow(mm, kind);
}

/* For a raw spinlock that is taken in the fault path too. */
#define seep_lock(lock, flags) do {					\
	local_irq_save(flags);						\
	seep_busy_begin();						\
	raw_spin_lock(lock);						\
} while (0)

#define seep_unlock(lock, flags) do {					\
	raw_spin_unlock(lock);						\
	seep_busy_end();						\
	local_irq_restore(flags);					\
} while (0)

/*
 * pmu.c, pmu_area.c, pmu_learn.c, pmu_set.c: hardware counters of processes;
 * pmu.h is for these files themselves
 */
#ifdef SEEP_PMC
void seep_pmu_init(void);
void seep_pmu_exit(void);
void seep_pmu_configure(void);			/* may sleep, no lock held */
int seep_pmu_check(const char *events, char *why, size_t size);
void seep_pmu_text(char *buf, size_t size);	/* may sleep */
void seep_pmu_seen(struct seep_rec *rec);	/* irqs off, not NMI */
void seep_pmu_exec(struct seep_rec *rec);	/* irqs off, not NMI */
struct seep_pmu_area *seep_pmu_take(void);	/* irqs off, table's lock, not NMI */
bool seep_pmu_short(void);			/* any context */
void seep_pmu_leave(bool (*which)(const struct seep_rec *rec));	/* may sleep, table mutex */
void seep_pmu_sync(const struct seep_rec *rec);	/* may sleep, table mutex */
void seep_pmu_bury(struct seep_rec *rec);	/* table mutex */
void seep_pmu_refill(void);			/* may sleep, table mutex */
void seep_pmu_pass(void);			/* may sleep, table mutex */
u8 seep_pmu_events(const struct seep_rec *rec, u32 *set);	/* table mutex */
void seep_pmu_values(const struct seep_rec *rec, void *to);	/* table mutex */
u16 seep_pmu_rise(const struct seep_rec *rec);	/* table mutex */
bool seep_pmu_learns(const struct seep_rec *rec);	/* table mutex */
void seep_pmu_baseline(const struct seep_rec *rec, struct seepage_pmc_baseline *shown);	/* same */
void seep_pmu_forget(struct seep_rec *rec);	/* table mutex */
u64 seep_pmu_bytes(void);			/* any context */
#else
static inline void seep_pmu_init(void) {}
static inline void seep_pmu_exit(void) {}
static inline void seep_pmu_configure(void) {}
static inline int seep_pmu_check(const char *events, char *why, size_t size)
{
	strscpy(why, "pmc_events: hardware counters are not built in", size);
	return *events ? -EOPNOTSUPP : 0;
}

static inline void seep_pmu_text(char *buf, size_t size)
{
	strscpy(buf, "off: not built in", size);
}

static inline void seep_pmu_seen(struct seep_rec *rec) {}
static inline void seep_pmu_exec(struct seep_rec *rec) {}
static inline struct seep_pmu_area *seep_pmu_take(void)
{
	return NULL;
}

static inline bool seep_pmu_short(void)
{
	return false;
}

static inline void seep_pmu_leave(bool (*which)(const struct seep_rec *rec)) {}
static inline void seep_pmu_bury(struct seep_rec *rec) {}
static inline void seep_pmu_refill(void) {}
static inline void seep_pmu_pass(void) {}
static inline void seep_pmu_sync(const struct seep_rec *rec) {}
static inline u8 seep_pmu_events(const struct seep_rec *rec, u32 *set)
{
	return 0;
}

static inline void seep_pmu_values(const struct seep_rec *rec, void *to) {}

static inline u16 seep_pmu_rise(const struct seep_rec *rec)
{
	return 0;
}

static inline bool seep_pmu_learns(const struct seep_rec *rec)
{
	return false;
}

static inline void seep_pmu_baseline(const struct seep_rec *rec,
				     struct seepage_pmc_baseline *shown) {}

static inline void seep_pmu_forget(struct seep_rec *rec) {}
static inline u64 seep_pmu_bytes(void)
{
	return 0;
}
#endif

#define SEEP_PMU_TEXT		96	/* why there are no counters */

/* pool.c */
#define SEEP_POOL_MIN	64U
int seep_pool_init(void);
void seep_pool_exit(void);
struct seep_rec *seep_pool_take(void);				/* any but NMI */
void seep_pool_give(struct seep_rec *rec);			/* may sleep */
bool seep_pool_refill(u32 extra);				/* may sleep */
u32 seep_pool_left(void);
u64 seep_pool_bytes(void);

#define SEEP_RESCHED_EVERY	64U	/* records, in walks of the table */

/* mmtab.c */
extern struct mutex seep_table_mutex;	/* readers and the worker; taken before tab.lock */
int seep_tab_init(void);
void seep_tab_exit(void);
struct seep_rec *seep_tab_find(const struct mm_struct *mm);	/* RCU or irqs off */
struct seep_rec *seep_tab_get(struct mm_struct *mm);		/* irqs off, any lock held */
struct seep_rec *seep_tab_birth(struct mm_struct *mm, struct task_struct *owner); /* RCU */
void seep_tab_exec(void);					/* preemption off */
void seep_tab_bury(struct list_head *graves);			/* may sleep, table mutex */
void seep_tab_free(struct list_head *graves);			/* may sleep, no table mutex */
u32 seep_tab_count(void);
bool seep_tab_full(void);
u32 seep_tab_count_alive(void);			/* takes the table mutex itself */
u64 seep_tab_bytes(void);
extern struct list_head seep_tab_all;
/* Table mutex: the list only grows meanwhile, but for what the holder removes. */
#define seep_for_each_rec(rec)						\
	list_for_each_entry_rcu(rec, &seep_tab_all, all,		\
				lockdep_is_held(&seep_table_mutex))
/*
 * Nobody runs in this mm any more. Acquire pairs with the full barrier of the
 * last mmput(): what its tasks did to a per-CPU cache is seen after this.
 */
static inline bool seep_rec_gone(const struct seep_rec *rec)
{
	return !atomic_read_acquire(&rec->mm->mm_users);
}

/* Taken in user mode (@mode 0) or in kernel mode (SEEP_F_KERNEL). Any context. */
static inline u64 seep_rec_faults(const struct seep_rec *rec, u32 mode)
{
	return atomic64_read(&rec->faults[mode]) +
	       atomic64_read(&rec->faults[mode | SEEP_F_WRITE]);
}

/* owner.c: processes of records, records of processes */
struct pid_namespace;
struct task_struct *seep_owner_of(struct task_struct *t, const struct mm_struct *mm); /* RCU */
void seep_owner_missed(void);					/* any context */
void seep_owner_adopt_all(void);				/* may sleep, table mutex */
bool seep_owner_lost(struct seep_rec *rec);			/* may sleep, table mutex */
struct seep_rec *seep_owner_rec(struct task_struct *process, bool *exiting); /* RCU, table mutex */
struct seep_rec *seep_owner_next(struct pid_namespace *ns, int *nr); /* may sleep, table mutex */

/* evidence.c: table mutex; what user space found out of a process */
void seep_evidence_cold(struct seep_rec *rec, u16 permille);
void seep_evidence_cgroup(struct seep_rec *rec, u64 limit, u64 used);
void seep_read_at_rest(struct seep_sample *s);
void seep_evidence_forget(struct seep_rec *rec);
bool seep_evidence_room(const struct seep_rec *rec, const struct seep_sample *s, u64 *room);

/* read.c: process context, table mutex; the rest is in read.h */
void seep_sample_read(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2]);

/* sample.c: process context, table mutex */
bool seep_sample_pass(bool full, const struct seep_conf *c);
void seep_sample_reset(struct seep_rec *only);	/* forget what was learned */
void seep_sample_welcome(void);	/* look at all that are new */

/* group.c: process context, table mutex, may sleep */
void seep_group_join(struct seep_rec *rec);
void seep_group_learn(const struct seep_rec *rec);
void seep_group_leave(struct seep_rec *rec);
void seep_group_count(struct seep_rec *rec);
void seep_group_add(const struct seep_rec *rec);
void seep_group_peers(const struct seep_rec *rec, struct seep_sample *s);
void seep_group_pass(u64 now_ns, u64 room, const struct seep_conf *c);
void seep_group_forget(void);
u64 seep_group_bytes(void);			/* any context */
void seep_group_exit(void);

/* tick.c: process context */
struct seep_tick_stats {
	u64 ticks, cost_ns, cost_max_ns;
	u32 interval_ms;
	bool stretched;
};

int seep_tick_init(void);
void seep_tick_start(void);
void seep_tick_stop(void);
bool seep_tick_kick(void);			/* any context: reap and refill soon */
void seep_tick_reschedule(void);		/* after a change of configuration */
void seep_tick_get_stats(struct seep_tick_stats *st);
void seep_tick_reset_stats(void);

/* view.c: table mutex */
void seep_view_identify(struct seep_rec *rec);
void seep_view_fill(struct seep_view *v, struct seep_rec *rec);
void seep_view_fill_group(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *rec);
void seep_view_weigh(struct seep_view *v);	/* any context */

/* alert.c: table mutex, may sleep */
int seep_alert_init(void);
void seep_alert_exit(void);
void seep_alert_state(struct seep_rec *rec, u8 prev, const struct seep_verdict *verdict);
void seep_alert_exited(struct seep_rec *rec);
void seep_alert_retry(struct seep_rec *rec);
void seep_alert_group_state(struct seep_group *g, u8 prev, const struct seep_verdict *verdict);
void seep_alert_group_retry(struct seep_group *g, const struct seep_verdict *verdict);
void seep_alert_group_exited(struct seep_group *g, struct seep_rec *last);
const struct seep_alert *seep_alert_next(u64 seq);	/* the first with >= seq */
void seep_alert_range(u64 *first, u64 *last);	/* takes the table mutex itself */
void seep_alert_reset(void);
u64 seep_alert_bytes(void);

/* netlink.c: process context; the rest of it is in netlink.h */
int seep_netlink_init(void);
void seep_netlink_exit(void);
void seep_netlink_alert(const struct seep_alert *a);
void seep_netlink_sample(struct seep_rec *rec);
extern u64 seep_instance;

/* netlink_series.c: process context, table mutex */
extern bool seep_series_on;			/* somebody listens to this pass */
void seep_series_begin(u64 now_ns, u64 room, u64 pool, bool full, const struct seep_conf *c);
void seep_series_sample(struct seep_rec *rec, const struct seep_sample *s,
			const struct seep_verdict *v);
void seep_series_group(const struct seep_group *g, const struct seep_verdict *v);
void seep_series_end(void);
void seep_series_gone(struct list_head *graves);	/* linked by hot */

/* debugfs.c: process context */
#ifdef SEEP_DEBUGFS
void seep_debugfs_init(void);
void seep_debugfs_exit(void);
#else
static inline void seep_debugfs_init(void) {}
static inline void seep_debugfs_exit(void) {}
#endif

/* main.c: any context. The module stops working and says why; it does not crash. */
void seep_disable(const char *why);
void seep_disabled_report(void);	/* hard irq, or process */
const char *seep_disabled(void);
#define seep_broken(cond) ({						\
	bool __broken = unlikely(cond);					\
									\
	if (__broken)							\
		seep_disable("broken invariant: " #cond);		\
	__broken;							\
})

#endif /* SEEP_H */
