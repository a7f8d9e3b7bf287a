# SPDX-License-Identifier: GPL-2.0
"""Functions of python that keep memory, for seepage where: each line of the input is "leak N" or
"work N". Blocks are of 1000 bytes, which malloc() serves: leak_session() keeps them, and
drop_session() takes as many by the same helper and frees them. With the argument "small" they are
objects of a class, which pymalloc serves; with "run" nothing is read: for ever ten are dropped and
one is kept, or of objects ten; with "twin" as well none is kept."""
import sys
import time


class Order:
    __slots__ = ("item", "count")

    def __init__(self, item):
        self.item = item
        self.count = 1


def make_session(n):
    return b"%08d" % n + bytes(992)


def make_order(n):
    return Order(n)


def leak_session(make, n):
    keep.append(make(n))


def drop_session(make, n):
    session = make(n)
    return len(str(session))


class Server:
    def serve(self, word, n):
        for i in range(n):
            if word == "leak":
                leak_session(make, i)
            else:
                drop_session(make, i)


keep = []
make = make_order if "small" in sys.argv else make_session
server = Server()
print("ready", flush=True)
if "run" in sys.argv:
    while True:
        server.serve("work", 10)
        server.serve("work" if "twin" in sys.argv else "leak", 10 if "small" in sys.argv else 1)
        time.sleep(0.001)
for line in sys.stdin:
    told, count = line.split()
    server.serve(told, int(count))
    kept = int(count) if told == "leak" else 0
    print(kept, kept * 1008, flush=True)
