/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces between the stages of the module, in pipeline order. Each group names its
 * file and the context that its functions may be called in. The kernel-doc is beside the
 * definitions.
 *
 * "table mutex" is seep_table_mutex (mmtab.c): it keeps records alive and serialises
 * everything about verdicts. "may sleep" includes process context.
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
#include "detect/share.h"
#include "quota.h"

struct delayed_work;
struct irq_work;
struct netlink_ext_ack;
struct nlattr;

/* Kinds of fault: bit 0 is the mode, bit 1 the access, as in the error code of x86. */
enum {
	SEEP_F_KERNEL	= 1,
	SEEP_F_WRITE	= 2,
	SEEP_F_NR	= 4
};

/* What was sent about a process or a group; seep_table_mutex. */
struct seep_notified {
	u8 alerted;			/* enum seepage_state of the alert in force, or OK */
	u8 worst;			/* the same, kept after recovery */
	u8 pending;			/* state to send once a limit allows it, or OK */
	bool own_limit;			/* as in struct seep_view, of the alert in force */
	u32 seq;			/* low half, of the alert in force; 0: none was sent */
	u32 alerted_ds;			/* CLOCK_MONOTONIC of the last alert, ds; 0: never */
};

/* How a process ended; how is 0 where that is not known. */
struct seep_end {
	u32 how;			/* SEEPAGE_END_* */
	u64 cgroup;			/* id of the cgroup that ran out of memory; 0: none */
};

/*
 * Lives of a service that had an alert and have ended: from the start of the first process
 * of a group to the end of the last one.
 */
struct seep_lives {
	u32 n;
	u32 first_top, last_top;	/* granules, the most that the first and last one held */
	u64 first_end_ns, last_end_ns;	/* CLOCK_MONOTONIC, when these two ended */
	u64 first_alert_ns;		/* CLOCK_REALTIME; 0: no alert yet */
	u64 sum_s;			/* of their lengths */
};

/* What a group counts its members as, by bit of seep_rec.counts_as. */
enum {
	SEEP_MEMBERS_WATCHED,		/* under watch or worse */
	SEEP_MEMBERS_GROWING,		/* likewise, and its growth goes on */
	SEEP_MEMBERS_ALERTING,		/* suspected or worse */
	SEEP_MEMBERS_NR
};

#define SEEP_NO_OWNER	(-1)		/* seep_rec.users: no process has the mm */

/*
 * The record of one mm. Members up to creds are written before the record is published in
 * the table and do not change afterwards, except where noted.
 */
struct seep_rec {
	struct hlist_node hash;		/* tab.lock to change, RCU to walk */
	struct mm_struct *mm;		/* mmgrab()ed: its address is not reused */
	atomic64_t faults[SEEP_F_NR];	/* by SEEP_F_*; folded from the CPUs' caches */
	atomic_t cpus;			/* caches that hold it, so maybe counts; account.c */
	kuid_t charged;			/* user that it is charged to: seep_owner_charge(); tab.lock
					 * and table mutex to change
					 */
	struct seep_pmu_area *pmu;	/* or NULL; table mutex once published (pmu/area.c) */

	struct list_head all;		/* tab.lock to add; that and table mutex to remove */
	u64 id;				/* ascends with every birth */
	struct pid *pid;		/* of the thread group, referenced; table mutex */
	u64 seen_ns;			/* CLOCK_MONOTONIC: faults are counted since then */
	/*
	 * CLOCK_MONOTONIC of fork or exec; WRITE_ONCE() in seep_tab_exec(), else READ_ONCE().
	 * On 32 bits a reader may get halves of two times, and so up to 4.3 s too much.
	 */
	u64 born_ns;
	char comm[TASK_COMM_LEN];	/* this and creds: as last seen; table mutex */
	struct seep_creds {
		kuid_t uid;		/* real uid */
		bool known;		/* uid and cgroup_id are valid */
		bool same_creds;	/* uid, euid and suid are equal */
		u64 cgroup_id;		/* inode of the cgroup v2 directory; 0: not known */
	} creds;
	bool dead;			/* out of the table; tab.lock to set */

	/* from here on: table mutex */
	bool ready;			/* it had its first look: det and group are valid */
	u8 counts_as;			/* bits of SEEP_MEMBERS_*, as in group->counts */
	u8 rested;			/* samples put off after rest_from, one each full pass */
	u16 hot_row;			/* quota row that hot is charged to, or SEEP_QUOTA_ALL */
	u16 end;			/* index of its slot in end.c, plus 1; 0: no slot */
	/* full passes: of the last sample in det, and of the next that must not be put off */
	u32 rest_from, rest_end;
	int users;			/* mm_users at the last check of the owner; SEEP_NO_OWNER */
	u32 held;			/* granules of it in group->held */
	struct seep_notified notified;	/* alerts of this process */
	u32 rate;			/* growth of it in the tallies, granules an hour */
	struct seep_group *group;	/* or NULL */
	struct list_head kin;		/* in group->members */
	struct list_head hot;		/* list of suspect.c while under watch; graves */
	u64 faults_w;			/* write faults among last.faults */
	struct seep_confined *cgroup;	/* limit of its cgroup; NULL: not told */
	struct seep_sample last;	/* the newest sample */
	struct seep_det det;		/* history and state; its w by pool.c */
};

/* What user space told of the cgroup of a process; table mutex. */
struct seep_confined {
	u64 full;			/* bytes held when the cgroup reaches memory.max */
	u64 ns;				/* CLOCK_MONOTONIC when that was set; 0: not known */
	struct seep_cgroup_tally *tally;	/* of the cgroup with that limit; or NULL */
};

/* Processes of one name and user in one cgroup, taken as one (group.c); table mutex. */
struct seep_group {
	struct {			/* over its members, in the running full pass */
		u32 looked_at;		/* members under watch with a known coldness */
		u32 cold;		/* sum of the coldness of looked_at, permille */
		u64 cold_ns;		/* CLOCK_MONOTONIC, newest measurement in cold */
		struct seep_growers own;	/* growth of members as the tallies have it */
		const struct seep_rec *tight;	/* member with the tightest cgroup; or NULL */
	} sum;
	u32 rate;			/* growth of held, granules an hour */
	struct hlist_node hash;		/* by comm, place and charged */
	struct list_head all;		/* in the list of all or of empty groups */
	char comm[TASK_COMM_LEN];
	u64 place;			/* of its cgroup: seep_view_identify() */
	kuid_t charged;			/* as in its records */
	u16 row;			/* quota row of charged */
	u64 id;				/* id of its first record, with the top bit set */
	u64 born_ns;			/* CLOCK_MONOTONIC of its first process */
	struct list_head members;	/* seep_rec.kin, oldest first */
	u32 n;				/* number of members */
	u32 counts[SEEP_MEMBERS_NR];	/* members that are SEEP_MEMBERS_* now */
	u32 hold;			/* ds of quiet after which its alert ends */
	u64 trouble_ns;			/* CLOCK_MONOTONIC: a member grew or had an alert */
	struct seep_end end;		/* of the last member that ended under an alert */
	u64 end_ns;			/* CLOCK_MONOTONIC when that was */
	struct seep_lives lives;
	u32 top;			/* granules, the most held since its first process */
	bool silent;			/* while a member has an alert of its own */
	bool shared;			/* it had two members at a time */
	u32 known_rise, known_span;	/* climbs that members released: granules, ds */
	u64 held;			/* granules that all members hold, without shmem */
	struct seep_notified notified;
	struct seep_group_history {	/* if shared; or NULL */
		struct seep_sample last;
		struct seep_det det;
		struct seep_watch watch;
	} *history;
};

/* A process or group as it is displayed. */
struct seep_view {
	pid_t pid;			/* initial pid namespace */
	char comm[TASK_COMM_LEN];
	struct seep_creds creds;
	bool has_growth;		/* growth is valid */
	u64 anon, file, shmem, swap, vsz, brk;	/* bytes; brk: address space of the heap */
	u64 faults_user, faults_kernel, faults_anon;	/* so far */
	u64 age_s;			/* since fork or exec */
	s64 growth;			/* of the floor, bytes per hour */
	u32 fault_rate;			/* faults a second */
	u32 members;			/* of a group: figures are sums; else 0 */
	u32 growing;			/* members of the group that grow now */
	u8 severity;			/* 1 to 10 */
	u8 limit;			/* enum seepage_limit that verdict.tte_s leads to */
	u16 others;			/* how many others grow below limit */
	u32 others_rate;		/* their growth, granules an hour */
	bool has_subject;		/* verdict.subject is valid */
	u8 floors;			/* known floors of the lowest level */
	bool own_limit;			/* limit is its own, far below what RAM has left */
	u16 cold;			/* permille, valid with cold_ns */
	u64 cold_age_s;			/* since cold_ns */
	u64 cold_ns;			/* CLOCK_MONOTONIC when cold was measured; 0: not known */
	u32 known_rise, known_span;	/* climbs that its service released: granules, ds */
	struct seep_verdict verdict;
};

/* An alert in the ring; table mutex. */
struct seep_alert {
	struct list_head order;		/* by seq, empty slots first */
	u16 row;			/* quota row that it is charged to */
	u64 seq;			/* 1 is the first after load; 0: an empty slot */
	u64 time_ns;			/* CLOCK_REALTIME */
	u8 prev_state;			/* enum seepage_state */
	u64 id;				/* of its record or group */
	u64 merged_into;		/* seq of the alert of its group that goes on; or 0 */
	struct seep_identity {		/* from user space, attributes as they came; or NULL */
		u32 alerts;		/* that share it */
		u32 len;
		u8 attrs[];
	} *identity;
	struct seep_end end;		/* of this life, or with lives.n of the last one */
	struct seep_lives lives;	/* before this one; n 0: none */
	struct seep_view view;
};

/* config.c: readers in any context; seep_config_set() and _reset() may sleep */
extern struct seep_conf __rcu *seep_config;
int seep_config_init(int (*check)(const char *events, char *why, size_t size));
void seep_config_exit(void);
void seep_config_get(struct seep_conf *c);
u32 seep_config_value(enum seepage_cfg key);
#define SEEP_CONFIG_EVENTS_BYTES	256		/* of pmc_events, with the NUL */
u32 seep_config_pmc_events(char *buf, size_t size);
int seep_config_set(struct nlattr *nest, struct nlattr *events, struct netlink_ext_ack *extack);
int seep_config_reset(void);
const char *seep_config_name(enum seepage_cfg key);
const char *seep_config_word(enum seepage_cfg key, u32 value);

/* counters.c: any context, even NMI */
struct seep_counters {
	u64 n[__SEEPAGE_COUNTER_MAX];	/* of one CPU; this_cpu_add() */
};

DECLARE_PER_CPU(struct seep_counters, seep_counters);
extern const char * const seep_state_names[__SEEPAGE_STATE_MAX];
#define seep_count_add(id, k)	this_cpu_add(seep_counters.n[SEEPAGE_COUNTER_##id], k)
#define seep_count(id)		seep_count_add(id, 1)
u64 seep_counter(enum seepage_counter id);
void seep_counters_reset(void);

/* copy.c: any context */
ssize_t seep_copy(char *to, const char *from, size_t size);

/* kick.c: any context; the last three are for tick.c, in process context */
bool seep_kick_now(void);
void seep_kick(void);			/* bury dead records and refill the pool soon */
void seep_kick_init(void (*func)(struct irq_work *unused));
void seep_kick_start(struct delayed_work *w);
void seep_kick_stop(void);

/* disable.c: any context. The module stops working and says why; the machine goes on. */
void seep_disable(const char *why);
void seep_disabled_report(void);	/* hard irq or process */
extern const char *seep_disabled_why;	/* set once by cmpxchg(); NULL: the module works */

/* Was the work stopped? NULL, or the reason. Pairs with cmpxchg() in seep_disable(). */
static __always_inline const char *seep_disabled(void)
{
	return READ_ONCE(seep_disabled_why);
}

#define seep_broken(cond) ({						\
	bool __broken = unlikely(cond);					\
									\
	if (__broken)							\
		seep_disable("bug: " #cond);				\
	__broken;							\
})

/* hook.c: process context. Handlers of hook_*.c run with irqs off. */
struct seep_hook_ops {
	const char *name;
	bool access_known;		/* it tells reads from writes */
	int (*start)(void);		/* 0 or a negative error */
	void (*stop)(void);		/* no handler runs any more on return */
};

extern const struct seep_hook_ops seep_hook_tracepoint;
extern const struct seep_hook_ops seep_hook_software;
extern const struct seep_hook_ops *seep_hook;	/* the source in use; set before sampling starts */
int seep_hook_start(void);
void seep_hook_stop(void);
int seep_hook_life_start(void);
void seep_hook_life_stop(void);
struct tracepoint *seep_find_tracepoint(const char *name);
void seep_tracepoint_unregister(struct tracepoint *tp, void *probe);	/* may sleep */

/*
 * account.c. The cache of one CPU: the two mms that it counts faults of, and their number
 * since the last fold. Only the CPU itself writes it, with interrupts off, unless it is
 * offline.
 */
struct seep_acc {
	unsigned long n[2 * SEEP_F_NR];	/* faults, by slot and SEEP_F_*; first: costs least */
	struct mm_struct *mm;		/* of the slot in use; SEEP_NO_MM: no fault counts */
	unsigned long at;		/* where in n that slot begins: 0 or SEEP_F_NR */
	struct seep_slot {
		struct mm_struct *mm;	/* SEEP_NO_MM: empty */
		struct seep_rec *rec;	/* record of mm, or NULL */
	} slot[2];
	u32 busy;			/* inside our own code: faults count as nested */
	u8 why;				/* refused is counted so: SEEPAGE_COUNTER_* */
	u32 changes;			/* seep_tab_changes before refused was refused */
	const struct mm_struct *refused;	/* mm without a record, or SEEP_NO_MM */
};

#define SEEP_NO_MM	((struct mm_struct *)1UL)

DECLARE_PER_CPU(struct seep_acc, seep_acc);
void seep_account_slow(struct mm_struct *mm, unsigned long kind);	/* irqs off, or NMI */
bool seep_account_init(void);
void seep_account_exit(void);
void seep_account_fold(bool (*which)(const struct seep_rec *rec));	/* may sleep */
void seep_account_fold_and(const struct seep_rec *rec, void (*then)(void *arg),
			   void *arg);				/* may sleep; then(): irqs off */

/*
 * Mark this CPU before tab.lock is taken and around a fold. Tracing of our own code (lock
 * events, kprobes) may walk the user stack and fault right there, and an NMI may.
 * The barriers pair with the read of busy in seep_account_slow(), nested on this CPU.
 *
 * Context: interrupts off.
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

/* Count a fault of current: the fault path. Context: interrupts off, or NMI. */
static __always_inline void seep_account(unsigned long kind)
{
	struct mm_struct *mm = current->mm;

	if (likely(this_cpu_read(seep_acc.mm) == mm))
		this_cpu_inc(seep_acc.n[this_cpu_read(seep_acc.at) + kind]);
	else
		seep_account_slow(mm, kind);
}

/* For a raw spinlock that the fault path takes as well. */
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
 * pmu/pmu.c, pmu/area.c, pmu/learn.c, pmu/set.c: hardware counters of processes. pmu/pmu.h
 * is between these files themselves.
 */
#ifdef SEEP_PMU
void seep_pmu_init(void);
void seep_pmu_exit(void);
void seep_pmu_configure(void);			/* may sleep, no lock held */
void seep_pmu_watch(bool suspects);		/* likewise; worker only */
int seep_pmu_check(const char *events, char *why, size_t size);
void seep_pmu_text(char *buf, size_t size);	/* may sleep */
void seep_pmu_seen(struct seep_rec *rec);	/* irqs off, not NMI */
void seep_pmu_exec(void);			/* irqs off, not NMI */
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
static inline void seep_pmu_watch(bool suspects) {}
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
static inline void seep_pmu_exec(void) {}
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

#define SEEP_PMU_TEXT		96	/* bytes of the text why there are no counters */

/*
 * For memory allocated under seep_table_mutex: when memory is nearly gone, the worker must
 * not wait for pages to be reclaimed, nor for a reader that waits for that.
 */
#define SEEP_GFP	(GFP_NOWAIT | __GFP_NOWARN)

/* pool.c: any context but NMI, except where noted */
int seep_pool_init(void);
void seep_pool_exit(void);
struct seep_rec *seep_pool_take(void);				/* any but NMI */
void seep_pool_give(struct seep_rec *rec, u32 enough);		/* may sleep */
bool seep_pool_add(void);					/* may sleep */
void seep_pool_trim(u32 most);					/* may sleep */
u32 seep_pool_left(void);
extern struct seep_watch *seep_pool_watch;			/* table mutex; NULL: none left */
bool seep_pool_fill_watch(void);				/* table mutex */
void seep_pool_drop_watch(struct seep_rec *rec);		/* table mutex */
u64 seep_pool_bytes(void);

#define SEEP_RESCHED_EVERY	64U	/* records between two cond_resched() in a walk */
/*
 * Threads of a process that are looked at. Those that have exited come first in their list, and
 * stay where a tracer does not reap them: a user may have any number.
 */
#define SEEP_MOST_THREADS	1024U

/* mmtab.c */
extern struct mutex seep_table_mutex;	/* held by readers and the worker; taken before tab.lock */
extern u32 seep_tab_changes;		/* another one after each change; any context */
extern bool seep_tab_refused;		/* some process has no record; a hint, any context */
extern u32 *seep_tab_shares;		/* records by share; a hint without tab.lock */
u32 seep_tab_share(kuid_t charged);				/* any context */
bool seep_tab_room(kuid_t charged, u32 max);			/* any context */
void seep_tab_charge(struct seep_rec *rec, kuid_t charged);	/* table mutex */
int seep_tab_init(void);
void seep_tab_exit(void);
bool seep_tab_resize(u32 extra);			/* may sleep, table mutex */
void seep_tab_death(void);				/* any but NMI */
struct seep_rec *seep_tab_find(const struct mm_struct *mm);	/* RCU or irqs off */
struct seep_rec *seep_tab_get(struct mm_struct *mm);		/* irqs off, any lock held */
struct seep_rec *seep_tab_birth(struct mm_struct *mm, struct task_struct *owner); /* RCU */
void seep_tab_exec(void);					/* preemption off */
void seep_tab_bury(struct list_head *graves);			/* may sleep, table mutex */
void seep_tab_exchange(struct seep_rec *old, struct mm_struct *mm, struct task_struct *owner,
		       struct list_head *graves);		/* RCU, table mutex */
void seep_tab_given_up(struct list_head *graves);		/* may sleep, table mutex */
void seep_tab_free(struct list_head *graves);			/* may sleep, no table mutex */
u32 seep_tab_count(void);
bool seep_tab_full(void);
u32 seep_tab_count_alive(void);			/* may sleep, table mutex */
u64 seep_tab_bytes(void);
extern struct list_head seep_tab_all;
/* Context: table mutex. The list may grow meanwhile; only the holder removes from it. */
#define seep_for_each_rec(rec)						\
	list_for_each_entry_rcu(rec, &seep_tab_all, all,		\
				lockdep_is_held(&seep_table_mutex))
/*
 * No task uses this mm any more. The acquire pairs with the full barrier of
 * atomic_dec_and_test() in kernel/fork.c:mmput(): what its tasks did to the cache of a CPU
 * is visible afterwards.
 */
static inline bool seep_rec_gone(const struct seep_rec *rec)
{
	return !atomic_read_acquire(&rec->mm->mm_users);
}

/* Faults taken in user mode (@mode 0) or kernel mode (SEEP_F_KERNEL). Any context. */
static inline u64 seep_rec_faults(const struct seep_rec *rec, u32 mode)
{
	return atomic64_read(&rec->faults[mode]) +
	       atomic64_read(&rec->faults[mode | SEEP_F_WRITE]);
}

/* room.c: which processes have a record when there are too few */
void seep_room_pass(struct list_head *graves);			/* may sleep, table mutex */

/* owner.c: the owner of a record, the record of a process */
struct pid_namespace;
struct task_struct *seep_owner_of(struct task_struct *t, const struct mm_struct *mm); /* RCU */
void seep_owner_missed(void);					/* any context */
void seep_owner_adopt_all(void);				/* may sleep, table mutex */
void seep_owner_check(struct seep_rec *rec);			/* may sleep, table mutex */
struct seep_rec *seep_owner_rec(struct task_struct *process, bool *exiting); /* RCU, table mutex */
struct seep_rec *seep_owner_at(struct pid_namespace *ns, int nr);	/* table mutex */
/* Context: task_lock(); must not sleep. */
typedef void seep_visit_fn(struct task_struct *t, void *arg);
bool seep_owner_visit(int *nr, seep_visit_fn *visit, void *arg);
bool seep_owner_is(struct task_struct *p, kuid_t uid);		/* RCU */
kuid_t seep_owner_charge(struct task_struct *p);		/* RCU */
#define SEEP_PIDS_END	(INT_MAX - 1)	/* no pid is higher */
bool seep_owner_next_of(kuid_t uid, struct pid_namespace *ns, int *nr,
			u64 until_ns);					/* may sleep, no lock */
/* may sleep, table mutex, which it releases every 64 pids */
struct seep_rec *seep_owner_next(struct pid_namespace *ns, int *nr);

/* The quota row of the user that a record is charged to. Context: table mutex. */
static inline u16 seep_rec_row(const struct seep_rec *rec)
{
	return seep_quota_row(__kuid_val(rec->charged));
}

/* share.c: process context, table mutex; what grows below one limit */
struct seep_cgroup_tally {
	struct list_head all;
	u64 id;				/* of the cgroup that has the limit */
	u32 users;			/* records that point here */
	u16 row;			/* quota row of the first of them */
	struct seep_tally tally;
};

extern struct seep_tally seep_tally_ram;	/* of the machine */
bool seep_share_join(struct seep_rec *rec, u64 id);
void seep_share_leave(struct seep_rec *rec);
void seep_share_judged(struct seep_rec *rec, const struct seep_verdict *v, bool full);
void seep_share_pass(u64 now_ns, u64 left, const struct seep_conf *c);
void seep_share_forget(void);
void seep_share_exit(void);

/* The tally of the cgroup that limits a record; NULL: none. */
static inline const struct seep_tally *seep_share_cgroup(const struct seep_rec *rec)
{
	return rec->cgroup && rec->cgroup->tally ? &rec->cgroup->tally->tally : NULL;
}

/* What the tallies have of a record. */
static inline struct seep_growers seep_share_own(const struct seep_rec *rec)
{
	return (struct seep_growers){ .rate = rec->rate, .n = !!rec->rate };
}

/* facts.c: table mutex; what user space found out about a process */
void seep_facts_cold(struct seep_rec *rec, u16 permille);
void seep_facts_cgroup(struct seep_rec *rec, u64 limit, u64 used, u64 id);
void seep_facts_forget(struct seep_rec *rec);
bool seep_facts_headroom(const struct seep_rec *rec, const struct seep_sample *s, u64 *headroom);

/* read.c: process context, table mutex; the rest is in read.h */
void seep_sample_read(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2]);
void seep_sample_clear_watched(struct seep_sample *s);

/* sample.c: process context, table mutex */
bool seep_sample_pass(bool full, const struct seep_conf *c);
void seep_sample_reset(struct seep_rec *only);	/* restart histories */
void seep_sample_teach(struct seep_rec *rec, u64 rise, u64 span_s);	/* bytes, seconds */
void seep_sample_wake(struct seep_rec *rec);	/* before last and det are shown */
void seep_sample_welcome(void);	/* first look at all new records */
int seep_sample_init(void);
void seep_sample_exit(void);

/* end.c: the first two in probes, with preemption off; else process context, table mutex */
#define SEEP_END_SLOTS	256U
struct seep_end_slot {
	struct pid *pid;		/* of a record, compared only; NULL: a free slot */
	u32 how;			/* as in struct seep_end, and a stamp above it */
	u32 victim;			/* stamp of how when the OOM killer chose it; 0: not yet */
	u64 cgroup;			/* that ran out of memory; valid with victim */
	u32 at;				/* CLOCK_MONOTONIC of the end, 2^20 ns, wraps; 0: not yet */
};

void seep_end_note(struct task_struct *p, bool exec);
void seep_end_victim(struct task_struct *p);
void seep_end_want(struct seep_rec *rec);
void seep_end_drop(struct seep_rec *rec);
void seep_end_find(const struct seep_rec *rec, struct seep_end *e);
u64 seep_end_ns(const struct seep_rec *rec, u64 now_ns);
void seep_end_init(struct seep_end_slot *mem);

/* suspect.c: process context, table mutex, may sleep */
void seep_suspect_judged(struct seep_rec *rec, u8 prev, const struct seep_verdict *v, bool full);
void seep_suspect_forget(struct seep_rec *rec);
bool seep_suspect_is(const struct seep_rec *rec);
extern struct list_head seep_suspects;
/* @rec may be judged meanwhile, and then leave the list; no other one may. */
#define seep_for_each_suspect(rec, n)					\
	list_for_each_entry_safe(rec, n, &seep_suspects, hot)

/* group.c: process context, table mutex, may sleep */
#define SEEP_GROUP_HEADS	128U
void seep_group_init(struct hlist_head *mem);
void seep_group_join(struct seep_rec *rec);
void seep_group_known(const struct seep_rec *rec, u32 *known_rise, u32 *known_span);
void seep_group_learn(const struct seep_rec *rec);
void seep_group_leave(struct seep_rec *rec);
void seep_group_count(struct seep_rec *rec);
void seep_group_judged(struct seep_rec *rec, const struct seep_verdict *v);
void seep_group_uncount(struct seep_rec *rec);
bool seep_group_speaks(const struct seep_rec *rec);
void seep_group_add(const struct seep_rec *rec);
void seep_group_peers(const struct seep_rec *rec, struct seep_sample *s);
void seep_group_pass(u64 now_ns, u64 headroom, const struct seep_conf *c);
void seep_group_forget(void);
u64 seep_group_bytes(void);			/* any context */
void seep_group_exit(void);

/* tick.c: process context */
struct seep_tick_stats {
	u64 ticks, cost_ns, cost_max_ns;	/* full passes: number, last and top cost */
	u32 interval_ms;		/* between full passes, in force */
	bool stretched;			/* longer than configured */
};

int seep_tick_init(void);
void seep_tick_start(void);
void seep_tick_stop(void);
void seep_tick_reschedule(void);		/* after a change of the configuration */

struct seep_status {
	u32 processes;			/* tracked and alive */
	u64 first, last;		/* sequence numbers of alerts: oldest in the ring, newest */
	struct seep_tick_stats tick;
};

int seep_status_get(struct seep_status *s);
void seep_tick_reset_stats(void);

/* view.c: table mutex */
u64 seep_view_identify(struct seep_rec *rec);
void seep_view_fill(struct seep_view *v, struct seep_rec *rec);
void seep_view_fill_group(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *rec);
void seep_view_fill_cause(struct seep_view *v, const struct seep_group *g,
			  struct seep_rec *cause, const struct seep_verdict *verdict);
void seep_view_weigh(struct seep_view *v);	/* any context */

/* alert.c: table mutex, may sleep */
int seep_alert_init(void);
void seep_alert_exit(void);
void seep_alert_state(struct seep_rec *rec, u8 prev, const struct seep_verdict *verdict);
void seep_alert_exited(struct seep_rec *rec);
void seep_alert_retry(struct seep_rec *rec);
void seep_alert_member(struct seep_rec *rec, const struct seep_verdict *verdict);
void seep_alert_group(struct seep_group *g, u8 prev, const struct seep_verdict *verdict);
void seep_alert_group_exited(struct seep_group *g, struct seep_rec *last);
const struct seep_alert *seep_alert_next(u64 seq);	/* first one with >= seq */
void seep_alert_range(u64 *first, u64 *last);
int seep_alert_identify(const struct seep_rec *rec, u64 seq, const void *attrs, u32 len);
void seep_alert_reset(void);
u64 seep_alert_bytes(void);

/* netlink/netlink.c: process context; the rest of it is in netlink/netlink.h */
int seep_netlink_init(void);
void seep_netlink_exit(void);

/* debugfs.c: process context */
#ifdef SEEP_DEBUGFS
void seep_debugfs_init(void);
void seep_debugfs_exit(void);
#else
static inline void seep_debugfs_init(void) {}
static inline void seep_debugfs_exit(void) {}
#endif

#endif /* SEEP_H */
