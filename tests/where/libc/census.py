# SPDX-License-Identifier: GPL-2.0
"""The census of leaky, linked with one C library after another. What grew by the census is what
the program says it lost, within 5 %, and the class comes first; the twin shows no growth.
usage: census.py VERSION PROGRAMS ROOT [...]"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import test_where as where  # noqa: E402  the folder is known only now

# Mode, further words, steps, size of the class or None: that changes, and what is lost
MODES = (("small", (), 20000, 56, "blocks of 48 bytes"),
         ("churn", (), 20000, 56, "beside a thread with 10 MB a second"),
         ("threads", (), 20000, 200, "four threads, arenas of their own"),
         ("large", (), 150, 262144, "mappings of single blocks"),
         ("grow", (), 2000, None, "a block that realloc() makes larger"),
         ("small", ("forked",), 20000, 56, "the heap of a child"))
KINDS = ("dynamic", "loaded", "static", "stripped")
ALLOCATOR = {"static": "static glibc"}
# Blocks of a class that may be in use by chance where all are free: buffers
CHANCE = 4
LARGEST_CACHED = 1032


class Ends:
    """What a test does for its programs."""

    def __init__(self):
        self.end = []

    def addCleanup(self, function):
        self.end.append(function)


def look(argv, word, steps):
    """What the census says of the process, and what the process says."""
    ends = Ends()
    try:
        program = where.Program(ends, *argv)
        tool = where.started(program.pid, "--census")
        told = program.do(word, steps)
        status, out, err = where.second(tool)
    finally:
        for function in ends.end:
            function()
    if status:
        raise SystemExit(f"{argv}: {err}")
    return json.loads(out), told


def faults(answer, kind):
    """What is wrong with any answer."""
    if (answer["method"], answer["allocator"]) != ("census", ALLOCATOR.get(kind, "glibc")):
        yield f"{answer['method']}, {answer['allocator']}"
    for note in answer["notes"]:
        if "add up" in note or "no main arena" in note or "outside the data segment" in note:
            yield note


def leak(argv, kind, steps, size):
    """(grown / lost, faults)"""
    answer, told = look(argv, "leak", steps)
    first = answer["classes"][0]
    ratio = first["growth_bytes"] / told[1]
    wrong = list(faults(answer, kind))
    if size and first["size_bytes"] != size:
        wrong.append(f"the first class is {first['size_bytes']}")
    if not 0.95 <= ratio <= 1.05:
        wrong.append(f"{first['growth_bytes']} of {told[1]} bytes")
    return told[1], ratio, wrong


def twin(argv, kind, steps):
    """(largest growth of a class, faults)"""
    answer, told = look(argv, "work", steps)
    most = max(c["growth_bytes"] for c in answer["classes"])
    wrong = list(faults(answer, kind))
    if told != (0, 0) or most >= where.BOUND:
        wrong.append(f"the twin grew by {most}")
    return most, wrong


def cached(argv, kind, mode, steps):
    """(largest growth of a class in blocks, faults): all blocks of caches are free."""
    answer, _ = look([*argv, mode], "work", steps)
    # Where pages are the answer, that is the fault.
    most = max((c["growth_blocks"] for c in answer["classes"]
                if c["size_bytes"] <= LARGEST_CACHED), default=0)
    wrong = list(faults(answer, kind))
    if most > CHANCE:
        wrong.append(f"{most} free blocks count as in use")
    return most, wrong


def command(kind, programs, root):
    """The words that start a program."""
    name = os.path.join(programs, kind)
    if kind != "loaded":
        return [name]
    return [f"{root}/lib64/ld-linux-x86-64.so.2", "--library-path",
            f"{root}/lib/x86_64-linux-gnu", name]


def main(argv):
    rows, bad = [], 0
    for version, programs, root in zip(argv[0::3], argv[1::3], argv[2::3]):
        for kind in KINDS:
            start = command(kind, programs, root)
            for mode, more, steps, size, _ in MODES:
                words = [*start, mode, *more]
                lost, ratio, wrong = leak(words, kind, steps, size)
                most, twins = twin(words, kind, steps)
                wrong += twins
                name = f"{version} {kind} {' '.join((mode, *more))}"
                print(f"{'not ok' if wrong else 'ok'} {name}" + "".join(f"; {w}" for w in wrong))
                rows.append((version, kind, " ".join((mode, *more)), f"{lost}",
                             f"{100 * ratio:.1f} %", f"{most}"))
                bad += bool(wrong)
            for mode, steps in (("fast", 3000), ("cached", 1)):
                most, wrong = cached(start, kind, mode, steps)
                print(f"{'not ok' if wrong else 'ok'} {version} {kind} {mode}" +
                      "".join(f"; {w}" for w in wrong))
                rows.append((version, kind, mode, "0", "", f"{most} blocks"))
                bad += bool(wrong)
            sys.stdout.flush()
    print()
    head = ("GLIBC", "LINKED", "PROGRAM", "LOST", "FOUND", "TWIN")
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(c.ljust(w) if i < 3 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())
    print(f"\n{len(rows)} rows, {bad} not ok")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
