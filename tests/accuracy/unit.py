# SPDX-License-Identifier: GPL-2.0
"""One recording through all deciders, under all limits of its case."""
from bisect import bisect_right
import coroot
import judge
import mannkendall
import read
import replay
import service

MB = 1 << 20
HOUR_NS = 3600 * 10 ** 9

# The columns that count against the limit, by the kind of leak.
TAKES = {"vsz": "v", "pgtables": "aswg"}
POLICIES = ("ladder", "classic")
DECIDERS = ("ladder", "ladder-blind", "classic", "coroot", "coroot-nolimit", "mann-kendall")


def usage_at(series, letters, ns):
    """Bytes it took at that time; 0 before its first sample."""
    i = bisect_right(series.time, ns) - 1
    return sum(series.columns[x][i] for x in letters) if i >= 0 else 0


def is_culprit(case, series):
    return case.leak and case.culprit in ("", series.comm)


def onset_of(recording, case):
    return recording.begun() + int(case.onset * 1e9)


def leaking(recording, case):
    """(bytes at the onset, at the end) of what leaks: all culprits, or the one that
    grew most."""
    letters, onset = TAKES.get(case.series, "asw"), onset_of(recording, case)
    both = []
    for s in recording.processes():
        if not is_culprit(case, s):
            continue
        before = usage_at(s, letters, onset) if s.gone_ns is None or s.gone_ns >= onset else 0
        after = usage_at(s, letters, recording.end) if s.gone_ns is None else 0
        both.append((before, after))
    if case.series == "group":
        return tuple(map(sum, zip(*both))) if both else (0, 0)
    return max(both, key=lambda pair: pair[1] - pair[0], default=(0, 0))


def truth_of(recording, case, limit_mb):
    if not case.leak:
        return judge.Truth(False)
    headroom = limit_mb * MB - leaking(recording, case)[0]
    seconds = max(0.0, headroom / (case.rate * MB) * 3600)
    return judge.Truth(True, onset_of(recording, case), seconds,
                       recording.end, case.rate)


def most(recording):
    """The most that one process took from the limit, MB."""
    return max(max(map(sum, zip(*(s.columns[x] for x in "asw"))))
               for s in recording.processes()) / MB


def harmless_days(recording, case):
    """Process-days in which an alert is false."""
    days = 0.0
    for s in recording.processes():
        end = s.gone_ns if s.gone_ns is not None else recording.end
        if is_culprit(case, s):
            end = min(end, onset_of(recording, case))
        days += max(0, end - s.time[0]) / 86400e9
    return days


def floor_rate(series, letters, begin, end):
    """MB an hour between the floors of the first and the last quarter of a time."""
    i, j = bisect_right(series.time, begin - 1), bisect_right(series.time, end)
    if j - i < 8:
        return 0.0
    begin, end = series.time[i], series.time[j - 1]
    values = list(map(sum, zip(*(series.columns[x][i:j] for x in letters))))
    quarter = (end - begin) // 4
    first = bisect_right(series.time, begin + quarter) - i
    last = bisect_right(series.time, end - quarter - 1) - i
    rise = min(values[last:]) - min(values[:first])
    return rise / MB / (3 * quarter / HOUR_NS)


def measured_rate(recording, case):
    """MB an hour of the culprit that grew most, as the recording has it."""
    letters = TAKES.get(case.series, "asw")
    return max(floor_rate(s, letters, onset_of(recording, case), recording.end)
               for s in recording.processes() if is_culprit(case, s))


def label(comm, number):
    return f"{comm}/{number}"


def innocents(recording, case):
    """Names of the subjects that do not leak where others do: series, executables."""
    if not case.leak:
        return set()
    guilty = {s.exe for s in recording.series if is_culprit(case, s)}
    return ({name for s in recording.series if not is_culprit(case, s)
             for name in (label(s.comm, s.number), label(s.comm, "group"))}
            | {s.exe for s in recording.series} - guilty)


def by_name(subjects, names):
    """A name that is none of @names is one already, of a group."""
    return {names.get(number, number): changes for number, changes in subjects.items()}


def plain(subjects):
    """The changes that judge.py takes, without what they say."""
    return {name: [change[:3] for change in changes] for name, changes in subjects.items()}


def services_of(recording):
    """{subject: its service}: series by their comm, executables (Coroot) by theirs."""
    out = {s.exe: s.comm for s in recording.series}
    out.update({label(s.comm, s.number): s.comm for s in recording.series})
    out.update({label(s.comm, "group"): s.comm for s in recording.series})
    return out


def room_of(recording, case, limit_mb):
    """A function: bytes that the limit leaves at a time."""
    if case.series == "vsz":	# a limit of its own, RLIMIT_AS
        return lambda ns: limit_mb * MB - max(service.at(s, "v", ns) for s in recording.processes()
                                              if is_culprit(case, s))
    return lambda ns: limit_mb * MB - service.held(recording, ns)


def flat(verdict, truth, days, had):
    return {**vars(had), "outcome": verdict.outcome, "false": len(verdict.false), "days": days,
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
    if case.leak and not any(is_culprit(case, s) for s in recording.processes()):
        out["warnings"].append(f"{where}: has no process '{case.culprit}', not judged")
        return out
    if case.leak and onset_of(recording, case) >= recording.end:
        out["warnings"].append(f"{where}: ends before its onset, not judged")
        return out
    if recording.lost:
        out["warnings"].append(f"{where}: {recording.lost} messages were lost")
    if case.leak and case.series != "group":
        rate = measured_rate(recording, case)
        if not case.rate / 2 <= rate <= case.rate * 2:
            out["warnings"].append(f"{where}: is said to leak {case.rate:.4g} MB/h, and grew by "
                                   f"{rate:.4g} MB/h by its floors after the onset")
    peers = coroot.decide(recording, [mb * MB for mb in case.limits] + [None])
    names = {s.number: label(s.comm, s.number) for s in recording.series}
    trend = {names[number]: changes
             for number, changes in mannkendall.decide(recording).items()}
    innocent, days = innocents(recording, case), harmless_days(recording, case)
    services = services_of(recording)
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
        # Of address space the recording has its own limit, which no replay can change.
        limit = None if case.series == "vsz" else mb * MB
        said = {"coroot": peers[mb * MB], "coroot-nolimit": peers[None], "mann-kendall": trend}
        # What it comes to that somebody looks at whether memory is used
        subjects, summary = replay.replay(program, path, "ladder", limit, blind=True)
        said["ladder-blind"] = by_name(subjects, names)
        told = {"ladder-blind": by_name(summary["alerts"], names)}
        for policy in POLICIES:
            subjects, summary = replay.replay(program, path, policy, limit)
            said[policy] = by_name(subjects, names)
            told[policy] = by_name(summary["alerts"], names)
            for threshold in thresholds.get(policy, ()):
                subjects, _ = replay.replay(program, path, policy, limit, threshold)
                verdict = judge.judge(truth, plain(by_name(subjects, names)), innocent)
                out["roc"].append({"case": case.name, "half": case.half, "truth": case.truth,
                                   "limit_mb": mb, "seed": seed, "policy": policy,
                                   "threshold": threshold, "outcome": verdict.outcome,
                                   "false": len(verdict.false)})
        for decider in DECIDERS:
            verdict = judge.judge(truth, plain(said[decider]), innocent)
            # An operator has the alerts: of a service of which several processes grow, one.
            alerts = told.get(decider, said[decider])
            had = service.operator(truth, judge.judge(truth, plain(alerts), innocent), alerts,
                                   services, innocent,
                                   room_of(recording, case, mb) if case.limited else None)
            out["units"].append({"case": case.name, "half": case.half, "truth": case.truth,
                                 "rate_mb_h": case.rate, "limit_mb": mb, "seed": seed,
                                 "start_ns": recording.begun(),
                                 "recorded_s": (recording.end - recording.begun()) / 1e9,
                                 "onset_s": case.onset,
                                 "family": case.family, "series": case.series,
                                 "decider": decider, **flat(verdict, truth, days, had)})
    return out
