#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# One service, one alert at a time. The alert of a worker ends when that of its group is raised,
# and names it. A life of the service ends with its last process: six workers that end together
# are one life, a worker that is replaced is none, a restart at once is one. A cgroup directory
# that is removed and made again is the same.
# vm: --warp --mem 2048
# about: kmod/alert.c kmod/group.c kmod/end.c kmod/view.c
# takes: 66
# timeout: 4000
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
