#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A real driver, riscv-pmu-sbi, and real TLB misses, those of QEMU's own TLB. A program
# that reads all over 64 MB misses many times as often as one that stays within 4 pages,
# about once for every load. The counts charged to a program agree with those of perf
# stat. The two are measured in separate runs, because QEMU feeds only one counter of an
# event, and a second one stays at 0. The runs are interrupted at different times, and
# perf includes exec and exit (150000 to 500000 instructions and 600 misses), so 2 % and
# 2000 misses are allowed.
# vm: --count --mem 1024
# timeout: 600
# only-riscv64: no other PMU of QEMU counts TLB misses
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
walk=$top/build/tests/walk
loads=2000000

# walk PAGES: the counts of such a process into PAGES.json, before it ends.
walk() {
	local pid
	rm -f in out
	mkfifo in out
	"$walk" "$1" $loads stay <in >out &
	pid=$!
	exec 7>in 8<out
	read -r -u 8
	seepage -j show $pid >"$1.json"
	exec 7>&- 8<&-
	wait $pid
}

# of PAGES EVENT: what it counted. rate PAGES: misses in 1000 instructions.
of() { field ".pmc.$2.count" "$1.json"; }
rate() { awk -v m="$(of "$1" dtlb_misses)" -v i="$(of "$1" instructions)" 'BEGIN { printf "%.3f", 1000 * m / i }'; }

load pmc=auto sample_interval_ms=1000 suspect_interval_ms=1000
assert_eq "$(pmc_status)" on pmc_status
seepage status | sed -n '/^pmc/,/^counters/p' | head -n -1
for event in cycles instructions dtlb_misses; do
	assert_eq "$(event_state $event)" counting "$event"
done
for event in llc_references llc_misses loads; do
	assert_eq "$(event_state $event)" "unavailable: the processor's driver has no such event" "$event"
done
assert_eq "$(event_state page_walk_cycles)" "unavailable: this processor has no event for it" page_walk_cycles

for pages in 4 16384; do
	walk $pages
	echo "walk of $pages pages, $loads loads: $(of $pages dtlb_misses) misses in" \
		"$(of $pages instructions) instructions, $(rate $pages) in 1000"
done
awk -v many="$(rate 16384)" -v few="$(rate 4)" 'BEGIN {
	printf "%.0f times as often\n", many / few
	exit !(many > 20 * few) }' || die "misses in 1000 instructions: $(rate 16384) of many pages, $(rate 4) of few"
(($(of 16384 dtlb_misses) > loads / 2)) || die "$(of 16384 dtlb_misses) misses of many pages, $loads loads"

seepage set pmc off
for pages in 4 16384; do
	perf stat -x, -i -e cycles,instructions,dTLB-load-misses -o perf.txt "$walk" $pages $loads >/dev/null
	while read -r ours theirs besides; do
		awk -F, -v e="$theirs" '$3 == e { print $1 }' perf.txt >count
		awk -v p=$pages -v e="$ours" -v a="$(of $pages "$ours")" -v b="$(cat count)" -v besides="$besides" 'BEGIN {
			d = a < b ? b - a : a - b
			printf "%5d pages, %s: seepage %.0f, perf %.0f, ratio %.5f\n", p, e, a, b, a / b
			exit !(a > 0 && d < 0.02 * b + besides) }' || echo "$ours of $pages pages" >>different
	done <<-END
		cycles cycles 0
		instructions instructions 0
		dtlb_misses dTLB-load-misses 2000
	END
done
[[ ! -e different ]] || die "not what perf counts: $(paste -sd, different)"
