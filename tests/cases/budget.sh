#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The memory budgets of DESIGN.md: of the module's code, of the controller, of
# a tracked process; and nothing is left after the unload.
# vm: --smp 2 --mem 1024
# timeout: 120
# no-debug: the checkers take memory in every object and function
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
n=600

status() { seepage -j status | field "$1"; }

grow() { (($(status .processes) >= $1)); }
shrunk() { (($(status .processes) <= $1)); }

# Where the kernel's functions have padding before them and a table of their calls
# (CONFIG_CALL_PADDING, 6.2 and later) every module is a quarter larger and more.
limit=$((128 << 10))
sections=$(readelf -SW "$SEEPAGE_KO")
[[ $sections != *" .call_sites "* ]] || limit=$((192 << 10))
within "module, text + data, bytes" "$(text_data "$SEEPAGE_KO")" $limit
strip -o stripped "$(command -v seepage)"
# A static one, cross-built, holds the C library as well.
limit=$((200 << 10))
readelf -lW stripped >segments
grep -q INTERP segments || limit=$((2 << 20))
within "controller, stripped, bytes" "$(stat -c %s stripped)" $limit
within "controller as installed, bytes" "$(stat -Lc %s "$(command -v seepage)")" $limit

slabs() { awk 'NR > 2 { print $1 }' /proc/slabinfo | sort; }
seep_slabs() { grep -c '^seep' /proc/slabinfo || true; }
unload
assert_eq "$(seep_slabs)" 0 "slab caches before the load"
before=$(slabs)
load sample_interval_ms=500 suspect_interval_ms=300 max_cpu_permille=1000
sleep 1
rec=$(status .rec_bytes)
few=$(status .processes) few_bytes=$(status .memory_bytes)
assert_eq "$(seep_slabs)" 1 "slab caches of the module"
crowd $n
wait_for 10 grow $((few + n))
sleep 1
many=$(status .processes) many_bytes=$(status .memory_bytes)

within "one record, bytes" "$rec" 2048
# The cache's own view: with padding between objects.
slab=$(awk '$1 == "seep_rec" { print int($6 * 4096 / $5) }' /proc/slabinfo)
within "one record with its share of a slab" "$slab" 2048
each=$(((many_bytes - few_bytes) / (many - few)))
within "memory per further process, bytes" $each 2048
((each >= rec)) || die "memory_bytes grew by $each a process of $rec bytes"
fixed=$((few_bytes - few * each))
within "fixed part, bytes" $fixed $((512 << 10))
within "extrapolated to 8192 processes, bytes" $((fixed + 8192 * each)) $((16 << 20))
echo "memory_bytes: $few_bytes with $few processes, $many_bytes with $many"

# The slab holds what memory_bytes says: the records, not many times as much.
active=$(awk '$1 == "seep_rec" { print $3 * $4 }' /proc/slabinfo)
within "slab cache seep_rec, bytes" "$active" $((many_bytes * 5 / 4))

# The dead give it back, but for the pool.
disperse "$parent"
wait_for 10 shrunk $((few + 5))
sleep 1.2
within "memory_bytes when they have ended" "$(status .memory_bytes)" $((few_bytes + 128 * rec))

unload
assert_eq "$(seep_slabs)" 0 "slab caches after the unload"
left=$(comm -13 <(echo "$before") <(slabs))
assert_eq "$left" "" "slab caches that were not there before"
[[ ! $over ]] || die "over budget:$over"
