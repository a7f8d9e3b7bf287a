#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Eight write the configuration and reset things while eight read and dump and
# processes churn; then the load-time configuration is there again, whole.
# vm: --smp 2 --mem 1024
# timeout: 1200
. "$(dirname "$0")/lib.sh"
n=$(times 40)

load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
seepage -j get >before
storm 500 2
trap end_storm EXIT

writer() {
	local i
	RANDOM=$((seed + $1))
	for ((i = 0; i < n; i++)); do
		draw 0 5
		case $drawn in
		0) draw 100 5000; seepage set sample_interval_ms "$drawn" suspect_interval_ms 100 ;;
		1) seepage set policy classic warmup_s 0 min_process_size_mb 0 alert_confidence $((i % 100)) ;;
		2) seepage set policy ladder ;;
		3) draw 16 9000; seepage set max_processes "$drawn" ;;
		4) seepage reset history alerts ;;
		5) seepage reset counters ;;
		esac || die "writer $1: what $drawn was refused"
	done >"writer.$1" 2>&1
}

reader() {
	local i
	RANDOM=$((seed + 100 + $1))
	for ((i = 0; i < n; i++)); do
		draw 0 4
		case $drawn in
		0) seepage -j ps | jq -e 'length > 1 and (map(.pid) | length == (unique | length))' ;;
		1) seepage -j alerts ;;
		2) seepage -j get | jq -e '.suspect_interval_ms <= .sample_interval_ms' ;;
		3) cat /sys/kernel/debug/seepage/* ;;
		4) seepage -j show $$ | jq -e ".pid == $$" ;;
		esac >/dev/null || die "reader $1: question $drawn went wrong"
	done >"reader.$1" 2>&1
}

people=()
for who in 1 2 3 4 5 6 7 8; do
	writer $who &
	people+=($!)
	reader $who &
	people+=($!)
done
for pid in "${people[@]}"; do
	wait "$pid" || die "$(tail -qn 1 writer.* reader.* | sed '/^$/d' | head -n 1)"
done
seepage reset all
seepage -j get >after
cmp before after || die "reset all does not bring the configuration of load back"
seepage set max_processes 8192 >/dev/null
end_storm
check_table
echo "8 writers and 8 readers, $((16 * n)) requests in all"
