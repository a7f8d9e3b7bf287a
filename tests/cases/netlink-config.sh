#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# GET_CONFIG and SET_CONFIG: defaults, bounds, all keys or none, extack texts.
# vm: --smp 1
# takes: 4
# timeout: 60
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'config-*'
