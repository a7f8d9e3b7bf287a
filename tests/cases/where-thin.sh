#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where --burst finds what is rare, what realloc() makes larger, and what a single large
# block hides; and of a cache that is full it says that the class does not grow.
#
#	rare	one call of a thousand leaks, the others are freed at once
#	grow	one block, by 1000 bytes at a time
#	block	as rare, and a block of 3 MiB is new between the looks
#	cache	each entry lives longer than all looks
#
# The traps stay below the limit, and they are spread over the time.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools
# takes: 90
# timeout: 600
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
insmod "$where_ko"

# ask FILE OPTION...: the answer about $pid, which ends
ask() {
	local file=$1
	shift
	seepage -j where --burst --again-after 2,4 "$@" "$pid" >"$file"
	jq -c '.traps, .samples, .notes' "$file"
	jq -c '.sites[] | [.class_bytes, .blocks, .samples, .survival_permille, .grows, [.stack[].symbol]]' "$file"
	kill -KILL "$pid"
}
first() { field '.sites[0].stack | map(.symbol) | .[:2] | join(" ")' "$1"; }

# On a debug kernel the program makes some 150 calls a second: one of them leaks in seven seconds.
target rare
ask rare.json -s $((${SEEPAGE_SLOW:-1} > 1 ? 150 : 10))
assert_eq "$(first rare.json)" "wrapped site_leak" "the first site, of a leak that is rare"
assert_eq "$(field '.sites | length' rare.json)" 1 "sites beside it"
(($(field .traps rare.json) <= 200000)) || die "too many traps"

target rare
ask few.json -s 6 --max-traps 2000
(($(field .traps few.json) <= 2200)) || die "--max-traps 2000: $(field .traps few.json)"
[[ $(field '.notes | join(" ")' few.json) =~ "in 10 rounds" ]] || die "not in ten rounds"

target grow
ask grow.json -s 6
[[ $(first grow.json) == "site_grow "* ]] || die "the first site is not site_grow: $(first grow.json)"
assert_eq "$(field '.sites[0] | [.blocks, .grows, .survival_permille] | join(" ")' grow.json)" \
	"1 true 1000" "blocks, grows, survival"

target block
sleep 3
ask block.json -s 8
[[ " $(field '[.sites[].stack[1].symbol] | join(" ")' block.json) " == *" site_leak "* ]] ||
	die "beside a new large block site_leak is not named"

target cache
ask cache.json -s 6 --class 200
assert_eq "$(field '.sites | length' cache.json)" 0 "sites of a full cache"
[[ $(field '.notes | join(" ")' cache.json) =~ "the class does not grow by a tenth" ]] ||
	die "nothing says that the class does not grow"
rmmod seepage_where
echo "rare: $(field .traps rare.json) traps, $(field '.sites[0].blocks' rare.json) blocks;" \
	"grow: by $(field '.sites[0].bytes' grow.json) bytes"
