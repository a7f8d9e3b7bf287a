#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A full table of processes under watch: none of them is given up, for whatever comes.
# vm: --smp 2 --mem 2048
# about: kmod
# takes: 38
# timeout: 240
. "$(dirname "$0")/lib.sh"
crowd 12 512
# Watched, but never an alert.
load max_processes=16 sample_interval_ms=300 suspect_interval_ms=300 max_cpu_permille=1000 \
	min_process_size_mb=1 alert_confidence=100

status() { seepage -j status | field "$1"; }
watched() { seepage -j ps | jq -r '.[] | select(.state == "watch" and .comm == "idle") | .pid' | sort; }
watched_are() { (($(watched | wc -l) >= $1)); }
tracked() { seepage -j ps | jq -r '.[].pid' | sort; }

wait_for 90 watched_are 6
watched >before
n=$(wc -l <before) exchanged=$(status .counters.exchanged)
# Larger than those, of root and of more users than there are records not under watch: the
# first process of a user takes a record of any weight.
hogs=()
# shellcheck disable=SC2016 # perl's
hog=(perl -e '$x = "x" x (40 << 20); sleep 999')
for ((i = 0; i < 3; i++)); do
	"${hog[@]}" &
	hogs+=($!)
done
for ((i = 1; i <= 10; i++)); do
	setpriv --reuid $i --regid $i --clear-groups "${hog[@]}" &
	hogs+=($!)
done
for ((i = 0; i < 12; i++)); do
	sleep 1
	tracked >after
	comm -23 before after >lost
	[[ ! -s lost ]] || die "under watch, and given up: $(tr '\n' ' ' <lost)"
done
in=0
for pid in "${hogs[@]}"; do ! grep -qx "$pid" after || in=$((in + 1)); done
echo "$n processes under watch kept their records; $in of ${#hogs[@]} large ones got one," \
	"exchanged $(($(status .counters.exchanged) - exchanged))"
((in > 0)) || die "none of the large processes has a record: nothing was exchanged"
disperse "${hogs[@]}" "$parent"
