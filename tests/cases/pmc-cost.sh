#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost that hardware counters add to a context switch between two processes, in guest
# instructions (not cycles). It is 0 while they are off. While they are on it is less than
# that of perf counting the same events for each of the two processes. A single sum, over
# a command and its children or over all processes, costs perf less, because it does not
# read the counters at a switch.
# All figures are measured on the PMU of tests/kmod/fakepmu.c and include its callbacks, which
# take as many instructions as those of a real driver. Budget: 400 for four events.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --count --mem 1056
# about: kmod/hook* kmod/pmu
# takes: 28
# timeout: 900
# kmod: fakepmu
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
. "$top/tests/bench/switches.sh"
row() { awk -v n="$1" -v c="$2" -v b="$base" 'BEGIN { printf "%-52s %8.1f  %+.1f\n", n, c, c - b }'; }

fake_pmu counters=4 fast=1
unload
base=$(switch_cost)
load pmc=off
# What else the guest does can only add, to five rounds in a row if they are soon after
# a load; what the module did would be there every time.
for _ in 1 2 3; do
	off=$(switch_cost)
	awk -v a="$off" -v b="$base" 'BEGIN { exit !(a - b > 3) }' || break
	sleep 1
done
unload
load pmc=auto pmc_events=cycles,instructions,llc_references,llc_misses
assert_eq "$(pmc_status)" on pmc_status
on=$(switch_cost)
unload
load pmc=auto pmc_events=cycles
one=$(switch_cost)
unload
again=$(switch_cost)
system=$(switch_cost perf stat -a -x, -o /dev/null -e $events)
tree=$(switch_cost perf stat -x, -o /dev/null -e $events)
task=$(each_by_itself perf stat --per-thread -x, -o /dev/null -e $events)

budget=400
echo "instructions per context switch between two processes (pipe to and fro, least of 5 rounds):"
row "no module" "$base"
row "no module, once more" "$again"
row "pmc=off" "$off"
row "pmc=auto, 1 event" "$one"
row "pmc=auto, 4 events" "$on"
row "peer: perf stat --per-thread -p, 4 events" "$task"
row "beside: perf stat COMMAND, 4 events, one sum" "$tree"
row "beside: perf stat -a, 4 events, one sum" "$system"
awk -v a="$off" -v b="$base" -v c="$again" 'BEGIN { d = c - b; if (d < 0) d = -d; if (d < 3) d = 3
	exit !(a - b <= d && b - a <= d) }' || die "pmc=off adds $off - $base instructions"
awk -v a="$on" -v b="$base" -v p="$task" 'BEGIN { exit !(a > b && a < p) }' ||
	die "counting adds $on - $base instructions, perf $task - $base"
awk -v a="$on" -v b="$base" -v most=$budget 'BEGIN { exit !(a - b <= most) }' ||
	die "counting adds $on - $base instructions, budget $budget"
