#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A table that is too small for a churn of processes, over and over: full,
# reclaimed, made larger and smaller, while crowds come and go.
# vm: --smp 2 --mem 1024
# timeout: 1200
. "$(dirname "$0")/lib.sh"
n=$(times 30)

load max_processes=16 sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
storm 500 4
trap end_storm EXIT
crowd=
for ((i = 1; i <= n; i++)); do
	draw 16 120
	seepage set max_processes "$drawn"
	draw 1 200
	[[ ! $crowd ]] || kill -KILL "$crowd"
	: >pids		# told when all of them are there
	"$idle" "$drawn" >pids &
	crowd=$!
	disown
	seconds 0 600
	sleep "$drawn"
done
full=$(status .counters.table_full)
((full > 0)) || die "the table never was full, this tests nothing"
end_storm
wait_for 60 test -s pids
seepage set max_processes 8192
check_table
echo "$n rounds, table_full $full, pool_empty $(status .counters.pool_empty)," \
	"births $(status .counters.births)"
