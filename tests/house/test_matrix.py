#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tests/README.md names every case that make test leaves to make matrix, and no other."""
import glob
import os
import re
import unittest

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class Matrix(unittest.TestCase):
    def test_readme_names_the_cases(self):
        left = []
        for path in glob.glob(os.path.join(TESTS, "cases", "*.sh")):
            with open(path, encoding="utf-8") as case:
                head = re.search(r"(?m)^# matrix: *(.*)$", case.read())
            if head:
                name = os.path.basename(path)[:-3]
                self.assertTrue(head[1], name + ": a reason is missing")
                left.append(name)
        with open(os.path.join(TESTS, "README.md"), encoding="utf-8") as readme:
            row = re.search(r"(?m)^\| cases with `# matrix: REASON` in their heads: ([^|]*) \|",
                            readme.read())
        self.assertEqual(sorted(row[1].split(", ")), sorted(left))


if __name__ == "__main__":
    unittest.main()
