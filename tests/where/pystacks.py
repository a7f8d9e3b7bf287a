# SPDX-License-Identifier: GPL-2.0
"""Threads of python that keep objects, each by another way through the interpreter: a generator,
map(), a key of sorted(), and plain calls. They begin with the first line of the input."""
import sys
import threading
import time

keep = []
go = threading.Event()
TIMES = 40


class Node:
    def __init__(self):
        self.data = bytearray(400000)
        time.sleep(0.05)  # at most 64 faults a second are kept: each thread gets its part


def generate():
    for _ in range(TIMES):
        yield Node()


def make(_):
    return Node()


def by_generator():
    for node in generate():
        keep.append(node)


def by_map():
    keep.extend(map(make, range(TIMES)))


def by_sort():
    sorted(range(TIMES), key=lambda n: keep.append(Node()) or n)


def by_calls():
    for n in range(TIMES):
        keep.append(make(n))


def run(way):
    go.wait()
    way()


threads = [threading.Thread(target=run, args=(way,))
           for way in (by_generator, by_map, by_sort, by_calls)]
for thread in threads:
    thread.start()
print("ready", flush=True)
sys.stdin.readline()
go.set()
for thread in threads:
    thread.join()
print(len(keep), flush=True)
sys.stdin.readline()
