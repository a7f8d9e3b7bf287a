#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a pass, a dumped record and a fault cost with few and with many processes
# in the table, beside reading /proc, in guest instructions; and what a process
# takes of memory. Part of `make bench`.
# usage: tests/bench/crowds.sh, inside the VM
. "$(dirname "$0")/lib.sh"
cd "$(mktemp -d)" || die "no directory"
steps=(0 64 512 2048)
all=8192 crowded=0 parents=()

status() { seepage -j status | field "$1"; }

# join N: the crowd grows to N.
join() {
	(($1 > crowded)) || return 0
	crowd $(($1 - crowded))
	parents+=("$parent")
	crowded=$1
}

# took COMMAND...: the nanoseconds that it ran, in the kernel and in user space, to
# a million of them. The clock would also count its waiting for the host's files.
took() {
	local TIMEFORMAT='%3U %3S'
	{ time "$@" >scan 2>&1; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1e9 }'
}

# recorded PASSES: what a recording of so many full passes takes.
recorded() { took seepage record -o recording --count-passes "$1"; }

# With 512 processes rather than 8192, for the time that it takes.
scans() {
	fig "scan.ps.$1" "$(took ps -e -o pid,rss,vsz,stat,comm)"
	fig "scan.pidstat.$1" "$(took pidstat -r -p ALL)"
	fig "scan.seepage_ps.$1" "$(took seepage ps)"
	fig "scan.seepage_json.$1" "$(took seepage -j ps)"
	fig "scan.record.$1" "$((($(recorded 41) - $(recorded 1)) / 40))"
}

few_faults() { "$faultbench" 5000 7; }

# look: all figures with the processes that there are.
look() {
	local n records cost with
	load
	watch_idle
	n=$(status .processes)
	fig "pass.$n" "$(pass_cost 1)"
	read -r records cost < <(dump_cost)
	fig "dump.$records" "$cost"
	fig "memory_bytes.$n" "$(status .memory_bytes)"
	read -r records cost < <("$top/build/tests/readproc" statm)
	fig "scan.statm.$n" "$cost"
	fig "scan.processes.$n" "$records"
	[[ ! ${1:-} ]] || scans "$n"
	with=$(few_faults)
	unload
	fig "fault_added_of.$n" "$(less "$with" "$(few_faults)")"
}

load min_process_size_mb=1 alert_confidence=100
watch_idle
base=$(pass_cost 1)
crowd 48 64
until_watched 48
fig pass_growing $((($(pass_cost 1) - base) / 48))
fig pass_growing_short $(($(pass_cost 0) / 48))
disperse "$parent"
fig rec_bytes "$(status .rec_bytes)"

for n in "${steps[@]}"; do
	join "$n"
	look "$([[ $n != 0 && $n != 512 ]] || echo scan)"
done
# The table is full with those that are there anyway.
load
sleep 11
join $((all - $(status .processes) + crowded))
look
disperse "${parents[@]}"
unload

fig module_bytes "$(text_data "$SEEPAGE_KO")"
fig module_core_bytes "$("$top/scripts/module-size" "$SEEPAGE_KO" | cut -d ' ' -f 1)"
strip -o stripped "$(command -v seepage)"
fig controller_bytes "$(stat -c %s stripped)"
