#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The worst latency of a real-time task, by rt-tests' cyclictest on the PREEMPT_RT kernel, without
# the module and with it and its readers, in turn, under forks, execs and faults. A nanosecond of
# the counting clock is one instruction: the figures are those of the code, on any host.
# vm: --count --kernel 6.1-rt
# timeout: 900
# setup: stress
# no-debug: the latency of a debug kernel is that of its checkers
# only-amd64: the lab has PREEMPT_RT for x86 only
. "$(dirname "$0")/lib.sh"
loops=$(times 4000)

# latency: sets worst to the latest of all wake-ups, in ns.
latency() {
	cyclictest --quiet --mlockall --nsecs --priority 98 --interval 500 --loops "$loops" \
		>cyclictest.log 2>&1 || die "cyclictest: $(tail -n 1 cyclictest.log)"
	worst=$(sed -En 's/^T: 0 .*C: *([0-9]+) .*Max: *([0-9]+).*/\2/p' cyclictest.log)
	[[ $worst ]] || die "cyclictest: $(tail -n 1 cyclictest.log)"
	tail -n 1 cyclictest.log
}

unload
without=0 with=0
storm 500 2
trap end_storm EXIT
for turn in 1 2; do
	unload
	latency
	echo "turn $turn, without the module: $worst"
	((worst <= without)) || without=$worst
	load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	readers strict
	latency
	end_readers
	echo "turn $turn, with the module: $worst, answers: $answers"
	((worst <= with)) || with=$worst
done
end_storm
ratio=$((100 * with / without))
((ratio <= 150)) || die "the worst latency is $with ns with the module, $without ns without: $ratio %"
echo "worst latency of $((2 * loops)) wake-ups: $without ns without, $with ns with the module, $ratio %"
