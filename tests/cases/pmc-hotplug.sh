#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# CPU 1 goes offline and online repeatedly while 8 processes switch and events are
# multiplexed. No count is lost, the sums are exact, and the CPU counts again afterwards.
# The module is also loaded and unloaded while CPU 1 is offline.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1056
# about: kmod/hook* kmod/pmu kmod/mmtab.c kmod/account.c
# matrix: hotplug takes CPUs away on 6.12-kasan, this case counts meanwhile
# timeout: 900
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
cpu1=/sys/devices/system/cpu/cpu1/online

cycles() { seepage -j status | field .pmc_events.cycles.count; }

fake_pmu counters=4
load pmc=auto sample_interval_ms=1000 suspect_interval_ms=1000 max_cpu_permille=1000
switching
last=0 rounds=$((8 / (SEEPAGE_SLOW > 1 ? 2 : 1)))
for ((i = 1; i <= rounds; i++)); do
	echo 0 >$cpu1
	((i % 5)) || seepage -j ps >/dev/null
	echo 1 >$cpu1
	((i % 4)) || sleep 0.5
	now=$(cycles)
	((now > last)) || die "cycles: $last before CPU 1 went and came, $now after"
	last=$now
done
# Both count now: idle time of the one that came is counted too.
sleep 1
before=$(seepage -j status | field .pmc_events.cycles.enabled_ns)
sleep 2
after=$(seepage -j status | field .pmc_events.cycles.enabled_ns)
((after - before >= 3500000000)) || die "in 2 s both CPUs were counted for $((after - before)) ns"
echo 0 >$cpu1
hold_still
sums_match
seepage set pmc auto
echo 1 >$cpu1
sleep 1
(($(cycles) > $(field .pmc_events.cycles.count status.json))) || die "not continued after hold"
hold_still
sums_match >/dev/null
seepage set pmc auto
echo 0 >$cpu1
rmmod seepage || die "rmmod with CPU 1 off"
load pmc=auto
before=$(cycles)
echo 1 >$cpu1
sleep 1
(($(cycles) > before)) || die "loaded with CPU 1 off: nothing counts"
switched_off		# what follows asks for much, and is not about switches
# A CPU that comes when there is no memory for its events gets them later.
nomem=/sys/module/fakepmu/parameters/nomem
came_without() { (($(cat $nomem) < 100000)); }
# A program that runs there and nowhere else has cycles.
cpu1_counts() {
	# shellcheck disable=SC2016 # $$ is the inner shell's
	(($(taskset -c 1 bash -c 'for ((i = 0; i < 3000; i++)); do :; done; seepage -j show $$' |
		jq '.pmc.cycles.running_ns // 0') > 0))
}
cpu1_counts || die "a program on CPU 1 has no cycles"
echo 0 >$cpu1
echo 100000 >$nomem
echo 1 >$cpu1
wait_for 10 came_without
! cpu1_counts || die "cycles run on CPU 1, which has no memory for them"
echo 3 >$nomem			# then for some of them, and 5 s later for all
wait_for 20 cpu1_counts
# Nor is it given up where no CPU finds memory; nobody has to wait for it.
unload
echo 100000 >$nomem
load pmc=auto
assert_eq "$(pmc_status)" on "pmc without memory for any event"
grep -q 'unavailable: no memory for it so far' <(seepage status) || die "status does not say why nothing counts"
(($(seepage -j status | field .counters.alloc_failed) > 0)) || die "alloc_failed is 0"
! cpu1_counts || die "cycles run without memory for them"
seepage set pmc hold
seepage set pmc off
seepage set pmc auto
unload
load pmc=auto
echo 0 >$nomem
wait_for 30 cpu1_counts
# Memory comes, and shows what else is the matter: the driver has none of them, or
# they are dear to read.
parameters=/sys/module/fakepmu/parameters
pmc_is() { [[ $(pmc_status) == "$1"* ]]; }
no_memory() {
	unload
	echo 100000 >$nomem
	load pmc=auto
	assert_eq "$(pmc_status)" on "pmc without memory once more"
}
no_memory
before=$(<$parameters/refused)
echo 0xffffffffffffffff >$parameters/refused
echo 0 >$nomem
wait_for 30 pmc_is "off: no hardware counters here"
echo "$before" >$parameters/refused
seepage set pmc off
seepage set pmc auto
wait_for 30 cpu1_counts
no_memory
echo 1600 >$parameters/slowly
echo 0 >$nomem
wait_for 30 pmc_is "off: counters that are slow to read"
echo 0 >$parameters/slowly
# Where the other CPU has no counters: when this one goes nobody counts, and when it
# comes it does again, as often as that may be.
unload
echo 1 >$parameters/lacking
load pmc=auto
for ((i = 0; i < 2; i++)); do
	wait_for 30 cpu1_counts
	echo 0 >$cpu1
	sleep 1
	assert_eq "$(pmc_status)" on "pmc without the only CPU that has counters"
	echo 1 >$cpu1
done
wait_for 30 cpu1_counts
# Nor is it given up when counting begins again while that one is away.
seepage set pmc hold
echo 0 >$cpu1
seepage set pmc auto
assert_eq "$(pmc_status)" on "pmc continued without the only CPU that has counters"
echo 1 >$cpu1
wait_for 30 cpu1_counts
echo 0 >$parameters/lacking
unload
load pmc=auto sample_interval_ms=1000
wait_for 30 cpu1_counts
# One that may not go after all goes on.
switching
fail=${cpu1%online}hotplug/fail
state=$(awk -F: '/ workqueue:online/ { print $1 + 0 }' /sys/devices/system/cpu/hotplug/states)
echo "$state" >"$fail"
! echo 0 2>/dev/null >$cpu1 || die "CPU 1 went, though state $state was to fail"
echo -1 2>/dev/null >"$fail" || true	# it fails once; kernels before 5.13 know no -1
assert_eq "$(<$cpu1)" 1 "CPU 1 after it could not go"
wait_for 30 cpu1_counts
hold_still
sums_match >/dev/null
seepage set pmc auto
(for ((i = 0; i < 8; i++)); do echo 0 >$cpu1; echo 1 >$cpu1; done) &
for ((i = 0; i < 3; i++)); do
	unload
	load pmc=auto
	seepage set pmc hold pmc_max_counters 2
	seepage set pmc auto
done
wait $!
assert_eq "$(seepage -j status | field .counters.invariants_broken)" 0 invariants_broken
unload
switched_off
echo "off and on $((rounds + 8)) times"
