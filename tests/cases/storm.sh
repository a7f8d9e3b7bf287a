#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Loads and unloads under a storm of forks, execs, threads and faults. The
# runner fails the case for any warning in the kernel log; here each unload
# must succeed and leave no slab cache behind. SEEPAGE_STORM: number of rounds.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 28
# timeout: 1200
. "$(dirname "$0")/lib.sh"
rounds=${SEEPAGE_STORM:-$(some $((60 / ${SEEPAGE_SLOW:-1})))}
workload=$top/build/tests/workload

storm() {
	while :; do
		"$workload" forks 8
		"$workload" threads 800
		"$workload" vfork 50
		"$workload" exec 50
		"$workload" clonevm 50
	done >/dev/null 2>&1
}

storm &
first=$!
storm &
second=$!
trap 'kill $first $second 2>/dev/null' EXIT

unload
for ((i = 1; i <= rounds; i++)); do
	hook=${hooks[0]}
	((i % 4)) || hook=software
	insmod "$SEEPAGE_KO" hook="$hook" sample_interval_ms=100 suspect_interval_ms=100 \
		max_cpu_permille=1000
	case $((i % 5)) in
	0) ;; # at once
	1) seepage -j ps >/dev/null ;;
	2) cat /sys/kernel/debug/seepage/processes >/dev/null ;;
	3) timeout 0.3 seepage watch >/dev/null 2>&1 || true ;;
	4) sleep 0.3 ;;
	esac
	wait_for 10 rmmod seepage
	! grep -q '^seep_rec ' /proc/slabinfo || die "round $i: slab cache seep_rec is still there"
done
echo "$rounds loads and unloads under a storm"
