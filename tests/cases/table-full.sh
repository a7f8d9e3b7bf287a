#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# More processes than max_processes. Those without a record are counted and reported, cost
# little, and get a record when others exit or the limit is raised.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 36
# timeout: 180
. "$(dirname "$0")/lib.sh"
idle=$top/build/tests/idle
bench=$top/build/tests/faultbench

status() { seepage -j status | field "$1"; }
tracked() { seepage -j ps --comm idle | jq length; }
tracked_are() { (($(tracked) == $1)); }
records_are() { (($(status .processes) == $1)); }
full() { (($(status .counters.table_full) > 0)); }
cost() { "$bench" 4000 9; }
# is_fast WITHOUT A B: nanoseconds, of a fault without a record and of two that are fast
is_fast() {
	awk -v c="$1" -v a="$2" -v b="$3" -v slow="${SEEPAGE_SLOW:-1}" \
		'BEGIN { exit !(c < 1.5 * (a > b ? a : b) + 500 || slow > 1) }'
}
mkfifo never
exec 9<>never
pause() { read -r -t 1 -u 9 || true; }	# and nobody dies
# come: a program that then sleeps; sets comer. Nobody else comes, and nobody dies.
mkfifo came
come() {
	perl -e '$| = 1; print "here\n"; sleep' >came &
	comer=$!
	read -r -t $((30 * patience)) _ <came || die "no answer from perl"
	pause
}

unload
bare=$(cost)
crowd 60

load max_processes=16 sample_interval_ms=500 suspect_interval_ms=300 max_cpu_permille=1000
wait_for 10 full
# What has died keeps its place until the next tick.
listed_are() { (($(seepage -j ps | jq length) == $1)); }
wait_for 10 records_are 16
wait_for 10 listed_are 16
assert_eq "$(status '.max_processes')" 16 "max_processes"
grep -qE '^processes: +16 of at most 16$' <(seepage status) || die "seepage status does not show it"
grep -qE '^ *table_full +[1-9]' <(seepage status) || die "seepage status does not show table_full"
grep -qE '^table_full +[1-9]' /sys/kernel/debug/seepage/counters || die "debugfs does not show table_full"
echo "16 records, $(tracked) of them of the 61 idle processes," \
	"table_full $(status .counters.table_full)"

# A process without a record takes the slow path at every fault.
load max_processes=16 sample_interval_ms=3600000
wait_for 10 full
sleep 0.3
table_full=$(status .counters.table_full) untracked=$(status .counters.faults_untracked)
# What has ended leaves room; these take it. No program may end before the faults,
# as one would in crowd.
mkfifo others.fifo
"$idle" 20 >others.fifo &
others=$!
mapfile -t -n 20 _ <others.fifo
pause
# What else the machine does slows it for seconds; a slow path that is slow does every time.
for ((try = 1; try <= 5; try++)); do
	without=$(cost)
	! is_fast "$without" "$bare" "$bare" || break
	pause
done
disperse $others
seen=$(($(status .counters.faults_untracked) - untracked))
((seen >= 36000)) || die "$seen faults counted as untracked, 36000 were taken"
refused=$(($(status .counters.table_full) - table_full))
((refused >= 36000)) || die "table_full rose by $refused for 36000 faults"
assert_eq "$(status .counters.pool_empty)" 0 "pool_empty"
load sample_interval_ms=3600000
with=$(cost)
# A time: what else the machine does may slow each of them, so the slower of the two that
# are known to be fast is what it is compared with; bench counts instructions. On a debug
# kernel the time is that of its checkers: shown, not judged.
printf 'ns a fault (noisy clock): %.0f bare, %.0f with a record, %.0f without one\n' \
	"$bare" "$with" "$without"
is_fast "$without" "$bare" "$with" || die "a fault without a record costs too much"

# Some end, others take their place.
load max_processes=16 sample_interval_ms=300 suspect_interval_ms=300 max_cpu_permille=1000
wait_for 10 full
sleep 0.5
before=$(tracked)
((before > 4)) || die "only $before idle processes in the table"
mapfile -t first < <(seepage -j ps --comm idle | jq ".[].pid | select(. != $parent)" | head -n 5)
assert_eq ${#first[@]} 5 "idle processes to kill"
kill -KILL "${first[@]}"
sleep 1.3
# Each program that looks dies as well, and leaves room until the next tick.
wait_for 5 records_are 16
for pid in "${first[@]}"; do
	! seepage -j show "$pid" >/dev/null 2>&1 || die "pid $pid is dead and shown"
done
refilled() { ((before - $(tracked) <= 2)); }
wait_for 5 refilled
echo "five of $before ended, $(tracked) idle processes are in the table afterwards"

shown() { seepage -j show "$1" >/dev/null 2>&1; }

# With no tick for an hour: the dead do not keep out processes that come after them. Burials are
# bounded by max_cpu_permille: one that took 11 ms, as on a debug kernel, is followed by two seconds
# without one at the default of 5.
load max_processes=16 sample_interval_ms=3600000 max_cpu_permille=1000
wait_for 10 full
mapfile -t first < <(seepage -j ps --comm idle | jq ".[].pid | select(. != $parent)" | head -n 3)
kill -KILL "${first[@]}"
sleep 1
come
shown $comer || die "pid $comer has no record, though three have ended"
kill $comer
# One place: the fork takes it, and leaves it to the program by its exec.
load max_processes=16 sample_interval_ms=3600000 max_cpu_permille=1000
wait_for 10 full
mapfile -t first < <(seepage -j ps --comm idle | jq ".[].pid | select(. != $parent)" | head -n 1)
kill -KILL "${first[@]}"
pause
come
shown $comer || die "pid $comer has no record, though it left one by its exec"
kill $comer
load max_processes=16 sample_interval_ms=300 suspect_interval_ms=300 max_cpu_permille=1000
wait_for 10 full

# More room: all of them, at the next tick.
seepage set max_processes 8192
wait_for 5 tracked_are 52
table_full=$(status .counters.table_full)
"$idle" 3 >/dev/null &
wait_for 10 tracked_are 56
assert_eq "$(status .counters.table_full)" "$table_full" "table_full, with room"
echo "max_processes raised: all $(tracked) are in the table"

# And less room than there are: nobody is thrown out, nobody comes in.
seepage set max_processes 16
"$idle" 3 >late &
wait_for 10 test -s late	# they have started
sleep 1
(($(status .counters.table_full) > table_full)) || die "table_full, limit lowered: not counted"
assert_eq "$(tracked)" 56 "idle processes, max_processes lowered"

# The dead wait while there is room. When a mm then finds none, they make some at
# once: also if nobody dies after that, as nobody does in a pause. How many wait
# at that moment depends on how many died and how many came and went; make test has the
# first three of the six.
deaths=(4 5)
[[ ! ${SEEPAGE_SHORT:-} ]] || deaths=(4)
for killed in "${deaths[@]}"; do
	for passing in 1 2 3; do
		load max_processes=16 sample_interval_ms=3600000 max_cpu_permille=1000
		wait_for 10 full
		mapfile -t first < <(seepage -j ps --comm idle |
			jq ".[].pid | select(. != $parent)" | head -n "$killed")
		kill -KILL "${first[@]}"
		pause
		for ((i = 0; i < passing; i++)); do /bin/true; done
		come
		shown $comer || die "$killed killed, $passing passing: who comes after them has no record"
		kill $comer
	done
done
echo "after the dead, whoever comes has a record"
