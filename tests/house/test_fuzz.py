#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tests/fuzz/no_procfs.c has all functions of the sources that it stands in for, and no other.

A function that is missing there is found by the linker only, after minutes of make test.
"""
import os
import re
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
REPLACED = "ctl/lib/procfs.c", "ctl/lib/clock.c", "ctl/cold/look.c"


def functions(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as source:
        return set(re.findall(r"(?m)^(?!static\b)\w[\w *]*?(\w+)\([^;{}]*\)\n\{", source.read()))


class Fuzz(unittest.TestCase):
    def test_stand_in_has_all_functions(self):
        replaced = set().union(*map(functions, REPLACED))
        self.assertIn("cold_lock", replaced)
        self.assertEqual(sorted(functions("tests/fuzz/no_procfs.c")), sorted(replaced))


if __name__ == "__main__":
    unittest.main()
