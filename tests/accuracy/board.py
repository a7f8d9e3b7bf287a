#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the detector's board of the corpus.

usage: tests/accuracy/board.py [--half tuning|frozen] [--case NAME]... [--jobs N]
       [--no-roc] --seepage PROGRAM --json FILE PLACE...

PLACE is a directory with cases or recordings of them (cases.py). Prints the board and
writes all of it to FILE. What counts as what is said in judge.py. Exits with 1 if there
is nothing to judge or a recording cannot be judged, with 0 whatever the goals say.
"""
import argparse
import datetime
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys

import cases
import judge
import read
import replay
import service
import unit

# A verdict needs more than the threshold.
THRESHOLDS = {"ladder": (0, 60, 70, 80, 90, 95),
              "classic": (0, 15, 30, 50, 70, 85)}
NAMES = {"ladder": "ladder", "ladder-blind": "ladder, use not known", "classic": "classic", "coroot": "Coroot, limit known",
         "coroot-nolimit": "Coroot, no limit", "mann-kendall": "Mann-Kendall + Theil-Sen"}


# ---- figures

def ratio(a, b):
    return a / b if b else None


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def stability(units):
    """Share of cases and limits with several seeds whose outcome is the same in all."""
    outcomes = {}
    for u in units:
        outcomes.setdefault((u["case"], u["limit_mb"]), []).append(
            (u["outcome"], u["false"] > 0))
    several = [o for o in outcomes.values() if len(o) > 1]
    return ratio(sum(len(set(o)) == 1 for o in several), len(several))


def count(units):
    """TP FN (and the open ones of them) FP TN beyond, as judge.py says."""
    return {"TP": sum(u["outcome"] == "TP" for u in units),
            "FN": sum(u["outcome"] == "FN" for u in units),
            "FN_open": sum(u["outcome"] == "FN" and u["open"] for u in units),
            "FP": sum(u["false"] > 0 for u in units),
            "TN": sum(u["outcome"] == "TN" for u in units),
            "beyond": sum(u["outcome"] == "beyond" for u in units)}


def distinct_days(units):
    """Each recording once, however many limits it was judged under."""
    return sum({(u["case"], u["seed"]): u["days"] for u in units}.values())


def summary(units):
    n = count(units)
    days, false = sum(u["days"] for u in units), sum(u["false"] for u in units)
    found = [u for u in units if u["outcome"] == "TP"]
    return {**n, "precision": ratio(n["TP"], n["TP"] + n["FP"]),
            "recall": ratio(n["TP"], n["TP"] + n["FN"]),
            "false_alerts": false, "process_days": days,
            "false_per_1000_days": ratio(1000 * false, days),
            "recorded_days": distinct_days(units),
            "suspected_s": median(u["suspected_s"] for u in found),
            "confirmed_s": median(u["confirmed_s"] for u in found),
            "left_suspected": median(u["left_suspected"] for u in found),
            "left_confirmed": median(u["left_confirmed"] for u in found),
            "confirmed": sum(u["confirmed_s"] is not None for u in found),
            "stability": stability(units), **operator_summary(units)}


def off(u):
    """By what factor the time that the first alert said is off; None: it said none."""
    return service.factor(u["said_s"], u["real_s"])


def operator_summary(units):
    """What service.py counts, of all units."""
    leaks = [u for u in units if u["outcome"] in ("TP", "FN")]
    n = {key: sum(u[key] for u in units if u["outcome"] != "beyond") for key in ("tp", "fn", "fp", "tn")}
    factors = [f for f in map(off, leaks) if f is not None]
    return {"service": n, "service_precision": ratio(n["tp"], n["tp"] + n["fp"]),
            "service_recall": ratio(n["tp"], n["tp"] + n["fn"]),
            "tte_factor": median(factors), "tte_worst": max(factors, default=None),
            "tte_said": len(factors),
            "alerts_per_subject": ratio(sum(u["alerts"] for u in leaks), len(leaks)),
            "messages_per_subject": ratio(sum(u["messages"] for u in leaks), len(leaks))}


def roc(points, half):
    """{policy: [[threshold, false positive rate of benign units, recall]]}"""
    out = {}
    for policy in unit.POLICIES:
        curve = []
        for threshold in sorted({p["threshold"] for p in points if p["policy"] == policy}):
            here = [p for p in points if p["policy"] == policy and p["threshold"] == threshold
                    and p["half"] == half]
            harmless = [p for p in here if p["truth"] == "benign"]
            leaks = [p for p in here if p["outcome"] in ("TP", "FN")]
            curve.append([threshold, ratio(sum(p["false"] > 0 for p in harmless), len(harmless)),
                          ratio(sum(p["outcome"] == "TP" for p in leaks), len(leaks))])
        out[policy] = curve
    return out


def operating_point(units):
    """The same of one decider as it is."""
    harmless = [u for u in units if u["truth"] == "benign"]
    leaks = [u for u in units if u["outcome"] in ("TP", "FN")]
    return [ratio(sum(u["false"] > 0 for u in harmless), len(harmless)),
            ratio(sum(u["outcome"] == "TP" for u in leaks), len(leaks))]


# ---- goals

def runaway(u):
    return u["rate_mb_h"] >= judge.RUNAWAY_MB_H


def in_time(what, units, met, shown):
    """[what, verdict, figure] of a goal that each unit has to meet."""
    if not units:
        return [what, "-", "no case"]
    short = [u for u in units if not met(u)]
    text = f"{len(units) - len(short)} of {len(units)}"
    for i, u in enumerate(short[:3]):
        text += f"{';' if not i else ','} {u['case']} at {u['limit_mb']} MB seed {u['seed']}: {shown(u)}"
    return [what, f"short by {len(short)}" if short else "PASS",
            text + (" ..." if len(short) > 3 else "")]


def still_open(u):
    """Not confirmed, and the recording ends while that could still come in time."""
    return u["confirmed_s"] is None and u["left_at_end"] > u["must_leave"]


def at_least(value, goal):
    return value is not None and value >= goal


def at_most(value, goal):
    return value is not None and value <= goal


def said(seconds):
    return "never" if seconds is None else f"after {duration(seconds)}"


def remaining(share):
    return "never" if share is None else f"{100 * share:.0f} % left"


def false_alerts(s):
    """Verdict and figure. None in n days bounds the rate by 3 / n only (95 %)."""
    value, days = s["false_per_1000_days"], s["recorded_days"]
    if not days:
        return ["-", "no case"]
    seen = f"{value:.1f} ({s['false_alerts']} in {s['process_days']:.1f} days under all limits)"
    if value >= 1:
        return [f"short by {value - 1:.1f}", seen]
    if not s["false_alerts"] and days < 3000:
        return ["none seen", f"in {days:.1f} recorded days, which proves no less than "
                             f"{3000 / days:.0f} per 1000"]
    return ["PASS", seen]


def goals(units):
    """[(what, verdict, figure)] of the units of one decider in one half."""
    s = summary(units)
    out = []
    for key, goal in (("precision", 0.95), ("recall", 0.95)):
        value = s[key]
        out.append([f"{key} at least 95 %", "-" if value is None else
                    "PASS" if value >= goal else f"short by {100 * (goal - value):.1f}",
                    "no case" if value is None else percent(value) + " %"])
    out.append(["less than 1 false alert per 1000 process-days", *false_alerts(s)])
    leaks = [u for u in units if u["outcome"] in ("TP", "FN")]
    wild = [u for u in leaks if runaway(u) and u["limit_mb"] == 8192]
    # A tenth is used when nine tenths are left.
    out.append(in_time("runaways (100 MB/min, 8 GB) in watch within 60 s", wild,
                       lambda u: at_most(u["watch_s"], 60), lambda u: said(u["watch_s"])))
    out.append(in_time("runaways suspected before a tenth of the runway", wild,
                       lambda u: at_least(u["left_suspected"], 0.9),
                       lambda u: remaining(u["left_suspected"])))
    out.append(in_time("what fills the limit in 5 min suspected within 30 s",
                       [u for u in leaks if u["runway_s"] <= 300],
                       lambda u: at_most(u["suspected_s"], 30), lambda u: said(u["suspected_s"])))
    unsettled = sum(map(still_open, leaks))
    out.append(in_time("confirmed with 80 % of the runway left (runaways 60 %)",
                       [u for u in leaks if not still_open(u)],
                       lambda u: at_least(u["left_confirmed"], u["must_leave"]),
                       lambda u: remaining(u["left_confirmed"])))
    if unsettled:
        out[-1][2] += f"; {unsettled} more end before it would be late"
    return out + operator_goals(units, s)


def share_goal(value, goal):
    return ["-" if value is None else "PASS" if value >= goal else
            f"short by {100 * (goal - value):.1f}",
            "no case" if value is None else percent(value) + " %"]


def at_most_goal(value, goal, shown):
    return ["-" if value is None else "PASS" if value <= goal else f"short by {value - goal:.1f}",
            "no case" if value is None else shown]


def loose(units):
    """Those at the highest limit of their case, where there are several."""
    limits = {}
    for u in units:
        limits.setdefault(u["case"], set()).add(u["limit_mb"])
    return [u for u in units if len(limits[u["case"]]) > 1 and u["limit_mb"] == max(limits[u["case"]])]


def operator_goals(units, s):
    """Of what service.py counts, and of services."""
    leaks = [u for u in units if u["outcome"] in ("TP", "FN")]
    found = [u for u in leaks if u["outcome"] == "TP"]
    timed = [u for u in found if u["said_s"] is not None or u["real_s"] is not None]
    close = ratio(sum((off(u) or 9) <= 1.2 for u in timed), len(timed))
    out = [["precision by service at least 95 %", *share_goal(s["service_precision"], 0.95)],
           ["recall by service at least 95 %", *share_goal(s["service_recall"], 0.95)],
           ["time said at the first alert within 20 % in 90 % of leaks", *share_goal(close, 0.9)],
           in_time("time said at the first alert within a factor of 1.5", timed,
                   lambda u: at_most(off(u), 1.5),
                   lambda u: f"said {duration(u['said_s'])}, real {duration(u['real_s'])}")]
    if len(timed) < len(found):
        out[-1][2] += f"; {len(found) - len(timed)} more have no limit, and say no time"
    for what, some in (("services", [u for u in leaks if u["series"] == "group"]),
                       ("single processes", [u for u in leaks if u["series"] != "group"])):
        out.append(in_time(f"first alert with 80 % of the runway left, {what}", some,
                           lambda u: at_least(u["left_suspected"], u["must_leave"]),
                           lambda u: remaining(u["left_suspected"])))
    alerts, all_said = s["alerts_per_subject"], s["messages_per_subject"]
    out.append(["at most 1.2 alerts a true subject", *at_most_goal(
        alerts, 1.2, f"{number2(alerts)}; {number2(all_said)} messages, each rise of an alert counted")])
    out.append(in_time("real programs as they are: no false alert",
                       [u for u in units if u["truth"] == "benign" and not synthetic(u)],
                       lambda u: not u["false"], lambda u: f"{u['false']} false"))
    wait = median(u["suspected_s"] for u in loose(leaks) if u["outcome"] == "TP")
    out.append(["median from onset to suspected, loose limit, at most 4 h",
                *(["-", "no case"] if wait is None else
                  ["PASS" if wait <= 4 * 3600 else f"short by {wait / 3600 - 4:.1f} h", duration(wait)])])
    return out


def synthetic(u):
    return u["family"].startswith("synth")


# ---- text

def duration(s):
    if s is None:
        return "-"
    for size, unit_name in ((86400, "d"), (3600, "h"), (60, "min")):
        if s >= 2 * size:
            return f"{s / size:.1f} {unit_name}"
    return f"{s:.0f} s"


def percent(share):
    """Rounded down, so that no goal seems met that is not."""
    return "-" if share is None else f"{math.floor(share * 1000 + 1e-9) / 10:.1f}"


def number(value):
    return "-" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def number2(value):
    return "-" if value is None else f"{value:.2f}"


def show_operator(board):
    print("\nby service, and what an operator is told: said and real time to exhaustion at the "
          "first alert differ by a\nfactor; alerts and messages (each rise of an alert) for each "
          "true subject:")
    print(f"{'half':7} {'decider':25} {'precis.':>7} {'recall':>6}  {'TP':>3} {'FN':>3} {'FP':>4} {'TN':>4}  "
          f"{'time off by':>11} {'worst':>7} {'alerts':>6} {'messages':>8}")
    for half, rows in board["summary"].items():
        for decider, s in rows.items():
            n = s["service"]
            print(f"{half:7} {NAMES[decider]:25} {percent(s['service_precision']):>7} "
                  f"{percent(s['service_recall']):>6}  {n['tp']:>3} {n['fn']:>3} {n['fp']:>4} {n['tn']:>4}  "
                  f"{number2(s['tte_factor']):>11} {number2(s['tte_worst']):>7} "
                  f"{number2(s['alerts_per_subject']):>6} {number2(s['messages_per_subject']):>8}")


def show_summary(board):
    print(f"{'half':7} {'decider':25} {'precis.':>7} {'recall':>6}  {'TP':>3} {'FN':>3} {'open':>4} {'FP':>3} "
          f"{'TN':>3}  {'false/1000d':>11} {'suspected':>9} {'confirmed':>9} {'runway left':>11} "
          f"{'stable':>6}")
    for half, rows in board["summary"].items():
        for decider, s in rows.items():
            print(f"{half:7} {NAMES[decider]:25} {percent(s['precision']):>7} "
                  f"{percent(s['recall']):>6}  {s['TP']:>3} {s['FN']:>3} {s['FN_open']:>4} {s['FP']:>3} "
                  f"{s['TN']:>3}  "
                  f"{number(s['false_per_1000_days']):>11} {duration(s['suspected_s']):>9} "
                  f"{duration(s['confirmed_s']):>9} {percent(s['left_confirmed']):>11} "
                  f"{percent(s['stability']):>6}")
        days, beyond = s["process_days"], s["beyond"]
        print(f"        {days:.1f} process-days without a leak under all limits, {s['recorded_days']:.1f} "
              f"recorded; {beyond} units leak too slowly to matter")


def cell(units):
    """What one decider said of one case and limit, over its seeds."""
    n = len(units)
    if units[0]["truth"] == "benign":
        bad, alerts = sum(u["false"] > 0 for u in units), sum(u["false"] for u in units)
        return f"{bad}/{n} false" + (f" x{alerts}" if alerts > bad else "") if bad else "quiet"
    found = [u for u in units if u["suspected_s"] is not None and u["outcome"] != "FN"]
    text = f"{len(found)}/{n}"
    if found:
        text += f" {duration(median(u['suspected_s'] for u in found))}"
        left = median(u["left_suspected"] for u in found)
        text += f" {100 * left:.0f}%" if left is not None else ""
    early = sum(u["false"] > 0 for u in units)
    return text + (f" !{early}" if early else "")


def show_rows(board):
    print("\nper case and limit: leaks found/seeds, median time from onset to suspected, runway "
          "left then, !N: seeds with\na false alert before the onset; benign: seeds with a false "
          "alert, xN: so many alerts")
    rows = {}
    for u in board["units"]:
        rows.setdefault((u["half"], u["truth"], u["case"], u["limit_mb"]), {}).setdefault(
            u["decider"], []).append(u)
    print(f"{'half':6} {'case':24} {'limit':>6} {'MB/h':>6}  " +
          " ".join(f"{d:16}" for d in unit.DECIDERS))
    for (half, truth, case, limit), by in sorted(rows.items()):
        u = by[unit.DECIDERS[0]][0]
        rate = f"{u['rate_mb_h']:.4g}" if truth == "leak" else "-"
        print(f"{half:6} {case:24} {limit:>6} {rate:>6}  " +
              " ".join(f"{cell(by[d]):16}" for d in unit.DECIDERS).rstrip())


def tight(board):
    """{half: {decider: [benign cases with a false alert, all of them]}} at the least limit of each."""
    out = {}
    for half in board["summary"]:
        harmless = [u for u in board["units"] if u["half"] == half and u["truth"] == "benign"]
        least = {}
        for u in harmless:
            least[u["case"]] = min(u["limit_mb"], least.get(u["case"], u["limit_mb"]))
        for decider in ("ladder", "ladder-blind"):
            here = [u for u in harmless if u["decider"] == decider and
                    u["limit_mb"] == least[u["case"]]]
            out.setdefault(half, {})[decider] = [sum(u["false"] > 0 for u in here), len(here)]
    return out


def show_tight(board):
    print("\nbenign recordings at the tight limit, with a false alert:")
    for half, by in board["tight"].items():
        (seen, n), (blind, _) = by["ladder"], by["ladder-blind"]
        print(f"  {half:7} {seen} of {n}; {blind} if nobody looked at what they use")


def show_goals(board):
    for half, rows in board["goals"].items():
        print(f"\ngoals, ladder, {half} half:")
        for what, verdict, figure in rows:
            print(f"  {what:58} {verdict:16} {figure}")


def show_roc(board):
    print("\nROC over alert_confidence: threshold: benign units with a false alert / recall, %")
    for half, curves in board["roc"].items():
        for policy, points in curves.items():
            print(f"  {half:7} {policy:8} " + "  ".join(
                f"{t}: {percent(fp)}/{percent(tp)}" for t, fp, tp in points))


def wrong_words(u):
    if u["false"]:
        after = (u["first_false_ns"] - u["start_ns"]) / 1e9
        yield (f"false: {u['first_false'][0]} {u['first_false'][1]} {duration(after)} after the start"
               + (f", {duration(u['onset_s'] - after)} before the onset"
                  if u["truth"] == "leak" else "")
               + (f", {u['false']} in all" if u["false"] > 1 else ""))
    if u["outcome"] == "FN":
        leak = f"leaks {u['rate_mb_h']:.4g} MB/h from {duration(u['onset_s'])} on"
        if u["suspected_s"] is not None:
            yield (f"too late: {leak}, suspected after {duration(u['suspected_s'])}, the limit was "
                   f"reached after {duration(u['runway_s'])}")
        else:
            watch = "never in watch" if u["watch_s"] is None else f"in watch after {duration(u['watch_s'])}"
            yield (f"missed{' so far' if u['open'] else ''}: {leak}, {watch}, "
                   + (f"{100 * u['left_at_end']:.0f} % of the runway left at the end"
                      if u["left_at_end"] > 0 else f"the limit was reached after {duration(u['runway_s'])}"))


def show_wrong(board):
    for decider in unit.POLICIES:
        lines = [f"  {u['half']:6} {u['case']:24} {u['limit_mb']:>6} MB seed {u['seed']}: {words}"
                 for u in board["units"] if u["decider"] == decider for words in wrong_words(u)]
        print(f"\nwrong verdicts, {decider}: {len(lines) or 'none'}")
        for line in lines:
            print(line)


# ---- all of it

def work(job):
    program, case, seed, path, thresholds = job
    try:
        return unit.run(program, case, seed, path, thresholds)
    except (read.BadSeries, replay.ReplayFailed, OSError, KeyError, ValueError) as error:
        return {"units": [], "roc": [], "warnings": [],
                "failed": f"{case.name}, seed {seed}: {error}"}


def collect(results, chosen):
    units = sorted((u for r in results for u in r["units"]),
                   key=lambda u: (u["half"], u["truth"], u["case"], u["limit_mb"], u["seed"]))
    points = [p for r in results for p in r["roc"]]
    halves = [h for h in ("frozen", "tuning") if any(u["half"] == h for u in units)]

    def of(half, decider):
        return [u for u in units if u["half"] == half and u["decider"] == decider]
    board = {"made_by": made_by(), "simulation": any(case.simulated for case in chosen),
            "cases": len({u["case"] for u in units}),
            "recordings": len({(u["case"], u["seed"]) for u in units}),
            "seeds": sorted({u["seed"] for u in units}),
            "summary": {h: {d: summary(of(h, d)) for d in unit.DECIDERS} for h in halves},
            "points": {h: {d: operating_point(of(h, d)) for d in unit.DECIDERS} for h in halves},
            "goals": {h: goals(of(h, "ladder")) for h in halves},
            "roc": {h: roc(points, h) for h in halves},
            "warnings": [w for r in results for w in r["warnings"]],
            "failed": [r["failed"] for r in results if "failed" in r],
            "units": units}
    board["tight"] = tight(board)
    return board


def seeds_words(seeds):
    if len(seeds) == 1:
        return f"only one seed: {seeds[0]}"
    return f"{len(seeds)} seeds: {' '.join(map(str, seeds))}"


def made_by():
    """The commit of the source and the date, as tests/results writes them, for the first line."""
    def git(*words):
        try:
            return subprocess.run(["git", *words], cwd=os.path.dirname(os.path.abspath(__file__)), text=True,
                                  capture_output=True, check=False).stdout.strip()
        except OSError:		# there is no git
            return ""
    name = git("rev-parse", "--short", "HEAD") or "no git checkout"
    changed = git("status", "--porcelain", "--", ":/", ":(top,exclude)docs/results")
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"# {name}{', changed' if changed else ''}, {now.day} {now:%B %Y}"


def show(board):
    print(board["made_by"])
    if board["simulation"]:
        print("SIMULATION: shapes of tests/accuracy/sim.py, which no process had; not for claims")
    print(f"{board['cases']} cases, {board['recordings']} recordings, {seeds_words(board['seeds'])}\n")
    show_summary(board)
    show_operator(board)
    show_goals(board)
    show_tight(board)
    show_rows(board)
    show_roc(board)
    show_wrong(board)
    for text in board["warnings"]:
        print(f"\naccuracy: note: {text}")
    for text in board["failed"]:
        print(f"\naccuracy: FAILED: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+", metavar="PLACE")
    parser.add_argument("--half", choices=cases.HALVES)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-roc", action="store_true")
    parser.add_argument("--seepage", required=True)
    parser.add_argument("--json", required=True)
    args = parser.parse_args()
    try:
        corpus = cases.find(args.places)
    except cases.BadCase as error:
        sys.exit(f"accuracy: {error}")
    unknown = set(args.case) - set(corpus)
    if unknown:
        sys.exit(f"accuracy: no case {' '.join(sorted(unknown))}")
    chosen = [c for c in corpus.values() if (not args.half or c.half == args.half)
              and (not args.case or c.name in args.case)]
    thresholds = {} if args.no_roc else THRESHOLDS
    jobs = [(args.seepage, c, seed, path, thresholds)
            for c in chosen for seed, path in sorted(c.recordings.items())]
    if not jobs:
        sys.exit("accuracy: no recording of any case that is asked for")
    with multiprocessing.Pool(args.jobs) as pool:
        results = pool.map(work, jobs, chunksize=1)
    board = collect(results, chosen)
    missing = [c.name for c in chosen if not c.recordings]
    if missing:
        board["warnings"].append(f"no recording of {' '.join(missing)}")
    with open(args.json, "w", encoding="utf-8") as out:
        json.dump(board, out, indent=1)
        out.write("\n")
    show(board)
    sys.exit(1 if board["failed"] or not board["units"] else 0)


if __name__ == "__main__":
    main()
