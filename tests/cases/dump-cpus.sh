#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# On a machine that may have many CPUs, a dumped record costs what it does on a small one: the
# caches of CPUs are looked at for records only that some CPU holds. All but one CPU are
# possible ones, never present.
# vm: --count --mem 2048 --append possible_cpus=512
# matrix: tests/scale has 256 CPUs, dump-cost the budget of a record
# takes: 20
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the parameter possible_cpus is of x86
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"

read -r _ cpus < <(tr - ' ' </sys/devices/system/cpu/possible)
((${cpus:-0} == 511)) || skip "the kernel does not take possible_cpus: $(</sys/devices/system/cpu/possible)"
record_within 5000
