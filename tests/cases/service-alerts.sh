#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# One alert a service. A prefork service of six leaking workers is one subject: at most three
# alerts, of the group, and none of a worker. A worker that leaks alone has an alert of its
# own. An alert that a worker had passes to the group when others begin to grow. A service that
# is restarted and leaks again has one alert a life.
# vm: --warp --mem 1500
# about: kmod/alert.c kmod/group.c kmod/suspect.c kmod/view.c
# matrix: tests/scale has the same services in a simulated machine, service-lives groups here
# takes: 85
# timeout: 9000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/service-lib.sh"
scratch=$(mktemp -d)

of() { seepage -j alerts | jq -c "select(.comm == \"$1\")"; }
alerts_of() { of "$1" | jq -rs '[.[].state] | join(" ")'; }
is_told() { [[ $(alerts_of "$1") == @(suspected|confirmed|runaway)* ]]; }
has_ended() { [[ $(alerts_of "$1") == *exited ]]; }
state_of() { seepage -j show "$1" | field .state; }
in_alert() { [[ $(state_of "$1") == @(suspected|confirmed|runaway) ]]; }

load pmc=off
# six workers, 60 MiB a minute together: 25 minutes to the end
service six 6 170
oldest=$master
wait_long 1200 is_told six
echo "after ${SECONDS} s"
for pid in "${workers[@]}"; do
	wait_long 600 in_alert "$pid"
done
sleep 120
of six
assert_eq "$(of six | jq -s 'all(.subject == "group" and .members == 7 and .pid == '"$oldest"')')" true "alerts of the group"
assert_eq "$(of six | jq -s '.[0].growing >= 2 and .[-1].growing == 6')" true "growing"
n=$(of six | wc -l)
((n <= 3)) || die "$n alerts for one service: $(alerts_of six)"
# the sum of six: 60 MiB a minute, which is 3.5 GiB an hour
assert_eq "$(of six | jq -s 'all(.growth_bytes_per_hour > 2.4e9 and .growth_bytes_per_hour < 4.8e9)')" true \
	"growth of the sum: $(of six | jq -s -c 'map(.growth_bytes_per_hour)')"
# one worker ends, another takes its place: the alert goes on
kill "${workers[0]}"
sleep 60
[[ $(alerts_of six) != *@(recovered|exited)* ]] || die "a worker ended, and the service is said to be well: $(alerts_of six)"
disperse $master
wait_long 60 has_ended six
assert_eq "$(of six | jq -s '[.[] | select(.state == "exited")] | length')" 1 "exits told of six"

# one leaks, five do not
service one 5
idle=$master
service one 1 500
leak=${workers[0]}
wait_long 1200 in_alert "$leak"
sleep 30
of one
assert_eq "$(of one | jq -s "length > 0 and all(.pid == $leak and .subject == \"memory\" and .members == null)")" true \
	"the alert of the one that leaks"
n=$(of one | wc -l)
# others of its name begin to leak as well: no second alert unless it is worse
worst=$(alerts_of one)
worst=${worst##* }
service one 3 300
sleep 200
echo "of one: $(alerts_of one), then $(state_of "$leak") $(state_of "${workers[0]}")"
assert_eq "$(of one | jq -s '[.[] | select(.state == "'"$worst"'")] | length')" 1 "alerts of the same state"
assert_eq "$(of one | jq -s '[.[].state] | length == (unique | length)')" true "each state once"
disperse $idle $master
pkill -x one || true

# a service that is restarted and leaks again: one alert a life, which says so
# lives NAME N WORKERS KB: each life is four minutes
lives() {
	local life
	for ((life = 1; life <= $2; life++)); do
		service "$1" "$3" "$4"
		sleep 240
		worst=$(state_of "${workers[0]}")
		echo "$1, life $life: $worst, so far $(alerts_of "$1")"
		disperse $master
		sleep 15
		told[life]=$(of "$1" | wc -l)
	done
}
told=()
lives again 6 1 1280
((told[1] >= 1 && told[1] <= 4)) || die "${told[1]} alerts in the first life: $(alerts_of again)"
for life in 2 3 4 5 6; do
	assert_eq $((told[life] - told[life - 1])) 1 "alerts in life $life ($(alerts_of again))"
done
[[ $worst == @(confirmed|runaway) ]] || die "the state in the last life: $worst"
last=$(of again | tail -n 1)
echo "$last" | jq -c '[.times, .first_time_ns, .life_seconds, .life_growth_bytes_per_hour, .last_end]'
assert_eq "$(field .times <<<"$last")" 6 "times"
assert_eq "$(field .first_time_ns <<<"$last")" "$(of again | head -n 1 | field .time_ns)" "first_time_ns"
jq -e '.life_seconds >= 230 and .life_seconds <= 330' <<<"$last" >/dev/null || die "life_seconds: $last"
assert_eq "$(jq -c '[.last_end.kind, .last_end.signal, .end]' <<<"$last")" '["signal",9,null]' "end of the life before"
text=$(seepage show "#$(field .seq <<<"$last")")
[[ $text == *"6th time since "*"each life 4"* ]] || die "show: $text"

told=()
lives fleet 3 6 320
for life in 2 3; do
	assert_eq $((told[life] - told[life - 1])) 1 "alerts of six workers in life $life ($(alerts_of fleet))"
done
assert_eq "$(of fleet | tail -n 1 | jq -c '[.times, .subject, .members]')" '[3,"group",7]' "the last alert of six workers"
unload
