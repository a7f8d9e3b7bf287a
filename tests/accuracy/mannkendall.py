# SPDX-License-Identifier: GPL-2.0
"""Mann-Kendall trend test with Theil-Sen slope over the last hour of RSS.

The textbook's detector: is there a trend (one-sided, 1 %, corrected for ties), and is
its median slope at least 1 MB an hour? One point a minute, asked every minute, each
process by itself.

Theil-Sen is the median of the slopes between all pairs of points. It exceeds m exactly
when more pairs rise than fall in the series that m * t has been taken from, which is
Mann-Kendall's sum of that series: so two sums that are kept up to date point by point
answer both questions, without a sort.
"""
from bisect import bisect_left, bisect_right, insort
from collections import Counter, deque
import math
import series as grid

STEP_NS = 60 * 10 ** 9
POINTS = 60
Z = 2.326			# one-sided 1 %
SLOPE = (1 << 20) / 60		# bytes a step


class KendallSum:
    """Sum over all pairs of a window of the sign of (later - earlier)."""

    def __init__(self):
        self.window, self.sorted, self.s = deque(), [], 0

    def add(self, value):
        n = len(self.sorted)
        self.s += bisect_left(self.sorted, value) - (n - bisect_right(self.sorted, value))
        insort(self.sorted, value)
        self.window.append(value)

    def drop(self):
        value = self.window.popleft()
        del self.sorted[bisect_left(self.sorted, value)]
        n = len(self.sorted)
        self.s -= (n - bisect_right(self.sorted, value)) - bisect_left(self.sorted, value)


def significant(s, values):
    """Is the sum s of the window too large for chance?"""
    if s <= 0:
        return False
    n = len(values)
    variance = n * (n - 1) * (2 * n + 5)
    for same in Counter(values).values():
        variance -= same * (same - 1) * (2 * same + 5)
    return variance > 0 and (s - 1) / math.sqrt(variance / 18) > Z


def changes(values, start):
    """[(ns, previous state, state)] of one process."""
    trend, steep = KendallSum(), KendallSum()
    out, firing = [], False
    for i, value in enumerate(values):
        if value is None:	# not there yet, or gone: with what it had said
            if firing:
                out.append((start + i * STEP_NS, "suspected", "exited"))
                firing = False
            trend, steep = KendallSum(), KendallSum()
            continue
        if len(trend.window) == POINTS:
            trend.drop()
            steep.drop()
        trend.add(value)
        steep.add(value - SLOPE * i)
        fires = (len(trend.window) == POINTS and steep.s > 0 and
                 significant(trend.s, trend.window))
        if fires != firing:
            firing = fires
            out.append((start + i * STEP_NS, *(("ok", "suspected") if fires
                                               else ("suspected", "ok"))))
    return out


def decide(recording):
    """{number of the series: changes}; the limit is of no matter."""
    out = {}
    for s in recording.processes():
        values = grid.on_grid(s, s.rss(), STEP_NS, recording.start, recording.end)
        out.setdefault(s.number, []).extend(changes(values, recording.start))
    return out
