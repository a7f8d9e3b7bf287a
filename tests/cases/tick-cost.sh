#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of one process in a full pass of the sampler, in guest instructions: of an idle
# one (for 20 minutes), and of one that grows, is under watch and in its patience. The
# difference of two numbers of processes removes the fixed cost of a pass. The mean of several
# passes is taken, because levels of the ladder close at every 2nd, 4th, 8th.. pass. The figures come
# from the module's trace event, the budgets from DESIGN.md.
# vm: --count --mem 3072
# matrix: tests/scale counts the same records on a simulated machine
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

# So few that memory lasts for an hour: they are in their patience while they are measured.
# Their growth shows in the levels of full passes after 80 s, and 32 passes end as many epochs
# of each level, whichever is the first one. All of one name are a group, which is judged once.
grow() {
	crowd "$1" 64
	until_watched "$1" 100 32
	full=$(pass_cost 1) short=$(pass_cost 0)
	disperse "$parent"
}
few=4 many=12
grow $few
few_full=$full few_short=$short
grow $many
growing_cost=$(((full - few_full) / (many - few)))
short_cost=$(((short - few_short) / (many - few)))

# Memory ends in ten minutes, and no confidence suffices for an alert: all gates are evaluated.
m=48
crowd $m 64
until_watched $m 80 16
open_cost=$((($(pass_cost 1) - base) / m))
disperse "$parent"

echo "instructions per process and pass ($n idle, $few and $many growing processes; mean of 64 passes for"
echo "\"idle\", of 32 and 16 for the others; $base a pass without them):"
printf '%-44s %6d  (its levels still fill)\n' "idle, first minutes" $young_cost
within "idle" $idle_cost "$(budget 400)"
within "growing, full pass" $growing_cost "$(budget 3000)"
printf '%-44s %6d  (until it is an alert)\n' "growing, all gates open but confidence" $open_cost
within "growing, short pass" $short_cost "$(budget 3000)"
[[ ! $over ]] || die "over budget:$over"
