#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The baseline that the kernel learns from hardware counters. Many more misses than the
# baseline raise signals. Growth without more misses counts for a leak. Replay gives the
# same results. A process that hardly runs gets no baseline, a reset or another event list
# starts learning again, and the number of baselines is limited.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1048
# about: ctl/series kmod/detect kmod/pmu kmod/sample.c
# matrix: unit/test_pmu and pmc-learn-idle cover what is learned, this case a day of it
# takes: 98
# timeout: 480
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
. "$(dirname "$0")/replay-lib.sh"

baseline() { seepage -j show "$1" | jq -c ".pmc_baseline${2:-}"; }
signals() { seepage -j show "$1" | jq -r '.pmc_signals | if . then join(" ") else "null" end'; }
learned() { (($(baseline "$1" '.llc_samples // 0') >= $2)); }
has_signal() { [[ " $(signals "$1") " == *" $2 "* ]]; }
spins() { perl -e 'while () {}' & }
# By fakepmu.c an event counts its number + 1 in a clock's nanosecond: cache
# references (20), misses (21), loads (22), dTLB misses (23), instructions (1).
fake_pmu counters=6 slow=$((1 << 21 | 1 << 23))
# A debug kernel is not asked faster than it can answer.
interval=$((250 * ${SEEPAGE_SLOW:-1}))
load pmc=auto sample_interval_ms=$interval suspect_interval_ms=$interval max_cpu_permille=1000
sleep 1000 &
idle=$!
spins
busy=$!
wait_for 60 learned $busy 20
seepage show $busy | grep PMC-USUAL || die "show has no row for it"
baseline $busy
near "LLC references that miss" "$(baseline $busy .llc_miss_ppm)" $((22 * 1000000 / 64 / 21))
near "dTLB misses" "$(baseline $busy .dtlb_misses_per_million_instructions)" $((24 * 1000000 / 64 / 2))
near "the same now" "$(baseline $busy .dtlb_misses_now_per_million_instructions)" 187500
# of all the time, of which it had a CPU in most
full=$((22 * 1000000000 / 64 * 64 / 1024)) read=$(baseline $busy .read_kib_per_second)
((read > full / 3 && read < full * 11 / 10)) || die "KiB read in a second: $read, at most $full"
assert_eq "$(signals $busy)" "" "signals at rest"
assert_eq "$(baseline $idle)" null "of a process that sleeps"

# 64 times the misses: unusual against itself, at once and for a while, and one
# in twenty loads is unusual for anybody.
echo 0 >/sys/module/fakepmu/parameters/slow
# Some of that is usual again a second later.
for ((i = 0; i < 25; i++)); do
	signals $busy
done >signals.txt
for signal in bandwidth tlb_pressure llc_z_score tlb_efficiency llc_divergence; do
	grep -qw $signal signals.txt || die "no $signal among: $(sort -u signals.txt | tr '\n' '|')"
done
# Looked for until it is seen: in a pass in which the process had no CPU, as where the
# host is busy, nothing is unusual.
wait_for 20 has_signal $busy tlb_efficiency
shown() { seepage show $busy | grep UNUSUAL; }
dumped() { seepage -j ps | jq -e "[.[] | select(.pid == $busy)][0].pmc_signals | index(\"tlb_efficiency\")"; }
counted() { seepage stat $busy -i 1 --count 1 | tee stat.txt | grep 'unusual  *tlb_efficiency: '; }
tabled() { seepage stat --all --csv -i 1 --count 1 | tee stat.csv | grep "^$busy,.*tlb_efficiency"; }
for where in shown dumped counted tabled; do
	wait_for 20 $where
done

# Who runs too little for a pass to say anything is judged by several, over all of
# their time.
seepage set sample_interval_ms $((4 * interval)) suspect_interval_ms $((4 * interval))
# shellcheck disable=SC2016 # of perl
perl -MTime::HiRes=time,sleep -e 'sub work { my $end = time + $_[0]; while (time < $end) {} }
	work(2); for (;;) { work(0.003 * $ARGV[0]); sleep($ARGV[0] - 0.003 * $ARGV[0]) }' \
	"$(awk -v ms=$interval 'BEGIN { print 4 * ms / 1000 }')" &
little=$!
wait_for 60 learned $little 1
misses() { seepage -j show $little | jq '.pmc.llc_misses | .count / .running_ns * .enabled_ns'; }
# Where the host takes the guest's CPUs away for a while it runs much at times: thrice.
little_is_right() {
	local before began after ended
	seepage reset history $little
	before=$(misses) began=$(date +%s%N)
	wait_for 120 learned $little 3
	after=$(misses) ended=$(date +%s%N)
	read=$(baseline $little .read_kib_per_second)
	usual=$(awk -v n="$before" -v m="$after" -v t=$((ended - began)) 'BEGIN { print (m - n) * 64 / 1024 / (t / 1e9) }')
	awk -v r="$read" -v u="$usual" 'BEGIN { exit !(r > u / 2 && r < u * 2) }'
}
little_is_right || little_is_right || little_is_right ||
	die "KiB read in a second by one that runs little: $read, wanted about $usual"
echo "KiB read in a second by one that runs little: $read, by its misses $usual"
kill $little
seepage set sample_interval_ms $interval suspect_interval_ms $interval

# One pass comes in between at most: from a first one nothing is learned.
seepage set sample_interval_ms 3600000
seepage reset history $busy
assert_eq "$(baseline $busy '.llc_samples // 0')" 0 "after a reset"
seepage set sample_interval_ms $interval
wait_for 60 learned $busy 16
seepage set sample_interval_ms 3600000
seepage set pmc_events llc_misses,llc_references
assert_eq "$(baseline $busy '.llc_samples // 0')" 0 "of another list of events"
seepage set sample_interval_ms $interval
wait_for 60 learned $busy 16
assert_eq "$(baseline $busy .dtlb_misses_per_million_instructions)" null "dTLB misses, not in the list"
seepage set pmc_events ''
kill $busy $idle

# It leaks, works, and has no more misses than before: that counts for a leak.
seepage record --reset -o leak.series 2>record.err &
recorder=$!
wait_for 10 test -s leak.series
perl -e 'for (;;) { push @kept, "x" x (1 << 20); for ($i = 0; $i < 2e5; $i++) {} select undef, undef, undef, 0.1 }' &
leak=$!
points() { seepage -j explain "$1" | jq -r '.score.pmc // "none"'; }
counts_for() { [[ $(points $leak) == 6 ]]; }
wait_for 60 counts_for
seepage explain $leak | grep -E '^ +-?6/6 +pmc ' || die "explain: $(seepage explain $leak)"
sleep 2
kill -INT $recorder
wait $recorder || die "record ended with status $?: $(cat record.err)"
# What is measured no more speaks for nothing.
seepage set pmc hold
counts_for_nothing() { [[ $(points $leak) == none ]]; }
wait_for 20 counts_for_nothing
seepage set pmc auto
kill $leak
replayed leak
grep -qE '^[0-9].* r1[0-9]{3}( |$)' leak.series || {
	tail -n 5 leak.series
	die "the series has nothing of the misses"
}

# At most an eighth of max_processes learn, and the others are counted.
load pmc=auto sample_interval_ms=$interval suspect_interval_ms=$interval max_cpu_permille=1000 max_processes=16
spinning=()
for _ in 1 2 3 4; do
	spins
	spinning+=($!)
done
unlearned() { (($(seepage -j status | field .counters.pmc_unlearned) > 0)); }
wait_for 60 unlearned
with=$(seepage -j ps | jq '[.[] | select(.pmc_baseline)] | length')
((with == 2)) || die "$with of 16 have a baseline, wanted 2"
# And where there may be fewer than there are.
seepage set max_processes 64
with_baseline() { seepage -j ps | jq -e "[.[] | select(.pmc_baseline)] | length $1" >/dev/null; }
wait_for 60 with_baseline ">= 4"	# what asks may be another
seepage set max_processes 16
wait_for 60 with_baseline "<= 2"
kill "${spinning[@]}"
