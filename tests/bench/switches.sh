# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034 # of pmc-lib.sh; for those who source it
# What a context switch costs, in guest instructions under the counting clock, after
# pmc-lib.sh: for the case pmc-cost and for the cost board.
rounds=5000
events=cycles,instructions,cache-references,cache-misses

# switch_cost [COMMAND...]: of a switch to and fro and the pipe between, the least
# of 5; COMMAND observes it.
switch_cost() {
	local least=0 each
	for _ in 1 2 3 4 5; do
		"$@" "$partners" 1 $rounds <<<$'go\nend' >played
		each=$(awk -v n=$((2 * rounds)) '$1 == "done" { printf "%.1f", $2 / n }' played)
		least=$(awk -v a="$least" -v b="$each" 'BEGIN { print !a || b < a ? b : a }')
	done
	echo "$least"
}

# each_by_itself [COMMAND...]: the same, while COMMAND -p PID,PID counts the two, of
# which neither is the other's child; each is counted by itself.
each_by_itself() {
	local least=0 each n peer
	for _ in 1 2 3 4 5; do
		coproc player { exec "$partners" 1 $rounds; }
		read -r answer <&"${player[0]}"
		"$@" -p "$(pgrep -d, -P "$player_PID")" &
		peer=$!
		sleep 1
		echo go >&"${player[1]}"
		while read -r word n <&"${player[0]}" && [[ $word != 'done' ]]; do :; done
		play_end
		wait $peer || true
		each=$(awk -v a="$n" -v n=$((2 * rounds)) 'BEGIN { printf "%.1f", a / n }')
		least=$(awk -v a="$least" -v b="$each" 'BEGIN { print !a || b < a ? b : a }')
	done
	echo "$least"
}

# bench_cost COUNT ARGUMENT... [-- COMMAND...]: perf's own benchmark of the scheduler, for
# each of COUNT, the least of 5; COMMAND observes it.
bench_cost() {
	local n=$1 least=0 each words=()
	shift
	while [[ $# -gt 0 && $1 != -- ]]; do
		words+=("$1")
		shift
	done
	for _ in 1 2 3 4 5; do
		"${@:2}" perf bench sched "${words[@]}" >benched 2>&1
		each=$(awk -v n="$n" '/Total time:/ { printf "%.1f", $3 * 1e9 / n }' benched)
		least=$(awk -v a="$least" -v b="$each" 'BEGIN { print !a || b < a ? b : a }')
	done
	[[ $least != 0 ]] || die "perf bench: $(tail -n 1 benched)"
	echo "$least"
}
pipe=(50000 pipe -l 50000)		# two processes, a switch each way
messaging=(80000 messaging -g 1 -l 200)	# 20 senders, 20 receivers: 80000 messages
