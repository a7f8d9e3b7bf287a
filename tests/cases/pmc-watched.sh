#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Counters by default: only while some process is under watch. With nobody under watch no
# perf event is open and a context switch costs what it costs without the module. A leak
# begins: counters come on, its counts and its baseline appear. It ends: counters stay on
# for a minute at least, then go off, and counts stay readable. Another leak brings them
# back, where memory for events is short too. Passes do not wait until counters are there.
# The counting clock skips idle time.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --count --mem 1080
# about: kmod/hook* kmod/pmu kmod/suspect.c kmod/tick.c
# matrix: pmc-exact counts the same, this one under each number of suspects
# takes: 90
# timeout: 2000
# kmod: fakepmu
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: it has a PMU of its own
# shellcheck disable=SC2119 # nothing observes the switches
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
. "$top/tests/bench/switches.sh"
. "$top/tests/bench/measure.sh"

# Each open event holds the PMU's module.
events_open() { cat /sys/module/fakepmu/refcnt; }
is_on() { [[ $(pmc_status) == on ]]; }
is_off() { [[ $(pmc_status) == "off: no process is under watch"* ]]; }
leaks() {
	perl -e 'for (;;) { push @kept, "x" x (1 << 19); for ($i = 0; $i < 1e5; $i++) {}
		select undef, undef, undef, 0.5 }' &
	leak=$!
}
cycles() { seepage -j show "$1" | jq '.pmc.cycles.count // 0'; }
counted() { (($(cycles $leak) > 0)); }
learned() { (($(seepage -j show $leak | jq '.pmc_baseline.llc_samples // 0') >= 16)); }
factor() { seepage -j explain $leak | jq -e '.score.pmc' >/dev/null; }
# The longest time between two passes, ms.
gap() {
	awk '/seepage_tick:/ { sub(/: seepage_tick.*/, ""); if (last && $NF - last > most) most = $NF - last; last = $NF; n++ }
		END { if (n < 4) exit 1; printf "%d\n", 1000 * most }' "$trace" || die "less than four passes were seen"
}
# costs_nothing WHEN: what else the guest does can only add, soon after a load.
costs_nothing() {
	local cost try
	for try in 1 2 3; do
		cost=$(switch_cost)
		! awk -v a="$cost" -v b="$base" 'BEGIN { exit !(a - b <= 3 && b - a <= 3) }' || break
		sleep $try
	done
	echo "$1: $cost instructions per context switch, $base without the module"
	awk -v a="$cost" -v b="$base" 'BEGIN { exit !(a - b <= 3 && b - a <= 3) }' ||
		die "$1: a context switch costs $cost instructions, $base without the module"
	assert_eq "$(events_open)" 0 "$1: events that are open"
}

fake_pmu counters=4 fast=1
unload
base=$(switch_cost)
load sample_interval_ms=2000
assert_eq "$(seepage get pmc)" watched "default of pmc"
sleep 10
is_off || die "nobody is under watch: $(pmc_status)"
assert_eq "$(seepage -j show $$ | field .pmc)" null "nobody is under watch: counts of this shell"
! grep '^seep_pmu' /proc/slabinfo || die "there is memory for counts, and nobody is under watch"
costs_nothing "nobody is under watch"
! seepage stat -i 1 --count 1 $$ 2>err || die "stat with counters off: status 0"
grep -q 'counters off: no process is under watch (pmc auto counts always)' err || die "stat: $(cat err)"

echo 2000 >/sys/module/fakepmu/parameters/stall
echo >"$trace"
echo 1 >"$seepage_events/seepage_tick/enable"
leaks
wait_for 600 is_on
echo 0 >"$seepage_events/seepage_tick/enable"
echo 0 >/sys/module/fakepmu/parameters/stall
longest=$(gap)
echo "counters took $((2 * $(events_open))) s to come, passes were at most $longest ms apart"
((longest <= 4500)) || die "passes were $longest ms apart while counters came, 2000 is the interval"
[[ $(seepage -j show $leak | field .state) != ok ]] || die "counters are on, and the leak is ok"
(($(events_open) > 0)) || die "counters are on, and no event is open"
wait_for 60 counted
wait_for 600 learned
wait_for 600 factor
seepage status | sed -n '/^pmc/,/^counters/p' | head -n -1

# It ends. A minute later counters are still on.
kill $leak
wait $leak 2>/dev/null || true
sleep 65
is_on || die "a minute after the last suspect: $(pmc_status)"
sleep 130
is_off || die "three minutes after the last suspect: $(pmc_status)"
before=$(cycles $$)
((before > 0)) || die "counts are not kept"
costs_nothing "nobody is under watch any more"
assert_eq "$(cycles $$)" "$before" "cycles of this shell while counters are off"

# Another one, while there is no memory for events; then there is.
echo 100000 >/sys/module/fakepmu/parameters/nomem
leaks
wait_for 600 is_on
assert_eq "$(events_open)" 0 "events without memory for them"
echo 0 >/sys/module/fakepmu/parameters/nomem
wait_for 60 counted
(($(cycles $$) > before)) || die "counts do not go on: $before, then $(cycles $$)"

# Words keep their meaning, with a suspect and without.
seepage set pmc hold
assert_eq "$(pmc_status)" held "pmc hold"
seepage set pmc watched
is_on || die "pmc watched, with a suspect: $(pmc_status)"
kill $leak
wait $leak 2>/dev/null || true
sleep 195
is_off || die "the second leak has ended: $(pmc_status)"
seepage set pmc auto
is_on || die "pmc auto with nobody under watch: $(pmc_status)"
seepage set pmc watched
is_off || die "pmc watched with nobody under watch: $(pmc_status)"
seepage set pmc off
assert_eq "$(pmc_status)" "off: by configuration" "pmc off"
seepage set pmc watched
assert_eq "$(seepage -j show $$ | field .pmc)" null "pmc watched after off: counts of this shell"
assert_eq "$(seepage -j status | field .counters.invariants_broken)" 0 invariants_broken
