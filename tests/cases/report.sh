#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# report of a live process has the floors that show has, and its alerts; of an alert the same;
# after the end of the process its alert, what watch kept of its blocks, and what was recorded of
# it. A user without rights gets no page of others.
# vm: --smp 2 --mem 1024
# takes: 70
# about: ctl
. "$(dirname "$0")/lib.sh"

load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0
(
	ulimit -d 200000
	exec "$top/build/tests/idle" 1 1024 >leak
) &
leak=$!
seepage record --suspects -o recording 2>recorded &
recorder=$!
alerts() { seepage -j alerts | jq -s length; }
accused() { (($(alerts) > 0)); }
wait_for 180 accused
alert=$(seepage -j alerts | jq -s '[.[] | select(.subject != "group")][0]')
pid=$(field .pid <<<"$alert") seq=$(field .seq <<<"$alert") state=$(field .state <<<"$alert")

# has FILE TEXT
has() { grep -qF -- "$2" "$1" || die "$1 has no '$2'"; }
for word in "$pid" "#$seq"; do
	seepage report -o page.html "$word" >said 2>&1 || die "report $word: $(cat said)"
	has page.html "pid $pid: idle"
	has page.html "<th>command line</th><td>$top/build/tests/idle 1 1024</td>"
	has page.html "<svg "
	has page.html "floors, level 0"
	has page.html "#$seq $state</text>"
	has page.html "<h3>Gates</h3>"
	has page.html "Counters of the module"
	# a point for each floor, in the first four levels
	assert_eq "$(grep -c '<circle' page.html)" \
		"$(seepage -j show "$pid" | jq '[.history[0:4][].minima_bytes | length] | add')" "floors"
done

# What was found out about its blocks is on the page too.
seepage where --keep second --seconds 2 "$pid"
for word in "$pid" "#$seq"; do
	seepage report -o page.html "$word"
	has page.html "Where: pid $pid, idle"
	has page.html "looked at before this page was made"
done

status=0
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
	seepage report -o - "$pid" >none 2>said || status=$?
assert_eq $status 1 "status as a user"
[[ ! -s none ]] || die "a page for a user without rights"

kill $leak
wait $leak || true
gone() { ! seepage show "$pid" >none 2>&1; }
wait_for 30 gone
SEEPAGE_RECORDING=$PWD/none seepage report -o page.html "#$seq"
has page.html "The process of the alert is gone"
has page.html "Where: pid $pid, idle"
has page.html "$PWD/none, which has none of it"
! grep -qE '<svg |It grows as' page.html || die "a chart of a process that is gone, or its present"
kill $recorder
wait $recorder || die "record: $(cat recorded)"
SEEPAGE_RECORDING=$PWD/recording seepage report -o page.html "#$seq"
has page.html "memory over time, with its states"
seepage where --last "$pid" >last
grep -q "^process $pid (idle), which has ended, looked at .* ago:$" last || die "--last says: $(cat last)"
status=0
seepage report -o - "#99999" >none 2>said || status=$?
assert_eq $status 1 "status of an alert that is not held"
has said "alert #99999 is not held"
