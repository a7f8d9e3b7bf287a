# SPDX-License-Identifier: GPL-2.0
"""seepage notify with receivers that fail: they hang, refuse, are down, ask for time; with kills in
the middle of deliveries; with a journal's and a syslog's socket. Runs on this machine, without
the module: alerts come through --from, as `watch -j` prints them."""
import http.server
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.join(TOP, "build/ctl/tools/seepage-notify")
INSTANCE = 1234567890123456789
LONG = 90		# seconds: what a busy machine may take


def alert(seq, **keys):
    """One line of watch -j, as a process that leaks gives it."""
    o = {"seq": seq, "time_ns": 1790000000000000000 + seq * 10**9, "time": "2026-09-21T14:13:20Z",
         "instance": INSTANCE, "prev_state": "watch", "severity": 6, "pid": 1000 + seq,
         "comm": "leaky", "uid": 33, "cgroup": "/system.slice/leaky.service", "cgroup_id": 77,
         "unit": "leaky.service", "unit_uid": None, "runtime": None, "container": None, "pod": None,
         "exe": "/usr/bin/leaky", "state": "suspected", "confidence": 80, "policy": "ladder",
         "score": {"floor": 40}, "rss_bytes": 210 << 20, "vsz_bytes": 300 << 20,
         "growth_bytes_per_hour": 500 << 20, "tte_seconds": 7200, "subject": "memory",
         "fault_rate": 12, "age_seconds": 600 + seq, "cmdline": "leaky --all", "ppid": 1,
         "parent": "systemd", "end": None, "merged_into": None}
    o.update(keys)
    return o


def text(alerts):
    return "".join(json.dumps(a) + "\n" for a in alerts)


def wait_for(what, *arguments):
    end = time.monotonic() + LONG
    while not what(*arguments):
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Receiver:
    """An HTTP server. @answers: for the first requests in order, then `otherwise`: a status, a
    status and headers, "hang" or "drop"."""

    def __init__(self, test, *answers, otherwise=200, port=0, tls=None):
        self.answers, self.otherwise = list(answers), otherwise
        self.seen, self.taken, self.paths, self.methods = [], [], [], []
        self.lock, self.released = threading.Lock(), threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.handle(self)
            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        test.addCleanup(self.close)

    def handle(self, request):
        size = int(request.headers.get("Content-Length", 0))
        body = request.rfile.read(size)
        with self.lock:
            answer = self.answers.pop(0) if self.answers else self.otherwise
            status, headers = answer if isinstance(answer, tuple) else (answer, {})
            self.seen.append((time.monotonic(), json.loads(body) if body else None))
            self.paths.append(request.path)
            self.methods.append(request.command)
            self.headers = request.headers
            if status == 200:
                self.taken.append(json.loads(body))
        if status == "hang":
            self.released.wait(LONG)
        if status in ("hang", "drop"):
            request.close_connection = True
            return
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(b"answer\n" if status != 200 else b"")

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


class Notify(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.state = os.path.join(self.dir, "state")

    def path(self, name, content=None):
        path = os.path.join(self.dir, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
        return path

    def start(self, *words, stdin=subprocess.PIPE, env=None, state=True, **how):
        words = [*words, "--state-dir", self.state] if state else words
        env = {k: v for k, v in os.environ.items() if not k.endswith("_proxy")} | (env or {})
        p = subprocess.Popen([TOOL, *words], stdin=stdin, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=env, **how)

        def end():
            p.kill()
            p.wait()
            for f in (p.stdin, p.stdout, p.stderr):
                if f:
                    f.close()
        self.addCleanup(end)
        return p

    def run_on(self, alerts, *words, status=0, **how):
        """Runs it on these alerts to its end; returns stdout and stderr."""
        p = self.start("--from", self.path("alerts", text(alerts)), *words, **how)
        out, err = p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, status, err)
        return out, err

    def pipe(self, *words, **how):
        return self.start("--from", "-", *words, **how)

    def feed(self, p, alerts):
        p.stdin.write(text(alerts))
        p.stdin.flush()

    def ended(self, p, status=0):
        out, err = p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, status, err)
        return out, err

    def spool_bytes(self):
        total = 0
        for name in self.notes():
            try:
                total += os.path.getsize(name)
            except FileNotFoundError:	# delivered or dropped meanwhile
                pass
        return total

    def notes(self):
        return [os.path.join(d, f) for d, _, files in os.walk(self.state) for f in files
                if f[0].isdigit()]

    def seqs(self, receiver):
        return [body["alert"]["seq"] for body in receiver.taken]


class Payload(Notify):
    def test_webhook_has_the_keys_of_the_document_and_ours(self):
        to = Receiver(self)
        self.run_on([alert(1, shares_with=5, shared_growth_bytes_per_hour=1 << 30)],
                    "--webhook", to.url + "/hook")
        body = to.taken[0]
        self.assertEqual((body["type"], body["pid"], body["process"], body["severity"],
                          body["confidence"], body["timestamp"]),
                         ("memory_leak_detected", 1001, "leaky", "Medium-High", 80, 1790000001.0))
        self.assertEqual(body["metrics"], {"rss_mb": 210, "vsz_mb": 300, "fault_rate": 12})
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            boot = f.read().strip()
        self.assertEqual(body["id"], f"{boot}/{INSTANCE:x}/1")
        self.assertEqual(body["alert"]["cmdline"], "leaky --all")
        self.assertIn("pid 1001 (leaky) in leaky.service, RSS 210.0 MiB", body["text"])
        self.assertIn(", 2h00m left with 5 other processes, +1.0 GiB/h in all, severity ", body["text"])
        self.assertTrue(body["text"].endswith("; seepage explain '#1'"), body["text"])
        self.assertEqual(to.headers["Content-Type"], "application/json")
        self.assertEqual(to.paths, ["/hook"])

    def test_an_end_says_how_the_process_ended(self):
        none = {"kind": "exit", "code": 0, "signal": None, "oom": False, "oom_cgroup": None,
                "oom_cgroup_id": None}
        oom = {"kind": "signal", "code": None, "signal": 9, "oom": True}
        of_cgroup = none | oom | {"oom_cgroup": "/system.slice/leaky.service", "oom_cgroup_id": 77}
        cases = (
            (of_cgroup, "the OOM killer ended it, for its cgroup /system.slice/leaky.service"),
            (of_cgroup | {"oom_cgroup": None},
             "the OOM killer ended it, for its cgroup (id 77, removed)"),
            (none | oom, "the OOM killer ended it"),
            (none | {"kind": "signal", "code": None, "signal": 9}, "signal 9 (Killed) ended it"),
            (none | {"code": 3}, "it exited with code 3"),
            (none | {"kind": "exec", "code": None}, "it executed another program"),
        )
        for i, (end, words) in enumerate(cases):
            with self.subTest(words=words):
                self.state = os.path.join(self.dir, f"state{i}")
                to, other = Receiver(self), Receiver(self)
                self.run_on([alert(1, pid=5, age_seconds=10, last_end=end),
                             alert(2, pid=5, age_seconds=11, state="exited", end=end)],
                            "--alertmanager", to.url, "--webhook", other.url)
                before, after = (body[0]["annotations"] for body in to.taken)
                self.assertEqual((before["end"], after["end"]), ("last time " + words, words))
                self.assertIn(f", confidence 80; last time {words}; seepage", other.taken[0]["text"])
                self.assertIn(f", confidence 80; {words}; seepage", other.taken[1]["text"])

    def test_an_alert_names_user_and_command_line(self):
        to, other = Receiver(self), Receiver(self)
        self.run_on([alert(1, uid=0), alert(2, uid=4294967294, cmdline=None)],
                    "--alertmanager", to.url, "--webhook", other.url)
        notes = [body[0]["annotations"] for body in to.taken]
        self.assertEqual((notes[0]["user"], notes[0]["cmdline"]), ("root", "leaky --all"))
        self.assertEqual({"user", "cmdline", "end"} & set(notes[1]), set())
        self.assertEqual([body["alert"]["user"] for body in other.taken], ["root", None])
        # what is repeated has them too
        with open(os.path.join(self.state, "state.json"), encoding="utf-8") as f:
            kept = json.load(f)["open"][0]["alert"]
        self.assertEqual((kept["user"], kept["cmdline"]), ("root", "leaky --all"))

    def test_an_end_that_is_told_late_ends_the_alert(self):
        # the age is that of the last sample, a pass of ten seconds before
        to = Receiver(self)
        self.run_on([alert(1, pid=5, age_seconds=90), alert(2, pid=5, age_seconds=91),
                     alert(14, pid=5, age_seconds=92, state="exited")], "--alertmanager", to.url)
        self.assertEqual(len(to.taken), 3)
        first, _, last = to.taken
        self.assertEqual(last[0]["labels"], first[0]["labels"])
        self.assertEqual(last[0]["startsAt"], first[0]["startsAt"])
        self.assertIn("endsAt", last[0])

    def test_an_end_of_a_much_later_process_of_the_pid_ends_nothing(self):
        to = Receiver(self)
        self.run_on([alert(1, pid=5, age_seconds=90),
                     alert(9000, pid=5, age_seconds=92, state="exited")], "--alertmanager", to.url)
        self.assertNotIn("endsAt", to.taken[0][0])
        for later in to.taken[1:]:
            self.assertNotEqual(later[0]["labels"], to.taken[0][0]["labels"])

    def test_alertmanager_keeps_labels_and_begin_to_the_end(self):
        to = Receiver(self)
        self.run_on([alert(1, pid=5, age_seconds=10),
                     alert(2, pid=5, age_seconds=12, state="confirmed", severity=10),
                     alert(3, pid=5, age_seconds=12, state="exited", severity=8)],
                    "--alertmanager", to.url + "/")
        self.assertEqual(to.paths, ["/api/v2/alerts"] * 3)
        first, second, third = to.taken
        self.assertEqual([len(first), len(second), len(third)], [1, 2, 1])
        self.assertNotIn("endsAt", first[0])
        # a label has changed: that alert ends, another begins
        self.assertEqual(second[0]["labels"], first[0]["labels"])
        self.assertIn("endsAt", second[0])
        self.assertEqual(second[1]["labels"]["severity"], "critical")
        self.assertNotIn("endsAt", second[1])
        self.assertEqual(third[0]["labels"], second[1]["labels"])
        self.assertEqual({a["startsAt"] for a in first + second + third}, {first[0]["startsAt"]})
        self.assertGreater(third[0]["endsAt"], third[0]["startsAt"])

    def container(self, runtime, path, content, **keys):
        """The message about an alert of a container whose runtime has this file."""
        cid = "0123456789abcdef" * 4
        root = tempfile.mkdtemp(dir=self.dir)
        path = os.path.join(root, path.replace("ID", cid))
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as f:
            f.write(content if isinstance(content, str) else json.dumps(content).replace("ID", cid))
        self.state = os.path.join(root, "state")
        to = Receiver(self)
        self.run_on([alert(1, **{"unit": "x.scope", "runtime": runtime, "container": cid} | keys)],
                    "--webhook", to.url, env={"SEEPAGE_ROOT": root})
        a = to.taken[0]["alert"]
        return (a["container_name"], a["pod_name"], a["pod_namespace"],
                a["text"].split(" in ", 1)[1].split(", RSS")[0])

    def test_names_of_containers(self):
        docker = "var/lib/docker/containers/ID/config.v2.json"
        task = "run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json"
        store = "var/lib/containers/storage/overlay-containers/"
        cri = {"io.kubernetes.cri.container-name": "app", "io.kubernetes.cri.sandbox-name": "web-7d",
               "io.kubernetes.cri.sandbox-namespace": "shop"}
        kubelet = {"io.kubernetes.container.name": "app", "io.kubernetes.pod.name": "web-7d",
                   "io.kubernetes.pod.namespace": "shop"}
        pod = ("app", "web-7d", "shop")
        where = "%s 0123456789ab (app of pod web-7d in shop)"
        for runtime, path, content, names, in_text in (
                ("docker", docker, {"Name": "/web", "Config": {"Labels": {}}}, ("web", None, None),
                 "docker 0123456789ab (web)"),
                ("docker", docker, {"Name": "/k8s_app", "Config": {"Labels": kubelet}}, pod,
                 where % "docker"),
                ("containerd", task, {"annotations": cri}, pod, where % "containerd"),
                ("containerd", task.replace("k8s.io", "default"),
                 {"annotations": {"nerdctl/name": "web"}}, ("web", None, None),
                 "containerd 0123456789ab (web)"),
                ("kubernetes", task, {"annotations": cri}, pod, where % "kubernetes"),
                ("cri-o", store + "ID/userdata/config.json", {"annotations": kubelet}, pod,
                 where % "cri-o"),
                ("podman", store + "containers.json",
                 [{"id": "f" * 64, "names": ["other"]}, {"id": "ID", "names": ["web", "second"]}],
                 ("web", None, None), "podman 0123456789ab (web)"),
                ("podman", store + "volatile-containers.json", [{"id": "ID", "names": ["web"]}],
                 ("web", None, None), "podman 0123456789ab (web)")):
            with self.subTest(runtime=runtime, path=path):
                self.assertEqual(self.container(runtime, path, content), (*names, in_text))

    def test_a_name_in_the_place_of_an_id_is_whole(self):
        for runtime, name in (("lxc", "\u00e4" * 20 + "-production"), ("machine", "build-machine-1")):
            with self.subTest(runtime=runtime):
                self.assertEqual(self.container(runtime, "var/none", "", container=name)[3], f"{runtime} {name}")

    def test_names_of_containers_that_are_not_known(self):
        docker = "var/lib/docker/containers/ID/config.v2.json"
        none = (None, None, None, "docker 0123456789ab")
        for content in ("", "[", "[1, {}]", "{}", '{"Name": 1, "Config": 2}',
                        {"Name": "/", "Config": {"Labels": ["x"]}},
                        {"Name": "/we\u001bb", "Config": {"Labels": {"io.kubernetes.pod.name": 7}}},
                        " " * (5 << 20) + '{"Name": "/web", "Config": {}}'):
            with self.subTest(content=str(content)[:40]):
                self.assertEqual(self.container("docker", docker, content), none)
        self.assertEqual(self.container("docker", "var/lib/docker/containers/config.v2.json",
                                        {"Name": "/web", "Config": {}}, container="..")[:3],
                         none[:3])

    def test_the_name_of_a_container_outlives_its_files(self):
        cid = "0123456789abcdef" * 4
        path = self.path("var")
        os.makedirs(f"{path}/lib/docker/containers/{cid}")
        file = self.path(f"var/lib/docker/containers/{cid}/config.v2.json",
                         '{"Name": "/web", "Config": {}}')
        to = Receiver(self)
        p = self.pipe("--webhook", to.url, "--alertmanager", to.url, env={"SEEPAGE_ROOT": self.dir})
        self.feed(p, [alert(1, pid=5, runtime="docker", container=cid)])
        wait_for(lambda: len(to.taken) == 2)
        os.unlink(file)
        self.feed(p, [alert(2, pid=5, age_seconds=602, runtime="docker", container=cid,
                            state="exited"),
                      alert(3, pid=9, runtime="docker", container=cid)])
        p.stdin.close()
        p.stdin = None
        self.ended(p)
        alerts = [b["alert"]["container_name"] for b in to.taken if "alert" in b]
        self.assertEqual(alerts, ["web", "web", None])
        labels = [b[0]["labels"].get("container_name") for b in to.taken if isinstance(b, list)]
        self.assertEqual(labels, ["web", "web", None])

    def test_labels_are_bounded(self):
        to = Receiver(self)
        self.run_on([alert(1, unit="\u00e4" * 500)], "--alertmanager", to.url)
        self.assertEqual(to.taken[0][0]["labels"]["unit"], "\u00e4" * 64)

    def test_pagerduty_key_is_the_same_from_trigger_to_resolve(self):
        to = Receiver(self, otherwise=202)
        # rounding moves the start by a second from alert to alert
        self.run_on([alert(1, pid=5, age_seconds=10), alert(2, pid=5, age_seconds=12),
                     alert(3, pid=5, age_seconds=12, state="recovered"),
                     alert(4, pid=5, age_seconds=1)],
                    "--pagerduty-key", "secretkey", "--pagerduty-url", to.url)
        bodies = [b for _, b in to.seen]
        self.assertEqual([b["event_action"] for b in bodies],
                         ["trigger", "trigger", "resolve", "trigger"])
        keys = [b["dedup_key"] for b in bodies]
        self.assertEqual(len(set(keys[:3])), 1)
        self.assertNotEqual(keys[3], keys[0])	# the pid was reused
        self.assertIn("-5-1789999991", keys[0])
        self.assertEqual({b["routing_key"] for b in bodies}, {"secretkey"})
        self.assertEqual(bodies[0]["payload"]["severity"], "warning")
        self.assertEqual(bodies[0]["payload"]["custom_details"]["seq"], 1)
        self.assertEqual(to.paths[0], "/v2/enqueue")

    def test_a_group_is_one_incident_when_its_oldest_process_ends(self):
        to = Receiver(self)
        self.run_on([alert(1, pid=5, subject="group", members=4),
                     alert(2, pid=9, subject="group", members=3, age_seconds=20),
                     alert(3, pid=9, subject="group", members=0, state="exited")],
                    "--pagerduty-key", "k", "--pagerduty-url", to.url)
        self.assertEqual(len({b["dedup_key"] for _, b in to.seen}), 1)

    def test_an_incident_ends_though_the_filter_says_otherwise(self):
        pager, hook = Receiver(self), Receiver(self)
        self.run_on([alert(1, pid=5, age_seconds=1), alert(2, pid=5, age_seconds=2, state="exited"),
                     alert(3, pid=6, confidence=10), alert(4, pid=6, state="exited")],
                    "--pagerduty-key", "k", "--pagerduty-url", pager.url, "--webhook", hook.url,
                    "--state", "suspected,confirmed", "--min-confidence", "50")
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger", "resolve"])
        self.assertEqual(self.seqs(hook), [1])

    def test_min_severity(self):
        hook = Receiver(self)
        self.run_on([alert(1, severity=4), alert(2, severity=8)], "--webhook", hook.url,
                    "--min-severity", "8")
        self.assertEqual(self.seqs(hook), [2])

    def test_incidents_of_an_earlier_load_of_the_module_end(self):
        pager, manager = Receiver(self), Receiver(self)
        words = ["--pagerduty-key", "k", "--pagerduty-url", pager.url, "--alertmanager", manager.url]
        self.run_on([alert(1, pid=5)], *words)
        self.run_on([alert(1, pid=6, instance=99)], *words)
        self.assertEqual([b["event_action"] for _, b in pager.seen],
                         ["trigger", "resolve", "trigger"])
        self.assertEqual(pager.seen[0][1]["dedup_key"], pager.seen[1][1]["dedup_key"])
        self.assertEqual(manager.taken[1][0]["labels"], manager.taken[0][0]["labels"])
        self.assertIn("endsAt", manager.taken[1][0])

    def test_incidents_of_an_earlier_boot_end_without_a_new_alert(self):
        pager = Receiver(self)
        words = ["--pagerduty-key", "k", "--pagerduty-url", pager.url]
        self.run_on([alert(1, pid=5)], *words)
        path = os.path.join(self.state, "state.json")
        with open(path, encoding="utf-8") as f:
            state = json.load(f)
        state["boot_id"] = "another"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(state, f)
        self.run_on([], *words)
        self.assertEqual([b["event_action"] for _, b in pager.seen], ["trigger", "resolve"])

    def test_two_incidents_of_one_pid_both_end(self):
        """The pid was used again, and the end of the first was lost."""
        pager = Receiver(self)
        self.run_on([alert(1, pid=5), alert(2, pid=5, age_seconds=1), alert(1, pid=6, instance=99)],
                    "--pagerduty-key", "k", "--pagerduty-url", pager.url)
        keys = {}
        for _, b in pager.seen:
            keys.setdefault(b["event_action"], set()).add(b["dedup_key"])
        self.assertEqual(len(keys["resolve"]), 2)
        self.assertLess(keys["resolve"], keys["trigger"])

    def test_a_limit_ends_though_the_end_of_one_before_a_boot_waits(self):
        pager = Receiver(self, otherwise=503)
        words = ["--pagerduty-key", "k", "--pagerduty-url", pager.url]
        path = os.path.join(self.state, "state.json")
        self.run_on([], *words)
        for boot in ("first", "second"):
            with open(path, encoding="utf-8") as f:
                state = json.load(f)
            state["boot_id"] = boot
            state["arrivals"] = 0	# as where it is killed before it has written the state
            state["open"] = [{"key": f"{boot}-limit-0-1", "instance": 0, "pid": 5, "begun_s": 1,
                              "first_ns": 1, "limit": "unit a.service", "labels": {"a": "b"},
                              "alert": {"id": f"{boot}/limit/1", "pid": 5, "state": "limit_near"}}]
            with open(path, "w", encoding="utf-8") as f:
                json.dump(state, f)
            p = self.pipe(*words)
            wait_for(lambda: len(self.notes()) == ["first", "second"].index(boot) + 1)
            p.kill()
            p.wait()
        pager.otherwise = 200
        self.run_on([], *words)
        self.assertEqual([(b["event_action"], b["dedup_key"]) for b in pager.taken],
                         [("resolve", "first-limit-0-1"), ("resolve", "second-limit-0-1")])

    def test_the_path_of_a_url_is_not_said(self):
        p = self.start("--webhook", "hooks.example/services/SECRET", "--from", "-")
        _, err = self.ended(p, 2)
        self.assertIn("--webhook: 'hooks.example...': allowed http://HOST", err)
        self.assertNotIn("SECRET", err)


class Failures(Notify):
    def test_everything_comes_once_and_in_order_after_failures(self):
        to = Receiver(self, 500, (503, {"Retry-After": "3"}), "drop", 200, (429, {"Retry-After": "2"}),
                      408)
        _, err = self.run_on([alert(i) for i in range(1, 6)], "--webhook", to.url)
        self.assertEqual(self.seqs(to), [1, 2, 3, 4, 5])
        self.assertEqual(self.notes(), [])
        times = [t for t, _ in to.seen]
        self.assertGreaterEqual(times[2] - times[1], 3)
        self.assertGreaterEqual(times[5] - times[4], 2)
        self.assertGreater(times[1] - times[0], 0.4)	# half of the first second at least
        self.assertIn(f"webhook http://127.0.0.1:{to.port}: HTTP 500: answer; it is tried again", err)
        self.assertIn("takes notifications again", err)
        self.assertIn("5 delivered, 0 refused, 0 dropped, 0 waiting", err)

    def test_other_4xx_are_final_and_counted(self):
        to = Receiver(self, 400, 200, 404)
        _, err = self.run_on([alert(1), alert(2), alert(3)], "--webhook", to.url, status=1)
        self.assertEqual(len(to.seen), 3)
        self.assertEqual(self.seqs(to), [2])
        self.assertIn("HTTP 400: answer: not sent again (1 refused so far)", err)
        self.assertIn("1 delivered, 2 refused, 0 dropped, 0 waiting", err)

    def test_a_receiver_that_is_down_comes_back(self):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        s.close()
        p = self.pipe("--webhook", f"http://127.0.0.1:{port}/")
        self.feed(p, [alert(i) for i in range(1, 31)])
        self.assertIn("Couldn't connect to server; it is tried again", p.stderr.readline())
        wait_for(lambda: len(self.notes()) == 30)
        to = Receiver(self, port=port)
        p.stdin.close()
        p.wait(LONG)
        self.assertEqual(self.seqs(to), list(range(1, 31)))

    def test_one_that_hangs_does_not_delay_the_others(self):
        hangs, works = Receiver(self, otherwise="hang"), Receiver(self)
        out = self.path("out")
        script = self.path("slow", "#!/bin/sh\nexec sleep 1000\n")
        os.chmod(script, 0o700)
        p = self.pipe("--webhook", hangs.url, "--exec", script, "--webhook", works.url,
                      "--exec", f"cp /dev/stdin {out}", "--timeout", "600", "--exec-timeout", "600")
        begun = time.monotonic()
        self.feed(p, [alert(i) for i in range(1, 11)])
        wait_for(lambda: len(works.taken) == 10)
        wait_for(lambda: os.path.exists(out) and '"seq":10,' in open(out, encoding="utf-8").read())
        self.assertLess(time.monotonic() - begun, 60)	# a time limit is 600
        self.assertEqual(len(hangs.seen), 1)
        # cp has written the file, but may not have ended yet
        wait_for(lambda: len(self.notes()) == 20)
        p.send_signal(signal.SIGTERM)
        _, err = self.ended(p)
        self.assertIn("0 delivered, 0 refused, 0 dropped, 10 waiting", err)
        self.assertEqual(len(self.notes()), 20)

    def test_a_time_limit_ends_a_request(self):
        to = Receiver(self, "hang")
        # longer than what a busy machine may take for the second one
        self.run_on([alert(1)], "--webhook", to.url, "--timeout", "10")
        self.assertEqual(len(to.seen), 2)
        self.assertEqual(self.seqs(to), [1])

    def test_given_up_after_the_time_of_retry(self):
        to = Receiver(self, otherwise=503)
        _, err = self.run_on([alert(1)], "--webhook", to.url, "--retry", "1", status=1)
        self.assertIn("given up after 1 s (1 dropped so far): HTTP 503", err)
        self.assertEqual(self.notes(), [])

    def test_redirects_keep_method_and_scheme(self):
        target = Receiver(self)
        there = Receiver(self, otherwise=(302, {"Location": target.url + "/new"}))
        self.run_on([alert(1)], "--webhook", there.url)
        self.assertEqual((target.methods, target.paths), (["POST"], ["/new"]))
        self.assertEqual(self.seqs(target), [1])
        other = Receiver(self, otherwise=(307, {"Location": "https://127.0.0.1:1/"}))
        _, err = self.run_on([alert(2)], "--webhook", other.url, status=1)
        self.assertIn("redirect to another scheme", err)
        self.assertEqual(len(other.seen), 1)
        file = Receiver(self, otherwise=(302, {"Location": "file:///etc/passwd"}))
        _, err = self.run_on([alert(3)], "--webhook", file.url, status=1)
        self.assertIn("redirect to another scheme", err)

    def test_the_key_of_pagerduty_goes_nowhere_else(self):
        target = Receiver(self)
        there = Receiver(self, otherwise=(302, {"Location": target.url}))
        self.run_on([alert(1)], "--pagerduty-key", "k", "--pagerduty-url", there.url, status=1)
        self.assertEqual(target.seen, [])

    def test_certificates_are_verified(self):
        pem = self.path("pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pem,
                        "-out", pem + ".crt", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        with open(pem + ".crt", encoding="ascii") as f, open(pem, "a", encoding="ascii") as to:
            to.write(f.read())
        to = Receiver(self, tls=pem)
        _, err = self.run_on([alert(1)], "--webhook", to.url, "--retry", "1", status=1)
        self.assertIn("certificate", err)
        self.assertEqual(to.seen, [])
        self.run_on([alert(2)], "--webhook", to.url, "--cacert", pem + ".crt")
        self.assertEqual(self.seqs(to), [2])

    def test_proxies_as_libcurl_has_them(self):
        proxy = Receiver(self)
        self.run_on([alert(1)], "--webhook", "http://receiver.invalid/hook",
                    env={"http_proxy": proxy.url})
        self.assertEqual(proxy.paths, ["http://receiver.invalid/hook"])


class Spool(Notify):
    def test_kills_in_the_middle_lose_nothing(self):
        to = Receiver(self, *["hang", 200, 200, "hang", 500] * 4)
        alerts = [alert(i) for i in range(1, 41)]
        file = self.path("alerts", text(alerts))
        for i in range(4):
            before = len(to.seen)
            p = self.start("--from", file, "--webhook", to.url, "--timeout", "1")
            wait_for(lambda: len(to.seen) > before + i % 3)
            p.kill()
            p.communicate()
        to.answers.clear()
        self.run_on(alerts, "--webhook", to.url)
        self.assertEqual(sorted(set(self.seqs(to))), list(range(1, 41)))
        # twice only what was under way at a kill, and recognisably so
        self.assertLessEqual(len(to.taken), 40 + 4)
        ids = {}
        for body in to.taken:
            ids.setdefault(body["id"], body)
            self.assertEqual(ids[body["id"]], body)
        self.assertEqual(len(ids), 40)
        before = len(to.seen)
        _, err = self.run_on(alerts, "--webhook", to.url)
        self.assertEqual(len(to.seen), before)
        self.assertIn("40 alerts were taken by an earlier run", err)

    def test_a_file_of_three_loads_is_taken_once(self):
        to = Receiver(self)
        alerts = [alert(i, pid=10 * load + i, instance=load) for load in (7, 8, 9) for i in (1, 2)]
        self.run_on(alerts, "--webhook", to.url)
        self.assertEqual(self.seqs(to), [1, 2] * 3)
        _, err = self.run_on(alerts + [alert(3, pid=93, instance=9)], "--webhook", to.url)
        self.assertEqual(self.seqs(to), [1, 2] * 3 + [3])
        self.assertIn("6 alerts were taken by an earlier run", err)

    def test_a_state_that_cannot_be_read_is_not_begun_anew(self):
        to = Receiver(self)
        self.run_on([alert(1)], "--webhook", to.url)
        path = os.path.join(self.state, "state.json")
        with open(path, encoding="utf-8") as f:
            before = f.read()
        p = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-P", "state.json", "-e",
                            "inject=openat:error=EIO", TOOL, "--from", self.path("alerts"), "--state-dir",
                            self.state, "--webhook", to.url], capture_output=True, text=True, timeout=LONG,
                           check=False)
        self.assertEqual((p.returncode, p.stderr),
                         (1, f"seepage: notify: {path}: Input/output error\n"))
        with open(path, encoding="utf-8") as f:
            self.assertEqual(f.read(), before)
        self.run_on([alert(1)], "--webhook", to.url)
        self.assertEqual(self.seqs(to), [1])

    def test_a_kill_between_notes_and_position_makes_no_note_twice(self):
        to = Receiver(self)
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat,renameat2", "-e"]
        # the 3rd, 5th, ... file that is put in its place is not: notes of two receivers, the state
        for when in (3, 6):
            shutil.rmtree(self.state, ignore_errors=True)
            file = self.path("alerts", text([alert(i) for i in range(1, 4)]))
            p = subprocess.run(
                [*words, f"inject=renameat,renameat2:signal=KILL:when={when}", TOOL, "--from", file,
                 "--state-dir", self.state, "--webhook", to.url, "--exec", "true"],
                capture_output=True, timeout=LONG, check=False)
            self.assertNotEqual(p.returncode, 0)
            to.taken.clear()
            out, err = self.run_on([alert(i) for i in range(1, 4)], "--webhook", to.url, "--exec", "true")
            self.assertEqual(self.seqs(to), [1, 2, 3], (when, out, err))

    def test_the_spool_alone_is_enough_after_a_reboot(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1), alert(2)])
        wait_for(lambda: len(to.seen) and len(self.notes()) == 2)
        p.kill()
        p.communicate()
        to.otherwise = 200
        _, err = self.run_on([], "--webhook", to.url)
        self.assertIn("2 waiting since the last run", err)
        self.assertEqual(self.seqs(to), [1, 2])

    def test_a_note_that_cannot_be_read_now_is_delivered_later(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1)])
        wait_for(lambda: to.seen)
        self.assertIn("HTTP 503", p.stderr.readline())
        most = resource.prlimit(p.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (3, most[1]))	# it has more open already
        time.sleep(5)		# a try or two
        self.assertEqual(len(self.notes()), 1)
        resource.prlimit(p.pid, resource.RLIMIT_NOFILE, most)
        to.otherwise = 200
        p.stdin.close()
        p.stdin = None
        _, err = self.ended(p)
        self.assertEqual(self.seqs(to), [1])
        self.assertNotIn("damaged", err)

    def test_the_oldest_are_dropped_with_a_word(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url, "--spool-size", "64K")
        for i in range(1, 201):
            self.feed(p, [alert(i)])
        wait_for(lambda: any(n.endswith("-200") for n in self.notes()))
        wait_for(lambda: self.spool_bytes() <= 65536)
        to.otherwise = 200
        p.stdin.close()
        p.stdin = None
        _, err = self.ended(p, 1)
        seqs = self.seqs(to)
        self.assertEqual(seqs[-20:], list(range(181, 201)))
        self.assertEqual(seqs, sorted(seqs))
        self.assertLess(len(seqs), 60)
        self.assertIn("the spool is full: dropped the oldest", err)
        self.assertRegex(err, rf"{len(seqs)} delivered, 0 refused, {200 - len(seqs)} dropped")

    def test_what_waits_for_a_receiver_that_was_removed_stops_no_file(self):
        gone, to = Receiver(self, otherwise=503), Receiver(self)
        p = self.pipe("--webhook", gone.url, "--spool-size", "64K")
        for i in range(1, 31):
            self.feed(p, [alert(i)])
        wait_for(lambda: self.spool_bytes() > 36000)
        wait_for(lambda: os.path.exists(os.path.join(self.state, "state.json")))
        p.kill()
        p.wait()
        p = self.start("--from", self.path("alerts", text([alert(1, instance=9)])), "--webhook", to.url,
                       "--spool-size", "64K")
        _, err = p.communicate(timeout=LONG)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(self.seqs(to), [1])

    def test_only_the_user_may_look_into_it(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1)])
        wait_for(self.notes)
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o700)
        self.assertEqual({os.stat(n).st_mode & 0o777 for n in self.notes()}, {0o600})
        os.chmod(self.state, 0o777)
        p.kill()
        _, err = self.run_on([], "--webhook", to.url, status=1)
        self.assertIn("allowed a directory that is this user's", err)

    def test_two_may_not_share_it(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1)])
        wait_for(self.notes)
        _, err = self.run_on([], "--webhook", to.url, status=1)
        self.assertIn("another seepage notify uses it", err)

    def test_what_is_damaged_is_said_and_left_out(self):
        to = Receiver(self, otherwise=503)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1), alert(2)])
        wait_for(lambda: len(self.notes()) == 2 and to.seen)
        p.kill()
        p.communicate()
        first = min(self.notes())
        with open(first, "r+b") as f:
            f.truncate(100)
        with open(os.path.join(self.state, "state.json"), "r+b") as f:
            f.truncate(20)
        to.otherwise = 200
        _, err = self.run_on([], "--webhook", to.url, status=1)
        self.assertIn("state.json: damaged", err)
        self.assertIn("damaged, dropped", err)
        self.assertEqual(self.seqs(to), [2])

    def test_a_full_disk_does_not_stop_it(self):
        to = Receiver(self)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        _, err = self.run_on([alert(i) for i in range(1, 6)], "--webhook", to.url, preexec_fn=limit)
        self.assertEqual(self.seqs(to), [1, 2, 3, 4, 5])
        self.assertIn("cannot write the spool: File too large", err)

    def test_notes_of_a_receiver_that_is_gone_are_kept_for_a_while(self):
        to, other = Receiver(self, otherwise=503), Receiver(self)
        p = self.pipe("--webhook", to.url)
        self.feed(p, [alert(1)])
        wait_for(self.notes)
        p.kill()
        p.communicate()
        _, err = self.run_on([], "--webhook", other.url)
        self.assertIn("(not configured): 1 waiting, kept for --retry", err)
        self.assertEqual(len(self.notes()), 1)
        # Another one at the same address: a request of before the kill may wait for its answer yet.
        to.close()
        to = Receiver(self, port=to.port)
        self.run_on([], "--webhook", to.url)
        self.assertEqual(self.seqs(to), [1])


class Exec(Notify):
    def script(self, name, body):
        path = self.path(name, body)
        os.chmod(path, 0o700)
        return path

    def test_alert_is_on_stdin_and_in_the_environment_and_no_shell_runs(self):
        out = self.path("out")
        script = self.script("script", f"#!{sys.executable}\nimport json, os, sys\n"
                             "json.dump([sys.argv[1:], json.load(sys.stdin), dict(os.environ)], "
                             f"open({out!r}, 'w'))\n")
        self.run_on([alert(1)], "--exec", f"{script} $HOME;id 'two words' \"a'b\" c''d ''")
        with open(out, encoding="utf-8") as f:
            argv, note, env = json.load(f)
        self.assertEqual(argv, ["$HOME;id", "two words", "a'b", "cd", ""])
        self.assertEqual((note["seq"], note["state"], note["host"]), (1, "suspected",
                                                                     socket.gethostname()))
        self.assertEqual((env["SEEPAGE_SEQ"], env["SEEPAGE_STATE"], env["SEEPAGE_COMM"],
                          env["SEEPAGE_UNIT"], env["SEEPAGE_ID"]),
                         ("1", "suspected", "leaky", "leaky.service", note["id"]))
        self.assertNotIn("SEEPAGE_POD", env)		# null
        self.assertNotIn("SEEPAGE_SCORE", env)		# an object

    def test_a_command_that_hangs_is_killed_with_its_children(self):
        mark = f"1000.{os.getpid()}"
        script = self.script("script", f"#!/bin/sh\nsleep {mark} &\nsleep {mark}\n")
        _, err = self.run_on([alert(1)], "--exec", script, "--exec-timeout", "1", "--retry", "1",
                             status=1)
        self.assertIn("killed after 1 s", err)
        left = [p for p in os.listdir("/proc") if p.isdigit() and mark in self.words_of(p)]
        self.assertEqual(left, [])

    @staticmethod
    def words_of(pid):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
                return f.read().split("\0")[1:]
        except OSError:
            return []

    def test_a_command_that_fails_is_tried_again(self):
        out = self.path("out")
        script = self.script("script", f"#!/bin/sh\necho x >>{out}\n[ $(wc -l <{out}) = 3 ]\n")
        _, err = self.run_on([alert(1)], "--exec", script)
        self.assertIn("exit status 1; it is tried again", err)
        with open(out, encoding="ascii") as f:
            self.assertEqual(f.read(), "x\n" * 3)

    def test_a_command_that_does_not_read_or_is_not_there(self):
        self.run_on([alert(1, cmdline="x" * 300000)], "--exec", "true")
        _, err = self.run_on([alert(2)], "--exec", "/nowhere/at/all", "--retry", "1", status=1)
        self.assertIn("exit status 127: cannot be executed", err)


class Local(Notify):
    def bind(self, name):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(self.path(name))
        s.settimeout(LONG)
        self.addCleanup(s.close)
        return s

    @staticmethod
    def fields(data):
        found = {}
        while data:
            line, _, data = data.partition(b"\n")
            name, eq, value = line.partition(b"=")
            if not eq:
                n = int.from_bytes(data[:8], "little")
                value, data = data[8:8 + n], data[8 + n + 1:]
            found[name.decode()] = value.decode()
        return found

    def test_journal_has_fields_also_large_ones_and_line_feeds(self):
        s = self.bind("journal")
        self.run_on([alert(1, cmdline="a\nb=c"), alert(2, cmdline="x" * 700000)], "--journal",
                    env={"SEEPAGE_JOURNAL_SOCKET": self.path("journal")})
        first = self.fields(s.recv(1 << 20))
        self.assertEqual((first["PRIORITY"], first["SEEPAGE_STATE"], first["SEEPAGE_PID"],
                          first["SEEPAGE_CMDLINE"], first["OBJECT_PID"], first["SYSLOG_IDENTIFIER"]),
                         ("4", "suspected", "1001", "a\nb=c", "1001", "seepage"))
        self.assertIn("suspected: pid 1001 (leaky)", first["MESSAGE"])
        data, fds, _, _ = socket.recv_fds(s, 1 << 20, 1)
        if fds:
            self.assertEqual(data, b"")
            data = os.pread(fds[0], 1 << 21, 0)
            os.close(fds[0])
        second = self.fields(data)
        self.assertEqual(len(second["SEEPAGE_CMDLINE"]), 700000)
        self.assertTrue(fds, "it was sent as a datagram")

    def test_a_journal_that_is_not_there_is_waited_for(self):
        p = self.pipe("--journal", "--syslog", env={"SEEPAGE_JOURNAL_SOCKET": self.path("journal"),
                                                    "SEEPAGE_SYSLOG_SOCKET": self.path("log")})
        self.feed(p, [alert(1, state="exited", severity=10)])
        self.assertIn("journal: No such file or directory; it is tried again", p.stderr.readline())
        journal, log = self.bind("journal"), self.bind("log")
        p.stdin.close()
        self.assertEqual(self.fields(journal.recv(1 << 20))["PRIORITY"], "5")
        line = log.recv(1 << 20).decode()
        self.assertRegex(line, r"^<29>\w{3} [ \d]\d \d\d:\d\d:\d\d seepage\[\d+\]: exited: pid 1001 "
                               r"\(leaky\).* \[[0-9a-f-]+/[0-9a-f]+/1\]$")
        p.wait(LONG)


class Inherited(Notify):
    def test_a_command_ends_though_the_caller_ignores_its_children(self):
        out = self.path("out")
        take = self.path("take", f"#!/bin/sh\ncat >>{out}\n")
        os.chmod(take, 0o755)
        p = subprocess.run(["env", "--ignore-signal=CHLD", TOOL, "--from",
                            self.path("alerts", text([alert(1), alert(2)])), "--state-dir", self.state,
                            "--exec", take], capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn("2 delivered", p.stderr)


class Words(Notify):
    def test_a_key_is_in_no_list_of_processes_and_on_no_disk(self):
        to = Receiver(self, otherwise=503)
        secret = self.path("secret", "topsecret\n")
        os.chmod(secret, 0o600)
        p = self.pipe("--pagerduty-key-file", secret, "--pagerduty-key", "othersecret",
                      "--pagerduty-url", to.url)
        self.feed(p, [alert(1)])
        wait_for(lambda: len(to.seen) >= 2)
        with open(f"/proc/{p.pid}/cmdline", encoding="utf-8") as f:
            self.assertNotIn("secret\0", f.read().replace("secret\0", "", 1))
        self.assertEqual({b["routing_key"] for _, b in to.seen}, {"topsecret", "othersecret"})
        self.assertEqual(subprocess.run(["grep", "-rlE", "topsecret|othersecret", self.state],
                                        check=False, stdout=subprocess.PIPE).stdout, b"")
        p.send_signal(signal.SIGTERM)
        _, err = self.ended(p)
        self.assertNotIn("topsecret", err)
        self.assertNotIn("othersecret", err)

    def test_secrets_of_a_url_are_not_said(self):
        to = Receiver(self, otherwise=400)
        url = to.url.replace("://", "://user:pass@") + "/T0KEN?key=K"
        _, err = self.run_on([alert(1)], "--webhook", url, status=1)
        self.assertNotRegex(err, "user|pass|T0KEN|key")

    def test_configuration_file(self):
        to, other = Receiver(self), Receiver(self)
        config = self.path("config", json.dumps({
            "webhook": [to.url], "state_dir": self.state, "min_confidence": 50,
            "spool_size": "1M", "journal": False}).replace("{", "{ // comment\n", 1))
        self.run_on([alert(1), alert(2, confidence=40)], "--config", config, "--webhook", other.url,
                    state=False)
        self.assertEqual((self.seqs(to), self.seqs(other)), ([1], [1]))

    def test_the_command_line_comes_before_the_file(self):
        to = Receiver(self)
        config = self.path("config", json.dumps({"min_confidence": 50, "min_severity": 8, "retry": 5}))
        for i, (words, told) in enumerate((
                ([], []), (["--min-confidence", "0"], []), (["--min-severity", "0"], [1]),
                (["--min-severity", "0", "--min-confidence", "0"], [1, 2]))):
            with self.subTest(words=words):
                to.taken.clear()
                self.state = os.path.join(self.dir, f"state{i}")
                self.run_on([alert(1), alert(2, confidence=40)], "--config", config, "--webhook", to.url,
                            *words)
                self.assertEqual(self.seqs(to), told)

    def test_bad_words(self):
        def refused(said, *words, status=2, config=None):
            if config is not None:
                words = ("--config", self.path("config", config), *words)
            p = self.start(*words, stdin=subprocess.DEVNULL)
            _, err = self.ended(p, status)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn(said, err)
            return err
        refused("a receiver is missing: allowed --exec")
        refused("--webhook: 'ftp://x': allowed http://HOST", "--webhook", "ftp://x")
        refused("--webhook: 'http://': allowed", "--webhook", "http://")
        refused("--webhook: 'http://x': given twice", "--webhook", "http://x", "--webhook", "http://x")
        refused("quotes in pairs", "--exec", "a 'b")
        refused("--exec: '  ': allowed a command", "--exec", "  ")
        refused("--pagerduty-key: allowed a key of letters and digits", "--pagerduty-key", "a b")
        key = self.path("key", "a-b\n")
        os.chmod(key, 0o600)
        refused("--pagerduty-key-file: allowed a key of letters and digits", "--pagerduty-key-file", key)
        for word in ("bad", "ok", "confirmed,watch"):	# no alert is in state ok or watch
            refused(f"--state: '{word.split(',')[-1]}': allowed suspected confirmed runaway recovered exited",
                    "--state", word, "--journal")
        refused("--test: not allowed with --dry-run", "--test", "--dry-run", "--journal")
        refused("--from: '/nowhere': No such file", "--from", "/nowhere", "--journal", status=1)
        refused("--cacert: '/nowhere': No such file", "--cacert", "/nowhere", "--journal", status=1)
        refused("unknown key 'webhok': allowed exec, webhook, alertmanager, pagerduty_key",
                config='{"webhok": "http://x"}')
        refused("unknown key 'test'", config='{"test": true}')
        refused("min_confidence: '101': allowed 0..100", config='{"min_confidence": 101}')
        refused("config': state: 'confirmed,ok': allowed suspected confirmed runaway recovered exited",
                config='{"state": "confirmed,ok"}')
        refused("journal: 'yes': allowed true, false", config='{"journal": "yes"}')
        refused("webhook: '5': allowed a string", config='{"webhook": 5}')
        refused("pagerduty_key: '...': allowed a string", config='{"pagerduty_key": 5}')
        for config in ('{"pagerduty_key": 99999999999999999999}', '{"pagerduty_key": ["9999", 99999999999999999999]}'):
            self.assertNotIn("9999", refused("config': pagerduty_key: '...': not a number", config=config))
        refused("retry: '99999999999999999999': not a number", config='{"retry": 99999999999999999999}')
        refused("webhook: '5': allowed a string", config='{"webhook": ["http://x", 5]}')
        refused("webhook: 'http://x': allowed a string", "--webhook", "http://x",
                config=json.dumps({"webhook": ["http://x"] * 64}))
        refused("retry: '0': allowed 1..2592000", config='{"retry": 0}')
        refused("spool_size: '4K ': allowed 4096..1099511627776, or a string", config='{"spool_size": "4K "}')
        refused("key 'journal' twice", config='{"journal": true, "journal": true}')
        refused("config': not a JSON object", config='[]')

    def test_bad_input_is_named_and_the_rest_is_sent(self):
        to = Receiver(self)
        file = self.path("in", "nonsense\n" + text([alert(1)]) + '{"seq": 1}\n' +
                         '{"lost": {"from": 2, "to": 4}}\n' + json.dumps(alert(5))[:-9])
        p = self.start("--from", file, "--webhook", to.url)
        _, err = self.ended(p, 1)
        self.assertIn("line 1: not JSON", err)
        self.assertIn("line 3: no alert: it needs instance, seq, pid and state", err)
        self.assertIn("line 5: not JSON: ", err)
        self.assertEqual(self.seqs(to), [1])

    def test_of_bad_lines_in_a_row_the_first_is_named_and_the_others_are_counted(self):
        to = Receiver(self)
        file = self.path("in", "time 1\n" * 3000 + text([alert(1)]) + "{}\n" + text([alert(2)]) + "\n" * 2)
        p = self.start("--from", file, "--webhook", to.url)
        _, err = self.ended(p, 1)
        said = [line.split("notify: ", 1)[1] for line in err.splitlines()]
        self.assertEqual([re.sub("^/[^ ]*/in: ", "", line).split(": ")[0] for line in said[:-1]],
                         ["line 1", "and 2999 more lines", "line 3002", "line 3004", "and 1 more line"])
        self.assertEqual(self.seqs(to), [1, 2])

    def test_dry_run_sends_and_keeps_nothing(self):
        to = Receiver(self)
        out, _ = self.run_on([alert(1)], "--dry-run", "-j", "--webhook", to.url, "--pagerduty-key",
                             "secret", "--alertmanager", to.url, "--exec",
                             f"touch {self.path('touched')}")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["receiver"] for line in lines],
                         ["exec touch", f"webhook {to.url}", f"alertmanager {to.url}", "pagerduty"])
        self.assertEqual(lines[1]["body"]["pid"], 1001)
        self.assertNotIn("secret", out)
        self.assertEqual((to.seen, os.path.exists(self.state), os.path.exists(self.path("touched"))),
                         ([], False, False))

    def test_test_says_what_each_receiver_did(self):
        good, bad = Receiver(self), Receiver(self, otherwise=403)
        p = self.start("--test", "--webhook", good.url, "--webhook", bad.url, "--exec", "true",
                       "--exec", "sh -c 'exit 4'", "--alertmanager", good.url)
        out, _ = self.ended(p, 1)
        self.assertEqual(sorted(out.splitlines()), sorted([
            f"webhook {good.url}: delivered (HTTP 200)", f"webhook {bad.url}: failed (HTTP 403: answer)",
            "exec true: delivered (exit status 0)", "exec sh: failed (exit status 4)",
            f"alertmanager {good.url}: delivered (HTTP 200)"]))
        self.assertFalse(os.path.exists(self.state))
        self.assertEqual([b["type"] for b in good.taken if isinstance(b, dict)], ["test"])

    def test_without_libcurl_it_says_so_and_the_rest_works(self):
        build = os.path.join(TOP, "build/notify-plain")
        tool = os.path.join(build, "tools/seepage-notify")
        subprocess.run(["make", "-s", "-C", os.path.join(TOP, "ctl"), f"O={build}", "CURL=0", tool],
                       check=True, stdout=subprocess.DEVNULL)
        p = subprocess.run([tool, "--test", "--webhook", "http://x"], capture_output=True, text=True,
                           check=False, timeout=LONG)
        self.assertEqual((p.returncode, p.stderr),
                         (1, "seepage: notify: receivers with a URL need libcurl: built without libcurl\n"))
        p = subprocess.run([tool, "--test", "--exec", "true"], capture_output=True, text=True,
                           check=False, timeout=LONG)
        self.assertEqual((p.returncode, p.stdout), (0, "exec true: delivered (exit status 0)\n"))

    def test_the_module_is_needed_without_from(self):
        # watch waits for it, and ends with this program
        p = self.start("--exec", "true", stdin=subprocess.DEVNULL)
        said = p.stderr.readline()
        self.assertRegex(said, "watch: module not loaded, waiting|not permitted")
        p.send_signal(signal.SIGTERM)
        out, _ = p.communicate(timeout=LONG)
        self.assertEqual(out, "")


if __name__ == "__main__":
    unittest.main()
