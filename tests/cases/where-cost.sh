#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a trap of a burst costs the process, in guest instructions (not cycles): a malloc() and a
# free() with a probe at the entry of malloc() and at its return, for a size that the burst does
# not sample, beside the same pair without. Another process pays nothing. The goal is
# 2145, and so is the limit, of which 2143.9 were taken. A program with more mappings takes some
# more, to find the one of the trap. From 6.13 on a call that is not sampled has no return that
# traps: its entry alone has a limit of its own. So has PREEMPT_RT, whose locks cost the kernel more.
# vm: --count --mem 1024
# takes: 3
# about: kmod/where
# timeout: 300
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the figures are of x86
. "$(dirname "$0")/where-lib.sh"
insmod "$where_ko"
pairs=$top/build/tests/pairs

# pair_cost: of the process that is $pid; it prints a figure for each line that it reads
start() {
	rm -f in out
	mkfifo in out
	"$pairs" 10000 5 <in >out &
	exec {to}>in {from}<out
	read -r pid <&"$from"
}
pair_cost() {
	echo >&"$to"
	read -r cost <&"$from"
}

start
pair_cost
bare=$cost
# Its time passes quickly where the guest waits for a file of the host.
"$top/build/tests/bursts" "$pid" cost 30000 >traps &
tool=$!
until grep -qs armed traps; do sleep 0.1; done
pair_cost
armed=$cost
other=$("$pairs" 10000 5 </dev/null | tail -n 1)
wait $tool
pair_cost
after=$cost
cat traps
echo "instructions for malloc() and free(): untraced $bare, with a burst $armed," \
	"after it $after; another process beside it $other"
read -r n _ < <(tail -n 1 traps)
what='entry and return' traps=100000 limit=2145
[[ $(printf '%s\n' 6.13 "$(uname -r)" | sort -V | head -n 1) != 6.13 ]] || what='entry alone' traps=50000 limit=1150
[[ $(uname -v) != *PREEMPT_RT* ]] || limit=2600
((n >= traps)) || die "only $n traps"
awk -v a="$armed" -v b="$bare" -v what="$what" -v limit=$limit 'BEGIN {
	print what ": +" a - b " (goal 2145" (a - b > 2145 ? " EXCEEDED" : "") ", limit " limit ")"
	exit !(a - b > 500 && a - b <= limit) }' || die "$what of malloc() cost $armed - $bare"
awk -v a="$after" -v o="$other" -v b="$bare" 'BEGIN { exit !(a - b < 1 && b - a < 1 && o - b < 1 && b - o < 1) }' ||
	die "a pair costs $bare, after the burst $after, in another process $other"
rmmod seepage_where
