#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Shares of a full table, in corners. A service in a user namespace of root that maps root to
# itself, as systemd's PrivateUsers= makes it, has a share of its own. Two users whose uids have
# the same hash have one share, within which a record is given up for a heavier process. A user
# half of whose records are under watch, more than short passes read, gives some of them up for
# heavier processes of its own and for processes of others. A group that grows keeps one of its
# members then.
# vm: --warp --mem 1536
# about: kmod
# takes: 60
# timeout: 3000
. "$(dirname "$0")/lib.sh"
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
install -m 755 "$top/build/tests/throng" "$top/build/tests/idle" "$top/tests/attack/table.py" "$bin"
# in the background only: $! is COMMAND
as() { exec setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
status() { seepage -j status | field "$1"; }
full() { (($(status .processes) >= max - 2)); }
# count FILTER: records that it takes
count() { seepage -j ps | jq "[.[] | select($1)] | length"; }
counted() { (($(count "$1") >= $2)); }
# shellcheck disable=SC2016 # perl's
large=(perl -e '$x = "x" x (10 << 20); sleep 9999')	# and as much for the constant

# 1. A service in a namespace of root.
max=64 service=1500
load max_processes=$max sample_interval_ms=1000 pmc=off max_cpu_permille=1000
mkfifo in out
"$bin/table.py" 150 4096 --namespace $service <in >out &
parent=$!
exec 7>in 8<out
read -r line <&8 || die "no answer from table.py"
pid=${line#map }
# in one write
cat <<<$'0 0 1\n'"$service $service 1" >"/proc/$pid/uid_map"
cat <<<$'0 0 1\n'"$service $service 1" >"/proc/$pid/gid_map"
echo >&7
read -r line <&8 || die "no answer from table.py"
assert_eq "$line" ready table.py
sleep 5
n=$(count ".uid == $service")
echo "a service in a namespace of root has $n of $max records for 150 processes"
((n > max / 4)) || die "$n records for the service: it filled nothing"
# the first of them was root when it got its record
((n <= max / 2 + 1)) || die "$n of $max records for one service in a namespace of root"
disperse $parent

# 2. Two uids with one hash (hash_32() to 12 bits).
as 1000 "$bin/idle" 80 >idle.out &
parent=$!
wait_for 20 test -s idle.out
wait_long 60 counted '.uid == 1000' $((max / 2))
before=$(count '.uid == 1000')
assert_eq "$before" $((max / 2)) "records of the first user, whose share is full"
as 5181 "${large[@]}" &
heavy=$!
wait_long 60 counted '.uid == 5181 and .comm == "perl"' 1
echo "the second user of the share has a record: $(count '.uid == 1000') of $before are left to the first"
disperse $parent $heavy

# 3. and 4. 70 processes of a user are under watch, of which short passes read 64. Two more,
# which are a group, come later, so that they do not read these.
max=160
load max_processes=$max sample_interval_ms=5000 suspect_interval_ms=1000 pmc=off min_process_size_mb=1 \
	alert_confidence=100 max_cpu_permille=1000
as 2000 "$bin/throng" 70 1 grows shared 320 >ready &
throng=$!
wait_for 60 grep -qx ready ready
wait_long 200 counted '(.comm | startswith("grows")) and .state == "watch"' 70
as 2000 "$bin/throng" 2 1 pair own 256 >ready &
pair=$!
# The history of the group is under watch. It is read with a request: a recorder may lose messages.
group_grows() {
	local state
	state=$(seepage -j show --group "$member" 2>show.err | jq -r .state)
	[[ $state == @(watch|suspected|confirmed) ]]
}
# the rest of the table: another user, then root
as 2001 "$bin/idle" 50 >/dev/null &
others=$!
wait_long 60 counted '.uid == 2001' 40
"$bin/idle" 60 >/dev/null &
roots=$!
wait_long 60 full
wait_long 300 counted '.comm == "pair0" and .state == "watch"' 2
member=$(seepage -j ps | jq 'first(.[] | select(.comm == "pair0") | .pid)')
wait_long 300 group_grows
(($(status .counters.suspects_full) > 0)) || die "short passes read all that are under watch"
echo "$(count '.uid == 2000') of $max records for a user, $(count '.uid == 2000 and .state == "watch"') under watch"
# Of the same user: the first two may take the records of throng itself, which is idle.
own=()
for ((i = 0; i < 4; i++)); do
	as 2000 "${large[@]}" &
	own+=($!)
done
wait_long 60 counted '.uid == 2000 and .comm == "perl"' 4
echo "4 heavier processes of the user have records, $(count '.uid == 2000 and .state == "watch"') are under watch"
disperse "${own[@]}"	# there is no memory for all
heavy=()
for ((uid = 3001; uid <= 3016; uid++)); do
	as $uid "${large[@]}" &
	heavy+=($!)
done
given_up() { (($(count '.comm == "pair0"') < 2)); }
wait_long 60 given_up
n=$(count '.comm == "pair0"')
echo "new users have $(count '.uid > 3000 and .uid < 3017') records; $n of the group has one"
assert_eq "$n" 1 "members of the group that have a record"
disperse $throng $pair $others $roots "${heavy[@]}"
assert_eq "$(status .counters.invariants_broken)" 0 invariants_broken
unload
