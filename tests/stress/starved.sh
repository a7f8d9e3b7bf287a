#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# No memory for records while processes come and fault: those without a record
# take no interrupt each, and nobody walks the table all the time. Once there is
# memory all are found.
# vm: --smp 2 --mem 1024
# timeout: 900
# no-plain: the kernel cannot make allocations fail (CONFIG_FAULT_INJECTION)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/failslab-lib.sh"

interrupts() { awk '$1 == "IWI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
counter() { status ".counters.$1"; }

load sample_interval_ms=3600000
empty=$(counter pool_empty) failed=$(counter alloc_failed)
every_fails 1
mkfifo fifo
"$idle" 200 >fifo &
crowd=$!
read -r _ <fifo
before=$(interrupts) began=$SECONDS
draw 1 1000000
ops=$(times 2000)
"$churn" "$drawn" "$ops" 3 >/dev/null || die "churn failed"
raised=$(($(interrupts) - before)) took=$((SECONDS - began + 1))
none_fails
empty=$(($(counter pool_empty) - empty)) failed=$(($(counter alloc_failed) - failed))
((empty > 20 * ops)) || die "$empty faults found the pool empty: this tests nothing"
# One interrupt asks for each run of the work; the kernel raises some for irq_work of its own.
((raised < empty / 10)) || die "$raised interrupts for $empty faults without a record"
((failed <= 4 * took)) || die "in $took s $failed attempts to get memory"
load
check_table
kill -KILL $crowd
wait $crowd 2>/dev/null || true
echo "$empty faults found the pool empty, $raised interrupts beside, $failed attempts to get memory in $took s"
