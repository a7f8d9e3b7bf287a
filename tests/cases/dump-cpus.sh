#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# On a machine that may have many CPUs, a dumped record costs what it does on a small one: the
# caches of CPUs are looked at for records only that some CPU holds. All but one CPU are
# possible ones, never present.
# vm: --count --mem 2048 --append possible_cpus=512
# takes: 20
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: the parameter possible_cpus is of x86
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
n=600

read -r _ cpus < <(tr - ' ' </sys/devices/system/cpu/possible)
((${cpus:-0} == 511)) || skip "the kernel does not take possible_cpus: $(</sys/devices/system/cpu/possible)"
sleep 60
read -r few few_cost < <(dump_cost)
crowd $n
sleep 60
read -r many many_cost < <(dump_cost)
disperse "$parent"
((many - few >= n)) || die "$many records with $n processes more, $few without"
each=$(((many_cost - few_cost) / (many - few)))
echo "$few records: $few_cost instructions, $many: $many_cost; $each a record, budget 5000"
((each > 500 && each <= 5000)) || die "a record costs $each instructions, budget 5000"
