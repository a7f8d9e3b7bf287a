#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPU 1 goes offline and online twenty times during page faults, with each hook. The
# counts of a process that was pinned to it stay exact, with the faults from before the
# CPU went offline. The module can be unloaded while the CPU is offline.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 17
# timeout: 240
. "$(dirname "$0")/lib.sh"
workload=$top/build/tests/workload
pinned=$top/build/tests/pinned
cpu1=/sys/devices/system/cpu/cpu1/online

storm() {
	while :; do
		"$workload" migrate 400
		"$workload" threads 400
		"$workload" forks 2
	done >/dev/null 2>&1
}

faults() { seepage -j show "$1" | field '.faults_user + .faults_kernel'; }

# more PAGES: the process touches them on CPU 1.
more() {
	echo "$1" >&"${pin[1]}"
	read -r answer <&"${pin[0]}"
	assert_eq "$answer" "touched $1" "the pinned process"
}

# A fault on CPU 1 is counted. The software event comes a moment after its CPU, from a worker.
is_counted() {
	local had
	had=$(faults "$pid")
	more 1
	(($(faults "$pid") > had))
}
event_is_there() { [[ $1 != software ]] || wait_for 5 is_counted; }

round_of() {
	local hook=$1 store before after i self pid=
	# A long interval: nothing but the reader and the CPU's going folds.
	load hook="$hook" sample_interval_ms=3600000 suspect_interval_ms=1000
	coproc pin { exec "$pinned"; }
	pid=$!
	read -r answer <&"${pin[0]}"
	assert_eq "$answer" ready "the pinned process"
	more 10				# what reading and writing takes is there now
	before=$(faults "$pid")
	more 500
	after=$(faults "$pid")
	assert_eq $((after - before)) 500 "$hook: faults before"

	more 300			# still in the cache of CPU 1 when it goes
	echo 0 >$cpu1
	assert_eq "$(faults "$pid")" $((after + 300)) "$hook: faults when its CPU has gone"
	echo 1 >$cpu1

	storm &
	store=$!
	for ((i = 1; i <= 20; i++)); do
		echo 0 >$cpu1
		((i % 5)) || seepage -j ps >/dev/null
		echo 1 >$cpu1
		((i % 5)) || seepage -j ps >/dev/null
	done
	kill "$store"
	wait "$store" 2>/dev/null || true

	assert_eq "$(faults "$pid")" $((after + 300)) "$hook: faults after twenty times"
	taskset -pc 1 "$pid" >/dev/null
	event_is_there "$hook"
	before=$(faults "$pid")
	more 700
	self=$(faults "$pid")
	assert_eq $((self - before)) 700 "$hook: faults of 700 pages after twenty times"
	assert_eq "$(seepage -j status | field '.counters | .hook_events_failed + .invariants_broken')" \
		0 "$hook: hook_events_failed, invariants_broken"

	echo 0 >$cpu1
	more 50				# on CPU 0 now
	assert_eq "$(faults "$pid")" $((self + 50)) "$hook: faults with CPU 1 off"
	rmmod seepage || die "$hook: rmmod with CPU 1 off"
	load hook="$hook"		# and a load without it
	before=$(faults "$pid")
	more 100
	assert_eq "$(faults "$pid")" $((before + 100)) "$hook: faults, loaded with CPU 1 off"
	echo 1 >$cpu1
	taskset -pc 1 "$pid" >/dev/null
	event_is_there "$hook"
	before=$(faults "$pid")
	more 100
	assert_eq "$(faults "$pid")" $((before + 100)) "$hook: faults, CPU 1 on after the load"
	unload
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	echo "hook=$hook: off and on 22 times, $self faults counted, none lost"
}

for hook in "${hooks[@]}"; do
	round_of "$hook"
done
