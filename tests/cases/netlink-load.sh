#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a new load changes, and that no listener keeps the module loaded.
# vm: --smp 1
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'load-*'
