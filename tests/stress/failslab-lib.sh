# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Makes allocations of the module fail: . "$(dirname "$0")/failslab-lib.sh"
debug=/sys/kernel/debug/failslab

below() {
	for dir in $debug /sys/kernel/debug/fail_page_alloc; do
		echo "$1" >"$dir"/require-start
		echo "$2" >"$dir"/require-end
	done
}

# Only below a function of a module, and there is no other: the kernel's own
# code for loading one warns when its allocations fail (trace_events.c).
below_modules() { below 0xffffffffa0000000 0xffffffffff000000; }

# every_fails N: each Nth of any task, from now on
every_fails() {
	echo "$1" >$debug/interval
	echo -1 >$debug/times
	echo 100 >$debug/probability
}

none_fails() { echo 0 >$debug/probability; }

for dir in $debug /sys/kernel/debug/fail_page_alloc; do
	echo 0 >"$dir"/verbose
	echo N >"$dir"/ignore-gfp-wait
	echo 24 >"$dir"/stacktrace-depth
done
below_modules
