#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A plain user that joins every group number before the module is loaded is told
# nothing: neither after the load, nor after a reload, nor while it joins without end.
# vm: --smp 2
# about: kmod/netlink kmod/publish.*
# takes: 36
# timeout: 240
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)

# listen NAME SECONDS OPTION...: in the background, as nobody; sets listener
listen() {
	local name=$1
	shift
	"${nobody[@]}" python3 "$top/tests/attack/prejoin.py" "$@" >"$name" &
	listener=$!
	wait_for 20 grep -qx ready "$name"
}

# What a listener with rights is told meanwhile: else silence would show nothing.
told() {
	"$nltest" perm-alerts >/dev/null || die "no alerts to be heard"
	seepage -j alerts | grep -q . || die "no alert was raised"
}

# heard NAME: listens for a second more, in which all that was sent arrives.
heard() {
	local line
	sleep 1
	kill "$listener"
	wait "$listener" || true
	line=$(tail -n 1 "$1")
	echo "$1: $line"
	[[ $line == *" joined, 0 messages" ]] || die "$1: a plain user was told: $line"
	[[ $line != "0 joined"* ]] || die "$1: it could join nothing"
}

unload
listen before-load 600
load sample_interval_ms=200 suspect_interval_ms=200
told
unload			# the groups are without an owner again
sleep 1
load sample_interval_ms=200 suspect_interval_ms=200
told
heard before-load

unload
listen between 600
load sample_interval_ms=200 suspect_interval_ms=200
told
heard between

unload
listen race 600 --race
for _ in 1 2 3 4 5; do
	load sample_interval_ms=200 suspect_interval_ms=200
	sleep 0.5
	unload
done
load sample_interval_ms=200 suspect_interval_ms=200
told
heard race
