#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The board of make where: what seepage where and its peers say of programs with a known leak.

usage: board.py LINES JSON    LINES: what guest.py wrote; JSON: the board, to write

A site is the true one if the function that leaks is among its frames. Rank is its place
among the sites that are shown, the heaviest first; "-": it is not there. Of the twin nobody may be
named. Exits with 1 if seepage misses a goal.
"""
import json
import os
import sys

sys.path.append(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from cases import CASES  # noqa: E402

FRAMES = 32
GOALS = {"first": 0.7, "top3": 0.9}
GROWS = 0.1     # of the leak's growth: what a twin of Go may not have
PEERS = ("perf page-faults", "heaptrack", "jemalloc profile", "memleak-bpfcc")


def function(name):
    """The name of a function without what tools put behind it"""
    for end in (" [clone", "@@", "(", " ["):
        name = name.split(end)[0]
    return name.strip()


def rank_of(stacks, truth):
    """stacks: lists of names, the heaviest first; truth: functions of one stack. None: not there"""
    for i, frames in enumerate(stacks):
        there = {function(n) for n in frames[:FRAMES] if n}
        # heaptrack leaves namespaces out.
        if all({name, name.rpartition("::")[2]} & there for name in truth):
            return i + 1
    return None


def names(site):
    return [f.get("demangled") or f.get("symbol") for f in site["stack"]]


def judge_leak(got, truth):
    """What seepage said of the program that leaks"""
    out = {"outcome": "refused", "rank": None, "survival_permille": None, "again": None,
           "seconds": round(got["wall_seconds"], 1), "traps": 0, "samples": 0}
    if "refused" in got:
        return {**out, "why": got["refused"]}
    answer = got["answer"]
    rank = rank_of([names(s) for s in answer["sites"]], truth)
    out.update(outcome="answered", rank=rank, sites=len(answer["sites"]), traps=answer["traps"],
               samples=answer["samples"], method=answer["method"])
    if rank:
        site = answer["sites"][rank - 1]
        out.update(survival_permille=site.get("survival_permille"), again=site.get("again"),
                   bytes_per_hour=site["bytes_per_hour"])
    return out


def judge_twin(got, leak):
    """nobody, or who is named; refused"""
    if "refused" in got:
        return {"verdict": "refused", "named": []}
    sites = got["answer"]["sites"]
    if got["answer"]["method"] == "profile":
        sites = [s for s in sites if s["bytes_per_hour"] > GROWS * (leak.get("bytes_per_hour") or 0)]
    named = [next((n for n in names(s) if n), "?") for s in sites]
    return {"verdict": "named" if named else "nobody", "named": named,
            "samples": got["answer"]["samples"]}


def judge_peer(got, truth):
    why = got.get("refused") or got.get("failed")
    out = {"outcome": "not run" if why else "answered", "rank": None, "share_permille": None,
           "seconds": round(got.get("wall_seconds", 0), 1)}
    if why:
        return {**out, "why": why}
    out["rank"] = rank_of([frames for _, frames in got["stacks"]], truth)
    if out["rank"]:
        out["share_permille"] = round(1000 * got["stacks"][out["rank"] - 1][0] / got["total"])
    return out


def judge(got, case):
    row = {"name": case.name, "what": case.what, "half": case.half, "truth": case.truth,
           "known": case.known}
    if "failed" in got:
        return {**row, "failed": got["failed"]}
    row["seepage"] = judge_leak(got["leak"], case.truth)
    row["twin"] = judge_twin(got["twin"], row["seepage"])
    row["peers"] = {name: judge_peer(got["peers"][name], case.truth)
                    for name in PEERS if name in got["peers"]}
    return row


def count(rows, of):
    """first, top3 and all of what @of(row) says; programs that it did not answer count as well"""
    said = [of(r) for r in rows if "failed" not in r]
    ranks = [s["rank"] for s in said if s and s["rank"]]
    return {"programs": len(said), "answered": sum(s["outcome"] == "answered" for s in said if s),
            "first": sum(r == 1 for r in ranks), "top3": sum(r <= 3 for r in ranks)}


def summary(rows):
    out = {}
    for half in ("open", "frozen", "both"):
        mine = [r for r in rows if half in (r["half"], "both")]
        known = [r for r in mine if r["known"]]
        out[half] = {"seepage": count(mine, lambda r: r["seepage"]),
                     "seepage, known allocators": count(known, lambda r: r["seepage"]),
                     "twins": {v: sum(r["twin"]["verdict"] == v for r in mine if "twin" in r)
                               for v in ("nobody", "named", "refused")}}
        for name in PEERS:
            out[half][name] = count(mine, lambda r, name=name: r["peers"].get(name))
    return out


def missed(board):
    """Sentences about goals that are missed"""
    known = board["summary"]["both"]["seepage, known allocators"]
    out = [f"{key}: {known[key]} of {known['programs']}, the goal is {goal:.0%}"
           for key, goal in GOALS.items() if known[key] < goal * known["programs"]]
    for row in board["programs"]:
        if "failed" in row:
            out.append(f"{row['name']}: {row['failed']}")
        elif row["twin"]["verdict"] == "named":
            out.append(f"{row['name']}: the twin is said to leak: {', '.join(row['twin']['named'])}")
        elif row["known"] and row["seepage"]["outcome"] == "refused":
            out.append(f"{row['name']}: {row['seepage']['why']}")
    return out


def cell(said):
    if not said:
        return "."
    if said["outcome"] != "answered":
        return "x"
    return str(said["rank"] or "-")


def table(board):
    lines = ["program        half    rank  stays   traps samples  s   twin     "
             "perf  heap  jema  mlbp  what"]
    for r in board["programs"]:
        if "failed" in r:
            lines.append(f"{r['name']:14} {r['half']:7} FAILED: {r['failed']}")
            continue
        s = r["seepage"]
        stays = "" if s["survival_permille"] is None else f"{s['survival_permille'] / 10:.1f}"
        peers = "".join(f"{cell(r['peers'].get(p)):6}" for p in PEERS)
        lines.append(f"{r['name']:14} {r['half']:7} {cell(s):>4} {stays:>6} {s['traps']:7} "
                     f"{s['samples']:7} {s['seconds']:3.0f}   {r['twin']['verdict']:8} {peers}"
                     f"{r['what']}".rstrip())
    lines += ["", "rank: of the true site; - it is not among them, x refused or not run, . not asked",
              "stays: percent of the site's samples; s: seconds to the answer; twin: who is named",
              "perf: page faults; heap: heaptrack, started under it; jema: jemalloc's profile, "
              "preloaded; mlbp: memleak-bpfcc", ""]
    for half, s in board["summary"].items():
        for who, c in s.items():
            if who == "twins":
                lines.append(f"{half:7} twins: nobody named {c['nobody']}, named {c['named']}, "
                             f"refused {c['refused']}")
            else:
                lines.append(f"{half:7} {who}: first {c['first']}, among three {c['top3']}, "
                             f"answered {c['answered']} of {c['programs']}")
    lines.append("")
    reasons = []
    for r in board["programs"]:
        said = [("seepage", r.get("seepage"))] + list(r.get("peers", {}).items())
        reasons += [f"{r['name']}: {who}: {s['why']}" for who, s in said if s and s.get("why")]
    lines += reasons + [""] if reasons else []
    lines += [f"MISSED {m}" for m in board["missed"]] or ["all goals are met"]
    return "\n".join(lines)


def make(lines):
    cases = {c.name: c for c in CASES}
    got = [json.loads(line) for line in lines if line.strip()]
    board = {"programs": [judge(g, cases[g["name"]]) for g in got]}
    board["summary"] = summary(board["programs"])
    board["missed"] = missed(board)
    return board


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        board = make(f)
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(board, f, indent=1)
        f.write("\n")
    print(table(board))
    return 1 if board["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
