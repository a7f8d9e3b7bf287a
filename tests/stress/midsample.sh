#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Processes that end or execute while a pass is on: a crowd makes every pass
# long, and the trace of the kernel tells how many did so within one.
# vm: --smp 2 --mem 1024
# timeout: 900
. "$(dirname "$0")/lib.sh"
relay=$top/build/tests/relay
runs=$(times 40) least=$(times 100)
tracing=/sys/kernel/debug/tracing
events=(sched/sched_process_exec sched/sched_process_exit seepage/seepage_tick)

# It tells its pids when all are there: who is forked between a look at the table and
# one at /proc is missing in it.
: >pids
"$idle" $((2500 / ${SEEPAGE_SLOW:-1})) >pids &
crowd=$!
disown
wait_for 600 test -s pids
mid=0 passes=0
for hook in tracepoint software; do
	load hook=$hook sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	wait_for 60 ticks_at_least 3
	echo mono >$tracing/trace_clock
	echo >$tracing/trace
	for event in "${events[@]}"; do
		echo 1 >$tracing/events/"$event"/enable
	done
	(while sleep 1; do seepage -j ps || true; done >/dev/null 2>&1) &
	reader=$!
	"$relay" 4 "$runs" 6 1000 || die "$hook: relay failed"
	kill $reader
	wait $reader 2>/dev/null || true
	for event in "${events[@]}"; do
		echo 0 >$tracing/events/"$event"/enable
	done
	# A pass is told at its end, with what it took at least.
	grep -v '^#' $tracing/trace >trace
	read -r n k < <(awk '
		{ sub(/^.*\] [^ ]+ +/, ""); at = $1 + 0 }
		/sched_process_(exec|exit):/ { when[++n] = at }
		/seepage_tick: full=1/ {
			passes++
			sub(/.*cost_ns=/, "")
			for (; n; n--)
				mid += when[n] >= at - $1 / 1e9
		}
		END { print mid + 0, passes + 0 }' trace)
	mid=$((mid + n)) passes=$((passes + k))
	check_table
	total+="$hook: $((4 * runs)) processes of 7 memories, $k passes, $n ends and execs within one; "
	gone+=$(status .counters.deaths)+
done
kill -KILL $crowd
((mid >= least)) || die "$mid ends and execs within $passes passes, of $least: this tests little"
echo "${total}deaths $((${gone}0))"
