#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fault counts and page counts of one sample must be from the same moment. A pass folds
# the fault counts at its beginning. A process that faults during the pass has more
# pages than these counts explain by the time it is sampled. Many processes stand before
# it in the table, and the hook is the software event, which tells anonymous faults from
# others by the pages gained.
# vm: --smp 2 --mem 1024
# about: kmod/account.c kmod/detect kmod/hook* kmod/read.* kmod/sample.c kmod/tick.c
# matrix: classify sees the same programs on one clock
# takes: 27
# timeout: 240
# no-debug: counts wrong verdicts of many runs, a run takes seconds there
. "$(dirname "$0")/lib.sh"
runs=$(some 30)

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
