#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost that each hook adds to a page fault, in guest instructions (not cycles). The
# same run measures the bare kernel, and perf counting the same tracepoint. The budgets are
# those of the tracepoint hook: for faults of the process that faulted before on the CPU, and
# for faults of two processes in turn, each after a switch. What differs here from load to
# load does not in tests/scale, which measures the same two against 30 and 90 instructions.
# vm: --count --mem 1024
# matrix: tests/scale measures the same faults, and room-cost one of no record on a kernel
# takes: 50
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the hook measured, and its peer, are tracepoints that only x86 has
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"

row() { awk -v n="$1" -v c="$2" -v b="$base" 'BEGIN { printf "%-34s %8.1f  +%.1f\n", n, c, c - b }'; }

# A turn of two processes on one CPU, which is a context switch and a fault. The fault reads: to
# find a page costs tens of instructions more or less from load to load.
in_turn() { "$top/build/tests/pingpong" 10000 5 look; }
least() { sort -g "$1" | head -n 1; }

near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 3 && b - a < 3) }'; }

# The bare kernel has been seen to take 40 instructions more for a fault from one
# minute to the next: figures count between two baselines that agree.
for try in 1 2 3; do
	unload
	base=$(fault_cost)
	load hook=tracepoint
	tracepoint=$(fault_cost)
	unload
	again=$(fault_cost)
	! near "$base" "$again" || break
	echo "try $try: no module $base, hook=tracepoint $tracepoint, no module $again"
done
near "$base" "$again" || die "a fault of the bare kernel takes $base, then $again instructions"
load hook=software
software=$(fault_cost)
unload
peer=$(fault_cost perf stat -a -x, -o /dev/null -e exceptions:page_fault_user)

echo "instructions per user page fault (20000 fresh pages, least of 7 rounds):"
row "no module" "$base"
row "no module, once more" "$again"
row "hook=tracepoint (budget 45)" "$tracepoint"
row "hook=software" "$software"
row "peer: perf stat -a, page_fault_user" "$peer"
# What differs from load to load falls out with the least of each.
for try in 1 2 3 4; do
	in_turn >>turn.bare
	load hook=tracepoint
	in_turn >>turn.loaded
	unload
done
bare=$(least turn.bare) turn=$(least turn.loaded)
echo "instructions per turn of two processes that fault in turn: $(paste -sd ' ' turn.bare)" \
	"without the module, $(paste -sd ' ' turn.loaded) with it (budget 150 more)"
awk -v a="$tracepoint" -v b="$base" -v p="$peer" 'BEGIN { exit !(a - b <= 45 && a - b > 5 && a < p) }' ||
	die "the tracepoint hook adds $tracepoint - $base instructions"
base=$bare
row "two in turn, hook=tracepoint" "$turn"
awk -v a="$turn" -v b="$bare" 'BEGIN { exit !(a - b <= 150) }' ||
	die "with two processes in turn the tracepoint hook adds $turn - $bare instructions to a fault"
