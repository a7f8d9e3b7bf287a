#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `watch` prints every alert once and in order, or reports which ones were lost: across
# reloads of the module, SIGKILL of watch and an overrun, beside a second watch, and when
# it is started before the module. It ends like a filter when its reader goes away.
# vm: --smp 2 --mem 1024
# about: ctl kmod
# takes: 80
# timeout: 900
. "$(dirname "$0")/lib.sh"

# Processes with a far larger address space than memory have points in the
# policy classic: whether these suffice for an alert is moved for all at once.
calm=(policy=classic warmup_s=0 min_process_size_mb=0 alert_confidence=100
	alert_interval_s=0 alerts_per_minute=100000 max_cpu_permille=1000
	sample_interval_ms=100 suspect_interval_ms=100)
alarmed=("${calm[@]}" alert_confidence=20)

cat >crowd.py <<'END'
import mmap, os, signal, sys
os.setpgid(0, 0)
space = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
for i in range(int(sys.argv[1])):
    # a name of its own: all of one name are one subject, with one alert
    with open("/proc/self/comm", "w") as comm:
        comm.write("crowd%d" % i)
    if os.fork() == 0:
        signal.pause()
open("crowd.ready", "w")
signal.pause()
END

# What a watcher told, runs of numbers in a line each: "#2 1..40" are alerts of
# the second module it saw, "lost 7..9" is its own word. A number that comes
# twice or out of order begins a new line.
cat >story.py <<'END'
import json, sys
seen, runs = [], []
for line in sys.stdin:
    o = json.loads(line)
    if "lost" in o:
        runs.append(["lost", o["lost"]["from"], o["lost"]["to"]])
        continue
    if o["instance"] not in seen:
        seen.append(o["instance"])
    who = "#%d" % (seen.index(o["instance"]) + 1)
    if runs and runs[-1][0] == who and runs[-1][2] + 1 == o["seq"]:
        runs[-1][2] += 1
    else:
        runs.append([who, o["seq"], o["seq"]])
for r in runs:
    print("%s %d..%d" % tuple(r))
END
story() { cat "$@" | python3 story.py; }

# crowd N: this many of them and no more
crowd=
crowd() {
	[[ ! $crowd ]] || kill -KILL -- "-$crowd"
	rm -f crowd.ready
	people=$1
	python3 crowd.py "$people" &
	crowd=$!
	disown
	wait_for 120 test -e crowd.ready
}

newest() { seepage -j status | jq '.seq_last // 0'; }
ticks() { seepage -j status | jq .ticks; }
newest_at_least() { (($(newest) >= $1)); }
ticks_at_least() { (($(ticks) >= $1)); }

# After these no process is accused. The alert of a group may stand, and end at any later time.
quiet() {
	seepage set alert_confidence 100
	wait_for 120 ticks_at_least $(($(ticks) + 3))
}

# An alert of each, at least, and one of its end.
wave() {
	local before
	before=$(newest)
	seepage set alert_confidence 20
	wait_for 120 newest_at_least $((before + people))
	before=$(newest)
	seepage set alert_confidence 100
	wait_for 120 newest_at_least $((before + people))
}

mark() { jq -c '[.instance, .seq]' 2>/dev/null; }
# caught_up FILE: its last line is the newest alert
caught_up() {
	[[ $(tail -n 1 "$1" | mark) == "$(seepage -j status | jq -c '[.instance, .seq_last]')" ]]
}
# settled FILE: it has the newest alert, and while it was read for `told` no other came than `last`.
settled() {
	last=$(newest)
	caught_up "$1" && told=$(story "$1") && [[ $(newest) == "$last" ]]
}
# has_lines FILE N: who writes it may not have begun
has_lines() { [[ -e $1 ]] && (($(wc -l <"$1") >= $2)); }
ended() { ! kill -0 "$1" 2>/dev/null; }

# ends PID WHAT: with status 0, soon
ends() {
	local status=0
	wait_for 120 ended "$1"
	wait "$1" || status=$?
	assert_eq $status 0 "status of watch after $2"
}

# What was said on stderr, without the name.
said() { sed 's/^seepage: watch: //' "$1" | paste -sd ';'; }

# What a process was is found out after an alert, by the first watcher that asks.
as_it_was='del(.cgroup, .exe, .cmdline, .ppid, .parent)'
# What the ring holds was printed as it is there. A path is read when it is
# printed, the process may be gone since.
# Alerts that came after those of the file are left out.
same_as_ring() {
	cp "$1" so.far
	[[ ! $(tail -c 1 so.far) ]] || sed -i '$d' so.far	# not a whole line yet
	seepage -j alerts | jq -c "select(.seq <= $(tail -n 1 so.far | jq .seq))" >ring
	[[ -s ring ]] || die "$2: the ring is empty"
	jq -c "$as_it_was" ring >ring.plain
	jq -c "select(has(\"lost\") | not) | $as_it_was" so.far | tail -n "$(wc -l <ring)" >out.plain
	diff ring.plain out.plain >ring.diff || die "$2: the ring holds other than was printed: $(sed -n 2p ring.diff)"
}

echo "--- before the module"
unload
status=0
seepage watch >out 2>err || status=$?
assert_eq $status 1 "status of watch without a module"
assert_eq "$(<err)" "seepage: module not loaded (modprobe seepage)" "watch without a module"
[[ ! -s out ]] || die "watch without a module printed something"
crowd 20
seepage -j watch --wait --since 0 >w.out 2>w.err &
watch=$!
wait_for 120 has_lines w.err 1
insmod "$SEEPAGE_KO" "${alarmed[@]}"
wait_for 120 newest_at_least "$people"
quiet
wait_for 120 settled w.out
assert_eq "$told" "#1 1..$last" "watch --wait"
assert_eq "$(said w.err)" "module not loaded, waiting for it" "watch --wait, stderr"
same_as_ring w.out "watch --wait"
kill -TERM $watch
ends $watch "SIGTERM"

echo "--- reloads, two watchers"
load "${calm[@]}"
wave
for w in 1 2; do
	seepage -j watch --since 0 >r$w.out 2>r$w.err &
	watches[w]=$!
done
wait_for 120 has_lines r1.out "$people"
wait_for 120 has_lines r2.out "$people"
wave
quiet
# Those of each load that were counted before it ended. One that came later still is told too.
least=("$(newest)")
# Its alerts are said at once, before any watcher can be back.
for i in 2 3; do
	wait_for 120 rmmod seepage
	if [[ $i == 2 ]]; then
		wait_for 120 grep -q unloaded r1.err
		wait_for 120 grep -q unloaded r2.err
	fi
	insmod "$SEEPAGE_KO" "${alarmed[@]}"
	wait_for 120 newest_at_least "$people"
	quiet
	least+=("$(newest)")
done
for w in 1 2; do
	wait_for 120 settled r$w.out
	mapfile -t runs <<<"$told"
	assert_eq "${#runs[@]}" 3 "reloads, watcher $w: runs of numbers (${runs[*]})"
	for i in 1 2 3; do
		if [[ ${runs[i - 1]} != "#$i 1.."* ]] || ((${runs[i - 1]##*.} < least[i - 1])); then
			die "reloads, watcher $w: told ${runs[i - 1]}, wanted #$i 1..${least[i - 1]} at least"
		fi
	done
	assert_eq "${runs[2]}" "#3 1..$last" "reloads, watcher $w"
	# The second time it may be back before anybody missed it.
	assert_eq "$(said r$w.err | sed 's/\(reloaded;\)module unloaded, waiting for it;/\1/')" \
		"module unloaded, waiting for it;module reloaded;module reloaded" \
		"reloads, watcher $w, stderr"
	same_as_ring r$w.out "reloads, watcher $w"
done
# Unloaded while alerts come: what was said before is still waiting to be read.
seepage set alert_confidence 20
wait_for 120 newest_at_least "$(($(newest) + people))"
before=$(newest)
wait_for 120 rmmod seepage
sleep 1
insmod "$SEEPAGE_KO" "${alarmed[@]}"
wait_for 120 newest_at_least "$people"
quiet
for w in 1 2; do
	wait_for 120 settled r$w.out
	mapfile -t runs <<<"$told"
	assert_eq "${#runs[@]}" 4 "unloaded in a storm, watcher $w: runs of numbers (${runs[*]})"
	if [[ ${runs[2]} != '#3 1..'* ]] || ((${runs[2]##*.} < before)); then
		die "unloaded in a storm at $before, watcher $w: told ${runs[2]}"
	fi
	assert_eq "${runs[3]}" "#4 1..$last" "loaded after a storm, watcher $w"
	same_as_ring r$w.out "after a storm, watcher $w"
done
kill -INT "${watches[1]}"
ends "${watches[1]}" "SIGINT"
both=$(wc -l <r1.out)
wait_for 120 has_lines r2.out "$both"
kill -TERM "${watches[2]}"
ends "${watches[2]}" "SIGTERM"
# The second one was ended later.
cmp <(jq -c "$as_it_was" r1.out) <(head -n "$both" r2.out | jq -c "$as_it_was") ||
	die "two watchers saw different alerts"

echo "--- killed and resumed"
load "${calm[@]}"
crowd 10
# The ring keeps 256. A host that is slow to start the next watcher is not to lose any of them.
unread_below() { (($(newest) - $(cat k.all k.out 2>/dev/null | wc -l) < $1)); }
(
	until [[ -e enough ]]; do
		unread_below 150 || { sleep 0.2; continue; }
		seepage set alert_confidence 20
		sleep 0.3
		seepage set alert_confidence 100
		sleep 0.3
	done
) &
waves=$!
# Alerts that come after it joined and before it read the ring are in both. It sends no facts,
# each of which would be slow as well.
sleep 1
strace -o /dev/null -e trace=sendmsg -e inject=sendmsg:delay_enter=1000000 \
	seepage -j watch --no-cold --since 1 --count 250 --timeout 200 >k.out 2>k.err || die "watch, slowed: status $?"
mapfile -t runs < <(story k.out)
assert_eq "${runs[*]}" "#1 1..250" "joined while alerts came"
[[ ! -s k.err ]] || die "joined while alerts came: $(head -n 1 k.err)"
last=${runs[0]##*.}
cp k.out k.all
for ((i = 1; i <= $(some 6); i++)); do
	seepage -j watch --since $((last + 1)) >k.out 2>>k.err &
	watch=$!
	sleep 0.$((i % 3 + 4))
	wait_for 120 has_lines k.out 1
	kill -KILL $watch
	wait $watch 2>/dev/null || true
	# What is no line is none.
	[[ ! $(tail -c 1 k.out) ]] || sed -i '$d' k.out
	[[ ! -s k.out ]] || last=$(tail -n 1 k.out | jq .seq)
	cat k.out >>k.all
done
# Killed, it would leave a 'set' behind that begins the next wave after all is quiet.
touch enough
wait $waves
quiet
seepage -j watch --since $((last + 1)) >k.out 2>>k.err &
watch=$!
before=$(newest)
if ((before > last)); then
	wait_for 120 caught_up k.out
fi
kill -TERM $watch
ends $watch "SIGTERM"
cat k.out >>k.all
told=$(story k.all)
assert_eq "${told%..*}" "#1 1" "killed six times ($told)"
((${told##*.} >= before)) || die "killed six times: told $told of $before"
[[ ! -s k.err ]] || die "killed and resumed: $(head -n 1 k.err)"
same_as_ring k.all "killed and resumed"

echo "--- a reader that goes away"
mkfifo pipe
# An alert may still come, as one of the crowd recovers, and take the place of the oldest.
oldest=$(seepage -j status | jq .seq_first)
seepage -j watch --since 0 >pipe 2>err &
watch=$!
exec 3<pipe
read -r line <&3
first=$(jq .seq <<<"$line") after=$(seepage -j status | jq .seq_first)
((oldest <= first && first <= after)) ||
	die "first line through a pipe: got '$first', wanted the oldest that is held, '$oldest' to '$after'"
! ended $watch || die "watch ended although it has a reader"
exec 3<&-
ends $watch "its reader went away"
[[ ! -s err ]] || die "a reader that goes away: $(head -n 1 err)"
# No alert comes any more that it could notice it by.
load "${calm[@]}"
seepage -j watch >pipe 2>err &
watch=$!
exec 3<pipe
sleep 0.5
! ended $watch || die "watch without an alert ended although it has a reader"
exec 3<&-
ends $watch "its reader went away without an alert"
none='seepage: watch: no alert is held, waiting for the first'
assert_eq "$(<err)" "$none" "stderr where no alert is held"
seepage watch --since 99 --timeout 1 >out 2>err
assert_eq "$(<out)$(<err)" "seepage: watch: --since: '99': no alert is held, waiting for the first" \
	"stderr with --since where there was no alert"

echo "--- overrun"
# A third of what is usual up to 6.12, and soon full; newer kernels' would hold it all.
echo 65536 >/proc/sys/net/core/rmem_max
load "${calm[@]}"
crowd 100
seepage -j watch --since 0 >o.out 2>o.err &
watch=$!
wave
wait_for 120 caught_up o.out
kill -STOP $watch
for i in 1 2 3; do wave; done
quiet
kill -CONT $watch
wait_for 120 settled o.out
first=$(seepage -j status | jq .seq_first)
((last > 600)) || die "overrun: only $last alerts"
echo "$told" >runs
paste -sd ' ' runs
# Every number belongs to one run, each begins where the one before ended.
next=1 printed=0 lost=0 losses=
while IFS=' .' read -r what from to; do
	assert_eq "$from" $next "overrun: a run begins ($what $from..$to)"
	next=$((to + 1))
	if [[ $what == '#1' ]]; then
		printed=$((printed + to - from + 1))
		continue
	fi
	assert_eq "$what" lost "overrun: a run of"
	lost=$((lost + to - from + 1))
	losses+="${losses:+;}lost alerts $from..$to"
	((to < first)) || die "overrun: $to is said to be lost, the ring holds $first..$last"
done < <(tr -s . <runs)
assert_eq $((next - 1)) "$last" "overrun: the last number"
assert_eq $((printed + lost)) "$last" "overrun: printed and lost"
((lost > 0)) || die "overrun: nothing was lost, this tests nothing"
assert_eq "$(said o.err)" "$losses" "overrun, stderr"
same_as_ring o.out "overrun"
# And goes on.
wave
quiet
wait_for 120 settled o.out
assert_eq "${told##*.}" "$last" "after an overrun"
kill -INT $watch
ends $watch "SIGINT"
echo "printed $printed of $last, lost $lost"
