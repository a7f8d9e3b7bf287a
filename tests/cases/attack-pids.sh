#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A plain user gets the pid of a process of root that has ended, and is told of its own
# process only.
# vm: --smp 2
# about: kmod
# takes: 14
# timeout: 600
. "$(dirname "$0")/lib.sh"

[[ -e /proc/sys/kernel/ns_last_pid ]] ||
	skip "this kernel has no ns_last_pid to use a pid again (CONFIG_CHECKPOINT_RESTORE)"
load sample_interval_ms=200 suspect_interval_ms=200
python3 "$top/tests/attack/reuse.py" "$(some 30)" >reused || die "$(grep -m 1 '^round' reused)"
tail -n 1 reused
[[ $(tail -n 1 reused) != "0 reused"* ]] || die "no pid was ever used again"
