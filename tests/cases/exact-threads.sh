#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Before v6.2 each thread caches up to 64 pages beside the memory counters, 375 MB in a process
# of 1500 threads, which are more than are looked at in one go. One that leaks 40 MB, some in
# each thread, is seen to grow.
# Later kernels cache by CPU, where this proves nothing.
# vm: --mem 1024
# about: kmod
# matrix: ctl-json and faults-exact compare memory with /proc, this one that of 1500 threads
# takes: 60
# timeout: 600
. "$(dirname "$0")/lib.sh"

oldest=$(printf '%s\n' 6.2 "$(uname -r)" | sort -V | head -n 1)
[[ $oldest != 6.2 ]] || skip "this kernel caches by CPU, not by thread"
load sample_interval_ms=1000 suspect_interval_ms=500 min_process_size_mb=1
"$top/build/tests/threads" 1500 128 250 &
leaker=$!
# The walk over the page tables: the counters in status lag behind what is in question here.
anon() { awk '/^Anonymous:/ { print $2 }' /proc/$leaker/smaps_rollup; }
has_begun() { (($(anon) > 8192)); }
wait_for 60 has_begun
from=$(anon) seen=''
while (($(anon) < from + 40960)); do
	state=$(seepage -j show $leaker | jq -r .state)
	[[ $state == ok ]] || seen=$state
	sleep 0.5
done
echo "state $(seepage -j show $leaker | jq -c '[.state, .confidence, .anon_bytes]'), seen '$seen'," \
	"from $from to $(anon) kB, $(awk '/Threads/ { print $2 }' /proc/$leaker/status) threads"
[[ $seen ]] || die "a leak of 40 MB was not seen: $(seepage explain $leaker)"
kill $leaker
wait $leaker || true
