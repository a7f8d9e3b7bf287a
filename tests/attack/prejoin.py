#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""An eavesdropper without rights: joins every generic netlink group number it can.

usage: prejoin.py SECONDS [--race | --bind] [PROCESSES]

Joins group numbers 1 to 256 of NETLINK_GENERIC, those that no family owns among
them, then counts the messages of other families that arrive until SIGTERM, and for
SECONDS at most. With --race it goes on joining all the time, so that it may be in a
group again between two registrations; with --bind as well, many groups in one call, each of which
is checked before the first is joined. Both run at the lowest priority, so that they lose the CPU
between a check and the join. Prints "ready" once it has joined, then one
line at the end: N joined, N messages. So many PROCESSES do that; the line has their sums.
"""
import os
import select
import signal
import socket
import sys
import time

NETLINK_GENERIC = 16
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
GENL_ID_CTRL = 16


def join_all(sock):
    joined = 0
    for group in range(1, 257):
        try:
            sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)
            joined += 1
        except OSError:
            pass
    return joined


def bind_all(sock, groups):
    """All of the groups, of 1 to 32, that may be joined; one that may not undoes the call."""
    for group in groups[:]:
        try:
            sock.bind((sock.getsockname()[0], 1 << (group - 1)))
        except OSError:
            groups.remove(group)
    mask = sum(1 << (group - 1) for group in groups)
    for _ in range(200):
        try:
            sock.bind((sock.getsockname()[0], mask))
        except OSError:
            break               # one of them has an owner now
    return len(groups)


def listen(seconds, race, ready, over):
    """Returns how many groups were joined, and how many messages came."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    sock.bind((0, 0))           # without a port id a socket is passed over
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    joined = join_all(sock)
    if race:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    ready()
    end, messages = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        if race == "--race":
            join_all(sock)
        elif race:
            bind_all(sock, list(range(1, 33)))
        if not select.select([sock], [], [], 0 if race else .2)[0]:
            if over:            # and what came before it is read
                break
            continue
        try:
            data = sock.recv(65536)
        except OSError:         # the buffer overflowed: it was told something
            messages += 1
            continue
        # Messages of the family nlctrl are public: everybody may see which families exist.
        messages += int.from_bytes(data[4:6], sys.byteorder) != GENL_ID_CTRL
    return joined, messages


def many(n, seconds, race, children, over):
    """@n children listen, until each is told to end. Returns the sums."""
    receive, send = os.pipe()
    for _ in range(n):
        pid = os.fork()
        if pid == 0:
            children.clear()
            told = listen(seconds, race, lambda: os.write(send, b"ready\n"), over)
            os.write(send, b"%d %d\n" % told)
            os._exit(0)
        children.append(pid)
    os.close(send)
    sums, ready = [0, 0], 0
    with os.fdopen(receive) as lines:
        for line in lines:
            if line == "ready\n":
                ready += 1
                if ready == n:
                    print("ready", flush=True)
                continue
            sums = [a + int(b) for a, b in zip(sums, line.split())]
    for pid in children:
        os.waitpid(pid, 0)
    return sums


def main():
    words = sys.argv[1:]
    race = next((word for word in words if word.startswith("--")), "")
    numbers = [word for word in words if word != race]
    children, over = [], []

    def end(*_):
        over.append(True)
        for pid in children:
            os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    if len(numbers) > 1:
        joined, messages = many(int(numbers[1]), float(numbers[0]), race, children, over)
    else:
        joined, messages = listen(float(numbers[0]), race, lambda: print("ready", flush=True), over)
    print(f"{joined} joined, {messages} messages", flush=True)


main()
