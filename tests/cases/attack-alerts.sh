#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A user floods the alerts: hundreds of small processes run towards limits that they set
# themselves, first plainly, then under 20 uids of a user namespace. A leak of another user
# is told at most one sample interval late, and stays in the ring. The flood has its share
# of the minute and of the ring, and a severity of 6 at most.
# vm: --warp --mem 1024
# about: ctl/cmd ctl/lib kmod tests/attack
# takes: 40
# timeout: 6000
. "$(dirname "$0")/lib.sh"
children=24 interval_ms=1000 minute=12 ring=256
tracing=/sys/kernel/tracing
[[ -e $tracing/trace ]] || mount -t tracefs none $tracing
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
mallory=(setpriv --reuid 2000 --regid 2000 --clear-groups)
victim=(setpriv --reuid 1000 --regid 1000 --clear-groups)
install -m 755 "$top/build/tests/idle" "$top/tests/attack/limits.py" "$bin"
# newuidmap looks its caller up.
grep -q '^mallory:' /etc/passwd || echo 'mallory:x:2000:2000::/tmp:/bin/sh' >>/etc/passwd
grep -qs '^mallory:' /etc/subuid || echo 'mallory:200000:20' >>/etc/subuid

status() { seepage -j status | field "$1"; }
reached() { (($(status "$1") >= $2)); }
# Not by select: the status of jq 1.6 -e goes by the last of the alerts only.
told() { seepage -j alerts | jq -se "any(.pid == $1 and .state != \"exited\")" >/dev/null; }

flood_is_over() { ! pgrep flood >/dev/null; }

# late_ms PID: from the change of state to its alert
late_ms() {
	sed -nE 's/^.* ([0-9.]+): seepage_(state|alert): (.*)$/\1 \2 \3/p' $tracing/trace |
		awk -v pid=" pid=$1 " 'index($0, pid) == 0 { next }
			$2 == "state" && !began && / state=[234]$/ { began = $1 }
			$2 == "alert" && !told && !/ seq=0 / { told = $1 }
			END { print began && told ? int(1000 * (told - began)) : -1 }'
}

# attack NAME [UIDS]
attack() {
	local name=$1 flood leaking leak late seq grew first oldest
	load sample_interval_ms=$interval_ms suspect_interval_ms=$interval_ms pmc=off \
		min_process_size_mb=1 alert_interval_s=0 alerts_per_minute=$minute max_cpu_permille=1000
	echo >$tracing/trace
	echo 1 >$tracing/events/seepage/seepage_state/enable
	echo 1 >$tracing/events/seepage/seepage_alert/enable
	rm -f flood.out leak.out
	"${mallory[@]}" python3 "$bin/limits.py" $children "${@:2}" >flood.out &
	flood=$!
	wait_for 60 grep -qx ready flood.out
	wait_long 600 reached .counters.alerts_suppressed 40

	"${victim[@]}" "$bin/idle" 1 512 >leak.out &
	leaking=$!
	wait_for 20 test -s leak.out
	read -r leak <leak.out
	wait_long 900 told "$leak"
	late=$(late_ms "$leak")
	seepage -j alerts >minutes
	echo "$name: the leak was told $late ms late"
	((late >= 0 && late <= interval_ms)) || die "$name: the leak was told $late ms late"
	jq -se --argjson share $((minute / 4)) '[.[] | select((.comm | startswith("flood")) and .state != "exited").time_ns / 6e10] |
		length > 0 and length <= $share * ((.[-1] - .[0] | floor) + 2)' minutes >/dev/null ||
		die "$name: the flood has more than its share of the minutes: $(jq -c '[.comm, .state, .time_ns]' minutes)"

	seq=$(jq -s "[.[] | select(.pid == $leak)][0].seq" minutes)
	seepage set alerts_per_minute 100000
	wait_long 1800 reached .seq_last $((seq + ring + 40))
	kill $flood
	wait $flood 2>/dev/null || true
	# The ring is read in parts: it may also show what came meanwhile.
	first=$(seepage -j status | jq -r '"\(.seq_first) \(.seq_last)"') || die "$name: no status"
	read -r first grew <<<"$first"
	seepage -j alerts >ring
	grew=$(($(status .seq_last) - grew))
	echo "$name: $(jq -s 'length' ring) alerts kept of $(status .seq_last), $(jq -s 'map(select((.comm | startswith("flood")))) | length' ring) of the flood, severities $(jq -sc 'map(select((.comm | startswith("flood"))).severity) | unique' ring)"
	jq -se "any(.seq == $seq and .pid == $leak)" ring >/dev/null ||
		die "$name: alert #$seq of the leak is not in the ring any more"
	jq -se --argjson most $((ring / 2 + grew)) 'map(select((.comm | startswith("flood")))) | length <= $most' ring >/dev/null ||
		die "$name: the flood has more than half of the ring"
	jq -se '[.[].seq] as $s | $s == ($s | sort | unique)' ring >/dev/null || die "$name: numbers do not ascend"
	oldest=$(jq -s '.[0].seq' ring)
	((first <= oldest && oldest <= $(status .seq_first))) ||
		die "$name: seq_first was $first and is $(status .seq_first), the ring begins with $oldest"
	# A reader is told of what is missing in between.
	seepage -j watch --no-cold --since "$seq" --timeout 10 >watched
	jq -se --argjson seq "$seq" '.[0].seq == $seq and any(.lost) and
		([.[] | if .lost then .lost.to + 1 - .lost.from else 1 end] | add) == .[-1].seq + 1 - $seq' watched >/dev/null ||
		die "$name: watch says: $(jq -c '[.seq, .lost]' watched | head -n 5 | tr '\n' ' ')"
	reached .counters.alerts_overwritten 1 || die "$name: nothing was overwritten"
	jq -se 'map(select((.comm | startswith("flood")))) | any(.state == "runaway" and .limit == "rlimit_as") and
		all(.severity <= 6)' ring >/dev/null ||
		die "$name: $(jq -c 'select((.comm | startswith("flood"))) | [.state, .limit, .severity]' ring | sort | uniq -c | tr '\n' ' ')"
	assert_eq "$(jq -s "[.[] | select(.pid == $leak and .state == \"runaway\").severity] | all(. == 10)" ring)" true \
		"$name: severity of the leak"
	kill $leaking
	wait $leaking 2>/dev/null || true
	wait_long 60 flood_is_over
}

# The one with more users is the stronger one.
[[ ${SEEPAGE_SHORT:-} ]] || attack plain
attack namespace 20
