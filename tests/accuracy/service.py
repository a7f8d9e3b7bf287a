# SPDX-License-Identifier: GPL-2.0
"""What an operator has of the verdicts: the time that an alert says, how many alerts a
service gets, and which services are accused.

 - A service is all processes of one name in a unit, with their groups. The culprits of a
   unit are one service: it has one true subject.
 - Said is the time to exhaustion in the change that detected the leak. Real is what the
   limit then leaves above all that is held, over the true rate of all that leaks: what
   every process holds of its own counts, and the shared memory of the one that has most.
 - Where the process had no limit of what it leaks (address space without RLIMIT_AS) nothing
   ends and no time is real: to say none is right and not counted, to say one is wrong.
 - Said and real differ by a factor, said / real or real / said, whichever is more than 1.
 - Of the ladder and classic everything here is of what the module tells: one alert of a
   service of which several processes grow (replay --alerts). Of peers it is of what they say.
 - Alerts are new alerts (judge.py) of the culprits. Messages are all changes of them into
   an alert, and upwards between alerts.
 - Of services as of units, by the alerts: TP, FN; FP: a false alert; precision TP / (TP + FP).
"""
from bisect import bisect_right
from dataclasses import dataclass

import judge

MB = 1 << 20


@dataclass
class Operator:
    said_s: float = None
    real_s: float = None
    alerts: int = 0		# of the culprits
    messages: int = 0
    tp: int = 0			# services
    fn: int = 0
    fp: int = 0
    tn: int = 0


def at(series, letters, ns):
    """Bytes at that time; 0 before its first sample and after its end."""
    i = bisect_right(series.time, ns) - 1
    if i < 0 or series.gone_ns is not None and series.gone_ns <= ns:
        return 0
    return sum(series.columns[x][i] for x in letters)


def held(recording, ns):
    """Bytes that all processes take from a limit."""
    processes = recording.processes()
    return (sum(at(s, "aw", ns) for s in processes)
            + max((at(s, "s", ns) for s in processes), default=0))


def real_s(room, rate):
    """Seconds until @room bytes are gone at @rate MB an hour."""
    return max(0.0, room / (rate * MB) * 3600)


def factor(said, real):
    """How far they are apart; None where there is nothing to compare."""
    if not said or not real:
        return None
    return max(said / real, real / said)


def said_of(changes, ns):
    """The time to exhaustion in the change of that moment."""
    for change in changes:
        if change[0] == ns:
            return change[4] if len(change) > 4 else None
    return None


def messages(changes):
    return sum(judge.RANK[after] >= judge.SUSPECTED and judge.RANK[after] > judge.RANK[before]
               for _, before, after in (c[:3] for c in changes))


def operator(truth, verdict, subjects, services, innocent, room):
    """An Operator; @subjects: {name: changes} with what they say, @services: {name of a
    subject: its service}, @room(ns): bytes that the limit leaves then; None: no limit that
    the process had."""
    out = Operator()
    false, names = set(), set(services.values())
    guilty = {s for name, s in services.items() if truth.leak and name not in innocent}
    for _, name, _ in verdict.false:
        false.add(services.get(name, name))
    if truth.leak:
        culprits = {n: c for n, c in subjects.items() if n not in innocent}
        plain = [[c[:3] for c in changes] for changes in culprits.values()]
        out.alerts = sum(len(judge.new_alerts(c)) for c in plain)
        out.messages = sum(map(messages, plain))
        out.tp, out.fn = int(verdict.outcome == "TP"), int(verdict.outcome == "FN")
        if verdict.outcome == "TP":
            ns = truth.onset_ns + round(verdict.suspected * judge.NS)
            first = min(culprits[verdict.subject], key=lambda c: abs(c[0] - ns))
            out.said_s = said_of(culprits[verdict.subject], first[0])
            out.real_s = real_s(room(first[0]), truth.rate) if room else None
        false = {"" if s in guilty else s for s in false}	# one service, whatever its names
    out.fp = len(false)
    out.tn = len(names - guilty - false)
    return out
