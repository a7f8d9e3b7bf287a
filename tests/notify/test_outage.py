# SPDX-License-Identifier: GPL-2.0
"""seepage notify with a receiver that is down for an hour, kills at each step of a delivery, and
reboots in between. The program is the one that is installed; shifted.c lets its clocks run faster,
so that an hour takes fifteen seconds, and gives it the boot id of another boot."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import uuid

from test_notify import HERE, INSTANCE, LONG, TOOL, Notify, Receiver, alert, text, wait_for

RATE = 240
HOUR = 3600
# a time limit of the program is that of the machine by RATE
PATIENT = ["--timeout", "600"]


class Shifted(Notify):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp()
        cls.library = os.path.join(cls.made, "shifted.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o", cls.library,
                        os.path.join(HERE, "shifted.c"), "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made)

    def setUp(self):
        super().setUp()
        self.boot = str(uuid.uuid4())

    def shifted(self, rate=1, **env):
        return {"LD_PRELOAD": self.library, "SHIFTED_RATE": str(rate),
                "SHIFTED_BOOT": self.path("boot", self.boot + "\n")} | env


class Outage(Shifted):
    def test_a_receiver_is_down_for_an_hour(self):
        """Half an hour nobody listens, half an hour the receiver says 503. The program is killed
        four times meanwhile, and goes on."""
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        s.close()
        words = ["--webhook", f"http://127.0.0.1:{port}/", *PATIENT]
        alerts = [alert(i) for i in range(1, 41)]
        begun, to, fed, kills, p = time.monotonic(), None, 0, 0, None

        def gone():
            return (time.monotonic() - begun) * RATE
        lives = [0]
        while gone() < HOUR:
            if p is None:
                p = self.pipe(*words, env=self.shifted(RATE, SHIFTED_LATER=str(int(gone()))))
                lives.append(gone())
            due = int(gone() * len(alerts) / HOUR)
            if fed < due:
                self.feed(p, alerts[fed:due])
                fed = due
            if gone() > HOUR * (kills + 1) / 5 and kills < 4:
                wait_for(lambda: len(self.notes()) == fed)
                p.kill()
                p.communicate()
                p, kills = None, kills + 1
            if to is None and gone() > HOUR / 2:
                to = Receiver(self, otherwise=503, port=port)
            time.sleep(0.05)
        self.feed(p, alerts[fed:])
        wait_for(lambda: len(self.notes()) == len(alerts))
        # While it is down it is asked after 1 s, 2 s, 4 s up to 300 s, less a half at most, and anew
        # in each of the three lives that the half hour has.
        asked = len(to.seen)
        self.assertEqual(to.taken, [])
        self.assertGreaterEqual(asked, 1800 // 300)
        self.assertLessEqual(asked, 4 * 10 + 1800 // 150)
        to.otherwise = 200
        back, held = time.monotonic(), 0
        while not to.taken:
            # what this process waits longer than it asked for, the other one does too
            begun = time.monotonic()
            time.sleep(0.05)
            held += time.monotonic() - begun - 0.05
            self.assertLess(time.monotonic() - back, LONG)
        # the longest pause, and five seconds of the machine's own for one that is busy
        self.assertLess(time.monotonic() - back - held, 300 / RATE + 5)
        wait_for(lambda: len(to.taken) >= len(alerts))
        p.stdin.close()
        p.stdin = None
        _, err = self.ended(p)
        self.assertIn(f"{len(alerts)} delivered, 0 refused, 0 dropped, 0 waiting", err)
        self.assertEqual(self.seqs(to), list(range(1, len(alerts) + 1)))
        self.assertEqual(self.notes(), [])


# What the program does to deliver two notes to two receivers; it is killed before the Nth call.
STEPS = [(calls, n) for calls, numbers in (
    ("connect", (1, 2, 3)),			# nothing was sent
    ("sendto", (1, 2, 3, 4)),
    ("recvfrom", (1, 2, 3, 5, 7)),		# the receiver has taken it, the answer was not read
    ("unlinkat", (3, 4, 5, 6, 7)),		# answered, the note is there yet
    ("renameat", (1, 2)), ("fsync", (1, 3)))	# of the state
    for n in numbers]


class Kills(Shifted):
    """Alerts of one boot that wait, kills while they are delivered, a reboot, alerts of the next
    boot with the same numbers and pids, kills again: everything comes, and what comes twice has the
    same id."""
    def killed(self, calls, when, words):
        """Runs until it is killed before call @when of @calls; did that happen?"""
        inject = f"inject={calls}:signal=KILL:when={when}"
        env = {k: v for k, v in os.environ.items() if not k.endswith("_proxy")} | self.shifted()
        preload = "LD_PRELOAD=" + env.pop("LD_PRELOAD")		# strace runs without it
        p = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-E", preload, "-e", f"trace={calls}",
                            "-e", inject, TOOL, *words, "--state-dir", self.state],
                           capture_output=True, text=True, timeout=LONG, check=False, env=env)
        return p.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)

    def has_taken(self, last):
        """The position is written behind the notes."""
        try:
            with open(os.path.join(self.state, "state.json"), encoding="utf-8") as f:
                state = json.load(f)
        except FileNotFoundError:
            return False
        return (state["instance"], state["next"]) == (last["instance"], last["seq"] + 1)

    def waits(self, alerts, words, receivers):
        """Takes alerts that no receiver takes; then the machine stops."""
        for to in receivers:
            to.otherwise = 503
        p = self.pipe(*words, env=self.shifted())
        self.feed(p, alerts)
        wait_for(self.has_taken, alerts[-1])
        p.kill()
        p.communicate()
        for to in receivers:
            to.otherwise = 200

    def test_kills_at_each_step_and_reboots(self):
        hook, pager = Receiver(self), Receiver(self)
        for to in (hook, pager):	# of connections that a kill has ended
            to.server.handle_error = lambda *_: None
        words = ["--webhook", hook.url, "--pagerduty-key", "k", "--pagerduty-url", pager.url]
        happened, sent = [], {}
        for number, (calls, when) in enumerate(STEPS):
            self.boot = str(uuid.uuid4())
            instance = INSTANCE + number
            alerts = [alert(i, instance=instance) for i in (1, 2)]
            sent.update({f"{self.boot}/{instance:x}/{i}": a for i, a in enumerate(alerts, 1)})
            self.waits(alerts, words, (hook, pager))
            if self.killed(calls, when, [*words, "--from", self.path("none", "")]):
                happened.append((calls, when))
        self.boot = str(uuid.uuid4())
        self.run_on([], *words, env=self.shifted())
        self.assertEqual(self.notes(), [])
        # a call that is not needed each time may not have come
        self.assertGreaterEqual(len(happened), len(STEPS) - 3, set(STEPS) - set(happened))
        self.assertEqual({calls for calls, _ in happened}, {calls for calls, _ in STEPS})

        came = {}
        for body in hook.taken:
            self.assertEqual(came.setdefault(body["id"], body), body)
            self.assertEqual((body["alert"]["seq"], f"{body['alert']['instance']:x}"),
                             (int(body["id"].split("/")[2]), body["id"].split("/")[1]))
        self.assertEqual(set(came), set(sent))
        times = len(hook.taken) - len(came)
        self.assertLessEqual(times, len(happened))

        # An incident of each process: its alert, and its end, which a later boot told. The key is of
        # its boot, though the pids are the same.
        acts = {}
        for body in pager.taken:
            acts.setdefault(body["dedup_key"], []).append(body["event_action"])
        self.assertEqual(len(acts), len(sent))
        for key, actions in acts.items():
            self.assertEqual(sorted(set(actions)), ["resolve", "trigger"], key)
            self.assertEqual(actions, sorted(actions, reverse=True), key)	# no trigger behind a resolve
        twice = sum(len(actions) - 2 for actions in acts.values())
        self.assertLessEqual(twice, len(happened))
        self.assertGreater(times + twice, 0)
        print(f"# {len(happened)} kills, {len(STEPS)} reboots: {len(sent)} alerts, {times} twice to the "
              f"webhook, {twice} to the pager", flush=True)


if __name__ == "__main__":
    unittest.main()
