#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The ring of alerts and the two multicast groups.
# vm: --smp 1
# takes: 12
# timeout: 240
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'alert-*' 'sample-*'
