# SPDX-License-Identifier: GPL-2.0
"""One recording through all deciders, under all limits of its case."""
from bisect import bisect_right
import coroot
import judge
import mannkendall
import read
import replay

MB = 1 << 20
HOUR_NS = 3600 * 10 ** 9

# Which columns take from the limit, by the series that leaks.
TAKES = {"vsz": "v", "pgtables": "aswg"}
POLICIES = ("ladder", "classic")
DECIDERS = ("ladder", "classic", "coroot", "coroot-nolimit", "mann-kendall")


def usage_at(series, letters, ns):
    """Bytes it took at that time; 0 before its first sample."""
    i = bisect_right(series.time, ns) - 1
    return sum(series.columns[x][i] for x in letters) if i >= 0 else 0


def leaking(recording, case, onset_ns):
    """(bytes at the onset, at the end) of what leaks: all processes, or the one that
    grew most."""
    letters = TAKES.get(case.series, "asw")
    both = []
    for s in recording.processes():
        before = usage_at(s, letters, onset_ns) if s.gone_ns is None or s.gone_ns >= onset_ns else 0
        after = usage_at(s, letters, recording.end) if s.gone_ns is None else 0
        both.append((before, after))
    if case.series == "group":
        return tuple(map(sum, zip(*both))) if both else (0, 0)
    return max(both, key=lambda pair: pair[1] - pair[0], default=(0, 0))


def truth_of(recording, case, limit_mb):
    if not case.leak:
        return judge.Truth(False)
    onset = recording.start + int(case.onset * 1e9)
    before, _ = leaking(recording, case, onset)
    room = limit_mb * MB - before
    return judge.Truth(True, onset, max(0.0, room / (case.rate * MB) * 3600), recording.end,
                       case.rate)


def most(recording):
    """The most that one process took from the limit, MB."""
    return max(max(map(sum, zip(*(s.columns[x] for x in "asw"))))
               for s in recording.processes()) / MB


def harmless_days(recording, truth):
    """Process-days in which an alert is false."""
    days = 0.0
    for s in recording.processes():
        end = s.gone_ns if s.gone_ns is not None else recording.end
        if truth.leak:
            end = min(end, truth.onset_ns)
        days += max(0, end - s.time[0]) / 86400e9
    return days


def measured_rate(recording, case):
    """MB an hour from the onset to the end, as the recording has it."""
    onset = recording.start + int(case.onset * 1e9)
    before, after = leaking(recording, case, onset)
    return (after - before) / MB / ((recording.end - onset) / HOUR_NS)


def without_confidence(subjects):
    return {f"{comm}/{number}": [change[:3] for change in changes]
            for (number, comm), changes in subjects.items()}


def flat(verdict, truth, days):
    return {"outcome": verdict.outcome, "false": len(verdict.false), "days": days,
            "first_false_ns": verdict.false[0][0] if verdict.false else None,
            "first_false": verdict.false[0][1:] if verdict.false else None,
            "open": verdict.open,
            "subject": verdict.subject, "watch_s": verdict.watch,
            "suspected_s": verdict.suspected, "confirmed_s": verdict.confirmed,
            "left_suspected": verdict.left_suspected, "left_confirmed": verdict.left_confirmed,
            "must_leave": truth.must_leave() if truth.leak else None,
            "left_at_end": truth.left_at_end() if truth.leak and truth.runway_s > 0 else None,
            "runway_s": truth.runway_s if truth.leak else None}


def run(program, case, seed, path, thresholds):
    """{"units": [...], "roc": [...], "warnings": [...]} of one recording."""
    recording = read.read_file(path)
    where = f"{case.name}, seed {seed}"
    out = {"units": [], "roc": [], "warnings": []}
    if not recording.processes():
        out["warnings"].append(f"{where}: no samples, not judged")
        return out
    if case.leak and recording.start + case.onset * 1e9 >= recording.end:
        out["warnings"].append(f"{where}: ends before its onset, not judged")
        return out
    if recording.lost:
        out["warnings"].append(f"{where}: {recording.lost} messages were lost")
    if case.leak and case.series != "group":
        rate = measured_rate(recording, case)
        if not case.rate / 2 <= rate <= case.rate * 2:
            out["warnings"].append(f"{where}: is said to leak {case.rate:.4g} MB/h, and grew by "
                                   f"{rate:.4g} MB/h from its onset to its end")
    peers = coroot.decide(recording, [mb * MB for mb in case.limits] + [None])
    trend = {str(k): v for k, v in mannkendall.decide(recording).items()}
    for mb in case.limits:
        if not case.leak and most(recording) > mb:
            out["warnings"].append(f"{where}: is said to be benign and takes {most(recording):.0f} "
                                   f"MB of {mb} MB, not judged at that limit")
            continue
        truth = truth_of(recording, case, mb)
        if case.leak and truth.runway_s <= 0:
            out["warnings"].append(f"{where}: takes more than {mb} MB before its onset, not judged "
                                   "at that limit")
            continue
        days = harmless_days(recording, truth)
        said = {"coroot": peers[mb * MB], "coroot-nolimit": peers[None], "mann-kendall": trend}
        for policy in POLICIES:
            subjects, _ = replay.replay(program, path, policy, mb * MB)
            said[policy] = without_confidence(subjects)
            for threshold in thresholds.get(policy, ()):
                subjects, _ = replay.replay(program, path, policy, mb * MB, threshold)
                verdict = judge.judge(truth, without_confidence(subjects))
                out["roc"].append({"case": case.name, "half": case.half, "truth": case.truth,
                                   "limit_mb": mb, "seed": seed, "policy": policy,
                                   "threshold": threshold, "outcome": verdict.outcome,
                                   "false": len(verdict.false)})
        for decider in DECIDERS:
            verdict = judge.judge(truth, said[decider])
            out["units"].append({"case": case.name, "half": case.half, "truth": case.truth,
                                 "rate_mb_h": case.rate, "limit_mb": mb, "seed": seed,
                                 "start_ns": recording.start,
                                 "recorded_s": (recording.end - recording.start) / 1e9,
                                 "onset_s": case.onset,
                                 "decider": decider, **flat(verdict, truth, days)})
    return out
