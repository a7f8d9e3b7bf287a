// SPDX-License-Identifier: GPL-2.0
/*
 * What eBPF would do in seepage's place, for the cost board: a count by
 * process, in a hash and in a per-CPU hash, and a detector that keeps counts,
 * rate, memory and a score by process. Each map's value begins with the count.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PROCESSES	8192
#define WINDOWS		64	/* a power of two: the verifier sees that the index fits */
#define PERIOD_NS	10000000000ULL
#define ANON_ABOVE	(16ULL << 30)

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, __u64);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, __u64);
} percpu SEC(".maps");

static __always_inline __u32 current_pid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline int count_in(void *map)
{
	__u32 pid = current_pid();
	__u64 one = 1, *n = bpf_map_lookup_elem(map, &pid);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(map, &pid, &one, BPF_NOEXIST);
	return 0;
}

SEC("raw_tp/page_fault_user")
int count_hash(void *ctx)
{
	return count_in(&hash);
}

/* No other CPU writes this CPU's value, and the handler is not interrupted. */
SEC("raw_tp/page_fault_user")
int count_percpu(void *ctx)
{
	__u32 pid = current_pid();
	__u64 one = 1, *n = bpf_map_lookup_elem(&percpu, &pid);

	if (n)
		*n += 1;
	else
		bpf_map_update_elem(&percpu, &pid, &one, BPF_NOEXIST);
	return 0;
}

/* The fields of the kernel's own that are read; libbpf finds their offsets. */
struct mm_rss_stat {
	struct {
		__s64 counter;
	} count[4];
} __attribute__((preserve_access_index));

struct mm_struct {
	struct mm_rss_stat rss_stat;
	unsigned long total_vm;
} __attribute__((preserve_access_index));

struct task_struct {
	struct mm_struct *mm;
} __attribute__((preserve_access_index));

struct limits {
	__u32 rate_warning, rate_critical, growth_percent, least_pages;
};

struct process {
	__u64 faults, anon, file, rate, rss, vsz, first_rss, since_ns;
	__u64 window[WINDOWS];
	__u32 at, score, alerted;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct limits);
} limits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, struct process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} alerts SEC(".maps");

/* A struct process is larger than the stack may be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process);
} newborn SEC(".maps");

static __always_inline void read_memory(struct process *p)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (!mm)
		return;
	p->rss = BPF_CORE_READ(mm, rss_stat.count[0].counter) +
		 BPF_CORE_READ(mm, rss_stat.count[1].counter);
	p->vsz = BPF_CORE_READ(mm, total_vm);
}

static __always_inline __u32 score(const struct process *p, const struct limits *l)
{
	__u32 points = 0;

	if (p->rss < l->least_pages)
		return 0;
	if (p->rate > l->rate_critical)
		points += 40;
	else if (p->rate > l->rate_warning)
		points += 20;
	if (p->rss * 100 > p->first_rss * l->growth_percent)
		points += 25;
	if (p->anon * 100 > p->faults * 80)
		points += 20;
	if (p->vsz > p->rss * 2)
		points += 15;
	return points;
}

/* Every ten seconds of a process. */
static __always_inline void evaluate(struct process *p, const struct limits *l, __u64 now)
{
	__u64 at = p->at % WINDOWS, before = (p->at + WINDOWS - 1) % WINDOWS;

	p->window[at] = p->faults;
	if (++p->at >= 2)
		p->rate = (p->faults - p->window[before]) / ((now - p->since_ns) / 1000000000);
	read_memory(p);
	p->score = score(p, l);
	p->since_ns = now;
	if (p->score <= 70 || p->alerted)
		return;
	p->alerted = 1;
	bpf_ringbuf_output(&alerts, p, sizeof(*p), 0);
}

static __always_inline int detect(__u64 address)
{
	__u32 pid = current_pid(), zero = 0;
	__u64 now = bpf_ktime_get_ns();
	struct limits *l = bpf_map_lookup_elem(&limits, &zero);
	struct process *p;

	if (pid <= 1 || !l)
		return 0;
	p = bpf_map_lookup_elem(&processes, &pid);
	if (!p) {
		p = bpf_map_lookup_elem(&newborn, &zero);
		if (!p)
			return 0;
		p->since_ns = now;
		read_memory(p);
		p->first_rss = p->rss;
		bpf_map_update_elem(&processes, &pid, p, BPF_ANY);
		return 0;
	}
	p->faults++;
	if (address > ANON_ABOVE)
		p->anon++;
	else
		p->file++;
	if (now - p->since_ns > PERIOD_NS)
		evaluate(p, l, now);
	return 0;
}

SEC("raw_tp/page_fault_user")
int detector_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return detect(ctx->args[0]);
}

struct page_fault_args {
	__u64 common;
	__u64 address, ip, error_code;
};

SEC("tp/exceptions/page_fault_user")
int detector_tp(struct page_fault_args *ctx)
{
	return detect(ctx->address);
}
