# SPDX-License-Identifier: GPL-2.0
"""Wrong words of a command line: what the programs say of them, before they ask the module."""
import os
import subprocess
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAM = os.path.join(TOP, "build/ctl/seepage")
TOOLS = os.path.join(TOP, "build/ctl/tools/seepage-")
PIDS = "allowed 1..2147483647"


@unittest.skipUnless(os.path.exists(PROGRAM), "needs build/ctl/seepage: make ctl")
class WrongWords(unittest.TestCase):
    def refused(self, program, *words):
        p = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((p.returncode, p.stdout), (2, ""), p.stderr)
        return p.stderr

    def test_a_look_is_at_a_process(self):
        """An alert has a number too, but no memory that could be looked at."""
        for word in ("foo", "0", "#1"):
            with self.subTest(word=word):
                self.assertEqual(self.refused(TOOLS + "cold", word),
                                 f"seepage: cold: PID: '{word}': {PIDS} (seepage cold --help)\n")
                self.assertEqual(self.refused(PROGRAM, "explain", "--cold", word),
                                 f"seepage: explain: PID: '{word}': {PIDS} (seepage explain --help)\n")
        self.assertIn(f"PID: 'foo': {PIDS}, or '#N' with the number of an alert",
                      self.refused(PROGRAM, "explain", "foo"))


if __name__ == "__main__":
    unittest.main()
