#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The machine suspends and resumes, as far as the kernel's pm_test goes: devices, the
# other CPU and timekeeping stop for a second. Meanwhile 8 processes switch and events are
# multiplexed. The sums of the counts are exact, the time of suspend is charged to no
# process, and all events count again afterwards.
# The PMU stays loaded, so the VM is not shared with other cases.
# matrix: the stress stage suspend and pmc-hotplug free and open counters in the same way
# vm: --smp 2 --mem 1056
# about: kmod
# timeout: 400
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

[[ -w /sys/power/pm_test ]] || skip "this kernel has no /sys/power/pm_test (CONFIG_PM_DEBUG)"
counts() { seepage -j status | jq -c '[.pmc_events[] | select(.state == "counting") | .count]'; }
all_count() { (($(counts | jq length) == $1)); }

# suspend LEVEL: a task that waits for the root file system cannot be frozen.
suspend() {
	local try
	echo "$1" >/sys/power/pm_test
	for ((try = 0; try < 20; try++)); do
		! (echo mem >/sys/power/state) 2>/dev/null || return 0
	done
	die "could not suspend: $(dmesg | grep PM: | tail -n 2)"
}

insmod "$SEEPAGE_KMOD/stay.ko"	# the guest's root file system would not come back
echo 1 >/sys/module/suspend/parameters/pm_test_delay
fake_pmu counters=4
load pmc=auto sample_interval_ms=1000 suspect_interval_ms=1000 max_cpu_permille=1000
switching
wait_for 20 all_count 6
for level in processors core; do
	before=$(counts) asleep=$(date +%s)
	suspend $level
	asleep=$(($(date +%s) - asleep))
	after=$(counts)
	assert_eq "$(jq -n "[$before, $after] | transpose | all(.[1] >= .[0])")" true \
		"$level: counts $before, and after it $after"
	sleep 1
	assert_eq "$(jq -n "[$after, $(counts)] | transpose | all(.[1] > .[0])")" true \
		"$level: counts going on"
	echo "suspended to $level and back, $asleep s"
done
dmesg | grep -c 'PM: suspend exit'
hold_still
sums_match
seepage set pmc auto
wait_for 20 all_count 6
assert_eq "$(seepage -j status | field .counters.invariants_broken)" 0 invariants_broken
unload
switched_off
echo none >/sys/power/pm_test
rmmod stay
