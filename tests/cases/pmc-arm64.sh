#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A real driver (armv8_pmuv3, on QEMU's PMU): the cycles that a program got are
# those that perf stat counts for it, within 0.5 %.
# vm: --smp 2 --mem 1024
# timeout: 600
# no-amd64: QEMU has no PMU for it
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

load sample_interval_ms=1000 suspect_interval_ms=1000
assert_eq "$(pmc_status)" on pmc_status
seepage status | sed -n '/^pmc/,/^counters/p' | head -n -1
coproc player { exec perf stat -x, -e cycles -o perf.txt "$partners" 2 20000; }
read -r answer <&"${player[0]}"
assert_eq "$answer" ready partners
echo go >&"${player[1]}"
while read -r word _ <&"${player[0]}" && [[ $word != 'done' ]]; do :; done
# All of them wait now: what they have used does not change any more.
seepage -j ps >ps.json
pid=$player_PID
echo end >&"${player[1]}"
wait "$pid" || true
theirs=$(awk -F, '$3 ~ /^cycles/ { print $1 }' perf.txt)
ours=$(field '[.[] | select(.comm == "partners") | .pmc.cycles.count] | add' ps.json)
awk -v a="$ours" -v b="$theirs" 'BEGIN {
	r = a / b; printf "cycles of partners: seepage %.0f, perf %.0f, ratio %.5f\n", a, b, r
	exit !(r > 0.995 && r < 1.005) }' || die "cycles: seepage $ours, perf $theirs"
hold_still
sums_match
