#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What seepage adds to a user page fault where 1 to 8 CPUs fault at a time, in
# guest instructions that a plugin of QEMU counts (insns.c); part of `make bench`.
# usage: tests/bench/cpus.sh, inside a VM of 8 CPUs with that plugin
. "$(dirname "$0")/lib.sh"

# fault_on CPUS [threads]: a fault's instructions, the median over the CPUs of each
# one's median; the least of three, as on a busy host interrupts are in many stretches.
fault_on() {
	local told i
	for i in 1 2 3; do
		told=$(wc -l <"$SEEPAGE_PLUGIN_OUT")
		"$bench/faultcpus" "$1" 1280 ${2:+"$2"} || die "faultcpus $* failed"
		tail -n +$((told + 1)) "$SEEPAGE_PLUGIN_OUT" | sort -k 4n | awk -v cpus="$1" '
			$1 == "lost" || $2 != 1280 { exit 1 }
			{ m[n++] = $4 / 8 }
			END { if (n != cpus) exit 1; printf "%.1f\n", m[int((n - 1) / 2)] }' ||
			die "faultcpus $*: not all stretches of $1 CPUs were counted"
	done | least
}

for cpus in 1 2 4 8; do
	for threads in '' threads; do
		what=cpus${threads:+_threads}
		without=$(fault_on $cpus $threads)
		load hook=tracepoint
		with=$(fault_on $cpus $threads)
		unload
		added=$(less "$with" "$without")
		# A tracepoint's handler that does nothing is 20.
		((${added%.*} >= 10)) || die "$what $cpus: $added added, the hook does not run"
		fig "fault_added_$what.$cpus" "$added"
		fig "fault_base_$what.$cpus" "$without"
	done
done
