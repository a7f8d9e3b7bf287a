#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A leak spread over many small processes raises one alert, with the name of the first of
# them. Many processes that start and exit, or that stay without a leak, raise none.
# vm: --warp --mem 2048
# about: kmod
# matrix: service-lives tells of groups, tests/scale of services in many forms
# takes: 40
# timeout: 9000
. "$(dirname "$0")/lib.sh"
brood=$top/build/tests/brood
pids=()
# As another program: a group goes by its name.
start() {
	cp "$brood" "$scratch/$1"
	"$scratch/$1" "${@:2}" &
	pids+=($!)
}
alerts_of() { seepage -j alerts | jq -rs "[.[] | select(.comm == \"$1\") | .state] | join(\" \")"; }
# Late passes, on a busy machine, may leave the first state out.
is_told() { [[ $(alerts_of "$1") == @(suspected|confirmed|runaway)* ]]; }
scratch=$(mktemp -d)

load max_processes=4000
start comers 8 4 100000 60	# 15 of them, each for a minute
start stayers 8 1 20		# 20 that stay
sleep 300
start leavers 4 10 100000	# 24 MB a minute, 4 MB in each
leavers=${pids[2]}
end=$((SECONDS + 3600))
until is_told leavers; do
	((SECONDS < end)) || die "no alert of the leaking group: $(seepage -j alerts) $(seepage ps | head -5)"
	sleep 10
done
echo "told after $((3600 - (end - SECONDS))) s"
alert=$(seepage -j alerts | jq -cs '[.[] | select(.comm == "leavers")][0]')
echo "$alert"
assert_eq "$(field .pid <<<"$alert")" "$leavers" "the first process of the group"
(($(field .anon_bytes <<<"$alert") > 100000000)) || die "anon_bytes is not that of the group: $alert"
assert_eq "$(seepage -j ps | jq '[.[] | select(.comm == "leavers" and .state != "ok")] | length')" 0 \
	"members that are not ok by themselves"
before=$(alerts_of leavers)
[[ $before != *@(recovered|exited)* ]] || die "the group leaks on and was told to be well: $before"
# Its processes end one by one: a pass in between sees a group that has shrunk.
kill -KILL "${pids[2]}"
wait "${pids[2]}" 2>/dev/null || true
end=$((SECONDS + 120))
until [[ $(alerts_of leavers) == *@(recovered|exited) ]]; do
	((SECONDS < end)) || die "the end of the group was not told: $(alerts_of leavers)"
	sleep 5
done
assert_eq "$(alerts_of comers)$(alerts_of stayers)" "" "alerts of the harmless ones"
kill -KILL "${pids[0]}" "${pids[1]}"
wait 2>/dev/null || true
unload
