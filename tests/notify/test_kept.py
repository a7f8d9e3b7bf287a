# SPDX-License-Identifier: GPL-2.0
"""What watch --where has found out, in notifications: the look that is kept about the process of an
alert. Runs on this machine, without the module; the files are of the form that where --keep writes."""
import json
import os
import re
import socket
import time
import unittest

from test_notify import Notify, Receiver, alert

HZ = os.sysconf("SC_CLK_TCK")


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def answer(pid, then_s, **keys):
    """An answer as where -j has it, about a C++ program with lines, in the file of --keep."""
    stack = [{"symbol": "_ZN4List8add_nodeEi", "demangled": "List::add_node(int)",
              "module": "/srv/leak", "source": "/home/u/leak.cpp:12", "offset": 1},
             {"symbol": "main", "module": "/srv/leak", "offset": 2}]
    o = {"pid": pid, "comm": "leak", "method": "burst", "allocator": "glibc", "heap_bytes": 1 << 20,
         "classes": [{"size_bytes": 88, "blocks": 9, "growth_blocks": 7, "growth_bytes": 616,
                      "share_permille": 413, "content": {"kind": "vtable", "name": "Session"}}],
         "sites": [{"rank": 1, "bytes_per_hour": 2621440, "survival_permille": 1000, "stack": stack}],
         "time_ns": then_s * 10**9, "time": "2026-11-28T12:00:00Z", "text": ["in words"]}
    return o | keys


class Kept(Notify):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("run"))
        os.mkdir(self.path("run/where"), mode=0o700)
        self.env = {"SEEPAGE_RUN": self.path("run")}
        self.now = int(time.time())
        self.begun = self.now - 600		# of the process that leaks

    def keep(self, pid, then_s, started=None, boot=None, **keys):
        """Writes the only answer, of @then_s, about a process that began at @started, seconds since
        1970."""
        for name in os.listdir(self.path("run/where")):
            os.unlink(self.path(f"run/where/{name}"))
        up = time.clock_gettime(time.CLOCK_BOOTTIME)
        started = self.begun if started is None else started
        ticks = max(1, int((up - (self.now - started)) * HZ))
        name = f"run/where/answer-{pid}-{ticks}-{boot or boot_id()}"
        self.path(name, json.dumps(answer(pid, then_s, **keys)))

    def of_now(self, seq, pid, **keys):
        """An alert of now about the process that began at self.begun."""
        return alert(seq, pid=pid, time_ns=self.now * 10**9, age_seconds=600, **keys)

    def where(self, pid, **keys):
        """What a webhook gets for an alert about @pid, and its sentence"""
        to = Receiver(self)
        self.run_on([self.of_now(1, pid, **keys)], "--webhook", to.url, env=self.env)
        self.assertEqual(to.taken[0]["where"], to.taken[0]["alert"]["where"])
        return to.taken[0]["where"], to.taken[0]["text"]


class Payload(Kept):
    def test_the_site_is_in_the_alert_and_in_its_sentence(self):
        self.keep(4000, self.now - 60)
        where, text = self.where(4000)
        self.assertEqual(where, {
            "time_ns": (self.now - 60) * 10**9, "time": "2026-11-28T12:00:00Z", "method": "burst",
            "allocator": "glibc", "size_bytes": 88, "content": "vtable Session", "share_permille": 413,
            "function": "List::add_node(int)", "source": "/home/u/leak.cpp:12", "module": "/srv/leak",
            "bytes_per_hour": 2621440, "survival_permille": 1000,
            "stack": ["List::add_node(int) (leak.cpp:12)", "main"]})
        self.assertIn("; most likely List::add_node(int) (leak.cpp:12); seepage explain '#1'", text)

    def test_what_passes_a_request_on_is_not_named(self):
        def frame(name, module="/srv/leak"):
            return {"symbol": name, "module": module}
        new, own = frame("_Znwm", "/usr/lib/libstdc++.so.6.0.30"), frame("handle")
        vector = {"symbol": "_ZNSt", "demangled": "std::vector<int>::push_back(int)", "module": "/srv/leak"}
        template = {"symbol": "_Z9make_nodeI4NodeESt10shared_ptrIT_Ev",
                    "demangled": "std::shared_ptr<Node> make_node<Node>()", "module": "/srv/leak"}
        for n, (stack, named) in enumerate((
                ([new, vector, own, frame("main")], ["handle", "main"]),
                ([frame("operator new(unsigned long)"), own], ["handle"]),
                ([frame("malloc@@GLIBC_2.2.5"), frame("malloc_node"), own], ["malloc_node", "handle"]),
                ([new, template, own], ["std::shared_ptr<Node> make_node<Node>()", "handle"]),
                ([frame("strdup", "/lib/x86_64-linux-gnu/libc.so.6"), frame("keep", "/lib/libkeep.so")], ["keep"]),
                ([new, vector], ["_Znwm", "std::vector<int>::push_back(int)"]))):
            self.keep(4000, self.now - 60, sites=[{"stack": stack, "bytes_per_hour": 1}])
            self.state = self.path(f"passed{n}")
            where, text = self.where(4000)
            self.assertEqual((where["stack"], where["function"] in named[0]), (named, True))
            self.assertIn(f"most likely {named[0]};", text)

    def test_a_census_names_the_class(self):
        self.keep(4000, self.now - 60, method="census", sites=[])
        where, text = self.where(4000)
        self.assertEqual((where["function"], where["bytes_per_hour"], where["stack"]), (None, None, []))
        self.assertIn("; blocks of up to 88 bytes grow (vtable Session); seepage explain", text)

    def test_a_name_is_cut_between_characters(self):
        for n in range(4):
            name = "x" * n + "\u20ac" * 200
            site = {"bytes_per_hour": 5, "stack": [{"symbol": name, "module": "/srv/leak"}]}
            for sites, begin in (([], "; blocks of up to 88 bytes grow (vtable "), ([site], "; most likely ")):
                self.keep(4000, self.now - 60, sites=sites, classes=[{
                    "size_bytes": 88, "share_permille": 413, "content": {"kind": "vtable", "name": name}}])
                self.state = self.path(f"cut{n}{len(sites)}")
                where, text = self.where(4000)
                said = text.split(begin)[1].split(";")[0]
                self.assertRegex(said, rf"^{'x' * n}\u20ac{{40,}}[).]*$")
                self.assertRegex(where["content"], rf"^vtable {'x' * n}\u20ac{{40,}}$")

    def test_no_look_or_an_empty_one_says_nothing(self):
        where, text = self.where(4000)
        self.assertIsNone(where)
        self.assertNotIn("likely", text)
        self.state = self.path("another")
        self.keep(4000, self.now - 60, classes=[], sites=[])
        where, text = self.where(4000)
        self.assertEqual((where["size_bytes"], where["function"]), (None, None))
        self.assertNotIn("grow", text)

    def test_only_a_look_at_this_process_counts(self):
        cases = {
            "another pid": (4001, self.now - 60, {}),
            "an earlier process of the pid": (4000, self.begun - 60, {"started": self.begun - 300}),
            "a later process of the pid": (4000, self.now - 1, {"started": self.begun + 60}),
            "the program that it executed before": (4000, self.begun - 20, {"started": self.begun - 40}),
            "another boot": (4000, self.now - 60, {"boot": "0" * 36}),
        }
        for what, (pid, then, how) in cases.items():
            with self.subTest(what):
                self.keep(pid, then, **how)
                self.state = self.path(f"state {what}")
                self.assertIsNone(self.where(4000)[0])
        # a process that executed the program that leaks a while after its start
        self.keep(4000, self.now - 60, started=self.begun - 300)
        self.state = self.path("state of exec")
        self.assertIsNotNone(self.where(4000)[0])

    def test_files_that_others_may_have_written_are_not_read(self):
        self.keep(4000, self.now - 60)
        os.chmod(self.path("run/where"), 0o755)
        self.assertIsNone(self.where(4000)[0])

    def test_names_are_safe_for_a_terminal(self):
        stack = [{"symbol": "bad\x1b]0;x\x07\nname", "module": "/srv/le\nak", "source": "a\nb.c:1"}]
        self.keep(4000, self.now - 60, sites=[{"bytes_per_hour": 5, "stack": stack}])
        where, text = self.where(4000)
        self.assertRegex(text, r"; most likely bad\S*x\S*name")
        self.assertIsNone(re.search(r"[\x00-\x1f]", text))
        self.assertIsNone(where["survival_permille"])

    def test_answers_that_are_damaged_are_survived(self):
        for n, what in enumerate(("[]", "{", '{"time_ns":"x"}', "{}", "")):
            with self.subTest(what):
                self.keep(4000, self.now - 60)
                name = os.listdir(self.path("run/where"))[0]
                self.path(f"run/where/{name}", what)
                self.state = self.path(f"state{n}")
                self.assertIsNone(self.where(4000)[0])
        for n, keys in enumerate(({"sites": {}}, {"sites": [5]}, {"sites": [{"stack": 7}]},
                                  {"classes": ["x"]}, {"sites": [{"stack": [1, None]}]},
                                  {"classes": [{"size_bytes": "x", "content": 9}]})):
            with self.subTest(keys):
                self.keep(4000, self.now - 60, **keys)
                self.state = self.path(f"shape{n}")
                self.assertIsNotNone(self.where(4000)[0])


class Later(Kept):
    def test_the_next_alert_has_what_is_known_by_then_under_the_same_key(self):
        pager, hook = Receiver(self), Receiver(self)
        p = self.pipe("--pagerduty-key", "k", "--pagerduty-url", pager.url, "--webhook", hook.url,
                      env=self.env)
        self.feed(p, [self.of_now(1, 4000)])
        self.wait(lambda: pager.taken and hook.taken)
        self.keep(4000, self.now - 5)
        time.sleep(1.5)			# a message of its own would be sent by then
        self.assertEqual((len(pager.taken), len(hook.taken)), (1, 1))
        self.feed(p, [self.of_now(2, 4000, state="confirmed")])
        self.wait(lambda: len(pager.taken) > 1 and len(hook.taken) > 1)
        # It ended, and its file has been removed as one of too many.
        os.unlink(self.path(f"run/where/{os.listdir(self.path('run/where'))[0]}"))
        self.feed(p, [self.of_now(3, 4000, state="exited")])
        self.ended(p)
        self.assertEqual([b["where"] and b["where"]["function"] for b in hook.taken],
                         [None, "List::add_node(int)", "List::add_node(int)"])
        self.assertEqual(len({b["dedup_key"] for b in pager.taken}), 1)
        self.assertEqual([b["event_action"] for b in pager.taken], ["trigger", "trigger", "resolve"])
        details = pager.taken[1]["payload"]["custom_details"]
        self.assertEqual(details["where"]["source"], "/home/u/leak.cpp:12")
        self.assertIn("most likely List::add_node(int) (leak.cpp:12)", pager.taken[1]["payload"]["summary"])

    def wait(self, what):
        end = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.02)

    def test_a_process_that_has_ended_is_known_by_its_start(self):
        self.keep(4000, self.now - 20)
        self.assertEqual(self.where(4000, state="exited")[0]["function"], "List::add_node(int)")


class Local(Kept):
    def test_journal_syslog_and_alertmanager_have_it_in_words(self):
        sockets = {}
        for name in ("journal", "log"):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.addCleanup(s.close)
            s.bind(self.path(name))
            s.settimeout(60)
            sockets[name] = s
        manager = Receiver(self)
        self.keep(4000, self.now - 60)
        self.run_on([self.of_now(1, 4000)], "--journal", "--syslog", "--alertmanager", manager.url,
                    env=self.env | {"SEEPAGE_JOURNAL_SOCKET": self.path("journal"),
                                    "SEEPAGE_SYSLOG_SOCKET": self.path("log")})
        words = "most likely List::add_node(int) (leak.cpp:12)"
        fields = dict(f.split("=", 1) for f in sockets["journal"].recv(1 << 20).decode().splitlines())
        self.assertIn(words, fields["MESSAGE"])
        self.assertEqual(json.loads(fields["SEEPAGE_WHERE"])["module"], "/srv/leak")
        self.assertIn(words, sockets["log"].recv(1 << 20).decode())
        self.assertEqual(manager.taken[0][0]["annotations"]["where"], words)


if __name__ == "__main__":
    unittest.main()
