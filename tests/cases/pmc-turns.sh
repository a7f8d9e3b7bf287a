#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# More events than counters take turns, which takes calls to each CPU that is busy. Turns are
# longer where there are more than 8 CPUs: all get about 200 calls a second together. Each
# event gets its turn.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 16 --mem 1088
# about: kmod/hook* kmod/pmu
# matrix: pmc-cost holds the budget of a switch, this one that of cross calls on 16 CPUs
# takes: 60
# timeout: 300
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
seconds=8
(($(</sys/devices/system/cpu/kernel_max) >= 15)) ||
	skip "this kernel has $(($(</sys/devices/system/cpu/kernel_max) + 1)) CPUs at most (CONFIG_NR_CPUS)"

calls() { seepage -j status | field .counters.pmc_cross_calls; }

# online N: CPUs 0 to N - 1 are on, and something runs on each now and then.
online() {
	local cpu
	for ((cpu = 1; cpu < 16; cpu++)); do
		echo $((cpu < $1)) >/sys/devices/system/cpu/cpu$cpu/online
	done
	assert_eq "$(nproc)" "$1" "CPUs that are on"
	for ((cpu = 0; cpu < $1; cpu++)); do
		taskset -c $cpu perl -e 'select undef, undef, undef, 0.02 while 1' &
		busy+=($!)
	done
}

# calls_within CPUS LIMIT: cross calls a second. What holds the calls up makes them fewer.
calls_within() {
	local before from rate
	busy=()
	online "$1"
	sleep 2
	before=$(calls) from=${EPOCHREALTIME/./}
	sleep $seconds
	rate=$((($(calls) - before) * 1000000 / (${EPOCHREALTIME/./} - from)))
	disperse "${busy[@]}"
	within "cross calls a second, $1 CPUs" $rate "$2"
}

fake_pmu counters=4
load pmc=auto sample_interval_ms=3600000
assert_eq "$(pmc_status)" on pmc_status
# A turn of four counters begins with two calls to stop events, one to change over and two
# to start others, five times a second; 10 % for the clock.
calls_within 16 220
calls_within 8 220
calls_within 2 55
seepage -j status | jq -e '[.pmc_events[] | select(.state != "unavailable")] |
	length > 4 and all(.running_ns > 0)' >/dev/null ||
	die "an event had no turn: $(seepage -j status | jq -c '.pmc_events | map_values([.state, .running_ns])')"
[[ ! $over ]] || die "exceeded:$over"
