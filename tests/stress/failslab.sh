#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# No memory: at each allocation of a load, of reading each file and of each
# request in turn; then at every second, third, ... of those that the module's
# own work makes. What fails is counted, and made up for when there is memory.
# vm: --smp 2 --mem 1024
# timeout: 1800
# no-plain: the kernel cannot make allocations fail (CONFIG_FAULT_INJECTION)
. "$(dirname "$0")/lib.sh"
debug=/sys/kernel/debug/failslab
idle=$top/build/tests/idle

for dir in $debug /sys/kernel/debug/fail_page_alloc; do
	echo 0 >"$dir"/verbose
	echo N >"$dir"/ignore-gfp-wait
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order

unload
"$top/build/tests/failnth" load "$SEEPAGE_KO" | tee load.log
"$top/build/tests/failnth" load "$SEEPAGE_KO" hook=software | tee -a load.log
load sample_interval_ms=3600000
"$top/build/tests/failnth" read /sys/kernel/debug/seepage/* | tee read.log
"$top/build/tests/nltest" fail-requests | tee requests.log || die "$(grep -m 1 '^not ok' requests.log)"
! grep -q '# skip' requests.log || die "the requests were not tried"

# The module's own work: only allocations below a function of its text.
text=$((16#$(sed 's/^0x//' /sys/module/seepage/sections/.text)))
size=$(awk '$1 == "seepage" { print $2 }' /proc/modules)
rounds_done=0 failed=0 mute=0
for every in 1 2 3 5 7; do
	load policy=classic warmup_s=0 min_process_size_mb=0 alert_confidence=0 alert_interval_s=0 \
		alerts_per_minute=100000 sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	text=$((16#$(sed 's/^0x//' /sys/module/seepage/sections/.text)))
	timeout 600 seepage watch --since 0 >/dev/null 2>&1 &
	watcher=$!
	printf '%#x' "$text" >$debug/require-start
	printf '%#x' $((text + size)) >$debug/require-end
	echo 32 >$debug/stacktrace-depth
	echo "$every" >$debug/interval
	echo -1 >$debug/times
	echo 100 >$debug/probability
	draw 1 1000000
	"$churn" "$drawn" 300 3 >/dev/null || die "churn failed"
	mkfifo fifo
	"$idle" 300 >fifo &
	crowd=$!
	read -r _ <fifo
	rm fifo
	for ((i = 0; i < 20; i++)); do
		seepage set alert_interval_s $i >/dev/null 2>&1 || true
		seepage -j ps >/dev/null 2>&1 || true
		cat /sys/kernel/debug/seepage/* >/dev/null 2>&1 || true
	done
	echo 0 >$debug/probability
	kill $watcher
	wait $watcher 2>/dev/null || true
	failed=$((failed + $(status .counters.alloc_failed)))
	mute=$((mute + $(status .counters.notify_failed)))
	check_table
	kill -KILL $crowd
	wait $crowd 2>/dev/null || true
	rounds_done=$((rounds_done + 1))
done
((failed > 0)) || die "no allocation of the worker failed: this tests nothing"
echo "$(awk '{ n += $1 } END { print n }' load.log) allocations of a load failed," \
	"$(awk '{ n += $1 } END { print n }' read.log) of reading," \
	"$(awk '/allocations failed/ { n += $(NF - 2) } END { print n + 0 }' requests.log) of requests;" \
	"$rounds_done rounds of the worker: alloc_failed $failed, notify_failed $mute"
