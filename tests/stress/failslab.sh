#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# No memory: at each allocation that the module makes in a load, in reading each
# file and in each request, in turn; then at every second, third, ... of those
# of its worker. What fails is counted, and made up for when there is memory.
# vm: --smp 2 --mem 1024
# timeout: 1800
# no-plain: the kernel cannot make allocations fail (CONFIG_FAULT_INJECTION)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/failslab-lib.sh"
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order

unload
failnth() { "$top/build/tests/failnth" "$@"; }
# A small table: one record's allocation is as good as a hundred. A load takes
# seconds here, and both hooks have everything in common up to the hook: a hook
# that does not exist gets as far.
failnth load "$SEEPAGE_KO" "hook=tracepoint max_processes=16" | tee load.log
common=$(failnth count "$SEEPAGE_KO" "hook=none max_processes=16")
((common > 10)) || die "a load makes $common allocations up to the hook"
failnth load "$SEEPAGE_KO" "hook=software max_processes=16" "$common" | tee -a load.log
load sample_interval_ms=3600000
# What seq_file allocates for us, it allocates before our code runs.
below 0 0xffffffffffffffff
failnth read /sys/kernel/debug/seepage/* | tee read.log
below_modules
"$top/build/tests/nltest" fail-requests | tee requests.log || die "$(grep -m 1 '^not ok' requests.log)"
! grep -q '# skip' requests.log || die "the requests were not tried"

echo "--- the worker, at $SECONDS s"
rounds_done=0 failed=0 mute=0
for every in 1 2 5; do
	load policy=classic warmup_s=0 min_process_size_mb=0 alert_confidence=0 alert_interval_s=0 \
		alerts_per_minute=100000 sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	timeout 600 seepage watch --since 0 >/dev/null 2>&1 &
	watcher=$!
	every_fails "$every"
	draw 1 1000000
	"$churn" "$drawn" 100 3 >/dev/null || die "churn failed"
	mkfifo fifo
	"$idle" 100 >fifo &
	crowd=$!
	read -r _ <fifo
	rm fifo
	for ((i = 0; i < 8; i++)); do
		seepage set alert_interval_s $i >/dev/null 2>&1 || true
		seepage -j ps >/dev/null 2>&1 || true
		cat /sys/kernel/debug/seepage/* >/dev/null 2>&1 || true
	done
	none_fails
	# It ends by itself when it hears that there is no memory.
	kill $watcher 2>/dev/null || true
	wait $watcher 2>/dev/null || true
	failed=$((failed + $(status .counters.alloc_failed)))
	mute=$((mute + $(status .counters.notify_failed)))
	check_table
	kill -KILL $crowd
	wait $crowd 2>/dev/null || true
	rounds_done=$((rounds_done + 1))
done
((failed > 0)) || die "no allocation of the worker failed: this tests nothing"
sum() { awk "$1"' { n += $('"$2"') } END { print n + 0 }' "$3"; }
loads=$(sum '' 1 load.log) reads=$(sum '' 1 read.log)
requests=$(sum '/allocations failed/' 'NF - 2' requests.log)
((loads > 20 && reads > 10 && requests > 10)) ||
	die "$loads allocations of a load, $reads of reading, $requests of requests: this tests little"
echo "$loads allocations of a load failed, $reads of reading, $requests of requests;" \
	"$rounds_done rounds of the worker: alloc_failed $failed, notify_failed $mute"
