# SPDX-License-Identifier: GPL-2.0
"""Coroot's memory leak rule, as published.

Source: github.com/coroot/coroot (Apache-2.0), MemoryGrowthPct in auditor/memory.go as
of pull request 872 (2026), its threshold of 10 % an hour in model/checks.go, and the
hour that the watchers look back in watchers/watchers.go. Written anew from what these
say:

 - the last hour of a container's RSS (anonymous and mapped pages), present for 80 %
   of it at least;
 - a fall below half of the value before is a restart: only the longest stretch between
   restarts counts, which must have ten points and a third of the hour;
 - a straight line through it must rise;
 - the tail (its last quarter, fifteen minutes at least) must rise with three tenths of
   that slope at least;
 - an hour's growth on that line must be 5 % of the limit, or 50 MB if none is known,
   and more than 10 % of what the line says of an hour ago.

Coroot judges containers: here all processes of one executable are one. Its step is
taken as 30 s and it is asked every minute.
"""
import series as grid

STEP_NS = 30 * 10 ** 9
POINTS = 120			# an hour
EVERY = 2			# points between two questions
THRESHOLD = 10.0		# percent an hour
FLOOR = 50 << 20


class Sums:
    """Prefix sums, so that a line through any stretch costs nothing."""

    def __init__(self, values):
        self.n, self.x, self.xx, self.y, self.xy = [0], [0], [0], [0], [0]
        for i, value in enumerate(values):
            there = value is not None
            v = value if there else 0
            self.n.append(self.n[-1] + there)
            self.x.append(self.x[-1] + (i if there else 0))
            self.xx.append(self.xx[-1] + (i * i if there else 0))
            self.y.append(self.y[-1] + v)
            self.xy.append(self.xy[-1] + i * v)

    def line(self, a, b):
        """(intercept, slope per point) of the values a .. b - 1; exact up to the end."""
        n = self.n[b] - self.n[a]
        x, y = self.x[b] - self.x[a], self.y[b] - self.y[a]
        below = n * (self.xx[b] - self.xx[a]) - x * x
        if n < 2 or not below:
            return 0.0, 0.0
        slope = (n * (self.xy[b] - self.xy[a]) - x * y) / below
        return (y - slope * x) / n, slope


def restarts(values):
    """Where the value has fallen below half of the one before."""
    found, last = [], None
    for i, value in enumerate(values):
        if value is None:
            continue
        if last and value * 2 < last:
            found.append(i)
        last = value
    return found


def longest(cuts, sums, a, b):
    """The stretch of a .. b with the most values; the earliest of equals."""
    best = (a, a)
    edges = [a] + [c for c in cuts if a < c < b] + [b]
    for first, last in zip(edges, edges[1:]):
        if sums.n[last] - sums.n[first] > sums.n[best[1]] - sums.n[best[0]]:
            best = (first, last)
    return best


def tail_of(sums, first, last, points):
    """Where the last so many values begin, or fifteen minutes if that is longer."""
    def there(i):
        return sums.n[i + 1] > sums.n[i]
    newest = last - 1
    while not there(newest):
        newest -= 1
    tail = newest
    while tail > first and (sums.n[last] - sums.n[tail] < points
                            or (newest - tail) * STEP_NS < 900 * 10 ** 9 or not there(tail)):
        tail -= 1
    return tail


def growth_percent(sums, cuts, a, b, limit):
    """Percent an hour by the points a .. b - 1; 0 if a condition does not hold."""
    if sums.n[b] - sums.n[a] < 0.8 * POINTS:
        return 0.0
    first, last = longest(cuts, sums, a, b)
    n = sums.n[last] - sums.n[first]
    if n < 10 or n < POINTS // 3:
        return 0.0
    intercept, slope = sums.line(first, last)
    if slope <= 0:
        return 0.0
    tail = tail_of(sums, first, last, n // 4)
    if sums.n[last] - sums.n[tail] < 5:
        return 0.0
    _, end_slope = sums.line(tail, last)
    if end_slope <= 0 or end_slope < 0.3 * slope:
        return 0.0
    now = intercept + slope * (b - 1)
    before = now - slope * POINTS
    if now <= 0 or now - before < (limit * 0.05 if limit else FLOOR):
        return 0.0
    return (now - before) / (before if before > 0 else now) * 100


def changes(values, limit, start):
    """[(ns, previous state, state)] of one container."""
    sums, cuts = Sums(values), restarts(values)
    out, firing = [], False
    near, k = [], 0		# the restarts of the hour before b
    for b in range(POINTS, len(values) + 1, EVERY):
        while k < len(cuts) and cuts[k] < b:
            near.append(cuts[k])
            k += 1
        while near and near[0] <= b - POINTS:
            near.pop(0)
        fires = growth_percent(sums, near, b - POINTS, b, limit) > THRESHOLD
        if fires != firing:
            firing = fires
            out.append((start + (b - 1) * STEP_NS, *(("ok", "suspected") if fires
                                                     else ("suspected", "ok"))))
    return out


def containers(recording):
    """{executable: RSS on the grid}"""
    by_exe = {}
    for s in recording.processes():
        by_exe.setdefault(s.exe, []).append(s)
    return {exe: grid.total([grid.on_grid(s, s.rss(), STEP_NS, recording.start, recording.end)
                             for s in group]) for exe, group in by_exe.items()}


def decide(recording, limits):
    """{limit: {executable: changes}}; the limit None is one that is not known."""
    rss = containers(recording)
    return {limit: {exe: changes(values, limit, recording.start)
                    for exe, values in rss.items()} for limit in limits}
