#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# As many processes as there is room for by default, 8192, and more: all are
# tracked, the rest is counted, and when they die at once all comes back.
# vm: --smp 2 --mem 2048
# timeout: 600
. "$(dirname "$0")/lib.sh"
room=8192 beyond=300
hung=/proc/sys/kernel/hung_task_timeout_secs
rounds_here=$(times 1)

# people N: N more processes, whose end bash does not tell.
people() {
	crowd "$1"
	disown
}

tracked() { status .processes; }
tracked_are_at_least() { (($(tracked) >= $1)); }
tracked_are_below() { (($(tracked) < $1)); }
full() { (($(status .counters.table_full) > 0)); }

ulimit -u unlimited
bytes=0 cost=0
for ((i = 1; i <= rounds_here; i++)); do
	load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	assert_eq "$(status .max_processes)" $room "max_processes"
	wait_for 20 ticks_at_least 2
	before=$(tracked)
	people $((room - 100 - before))
	first=$parent
	wait_for 120 tracked_are_at_least $((room - 100))
	assert_eq "$(status .counters.table_full)" 0 "table_full, with room"
	check_table			# each of them once, under its name
	shown=${#pids[@]}
	people $((beyond + 100))
	second=$parent
	wait_for 60 full
	settle
	(($(tracked) <= room)) || die "$(tracked) records of at most $room"
	(($(tracked) > room - 20)) || die "only $(tracked) of $room records used"
	seepage -j ps >full.json
	assert_eq "$(jq 'map(.pid) | length == (unique | length)' full.json)" true "a full table, each once"
	bytes=$(status .memory_bytes) cost=$(status .tick_cost_max_ns)
	# All at once: their records are free for those who went without. Each of them
	# queues for a mutex of uprobes on its way out; where that takes 20 ms, the last
	# of 8000 waits for longer than the kernel takes for hung.
	[[ ! -w $hung ]] || echo $((120 * SEEPAGE_SLOW)) >$hung
	kill -KILL $first
	wait_for 60 tracked_are_below 1000
	wait_for 60 tracked_are_at_least $((beyond + 100))
	check_table
	kill -KILL $second
	wait_for 60 tracked_are_below 100
	check_table
done
echo "$rounds_here times $shown processes tracked, $room records full, $beyond and more without one," \
	"deaths $(status .counters.deaths), $bytes bytes and $cost ns for the longest pass when full"
