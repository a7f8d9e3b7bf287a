#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges public traces of production memory, as they are and with known leaks added.

usage: tests/accuracy/noise.py --seepage PROGRAM --json FILE [--jobs N] [--size MB] DIR

DIR has the files that tests/accuracy/noise brought. Nobody knows that these machines do
not leak: as they are, every alert is counted as a false one.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile

import board
import judge
import replay
import trace

RATES = (2, 20, 200)		# MB an hour
GOAL = 20			# false alerts per 1000 days
# name: file, reader, least days, onset of an added leak in hours, what it is
SOURCES = {
    "machines-2018": ("machine_usage.csv", trace.machines_2018, 1, 24,
                      "whole machines, Alibaba 2018, memory in whole percent"),
    "pods-2026": ("pod_memory_util_anon.tar.gz", trace.pods_2026, 0.5, 4,
                  "containers, Alibaba GenAI 2026"),
}


def judged(program, path, limit_mb, truth):
    subjects, _ = replay.replay(program, path, "ladder", limit_mb * trace.MB)
    changes = [change[:3] for changes in subjects.values() for change in changes]
    return judge.judge(truth, {"it": changes})


def work(job):
    """Every line of the table that one trace has."""
    program, source, one, size, onset = job
    out = []
    with tempfile.TemporaryDirectory(prefix="noise.") as at:
        path = pathlib.Path(at) / "series"
        for rate in (0, *RATES):
            for times in (1, 4):
                pages = trace.pages_of(one, size, rate, onset, size * times)
                path.write_text("".join(trace.series(one.name, pages, size)), encoding="ascii")
                before = [n for t, n in pages if t <= onset][-1]
                end = int((pages[-1][0] + trace.PASS_S) * judge.NS)
                room = size * times - before * trace.PAGE / trace.MB
                truth = judge.Truth(bool(rate), int((onset + trace.PASS_S) * judge.NS),
                                    room / rate * 3600 if rate else 0, end, rate)
                v = judged(program, path, size * times, truth)
                out.append({"source": source, "name": one.name, "rate_mb_h": rate,
                            "limit": times, "days": one.days(), "false": len(v.false),
                            "first_false_s": v.false[0][0] / judge.NS if v.false else None,
                            "outcome": v.outcome, "open": v.open, "suspected_s": v.suspected,
                            "left": v.left_suspected})
    return out


def as_they_are(lines):
    """[false alerts, units with one, units, days, per 1000 days] of lines without a leak."""
    days, alerts = sum(u["days"] for u in lines), sum(u["false"] for u in lines)
    return [alerts, sum(u["false"] > 0 for u in lines), len(lines), days,
            1000 * alerts / days if days else None]


def with_leak(lines):
    found = [u for u in lines if u["outcome"] == "TP"]
    return {"found": len(found), "of": sum(u["outcome"] in ("TP", "FN") for u in lines),
            "open": sum(u["outcome"] == "FN" and u["open"] for u in lines),
            "suspected_s": statistics.median(u["suspected_s"] for u in found) if found else None,
            "left": statistics.median(u["left"] for u in found) if found else None}


def show(lines, size):
    print(f"public traces at sizes of {size} MB; tight: the limit is that size, loose: four times it")
    total = {}
    for source, (_, _, _, onset, what) in SOURCES.items():
        for limit, word in ((1, "tight"), (4, "loose")):
            here = [u for u in lines if u["source"] == source and u["limit"] == limit]
            if not here:
                continue
            harmless = [u for u in here if not u["rate_mb_h"]]
            alerts, units, n, days, per = as_they_are(harmless)
            total.setdefault(word, []).extend(harmless)
            print(f"\n{source}, {word} ({what}):")
            print(f"  as they are: {alerts} alerts about {units} of {n} in {days:.0f} days, "
                  f"{per:.0f} per 1000 days")
            for rate in RATES:
                w = with_leak([u for u in here if u["rate_mb_h"] == rate])
                left = "-" if w["left"] is None else f"{100 * w['left']:.0f} %"
                print(f"  {rate:>3} MB/h from {onset} h on: found {w['found']} of {w['of']}, after "
                      f"{board.duration(w['suspected_s'])}, {left} of the runway left; "
                      f"{w['open']} more end before it would be late")
    print()
    for word, harmless in total.items():
        alerts, _, _, days, per = as_they_are(harmless)
        verdict = "PASS" if per <= GOAL else f"short by {per - GOAL:.0f}"
        print(f"at most {GOAL} false alerts per 1000 machine-days, {word}: {verdict}   {per:.1f} "
              f"({alerts} in {days:.0f} days)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("place", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--seepage", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--size", type=int, default=16384)
    args = parser.parse_args()
    jobs = []
    for source, (file, rows, least, onset, _) in SOURCES.items():
        path = args.place / file
        if not path.exists():
            print(f"noise: {source}: {path} is not there")
            continue
        traces = trace.collect(rows(path.read_bytes()), least)
        jobs += [(args.seepage, source, one, args.size, onset * 3600) for one in traces]
    if not jobs:
        sys.exit("noise: no trace to judge")
    with multiprocessing.Pool(args.jobs) as pool:
        lines = [line for out in pool.imap(work, jobs) for line in out]
    with open(args.json, "w", encoding="utf-8") as out:
        json.dump(lines, out, indent=1)
    show(lines, args.size)


if __name__ == "__main__":
    main()
