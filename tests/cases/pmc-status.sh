#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Hardware counters in the status: none, off, counters taken by others, events that the
# processor or one CPU lacks or that never count. Also event lists that are refused.
# It begins without a PMU, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1040
# about: ctl kmod
# takes: 28
# timeout: 300
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
unavailable="unavailable: "

is() { [[ $(event_state "$1") == "$2" ]]; }

refused() {
	local list=$1 word
	shift
	! seepage set pmc_events "$list" 2>err || die "pmc_events '$list' is taken"
	for word; do
		grep -qF -- "$word" err || die "pmc_events '$list': '$(cat err)' does not say '$word'"
	done
}

# No PMU: nothing counts, and the reason is known to be the machine.
load pmc=auto
[[ $(pmc_status) == "off: no hardware counters here"* ]] || die "no PMU: $(pmc_status)"
pmc_status
assert_eq "$(seepage -j status | field .pmc_events)" null "no PMU: events"
assert_eq "$(seepage -j show $$ | field .pmc)" null "no PMU: of a process"
unload

fake_pmu counters=4 refused=2 silent=$((1 << 20)) lacking=2
load pmc=off
assert_eq "$(pmc_status)" "off: by configuration" "pmc=off"
assert_eq "$(seepage -j show $$ | field .pmc)" null "pmc=off: of a process"
unload

# instructions is refused (1), LLC-loads is silent (20), CPU 1 has no events.
load pmc=auto
assert_eq "$(pmc_status)" on "status"
wait_for 20 is cycles counting
wait_for 60 is llc_references "${unavailable}it has a counter but never counts"
assert_eq "$(event_state instructions)" \
	"${unavailable}the processor's driver has no such event" instructions
assert_eq "$(event_state page_walk_cycles)" \
	"${unavailable}this processor has no event for it" page_walk_cycles
seepage -j show $$ >show.json
assert_eq "$(field '.pmc.cycles.count > 0' show.json)" true "cycles of this shell"
assert_eq "$(field '.pmc.instructions' show.json)" null "instructions of this shell"
table() { seepage status | sed -n '/^pmc/,/^counters/p' | head -n -1; }
table

# Who may not look at what the kernel does is told no counts, of his own either.
setpriv --reuid 65534 --clear-groups sleep 1000 &
theirs=$!
wait_for 20 grep -qx sleep /proc/$theirs/comm
own=(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all seepage -j show "$theirs")
assert_eq "$("${own[@]}" | jq -c '[.comm, .pmc, .pmc_signals, .pmc_baseline]')" \
	'["sleep",null,null,null]' "counters, to a plain user"
assert_eq "$(seepage -j show $theirs | field '.pmc.cycles | .count >= 0')" true "the same, to root"
kill $theirs

# Somebody takes all counters for himself; then he leaves.
perf stat -C 0 -e r1:D,r2:D,r3:D,r4:D -o perf.txt sleep 1000 &
perf=$!
wait_for 30 is cycles "${unavailable}its counters are taken by others"
echo "counters taken:"
table
kill $perf
wait $perf || true
wait_for 30 is cycles counting

seepage set pmc_events llc=r412e,cycles
assert_eq "$(seepage -j status | field '.pmc_events | keys_unsorted | join(",")')" llc,cycles list
assert_eq "$(seepage get pmc_events)" llc=r412e,cycles "get pmc_events"
assert_eq "$(seepage -j status | field .pmc_events.llc.config)" $((0x412e)) "code"
refused llc=r412e,cyclesx cyclesx allowed
refused llc=nonsense llc=nonsense allowed
refused LLC=r1 LLC=r1 a-z
refused cycles,cycles cycles twice
refused llc=r llc=r allowed
refused , allowed
refused a=r1,b=r2,c=r3,d=r4,e=r5,f=r6,g=r7,h=r8,i=r9,j=ra 'allowed 9'
refused "a=$(printf '%300s' r1)" 255
assert_eq "$(seepage get pmc_events)" llc=r412e,cycles "after refusals"
wait_for 20 is llc counting
seepage set pmc_events ''
assert_eq "$(seepage -j status | field '.pmc_events | has("llc_misses")')" true "default again"

seepage set pmc hold
[[ $(pmc_status) == held* ]] || die "hold: $(pmc_status)"
before=$(seepage -j status | field .pmc_events.cycles.count)
sleep 1
assert_eq "$(seepage -j status | field .pmc_events.cycles.count)" "$before" "cycles, held"
assert_eq "$(event_state cycles)" waiting "cycles, held"
seepage set pmc auto
goes_on() { (($(seepage -j status | field .pmc_events.cycles.count) > before)); }
wait_for 10 goes_on
seepage set pmc off
assert_eq "$(pmc_status)" "off: by configuration" "set pmc off"
! grep '^seep_pmu' /proc/slabinfo || die "its slab cache is there, off"
unload
! insmod "$SEEPAGE_KO" pmc_events=x=y 2>/dev/null || die "loaded with pmc_events=x=y"
grep -qF "pmc_events: 'x=y': allowed" <(dmesg) || die "the log does not say what is wrong with x=y"
# A virtual machine whose counters are its host's: not by itself, but if it is wanted.
echo 1600 >/sys/module/fakepmu/parameters/slowly
load pmc=auto
assert_eq "$(pmc_status)" "off: counters that are slow to read (pmc on uses them)" "slow counters"
assert_eq "$(seepage -j status | field .pmc_events)" null "slow counters: events"
seepage set pmc on
assert_eq "$(pmc_status)" on "slow counters, wanted"
wait_for 20 is cycles counting
seepage set pmc hold
for word in auto off auto; do
	seepage set pmc $word
	[[ $(pmc_status) == off:* ]] || die "slow counters, pmc $word again: $(pmc_status)"
done
[[ $(pmc_status) == "off: counters that are slow"* ]] || die "slow counters, again: $(pmc_status)"
seepage set pmc on
seepage set pmc auto
[[ $(pmc_status) == "off: counters that are slow"* ]] || die "slow counters, no more wanted: $(pmc_status)"
unload
load pmc=on
assert_eq "$(pmc_status)" on "slow counters, wanted when loaded"
unload
echo 0 >/sys/module/fakepmu/parameters/slowly
load pmc=auto pmc_events=one=r101,two=r102 pmc_max_counters=1
for event in one two; do
	wait_for 20 is $event counting
done
field '.pmc_events | [.one, .two] | all(.running_ns > 0 and .running_ns < .enabled_ns)' \
	<(seepage -j status) | grep -x true >/dev/null || die "two events do not share a counter: $(seepage status)"
unload
load pmc=auto pmc_events=cycles,walks=r108
assert_eq "$(seepage -j status | field '.pmc_events | keys_unsorted | join(",")')" cycles,walks parameter
unload
# By default nothing counts until some process is under watch. It may be unloaded then.
load sample_interval_ms=250 suspect_interval_ms=250 max_cpu_permille=1000
assert_eq "$(pmc_status)" "off: no process is under watch (pmc auto counts always)" "default"
perl -e 'for (;;) { push @kept, "x" x (1 << 20); select undef, undef, undef, 0.1 }' &
leak=$!
on() { [[ $(pmc_status) == on ]]; }
wait_for 120 on
wait_for 20 is cycles counting
unload
kill $leak
# Who counts has the PMU in use. It goes when nobody does, and then there is none.
load pmc=auto
! rmmod fakepmu 2>err || die "the PMU was removed while it counted"
grep -q 'in use' err || die "rmmod fakepmu: $(cat err)"
seepage set pmc off
rmmod fakepmu
seepage set pmc auto
[[ $(pmc_status) == "off: no hardware counters here"* ]] || die "PMU removed: $(pmc_status)"
assert_eq "$(seepage -j show $$ | field .pmc)" null "PMU removed: of a process"
unload
