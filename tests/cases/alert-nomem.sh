#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every allocation of the module fails while a process leaks. Two listeners hear its alert all the
# same, watch and the looks that it starts: a message and its first clone are kept for that. Of the
# alerts of two that leak at once some are lost; watch reads these from the ring as soon as the
# module answers again.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 30
# no-plain: the kernel cannot make allocations fail (CONFIG_FAULT_INJECTION)
. "$(dirname "$0")/lib.sh"
. "$top/tests/stress/failslab-lib.sh"

# leak NAME: sets leak to a process that takes 4 MB a second, parent to its parent
leak() {
	cp "$top/build/tests/idle" "$1"
	"./$1" 1 4000 >"$1.out" &
	parent=$!
	wait_for 20 test -s "$1.out"
	read -r leak <"$1.out"
}
heard() { grep -q "\"pid\":${1:-$leak},.*\"state\":\"\(suspected\|confirmed\|runaway\)\"" watched; }
failed() { seepage -j status | field .counters.alloc_failed; }

load policy=classic warmup_s=0 min_process_size_mb=16 alert_confidence=20 alert_interval_s=0 \
	sample_interval_ms=500 suspect_interval_ms=500 max_cpu_permille=1000
seepage -j watch --no-cold --since 1 >watched &
watch=$!
# The first one shows that somebody listens.
leak first
wait_for 30 heard
disperse $parent
sleep 2
before=$(failed)
every_fails 1
leak second
wait_for 30 heard
disperse $parent
leak third
third=$leak parents=$parent
leak fourth
sleep 10
none_fails
wait_for 30 heard "$third"
wait_for 30 heard
disperse "$parents"
kill $watch 2>/dev/null || true
wait $watch 2>/dev/null || true
disperse $parent
echo "heard, with $(($(failed) - before)) allocations that failed meanwhile"
(($(failed) > before)) || die "no allocation failed: this tests nothing"
unload
