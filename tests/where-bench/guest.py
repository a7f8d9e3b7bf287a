# SPDX-License-Identifier: GPL-2.0
"""Runs in the VM of make where: starts each program and its twin, asks seepage where, then the
peers, and writes a line of JSON for each program to OUT.

usage: guest.py [--count] OUT [NAME...]

--count is for the counting clock, on which a nanosecond is an instruction: what a program executes
undisturbed, and more than that under seepage where and each peer.
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(HERE)
sys.dont_write_bytecode = True
from board import FEW  # noqa: E402
from cases import BUILD, CASES, PRELOADED  # noqa: E402
from load import NGINX_CONF  # noqa: E402
import peers  # noqa: E402
from running import LIMIT, Lost, Running, disturbance, usage, wait_asleep  # noqa: E402

SECONDS = int(os.environ.get("WHERE_SECONDS", "8"))     # of the census, and of the burst
LONGEST = 60    # the same of a census beside what was lost
AGAIN = f"2,{SECONDS}"
ASKED = os.environ.get("WHERE_PEERS", ",".join(peers.PEERS)).split(",")
WRONG = (OSError, ValueError, RuntimeError, subprocess.SubprocessError)


def result_of(status, out, err, began, cpu):
    """What the tool answered, or why it refused; and what that took."""
    after = os.times()
    got = {"wall_seconds": time.monotonic() - began, "status": status,
           "tool_cpu_seconds": after.children_user + after.children_system -
           cpu.children_user - cpu.children_system}
    if status:
        got["refused"] = err.strip()
    else:
        got["answer"] = json.loads(out)
    return got


def where(pid, seconds, *words):
    """The answer in JSON, or why it was refused; and how long it took."""
    began, cpu = time.monotonic(), os.times()
    got = subprocess.run(["seepage", "-j", "where", "-s", str(seconds), *words, str(pid)],
                         capture_output=True, text=True, timeout=LIMIT, check=False)
    return result_of(got.returncode, got.stdout, got.stderr, began, cpu)


def ask(program, case, *words):
    if case.name == "go":
        return where(program.pid, SECONDS, "--profile")
    return where(program.pid, case.seconds or SECONDS, "--burst", "--again-after", AGAIN, *words)


def two_looks(pid, wait, tool=("seepage", "-j", "where")):
    """The answer of a census, as where(), and when its second look was.

    The tool starts, and looks, for as long as it takes, which in this VM may be seconds. So it does
    not end by its own time: a signal asks for the second look, when wait() after the first one ends.
    """
    began, cpu = time.monotonic(), os.times()
    with subprocess.Popen([*tool, "-s", str(LIMIT), "--census", str(pid)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        wait_asleep(p, LIMIT)
        wait()
        second = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=LIMIT)
    return result_of(p.returncode, out, err, began, cpu), second


def wait_for_steps(lost):
    """Waits for some seconds, and on while what is lost comes in too few steps to be compared."""
    began = time.monotonic()
    time.sleep(SECONDS)
    while 0 < lost.between(began, time.monotonic())["steps"] <= FEW and \
            time.monotonic() < began + LONGEST:
        time.sleep(0.5)


def census(program):
    """What a census says by itself, and what the program lost between its two looks"""
    with Lost() as lost:
        got, second = two_looks(program.pid, lambda: wait_for_steps(lost))
    if "refused" in got:
        return got
    answer = got["answer"]
    return {"notes": answer["notes"], "method": answer["method"], "seconds": answer["seconds"],
            "bytes": answer["growth_bytes_per_hour"] * answer["seconds"] / 3600,
            "tool_cpu_seconds": got["tool_cpu_seconds"], "heap_bytes": answer["heap_bytes"],
            "lost": lost.between(second - answer["seconds"], second)}


def leak_class(leak):
    """The size for --class of the twin: what the burst on the leak was about."""
    got = leak.get("answer", {})
    if got.get("method") != "burst":
        return None
    if got["sites"]:
        return got["sites"][0]["class_bytes"]
    return got["classes"][0]["size_bytes"] if got["classes"] else None


def ask_peers(case, got, keep):
    for name in (n for n in peers.PEERS if n in ASKED):
        began = time.monotonic()
        try:
            said = peers.PEERS[name](case, Running, SECONDS)
        except WRONG as err:    # one peer less, and the reason
            said = {"failed": f"{type(err).__name__}: {err}"[:300]}
        said["wall_seconds"] = time.monotonic() - began
        got[name] = keep(said)


def one(case, out_dir):
    with Running(case, False) as program:
        leak = ask(program, case, *([] if case.name == "go" else
                                    ["--svg", f"{out_dir}/{case.name}.svg"]))
        counted = census(program)
    size = leak_class(leak)
    with Running(case, True) as program:
        twin = ask(program, case, *(["--class", str(size)] if size else []))
    got = {"name": case.name, "leak": leak, "census": counted, "twin": twin, "peers": {}}
    ask_peers(case, got["peers"], lambda said: said)
    return got


def count(case, _):
    """Instructions that a program executes while it is looked at, more than undisturbed"""
    with Running(case, False) as program:
        alone = [program.first]
        for _ in range(2):
            time.sleep(SECONDS / 2)
            alone.append(usage(program.pid))
        leak = ask(program, case)
        spent = (alone[-1], usage(program.pid))
    got = {"name": case.name, "alone": alone, "peers": {},
           "seepage where": disturbance(alone, spent) if "answer" in leak else None}

    def keep(said):
        fine = not said.get("refused") and not said.get("failed")
        return disturbance(alone, Running.spent) if fine else None
    ask_peers(case, got["peers"], keep)
    return got


def headers():
    """Where memleak-bpfcc looks for the headers of this kernel, in two parts as Debian has them"""
    build = os.path.realpath(os.environ["KERNEL_HEADERS"])
    place = f"/lib/modules/{os.uname().release}"
    os.makedirs("/tmp/modules", exist_ok=True)
    os.symlink(build, "/tmp/modules/build")
    os.symlink(build.rpartition("-")[0] + "-common", "/tmp/modules/source")
    subprocess.run(["mount", "--bind", "/tmp/modules", place], check=True)


def prepare():
    os.makedirs("/tmp/nginx")
    with open("/tmp/nginx/nginx.conf", "w", encoding="ascii") as f:
        f.write(NGINX_CONF)
    # Postgres is not root, and may not be allowed to read the checkout.
    os.makedirs(PRELOADED)
    for path in glob.glob(f"{BUILD}/*.so"):
        shutil.copy(path, PRELOADED)
    shutil.copytree(f"{BUILD}/pgdata", "/tmp/pgdata")
    subprocess.run(["chown", "-R", "postgres:", "/tmp/pgdata"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    module = os.path.join(os.path.dirname(os.environ["SEEPAGE_KO"]), "seepage_where.ko")
    subprocess.run(["insmod", module], check=True)
    headers()


def main():
    what, words = one, sys.argv[1:]
    if words[0] == "--count":
        what, words = count, words[1:]
    out, names = words[0], words[1:]
    prepare()
    with open(out, "w", encoding="ascii") as f:
        for case in CASES:
            if names and case.name not in names:
                continue
            began = time.monotonic()
            try:
                got = what(case, os.path.dirname(out))
            except WRONG as err:
                got = {"name": case.name, "failed": f"{type(err).__name__}: {err}"[:300]}
            f.write(json.dumps(got) + "\n")
            f.flush()
            print("row " + json.dumps(got))
            print(f"{case.name}: {time.monotonic() - began:.0f} s", got.get("failed", ""),
                  flush=True)
    subprocess.run(["rmmod", "seepage_where"], check=True)


if __name__ == "__main__":
    main()
