/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nltest tests whether the module does what the uapi header says. It is an independent client
 * on libmnl alone and uses no code of ctl/ or kmod/.
 */
#ifndef NLTEST_H
#define NLTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/seepage.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- nltest.c: tests and their verdicts; each runs in a process of its own ---- */

struct test {
	const char *name;
	void (*run)(void);
};

/* The verdict is not ok; the test goes on. */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The test ends here, with the verdict so far. */
_Noreturn void stop(void);
_Noreturn void skip(const char *why);
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned int failures(void);
unsigned int slowness(void);	/* how many times slower a debug kernel may be; else 1 */

#define check(cond, ...)	do { if (!(cond)) fail(__VA_ARGS__); } while (0)
#define need(cond, ...)		do { if (!(cond)) { fail(__VA_ARGS__); stop(); } } while (0)

extern const struct test tests_status[], tests_config[], tests_bad[], tests_proc[],
	tests_dump[], tests_alert[], tests_reset[], tests_perm[], tests_stress[],
	tests_debugfs[], tests_load[], tests_fail[];

/* ---- conn.c: one netlink socket ---- */

struct conn {
	struct mnl_socket *nl;
	unsigned int seq;
	size_t recv_size;		/* of the reader's buffer */
	unsigned int pause_us;		/* between two reads */
	uint16_t family;
	uint32_t version, hdrsize;
	uint32_t group[3];		/* GROUP_*; 0: the family has none */
};

enum { GROUP_ALERT, GROUP_SAMPLE, GROUP_SERIES };

int conn_try(struct conn *c, size_t recv_size);	/* 0 or -errno; size 0: large */
void conn_open(struct conn *c);
/* A reader with a buffer of 4 kB: the kernel puts that much into a datagram. */
void conn_open_small(struct conn *c);
void conn_close(struct conn *c);
int conn_join(struct conn *c, int group);	/* 0 or -errno */

#define REQ_SIZE 4096
struct nlmsghdr *request(struct conn *c, void *buf, uint8_t cmd, uint16_t flags);

struct answer {
	int rc;				/* 0 or -errno */
	char text[256];			/* NLMSGERR_ATTR_MSG, "" if there is none */
	bool has_offset;
	uint32_t offset;		/* NLMSGERR_ATTR_OFFS */
	bool at_end;			/* told by NLMSG_DONE, which has no offset */
	uint32_t after;			/* FILTER_AFTER_PID in NLMSG_DONE, 0: none */
	unsigned int messages, datagrams;
};

typedef void on_message(const struct nlmsghdr *nlh, void *data);
void conn_send(struct conn *c, const struct nlmsghdr *nlh);
void conn_answer(struct conn *c, unsigned int seq, struct answer *a, on_message *f, void *data);
int ask(struct conn *c, struct nlmsghdr *nlh, struct answer *a, on_message *f, void *data);
/* Multicasts until f returns true or so many ms have passed; false if they have. */
bool conn_listen(struct conn *c, int ms, bool (*f)(const struct nlmsghdr *nlh, void *data),
		 void *data);
/* It must be refused with this error, with a text, at once. */
void refused(struct conn *c, struct nlmsghdr *nlh, int rc, const char *text,
	     const struct nlattr *bad, const char *what);
/* What u64s are aligned to: the start of the datagram that is being read. */
extern const char *datagram;

/* ---- spec.c: what the header says of a message ---- */

/* PROC_GROUP: the reply of GET_PROC to a request with GROUP */
enum kind { STATUS, CONFIG, PROC_DO, PROC_DUMP, PROC_GROUP, PROC_SAMPLE, AN_ALERT };

struct parsed {
	const struct nlattr *a[__SEEPAGE_A_MAX];
};

/* Alerts leave the PID out for a reader in another pid namespace. */
extern bool reader_has_pidns;
/* Processes exec meanwhile; how many were told without their UID. */
extern bool execs_go_on;
extern unsigned int nameless;
void parse(const struct nlmsghdr *nlh, enum kind what, struct parsed *p);
bool has(const struct parsed *p, int attr);
uint64_t num(const struct parsed *p, int attr);	/* u8, u32, u64; missing: the test ends */
int64_t snum(const struct parsed *p, int attr);
const char *str(const struct parsed *p, int attr);
uint64_t keyed(const struct parsed *p, int attr, int key);	/* of COUNTERS, CONFIG */
/* of HISTORY */
uint64_t level_ms(const struct parsed *p, unsigned int level, int attr);
unsigned int count_in(const struct parsed *p, int list);	/* members of a list */
const char *attr_name(int attr);

/* ---- ask.c: requests that many tests make ---- */

struct copy {			/* a message that outlives the buffer it came in */
	char buf[8192] __attribute__((aligned(8)));
	struct parsed p;
	bool got;
};

void get_status(struct conn *c, struct copy *m);
uint64_t status_num(struct conn *c, int attr);
uint64_t counter(struct conn *c, int id);
void get_config(struct conn *c, uint32_t v[__SEEPAGE_CFG_MAX]);
int get_proc(struct conn *c, pid_t pid, struct copy *m);	/* 0 or -errno */
int get_group(struct conn *c, pid_t pid, struct copy *m);	/* likewise */
int set_config(struct conn *c, ...);	/* key, value, .. , 0; 0 or -errno */
int reset(struct conn *c, uint32_t what, pid_t pid);
/* So many more, for 20 s at most, slowness() times */
void wait_passes(struct conn *c, unsigned int n);
void wait_accused(struct conn *c, pid_t pid);	/* until it is suspected or worse; likewise */
void fresh(struct conn *c);		/* configuration of load, no history, no alerts */
/* likewise, but a pass each @ms, however long it takes */
void quick(struct conn *c, uint32_t ms);

struct filter {
	pid_t pid;			/* 0: all */
	bool by_states, by_confidence, by_uid;
	uint32_t states, uid;
	uint8_t confidence;
	const char *comm;
};

#define PID_LIMIT (4 << 20)
struct seen {			/* the processes of a dump */
	uint8_t n[PID_LIMIT];	/* how often */
	unsigned int total, twice, pieces;
	uint32_t last;		/* pid */
	void (*each)(const struct parsed *p, void *data);
	void *data;
};

struct seen *dump(struct conn *c, const struct filter *f, struct answer *a,
		  void (*each)(const struct parsed *p, void *data), void *data);

struct alerts {
	unsigned int n;
	struct copy *m;
};

void get_alerts(struct conn *c, bool by_seq, uint64_t since, struct alerts *l);

/* ---- kids.c: processes to look at ---- */

struct kid {
	pid_t pid;
	int in, out;		/* pipes to and from it */
};

/* touched: bytes; reserve: bytes mapped, never touched; uid 0: as this one */
void kid_start(struct kid *k, size_t touched, size_t reserve, const char *comm, uid_t uid);
/*
 * what: '+' touch n bytes more, 's' n bytes of shared memory, '-' give the
 * reserve back, 't' start a thread (its id is returned), 'z' end the first
 * thread, leaving another
 */
pid_t kid_ask(struct kid *k, char what, size_t n);
void kid_end(struct kid *k);
void kids_start(pid_t *pid, unsigned int n);
void kids_end(const pid_t *pid, unsigned int n);
/* Processes that come and go until churn_end(). */
enum churn { CHURN_FORK, CHURN_EXEC };

pid_t churn_start(enum churn how, unsigned int wide);
void churn_end(pid_t pid);
int exec_churn(const char *rounds);		/* main() of what CHURN_EXEC executes */
void *map(size_t n, int prot);
void touch(size_t n);		/* page by page: no huge ones */
void msleep(unsigned int ms);
uint64_t now_ms(void);
int run(const char *cmd);			/* exit status of a shell command */

#endif /* NLTEST_H */
