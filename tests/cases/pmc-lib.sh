# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034
# Helpers for the cases with hardware counters, sourced after lib.sh. On x86 the counters
# come from tests/kmod/fakepmu.c: perf sees a real PMU, but the counts are made up.
partners=$top/build/tests/partners

# What is left running would hold up whoever reads this case's output.
trap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT

# fake_pmu [PARAMETER=VALUE...]: once in a boot; later only the masks change.
fake_pmu() {
	local mask
	if ! grep -q '^fakepmu ' /proc/modules; then
		insmod "$SEEPAGE_KMOD/fakepmu.ko" "$@"
		return
	fi
	for mask in refused=0 silent=0 slow=0 slowly=0 lacking=0 "$@"; do
		[[ $mask =~ ^(counters|fast)= ]] ||
			echo "${mask#*=}" >"/sys/module/fakepmu/parameters/${mask%=*}"
	done
}

pmc_status() { seepage -j status | field .pmc_status; }

# event_state NAME: "counting", or "unavailable: why".
event_state() {
	seepage -j status | jq -r --arg e "$1" \
		'.pmc_events[$e] | .state + (if .reason then ": " + .reason else "" end)'
}

# play PAIRS ROUNDS: processes that switch to and fro, stopped in the end but
# alive; sets pids, switches and took (ns). play_end: their end.
play() {
	local pid n
	coproc player { exec "$partners" "$1" "$2"; }
	read -r answer <&"${player[0]}"
	assert_eq "$answer" ready partners
	echo go >&"${player[1]}"
	pids=() switches=0
	while read -r pid n <&"${player[0]}" && [[ $pid != 'done' ]]; do
		pids+=("$pid")
		switches=$((switches + n))
	done
	took=$n
}

play_end() {
	local pid=$player_PID
	echo end >&"${player[1]}"
	wait "$pid" 2>/dev/null || true
}

# switching: 8 processes that switch to and fro until switched_off.
switching() {
	coproc player { exec "$partners" 4 100000000; }
	read -r answer <&"${player[0]}"
	assert_eq "$answer" ready partners
	echo go >&"${player[1]}"
}

switched_off() {
	local pid=$player_PID
	pkill -9 -P "$pid"
	kill -9 "$pid"
}

# near WHAT VALUE WANTED: within a tenth, as turns do not divide the time evenly.
near() {
	awk -v v="$2" -v w="$3" 'BEGIN { exit !(v > 0.9 * w && v < 1.1 * w) }' ||
		die "$1: $2, wanted $3"
}

# Nothing counts any more, and the ended are counted as such: two passes later.
hold_still() {
	seepage set pmc hold
	local ticks
	ticks=$(seepage -j status | field .ticks)
	wait_for 20 passed $((ticks + 2))
}

passed() { (($(seepage -j status | field .ticks) >= $1)); }

# sums_match: what all got is what the counters show, to the unit: of each event
# its count, and the times in which it was wanted and had a counter. Once held.
sums_match() {
	seepage -j status >status.json
	seepage -j ps >ps.json
	jq -e -r -n --slurpfile s status.json --slurpfile p ps.json '
		def sum(f): map(f) | add // 0;
		[ $s[0].pmc_events | to_entries[] |
		  select(.value.state != "unavailable") | . as $e |
		  ("count", "enabled_ns", "running_ns") as $k |
		  { event: $e.key, what: $k, total: $e.value[$k],
		    kthreads: $e.value.kthreads[$k], idle: $e.value.idle[$k],
		    others: $e.value.others[$k], ended: $e.value.ended[$k],
		    processes: ($p[0] | sum(.pmc[$e.key][$k] // 0)) } |
		  .missing = .total - .kthreads - .idle - .others - .ended - .processes ] |
		if length == 0 then error("no event counts") else . end |
		(.[] | "\(.event) \(.what): \(.total) = processes \(.processes) + ended \(.ended)" +
		 " + kthreads \(.kthreads) + idle \(.idle) + others \(.others)" +
		 (if .missing == 0 then "" else "  MISSING \(.missing)" end)),
		(if all(.[]; .missing == 0 and .total > 0) then empty else "DIFFERENT" end)
	' >sums || die "sums: $(tail -n 1 sums)"
	cat sums
	! grep -q DIFFERENT sums || die "what all got is not what was counted: $(grep -m1 MISSING sums)"
}
