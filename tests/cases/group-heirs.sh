#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A leak that each process hands on to a child is a leak of their group. If a process
# rose and gave the memory back, later ones of that name may rise as much, but not more.
# vm: --warp --mem 2048
# about: kmod/alert.c kmod/detect kmod/group.c kmod/sample.c
# matrix: service-lives judges groups and their lives, this one more generations
# takes: 63
# timeout: 6000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/replay-lib.sh"
scratch=$(mktemp -d)
alerts_of() { seepage -j alerts | jq -rs "[.[] | select(.comm == \"$1\") | .state] | join(\" \")"; }
has_alert() { [[ $(alerts_of "$1") == *$2* ]]; }
# Late passes, on a busy machine, may leave the first state out.
is_told() { [[ $(alerts_of "$1") == @(suspected|confirmed|runaway)* ]]; }
pid_of() { seepage -j ps | jq ".[] | select(.comm == \"$1\") | .pid" | tail -n 1; }

# heirs: 20 MB a minute, a minute each; climb MB REST: in five minutes, kept for one
cp "$(command -v perl)" "$scratch/heirs"
cp "$(command -v perl)" "$scratch/climbs"
cp "$(command -v perl)" "$scratch/tops"
cp "$(command -v perl)" "$scratch/again"
# shellcheck disable=SC2016 # perl's
climb() {
	"$scratch/climbs" -e 'for (1 .. shift) { push @a, "x" x 1048576; select undef, undef, undef, 300 / $ARGV[0] }
		sleep 60; @a = (); undef @a; sleep shift' "$1" "$1" "$2" &
}

load pmc=off
seepage record -o all.series &
recorder=$!
# as it is at its top, and no alert
# shellcheck disable=SC2016
top() { "$scratch/tops" -e 'for (1 .. 60) { push @a, "x" x 1048576; sleep 1 }'; }
# and one that takes its own place at its top
# shellcheck disable=SC2016
"$scratch/again" -e 'for (1 .. 60) { push @a, "x" x 1048576; sleep 1 } exec $^X, "-e", "sleep 60"' &
# shellcheck disable=SC2016
"$scratch/heirs" -e 'while (1) { for (1 .. 20) { push @a, "x" x 1048576; sleep 3 } exit if fork }' &
climb 250 100
climber=$!
wait_long 600 is_told climbs
wait_long 600 has_alert climbs recovered
wait $climber
top
sleep 20
top
echo "the first climb: $(alerts_of climbs)"
wait_long 3600 is_told heirs
alert=$(seepage -j alerts | jq -cs '[.[] | select(.comm == "heirs")][0]')
echo "$alert"
assert_eq "$(field .subject <<<"$alert")" group "what the alert of the heirs is about"
before=$(alerts_of climbs)
climb 250 60
sleep 330
text=$(seepage explain "$(pid_of climbs)")
echo "$text"
[[ $text == *"it or others of its name have given back such rises before"* ]] || die "explain does not say so"
wait $!
assert_eq "$(alerts_of climbs)" "$before" "alerts of the second climb, like the first"
has_alert heirs exited && die "the heirs are said to have ended: $(alerts_of heirs)"
pkill -9 heirs
seepage reset all
top
kill -INT $recorder
wait $recorder
replayed all
# begun NAME NTH: what the NTH process of that name knew as it began
begun() { grep "^proc .* comm=$1 " all.series | sed -n "$2p" | grep -oE ' known_rise=[0-9]+ .*'; }
for name in climbs tops again; do
	grep -E ' known_rise=[2-6][0-9]{7,8} ' < <(begun $name 2) ||
		die "the second of $name did not begin with what the first did"
done
assert_eq "$(begun climbs 1 || true)$(begun tops 1 || true)" "" "what the first of a name knew"
assert_eq "$(begun tops 3 || true)" "" "what the third of tops knew after a reset of all"
assert_eq "$(grep -c '^proc .* comm=tops ' all.series)" 3 "processes named tops in the series"
unload
