# SPDX-License-Identifier: GPL-2.0
"""seepage silence and seepage ack, and what notify does about them. Runs on this machine, without
the module: alerts come through --from, as `watch -j` prints them."""
import json
import os
import signal
import stat
import subprocess
import time
import unittest

import test_notify
from test_notify import LONG, TOP, alert, text, wait_for

TOOLS = os.path.join(TOP, "build/ctl/tools")
LOAD = test_notify.INSTANCE


class Quiet(test_notify.Notify):
    """A directory for silences, and receivers that say what they got."""

    def setUp(self):
        super().setUp()
        self.quiet = os.path.join(self.dir, "quiet")
        self.got = os.path.join(self.dir, "got")
        script = self.path("take", f"#!/bin/sh\nexec cat >>{self.got}\n")
        os.chmod(script, 0o755)
        self.receiver = ("--exec", script)

    def tool(self, name, *words, status=0):
        """Returns stdout and stderr."""
        env = {**os.environ, "SEEPAGE_STATE_DIR": self.quiet, "TZ": "Europe/Berlin"}
        p = subprocess.run([os.path.join(TOOLS, "seepage-" + name), *words], env=env, timeout=LONG,
                           capture_output=True, text=True, check=False)
        self.assertEqual(p.returncode, status, p.stderr)
        return p.stdout, p.stderr

    def silence(self, *words, **how):
        return self.tool("silence", *words, **how)

    def listed(self):
        return json.loads(self.silence("-j")[0])

    def write(self, *alerts):
        return self.path("alerts", text(alerts))

    def notify(self, alerts, *words):
        """Runs notify on them to its end; returns what its standard error says."""
        return self.run_on(alerts, *(words or self.receiver),
                           env={"SEEPAGE_STATE_DIR": self.quiet})[1]

    def told(self):
        """The numbers of the alerts that the receiver got."""
        try:
            with open(self.got, encoding="utf-8") as f:
                content = f.read()
        except FileNotFoundError:
            return []
        decoder, out, at = json.JSONDecoder(), [], 0
        while content[at:].strip():
            at += len(content[at:]) - len(content[at:].lstrip())
            o, n = decoder.raw_decode(content[at:])
            out.append(o["seq"])
            at += n
        return out


class Held(Quiet):
    def test_what_a_silence_is_about(self):
        of_user = {"unit": "leaky.service", "unit_uid": 33}
        cases = (
            (["--unit", "leaky"], {}, True),
            (["--unit", "leaky.service"], {}, True),
            (["--unit", "leak*"], {}, True),		# without a type: leak*.service
            (["--unit", "leak*"], {"unit": "leaky.scope"}, False),
            (["--unit", "leak*.service"], {}, True),
            (["--unit", "leaky.scope"], {}, False),
            (["--unit", "leaky.scope"], {"unit": "leaky.scope"}, True),
            (["--unit", "php8.2"], {"unit": "php8.2.service"}, True),
            # any user may give its units this name
            (["--unit", "leaky"], of_user, False),
            (["--unit", "leaky", "--uid", "33"], of_user, True),
            (["--unit", "a\\x2db.service"], {"unit": "a\\x2db.service"}, True),
            (["--unit", "leaky"], {"unit": None}, False),
            (["--name", "leaky"], {}, True),
            (["--name", "leak"], {}, False),
            (["--name", "l[a-f]aky"], {}, True),
            (["--name", "[x]"], {"comm": "[x]"}, True),
            (["--uid", "33"], {}, True),
            (["--uid", "root"], {}, False),
            (["--uid", "root"], {"uid": 0}, True),
            (["--cgroup", "/system.slice"], {}, True),
            (["--cgroup", "/system.slice/"], {}, True),
            (["--cgroup", "/system.slice/leaky.service"], {}, True),
            (["--cgroup", "/system"], {}, False),
            (["--cgroup", "/system.slice"], {"cgroup": None}, False),
            (["--cgroup", "/"], {}, True),
            (["--name", "leaky", "--uid", "34"], {}, False),
            (["--name", "leaky", "--uid", "33"], {}, True),
        )
        for i, (words, keys, held) in enumerate(cases):
            with self.subTest(words=words, keys=keys):
                self.state = os.path.join(self.dir, f"state{i}")
                self.silence(*words, "--for", "1h")
                self.notify([alert(i + 1, **keys)])
                self.assertEqual(self.told()[-1:] != [i + 1], held)
                self.silence("--remove", "all")

    def test_it_is_told_when_the_silence_is_removed_and_it_still_stands(self):
        self.silence("--unit", "leaky", "--forever")
        err = self.notify([alert(1, pid=5), alert(2, pid=6)])
        self.assertEqual(self.told(), [])
        self.assertIn("#1: held back, silenced by silence 1 without an end", err)
        self.assertIn("2 held back by silences", err)
        self.notify([alert(3, pid=6, age_seconds=603, state="exited")])
        self.notify([alert(4, pid=5, age_seconds=604, state="confirmed")])
        self.assertEqual(self.told(), [])
        self.silence("--remove", "1")
        err = self.notify([])
        self.assertEqual(self.told(), [4])	# the last word about what stands, and nothing else
        self.assertIn("#4: nothing holds it back any more", err)
        self.notify([alert(5, pid=5, age_seconds=605, state="exited")])
        self.assertEqual(self.told(), [4, 5])

    def test_it_is_told_when_the_silence_ends_while_notify_runs(self):
        begin = time.monotonic()
        self.silence("--name", "leaky", "--for", "12s")		# notify has started by then
        p = self.pipe(*self.receiver, env={"SEEPAGE_STATE_DIR": self.quiet})
        self.feed(p, [alert(1)])
        self.assertIn("#1: held back", p.stderr.readline())
        wait_for(self.told)
        self.assertGreater(time.monotonic() - begin, 11)
        p.stdin.close()
        p.wait(LONG)
        self.assertEqual(self.told(), [1])

    def test_it_is_told_again_when_a_silence_ends_that_came_later(self):
        p = self.pipe(*self.receiver, env={"SEEPAGE_STATE_DIR": self.quiet})
        self.feed(p, [alert(1)])
        wait_for(self.told)
        self.silence("--name", "leaky", "--for", "15s")
        self.assertIn("#1: silenced by silence 1", p.stderr.readline())
        self.assertIn("#1: nothing holds it back any more", p.stderr.readline())
        wait_for(lambda: len(self.told()) == 2)
        time.sleep(3)
        p.stdin.close()
        p.wait(LONG)
        self.assertEqual(self.told(), [1, 1])

    def test_what_is_held_survives_kill(self):
        self.silence("--name", "leaky", "--forever")
        p = self.pipe(*self.receiver, env={"SEEPAGE_STATE_DIR": self.quiet})
        self.feed(p, [alert(1)])
        state = os.path.join(self.state, "state.json")

        def is_held():
            with open(state, encoding="utf-8") as f:
                return '"held":{' in f.read()
        wait_for(lambda: os.path.exists(state) and is_held())
        p.kill()
        p.wait()
        self.silence("--remove", "all")
        self.notify([])
        self.notify([])
        self.assertEqual(self.told(), [1])

    def test_of_one_alert(self):
        self.silence("#1", "--for", "1h", "--from", self.write(alert(1, pid=5, age_seconds=10)))
        self.notify([alert(1, pid=5, age_seconds=10), alert(2, pid=6), alert(3, pid=5, age_seconds=12),
                     alert(4, pid=5, age_seconds=1),				# the pid was reused
                     alert(5, pid=5, age_seconds=14, instance=LOAD + 1)])	# after a reload
        self.assertEqual(self.told(), [2, 4, 5])

    def test_the_number_of_an_alert_may_be_without_its_sign(self):
        file = self.write(alert(1), alert(2))
        self.assertIn("alert #2 (pid 1002, leaky): silenced", self.silence("2", "--from", file, "--forever")[0])
        self.assertIn("alert #1: acknowledged", self.tool("ack", "1", "known", "--from", file)[0])
        self.tool("ack", "--remove", "1")
        self.assertIn("there is none", self.tool("ack")[1])

    def test_of_a_load_whose_number_is_large(self):
        load = 2**64 - 1
        self.silence("#1", "--for", "1h", "--from", self.write(alert(1, pid=5, instance=load)))
        self.notify([alert(2, pid=5, age_seconds=602, instance=load), alert(3, pid=5, instance=load - 2)])
        self.assertEqual(self.told(), [3])

    def test_of_the_alert_of_a_group_whatever_its_oldest_process(self):
        self.silence("#1", "--for", "1h", "--from", self.write(alert(1, pid=5, subject="group")))
        self.notify([alert(2, pid=9, subject="group", age_seconds=3), alert(3, pid=5),
                     alert(4, pid=9, subject="group", cgroup_id=78)])
        self.assertEqual(self.told(), [3, 4])

    def test_an_incident_ends_though_it_is_silenced(self):
        pager = test_notify.Receiver(self, otherwise=202)
        words = ("--pagerduty-key", "k", "--pagerduty-url", pager.url, *self.receiver)
        self.notify([alert(1, pid=5)], *words)
        self.silence("--name", "leaky", "--forever")
        self.notify([alert(2, pid=5, age_seconds=602, state="confirmed"),
                     alert(3, pid=5, age_seconds=603, state="exited"),
                     alert(4, pid=6), alert(5, pid=6, age_seconds=605, state="recovered")], *words)
        # of pid 6 nobody was told
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger", "resolve"])
        self.assertEqual(self.told(), [1])

    def test_a_reload_of_the_module_ends_nothing_that_was_not_told(self):
        pager = test_notify.Receiver(self, otherwise=202)
        words = ("--pagerduty-key", "k", "--pagerduty-url", pager.url)
        self.silence("--name", "leaky", "--forever")
        self.notify([alert(1, pid=5)], *words)
        self.notify([alert(1, pid=6, instance=LOAD + 1, comm="other")], *words)
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger"])

    def test_a_silence_that_cannot_be_read_holds_nothing(self):
        self.silence("--name", "leaky", "--forever")
        path = os.path.join(self.quiet, "silences.json")
        for content in ("{", '{"version":2,"silences":[],"acks":[]}', '{"version":1}', "[]", "\0" * 9,
                        '{"version":1,"silences":[{"id":1,"until_ns":null}],"acks":[]}', "x" * (2 << 20)):
            with self.subTest(content=content[:40]):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(content)
                self.state = os.path.join(self.dir, "state" + str(len(content)))
                err = self.notify([alert(len(content))])
                self.assertEqual(self.told()[-1], len(content))
                if '"id"' not in content:
                    self.assertIn("silences.json: ", err)
                    self.assertIn("nothing is held back", err)
                    # nor does a writer take its place
                    err = self.silence("--name", "x", "--forever", status=1)[1]
                    self.assertIn("silences.json: ", err)
                    with open(path, encoding="utf-8") as f:
                        self.assertEqual(f.read(), content)

    def test_a_file_that_others_may_write_holds_nothing(self):
        self.silence("--name", "leaky", "--forever")
        os.chmod(os.path.join(self.quiet, "silences.json"), 0o666)
        self.assertIn("no other may write", self.notify([alert(1)]))
        self.assertEqual(self.told(), [1])


class Acknowledged(Quiet):
    def ack(self, *words, **how):
        return self.tool("ack", *words, **how)

    def test_no_repeats_but_what_is_worse_and_the_end(self):
        first = alert(1, pid=5)
        self.notify([first])
        out, _ = self.ack("#1", "restart", "at night", "--by", "anna", "--from", self.write(first))
        self.assertRegex(out, r"^alert #1: acknowledged by anna at \S+ \S+: restart at night\n$")
        err = self.notify([alert(2, pid=5, age_seconds=602), alert(3, pid=6),
                           alert(4, pid=5, age_seconds=604, state="confirmed"),
                           alert(5, pid=5, age_seconds=605, state="confirmed"),
                           alert(6, pid=5, age_seconds=606, state="exited")])
        self.assertEqual(self.told(), [1, 3, 4, 6])
        self.assertIn("#2: held back, acknowledged by anna at", err)
        with open(self.got, encoding="utf-8") as f:
            self.assertIn('"ack":"restart at night","ack_by":"anna"', f.read())

    def test_alertmanager_and_pagerduty_are_told_of_it(self):
        pager, manager = test_notify.Receiver(self, otherwise=202), test_notify.Receiver(self)
        words = ("--pagerduty-key", "k", "--pagerduty-url", pager.url, "--alertmanager", manager.url)
        first = alert(1, pid=5)
        self.notify([first], *words)
        self.ack("#1", "known", "--from", self.write(first))
        self.notify([], *words)
        self.notify([], *words)
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger", "acknowledge"])
        self.assertEqual(pager.seen[0][1]["dedup_key"], pager.seen[1][1]["dedup_key"])
        self.notify([alert(2, pid=5, age_seconds=602, state="runaway")], *words)
        self.assertEqual(manager.taken[-1][-1]["annotations"]["ack"], "known")

    def test_it_is_passed_on_though_an_alert_comes_at_once(self):
        pager = test_notify.Receiver(self, otherwise=202)
        p = self.pipe("--pagerduty-key", "k", "--pagerduty-url", pager.url,
                      env={"SEEPAGE_STATE_DIR": self.quiet})
        first = alert(1, pid=5)
        self.feed(p, [first])
        wait_for(lambda: pager.seen)
        time.sleep(3)		# it has looked at acknowledgments, and does so every two seconds
        p.send_signal(signal.SIGSTOP)
        self.ack("#1", "known", "--from", self.write(first))
        self.feed(p, [alert(2, pid=6)])
        p.send_signal(signal.SIGCONT)
        wait_for(lambda: len(pager.seen) == 3)
        self.assertEqual(sorted(b["event_action"] for _, b in pager.seen),
                         ["acknowledge", "trigger", "trigger"])

    def test_one_that_nobody_was_told_of_is_told_when_it_is_taken_back(self):
        first = alert(1, pid=5)
        self.ack("#1", "known", "--from", self.write(first))
        self.notify([first])
        self.assertEqual(self.told(), [])
        self.ack("--remove", "#1")
        self.notify([])
        self.assertEqual(self.told(), [1])

    def test_what_is_worse_and_was_silenced_is_told_though_the_alert_before_is_acknowledged(self):
        first = alert(1, pid=5)
        self.notify([first])
        self.silence("--name", "leaky", "--forever")
        self.notify([alert(2, pid=5, age_seconds=602, state="runaway")])
        self.ack("#1", "known", "--from", self.write(first))
        self.notify([])
        self.assertEqual(self.told(), [1])
        self.silence("--remove", "all")
        self.notify([])
        self.assertEqual(self.told(), [1, 2])
        self.notify([alert(3, pid=5, age_seconds=603, state="runaway")])	# no worse than it
        self.assertEqual(self.told(), [1, 2])

    def test_list(self):
        alerts = self.write(alert(1, pid=5, comm="a\u4e2d"), alert(2, pid=5, age_seconds=601),
                            alert(3, state="exited"))
        self.assertEqual(self.ack("-j")[0], "[]\n")
        self.ack("#1", "first", "--from", alerts)
        out, _ = self.ack()
        self.assertRegex(out, r"^ALERT +TIME +STATE +PID +COMM +ACKED +BY +TEXT\n +#1 .* suspected +5  a\u4e2d  .*first\n$")
        one, = json.loads(self.ack("-j")[0])
        self.assertEqual((one["alert"]["seq"], one["alert"]["instance"], one["text"]), (1, LOAD, "first"))
        self.ack("#1", "again", "--from", alerts)	# takes the place of the first
        self.assertEqual([a["text"] for a in json.loads(self.ack("-j")[0])], ["again"])
        for words, said in (
                (["#3", "x", "--from", alerts], "alert #3: 'exited': allowed is an alert that stands"),
                (["#9", "x", "--from", alerts], "alert #9 is not in "),
                (["#1", "x", "--from", "/none"], "--from: '/none': No such file"),
                (["#1", "x", "--from", "/proc"], "--from: '/proc': Is a directory"),
                (["--remove", "#9"], "--remove: '#9': it is not acknowledged"),
                (["--remove", "9"], "--remove: '#9': it is not acknowledged")):
            self.assertIn(said, self.ack(*words, status=1)[1])
        for words, said in (
                (["0", "x"], "'0': allowed N or '#N', the number of an alert ("),
                (["#1"], "'#1': TEXT is missing, which says what is done about it"),
                (["x"], "'x': allowed N or '#N', the number of an alert ("),
                (["#1", "a\nb", "--from", alerts], "TEXT: 'a\\x0ab': allowed 1 to 255 bytes of UTF-8"),
                (["--by", "x"], "--by: 'x': allowed with '#N' TEXT only"),
                (["--from", "f"], "--from: 'f': allowed with '#N' TEXT only"),
                (["--remove", "1", "x"], "--remove: '1': allowed without other words and options"),
                (["--remove", "0"], "--remove: '0': allowed N or '#N', the number of an alert, or all")):
            self.assertIn(said, self.ack(*words, status=2)[1])
        self.assertEqual(len(json.loads(self.ack("-j")[0])), 1)

    def test_of_too_many_the_oldest_go(self):
        alerts = self.write(*(alert(i) for i in range(1, 259)))
        path = os.path.join(self.quiet, "silences.json")
        self.ack("#1", "x", "--from", alerts)
        with open(path, encoding="utf-8") as f:
            o = json.load(f)
        o["acks"] = [{**o["acks"][0], "alert": {**o["acks"][0]["alert"], "seq": i, "pid": i}}
                     for i in range(5000, 5256)]
        with open(path, "w", encoding="utf-8") as f:
            json.dump(o, f)
        self.ack("#2", "x", "--from", alerts)
        seqs = [a["alert"]["seq"] for a in json.loads(self.ack("-j")[0])]
        self.assertEqual(seqs, [*range(5001, 5256), 2])


class Words(Quiet):
    def test_list_and_remove(self):
        self.assertEqual(self.silence(), ("", "seepage: silence: there is none\n"))
        self.assertEqual(self.silence("list"), ("", "seepage: silence: there is none\n"))
        self.assertEqual(self.listed(), [])
        out, _ = self.silence("--unit", "nginx", "--uid", "0", "--for", "2h", "--comment", "planned \u2713",
                              "--by", "anna")
        self.assertRegex(out, "^unit nginx.service, uid 0 \\(root\\): silenced by silence 1 until .*: planned \u2713\n$")
        self.silence("--cgroup", "/a", "--forever")
        one, two = self.listed()
        self.assertEqual(set(one), {"id", "unit", "name", "uid", "cgroup", "alert", "comment", "by", "made_ns",
                                    "made", "until_ns", "until", "user"})
        self.assertEqual((one["id"], one["unit"], one["name"], one["uid"], one["comment"], one["by"]),
                         (1, "nginx.service", None, 0, "planned \u2713", "anna"))
        self.assertEqual(one["until_ns"] - one["made_ns"], 7200 * 10**9)
        self.assertEqual((two["cgroup"], two["until_ns"]), ("/a", None))
        self.assertEqual((one["user"], two["user"]), ("root", None))
        self.assertRegex(self.silence()[0], r"(?s)ID +WHAT +UNTIL +LEFT +BY +COMMENT\n 1  unit nginx.service, uid 0 \(root\) .*1h59m"
                         r"  anna  planned \u2713\n 2  cgroup /a +- +-  ")
        self.silence("--remove", "1")
        self.silence("--name", "x", "--forever")
        self.assertEqual([s["id"] for s in self.listed()], [2, 3])	# numbers are not used again
        self.silence("--remove", "all")
        self.assertEqual(self.listed(), [])

    def assert_times(self, o, *keys):
        """Each time in nanoseconds has the same in UTC beside it, and no other key has."""
        self.assertEqual({key for key in o if key.endswith("_ns")}, {key + "_ns" for key in keys})
        for key in keys:
            ns = o[key + "_ns"]
            self.assertEqual(o[key], None if ns is None else
                             time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ns // 10**9)))

    def test_times_for_people(self):
        alerts = self.write(alert(1, pid=5))
        added = [json.loads(self.silence("-j", *words)[0]) for words in (
            ("--name", "x", "--for", "2h"), ("--name", "x", "--forever"), ("#1", "--for", "1h", "--from", alerts))]
        listed = self.listed()
        self.assertEqual(listed, added)
        for o in listed:
            self.assert_times(o, "made", "until")
        self.assertEqual((listed[1]["until"], listed[0]["alert"]), (None, None))
        self.assert_times(listed[2]["alert"], "time")
        made = json.loads(self.tool("ack", "-j", "#1", "seen", "--from", alerts)[0])
        self.assertEqual(json.loads(self.tool("ack", "-j")[0]), [made])
        self.assert_times(made, "made")
        self.assert_times(made["alert"], "time")
        with open(os.path.join(self.quiet, "silences.json"), encoding="utf-8") as f:
            kept = json.load(f)
        for o in (*kept["silences"], *kept["acks"]):		# those of the file are nanoseconds
            self.assertFalse({"made", "until", "time"} & {*o, *(o.get("alert") or ())})
        entry = {"unit": "a.service", "comm": "a", "uid": 0, "owner": 0, "rise_bytes": 1 << 20, "span_seconds": 60,
                 "instance": "7", "learned_ns": time.time_ns() - 10**12, "confirmed_ns": time.time_ns()}
        with open(os.path.join(self.quiet, "envelope.json"), "w", encoding="utf-8") as f:
            json.dump({"version": 1, "entries": [entry]}, f)
        one, = json.loads(self.tool("envelope", "-j", "list")[0])
        self.assert_times(one, "learned", "confirmed")

    def test_user_is_another_word_for_uid(self):
        out, _ = self.silence("--user", "root", "--forever")
        self.assertEqual(out, "uid 0 (root): silenced by silence 1 without an end\n")
        out, _ = self.silence("-j", "--user", "3999999999", "--forever")
        self.assertEqual((json.loads(out)["uid"], json.loads(out)["user"]), (3999999999, None))
        self.assertEqual(self.silence("-j", "list")[0], self.silence("-j")[0])
        for words in (["list", "--unit", "a"], ["list", "--remove", "1"]):
            self.assertIn("list: allowed without options", self.silence(*words, status=2)[1])
        self.assertRegex(self.silence()[0], r" 1  uid 0 \(root\) +- +-  .*\n 2  uid 3999999999 +- +-  ")
        self.assertEqual([(s["uid"], s["user"]) for s in self.listed()], [(0, "root"), (3999999999, None)])
        with open(os.path.join(self.quiet, "silences.json"), encoding="utf-8") as f:
            self.assertNotIn('"user"', f.read())	# names change

    def test_those_that_are_over_are_gone(self):
        self.silence("--name", "x", "--for", "1s")
        self.silence("--name", "y", "--for", "1h")
        wait_for(lambda: [s["id"] for s in self.listed()] == [2])
        self.silence("--name", "z", "--for", "1h")
        with open(os.path.join(self.quiet, "silences.json"), encoding="utf-8") as f:
            self.assertEqual([s["id"] for s in json.load(f)["silences"]], [2, 3])

    def test_durations_and_times(self):
        for word, seconds in (("90s", 90), ("1d12h", 129600), ("4w", 28 * 86400), ("3650d", 3650 * 86400),
                              ("1h30m15s", 5415)):
            self.silence("--name", word, "--for", word)
            one = self.listed()[-1]
            self.assertEqual(one["until_ns"] - one["made_ns"], seconds * 10**9, word)
        now = int(time.time())
        for word, at in ((f"@{now + 1000}", now + 1000), ("2031-06-01T12:00:00Z", 1938081600),
                         ("2031-06-01 12:00Z", 1938081600), ("2031-06-01T12:00", 1938081600 - 7200),
                         ("2031-06-01", 1938031200)):
            self.silence("--name", word[:15], "--until", word)
            self.assertEqual(self.listed()[-1]["until_ns"], at * 10**9, word)
        for hour in range(24):		# one of these is over for today
            self.silence("--name", "h", "--until", f"{hour:02}:30")
            ahead = self.listed()[-1]["until_ns"] // 10**9 - now
            self.assertTrue(0 < ahead <= 25 * 3600 + 60, hour)

    def test_bad_words_change_nothing(self):
        self.silence("--name", "stays", "--forever")
        path = os.path.join(self.quiet, "silences.json")
        with open(path, encoding="utf-8") as f:
            before = f.read()
        x = ["--name", "x"]
        cases = (
            ([*x], "its end is missing: allowed one of --for DURATION, --until TIME, --forever"),
            ([*x, "--for", "1h", "--forever"], "--for: '1h': not allowed with --forever"),
            ([*x, "--until", "18:00", "--forever"], "--until: '18:00': not allowed with --forever"),
            ([*x, "--until", "18:00", "--for", "1h"], "--for: '1h': not allowed with --until"),
            (["nginx"], "'nginx': allowed N or '#N', the number of an alert; a unit: --unit nginx ("),
            (["--for", "1h"], "what to silence is missing: allowed '#N' in quotes, --unit, --name, --user, --cgroup"),
            (["--user", "no-such-user", "--forever"], "--user: 'no-such-user': allowed a uid or the name of a user"),
            (["--user", "0", "--uid", "0", "--forever"], "--user: '0': not allowed with --uid, which is the same"),
            (["--uid", "no-such-user", "--forever"], "--uid: 'no-such-user': allowed a uid or the name of a user"),
            (["--uid", "4294967295", "--forever"], "--uid: '4294967295': allowed"),
            (["--cgroup", "a/b", "--forever"], "--cgroup: 'a/b': allowed a path that begins with /"),
            (["--name", "sixteen-letters-", "--forever"], "--name: 'sixteen-letters-': allowed 1 to 15 bytes"),
            (["--unit", "", "--forever"], "--unit: '': allowed 1 to 255 bytes of UTF-8 without control"),
            (["--unit", "a\033b", "--forever"], "--unit: 'a\\x1bb': allowed"),
            (["--unit", "user.slice", "--forever"],
             "--unit: 'user.slice': allowed a service or scope; of a slice: --cgroup /user.slice ("),
            (["--unit", "user-1000.slice", "--forever"], "--cgroup /user.slice/user-1000.slice ("),
            (["--unit", "-.slice", "--forever"], "of a slice: --cgroup / ("),
            *((["--unit", f"a{t}", "--forever"], f"--unit: 'a{t}': allowed a service or scope (")
              for t in ("*.slice", ".timer", ".socket", ".mount", ".target", ".path", ".swap", ".automount", ".device")),
            *((["--forever", *(w for v in two for w in (option, v))], f"{option}: '{two[1]}': given twice")
              for option, two in (("--unit", "ab"), ("--name", "aa"), ("--uid", "01"), ("--user", "01"), ("--cgroup", ("/a", "/b")))),
            ([*x, "--forever", "--comment", "y" * 256], "allowed 1 to 255 bytes"),
            (["nginx", "--forever"],
             "'nginx': allowed N or '#N', the number of an alert; a unit: --unit nginx ("),
            (["#0", "--forever"], "'#0': allowed N or '#N'"),
            (["--remove", "x"], "--remove: 'x': allowed the number of a silence, or all"),
            (["--remove", "1", *x], "--remove: '1': allowed without other words and options"),
            *(([*x, "--for", w], f"--for: '{w}': allowed 1s to 3650d, as 90s, 30m, 2h, 1d12h, 4w")
              for w in ("", "2", "h", "2x", "-1h", "0s", "3651d", "99999999d", "1h ", "1.5h")),
            *(([*x, "--until", w], f"--until: '{w}': allowed a time to come: HH:MM, ")
              for w in ("", "now", "25:00", "12:60", "2026-02-30", "2031-13-01", "2001-01-01", "@1", "@", "2099-01-01",
                        "2031-06-01T12:00:00X", "2031-06-01Z")),
        )
        for words, said in cases:
            with self.subTest(words=words):
                out, err = self.silence(*words, status=2)
                self.assertIn(said, err)
                self.assertEqual((out, err.count("\n")), ("", 1))
        self.assertIn("--remove: '7': there is no such silence", self.silence("--remove", "7", status=1)[1])
        with open(path, encoding="utf-8") as f:
            self.assertEqual(f.read(), before)

    def test_there_are_at_most_256(self):
        self.silence("--name", "x", "--forever")
        path = os.path.join(self.quiet, "silences.json")
        with open(path, encoding="utf-8") as f:
            o = json.load(f)
        o["silences"] *= 256
        with open(path, "w", encoding="utf-8") as f:
            json.dump(o, f)
        self.assertIn("there are 256 silences already", self.silence("--name", "y", "--forever", status=1)[1])


class Store(Quiet):
    def test_every_user_may_read_it_and_only_the_owner_write(self):
        os.umask(0o077)
        self.addCleanup(os.umask, 0o022)
        self.silence("--name", "x", "--forever")
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.quiet, "silences.json")).st_mode), 0o644)
        self.assertEqual(os.listdir(self.quiet), ["silences.json"])	# the lock is there while there is a writer

    def test_writers_at_once_lose_nothing(self):
        env = {**os.environ, "SEEPAGE_STATE_DIR": self.quiet}
        writers = [subprocess.Popen([os.path.join(TOOLS, "seepage-silence"), "--name", f"n{i}", "--forever"],
                                    env=env, stdout=subprocess.DEVNULL) for i in range(30)]
        self.assertEqual([p.wait(LONG) for p in writers], [0] * 30)
        self.assertEqual({s["name"] for s in self.listed()}, {f"n{i}" for i in range(30)})
        self.assertEqual({s["id"] for s in self.listed()}, set(range(1, 31)))

    def test_a_writer_waits_for_the_lock(self):
        self.silence("--name", "x", "--forever")
        lock = os.path.join(self.quiet, ".seepage.lock")
        holder = subprocess.Popen(["sh", "-c", f"umask 077; exec flock {lock} sleep 100"])
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        wait_for(lambda: subprocess.run(["flock", "-n", lock, "true"], check=False).returncode)
        env = {**os.environ, "SEEPAGE_STATE_DIR": self.quiet}
        p = subprocess.Popen([os.path.join(TOOLS, "seepage-silence"), "--name", "y", "--forever"], env=env,
                             stdout=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        with self.assertRaises(subprocess.TimeoutExpired):
            p.wait(1)
        self.assertEqual([s["name"] for s in self.listed()], ["x"])	# readers do not wait

    def test_a_writer_that_is_killed_leaves_a_whole_file(self):
        self.silence("--name", "first", "--forever", "--comment", "c" * 255)
        env = {**os.environ, "SEEPAGE_STATE_DIR": self.quiet}
        done = set()
        for i in range(60):
            p = subprocess.Popen([os.path.join(TOOLS, "seepage-silence"), "--name", f"n{i}", "--forever"], env=env,
                                 stdout=subprocess.PIPE)
            time.sleep(i % 20 / 4000)
            p.send_signal(signal.SIGKILL)
            if p.communicate()[0]:	# it has said that it is done
                done.add(f"n{i}")
            names = {s["name"] for s in self.listed()}
            self.assertIn("first", names)
            self.assertLessEqual(done, names)
        self.silence("--name", "last", "--forever")
        self.assertIn("last", {s["name"] for s in self.listed()})
        self.assertLessEqual(set(os.listdir(self.quiet)), {"silences.json", ".new"})

    def test_what_another_user_has_left_is_not_written_to(self):
        self.silence("--name", "x", "--forever")
        new = os.path.join(self.quiet, ".new")
        with open(new, "w", encoding="ascii") as f:
            if not os.geteuid():
                os.chown(new, 65534, 65534)
            self.silence("--name", "y", "--forever")
            f.write("damaged")
        self.assertEqual({s["name"] for s in self.listed()}, {"x", "y"})

    def test_a_full_disk_changes_nothing(self):
        self.silence("--name", "x", "--forever")
        env = {**os.environ, "SEEPAGE_STATE_DIR": self.quiet}
        p = subprocess.run(["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", os.path.join(TOOLS, "seepage-silence"),
                            "--name", "y", "--forever"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True, check=False)
        self.assertEqual(p.returncode, 1)
        self.assertEqual([s["name"] for s in self.listed()], ["x"])
        self.assertEqual(os.listdir(self.quiet), ["silences.json"])


if __name__ == "__main__":
    unittest.main()
