#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A leak that is handed on from each process to a child is one of their group. What
# one of a name did and gave back, the next of that name may do, but not more.
# vm: --warp --mem 2048
# timeout: 6000
. "$(dirname "$0")/lib.sh"
scratch=$(mktemp -d)
alerts_of() { seepage -j alerts | jq -rs "[.[] | select(.comm == \"$1\") | .state] | join(\" \")"; }
has_alert() { [[ $(alerts_of "$1") == *$2* ]]; }
in_time() {	# as wait_for, but a look costs more than the time it skips
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || die "waited in vain for: $*"
		sleep 10
	done
}
pid_of() { seepage -j ps | jq ".[] | select(.comm == \"$1\") | .pid" | tail -n 1; }

# heirs: 20 MB a minute, a minute each; climb MB REST: in five minutes, kept for one
cp "$(command -v perl)" "$scratch/heirs"
cp "$(command -v perl)" "$scratch/climbs"
climb() {
	"$scratch/climbs" -e 'for (1 .. shift) { push @a, "x" x 1048576; select undef, undef, undef, 300 / $ARGV[0] }
		sleep 60; @a = (); undef @a; sleep shift' "$1" "$1" "$2" &
}

load
"$scratch/heirs" -e 'while (1) { for (1 .. 20) { push @a, "x" x 1048576; sleep 3 } exit if fork }' &
climb 400 100
in_time 600 has_alert climbs suspected
in_time 600 has_alert climbs recovered
wait $!
echo "the first climb: $(alerts_of climbs)"
in_time 3600 has_alert heirs suspected
alert=$(seepage -j alerts | jq -cs '[.[] | select(.comm == "heirs")][0]')
echo "$alert"
assert_eq "$(field .series <<<"$alert")" group "what the alert of the heirs is about"
before=$(alerts_of climbs)
climb 400 60
sleep 330
text=$(seepage explain "$(pid_of climbs)")
echo "$text"
[[ $text == *"it or others of its name have given back such rises before"* ]] || die "explain does not say so"
wait $!
assert_eq "$(alerts_of climbs)" "$before" "alerts of the second climb, like the first"
has_alert heirs exited && die "the heirs are said to have ended: $(alerts_of heirs)"
pkill -9 heirs
unload
