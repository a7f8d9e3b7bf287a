#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Nobody can have the module loaded by asking for its family.
# vm: --smp 1
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

alias=$(modinfo -F alias "$SEEPAGE_KO")
assert_eq "$alias" "" "module aliases"

# As if it were installed: modprobe finds it by its name and by no other.
rmmod seepage
mkdir -p "/lib/modules/$(uname -r)/updates"
cp "$SEEPAGE_KO" "/lib/modules/$(uname -r)/updates/"
depmod
nltest perm-absent
setpriv --reuid 65534 --regid 65534 --clear-groups "$nltest" perm-absent ||
	die "nobody sees the family"
! grep -q '^seepage ' /proc/modules || die "the module was loaded by asking for its family"
modprobe seepage || die "modprobe seepage"
nltest status-family
