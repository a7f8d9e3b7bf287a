#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Processes come and go in a full table. Burying them may take no more of a CPU than
# max_cpu_permille, as passes do, and all the same it goes on. The figure is the CPU time of
# all kworkers of unbound queues, with the module less without it. In a table with room new
# records are allocated all the while, and that does not put burials off.
# vm: --count --mem 1024
# about: kmod tests/bench
# takes: 26
# timeout: 1200
# no-debug: the checkers cost more instructions than what is measured
. "$(dirname "$0")/lib.sh"
seconds=1 permille=4

# CPU time of the workers so far, ns.
worker_ns() {
	local dir name ns sum=0
	for dir in /proc/[0-9]*; do
		{ read -r name <"$dir/comm"; } 2>/dev/null || continue
		[[ $name == kworker/u* || $name == seepage ]] || continue
		read -r ns _ <"$dir/schedstat"
		sum=$((sum + ns))
	done
	echo $sum
}

# Forks, each of which dies at once, for some seconds. Sets forks, and share: thousandths of a
# CPU that workers took.
churn() {
	local from now
	from=$(worker_ns)
	forks=$("$top/build/tests/mayfly" $seconds)
	now=$(worker_ns)
	share=$(((now - from) / (seconds * 1000000)))
}

counter() { seepage -j status | field ".counters.$1"; }

unload
crowd 2000
churn
without=$share
load max_processes=2048 sample_interval_ms=3600000 max_cpu_permille=$permille
sleep 1
deaths=$(counter deaths)
churn
deaths=$(($(counter deaths) - deaths))
echo "$forks forks in $seconds s, $deaths buried: workers take $share permille of a CPU, $without without the module"
(($(counter table_full) > 0)) || die "the table was not full"
((deaths > 0)) || die "nobody was buried"
# What is charged begins when the work runs; to wake it up costs as well.
((share - without <= 2 * permille)) ||
	die "the worker takes $((share - without)) permille, max_cpu_permille is $permille"

# What dies in the time that burials are put off for takes long to bury, so not all are buried.
load max_processes=65536 sample_interval_ms=3600000 max_cpu_permille=$permille
sleep 1
deaths=$(counter deaths)
churn
deaths=$(($(counter deaths) - deaths))
echo "with room: $forks forks, $deaths buried, $share permille"
assert_eq "$(counter table_full)" 0 "table_full with room"
((deaths > forks / 16)) || die "with room: of $forks dead $deaths were buried"
disperse "$parent"
