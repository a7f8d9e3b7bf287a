#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPUs that go and come at random while others fault and all are sampled.
# vm: --smp 3 --mem 1024
# timeout: 1200
. "$(dirname "$0")/lib.sh"
n=$(times 60)

for hook in tracepoint software; do
	load hook=$hook sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	storm 500 4
	for ((i = 0; i < n; i++)); do
		draw 1 2
		cpu=/sys/devices/system/cpu/cpu$drawn/online
		echo $((1 - $(<"$cpu"))) >"$cpu"
		seconds 0 300
		sleep "$drawn"
		((i % 4)) || seepage -j ps >/dev/null
	done
	for cpu in 1 2; do
		[[ $(<"/sys/devices/system/cpu/cpu$cpu/online") == 1 ]] ||
			echo 1 >/sys/devices/system/cpu/cpu$cpu/online
	done
	end_storm
	check_table
done
echo "$((2 * n)) times a CPU went or came, with both hooks"
