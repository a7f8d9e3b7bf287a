# SPDX-License-Identifier: GPL-2.0
"""make install-units and make uninstall: what is installed, and that nothing stays."""
import glob
import os
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PREFIX = "/opt/leaks"


def make(target, root):
    subprocess.run(["make", "-s", "-C", TOP, target, f"DESTDIR={root}", f"PREFIX={PREFIX}"],
                   check=True, stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"]})


class Install(unittest.TestCase):
    def test_units(self):
        with tempfile.TemporaryDirectory() as root:
            make("install-units", root)
            found = sorted(glob.glob(f"{root}{PREFIX}/lib/systemd/system/*"))
            self.assertEqual([os.path.basename(name) for name in found],
                             [f"seepage-{name}.service" for name in ("config", "export", "notify", "watch")])
            for name in found:
                with open(name, encoding="utf-8") as f:
                    unit = f.read()
                self.assertIn(f"={PREFIX}/bin/seepage ", unit)
                self.assertNotIn("/usr/bin/seepage", unit)
            make("uninstall", root)
            self.assertEqual([os.path.join(at, name) for at, _, names in os.walk(root) for name in names], [])


if __name__ == "__main__":
    unittest.main()
