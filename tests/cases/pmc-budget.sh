#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The memory budget of a tracked process with hardware counters on, all events
# of the processor: the record, its area, and what waits for births.
# The PMU stays: not the VM of other cases.
# vm: --smp 2 --mem 1056
# timeout: 120
# kmod: fakepmu
# no-debug: the checkers take memory in every object
# no-arm64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
n=600

over=''
within() {
	local verdict=ok
	(($2 > 0 && $2 <= $3)) || verdict=EXCEEDED over+=" $1"
	printf '%-44s %9d  limit %9d  %s\n' "$1" "$2" "$3" "$verdict"
}

figures() { seepage -j status | jq -r '"\(.processes) \(.memory_bytes)"'; }
grown() { (($(seepage -j status | field .processes) >= $1)); }

fake_pmu counters=4
load sample_interval_ms=500 suspect_interval_ms=300 max_cpu_permille=1000
assert_eq "$(pmc_status)" on pmc_status
sleep 2
read -r few few_bytes < <(figures)
crowd $n
wait_for 20 grown $((few + n))
sleep 2
read -r many many_bytes < <(figures)
area=$(awk '$1 == "seep_pmu" { print int($6 * 4096 / $5) }' /proc/slabinfo)
rec=$(awk '$1 == "seep_rec" { print int($6 * 4096 / $5) }' /proc/slabinfo)
disperse "$parent"
each=$(((many_bytes - few_bytes) / (many - few)))
fixed=$((few_bytes - few * each))
within "a record and its area, with their slabs" $((rec + area)) 2048
within "memory per further process, bytes" $each 2048
within "extrapolated to 8192 processes, bytes" $((fixed + 8192 * each)) $((16 << 20))
echo "$few_bytes with $few processes, $many_bytes with $many; an area has $area bytes"
[[ ! $over ]] || die "over budget:$over"
