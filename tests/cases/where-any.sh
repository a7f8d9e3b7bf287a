#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where names the site that leaks whatever allocates: glibc linked statically, musl,
# jemalloc, tcmalloc and mimalloc, and operator new of jemalloc. Beside it blocks of all sizes live
# for random times. The twins, which free what the site returns after a random time, name nobody;
# nor does one with a full cache, of entries that live for longer than all looks take. A static
# program without symbols is refused in one line.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools tests/prog
# matrix: 10 minutes in a VM, most of them between looks
# takes: 600
# timeout: 3600
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
insmod "$where_ko"
bin=$top/build/tests
libs=/usr/lib/x86_64-linux-gnu
status=0

# program PRELOAD WORD...: sets pid
program() {
	local preload=$1
	shift
	rm -f fifo
	mkfifo fifo
	LD_PRELOAD=${preload:+$libs/$preload} "$@" >fifo &
	exec {from}<fifo
	read -r _ pid <&"$from"
	exec {from}<&-
}

wrong() {
	echo "WRONG $*"
	status=1
}

# told FILE
told() {
	jq -c '[.allocator, .method, .growth_bytes_per_hour, .traps, .samples, .cost_permille]' "$1"
	jq -r '.notes[] | "  " + .' "$1"
	jq -c '.sites[] | [.class_bytes, .samples, .survival_permille, .bytes, [.stack[].symbol][:4]]' "$1"
}

# The names in stacks as people write them, without arguments, and without the version of a symbol
names='def name: (.demangled // .symbol // "?") | split("(")[0] | split("@")[0];'

# leak NAME ALLOCATOR SITE PRELOAD PROGRAM: the site is the caller of what calls malloc, or calls it.
leak() {
	local name=$1 allocator=$2 site=$3 at rate most
	program "$4" "$5" leak
	seepage -j where -s 6 --burst --again-after 5 "$pid" >"$name.json" || die "$name: status $?"
	kill -KILL "$pid"
	told "$name.json"
	assert_eq "$(field .allocator "$name.json")" "$allocator" "$name: allocator"
	assert_eq "$(field .method "$name.json")" burst "$name: method"
	at=$(field "$names .sites[0].stack // [] | map(name) | index(\"$site\") // \"no\"" "$name.json")
	[[ $at == [0-3] ]] || wrong "$name: $site is not in the first stack"
	(($(field '.sites[0].survival_permille // 0' "$name.json") >= 900)) || wrong "$name: survival"
	assert_eq "$(field "$names [.sites[].stack[] | name] | map(select(test(\"handle_request|begin_session\"))) | join(\" \")" \
		"$name.json")" "" "$name: what is freed is named"
	rate=$(field '([.sites[].bytes_per_hour] | add) // 0' "$name.json")
	# Where classes are counted the sites share the growth of theirs; another class may shrink.
	# shellcheck disable=SC2016 # $of and $class are of jq
	most=$(field '(.sites[0].class_bytes // 0) as $of
		| ([.classes[] | select(.size_bytes == $of) | .growth_bytes] | add) as $class
		| if $class then $class * 3600 / .seconds | floor else .growth_bytes_per_hour end' "$name.json")
	((rate <= most + 16)) || wrong "$name: sites grow by $rate an hour, and their class or the process by $most"
	echo "$name: $allocator, rank 1, $(field '.sites[0].survival_permille' "$name.json") permille stay"
}

# refused_or_right NAME SITE PRELOAD: for an allocator that takes memory in steps, which a short look
# cannot tell from growth that ends: another site may not be named, nor none without a reason.
refused_or_right() {
	local name=$1 site=$2 first
	program "$3" "$bin/anyleak" leak
	seepage -j where -s 6 --burst --again-after 30 "$pid" >"$name.json" || die "$name: status $?"
	kill -KILL "$pid"
	told "$name.json"
	assert_eq "$(field '[.allocator, .method] | join(" ")' "$name.json")" "$name burst" "$name"
	first=$(field "$names .sites[0].stack // [] | map(name)[:4] | join(\" \")" "$name.json")
	if [[ $first ]]; then
		[[ " $first " == *" $site "* ]] || wrong "$name: $first is named"
		echo "$name: named"
	else
		jq -e '.notes | any(test("^sites: none, because 1 site keeps its blocks, but the process is not known to grow"))' \
			"$name.json" >/dev/null || wrong "$name: no site, and no reason"
		echo "$name: refused, its growth is not known"
	fi
}

# twin NAME MODE PRELOAD PROGRAM
twin() {
	program "$3" "$4" "$2"
	seepage -j where -s 6 --burst --again-after 5 "$pid" >"$1-$2.json" || die "$1: status $?"
	kill -KILL "$pid"
	told "$1-$2.json"
	(($(field .samples "$1-$2.json") >= 100)) || wrong "$1 $2: too few samples"
	named=$(field "$names [.sites[].stack[0] | name] | join(\" \")" "$1-$2.json")
	[[ ! $named ]] || wrong "$1 $2: named: $named"
}

leak static "static glibc" keep_order "" "$bin/anyleak-static"
leak musl musl keep_order "" "$bin/anyleak-musl"
leak jemalloc jemalloc keep_order libjemalloc.so.2 "$bin/anyleak"
leak tcmalloc tcmalloc keep_order libtcmalloc_minimal.so.4 "$bin/anyleak"
refused_or_right mimalloc keep_order libmimalloc.so.2.0
leak new jemalloc keep_session libjemalloc.so.2 "$bin/anynew"
assert_eq "$(field '[.sites[0].stack // [] | .[] | select(.symbol == "_ZL12keep_sessionv") | .demangled] | join(" ")' new.json)" \
	"keep_session()" "names of C++"

for mode in twin cache; do
	twin static "$mode" "" "$bin/anyleak-static"
	twin musl "$mode" "" "$bin/anyleak-musl"
	twin jemalloc "$mode" libjemalloc.so.2 "$bin/anyleak"
	twin tcmalloc "$mode" libtcmalloc_minimal.so.4 "$bin/anyleak"
	twin mimalloc "$mode" libmimalloc.so.2.0 "$bin/anyleak"
done
twin new twin libjemalloc.so.2 "$bin/anynew"

# Without a choice, and of an object by name: libjemalloc is what allocates here, libc is not.
program libjemalloc.so.2 "$bin/anyleak" leak
seepage -j where -s 6 "$pid" >alone.json
told alone.json
assert_eq "$(field .method alone.json)" burst "method without a choice"
[[ $(field '[.sites[0].stack[].symbol] | join(" ")' alone.json) == *keep_order* ]] || wrong "without a choice"
seepage -j where -s 15 --burst --again-after 10 -O libjemalloc --class 120 "$pid" >object.json
told object.json
[[ $(field '[.sites[0].stack[].symbol] | join(" ")' object.json) == *keep_order* ]] || wrong "-O libjemalloc"
seepage -j where -s 2 --burst --again-after 1 --object libc "$pid" >libc.json
told libc.json
assert_eq "$(field '[.samples, (.sites | length)] | join(" ")' libc.json)" "0 0" "samples of libc's malloc"
! text=$(seepage where -s 60 --burst -O libm "$pid" 2>&1) || die "-O with a file that is not mapped"
[[ $text == "seepage: where: --object: 'libm': process $pid has mapped no such file"* ]] || die "$text"
kill -KILL "$pid"

# No symbols: refused at once with --burst, and a note without a choice
cp "$bin/anyleak-static" stripped
strip stripped
program "" ./stripped leak
! text=$(timeout 30 seepage where -s 3600 --burst "$pid" 2>&1) || die "a burst without symbols"
assert_eq "$(wc -l <<<"$text")" 1 "lines of the refusal"
[[ $text == "seepage: where: --burst: neither the program nor a library of it has a symbol malloc"* ]] || die "$text"
seepage where -s 2 "$pid" >text
grep -q "^note: sites: not known: neither the program" text || die "no note: $(cat text)"
kill -KILL "$pid"
rmmod seepage_where
exit $status
