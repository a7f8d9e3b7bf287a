#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The alert of a real leak, silenced: notify holds it back, top and report say so; the silence is
# removed, and it is delivered. Then it is acknowledged: no more of it but its end.
# vm: --smp 2 --mem 1024
# takes: 80
# about: ctl
. "$(dirname "$0")/lib.sh"

chmod 755 .	# another user reads in it
export SEEPAGE_STATE_DIR=$PWD/quiet LC_ALL=C.UTF-8
cat >take <<'END'
#!/bin/sh
jq -c '[.seq, .pid, .state, .ack]' >>got
END
chmod +x take
touch got

load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0
seepage silence --name idle --for 1h --comment 'a <test>' >said
[[ $(cat said) == "name idle: silenced by silence 1 until "*": a <test>" ]] || die "silence: $(cat said)"
seepage notify --exec ./take --state-dir "$PWD/spool" 2>log &
notify=$!
(
	ulimit -d 200000
	exec "$top/build/tests/idle" 1 1024 >leak
) &
leak=$!

held() { grep -q 'held back, silenced by silence 1 until ' log; }
wait_for 180 held
alert=$(seepage -j alerts | jq -s '[.[] | select(.subject != "group")][0]')
pid=$(field .pid <<<"$alert") seq=$(field .seq <<<"$alert")
sleep 3
assert_eq "$(cat got)" "" "told while it is silenced"

# has FILE TEXT
has() { grep -qF -- "$2" "$1" || die "$1 has no '$2'"; }
seepage top -b -n 1 -w 100 >screen
has screen "s 1 silenced"
grep -qE "^ !+ *s +$pid idle" screen || die "top: $(cat screen)"
seepage report -o page.html "$pid"
has page.html "<p>Silenced by silence 1 until "
has page.html "a &#60;test&#62;"

until_now=$(seepage -j status | field .seq_last)
seepage silence --remove 1
told() { grep -q "^\[[0-9]*,$pid,\"\(suspected\|confirmed\|runaway\)\",null\]$" got; }
wait_for 30 told
has log 'nothing holds it back any more'
# Of those that were held back the last one at most: a newer one may have come meanwhile.
(($(jq -s "map(select(.[0] <= $until_now)) | length" got) <= 1)) || die "told of what was held back: $(cat got)"
assert_eq "$(jq -s 'map(.[0]) | length - (unique | length)' got)" 0 "alerts that were told twice"

# Of the same process, by the number of its first alert
seepage silence "#$seq" --until "@$(($(date +%s) + 3600))"
seepage top -b -n 1 -w 100 >screen
has screen "s 1 silenced"
seepage silence --remove all
last=$(seepage -j alerts | jq -s "[.[] | select(.pid == $pid)][-1].seq")
seepage ack "#$last" restart is planned --by anna >said
has said "alert #$last: acknowledged by anna at "
seepage ack >said
grep -qE "^ *#$last .* $pid +idle .* anna +restart is planned$" said || die "ack: $(cat said)"
seepage top -b -n 1 -w 100 >screen
grep -qE "^ !+ *a +$pid idle" screen || die "top: $(cat screen)"
seepage report -o page.html "#$last"
has page.html "<p>Acknowledged by anna at "

kill $leak
wait $leak || true
ended() { grep -q "\"exited\",\"restart is planned\"\]$" got; }
wait_for 30 ended

status=0
seepage silence "#$((last + 1000))" --for 1h 2>said || status=$?
assert_eq $status 1 "status of an alert that is not held"
has said "silence: alert #$((last + 1000)) is not held (see seepage alerts)"
status=0
seepage ack "#$(seepage -j status | field .seq_last)" x 2>said || status=$?
assert_eq $status 1 "status of an alert that is the end of one"
has said "'exited': allowed is an alert that stands"
# Another user reads them and changes nothing.
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all seepage silence --name x --forever 2>said || status=$?
assert_eq $status 1 "status as a user"
assert_eq "$(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all seepage -j ack | field '.[0].text')" \
	"restart is planned" "what another user reads"

kill $notify
wait $notify || die "notify: $(cat log)"
