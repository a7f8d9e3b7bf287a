# SPDX-License-Identifier: GPL-2.0
"""orders.py [twin]: keeps objects of its own, in keep_order(); drop_order() makes as many."""
import collections
import sys
import time


class Order:
    __slots__ = ("item", "count", "price")

    def __init__(self, item):
        self.item = item
        self.count = self.price = None


def make_order(item):
    return Order(item)


def keep_order(item):
    orders.append(make_order(item))


def drop_order(item):
    return make_order(item).item


orders = collections.deque(maxlen=64 if len(sys.argv) > 1 else None)
print("ready", flush=True)
while True:
    for n in range(10):
        drop_order(n)
        keep_order(n)
    time.sleep(0.002)
