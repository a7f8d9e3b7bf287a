# SPDX-License-Identifier: GPL-2.0
"""Coroot's rule and Mann-Kendall, beside the same done the slow way."""
import random
import statistics
import unittest

import coroot
import mannkendall
import series

MB = 1 << 20


def fit(points):
    """(intercept, slope) by the textbook"""
    x, y = [p[0] for p in points], [p[1] for p in points]
    mx, my = statistics.fmean(x), statistics.fmean(y)
    slope = (sum((a - mx) * (b - my) for a, b in points) / sum((a - mx) ** 2 for a in x))
    return my - slope * mx, slope


def slow_growth(values, limit):
    """Percent an hour of 120 points, without prefix sums."""
    if sum(v is not None for v in values) < 96:
        return 0
    best, run, last = [], [], None
    for i, v in enumerate(values):
        if v is None:
            continue
        if last and v < last / 2:
            best, run = max(best, run, key=len), []
        run.append((i, v))
        last = v
    best = run if len(run) > len(best) else best
    if len(best) < 40:
        return 0
    a, b = fit(best)
    tail = len(best) - len(best) // 4
    while tail > 0 and (best[-1][0] - best[tail][0]) * 30 < 900:
        tail -= 1
    end = fit(best[tail:])[1]
    if b <= 0 or end <= 0 or end < 0.3 * b:
        return 0
    now, before = a + b * 119, a + b * -1
    if now <= 0 or now - before < (limit * 0.05 if limit else 50 * MB):
        return 0
    return (now - before) / (before if before > 0 else now) * 100


class Coroot(unittest.TestCase):
    def fires(self, values, limit=None):
        return [change[2] for change in coroot.changes(values, limit, 0)]

    def test_growth_beyond_ten_percent(self):
        self.assertEqual(self.fires([500 * MB + i * MB for i in range(240)]), ["suspected"])

    def test_growth_below_ten_percent(self):
        self.assertEqual(self.fires([2000 * MB + i * MB for i in range(240)]), [])

    def test_floors(self):
        slow = [100 * MB + i * MB // 3 for i in range(240)]	# 40 MB an hour
        self.assertEqual(self.fires(slow), [])
        faster = [100 * MB + i * MB // 2 for i in range(240)]
        self.assertEqual(self.fires(faster), ["suspected"])
        self.assertEqual(self.fires(faster, 1000 * MB), ["suspected"])
        self.assertEqual(self.fires(faster, 2000 * MB), [])

    def test_too_young(self):
        self.assertEqual(self.fires([None] * 100 + [i * 9 * MB for i in range(90)]), [])

    def test_what_levels_off_ends_it(self):
        values = [100 * MB + min(i, 150) * MB for i in range(300)]
        self.assertEqual(self.fires(values), ["suspected", "ok"])

    def test_as_the_slow_way(self):
        rng = random.Random(1)
        hits = 0
        for _ in range(300):
            rate, noise, base = rng.uniform(-1, 4) * MB, rng.uniform(0, 20) * MB, 300 * MB
            holes = rng.choice([0, 0.02, 0.15])
            restart = rng.choice([None, 20, 60, 100])
            values = []
            for i in range(120):
                since = i - restart if restart and i >= restart else i
                values.append(max(1, int((base if since == i else base // 3) + rate * since
                                         + rng.gauss(0, noise / 8))))
                if rng.random() < holes:
                    values[-1] = None
            limit = rng.choice([None, 500 * MB, 4000 * MB])
            fast = coroot.growth_percent(coroot.Sums(values), coroot.restarts(values), 0, 120, limit)
            slow = slow_growth(values, limit)
            self.assertAlmostEqual(fast, slow, places=6)
            hits += fast > 0
        self.assertGreater(hits, 60)


class MannKendall(unittest.TestCase):
    def test_sums_as_the_slow_way(self):
        rng = random.Random(2)
        k, window = mannkendall.KendallSum(), []
        for _ in range(500):
            value = rng.randrange(20)
            if len(window) == 30:
                k.drop()
                window.pop(0)
            k.add(value)
            window.append(value)
            slow = sum((b > a) - (b < a) for i, a in enumerate(window) for b in window[i + 1:])
            self.assertEqual(k.s, slow)

    def test_steep_is_the_median_of_the_slopes(self):
        rng = random.Random(3)
        both = set()
        for _ in range(100):
            rate = mannkendall.SLOPE * rng.uniform(0.5, 1.5)
            values = [rate * i + rng.gauss(0, 3) * mannkendall.SLOPE for i in range(60)]
            k = mannkendall.KendallSum()
            for i, v in enumerate(values):
                k.add(v - mannkendall.SLOPE * i)
            median = statistics.median((values[j] - values[i]) / (j - i)
                                       for i in range(60) for j in range(i + 1, 60))
            self.assertEqual(k.s > 0, median > mannkendall.SLOPE)
            both.add(k.s > 0)
        self.assertEqual(both, {True, False})

    def test_trend_of_noise_is_rare_and_of_a_leak_sure(self):
        rng = random.Random(4)

        def share(rate):
            hits = 0
            for _ in range(300):
                values = [rate * i + rng.gauss(0, 1) for i in range(60)]
                k = mannkendall.KendallSum()
                for v in values:
                    k.add(v)
                hits += mannkendall.significant(k.s, k.window)
            return hits / 300
        self.assertLess(share(0), 0.03)
        self.assertGreater(share(0.1), 0.95)

    def test_all_the_same_is_no_trend(self):
        k = mannkendall.KendallSum()
        for _ in range(60):
            k.add(5)
        self.assertFalse(mannkendall.significant(k.s, k.window))

    def test_ties_are_corrected_for(self):
        # S = 57 * 3; its variance 24583 without ties, 3477 with them: z is 1.08 or 2.88
        self.assertTrue(mannkendall.significant(171, [0] * 57 + [1] * 3))
        self.assertFalse(mannkendall.significant(171, list(range(60))))

    def test_changes(self):
        values = [None] * 5 + [100 * MB + i * MB for i in range(100)] + [200 * MB] * 100
        steps = mannkendall.changes(values, 7)
        self.assertEqual([s[1:] for s in steps], [("ok", "suspected"), ("suspected", "ok")])
        self.assertEqual(steps[0][0], 7 + 64 * mannkendall.STEP_NS)	# an hour of points
        gone = mannkendall.changes([i * MB for i in range(90)] + [None] * 3, 0)
        self.assertEqual([s[2] for s in gone], ["suspected", "exited"])


class Grid(unittest.TestCase):
    class Fake:
        time, gone_ns = [10, 20, 40], 55

    def test_last_value_until_it_is_gone(self):
        self.assertEqual(series.on_grid(self.Fake, [1, 2, 3], 10, 0, 70),
                         [None, 1, 2, 2, 3, 3, None, None])

    def test_total(self):
        self.assertEqual(series.total([[None, 1, 2], [None, None, 5]]), [None, 1, 7])


if __name__ == "__main__":
    unittest.main()
