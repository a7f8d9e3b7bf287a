#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A pass takes time, and a process that faults meanwhile has gained pages when
# its turn comes that the fold at the begin of the pass knew no fault of. With
# a crowd before it in the table, and with the software event, which must tell
# anonymous faults by the pages gained: its counts must be of the same moment.
# vm: --smp 2 --mem 1024
# timeout: 240
# no-debug: counts wrong verdicts of many runs, a run takes seconds there
. "$(dirname "$0")/lib.sh"
runs=30

load hook=software sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000
crowd 1500
mkdir ram
mount -t ramfs none ram
trap 'umount -l ram; disperse $parent' EXIT
mkfifo out

# From CPU to CPU and back.
tour() {
	while taskset -pc 1 "$1" && taskset -pc 0 "$1"; do :; done >/dev/null 2>&1
}

# many NAME WHAT..: runs with WHAT beside each.
many() {
	local name=$1 run pid json anon total error wrong=0 errors='' beside=''
	shift
	for ((run = 0; run < runs; run++)); do
		(cd ram && exec "$top/build/tests/mixed" file 2000) >out &
		pid=$!
		[[ $# -eq 0 ]] || { "$@" $pid & beside=$!; }
		read -r -t 60 _ <out || die "mixed: no answer"
		json=$(seepage -j show $pid)
		anon=$(field .faults_anon <<<"$json")
		total=$(field '.faults_user + .faults_kernel' <<<"$json")
		error=$(((anon > 2024 ? anon - 2024 : 2024 - anon) * 1000 / total))
		errors+=" $error"
		wrong=$((wrong + (error > 60)))
		kill $pid
		wait $pid $beside 2>/dev/null || true
	done
	echo "$name: permille of the faults on the wrong side, $runs processes:$errors"
	((wrong == 0)) || die "$name: $wrong of $runs processes above 60 permille:$errors"
}

many "in one place"
many "on tour" tour
status=$(seepage -j status)
took=$(field .tick_cost_ns <<<"$status")
echo "a pass took $took ns, $(field .counters.samples <<<"$status") samples"
((took >= 1000000)) || skip "a pass of $took ns is too short to meet a process that starts"
