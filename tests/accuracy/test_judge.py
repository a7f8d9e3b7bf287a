# SPDX-License-Identifier: GPL-2.0
"""What counts as what."""
import unittest

from judge import Truth, judge, new_alerts

S = 10 ** 9
HARMLESS = Truth(False)


def leak(onset=1000, runway=10000, end=5000, rate=60):
    return Truth(True, onset * S, runway, end * S, rate)


def said(*steps):
    """("watch", 5) ... -> changes"""
    out, state = [], "ok"
    for after, seconds in steps:
        out.append((seconds * S, state, after))
        state = after
    return out


class Benign(unittest.TestCase):
    def test_quiet(self):
        v = judge(HARMLESS, {"a": said(("watch", 5), ("ok", 50)), "b": []})
        self.assertEqual((v.outcome, v.false), ("TN", []))

    def test_an_alert_is_false(self):
        v = judge(HARMLESS, {"a": said(("watch", 5), ("suspected", 9), ("confirmed", 20))})
        self.assertEqual((v.outcome, v.false), ("FP", [(9 * S, "a", "suspected")]))

    def test_alerts_are_counted_by_subject_and_300_s_apart(self):
        worse = said(("suspected", 0), ("confirmed", 400), ("runaway", 800))
        self.assertEqual(new_alerts(worse), [(0, "suspected")])
        again = said(("suspected", 0), ("recovered", 10), ("suspected", 299), ("recovered", 310),
                     ("runaway", 599))
        self.assertEqual(new_alerts(again), [(0, "suspected"), (599 * S, "runaway")])
        v = judge(HARMLESS, {"a": again, "b": said(("suspected", 1))})
        self.assertEqual(len(v.false), 3)


class Leak(unittest.TestCase):
    def test_delays_and_runway(self):
        v = judge(leak(), {"a": said(("watch", 1100), ("suspected", 2000), ("confirmed", 3000))})
        self.assertEqual((v.outcome, v.false, v.watch, v.suspected, v.confirmed),
                         ("TP", [], 100, 1000, 2000))
        self.assertAlmostEqual(v.left_suspected, 0.9)
        self.assertAlmostEqual(v.left_confirmed, 0.8)
        self.assertEqual(v.subject, "a")

    def test_at_the_onset_is_after_it(self):
        v = judge(leak(), {"a": said(("suspected", 1000))})
        self.assertEqual((v.outcome, v.false, v.suspected), ("TP", [], 0))

    def test_missed(self):
        v = judge(leak(end=4000), {"a": said(("watch", 1100))})
        self.assertEqual((v.outcome, v.suspected, v.watch, v.open), ("FN", None, 100, False))

    def test_missed_so_far(self):
        v = judge(leak(end=2999), {"a": []})
        self.assertEqual((v.outcome, v.open), ("FN", True))
        self.assertFalse(judge(leak(end=3001), {"a": []}).open)
        # a runaway may take 40 %
        self.assertTrue(judge(leak(end=3001, rate=6000), {"a": []}).open)

    def test_before_the_onset_it_is_false_and_no_detection(self):
        v = judge(leak(), {"a": said(("suspected", 999))})
        self.assertEqual((v.outcome, len(v.false)), ("FN", 1))

    def test_a_false_alert_that_gets_worse_after_the_onset_detects(self):
        v = judge(leak(), {"a": said(("suspected", 500), ("confirmed", 1500))})
        self.assertEqual((v.outcome, len(v.false), v.suspected, v.confirmed), ("TP", 1, 500, 500))

    def test_stepping_down_detects_nothing(self):
        v = judge(leak(), {"a": said(("runaway", 500), ("confirmed", 1500), ("suspected", 1600))})
        self.assertEqual(v.outcome, "FN")

    def test_after_the_limit_is_too_late(self):
        v = judge(leak(runway=100), {"a": said(("suspected", 1101))})
        self.assertEqual((v.outcome, v.suspected), ("FN", 101))
        self.assertEqual(judge(leak(runway=100), {"a": said(("suspected", 1099))}).outcome, "TP")

    def test_straight_to_runaway_is_all_three(self):
        v = judge(leak(), {"a": said(("runaway", 1010))})
        self.assertEqual((v.watch, v.suspected, v.confirmed), (10, 10, 10))

    def test_in_watch_already_is_in_watch_at_once(self):
        v = judge(leak(), {"a": said(("watch", 900))})
        self.assertEqual(v.watch, 0)
        v = judge(leak(), {"a": said(("watch", 900), ("ok", 950), ("watch", 1003))})
        self.assertEqual(v.watch, 3)

    def test_any_subject_detects_and_the_first_counts(self):
        v = judge(leak(), {"a": said(("suspected", 3000)), "group": said(("suspected", 2000)), "c": []})
        self.assertEqual((v.suspected, v.subject), (1000, "group"))

    def test_an_innocent_neither_detects_nor_goes_free(self):
        v = judge(leak(), {"load": said(("suspected", 2000)), "a": []}, {"load"})
        self.assertEqual((v.outcome, len(v.false)), ("FN", 1))

    def test_what_matters_in_half_a_year_is_not_judged(self):
        v = judge(leak(runway=181 * 86400), {"a": []})
        self.assertEqual((v.outcome, v.open), ("beyond", False))
        self.assertEqual(judge(leak(runway=179 * 86400), {"a": []}).outcome, "FN")


if __name__ == "__main__":
    unittest.main()
