// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: status, processes, alerts, configuration and counters as text, for a user with
 * nothing but cat. Files are read-only (0400), so they exist under lockdown as well.
 *
 * Context: process, may sleep. Lock: takes seep_table_mutex where records are read.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "seep.h"

static struct dentry *dir;

/* ---- one value a line ---- */

static void show_text(struct seq_file *m, const char *key, const char *value)
{
	seq_printf(m, "%-20s %s\n", key, value);
}

static void show_number(struct seq_file *m, const char *key, u64 value)
{
	seq_printf(m, "%-20s %llu\n", key, value);
}

static int status_show(struct seq_file *m, void *unused)
{
	char pmc[SEEP_PMU_TEXT];
	struct seep_status s;
	int rc = seep_status_get(&s);

	if (rc)
		return rc;
	seep_pmu_text(pmc, sizeof(pmc));
	show_text(m, "key", "value");
	show_text(m, "version", SEEP_VERSION);
	show_text(m, "hook", seep_hook->name);
	show_text(m, "policy",
		  seep_config_word(SEEPAGE_CFG_POLICY, seep_config_value(SEEPAGE_CFG_POLICY)));
	show_number(m, "processes", s.processes);
	show_number(m, "rec_bytes", sizeof(struct seep_rec));
	show_number(m, "memory_bytes", seep_tab_bytes() + seep_group_bytes() +
		    seep_alert_bytes() + seep_pmu_bytes());
	show_number(m, "seq_first", s.first);
	show_number(m, "seq_last", s.last);
	show_number(m, "ticks", s.tick.ticks);
	show_number(m, "tick_cost_ns", s.tick.cost_ns);
	show_number(m, "tick_cost_max_ns", s.tick.cost_max_ns);
	show_number(m, "interval_ms", s.tick.interval_ms);
	show_number(m, "stretched", s.tick.stretched);
	show_text(m, "pmc", pmc);
	show_text(m, "disabled", seep_disabled() ?: "-");
	return 0;
}

static int config_show(struct seq_file *m, void *unused)
{
	char events[SEEP_CONFIG_EVENTS_BYTES];
	const char *name, *word;
	struct seep_conf c;
	int key;

	seep_config_get(&c);
	show_text(m, "key", "value");
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		name = seep_config_name(key);
		word = seep_config_word(key, c.v[key]);
		if (word)
			show_text(m, name, word);
		else
			show_number(m, name, c.v[key]);
	}
	seep_config_pmc_events(events, sizeof(events));
	show_text(m, "pmc_events", *events ? events : "-");
	return 0;
}

#define NAME(ID, name, ...)	#name "\0"
#define PLACE(ID, ...)		PLACE_##ID,
#define CHECK(ID, ...)		static_assert(PLACE_##ID + 1 == SEEPAGE_COUNTER_##ID);
static const char counter_names[] = SEEPAGE_COUNTERS(NAME);	/* one after another */
enum { SEEPAGE_COUNTERS(PLACE) };
SEEPAGE_COUNTERS(CHECK)
#undef NAME
#undef PLACE
#undef CHECK

static int counters_show(struct seq_file *m, void *unused)
{
	const char *name = counter_names;
	int id;

	show_text(m, "key", "value");
	for (id = 1; id < __SEEPAGE_COUNTER_MAX; id++, name += strlen(name) + 1)
		show_number(m, name, seep_counter(id));
	return 0;
}

/* ---- tables ---- */

/* A process sets comm to any bytes: print none that moves the cursor. */
static void show_comm(struct seq_file *m, const char *comm)
{
	int i, width = 0;

	if (!*comm)
		comm = "?";
	for (i = 0; comm[i]; i++, width++)
		seq_putc(m, comm[i] > ' ' && comm[i] < 127 ? comm[i] : '?');
	for (; width < TASK_COMM_LEN; width++)
		seq_putc(m, ' ');
}

/* " -" for a value that is not known. */
static void show_unless(struct seq_file *m, bool unknown, int width, s64 value)
{
	if (unknown)
		seq_printf(m, " %*s", width, "-");
	else
		seq_printf(m, " %*lld", width, value);
}

#define VIEW_HEADER \
	"    pid comm             state     confidence      rss_bytes     anon_bytes     " \
	"file_bytes    shmem_bytes     swap_bytes        vsz_bytes  growth_bytes_per_hour  " \
	"tte_seconds  faults_user faults_kernel  faults_anon  faults_file fault_rate " \
	"age_seconds"

/* The columns of VIEW_HEADER; no newline. */
static void show_view(struct seq_file *m, const struct seep_view *v)
{
	u64 faults = v->faults_user + v->faults_kernel;

	seq_printf(m, "%7d ", v->pid);
	show_comm(m, v->comm);
	seq_printf(m, " %-9s %10u %14llu %14llu %14llu %14llu %14llu %16llu",
		   seep_state_names[v->verdict.state], v->verdict.confidence,
		   v->anon + v->file + v->shmem, v->anon, v->file, v->shmem, v->swap, v->vsz);
	show_unless(m, !v->has_growth, 22, v->growth);
	show_unless(m, v->verdict.tte_s == SEEP_UNKNOWN, 12, v->verdict.tte_s);
	seq_printf(m, " %12llu %13llu %12llu %12llu %10u %11llu",
		   v->faults_user, v->faults_kernel, v->faults_anon,
		   faults - min(faults, v->faults_anon), v->fault_rate, v->age_s);
}

/* An open file; the mutex of its seq_file protects it. */
struct table_iter {
	int at;				/* pid of the last process shown */
	int next;			/* pid of the record that show() is given */
	u64 seq;			/* sequence number of the next alert */
	struct seep_view view;
};

static struct seep_rec *next_process(struct table_iter *it)
{
	it->next = it->at;
	return seep_owner_next(task_active_pid_ns(current), &it->next);
}

/*
 * The mutex is released between two reads of the file, and while many pids are passed over.
 * An error means that it is not held. Position 0 is the header. The last pid shown is
 * remembered, so continuing does not count from the begin.
 */
static void *processes_start(struct seq_file *m, loff_t *pos)
{
	struct table_iter *it = m->private;

	if (mutex_lock_killable(&seep_table_mutex))
		return ERR_PTR(-EINTR);
	if (*pos == 0) {
		it->at = 0;
		return SEQ_START_TOKEN;
	}
	return next_process(it);
}

static void *processes_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct table_iter *it = m->private;

	++*pos;
	if (v != SEQ_START_TOKEN)
		it->at = it->next;	/* it was shown */
	return next_process(it);
}

static void tables_stop(struct seq_file *m, void *v)
{
	if (!IS_ERR(v))
		mutex_unlock(&seep_table_mutex);
}

static int processes_show(struct seq_file *m, void *v)
{
	struct table_iter *it = m->private;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, VIEW_HEADER "\n");
		return 0;
	}
	seep_view_fill(&it->view, v);
	it->view.pid = it->next;
	show_view(m, &it->view);
	seq_putc(m, '\n');
	return 0;
}

static void *alerts_start(struct seq_file *m, loff_t *pos)
{
	struct table_iter *it = m->private;

	if (mutex_lock_killable(&seep_table_mutex))
		return ERR_PTR(-EINTR);
	if (*pos == 0) {
		it->seq = 0;
		return SEQ_START_TOKEN;
	}
	return (void *)seep_alert_next(it->seq);
}

static void *alerts_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct table_iter *it = m->private;

	++*pos;
	if (v != SEQ_START_TOKEN)
		it->seq = ((struct seep_alert *)v)->seq + 1;
	return (void *)seep_alert_next(it->seq);
}

#define ALERT_HEADER "   seq             time_ns prev_state severity "

static int alerts_show(struct seq_file *m, void *v)
{
	const struct seep_alert *a = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, ALERT_HEADER);
		seq_puts(m, VIEW_HEADER "\n");
		return 0;
	}
	seq_printf(m, "%6llu %19llu %-10s %8u ", a->seq, a->time_ns,
		   seep_state_names[a->prev_state], a->view.severity);
	show_view(m, &a->view);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations processes_sops = {
	.start = processes_start, .next = processes_next,
	.stop = tables_stop, .show = processes_show,
};

static const struct seq_operations alerts_sops = {
	.start = alerts_start, .next = alerts_next,
	.stop = tables_stop, .show = alerts_show,
};

/* The files of one value a line are tables of one row. */
static void *text_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : SEQ_START_TOKEN;
}

static void *text_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void text_stop(struct seq_file *m, void *v) {}

#define TEXT(show_fn)	{ .start = text_start, .next = text_next,	\
			  .stop = text_stop, .show = show_fn }
static const struct seq_operations status_sops = TEXT(status_show);
static const struct seq_operations config_sops = TEXT(config_show);
static const struct seq_operations counters_sops = TEXT(counters_show);

static int open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, inode->i_private, sizeof(struct table_iter));
}

static const struct file_operations fops = {
	.owner = THIS_MODULE, .open = open, .read = seq_read,
	.llseek = seq_lseek, .release = seq_release_private,
};

struct text_file {
	const char *name;
	const struct seq_operations *sops;
};

static const struct text_file files[] __initconst = {
	{ "status", &status_sops },
	{ "processes", &processes_sops },
	{ "alerts", &alerts_sops },
	{ "config", &config_sops },
	{ "counters", &counters_sops },
};

/**
 * seep_debugfs_init() - create the files
 *
 * Context: module init, after everything that is displayed. Errors are ignored, as debugfs
 * asks for.
 */
void __init seep_debugfs_init(void)
{
	int i;

	dir = debugfs_create_dir("seepage", NULL);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, 0400, dir, (void *)files[i].sops, &fops);
}

/**
 * seep_debugfs_exit() - remove the files; no reader is left on return
 *
 * Context: module exit.
 */
void seep_debugfs_exit(void)
{
	debugfs_remove_recursive(dir);
}
