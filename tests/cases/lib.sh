# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Helpers for the cases: . "$(dirname "$0")/lib.sh"
# A case runs as root in the VM, in an empty directory of its own, with the
# module freshly loaded. It passes with status 0; any other status fails it,
# with its last line of output as the reason; 77 skips it.
set -euo pipefail

# shellcheck disable=SC2034 # for the cases
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The hooks that must work here: only x86 has tracepoints in its fault handler.
hooks=(software)
# shellcheck disable=SC2034 # for the cases
[[ $(uname -m) != x86_64 ]] || hooks=(tracepoint software)

# budget INSTRUCTIONS: what may be used of a budget, which is of x86_64's. Other sets need
# more for the same work, riscv64's, without its bit manipulation, most.
budget() {
	local percent
	case $(uname -m) in
	x86_64) percent=100 ;;
	aarch64) percent=110 ;;
	*) percent=130 ;;
	esac
	echo $(($1 * percent / 100))
}

# some N: how often to do what finds more the more often it is done: N times, in
# make test a part of that, at least once.
some() { echo $((($1 + ${SEEPAGE_SHORT:-1} - 1) / ${SEEPAGE_SHORT:-1})); }

# A case that stops without a word would have no reason to show. On stderr: what
# fails within $(...) must not become its result.
trap 'echo "line $LINENO: status $? from: $BASH_COMMAND" >&2' ERR
set -E

die() {
	trap - ERR
	echo "$*"
	exit 1
}

skip() {
	trap - ERR
	echo "$*"
	exit 77
}

# assert_eq GOT WANTED [WHAT]
assert_eq() {
	[[ $1 == "$2" ]] || die "${3:+$3: }got '$1', wanted '$2'"
}

# field FILTER [FILE]: a value of a JSON document, as jq names it (.pid).
field() {
	local filter=$1
	shift
	jq -r "$filter" "$@" || die "no $filter in the JSON"
}

# A wait ends in vain after so many times its SECONDS, which are those of an idle host;
# on a debug kernel after five times as many. A host that is busy is not a defect.
patience=$((4 * ${SEEPAGE_SLOW:-1}))

# wait_for SECONDS COMMAND...: runs it until it succeeds, five times a second at most; one
# that takes long gets a fifth of the time, so that it does not slow what it waits for.
wait_for() {
	local end=$((SECONDS + $1 * patience)) began pause
	shift
	until began=${EPOCHREALTIME/./} && "$@"; do
		((SECONDS < end)) || die "waited in vain for: $*"
		# The clock may have been set meanwhile.
		pause=$(((${EPOCHREALTIME/./} - began) * 4))
		((pause >= 200000)) || pause=200000
		((pause <= 2000000)) || pause=2000000
		sleep "$((pause / 1000000)).$(printf %06d $((pause % 1000000)))"
	done
}

# wait_long SECONDS COMMAND...: the same with warped time, where to ask five times a
# second takes longer than what is waited for; says who was accused instead.
wait_long() {
	local end=$((SECONDS + $1 * patience))
	shift
	until "$@"; do
		((SECONDS < end)) || die "waited in vain for: $*: $(seepage -j alerts |
			jq -c '[.seq, .pid, .comm, .state, .subject, .members]' | tr '\n' ' ')"
		sleep 10
	done
}

# within NAME FIGURE LIMIT: prints it, and adds to $over if it is exceeded.
over=''
within() {
	local verdict=ok
	(($2 > 0 && $2 <= $3)) || verdict=EXCEEDED over+=" $1"
	printf '%-42s %9d  limit %9d  %s\n' "$1" "$2" "$3" "$verdict"
}

# lockdown_level: none, integrity or confidentiality; none where the kernel has no lockdown.
lockdown_level() {
	local words='[none]'
	! [[ -e /sys/kernel/security/lockdown ]] || read -r words </sys/kernel/security/lockdown
	[[ $words =~ \[([a-z]+)\] ]] || die "lockdown: '$words'"
	echo "${BASH_REMATCH[1]}"
}

# load [PARAMETER=VALUE...]: loads the module anew, with these parameters.
load() {
	unload
	insmod "$SEEPAGE_KO" "$@"
}

unload() {
	! grep -q '^seepage ' /proc/modules || rmmod seepage
}

# pin PROGRAM...: keeps these and their libraries in memory. Where memory runs out they would
# be read from the host's files again for each page that is needed of them, for minutes, in
# which CPUs seem to be locked up.
pin() {
	local program files
	mapfile -t files < <(for program; do
		program=$(type -P "$program")
		echo "$program"
		ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true
	done | xargs realpath | sort -u)
	"$top/build/tests/pin" "${files[@]}" >pinned &
	wait_for 60 grep -q '^pinned ' pinned
}

# crowd N [KB]: N idle processes, or growing by KB each second; sets pids and
# parent, whose end is theirs. disperse PARENT...: their end.
crowd() {
	rm -f fifo
	mkfifo fifo
	"$top/build/tests/idle" "$@" >fifo &
	# shellcheck disable=SC2034 # for the cases
	parent=$!
	mapfile -t -n "$1" pids <fifo
	rm fifo
	assert_eq ${#pids[@]} "$1" "processes started"
}

disperse() {
	kill "$@"
	wait "$@" 2>/dev/null || true
}
