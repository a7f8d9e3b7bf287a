#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Loads and unloads at random moments of a churn, with random parameters,
# while readers have its files and sockets open.
# vm: --smp 2 --mem 1024
# timeout: 1800
. "$(dirname "$0")/lib.sh"
n=$(times 40) refused=0

unload
storm 1000 4
(while :; do cat /sys/kernel/debug/seepage/* || sleep 0.01; done >/dev/null 2>&1) &
reader=$!
(while :; do seepage -j ps || sleep 0.01; done >/dev/null 2>&1) &
dumper=$!
(while :; do timeout 0.7 seepage watch || sleep 0.01; done >/dev/null 2>&1) &
watcher=$!
trap 'end_storm; kill $reader $dumper $watcher 2>/dev/null || true' EXIT
gone() { rmmod seepage 2>/dev/null || { refused=$((refused + 1)); false; }; }

for ((i = 1; i <= n; i++)); do
	hook=tracepoint
	draw 0 3
	[[ $drawn != 0 ]] || hook=software
	draw 16 300
	insmod "$SEEPAGE_KO" hook=$hook sample_interval_ms=100 suspect_interval_ms=100 \
		max_cpu_permille=1000 max_processes="$drawn" || die "round $i does not load"
	seconds 0 400
	sleep "$drawn"
	wait_for 30 gone
	! grep -q '^seep_rec ' /proc/slabinfo || die "round $i: slab cache seep_rec is still there"
done
echo "$n loads and unloads under a churn and readers, $refused times a reader was in the way"
