#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What hardware counters add to a context switch, in guest instructions, beside perf
# with the same events, all in one run; part of `make bench`. The PMU is that of
# tests/kmod/fakepmu.c for all. A reading of it costs as much as that of a real driver
# (fast=1, as in the case pmc-cost), and is in all figures.
# usage: tests/bench/counters.sh, inside the VM
. "$(dirname "$0")/lib.sh"
. "$top/tests/cases/pmc-lib.sh"
. "$top/tests/bench/switches.sh"
cd "$(mktemp -d)" || die "no directory"

SEEPAGE_KMOD=$top/build/test-kmod/6.1
added() { fig "pmc_switch_added.$1" "$(less "$2" "$base")"; }
fake_pmu counters=4 fast=1
base=$(switch_cost)
fig pmc_switch_base "$base"
pipe_base=$(bench_cost "${pipe[@]}") messaging_base=$(bench_cost "${messaging[@]}")
load pmc=off
added off "$(switch_cost)"
unload
load pmc=auto pmc_events=cycles
added one "$(switch_cost)"
unload
load pmc=auto pmc_events=cycles,instructions,llc_references,llc_misses
added four "$(switch_cost)"
pipe_on=$(bench_cost "${pipe[@]}") messaging_on=$(bench_cost "${messaging[@]}")
unload
added nothing "$(switch_cost)"
peer=(perf stat "-x," -o /dev/null -e "$events")
added perf_stat_all "$(switch_cost "${peer[@]}" -a)"
added perf_stat_command "$(switch_cost "${peer[@]}")"
added perf_stat_per_thread "$(each_by_itself "${peer[@]}" --per-thread 2>/dev/null)"
fig pmc_pipe_added.seepage "$(less "$pipe_on" "$pipe_base")"
fig pmc_pipe_added.perf_stat_all "$(less "$(bench_cost "${pipe[@]}" -- "${peer[@]}" -a)" "$pipe_base")"
fig pmc_messaging_added.seepage "$(less "$messaging_on" "$messaging_base")"
fig pmc_messaging_added.perf_stat_all \
	"$(less "$(bench_cost "${messaging[@]}" -- "${peer[@]}" -a)" "$messaging_base")"
