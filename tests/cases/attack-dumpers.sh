#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 500 threads of a plain user, at the lowest priority, ask without end. A leak is told,
# no pass is more than one interval late, and a reader with rights waits at most 100 ms
# longer for each part of an answer. A dump that its reader leaves unread does not keep the
# module loaded. A user with more processes than fit its receive buffer gets each once.
# The emulator runs one CPU of the VM at a time, and the host may run none. The time in which a CPU
# is held back is measured and taken off. Of three rounds, two have to keep the limits.
# A debug kernel is allowed five times as long, or as long as these threads keep that reader waiting
# when they only open and close sockets: 500 at the lowest priority take more CPU time than it.
# vm: --smp 2 --mem 1024
# about: kmod
# takes: 90
# timeout: 300
. "$(dirname "$0")/lib.sh"
crowd=1200 own=600 interval_ms=1000
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
# Copies where every user can reach them; the checkout may be in a home directory.
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
install -m 755 "$top/build/tests/dumpers" "$top/build/tests/idle" "$(command -v seepage)" "$bin"
# A name of its own: the crowd may have an alert as a service, and that would be this one's too.
cp "$bin/idle" "$bin/leak"
seconds=$((30 * ${SEEPAGE_SLOW:-1}))
[[ ! ${SEEPAGE_SHORT:-} ]] || seconds=$((seconds / 2))
slow=${SEEPAGE_SLOW:-1} tracing=/sys/kernel/tracing
[[ -e $tracing/trace ]] || mount -t tracefs none $tracing

fresh() {
	load sample_interval_ms=$interval_ms suspect_interval_ms=$interval_ms policy=classic \
		warmup_s=0 min_process_size_mb=16 alert_confidence=20 max_cpu_permille=1000
}

told() { seepage -j alerts | jq -se "any(.[]; .pid == $1)" >/dev/null; }

# longest_gap: ms between two full passes that follow each other, and ms of it that the host held
longest_gap() {
	sed -n -e 's/^.* \([0-9.]*\): seepage_tick: full=1 .*/pass \1/p' \
		-e 's/^.* tracing_mark_write: held \([0-9]*\)$/held \1/p' "$tracing/trace" |
		awk '$1 == "held" { held += $2 / 1e6; next }
			last && $2 - last - held > most { most = $2 - last - held; of_it = held }
			{ last = $2; held = 0 }
			END { print int(1000 * most), int(1000 * of_it) }'
}

"$bin/idle" $crowd >/dev/null &
crowd_parent=$!
sleep $((2 * slow))
fresh
sleep $((3 * slow))

read -r status_ms dump_ms held < <("$bin/dumpers" ask 20)
echo "before: status $status_ms ms, part of a dump $dump_ms ms; held back for $held ms"
"${nobody[@]}" "$bin/dumpers" flood-sockets 500 $((60 * slow)) >sockets.out &
flood=$!
wait_for 60 grep -qx ready sockets.out
read -r status_beside dump_beside held < <("$bin/dumpers" ask 20)
disperse $flood
echo "while they open sockets: status $status_beside ms, part of a dump $dump_beside ms;" \
	"held back for $held ms"
# limit MS BESIDE-MS: how long a reader may wait that waited MS before
limit() {
	local most=$(($1 + 101 * slow))
	((slow == 1 || $2 < most)) || most=$2
	echo "$most"
}

echo 1 >"$tracing/events/seepage/seepage_tick/enable"
"$bin/dumpers" held "$tracing/trace_marker" &
clock=$!
# round: sets over
round() {
	local begin held status_flooded dump_flooded gap_ms gap_held
	over=''
	"${nobody[@]}" "$bin/dumpers" flood 500 $seconds >flood.out &
	flood=$!
	wait_for 60 grep -qx ready flood.out
	echo >"$tracing/trace"
	"$bin/leak" 1 5000 >leak.out &
	leak_parent=$!
	begin=${EPOCHREALTIME/./}
	read -r status_flooded dump_flooded held < <("$bin/dumpers" ask 20)
	held=$((held * 1000000 / (${EPOCHREALTIME/./} - begin)))
	wait $flood
	read -r leak <leak.out
	told "$leak" || {
		over+=" no-alert"
		seepage show "$leak" || true
		seepage -j alerts | jq -c '[.pid, .comm, .state, .growing, .members]'
	}
	disperse $leak_parent
	tail -n 1 flood.out
	read -r gap_ms gap_held < <(longest_gap)
	echo "a CPU was held back for $held permille of the time; in the longest time between passes $gap_held ms"
	within "longest time between two passes, ms" "$gap_ms" $((2 * interval_ms * slow))
	within "status, ms (without: $status_ms)" $((status_flooded + 1)) "$(limit "$status_ms" "$status_beside")"
	within "part of a dump, ms (without: $dump_ms)" "$((dump_flooded + 1))" "$(limit "$dump_ms" "$dump_beside")"
}
kept=0 missed=''
while ((kept < 2)); do
	round
	if [[ ! $over ]]; then
		kept=$((kept + 1))
	elif [[ $missed ]]; then
		break
	else
		missed=$over
	fi
done
[[ $kept -lt 2 ]] || over=''
disperse $clock
echo 0 >"$tracing/events/seepage/seepage_tick/enable"

# Unread, with an empty receive buffer and with a full one.
"${nobody[@]}" "$bin/idle" $own >own.out &
own_parent=$!
wait_for 20 test -s own.out
"${nobody[@]}" "$bin/dumpers" unread >unread.out &
unread=$!
wait_for 10 grep -qx ready unread.out
begin=$(date +%s%N)
rmmod seepage 2>/dev/null || over+=" rmmod-refused-while-a-dump-is-unread"
echo "rmmod with an unread dump: $((($(date +%s%N) - begin) / 1000000)) ms"
disperse $unread

fresh
sleep $((2 * slow))
ticked() { (($(seepage -j status | jq .ticks) > 0)); }
wait_for 20 ticked	# the first pass finds those that are there
"${nobody[@]}" "$bin/seepage" -j ps >ps.json 2>ps.err || die "ps of a plain user: $(cat ps.err)"
jq '.[].pid' ps.json | sort -n >got
sort -n own.out | uniq -c >wanted
grep -xFf own.out got | uniq -c | diff wanted - >lost || {
	head -n 3 lost
	over+=" own-processes-missing-or-twice"
}
echo "$(wc -l <own.out) processes of a plain user, $(wc -l <got) told"
disperse $own_parent $crowd_parent
[[ ! $over ]] || die "exceeded:$over"
