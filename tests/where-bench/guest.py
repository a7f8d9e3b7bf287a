# SPDX-License-Identifier: GPL-2.0
"""Runs in the VM of make where: starts each program and its twin, asks seepage where, then the
peers, and writes a line of JSON for each program to OUT.

usage: guest.py OUT [NAME...]
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(HERE)
sys.dont_write_bytecode = True
from cases import CASES  # noqa: E402
from load import LOADS, NGINX_CONF  # noqa: E402
import peers  # noqa: E402

SECONDS = int(os.environ.get("WHERE_SECONDS", "8"))     # of the census, and of the burst
AGAIN = f"2,{SECONDS}"
SETTLE = 2
ASKED = os.environ.get("WHERE_PEERS", ",".join(peers.PEERS)).split(",")
LIMIT = 300


class Running:
    """A program that is ready, with what loads it."""

    def __init__(self, case, twin, argv=None, env=None):
        self.stop = threading.Event()
        env = {**os.environ, **(case.twin_env if twin else case.env), **(env or {})}
        argv = argv or (case.twin_argv if twin else case.argv)
        pipe = subprocess.DEVNULL if case.load else subprocess.PIPE
        self.p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=pipe,
                                  stderr=subprocess.DEVNULL, text=True)
        self.pid = self.p.pid
        self.thread = None
        if case.load:
            self.thread = threading.Thread(target=LOADS[case.load], args=(self.stop, twin))
            self.thread.start()
        else:
            while "ready" not in (line := self.p.stdout.readline()):
                if not line:
                    raise RuntimeError(f"{case.name} did not start")
        time.sleep(SETTLE)

    def end(self, sig=signal.SIGKILL):
        self.stop.set()
        self.p.send_signal(sig)
        self.p.wait(LIMIT)
        if self.thread:
            self.thread.join()


def where(pid, seconds, *words):
    """The answer in JSON, or why it was refused; and how long it took."""
    began, cpu = time.monotonic(), os.times()
    got = subprocess.run(["seepage", "-j", "where", "-s", str(seconds), *words, str(pid)],
                         capture_output=True, text=True, timeout=LIMIT, check=False)
    after = os.times()
    out = {"wall_seconds": time.monotonic() - began, "status": got.returncode,
           "tool_cpu_seconds": after.children_user + after.children_system -
           cpu.children_user - cpu.children_system}
    if got.returncode:
        out["refused"] = got.stderr.strip()
    else:
        out["answer"] = json.loads(got.stdout)
    return out


def ask(case, twin, out_dir, size=None):
    program = Running(case, twin)
    try:
        if case.name == "go":
            return where(program.pid, SECONDS, "--profile")
        words = ["--burst", "--again-after", AGAIN]
        words += ["--class", str(size)] if size else []
        words += ["--svg", f"{out_dir}/{case.name}.svg"] if not twin else []
        return where(program.pid, case.seconds or SECONDS, *words)
    finally:
        program.end()


def leak_class(leak):
    """The size for --class of the twin: what the burst on the leak was about."""
    got = leak.get("answer", {})
    if got.get("method") != "burst":
        return None
    if got["sites"]:
        return got["sites"][0]["class_bytes"]
    return got["classes"][0]["size_bytes"] if got["classes"] else None


def one(case, out_dir):
    leak = ask(case, False, out_dir)
    twin = ask(case, True, out_dir, leak_class(leak))
    got = {"name": case.name, "leak": leak, "twin": twin, "peers": {}}
    for name in (n for n in peers.PEERS if n in ASKED):
        peer = peers.PEERS[name]
        began = time.monotonic()
        try:
            got["peers"][name] = peer(case, Running, SECONDS)
        except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as err:  # one peer less, and the reason
            got["peers"][name] = {"failed": f"{type(err).__name__}: {err}"[:300]}
        got["peers"][name]["wall_seconds"] = time.monotonic() - began
    return got


def headers():
    """Where memleak-bpfcc looks for the headers of this kernel, in two parts as Debian has them"""
    build = os.path.realpath(os.environ["KERNEL_HEADERS"])
    place = f"/lib/modules/{os.uname().release}"
    os.makedirs("/tmp/modules", exist_ok=True)
    os.symlink(build, "/tmp/modules/build")
    os.symlink(build.rpartition("-")[0] + "-common", "/tmp/modules/source")
    subprocess.run(["mount", "--bind", "/tmp/modules", place], check=True)


def main():
    out, names = sys.argv[1], sys.argv[2:]
    out_dir = os.path.dirname(out)
    os.makedirs("/tmp/nginx", exist_ok=True)
    with open("/tmp/nginx/nginx.conf", "w", encoding="ascii") as f:
        f.write(NGINX_CONF)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    module = os.path.join(os.path.dirname(os.environ["SEEPAGE_KO"]), "seepage_where.ko")
    subprocess.run(["insmod", module], check=True)
    headers()
    with open(out, "w", encoding="ascii") as f:
        for case in CASES:
            if names and case.name not in names:
                continue
            began = time.monotonic()
            try:
                got = one(case, out_dir)
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as err:
                got = {"name": case.name, "failed": f"{type(err).__name__}: {err}"[:300]}
            f.write(json.dumps(got) + "\n")
            f.flush()
            print("row " + json.dumps(got))
            print(f"{case.name}: {time.monotonic() - began:.0f} s", got.get("failed", ""),
                  flush=True)
    subprocess.run(["rmmod", "seepage_where"], check=True)


if __name__ == "__main__":
    main()
