#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Which processes get a baseline when there are fewer places than processes. There are two
# places and three processes, each of which ran for two seconds and sleeps since. The third
# process gets a place when one of the others has slept for an hour, and then the places
# stay: a process that does not run takes none. While counting is held, no process loses
# its place, however long it sleeps.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --warp --smp 1 --mem 1064
# about: kmod/pmu kmod/sample.c kmod/tick.c
# takes: 22
# timeout: 40000
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

learning() { seepage -j ps | jq -r '[.[] | select(.pmc_baseline) | .pid] | sort | join(" ")'; }
unlearned() { seepage -j status | field .counters.pmc_unlearned; }
# Other programs may not take a place: they would have to run for a second. Whole
# seconds would be between one and two.
# shellcheck disable=SC2016 # of perl
program='use Time::HiRes "time"; my $end = time + 2; while (time < $end) {} sleep 100000'

fake_pmu counters=4
load pmc=auto max_processes=16
for i in 1 2 3; do
	perl -e "$program" &
	pids[i]=$!
	sleep 15
done
sleep 20
assert_eq "$(learning)" "${pids[1]} ${pids[2]}" "learned of, at first"
(($(unlearned) > 0)) || die "nobody was refused"
seepage set pmc hold
sleep 8000
assert_eq "$(learning)" "${pids[1]} ${pids[2]}" "learned of, held for two hours"
before=$(unlearned)
sleep 100
assert_eq "$(unlearned)" "$before" "refusals while held"
seepage set pmc auto
sleep 60
after=$(learning)
[[ " $after " == *" ${pids[3]} "* && $(wc -w <<<"$after") == 2 ]] ||
	die "after the hour: $after of ${pids[*]}"
sleep 10000
later=$(learning)
for pid in "${pids[@]}"; do
	[[ " $after " == *" $pid "* || " $later " != *" $pid "* ]] ||
		die "$pid has slept, and has a place again: $after, hours later $later"
done
kill "${pids[@]}"
