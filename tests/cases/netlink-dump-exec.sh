#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A process that executes another program in the middle of a dump is told once.
# vm: --smp 2
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

# A new mm lands anywhere relative to the cursor of a dump that is under way.
[[ ${SEEPAGE_KNOWN_DEFECTS:-} ]] ||
	skip "known defect: exec in mid-dump repeats or misses a process (SEEPAGE_KNOWN_DEFECTS=1 runs it)"
nltest dump-exec
