# SPDX-License-Identifier: GPL-2.0
"""That seepage selftest leaves a full machine alone. Its verdicts: tests/cases/selftest.sh."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = os.path.join(TOP, "build/ctl")
FLOOR_KB = 640 << 10
PROGRAMS = ["selftest-cache", "selftest-leak"]


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return ""


@unittest.skipUnless(os.path.exists(f"{BUILD}/tools/seepage-selftest") and shutil.which("cc"),
                     "needs make ctl and a compiler")
class Selftest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.program = os.path.join(cls.dir, "selftest")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libnl-genl-3.0", "json-c"], capture_output=True,
                               text=True, check=True).stdout.split()
        wrapped = ("knl_open", "knl_resolve", "knl_call", "procfs_read", "selftest_cgroup_make")
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-iquote", f"{TOP}/ctl", f"-I{TOP}/include",
                        f"-I{TOP}/include/uapi", "-o", cls.program, f"{TOP}/tests/ctl/selftest_fixture.c",
                        f"{BUILD}/tools/main-selftest.o", f"{BUILD}/tools/selftest.o", f"{BUILD}/selftest/program.o",
                        f"{BUILD}/selftest/cgroup.o", f"{BUILD}/libseepctl.a", f"{BUILD}/libdetect.a",
                        *(f"-Wl,--wrap={name}" for name in wrapped), *flags], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def start(self, available_kb):
        return subprocess.Popen([self.program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "FIXTURE_KB": str(available_kb)})

    def programs(self, p):
        """The programs that it has started, by name"""
        pids = read(f"/proc/{p.pid}/task/{p.pid}/children").split()
        return {read(f"/proc/{pid}/comm"): pid for pid in pids}

    def test_nothing_is_started_where_memory_is_short(self):
        for available in (0, FLOOR_KB // 2, FLOOR_KB):
            with self.start(available) as p:
                out, err = p.communicate(timeout=60)
            self.assertEqual((p.returncode, out), (77, ""))
            self.assertEqual(err, "seepage: selftest: cannot be run: less than 640 MiB of memory are available\n")

    def test_its_programs_are_killed_first(self):
        with self.start(FLOOR_KB + 1) as p:
            end = time.monotonic() + 60
            scores = {}
            while list(scores) != PROGRAMS or set(scores.values()) != {"1000"}:
                self.assertLess(time.monotonic(), end, scores)
                self.assertIsNone(p.poll())
                time.sleep(0.05)
                scores = {name: read(f"/proc/{pid}/oom_score_adj") for name, pid in sorted(self.programs(p).items())}
            self.assertEqual(read(f"/proc/{p.pid}/oom_score_adj"), read("/proc/self/oom_score_adj"))
            p.send_signal(signal.SIGTERM)
            out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, out), (1, ""))
        self.assertIn("RLIMIT_DATA alone bounds the programs", err)
        self.assertRegex(err, r"stopped by a signal after \d+ s\n")


if __name__ == "__main__":
    unittest.main()
