#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost that each hook adds to a page fault, in guest instructions (not cycles). The
# same run measures the bare kernel, and perf counting the same tracepoint. The budgets are
# those of the tracepoint hook: for faults of the process that faulted before on the CPU, and
# for faults of two processes in turn, each after a switch.
# vm: --count --mem 1024
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the hook measured, and its peer, are tracepoints that only x86 has
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"

row() { awk -v n="$1" -v c="$2" -v b="$base" 'BEGIN { printf "%-34s %8.1f  +%.1f\n", n, c, c - b }'; }

# A turn of two processes on one CPU, which is a context switch and a fault.
in_turn() { "$top/build/tests/pingpong" 10000 5 touch; }

near() { # What differs from load to load falls out with the least of each.
least() { sort -g "$1" | head -n 1; }
base_turn=$(least turn.bare) turn=$(least turn.loaded)
echo "instructions per turn of two processes that fault in turn:" "$(paste -sd ' ' turn.bare)" \
	"without the module," "$(paste -sd ' ' turn.loaded)" "with it"
base=$base_turn row "two in turn, hook=tracepoint (budget 90)" "$turn"
awk -v a="$tracepoint" -v b="$base" -v p="$peer" 'BEGIN { exit !(a - b <= 30 && a - b > 5 && a < p) }' ||
	die "the tracepoint hook adds $tracepoint - $base instructions"
awk -v a="$turn" -v b="$base_turn" 'BEGIN { exit !(a - b <= 90 && a - b > 20) }' ||
	die "of two processes in turn the tracepoint hook adds $turn - $base_turn instructions to a fault"
