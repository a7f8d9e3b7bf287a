#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The family, its status, one process, and what RESET does, by an independent client.
# vm: --smp 1
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'status*' 'proc-*' 'reset-*'
