#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A user runs processes of the same name as another user's, in the same cgroup: neither learns
# from the climbs of the other. Nor does a user take all histories of groups, or make the
# module forget what it knows about another's program, not even where others remember as much.
# vm: --warp --mem 1024
# about: ctl/cmd ctl/lib kmod tests/attack
# takes: 25
# timeout: 3000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/replay-lib.sh"
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
mallory=(setpriv --reuid 2000 --regid 2000 --clear-groups)
victim=(setpriv --reuid 1000 --regid 1000 --clear-groups)
install -m 755 "$top/build/tests/throng" "$bin"
install -m 755 "$top/build/tests/idle" "$bin/victims"
cp "$(command -v perl)" "$bin/climb"

# climb UID MB: in 15 s, less than any patience, and exits at the top
# shellcheck disable=SC2016 # perl's
climb() {
	setpriv --reuid "$1" --regid "$1" --clear-groups "$bin/climb" -e '$n = shift; for (1 .. $n) { push @a, "x" x 1048576; select undef, undef, undef, 15 / $n }' "$2"
	sleep 3		# its record is buried
}

load sample_interval_ms=1000 suspect_interval_ms=1000 pmc=off min_process_size_mb=1 max_cpu_permille=1000
seepage record -o all.series &
recorder=$!
climb 2000 40
climb 1000 12
climb 2000 40
climb 1000 12

# climbs UID PREFIX N: N programs with a climb of each.
climbs() {
	setpriv --reuid "$1" --regid "$1" --clear-groups "$bin/throng" "$3" "$3" "$2" own 2048 >ready &
	throng=$!
	wait_for 30 grep -qx ready ready
	sleep 4
	disperse $throng
	sleep 2
}

# More programs than are remembered, each with a climb of its own.
for ((i = 0; i < 7; i++)); do
	climbs 2000 "many$i-" 20
done
climb 1000 12
# With the 64 of that user, and one of the other, these make 128: all that are remembered.
for ((i = 0; i < 3; i++)); do
	climbs 3000 "else$i-" 21
done
climbs 2000 more- 10
climb 1000 12

# Two processes of each of 260 names: more groups than there are histories.
"${mallory[@]}" "$bin/throng" 520 260 full >ready &
throng=$!
wait_for 60 grep -qx ready ready
sleep 5
"${victim[@]}" "$bin/victims" 2 >victims.out &
victims=$!
sleep 5
full=$(seepage -j status | field .counters.groups_full)
seepage -j ps >ps.json
disperse $throng $victims
kill -INT $recorder
wait $recorder

assert_eq "$(grep -c '^proc .* comm=climb ' all.series)" 6 "processes named climb in the recording"
# begun NTH: what the NTH process of that name knew as it began, MB
begun() {
	grep '^proc .* comm=climb ' all.series | sed -n "$1p" |
		awk '{ mb = 0; for (i = 1; i <= NF; i++) if ($i ~ /^known_rise=/) mb = substr($i, 12) / 1048576; print int(mb) }'
}
echo "known to the first, second .. of the name, MB: $(begun 1) $(begun 2) $(begun 3) $(begun 4) $(begun 5) $(begun 6)"
assert_eq "$(begun 1)" 0 "what the first knew"
assert_eq "$(begun 2)" 0 "what the other user's first knew"
(($(begun 3) >= 30)) || die "the second of the first user knew $(begun 3) MB of 40"
(($(begun 4) >= 8 && $(begun 4) <= 20)) || die "the other user's second knew $(begun 4) MB, it rose by 12"
(($(begun 5) >= 8 && $(begun 5) <= 20)) ||
	die "the other user's third knew $(begun 5) MB, after many programs of the first"
(($(begun 6) >= 8 && $(begun 6) <= 20)) ||
	die "the other user's fourth knew $(begun 6) MB, where all places are taken"

of() { grep -c "^proc .*kind=group .*comm=$1" all.series || true; }
echo "groups with a history: $(of full) of one user, $(of victims) of another; $full times refused"
((full > 0)) || die "no group was refused a history"
(($(of full) >= 100 && $(of full) <= 128)) || die "$(of full) groups of one user have a history"
assert_eq "$(of victims)" 1 "groups of the other user with a history"
replayed all
unload
