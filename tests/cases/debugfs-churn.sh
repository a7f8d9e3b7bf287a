#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# debugfs shows each process once while others come and go.
# vm: --smp 2
# timeout: 180
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest debugfs-once-churned
