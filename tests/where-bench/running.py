# SPDX-License-Identifier: GPL-2.0
"""A program of make where that runs: what loads it, what it lost so far, what it executed."""
import bisect
import glob
import os
import re
import struct
import subprocess
import threading
import time

from load import LOADS

SETTLE = 2
LIMIT = 300
LOST = "/tmp/lost"      # prog/lost.h writes it
POLL = 0.02
ASLEEP = 5      # polls in a row in which it is asleep
CHILD = 60      # seconds that a server has to start the child that is looked at


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:     # a thread or a process that ended
        return ""


def usage(pid):
    """[nanoseconds on a CPU, times that it waited by itself], of all threads that there are"""
    ran = waited = 0
    for task in glob.glob(f"/proc/{pid}/task/*"):
        ran += int((read(f"{task}/schedstat").split() or [0])[0])
        m = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", read(f"{task}/status"), re.M)
        waited += int(m[1]) if m else 0
    return [ran, waited]


def disturbance(alone, spent):
    """What was executed from one to the other of the two of @spent, beyond the same work undisturbed.

    Work is counted by how often the program waited: a round of it ends so. @alone are usages at
    three times while it ran undisturbed. How much the two stretches between them differ is how
    much the result may be wrong.
    """
    def each(a, b):
        return (b[0] - a[0]) / max(1, b[1] - a[1])

    rounds = spent[1][1] - spent[0][1]
    return {"instructions": round(spent[1][0] - spent[0][0] - rounds * each(alone[0], alone[2])),
            "rounds": rounds,
            "noise": round(rounds * abs(each(alone[0], alone[1]) - each(alone[1], alone[2])) / 2)}


def check_contained(pid):
    """Refuses to take a program for one in a container that shares a namespace, the root, or the
    memory cgroup with this one."""
    for space in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
        if os.readlink(f"/proc/{pid}/ns/{space}") == os.readlink(f"/proc/self/ns/{space}"):
            raise RuntimeError(f"the container has no {space} namespace of its own")
    if os.path.samefile(f"/proc/{pid}/root", "/"):
        raise RuntimeError("the container has no root of its own")
    group = read(f"/proc/{pid}/cgroup").partition("::")[2].strip()
    if read(f"/sys/fs/cgroup{group}/memory.max").strip() in ("", "max"):
        raise RuntimeError(f"the container has no limit of memory: cgroup {group}")


def child_of(pid, word):
    """The child of @pid with that word in its command line; waits for it."""
    end = time.monotonic() + CHILD
    while time.monotonic() < end:
        for child in read(f"/proc/{pid}/task/{pid}/children").split():
            if word in read(f"/proc/{child}/cmdline"):
                return int(child)
        time.sleep(0.2)
    raise RuntimeError(f"no child with {word} after {CHILD} s")


def wait_asleep(tool, seconds):
    """Waits until a tool has nothing to do, as between two looks, or has ended."""
    end, asleep = time.monotonic() + seconds, 0
    while asleep < ASLEEP and tool.poll() is None and time.monotonic() < end:
        time.sleep(POLL)
        state = read(f"/proc/{tool.pid}/stat").rpartition(")")[2].split()[:1]
        asleep = asleep + 1 if state == ["S"] else 0


class Running:
    """A program that is ready, with what loads it. spent: the usage of the last one that ended, at
    its begin and end."""
    spent = None

    def __init__(self, case, twin, argv=None, env=None):
        self.stop, self.case, self.thread = threading.Event(), case, None
        with open(LOST, "wb") as f:
            f.write(bytes(16))
        os.chmod(LOST, 0o666)
        env = {**os.environ, "LOST": LOST, **(case.twin_env if twin else case.env), **(env or {})}
        argv = argv or (case.twin_argv if twin else case.argv)
        pipe = subprocess.DEVNULL if case.load else subprocess.PIPE
        self.p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=pipe,
                                  stderr=subprocess.DEVNULL, text=True)
        self.pid = self.p.pid
        try:
            self.begin(twin)
        except RuntimeError:
            self.end()
            raise
        time.sleep(SETTLE)
        self.first = usage(self.pid)

    def begin(self, twin):
        if self.case.load:
            self.thread = threading.Thread(target=LOADS[self.case.load], args=(self.stop, twin))
            self.thread.start()
        else:
            while "ready" not in (line := self.p.stdout.readline()):
                if not line:
                    raise RuntimeError(f"{self.case.name} did not start")
        if self.case.child:
            self.pid = child_of(self.p.pid, self.case.child)
        if self.case.contained:
            check_contained(self.pid)

    def end(self, sig=None):
        if getattr(self, "first", None):
            Running.spent = (self.first, usage(self.pid))
        self.stop.set()
        if self.case.end:
            subprocess.run(self.case.end, check=False, stderr=subprocess.DEVNULL)
        else:
            self.p.send_signal(sig or self.case.kill)
        self.p.wait(LIMIT)
        if self.thread:
            self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Lost:
    """What the program lost, as time goes on"""

    def __init__(self):
        self.seen = []      # (time, blocks, bytes)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.poll)

    def poll(self):
        with open(LOST, "rb", buffering=0) as f:
            while not self.stop.is_set():
                f.seek(0)
                self.seen.append((time.monotonic(), *struct.unpack("QQ", f.read(16))))
                time.sleep(POLL)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def at(self, when):
        i = bisect.bisect([s[0] for s in self.seen], when)
        return self.seen[max(0, i - 1)]

    def between(self, first, second):
        """Blocks and bytes that were lost between two looks, which began at these times, and in how
        many steps: a job may lose many blocks at once."""
        a, b = self.at(first), self.at(second)
        seen = [s[1] for s in self.seen if a[0] <= s[0] <= b[0]]
        return {"bytes": b[2] - a[2], "blocks": b[1] - a[1],
                "steps": sum(x != y for x, y in zip(seen, seen[1:]))}
