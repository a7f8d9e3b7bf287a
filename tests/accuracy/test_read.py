# SPDX-License-Identifier: GPL-2.0
"""The reader of recordings."""
import pathlib
import re
import unittest

import read

HEAD = ["seepage-series 1", "conf policy=ladder",
        "pass 100 full 5000",
        "proc 1 pid=7 comm=a%20b born_ns=90 begun_ns=95 begun_faults=0 page_shift=12 exe=/x"]


def parse(*lines):
    return read.read([*HEAD, *lines])


class Reading(unittest.TestCase):
    def test_differences_add_up(self):
        s = parse("1 a+10 n+3", "pass 10 full 0", "1 a-4 f+2 n+1").series[0]
        self.assertEqual(list(s.time), [100, 110])
        self.assertEqual(list(s.columns["a"]), [10 << 12, 6 << 12])
        self.assertEqual(list(s.columns["f"]), [0, 2 << 12])
        self.assertEqual(list(s.columns["n"]), [3, 4])
        self.assertEqual(s.comm, "a b")

    def test_full_pass_feeds_those_without_a_line(self):
        s = parse("1 a+10", "pass 10 full 0", "pass 10 full 0").series[0]
        self.assertEqual(list(s.time), [100, 110, 120])
        self.assertEqual(list(s.columns["a"]), [10 << 12] * 3)

    def test_short_pass_feeds_those_with_a_line_only(self):
        s = parse("1 a+10", "pass 1 short 0", "pass 1 short 0", "1 a+1").series[0]
        self.assertEqual(list(s.time), [100, 102])
        self.assertEqual(list(s.full), [1, 0])

    def test_gone_is_fed_no_more(self):
        r = parse("1 a+10", "pass 10 full 0", "gone 1", "pass 10 full 0")
        self.assertEqual(list(r.series[0].time), [100])
        self.assertEqual(r.series[0].gone_ns, 110)
        self.assertEqual(r.end, 120)

    def test_number_may_be_used_again(self):
        r = parse("1 a+10", "gone 1", "proc 1 pid=8 comm=c born_ns=100 begun_ns=100 page_shift=14",
                  "1 a+1")
        self.assertEqual([s.pid for s in r.series], [7, 8])
        self.assertEqual(list(r.series[1].columns["a"]), [1 << 14])

    def test_time_of_a_sample(self):
        self.assertEqual(list(parse("1 a+10 t5").series[0].time), [105])

    def test_begin_comes_from_a_comment(self):
        self.assertEqual(parse("1 a+1").begun(), 100)
        self.assertEqual(parse("# case=x begin_ns=80", "1 a+1").begun(), 80)

    def test_groups_are_no_processes(self):
        r = parse("1 a+1", "proc 2 pid=0 comm=g born_ns=1 begun_ns=1 page_shift=12 kind=group",
                  "2 a+1")
        self.assertEqual([s.number for s in r.processes()], [1])

    def test_what_the_page_does_not_name_is_refused(self):
        for lines in (["2 a+1"], ["1 a+1", "1 a+1"], ["1 a1"], ["1 z+1"], ["1 a+1 a+1"], ["1 a-1"],
                      ["1 a+1  f+1"], ["1 a+x"], ["what"], ["pass 1 full"], ["pass -1 full 0"],
                      ["pass 1 half 0"], ["gone 2"], ["gone 1 why=else"], ["1 S+1"], ["1 t-5"],
                      ["1 a-"], ["proc 1 pid=1 comm=x born_ns=0 begun_ns=0 page_shift=12"],
                      ["proc 2 pid=1"],
                      ["proc 2 pid=1 comm=x born_ns=0 begun_ns=0 page_shift=12 odd=1"],
                      ["proc 2 pid=1 comm=x born_ns=0 begun_ns=200 page_shift=12", "2 a+1"]):
            with self.subTest(lines=lines), self.assertRaises(read.BadSeries):
                parse(*lines)
        for lines in ([], ["seepage-series 2"]):
            with self.subTest(lines=lines), self.assertRaises(read.BadSeries):
                read.read(lines)

    def test_use_of_growth_is_read_over(self):
        parse("1 y1004:980,5007:810 a+1")
        for word in ("y5", "y5:", "y5:1,", "y+5:1"):
            with self.subTest(word=word), self.assertRaises(read.BadSeries):
                parse(f"1 {word}")

    def test_an_error_names_its_line(self):
        with self.assertRaisesRegex(read.BadSeries, "line 6"):
            parse("1 a+1", "1 a+1")


class Page(unittest.TestCase):
    def test_every_letter_of_the_page_is_read(self):
        page = pathlib.Path(__file__).parents[2] / "docs/recording.md"
        table = page.read_text(encoding="utf-8").split("| letter |")[1]
        for row in re.findall(r"^\| ((?:`[A-Za-z]` ?)+)\|[^|]*\|([^|]*)\|$", table, re.M):
            for letter in re.findall(r"`(.)`", row[0]):
                with self.subTest(letter=letter):
                    known = read.DIFFERENCE if "difference" in row[1] else read.ABSOLUTE
                    self.assertIn(letter, known)


if __name__ == "__main__":
    unittest.main()
