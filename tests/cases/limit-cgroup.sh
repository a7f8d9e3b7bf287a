#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two processes leak at the same rate. The parent cgroup of one has a memory limit. This
# limit is reported as the one reached first, and the alert comes earlier. After the limit
# is removed, RAM is reported again.
# vm: --warp --mem 2048
# about: ctl/cold kmod
# takes: 14
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
