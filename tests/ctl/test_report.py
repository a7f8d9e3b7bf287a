# SPDX-License-Identifier: GPL-2.0
"""The page of seepage report: what is in it, that nothing of a recording can become markup, and
that it loads nothing. tests/report/run opens it in a browser."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOOL = os.path.join(TOP, "build/ctl/tools/seepage-report")
REPLAY = os.path.join(TOP, "build/ctl/tools/seepage-replay")
PARTS = (*(f"report/{part}" for part in ("html", "chart", "recording", "recorded", "live", "where")), "where/last",
         "where/frame", *(f"series/{part}" for part in ("read", "word", "proc", "fields", "map", "verdict")))
MB = 256		# pages
VOID = {"meta", "br"}
EVIL = "<script>alert(1)</script>&\"'"


def encode(s):
    return "".join(c if c.isalnum() or c in "/._-" else "".join(f"%{b:02X}" for b in c.encode()) for c in s)


# the monotonic clock was 0 at 2025-11-28 09:55:42 UTC
CLOCK = 1764323742


def recording(comm="leaker", exe="/usr/bin/leaker", passes=120, reset="", clock=None):
    """A leak of 1 MB a second that is exhausted within ten minutes, and a process that is idle."""
    lines = ["seepage-series 1", "conf sample_interval_ms=10000 policy=ladder",
             *([] if clock is None else [f"#clock {clock}000000000"]),
             f"proc 1 pid=4711 comm={encode(comm)} born_ns=1 begun_ns=1000000000 exe={encode(exe)} uid=7",
             "proc 2 pid=12 comm=idle born_ns=1 begun_ns=1000000000"]
    for n in range(passes):
        lines.append(f"pass {10**10} full {max(2000 - 10 * n, 1) * 10**6}")
        more = 30 * MB if not n else 10 * MB
        lines.append(f"1 a+{more} v+{more} n+{more} m+{more}" + (" c1000 k1000" if n > 3 else ""))
        if not n:
            lines.append(f"2 a+{20 * MB} v+{20 * MB} n+5 m+5")
    return "\n".join([*lines, "gone 1" + reset, ""])


class Page(html.parser.HTMLParser):
    """Text, tags and their nesting; an end without its begin, or a begin without end, fails."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.attributes = [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.text += data


@unittest.skipUnless(os.path.exists(TOOL), "needs build/ctl/tools/seepage-report: make ctl")
class Report(unittest.TestCase):
    def setUp(self):
        dir_ = tempfile.TemporaryDirectory()
        self.addCleanup(dir_.cleanup)
        self.dir = dir_.name

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def run_tool(self, *words, status=0, stdin=None, root="", **env):
        p = subprocess.run([TOOL, *words], capture_output=True, text=True, check=False, timeout=60, input=stdin,
                           env={**os.environ, "SEEPAGE_ROOT": root, **env})
        self.assertEqual(p.returncode, status, p.stderr)
        return p

    def page(self, text=None, *words):
        return self.run_tool(self.file("recording", text or recording()), "-o", "-", *words).stdout

    def test_sections_and_charts(self):
        text = self.page()
        page = Page(text)
        self.assertEqual(page.tags.count("section"), 2)
        # of memory and of page faults; lines that are 0 all the time, as those of files and swap, are left out
        self.assertEqual(page.tags.count("svg"), 3)
        self.assertEqual(page.tags.count("polyline"), 6)
        # what was under alert comes first
        self.assertRegex(text, r"(?s)<h2>pid 4711: leaker.*<h2>pid 12: idle")
        for word in ("/usr/bin/leaker", "not used again", "100.0 % of what it gained", "saturation",
                     "Factors, points of the maximum", "2 processes and groups, 240 samples"):
            self.assertIn(word, page.text)

    def test_files_and_swap_are_lines(self):
        page = Page(self.page(recording().replace("2 a+", "2 f+256 w+2560 a+")))
        for name in ("of files", "swapped out", "page faults a second"):
            self.assertIn(name, page.text)
        self.assertEqual(page.tags.count("polyline"), 8)
        page = Page(self.page())
        self.assertNotIn("of files", page.text)
        # 10 MB of pages in 10 s; the scale is that of a number
        self.assertIn("page faults a second", page.text)
        self.assertIn("256", page.text)

    def test_time_of_day(self):
        """Where the recording says what the clock showed: of changes, below charts and of the whole."""
        name = self.file("recording", recording(clock=CLOCK))
        page = Page(self.run_tool(name, "-o", "-", TZ="Europe/Berlin").stdout)
        for text in ("from 2025-11-28 10:55:52 to 2025-11-28 11:15:42 CET", "; time of day CET"):
            self.assertIn(text, page.text)
        # the same times as replay prints, in the zone that it has too
        told = subprocess.run([REPLAY, name], capture_output=True, text=True, check=True,
                              env={**os.environ, "TZ": "Europe/Berlin"}).stdout
        times = re.findall(r"^(2025-11-28 1[01]:\d\d:\d\d) \w+ \w+ -> (\w+)", told, re.M)
        self.assertEqual([state for _, state in times], ["watch", "suspected", "confirmed", "runaway", "exited"])
        for when, state in times:
            self.assertRegex(page.text, rf"{when}\w+?s{state}")
        first = json.loads(subprocess.run([REPLAY, "-j", name], capture_output=True, text=True,
                                          check=True).stdout.splitlines()[0])
        self.assertEqual((first["time"], first["time_ns"]), ("2025-11-28T09:55:52Z", 10**10))
        # the first label has the date, the others have the hour
        self.assertRegex(page.text, r"2025-11-28 10:55:52\n(.*\n)11:00:49\n")

    def test_time_of_day_over_midnight(self):
        name = self.file("recording", recording(clock=CLOCK + 13 * 3600 + 55 * 60))
        page = Page(self.run_tool(name, "-o", "-", TZ="UTC").stdout)
        self.assertRegex(page.text, r"2025-11-28 23:50:52\n.*\n23:55:49\n.*\n2025-11-29 00:00:47\n")

    def test_no_time_of_day(self):
        text = self.page()
        for pattern in ("time of day", r"from \d{4}-", r"<td class=\"n\">\d+-"):
            self.assertNotRegex(text, pattern)
        told = subprocess.run([REPLAY, self.file("recording", recording())], capture_output=True, text=True, check=True)
        self.assertTrue(told.stdout.startswith("9s ok -> watch: "), told.stdout)

    def test_unit_and_user(self):
        text = Page(self.page(recording(exe="/x cgroup=/system.slice/leaky.service").replace("%20cgroup%3D", " cgroup=")
                              .replace("uid=7", "uid=0"))).text
        self.assertIn("unitleaky.service\n", text)
        self.assertIn("user id0, here root\n", text)

    def test_container(self):
        cid = "0123456789abcdef" * 4
        file = self.file("r", recording(exe=f"/x cgroup=/system.slice/docker-{cid}.scope")
                         .replace("%20cgroup%3D", " cgroup="))
        self.assertNotIn("Shop", self.run_tool(file, "-o", "-", root=self.dir).stdout)
        os.makedirs(f"{self.dir}/var/lib/docker/containers/{cid}")
        self.file(f"var/lib/docker/containers/{cid}/config.v2.json", json.dumps({"Name": "/Shop", "Config": {"Labels": {
            "io.kubernetes.pod.name": "<web>", "io.kubernetes.pod.namespace": "prod"}}}))
        page = Page(self.run_tool(file, "-o", "-", root=self.dir).stdout)
        self.assertIn("unitcontainer 0123456789ab (docker)\ncontainerShop of pod <web> in prod\n", page.text)
        # what ps and alerts ask top for
        for cgroup, said in ((f"/system.slice/docker-{cid}.scope", "container Shop of pod <web> in prod (docker)\n"),
                             (f"/system.slice/docker-{cid[::-1]}.scope", ""), ("/system.slice/x.service", "")):
            top = subprocess.run([os.path.join(TOP, "build/ctl/tools/seepage-top"), "--container", cgroup],
                                 capture_output=True, text=True, check=False, env={**os.environ, "SEEPAGE_ROOT": self.dir})
            self.assertEqual((top.returncode, top.stdout, top.stderr), (0, said, ""))
        # of all containers in one process: each line has an answer
        top = subprocess.run([os.path.join(TOP, "build/ctl/tools/seepage-top"), "--container", "-"], text=True,
                             input="".join(f"/system.slice/{name}\n" for name in (f"docker-{cid}.scope", "x.service",
                                           f"docker-{cid[::-1]}.scope")),
                             capture_output=True, check=False, env={**os.environ, "SEEPAGE_ROOT": self.dir})
        self.assertEqual((top.returncode, top.stdout, top.stderr), (0, "container Shop of pod <web> in prod (docker)\n"
                         f"x.service\ncontainer {cid[:-13:-1]} (docker)\n", ""))

    def test_states_and_alerts_are_those_of_replay(self):
        replay = subprocess.run([REPLAY, "-j", self.file("r", recording())], capture_output=True, text=True,
                                check=False).stdout
        states = [o["state"] for o in map(json.loads, replay.splitlines()) if o.get("pid") == 4711]
        self.assertIn("suspected", states)
        section = self.page().split("<h2>")[1]
        self.assertEqual(re.findall(r'<td class="n">[^<]*</td><td><span class="s s\d">(\w+)<', section), states)
        bands = re.findall(r'class="band".*?<title>(\w+)<', section)
        self.assertEqual(bands, [s for s in states if s not in ("ok", "exited", "recovered")])
        alerts = [s for s in states if s in ("suspected", "confirmed", "runaway", "exited")]
        self.assertEqual(len(re.findall('class="alert"', section)), len(alerts))
        self.assertIn('class="s s%d"' % (2 + ["suspected", "confirmed", "runaway"].index(
            max(set(states) & {"suspected", "confirmed", "runaway"}, key="suspected confirmed runaway".index))),
            section.split("</h2>")[0])

    def test_an_exit_is_as_severe_as_the_alert_that_it_ends(self):
        replay = subprocess.run([REPLAY, "-j", self.file("r", recording())], capture_output=True, text=True,
                                check=False).stdout
        alert, exited = [o for o in map(json.loads, replay.splitlines()) if o.get("pid") == 4711][-2:]
        self.assertEqual((exited["state"], exited["prev_state"]), ("exited", alert["state"]))
        self.assertGreater(alert["severity"], 1)
        self.assertEqual(exited["severity"], alert["severity"])
        rows = re.findall(r"severity ([a-z-]+)", Page(self.page()).text)
        self.assertEqual(rows[-1], rows[-2])
        self.assertNotIn("minimal", rows)

    def test_a_line_is_within_the_chart(self):
        for points in re.findall(r'points="([^"]*)"', self.page()):
            for point in points.split():
                x, y = map(float, point.split(","))
                self.assertTrue(86 <= x <= 988 and 30 <= y <= 220, point)

    def test_many_samples_take_no_more_room(self):
        few = len(self.page(recording(passes=450, reset=" why=reset")))
        many = len(self.page(recording(passes=180, reset=" why=reset")
                             .replace("gone 1 why=reset\n", "") + (f"pass {10**9} full 10000000\n" * 20000)
                             + "gone 1 why=reset\n"))
        self.assertLess(many, 2 * few)

    def test_nothing_of_a_recording_becomes_markup(self):
        text = self.page(recording(comm=EVIL, exe="/x/" + EVIL + "\x1b[2J"))
        page = Page(text)
        self.assertNotIn("script", page.tags)
        self.assertIn(EVIL, page.text)
        self.assertIn("\\x1b[2J", page.text)
        self.assertNotIn("\x1b", text)

    def test_nothing_is_loaded(self):
        text = self.page()
        page = Page(text)
        self.assertFalse({"script", "link", "img", "iframe", "object", "a", "base"} & set(page.tags))
        self.assertFalse({"href", "src", "xlink:href", "onload"} & {name for name, _ in page.attributes})
        self.assertEqual(re.findall(r"https?://[^\"]*", text).count("http://www.w3.org/2000/svg"),
                         len(re.findall(r"https?://", text)))
        self.assertNotRegex(text, r"url\(|@import")
        self.assertIn("default-src 'none'; style-src 'unsafe-inline'", [v for _, v in page.attributes])

    def test_where(self):
        where = {"pid": 4711, "comm": EVIL, "allocator": "glibc", "method": "census", "seconds": 60.2,
                 "classes": [{"size_bytes": [73, 88], "blocks": 9, "growth_blocks": 8, "growth_bytes": 1 << 20,
                              "content": {"kind": "vtable", "name": "<Session>", "share_permille": 990}}],
                 "sites": [{"bytes": 4096, "blocks": 3, "survival_permille": 987,
                            "stack": [{"symbol": "keep<int>", "source": "/home/u/leak.cpp:12"}, {"symbol": None, "module": "/lib/libx.so"}]}]}
        page = Page(self.page(None, "--where", self.file("w", json.dumps(where))))
        for word in ("vtable <Session>", "+1.0 MiB", "keep<int>", "libx.so", "4.0 KiB", "98.7 %", "(leak.cpp:12)", EVIL):
            self.assertIn(word, page.text)
        self.assertNotIn("sampled", page.text)
        where["method"] = "burst"
        self.assertIn("sampled bytes that stay", Page(self.page(None, "--where", self.file("w", json.dumps(where)))).text)
        for bad in ("{}", "[", ""):
            p = self.run_tool(self.file("r", recording()), "-o", "-", "--where", self.file("w", bad), status=1)
            self.assertIn("allowed the output of seepage -j where", p.stderr)

    def test_a_file_is_written_only_if_all_went_well(self):
        out = os.path.join(self.dir, "out.html")
        bad = self.file("bad", recording() + "nonsense\n")
        p = self.run_tool(bad, "-o", out, status=1)
        self.assertIn("'nonsense': allowed", p.stderr)
        self.assertFalse(os.path.exists(out))
        self.run_tool(self.file("good", recording()), "-o", out)
        with open(out, encoding="utf-8") as f:
            self.assertEqual(Page(f.read()).tags.count("svg"), 3)
        # It has command lines of other users: not for everybody to read.
        self.assertEqual(os.stat(out).st_mode & 0o777, 0o600)
        p = self.run_tool(self.file("good", recording()), "-o", os.path.join(self.dir, "no/such"), status=1)
        self.assertIn("No such file", p.stderr)

    def test_a_recording_that_was_cut_off_is_a_page(self):
        text = recording()
        cut = text[:text.index("\n1 a+", len(text) // 2) + 6]
        p = self.run_tool(self.file("cut", cut), "-o", "-")
        said = f"line {cut.count(chr(10)) + 1}"
        self.assertIn(said + ": its end is missing: the file was cut off: the page has what is before", p.stderr)
        page = Page(p.stdout)
        self.assertIn(said, page.text.split("pid 4711")[0])
        self.assertEqual(page.tags.count("svg"), 3)
        self.assertNotIn("exited", page.text)
        for none in (cut[:30], cut[:10], ""):
            self.assertEqual(self.run_tool(self.file("cut", none), "-o", "-", status=1).stdout, "")
        self.assertNotIn("cut off", self.page())

    def test_a_name_of_its_own_and_the_older_page(self):
        good = self.file("good", recording())
        name = os.path.join(self.dir, "seepage-report.html")

        def there(path=name):
            with open(path, encoding="utf-8") as f:
                return f.read()
        cwd = os.getcwd()
        self.addCleanup(os.chdir, cwd)
        os.chdir(self.dir)
        p = self.run_tool(good)
        self.assertEqual((p.stdout, p.stderr), ("seepage-report.html\n", ""))
        self.assertIn("4711: leaker", there())
        self.assertEqual(os.stat(name).st_mode & 0o777, 0o600)
        p = self.run_tool(self.file("other", recording(comm="other")))
        self.assertIn("the older seepage-report.html is now seepage-report.html.old", p.stderr)
        self.assertIn("4711: other", there())
        self.assertIn("4711: leaker", there(name + ".old"))
        p = self.run_tool(good, "-o", name)
        self.assertEqual(p.stdout, "")
        self.assertIn("4711: other", there(name + ".old"))
        # neither a link nor a device is moved away
        os.symlink("seepage-report.html", "link")
        self.assertEqual(self.run_tool(good, "-o", "link").stderr, "")
        self.assertTrue(os.path.islink("link"))
        self.assertEqual(self.run_tool(good, "-o", "/dev/null").stderr, "")
        # where the older one cannot be kept, it stays
        os.mkdir("seepage-report.html.old.d")
        os.replace("seepage-report.html.old", "seepage-report.html.old.d/x")
        os.rename("seepage-report.html.old.d", "seepage-report.html.old")
        before = there()
        p = self.run_tool(self.file("other", recording(comm="third")), status=1)
        self.assertIn("cannot be kept as", p.stderr)
        self.assertEqual(there(), before)

    def test_standard_input(self):
        self.assertIn("leaker", self.run_tool("-", "-o", "-", stdin=recording()).stdout)

    def test_words_are_refused(self):
        for words, said in ((("f", "-o", ""), "-o: '': allowed the name of a file"),
                            (("-j", "f", "-o", "x"), "-j: not allowed"), (("0", "-o", "x"), "PID: '0': allowed"),
                            (("#x", "-o", "-"), "PID: '#x': allowed"), ((), "words are missing")):
            self.assertIn(said, self.run_tool(*words, status=2).stderr)
        self.assertIn("No such file", self.run_tool("/no/such", "-o", "-", status=1).stderr)
        self.assertIn("report: /: cannot read on: Is a directory\n", self.run_tool("/", "-o", "-", status=1).stderr)


@unittest.skipUnless(os.path.exists(TOOL) and shutil.which("cc"), "needs make ctl and a compiler")
class Live(unittest.TestCase):
    """Of a process and of alerts. Only the module is made up: report_fixture.c."""
    GONE = 2000000000

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.program = os.path.join(cls.dir, "report")
        build = os.path.join(TOP, "build/ctl")
        objects = [f"{build}/{part}.o" for part in PARTS]
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libnl-genl-3.0", "json-c"], capture_output=True,
                               text=True, check=True).stdout.split()
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-iquote", f"{TOP}/ctl", f"-I{TOP}/include",
                        f"-I{TOP}/include/uapi", "-o", cls.program, f"{TOP}/tests/ctl/report_fixture.c",
                        f"{build}/tools/main-report.o", f"{build}/tools/report.o", *objects, f"{build}/libseepctl.a",
                        f"{build}/libdetect.a", *(f"-Wl,--wrap=knl_{name}" for name in ("open", "resolve", "call")),
                        *flags, "-lm"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        shutil.rmtree(os.path.join(self.dir, "run"), ignore_errors=True)
        for name in ("recording", "recording.old"):
            if os.path.exists(os.path.join(self.dir, name)):
                os.unlink(os.path.join(self.dir, name))

    def page(self, what, word, pid=GONE, recorded=None, **env):
        name = os.path.join(self.dir, "recording")
        if recorded is None and os.path.exists(name):
            os.unlink(name)
        elif recorded is not None:
            with open(name, "w", encoding="utf-8") as f:
                f.write(recorded)
        p = self.run_fixture(what, word, pid, **env)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return Page(p.stdout)

    def file(self, name, content):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
        return path

    def run_fixture(self, what, word, pid, **env):
        return subprocess.run([self.program, word, "-o", "-"], capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "FIXTURE": what, "FIXTURE_PID": str(pid),
                                   "SEEPAGE_RECORDING": os.path.join(self.dir, "recording"),
                                   "SEEPAGE_RUN": os.path.join(self.dir, "run"), **env})

    def keep(self, pid, ago_s, start=1):
        """What watch --where has kept of a process"""
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as f:
            boot = f.read().strip()
        at = os.path.join(self.dir, "run/where")
        os.makedirs(at, exist_ok=True)
        os.chmod(at, 0o700)
        with open(f"{at}/answer-{pid}-{start}-{boot}", "w", encoding="utf-8") as f:
            json.dump({"pid": pid, "comm": "leaky", "allocator": "glibc", "method": "census", "seconds": 60,
                       "time_ns": time.time_ns() - ago_s * 10**9, "classes": [], "sites": []}, f)

    def test_an_alert_of_a_process_that_lives_has_where_it_leaks(self):
        with open("/proc/self/stat", encoding="utf-8") as f:
            start = f.read().rsplit(")", 1)[1].split()[19]
        self.keep(os.getpid(), 20, start)
        for word in (str(os.getpid()), "#1", "#2"):
            page = self.page("lives", word, os.getpid())
            self.assertIn(f"Where: pid {os.getpid()}, leaky", page.text, word)
            self.assertIn("It grows as a leak would", page.text)
            self.assertNotIn("-0s", page.text)

    def test_an_alert_of_one_that_has_ended(self):
        for what in ("exited", "gone"):
            self.keep(self.GONE, 40)
            for word in ("#1", "#2"):
                page = self.page(what, word)
                self.assertIn(f"Where: pid {self.GONE}, leaky", page.text)
                self.assertIn("It grew as a leak would", page.text)
                self.assertNotIn("It grows as", page.text)
                self.assertIn("recording, which has none of it", page.text)
        # of an earlier process, and of a later one
        for ago_s in (200, 10):
            self.keep(self.GONE, ago_s)
            self.assertNotIn("Where:", self.page("exited", "#2").text)

    def test_the_pid_of_one_that_has_ended_is_its_last_alert(self):
        for what in ("exited", "gone"):
            page = self.page(what, str(self.GONE))
            self.assertIn(f"pid {self.GONE}: leaky confirmed", page.text)
            self.assertIn("recording, which has none of it", page.text)

    def test_recordings_of_earlier_boots(self):
        """Of a pid that the module does not know; those of an alert are of this boot."""
        other = self.GONE - 1
        mine = recording(comm="leaky").replace("pid=4711", f"pid={other}")
        name = os.path.join(self.dir, "recording")
        begun = (time.time() - time.monotonic() - 86400) // 60 * 60 + 30		# an earlier boot
        page = self.page("gone", str(other), recorded=mine)
        self.assertIn(f"From the recording {name}, of this boot, which began about ", page.text)
        self.assertIn(f"pid {other}: leaky", page.text)
        self.assertNotIn("idle", page.text)
        old = recording(comm="older").replace("pid=4711", f"pid={other}")
        os.utime(self.file("recording.old", old), (begun + 1200, begun + 1200))	# 120 passes of 10 s
        page = self.page("gone", str(other), recorded=mine)
        boot = time.strftime("%Y-%m-%d %H:%M", time.localtime(begun))
        self.assertRegex(page.text, rf"(?s)From the recording {name}.old, of an earlier boot, which began about {boot}.*"
                                    rf"pid {other}: older.*{name}, of this boot, .*pid {other}: leaky")
        # a recording that says what the clock showed needs no time of its file
        old = recording(comm="older", clock=CLOCK).replace("pid=4711", f"pid={other}")
        os.utime(self.file("recording.old", old), (begun + 1500, begun + 1500))
        boot = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(CLOCK))
        self.assertIn(f"an earlier boot, which began about {boot} ", self.page("gone", str(other), recorded=mine).text)
        os.utime(self.file("recording.old", old.replace(f"pid={other}", f"pid={self.GONE}").replace("older", "leaky")),
                 (begun + 1200, begun + 1200))
        page = self.page("exited", "#2", recorded=recording())
        self.assertIn("recording, which has none of it", page.text)
        self.assertNotIn("earlier boot", page.text)

    def test_a_pid_of_which_nothing_is_known(self):
        p = self.run_fixture("gone", str(self.GONE - 1), self.GONE)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        said = "neither the module nor a recording of the service seepage-record has it\n"
        self.assertEqual(p.stderr, f"seepage: report: pid {self.GONE - 1}: {said}")

    def test_the_number_of_an_alert_that_is_not_held(self):
        """As one of an earlier boot: the recording knows pids, which replay prints."""
        p = self.run_fixture("exited", "#9", self.GONE)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertEqual(p.stderr, "seepage: report: alert #9 is not held (see seepage alerts)\n")
        name = self.file("recording", recording())
        p = self.run_fixture("exited", "#9", self.GONE)
        self.assertEqual(p.stderr, "seepage: report: alert #9 is not held (see seepage alerts; of an earlier boot: "
                                   f"seepage report PID, and seepage replay of {name} or {name}.old has the pids)\n")

    @unittest.skipIf(os.path.exists("/sys/module/seepage"), "the module is loaded")
    def test_recordings_without_the_module(self):
        name = self.file("recording", recording().replace("pid=4711", f"pid={self.GONE}"))
        env = {**os.environ, "SEEPAGE_RECORDING": name}
        p = subprocess.run([TOOL, str(self.GONE), "-o", "-"], capture_output=True, text=True, check=False, env=env)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn(f"pid {self.GONE}: leaker", Page(p.stdout).text)
        # an alert is the module's
        p = subprocess.run([TOOL, "#1", "-o", "-"], capture_output=True, text=True, check=False, env=env)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("module not loaded", p.stderr)
        self.assertIn(f"of an earlier boot: seepage report PID, and seepage replay of {name} or ", p.stderr)

    def test_what_was_recorded_of_it(self):
        mine = recording(comm="leaky").replace("pid=4711", f"pid={self.GONE}")
        page = self.page("exited", "#2", recorded=mine)
        self.assertIn("memory over time, with its states", [value for _, value in page.attributes])
        self.assertEqual(page.tags.count("svg"), 2)
        self.assertNotIn("none of it", page.text)
        self.assertNotIn("idle", page.text)
        # also from a file that is being written; nothing of another process, or of a process that lives
        self.assertEqual(self.page("gone", "#1", recorded=mine[:-4]).tags.count("svg"), 2)
        self.assertIn("none of it", self.page("exited", "#2", recorded=recording()).text)
        self.assertNotIn("none of it", self.page("lives", "#2", recorded=mine).text)

    @unittest.skipIf(time.monotonic() < 200, "needs a machine that is up for some minutes")
    def test_what_was_recorded_of_one_that_lives(self):
        age = min(1205, int(time.monotonic()) - 1)

        def born(age_s, more=""):
            """The recording of a process of that age; more: at its first sample"""
            at = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - age_s * 10**9
            return (recording(comm="old-name").replace("pid=4711", f"pid={self.GONE}")
                    .replace("born_ns=1 begun_ns=1000000000", f"born_ns={at} begun_ns={at}")
                    .replace(f"pass {10**10} ", f"pass {at + 10**10} ", 1)
                    .replace(f"m+{30 * MB}", f"m+{30 * MB}{more}", 1))[:-4]
        for word in (str(self.GONE), "#2"):
            page = self.page("lives", word, recorded=born(age), FIXTURE_AGE=str(age))
            self.assertEqual(page.tags.count("section"), 2, word)
            self.assertIn("of this boot", page.text)
            self.assertIn("old-name", page.text)
            self.assertNotIn("idle", page.text)
            bands = [value for _, value in page.attributes].count("band")
            self.assertEqual(bands, 4)		# watch, suspected, confirmed, runaway
        # of an earlier process, of another pid, and of none: the floors alone
        for recorded in (born(age + 5), born(age - 5), born(age).replace(str(self.GONE), "4711"), None):
            page = self.page("lives", "#2", recorded=recorded, FIXTURE_AGE=str(age))
            self.assertEqual(page.tags.count("section"), 1)
            self.assertNotIn("old-name", page.text)
            self.assertNotIn("none of it", page.text)
        # a program that was executed since its first sample is another life; its birth is in the recording
        at = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - (age - 30) * 10**9
        page = self.page("lives", "#2", recorded=born(age, f" b{at}"), FIXTURE_AGE=str(age))
        self.assertEqual(page.tags.count("section"), 1)
        page = self.page("lives", "#2", recorded=born(age, f" b{at}"), FIXTURE_AGE=str(age - 30))
        self.assertEqual(page.tags.count("section"), 2)


if __name__ == "__main__":
    unittest.main()
