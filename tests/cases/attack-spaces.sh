#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Plain users do what needs no rights: a fork bomb up to its limit of processes; a tracer of a
# child that grows and of others that execute and are killed; new user, pid and net namespaces
# that ask the module, beside 200 threads that ask without end and one that asks for what none of
# its 600 processes is, while families are registered. Under each of them a leak of
# another user is told, no full pass is more than one interval late, and the module can be
# unloaded. The bomb has half of the records. The child is told of though it is traced. A
# namespace is told of its own processes only and changes nothing. Other generic netlink goes on,
# also while the module is unloaded. Not shown, because it does not hold: that rmmod succeeds while
# the 200 threads ask.
# A debug kernel is allowed five times as long: what counts there is what it reports.
# vm: --smp 2 --mem 1024
# kmod: family
# about: kmod tests/prog
# matrix: its bounds of time need an idle host: 1.1 and 4.5 s between two passes were seen on a busy one
# takes: 60
# timeout: 300
. "$(dirname "$0")/lib.sh"
interval_ms=1000 max=96 slow=${SEEPAGE_SLOW:-1} tracing=/sys/kernel/tracing
[[ -e $tracing/trace ]] || mount -t tracefs none $tracing
sysctl -qw kernel.unprivileged_userns_clone=1 2>/dev/null || true
# Copies where every user can reach them; the checkout may be in a home directory.
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
install -m 755 "$top"/build/tests/{bomb,dumpers,idle,tracer} "$bin"
# Namespaces tell processes of others by their name.
cp "$bin/dumpers" "$bin/flood"
cp "$bin/dumpers" "$bin/asks"
cp "$bin/dumpers" "$bin/crowd"

# as UID COMMAND...
as() { exec setpriv --reuid "$1" --regid "$1" --clear-groups --bounding-set=-all "${@:2}"; }
told() { seepage -j alerts | jq -se "any(.pid == $1)" >/dev/null; }

# longest_gap: ms without a full pass, from one mark in the trace to the next, or between
longest_gap() {
	sed -En 's/^.* ([0-9.]+): (seepage_tick: full=1 |tracing_mark_write: ).*/\1/p' \
		"$tracing/trace" |
		awk 'last && $1 - last > most { most = $1 - last } { last = $1 }
			END { print int(1000 * most) }'
}

# ready FILE [SECONDS]: waits for the first line of an attack
ready() { wait_for "${2:-20}" test -s "$1"; }

# begin: loads the module and watches its passes. No attack runs yet.
begin() {
	load max_processes=$max sample_interval_ms=$interval_ms suspect_interval_ms=$interval_ms \
		policy=classic warmup_s=0 min_process_size_mb=16 alert_confidence=20 max_cpu_permille=1000
	echo >"$tracing/trace"
	echo 1 >"$tracing/events/seepage/seepage_tick/enable"
	echo begin >"$tracing/trace_marker"
}

# leak_is_told NAME: that of another user, which begins under the attack
leak_is_told() {
	local parent leak
	rm -f leak.out
	(as 1 "$bin/idle" 1 5000) >leak.out &
	parent=$!
	ready leak.out
	read -r leak <leak.out
	wait_for 30 told "$leak"
	disperse $parent
	echo "$1: the leak of another user is told"
}

# end NAME: the passes until now; then the module is unloaded under the attack. A request that is
# under way keeps the module for a moment: rmmod is tried again.
end() {
	local begun tries=1
	echo end >"$tracing/trace_marker"
	echo 0 >"$tracing/events/seepage/seepage_tick/enable"
	within "$1: longest time between two passes, ms" "$(longest_gap)" $((2 * interval_ms * slow))
	begun=${EPOCHREALTIME/./}
	until rmmod seepage 2>/dev/null; do
		((++tries <= 100 * slow)) || die "$1: rmmod: $(rmmod seepage 2>&1)"
		sleep 0.02
	done
	within "$1: rmmod, ms, tried $tries times" $(((${EPOCHREALTIME/./} - begun) / 1000 + 1)) $((5000 * slow))
}

# ---- a fork bomb ----
begin
# At the lowest weight: what nothing else wants of two CPUs is enough for thousands of lives. A busy
# host gives them so little that the guest would report stalls of its own.
(as 2001 nice -n 19 prlimit --nproc=80 "$bin/bomb" 64) >bomb.out &
bomb=$!
ready bomb.out 60
leak_is_told bomb
seepage -j ps >records
n=$(jq '[.[] | select(.uid == 2001)] | length' records)
full=$(seepage -j status | field .counters.share_full)
echo "bomb: $n of $max records are of the bomb, share_full $full"
((n > max / 8)) || die "$n records for the bomb: it filled nothing"
# A dump takes time, in which records pass from one process to the next.
((n <= max * 5 / 8)) || die "$n of $max records for the bomb"
((full > 0)) || die "share_full is 0"
end bomb
kill $bomb
wait $bomb || die "bomb: ended with status $?"
tail -n 1 bomb.out

# ---- ptrace ----
begin
(as 2002 "$bin/tracer" 5000) >tracer.out &
tracer=$!
ready tracer.out
read -r traced <tracer.out
leak_is_told tracer
wait_for 30 told "$traced"
echo "tracer: its child is told"
end tracer
kill $tracer
wait $tracer || die "tracer: ended with status $?"
tail -n 1 tracer.out

# other_families WHEN: nine of ten wait no longer than readers of the module may, and none long
other_families() {
	local most longest
	read -r most longest
	within "nlctrl, $1, ms (without: $most_before)" $((most + 1)) $((most_before + 101 * slow))
	within "longest, ms (without: $longest_before)" $((longest + 1)) $((1000 * slow))
}

# ---- namespaces, and other families ----
begin
read -r most_before longest_before < <("$bin/asks" families 20)
(as 65534 "$bin/flood" flood 200 $((600 * slow))) >flood.out &
flood=$!
ready flood.out 60
(as 2003 "$bin/dumpers" spaces) >spaces.out &
spaces=$!
ready spaces.out 60
leak_is_told spaces
# A family that is registered waits for the requests under way, and all later ones for it.
(as 2004 "$bin/crowd" crowd 600) >crowd.out &
crowd=$!
ready crowd.out 60
echo 0 >registered
(
	n=0
	while insmod "$SEEPAGE_KMOD/family.ko" && rmmod family; do
		echo $((++n)) >registered
		sleep 0.02
	done
) &
writer=$!
for ((tries = 0; tries < 20 && $(<registered) < 3; tries++)); do
	other_families flood < <("$bin/asks" families 50)
done
kill $writer
wait $writer || true
# insmod or rmmod of the writer may still run
no_family() { ! grep -q '^family ' /proc/modules || rmmod family 2>/dev/null; }
wait_for 20 no_family
echo "flood: a family was registered $(cat registered) times"
(($(cat registered) >= 3)) || die "a family was registered $(cat registered) times: that shows nothing"
kill $crowd
wait $crowd 2>/dev/null || true
kill $spaces
wait $spaces || die "spaces: ended with status $?"
read -r made answered changed of others < <(tail -n 1 spaces.out)
echo "spaces: $made of them, $of processes told of, $others of them of others"
((made >= 3 && of >= made)) || die "spaces: $made of them were told of $of processes: that shows nothing"
assert_eq "$answered" 0 "requests of another net namespace that were answered"
assert_eq "$changed" 0 "namespaces that have changed something"
assert_eq "$others" 0 "processes of others that namespaces were told of"
# Some of 200 threads are always within a dump, and each of these keeps the module.
kill $flood
wait $flood 2>/dev/null || true
(as 2003 "$bin/dumpers" spaces) >more.out &
spaces=$!
ready more.out 60
"$bin/asks" families 50 >families.out &
families=$!
end spaces
wait $families
other_families "spaces and rmmod" <families.out
kill $spaces
wait $spaces || die "spaces: ended with status $?"
[[ ! $over ]] || die "exceeded:$over"
