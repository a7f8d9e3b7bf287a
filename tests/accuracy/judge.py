# SPDX-License-Identifier: GPL-2.0
"""From what a decider said of a recording, and the truth, to what counts.

A unit is one recording (case and seed) under one limit. A decider's words on it are
changes of state of subjects: processes, groups, or (Coroot) all processes of one
executable. Suspected, confirmed and runaway are alerts; watch is none.

 - A new alert is a change from no alert to an alert, 300 s or more after the last new
   alert of the same subject (the interval at which seepage itself repeats one).
 - Of a leaking unit the culprits are those that the case names, or all; the others are
   innocent (a load generator).
 - False alerts are the new alerts of a benign unit, and of a leaking one those of its
   innocents, and those of its culprits before the onset.
 - A leaking unit is detected by the first change of any culprit into or between alerts,
   upwards, at or after the onset and before the limit is reached: what is said of a
   process that would be dead helps nobody. An alert that only goes on from before the
   onset is none.
 - TP: detected leak; FN: leak that is not. FP: unit with a false alert, be it benign or
   before an onset (such a unit is TP or FN as well). TN: benign unit without.
 - precision TP / (TP + FP), recall TP / (TP + FN): of units, so that a decider which
   repeats itself is not better or worse for it. Repetition shows in false alerts per
   1000 process-days: new alerts, over the days that processes were watched in which an
   alert would have been false.
 - A FN is open if the recording ends with more of the runway left than an alert has to
   leave (80 %, runaways of 100 MB a minute 60 %): it could still come in time. It counts
   as FN all the same, and is counted apart as well.
 - A leak is judged only where it matters: if at its true rate the limit is further away
   than 180 days from the onset, it is neither TP nor FN (`beyond`).
 - The runway is the time from onset to exhaustion at the true rate; what is left of it
   at an alert is 1 - delay / runway.
"""
from dataclasses import dataclass, field

RANK = {"ok": 0, "recovered": 0, "exited": 0, "watch": 1, "suspected": 2, "confirmed": 3,
        "runaway": 4}
WATCH, SUSPECTED, CONFIRMED = 1, 2, 3
SPACING_NS = 300 * 10 ** 9
HORIZON_S = 180 * 86400
RUNAWAY_MB_H = 6000		# 100 MB a minute
NS = 1e9


@dataclass
class Truth:
    leak: bool
    onset_ns: int = 0		# on the clock of the recording
    runway_s: float = 0.0	# from the onset
    end_ns: int = 0		# of the recording
    rate: float = 0.0		# MB an hour

    def must_leave(self):
        """The share of the runway that an alert has to leave."""
        return 0.6 if self.rate >= RUNAWAY_MB_H else 0.8

    def left_at_end(self):
        return 1 - (self.end_ns - self.onset_ns) / NS / self.runway_s


@dataclass
class Verdict:
    """Of one decider on one unit; delays in seconds from the onset, None: never."""
    outcome: str		# TP FN FP TN beyond
    false: list = field(default_factory=list)	# (ns, subject, state)
    watch: float = None
    suspected: float = None
    confirmed: float = None
    subject: str = None		# that was detected
    open: bool = False
    left_suspected: float = None	# share of the runway; negative: too late
    left_confirmed: float = None


def new_alerts(changes):
    """[(ns, state)] of one subject's changes (ns, previous, state)."""
    out, last = [], None
    for ns, before, after in changes:
        if RANK[after] >= SUSPECTED > RANK[before] and (last is None or ns - last >= SPACING_NS):
            out.append((ns, after))
            last = ns
    return out


def reached(changes, rank, onset):
    """When the subject first rose to the rank (or beyond) at or after the onset."""
    for ns, before, after in changes:
        if ns >= onset and RANK[after] >= rank and RANK[after] > RANK[before]:
            return ns
    return None


def in_state(changes, rank, onset):
    """When it first was in it at or after the onset; at the onset if it already was."""
    at_onset = None
    for ns, _, after in changes:
        if ns > onset:
            break
        at_onset = after
    if at_onset and RANK[at_onset] >= rank:
        return onset
    return reached(changes, rank, onset)


def earliest(times):
    """(time, subject) of the first that is not None."""
    there = [(ns, subject) for subject, ns in times if ns is not None]
    return min(there, default=(None, None))


def judge(truth, subjects, innocent=()):
    """@subjects: {name: [(ns, previous state, state)]}, in the order of time each;
    @innocent: those of them that do not leak where something does."""
    false = sorted((ns, name, state) for name, changes in subjects.items()
                   for ns, state in new_alerts(changes)
                   if not truth.leak or name in innocent or ns < truth.onset_ns)
    if not truth.leak:
        return Verdict("FP" if false else "TN", false)
    onset = truth.onset_ns
    subjects = {name: changes for name, changes in subjects.items() if name not in innocent}
    watch, _ = earliest([(n, in_state(c, WATCH, onset)) for n, c in subjects.items()])
    suspected, who = earliest([(n, reached(c, SUSPECTED, onset)) for n, c in subjects.items()])
    confirmed, _ = earliest([(n, reached(c, CONFIRMED, onset)) for n, c in subjects.items()])
    v = Verdict("FN" if suspected is None else "TP", false, subject=who)
    for name, ns in (("watch", watch), ("suspected", suspected), ("confirmed", confirmed)):
        if ns is not None:
            setattr(v, name, (ns - onset) / NS)
    if truth.runway_s > 0:
        for name in ("suspected", "confirmed"):
            if getattr(v, name) is not None:
                setattr(v, "left_" + name, 1 - getattr(v, name) / truth.runway_s)
        if v.outcome == "TP" and v.left_suspected < 0:
            v.outcome = "FN"
        v.open = v.suspected is None and truth.left_at_end() > truth.must_leave()
    if truth.runway_s > HORIZON_S:
        v.outcome, v.open = "beyond", False
    return v
