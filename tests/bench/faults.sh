#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What observers add to a user page fault and to a context switch, in guest
# instructions, all in one run; part of `make bench`.
# usage: tests/bench/faults.sh, inside the VM
. "$(dirname "$0")/lib.sh"
cd "$(mktemp -d)" || die "no directory"
faults=5000

bare
fig fault_base "$base"
added nothing "$(fault_cost)"
insmod "$bench/probe/probe.ko"
added empty_probe "$(fault_cost)"
rmmod probe
for hook in tracepoint software; do
	bare
	load hook=$hook
	added seepage_$hook "$(fault_cost)"
	unload
done

seen_bpf() { tail -n 1 log; }
bpf() { "$bench/bpfload" "$bench/peers.bpf.o" "$@"; }
peer bpf_hash seen_bpf bpf count_hash hash
peer bpf_percpu seen_bpf bpf count_percpu percpu
peer bpf_detector seen_bpf bpf detector_raw processes
peer bpf_detector_tp seen_bpf bpf detector_tp processes

seen_stat() { awk -F, '/page_fault_user/ { print $1 }' stat; }
peer perf_stat seen_stat perf stat -a -x, -o stat -e exceptions:page_fault_user
map=$(bpf detector_raw processes "$(command -v bpftool)" -j map show name processes 2>log |
	jq .bytes_memlock) || map=
if [[ $map =~ ^[0-9]+$ ]]; then
	fig peer_memory_bytes.bpf_detector_map "$map"
else
	cannot memory_bytes.bpf_detector_map "$(<log)"
fi

# At a pace: each fault after a sleep, timed by itself. What stands between two
# faults, the clock included, is the same without the module and falls out.
for rate in 1000 10000 50000; do
	paced() { "$faultbench" 2000 5 $rate; }
	without=$(paced)
	load hook=tracepoint
	fig fault_added_at_rate.$rate "$(less "$(paced)" "$without")"
	unload
done

# Two processes that fault in turn: each fault finds the other's mm in the cache.
pingpong() { "$@" "$top/build/tests/pingpong" 10000 5; }
touching() { "$top/build/tests/pingpong" 10000 5 touch; }
# A hook in the switch would cost more than what differs from load to load: the
# empty handler of a tracepoint is 20.
for _ in 1 2; do
	pingpong >>bare
	touching >>bare.touching
	load hook=tracepoint
	pingpong >>loaded
	touching >>loaded.touching
	unload
done
base=$(least <bare)
fig switch_base "$base"
fig switch_added.seepage "$(less "$(least <loaded)" "$base")"
fig fault_added_in_turn "$(less "$(least <loaded.touching)" "$(least <bare.touching)")"
stat=$(pingpong perf stat -a -x, -o stat -e context-switches)
fig switch_added.perf_stat "$(less "$stat" "$base")"
fig switch_added.nothing "$(less "$(pingpong)" "$base")"
