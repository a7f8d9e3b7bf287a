#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The Makefile: what `make -n` prints it does not do."""
import os
import subprocess
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LONG = ["test", "quick", "matrix", "debug-kernels", "stress", "bench", "accuracy", "noise",
        "scale", "fuzz", "endian", "older", "mutants", "check", "results", "appliance"]


class DryRun(unittest.TestCase):
    def test_long_targets_are_printed_only(self):
        for target in LONG:
            with self.subTest(target):
                # A recipe that begins with + is run by make -n as well; this one says what
                # it would run and runs nothing.
                made = subprocess.run(["make", "-n", target, "SHELL=/bin/echo"], cwd=TOP,
                                      capture_output=True, text=True, timeout=60, check=True)
                printed = [line for line in made.stdout.splitlines() if "tests/" in line
                           or "scripts/appliance" in line]
                self.assertTrue(printed, made.stdout)
                for line in printed:
                    self.assertFalse(line.startswith("-c "), "run by make -n: " + line)


class NoCompiler(unittest.TestCase):
    def test_a_machine_without_a_compiler_sees_the_list_of_packages_only(self):
        made = subprocess.run(["make", "help", "CC=/nowhere/cc"], cwd=TOP,
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(made.stderr, "")


if __name__ == "__main__":
    unittest.main()
