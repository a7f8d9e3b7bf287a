# SPDX-License-Identifier: GPL-2.0
"""The same as leaky.c with objects of a python class, Order, of 48 bytes. With the argument "pairs"
half of them are of another one, Receipt."""
import sys


class Order:
    __slots__ = ("item", "count")


class Receipt:
    __slots__ = ("item", "paid")


kinds = (Order, Receipt) if sys.argv[1:] == ["pairs"] else (Order,)
keep = []
print("ready", flush=True)
for line in sys.stdin:
    word, n = line.split()
    made = [kinds[i % len(kinds)]() for i in range(int(n))]
    if word == "leak":
        keep.append(made)
    kept = len(made) if word == "leak" else 0
    del made
    print(kept, kept * 48, flush=True)
