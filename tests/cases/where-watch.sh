#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage watch --where looks at what alerts are about: it starts the tool, which takes a look at a
# leak that is told, names its function with burst, and ends with watch. A program beside it that
# does not leak is not looked at. The looks do not make memory seem to be used: the verdict stays.
# vm: --warp --mem 1024
# about: ctl/cmd ctl/where ctl/tools kmod/where
# takes: 120
# timeout: 1800
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"

# What watch starts, with a tool that only says so
mkdir fake alone
cat >fake/seepage-where <<'FAKE'
#!/bin/sh
echo "$*" >>said
FAKE
chmod 755 fake/seepage-where
# started WANTED OPTION...: what the tool is given, once watch runs. Time that is skipped is that of
# reading programs, too: no timeout would do.
started() {
	local want=$1 watch
	shift
	: >said
	SEEPAGE_LIBEXEC=$PWD/fake seepage watch "$@" >/dev/null 2>err &
	watch=$!
	wait_for 60 grep -q 'waiting for the first' err
	[[ ! $want ]] || wait_for 60 test -s said
	sleep 2
	kill $watch
	wait $watch || die "watch $*: status $?"
	assert_eq "$(tr '\n' ';' <said)" "$want" "watch $* starts"
}
started "--follow census;"
started "--follow census;" --where census
started "--follow burst,20;" --where burst,20
started "" --where off
for bad in '' x of bursts census20 burst,0 burst,5000; do
	status=0
	SEEPAGE_LIBEXEC=$PWD/fake seepage watch --where "$bad" 2>err || status=$?
	assert_eq "$status" 2 "status of watch --where '$bad'"
	[[ $(<err) == "seepage: watch: --where: '$bad': allowed census burst, with ,1 to ,1000, or off"* ]] ||
		die "watch --where '$bad' says: $(<err)"
done
# Where the tool is not installed, watch goes on, and says so if it was asked for.
cp "$(type -P seepage)" alone
missing() {
	alone/seepage watch "$@" >/dev/null 2>err &
	wait_for 60 grep -q 'waiting for the first' err
	kill $!
	wait $! || die "watch: status $?"
	grep -c '^seepage: where: not installed: ' err || true
}
assert_eq "$(missing)" 0 "how often it says that the tool is missing, where nobody asked for it"
assert_eq "$(missing --where census)" 1 "how often it says that the tool is missing"

# A real leak, beside its twin
insmod "$where_ko"
"$top/build/tests/requests" leak &
leak=$!
"$top/build/tests/requests" &
twin=$!
seepage watch --where burst >watched 2>&1 &
watch=$!
look() { seepage -j explain "$leak" >explain.json && jq -e "$1" explain.json >/dev/null; }
wait_long 3600 grep -q " pid $leak (requests)" watched
seepage -j status | jq -c .where
wait_long 1200 look '.where.sites | length > 0'
jq -c '.where | {method, text}' explain.json
[[ $(field '[.where.sites[0].stack[].demangled] | join(" ")' explain.json) == *"add_node("*"handle_request("* ]] ||
	die "add_node is not in the first stack"
assert_eq "$(field .where.method explain.json)" burst "method of the answer"
(($(field '.where.sites[0].survival_permille' explain.json) >= 900)) || die "survival below 900"
seepage explain "$leak" | sed -n '/^What it keeps/,/^$/p' >text
cat text
grep -q 'vtable Node' text || die "explain does not show the type"
grep -q 'add_node(.*handle_request(.* stay' text || die "explain does not show the site"
# Also by the number of the alert
assert_eq "$(seepage -j explain '#1' | field '.where.method')" burst "the look, by the number of the alert"
[[ $(seepage -j explain "$twin" | field .where) == null ]] || die "the twin was looked at"

# What it cost
seepage status | grep '^where:'
seepage -j status >status.json
grep " pid $leak (requests)" watched
assert_eq "$(field '.where | [.left_out, .limit_permille] | join(" ")' status.json)" "0 5" "left out, limit"
# A look for each alert that asks for one; a burst for each that is no first one. Without a first
# look that was kept, a second one takes two.
alerts=$(grep -cE " (suspected|confirmed|runaway): pid $leak " watched)
second=$(grep -cE " (confirmed|runaway): pid $leak " watched)
grep -q " suspected: pid $leak " watched || alerts=$((alerts + 1))
(($(field .where.looks status.json) <= alerts)) || die "too many looks"
bursts=$(field .where.bursts status.json)
((bursts >= 1 && bursts <= second)) || die "bursts: $bursts, of $second alerts that ask for one"

# What watch then finds out about the use of memory: the looks have touched all of it.
kill -KILL "$twin"
looked_since() { seepage -j explain "$leak" >later.json && (($(field '.cold_age_seconds // 99999' later.json) < $(date +%s) - since)); }
since=$(date +%s)
wait_long 1800 looked_since
jq -c '[.state, .confidence, .cold_permille, .cold_age_seconds, [.gates[] | select(.passed | not) | .gate]]' later.json
assert_eq "$(field '.state | IN("confirmed", "runaway")' later.json)" true "still under alert"
(($(field .cold_permille later.json) >= 900)) || die "a look counts as use"

# It ends with watch.
pgrep -f 'seepage-where --follow' >/dev/null || die "the tool has ended before watch"
kill -KILL $watch
ended() { ! pgrep -f 'seepage-where --follow|no-cold' >/dev/null; }
wait_for 10 ended
kill -KILL "$leak"
wait || true
rmmod seepage_where
field '.where.text[1]' explain.json
