#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Counts are exact. For each event the parts of running and exited processes, kernel
# threads, idle CPUs and untracked processes add up exactly to the total of the counters,
# which equals what the PMU has counted. 8 processes on 2 CPUs make at least 10^5 context
# switches (in make test a third): with a counter for each event, with multiplexing, with
# perf competing for the counters, and with NMIs that update counters at any moment, as
# overflows do.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1056
# about: kmod/hook* kmod/pmu kmod/mmtab.c kmod/account.c
# takes: 60
# timeout: 900
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

rounds=${SEEPAGE_PMC_ROUNDS:-$(some $((15000 / ${SEEPAGE_SLOW:-1})))}

# tally_of ID: what the PMU has counted of an event since it was loaded.
tally_of() { awk -v id="$1" '$1 == id { n = $2 } END { print n ? n : 0 }' /sys/module/fakepmu/parameters/tally; }

# round_of WHAT PARAMETER...: counts from the load on, and nobody else does.
round_of() {
	local what=$1 before after
	shift
	unload
	before=$(tally_of 0)
	load pmc=auto sample_interval_ms=1000 suspect_interval_ms=1000 max_cpu_permille=1000 "$@"
	assert_eq "$(pmc_status)" on "$what: pmc_status"
	play 4 "$rounds"
	hold_still
	echo "$what: ${#pids[@]} processes, $switches context switches of theirs"
	sums_match
	after=$(tally_of 0)
	[[ ! $exclusive ]] ||
		assert_eq "$(field .pmc_events.cycles.count status.json)" $((after - before)) \
			"$what: cycles of the PMU itself"
	((switches >= ${least:-1})) || die "$what: only $switches context switches"
	# The players have used nearly all of the time, and none was forgotten.
	field '[.[] | select(.comm == "partners" and .pmc.cycles.count > 0)] | length' ps.json >n
	assert_eq "$(cat n)" 9 "$what: players with cycles, and their parent"
	play_end
	assert_eq "$(seepage -j status | field .counters.invariants_broken)" 0 invariants_broken
}

fake_pmu counters=4
exclusive=yes
least=$(some $((100000 / ${SEEPAGE_SLOW:-1})))
round_of "a counter each" pmc_events=cycles,instructions,llc_misses,dtlb_misses
round_of "taking turns" pmc_max_counters=3
field '.pmc_events.llc_misses | .running_ns < .enabled_ns * 0.9 and .running_ns > 0' status.json >n
assert_eq "$(cat n)" true "llc_misses had a counter for part of the time"
# What overflows is brought up to date in an NMI, in the middle of a reading too.
nmi=/sys/module/fakepmu/parameters/nmi
echo 1 >$nmi
least=$((least / 4)) rounds=$((rounds / 4))
round_of "under NMIs" pmc_max_counters=3
echo 0 >$nmi
echo "$(cat $nmi) NMIs"
(($(cat $nmi) > 1000)) || die "only $(cat $nmi) NMIs"
rounds=$((rounds * 4))
# perf has the counters in turn with us: it takes them away in mid-slice.
exclusive='' least=''
rounds=$((rounds / 4))
unload
perf stat -a -e r1,r2,r3,r4,r5 -o perf.txt sleep 1000 &
perf=$!
perf_counts() { (($(tally_of 33) > 0)); }	# its r1; ids 32 and up are raw events
wait_for 30 perf_counts
round_of "beside perf" pmc_events=cycles,instructions,llc_misses,dtlb_misses pmc_max_counters=4
field '.pmc_events.cycles | .running_ns < .enabled_ns * 0.9 and .running_ns > 0' status.json >n
assert_eq "$(cat n)" true "perf had its share of the counters"
kill $perf
wait $perf || true
# Unloaded while they switch; the module's own look at what it leaves is the VM's.
load pmc=auto sample_interval_ms=1000
switching
sleep 0.5
for ((i = 0; i < $(some $((10 / ${SEEPAGE_SLOW:-1} + 1))); i++)); do
	unload
	load pmc=auto sample_interval_ms=1000
	sleep 0.1
done
unload
switched_off
echo "unloaded $i times while they switched"
