#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges public traces of production memory, as they are and with known leaks added.

usage: tests/accuracy/noise.py --seepage PROGRAM --json FILE [--jobs N] [--size MB]
       [--source NAME]... DIR

DIR has the files that tests/accuracy/noise brought, DIR/SOURCE/FILE. Nobody knows that
these machines do not leak: as they are, every alert is counted as a false one. Those that
rise to their end (trace.py) are counted apart, and in nothing else.

 - tight: the limit is the size of the machine or container; loose: four times it.
 - A leak fills what the limit leaves at its onset in so many days. The trace goes on as it
   does, so memory can end earlier or later than that.
 - What counts as what is said in judge.py. A leak counts as found by whatever raised the
   alert: a decider that accuses everything finds everything. Read both columns.
 - Precision is of units; each trace is one unit as it is, and one for each leak.
 - Half of the traces, by a hash of the name, are frozen: only their sums are printed.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
from dataclasses import dataclass

import board
import coroot
import judge
import mannkendall
import replay
import trace

GOAL = 20			# false alerts per 1000 days
LIMITS = {"tight": 1, "loose": 4}	# times the size
DECIDERS = ("ladder", "classic", "coroot", "coroot-nolimit", "mann-kendall")
DAY = 86400


@dataclass
class Source:
    rows: object		# reader of trace.py
    least: float		# days; shorter ones are left out
    onset: float		# hours, of an added leak
    fills: tuple		# days in which it fills what is left
    what: str


SOURCES = {
    "machines-2018": Source(trace.machines_2018, 1, 24, (1, 3, 10),
                            "whole machines, Alibaba 2018, 1 min, whole percent of a size not told"),
    "pods-2026": Source(trace.pods_2026, 0.5, 4, (0.25, 1, 3),
                        "containers, Alibaba GenAI 2026, 1 min, share of a size not told"),
    "machines-2019": Source(trace.machines_2019, 1, 72, (1, 3, 10),
                            "whole machines, Server Machine Dataset, 1 min, shape without size"),
    "vms-2013": Source(trace.vms_2013, 1, 72, (1, 3, 10),
                       "VMs, Bitbrains rnd August 2013, 5 min, memory lately used, in KB"),
    "systems-2023": Source(trace.systems_2023, 1, 72, (1, 3, 10),
                           "whole machines, Westermo, 30 s, in bytes"),
}


def said_of(program, path, pages, limit):
    """{decider: {subject: [(ns, previous state, state)]}} under a limit in bytes."""
    said = {}
    for policy in ("ladder", "classic"):
        subjects, _ = replay.replay(program, path, policy, limit)
        said[policy] = {name: [c[:3] for c in changes] for name, changes in subjects.items()}
    start = int(trace.PASS_S * judge.NS)

    def on(step_ns):		# the passes on a coarser grid
        every = step_ns // start
        return [n * trace.PAGE for _, n in pages[::every]]
    rss = on(coroot.STEP_NS)
    said["coroot"] = {"it": coroot.changes(rss, limit, start)}
    said["coroot-nolimit"] = {"it": coroot.changes(rss, None, start)}
    said["mann-kendall"] = {"it": mannkendall.changes(on(mannkendall.STEP_NS), start)}
    return said


def used_at(one, size_mb, seconds):
    """MB that a trace has so long after its begin."""
    start = one.samples[0][0]
    return [share for t, share in one.samples if t - start <= seconds][-1] * size_mb


def work(job):
    """All units of one trace."""
    program, source, one, size = job
    size = one.size_mb or size
    onset, out = SOURCES[source].onset * 3600, []
    with tempfile.TemporaryDirectory(prefix="noise.") as at:
        path = pathlib.Path(at) / "series"
        for limit, times in LIMITS.items():
            room = size * times - used_at(one, size, onset)
            for fill in (0, *SOURCES[source].fills):
                if fill and room <= 0:
                    continue
                rate = room / fill / 24 if fill else 0
                pages = trace.pages_of(one, size, rate, onset, size * times,
                                       onset + fill * DAY + 3600 if fill else None)
                path.write_text("".join(trace.series(one.name, pages, size)), encoding="ascii")
                truth = judge.Truth(bool(fill), int((onset + trace.PASS_S) * judge.NS), fill * DAY,
                                    int((pages[-1][0] + trace.PASS_S) * judge.NS), rate)
                for decider, said in said_of(program, path, pages, size * times * trace.MB).items():
                    v = judge.judge(truth, said)
                    out.append({"source": source, "name": one.name, "half": one.half(),
                                "rises": one.rises(), "limit": limit, "fill_days": fill,
                                "rate_mb_h": rate, "decider": decider, "days": one.days(),
                                "false": len(v.false), "outcome": v.outcome, "open": v.open,
                                "first_false_s": v.false[0][0] / judge.NS if v.false else None,
                                "suspected_s": v.suspected, "left": v.left_suspected})
    return out


# ---- what is printed

def pick(units, **keys):
    return [u for u in units if all(u[key] == value for key, value in keys.items())]


def as_they_are(units):
    """(false alerts, units with one, units, days, per 1000 days) of units without a leak."""
    days, alerts = sum(u["days"] for u in units), sum(u["false"] for u in units)
    return (alerts, sum(u["false"] > 0 for u in units), len(units), days,
            1000 * alerts / days if days else None)


def with_leak(units):
    """Of units with one and the same leak: found, how many, of them still open, and the
    median of the seconds from the onset to the alert."""
    found = [u for u in units if u["outcome"] == "TP"]
    return {"found": len(found), "of": len(units), "open": sum(u["open"] for u in units),
            "suspected_s": statistics.median(u["suspected_s"] for u in found) if found else None}


def precision(units):
    right = sum(u["outcome"] == "TP" for u in units)
    return board.ratio(right, right + sum(u["false"] > 0 for u in units))


def leak_cell(units):
    w = with_leak(units)
    text = f"{w['found']}/{w['of']}"
    if w["found"]:
        text += f" {board.duration(w['suspected_s'])}"
    return text + (f" +{w['open']}" if w["open"] else "")


def row(units, fills, limit, half, decider):
    alerts, accused, n, _, per = as_they_are(pick(units, fill_days=0))
    cells = "".join(f"  {leak_cell(pick(units, fill_days=fill)):<18}" for fill in fills)
    return (f"  {limit:5} {half:6} {board.NAMES[decider]:24} {board.number(per):>6} {alerts:>5} "
            f"{f'{accused}/{n}':>7} {board.percent(precision(units)):>6}{cells}").rstrip()


def show_source(name, units):
    source = SOURCES[name]
    steady = pick(units, rises=False)
    one = pick(units, limit="tight", fill_days=0, decider="ladder")
    days = sum(u["days"] for u in one)
    heads = "".join(f"  {f'full in {board.duration(fill * DAY)}':<18}" for fill in source.fills)
    print(f"\n{name}: {source.what}")
    print(f"  {len(one)} in {days:.0f} days, {sum(u['half'] == 'frozen' for u in one)} of them frozen; "
          f"leaks begin after {source.onset:.0f} h")
    print(f"  {'limit':5} {'half':6} {'decider':24} {'/1000d':>6} {'false':>5} {'accused':>7} "
          f"{'prec.':>6}{heads}")
    for limit in LIMITS:
        for half in ("tuning", "frozen"):
            for decider in DECIDERS:
                here = pick(steady, limit=limit, half=half, decider=decider)
                if here:
                    print(row(here, source.fills, limit, half, decider))
    for limit in LIMITS:
        apart = pick(units, rises=True, limit=limit, fill_days=0, decider="ladder")
        if apart:
            print(f"  apart, {limit}: {sum(u['false'] > 0 for u in apart)} of {len(apart)} that rise to "
                  "their end are accused as they are by the ladder")


def show(units, size):
    print(f"public traces; where the size is not told it is {size} MB. tight: the limit is the size; "
          "loose: four times it.\n/1000d: false alerts in 1000 machine-days, as they are. accused: "
          "machines with one. prec.: of units, as they\nare and with leaks. full in: leaks found/added, "
          "median time from onset to alert, +N: not found and not yet late")
    for name in SOURCES:
        here = pick(units, source=name)
        if here:
            show_source(name, here)
    print()
    for limit in LIMITS:
        for half in ("tuning", "frozen"):
            here = pick(units, limit=limit, half=half, fill_days=0, decider="ladder", rises=False)
            alerts, _, _, days, per = as_they_are(here)
            verdict = "no trace" if per is None else "PASS" if per <= GOAL else \
                f"short by {per - GOAL:.0f}"
            print(f"at most {GOAL} false alerts per 1000 machine-days, {limit}, {half}: {verdict}   "
                  f"{board.number(per)} ({alerts} in {days:.0f} days)")
    print("\nthe first false alert of each of the tuning half, as it is, by the ladder:")
    for u in pick(units, half="tuning", fill_days=0, decider="ladder", rises=False):
        if u["false"]:
            print(f"  {u['source']} {u['name']} {u['limit']}: after "
                  f"{board.duration(u['first_false_s'])} of {u['days']:.1f} d")


def traces_of(place, name):
    """The traces of one source; none if its files are not there."""
    source = SOURCES[name]
    files = [(path.name, path.read_bytes()) for path in sorted((place / name).glob("*"))]
    return trace.collect(source.rows(files), source.least)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("place", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--seepage", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--size", type=int, default=16384)
    parser.add_argument("--source", action="append", choices=SOURCES)
    args = parser.parse_args()
    jobs = []
    for name in args.source or SOURCES:
        traces = traces_of(args.place, name)
        if not traces:
            print(f"noise: {name}: its files are not there")
        jobs += [(args.seepage, name, one, args.size) for one in traces]
    if not jobs:
        sys.exit("noise: no trace to judge")
    with multiprocessing.Pool(args.jobs) as pool:
        units = [unit for out in pool.imap(work, jobs) for unit in out]
    with open(args.json, "w", encoding="utf-8") as out:
        json.dump(units, out, indent=1)
    show(units, args.size)


if __name__ == "__main__":
    main()
