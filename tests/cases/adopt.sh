#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The table after the first tick has all 1500 idle processes that were started before
# the module was loaded, every other process of /proc except kernel threads, and
# processes started right after the load. Their ages are right.
# vm: --smp 2 --mem 1024
# takes: 14
# timeout: 120
. "$(dirname "$0")/lib.sh"

# start N: idle processes; sets started to the pids of them and their parent.
start() {
	crowd "$1"
	started=("${pids[@]}" "$parent")
}

# The processes that have a program, sorted as comm(1) wants them.
programs() {
	local dir
	for dir in /proc/[0-9]*; do
		[[ ! -e $dir/exe ]] || echo "${dir#/proc/}"
	done | sort
}

lines() { printf '%s\n' "$@" | sort; }
ticks() { (($(seepage -j status | field .ticks) >= $1)); }

unload
start 1500
old=("${started[@]}")
sleep 2
# One tick, the first, for the rest of the case.
insmod "$SEEPAGE_KO" sample_interval_ms=3600000 max_cpu_permille=1000
start 40
young=("${started[@]}")
wait_for 10 ticks 1

programs >before
seepage -j ps >ps.json
programs >after
jq -r '.[] | "\(.pid) \(.comm) \(.age_seconds)"' ps.json >processes
cut -d' ' -f1 processes | sort >tracked
assert_eq "$(uniq -d tracked | wc -l)" 0 "pids that are there twice"

missing=$(comm -23 <(lines "${old[@]}") tracked | wc -l)
assert_eq "$missing" 0 "processes from before the module that are missing"
missing=$(comm -23 <(lines "${young[@]}") tracked | wc -l)
assert_eq "$missing" 0 "processes from after the module that are missing"
# Those of /proc before and after the dump were there during it.
missing=$(comm -23 <(comm -12 before after) tracked | tr '\n' ' ')
assert_eq "$missing" "" "in /proc but not in the table"
# seepage itself is in one of its own dumps only; helpers of this shell end.
extra=$(comm -13 <(sort -u before after) tracked |
	while read -r pid; do
		sed -n "s/^\($pid\) /\1 /p" processes
	done | grep -vE '^[0-9]+ (seepage|adopt.sh|sort) ' || true)
assert_eq "$extra" "" "in the table but not in /proc"

# Ages: from start, not from the load of the module.
# ages PID...: the least and the greatest age of these
ages() {
	lines "$@" | awk 'NR == FNR { of[$1]; next }
		$1 in of { if (min == "" || $3 < min) min = $3; if ($3 > max) max = $3 }
		END { print min + 0, max + 0 }' - processes
}
read -r youngest oldest < <(ages "${old[@]}")
read -r _ most_young < <(ages "${young[@]}")
((youngest >= 2 && youngest > most_young)) || die "ages: $youngest s of an old one, $most_young s of a young one"
((oldest <= $(cut -d. -f1 /proc/uptime))) || die "ages: $oldest s is more than the machine is up"
# Beside /proc's own figure, for some.
uptime() { cut -d. -f1 /proc/uptime; }
for pid in "${old[0]}" "${old[700]}" "${old[1500]}" "${young[0]}" "${young[40]}"; do
	since=$(($(cut -d' ' -f22 "/proc/$pid/stat") / 100))
	least=$(($(uptime) - since - 1))
	got=$(seepage -j show "$pid" | field .age_seconds)
	most=$(($(uptime) - since + 1))
	((got >= least && got <= most)) || die "age of $pid: $got s, by /proc $least to $most s"
done
seepage -j status >status.json
assert_eq "$(field .ticks status.json)" 1 "ticks"
assert_eq "$(field .counters.table_full status.json)" 0 "table_full"
echo "$(wc -l <tracked) processes in the table; 1501 old ones of $youngest to $oldest s," \
	"41 young ones up to $most_young s; first tick $(field '.tick_cost_ns / 1000 | floor' status.json) us"
