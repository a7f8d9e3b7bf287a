#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The owner of an mm: pid, comm and uid of a record are right if a thread of another
# process faults in the mm, if owner, name or user change, and if the reader is in
# another pid namespace.
# vm: --smp 2 --mem 1024
# about: ctl/lib kmod
# takes: 24
# timeout: 120
. "$(dirname "$0")/lib.sh"
owner=$top/build/tests/owner
trace=/sys/kernel/tracing
# A kernel that keeps its secrets has no tracefs: there the steps that ask the event
# seepage_birth by whom a record was made cannot ask.
traced=1
[[ $(lockdown_level) != confidentiality ]] || traced=''

status() { seepage -j status | field "$1"; }
faults() { seepage -j show "$1" | field '.faults_user + .faults_kernel'; }
who() { seepage -j show "$1" | field '"\(.pid) \(.comm) \(.uid)"'; }
is() { [[ $(who "$1") == "$2" ]]; }
alive() { kill -0 "$1" 2>/dev/null; }
gone() { ! kill -0 "$1" 2>/dev/null; }
shown() { seepage -j show "$1" >/dev/null 2>&1; }
# The table is full, without a program that would leave a place when it ends.
full() {
	local name n
	while read -r name n; do
		[[ $name != table_full || $n == 0 ]] || return 0
	done </sys/kernel/debug/seepage/counters
	return 1
}

# start COMMAND...: a process that is told what to do. ask: the next step.
start() {
	rm -f in out
	mkfifo in out
	"$@" <in >out &
	pid=$!
	exec 7>in 8<out
	hear ready
}

hear() {
	local line
	read -r -t $((20 * patience)) line <&8 || die "no answer from $pid"
	answer=$line
	[[ ${1-} == "" || $line == "$1" ]] || die "$pid said '$line', not '${1-}'"
}

ask() {
	echo >&7
	hear "$@"
}

stop() {
	exec 7>&- 8<&-
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

# 1. A vfork child takes the first fault of a memory that has no record: with
# the table full at first, and no tick between room and fault.
unload
crowd 20
insmod "$SEEPAGE_KO" max_processes=16 sample_interval_ms=3600000
sleep 0.5
[[ ! $traced ]] || wait_for 10 full
start "$owner" vfork
! seepage -j show $pid >/dev/null 2>&1 || die "vfork: the parent has a record already"
disperse "$parent"
seepage set max_processes 8192
sleep 0.3
[[ ! $traced ]] || echo 1 >$trace/events/seepage/seepage_birth/enable
ask
child=$answer
if [[ $traced ]]; then
	birth=$(grep "seepage_birth:.* pid=$pid " $trace/trace | sed 's/^ *//' || true)
	echo 0 >$trace/events/seepage/seepage_birth/enable
	[[ $birth == the-child-$child\ * ]] || die "vfork: record not made by the child's fault: '$birth'"
fi
assert_eq "$(who $pid)" "$pid owner 0" "vfork: the parent"
n=$(faults $pid)
((n >= 200 && n < 260)) || die "vfork: $n faults, 200 were taken"
# The child by its own pid: not a second record.
assert_eq "$(seepage -j ps | jq "[.[] | select(.pid == $child)] | length")" 0 "vfork: the child in ps"
ask touched
n=$(($(faults $pid) - n))
((n >= 200 && n < 210)) || die "vfork: $n more faults, 200 were taken"
ask "parent again"
assert_eq "$(who $pid)" "$pid owner 0" "vfork: the parent, the child has ended"
stop
echo "vfork: first fault by child $child, record of $pid owner"

load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000

# 2. Two processes share a memory, the first one ends.
start "$owner" clonevm
assert_eq "$(who $pid)" "$pid owner 0" "clonevm: the first"
first=$(faults $pid)
ask
survivor=$answer
wait_for 5 gone $pid
wait_for 10 is "$survivor" "$survivor survivor 0"
! seepage -j show $pid >/dev/null 2>&1 || die "clonevm: pid $pid has ended and is shown"
before=$(faults "$survivor")
((before >= first)) || die "clonevm: $before faults, the first alone had $first"
ask touched
n=$(($(faults "$survivor") - before))
((n >= 300 && n < 310)) || die "clonevm: $n more faults, 300 were taken"
first=$pid pid=$survivor
stop
echo "clone(CLONE_VM): $first had ended, its $before faults and 300 more are those of $survivor survivor"

# The same, but the parent never asks for the end of the first: it stays as a
# zombie, which owns nothing.
start perl -e 'exec @ARGV if !fork; sleep' "$owner" clonevm
parent=$pid
zombie=$(pgrep -P $parent)
ask
survivor=$answer
wait_for 5 grep -q '^State:.Z' "/proc/$zombie/status"
told=$(seepage -j ps | jq -c --argjson z "$zombie" --argjson s "$survivor" \
	'[.[].pid | select(. == $z or . == $s)]')
assert_eq "$told" "[$survivor]" "clonevm of a zombie: told of $zombie and $survivor"
assert_eq "$(who "$survivor")" "$survivor survivor 0" "clonevm: the survivor of a zombie"
kill "$survivor"
pid=$parent
stop
echo "clone(CLONE_VM): $survivor, the survivor of zombie $zombie, is told, and $zombie is not"

# The first executes for somebody else before anybody has looked: what the other
# one's memory is like is not told to the user whom the first now belongs to.
load sample_interval_ms=3600000
start "$owner" leaves
other=$(pgrep -P $pid -x stays)
! said=$(setpriv --reuid 1234 --regid 1234 --clear-groups seepage -j show "$other" 2>&1) ||
	die "leaves: user 1234 is told of process $other of root: $said"
[[ $said == *"not your process"* ]] || die "leaves: user 1234, asking for $other: $said"
setpriv --reuid 1234 --regid 1234 --clear-groups seepage -j show $pid >/dev/null ||
	die "leaves: user 1234 is not told of process $pid"
assert_eq "$(who "$other")" "$other stays 0" "leaves: the one that stays"
assert_eq "$(who $pid)" "$pid sh 1234" "leaves: the one that left"
kill "$other"
stop
echo "clone(CLONE_VM): $other stays with root, and $pid, which left, is shown to its user alone"
load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000

# 3. The first thread ends, another one goes on; also with a load after that.
start "$owner" leader
wait_for 5 grep -q '^State:.Z' /proc/$pid/status
sleep 0.5
assert_eq "$(who $pid)" "$pid owner 0" "leader: the process"
before=$(faults $pid)
ask touched
n=$(($(faults $pid) - before))
((n >= 250 && n < 260)) || die "leader: $n more faults, 250 were taken"
load sample_interval_ms=3600000
wait_for 10 shown $pid
assert_eq "$(who $pid)" "$pid owner 0" "leader: the process, loaded after its first thread ended"
before=$(faults $pid)
ask touched
n=$(($(faults $pid) - before))
((n >= 250 && n < 260)) || die "leader: $n faults, 250 were taken after the load"
rss=$(seepage -j show $pid | field .anon_bytes)
# up to 6.1 a thread may keep up to 64 pages to itself for a while
((rss >= (500 - 128) * 4096)) || die "leader: $rss bytes of anonymous memory, 500 pages were touched"
stop
echo "pthread_exit in main: $pid owner, 250 + 250 faults after its first thread had ended"

# A debug kernel looks for memories that are used too long. In make test the rest, about names,
# is left to make debug-kernels.
[[ ! ${SEEPAGE_SHORT:-} || ${SEEPAGE_SLOW:-1} -lt 5 ]] || exit 0
load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000

# 4. The user changes. UID is the real one.
by_uid() { seepage -j ps --uid "$1" | jq "[.[] | select(.pid == $pid)] | length"; }
start "$owner" setuid
assert_eq "$(who $pid)" "$pid owner 0" "setuid: before"
ask effective
assert_eq "$(who $pid)" "$pid owner 0" "setuid: effective uid only"
ask real
assert_eq "$(who $pid)" "$pid owner 1234" "setuid: after"
assert_eq "$(by_uid 1234) $(by_uid 0)" "1 0" "setuid: found by --uid 1234 and --uid 0"
stop
echo "setuid: uid 0, then 1234"

# 5. The name changes.
start "$owner" comm
assert_eq "$(who $pid)" "$pid owner 0" "comm: before"
ask renamed
assert_eq "$(who $pid)" "$pid another name 0" "comm: after"
assert_eq "$(seepage -j ps --comm 'another name' | jq '.[].pid')" "$pid" "comm: ps --comm"
assert_eq "$(seepage -j ps --comm owner | jq length)" 0 "comm: ps --comm with the old name"
ask odd
got=$(seepage -j show $pid | jq -c .comm) || die "comm: odd name: the JSON is broken"
[[ $got == '"\"\\\n\t{\u0001'* ]] || die "comm: odd name: shown as $got"
assert_eq "$(seepage ps | grep -c "^ *$pid ")" 1 "comm: odd name: lines of seepage ps"
assert_eq "$(awk -v p=$pid '$1 == p' /sys/kernel/debug/seepage/processes | wc -l)" 1 \
	"comm: odd name: lines of debugfs"
stop
echo "comm: another name at once, and a name of odd bytes as $got"

# 6. A fork: the record is there before the child has run, made by its parent. Else the
# heir of a process that forks and ends at once could be missed.
if [[ $traced ]]; then
	echo 1 >$trace/events/seepage/seepage_birth/enable
	read -r parent child < <(perl -e '$0 = "the-parent"; $p = fork; exit if !$p; print "$$ $p\n"; wait')
	birth=$(grep "seepage_birth:.* pid=$child " $trace/trace | sed 's/^ *//' || true)
	echo 0 >$trace/events/seepage/seepage_birth/enable
	[[ ${birth%% *} == *-$parent ]] || die "fork: record not made by the parent $parent: '$birth'"
	echo "fork: the record of $child was made by its parent $parent"
else
	echo "fork: not asked, as lockdown=confidentiality takes tracefs away"
fi

# 7. A pid namespace: inside, its own pids and nobody else's.
start unshare -pf --mount-proc --kill-child "$owner" init
has_inner() {
	outer=$(pgrep -x owner -P $pid) && inner=$(pgrep -P "$outer") &&
		[[ $(<"/proc/$inner/comm") == "inner child" ]]
}
wait_for 10 has_inner
assert_eq "$(who "$outer")" "$outer owner 0" "pid namespace: its init, from outside"
assert_eq "$(who "$inner")" "$inner inner child 0" "pid namespace: its child, from outside"
inside() { nsenter -t "$outer" -p -m -- "$@"; }
assert_eq "$(inside seepage -j show 1 | field '"\(.pid) \(.comm) \(.exe)"')" "1 owner $owner" \
	"pid namespace: its init, from inside"
assert_eq "$(inside seepage -j show 2 | field '"\(.pid) \(.comm)"')" "2 inner child" \
	"pid namespace: its child, from inside"
inside_pids=$(inside seepage -j ps | jq -c '[.[] | select(.comm != "seepage" and .comm != "nsenter") | .pid] | sort')
assert_eq "$inside_pids" "[1,2]" "pid namespace: ps from inside"
! inside seepage -j show "$outer" >/dev/null 2>&1 || die "pid namespace: outer pid $outer is shown inside"
echo "pid namespace: $outer and $inner outside are $inside_pids inside"
stop
