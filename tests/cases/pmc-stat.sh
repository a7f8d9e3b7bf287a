#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage stat on counters with known values. Each event advances by a multiple of the
# CPU clock, so the ratio of two events is known, independent of the processes that run
# and of multiplexing. Covers the system, a process, all processes, a command and its
# children; text, JSON and CSV; --record and --compare; and the reason that the module
# gives if there are no counters.
# vm: --smp 2 --mem 1024
# about: ctl/stat ctl/lib kmod
# matrix: unit/ctl covers the words of stat, pmc-exact its figures
# takes: 90
# timeout: 300
# kmod: fakepmu
# only-amd64: it has a PMU of its own
# shellcheck disable=SC2016 # what commands expand
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

# ---- without ----

load pmc=auto
for wrong in "" 1 --all "-- true"; do
	# shellcheck disable=SC2086 # words
	! seepage stat $wrong >out 2>err || die "stat $wrong without counters: status 0"
	grep -q '^seepage: stat: counters off: no hardware counters here' err ||
		die "stat $wrong without counters: $(cat err)"
done

# Nor is it silent where counters are asked for and there are none.
seepage set pmc on warmup_s 300 2>err
grep -q '^seepage: set: changed, but counters are off: no hardware counters here' err || die "set pmc on: $(cat err)"
seepage set pmc hold 2>err
assert_eq "$(cat err)" "" "set pmc hold"

# ---- with ----

fake_pmu counters=3
load pmc=auto sample_interval_ms=1000
# Work for a command and a child of it: a shell starts sooner than python.
loop='i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done'
export loop
perl -e 'while () {}' &
busy=$!
sleep 1

# hardware event N counts N + 1 in a clock's ns, cache event N likewise: see fakepmu.c
check() {
	local what=$1 file=$2
	near "$what: instructions per cycle" "$(field .metrics.instructions_per_cycle "$file")" 2
	near "$what: cycles in a second" "$(field \
		'.pmc.cycles | .count * 1e9 / .running_ns' "$file")" 1000000000
	assert_eq "$(field .pmc.page_walk_cycles "$file")" null "$what: page_walk_cycles"
	assert_eq "$(field .metrics.page_walk_percent "$file")" null "$what: page_walk_percent"
	assert_eq "$(field .metrics.remote_percent "$file")" null "$what: remote_percent"
	assert_eq "$(field .unavailable.page_walk_cycles "$file")" \
		"this processor has no event for it" "$what: why"
	field '.pmc.llc_misses | .running_ns > 0 and .running_ns < .enabled_ns * 0.95' "$file" >turns
	assert_eq "$(cat turns)" true "$what: llc_misses had a counter in part of the time"
}

seepage -j stat -i 2 --count 1 >whole.json
check "whole system" whole.json
seepage -j stat $busy -i 1 --count 2 >busy.json
assert_eq "$(jq -s length busy.json)" 2 "intervals of a process"
head -n 1 busy.json >one.json
check "a process" one.json
assert_eq "$(field .pid one.json) $(field .comm one.json)" "$busy perl" "who"
near "it ran all the time" "$(field '.pmc.cycles.enabled_ns / .elapsed_ns' one.json)" 1

seepage stat $busy >text
grep -q "^pid $busy (perl), 1\.[0-9]* s$" text || die "text: $(head -n 1 text)"
grep -qE '^ +[0-9,]+  llc_misses +\(counted [0-9.]+ % of the time, scaled\)$' text ||
	die "text: $(grep llc text)"
grep -qE '^ +-  page_walk_cycles +\(this processor has no event for it\)$' text ||
	die "text: $(grep page_walk text)"

seepage stat --all >all
grep -qE "^ *$busy +perl +[0-9]{9,} +(1\.9[0-9]|2\.0[0-9]) " all || die "all: $(cat all)"
seepage stat --all --csv >all.csv
python3 - $busy <<'END' || die "CSV: $(head -n 3 all.csv)"
import csv, sys, time
rows = list(csv.DictReader(open("all.csv")))
mine = [r for r in rows if r["pid"] == sys.argv[1]]
assert len(mine) == 1 and mine[0]["page_walk_cycles"] == "", mine
assert 1.9 < float(mine[0]["instructions_per_cycle"]) < 2.1, mine
assert abs(int(mine[0]["time_ns"]) / 1e9 - time.time()) < 60, mine
END

# A command: its status, its processes, and nothing of others.
status=0
seepage -j stat -o command.json --record base.stat --count 2 -- \
	sh -c 'sh -c "$loop"; /bin/true; exit 7' || status=$?
assert_eq $status 7 "status of the command"
assert_eq "$(jq -s 'map(.exit_status) | unique == [7]' command.json)" true "exit_status"
assert_eq "$(jq -s 'map(.processes) | unique == [3]' command.json)" true "its processes"
cmp command.json base.stat || die "what was recorded is not what was printed"
head -n 1 command.json >one.json
field '.pmc.cycles.enabled_ns < .elapsed_ns * 1.1' one.json >less
assert_eq "$(cat less)" true "a command does not run longer than it takes: $(cat one.json)"
near "a command: instructions per cycle" "$(field .metrics.instructions_per_cycle one.json)" 2
# The status of the first run that fails, whatever the others do.
status=0
seepage stat --count 3 -- sh -c '[ -e ran ] || { touch ran; exit 3; }' >out 2>err || status=$?
assert_eq $status 3 "status of a command that failed once"
grep -qE '^sh -c .*: 3 runs, [0-9.]+ s \+- [0-9.]+ s \([0-9.]+ %\), 1 of them failed$' err ||
	die "means of three runs: $(head -n 1 err)"
grep -qE '^ +[0-9,]+ +\+- [0-9,]+ +\([0-9.]+ %\)  cycles$' err || die "cycles of three runs: $(cat err)"
# What the command prints is left alone, as perf stat does.
for words in "" "--log-fd 2"; do
	# shellcheck disable=SC2086 # words
	seepage stat $words -- echo said >out 2>err
	assert_eq "$(cat out)" said "standard output of stat $words"
	grep -q '^echo said: 1 process, ' err || die "standard error of stat $words: $(cat err)"
done
# What programs read is on standard output.
seepage -j stat -- echo said >out
assert_eq "$(grep '^{' out | field .processes)" 1 "processes on standard output of -j stat"
seepage stat --csv -- echo said >out
grep -q '^pid,comm,' out || die "standard output of stat --csv: $(cat out)"
seepage stat -o - -- echo said >out
assert_eq "$(head -n 1 out)" said "standard output of stat -o -"
grep -q '^echo said: 1 process, ' out || die "standard output of stat -o -: $(cat out)"
seepage -j stat -o report.json --count 2 -- echo said >out
assert_eq "$(cat out)" $'said\nsaid' "standard output with -o"
assert_eq "$(jq -s 'map(.processes) | . == [1, 1]' report.json)" true "processes in the file of -o"
status=0
seepage -j stat -o ended.json --count 5 -- sleep 1000 &
stat=$!
wait_for 20 pgrep -P $stat
kill -TERM $stat
wait $stat || status=$?
assert_eq $status 143 "status of a command that SIGTERM ended"
assert_eq "$(field .processes ended.json)" 1 "processes of a command that SIGTERM ended"
! pgrep -P $stat || die "the command goes on"
# Who ends meanwhile does not take the others along.
# ends_after_one FILE OPERAND...: stat of a process that ends after its first interval.
ends_after_one() {
	local file=$1 stat
	shift
	sleep 1000 &
	short=$!
	seepage -j stat $short "$@" >"$file" 2>err &
	stat=$!
	wait_for 30 grep -q "\"pid\":$short\b" "$file"
	kill $short
	wait $stat || die "stat $*, of one that ended: $(cat err)"
	assert_eq "$(cat err)" "seepage: stat: pid $short has ended" "stat $*, of one that ended"
}
ends_after_one two.json $busy -i 2 --count 3
assert_eq "$(jq -s --argjson pid $busy 'map(select(.pid == $pid)) | length' two.json)" 3 "intervals of the other"
ends_after_one short.json -i 2 --count 100
assert_eq "$(jq -s length short.json)" 1 "intervals of the only one"
sleep 1 &
status=0
seepage stat --record short.json $! -i 2 >out 2>err || status=$?
assert_eq $status 1 "status of one that ended before anything was told"
# Events that change meanwhile are said.
(sleep 1; seepage set pmc off pmc_max_counters 3; seepage set pmc auto) &
! seepage stat -- sleep 3 >out 2>err || die "counters that were off meanwhile: status 0"
grep -q 'the list of events has changed meanwhile' err || die "counters that were off meanwhile: $(cat err)"
wait $!
seepage set pmc_max_counters 4
# So is time in which nothing counted: what is shown is less than what was done.
# The interval is long: on a busy machine each command takes seconds, and all is within the first.
seepage -j stat $busy -i $((12 * SEEPAGE_SLOW)) --count 2 >held.json 2>err &
stat=$!
sleep $((3 * SEEPAGE_SLOW))
seepage set pmc hold
sleep $((4 * SEEPAGE_SLOW))
seepage set pmc auto
wait $stat || die "held in an interval: $(cat err)"
mapfile -t said <err
grep -qE "^seepage: stat: only [1-7][0-9] % of the CPUs' time was counted: counters were held" <<<"${said[0]}" ||
	die "held in an interval: $(cat err)"
assert_eq "${said[*]:1}" "seepage: stat: all of the CPUs' time is counted again" "held no more"
assert_eq "$(jq -sc 'map(.cpu_time_counted_percent) | .[0] < 80, .[1] >= 95' held.json)" \
	$'true\ntrue' "cpu_time_counted_percent"
# A CPU without counters is said once.
echo 1 >/sys/module/fakepmu/parameters/lacking
seepage set pmc off
seepage set pmc auto
seepage stat -i 1 --count 3 >out 2>err
[[ $(<err) =~ ^"seepage: stat: only "[45][0-9]" % of the CPUs' time was counted:"[^$'\n']*"lack them"$ ]] ||
	die "a CPU without counters: $(cat err)"
echo 0 >/sys/module/fakepmu/parameters/lacking
# Events that none counts are said by who asks for them.
echo 0xffffffffffffffff >/sys/module/fakepmu/parameters/refused
echo '{"pmc_events": "mine=r0"}' >events.json
seepage apply events.json 2>err
grep -q '^seepage: apply: changed, but counters are off: ' err || die "apply of events that are refused: $(cat err)"
assert_eq "$(seepage -j get | field .pmc_events)" mine=r0 "a file that has only events"
echo 0 >/sys/module/fakepmu/parameters/refused
seepage set pmc_events "" 2>err
[[ ! -s err ]] || die "counters are back: $(cat err)"
status=0
seepage stat -- sh -c 'kill -9 $$' 2>killed || status=$?
assert_eq $status 137 "status of a killed command"
grep -q ', killed by signal 9$' killed || die "killed: $(head -n 1 killed)"
# Signals, stops and threads go their way though it is traced.
status=0
seepage stat -- bash -c 'trap "exit 5" USR1; (sleep 0.3; kill -STOP $$; sleep 0.3
	kill -CONT $$; kill -USR1 $$) & while :; do sleep 0.1; done' 2>stopped || status=$?
assert_eq $status 5 "status of a command that was stopped, continued and signalled"
seepage -j stat -o threads.json -- python3 -c 'import threading
for i in range(8): threading.Thread(target=sum, args=(range(10000),)).start()'
assert_eq "$(field .processes threads.json)" 1 "processes of one with threads"

# ---- recorded and compared ----

! seepage stat --record same.stat --count 2 -- sh -c 'sh -c "$loop"; /bin/true; exit 7' >out ||
	die "the same has status 0"
seepage stat --compare --max-time-increase 1000 base.stat same.stat >table ||
	die "the same is worse: $(cat table)"
# What fails sooner is not faster.
seepage stat --record fails.stat -- sh -c 'kill -SEGV $$' >out || true
for file in fails same; do
	jq -c '.exit_status = 0' same.stat >succeeds.stat
	status=0
	seepage stat --compare --max-time-increase 1000 succeeds.stat $file.stat >out 2>err || status=$?
	assert_eq $status 1 "status of a comparison with what $file"
	grep -qE "$file.stat: its command ended (with status 7|by a signal), that of succeeds.stat with status 0: not compared" err || die "compared with what $file: $(cat err)"
done
# A base is not lost to a word that is wrong.
cp same.stat kept.stat
status=0
seepage stat --record kept.stat -- ./no-such-program >out 2>err || status=$?
assert_eq $status 127 "status of a program that there is not"
cmp same.stat kept.stat || die "a command that there is not emptied the file"
status=0
seepage stat -- /etc/passwd >out 2>err || status=$?
assert_eq $status 126 "status of what is no program"
jq -c '.pmc.instructions.count |= (. * 0.8 | floor)' same.stat >worse.stat
status=0
seepage stat --compare --max-time-increase 1000 base.stat worse.stat >table || status=$?
((status == 3)) || {
	cat table base.stat worse.stat
	die "status of a comparison with a fifth less instructions: $status, not 3"
}
grep -qE '^instructions per cycle .* REGRESSED$' table || die "$(cat table)"

# ---- bad words ----

while read -r word message; do
	status=0
	# shellcheck disable=SC2086 # words
	seepage stat ${word//+/ } >out 2>err || status=$?
	assert_eq $status 2 "status of stat ${word//+/ }"
	grep -qF -- "$message" err || die "stat ${word//+/ }: $(cat err)"
done <<'END'
0 PID: '0': allowed 1..2147483647
-i+x --interval: 'x': allowed 1..86400
--count+0 --count: '0': allowed 1..10000
--all+1 '1': allowed PIDs or --all, not both
-- COMMAND is missing after --
--record+-+1 --record: '-': allowed the name of a file
1+--+true '1': allowed one of PIDs, --all, a COMMAND
--compare+base.stat --compare: 1 given: allowed two files, BASE CANDIDATE
make 'make': allowed the PID of a process, or a COMMAND after --
--compare+a+b+--csv --compare: allowed with --max-... only
--compare+a+b+--max-ipc-drop=-1 --max-ipc-drop: '-1': allowed 0..1000000
END
! seepage stat 999999 2>err || die "stat of nobody: status 0"
grep -q '^seepage: stat: pid 999999: no such process' err || die "stat of nobody: $(cat err)"
! seepage stat -- /nonexistent 2>err || die "stat of no command: status 0"
grep -q '^seepage: stat: /nonexistent: No such file or directory' err || die "$(cat err)"
kill $busy
cat table
