#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An independent client tests the family, its status, one process and RESET.
# vm: --smp 1
# takes: 6
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'status*' 'proc-*' 'reset-*'
