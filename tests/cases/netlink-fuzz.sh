#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Messages that are valid, nearly valid and broken, drawn from a seed: refused
# with a text, or done as the header says, and never half done.
# vm: --smp 1
# timeout: 120
# SEEPAGE_SEED and SEEPAGE_MESSAGES choose another run. What was sent last when
# something broke is in netlink-fuzz.hex beside the log.
. "$(dirname "$0")/lib.sh"

[[ ! -e /sys/kernel/debug/kcov ]] || echo "coverage of the module is recorded"
"$top/build/tests/nlfuzz" --seed "${SEEPAGE_SEED:-1}" --messages "${SEEPAGE_MESSAGES:-$((20000 / ${SEEPAGE_SLOW:-1}))}" \
	--load "$top/tests/nlfuzz/corpus.hex" --keep /tmp/out/netlink-fuzz.hex | tee fuzz.out || {
	echo "once more: tests/lab/vm -- build/tests/nlfuzz --replay build/cases/${SEEPAGE_KMOD##*/}/netlink-fuzz.hex"
	die "$(grep -m 1 'message [0-9]' fuzz.out || tail -n 1 fuzz.out)"
}
grep -q ' accepted, .* replies, .* dumps ended' fuzz.out || die "no totals"
