#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A record's process has left its memory to another one, which is looked for among 6000 pids.
# Meanwhile others get the CPU: without preemption in the kernel a real-time task waits for a
# part of that walk at most, guest instructions being nanoseconds.
# vm: --count --mem 1088 --append preempt=voluntary
# about: kmod/owner.c kmod/tick.c
# takes: 20
# timeout: 300
# no-debug: the checkers cost more instructions than what is measured
. "$(dirname "$0")/lib.sh"
tracing=/sys/kernel/tracing

load sample_interval_ms=1000 pmc=off
echo 32768 >$tracing/buffer_size_kb
echo 'comm == "late" && prio < 100' >$tracing/events/sched/sched_wakeup/filter
echo 'next_comm == "late" && next_prio < 100' >$tracing/events/sched/sched_switch/filter
echo 1 >$tracing/events/sched/sched_wakeup/enable
echo 1 >$tracing/events/sched/sched_switch/enable
"$top/build/tests/late" 6000
echo 0 >$tracing/events/sched/enable
# What the module's worker makes it wait; others do as well.
read -r n longest other < <(awk '
	/sched_wakeup:/ { sub(/: sched_wakeup.*/, ""); woken = $NF }
	/sched_switch:/ {
		worker = / prev_comm=(kworker\/u|seepage)/
		match($0, / prev_comm=[^ ]*/); comm = substr($0, RSTART + 11, RLENGTH - 11)
		sub(/: sched_switch.*/, "")
		if (woken) {
			n++
			late = int(1e6 * ($NF - woken))
			if (worker && late > most) most = late
			if (!worker && late > others) { others = late; by = comm }
		}
		woken = 0
	}
	END { printf "%d %d %d:%s\n", n, most, others, by }' $tracing/trace)
echo "a real-time task woke up $n times and waited $longest us at most for the worker, for others $other"
((n > 10000)) || die "it woke up $n times only"
((longest <= 200)) || die "a real-time task waited $longest us for the worker"
