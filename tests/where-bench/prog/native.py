# SPDX-License-Identifier: GPL-2.0
"""native.py LIBRARY [twin]: calls a C library that keeps what it allocates, keep_record()."""
import collections
import ctypes
import sys
import time

lib = ctypes.CDLL(sys.argv[1])
lib.keep_record.restype = ctypes.c_void_p
lib.drop_record.argtypes = [ctypes.c_void_p]
kept = collections.deque()
print("ready", flush=True)
while True:
    for _ in range(10):
        lib.use_record()
    block = lib.keep_record()
    if len(sys.argv) > 2:
        kept.append(block)
        if len(kept) > 64:
            lib.drop_record(kept.popleft())
    time.sleep(0.002)
