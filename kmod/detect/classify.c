// SPDX-License-Identifier: GPL-2.0
/*
 * Which faults were anonymous.
 *
 * An address says nothing on a PIE system and a VMA must not be looked up in
 * the hook. What the hook does know is the access: a write fault ends in an
 * anonymous page unless the mapping is shared, a read or fetch fault in a file
 * page (or in the zero page, which is no memory). So the candidates are the
 * writes; with the software event, which does not tell the access, all faults.
 *
 * As many of them as anonymous pages were gained are surely anonymous. The
 * others are churn (pages given back and taken again) or went to shared memory:
 * to that as far as it grew meanwhile, by the kernel's own counters. Where the
 * access is known, file pages that the read faults may have mapped (up to
 * fault_around_bytes each) do not count: a program's start reads many, and its
 * churn is more common than its writes to shared file mappings.
 *
 * What stays wrong is measured in tests/cases/classify.sh: writes to a shared
 * file mapping in the same interval as many reads, writes to shared pages that
 * other processes hold already, reads of swapped-out pages.
 */
#include "detect.h"

static u64 gained(s64 pages)
{
	return pages > 0 ? (u64)pages : 0;
}

/**
 * seep_classify_anon() - anonymous faults of one interval
 * @f: faults and pages gained between two samples
 *
 * Return: at most @f->reads + @f->writes.
 */
u64 seep_classify_anon(const struct seep_fault_delta *f)
{
	u64 candidates = f->access_known ? f->writes : f->reads + f->writes;
	u64 mapped = f->access_known ? f->reads * f->around : 0;
	u64 shared = gained(f->shmem), beyond;

	if (candidates <= gained(f->anon))
		return candidates;
	beyond = candidates - gained(f->anon);
	if (gained(f->file) > mapped)
		shared += gained(f->file) - mapped;
	return candidates - (beyond < shared ? beyond : shared);
}
