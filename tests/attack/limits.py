#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A flood of alerts: small processes that leak towards a limit of their own.
usage: limits.py CHILDREN [UIDS]
Keeps CHILDREN children going. Each sets RLIMIT_AS 16 MB above its size, takes 640 KB each
second until it is refused more, and ends; another takes its place. With UIDS the children
are in a user namespace and use so many uids of it in turn, mapped by newuidmap.
"""
import ctypes
import mmap
import os
import resource
import signal
import subprocess
import sys
import time

HEADROOM = 16 << 20
STEP = 640 << 10
CLONE_NEWUSER = 0x10000000
MAP_POPULATE = 0x8000           # mmap has no name for it before Python 3.10
PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
FIRST_SUBUID = 200000

libc = ctypes.CDLL(None, use_errno=True)


def flood(uid, begun):
    """Leaks until the limit is met. Never returns."""
    if uid is not None:
        os.setresuid(uid, uid, uid)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # a name of its own: all of one name are one subject, with one alert
    libc.prctl(PR_SET_NAME, f"flood{begun}".encode(), 0, 0, 0)
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (size + HEADROOM, resource.RLIM_INFINITY))
    kept = []
    try:
        while True:
            kept.append(mmap.mmap(-1, STEP, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                                  MAP_POPULATE))
            time.sleep(1)
    except (OSError, MemoryError):
        pass
    time.sleep(3)
    os._exit(0)


def enter_namespace(uids):
    """Enters a user namespace; a process outside maps its uids."""
    receive, send = os.pipe()
    mapped, done = os.pipe()
    outside = os.fork()
    if outside == 0:
        os.read(receive, 1)
        subprocess.run(["newuidmap", str(os.getppid()), "0", str(FIRST_SUBUID), str(uids)],
                       check=True)
        os.write(done, b"x")
        os._exit(0)
    if libc.unshare(CLONE_NEWUSER):
        sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
    os.write(send, b"x")
    os.close(done)
    if not os.read(mapped, 1):
        sys.exit("newuidmap failed")
    os.waitpid(outside, 0)


def main():
    children = int(sys.argv[1])
    uids = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with open("/proc/self/comm", "w") as comm:
        comm.write("flood")
    if uids:
        enter_namespace(uids)
    print("ready", flush=True)
    alive = begun = 0
    while True:
        if alive < children:
            if os.fork() == 0:
                flood(begun % uids if uids else None, begun)
            begun += 1
            alive += 1
            time.sleep(0.5)     # not all at once: that would be one burst
        else:
            os.wait()
            alive -= 1


main()
