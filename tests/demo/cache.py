#!/usr/bin/env python3
# A bounded cache: fills 100 MB within three minutes, then stays that size and
# is in use ever after. For its first minutes it looks just like a leak.
import sys
import time

ENTRIES, SIZE, FILL_SECONDS = 1600, 64 * 1024, 170
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 86400
cache, begin, used = {}, time.monotonic(), 0

while time.monotonic() - begin < seconds:
    want = min(ENTRIES, int(ENTRIES * (time.monotonic() - begin) / FILL_SECONDS))
    while len(cache) < want:
        cache[len(cache)] = bytearray(b"x" * SIZE)
    for i in range(0, len(cache), 97):
        used += cache[i][0]
    time.sleep(0.5)
