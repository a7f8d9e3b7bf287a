# SPDX-License-Identifier: GPL-2.0
"""The help of every command and tool fits 80 columns, where it goes to a pager too."""
import os
import re
import subprocess
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAM = os.path.join(TOP, "build/ctl/seepage")


def help_of(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(os.path.exists(PROGRAM), "needs build/ctl/seepage: make ctl")
class Help(unittest.TestCase):
    def setUp(self):
        self.commands = re.findall(r"^  ([a-z]+)\b", help_of("help"), re.M)
        self.assertGreater(len(self.commands), 25)

    def test_every_help_fits_80_columns(self):
        for words in [["help"], *([command, "--help"] for command in self.commands if command != "help")]:
            for line in help_of(*words).splitlines():
                with self.subTest(words=words, line=line):
                    self.assertLessEqual(len(line), 80)

    def test_what_is_folded_goes_on_below_its_text(self):
        text = help_of("where", "--help")
        self.assertIn("\n  --last                     show the last answer that is kept, also of a\n"
                      "                             process that has ended\n", text)

    def test_no_paragraph_is_folded_again(self):
        """The paragraphs below the options have line ends of their own."""
        for command in self.commands:
            if command == "help":
                continue
            text = help_of(command, "--help")
            with self.subTest(command=command):
                self.assertNotRegex(text, r"(?m)^ {4}\S")


if __name__ == "__main__":
    unittest.main()
