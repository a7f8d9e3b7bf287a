#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Random messages from a seed: valid, nearly valid and broken ones. Each is refused with
# an extack text, or applied as the uapi header says, and never applied in part.
# vm: --smp 1
# takes: 8
# timeout: 120
# SEEPAGE_SEED and SEEPAGE_MESSAGES select another run. After a failure the messages sent
# last are in netlink-fuzz.hex beside the log.
. "$(dirname "$0")/lib.sh"

[[ ! -e /sys/kernel/debug/kcov ]] || echo "coverage of the module is recorded"
"$top/build/tests/nlfuzz" --seed "${SEEPAGE_SEED:-1}" --messages "${SEEPAGE_MESSAGES:-$((20000 / ${SEEPAGE_SLOW:-1}))}" \
	--load "$top/tests/nlfuzz/corpus.hex" --keep /tmp/out/netlink-fuzz.hex | tee fuzz.out || {
	echo "once more: tests/lab/vm -- build/tests/nlfuzz --replay build/cases/${SEEPAGE_KMOD##*/}/netlink-fuzz.hex"
	die "$(grep -m 1 'message [0-9]' fuzz.out || tail -n 1 fuzz.out)"
}
grep -q ' accepted, .* replies, .* dumps ended' fuzz.out || die "no totals"
