#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A real driver, armv8_pmuv3 on QEMU's PMU: the cycles charged to a program differ by at
# most 0.5 % from those that perf stat counts. QEMU derives cycles from its clock. The
# counting clock (--count) makes them independent of the load of the host.
# vm: --count --mem 1024
# about: ctl/lib ctl/stat kmod scripts tests/lab
# timeout: 600
# only-arm64: QEMU has no such PMU for any other
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

load pmc=auto sample_interval_ms=1000 suspect_interval_ms=1000
assert_eq "$(pmc_status)" on pmc_status
seepage status | sed -n '/^pmc/,/^counters/p' | head -n -1
# shellcheck disable=SC2016 # $$ is the inner shell's
perf stat -x, -i -e cycles -o perf.txt \
	bash -c 'for ((i = 0; i < 400000; i++)); do :; done; seepage -j show $$ >show.json'
theirs=$(awk -F, '$3 ~ /^cycles/ { print $1 }' perf.txt)
ours=$(field .pmc.cycles.count show.json)
awk -v a="$ours" -v b="$theirs" 'BEGIN {
	r = a / b; printf "cycles: seepage %.0f, perf %.0f, ratio %.5f\n", a, b, r
	exit !(r > 0.995 && r < 1.005) }' || die "cycles: seepage $ours, perf $theirs"
play 4 2000
hold_still
echo "$switches context switches of 8 processes:"
sums_match
play_end
