#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# With udev and without systemd each load of the module applies /etc/seepage/seepage.conf, by the
# rule of the packages. A file with a mistake does not hinder the load, and is said in one line of
# the syslog. The line for modprobe.d in seepage-save(8) does the same without udev.
# tests/tour/reload has the service of systemd.
# vm: --smp 2 --mem 1024
# takes: 20
# setup: udev
# about: ctl debian docs/man
# shellcheck disable=SC2119 # load without parameters
. "$(dirname "$0")/lib.sh"

# as_installed: the rule, the controller and the socket of a syslog at the paths that they have
as_installed() {
	[[ ! -e /run/systemd/system ]] || die "systemd runs here"
	mkdir -p /etc/seepage /run/udev/rules.d
	ln -s "$(command -v seepage)" /usr/bin/seepage
	cp "$top/debian/seepage.udev" /run/udev/rules.d/60-seepage.rules
	python3 - >>syslog <<'END' &
import os, socket, sys
if os.path.lexists("/dev/log"):
    os.unlink("/dev/log")
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
while True:
    print(s.recv(4096).decode(), flush=True)
END
	listener=$!
	wait_for 60 test -S /dev/log
}
start_udevd() {
	/lib/systemd/systemd-udevd --daemon
	udevd=$(pgrep -x systemd-udevd | head -n 1)
	wait_for 60 udevadm control --ping
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }
conf() { echo "$1" >/etc/seepage/seepage.conf; }
warmup_is() { [[ $(seepage get warmup_s 2>/dev/null) == "$1" ]]; }
settled() { udevadm settle --timeout 30 || die "udev has not settled"; }

unload
as_installed
start_udevd
trap 'kill $udevd $listener 2>/dev/null || :' EXIT

load
settled
warmup_is 300 || die "without a file: $(seepage get warmup_s)"
assert_eq "$(cat syslog)" "" "what the syslog has without a file"
conf '{"warmup_s": 11}'
for ((i = 0; i < 3; i++)); do
	load
	wait_for 60 warmup_is 11
done
# What was set stays until the next load.
seepage set warmup_s 12
udevadm trigger --action=change /sys/module/seepage
settled
warmup_is 12 || die "after an event that is no load: $(seepage get warmup_s)"
for ((i = 0; i < 3; i++)); do
	udevadm trigger --action=add /sys/module/seepage
	settled
done
warmup_is 12 || die "after an event of a load that was before: $(seepage get warmup_s)"
# A load that udev has not seen, as that of an initramfs: the event that is sent later applies it.
unload
settled
kill "$udevd"
wait_for 60 has_ended "$udevd"
load
start_udevd
warmup_is 300 || die "udev has seen a load without being there: $(seepage get warmup_s)"
udevadm trigger --action=add /sys/module/seepage
settled
warmup_is 11 || die "after the event of a load that udev has not seen: $(seepage get warmup_s)"
assert_eq "$(cat syslog)" "" "what the syslog has of a file that is right"

for wrong in '{"warmup_s": "x"}' '{"none": 1}' '{' '{"suspect_interval_ms": 60000, "sample_interval_ms": 50000}'; do
	: >syslog
	conf "$wrong"
	load || die "the load failed with $wrong"
	wait_for 60 grep -q 'seepage: .*/etc/seepage/seepage.conf: \|seepage: .*must not exceed' syslog
	settled
	assert_eq "$(wc -l <syslog)" 1 "lines in the syslog of $wrong"
	warmup_is 300 || die "$wrong: $(seepage get warmup_s)"
done
kill "$udevd"
wait_for 60 has_ended "$udevd"

# Without udev: the line of the manual
sed -n 's/^install seepage /&/p' "$top/docs/man/seepage-save.8" >/run/seepage.conf
assert_eq "$(wc -l </run/seepage.conf)" 1 "lines for modprobe.d in the manual"
modules=/run/modules/lib/modules/$(uname -r)
mkdir -p "$modules"
cp "$SEEPAGE_KO" "$modules/seepage.ko"
: >"$modules/modules.order"
: >"$modules/modules.builtin"
depmod -b /run/modules
mkdir -p /run/modprobe.d
sed "s,modprobe --ignore,modprobe -d /run/modules --ignore," /run/seepage.conf >/run/modprobe.d/seepage.conf
by_modprobe() {
	unload
	modprobe -d /run/modules seepage "$@" 2>said || die "modprobe: $(cat said)"
}
conf '{"warmup_s": 13}'
by_modprobe alert_confidence=66
assert_eq "$(seepage get warmup_s) $(seepage get alert_confidence)" "13 66" "by modprobe"
conf '{"warmup_s": "x"}'
by_modprobe
warmup_is 300 || die "by modprobe, with a mistake: $(seepage get warmup_s)"
[[ $(cat said) == *"warmup_s"* && $(wc -l <said) == 1 ]] || die "modprobe said: $(cat said)"
