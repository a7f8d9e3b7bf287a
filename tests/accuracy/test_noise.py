# SPDX-License-Identifier: GPL-2.0
"""From a public trace to a recording, and to what is printed of it."""
import contextlib
import io
import tarfile
import unittest

import judge
import noise
import read
import trace

MB = 1 << 20


def flat(hours, share=0.5):
    return trace.Trace("m", [(60.0 * i, share) for i in range(hours * 60 + 1)])


class Conversion(unittest.TestCase):
    def test_machines(self):
        data = b"m_2,60,41,92,,,43.0,33.0,5\nm_2,0,41,90,,,4,3,5\nm_2,120,4,,,,4,3,5\nm_3,0,1,101,,,1,1,1\n"
        t, = trace.collect(trace.machines_2018(data), 0)
        self.assertEqual((t.name, t.samples), ("m_2", [(0.0, 0.9), (60.0, 0.92)]))
        self.assertEqual(trace.collect(trace.machines_2018(data), 1), [])

    def test_pods(self):
        text = b"value,timestamp_anon,container_ip\n0.5,100,0123456789\n0.25,157,0123456789\n"
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz") as tar:
            info = tarfile.TarInfo("x.csv")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        t, = trace.collect(trace.pods_2026(file.getvalue()), 0)
        self.assertEqual((t.name, t.samples), ("pod_01234567", [(100.0, 0.5), (157.0, 0.25)]))

    def test_a_recording_has_what_the_trace_has(self):
        one = trace.Trace("m", [(0.0, 0.5), (60.0, 0.25), (120.0, 0.75)])
        r = read.read(list(trace.series("m", trace.pages_of(one, 1024), 1024)))
        s, = r.processes()
        mb = [v // MB for v in s.columns["a"]]
        self.assertEqual((len(mb), mb[0], mb[5], mb[6], mb[11], mb[12]), (13, 512, 512, 256, 256, 768))
        self.assertTrue(all(s.full))
        # Address space that only grew would be a leak of its own.
        self.assertEqual(list(s.columns["v"]), list(s.columns["a"]))

    def test_a_leak_is_added_from_the_onset_on(self):
        pages = dict(trace.pages_of(flat(4), 1024, rate=60, onset_s=3600))
        mb = {h: pages[h * 3600] * trace.PAGE // MB for h in range(5)}
        self.assertEqual(mb, {0: 512, 1: 512, 2: 572, 3: 632, 4: 692})
        # It ends where the size does, or at a limit beyond.
        pages = dict(trace.pages_of(flat(4), 1024, rate=600, onset_s=0))
        self.assertEqual(pages[4 * 3600] * trace.PAGE // MB, 1024)
        pages = trace.pages_of(flat(4), 1024, rate=600, onset_s=0, limit_mb=2048)
        self.assertEqual(pages[-1][1] * trace.PAGE // MB, 2048)
        read.read(list(trace.series("m", pages, 1024)))


class Table(unittest.TestCase):
    def line(self, rate, false=0, outcome="TN", limit=1, suspected=None):
        return {"source": "machines-2018", "name": "m", "rate_mb_h": rate, "limit": limit, "days": 10,
                "false": false, "outcome": outcome, "open": False, "suspected_s": suspected,
                "left": None if suspected is None else 0.9}

    def test_goal(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            noise.show([self.line(0), self.line(0, 1, "FP"), self.line(0, 0, limit=4),
                        self.line(20, 0, "TP", suspected=7200), self.line(20, 0, "FN")], 1024)
        self.assertIn("1 alerts about 1 of 2 in 20 days, 50 per 1000 days", out.getvalue())
        self.assertIn("20 MB/h from 24 h on: found 1 of 2, after 2.0 h, 90 % of the runway left",
                      out.getvalue())
        self.assertIn("tight: short by 30   50.0", out.getvalue())
        self.assertIn("loose: PASS   0.0", out.getvalue())

    def test_before_the_onset_it_is_found_by_no_alert(self):
        changes = {"it": [(10 * 10**9, "ok", "suspected")]}
        v = judge.judge(judge.Truth(True, 20 * 10**9, 3600, 90 * 10**9, 20), changes)
        self.assertEqual((v.outcome, len(v.false)), ("FN", 1))


if __name__ == "__main__":
    unittest.main()
