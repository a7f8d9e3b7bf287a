#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 300 growing processes of a user are under watch. Short passes read 64 of them, and a
# growing process of another user in each short pass, without delay.
# vm: --warp --mem 1024
# about: ctl/cmd ctl/lib kmod tests/attack
# takes: 22
# timeout: 3000
. "$(dirname "$0")/lib.sh"
n=300 share=64 interval_ms=5000 short_ms=1000
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
mallory=(setpriv --reuid 2000 --regid 2000 --clear-groups)
victim=(setpriv --reuid 1000 --regid 1000 --clear-groups)
install -m 755 "$top/build/tests/throng" "$top/build/tests/idle" "$bin"
watched() { (($(seepage -j ps --state watch | jq 'map(select(.comm | startswith("grows"))) | length') >= n)); }
suspect() { [[ $(seepage -j show "$1" | field .state) != ok ]]; }

load sample_interval_ms=$interval_ms suspect_interval_ms=$short_ms pmc=off min_process_size_mb=1
"${mallory[@]}" "$bin/throng" $n 1 grows shared 640 >ready &
throng=$!
wait_for 60 grep -qx ready ready
wait_long 150 watched
"${victim[@]}" "$bin/idle" 1 512 >leak.out &
leaking=$!
wait_for 20 test -s leak.out
read -r leak <leak.out
wait_long 120 suspect "$leak"
seepage record -o all.series &
recorder=$!
sleep 40
kill -INT $recorder
wait $recorder
refused=$(seepage -j status | field .counters.suspects_full)
disperse $throng $leaking

# Of each short pass: how many records of either user; of the other user's: the longest gap, passes.
# In ms it depends on how long the host lets the guest wait.
awk -v leak=" pid=$leak " '
	function look() {
		if (kind == "short" && passes++) {
			if (many > most) most = many
			seen += other
		}
	}
	/^proc / { who[$2] = index($0, leak) ? "leak" : / comm=grows/ && !/ kind=group/ ? "many" : "" }
	/^pass / {
		look()
		now++; kind = $3; many = other = 0
	}
	/^[0-9]/ {
		if (who[$1] == "many") many++
		if (who[$1] != "leak") next
		other = 1
		if (last && now - last > gap) gap = now - last
		last = now
	}
	END { print passes, most + 0, seen + 0, gap + 0 }' all.series >figures
read -r passes most seen gap <figures
echo "$passes short passes: $most of $n read at most, the other in $seen; every $gap passes at least; $refused refused"
# A debug kernel has a fifth of them: a pass that takes long is followed by a longer pause.
((passes > 15 / ${SEEPAGE_SLOW:-1})) || die "only $passes short passes in 40 s"
((most > 0 && most <= share)) || die "$most records of one user in a short pass"
((seen >= passes - 2)) || die "the other user's process was read in $seen of $passes short passes"
((gap > 0 && gap <= 2)) || die "$gap passes between two readings of the other user's process"
((refused > 0)) || die "none was refused"
unload
