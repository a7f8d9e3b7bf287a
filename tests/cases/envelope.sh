#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a process climbed and released is kept over a reload of the module: envelope saves it, and the
# next load knows it once it was handed back, to a process that began later and to no other.
# vm: --warp --mem 2048
# about: ctl include/uapi kmod/detect kmod/group.c kmod/netlink kmod/sample.c
# takes: 20
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
cp "$(command -v perl)" "$scratch/climbs"
cp "$(command -v perl)" "$scratch/older"
export SEEPAGE_STATE_DIR=$scratch/state
# entries JQ: a value of what is kept
entries() { seepage -j envelope list | jq -r "$1"; }
# knows COMM: the rise that the module says it knows of processes of that name; 0: none
knows() {
	rm -rf "$scratch/asked"
	SEEPAGE_STATE_DIR=$scratch/asked seepage envelope save >/dev/null
	SEEPAGE_STATE_DIR=$scratch/asked seepage -j envelope list 2>/dev/null |
		jq "[.[] | select(.comm == \"$1\") | .rise_bytes] | max // 0"
}
is_saved() {
	seepage envelope save >/dev/null
	[[ $(entries '[.[] | select(.comm == "climbs") | .rise_bytes] | max // 0') -gt 20000000 ]]
}

load pmc=off
"$scratch/older" -e 'sleep 6000' &
older=$!
# 60 MB in a minute, given back; it lives on
# shellcheck disable=SC2016 # perl's
"$scratch/climbs" -e 'for (1 .. 60) { push @a, "x" x 1048576; sleep 1 } sleep 20; @a = (); undef @a; sleep 6000' &
pid=$!
wait_long 600 is_saved
entries 'map(.comm) | unique | .[] | select(. != "climbs")' | while read -r comm; do
	seepage envelope forget "$comm" >/dev/null 2>&1
done
rise=$(entries '.[].rise_bytes')
assert_eq "$(stat -c %a "$SEEPAGE_STATE_DIR/envelope.json")" 600 "mode of the file"
assert_eq "$(seepage envelope restore)" "0 processes" "what comes back to the load that reported it"
kill $pid
unload

# The same entry for a process that is older than it
mkdir "$scratch/third"
sed 's/"climbs"/"older"/' "$SEEPAGE_STATE_DIR/envelope.json" >"$scratch/third/envelope.json"
load pmc=off
"$scratch/climbs" -e 'sleep 6000' &
pid=$!
sleep 5
assert_eq "$(knows climbs)" 0 "what the new load knows"
assert_eq "$(seepage envelope restore)" "1 process" "told"
now=$(knows climbs)
[[ $now == "$rise" ]] || die "the new load knows '$now', not '$rise':" \
	"$(seepage -j show $pid | jq -c '[.pid, .comm, .uid, .age_seconds, .state, .known_rise_bytes, .cgroup]')," \
	"$(cat "$scratch/asked/envelope.json" 2>&1), $(cat /proc/uptime) $(cut -d' ' -f22 /proc/$pid/stat)"
assert_eq "$(seepage envelope restore)" "0 processes" "told again"
assert_eq "$(SEEPAGE_STATE_DIR=$scratch/third seepage envelope restore)" "0 processes" "an older process"
assert_eq "$(knows older)" 0 "what is known of the older one"
seepage envelope save >/dev/null
kill $pid
unload

# As a service: a process that begins after it is told, and the end saves.
load pmc=off
seepage envelope run --every 3600 &
service=$!
"$scratch/climbs" -e 'sleep 6000' &
pid=$!
is_known() { [[ $(knows climbs) == "$rise" ]]; }
wait_long 120 is_known
kill $service
wait $service || die "the service has ended with status $?"
kill $older $pid
seepage envelope forget climbs >out
[[ $(cat out) == *climbs* ]] || die "what forget has removed: $(cat out)"
assert_eq "$(entries 'map(select(.comm == "climbs")) | length')" 0 "entries that are left"
status=0
seepage envelope forget climbs >said 2>&1 || status=$?
assert_eq "$status $(wc -l <said)" "1 1" "to forget what there is not: $(cat said)"

echo '{"version": 9}' >"$SEEPAGE_STATE_DIR/envelope.json"
for verb in list save restore run; do
	! seepage envelope $verb >said 2>&1 || die "$verb takes a file of another version"
	[[ $(cat said) == *"envelope.json: version: '9': allowed 1"* ]] || die "$verb: $(cat said)"
	assert_eq "$(cat "$SEEPAGE_STATE_DIR/envelope.json")" '{"version": 9}' "the file after $verb"
done
