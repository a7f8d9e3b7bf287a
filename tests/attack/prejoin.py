#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""An eavesdropper without rights: joins every generic netlink group number it can.

usage: prejoin.py SECONDS [--race]

Joins group numbers 1 to 256 of NETLINK_GENERIC, those that no family owns among
them, then counts the messages of other families that arrive until SIGTERM, and for
SECONDS at most. With --race it goes on joining all the time, so that it may be in a
group again between two registrations. Prints "ready" once it has joined, then one
line at the end: N joined, N messages.
"""
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


def main():
    seconds, race = float(sys.argv[1]), "--race" in sys.argv
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    sock.bind((0, 0))           # without a port id a socket is passed over
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    joined = join_all(sock)
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    print("ready", flush=True)
    end, messages = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        if race:
            join_all(sock)
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
    print(f"{joined} joined, {messages} messages", flush=True)


main()
