#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What changes when the module is loaded again. A listener does not prevent unloading.
# vm: --smp 1
# takes: 8
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'load-*'
