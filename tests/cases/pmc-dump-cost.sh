#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of one dumped record, and of an idle process in a full pass, with hardware
# counters on. Like dump-cost and tick-cost it takes the difference of two numbers of
# processes, in guest instructions. The budget of DESIGN.md for a record, 5000, holds
# although the values of seven events add 168 bytes, which are copied twice.
# The PMU stays loaded, so the VM is not shared with other cases.
# vm: --count --mem 1072
# about: kmod/hook* kmod/netlink kmod/pmu kmod/tick.c
# matrix: dump-cost and tests/scale hold the same budgets, this one with counters
# timeout: 900
# kmod: fakepmu
# no-debug: the checkers cost more instructions than what is measured
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
. "$top/tests/bench/measure.sh"
n=600

fake_pmu counters=4 fast=1
load pmc=auto
assert_eq "$(pmc_status)" on pmc_status
sleep 60
watch_passes
base=$(pass_cost 1)
read -r few few_cost < <(dump_cost)
crowd $n
sleep 100
watch_passes
pass=$((($(pass_cost 1) - base) / n))
read -r many many_cost < <(dump_cost)
disperse "$parent"
((many - few >= n)) || die "$many records with $n processes more, $few without"
within "a dumped record, instructions" $(((many_cost - few_cost) / (many - few))) 5000
within "an idle process in a pass, first minutes" $pass 640
[[ ! $over ]] || die "over budget:$over"
