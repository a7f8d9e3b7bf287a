// SPDX-License-Identifier: GPL-2.0
/*
 * Classification: how many page faults of an interval were anonymous. read.c calls it
 * for every sample. Any context; pure.
 *
 * The hook cannot tell from the address, since PIE and ASLR put anything anywhere, and it
 * must not look up the VMA. It does know the access. A write fault ends in an anonymous
 * page unless the mapping is shared. A read or fetch fault ends in a file page, or in the
 * zero page, which takes no memory. So the candidates are the write faults. The software
 * event does not tell the access; there all faults are candidates.
 *
 * 1. As many candidates as anonymous pages were gained are certainly anonymous.
 * 2. The remaining ones are churn (pages released and taken again) or writes to shared
 *    memory. They count as shared as far as shmem and file pages grew meanwhile.
 * 3. Where the access is known, file pages that the read faults may have mapped do not
 *    count as shared: up to fault_around_bytes each. A starting program reads many file
 *    pages, and its churn is more common than its writes to shared file mappings.
 *
 * Three errors remain; tests/cases/classify.sh measures them: writes to a shared file
 * mapping in an interval with as many reads, writes to shared pages that other processes
 * hold already, and reads of swapped-out pages.
 */
#include "detect.h"

/* A loss of pages is no gain. */
static u64 gained(s64 pages)
{
	return pages > 0 ? (u64)pages : 0;
}

/**
 * seep_classify_anon() - anonymous faults of one interval
 * @f: faults and pages gained between two samples
 *
 * For example 100 write faults with 60 anonymous and 30 shmem pages gained: 60 are
 * certain, 30 of the other 40 went to shared memory, 10 are churn; the result is 70.
 *
 * Return: a number of faults, at most @f->reads + @f->writes.
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
