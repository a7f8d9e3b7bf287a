#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fault counts are exact: the records of all mms of a program and its children add up,
# when they exit, to what perf counts. First come workloads known to be difficult, then
# ten real programs. Those are also stopped half-way, and their memory is compared with
# /proc.
# vm: --smp 2 --mem 2048
# about: kmod/account.c kmod/hook* kmod/mmtab.c kmod/pool.c
# takes: 34
# timeout: 600
# only-amd64: perf counts page-fault tracepoints, which only x86 has; hook-software is its like
set -u
. "$(dirname "$0")/lib.sh"
project=$(cd "$(dirname "$0")/../.." && pwd)
workload=$project/build/tests/workload
trace=/sys/kernel/tracing
bad=0

# Sampled often, so that the end of a process is told soon.
seepage set sample_interval_ms 300 suspect_interval_ms 300 max_cpu_permille 1000
echo 16384 >$trace/buffer_size_kb
echo 1 >$trace/events/seepage/seepage_exit/enable

# Faults at the end of all memories since the trace was cleared, or of those of
# one pid, but for perf's own (its child before exec, which it renames) and this script's.
ended() {
	awk -v mode="faults_$1" -v only="${2:-}" '
	/seepage_exit:/ {
		pid = comm = n = ""
		for (i = 1; i <= NF; i++) {
			split($i, kv, "=")
			if (kv[1] == "pid") pid = kv[2]
			if (kv[1] == "comm") comm = kv[2]
			if (kv[1] == mode) n = kv[2]
		}
		if (only != "" ? pid == only && comm !~ /^perf(-exec)?$/ : comm ~ /^(workload|exe)$/) sum += n
	}
	END { print sum + 0 }' $trace/trace
}

# What perf counted, from its CSV.
counted() {
	awk -F, -v e="exceptions:page_fault_$1" '$3 == e { print $1 }' perf.csv
}

compare() {
	local user kernel puser pkernel verdict=DIFFERENT i
	puser=$(counted user) pkernel=$(counted kernel)
	# The last of them is told of when the next pass has buried it.
	for ((i = 0; i < 200; i++)); do
		sleep 0.3
		user=$(ended user "${2:-}") kernel=$(ended kernel "${2:-}")
		[[ $user != "$puser" || $kernel != "$pkernel" ]] || { verdict=equal; break; }
	done
	# nor does it go on to count
	sleep 0.6
	user=$(ended user "${2:-}") kernel=$(ended kernel "${2:-}")
	[[ $user == "$puser" && $kernel == "$pkernel" ]] || verdict=DIFFERENT
	[[ $verdict == equal ]] || bad=1
	printf '%-26s perf %7s user %6s kernel   seepage %7s user %6s kernel   %s\n' \
		"$1" "$puser" "$pkernel" "$user" "$kernel" $verdict
}

# shellcheck disable=SC2054 # one word of perf's
perf_stat=(perf stat -x, -o perf.csv -e exceptions:page_fault_user,exceptions:page_fault_kernel --)

for w in "anon 3000" "churn 5120" "shmem 2000" "readbuf 2000" "populate 2000" \
	"fileread 1600" "filewrite 800" "cow 800" "threads 4000" "vfork 500" \
	"exec 700" "migrate 2000" "forks 40"; do
	: >$trace/trace
	# shellcheck disable=SC2086 # two words
	"${perf_stat[@]}" "$workload" $w || die "workload $w failed"
	compare "workload $w"
done

# One that outlives the process perf waits for is compared by its own record:
# the faults of both processes are in the one memory, under the survivor's pid.
"$workload" clonestay 1000
pid=$(pgrep -x workload) || die "the clone is gone"
# shellcheck disable=SC2317 # called by wait_for
survivor() {
	n=$(seepage -j show "$pid" | jq '.faults_user')
	((n >= 1000))
}
wait_for 30 survivor
kill "$pid"
echo "clone(CLONE_VM): pid $pid, the survivor, shows $n faults"

# Real programs. Each is stopped for a moment: memory as /proc has it.
memory() {
	local pid=$1 name=$2 key field want got line diff worst=0
	line=$(seepage -j show "$pid") || die "show $pid"
	for key in anon:RssAnon file:RssFile shmem:RssShmem swap:VmSwap vsz:VmSize; do
		field=${key#*:}
		want=$(awk -v f="$field:" '$1 == f { print $2 * 1024 }' "/proc/$pid/status")
		got=$(jq ".${key%:*}_bytes" <<<"$line")
		diff=$((got > want ? got - want : want - got))
		((diff > worst)) && worst=$diff
	done
	# the batch of the per-thread counters: 64 pages a thread
	local allowed=$((64 * 4096 * $(awk '$1 == "Threads:" { print $2 }' "/proc/$pid/status")))
	printf '%-26s rss %9s bytes, /proc %9s bytes, largest difference of five figures %s\n' \
		"  stopped:" "$(jq .rss_bytes <<<"$line")" \
		"$(awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$pid/status")" "$worst"
	((worst <= allowed)) || { echo "  $name: beyond $allowed"; bad=1; }
}

real() {
	local name=$1 pid
	shift
	: >$trace/trace
	rm -f pid
	# shellcheck disable=SC2016 # for the inner shell
	"${perf_stat[@]}" sh -c 'echo $$ >pid; exec "$@"' sh "$@" >/dev/null 2>err &
	local perf=$!
	wait_for 60 test -s pid
	pid=$(<pid)
	# on a fast machine it may be over before it can be looked at
	while [[ -e /proc/$pid && $(<"/proc/$pid/comm") != "$name" ]]; do sleep 0.05; done
	sleep 0.3
	if kill -STOP "$pid" 2>/dev/null; then
		# all threads of it
		while grep -q '^State:.[RSD]' <(cat "/proc/$pid/task/"*/status 2>/dev/null); do sleep 0.05; done
		if grep -qs '^State:.T' "/proc/$pid/status"; then
			memory "$pid" "$name"
			looked=$((looked + 1))
		fi
		kill -CONT "$pid" 2>/dev/null || true	# it was over as it was stopped
	fi
	wait $perf || die "$name failed: $(tail -n 1 err)"
	compare "$name" "$pid"
}

seq 1 200000 | awk '{ print $1 * 7919 % 1000003, "line", $1 }' >data
cc1=$(gcc -print-prog-name=cc1)
{
	echo '#include <stdio.h>'
	for i in $(seq 200); do echo "int f$i(int a) { int s = 0; while (a-- > $i) s += a % $i; printf(\"%d\", s); return s; }"; done
} >big.c
gcc -E big.c >big.i
# shellcheck disable=SC2016 # for the programs themselves
real_programs() {
	real perl perl -e 'my %h; $h{$_} = "v$_" x 10 for 1..40000; my @k = sort keys %h; print scalar @k'
	real python3 python3 -c 'd = {i: str(i) * 10 for i in range(100000)}; print(sum(map(len, d.values())))'
	real cc1 "$cc1" -O1 -quiet big.i -o /dev/null
	real sort sort --parallel=2 -S 8M data
	# make test has these four only
	[[ ! ${SEEPAGE_SHORT:-} ]] || return 0
	real awk awk '{ n[$1 % 50000] = n[$1 % 50000] $3 } END { print length(n) }' data
	real xz xz -T2 -1 -k -c data
	real gzip gzip -9 -c data
	real sed sed -e 's/\([0-9]*\) line/line \1/' -e 's/9/nine/g' data
	real find find /usr/share/perl /usr/lib/python3 -newer /etc/passwd
	real bash bash -c 'for ((i = 0; i < 60000; i++)); do a[i]=$i$i; done; echo ${#a[@]}'
}
looked=0 least=5
[[ ! ${SEEPAGE_SHORT:-} ]] || least=2
real_programs
((looked >= least)) || die "only $looked of the programs were there to be compared with /proc"
exit $bad
