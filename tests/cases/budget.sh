#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The memory budgets of DESIGN.md and HOUSE.md for the module's code, the controller and a tracked
# process. Unloading the module frees all of its memory.
# vm: --smp 2 --mem 1024
# takes: 14
# timeout: 120
# no-debug: the checkers take memory in every object and function
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
n=600

status() { seepage -j status | field "$1"; }

grow() { (($(status .processes) >= $1)); }
shrunk() { (($(status .processes) <= $1)); }

# First without, then with what the kernel's configuration adds. Where its functions have
# padding before them and a table of their calls (CONFIG_CALL_PADDING, 6.2 and later)
# every module is a quarter larger and more. Where it checks the bounds of arrays
# (CONFIG_UBSAN_BOUNDS) that is code and data of the module. Instructions of arm64 all
# have four bytes, and each function signs its return address.
limit=$((96 << 10)) all=$((136 << 10))
if [[ $(readelf -sW "$SEEPAGE_KO") == *__ubsan_handle_* ]]; then
	limit=$((120 << 10))
	[[ $(uname -r) != 6.12.* ]] || limit=$((100 << 10))
fi
[[ $(readelf -h "$SEEPAGE_KO") != *AArch64* ]] || limit=$((108 << 10))
sections=$(readelf -SW "$SEEPAGE_KO")
[[ $sections != *" .call_sites "* ]] || all=$((200 << 10))
read -r core _ < <("$top/scripts/module-size" "$SEEPAGE_KO")
within "module, code + data, bytes" "$core" $limit
within "module, text + data, bytes" "$(text_data "$SEEPAGE_KO")" $all
controller=$(command -v seepage)
strip -o stripped "$controller"
controller_bytes=$(stat -c %s stripped)
# A static one, cross-built, holds the C library as well.
limit=$((108 << 10))
readelf -lW stripped >segments
static=''
grep -q INTERP segments || static=1 limit=$((2 << 20))
within "controller, stripped, bytes" "$controller_bytes" $limit
within "controller as installed, bytes" "$(stat -Lc %s "$controller")" $limit
for tool in "${controller%/*}"/tools/seepage-*; do
	[[ $tool == *.full ]] || echo "tool ${tool##*/}, bytes: $(stat -c %s "$tool")"
done

# The module with all options, without the tables that the kernel's configuration adds,
# each entry of which has a relocation. What an appliance installs is measured by
# tests/graft, against 300 KB.
strip --strip-unneeded -o module.ko "$SEEPAGE_KO"
echo "module with the kernel's tables, stripped, bytes: $(stat -c %s module.ko)"
pair=$(($("$top/scripts/module-size" --file "$SEEPAGE_KO") + controller_bytes))
limit=$((336 << 10))
[[ $sections != *" .call_sites "* ]] || limit=$((400 << 10))
if [[ $static ]]; then
	echo "module and controller: the C library is in the controller: no budget, bytes: $pair"
else
	within "module and controller, bytes" $pair $limit
fi

slabs() { awk 'NR > 2 { print $1 }' /proc/slabinfo | sort; }
seep_slabs() { grep -c '^seep' /proc/slabinfo || true; }
unload
assert_eq "$(seep_slabs)" 0 "slab caches before the load"
before=$(slabs)
load sample_interval_ms=500 suspect_interval_ms=300 max_cpu_permille=1000
sleep 1
rec=$(status .rec_bytes)
both() { seepage -j status | jq -r '"\(.processes) \(.memory_bytes)"'; }	# of one moment
few=$(both) || die "no status"
read -r few few_bytes <<<"$few"
assert_eq "$(seep_slabs)" 1 "slab caches of the module"
crowd $n
wait_for 10 grow $((few + n))
sleep 1
many=$(both) || die "no status"
read -r many many_bytes <<<"$many"

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
given_back() { (($(status .memory_bytes) <= few_bytes + 128 * rec)); }
wait_for 10 given_back
within "memory_bytes when they have ended" "$(status .memory_bytes)" $((few_bytes + 128 * rec))

unload
assert_eq "$(seep_slabs)" 0 "slab caches after the unload"
left=$(comm -13 <(echo "$before") <(slabs))
assert_eq "$left" "" "slab caches that were not there before"
[[ ! $over ]] || die "over budget:$over"
