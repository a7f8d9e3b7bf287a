#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# doctor with the module: what it says is what status says, of a leak it says the time that is
# left, and a user without rights is told so. Without the module it says how to load it.
# vm: --smp 2 --mem 1024
# takes: 70
# about: ctl
. "$(dirname "$0")/lib.sh"

# line CHECK: level and text of its first line.
line() { jq -r --arg c "$1" '[.findings[] | select(.check == $c)][0] | "\(.level) \(.text)"' report; }
doctor() {
	local status=0
	"$@" seepage -j doctor >report || status=$?
	cat report
	assert_eq $status "$(jq 'if .bad > 0 then 1 else 0 end' report)" "status"
}

ticked() { (($(seepage -j status | field .ticks) > 2)); }
load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0
wait_for 20 ticked
doctor
seepage doctor || true
version=$(seepage -j status | field .version)
assert_eq "$(line module)" "ok loaded, version $version as this program"
[[ $(line work) =~ ^ok\ [0-9]+\ sampling\ passes$ ]] || die "work: $(line work)"
assert_eq "$(line alerts)" "ok no process is under alert"
assert_eq "$(line rights)" "ok this user may use all commands"
assert_eq "$(line kernel_log)" "ok no bug of the module is reported"
[[ $(line table) == "ok room for 8192 processes, "* ]] || die "table: $(line table)"
case $(seepage -j status | field .hook) in
tracepoint) assert_eq "$(line hook)" "ok page faults come from the tracepoints" ;;
software) [[ $(line hook) == "warn page faults come from perf's software event"* ]] || die "$(line hook)" ;;
esac
[[ $(line watch) == "warn seepage watch does not run"* ]] || die "watch: $(line watch)"
[[ $(line told) == "warn nobody is told"* ]] || die "told: $(line told)"

seepage watch >watched 2>&1 &
watch=$!
seepage set max_processes 32
crowd 40
watched() { doctor >/dev/null && [[ $(line watch) == "ok seepage watch runs, pid $watch"* ]]; }
wait_for 20 watched
[[ $(line table) == "warn room for 32 processes, "* ]] || die "table: $(line table)"
seepage set max_processes 8192
disperse "$parent"

# A leak that has little room is under alert soon.
accused() { seepage -j ps --state suspected,confirmed,runaway | jq -e 'length > 0' >/dev/null; }
(
	ulimit -d 200000
	exec "$top/build/tests/idle" 1 1024 >leak
) &
leak=$!
wait_for 180 accused
doctor
pid=$(seepage -j ps --state suspected,confirmed,runaway | field '.[0].pid')
[[ $(line alerts) =~ ^(warn|bad)\ [0-9]+\ under\ alert.*\ pid\ $pid\  ]] || die "alerts: $(line alerts)"
[[ $(line alerts) =~ left:\ [0-9] ]] || die "alerts: no time: $(line alerts)"
kill $leak $watch

doctor setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all
assert_eq "$(line module)" "ok loaded, version $version as this program"
assert_eq "$(line work)" "unknown not known: this user may not ask the module"
[[ $(line rights) == "warn this user sees own processes only"* ]] || die "rights: $(line rights)"
assert_eq "$(line alerts)" "ok no process of this user is under alert"

unload
doctor
[[ $(line module) == *"not loaded"* ]] || die "module: $(line module)"
[[ $(line work) == "warn nothing is watched"* ]] || die "work: $(line work)"
