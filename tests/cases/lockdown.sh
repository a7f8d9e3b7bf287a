#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A kernel that is locked down loads the module only with a signature that it trusts. Netlink,
# debugfs, alerts, fault counts and hardware counters work as on any other kernel. What the
# kernel refuses at each level is the table "Lockdown" of docs/kernels.md: each row is a line here.
# `make lockdown` runs it, and the core cases, on both levels.
# vm: --smp 1 --lockdown confidentiality
# matrix: make lockdown runs it and others on both levels
# takes: 45
# timeout: 300
# kmod: fakepmu
# only-amd64: the firmware that knows a key is that of x86
# no-built: kernels that the lab builds have no lockdown
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"
. "$(dirname "$0")/pmc-lib.sh"
trace=/sys/kernel/tracing
level=$(lockdown_level)
[[ $level != none ]] || die "the kernel is not locked down"
echo "lockdown=$level"

# refused_from LEVEL WHAT TEXT COMMAND...: the kernel refuses it at LEVEL and above, with TEXT
# in its answer, and allows it below.
refused_from() {
	local from=$1 what=$2 text=$3 answer status=0
	shift 3
	answer=$("$@" 2>&1) || status=$?
	if [[ $from == confidentiality && $level == integrity ]]; then
		((status == 0)) || die "$what: refused: ${answer##*$'\n'}"
		echo "allowed: $what"
		return
	fi
	((status != 0)) || die "$what: allowed"
	[[ ${answer,,} == *"${text,,}"* ]] || die "$what: '${answer##*$'\n'}' does not say '$text'"
	echo "refused: $what"
}

# The module: without a signature, with one of a key that the kernel does not know, and with
# the right one after a byte has changed. The signature is what follows the end of the image.
unload
size=$(python3 - "$SEEPAGE_KO" <<'END'
import struct
import sys
with open(sys.argv[1], "rb") as f:
    module = f.read()
mark = b"~Module signature appended~\n"
assert module.endswith(mark), "SEEPAGE_KO is not signed"
print(len(module) - len(mark) - 12 - struct.unpack(">I", module[-len(mark) - 4:-len(mark)])[0])
END
)
head -c "$size" "$SEEPAGE_KO" >unsigned.ko
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=nobody -keyout key.pem -out cert.pem 2>openssl.log ||
	die "no key: $(tail -n 1 openssl.log)"
"$top/tests/lab/sign-module" unsigned.ko foreign.ko key.pem cert.pem
cp "$SEEPAGE_KO" changed.ko
byte=$(od -An -tu1 -j $((size / 2)) -N 1 changed.ko)
printf '%b' "\\x$(printf %02x $((byte ^ 255)))" | dd of=changed.ko bs=1 seek=$((size / 2)) conv=notrunc status=none
! cmp -s "$SEEPAGE_KO" changed.ko || die "nothing was changed"
# Secure Boot, which is on, makes the kernel insist on a signature; the error is that of a wrong one.
refused_from integrity "a module without a signature" "rejected" insmod unsigned.ko
refused_from integrity "a module signed with an unknown key" "rejected" insmod foreign.ko
refused_from integrity "a module changed after signing" "rejected" insmod changed.ko
grep -q '^seepage ' /proc/modules && die "the module is loaded after three refusals"
insmod "$SEEPAGE_KO" sample_interval_ms=200 suspect_interval_ms=200
echo "allowed: a module signed with a key of the firmware"

# What the module does. Its tracepoint probes and kernel counters are not what lockdown is about.
for hook in "${hooks[@]}"; do
	load hook="$hook" sample_interval_ms=200 suspect_interval_ms=200
	assert_eq "$(seepage -j status | field .hook)" "$hook" "hook"
	perl -e '$x = "x" x (8 << 20); $| = 1; print "ready\n"; sleep 1000' >ready &
	pid=$!
	wait_for 20 grep -q ready ready
	n=$(seepage -j show $pid | field '.faults_user + .faults_kernel')
	# Not one for each page of it: some are huge. The kernel also counts those before exec.
	most=$(cut -d ' ' -f 10,12 /proc/$pid/stat | awk '{ print $1 + $2 }')
	((n >= 500 && n <= most)) || die "hook=$hook: $n faults, the kernel counted $most"
	grep -qE "^ *$pid " /sys/kernel/debug/seepage/processes || die "debugfs does not show $pid"
	kill $pid
	echo "works: hook=$hook, $n faults"
done
for file in status processes alerts config counters; do
	grep -q . "/sys/kernel/debug/seepage/$file" || die "debugfs: $file is empty"
done
echo "works: the files of debugfs"
load
nltest alert-life alert-group alert-since
echo "works: alerts"
unload
"$top/tests/lab/sign-module" "$SEEPAGE_KMOD/fakepmu.ko" fakepmu.ko
SEEPAGE_KMOD=$PWD fake_pmu counters=4
load pmc=on sample_interval_ms=200 suspect_interval_ms=200
assert_eq "$(pmc_status)" on "hardware counters"
counting() { (($(seepage -j show $$ | field '.pmc.cycles.count // 0') > 0)); }
wait_for 20 counting
echo "works: hardware counters"

# What the kernel refuses, whatever module is loaded.
mknod mem c 1 1
refused_from integrity "/dev/mem" "not permitted" head -c 1 mem
writable=$(find /sys/kernel/debug -maxdepth 2 -type f -perm /222 -print -quit)
[[ $writable ]] || die "debugfs has no file that can be written"
refused_from integrity "debugfs files that can be written, ${writable##*/}" "not permitted" cat "$writable"
# kexec_load of no segments, which only forgets an earlier image. With Secure Boot the
# integrity subsystem is the first to refuse it.
refused_from integrity "kexec of unsigned images" "denied" perl -e \
	'$! = 0; syscall(246, 0, 0, 0, 0) == 0 or die "$!\n"'
refused_from confidentiality "/proc/kcore" "not permitted" head -c 64 /proc/kcore
refused_from confidentiality "tracefs" "" cat $trace/trace
refused_from confidentiality "events of the module in tracefs" "" \
	cat $trace/events/seepage/seepage_birth/format
refused_from confidentiality "perf with registers of the kernel" "" \
	perf record -q --intr-regs -e page-faults -c 1 -o perf.data true
# perf_event_open of the PMU "kprobe", at do_exit; struct perf_event_attr up to config2.
# shellcheck disable=SC2016 # perl's variables
kprobe='
	open F, "/sys/bus/event_source/devices/kprobe/type" or die "$!\n";
	my $name = "do_exit\0";
	my $attr = pack("LLQQQQQLLQQ", <F>, 72, 0, 0, 0, 0, 0, 0, 0, unpack("Q", pack("p", $name)), 0);
	syscall(298, $attr, 0, -1, -1, 0) >= 0 or die "$!\n"'
refused_from confidentiality "kprobes" "not permitted" perl -e "$kprobe"

# What stays allowed.
seepage status >/dev/null
perf stat -x, -o perf.csv -e page-faults true
grep -q '^[1-9][0-9]*,,page-faults' perf.csv || die "perf stat: $(tail -n 1 perf.csv)"
echo "allowed: perf stat -e page-faults"
echo "$(grep -c . /proc/slabinfo) lines of /proc/slabinfo, $(wc -l </proc/kallsyms) of /proc/kallsyms"
