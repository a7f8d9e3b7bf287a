#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The memory budget of a tracked process with hardware counters on and the longest event
# list. It comprises the record, its counter area, the areas kept ready for new processes,
# and the learned baselines.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1056
# about: kmod
# matrix: pmc-cost holds the budget of a switch, this one that of each event
# takes: 33
# timeout: 120
# kmod: fakepmu
# no-debug: the checkers take memory in every object
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
n=600

figures() { seepage -j status | jq -r '"\(.processes) \(.memory_bytes)"'; }
grown() { (($(seepage -j status | field .processes) >= $1)); }

fake_pmu counters=4
events=cycles,instructions,llc_references,llc_misses,loads,dtlb_misses
load pmc=auto pmc_events=$events,page_walk_cycles=r8,node_local=r9,node_remote=ra sample_interval_ms=500 suspect_interval_ms=300 max_cpu_permille=1000
assert_eq "$(pmc_status)" on pmc_status
# Spare records come with those in use, one with sixteen, but a full table has none:
# what one of 8192 takes is told by tables that are full as they are.
full() {
	seepage set max_processes "$1"
	sleep 2
	figures
	seepage set max_processes 8192
}
sleep 2
begun=$(seepage -j status | field .processes)
crowd $((n / 2))
wait_for 20 grown $((begun + n / 2))
first=$parent
read -r few few_bytes < <(full $((begun + n / 2)))
crowd $((n / 2))
wait_for 20 grown $((begun + n))
read -r many many_bytes < <(full $((begun + n)))
disperse "$first" "$parent"
each=$(((many_bytes - few_bytes) / (many - few)))
fixed=$((few_bytes - few * each))
within "memory per further process, bytes" $each 2048

# An eighth of all may learn, once they have run for a second.
learning() { seepage -j ps | jq '[.[] | select(.pmc_baseline)] | length'; }
for _ in 1 2 3 4; do
	timeout 100 perl -e 'while () {}' &
done
four() { (($(learning) >= 4)); }
wait_for 60 four
seepage set sample_interval_ms 3600000
sleep 1
mapfile -t learners < <(seepage -j ps | jq '.[] | select(.pmc_baseline) | .pid')
# Without passes the dead, such as seepage itself, go when the table is full.
all=$(seepage -j status | field .processes)
read -r _ with < <(full "$all")
for pid in "${learners[@]}"; do
	seepage reset history "$pid"
done
read -r _ without < <(full "$all")
learned=$(((with - without) / ${#learners[@]}))
within "what is learned of a process, bytes" $learned 512
within "extrapolated to 8192 processes, bytes" \
	$((fixed + 8192 * each + 1024 * learned)) $((16 << 20))
echo "$few_bytes with $few processes, $many_bytes with $many"
[[ ! $over ]] || die "over budget:$over"
