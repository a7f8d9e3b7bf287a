# SPDX-License-Identifier: GPL-2.0
"""Compresses, again and again; inject.so adds a leak to it."""
import time
import zlib

data = bytes(range(256)) * 4
print("ready", flush=True)
while True:
    for _ in range(5):
        zlib.decompress(zlib.compress(data))
    time.sleep(0.002)
