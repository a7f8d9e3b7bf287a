#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Memory runs out: a program leaks until its memory cgroup kills it, another one until the
# machine has nothing left. Both times a listener has the alert before the kill, and the
# passes go on. In the second part processes are forked all the while, so that records are
# needed. The worker must not reclaim memory, which it would have to wait for: the kernel
# notes the stack of each kworker that does.
# vm: --smp 2 --mem 640
# about: ctl/cmd ctl/lib kmod
# takes: 90
# timeout: 1200
. "$(dirname "$0")/lib.sh"
warm=$top/build/tests/warm
tracing=/sys/kernel/tracing
reclaim=$tracing/events/vmscan/mm_vmscan_direct_reclaim_begin

# Nothing that this case needs may be killed in place of what leaks.
for dir in /proc/[0-9]*; do
	echo -1000 >"$dir/oom_score_adj" 2>/dev/null || true
done
pin bash grep jq seepage sleep "$warm"

load sample_interval_ms=1000 suspect_interval_ms=500 max_cpu_permille=1000
# The worker's own thread is there before memory is short. Its name is that of the work queue,
# from 6.10 after a prefix.
own_thread() {
	local dir name
	for dir in /proc/[0-9]*; do
		read -r name <"$dir/comm" || continue
		[[ $name == @(seepage|kworker/R-seepa*) && ! -e $dir/exe ]] && return
	done 2>/dev/null
	return 1
}
own_thread || die "the worker has no thread of its own"
# Passes have a buffer of their own, which no stack can push them out of.
mkdir $tracing/instances/passes
passes=$tracing/instances/passes
echo mono >$passes/trace_clock
echo 1 >$passes/events/seepage/seepage_tick/enable
trigger='stacktrace if comm ~ "kworker*" || comm == "seepage"'
echo "$trigger" >$reclaim/trigger
seepage -j watch >watched &
watch=$!

# leak KB A_SECOND [CGROUP]: a process that is killed first, and leaks a part of KB each second,
# thousandths.
leak() {
	# shellcheck disable=SC2016 # for the other shell
	bash -c 'echo 1000 >/proc/$$/oom_score_adj; [ ! "$3" ] || echo $$ >"$3/cgroup.procs"
		exec "$0" leak "$1" "$2"' "$warm" $(($1 * $2 / 4000)) 250 "${3:-}" &
	leaker=$!
}

alive() { [[ -e /proc/$leaker/exe ]]; }
heard() { grep -qE "\"pid\":$leaker,.*\"state\":\"(suspected|confirmed|runaway)\"" watched; }

# first the alert: until_heard WHAT, then the kill: until_killed WHAT
until_heard() {
	until heard; do
		alive || die "$1: killed before the alert: $(<watched)"
		sleep 0.5
	done
	alive || die "$1: the alert came after the kill"
	echo "$1: $(grep "\"pid\":$leaker," watched | jq -c '[.state, .confidence, .limit, .tte_seconds]' |
		head -n 1), pid $leaker, $(($(awk '/MemAvailable/ { print $2 }' /proc/meminfo) >> 10)) MB left"
}
until_killed() {
	local status=0
	wait "$leaker" || status=$?
	assert_eq $status 137 "$1: status of what leaks"
}

# The longest time without a pass so far, ms.
gap() {
	awk '/seepage_tick:/ {
			sub(/: seepage_tick.*/, "")
			if (last && $NF - last > most)
				most = $NF - last
			last = $NF
			n++
		}
		END { if (n < 10) exit 1; printf "%d\n", 1000 * most }' $passes/trace ||
		die "less than ten passes were seen"
}

killed() { dmesg | grep -cE "$1.*Killed process $leaker " || true; }

# Not below the directory that is removed after the case.
small=''
cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
if grep -qw memory "$cg"/cgroup.controllers; then
	echo +memory >"$cg"/cgroup.subtree_control
	mkdir "$cg"/small
	echo 160M >"$cg"/small/memory.max
	leak $((160 << 10)) 20 "$cg"/small
	until_heard "memory cgroup"
	small=$leaker
else
	echo "no memory controller in the unified hierarchy"
fi

# The whole machine. Each turn forks some processes, which live for a while.
born() {
	local i
	while :; do
		for ((i = 0; i < 12; i++)); do
			read -r -t 2 <>/tmp/stall.never || true &
		done
		wait
	done
}
mkfifo /tmp/stall.never
born 2>/dev/null &
forks=$!
# What takes all of it begins when half of the other's runway is left, and has a longer one.
leak "$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)" 16
machine=$leaker
if [[ $small ]]; then
	leaker=$small
	until_killed "memory cgroup"
	assert_eq "$(killed 'Memory cgroup out of memory')" 1 "kills by the memory cgroup"
	for ((i = 0; i < 50; i++)); do
		! rmdir "$cg"/small 2>/dev/null || break
		sleep 0.1
	done
fi
umount "$cg"
rmdir "$cg"
leaker=$machine
until_heard "machine"
until_killed "machine"
assert_eq "$(killed 'Out of memory')" 1 "kills by the machine"
sleep 2
kill $forks
wait $forks 2>/dev/null || true
rm /tmp/stall.never

longest=$(gap)
echo "$(grep -c seepage_tick: $passes/trace) passes, at most $longest ms apart," \
	"alloc_failed $(seepage -j status | field .counters.alloc_failed)"
((longest <= 15000)) || die "no pass for $longest ms"
stacks=$(grep -cE '=> (tick_work|clear_work)\b' $tracing/trace || true)
assert_eq "$stacks" 0 "times that the worker reclaimed memory"
! dmesg | grep -E 'page allocation failure|blocked for more than' || die "the kernel log says so"
wait_for 20 grep -q "\"pid\":$leaker,.*\"exited\"" watched

kill $watch
wait $watch || true
echo "!$trigger" >$reclaim/trigger
echo 0 >$passes/events/seepage/seepage_tick/enable
rmdir $passes
unload
