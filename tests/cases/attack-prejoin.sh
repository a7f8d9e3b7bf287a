#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A plain user that joins every group number before the module is loaded is told
# nothing: neither after the load, nor after a reload, nor while it joins without end. Beside 50
# that join without end the module may leave multicast off. Then status says so, they are told
# nothing, and watch prints an alert all the same.
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
	seepage -j alerts | grep . >/dev/null || die "no alert was raised"
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

for way in race bind; do
	unload
	listen $way 600 --$way 4
	for _ in 1 2 3 4 5; do
		load sample_interval_ms=200 suspect_interval_ms=200
		sleep 0.5
		unload
	done
	load sample_interval_ms=200 suspect_interval_ms=200
	told
	heard $way
done

watched() { jq -se "any(.pid == $1)" many.json >/dev/null; }
unload
listen many 600 --race 50
load sample_interval_ms=200 suspect_interval_ms=200 policy=classic warmup_s=0 \
	min_process_size_mb=1 alert_confidence=20 max_cpu_permille=1000
off=$(seepage -j status | field .multicast_off)
echo "many: multicast_off $off"
seepage -j watch --no-cold --where off >many.json 2>many.err &
watch=$!
wait_for 20 grep -q . many.err		# it has asked the module
"$top/build/tests/idle" 1 5000 >leak.out &
parent=$!
wait_for 20 test -s leak.out
read -r leak <leak.out
wait_for 60 watched "$leak"
echo "many: watch has printed the alert"
disperse $parent
kill $watch
wait $watch || true
if [[ $off == true ]]; then
	seepage status | grep '^multicast: *OFF' >/dev/null || die "status: $(seepage status | head -n 4)"
	grep -q 'multicast is off' many.err || die "watch did not say it: $(cat many.err)"
fi
heard many
