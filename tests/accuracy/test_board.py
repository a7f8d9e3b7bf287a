# SPDX-License-Identifier: GPL-2.0
"""From recordings to the board; a script that says what it is told stands for seepage."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import board
import cases
import read
import sim
import unit

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
MB = 1 << 20
DAY = 86400

# Prints NAME.said of the recording's directory for the policy ladder, nothing else. A line of it
# is a change of state and an alert; with "state" at its end no alert, with "group" an alert of
# the group and no change.
STUB = """#!/usr/bin/env python3
import json, os, sys
path, words = sys.argv[3], sys.argv[4:]
said = os.path.splitext(os.path.splitext(path)[0])[0] + ".said"
if words[words.index("--policy") + 1] == "ladder" and os.path.exists(said):
    for line in open(said):
        id, seconds, before, after, *tte = line.split()
        kind = tte.pop() if tte and tte[-1].isalpha() else "process"
        o = {"id": int(id), "comm": "x", "time_ns": int(seconds) * 10**9,
             "prev_state": before, "state": after, "confidence": 80,
             "tte_seconds": int(tte[0]) if tte else None}
        if kind != "group":
            print(json.dumps(o))
        if kind != "state" and after != "watch" and "--alerts" in words:
            print(json.dumps({"alert": {**o, "kind": kind}}))
print(json.dumps({"summary": {}}))
"""


def case(truth, half="tuning", **words):
    words = {"half": half, "truth": truth, "limits": "1024", **words}
    return "".join(f"{key}='{value}'\n" for key, value in words.items())


def recording(mb, rate=0.0, onset=0, seconds=DAY, step=600, comm="x"):
    """One process that has mb and, from the onset on, grows by rate MB an hour."""
    lines = ["seepage-series 1", "pass 0 full 0",
             f"proc 1 pid=1 comm={comm} born_ns=0 begun_ns=0 page_shift=12", f"1 a+{mb * 256}"]
    held = mb * 256
    for t in range(step, seconds + 1, step):
        want = int((mb + rate * max(0, t - onset) / 3600) * 256)
        lines += [f"pass {step * 10**9} full 0", f"1 a{want - held:+d}"]
        held = want
    return "\n".join(lines) + "\n"


# Four hours do not show what these leak.
SLOW = ("bursty", "sighup-steps", "request-diurnal", "below-gc-2h", "below-gc-8min")


class Board(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.at = pathlib.Path(self.dir.name)
        self.stub = self.at / "seepage"
        self.stub.write_text(STUB)
        self.stub.chmod(0o755)

    def add(self, name, text, series, said=""):
        (self.at / f"{name}.case").write_text(text)
        for seed, one in enumerate(series, 1):
            (self.at / f"{name}.{seed}.series").write_text(one)
        (self.at / f"{name}.said").write_text(said)

    def board(self):
        corpus = cases.find([self.at])
        results = [board.work((str(self.stub), c, seed, path, {"ladder": (70,)}))
                   for c in corpus.values() for seed, path in sorted(c.recordings.items())]
        return board.collect(results, list(corpus.values()))

    def test_figures(self):
        flat = recording(100)
        leak = recording(100, 10, 3600)
        self.add("quiet", case("benign"), [flat, flat])
        self.add("loud", case("benign"), [flat], "1 600 ok watch\n1 1200 watch suspected\n"
                                                  "1 7200 suspected recovered\n1 9000 recovered confirmed\n")
        self.add("found", case("leak", rate_mb_h=10, onset_s=3600), [leak, leak],
                 "1 4200 ok suspected\n1 12600 suspected confirmed\n")
        self.add("missed", case("leak", rate_mb_h=10, onset_s=3600), [leak], "1 3000 ok suspected\n")
        b = self.board()
        self.assertEqual(b["failed"], [])
        s = b["summary"]["tuning"]["ladder"]
        self.assertEqual([s[k] for k in ("TP", "FN", "FN_open", "FP", "TN", "beyond")],
                         [2, 1, 0, 2, 2, 0])
        self.assertAlmostEqual(s["precision"], 2 / 4)
        self.assertAlmostEqual(s["recall"], 2 / 3)
        # three days of benign ones, an hour before each of three onsets
        self.assertAlmostEqual(s["process_days"], 3 + 3 / 24)
        self.assertEqual(s["false_alerts"], 3)
        self.assertAlmostEqual(s["false_per_1000_days"], 3000 / (3 + 3 / 24))
        self.assertEqual((s["suspected_s"], s["confirmed_s"]), (600, 9000))
        # 924 MB at 10 MB an hour
        self.assertAlmostEqual(s["left_confirmed"], 1 - 9000 / (924 / 10 * 3600))
        self.assertEqual(s["recorded_days"], s["process_days"])
        self.assertEqual(s["stability"], 1)
        self.assertEqual(b["roc"]["tuning"]["ladder"], [[70, 1 / 3, 2 / 3]])
        self.assertEqual(b["points"]["tuning"]["ladder"], [1 / 3, 2 / 3])
        classic = b["summary"]["tuning"]["classic"]
        self.assertEqual((classic["TP"], classic["FN"], classic["precision"]), (0, 3, None))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            board.show(b)
        self.assertIn("loud", out.getvalue())
        self.assertRegex(out.getvalue(), r"missed +1024 MB seed 1: false: x/1 suspected 50.0 min after "
                                         r"the start, 10.0 min before the onset")
        self.assertRegex(out.getvalue(), r"missed +1024 MB seed 1: missed: leaks 10 MB/h")

    def test_first_line_says_what_made_it(self):
        self.add("a", case("benign"), [recording(100)])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            board.show(self.board())
        lines = out.getvalue().splitlines()
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
        self.assertRegex(lines[0], rf"^# {commit or 'no git checkout'}(, changed)?, \d+ [A-Z][a-z]+ 20\d\d$")
        self.assertEqual(lines[1], "1 cases, 1 recordings, only one seed: 1")

    def test_halves_stay_apart(self):
        self.add("a", case("benign", "frozen"), [recording(50)])
        self.add("b", case("benign"), [recording(50)], "1 600 ok suspected\n")
        b = self.board()
        self.assertEqual(b["summary"]["frozen"]["ladder"]["FP"], 0)
        self.assertEqual(b["summary"]["tuning"]["ladder"]["FP"], 1)

    def test_seeds_that_disagree(self):
        # The second seed is over before what is said of the first would be.
        leak = case("leak", rate_mb_h=100, limits="1024 600")
        self.add("a", leak, [recording(100, 100), recording(100, 100, seconds=6 * 3600)],
                 "1 14400 ok suspected\n")
        b = self.board()
        self.assertEqual(b["summary"]["tuning"]["ladder"]["stability"], 1)
        self.add("a", leak, [recording(100, 100), recording(400, 100)], "1 14400 ok suspected\n")
        # 200 MB left of 600: reached after two hours, before it is suspected
        self.assertEqual(self.board()["summary"]["tuning"]["ladder"]["stability"], 0.5)

    def test_seeds_are_named(self):
        self.add("a", case("benign"), [recording(100), recording(110)])
        self.assertEqual(self.board()["seeds"], [1, 2])
        self.assertEqual(board.seeds_words([1]), "only one seed: 1")
        self.assertEqual(board.seeds_words([1, 2, 3]), "3 seeds: 1 2 3")

    def test_a_bystander_is_innocent(self):
        text = recording(100, 10).replace("1 a+25600\n", "1 a+25600\nproc 2 pid=2 comm=load born_ns=0 "
                                          "begun_ns=0 page_shift=12\n2 a+1\n", 1)
        self.add("a", case("leak", rate_mb_h=10, culprit="x"), [text], "2 7200 ok suspected\n")
        u = [u for u in self.board()["units"] if u["decider"] == "ladder"][0]
        self.assertEqual((u["outcome"], u["false"]), ("FN", 1))
        self.assertAlmostEqual(u["days"], 1)

    def test_what_cannot_be_judged_is_told(self):
        self.add("over", case("benign", limits="50 200"), [recording(100)])
        self.add("short", case("leak", rate_mb_h=10, onset_s=2 * DAY), [recording(100, 10)])
        self.add("lies", case("leak", rate_mb_h=10), [recording(100, 40)])
        self.add("bad", case("benign"), ["seepage-series 1\nodd\n"])
        b = self.board()
        self.assertEqual({u["limit_mb"] for u in b["units"] if u["case"] == "over"}, {200})
        self.assertEqual({u["case"] for u in b["units"]}, {"over", "lies"})
        self.assertEqual(len(b["warnings"]), 3)
        self.assertEqual(len(b["failed"]), 1)

    def test_a_decider_that_fails_is_told(self):
        self.add("a", case("benign"), [recording(10)])
        self.stub.write_text("#!/bin/sh\necho no such command >&2\nexit 2\n")
        self.assertIn("no such command", self.board()["failed"][0])
        self.stub.write_text("#!/bin/sh\n")
        self.assertIn("no summary", self.board()["failed"][0])

    def test_goals(self):
        fast = case("leak", rate_mb_h=60000, limits="8192")
        self.add("fast", fast, [recording(100, 60000, seconds=600, step=10)],
                 "1 20 ok watch\n1 40 watch suspected\n1 180 suspected confirmed\n")
        goals = {what: (verdict, figure) for what, verdict, figure in
                 self.board()["goals"]["tuning"]}
        by = {"watch within": "PASS", "before a tenth": "PASS", "in 5 min": "-",
              "confirmed with": "PASS", "recall at": "PASS", "precision at": "PASS", "1000": "-",
              "recall by": "PASS", "precision by": "PASS", "left, services": "-",
              "left, single": "PASS", "1.2 alerts": "PASS", "real programs": "-", "loose limit": "-"}
        for part, verdict in by.items():
            what = [w for w in goals if part in w]
            self.assertEqual((len(what), goals[what[0]][0]), (1, verdict), part)
        self.add("fast", fast, [recording(100, 60000, seconds=600, step=10)],
                 "1 70 ok watch\n1 80 watch suspected\n1 210 suspected confirmed\n")
        goals = {what: verdict for what, verdict, _ in self.board()["goals"]["tuning"]}
        for part in ("watch within", "before a tenth", "confirmed with"):
            self.assertEqual([v for w, v in goals.items() if part in w], ["short by 1"], part)

    def test_a_service_of_two_workers(self):
        """Each says what it would take alone: twice what is left."""
        text = recording(100, 10).replace("1 a+25600\n", "1 a+25600\nproc 2 pid=2 comm=x born_ns=0 "
                                          "begun_ns=0 page_shift=12\n2 a+25600\n", 1)
        lines, held = [], 25600
        for line in text.splitlines():	# the second grows as the first does
            lines.append(line)
            if line.startswith("1 a+") and held and not line.endswith("+25600"):
                lines.append("2" + line[1:])
        text = "\n".join(lines) + "\n"
        left = int((1024 - 200 - 2 * 10 * 2) / 20 * 3600)	# after two hours
        self.add("a", case("leak", rate_mb_h=20, series="group", culprit="x"), [text],
                 f"1 7200 ok suspected {2 * left}\n2 7800 ok suspected {2 * left}\n"
                 "1 9000 suspected confirmed 1\n")
        b = self.board()
        u = [u for u in b["units"] if u["decider"] == "ladder"][0]
        self.assertEqual((u["outcome"], u["said_s"], u["alerts"], u["messages"]), ("TP", 2 * left, 2, 3))
        self.assertAlmostEqual(u["real_s"] / left, 1, places=2)
        s = b["summary"]["tuning"]["ladder"]
        self.assertAlmostEqual(s["tte_factor"], 2, places=1)
        self.assertEqual((s["tte_factor"], s["alerts_per_subject"]), (s["tte_worst"], 2))
        self.assertEqual((s["service_precision"], s["service_recall"]), (1, 1))
        goals = {what: verdict for what, verdict, _ in b["goals"]["tuning"]}
        for part, verdict in (("within 20 %", "short by 90.0"), ("factor of 1.5", "short by 1"),
                              ("left, services", "PASS"), ("1.2 alerts", "short by 0.8")):
            self.assertEqual([v for w, v in goals.items() if part in w], [verdict], part)

    def test_a_service_is_told_once(self):
        """Two workers and their group are suspected; the module tells of the group alone."""
        leak = recording(100, 20)
        text = leak.replace("page_shift=12\n", "page_shift=12\nproc 2 pid=2 comm=x born_ns=0 "
                            "begun_ns=0 page_shift=12\n", 1)
        self.add("a", case("leak", rate_mb_h=20, series="group", culprit="x"), [text],
                 "1 7200 ok suspected 10 state\n2 7500 ok suspected 10 state\n"
                 "1 7200 ok suspected 9000 group\n1 9000 suspected confirmed 900 group\n")
        u = [u for u in self.board()["units"] if u["decider"] == "ladder"][0]
        self.assertEqual((u["outcome"], u["tp"], u["fn"]), ("TP", 1, 0))
        self.assertEqual((u["alerts"], u["messages"], u["said_s"]), (1, 2, 9000))
        # what nobody is told of is found by nobody
        self.add("a", case("leak", rate_mb_h=20, series="group", culprit="x"), [text],
                 "1 7200 ok suspected 10 state\n")
        u = [u for u in self.board()["units"] if u["decider"] == "ladder"][0]
        self.assertEqual((u["outcome"], u["tp"], u["fn"], u["alerts"]), ("TP", 0, 1, 0))

    def test_no_limit_no_time(self):
        """To say no time of what has no limit is not counted; to say one is wrong."""
        words = {"rate_mb_h": 20, "series": "vsz", "culprit": "x"}
        text = recording(100, 20).replace(" a+", " v+").replace(" a-", " v-")
        self.add("a", case("leak", limited=0, **words), [text], "1 7200 ok suspected\n")
        self.add("b", case("leak", **words), [text], "1 7200 ok suspected 158400\n")

        def timed():
            return [v for w, v, _ in self.board()["goals"]["tuning"] if w.startswith("time said")]
        self.assertEqual(timed(), ["PASS", "PASS"])
        self.add("a", case("leak", limited=0, **words), [text], "1 7200 ok suspected 158400\n")
        self.assertEqual(timed(), ["short by 40.0", "short by 1"])
        self.add("a", case("leak", **words), [text], "1 7200 ok suspected\n")
        self.assertEqual(timed(), ["short by 40.0", "short by 1"])

    def test_real_programs_as_they_are(self):
        self.add("a", case("benign", family="redis"), [recording(100)], "1 600 ok suspected\n")
        self.add("b", case("benign", family="synth-a"), [recording(100)], "1 600 ok suspected\n")
        goals = {what: verdict for what, verdict, _ in self.board()["goals"]["tuning"]}
        self.assertEqual([v for w, v in goals.items() if "real programs" in w], ["short by 1"])

    def test_no_alert_proves_little(self):
        def verdict(days, false):
            units = [{"case": "a", "seed": 1, "limit_mb": mb, "days": days, "false": false,
                      "outcome": "TN", "truth": "benign", "suspected_s": None, "confirmed_s": None,
                      "left_suspected": None, "left_confirmed": None, "said_s": None,
                      "real_s": None, "alerts": 0, "messages": 0, "tp": 0, "fn": 0, "fp": false,
                      "tn": 1} for mb in (1, 2)]
            s = board.summary(units)
            self.assertEqual((s["process_days"], s["recorded_days"]), (2 * days, days))
            return board.false_alerts(s)[0]
        self.assertEqual([verdict(100, 0), verdict(3000, 0), verdict(3000, 1), verdict(100, 1)],
                         ["none seen", "PASS", "PASS", "short by 9.0"])

    def test_percent_is_rounded_down(self):
        self.assertEqual([board.percent(x) for x in (0.94999, 0.95, 1, 0, None)],
                         ["94.9", "95.0", "100.0", "0.0", "-"])

    def test_plot_is_drawn(self):
        self.add("a", case("leak", rate_mb_h=10), [recording(100, 10)], "1 7200 ok suspected\n")
        for words, text in (([], "tuning half"), (["--runway"], "a, 1024 MB, tuning")):
            done = subprocess.run([sys.executable, HERE / "plot.py"] + words, text=True, check=True,
                                  input=json.dumps(self.board()), stdout=subprocess.PIPE)
            self.assertIn("</svg>", done.stdout)
            self.assertIn(text, done.stdout)


class Cases(unittest.TestCase):
    def test_quotes_and_comments(self):
        c = cases.parse("n", "# x\nstart='a b=c'\nhalf=frozen\ntruth=leak\nseries=shmem\nrate_mb_h=2.5\n"
                             "onset_s=60\nlimits=\"1024 8192\"\nculprit=redis\nnote='it''s'\n")
        self.assertEqual((c.half, c.leak, c.series, c.rate, c.onset, c.limits, c.culprit),
                         ("frozen", True, "shmem", 2.5, 60, [1024, 8192], "redis"))

    def test_refused(self):
        for text in ("truth=leak\nhalf=tuning\nlimits=1\n", "truth=odd\nhalf=tuning\nlimits=1\n",
                     "truth=benign\nlimits=1\n", "truth=benign\nhalf=tuning\n",
                     "truth=benign\nhalf=tuning\nlimits=0\n",
                     "truth=benign\nhalf=tuning\nlimits=1\nlimited=2\n",
                     "truth=benign\ntruth=leak\nhalf=tuning\nlimits=1\n", "what\n"):
            with self.subTest(text=text), self.assertRaises(cases.BadCase):
                cases.parse("n", text)

    def test_found_in_both_places(self):
        with tempfile.TemporaryDirectory() as name:
            at = pathlib.Path(name)
            (at / "corpus/a").mkdir(parents=True)
            (at / "build").mkdir()
            (at / "corpus/a/case").write_text(case("benign"))
            (at / "corpus/a/series.1").write_text("")
            (at / "build/a.2.series").write_text("")
            (at / "build/b.2.series").write_text("")
            found = cases.find([at / "corpus", at / "build"])
            self.assertEqual([sorted(c.recordings) for c in found.values()], [[1, 2]])


class Simulation(unittest.TestCase):
    def test_shapes_are_what_they_say(self):
        """Strictly readable, of the rate that the case has, and benign within limits."""
        program = TOP / "build/ctl/seepage"
        with tempfile.TemporaryDirectory() as name:
            for shape in sim.SHAPES:
                path = os.path.join(name, f"{shape.name}.1.series")
                duration = sim.simulate(shape, 1, min(shape.hours, 4 + shape.onset / 3600), path)
                sim.write_case(shape, os.path.join(name, f"{shape.name}.case"), duration)
            for one in cases.find([name]).values():
                with self.subTest(shape=one.name):
                    r = read.read_file(one.recordings[1])
                    self.assertTrue(one.simulated and r.processes())
                    if one.leak and one.series != "group" and one.name not in SLOW:
                        rate = unit.measured_rate(r, one)
                        self.assertAlmostEqual(rate / one.rate, 1, delta=0.35)
                    if not one.leak:
                        self.assertLess(unit.most(r), min(one.limits))
                    if program.exists() and one.name in ("fork-cow", "runaway-400"):
                        self.check_replay(program, one.recordings[1], r)

    def check_replay(self, program, path, recording):
        """The controller's reader takes it, and sees as many samples as ours."""
        done = subprocess.run([program, "-j", "replay", path, "--limit", "1000000000"],
                              stdout=subprocess.PIPE, text=True, check=True)
        summary = json.loads(done.stdout.splitlines()[-1])["summary"]
        self.assertEqual(summary["samples"], sum(len(s.time) for s in recording.series))

    def test_a_seed_says_all(self):
        with tempfile.TemporaryDirectory() as name:
            texts = []
            for i, seed in enumerate((1, 1, 2)):
                path = os.path.join(name, str(i))
                sim.simulate(next(s for s in sim.SHAPES if s.name == "noise"), seed, 0.5, path)
                with open(path, encoding="ascii") as f:
                    texts.append([line for line in f if "SIMULATION" not in line])
            self.assertEqual(texts[0], texts[1])
            self.assertNotEqual(texts[0], texts[2])


if __name__ == "__main__":
    unittest.main()
