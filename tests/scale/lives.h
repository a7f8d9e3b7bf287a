/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lives in the simulated machine, whose scenarios print what the module did. subjects.c,
 * inside.c and wire.c are compiled as kernel code, like world.c; lives.c and bounds.c are not.
 */
#ifndef SCALE_LIVES_H
#define SCALE_LIVES_H

struct mm_struct;
struct task_struct;
struct w_process;

/* world.c */
void w_become(struct w_process *p, unsigned int uid);
void w_enter(struct w_process *p, unsigned int owner);	/* after w_become() */
void w_map(struct w_process *p, unsigned int first);	/* after w_enter() */
extern unsigned int w_visits;	/* pids that were looked for, one after another */
void w_thread(struct w_process *p, bool dead);
void w_first_exits(struct w_process *p);
void w_switch(struct w_process *next);
void w_offline(unsigned int cpu, bool told);
void w_advance(unsigned long long ns);
extern bool w_little;		/* the machine has what w_available says */
extern bool w_short;		/* no allocation succeeds */
extern bool w_scattered;	/* none of more than a page */
extern unsigned long long w_grace_ns;	/* that a grace period takes from now on */
extern unsigned int w_released;	/* how often the table mutex was */
extern unsigned long long w_yield_ns;	/* that pass where a CPU is yielded */

extern struct w_process *w_restless;	/* faults on CPU 1 after each interrupt of it */
extern unsigned int w_events;	/* perf events that the module asked for */

/* subjects.c */
void w_run_works(void);
void w_grow(struct task_struct *t, long pages);
void w_end(struct task_struct *t, int status, bool reaped);
void w_leave(struct task_struct *t, int status, bool reaped);
void w_exit(void);
struct mm_struct *w_orphan(struct task_struct *t);
struct mm_struct *w_mm(struct task_struct *t);
void w_run_in(struct task_struct *t, struct mm_struct *mm);
unsigned int w_known_mb(struct task_struct *t);
unsigned int w_records(void);
bool w_alert(char *buf, unsigned long size);
extern long w_available;	/* pages */

/* inside.c */
bool w_has(struct task_struct *t);
bool w_held_back(struct task_struct *t);
bool w_told(struct task_struct *t);
bool w_was_told(struct task_struct *t);
bool w_owns(struct task_struct *t);
unsigned int w_slots(struct task_struct *t);
unsigned int w_share(unsigned int uid);
void w_bury(struct task_struct *t, unsigned int uid);
unsigned int w_tell(struct task_struct *t, unsigned long long cgroup);
void w_teach(struct task_struct *t, unsigned long long rise, unsigned long long span_s);
bool w_knows(struct task_struct *t, unsigned int *mib, unsigned int *span_s);
unsigned int w_chain(struct task_struct *t);
bool w_watched(struct task_struct *t);
unsigned int w_dump(void);
void w_count_here(struct task_struct *a, struct task_struct *b);
void w_counted(struct task_struct *t, unsigned long long *area, unsigned long long *kept);

unsigned int w_lost(void);
unsigned int w_births(void);
unsigned int w_freed(void);
unsigned int w_passes(void);

/* wire.c */
int w_ask(struct task_struct *t);
void w_answer(struct task_struct *t);
extern bool w_records_series;	/* somebody listens to the group series */
extern unsigned int w_messages, w_largest, w_samples, w_ends;	/* that were multicast there */
extern bool w_strangers;	/* somebody is in each group before the module, and again */
extern bool w_late;		/* somebody is between the check of a join and the join */
extern bool w_no_family;	/* the second registration fails once, for want of memory */
extern unsigned int w_registered;	/* how often the family was */
extern unsigned int w_on_early;	/* how often the status said then that multicast is on */
bool w_status_off(void);
#define W_PIDS	(1 << 16)
int w_dump_own(struct task_struct *t, const char *comm, unsigned int states);
extern unsigned char w_seen[W_PIDS];	/* how often a pid was in an answer */
extern unsigned int w_known;	/* answers that said what is known of earlier lives */
extern unsigned int w_after;
extern unsigned long long w_errand_ns;	/* that the worker takes for one */

/* lives.c */
void serve_as(unsigned int uid, const char *comm, unsigned int first, unsigned int n);
void serve(const char *comm, unsigned int first, unsigned int n);
void leak(unsigned int s, unsigned int first, unsigned int n, unsigned int kb);
struct task_struct *task(unsigned int i);
extern void (*on_alert)(const char *alert);	/* called for each alert; prints it by default */
void subjects(char **args);

/* bounds.c */
void programs(unsigned int uid, const char *name, unsigned int first, unsigned int n);
unsigned int count(bool (*is)(struct task_struct *t), unsigned int first, unsigned int n);
void ignore(const char *alert);
void begin_limited(void);
void held(char **args);
void shortage(char **args);
void shares(char **args);
void dump(char **args);
void slices(char **args);
void strangers(char **args);
void late(char **args);
void kept(char **args);
void record(char **args);
void grace(char **args);
void waits(char **args);
void offline(char **args);
void flood(char **args);
void watched(char **args);

/* tricks.c */
void names(char **args);
void restless(char **args);

/* users.c */
void becomes(char **args);
void past(char **args);
void given(char **args);
void outlives(char **args);
void unseen(char **args);
void behind(char **args);
void threads(char **args);
void taught(char **args);
void losses(char **args);
void orphans(char **args);

#endif
