#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# selftest finds its leak and leaves its look-alike alone, twice, as root in a cgroup and as a
# user without one. It fails where no verdict can come. Stopped or killed, it leaves no process,
# and the cgroup of one that was killed is gone after the next run. Settings stay as they were.
# vm: --warp --mem 2048
# takes: 60
# matrix: it takes minutes; make demo judges a leak and harmless programs in the same way
# about: ctl kmod
# timeout: 1800
. "$(dirname "$0")/lib.sh"
cg=/sys/fs/cgroup
grep -qw memory $cg/cgroup.controllers || skip "no memory controller in the unified hierarchy"
echo +memory >$cg/cgroup.subtree_control

# run STATUS WORD...: its status, output in files out and err
run() {
	local status=0
	"${@:2}" >out 2>err || status=$?
	cat out err
	assert_eq $status "$1" "status of ${*:2}"
}
left() { pgrep -f '^selftest-|seepage-selftest' || true; }
cgroups() { find $cg -maxdepth 1 -name 'seepage-selftest*'; }
clean() {
	assert_eq "$(left)" "" "processes left"
	assert_eq "$(cgroups)" "" "cgroups left"
}

# shellcheck disable=SC2119 # no parameters
load_plain() { load; }
unload
run 77 seepage selftest
grep -q 'module not loaded' err || die "no reason"
clean

load_plain
seepage get >before
run 0 seepage selftest
grep -qE '^leak \(pid [0-9]+\): (suspected|confirmed|runaway) after [0-9]+ s$' out || die "leak"
grep -qE '^look-alike \(pid [0-9]+\): not accused in [0-9]+ s$' out || die "look-alike"
assert_eq "$(tail -n 1 out)" "both verdicts are right" "the last line"
assert_eq "$(cat err)" "" "notes"
clean
# Its alerts are to be recognised, after its death as well.
seepage -j alerts >ring
assert_eq "$(jq -rs '[.[].comm] | unique | join(" ")' ring)" selftest-leak "accused"

# Once more: what the module knows of the first run does not mislead it.
run 0 seepage -j selftest
assert_eq "$(field .right out)" true right
assert_eq "$(jq -c '[.programs[] | [.program, .right]]' out)" '[["leak",true],["look-alike",true]]' programs
jq -e '.programs[0].accused_seconds < 175 and .programs[1].accused_seconds == null' out >/dev/null || die "times"
clean

# As a user: no cgroup, the same verdicts.
run 0 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all seepage selftest
grep -q 'RLIMIT_DATA alone bounds' err || die "no note"
clean
seepage get >after
cmp before after || die "settings changed"

# Stopped by a signal.
both_run() { [[ $(cgroups) && $(wc -l <"$(cgroups)"/cgroup.procs) == 2 ]]; }
for signal in INT TERM; do
	seepage selftest >out 2>err &
	pid=$!
	wait_for 20 both_run
	[[ $(cgroups) == *"seepage-selftest-$pid" ]] || die "no cgroup: $(cgroups)"
	assert_eq "$(<"$(cgroups)"/memory.max)" 335544320 memory.max
	assert_eq "$(wc -l <"$(cgroups)"/cgroup.procs)" 2 "processes in it"
	kill -$signal $pid
	status=0
	wait $pid || status=$?
	assert_eq $status 1 "status after SIG$signal"
	grep -q 'stopped by a signal' err || die "no word of the signal"
	clean
done

# Killed: the kernel ends the programs, the next run removes the cgroup.
seepage selftest >out 2>err &
pid=$!
wait_for 20 both_run
kill -KILL $pid
wait $pid || true
gone() { [[ ! $(left) ]]; }
wait_for 20 gone
[[ $(cgroups) ]] || die "no cgroup was left to be removed"

# A program that is killed from outside: no verdict, and the detector is not blamed.
seepage selftest >out 2>err &
pid=$!
wait_for 20 both_run
pkill -KILL -x selftest-leak
status=0
wait $pid || status=$?
cat out err
assert_eq $status 77 "status after the leak was killed"
grep -qE 'the leak \(pid [0-9]+\) has been killed by signal 9 after [0-9]+ s; no verdict' err || die "no word of its end"
clean

# Where it cannot come to a verdict it says so, with the gate that was closed.
seepage set min_process_size_mb 1000
run 1 seepage selftest --timeout 100
grep -q 'leak.*not accused in .*, which is wrong: .*size: ' out || die "reason"
clean
