#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A real leak and policies: a limit is told of before the leak is suspected, with the time that is
# left; the alert is held back by a threshold that figures of now reach later; one that is ignored
# is told to nobody; the file is whole whenever a writer is killed.
# vm: --smp 2 --mem 1024
# takes: 90
# about: ctl
. "$(dirname "$0")/lib.sh"

export SEEPAGE_STATE_DIR=$PWD/quiet SEEPAGE_CONF_DIR=$PWD/conf LC_ALL=C.UTF-8
cat >take <<'END2'
#!/bin/sh
jq -c '[.subject, .pid, .state, .tte_seconds, .text, .time]' >>got
END2
chmod +x take
touch got
# has FILE PATTERN
has() { grep -qE -- "$2" "$1" || die "$1 has no '$2': $(cat "$1")"; }
# told SUBJECT STATE: a line of these
told() { grep -qE "^\[\"($1)\",$pid,\"($2)\"" got; }

# Nothing below 32 MB is suspected. By then notify has looked at limits, each ten seconds, however
# long the host has kept the leak from growing.
load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0 min_process_size_mb=32
seepage policy add --name idle --limit 24M --growth 1000T/h --comment 'a leak'
seepage policy add --name quiet --ignore
cp "$top/build/tests/idle" quiet
seepage notify --exec ./take --state-dir "$PWD/spool" 2>log &
notify=$!
"$top/build/tests/idle" 1 1024 >leak &
leak=$!
./quiet 1 1024 >quiet.pid &
other=$!
wait_for 20 test -s leak
wait_for 20 test -s quiet.pid
pid=$(cat leak)

# The limit: near, with the time that is left, while the module suspects nothing
wait_for 90 told limit limit_near
near=$(jq -rs "map(select(.[1] == $pid and .[2] == \"limit_near\"))[0][5]" got)
suspected=$(seepage -j alerts | jq -rs "map(select(.pid == $pid))[0].time // \"later\"")
[[ $near < $suspected ]] || die "the leak was suspected at $suspected, before its limit was near at $near"
anon() { awk '/^RssAnon:/ { print int($2 / 1024) }' "/proc/$pid/status"; }	# MiB
least=$(anon)
seepage policy >said
most=$(anon)
has said '^name idle +\+.* +24\.0 MiB +[0-9.]+ MiB .* a leak$'
used=$(sed -nE 's/^name idle .* 24\.0 MiB +([0-9]+)[.0-9]* MiB .*/\1/p' said)
# /proc may lack 64 pages of each thread up to 6.1.
((used >= least && used <= most + 1)) || die "the leak uses $used MiB by policy, $least to $most by /proc"
has said '^name quiet +never +-'
assert_eq "$(seepage -j policy | jq -c '[.[] | [.name, .limit_bytes, .processes]]')" \
	'[["idle",25165824,1],["quiet",null,null]]' "policies as JSON"
wait_for 60 told limit limit_exceeded
has got "^\[\"limit\",$pid,\"limit_exceeded\",0,\"limit_exceeded: pid $pid \(idle\) uses .* of its limit of 24\.0 MiB"

# The threshold: held back, then told when a lower one is reached by figures of now
held() { grep -qE "held back, by the policy of name idle: growth .* is wanted" log; }
wait_for 180 held
quiet() { grep -q 'held back, silenced by the policy of name quiet$' log; }
wait_for 120 quiet
sleep 4
if told 'memory|process|file' 'suspected|confirmed|runaway'; then
	die "told below the threshold: $(cat got)"
fi
growth=$(seepage -j ps | jq ".[] | select(.pid == $pid).growth_bytes_per_hour")
((growth > 100 << 20)) || die "growth of the leak: $growth"
seepage policy add --name idle --replace --growth 100M/h --limit 2G
leak_told() { grep -E "^\[\"[a-z]*\",$pid,\"(suspected|confirmed|runaway)\"" got | grep -v '^\["limit"' >/dev/null; }
wait_for 30 leak_told
wait_for 30 told limit limit_ended
has log 'nothing holds it back any more'

# With a limit that the growth reaches in an hour, the time is in the event.
seepage policy add --name idle --replace --limit "$(($(seepage -j ps | jq ".[] | select(.pid == $pid).anon_bytes") * 3 / 2 >> 20))M"
left() { grep -qE "^\[\"limit\",$pid,\"limit_near\",[1-9][0-9]*,\".*, \+.*/h, .* left\"" got; }
wait_for 40 left
seepage policy >said
has said '^name idle +always .* \+[0-9.]+ [MG]iB/h +[0-9]+'

# A writer that is killed leaves the file as it was.
for ((i = 0; i < $(some 60); i++)); do
	seepage policy add --name idle --replace --limit "$((300 + i))M" --confidence 90 &
	writer=$!
	sleep "0.00$((i % 10))"
	kill -9 $writer 2>/dev/null || true
	wait $writer 2>/dev/null || true
	seepage policy check "$SEEPAGE_CONF_DIR/policies.json" || die "a killed writer left half a file"
	assert_eq "$(seepage -j policy | jq length)" 2 "policies after a kill"
done

if grep -q "\[\"[a-z]*\",$(cat quiet.pid)," got; then
	die "told of what is ignored: $(cat got)"
fi
seepage policy del --name quiet
released() { grep -q "\[\"[a-z]*\",$(cat quiet.pid)," got; }
wait_for 30 released
seepage policy del --name idle
seepage policy 2>said
has said 'there is none'
# Another user reads them and changes nothing.
chmod 755 .
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all seepage policy add --name x --ignore 2>said || status=$?
assert_eq $status 1 "status as a user"

disperse $leak $other
kill $notify
wait $notify || die "notify: $(cat log)"
