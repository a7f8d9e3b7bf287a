# SPDX-License-Identifier: GPL-2.0
"""The same as leaky.c with objects of a python class, Order, of 48 bytes."""
import sys


class Order:
    __slots__ = ("item", "count")


keep = []
print("ready", flush=True)
for line in sys.stdin:
    word, n = line.split()
    made = [Order() for _ in range(int(n))]
    if word == "leak":
        keep.append(made)
    kept = len(made) if word == "leak" else 0
    del made
    print(kept, kept * 48, flush=True)
