// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the fields of a sample line: for each its letter (docs/recording.md), its
 * form and its largest value. A value in a file above that is refused, so that neither sums
 * of values nor conversions of units can overflow.
 */
#include "series/series.h"

#define COUNT_MAX	(1ULL << 62)
#define PAGES_MAX	(1ULL << 44)

const struct series_field series_fields[FIELDS] = {
	[FIELD_ANON]		= { 'a', true, true, PAGES_MAX },
	[FIELD_FILE]		= { 'f', true, true, PAGES_MAX },
	[FIELD_SHMEM]		= { 's', true, true, PAGES_MAX },
	[FIELD_SWAP]		= { 'w', true, true, PAGES_MAX },
	[FIELD_VSZ]		= { 'v', true, true, PAGES_MAX },
	[FIELD_PGTABLES]	= { 'g', true, true, PAGES_MAX },
	[FIELD_FAULTS]		= { 'n', false, true, COUNT_MAX },
	[FIELD_FAULTS_ANON]	= { 'm', false, true, COUNT_MAX },
	[FIELD_MAPS]		= { 'x', false, true, UINT32_MAX },
	[FIELD_CPU]		= { 'u', false, true, COUNT_MAX },
	[FIELD_ERROR]		= { 'e', false, true, UINT32_MAX },
	[FIELD_LIMIT]		= { 'l', false, false, SEEPAGE_LIMIT_MAX },
	[FIELD_COLD]		= { 'c', false, false, 1000 },
	[FIELD_COLD_NS]		= { 'k', false, false, COUNT_MAX },
	[FIELD_PEERS]		= { 'p', false, false, UINT16_MAX },
	[FIELD_PEERS_GROWING]	= { 'q', false, false, UINT16_MAX },
	[FIELD_PMC]		= { 'r', false, false, UINT16_MAX },
	[FIELD_HEAP]		= { 'd', false, true, COUNT_MAX },
	[FIELD_OTHERS_RATE]	= { 'o', false, false, COUNT_MAX },
	[FIELD_OTHERS]		= { 'j', false, false, UINT16_MAX },
};
