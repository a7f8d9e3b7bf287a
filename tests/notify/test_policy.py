# SPDX-License-Identifier: GPL-2.0
"""seepage policy, and what notify does about policies. Runs on this machine, without the module:
alerts come through --from, as `watch -j` prints them; limits are about real processes."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import unittest

import test_notify
import test_quiet
from test_notify import LONG, TOP, Receiver, alert, wait_for

APPLY = os.path.join(TOP, "build/ctl/seepage")
MB = 1 << 20
# takes memory of a size whenever it is told to, in a process of this name
# Takes memory until it has as many MiB as a line says, whatever the interpreter has itself.
TAKER = """
import ctypes, re, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
held = []
print("ready", flush=True)
for line in sys.stdin:
    with open("/proc/self/status") as f:
        kb = int(re.search("RssAnon:[^0-9]*([0-9]+)", f.read())[1])
    held.append(b"x" * ((int(line) << 20) - (kb << 10)))
    print("taken", flush=True)
"""


def own_cgroup():
    with open("/proc/self/cgroup", encoding="ascii") as f:
        lines = [line.rstrip("\n").split(":", 2) for line in f]
    return next((p for n, _, p in lines if n == "0"), None) or \
        next(p for _, c, p in lines if "memory" in c.split(","))


class Policy(test_quiet.Quiet):
    def setUp(self):
        super().setUp()
        self.conf = os.path.join(self.dir, "conf")
        self.file = os.path.join(self.conf, "policies.json")
        self.env = {"SEEPAGE_STATE_DIR": self.quiet, "SEEPAGE_CONF_DIR": self.conf}

    def policy(self, *words, status=0, text=None):
        p = subprocess.run([os.path.join(test_quiet.TOOLS, "seepage-policy"), *words], timeout=LONG,
                           env={**os.environ, **self.env}, capture_output=True, input=text,
                           text=True, check=False)
        self.assertEqual(p.returncode, status, p.stderr)
        return p.stdout, p.stderr

    def rules(self):
        return json.loads(self.policy("-j")[0])

    def notify(self, alerts, *words):
        return self.run_on(alerts, *(words or self.receiver), env=self.env)[1]

    def refused(self, text, message):
        self.assertEqual(self.policy("check", "-", status=1, text=text)[1],
                         f"seepage: policy: -: {message}\n")
        self.assertEqual(self.policy("apply", "-", status=1, text=text)[1],
                         f"seepage: policy: -: {message}\n")


class File(Policy):
    def test_add_list_replace_del(self):
        self.assertIn("there is none", self.policy()[1])
        said = self.policy("add", "--unit", "shop", "--limit", "500M", "--growth", "20M/h")
        self.assertEqual(said, ("unit shop.service: policy added\n", ""))
        self.policy("add", "--name", "cron", "--ignore", "--comment", "it <is> so")
        err = self.policy("add", "--name", "cron", "--confidence", "90", status=1)[1]
        self.assertIn("name cron: it has a policy already: allowed with --replace", err)
        self.policy("add", "--name", "cron", "--confidence", "90", "--replace")
        shop, cron = self.rules()
        self.assertEqual((shop["unit"], shop["limit_bytes"], shop["growth_bytes_per_hour"]),
                         ("shop.service", 500 * MB, 20 * MB))
        self.assertEqual((cron["name"], cron["confidence"], cron["ignore"], cron["comment"]),
                         ("cron", 90, None, None))
        self.assertEqual((shop["memory_bytes"], shop["processes"]), (0, 0))
        lines = self.policy("list")[0].splitlines()
        self.assertRegex(lines[1], r"^unit shop\.service +\+20\.0 MiB/h +500\.0 MiB +0 B +- +-")
        self.assertRegex(lines[2], r"^name cron +confidence 90 +-")
        self.policy("del", "--unit", "shop.service")
        self.assertEqual([r["name"] for r in self.rules()], ["cron"])
        err = self.policy("del", "--unit", "shop", status=1)[1]
        self.assertIn("unit shop.service: it has no policy", err)
        with open(self.file + "~", encoding="utf-8") as f:	# as the editor's copy
            self.assertEqual(len(json.load(f)["policies"]), 2)

    def test_wrong_words_name_what_is_allowed(self):
        for words, message in (
                (["add", "--ignore"], "what it is for is missing: allowed one of --unit UNIT, --name NAME, --cgroup PATH"),
                (["add", "--unit", "a", "--name", "b", "--ignore"], "--name: 'b': not allowed with --unit"),
                (["add", "--name", "b", "--cgroup", "/c", "--ignore"], "--cgroup: '/c': not allowed with --name"),
                (["add", "--unit", "a"], "add: what it says is missing: allowed --ignore, --confidence N"),
                (["add", "--name", "a", "--confidence", "101"], "'101': allowed 1..100"),
                (["add", "--name", "a", "--state", "ok"],
                 "--state: 'ok': allowed suspected, confirmed, runaway"),
                (["add", "--name", "a", "--growth", "5/h"], "--growth: '5/h': allowed 1M to 1024T"),
                (["add", "--name", "a", "--growth", "100M"],
                 "--growth: '100M': allowed 1M to 1024T, as 500M, 2G or a number of bytes, with /h behind it"),
                (["add", "--name", "a", "--growth", "h"], "--growth: 'h': allowed 1M to 1024T"),
                (["add", "--name", "a", "--limit", "x"], "--limit: 'x': allowed 1M to 1024T"),
                (["add", "--name", "a" * 16, "--ignore"], "allowed 1 to 15 bytes"),
                (["add", "--cgroup", "a", "--ignore"],
                 "--cgroup: 'a': allowed a path that begins with /"),
                (["add", "--name", "a\nb", "--ignore"], "without control characters"),
                (["add", "--unit", "shop.slice", "--ignore"],
                 "--unit: 'shop.slice': allowed a service or scope; of a slice: --cgroup /shop.slice"),
                (["add", "--unit", "a", "--unit", "b", "--ignore"], "--unit: 'b': given twice"),
                (["add", "--name", "a", "--name", "b", "--ignore"], "--name: 'b': given twice"),
                (["del", "--cgroup", "/a", "--cgroup", "/b"], "--cgroup: '/b': given twice"),
                (["del", "--unit", "a.timer"], "--unit: 'a.timer': allowed a service or scope"),
                (["drop"], "'drop': allowed list, add, del, check, apply"),
                (["del", "1"], "del: '1': allowed --unit UNIT, --name NAME, --cgroup PATH"),
                (["list", "1"], "list: '1': allowed no other word"),
                (["list", "--ignore"], "list: '--ignore': allowed without options"),
                (["check", "f", "--name", "a"], "check: '--name': allowed without options"),
                (["del", "--name", "a", "--ignore"], "del: '--ignore': allowed --unit, --name, --cgroup"),
                (["check"], "check: FILE is missing")):
            with self.subTest(words=words):
                self.assertIn(message, self.policy(*words, status=2)[1])
        self.assertFalse(os.path.exists(self.file))

    def test_a_file_is_taken_whole_or_not_at_all(self):
        good = ('{"version": 1, // why\n "policies": [{"unit": "a.service", "limit_bytes": "2G", '
                '"ignore": null}, {"cgroup": "/x", "state": "confirmed"}]}')
        self.policy("check", "-", text=good)
        self.assertFalse(os.path.exists(self.file))
        self.policy("apply", "-", text=good)
        before = self.rules()
        self.assertEqual(before[0]["limit_bytes"], 2 << 30)

        def one(policy):
            return '{"version": 1, "policies": [{"name": "b", "ignore": true}, ' + policy + "]}"
        for text, message in (
                ("", "line 1: not JSON: there is nothing in it ({\"KEY\": VALUE, ...} is expected)"),
                ('{"policies": []}', "version: 'null': allowed 1"),
                ('{"version": 2, "policies": []}', "version: '2': allowed 1"),
                ('{"version": 1}', "policies: 'null': allowed an array"),
                ('{"version": 1, "policies": [], "x": 1}',
                 "unknown key 'x': allowed version, policies"),
                ('{"version": 1, "version": 1, "policies": []}', "line 1: key 'version' twice"),
                (one("7"), "policies[1]: allowed an object, {\"KEY\": VALUE, ...}"),
                (one('{"name": "c", "limit": 5}'),
                 "policies[1]: unknown key 'limit': allowed unit, name, cgroup, ignore, confidence, "
                 "state, growth_bytes_per_hour, limit_bytes, comment"),
                (one('{"name": "c", "confidence": 0}'),
                 "policies[1]: confidence: '0': allowed 1 to 100"),
                (one('{"name": "c", "confidence": "90"}'),
                 "policies[1]: confidence: '90': allowed 1 to 100"),
                (one('{"name": "c", "limit_bytes": 1000}'),
                 "policies[1]: limit_bytes: '1000': allowed 1M to 1024T, as 500M, 2G or a number of "
                 "bytes"),
                (one('{"unit": "c", "ignore": true}'),
                 "policies[1]: unit: 'c': allowed a name that ends in .service or .scope"),
                (one('{"name": "c"}'), "policies[1]: it says nothing: allowed ignore, confidence, "
                                       "state, growth_bytes_per_hour, limit_bytes"),
                (one('{"name": "c", "ignore": false}'),
                 "policies[1]: it says nothing: allowed ignore, confidence, state, "
                 "growth_bytes_per_hour, limit_bytes"),
                (one('{"ignore": true}'), "policies[1]: allowed exactly one of unit, name, cgroup"),
                (one('{"name": "b", "confidence": 5}'),
                 "policies[1]: name b: policies[0] has it already")):
            with self.subTest(text=text):
                self.refused(text, message)
        self.assertEqual(self.rules(), before)

    def test_a_damaged_file_is_kept_by_add_and_replaced_by_apply(self):
        self.policy("add", "--name", "b", "--ignore")
        with open(self.file, "w", encoding="ascii") as f:
            f.write("{ damaged")
        self.assertIn("not JSON", self.policy("add", "--name", "c", "--ignore", status=1)[1])
        with open(self.file, encoding="ascii") as f:
            self.assertEqual(f.read(), "{ damaged")
        self.policy("apply", "-",
                    text='{"version": 1, "policies": [{"name": "d", "ignore": true}]}')
        self.assertEqual([r["name"] for r in self.rules()], ["d"])
        with open(self.file + "~", encoding="ascii") as f:
            self.assertEqual(f.read(), "{ damaged")
        os.chmod(self.file, 0o666)
        self.assertIn("allowed is a file of root", self.policy(status=1)[1])
        self.policy("apply", self.file)
        self.assertEqual([r["name"] for r in self.rules()], ["d"])

    def test_a_lock_that_any_user_may_take_stops_nobody(self):
        self.policy("add", "--name", "b", "--ignore")
        fd = os.open(self.conf, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.policy("add", "--name", "c", "--ignore")
        os.close(fd)
        with open(os.path.join(self.conf, ".seepage.lock"), "w", encoding="ascii"):
            pass		# as a writer that was killed leaves it
        self.policy("add", "--name", "d", "--ignore")
        self.assertEqual([r["name"] for r in self.rules()], ["b", "c", "d"])
        self.assertEqual(sorted(os.listdir(self.conf)), ["policies.json", "policies.json~"])

    def test_its_size_is_bounded(self):
        def many(n):
            full = {"ignore": True, "confidence": 1, "state": "runaway", "limit_bytes": MB,
                    "growth_bytes_per_hour": MB, "comment": "c"}
            return json.dumps({"version": 1, "policies": [{"name": f"n{i}", **full}
                                                          for i in range(n)]})
        self.policy("apply", "-", text=many(128))
        self.assertEqual(len(self.rules()), 128)
        self.refused(many(129), "policies: '129' of them: allowed are 128")
        err = self.policy("add", "--name", "x", "--ignore", status=1)[1]
        self.assertIn("there are 128 policies already: allowed are no more", err)
        self.refused(" " * 140000, "'131073' bytes or more: allowed are 131072")

    def test_apply_of_the_configuration_does_not_drop_policies(self):
        path = self.path("c.json", '{"version": 1, "policies": []}')
        p = subprocess.run([APPLY, "apply", "--check", path], capture_output=True, text=True,
                           check=False, timeout=LONG)
        self.assertEqual(p.returncode, 1)
        self.assertIn("unknown key 'version'", p.stderr)
        path = self.path("c.json", '{"alert_interval_s": 5, "policies": []}')
        p = subprocess.run([APPLY, "apply", "--check", path], capture_output=True, text=True,
                           check=False, timeout=LONG)
        self.assertEqual(p.returncode, 1)
        self.assertIn("unknown key 'policies'", p.stderr)

    def test_writers_that_are_killed_leave_a_whole_file(self):
        # Each is killed somewhat later than the one before, and from the beginning again once one
        # was done before: what a writer takes changes with the load of the machine.
        takes, kept, killed, delay = 10, 0, 0, 0
        for _ in range(3):
            begin = time.monotonic()
            self.policy("add", "--name", "first", "--ignore", "--replace")
            takes = min(takes, time.monotonic() - begin)
        for i in range(40):
            p = subprocess.Popen([os.path.join(test_quiet.TOOLS, "seepage-policy"), "add", "--name",
                                  f"n{i}", "--confidence", "50"], env={**os.environ, **self.env})
            time.sleep(delay)
            p.send_signal(signal.SIGKILL)
            if p.wait() == -signal.SIGKILL:
                killed += 1
                delay += takes / 40
            else:
                delay, takes = 0, takes / 2
            names = [r["name"] for r in self.rules()]	# fails where the file is damaged
            self.assertEqual(names[0], "first")
            self.assertIn(len(names) - 1 - kept, (0, 1))
            kept = len(names) - 1
        self.assertGreater(killed, 5)
        self.policy("add", "--name", "last", "--ignore")
        self.assertEqual(self.rules()[-1]["name"], "last")

    def test_writers_do_not_lose_each_others_policies(self):
        running = [subprocess.Popen([os.path.join(test_quiet.TOOLS, "seepage-policy"), "add",
                                     "--name", f"n{i}", "--ignore"], env={**os.environ, **self.env})
                   for i in range(12)]
        self.assertEqual([p.wait(LONG) for p in running], [0] * 12)
        self.assertEqual({r["name"] for r in self.rules()}, {f"n{i}" for i in range(12)})

    def test_a_file_that_others_may_write_is_not_followed(self):
        self.policy("add", "--name", "leaky", "--ignore")
        os.chmod(self.file, 0o666)
        err = self.notify([alert(1)])
        self.assertIn("allowed is a file of root that no other may write: no policy is followed",
                      err)
        self.assertEqual(self.told(), [1])


class Told(Policy):
    def test_ignored_until_the_policy_is_removed(self):
        self.policy("add", "--unit", "leaky", "--ignore", "--comment", "known")
        err = self.notify([alert(1, pid=5)])
        self.assertIn("#1: held back, silenced by the policy of unit leaky.service: known", err)
        self.assertEqual(self.told(), [])
        self.policy("del", "--unit", "leaky")
        self.notify([])
        self.assertEqual(self.told(), [1])

    def test_thresholds(self):
        for i, (words, keys, why) in enumerate((
                (["--confidence", "81"], {}, "confidence 80, 81 is wanted"),
                (["--confidence", "80"], {}, None),
                (["--state", "confirmed"], {}, "state suspected, confirmed is wanted"),
                (["--state", "confirmed"], {"state": "runaway"}, None),
                (["--growth", "501M/h"], {}, "growth +500.0 MiB/h, +501.0 MiB/h is wanted"),
                (["--growth", "500M/h"], {}, None),
                (["--growth", "1M/h"], {"growth_bytes_per_hour": None},
                 "growth not known, +1.0 MiB/h is wanted"),
                (["--confidence", "10", "--state", "runaway"], {},
                 "state suspected, runaway is wanted"))):
            with self.subTest(words=words, keys=keys):
                self.state = os.path.join(self.dir, f"state{i}")
                self.policy("add", "--cgroup", "/system.slice", *words, "--replace")
                err = self.notify([alert(i + 1, **keys)])
                self.assertEqual(self.told()[-1:] == [i + 1], why is None)
                if why:
                    self.assertIn(f"#{i + 1}: held back, by the policy of cgroup /system.slice: "
                                  f"{why}", err)

    def test_it_is_told_once_it_is_reached_and_then_goes_on(self):
        self.policy("add", "--name", "leaky", "--state", "confirmed", "--confidence", "85")
        self.notify([alert(1, pid=5), alert(2, pid=6)])
        self.notify([alert(3, pid=5, age_seconds=603, state="confirmed", confidence=84)])
        self.assertEqual(self.told(), [])
        self.notify([alert(4, pid=5, age_seconds=604, state="runaway", confidence=90),
                     alert(5, pid=5, age_seconds=605, state="runaway", confidence=70),
                     alert(6, pid=6, age_seconds=606, state="exited")])
        self.assertEqual(self.told(), [4, 5])	# the end of what nobody was told of is not told
        self.notify([alert(7, pid=5, age_seconds=607, state="exited")])
        self.assertEqual(self.told(), [4, 5, 7])

    def test_others_are_told(self):
        self.policy("add", "--name", "leaky", "--state", "runaway")
        self.notify([alert(1, comm="other"), alert(2)])
        self.assertEqual(self.told(), [1])

    def test_a_weaker_policy_releases(self):
        self.policy("add", "--name", "leaky", "--confidence", "95")
        p = self.pipe(*self.receiver, env=self.env)
        self.feed(p, [alert(1)])
        self.assertIn("confidence 80, 95 is wanted", p.stderr.readline())
        self.policy("add", "--name", "leaky", "--confidence", "75", "--replace")
        wait_for(self.told)
        self.assertEqual(self.told(), [1])
        p.stdin.close()

    def test_what_the_options_do_not_ask_for_is_held_on(self):
        self.policy("add", "--name", "leaky", "--confidence", "95")
        self.notify([alert(1)])
        self.policy("del", "--name", "leaky")
        self.notify([], *self.receiver, "--min-confidence", "90")
        self.assertEqual(self.told(), [])
        # nor is it lost when one follows that they do not ask for either
        self.notify([alert(2, pid=1001, age_seconds=602, state="confirmed")], *self.receiver,
                    "--min-confidence", "90")
        self.assertEqual(self.told(), [])
        self.notify([])
        self.assertEqual(self.told(), [2])


class Limit(Policy):
    def taker(self, name):
        p = subprocess.Popen([sys.executable, "-c", TAKER, name], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)

        def end():
            p.kill()
            p.wait()
            p.stdin.close()
            p.stdout.close()
        self.addCleanup(end)
        self.assertEqual(p.stdout.readline(), "ready\n")
        return p

    def take(self, p, mb):
        p.stdin.write(f"{mb}\n")
        p.stdin.flush()
        self.assertEqual(p.stdout.readline(), "taken\n")

    def events(self):
        try:
            with open(self.got, encoding="utf-8") as f:
                content = f.read()
        except FileNotFoundError:
            return []
        decoder, out = json.JSONDecoder(), []
        while content.strip():
            o, n = decoder.raw_decode(content.lstrip())
            content = content.lstrip()[n:]
            out.append(o)
        return out

    def states(self):
        return [e["state"] for e in self.events()]

    def wait_states(self, *states):
        wait_for(lambda: self.states() == list(states))

    def test_near_exceeded_left(self):
        name = f"lim{os.getpid()}"
        leak, other = self.taker(name), self.taker("another")
        self.take(other, 200)
        self.policy("add", "--name", name, "--limit", "100M")
        to = Receiver(self)
        words = (*self.receiver, "--alertmanager", to.url, "--webhook", to.url)
        p = self.pipe(*words, env=self.env)
        self.take(leak, 95)
        self.wait_states("limit_near")
        near = self.events()[0]
        self.assertEqual((near["subject"], near["pid"], near["comm"], near["limit_bytes"],
                          near["prev_state"], near["processes"]),
                         ("limit", leak.pid, name, 100 * MB, None, 1))
        self.assertTrue(90 * MB <= near["memory_bytes"] < 100 * MB, near)
        self.assertRegex(near["text"], rf"^limit_near: pid {leak.pid} \({name}\) uses 9\d\.\d MiB of "
                                       r"its limit of 100\.0 MiB")
        self.take(leak, 125)
        self.wait_states("limit_near", "limit_exceeded")
        self.assertGreater(self.rules()[0]["memory_bytes"], 120 * MB)
        self.assertIn("exceeded", self.policy()[0])
        # a new run tells nothing twice, and the end is told also if the process is gone
        p.send_signal(signal.SIGTERM)
        p.wait(LONG)
        p = self.pipe(*words, env=self.env)
        time.sleep(1)
        self.assertEqual(self.states(), ["limit_near", "limit_exceeded"])
        leak.kill()
        leak.wait()
        self.wait_states("limit_near", "limit_exceeded", "limit_ended")
        # what goes on is repeated to an Alertmanager
        wait_for(lambda: any("endsAt" in b[-1] for b in to.taken if isinstance(b, list)))
        # The first run may have ended before it had kept that the receiver took one: that one comes
        # again, with the same id.
        def told():
            return {b["id"]: b["type"] for b in to.taken if isinstance(b, dict)}
        wait_for(lambda: len(told()) == 3)
        self.assertEqual(list(told().values()), ["memory_limit_near", "memory_limit_exceeded", "memory_limit_ended"])
        alerts = [b[-1] for b in to.taken if isinstance(b, list)]
        self.assertEqual({a["labels"]["alertname"] for a in alerts}, {"SeepageLimit"})
        # of a worse severity an Alertmanager is told by another alert
        self.assertEqual({a["labels"].pop("severity") for a in alerts}, {"warning", "critical"})
        self.assertEqual(len({json.dumps(a["labels"]) for a in alerts}), 1)
        self.assertEqual({a["startsAt"] for a in alerts}, {alerts[0]["startsAt"]})
        self.assertEqual(alerts[0]["annotations"]["command"], "seepage policy")

    def test_a_kill_between_note_and_state_tells_of_a_limit_once(self):
        name = f"lim{os.getpid()}"
        leak = self.taker(name)
        self.take(leak, 120)
        self.policy("add", "--name", name, "--limit", "100M")
        pager = Receiver(self, otherwise=202)
        words = (*self.receiver, "--pagerduty-key", "k", "--pagerduty-url", pager.url)
        # the third file that is put in its place is not: the state, after the notes
        p = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                            "inject=renameat,renameat2:signal=KILL:when=3", test_notify.TOOL, "--from", "-",
                            "--state-dir", self.state, *words], env={**os.environ, **self.env},
                           stdin=subprocess.PIPE, capture_output=True, timeout=LONG, check=False)
        self.assertNotEqual(p.returncode, 0)
        self.assertEqual(len(self.notes()), 2)
        self.pipe(*words, env=self.env)
        self.wait_states("limit_exceeded")
        self.policy("del", "--name", name)
        self.wait_states("limit_exceeded", "limit_ended")
        wait_for(lambda: len(pager.seen) == 2)
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger", "resolve"])
        self.assertEqual(len({b["dedup_key"] for _, b in pager.seen}), 1)
        self.assertNotEqual(*[e["id"] for e in self.events()])

    def test_a_silence_holds_a_limit_back_and_a_removed_policy_ends_it(self):
        name = f"lim{os.getpid()}"
        self.take(self.taker(name), 120)
        self.policy("add", "--name", name, "--limit", "100M")
        self.silence("--name", name, "--forever")
        p = self.pipe(*self.receiver, env=self.env)
        self.assertIn("held back, silenced by silence 1", p.stderr.readline())
        self.silence("--remove", "all")
        self.wait_states("limit_exceeded")
        self.policy("del", "--name", name)
        self.wait_states("limit_exceeded", "limit_ended")

    def test_a_silence_of_the_cgroup_does_not_hold_back_the_limit_of_a_name(self):
        """A user could keep a larger process of that name there."""
        name = f"lim{os.getpid()}"
        leak = self.taker(name)
        self.take(leak, 120)
        self.policy("add", "--name", name, "--limit", "100M")
        self.silence("--cgroup", own_cgroup(), "--forever")
        self.pipe(*self.receiver, env=self.env)
        self.wait_states("limit_exceeded")
        self.assertEqual(self.events()[0]["cgroup"], own_cgroup())

    def test_one_that_is_not_wanted_writes_nothing(self):
        name = f"lim{os.getpid()}"
        leak = self.taker(name)
        self.take(leak, 95)
        self.policy("add", "--name", name, "--limit", "100M")
        self.pipe(*self.receiver, "--min-severity", "5", env=self.env)
        state = os.path.join(self.state, "state.json")
        time.sleep(12)		# two looks
        self.assertFalse(os.path.exists(state))
        self.take(leak, 120)
        self.wait_states("limit_exceeded")

    def test_limits_that_are_exceeded_at_once_are_all_told(self):
        for i in range(3):
            self.take(self.taker(f"lim{i}{os.getpid()}"), 120)
            self.policy("add", "--name", f"lim{i}{os.getpid()}", "--limit", "100M",
                        *(["--ignore"] if i == 2 else []))
        self.pipe(*self.receiver, env=self.env)
        self.wait_states(*["limit_exceeded"] * 3)
        self.assertEqual(len({e["pid"] for e in self.events()}), 3)

    def test_each_of_two_limits_is_one_of_its_own(self):
        """Of processes of a name the largest one counts: more of them are not told."""
        name = f"lim{os.getpid()}"
        for mb in (120, 130, 125):
            self.take(self.taker(name), mb)
        self.policy("add", "--name", name, "--limit", "2G")
        self.policy("add", "--name", name + "*", "--limit", "100M")
        self.pipe(*self.receiver, env=self.env)
        self.wait_states("limit_exceeded")
        self.assertGreaterEqual(self.events()[0]["memory_bytes"], 130 * MB)
        time.sleep(22)		# two more looks
        self.assertEqual(self.states(), ["limit_exceeded"])
        self.assertEqual(self.events()[0]["limit_of"], f"name {name}*")

    def test_a_cgroup_is_a_sum(self):
        path = own_cgroup()
        for _ in range(2):
            self.take(self.taker("part"), 75)
        self.policy("add", "--cgroup", path, "--limit", "100M")
        self.assertGreater(self.rules()[0]["memory_bytes"], 140 * MB)
        self.pipe(*self.receiver, env=self.env)
        self.wait_states("limit_exceeded")
        event = self.events()[0]
        self.assertEqual(event["cgroup"], path)
        self.assertGreaterEqual(event["processes"], 2)
        self.assertIn(f"cgroup {path} uses ", event["text"])


if __name__ == "__main__":
    unittest.main()
