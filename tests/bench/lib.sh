# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# For the guest scripts of the cost board: . "$(dirname "$0")/lib.sh"
# Each prints its figures, in lines that tests/bench/run collects.
. "$(dirname "${BASH_SOURCE[0]}")/../cases/lib.sh"
# shellcheck source=tests/bench/measure.sh
. "$top/tests/bench/measure.sh"
# shellcheck disable=SC2034 # for the scripts
bench=$top/build/bench

# fig KEY VALUE
fig() {
	[[ $2 =~ ^-?[0-9]+(\.[0-9]+)?$ ]] || die "$1: '$2' is no number"
	printf 'fig %s %s\n' "$1" "$2"
}

# A peer that cannot be had: its reason stands in place of the figure.
cannot() { printf 'cannot %s %s\n' "$1" "$(tr '\n' ' ' <<<"${2:-no output}" | cut -c 1-400)"; }

# less A B: A - B, with the one digit that repeats.
less() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", a - b }'; }

# Measured again before each figure: the bare fault has been seen to move by up to
# 20 instructions from the start of a run to its end.
bare() { base=$(fault_cost); }
added() { fig "fault_added.$1" "$(less "$2" "$base")"; }

# peer NAME SEEN COMMAND...: what COMMAND adds as it observes faultbench. SEEN is
# a command that prints how many faults it has seen: all, or it is no peer.
peer() {
	local name=$1 seen=$2 wanted=$((7 * faults)) cost
	shift 2
	bare
	cost=$(fault_cost "$@" 2>log) || {
		cannot "fault_added.$name" "$(grep -v '^$' log | tail -n 1)"
		return 0
	}
	seen=$($seen) || seen=0
	if [[ ! $seen =~ ^[0-9]+$ ]] || ((seen < wanted)); then
		cannot "fault_added.$name" "it has seen $seen of $wanted faults"
	else
		added "$name" "$cost"
	fi
}

# The figure that the fewest interrupts fell into.
least() { sort -n | head -n 1; }
