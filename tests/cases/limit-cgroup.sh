#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two processes leak at the same rate. The parent cgroup of one has a memory limit. This
# limit is reported as the one reached first, and the alert comes earlier. After the limit
# is removed, RAM is reported again. A parent's memory.high that leaves less than the child's
# memory.max is the one that counts; explain --cold names it.
# vm: --warp --mem 2048
# about: ctl/cold kmod
# takes: 20
# timeout: 3600
. "$(dirname "$0")/lib.sh"

warm=$top/build/tests/warm
show() { seepage -j show "$1" | jq -r "$2"; }
is() { [[ $(show "$1" "$2") == "$3" ]]; }
is_alert() { [[ $(show "$1" .state) =~ ^(suspected|confirmed|runaway)$ ]]; }

# Not below the directory that is removed after the case.
cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
grep -qw memory "$cg"/cgroup.controllers || skip "no memory controller in the unified hierarchy"
echo +memory >"$cg"/cgroup.subtree_control
mkdir -p "$cg"/small/inner
echo 500M >"$cg"/small/memory.max
echo +memory >"$cg"/small/cgroup.subtree_control

load suspect_interval_ms=1000
seepage -j watch >watched &
watch=$!
bash -c 'echo $$ >"$1"/small/inner/cgroup.procs; exec "$0" leak 1024' "$warm" "$cg" &
inside=$!
"$warm" leak 1024 &
outside=$!

wait_for 600 is $inside .limit cgroup
wait_for 600 is $outside .limit ram
left=$(show $inside .tte_seconds)
outer=$(show $outside .tte_seconds)
# 500 MB against what is left of the 2 GB (4 on a debug kernel), at the same pace
((left > 30 && outer > 2 * left)) || die "$outer s to exhaustion outside, $left s in the cgroup"
seepage explain $inside >explained
grep -q 'at this pace the memory limit of its cgroup is reached in' explained ||
	die "explain does not name the limit: $(head -1 explained)"
wait_for 600 is_alert $inside
! is_alert $outside || die "the one with ${outer} s left is accused as early as the one with $left s"
jq -se --argjson pid $inside '[.[] | select(.pid == $pid)][0].limit == "cgroup"' watched >/dev/null ||
	die "the alert has another limit: $(<watched)"
head -1 explained
echo "seconds left: $left in the cgroup, $outer outside"

# Lifted: told so with the next look at the cgroup.
echo max >"$cg"/small/memory.max
wait_for 60 is $inside .limit ram

# limit_of PID: the file and the cgroup that leave least, and the MB that they leave
limit_of() {
	seepage -j explain --cold --window 1 "$1" |
		jq -r '.cold_look.cgroup_limit | "\(.file) \(.cgroup) \(.left_bytes / 1048576 | floor)"'
}
# A parent's memory.high, of half of what memory.max of its child leaves.
held=$(($(<"$cg"/small/memory.current) >> 20))
echo $((held + 600))M >"$cg"/small/inner/memory.max
wait_for 60 is $inside .limit cgroup
max_left=$(show $inside .tte_seconds)
by_max=$(limit_of $inside)
[[ $by_max == "memory.max /small/inner "* ]] || die "the limit is memory.max of the child, said: $by_max"
held=$(($(<"$cg"/small/memory.current) >> 20))
echo $((held + 200))M >"$cg"/small/memory.high
is_sooner() { (($(show $inside .tte_seconds) * 2 < max_left)); }
wait_for 60 is_sooner
high_left=$(show $inside .tte_seconds)
by_high=$(limit_of $inside)
[[ $by_high == "memory.high /small "* ]] || die "the limit is memory.high of the parent, said: $by_high"
((${by_high##* } <= 200 && ${by_high##* } > 100)) || die "200 MB less a minute of growth are left: $by_high"
seepage explain --cold --window 1 $inside >explained
grep 'memory.high of /small leaves least' explained || die "explain --cold does not name it: $(<explained)"
echo "by memory.max of the child: $max_left s, $by_max MB; by memory.high of its parent: $high_left s, $by_high MB"
echo max >"$cg"/small/memory.high
echo max >"$cg"/small/inner/memory.max
wait_for 60 is $inside .limit ram

# Nobody looks any more: the last word is believed for an hour, corrected by what it gains.
echo 600M >"$cg"/small/memory.max
wait_for 60 is $inside .limit cgroup
kill $watch
wait $watch || true
first=$(show $inside .tte_seconds)
sleep 60
second=$(show $inside .tte_seconds)
((second < first && second > first / 2)) || die "without watch: $first s left, a minute later $second s"
kill $inside $outside
wait $inside $outside 2>/dev/null || true
for ((i = 0; i < 50; i++)); do
	! rmdir "$cg"/small/inner "$cg"/small 2>/dev/null || break
	sleep 0.1
done
umount "$cg"
rmdir "$cg"
