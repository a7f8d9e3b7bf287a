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

passed() { grep -c full=1 $trace || true; }

# watch N: N full passes, for pass_cost. Now and then the guest waits for its disk
# while its clock goes on, and passes come late.
watch() {
	local i
	passes=$1
	echo >$trace
	echo 1 >$seepage_events/seepage_tick/enable
	sleep $((10 * passes + 5))
	for ((i = 0; i < passes && $(passed) < passes; i++)); do sleep 10; done
	echo 0 >$seepage_events/seepage_tick/enable
}

# Once every process is in the state it stays in.
watch_passes() { watch 16; }

# An idle process is one that has been so for 20 minutes: its levels are full. What
# differs from pass to pass is mostly the ends of long epochs: of 64 passes four end
# one of 16, two one of 32, and one all up to 64.
watch_idle() {
	sleep 1300
	watch 64
}

# pass_cost FULL: mean cost of the full (1) or of the short (0) passes watched.
pass_cost() {
	awk -v full="full=$1" -v wanted=$passes '
		index($0, full) && n < wanted { sub(/.*cost_ns=/, ""); sum += $0; n++ }
		END { if (n < wanted) exit 1; printf "%.0f\n", sum / n }' $trace ||
		die "less than $passes passes ($1) were watched"
}

watched() { seepage -j ps | jq '[.[] | select(.state == "watch")] | length'; }

# until_watched M [SECONDS PASSES]: waits until M processes are under watch, and SECONDS more;
# then measures PASSES full passes (16).
until_watched() {
	local i got
	for ((i = 0; i < 60 && $(watched) < $1; i++)); do sleep 10; done
	sleep "${2:-0}"
	watch "${3:-16}"
	got=$(watched)
	((got == $1)) || die "of $1 growing processes $got are under watch"
}

# Records, and what their dump cost.
dump_cost() { "$top/build/tests/dumpbench" 3; }

# record_within BUDGET: of a dumped record, from the difference that 600 processes make.
record_within() {
	local n=600 few few_cost many many_cost each
	sleep 60
	read -r few few_cost < <(dump_cost)
	crowd $n
	sleep 60
	read -r many many_cost < <(dump_cost)
	disperse "$parent"
	((many - few >= n)) || die "$many records with $n processes more, $few without"
	each=$(((many_cost - few_cost) / (many - few)))
	echo "$few records: $few_cost instructions, $many: $many_cost; $each a record, budget $1"
	((each > 500 && each <= $1)) || die "a record costs $each instructions, budget $1"
}

text_data() { size "$1" | awk 'NR == 2 { print $1 + $2 }'; }
