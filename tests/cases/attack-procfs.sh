#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A plain user's process leaks and makes itself unpleasant to read: names that a terminal
# obeys or that look like lines of output, and as many mappings as a process may have.
# The controller prints no control character, invents no line, and ends in time.
# vm: --smp 2 --mem 2048
# about: ctl kmod/netlink kmod/owner.c
# takes: 14
# timeout: 600
. "$(dirname "$0")/lib.sh"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
interval=500

load sample_interval_ms=$interval suspect_interval_ms=$interval
# A short path: explain shows the first 27 bytes of it.
hostile=/tmp/h
mkdir -m 777 $hostile
begin() {
	"${nobody[@]}" python3 "$top/tests/attack/procfs.py" $hostile 256 "$1" >ready &
	pid=$!
	wait_for 200 grep -qx ready ready
}

# clean COMMAND...: runs it as root; sets ms, the time that it took
clean() {
	local start end status=0
	start=$(date +%s%N)
	# All of what it may allocate: a hostile process chooses how much there is to read.
	(ulimit -v 262144; timeout 120 "$@") >text 2>&1 || status=$?
	end=$(date +%s%N)
	ms=$(((end - start) / 1000000))
	((status != 124 && status < 126)) || die "'$*' ended with $status: $(tail -n 1 text)"
	! tr -d '\n\t' <text | LC_ALL=C grep -a '[[:cntrl:]]' >/dev/null ||
		die "'$*' prints a control character: $(LC_ALL=C grep -a -m 1 '[[:cntrl:]]' text | cat -v)"
	! LC_ALL=C grep -aqE '^(root 1 ok|#9 CONFIRMED)' text ||
		die "'$*' prints a line of the process's own: $(LC_ALL=C grep -aE -m 1 '^(root|#9)' text)"
	printf '%-28s %6d ms, %5d lines\n' "$*" "$ms" "$(wc -l <text)"
}

echo "--- names"
begin 10
sleep 3
clean seepage ps
clean seepage show $pid
clean seepage explain $pid
clean seepage explain $pid --cold --window 1
grep -qF 'owned' text || die "the mapping with the hostile name was not shown: $(cat text)"
clean seepage -j ps
jq . text >/dev/null || die "no JSON"
clean seepage alerts
kill $pid
wait $pid 2>/dev/null || true

echo "--- mappings"
limit=$(</proc/sys/vm/max_map_count)
begin $((limit - 500))
((have = $(wc -l <"/proc/$pid/maps"))) || true
((have > limit / 2)) || die "it has $have mappings only"
echo "$have mappings"
sleep 1
clean seepage show $pid
# One look reads all mappings: measured beside cat, which does nothing else.
start=$(date +%s%N)
cat "/proc/$pid/smaps" >/dev/null
one=$((($(date +%s%N) - start) / 1000000))
echo "cat of its smaps: $one ms"
clean seepage explain $pid --cold --window 1
((ms <= 6 * one + 8000)) || die "a look at $have mappings took $ms ms, reading them $one"
clean seepage ps
kill $pid
wait $pid 2>/dev/null || true
