#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of one dumped record in guest instructions, from the difference of two
# numbers of processes. DESIGN.md has the budget.
# vm: --count --mem 1024
# about: kmod tests/bench
# takes: 3
# timeout: 600
# no-debug: the checkers cost more instructions than what is measured
. "$(dirname "$0")/lib.sh"
. "$top/tests/bench/measure.sh"
record_within "$(budget 5000)"
