# SPDX-License-Identifier: GPL-2.0
"""completion/seepage.bash against what the programs list themselves."""
import os
import re
import subprocess
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAM = os.path.join(TOP, "build/ctl/seepage")
COMPLETION = os.path.join(TOP, "completion/seepage.bash")
GLOBAL = {"--json", "--pretty", "--help"}


def seepage(*words, status=0):
    p = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    if p.returncode != status:
        raise AssertionError(f"seepage {' '.join(words)}: status {p.returncode}: {p.stderr}")
    return p.stdout + p.stderr


def rows(text):
    """The first words of the indented rows: commands, or options."""
    return re.findall(r"^  ([a-z]+)\b", text, re.M)


def options(command):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", seepage(command, "--help"), re.M))


def allowed(*words):
    """The words that an error message names."""
    text = seepage(*words, status=2).split("allowed ", 1)[1].split(" (seepage", 1)[0]
    return re.split(r"[\s|]+", text.strip())


def complete(*words, **env):
    """What is offered for the last of @words."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
             '_seepage 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'
    p = subprocess.run(["bash", "-c", script, "bash", COMPLETION, "seepage", *words],
                       capture_output=True, text=True, check=True, env={**os.environ, **env})
    return p.stdout.split()


@unittest.skipUnless(os.path.exists(PROGRAM), "needs build/ctl/seepage: make ctl")
class Completion(unittest.TestCase):
    def setUp(self):
        self.core, self.tools = (rows(part) for part in seepage("help").split("\nTools", 1))

    def test_commands_and_tools_are_those_of_help(self):
        self.assertEqual(len(self.tools), 18)
        self.assertEqual(complete(""), self.core + self.tools)
        self.assertEqual(complete("help", ""), self.core + self.tools)
        self.assertEqual(complete("-j", "sh"), ["show"])

    def test_every_tool_is_built(self):
        self.assertNotIn("not installed", seepage("help"))

    def test_options_are_those_of_each_help(self):
        for command in self.core + self.tools:
            if command == "help":
                continue
            offered = {w for w in complete(command, "--") if w not in GLOBAL}
            self.assertEqual(offered, options(command), command)
            self.assertLessEqual(GLOBAL, set(complete(command, "--")))

    def test_configuration_keys(self):
        keys = allowed("replay", "--set", "no_such_key=1", "f")
        self.assertIn("pmc_events", keys)
        self.assertEqual(complete("get", ""), keys)
        self.assertEqual(complete("set", ""), keys)
        self.assertEqual(complete("replay", "--set", ""), [k + "=" for k in keys])

    def test_a_value_follows_a_key(self):
        for key in ("policy", "pmc"):
            self.assertEqual(complete("set", key, ""), allowed("replay", "--set", key + "=x", "f"))
        self.assertEqual(complete("set", "alert_confidence", ""), [])
        self.assertEqual(complete("set", "alert_confidence", "80", "pol"), ["policy"])

    def test_states_and_policies(self):
        self.assertEqual(complete("ps", "--state", ""), allowed("ps", "--state", "x"))
        of_alerts = allowed("watch", "--state", "x")
        self.assertEqual(of_alerts[0], "suspected")
        for words in (("watch", "--states"), ("watch", "--state"), ("notify", "--state")):
            self.assertEqual(complete(*words, ""), of_alerts)
        self.assertEqual(complete("replay", "--policy", ""), allowed("replay", "--policy", "x", "f"))

    def test_columns(self):
        columns = allowed("ps", "-o", "x")
        self.assertIn("severity", columns)
        for words in (("ps", "-o"), ("ps", "--columns"), ("ps", "--sort"), ("top", "-o"), ("top", "--sort")):
            self.assertEqual(complete(*words, ""), columns)

    def test_words_behind_a_comma(self):
        self.assertEqual(complete("ps", "-o", "pid,co"), ["pid,comm", "pid,conf"])
        self.assertEqual(complete("ps", "--state", "ok,watch,s"), ["ok,watch,suspected"])
        self.assertEqual(complete("watch", "--state", "exited,"),
                         ["exited," + s for s in allowed("watch", "--state", "x")])
        self.assertEqual(complete("policy", "--state", "confirmed,"), [])

    def test_a_value_may_follow_an_equals_sign(self):
        self.assertEqual(complete("ps", "--state", "=", "ru"), ["runaway"])
        self.assertEqual(complete("ps", "--sort", "="), complete("ps", "--sort", ""))

    def test_no_pid_is_offered_where_a_value_is_expected(self):
        asked = 0
        for command in self.core + self.tools:
            if command == "help":
                continue
            for letter, name in re.findall(r"^  (?:(-\w), )?(--[a-z-]+) \S", seepage(command, "--help"), re.M):
                for option in filter(None, (letter, name)):
                    if option != "--pid":
                        asked += 1
                        self.assertNotIn(str(os.getpid()), complete(command, option, ""), (command, option))
        self.assertGreater(asked, 50)

    def test_users_and_names(self):
        self.assertIn("root", complete("ps", "--uid", ""))
        self.assertIn("root", complete("top", "--user", ""))
        with open("/proc/self/comm", encoding="utf-8") as f:
            name = f.read().strip()
        for words in (("ps", "--comm"), ("record", "--comm"), ("top", "--name")):
            self.assertIn(name, complete(*words, ""), words)

    def test_units(self):
        """Services and scopes of system.slice that have a cgroup; no files, mounts, slices or what is below them."""
        with tempfile.TemporaryDirectory() as root:
            at = os.path.join(root, "sys/fs/cgroup/system.slice")
            for name in ("ssh.service", "getty@tty1.service", "run-u1.scope", "dev-hugepages.mount", "x.slice/y.service"):
                os.makedirs(os.path.join(at, name))
            with open(os.path.join(at, "file.service"), "w", encoding="utf-8"):
                pass
            for command in ("silence", "policy", "top"):
                self.assertEqual(sorted(complete(command, "--unit", "", SEEPAGE_ROOT=root)),
                                 ["getty@tty1.service", "run-u1.scope", "ssh.service"], command)
                self.assertEqual(complete(command, "--unit", "ss", SEEPAGE_ROOT=root), ["ssh.service"])
            self.assertEqual(complete("top", "--name", "ssh.s", SEEPAGE_ROOT=root), [])
        # a machine without systemd, and this one
        self.assertEqual(complete("silence", "--unit", "", SEEPAGE_ROOT=root), [])
        there = "/sys/fs/cgroup/system.slice"
        names = {name for name in (os.listdir(there) if os.path.isdir(there) else ())
                 if name.endswith((".service", ".scope")) and os.path.isdir(os.path.join(there, name))}
        self.assertLessEqual(set(complete("silence", "--unit", "", SEEPAGE_ROOT="")), names)

    def test_words_of_reset(self):
        words = [w for w in allowed("reset", "x") if w.isalpha()]
        self.assertEqual(complete("reset", ""), words)

    def test_pids_and_files(self):
        self.assertIn(str(os.getpid()), complete("show", ""))
        self.assertEqual(complete("replay", ""), [])
        self.assertEqual(complete("record", "-o", ""), [])
