// SPDX-License-Identifier: GPL-2.0
/*
 * `seepage where --faults`: the stacks of the faults that gave a process new anonymous memory,
 * the most bytes first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/faults.h"

#define NEEDS_PERF	"CAP_PERFMON, or kernel.perf_event_paranoid of 2 or less"

struct fault_stack {
	struct frame frame[FRAMES_MAX];
	unsigned int frames, samples;
	u64 faults;
};

static int refused(const struct target *t, int err)
{
	if (err == ESRCH)
		return fail(t->ctx, "--faults: process %u ended", t->pid);
	if (err == EACCES || err == EPERM)
		return fail(t->ctx, "--faults: process %u: %s: needs %s", t->pid, strerror(err),
			    NEEDS_PERF);
	return fail(t->ctx, "--faults: process %u: %s", t->pid, strerror(err));
}

/* Adds samples. What python executes is read from the process at once. */
static void drain(struct fault_rings *rings, struct unwinder *u, struct faults *f)
{
	size_t i = f->n;

	faults_drain(rings, f);
	for (; f->stack && i < f->n; i++)
		f->stack[i].n = unwind(u, &f->v[i].s, f->stack[i].frame);
}

/*
 * Takes samples for the time, or until a signal. @u: for the stacks of python. Returns an exit
 * status.
 */
static int capture(struct target *t, const struct faults_how *how, struct unwinder *u,
		   struct faults *f, struct result *r)
{
	u64 start = clock_ns(), end = start + how->seconds * 1000000000, before;
	unsigned int left_out;
	int err;
	struct fault_rings *rings = faults_open(t, &left_out, &err);

	if (!rings)
		return refused(t, err);
	before = target_anon_bytes(t);
	while (clock_ns() < end && target_alive(t)) {
		bool go_on = how->wait(how->arg, FAULTS_DRAIN_MS, -1);

		drain(rings, u, f);
		if (!go_on)
			break;
	}
	faults_close(rings, f);
	r->seconds = (double)(clock_ns() - start) / 1e9;
	r->heap_bytes = target_anon_bytes(t);
	r->growth = (s64)(r->heap_bytes - before);
	if (left_out)
		result_note(r, "%u threads are left out: %u are sampled at most", left_out,
			    FAULTS_THREADS);
	if (f->dropped)
		result_note(r, "%llu samples were lost", f->dropped);
	return target_alive(t) && !target_maps(t) ? 0 : refused(t, ESRCH);
}

static bool is_same(const struct fault_stack *p, const struct frame *f, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && n == p->frames && f[i].pc == p->frame[i].pc; i++)
		;
	return i == n && n == p->frames;
}

static void add(struct fault_stack *all, size_t *stacks, const struct frame *f, unsigned int n,
		u64 faults)
{
	size_t i;

	for (i = 0; i < *stacks && !is_same(&all[i], f, n); i++)
		;
	if (i == *stacks) {
		memcpy(all[i].frame, f, n * sizeof(*f));
		all[i].frames = n;
		++*stacks;
	}
	all[i].samples++;
	all[i].faults += faults;
}

static int by_faults(const void *a, const void *b)
{
	const struct fault_stack *p = a, *q = b;

	return p->faults < q->faults ? 1 : p->faults > q->faults ? -1 : 0;
}

/* @page: bytes that a fault stands for */
static struct json_object *stack_json(struct unwinder *u, const struct fault_stack *p, size_t rank,
				      double page, const struct result *r)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();
	u64 bytes = (u64)((double)p->faults * page);
	unsigned int i;

	json_object_object_add(o, "rank", json_object_new_uint64(rank));
	json_object_object_add(o, "bytes_per_hour",
			       json_object_new_int64(result_per_hour(r, (s64)bytes)));
	json_object_object_add(o, "blocks", NULL);
	json_object_object_add(o, "bytes", json_object_new_uint64(bytes));
	json_object_object_add(o, "samples", json_object_new_uint64(p->samples));
	json_object_object_add(o, "survival_permille", NULL);
	json_object_object_add(o, "unchanged_permille", NULL);
	json_object_object_add(o, "ci95_permille", NULL);
	for (i = 0; i < p->frames; i++)
		unwind_frame_add(u, &p->frame[i], stack);
	json_object_object_add(o, "stack", stack);
	return o;
}

/* A page of a file that is read is no growth. What is written to is, as a rule. */
static bool is_growth(const struct target *t, u64 addr)
{
	const struct where_map *m = target_at(t, addr);

	return m && (m->anon || m->write);
}

static void answer(struct target *t, struct unwinder *u, const struct faults *f, size_t top,
		   struct result *r)
{
	struct fault_stack *all = must(calloc(f->n + 1, sizeof(*all)));
	const struct stack *stack;
	struct stack now;
	size_t stacks = 0, i, others = 0;
	double page = (double)sysconf(_SC_PAGESIZE);

	for (i = 0; i < f->n; i++) {
		if (!is_growth(t, f->v[i].s.addr)) {
			others++;
			continue;
		}
		stack = unwind_again(u, &f->v[i].s, f->stack ? &f->stack[i] : NULL, &now);
		add(all, &stacks, stack->frame, stack->n, f->v[i].faults);
	}
	/*
	 * The faults after the last samples are taken to be like those before, and so is growth
	 * without a fault that was counted: the kernel counts none while it throttles samples, and
	 * a fault may bring a huge page.
	 */
	if (f->counted && f->total > f->counted)
		page *= (double)f->total / (double)f->counted;
	if (f->counted && (double)r->growth > page * (double)f->counted)
		page = (double)r->growth / (double)f->counted;
	qsort(all, stacks, sizeof(*all), by_faults);
	for (i = 0; i < stacks && i < top; i++)
		json_object_array_add(r->sites, stack_json(u, &all[i], i + 1, page, r));
	r->method = "faults";
	r->allocator = "page faults";
	r->samples = f->n - others;
	result_note(r, "sites: these make the process grow; where it leaks, --burst says");
	result_note(r, "%zu samples of page faults", f->n - others);
	unwinder_note(u, r);
	if (others)
		result_note(r, "%zu more, of files or of mappings that are gone, are left out",
			    others);
	free(all);
}

/**
 * faults_find() - find the stacks of page faults that make a process grow
 * @t: the process
 * @how: the time, the most sites, and how to wait
 * @r: sites, notes and growth are added
 *
 * Return: 0, or an exit status after printing an error.
 */
int faults_find(struct target *t, const struct faults_how *how, struct result *r)
{
	struct faults f = { .v = must(calloc(FAULTS_MAX, sizeof(*f.v))) };
	struct unwinder *u = unwinder_new(t);
	int status;

	if (unwinder_python(u))
		f.stack = must(calloc(FAULTS_MAX, sizeof(*f.stack)));
	status = capture(t, how, u, &f, r);
	/* Libraries may have been mapped meanwhile; but of python frames are known by number. */
	if (!f.stack) {
		unwinder_free(u);
		u = status ? NULL : unwinder_new(t);
	}
	if (!status && u)
		answer(t, u, &f, how->top, r);
	else if (!status)
		status = fail(t->ctx, "--faults: this build cannot unwind stacks: it has no libdw");
	unwinder_free(u);
	free(f.stack);
	free(f.v);
	return status;
}
