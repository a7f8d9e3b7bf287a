# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034 # top is of lib.sh, others are for the cases
# How the costs of seepage are measured, after tests/cases/lib.sh: for the cases
# that keep the budgets and for the cost board. All figures are nanoseconds of
# the counting clock (tests/lab/vm --count), that is guest instructions.
faultbench=$top/build/tests/faultbench
seepage_events=/sys/kernel/tracing/events/seepage
trace=/sys/kernel/tracing/trace

# fault_cost [COMMAND...]: of a fault of a fresh page, while COMMAND observes it.
faults=20000
fault_cost() { "$@" "$faultbench" "$faults" 7; }

# A level of the ladder closes at every 2nd, 4th, 8th.. pass, so that only the
# mean of some is what a pass costs.
passes=16

# Once the levels are full, and every process is in the state it stays in.
watch_passes() {
	echo >$trace
	echo 1 >$seepage_events/seepage_tick/enable
	sleep $((10 * passes + 5))
	echo 0 >$seepage_events/seepage_tick/enable
}

# pass_cost FULL: mean cost of the full (1) or of the short (0) passes watched.
pass_cost() {
	awk -v full="full=$1" -v wanted=$passes '
		index($0, full) && n < wanted { sub(/.*cost_ns=/, ""); sum += $0; n++ }
		END { if (n < wanted) exit 1; printf "%.0f\n", sum / n }' $trace ||
		die "less than $passes passes ($1) in $((10 * passes + 5)) s"
}

# An idle process is one that has been so for this long: its levels are full.
idle_after=1300

watched() { seepage -j ps | jq '[.[] | select(.state == "watch")] | length'; }

# until_watched M: until as many are under watch; the watch of all passes then.
until_watched() {
	local i got
	for ((i = 0; i < 60 && $(watched) < $1; i++)); do sleep 10; done
	watch_passes
	got=$(watched)
	((got == $1)) || die "of $1 growing processes $got are under watch"
}

# Records, and what their dump cost.
dump_cost() { "$top/build/tests/dumpbench" 3; }

text_data() { size "$1" | awk 'NR == 2 { print $1 + $2 }'; }
