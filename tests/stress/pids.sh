#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Pids that come round every few hundred forks: the same number is a process
# of another name a moment later, and no record shows it as the old one.
# vm: --smp 2 --mem 1024
# timeout: 900
. "$(dirname "$0")/lib.sh"
n=$(times 15) checked=0

most=$(</proc/sys/kernel/pid_max)
trap 'echo "$most" >/proc/sys/kernel/pid_max' EXIT
echo 400 >/proc/sys/kernel/pid_max 2>/dev/null || skip "pid_max cannot be that low here"
load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
# Links, so that processes that follow each other in a number differ in name.
for name in one two three four five; do
	ln -s "$top/build/tests/workload" $name
done
for ((i = 1; i <= n; i++)); do
	draw 100 300
	"$top/build/tests/workload" forks "$drawn" || die "forks failed"
	alive=()
	for name in one two three four five; do
		"./$name" anon 50 stay >/dev/null &
		alive+=($!)
		disown
	done
	sleep 0.1
	for pid in "${alive[@]}"; do
		really=$(<"/proc/$pid/comm")
		shown=$(seepage -j show "$pid" | field .comm)
		[[ $shown == "$really" ]] || die "round $i: pid $pid is $really, shown as $shown"
		checked=$((checked + 1))
	done
	kill -KILL "${alive[@]}"
done
check_table
echo "$n rounds of pids 1 to 400, $checked times the right name, births $(status .counters.births)"
