#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Eight dumpers, four writers and listeners at once; then the module is unloaded while
# they run.
# vm: --smp 2
# matrix: netlink-load has readers beside alerts, this one more of them
# takes: 25
# timeout: 480
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'stress*'
