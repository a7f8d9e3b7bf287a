#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a verdict reports about the growth: the kind of memory, the CPU time used, and
# whether other processes of the name grow too. Replay of the recording reports the same.
# vm: --warp --mem 2048
# about: ctl/series kmod/alert.c kmod/detect kmod/group.c kmod/read.c kmod/sample.c
# matrix: lifecycle and cold follow growth, this one names each kind of it
# takes: 130
# timeout: 3000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/replay-lib.sh"
grow=$top/build/tests/grow
scratch=$(mktemp -d)
declare -A pid

# As a program of that name: a group goes by its name.
start() {	# NAME KIND KB MS
	cp "$grow" "$scratch/$1"
	"$scratch/$1" "${@:2}" &
	pid[$1]=$!
}
factor() { seepage -j explain "$1" | jq -c "[.factors[] | select(.factor == \"$2\")][0]"; }
# It was looked at for so long that a pass more or less does not matter.
grown() { (($(factor "$1" work | field ".baseline // 0") >= $2)); }
text() { factor "$1" "$2" | field .text; }

load policy=ladder
seepage record --reset -o all.series 2>record.err &
recorder=$!
wait_for 30 test -s all.series
start by-brk heap 300 20
start by-mmap mmap 300 20
start by-threads stacks 600 5
start by-shmem shmem 300 20
# A table is for 2 MB of addresses; with 32 bits these come to an end before a verdict.
tables=by-tables
[[ $(getconf LONG_BIT) == 64 ]] || tables=''
[[ ! $tables ]] || start by-tables pgtables 300 2
# Of one name: two that grow, and one that does not.
cp "$grow" "$scratch/many"
for kind in mmap idle mmap; do
	"$scratch/many" $kind 300 5 &
	pid[many-$kind]=$!
done
wait_long 900 grown "${pid[by-brk]}" 8000

for one in by-brk by-mmap by-threads by-shmem $tables many-mmap; do
	echo "$one: $(text "${pid[$one]}" kind); $(text "${pid[$one]}" work)"
done
kind() { factor "${pid[$1]}" kind | field "$2"; }
assert_eq "$(kind by-brk .baseline)" 0 "brk"
assert_eq "$(kind by-mmap .baseline)" 1 "mmap"
assert_eq "$(kind by-threads .baseline)" 1 "threads"
assert_eq "$(kind by-shmem .baseline)" 2 "shmem"
[[ ! $tables ]] || assert_eq "$(kind by-tables .baseline)" 3 "page tables"
for one in by-brk by-mmap by-threads by-shmem $tables; do
	(($(kind "$one" .value) >= 900)) || die "$one: $(kind "$one" .)"
	assert_eq "$(kind "$one" '"\(.points) \(.max_points)"')" "0 0" "points of $one"
done
# 300 KB come with 20 ms, or a little more: 15 MB a second of CPU time at most.
work=$(factor "${pid[by-brk]}" work)
(($(field .value <<<"$work") > 5000000 && $(field .value <<<"$work") < 15400000)) ||
	die "work of by-brk: $work"
# What the kernel counted, against what it says of the process in /proc (100 a second).
read -r -a stat <"/proc/${pid[by-brk]}/stat"
all=$(((stat[13] + stat[14]) * 10))
(($(field .baseline <<<"$work") <= all + 20 && $(field .baseline <<<"$work") * 2 > all)) ||
	die "CPU time of by-brk: $work, /proc has $all ms"
text "${pid[many-mmap]}" pop
assert_eq "$(factor "${pid[many-mmap]}" pop | field '"\(.value) \(.baseline)"')" "1 2" "others that grow"
assert_eq "$(factor "${pid[by-brk]}" pop)" null "others of one that is alone"
# A user is told of his process, and nothing of others.
chmod 755 "$scratch"
for one in 1 2; do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/many" mmap 1000 2 &
	pid[own-$one]=$!
done
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		seepage -j explain "${pid[own-1]}" | jq -c "[.factors[] | select(.factor == \"$1\")][0]"
}
user_told() { [[ $(as_user kind) != null ]]; }
wait_long 300 user_told
assert_eq "$(as_user pop)" null "what a user is told of others"
[[ $(factor "${pid[own-1]}" pop) != null ]] || die "root is not told of others of $(seepage -j explain "${pid[own-1]}")"
seepage explain "${pid[by-brk]}" >explained
grep -E '^  - +kind .* is its heap \(brk\)$' explained || die "explain: $(cat explained)"

# A thread that ends leaves its time to the others.
kill -KILL "${pid[@]}"
wait "${pid[@]}" 2>/dev/null || true
sleep 20
kill -INT $recorder
wait $recorder || die "record: $(cat record.err)"
grep -q ' u+' all.series || die "no CPU time in the series"
replayed all
# The alerts of both, with all their factors. Replay does not merge two that grow into one.
wanted='select(.state == "suspected" and .comm != "many") | [.pid, .comm, (.factors | map([.factor, .points, .value, .baseline]))]'
seepage -j alerts | jq -c "$wanted" | sort >told
jq -c "$wanted" all.json | sort >replayed.told
[[ -s told ]] || die "nobody was told of"
cmp told replayed.told || die "$(diff told replayed.told | head -n 4)"
echo "$(wc -l <told) alerts with the same factors, e.g. $(head -n 1 told)"
unload
