/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this machine offers and lacks. Each check reads files, and what the module says, and adds
 * one finding or more. No check needs the module or a capability: what may not be read is a
 * finding too. Every path is taken below SEEPAGE_ROOT, if that is set; then the answers of the
 * module are taken from the file seepage.json there.
 */
#ifndef SEEPAGE_CTL_DOCTOR_H
#define SEEPAGE_CTL_DOCTOR_H

#include "ctl.h"

#define DOCTOR_FINDINGS	32
#define PATH_SIZE	1024
#define DOCTOR_LEAKS	64	/* processes under alert that are kept, the most urgent ones */

/* DOCTOR_UNKNOWN: it could not be found out; the remedy says how it can. */
enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD, DOCTOR_UNKNOWN, DOCTOR_LEVELS };

/* What the running kernel does with modules */
enum doctor_loading {
	LOADS_MODULES,
	LOADS_NO_MORE,		/* until the next boot: kernel.modules_disabled is 1 */
	LOADS_NONE,		/* it is without CONFIG_MODULES */
};

struct finding {
	const char *check;	/* name of the check, the same in text and JSON */
	enum doctor_level level;
	char text[2 * TEXT_MAX];
	char remedy[2 * TEXT_MAX];	/* empty: there is none */
};

struct doctor_leak {		/* a process under alert */
	u64 pid, tte_s;
	bool has_tte;
	unsigned int state;
	char comm[4 * SEEPAGE_COMM_LEN];
};

/* What the module says; text is empty, and a number 0, if it did not say it */
struct doctor_live {
	bool answered;		/* it answered GET_STATUS */
	int err;		/* errno, if it did not */
	char version[64], hook[32], pmc[TEXT_MAX], disabled[TEXT_MAX];
	u64 ticks, processes, max_processes, table_full, share_full;
	bool stretched, multicast_off;
	bool listed;		/* it answered which processes are under alert */
	struct doctor_leak leak[DOCTOR_LEAKS];
	size_t leaks;
};

struct doctor {
	const char *root;	/* prefix of every path; "" if there is none */
	char release[128];	/* of the running kernel */
	char newest[128];	/* of the newest installed one, or "" */
	bool loaded;		/* the module, or a kernel that has it built in */
	bool built_in;		/* it is a part of the running kernel */
	enum doctor_loading loading;
	bool signed_only;	/* the kernel refuses modules without a valid signature */
	bool lockdown_hidden;	/* it may refuse them: whether it is locked down is not known */
	bool vm;		/* the CPU says that there is a hypervisor */
	u64 caps;		/* effective capabilities of this process */
	struct doctor_live live;
	struct finding found[DOCTOR_FINDINGS];
	size_t n;
};

/* doctor/finding.c */
void __printf(4, 5) doctor_find(struct doctor *d, const char *check, enum doctor_level level,
				const char *fmt, ...);
void __printf(2, 3) doctor_remedy(struct doctor *d, const char *fmt, ...);
unsigned int doctor_count(const struct doctor *d, enum doctor_level level);
void doctor_print(const struct doctor *d);
int doctor_json(const struct ctx *ctx, const struct doctor *d);

/*
 * doctor/files.c: files below the root. doctor_text(), doctor_bytes() return NULL with errno
 * set if the file cannot be read; the caller frees what they return.
 */
char *__printf(2, 3) doctor_text(const struct doctor *d, const char *fmt, ...);
unsigned char *doctor_bytes(const struct doctor *d, const char *path, size_t *n);
bool __printf(2, 3) doctor_exists(const struct doctor *d, const char *fmt, ...);
bool doctor_line(const struct doctor *d, const char *path, char *buf, size_t size);
void doctor_path(const struct doctor *d, const char *path, char *buf, size_t size);
bool doctor_mounted(const struct doctor *d, const char *type);
bool doctor_has_unit(const struct doctor *d, const char *name);
bool doctor_proc_hides(const struct doctor *d);

/* doctor/begin.c: what the checks have in common */
void doctor_begin(struct doctor *d);

/* doctor/live.c: asks the module */
void doctor_ask(struct doctor *d);

/* doctor/object.c: a file of a module, with its compression undone */
struct doctor_object {
	char path[512];		/* empty: there is no file for the kernel */
	bool indexed;		/* modprobe finds it: modules.dep names it */
	bool readable;
	char version[64], vermagic[128], signer[128];	/* empty: none */
	bool has_signature;
};

/* doctor/origin.c: what the remedies depend on */
enum doctor_origin { FROM_DEB, FROM_RPM, FROM_NOWHERE };	/* package of a kernel */

enum doctor_origin doctor_origin(const struct doctor *d, const char *release);
char *doctor_kernel_config(const struct doctor *d, const char *release, char *from, size_t size);
bool doctor_config_has(const char *config, const char *option);
void doctor_get_module(struct doctor *d, const char *release);
const char *doctor_no_load(const struct doctor *d);
void doctor_get_headers(struct doctor *d, const char *release);

void doctor_object(const struct doctor *d, const char *release, const char *module,
		   struct doctor_object *o);

/* doctor/services.c: those that tell of alerts, other than watch */
enum doctor_service_name { DOCTOR_NOTIFY, DOCTOR_EXPORT, DOCTOR_SERVICES };

struct doctor_service {
	bool enabled;
	bool runs;		/* systemd runs it */
	u64 pid;		/* of a tool that was started otherwise, 0: none */
	u64 uid;		/* of that tool; notify counts as root's only */
};

void doctor_find_services(const struct doctor *d, struct doctor_service *s);
void doctor_say_services(const struct doctor *d, const struct doctor_service *s, char *buf,
			 size_t size);

/* doctor/module.c, kernel.c, build.c, people.c, told.c: the checks */
void doctor_module(struct doctor *d);
void doctor_work(struct doctor *d);
void doctor_table(struct doctor *d);
void doctor_alerts(struct doctor *d);
void doctor_hook(struct doctor *d);
void doctor_pmu(struct doctor *d);
void doctor_lockdown(struct doctor *d);
void doctor_secure_boot(struct doctor *d);
void doctor_signature(struct doctor *d);
void doctor_debugfs(struct doctor *d);
void doctor_kernel_log(struct doctor *d);
void doctor_dkms(struct doctor *d);
void doctor_headers(struct doctor *d);
void doctor_config(struct doctor *d);
void doctor_rights(struct doctor *d);
void doctor_watch(struct doctor *d);
void doctor_told(struct doctor *d);
void doctor_where(struct doctor *d);
void doctor_symbols(struct doctor *d);

#endif /* SEEPAGE_CTL_DOCTOR_H */
