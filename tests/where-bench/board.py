#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The board of make where: what seepage where and its peers say of programs with a known leak.

usage: board.py LINES JSON [COUNTS]    LINES: what guest.py wrote; JSON: the board, to write; COUNTS:
what guest.py --count wrote, if it ran

A site is the true one if the function that leaks is among its frames. Rank is its place
among the sites that are shown, the heaviest first; "-": it is not there. Of the twin nobody may be
named. Exits with 1 if seepage misses a goal.
"""
import json
import os
import statistics
import sys

sys.path.append(os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from cases import CASES  # noqa: E402

FRAMES = 32
GOALS = {"top3": (0.9, "site among the first three"),
         "stays": (0.9, "the same, and 90 % of its samples stay"),
         "first": (0.7, "site first")}
STAYS = 900     # permille
WITHIN = 50     # permille: what the census may say more or less than the program lost
FEW = 40        # steps: of less, one that falls on the other side of a look is more than that
COST = 1e8      # instructions: a tenth of a second of the clock that counts them
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


def judge_growth(got):
    """What the census says beside what the program lost meanwhile, if that is known"""
    lost = (got or {}).get("lost")
    if not lost or lost["bytes"] <= 0 or got["method"] == "pages":
        return None
    return {"census_bytes": round(got["bytes"]), "lost_bytes": round(lost["bytes"]),
            "blocks": round(lost["blocks"]), "few": lost["steps"] < FEW,
            "error_permille": round(1000 * (got["bytes"] / lost["bytes"] - 1))}


def add_counts(row, counts):
    """Instructions of the second VM"""
    for name, said in [("seepage where", row["seepage"]), *row["peers"].items()]:
        got = counts.get(name) or counts.get("peers", {}).get(name) or {}
        said["instructions"], said["noise"] = got.get("instructions"), got.get("noise")


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


def judge(got, case, counts):
    row = {"name": case.name, "what": case.what, "half": case.half, "truth": case.truth,
           "known": case.known}
    if "failed" in got:
        return {**row, "failed": got["failed"]}
    row["seepage"] = judge_leak(got["leak"], case.truth)
    row["twin"] = judge_twin(got["twin"], row["seepage"])
    row["peers"] = {name: judge_peer(got["peers"][name], case.truth)
                    for name in PEERS if name in got["peers"]}
    row["growth"] = judge_growth(got.get("census"))
    row["note"] = next((n for n in got.get("census", {}).get("notes", ())
                        if case.names and n.startswith(case.names)), None)
    row["note_wanted"] = case.names
    add_counts(row, counts)
    return row


def counts_for_goals(row):
    """Is its allocator known, or did a burst take place all the same?"""
    return row["known"] or ("seepage" in row and row["seepage"]["traps"] > 0)


def count(rows, of):
    """first, top3 and all of what @of(row) says; programs that it did not answer count as well"""
    said = [of(r) for r in rows if "failed" not in r]
    ranks = [s["rank"] for s in said if s and s["rank"]]
    answered = [s for s in said if s and s["outcome"] == "answered"]
    cost = [s["instructions"] for s in answered if s["instructions"] is not None]
    return {"programs": len(said), "answered": len(answered),
            "first": sum(r == 1 for r in ranks), "top3": sum(r <= 3 for r in ranks),
            "seconds": statistics.median(s["seconds"] for s in answered) if answered else None,
            "instructions": statistics.median(cost) if cost else None}


def summary(rows):
    out = {}
    for half in ("open", "frozen", "both"):
        mine = [r for r in rows if half in (r["half"], "both")]
        known = [r for r in mine if counts_for_goals(r)]
        out[half] = {"seepage": count(mine, lambda r: r["seepage"]),
                     "seepage, known allocators": count(known, lambda r: r["seepage"]),
                     "twins": {v: sum(r["twin"]["verdict"] == v for r in mine if "twin" in r)
                               for v in ("nobody", "named", "refused")}}
        for name in PEERS:
            out[half][name] = count(mine, lambda r, name=name: r["peers"].get(name))
    return out


def spread(values, unit=""):
    """The median, and the most"""
    if not values:
        return "none"
    return f"median {short(statistics.median(values))}{unit}, most {short(max(values))}{unit}"


def stays(said):
    """A profile of the runtime lists what is in use."""
    kept = said.get("survival_permille")
    return said["rank"] and said["rank"] <= 3 and \
        (said.get("method") == "profile" or (kept or 0) >= STAYS)


def goals(board):
    """The rows of the goals, as far as a board can know them: what, the goal, what is found, and
    whether that is enough; None: it is no goal"""
    rows = [r for r in board["programs"] if "failed" not in r]
    known = [r["seepage"] for r in rows if counts_for_goals(r)]
    found = {"first": sum(s["rank"] == 1 for s in known),
             "top3": sum(bool(s["rank"] and s["rank"] <= 3) for s in known),
             "stays": sum(bool(stays(s)) for s in known)}
    out = [[what, f"{goal:.0%}", f"{found[key]} of {len(known)}", found[key] >= goal * len(known)]
           for key, (goal, what) in GOALS.items()]
    asked = [r for r in rows if r["twin"]["verdict"] != "refused"]
    named = [r["name"] for r in asked if r["twin"]["verdict"] == "named"]
    out.append(["twins without the leak", "nobody named",
                f"{len(named)} of {len(asked)} named" + "".join(f", {n}" for n in named), not named])
    grew = [r for r in rows if r["growth"] and not r["growth"]["few"]]
    off = [r for r in grew if abs(r["growth"]["error_permille"]) > WITHIN]
    out.append(["net growth by census against what the program lost", "within 5 %",
                f"{len(grew) - len(off)} of {len(grew)}" +
                "".join(f", {r['name']} {r['growth']['error_permille'] / 10:+.1f} %" for r in off), not off])
    bursts = [s for s in known if s["traps"]]
    cost = [max(0, s["instructions"]) for s in bursts if s["instructions"] is not None]
    out.append(["traps of a burst", "", spread([s["traps"] for s in bursts]), None])
    out.append(["instructions that it costs the program", "0.1 s, " + short(COST), spread(cost),
                max(cost) <= COST if cost else None])
    out.append(["seconds to the answer", "",
                spread([s["seconds"] for s in known if s["outcome"] == "answered"]), None])
    return [dict(zip(("what", "goal", "found", "met"), row)) for row in out]


# What WHERE.md asks for beside these, which takes a clock that counts, or a heap of its own
ELSEWHERE = "other processes while armed, after a burst, a trap: tests/cases/where-cost"


def missed(board):
    """Sentences about goals that are missed"""
    out = [f"{g['what']}: {g['found']}, the goal is {g['goal']}"
           for g in board["goals"] if g["met"] is False]
    for row in board["programs"]:
        if "failed" in row:
            out.append(f"{row['name']}: {row['failed']}")
        elif row["twin"]["verdict"] == "named":
            out.append(f"{row['name']}: the twin is said to leak: {', '.join(row['twin']['named'])}")
        elif row["known"] and row["seepage"]["outcome"] == "refused":
            out.append(f"{row['name']}: {row['seepage']['why']}")
        if row.get("note_wanted") and not row["note"]:
            out.append(f"{row['name']}: no note says {row['note_wanted']}")
    return out


def short(n):
    """A number in four characters or so"""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(n) >= size:
            return f"{n / size:.1f}{unit}"
    return f"{n:.0f}"


def cost(said):
    """Instructions; less than their noise are none that are known."""
    if said["instructions"] is None:
        return "."
    if said["instructions"] <= said["noise"]:
        return "<" + short(said["noise"])
    return short(said["instructions"])


def growth(row):
    got = row["growth"]
    return f"{got['error_permille'] / 10:+.1f}{'?' if got['few'] else ''}" if got else "."


def cell(said):
    if not said:
        return "."
    if said["outcome"] != "answered":
        return "x"
    return str(said["rank"] or "-")


def costs(c):
    out = f"; median {c['seconds']:.0f} s" if c["seconds"] is not None else ""
    return out + (f", {short(c['instructions'])} instructions" if c["instructions"] is not None else "")


def table(board):
    lines = ["program        half    rank  stays   traps samples  instr  s   twin     growth  "
             "perf  heap  jema  mlbp  what"]
    for r in board["programs"]:
        if "failed" in r:
            lines.append(f"{r['name']:14} {r['half']:7} FAILED: {r['failed']}")
            continue
        s = r["seepage"]
        stays = "" if s["survival_permille"] is None else f"{s['survival_permille'] / 10:.1f}"
        peers = "".join(f"{cell(r['peers'].get(p)):6}" for p in PEERS)
        lines.append(f"{r['name']:14} {r['half']:7} {cell(s):>4} {stays:>6} {s['traps']:7} "
                     f"{s['samples']:7} {cost(s):>6} {s['seconds']:3.0f}   {r['twin']['verdict']:8} "
                     f"{growth(r):7} {peers}"
                     f"{r['what']}".rstrip())
    lines += ["", "rank: of the true site; - it is not among them, x refused or not run, . not asked",
              "stays: percent of the site's samples; s: seconds to the answer; twin: who is named",
              "instr: instructions that the answer costs the program, on a clock that counts them; <: less",
              "than they differ without it; . not counted",
              "growth: percent that the census says more or less than the program lost; ? in few steps",
              "perf: page faults; heap: heaptrack, started under it; jema: jemalloc's profile, "
              "preloaded; mlbp: memleak-bpfcc",
              "seconds of peers, below, begin with the start of the program", ""]
    for half, s in board["summary"].items():
        for who, c in s.items():
            if who == "twins":
                lines.append(f"{half:7} twins: nobody named {c['nobody']}, named {c['named']}, "
                             f"refused {c['refused']}")
            else:
                lines.append(f"{half:7} {who}: first {c['first']}, among three {c['top3']}, "
                             f"answered {c['answered']} of {c['programs']}" + costs(c))
    lines.append("")
    lines += [f"{g['what']:50} {g['goal']:13} {g['found']}" for g in board["goals"]] + [ELSEWHERE, ""]
    reasons = []
    for r in board["programs"]:
        said = [("seepage", r.get("seepage"))] + list(r.get("peers", {}).items())
        reasons += [f"{r['name']}: {who}: {s['why']}" for who, s in said if s and s.get("why")]
        reasons += [f"{r['name']}: seepage says: {r['note']}"] if r.get("note") else []
    lines += reasons + [""] if reasons else []
    lines += [f"MISSED {m}" for m in board["missed"]] or ["all goals are met"]
    return "\n".join(lines)


def make(lines, counts=()):
    cases = {c.name: c for c in CASES}
    got = [json.loads(line) for line in lines if line.strip()]
    counted = {c["name"]: c for c in map(json.loads, counts)}
    board = {"programs": [judge(g, cases[g["name"]], counted.get(g["name"], {})) for g in got]}
    board["summary"] = summary(board["programs"])
    board["goals"] = goals(board)
    board["missed"] = missed(board)
    return board


def main():
    counts = []
    if len(sys.argv) > 3 and os.path.exists(sys.argv[3]):
        with open(sys.argv[3], encoding="utf-8") as f:
            counts = f.readlines()
    with open(sys.argv[1], encoding="utf-8") as f:
        board = make(f, counts)
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(board, f, indent=1)
        f.write("\n")
    print(table(board))
    return 1 if board["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
