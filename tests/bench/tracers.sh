#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What observers that tell user space of each fault, or are compiled as they start,
# add to it; part of `make bench`. Each has a baseline of its own before it.
# usage: tests/bench/tracers.sh, inside the VM
. "$(dirname "$0")/lib.sh"
cd "$(mktemp -d)" || die "no directory"

# 40 bytes a sample at least.
seen_record() { echo $(($(stat -c %s data) / 40)); }
peer perf_record seen_record perf record -q -a -e page-faults -c 1 -o data --

# bpftrace's child is its -c, one string, and no script.
traced() {
	local program=$1
	shift
	bpftrace -o traced -e "$program" -c "$*"
}
seen_traced() { sed -n 's/^@n\[[0-9]*\]: //p' traced | sort -n | tail -n 1; }
point=tracepoint:exceptions:page_fault_user
peer bpftrace_count seen_traced traced "$point { @n[pid] = count(); }"
peer bpftrace_script seen_traced traced "$point {
	@n[pid] = @n[pid] + 1;
	@name[pid] = comm;
	if (@n[pid] % 100 == 0) { @where[pid] = ustack; }
}"

if [[ -e $bench/stap/fault.ko ]]; then
	seen_stap() { awk '/^[0-9]+$/ { print }' stap | tail -n 1; }
	tapped() { staprun -o stap "$bench/stap/fault.ko" -c "$*"; }
	peer systemtap seen_stap tapped
else
	cannot fault_added.systemtap "$(<"$bench/stap/reason")"
fi
