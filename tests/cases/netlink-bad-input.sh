#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Requests that no honest client sends are refused with a text.
# vm: --smp 1
# timeout: 60
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest 'bad-*'
