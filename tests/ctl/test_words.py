# SPDX-License-Identifier: GPL-2.0
"""Wrong words of a command line: what the programs say of them, before they ask the module."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAM = os.path.join(TOP, "build/ctl/seepage")
TOOLS = os.path.join(TOP, "build/ctl/tools/seepage-")
PIDS = "allowed 1..2147483647"


@unittest.skipUnless(os.path.exists(PROGRAM), "needs build/ctl/seepage: make ctl")
class NoRights(unittest.TestCase):
    """What is written belongs to root; another user is told so."""

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_root_is_named(self):
        with tempfile.TemporaryDirectory() as d:
            os.chmod(d, 0o755)
            env = {**os.environ, "SEEPAGE_STATE_DIR": d, "SEEPAGE_CONF_DIR": d}
            for words, said in ((("silence", "--user", "root", "--for", "1h"), f"{d}/silences.json: Permission denied: run it as root"),
                                (("policy", "add", "--name", "a", "--ignore"),
                                 f"{d}/policies.json: Permission denied: run it as root"),
                                (("notify", "--journal", "--from", "/dev/null", "--state-dir", d + "/state"),
                                 f"--state-dir: '{d}/state': Permission denied: run it as root, or name another")):
                with self.subTest(words=words):
                    tool = os.path.join(d, "tool")
                    shutil.copy(TOOLS + words[0], tool)
                    os.chmod(tool, 0o755)
                    p = subprocess.run([tool, *words[1:]], env=env, capture_output=True, text=True, timeout=60,
                                       check=False, user=65534, group=65534, extra_groups=[])
                    self.assertEqual((p.returncode, p.stderr.split(": ", 2)[2]), (1, said + "\n"))


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

    def test_a_look_at_an_own_process_needs_no_capability(self):
        """It writes to /proc/PID/clear_refs of its own user; only handing on the result needs one."""
        for program, command in ((PROGRAM, "explain"), (TOOLS + "cold", "")):
            with self.subTest(command=command):
                p = subprocess.run([program, *command.split(), "--help"], capture_output=True, text=True, timeout=60,
                                   check=True)
                self.assertNotIn("not --cold", p.stdout)
                self.assertNotIn("needs CAP_SYS_ADMIN", " ".join(p.stdout.split()))

    def test_ignore_is_silence(self):
        for words in (("--help",), ("#1",), ("--name", "x"), ("list", "--forever")):
            with self.subTest(words=words):
                ignore, silence = (subprocess.run([PROGRAM, command, *words], capture_output=True, text=True, timeout=60,
                                                  check=False) for command in ("ignore", "silence"))
                self.assertEqual((ignore.returncode, ignore.stdout, ignore.stderr),
                                 (silence.returncode, silence.stdout, silence.stderr))
                self.assertIn("silence", ignore.stdout + ignore.stderr)

    def test_a_command_follows_two_dashes(self):
        for tool in ("record", "stat"):
            for word in ("sleep", "", "-1x"[1:]):
                with self.subTest(tool=tool, word=word):
                    self.assertEqual(self.refused(TOOLS + tool, word),
                                     f"seepage: {tool}: '{word}': allowed the PID of a process, or a COMMAND after -- "
                                     f"(seepage {tool} --help)\n")
            self.assertIn(f"PID: '0': {PIDS} (", self.refused(TOOLS + tool, "0"))

    def test_where_has_its_name(self):
        """watch --where executes it as /proc/self/exe; ps showed a process "exe"."""
        with tempfile.TemporaryDirectory() as dir_:
            name = os.path.join(dir_, "exe")
            os.symlink(TOOLS + "where", name)
            with subprocess.Popen(["sleep", "60"]) as idle:
                with subprocess.Popen([name, "--census", "--seconds", "30", str(idle.pid)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as looks:
                    end = time.monotonic() + 30
                    comm = "exe"
                    while comm in ("exe", "python3") and time.monotonic() < end and looks.poll() is None:
                        time.sleep(0.05)
                        with open(f"/proc/{looks.pid}/comm", encoding="utf-8") as f:
                            comm = f.read().strip()
                    looks.kill()
                idle.kill()
        self.assertEqual(comm, "seepage-where")

    def test_record(self):
        for name in ("", "sixteen-letters-"):
            self.assertIn(f"--comm: '{name}': allowed 1 to 15 bytes", self.refused(TOOLS + "record", "--comm", name))
        self.assertIn("--output: '': allowed the name of a file", self.refused(TOOLS + "record", "-o", ""))

    def test_watch_refuses_what_the_tool_where_would(self):
        for word in ("", "x", "bursts", "burst,", "burst,0", "burst,5000", "census,x", "census,5,5", "off,5"):
            with self.subTest(word=word):
                self.assertEqual(self.refused(PROGRAM, "watch", "--where", word),
                                 f"seepage: watch: --where: '{word}': allowed census burst, with ,1 to ,1000, or off "
                                 "(seepage watch --help)\n")

    def test_an_option_without_a_value_is_given_one(self):
        for option in ("json", "pretty", "help"):
            with self.subTest(option=option):
                for program, words in ((PROGRAM, (f"--{option}=1", "ps")), (PROGRAM, ("ps", f"--{option}=")),
                                       (TOOLS + "top", (f"--{option}=1",))):
                    self.assertIn(f": --{option} takes no value", self.refused(program, *words))
        self.assertIn("unknown option '--jso=1': allowed -j -p -h -V", self.refused(PROGRAM, "--jso=1", "ps"))

    def test_what_is_refused_is_the_word_that_was_typed(self):
        for program, *words in ((PROGRAM, "ps"), (PROGRAM, "watch"), (TOOLS + "top", "-b"), (TOOLS + "notify", "--journal")):
            with self.subTest(program=program, words=words):
                self.assertIn(": --state: 'bad': allowed ", self.refused(program, *words, "--state", "bad"))
        self.assertIn(": --policy: 'foo': allowed ", self.refused(TOOLS + "replay", "--policy", "foo", "a.series"))
        self.assertIn("unexpected word 'extra': allowed [COMMAND]", self.refused(PROGRAM, "help", "status", "extra"))

    def test_a_time_has_a_unit(self):
        for program, *words in ((PROGRAM, "watch", "--timeout"), (TOOLS + "top", "--delay"), (TOOLS + "where", "1", "--seconds"),
                                (TOOLS + "record", "--duration"), (TOOLS + "selftest", "--timeout"),
                                (TOOLS + "stat", "--interval"), (TOOLS + "cold", "1", "--window")):
            with self.subTest(program=program, words=words):
                self.assertRegex(self.refused(program, *words, "10x"),
                                 f": {words[-1]}: '10x': allowed [0-9]+\\.\\.[0-9]+ seconds \\(")
        self.assertIn("--count: '0': allowed 1..18446744073709551615 (", self.refused(PROGRAM, "watch", "--count", "0"))

    def test_a_bad_line_has_its_file(self):
        with tempfile.TemporaryDirectory() as d:
            file = os.path.join(d, "alerts")
            for text, said in (("x\n", f"seepage: notify: {file}: line 1: not JSON"),
                               ("x" * (1 << 20), f"seepage: notify: {file}: line 1: longer than ")):
                with open(file, "w", encoding="utf-8") as f:
                    f.write(text)
                p = subprocess.run([TOOLS + "notify", "--from", file, "--exec", "true", "--state-dir", d + "/state"],
                                   capture_output=True, text=True, timeout=60, check=False)
                self.assertIn(said, p.stderr)

    def test_reset_takes_a_pid_behind_history(self):
        for word in ("abc", "0", "", "1x", "2147483648"):
            with self.subTest(word=word):
                self.assertEqual(self.refused(PROGRAM, "reset", "history", word),
                                 f"seepage: reset: PID: '{word}': {PIDS} (seepage reset --help)\n")
        self.assertIn("PID: '2': given twice", self.refused(PROGRAM, "reset", "history", "1", "2"))
        for words in (("history", "1", "alerts"), ("alerts", "--pid", "1")):
            self.assertIn("PID: '1': allowed with history alone", self.refused(PROGRAM, "reset", *words))
        for words in (("abc",), ("alerts", "1"), ("history", "1", "alerts", "abc")):
            self.assertIn(f"'{words[-1]}': allowed history [PID]|alerts|", self.refused(PROGRAM, "reset", *words))

    def test_stat_compares_two_files(self):
        for words, said in ((("a",), "1 given: allowed two files, BASE CANDIDATE"), ((), "0 given"),
                            (("-", "-"), "'-': allowed for one of the two files")):
            self.assertIn(f"--compare: {said}", self.refused(TOOLS + "stat", "--compare", *words))
        self.assertIn("'--all': allowed one of PIDs, --all, a COMMAND",
                      self.refused(TOOLS + "stat", "--all", "--", "true"))


if __name__ == "__main__":
    unittest.main()
