# SPDX-License-Identifier: GPL-2.0
"""What an operator is told."""
import unittest

import judge
import read
import service

S = 10 ** 9
MB = 1 << 20


def said(*steps):
    """(state, seconds, time to exhaustion) ... -> changes, as replay.py reads them"""
    out, state = [], "ok"
    for after, seconds, tte in steps:
        out.append((seconds * S, state, after, 80, tte))
        state = after
    return out


def operator(truth, subjects, services, innocent=(), room=lambda ns: 360 * MB):
    plain = {n: [c[:3] for c in changes] for n, changes in subjects.items()}
    return service.operator(truth, judge.judge(truth, plain, innocent), subjects, services,
                            innocent, room)


class Operator(unittest.TestCase):
    leak = judge.Truth(True, 1000 * S, 36000, 50000 * S, 60)
    six = {f"w/{i}": "w" for i in range(6)} | {"load/9": "load"}

    def test_the_first_alert_counts(self):
        seen = {"w/0": said(("watch", 1100, None), ("suspected", 3000, 40000)),
                "w/1": said(("suspected", 2000, 43200), ("confirmed", 2500, 10))}
        o = operator(self.leak, seen, self.six, {"load/9"})
        # 360 MB at 60 MB an hour
        self.assertEqual((o.said_s, o.real_s), (43200, 21600))
        self.assertEqual(service.factor(o.said_s, o.real_s), 2)
        self.assertEqual(service.factor(10800, 21600), 2)
        self.assertIsNone(service.factor(None, 21600))

    def test_room_is_that_of_the_alert(self):
        seen = {"w/1": said(("suspected", 2000, 43200))}
        o = operator(self.leak, seen, self.six, room=lambda ns: {2000 * S: 60 * MB}[ns])
        self.assertEqual(o.real_s, 3600)
        self.assertIsNone(operator(self.leak, seen, self.six, room=None).real_s)

    def test_alerts_and_messages_of_one_subject(self):
        each = said(("watch", 1100, 1), ("suspected", 2000, 1), ("confirmed", 2100, 1),
                    ("runaway", 2200, 1), ("exited", 3000, 1))
        o = operator(self.leak, {f"w/{i}": each for i in range(6)}, self.six, {"load/9"})
        self.assertEqual((o.alerts, o.messages), (6, 18))
        self.assertEqual((o.tp, o.fn, o.fp, o.tn), (1, 0, 0, 1))

    def test_services_are_accused_once(self):
        alert = said(("suspected", 500, 1))
        services = {"a/1": "a", "a/2": "a", "b/3": "b", "c/4": "c"}
        o = operator(judge.Truth(False), {n: alert for n in ("a/1", "a/2", "b/3")}, services)
        self.assertEqual((o.tp, o.fn, o.fp, o.tn, o.alerts), (0, 0, 2, 1, 0))

    def test_before_the_onset_is_false_and_innocents_are(self):
        seen = {"w/0": said(("suspected", 500, 1)), "w/1": said(("suspected", 600, 1)),
                "load/9": said(("suspected", 5000, 1))}
        o = operator(self.leak, seen, self.six, {"load/9"})
        self.assertEqual((o.tp, o.fn, o.fp, o.tn), (0, 1, 2, 0))
        self.assertIsNone(o.said_s)

    def test_culprits_of_two_names_are_one_service(self):
        early = said(("suspected", 500, 1))
        o = operator(self.leak, {"a/1": early, "b/2": early}, {"a/1": "a", "b/2": "b"})
        self.assertEqual((o.fn, o.fp, o.tn), (1, 1, 0))


class Held(unittest.TestCase):
    def test_shared_memory_counts_once(self):
        r = read.read("""seepage-series 1
pass 0 full 0
proc 1 pid=1 comm=a born_ns=0 begun_ns=0 page_shift=12
1 a+1024 s+512 w+256
proc 2 pid=2 comm=b born_ns=0 begun_ns=0 page_shift=12
2 a+256 s+256 f+999
pass 10 full 0
gone 2
pass 10 full 0
""".splitlines(True))
        self.assertEqual(service.held(r, 0), (1024 + 256 + 256 + 512) * 4096)
        self.assertEqual(service.held(r, 15), (1024 + 256 + 512) * 4096)


if __name__ == "__main__":
    unittest.main()
