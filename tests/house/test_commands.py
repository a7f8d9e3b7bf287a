#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""README's table of commands has every command and tool that `seepage help` lists, and no other."""
import os
import re
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


class Commands(unittest.TestCase):
    def test_table_has_all(self):
        listed = set(re.findall(r"(?m)^\t&cmd_(\w+),$", read("ctl/main.c"))) | {"help"}
        listed |= set(re.findall(r'#define TOOL_\w+\t"(\w+)"', read("ctl/tools.h")))
        self.assertIn("silence", listed)
        self.assertIn("watch", listed)
        text = read("README.md")
        table = text[text.index("\n## Commands\n"):text.index("\nAll are called as")]
        first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
        shown = re.findall(r"`(\w+)[^`]*`", " ".join(first))
        self.assertEqual(sorted(shown), sorted(listed))


if __name__ == "__main__":
    unittest.main()
