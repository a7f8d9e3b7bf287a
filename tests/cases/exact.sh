#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A machine of 64 CPUs, where a memory counter may be off by 32 MB: a process that leaks 40 MB
# is seen to grow. It runs on all CPUs in turn, so that each of them caches some.
# vm: --smp 64 --mem 4096
# about: kmod
# matrix: 6.1 counts memory by thread, not by CPU; ctl-json compares exact counters with /proc
# takes: 60
# timeout: 1200
# no-debug: 64 CPUs are emulated one after the other, which a debug kernel makes too slow
. "$(dirname "$0")/lib.sh"
warm=$top/build/tests/warm

assert_eq "$(nproc)" 64 "CPUs"
load sample_interval_ms=1000 suspect_interval_ms=500 min_process_size_mb=1
# 1 MB a second: 40 MB
"$warm" leak 1024 1000 &
leaker=$!
seen=''
# The walk over the page tables: the counters in status lag behind what is in question here.
anon() { awk '/^Anonymous:/ { print $2 }' /proc/$leaker/smaps_rollup; }
for ((i = 0; i < 60 && $(anon) < 40960; i++)); do
	taskset -p -c $((i % 64)) $leaker >/dev/null
	state=$(seepage -j show $leaker | jq -r .state)
	[[ $state == ok ]] || seen=$state
	sleep 1
done
echo "state $(seepage -j show $leaker | jq -c '[.state, .confidence, .anon_bytes]'), seen '$seen'," \
	"$(anon) kB"
[[ $seen ]] || die "a leak of 40 MB was not seen: $(seepage explain $leaker)"
kill $leaker
wait $leaker || true
