#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The controller killed by SIGKILL at random points, as dumper, watcher and
# writer; no listener, no lock and no memory of it stays behind.
# vm: --smp 2 --mem 1024
# timeout: 900
. "$(dirname "$0")/lib.sh"
n=$(times 200)
words=("-j ps" "watch --since 0" "-j alerts" "top" "set alert_confidence 50" "reset history"
	"-j show 1" "explain 1" "-j status")

load policy=classic warmup_s=0 min_process_size_mb=0 alert_confidence=0 alert_interval_s=0 \
	alerts_per_minute=100000 sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
storm 500 2
trap end_storm EXIT
died=0
for ((i = 0; i < n; i++)); do
	draw 0 $((${#words[@]} - 1))
	# shellcheck disable=SC2086 # words
	seepage ${words[drawn]} >/dev/null 2>&1 &
	seconds 0 60
	sleep "$drawn"
	! kill -KILL $! 2>/dev/null || died=$((died + 1))
	wait $! 2>/dev/null || true
done
((died > n / 10)) || die "only $died of $n were alive to be killed: this tests little"
end_storm
check_table
# Nothing holds the module; the next one starts afresh.
rmmod seepage || die "something of the killed holds the module"
insmod "$SEEPAGE_KO"
echo "$n commands, $died of them killed on the way"
