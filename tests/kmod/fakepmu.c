// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU for machines that have none (x86 in QEMU without KVM). perf takes it for the CPU's own
 * PMU and treats it as one; only the counts are made up. While an event has a counter, it
 * advances by a multiple of the CPU's clock, or by 1/64 of that (slow). The parameter tally has
 * the total of each event that was counted for perf. Code that divides the counts among
 * processes must arrive at the same total.
 *
 * With the parameter nmi, all counters are updated in NMIs at any moment, as real counters are
 * when they overflow.
 *
 * It is loaded before the module under test.
 */
#include <linux/kthread.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#define COUNTERS_MAX	8
#define IDS		64

static uint counters = 4;
module_param(counters, uint, 0444);
MODULE_PARM_DESC(counters, "how many it has (1..8, default 4)");
static bool fast;
module_param(fast, bool, 0444);
MODULE_PARM_DESC(fast, "count by the TSC: a reading costs as little as a driver's");
static ulong refused;
module_param(refused, ulong, 0644);
MODULE_PARM_DESC(refused, "mask of events that it does not know");
static ulong silent;
module_param(silent, ulong, 0644);
MODULE_PARM_DESC(silent, "mask of events that it knows, but that never count");
static ulong slow;
module_param(slow, ulong, 0644);
MODULE_PARM_DESC(slow, "mask of events that count a 64th of what they would");
static uint slowly;
module_param(slowly, uint, 0644);
MODULE_PARM_DESC(slowly, "readings of the clock that one of a counter takes besides");
static ulong lacking;
module_param(lacking, ulong, 0644);
MODULE_PARM_DESC(lacking, "mask of CPUs without any events, as of another kind");

static uint nomem;
module_param(nomem, uint, 0644);
MODULE_PARM_DESC(nomem, "so many events, the next ones, find no memory");
static uint stall;
module_param(stall, uint, 0644);
MODULE_PARM_DESC(stall, "ms that each event waits as it is created");

struct bank {
	struct perf_event *counter[COUNTERS_MAX];
	u64 tally[IDS];
	u64 nmis;
	bool nmi_sent;		/* xchg() */
};

static DEFINE_PER_CPU(struct bank, bank);	/* own CPU, irqs off */

/* hardware 0..15, cache 16..31, raw 32..63 */
static int id_of(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return attr->config & 15;
	case PERF_TYPE_HW_CACHE:
		return 16 + ((attr->config & 7) << 1 | (attr->config >> 16 & 1));
	default:
		return 32 + (attr->config & 31);
	}
}

#define SHIFT	10
static u32 per_tick;		/* ns of one of ticks(), << SHIFT; set at load */

/*
 * What the counts advance by. perf's times are those of local_clock(), which is not the TSC
 * where the kernel distrusts it, as in a VM on a busy host. Counts by the TSC then do not
 * fit the times for which an event had a counter.
 */
static __always_inline u64 ticks(bool tsc)
{
	return tsc ? rdtsc() : local_clock();
}

/*
 * prev_count is the value of ticks() up to which all is counted. As drivers do it: an NMI
 * may come between any two steps, and do the same. hw.config is the event's id.
 */
static __always_inline void update(struct perf_event *e, bool tsc)
{
	u64 id = e->hw.config, now, before, gain;

	do {
		before = local64_read(&e->hw.prev_count);
		now = ticks(tsc);
	} while (local64_cmpxchg(&e->hw.prev_count, before, now) != before);
	gain = (now - before) * e->hw.config_base >> SHIFT;
	if (unlikely(silent | slow)) {
		if (silent >> id & 1)
			gain = 0;
		if (slow >> id & 1)
			gain >>= 6;
	}
	local64_add(gain, &e->count);
	this_cpu_add(bank.tally[id], gain);
}

static void start(struct perf_event *e, int flags)
{
	local64_set(&e->hw.prev_count, ticks(fast));
	barrier();			/* from here on NMIs update it */
	e->hw.state = 0;
}

static void stop(struct perf_event *e, int flags)
{
	if (e->hw.state & PERF_HES_STOPPED)
		return;
	update(e, fast);
	e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int add(struct perf_event *e, int flags)
{
	struct bank *b = this_cpu_ptr(&bank);
	int i;

	for (i = 0; i < counters; i++) {
		if (b->counter[i])
			continue;
		b->counter[i] = e;
		e->hw.idx = i;
		e->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
		if (flags & PERF_EF_START)
			start(e, PERF_EF_RELOAD);
		perf_event_update_userpage(e);
		return 0;
	}
	return -EAGAIN;
}

static void del(struct perf_event *e, int flags)
{
	stop(e, PERF_EF_UPDATE);
	this_cpu_write(bank.counter[e->hw.idx], NULL);
	perf_event_update_userpage(e);
}

/* As if a hypervisor was asked. */
static noinline void delay(void)
{
	uint i;

	for (i = 0; i < slowly; i++)
		local_clock();
}

static void read(struct perf_event *e)
{
	if (unlikely(slowly))
		delay();
	if (!(e->hw.state & PERF_HES_STOPPED))
		update(e, false);
}

/* Takes as many instructions as the read of a driver that uses RDPMC. */
static void read_fast(struct perf_event *e)
{
	if (!(e->hw.state & PERF_HES_STOPPED))
		update(e, true);
}

static int event_init(struct perf_event *e)
{
	int id = id_of(&e->attr);

	if (e->attr.type != PERF_TYPE_HARDWARE && e->attr.type != PERF_TYPE_HW_CACHE &&
	    e->attr.type != PERF_TYPE_RAW)
		return -ENOENT;
	if (refused >> id & 1 || (e->cpu >= 0 && lacking >> e->cpu & 1))
		return -ENOENT;
	if (nomem) {
		nomem--;
		return -ENOMEM;
	}
	if (stall)
		msleep(stall);
	e->hw.config = id;
	e->hw.config_base = per_tick * (id + 1);
	return e->attr.sample_period ? -EOPNOTSUPP : 0;
}

/* perf lists a core PMU in sysfs by what it has there. */
PMU_FORMAT_ATTR(event, "config:0-31");
static struct attribute *format_attrs[] = { &format_attr_event.attr, NULL };
static const struct attribute_group format = { .name = "format", .attrs = format_attrs };
static const struct attribute_group *groups[] = { &format, NULL };

static struct pmu fake = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_hw_context,
	.attr_groups	= groups,
	.event_init	= event_init,
	.add		= add,
	.del		= del,
	.start		= start,
	.stop		= stop,
	.read		= read,
};

/* "ID COUNT" of each that ever counted, a line each; exact once nothing counts. */
static int tally_get(char *buf, const struct kernel_param *kp)
{
	int id, cpu, n = 0;
	u64 sum;

	for (id = 0; id < IDS; id++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu(bank, cpu).tally[id]);
		if (sum)
			n += scnprintf(buf + n, PAGE_SIZE - n, "%d %llu\n", id, sum);
	}
	return n;
}

static const struct kernel_param_ops tally_ops = { .get = tally_get };
module_param_cb(tally, &tally_ops, NULL, 0444);

/* ---- NMIs ---- */

static struct task_struct *sender;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct bank *b = this_cpu_ptr(&bank);
	struct perf_event *e;
	int i;

	if (!xchg(&b->nmi_sent, false))
		return NMI_DONE;
	for (i = 0; i < COUNTERS_MAX; i++) {
		e = READ_ONCE(b->counter[i]);
		if (e && !(e->hw.state & PERF_HES_STOPPED))
			update(e, fast);
	}
	b->nmis++;
	return NMI_HANDLED;
}

static int send_nmis(void *unused)
{
	int cpu;

	while (!kthread_should_stop()) {
		usleep_range(100, 300);
		cpus_read_lock();
		for_each_online_cpu(cpu)
			xchg(&per_cpu(bank, cpu).nmi_sent, true);
		apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
		cpus_read_unlock();
	}
	return 0;
}

static int nmi_set(const char *text, const struct kernel_param *kp)
{
	bool on;
	int rc = kstrtobool(text, &on);

	if (rc || on == !!sender)
		return rc;
	if (on) {
		sender = kthread_run(send_nmis, NULL, "fakepmu");
		rc = PTR_ERR_OR_ZERO(sender);
	} else {
		kthread_stop(sender);
	}
	if (rc || !on)
		sender = NULL;
	return rc;
}

/* The number of NMIs so far */
static int nmi_get(char *buf, const struct kernel_param *kp)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(bank, cpu).nmis);
	return scnprintf(buf, PAGE_SIZE, "%llu\n", sum);
}

static const struct kernel_param_ops nmi_ops = { .set = nmi_set, .get = nmi_get };
module_param_cb(nmi, &nmi_ops, NULL, 0644);
MODULE_PARM_DESC(nmi, "1: NMIs update all that counts, some thousand times a second");

static int __init fakepmu_init(void)
{
	int rc;

	if (!counters || counters > COUNTERS_MAX)
		return -EINVAL;
	if (fast)
		fake.read = read_fast;
	per_tick = fast && tsc_khz ? (1000000U << SHIFT) / tsc_khz : 1U << SHIFT;
	rc = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "fakepmu");
	if (rc)
		return rc;
	rc = perf_pmu_register(&fake, "cpu", PERF_TYPE_RAW);
	if (rc)
		unregister_nmi_handler(NMI_LOCAL, "fakepmu");
	return rc;
}

static void __exit fakepmu_exit(void)
{
	nmi_set("0", NULL);
	perf_pmu_unregister(&fake);
	unregister_nmi_handler(NMI_LOCAL, "fakepmu");
}

module_init(fakepmu_init);
module_exit(fakepmu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hardware counters for tests");
