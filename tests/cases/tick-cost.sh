#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of one process in a full pass of the sampler, in guest instructions: of an idle
# one (for 20 minutes), and of one that grows and is under watch. The difference of two
# numbers of processes removes the fixed cost of a pass. The mean of several passes is
# taken, because levels of the ladder close at every 2nd, 4th, 8th.. pass. The figures come
# from the module's trace event, the budgets from DESIGN.md.
# vm: --count --mem 2048
# timeout: 1800
# no-debug: the checkers cost more instructions than what is measured
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"

# within NAME FIGURE BUDGET
over=''
within() {
	local verdict=ok
	(($2 > 0 && $2 <= $3)) || verdict=EXCEEDED over+=" $1: $2."
	printf '%-44s %6d  budget %6d  %s\n' "$1" "$2" "$3" "$verdict"
}

load min_process_size_mb=1 alert_confidence=100
watch_idle
base=$(pass_cost 1)

n=1000
crowd $n
sleep 100
watch_passes
young_cost=$((($(pass_cost 1) - base) / n))
watch_idle
idle_cost=$((($(pass_cost 1) - base) / n))
disperse "$parent"

m=48
crowd $m 64
until_watched $m
growing_cost=$((($(pass_cost 1) - base) / m))
short_cost=$(($(pass_cost 0) / m))
disperse "$parent"

echo "instructions per process and pass ($n idle, $m growing processes; mean of 64 passes for"
echo "\"idle\", of 16 for the others; $base a pass without them):"
printf '%-44s %6d  (its levels still fill)\n' "idle, first minutes" $young_cost
within "idle" $idle_cost "$(budget 400)"
within "growing, full pass" $growing_cost "$(budget 3000)"
within "growing, short pass" $short_cost "$(budget 3000)"
[[ ! $over ]] || die "over budget:$over"
