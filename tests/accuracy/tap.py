#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the tests of a folder, with a result a line as the cmocka programs print them.

usage: tap.py [DIR]
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True


class Tap(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.number = 0
        self.part_failed = False

    def line(self, ok, test, detail=""):
        self.number += 1
        print(f"{ok} {self.number} - {detail}{test.id()}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.bad(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.explain(subtest, err)
            self.part_failed = True

    def stopTest(self, test):
        super().stopTest(test)
        if self.part_failed:	# it is told by its parts only
            self.line("not ok", test)
        self.part_failed = False

    def explain(self, test, err):
        print(f"# {test.id()}")
        for line in self._exc_info_to_string(err, test).splitlines():
            print(f"# {line}")

    def bad(self, test, err):
        self.explain(test, err)
        self.line("not ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"# {reason}")
        self.line("ok", test, "# SKIP ")


def main():
    where = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.discover(where, "test_*.py")
    print(f"1..{suite.countTestCases()}")
    result = Tap()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
