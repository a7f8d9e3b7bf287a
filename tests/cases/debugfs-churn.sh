#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# debugfs shows each process exactly once while other processes start and exit.
# vm: --smp 2
# about: kmod tests/netlink
# takes: 16
# timeout: 180
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest debugfs-once-churned
