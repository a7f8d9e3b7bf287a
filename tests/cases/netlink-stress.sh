#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Eight dumpers, four writers, listeners; then unloading under all of them.
# vm: --smp 2
# timeout: 480
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'stress*'
