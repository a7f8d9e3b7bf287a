#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A 32-bit process leaks on a machine with more memory than it can have addresses: the end of
# its addresses is the limit that is met first, and the alert counts the time until then.
# RLIMIT_DATA is compared with what the kernel compares it with, address space for data.
# vm: --warp --mem 6144
# about: kmod ctl/lib
# matrix: unit/test_room covers the arithmetic of 32-bit processes
# takes: 60
# timeout: 9000
# only-x86_64: other sets have no 32-bit program here
. "$(dirname "$0")/lib.sh"
narrow=$top/build/tests/narrow
show() { seepage -j show "$1" | jq -r "$2"; }
is() { [[ $(show "$1" "$2") == "$3" ]]; }
is_alert() { [[ $(show "$1" .state) =~ ^(suspected|confirmed|runaway)$ ]]; }

load sample_interval_ms=10000
"$narrow" 1024 1 &
leaker=$!
sleep 1
kill -0 $leaker 2>/dev/null || skip "this kernel runs no 32-bit program"
wait_long 600 is $leaker .limit task_size
wait_long 3000 is_alert $leaker
shown=$(seepage -j show $leaker)
jq -c '[.state, .limit, .tte_seconds, .vsz_bytes, .severity]' <<<"$shown"
seepage explain $leaker | sed -n 1p
vsz=$(field .vsz_bytes <<<"$shown") tte=$(field .tte_seconds <<<"$shown")
# 1 MB a second; what an alert leaves is counted from 4 GB
left=$((4096 - (vsz >> 20)))
((left > 3200)) || die "the alert came when $left MB of addresses were left"
((tte > left * 8 / 10 && tte < left * 12 / 10)) || die "said $tte s, about $left s were left"
kill $leaker
wait $leaker || true

# 500 MB of data, of which 400 are mapped and not touched: 100 MB are left, not 500.
cat >data.py <<'PY'
import mmap, resource, time
resource.setrlimit(resource.RLIMIT_DATA, (500 << 20, 500 << 20))
reserved = mmap.mmap(-1, 400 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
taken = []
while True:
    taken.append(bytearray(256 << 10))
    time.sleep(1)
PY
python3 data.py &
leaker=$!
wait_long 900 is $leaker .limit rlimit_data
tte=$(show $leaker .tte_seconds)
echo "RLIMIT_DATA: $tte s left"
# 90 MB at 256 KB a second are 360 s at first
((tte < 500)) || die "RLIMIT_DATA: $tte s are said to be left, 360 at most are"
kill $leaker
wait $leaker || true
