# SPDX-License-Identifier: GPL-2.0
"""From a public trace to a recording, and to what is printed of it."""
import contextlib
import io
import pickle
import struct
import tarfile
import unittest

import judge
import noise
import read
import trace

MB = 1 << 20


def flat(hours, share=0.5):
    return trace.Trace("m", [(60.0 * i, share) for i in range(hours * 60 + 1)])


def pickled(value):
    """The opcodes of a value, to be put between others."""
    return pickle.dumps(value, 3)[2:-1]


def array_pickle(values, columns, kind=b"f4"):
    """What numpy writes of a two-dimensional array, put together by hand."""
    data = struct.pack(f"<{len(values)}f", *values)
    of = (b"cnumpy\ndtype\n" + pickled((kind, 0, 1)) + b"R"
          + pickled((3, b"<", None, None, None, -1, -1, 0)) + b"b")
    return (b"\x80\x03cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
            + pickled((0,)) + pickled(b"b") + b"tR("
            + pickled(1) + pickled((len(values) // columns, columns)) + of + pickled(False)
            + pickled(data) + b"tb.")


class Conversion(unittest.TestCase):
    def test_machines(self):
        data = b"m_2,60,41,92,,,43.0,33.0,5\nm_2,0,41,90,,,4,3,5\nm_2,120,4,,,,4,3,5\nm_3,0,1,101,,,1,1,1\n"
        t, = trace.collect(trace.machines_2018([("x.csv", data)]), 0)
        self.assertEqual((t.name, t.samples, t.size_mb), ("m_2", [(0.0, 0.9), (60.0, 0.92)], None))
        self.assertEqual(trace.collect(trace.machines_2018([("x.csv", data)]), 1), [])

    def test_pods(self):
        text = b"value,timestamp_anon,container_ip\n0.5,100,0123456789\n0.25,157,0123456789\n"
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz") as tar:
            info = tarfile.TarInfo("x.csv")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        t, = trace.collect(trace.pods_2026([("x.tar.gz", file.getvalue())]), 0)
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
        # What comes after the end is left out.
        self.assertEqual(trace.pages_of(flat(4), 1024, end_s=3600)[-1][0], 3600)


class Formats(unittest.TestCase):
    def test_arrays_are_read_without_numpy(self):
        def rows(*used):	# 38 metrics a minute, the seventh is what counts
            return [v for u in used for v in [9.0] * 6 + [u] + [9.0] * 31]
        files = [("machine-1_test.pkl", array_pickle(rows(1.0), 38)),
                 ("machine-1_train.pkl", array_pickle(rows(0.0, 0.5), 38))]
        t, = trace.collect(trace.machines_2019(files), 0)
        self.assertEqual((t.name, [s for s, _ in t.samples]), ("machine-1", [0.0, 60.0, 120.0]))
        for (_, got), share in zip(t.samples, (0.2, 0.5, 0.8)):
            self.assertAlmostEqual(got, share)

    def test_arrays_of_another_kind_are_refused(self):
        files = [("a_train.pkl", array_pickle([1.0] * 38, 38, b"f8")), ("a_test.pkl", b"")]
        with self.assertRaises(ValueError):
            list(trace.machines_2019(files))

    def test_a_pickle_runs_nothing(self):
        class Evil:
            def __reduce__(self):
                return print, ("it ran",)
        with self.assertRaises(pickle.UnpicklingError):
            list(trace.machines_2019([("a_train.pkl", pickle.dumps(Evil())), ("a_test.pkl", b"")]))

    def test_vms(self):
        head = "Timestamp [ms];\tCPU cores;\tMHz;\tMHz;\t%;\tcapacity [KB];\tusage [KB];\t0;\t0;\t0;\t0\n"
        line = "{};\t2;\t5;\t8;\t1.5;\t{};\t{};\t1;\t2;\t2;\t1\n"
        data = head + line.format(1000, 2097152.0, 1048576.0) + line.format(1300, 4194304.0, 1048576.0) \
            + line.format(1600, 0.0, 5.0) + line.format(1900, 4194304.0, 9999999.0)
        t, = trace.collect(trace.vms_2013([("7.csv", data.encode())]), 0)
        # The size is the most; what has no size or more than it is left out.
        self.assertEqual((t.name, t.samples, t.size_mb),
                         ("vm_7", [(1000.0, 0.25), (1300.0, 0.25)], 4096))

    def test_systems(self):
        data = ("timestamp,load-1m,sys-mem-free,sys-mem-cache,sys-mem-buffered,sys-mem-total\n"
                f"0,1.5,{100 * MB},{200 * MB},{100 * MB},{800 * MB}\n"
                f"30,1.5,,{200 * MB},{100 * MB},{800 * MB}\n"
                f"60,1.5,{300 * MB},{200 * MB},{100 * MB},{800 * MB}\n")
        t, = trace.collect(trace.systems_2023([("system-3.csv", data.encode())]), 0)
        self.assertEqual((t.name, t.samples, t.size_mb), ("system-3", [(0.0, 0.5), (60.0, 0.25)], 800))


class Truth(unittest.TestCase):
    def of(self, shares):
        return trace.Trace("m", [(60.0 * i, s) for i, s in enumerate(shares)])

    def test_what_rises_to_its_end(self):
        climb = [i / 1000 for i in range(400)]
        self.assertTrue(self.of(climb).rises())
        # From the middle on, and with garbage collections that do not lower the floor
        self.assertTrue(self.of([0.3] * 400 + [0.3 + s for s in climb]).rises())
        self.assertTrue(self.of([s + 0.1 * (i % 10) for i, s in enumerate(climb)]).rises())

    def test_what_does_not(self):
        self.assertFalse(self.of([0.5] * 400).rises())
        climb = [i / 1000 for i in range(400)]
        # It gives back at the end, or climbs and drops again and again.
        self.assertFalse(self.of(climb + [0.0] * 40).rises())
        self.assertFalse(self.of(climb * 4).rises())
        # 1 % of the size is not much.
        self.assertFalse(self.of([0.5 + i / 40000 for i in range(400)]).rises())
        self.assertFalse(self.of([0.1, 0.2]).rises())

    def test_a_half_is_of_the_name(self):
        halves = [trace.Trace(f"m_{i}", []).half() for i in range(1000)]
        self.assertEqual(halves, [trace.Trace(f"m_{i}", [(0, 1)]).half() for i in range(1000)])
        self.assertTrue(400 < halves.count("frozen") < 600)

    def test_before_the_onset_it_is_found_by_no_alert(self):
        changes = {"it": [(10 * 10**9, "ok", "suspected")]}
        v = judge.judge(judge.Truth(True, 20 * 10**9, 3600, 90 * 10**9, 20), changes)
        self.assertEqual((v.outcome, len(v.false)), ("FN", 1))

    def test_what_a_trace_has_at_the_onset(self):
        one = trace.Trace("m", [(1000.0, 0.25), (1060.0, 0.5), (1120.0, 0.75)])
        self.assertEqual(noise.used_at(one, 1024, 60), 512)
        self.assertEqual(noise.used_at(one, 1024, 119), 512)


class Table(unittest.TestCase):
    def unit(self, fill, false=0, outcome="TN", limit="tight", suspected=None, name="m", **more):
        return {"source": "machines-2018", "name": name, "half": "tuning", "rises": False,
                "limit": limit, "fill_days": fill, "rate_mb_h": 20 * bool(fill), "decider": "ladder",
                "days": 10, "false": false, "outcome": outcome, "open": False,
                "first_false_s": 7200.0 if false else None, "suspected_s": suspected,
                "left": None if suspected is None else 0.9, **more}

    def shown(self, units):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            noise.show(units, 1024)
        return " ".join(out.getvalue().split())

    def test_figures(self):
        text = self.shown([self.unit(0), self.unit(0, 1, "FP", name="bad"), self.unit(0, limit="loose"),
                           self.unit(3, 0, "TP", suspected=7200), self.unit(3, 0, "FN", open=True)])
        # One found, one accused: precision 50 %
        self.assertIn("tight tuning ladder 50.0 1 1/2 50.0 0/0 1/2 2.0 h +1 0/0", text)
        self.assertIn("tight, tuning: short by 30 50.0 (1 in 20 days)", text)
        self.assertIn("loose, tuning: PASS 0.0 (0 in 10 days)", text)
        self.assertIn("tight, frozen: no trace", text)
        self.assertIn("machines-2018 bad tight: after 2.0 h of 10.0 d", text)

    def test_what_rises_is_apart(self):
        text = self.shown([self.unit(0), self.unit(0, 3, "FP", name="up", rises=True)])
        self.assertIn("tight tuning ladder 0.0 0 0/1", text)
        self.assertIn("apart, tight: 1 of 1 that rise to their end are accused", text)
        self.assertIn("tight, tuning: PASS 0.0 (0 in 10 days)", text)

    def test_a_frozen_one_is_in_sums_only(self):
        text = self.shown([self.unit(0, 1, "FP", name="secret", half="frozen")])
        self.assertIn("tight, frozen: short by 80 100 (1 in 10 days)", text)
        self.assertNotIn("secret", text)


if __name__ == "__main__":
    unittest.main()
