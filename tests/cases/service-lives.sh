#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# One service, one alert at a time. The alert of a worker ends when that of its group is raised,
# and names it. A life of the service ends with its last process: six workers that end together
# are one life, a worker that is replaced is none, a restart at once is one. A cgroup directory
# that is removed and made again is the same. The sixth life of a service that holds more in each
# life is told in one line, with the growth from life to life; of one that holds less it is negative.
# vm: --warp --mem 2048
# about: kmod/alert.c kmod/group.c kmod/end.c kmod/view.c
# takes: 90
# timeout: 6000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/service-lib.sh"
scratch=$(mktemp -d)
# single NAME [CGROUP]: one process that gains 4 MB each second; sets master
single() {
	[[ -e $scratch/$1 ]] || cp "$(command -v perl)" "$scratch/$1"
	# shellcheck disable=SC2016 # for the other shell
	bash -c '[ ! "$1" ] || echo $$ >"$1/cgroup.procs"
		exec "$0" -e "while (1) { push @a, q(x) x 4194304; sleep 1 }"' "$scratch/$1" "${2:-}" &
	master=$!
}
of() { seepage -j alerts | jq -c "select(.comm == \"$1\")"; }
# grows NAME N: more than N alerts are held that something grows
grows() { (($(of "$1" | jq -s '[.[] | select(.state | IN("suspected", "confirmed", "runaway"))] | length') > $2)); }
count() { of "$1" | jq -s '[.[] | select(.state | IN("suspected", "confirmed", "runaway"))] | length'; }
last_times() { of "$1" | jq -cs '[.[] | select(.state | IN("suspected", "confirmed", "runaway"))][-1].times'; }
show() { of "$1" | jq -c '[.seq, .pid, .state, .members, .times, .merged_into]'; }
of_group() { of "$1" | jq -cs '[.[] | select(.members != null)][0] // empty'; }
group_is_told() { [[ $(of_group "$1") ]]; }

load sample_interval_ms=1000 suspect_interval_ms=500 max_cpu_permille=1000 min_process_size_mb=1 pmc=off \
	alerts_per_minute=1000 alert_interval_s=0

# more TIMES NAME: the next alert that something grows says so many lives
more() {
	wait_long 600 grows "$2" "$told"
	sleep 3
	assert_eq "$(last_times "$2")" "$1" "lives of $2: $(show "$2" | tr '\n' ' ')"
}

# the alert of one worker, then that of all
service joint 1 512
one=${workers[0]} idle=$master
wait_long 900 grows joint 0
assert_eq "$(of joint | jq -s "all(.pid == $one and .members == null)")" true "the alert of the one that leaks"
service joint 3 1024
wait_long 300 group_is_told joint
sleep 2
show joint
seq=$(of_group joint | field .seq)
assert_eq "$(of joint | jq -cs "[.[] | select(.pid == $one and .members == null)][-1] | [.state, .merged_into]")" \
	"[\"recovered\",$seq]" "the end of the alert of the worker"
text=$(seepage alerts)
[[ $text == *"merged into #$seq"* ]] || die "alerts: $text"
n=$(of joint | jq -s '[.[] | select(.merged_into != null)] | length')
assert_eq "$n" 1 "alerts that are merged"
disperse "$idle" "$master"

# a worker that is replaced while others of its service live; then the service restarts
service parts 1
idle=$master told=0
service parts 1 4096
more null parts
told=$(count parts)
disperse "$master"
sleep 5
service parts 1 4096
more null parts
told=$(count parts)
disperse "$idle" "$master"
sleep 5
service parts 1 4096
more 2 parts
disperse "$master"

# six that end together; in make test those of tests/scale do
if [[ ! ${SEEPAGE_SHORT:-} ]]; then
	told=0
	service fleet 6 1024
	more null fleet
	told=$(count fleet)
	disperse "$master"
	sleep 5
	service fleet 6 1024
	more 2 fleet
	disperse "$master"
fi

# started again at once
told=0
single quick
more null quick
told=$(count quick)
kill -KILL "$master"
wait "$master" 2>/dev/null || true
single quick
more 2 quick
disperse "$master"

# life NAME MB: a life that gains 4 MB each second until it holds MB, is told, and is killed then.
# Sets top (MB held), began and ended (seconds).
life() {
	[[ -e $scratch/$1 ]] || cp "$(command -v perl)" "$scratch/$1"
	told=$(count "$1") began=$(date +%s)
	# shellcheck disable=SC2016 # perl's
	"$scratch/$1" -e '$mb = shift; for (;; sleep 1) { push @a, "x" x 4194304 if 4 * @a < $mb }' "$2" &
	master=$!
	wait_long 600 grows "$1" "$told"
	wait_long 600 holds $master $(($2 << 10))
	sleep 4
	top=$(($(kb_of $master) >> 10))
	kill -KILL $master
	wait $master 2>/dev/null || true
	ended=$(date +%s)
	sleep 4
}
kb_of() { awk '/^RssAnon:/ { print $2 }' "/proc/$1/status"; }
holds() { (($(kb_of "$1") > $2)); }
# near WHAT FIGURE WANTED: within a fifth
near() {
	((($2 < 0) == ($3 < 0) && ${2#-} * 10 >= ${3#-} * 8 && ${2#-} * 10 <= ${3#-} * 12)) ||
		die "$1: said $2, measured $3"
}
# from_life_to_life NAME MB..: the last life says what those before it did.
from_life_to_life() {
	local name=$1 mb sum=0 n=0 alert first_top=0 first_end=0 last_top=0 last_end=0
	shift
	for mb; do
		life "$name" "$mb"
		n=$((n + 1))
		((n == $#)) && break
		((n > 1)) || first_top=$top first_end=$ended
		last_top=$top last_end=$ended sum=$((sum + ended - began))
	done
	alert=$(of "$name" | jq -cs '[.[] | select(.times != null and .state != "exited")][-1]')
	assert_eq "$(field .times <<<"$alert")" $# "lives of $name"
	near "length of a life of $name, s" "$(field .life_seconds <<<"$alert")" $((sum / (n - 1)))
	near "growth of $name from life to life, MB/h" \
		$(($(field .life_growth_bytes_per_hour <<<"$alert") / 1048576)) \
		$(((last_top - first_top) * 3600 / (last_end - first_end)))
	# watch says it in one line, all of that life but its end
	grep -E "\($name\).*, $#th time since .*, each life .* from life to life\)" "$scratch/watched" >said || true
	assert_eq "$(grep -vc exited: said)" 1 "lines of the last life of $name: $(grep "($name)" "$scratch/watched")"
	cat said
}
seepage watch --no-cold >"$scratch/watched" &
watch=$!
from_life_to_life climber 200 240 280 320 360 400
from_life_to_life sinker 400 340 280 220
kill $watch
wait $watch || true

cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
mkdir "$cg/parent" "$cg/parent/service"
told=0
single box "$cg/parent/service"
more null box
told=$(count box)
disperse "$master"
wait_for 20 rmdir "$cg/parent/service"
mkdir "$cg/parent/service"
single box "$cg/parent/service"
more 2 box
told=$(count box)
mkdir "$cg/parent/other"
disperse "$master"
single box "$cg/parent/other"
more null box
disperse "$master"
wait_for 20 rmdir "$cg/parent/other"
rmdir "$cg/parent/service" "$cg/parent"
umount "$cg"
rmdir "$cg"
unload
