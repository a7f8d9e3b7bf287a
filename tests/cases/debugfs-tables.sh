#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The files of debugfs: modes, columns, the same values as netlink.
# vm: --smp 1
# takes: 6
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest debugfs-modes debugfs-status debugfs-config debugfs-counters debugfs-processes \
	debugfs-alerts debugfs-once debugfs-seeking debugfs-names debugfs-no-name
