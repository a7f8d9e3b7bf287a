#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Dumps: filters, size, readers that are slow or exit, processes that start and exit.
# vm: --smp 2
# about: kmod
# takes: 28
# timeout: 480
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"

nltest dump-filters dump-many dump-slow dump-churn-fork dump-churn-exec dump-exec \
	dump-abandon
