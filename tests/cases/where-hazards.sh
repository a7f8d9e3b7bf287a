#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage_where and its tool where things go wrong: bursts begin and end, by all ways there are,
# while the process forks, its children execute programs and exit, and it loads libraries. The
# tool is killed in any phase. rmmod is tried in the middle. The process ends, executes another
# program, also a setuid one, is killed because its cgroup is out of memory, is traced, is a 32-bit
# one, is another user's, or has mount and pid namespaces of its own, in which its file is
# hidden. The tool is in a time namespace. Nobody is left with a breakpoint.
# SEEPAGE_BURSTS: number of bursts (1000).
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools
# matrix: where-burst begins and ends bursts, this case in all ways that go wrong
# takes: 100
# timeout: 900
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
bursts=$top/build/tests/bursts
insmod "$where_ko"

finished() { ! [[ -e /proc/$1 ]]; }
# executed PID NAME: it is that program, or this kernel cannot execute it, and it has ended
executed() { [[ ! -e /proc/$1/exe || $(readlink "/proc/$1/exe") == */$2 ]]; }
# opened TOOL PID: it has that directory of /proc open
opened() { [[ $(readlink "/proc/$1/fd/"*) == *"/proc/$2"* ]]; }
free() { "$bursts" "$1" 1 1 >/dev/null; }

# Ten thousand for a long run; each is a few milliseconds
n=${SEEPAGE_BURSTS:-$(some 1000)}
target twin
calm=$pid untouched=$(code "$pid")
target storm
clean "$pid" || die "two processes have other code at malloc()"
"$bursts" "$pid" "$n" 20
clean "$pid" || die "a breakpoint is left after $n bursts"
clean "$calm" || die "another process has a breakpoint"

# rmmod in the middle of bursts: refused while a file is open, and right after its close
"$bursts" "$pid" cost 60000 >traps &
tool=$!
wait_for 5 touched "$pid"
! rmmod seepage_where 2>/dev/null || die "rmmod in the middle of a burst"
kill -KILL $tool
wait $tool || true
wait_for 5 rmmod seepage_where
clean "$pid" || die "a breakpoint is left after rmmod"
for ((i = 0; i < 10; i++)); do
	insmod "$where_ko"
	"$bursts" "$pid" 100 10 $i >/dev/null 2>&1 &
	tool=$!
	sleep 0.0$((RANDOM % 10))
	kill -KILL $tool 2>/dev/null || true
	wait $tool || true
	wait_for 5 rmmod seepage_where
	clean "$pid" || die "round $i: a breakpoint is left after rmmod"
done
insmod "$where_ko"

# The tool dies in any phase of its work.
for ((i = 0; i < 12; i++)); do
	seepage -j where -s 1 --burst --class 200 --again-after 1 "$pid" >/dev/null 2>&1 &
	tool=$!
	sleep "$((i / 3)).$((RANDOM % 10))"
	kill -KILL $tool 2>/dev/null || true
	wait $tool || true
	wait_for 5 free "$calm"
	wait_for 5 clean "$pid"
done

# The process ends in the middle of a burst, or executes a program.
target leak
"$bursts" "$pid" cost 60000 >out &
tool=$!
wait_for 5 touched "$pid"
kill -KILL "$pid"
wait_for 5 finished $tool
by_exit=4	# SEEPAGE_WHERE_BY_EXIT
[[ $(<out) =~ " $by_exit"$ ]] || die "the process ended: $(cat out)"
target leak
"$bursts" "$pid" cost 60000 >out &
tool=$!
wait_for 5 touched "$pid"
kill -USR2 "$pid"
read -r _ _ at <&"$from"
malloc[$pid]=$at
wait_for 5 finished $tool
[[ $(<out) =~ " $by_exit"$ ]] || die "the process executed a program: $(cat out)"
clean "$pid" || die "a breakpoint is left after exec"

# The program that it executes is a setuid one: the user may not know what that one allocates.
mkdir suid
mount -t tmpfs -o suid tmp suid
siteleak=suid/program
cp "$top/build/tests/siteleak" $siteleak
target leak 65534
"$bursts" "$pid" cost 60000 >out &
tool=$!
wait_for 5 touched "$pid"
chmod 4755 $siteleak
kill -USR2 "$pid"
read -r _ _ at <&"$from"
malloc[$pid]=$at
wait_for 5 finished $tool
[[ $(<out) =~ " $by_exit"$ ]] || die "the process executed a setuid program: $(cat out)"
assert_eq "$(awk '/^Uid:/ { print $2, $3 }' "/proc/$pid/status")" "65534 0" "user after a setuid exec"
clean "$pid" || die "a breakpoint is left after a setuid exec"
kill -KILL "$pid"
wait "$pid" || true
wait_for 5 umount suid
siteleak=$top/build/tests/siteleak

# Its cgroup runs out of memory.
cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
if grep -qw memory "$cg/cgroup.controllers"; then
	echo +memory >"$cg/cgroup.subtree_control"
	mkdir "$cg/small"
	target leak
	echo "$pid" >"$cg/small/cgroup.procs"
	"$bursts" "$pid" cost 60000 >out &
	tool=$!
	wait_for 5 touched "$pid"
	echo 64K >"$cg/small/memory.max"
	wait_for 20 finished $tool
	[[ $(<out) =~ " $by_exit"$ ]] || die "the process was killed for its memory: $(cat out)"
	status=0
	wait "$pid" || status=$?
	assert_eq $status 137 "status of a process that was killed for its memory"
	dmesg | grep "Memory cgroup out of memory: Killed process $pid " >/dev/null || die "it was not the memory"
	clean "$calm" || die "a breakpoint is left after the kill for memory"
	wait_for 5 rmdir "$cg/small"
else
	echo "no memory controller in the unified hierarchy"
fi
umount "$cg"
rmdir "$cg"

# Somebody traces it: it stops at each of its system calls.
target leak
strace -o traced -p "$pid" 2>/dev/null &
tracer=$!
wait_for 5 test -s traced
"$bursts" "$pid" cost 2000 >out
by_time=2	# SEEPAGE_WHERE_BY_TIME
[[ $(tail -n 1 out) =~ ^[1-9][0-9]*" $by_time"$ ]] ||
	die "a burst on a process that is traced: $(cat out)"
[[ -e /proc/$pid/exe ]] || die "a process that is traced has ended: $(tail -n 3 traced)"
kill $tracer
wait $tracer || true
wait_for 5 clean "$pid"
kill -KILL "$pid"
! grep 'SIGTRAP\|SIGSEGV\|SIGILL' traced || die "the tracer has seen a signal"

# A 32-bit program
"$top/build/tests/narrow" 64 1 >/dev/null &
narrow=$!
wait_for 5 executed $narrow narrow
if [[ -e /proc/$narrow/exe ]]; then
	text=$(seepage where -s 1 "$narrow" 2>&1) && die "a 32-bit program is looked at"
	assert_eq "$text" "seepage: where: process $narrow: a 32-bit program, allowed 64-bit ones"
	kill -KILL $narrow
fi
wait $narrow || true

# The tool is in a time namespace, in which the process has begun at another time.
if [[ -e /proc/self/ns/time_for_children ]]; then
	unshare -T --boottime 100000 --fork "$bursts" "$calm" 3 20 >out 2>&1 ||
		die "from within a time namespace: $(cat out)"
fi

# The tool says what came of it.
target leak
seepage where -s 3 --burst --class 200 --again-after 30 "$pid" >out 2>&1 &
tool=$!
wait_for 30 opened $tool "$pid"
sleep 9
kill -KILL "$pid"
wait $tool || grep -q 'ended' out || die "the process ended: $(cat out)"
grep -q 'ended' out || die "nothing says that the process ended: $(cat out)"

# Of another user
target leak 65534
seepage -j where -s 5 --burst --class 200 --again-after 5 "$pid" >out
assert_eq "$(field '.sites[0].stack[1].symbol' out)" site_leak "in a process of another user"

# Without the rights
chmod 666 /dev/seepage_where
text=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$bursts" "$pid" 1 1 2>&1) &&
	die "a burst without rights"
[[ $text == "SEEPAGE_WHERE_START: Operation not permitted" ]] || die "without rights: $text"
for right in perfmon sys_ptrace; do
	text=$(setpriv --bounding-set "-$right,-sys_admin" "$bursts" "$pid" 1 1 2>&1) &&
		die "a burst without $right"
	[[ $text == "SEEPAGE_WHERE_START: Operation not permitted" ]] || die "without $right: $text"
done
kill -KILL "$pid"

# In mount and pid namespaces, where the file of its C library and its own are not to be seen
mkdir hidden
unshare -mpf --mount-proc sh -c "mount -t tmpfs tmp hidden
	cp $top/build/tests/siteleak hidden/program
	exec hidden/program leak" >out &
leader() { pid=$(pgrep -x program) && grep -q heap "/proc/$pid/maps"; }
wait_for 5 leader
[[ ! -e hidden/program ]] || die "the file is to be seen here"
seepage -j where -s 5 --burst --class 200 --again-after 5 "$pid" >out.json
assert_eq "$(field '.sites[0].stack[1].symbol' out.json)" site_leak "in namespaces of its own"
kill -KILL "$pid"

# Somebody else has a burst.
target leak
"$bursts" "$pid" cost 60000 >/dev/null &
tool=$!
wait_for 5 touched "$pid"
text=$(seepage where -s 1 --burst --class 200 "$calm" 2>&1) && die "two bursts at a time"
[[ $text == *"another burst is under way"* ]] || die "two bursts at a time: $text"
kill -KILL $tool
wait $tool || true
wait_for 5 rmmod seepage_where
clean "$pid" || die "a breakpoint is left at the end"
echo "$n bursts and more, no breakpoint left"
