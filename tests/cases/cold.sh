#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two programs grow at the same rate. One never uses its memory again, the other uses
# an eighth of it each second. By growth alone both are leaks. While `watch` measures which
# memory they use, only the first one is. Of a third one, which uses all of it at once, explain
# says that use is not known. Also: the limit of a nearly full cgroup is reported as the limit
# that a process in it reaches first.
# vm: --warp --mem 2048
# about: ctl/cold kmod/detect kmod/facts.c kmod/sample.c
# takes: 25
# timeout: 5400
. "$(dirname "$0")/lib.sh"

# Names of their own: what processes of one name hold together is not the matter.
ln -s "$top/build/tests/warm" leaks
ln -s "$top/build/tests/warm" works
state() { seepage -j show "$1" | jq -r .state; }
is_alert() { [[ $(state "$1") =~ ^(suspected|confirmed|runaway)$ ]]; }
in_watch() { [[ $(state "$1") == watch ]]; }
# gate PID NAME: passed, closed or none; points PID NAME
gate() {
	seepage -j explain "$1" | jq -r --arg g "$2" \
		'[.gates[] | select(.gate == $g)][0] | if . then if .passed then "passed" else "closed" end else "none" end'
}
points() { seepage -j explain "$1" | jq -r --arg f "$2" '.score[$f] // "none"'; }
rate() { seepage -j explain "$1" | jq -r '.use.rate // "none"'; }
is_at_once() { [[ $(rate "$1") == at_once ]]; }
is_closed() { [[ $(gate "$1" cold) == closed ]]; }
is_cold() { [[ $(points "$1" cold) == 12 ]]; }
uptime_s() { cut -d. -f1 /proc/uptime; }
# has_newer PID TIME: what it uses was found after TIME, of uptime_s
has_newer() {
	local age
	age=$(field .cold_age_seconds <(seepage -j show "$1"))
	[[ $age != null ]] && ((age < $(uptime_s) - $2))
}
begin() {
	./leaks leak 1024 &
	leak=$!
	# As fast; half of it is used within 3 to 4 s, well before the look at 5 s.
	./works use 768 750 &
	use=$!
}
end() {
	kill "$@"
	wait "$@" 2>/dev/null || true
}

load suspect_interval_ms=1000
# Nobody looks: both are accused, and nothing is said of what they use.
seepage watch --no-cold >/dev/null &
watch=$!
begin
wait_long 1200 is_alert "$leak"
wait_long 1200 is_alert "$use"
for pid in "$leak" "$use"; do
	assert_eq "$(gate "$pid" cold)" none "--no-cold: gate cold of $pid"
	assert_eq "$(points "$pid" pmc)" none "no counters: points of $pid for their misses"
	assert_eq "$(seepage -j show "$pid" | jq -c '[.cold_permille, .cold_age_seconds]')" \
		'[null,null]' "--no-cold: factors of $pid"
	assert_eq "$(field .limit <(seepage -j show "$pid"))" ram "limit of $pid"
	assert_eq "$(field .subject <(seepage -j show "$pid"))" memory "subject of $pid"
done
end "$watch" "$leak" "$use"
echo "without a look: both alert"

# The same with a look.
seepage -j watch >watched &
watch=$!
begin
wait_long 300 in_watch "$use"
wait_long 300 is_closed "$use"
wait_long 300 is_cold "$leak"
# Whoever reads its blocks sets the referenced bits of all its memory. There is no result of that
# time, and the next one is as before.
seepage where --census -s 5 "$leak" >where.out || die "where: $(<where.out)"
was_read=$(uptime_s)
wait_long 300 has_newer "$leak" "$was_read"
if ! is_cold "$leak"; then
	seepage explain "$leak"
	die "used, because where read it"
fi
wait_long 1200 is_alert "$leak"
is_closed "$use" || die "$(seepage explain "$use")"
in_watch "$use" || die "the working set is $(state "$use")"
# For ten times as long as the other took, a third of it in make test, nothing changes about that.
for ((i = 0; i < $(some 10); i++)); do
	sleep 40
	in_watch "$use" || die "the working set is $(state "$use") after $((40 * i)) s: $(seepage explain "$use")"
	is_closed "$use" || die "the gate opened: $(seepage explain "$use")"
done
seepage explain "$leak"
seepage explain "$use"
read -r leak_cold use_cold < <(for pid in "$leak" "$use"; do
	field .cold_permille <(seepage -j show "$pid")
done | xargs)
((leak_cold >= 950 && use_cold <= 50)) || die "cold: leak $leak_cold, use $use_cold permille"
assert_eq "$(rate "$leak") $(rate "$use")" "late fast" "rates of leak and use"
seepage -j explain "$use" | jq -c .use
seepage -j explain "$leak" | jq -c .use
echo "cold permille: leak $leak_cold, working set $use_cold"
end "$watch" "$leak"
jq -se --argjson pid "$use" 'any(.pid == $pid)' watched >/dev/null && die "the working set raised an alert"
jq -se --argjson pid "$leak" '[.[] | select(.pid == $pid) | .score.cold] | max == 12' watched >/dev/null ||
	die "no alert of the leak has the factors: $(<watched)"

# A reset forgets what was found.
seepage reset history "$use"
assert_eq "$(seepage -j show "$use" | jq -c '[.cold_permille, .cold_age_seconds]')" '[null,null]' "after a reset"
end "$use"

# All is used at once: each page may have a live object, and leaked ones. explain says so.
seepage -j watch >/dev/null &
watch=$!
./works scan 256 250 &
scan=$!
wait_long 600 is_at_once "$scan"
wait_long 600 is_closed "$scan"
assert_eq "$(seepage -j explain "$scan" | jq -c '.use | [.known, (.looks | length > 0), .age_seconds >= 0]')" \
	'[false,true,true]' "used at once: JSON"
seepage explain "$scan" | grep -A2 '^Use of its growth' | tee said
grep -q 'Not known: all was used by the first look' said || die "explain does not say why"
# The same by a look of its own
end "$watch"
seepage -j explain --cold --window 5 "$scan" | jq -c '.cold_look | [.use.rate, .cold_permille <= 10]' >said
assert_eq "$(<said)" '["at_once",true]' "explain --cold"
end "$scan"
