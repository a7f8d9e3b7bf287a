#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs Prometheus and Alertmanager with simulated hosts.

usage: live.py HOSTS DIR PACK PAGE

PAGE is a page that `seepage export` printed. Each host serves it under names of its own; its
counters rise and, on the last host, the accused process becomes a runaway. Checked are: every
query of the dashboard has a result, the rules fire, and the receiver behind Alertmanager gets one
notification of the runaway that names the host and the process. Lines that begin with # are
figures: series, memory of Prometheus, and the time of a scrape.
"""
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

SCRAPE_S = 5
PATIENCE_S = 300	# a busy machine; each wait ends as soon as its condition holds
SAMPLE = re.compile(r'^(seepage_\w+)(\{.*\})? (\S+)$')


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Pages:
    """The pages of the hosts: lines of PAGE with figures that move."""

    def __init__(self, path, hosts):
        self.hosts = hosts
        self.start = time.time()
        self.runaway = None
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().splitlines()

    def page(self, host):
        """Returns the text of a host, 0 to hosts - 1."""
        age = time.time() - self.start
        text = []
        for line in self.lines:
            m = SAMPLE.match(line)
            if m:
                line = f"{m[1]}{m[2] or ''} {self.value(m, host, age)}"
            text.append(line)
        return "\n".join(text) + "\n"

    def value(self, m, host, age):
        """Returns the figure of a sample @age seconds after the start."""
        name, labels, value = m[1], m[2] or "", m[3]
        if name.endswith("_total"):
            return f"{float(value) * (1 + age / 1000) + age:.3f}"
        if name == "seepage_process_state" and host == self.hosts - 1 and self.is_accused(labels):
            return int('state="runaway"' in labels)
        return value

    def is_accused(self, labels):
        """Whether the labels are of a process that is accused in PAGE."""
        if self.runaway is None:
            self.runaway = {m[1] for m in (re.match(
                r'seepage_process_state\{pid="(\d+)".*state="(?:suspected|confirmed|runaway)"\} 1$',
                line) for line in self.lines) if m}
        return re.search(r'pid="(\d+)"', labels)[1] in self.runaway


class Server(http.server.ThreadingHTTPServer):
    """Serves /host/N, and takes what Alertmanager sends to /notify."""
    daemon_threads = True
    request_queue_size = 256
    pages = None
    notified = []


class Handler(http.server.BaseHTTPRequestHandler):
    """One request of Prometheus or Alertmanager."""

    def do_GET(self):	# pylint: disable=invalid-name
        """The page of a host"""
        body = self.server.pages.page(int(self.path.rsplit("/", 1)[1])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):	# pylint: disable=invalid-name
        """A notification"""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.notified.append(json.loads(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format, *args):	# pylint: disable=redefined-builtin
        """Says nothing"""


def write(path, text):
    """Writes a file."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def configure(out, pack, port, am_port, hosts):
    """Writes the configurations. JSON is YAML."""
    targets = [{"targets": [f"127.0.0.1:{port}"],
                "labels": {"__metrics_path__": f"/host/{i}", "instance": f"host-{i}"}}
               for i in range(hosts)]
    write(f"{out}/live.yml", json.dumps({
        "global": {"scrape_interval": f"{SCRAPE_S}s", "evaluation_interval": f"{SCRAPE_S}s"},
        "rule_files": [os.path.abspath(f"{pack}/seepage.rules.yml")],
        "alerting": {"alertmanagers": [{"static_configs": [
            {"targets": [f"127.0.0.1:{am_port}"]}]}]},
        "scrape_configs": [{"job_name": "seepage", "sample_limit": 20000,
                            "static_configs": targets}]}))
    with open(f"{pack}/alertmanager.yml", encoding="utf-8") as f:
        route = f.read()
    hook = f"    webhook_configs: [{{url: 'http://127.0.0.1:{port}/notify'}}]\n"
    write(f"{out}/route.yml", route.replace("  - name: pager\n", "  - name: pager\n" + hook))


def query(base, expr):
    """Returns the samples that Prometheus has for @expr."""
    data = urllib.parse.urlencode({"query": expr}).encode()
    with urllib.request.urlopen(f"{base}/api/v1/query", data, timeout=60) as answer:
        return json.load(answer)["data"]["result"]


def number(base, expr):
    """Returns the first value of @expr, or 0."""
    found = query(base, expr)
    return float(found[0]["value"][1]) if found else 0.0


def wait_for(what, condition):
    """Waits until condition() is true; ends the program with @what if it does not become so."""
    end = time.time() + PATIENCE_S
    while time.time() < end:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(1)
    sys.exit(f"{what}: not within {PATIENCE_S} s")


def expressions(pack):
    """Yields title and query of each target of the dashboard, and of its annotations."""
    with open(f"{pack}/dashboard.json", encoding="utf-8") as f:
        board = json.load(f)
    queries = [(p["title"], t["expr"]) for p in board["panels"] for t in p["targets"]]
    queries += [(a["name"], a["expr"]) for a in board["annotations"]["list"]]
    for title, expr in queries:
        yield title, expr.replace("$job", "seepage").replace("$instance", ".*")


def check(base, pack, hosts, server):
    """Checks what the module's docstring says."""
    wait_for("all hosts scraped", lambda: number(base, "sum(seepage_up)") == hosts)
    wait_for("the runaway fires", lambda: query(
        base, 'ALERTS{alertname="SeepageRunaway",alertstate="firing"}'))
    missing = dict(expressions(pack))

    def all_answered():
        for title, expr in list(missing.items()):
            if query(base, expr):
                del missing[title]
        return not missing
    try:
        wait_for("queries of the dashboard", all_answered)
    finally:
        for title, expr in missing.items():
            print(f"no result: {title}: {expr}")
    wait_for("the notification", lambda: server.notified)
    told = {(a["labels"]["alertname"], a["labels"]["instance"])
            for n in server.notified for a in n["alerts"]}
    if told != {("SeepageRunaway", f"host-{hosts - 1}")}:
        sys.exit(f"the pager was told {sorted(told)}")


def figures(base, hosts, rss):
    """Prints what the hosts cost."""
    series = number(base, "sum(scrape_samples_scraped)")
    print(f"# {hosts} hosts: {series:.0f} series, {series / hosts:.0f} a host; "
          f"{number(base, 'prometheus_tsdb_head_series') or series:.0f} with those of the rules")
    print(f"# scrape: mean {1000 * number(base, 'avg(scrape_duration_seconds)'):.1f} ms, "
          f"longest {1000 * number(base, 'max(scrape_duration_seconds)'):.1f} ms, "
          f"one every {SCRAPE_S} s and host")
    print(f"# Prometheus: {rss / 1024:.0f} MiB resident")


def resident(pid):
    """Returns the resident memory of a process, KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read())[1])


def main():
    """Runs it."""
    hosts, out, pack, page = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    server = Server(("127.0.0.1", 0), Handler)
    server.pages = Pages(page, hosts)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    prom_port, am_port = free_port(), free_port()
    configure(out, pack, server.server_address[1], am_port, hosts)
    base = f"http://127.0.0.1:{prom_port}"
    with open(f"{out}/servers.log", "wb") as log:
        children = [subprocess.Popen(words, stdout=log, stderr=log) for words in (
            ["prometheus", f"--config.file={out}/live.yml", f"--storage.tsdb.path={out}/tsdb",
             f"--web.listen-address=127.0.0.1:{prom_port}"],
            ["prometheus-alertmanager", f"--config.file={out}/route.yml",
             f"--storage.path={out}/am", f"--web.listen-address=127.0.0.1:{am_port}",
             "--cluster.listen-address="])]
        try:
            check(base, pack, hosts, server)
            figures(base, hosts, resident(children[0].pid))
        finally:
            for child in children:
                child.send_signal(signal.SIGTERM)
            for child in children:
                child.wait()


if __name__ == "__main__":
    main()
