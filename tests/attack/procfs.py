#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A leaking process that is unpleasant to read through /proc.
usage: procfs.py DIR KB MAPPINGS
Its name, and the name of a file in DIR that it maps, have what a terminal obeys and line
breaks; it has MAPPINGS further mappings. Prints "ready" when these exist. Then leaks KB
every 100 ms, up to 1 GB, in pages of its own of the mapping with that name.
"""
import ctypes
import mmap
import os
import sys
import time

NAME = b"\x1b[2J\nroot 1 ok"
FILE = b"\x1b]0;owned\x07\n#9 CONFIRMED pid 1\x9b"

directory, kb, mappings = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open("/proc/self/comm", "wb") as comm:
    comm.write(NAME)
path = os.path.join(os.fsencode(directory), FILE)
with open(path, "wb+") as f:
    f.truncate(1 << 30)
    named = mmap.mmap(f.fileno(), 1 << 30, flags=mmap.MAP_PRIVATE)

# Every second page with another protection: a mapping each.
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
area = libc.mmap(None, (mappings + 1) * 4096, mmap.PROT_READ | mmap.PROT_WRITE,
                 mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
for i in range(0, mappings, 2):
    if libc.mprotect(area + i * 4096, 4096, mmap.PROT_READ):
        sys.exit("mprotect: " + os.strerror(ctypes.get_errno()))
print("ready", flush=True)
for at in range(0, 1 << 30, kb << 10):
    for page in range(at, at + (kb << 10), 4096):
        named[page] = 1
    time.sleep(0.1)
time.sleep(3600)
