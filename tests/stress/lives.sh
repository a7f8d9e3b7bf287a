#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Processes that fork, exec, fault in threads, share memories, end and are
# killed, while all are sampled ten times a second, with both hooks.
# vm: --smp 2 --mem 1024
# timeout: 1800
. "$(dirname "$0")/lib.sh"
ops=$(times 4000)

for hook in tracepoint software; do
	load hook=$hook sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	draw 1 1000000000
	"$churn" "$drawn" "$ops" 6 >kinds || die "$hook: churn $drawn $ops failed"
	check_table
	births=$(status .counters.births) deaths=$(status .counters.deaths)
	((births >= ops / 2)) || die "$hook: $births births of $ops processes"
	((births - deaths < 100)) || die "$hook: $births births, $deaths deaths: records pile up"
	total+="$hook: $ops lives, $births births, $deaths deaths, $(status .ticks) ticks; "
done
awk '{ n[$1] += $2 } END { for (k in n) printf "%s %d ", k, n[k]; print "" }' kinds
echo "${total%; }"
