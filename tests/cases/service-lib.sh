# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# Services of several workers, for the cases service*.sh, after lib.sh.
warm=$top/build/tests/warm

# Nothing that a case needs may be killed in place of what leaks.
spare() {
	local dir
	for dir in /proc/[0-9]*; do
		echo -1000 >"$dir/oom_score_adj" 2>/dev/null || true
	done
}

# worker KB MS [CGROUP]: a process that leaks KB every MS milliseconds and is killed first.
workers=()
worker() {
	# shellcheck disable=SC2016 # for the other shell
	bash -c 'echo 1000 >/proc/$$/oom_score_adj; [ ! "$3" ] || echo $$ >"$3/cgroup.procs"
		exec "$0" leak "$1" "$2"' "$warm" "$1" "$2" "${3:-}" &
	workers+=($!)
}

lines() { (($(wc -l <"$1") == $2)); }

# service NAME WORKERS [KB]: a master and WORKERS processes that gain KB each second; sets
# master and workers. $scratch is a directory of the case.
service() {
	[[ -e $scratch/$1 ]] || cp "$top/build/tests/idle" "$scratch/$1"
	"$scratch/$1" "$2" ${3:+"$3"} >"$scratch/$1.pids" &
	# shellcheck disable=SC2034 # for the cases
	master=$!
	wait_for 30 lines "$scratch/$1.pids" "$2"
	readarray -t workers <"$scratch/$1.pids"
}

# first_alert: of any worker, or of all together.
first_alert() { seepage -j alerts | jq -cs '[.[] | select(.comm == "warm")][0] // empty'; }

told() { [[ $(first_alert) ]]; }

# until_end: the first alert, then the first kill; says what is left then and what was said.
# judge LEFT PERCENT: at least LEFT percent of the runway, said within PERCENT.
until_end() {
	local status=0 alert
	until told; do
		kill -0 "${workers[@]}" 2>/dev/null || die "killed before the first alert"
		sleep 10
	done
	alert=$(first_alert)
	wait -n "${workers[@]}" || status=$?
	end=$(date +%s%N)
	assert_eq $status 137 "status of the first worker that ends"
	echo "$alert" | jq -c '[.pid, .state, .subject, .members, .limit, .tte_seconds, .shares_with,
		.shared_growth_bytes_per_hour, .severity]'
	at=$(field .time_ns <<<"$alert")
	said=$(field .tte_seconds <<<"$alert")
	real=$(((end - at) / 1000000000))
	left=$(((end - at) * 100 / (end - start)))
	echo "first alert after $(((at - start) / 1000000000)) s, $left % of the runway left;" \
		"said $said s, were $real s"
	echo "alerts in all: $(seepage -j alerts | jq -cs '[.[] | select(.comm == "warm") |
		[.pid, .state, .members]]')"
}

judge() {
	((left >= $1)) || die "$left % of the runway left, wanted $1"
	((said * 100 >= real * (100 - $2) && said * 100 <= real * (100 + $2))) ||
		die "said $said s, were $real s"
}
