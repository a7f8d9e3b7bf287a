#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# hook=software: the records of all mms of a program and its children add up, when they
# exit, to the page-faults that perf stat counts. The same while CPU 1 is offline, and on
# both CPUs after it is online again.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 28
# timeout: 240
. "$(dirname "$0")/lib.sh"
workload=$top/build/tests/workload
trace=/sys/kernel/tracing
cpu1=/sys/devices/system/cpu/cpu1/online
bad=0

load hook=software sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000
assert_eq "$(seepage -j status | field .hook)" software "hook in use"
echo 4096 >$trace/buffer_size_kb
echo 1 >$trace/events/seepage/seepage_exit/enable

# Faults in MODE (user, kernel) at the end of all memories of the workload
# since the trace was cleared; perf's child before exec is not among them.
ended() {
	awk -v mode="faults_$1" '
	/seepage_exit:/ {
		comm = n = ""
		for (i = 1; i <= NF; i++) {
			split($i, kv, "=")
			if (kv[1] == "comm") comm = kv[2]
			if (kv[1] == mode) n = kv[2]
		}
		if (comm ~ /^(workload|exe|taskset)$/) sum += n
	}
	END { print sum + 0 }' $trace/trace
}

# What perf counted, from its CSV.
counted() {
	awk -F, -v e="$1" '$3 == e { print $1 }' perf.csv
}

# What the module says that it could not record. After a difference it tells the cause.
unrecorded() {
	seepage -j status | jq -r '.counters | "births without a record: \(.pool_empty) pool empty, \(.table_full) table full; faults: \(.faults_untracked) untracked, \(.faults_no_mm) without mm, \(.faults_nested) nested"'
}

all_ended() {
	[[ $(ended user) == "$(counted page-faults:u)" &&
	$(ended kernel) == "$(counted page-faults:k)" ]]
}

# run NAME [PREFIX...] -- WORKLOAD...: the ends of its memories are told within
# a few ticks, which is what is waited for; a wrong sum stays wrong.
run() {
	local name=$1 prefix=() verdict=equal before i
	shift
	before=$(unrecorded)
	while [[ $1 != -- ]]; do
		prefix+=("$1")
		shift
	done
	shift
	: >$trace/trace
	perf stat -x, -o perf.csv -e page-faults,page-faults:u,page-faults:k -- \
		"${prefix[@]}" "$workload" "$@" || die "workload $* failed"
	for ((i = 0; i < 200; i++)); do
		sleep 0.3
		! all_ended || break
	done
	if ! all_ended || (($(ended user) + $(ended kernel) != $(counted page-faults))); then
		verdict=DIFFERENT bad=1
		echo "before: $before" "after: $(unrecorded)"
		sed -n '/seepage_exit:/s/.*seepage_exit: //p' $trace/trace | sort | uniq -c | sort -rn | head -n 20
	fi
	printf '%-26s perf %6s = %6s user %5s kernel   seepage %6s user %5s kernel   %s\n' \
		"$name" "$(counted page-faults)" "$(counted page-faults:u)" \
		"$(counted page-faults:k)" "$(ended user)" "$(ended kernel)" $verdict
}

for w in "anon 2000" "churn 2560" "shmem 1500" "readbuf 1500" "populate 1500" \
	"fileread 1600" "threads 2400" "vfork 500" "exec 700" "migrate 1000" "forks 24"; do
	# shellcheck disable=SC2086 # two words
	run "$w" -- $w
done

echo 0 >$cpu1
run "CPU 1 off: anon 1000" -- anon 1000
echo 1 >$cpu1
for cpu in 0 1; do
	for w in "anon 1000" "readbuf 800"; do
		# shellcheck disable=SC2086 # two words
		run "on CPU $cpu again: $w" taskset -c $cpu -- $w
	done
done
run "CPU 1 on again: migrate" -- migrate 1000
assert_eq "$(seepage -j status | field .counters.hook_events_failed)" 0 "CPUs without an event"
((bad == 0)) || die "hook=software: a count differs from perf's"
