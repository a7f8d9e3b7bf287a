#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Six workers leak a megabyte a minute each, in two cgroups below one that may use 1 GB. A
# second service beside them comes and goes and is harmless. The limit above is shared: the
# first alert is early and says when it is reached, and the harmless one has none.
# vm: --warp --mem 2048
# about: ctl/cold kmod
# matrix: limit-cgroup has a limit of a cgroup, service-lives one subject
# takes: 120
# timeout: 40000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/service-lib.sh"

# Not below the directory that is removed after the case.
cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
grep -qw memory "$cg"/cgroup.controllers || skip "no memory controller in the unified hierarchy"
echo +memory >"$cg"/cgroup.subtree_control
mkdir -p "$cg"/box/{a,b,fine}
echo +memory >"$cg"/box/cgroup.subtree_control
echo 1G >"$cg"/box/memory.max

spare
load sample_interval_ms=10000
seepage -j watch >watched &
watch=$!
cp "$top/build/tests/brood" fine
bash -c 'echo $$ >"$1"/box/fine/cgroup.procs; exec ./fine 8 20 100000 300' fine "$cg" &
fine=$!
sleep 900		# 15 children of 8 MB by now
start=$(date +%s%N)
for ((i = 0; i < 6; i++)); do
	worker 1024 60000 "$cg/box/$( ((i % 2)) && echo a || echo b)"
done
until_end
assert_eq "$(field .limit <<<"$(first_alert)")" cgroup "the limit of the first alert"
others=$(seepage -j alerts | jq -c 'select(.comm == "fine") |
	[.state, .subject, .members, .anon_bytes, .growth_bytes_per_hour, .tte_seconds, .shares_with]')
[[ ! $others ]] || die "alerts of the harmless service: $others"
judge 80 20
kill $watch $fine "${workers[@]}" 2>/dev/null || true
wait || true
for ((i = 0; i < 50; i++)); do
	! rmdir "$cg"/box/{a,b,fine} "$cg"/box 2>/dev/null || break
	sleep 0.1
done
umount "$cg"
rmdir "$cg"
