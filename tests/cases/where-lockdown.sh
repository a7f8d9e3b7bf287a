#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What seepage where does on a kernel that is locked down. The census reads another process, which
# no level refuses. Bursts and probes at call sites need uprobes of the module: the level
# confidentiality, which refuses kprobes, refuses them in one line, and the answer without a choice
# is that of the census, with a note. Samples of page faults have registers of user space only, which
# both levels allow. docs/kernels.md has the table.
# vm: --smp 2 --mem 1024 --lockdown confidentiality
# about: kmod/where ctl/where ctl/tools
# matrix: make lockdown runs it on both levels
# takes: 90
# timeout: 600
# only-amd64: the firmware that knows a key is that of x86
# no-built: kernels that the lab builds have no lockdown
. "$(dirname "$0")/where-lib.sh"
level=$(lockdown_level)
[[ $level != none ]] || die "the kernel is not locked down"
echo "lockdown=$level"
why="not permitted: the kernel is locked down (confidentiality)"

insmod "$where_ko"
echo "allowed: seepage_where.ko, signed with a key of the firmware"
target twin
untouched=$(code "$pid")
target leak

seepage -j where -s 5 --census "$pid" >census.json
assert_eq "$(field .allocator census.json)" glibc "allocator"
(($(field '.classes[0].growth_bytes' census.json) > 0)) || die "census: $(cat census.json)"
echo "allowed: --census, $(field '.classes[0].growth_blocks' census.json) new blocks in $(field .seconds census.json) s"

# --burst refuses before its first look, else names the site.
if [[ $level == confidentiality ]]; then
	! text=$(timeout 30 seepage where -s 3600 --burst "$pid" 2>&1) || die "--burst: allowed"
	assert_eq "$text" "seepage: where: --burst: $why" "--burst"
	echo "refused: --burst, '$text'"
else
	seepage -j where -s 8 --burst --again-after 5 "$pid" >burst.json
	assert_eq "$(field '.sites[0].stack | map(.symbol) | index("site_leak")' burst.json)" 1 "site_leak"
	echo "allowed: --burst, $(field .traps burst.json) traps, $(field .samples burst.json) samples"
fi
wait_for 5 clean "$pid"

seepage -j where -s 5 "$pid" >alone.json
notes=$(field '[.notes[] | select(startswith("sites: not known"))] | join("|")' alone.json)
if [[ $level == confidentiality ]]; then
	assert_eq "$(field .method alone.json)" census "method without a choice"
	assert_eq "$notes" "sites: not known: $why" "note"
	echo "refused: a burst without a choice, note '$notes'"
else
	assert_eq "$(field .method alone.json)" burst "method without a choice"
	assert_eq "$notes" "" "note"
	echo "allowed: a burst without a choice"
fi

seepage -j where -s 5 --faults "$pid" >faults.json || die "--faults: refused"
(($(field '.sites | length' faults.json) > 0)) || die "--faults: no stacks: $(cat faults.json)"
echo "allowed: --faults, $(field .samples faults.json) samples"
wait_for 5 clean "$pid"
rmmod seepage_where
