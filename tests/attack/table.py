#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A user who fills the table with sleeping processes.

usage: table.py N KB [--namespace [UID]]

Touches KB of memory, then starts N children that have it in common with their parent, so
that each is as large, and sleep. With --namespace they are in a user namespace of his own,
each with another uid of it, or with UID like their parent: prints "map PID" first, and waits
until root has written the maps and a line comes. Prints "ready". The children end with their
parent.
"""
import ctypes
import gc
import mmap
import os
import signal
import sys

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def become(uid):
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def child(uid, started):
    if uid:
        become(uid)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.write(started, b"x")
    while True:
        signal.pause()


def main():
    count, kb, namespace = int(sys.argv[1]), int(sys.argv[2]), "--namespace" in sys.argv
    one = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    memory = mmap.mmap(-1, max(kb, 4) << 10, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, kb << 10, 4096):
        memory[at] = 1
    if namespace:
        if libc.unshare(CLONE_NEWUSER):
            sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
        print("map", os.getpid(), flush=True)
        sys.stdin.readline()
        os.setgroups([])
        if one:
            become(one)
    gc.freeze()
    started, write = os.pipe()
    for i in range(count):
        if not os.fork():
            child(i + 1 if namespace and not one else 0, write)
    for i in range(count):
        os.read(started, 1)
    print("ready", flush=True)
    signal.pause()


main()
