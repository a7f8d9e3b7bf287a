# SPDX-License-Identifier: GPL-2.0
"""make install-units and make uninstall: what is installed, and that nothing stays. make dkms-install
on a machine without headers, whose apt is a script here."""
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
                             [f"seepage-{name}.service" for name in
                              ("config", "envelope", "export", "notify", "record", "watch")])
            for name in found:
                with open(name, encoding="utf-8") as f:
                    unit = f.read()
                self.assertIn(f"={PREFIX}/bin/seepage ", unit)
                self.assertNotIn("/usr/bin/seepage", unit)
            with open(f"{root}{PREFIX}/lib/udev/rules.d/60-seepage.rules", encoding="utf-8") as f:
                rule = f.read()
            self.assertIn(f"'{PREFIX}/bin/seepage apply ", rule)
            self.assertNotIn("/usr/bin/seepage", rule)
            make("uninstall", root)
            self.assertEqual([os.path.join(at, name) for at, _, names in os.walk(root) for name in names], [])


class Documents(unittest.TestCase):
    def test_what_the_package_has_links_to_files_that_it_has(self):
        """tests/deb and tests/rpm look at the packages themselves."""
        with tempfile.TemporaryDirectory() as root:
            with open(f"{TOP}/debian/seepage.docs", encoding="utf-8") as f:
                files = [(name, os.path.basename(name)) for name in f.read().split()]
            with open(f"{TOP}/debian/seepage.install", encoding="utf-8") as f:
                for name, *at in map(str.split, f):
                    if at and at[0].startswith("usr/share/doc/seepage"):
                        into = os.path.relpath(at[0], "usr/share/doc/seepage")
                        files += [(os.path.relpath(found, TOP), os.path.join(into, os.path.basename(found)))
                                  for found in glob.glob(f"{TOP}/{name}")]
            for name, into in files:
                os.makedirs(os.path.dirname(f"{root}/{into}"), exist_ok=True)
                os.symlink(f"{TOP}/{name}", f"{root}/{into}")
            p = subprocess.run([f"{TOP}/tests/links", root], capture_output=True, text=True, check=False)
            self.assertEqual((p.stdout, p.stderr, p.returncode), ("", "", 0))

    def test_a_link_that_leads_nowhere_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            for text, said in (("[a](b.md#c) [d](https://e/f) [g](#h)", ""),
                               ("![a](b.md) [x](y/z.svg)", "./b.md: y/z.svg is not there\n"),
                               ("none", "no document has a link\n")):
                with open(f"{root}/b.md", "w", encoding="utf-8") as f:
                    f.write(text)
                p = subprocess.run([f"{TOP}/tests/links", root], capture_output=True, text=True, check=False)
                self.assertEqual((p.stdout, p.returncode), (said, 1 if said else 0))


class Headers(unittest.TestCase):
    """scripts/running-headers on a kernel that there is not"""
    release = "9.9.9-none"

    def run_it(self, known):
        with tempfile.TemporaryDirectory() as bin_:
            log = os.path.join(bin_, "log")
            policy = "echo '  Candidate: 9.9.9-1'" if known else "echo 'N: Unable to locate'"
            for name, does in (("uname", f"echo {self.release}"), ("apt-cache", policy),
                               ("apt-get", f'echo "$*" >>{log}'), ("sudo", 'shift; exec "$@"')):
                path = os.path.join(bin_, name)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(f"#!/bin/sh\n{does}\n")
                os.chmod(path, 0o755)
            p = subprocess.run([f"{TOP}/scripts/running-headers"], capture_output=True, text=True, check=False,
                               env={"PATH": bin_ + ":" + os.environ["PATH"]})
            asked = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8") as f:
                    asked = f.read()
            return p, asked

    def test_the_package_is_named_in_one_line(self):
        p, asked = self.run_it(known=False)
        self.assertEqual(p.returncode, 1)
        self.assertEqual(len(p.stderr.splitlines()), 1, p.stderr)
        self.assertIn(f"install linux-headers-{self.release};", p.stderr)
        self.assertNotIn("install", asked)

    def test_what_apt_has_is_installed(self):
        p, asked = self.run_it(known=True)
        self.assertRegex(asked, f"install linux-headers-{self.release}\n")
        # no files come of an apt that is a script
        self.assertEqual(p.returncode, 1)
        self.assertIn(f"linux-headers-{self.release} is installed and has none", p.stderr.splitlines()[-1])

    def test_dkms_install_asks_before_it_does_anything(self):
        made = subprocess.run(["make", "-n", "-C", TOP, "dkms-install"], capture_output=True, text=True, check=True)
        self.assertLess(made.stdout.index("scripts/running-headers"), made.stdout.index("/usr/src/seepage"))


class Deps(unittest.TestCase):
    def test_the_manual_can_be_read(self):
        made = subprocess.run(["make", "-n", "-C", TOP, "deps"], capture_output=True, text=True, check=True)
        sets = made.stdout.split("scripts/setup ")[1].splitlines()[0].split()
        p = subprocess.run([f"{TOP}/scripts/setup", "--check", *sets], capture_output=True, text=True, check=False,
                           env={"PATH": self.without_dpkg()})
        self.assertIn("man-db", p.stderr)

    def without_dpkg(self):
        """A machine on which nothing is installed"""
        bin_ = tempfile.TemporaryDirectory()
        self.addCleanup(bin_.cleanup)
        path = os.path.join(bin_.name, "dpkg-query")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(path, 0o755)
        return bin_.name + ":" + os.environ["PATH"]


if __name__ == "__main__":
    unittest.main()
