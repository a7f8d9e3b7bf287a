#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a process costs a full pass of the sampler, in guest instructions: one
# that does nothing, and one that grows and is under watch. The difference of
# two populations, so that what a pass costs whoever runs cancels; the mean of
# 16 passes, as a level of the ladder closes at every 2nd, 4th, 8th.. pass. The
# figures are the module's own, of the trace event; the budgets those of
# DESIGN.md. An idle process is one that has been so for 20 minutes.
# vm: --count --mem 2048
# timeout: 1800
. "$(dirname "$0")/lib.sh"
idle=$top/build/tests/idle
events=/sys/kernel/tracing/events/seepage
trace=/sys/kernel/tracing/trace
passes=16

# crowd N [KB]: starts it; sets parent.
crowd() {
	mkfifo fifo
	"$idle" "$@" >fifo &
	parent=$!
	mapfile -t -n "$1" _ <fifo
	rm fifo
}

disperse() {
	kill $parent
	wait $parent 2>/dev/null || true
}

# Once the levels are full, and every process is in the state it stays in.
watch_passes() {
	echo >$trace
	echo 1 >$events/seepage_tick/enable
	sleep $((10 * passes + 5))
	echo 0 >$events/seepage_tick/enable
}

# pass_cost FULL: mean cost of the full (1) or of the short (0) passes watched.
pass_cost() {
	awk -v full="full=$1" -v wanted=$passes '
		index($0, full) && n < wanted { sub(/.*cost_ns=/, ""); sum += $0; n++ }
		END { if (n < wanted) exit 1; printf "%.0f\n", sum / n }' $trace ||
		die "less than $passes passes ($1) in $((10 * passes + 5)) s"
}

watched() { seepage -j ps | jq '[.[] | select(.state == "watch")] | length'; }

# within NAME FIGURE BUDGET
over=''
within() {
	local verdict=ok
	(($2 > 0 && $2 <= $3)) || verdict=EXCEEDED over+=" $1: $2."
	printf '%-44s %6d  budget %6d  %s\n' "$1" "$2" "$3" "$verdict"
}


load min_process_size_mb=1 alert_confidence=100
sleep 1300
watch_passes
base=$(pass_cost 1)

n=1000
crowd $n
sleep 100
watch_passes
young_cost=$((($(pass_cost 1) - base) / n))
sleep 1300
watch_passes
idle_cost=$((($(pass_cost 1) - base) / n))
disperse

m=48
crowd $m 64
for ((i = 0; i < 60 && $(watched) < m; i++)); do sleep 10; done
watch_passes
watched=$(watched)
((watched == m)) || die "of $m growing processes $watched are under watch"
growing_cost=$((($(pass_cost 1) - base) / m))
short_cost=$(($(pass_cost 0) / m))
disperse

echo "instructions per process and pass (mean of $passes passes, $n idle, $m growing processes; $base without):"
printf '%-44s %6d  (its levels still fill)\n' "idle, first minutes" $young_cost
within "idle" $idle_cost 400
within "growing, full pass" $growing_cost 3000
within "growing, short pass" $short_cost 3000
[[ ! $over ]] || die "over budget:$over"
