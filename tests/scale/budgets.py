#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The budgets of a large machine, from the figures of the simulation.

usage: tests/scale/budgets.py [--row KEY] FIGURES...
FIGURES hold lines "fig scale.KEY VALUE" of tests/scale/main.c. A figure over its limit is
EXCEEDED; over its ceiling, which is what has been reached so far, it fails the run. Exits
with 1 then, or if a figure is missing. With --row only one row is looked at.
tests/bench/board.py shows the same table.
"""
import sys

# Instructions of a page fault that a handler takes which does nothing, as the counting
# clock sees it (tests/bench: empty_probe). The simulation begins at the handler; its own
# empty handler is subtracted from what the module's takes.
EMPTY_PROBE = 19.5
# A second of a CPU: so many instructions, as everywhere on the cost board, and a line that
# comes from another CPU takes 100 ns besides.
INSTRUCTIONS_PER_S = 1e9
REMOTE_S = 100e-9
INTERVAL_S = 10

# (key, label, limit or None, ceiling). The limits are the budgets of issue [harden]. Where
# a figure is within its limit, the limit is the ceiling.
ROWS = [
    ("fault_same", "fault, same process as before", 30, 30),
    ("fault_same_remote", "the same on 256 CPUs: remote lines a fault", 0, 0),
    ("fault_threads_remote", "256 threads of one process: remote lines a fault", 0, 0),
    ("fault_turn", "fault, two processes in turn on a CPU", 90, 54),
    ("fault_turn_65536", "the same with 65536 processes in the table", None, 54),
    ("fault_full", "fault of a process that a full table does not hold", 60, 57),
    ("fault_full_65536", "the same with a table of 65536", None, 57),
    ("idle", "idle record in a full pass", 150, 150),
    ("idle_lines", "the same, cache lines", None, 11),
    ("idle_remote", "the same, remote lines", 0, 0),
    ("growing", "growing record in a full pass, in its patience", 3000, 3000),
    ("growing_short", "the same, short pass", 3000, 2450),
    ("memory", "memory per process, bytes", 1280, 1280),
    ("sampled_cpus", "what 252 CPUs more add to a sampled record", None, 7500),
    ("pass_instructions", "full pass, 100k processes, 256 CPUs: instructions", None, 48e6),
    ("pass_remote", "the same, remote lines", None, 21500),
    ("pass_percent", "the same, percent of a CPU", 0.5, 0.5),
    ("pass_percent_roams", "the same, the worker on another CPU each time", None, 2.3),
]
NOTE = ("simulated, tests/scale: instructions of the module and of the short kernel functions that "
        "it calls; 10^9 a second and 100 ns a remote line")


def rows_of(figures):
    """The values of ROWS, as far as the figures are there."""
    f = {key[len("scale."):]: value for key, value in figures.items() if key.startswith("scale.")}

    def fault(key):
        return EMPTY_PROBE - f["empty.instructions"] + f[key + ".instructions"]

    def slope(what):
        return (f["idle_2048." + what] - f["idle_512." + what]) / (2048 - 512)

    def grown(what, part=""):
        return (f[f"growing_48{part}.{what}"] - f[f"growing_16{part}.{what}"]) / (48 - 16)

    def percent(key):
        seconds = (f[key + ".instructions"] / INSTRUCTIONS_PER_S +
                   f[key + ".remote"] * REMOTE_S)
        return 100 * seconds / INTERVAL_S

    sources = {
        "fault_same": lambda: fault("same"),
        "fault_same_remote": lambda: f["same.remote"],
        "fault_threads_remote": lambda: f["threads.remote"],
        "fault_turn": lambda: fault("turn_8192"),
        "fault_turn_65536": lambda: fault("turn_65536"),
        "fault_full": lambda: fault("full_8192"),
        "fault_full_65536": lambda: fault("full_65536"),
        "idle": lambda: slope("instructions"),
        "idle_lines": lambda: slope("lines"),
        "idle_remote": lambda: slope("remote"),
        "growing": lambda: grown("instructions"),
        "growing_short": lambda: grown("instructions", "_short"),
        "memory": lambda: f["memory.process"],
        # one record of 32 is sampled in whole
        "sampled_cpus": lambda: (f["busy_256_8192.instructions"] -
                                 f["busy_4_8192.instructions"]) / (8192 / 32),
        "pass_instructions": lambda: f["busy_256_100000.instructions"],
        "pass_remote": lambda: f["busy_256_100000.remote"],
        "pass_percent": lambda: percent("busy_256_100000"),
        "pass_percent_roams": lambda: percent("busy_256_100000_roams"),
    }
    values = {}
    for key, source in sources.items():
        try:
            values[key] = source()
        except KeyError:
            pass
    return values


def number(value):
    if value is None:
        return ""
    if value and abs(value) < 10:
        return f"{value:.3f}"
    return f"{value:.1f}" if abs(value) < 1000 and value != int(value) else f"{value:.0f}"


def show(values, only=None):
    """Prints the table; returns what is wrong."""
    wrong = []
    print(f"{'a large machine (' + NOTE.split(':', maxsplit=1)[0] + '):':58} "
          f"{'figure':>10} {'limit':>10} {'ceiling':>10}")
    for key, label, limit, ceiling in ROWS:
        if only and key != only:
            continue
        value = values.get(key)
        if value is None:
            print(f"  {label:56} {'-':>10}  MISSING")
            wrong.append(f"{label}: no figure")
            continue
        verdict = "" if limit is None else "ok" if value <= limit else "EXCEEDED"
        if value > ceiling:
            verdict = "FAILED"
            wrong.append(f"{label}: {number(value)}, has been {number(ceiling)}")
        print(f"  {label:56} {number(value):>10} {number(limit):>10} {number(ceiling):>10}  "
              f"{verdict}".rstrip())
    return wrong


def main():
    args = sys.argv[1:]
    only = None
    if args[:1] == ["--row"]:
        only = args[1]
        args = args[2:]
    figures = {}
    for path in args:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                word = line.split()
                if len(word) == 3 and word[0] == "fig":
                    figures[word[1]] = float(word[2])
    wrong = show(rows_of(figures), only)
    if not only:
        print(NOTE)
    for text in wrong:
        print(f"scale: FAILED: {text}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
