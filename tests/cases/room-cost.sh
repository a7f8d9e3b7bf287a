#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of processes without a record, in guest instructions: of a fault of one, and of
# one in a full pass of a full table.
# vm: --count --mem 1024
# about: kmod tests/bench
# takes: 20
# timeout: 900
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the hook measured is a tracepoint that only x86 has
# shellcheck disable=SC2119 # fault_cost without a command
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
max=16 n=400

full() { (($(seepage -j status | field .counters.table_full) > 0)); }

crowd 60
for try in 1 2 3; do
	unload
	base=$(fault_cost)
	load max_processes=$max hook=tracepoint sample_interval_ms=3600000
	wait_for 20 full
	untracked=$(fault_cost)
	unload
	again=$(fault_cost)
	! awk -v a="$base" -v b="$again" 'BEGIN { exit !(a - b < 3 && b - a < 3) }' || break
	echo "try $try: no module $base, table full $untracked, no module $again"
done
load max_processes=$max
wait_for 20 full
watch 8
few=$(pass_cost 1)
disperse $parent
crowd $((60 + n))
watch 8
many=$(pass_cost 1)
disperse $parent

fault=$(awk -v a="$untracked" -v b="$base" 'BEGIN { printf "%.0f", a - b }')
echo "instructions, table full with $max records ($few a pass with 60 processes more):"
within "fault of a process without a record" "$fault" 60
# 8192 of them are looked at in a pass: 5 ms at 1000 instructions a microsecond
within "process without a record, full pass" $(((many - few) / n)) 600
[[ ! $over ]] || die "over budget:$over"
