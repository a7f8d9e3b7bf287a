#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A plain user's process with the pid of a process of root that has just ended.
usage: reuse.py ROUNDS
In each round a process of root takes 64 MB and ends, once the module has sampled it. The
next process has its pid, belongs to nobody, and asks `seepage -j show` for that pid, as
itself, until it is answered. Prints a line a round: got its own figures, or those of the
other. Exits with 1 if it was ever told of the other.
"""
import json
import os
import subprocess
import sys
import time

BIG = 64 << 20
bad = 0
reused = 0
for _ in range(int(sys.argv[1])):
    first = subprocess.Popen([sys.executable, "-c",
                              "x = bytearray(%d)\nimport sys\nprint('ready', flush=True)\nsys.stdin.read()" % BIG],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first.stdout.readline()
    pid = first.pid
    # The module knows the first process with its memory: else there is nothing to be told.
    for _ in range(200):
        time.sleep(0.05)
        said = subprocess.run(["seepage", "-j", "show", str(pid)], stdout=subprocess.PIPE)
        if said.returncode == 0 and json.loads(said.stdout)["rss_bytes"] >= BIG:
            break
    else:
        sys.exit("round: the module does not show %d with its memory" % pid)
    first.stdin.close()
    first.wait()
    first.stdout.close()
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        for _ in range(200):
            said = subprocess.run(["seepage", "-j", "show", str(os.getpid())],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if said.returncode == 0:
                break
            time.sleep(0.02)
        os.write(send, said.stdout or said.stderr)
        os._exit(0)
    os.close(send)
    text = b""
    while True:
        part = os.read(receive, 65536)
        if not part:
            break
        text += part
    os.close(receive)
    os.waitpid(child, 0)
    if child != pid:
        continue
    reused += 1
    try:
        shown = json.loads(text)
    except ValueError:
        print("round: no answer: %s" % text.decode(errors="replace"))
        bad += 1
        continue
    largest = max([shown["rss_bytes"], shown["anon_bytes"]] +
                  [m for level in shown["history"] for m in level["minima_bytes"]])
    if largest >= BIG or shown["uid"] != 65534:
        print("round: told of the other: %s" % text.decode(errors="replace")[:300])
        bad += 1
print("%d reused, %d told of another's process" % (reused, bad))
sys.exit(1 if bad else 0)
