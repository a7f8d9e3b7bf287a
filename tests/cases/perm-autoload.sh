#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A request for the family does not make the kernel load the module.
# vm: --smp 1
# takes: 6
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

alias=$(modinfo -F alias "$SEEPAGE_KO")
assert_eq "$alias" "" "module aliases"

# As if it were installed: modprobe finds it by its name and by no other.
rmmod seepage
# With no other module beside it: to read them all takes depmod a minute here.
modules=/lib/modules/$(uname -r)
mount -t tmpfs modules "$modules"
trap 'umount "$modules"' EXIT
mkdir "$modules/updates"
cp "$SEEPAGE_KO" "$modules/updates/"
depmod
nltest perm-absent
setpriv --reuid 65534 --regid 65534 --clear-groups "$nltest" perm-absent ||
	die "nobody sees the family"
! grep -q '^seepage ' /proc/modules || die "the module was loaded by asking for its family"
modprobe seepage || die "modprobe seepage"
nltest status-family
