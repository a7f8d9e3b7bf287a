# SPDX-License-Identifier: GPL-2.0
"""The systemd units: systemd takes them, and what they may do is little."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
UNITS = sorted(glob.glob(os.path.join(TOP, "debian/*.service")))
MOST = 3.0


@unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd")
class Units(unittest.TestCase):
    def analyze(self, *words):
        return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60, check=False)

    def test_exposure(self):
        self.assertEqual(len(UNITS), 6)
        for unit in UNITS:
            with self.subTest(unit=os.path.basename(unit)):
                p = self.analyze("security", "--offline=true", "--no-pager", unit)
                found = re.search(r"exposure level for .*: ([0-9.]+) ", p.stdout)
                self.assertIsNotNone(found, p.stdout + p.stderr)
                self.assertLessEqual(float(found[1]), MOST, p.stdout)

    def test_systemd_takes_them(self):
        """Under the names that they have when they are installed, with a program that is there."""
        with tempfile.TemporaryDirectory() as where:
            paths = []
            for unit in UNITS:
                with open(unit, encoding="utf-8") as f:
                    text = f.read().replace("/usr/bin/seepage ", "/bin/true ")
                paths.append(os.path.join(where, os.path.basename(unit).split(".", 1)[1]))
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(re.sub("(?m)^Documentation=.*\n", "", text))
            p = self.analyze("verify", "--man=no", *paths)
            # what else this machine has is no matter here
            said = [l for l in p.stderr.splitlines() if "seepage-" in l]
            self.assertEqual(said, [])

    def test_a_wrong_configuration_is_not_started_again_and_again(self):
        """Status 2 is what a program ends with then, and for a wrong word of its command line."""
        for unit in UNITS:
            with open(unit, encoding="utf-8") as f:
                text = f.read()
            if re.search("(?m)^Restart=", text):
                self.assertRegex(text, "(?m)^RestartPreventExitStatus=2$", unit)

    def test_a_unit_that_may_do_much_is_refused(self):
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "x.service")
            with open(path, "w", encoding="utf-8") as f:
                f.write("[Service]\nExecStart=/bin/true\n")
            p = self.analyze("security", "--offline=true", "--no-pager", path)
            self.assertGreater(float(re.search(r": ([0-9.]+) ", p.stdout.splitlines()[-1])[1]), MOST)


if __name__ == "__main__":
    unittest.main()
