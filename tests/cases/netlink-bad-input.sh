#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Malformed requests are refused with an extack text.
# vm: --smp 1
# takes: 4
# timeout: 60
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'bad-*'
