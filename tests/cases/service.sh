#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Six workers of a service leak a megabyte a minute each. What is left is shared by all of
# them: the first alert comes early and says when memory really ends.
# vm: --warp --mem 1500
# about: kmod ctl/lib
# matrix: service-lives tells one subject, unit/test_detect_share the time that is left
# takes: 90
# timeout: 40000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/service-lib.sh"

spare
load sample_interval_ms=10000
start=$(date +%s%N)
for ((i = 0; i < 6; i++)); do
	worker 1024 60000
done
until_end
judge 80 20
kill "${workers[@]}" 2>/dev/null || true
wait || true
