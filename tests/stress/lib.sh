# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Helpers for the stress stages: . "$(dirname "$0")/lib.sh"
# A stage is a case that draws from a seed; its last line are its totals.
. "$(dirname "${BASH_SOURCE[0]}")/../cases/lib.sh"

seed=${SEEPAGE_SEED:-1} rounds=${SEEPAGE_ROUNDS:-1}
# shellcheck disable=SC2034 # for the stages
churn=$top/build/tests/churn idle=$top/build/tests/idle
# A stage draws the same whatever ran before it.
RANDOM=$(((seed + $(cksum <<<"${0##*/}" | cut -d' ' -f1)) % 32768))

# times N: N rounds' worth; a debug kernel, which is slower, does a fifth; a
# short run a quarter of that.
times() {
	local by=$((${SEEPAGE_SLOW:-1} * ${SEEPAGE_SHORT:-1}))
	echo $((($1 * rounds + by - 1) / by))
}

# draw LOW HIGH: sets drawn, as a subshell would not carry the state on.
draw() { drawn=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1))); }

# seconds LOW HIGH: as draw, of milliseconds, ready for sleep.
seconds() {
	draw "$1" "$2"
	printf -v drawn '%d.%03d' $((drawn / 1000)) $((drawn % 1000))
}

# storm OPS WORKERS: lives, without end, until end_storm.
storm() {
	(while :; do "$churn" $RANDOM "$1" "$2"; done >/dev/null 2>&1) &
	storm=$!
}

# The churn that is on goes as well: on a debug kernel it has minutes to go.
end_storm() {
	kill "$storm" 2>/dev/null || true
	wait "$storm" 2>/dev/null || true
	pkill -KILL -x churn || true
}

# readers: asks for all that is told, in every way, without end. end_readers sets answers, what
# was answered how often. After "readers strict" a request without an answer fails the stage;
# "readers patient" is for a module that comes and goes.
readers() {
	local strict=$1
	[[ $strict == strict ]] || strict=''
	reading=()
	read_by ps seepage -j ps
	read_by status seepage status
	read_by debugfs cat /sys/kernel/debug/seepage/{status,processes,alerts,config,counters}
	read_by dump "$top/build/tests/dumpers" ask 3
}

read_by() {
	local name=$1
	shift
	: >"answered.$name"
	: >"refused.$name"
	(
		trap - ERR
		while [[ ! -e stop_readers ]]; do
			if "$@" >/dev/null 2>"error.$name"; then
				echo >>"answered.$name"
			else
				[[ ! $strict ]] || tail -n 1 "error.$name" >>"refused.$name"
				sleep 0.01
			fi
		done
	) &
	reading+=("$name:$!")
}

end_readers() {
	local reader n name
	touch stop_readers
	answers=''
	for reader in "${reading[@]}"; do
		name=${reader%:*}
		wait "${reader#*:}" || true
		[[ ! -s refused.$name ]] || die "$name had no answer: $(head -n 1 "refused.$name")"
		n=$(wc -l <"answered.$name")
		((n > 0)) || die "$name was never answered"
		answers+="${answers:+, }$name $n"
	done
	rm stop_readers
}

status() { seepage -j status | field "$1"; }
ticks_at_least() { (($(status .ticks) >= $1)); }

# Two full passes, after which the dead are reaped and everybody is adopted.
settle() {
	local n
	n=$(status .ticks)
	wait_for 60 ticks_at_least $((n + 2))
}

# die_missing PID...: who they are, and what the module says of them.
die_missing() {
	local pid
	echo "not in the table: $#, of $(wc -l <table) that are: $*"
	for pid in "${@:1:3}"; do
		grep -sE '^(Name|State|Tgid|PPid|VmRSS)' "/proc/$pid/status" | tr '\n' ' '
		seepage -j show "$pid" 2>&1 | head -c 600
		echo
	done
	seepage -j ps | jq -r '.[].pid' >again
	seepage -j status
	die "pid $1 ($(cat "/proc/$1/comm")) is not in the table; asked again, $(comm -12 \
		<(printf '%s\n' "$@" | sort) <(sort again) | wc -l) of $# are"
}

# What must hold however wild it was: nothing broke, every process is in the
# table once and under its own name, and nobody else is. No program is started
# for each of them: there may be thousands.
check_table() {
	local pid comm really shown=0
	local -A known=()
	settle
	assert_eq "$(status .disabled)" null "switched off"
	assert_eq "$(status .counters.invariants_broken)" 0 "invariants_broken"
	seepage -j ps | jq -r '.[] | "\(.pid) \(.comm)"' >table
	while read -r pid comm; do
		[[ ! ${known[$pid]:-} ]] || die "pid $pid is there twice"
		known[$pid]=1
		# Gone since: seepage itself and what read its answer.
		{ read -r really <"/proc/$pid/comm"; } 2>/dev/null || continue
		assert_eq "$comm" "$really" "comm of $pid"
		shown=$((shown + 1))
	done <table
	((shown > 1)) || die "the table shows $shown living processes"
	local missing=()
	for pid in /proc/[0-9]*; do
		[[ ! ${known[${pid#/proc/}]:-} && -e $pid/exe ]] && missing+=("${pid#/proc/}")
	done
	[[ ! ${missing[*]} ]] || die_missing "${missing[@]}"
}
