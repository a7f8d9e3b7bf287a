#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of one dumped record in guest instructions, from the difference of two
# numbers of processes. DESIGN.md has the budget.
# vm: --count --mem 1024
# takes: 12
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
n=600

sleep 60
read -r few few_cost < <(dump_cost)
crowd $n
sleep 60
read -r many many_cost < <(dump_cost)
disperse "$parent"
((many - few >= n)) || die "$many records with $n processes more, $few without"
each=$(((many_cost - few_cost) / (many - few)))
echo "$few records: $few_cost instructions, $many: $many_cost; $each a record, budget $(budget 5000)"
((each > 500 && each <= $(budget 5000))) || die "a record costs $each instructions, budget $(budget 5000)"
