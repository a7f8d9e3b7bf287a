# SPDX-License-Identifier: GPL-2.0
"""The peers of make where, each on a program of its own start: what call stacks it shows first.

Each returns {"stacks": [[weight, [frame, ...]], ...]}, the function that allocates (or faults)
first, the heaviest stack first; or {"refused": why}.
"""
import collections
import glob
import os
import re
import signal
import subprocess
import time

FRAMES = 32     # that tell stacks apart: inlined ones are among them
TOP = 50
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
LIMIT = 300


def heaviest(stacks):
    """stacks: (frames, weight). Those with the same first frames are one."""
    total = collections.Counter()
    for frames, weight in stacks:
        total[tuple(frames[:FRAMES])] += weight
    return {"stacks": [[w, list(f)] for f, w in total.most_common(TOP) if w > 0],
            "total": sum(total.values())}


def run(*argv, **how):
    return subprocess.run(argv, check=True, timeout=LIMIT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, **how).stdout


def perf_faults(case, running, seconds):
    """Stacks of page faults, of the time that the burst has"""
    program = running(case, False)
    try:
        subprocess.run(["perf", "record", "-q", "-e", "page-faults:u", "-c", "1", "--call-graph",
                        "dwarf,4096", "-p", str(program.pid), "-o", "/tmp/perf.data", "--",
                        "sleep", str(2 * seconds)], check=True, timeout=LIMIT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = run("perf", "script", "--no-inline", "-i", "/tmp/perf.data", "-F", "ip,sym")
    finally:
        program.end()
    stacks = []
    for block in text.split("\n\n"):
        frames = [line.split(None, 1)[1].strip() for line in block.splitlines()
                  if len(line.split(None, 1)) == 2]
        if frames:
            stacks.append((frames, 1))
    return heaviest(stacks)


def allocator_refused(case, library=None):
    """Why no @library can be put in malloc's place: it is linked in, or another one is preloaded."""
    preloads_one = case.allocator and case.env.get("LD_PRELOAD") == case.allocator
    if case.name in ("container", "static", "musl", "go") or (preloads_one and case.allocator != library):
        return {"refused": "malloc cannot be preloaded"}
    if library and case.env.get("INJECT"):
        return {"refused": "it takes the place of what is preloaded"}
    return None


def preloaded(case, running, library, env, seconds, sig=signal.SIGTERM):
    """Runs it with one more library in front."""
    own = case.env.get("LD_PRELOAD")
    env = {**env, "LD_PRELOAD": f"{own}:{library}" if own else library}
    program = running(case, False, env=env)
    time.sleep(2 * seconds)
    program.end(sig)


def heaptrack(case, running, seconds):
    """Started under it: all that is not freed at the end"""
    refused = allocator_refused(case)
    if refused:
        return refused
    if not os.path.exists(HEAPTRACK):
        return {"refused": "not installed"}
    raw, data, folded = "/tmp/heaptrack.raw", "/tmp/heaptrack.data", "/tmp/heaptrack.folded"
    preloaded(case, running, HEAPTRACK, {"DUMP_HEAPTRACK_OUTPUT": raw}, seconds)
    with open(raw, "rb") as source, open(data, "wb") as target:
        subprocess.run([INTERPRET], stdin=source, stdout=target, stderr=subprocess.DEVNULL,
                       timeout=LIMIT, check=True)
    run("heaptrack_print", "-f", data, "-F", folded, "--flamegraph-cost-type", "leaked",
        "-p0", "-a0", "-T0", "-l0")
    stacks = []
    with open(folded, encoding="utf-8", errors="replace") as f:
        for line in f:
            names, _, weight = line.rstrip("\n").rpartition(" ")
            stacks.append(([n for n in names.split(";")[::-1] if n], int(weight)))
    os.unlink(raw)
    return heaviest(stacks)


def symbols(path, dynamic):
    """(address, size, name) of functions, by address; base: addresses of the file itself"""
    out = []
    got = subprocess.run(["nm", "-C", "-S", *(["-D"] if dynamic else []), path], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    for line in got.splitlines():
        m = re.match(r"([0-9a-f]+) ([0-9a-f]+) [TtWwi] (.*)", line)
        if m:
            out.append((int(m[1], 16), int(m[2], 16), m[3]))
    return sorted(out)


class Names:
    """Names of addresses, by the mappings at the end of a profile of jemalloc."""

    def __init__(self, maps):
        self.maps, self.bases, self.tables = [], {}, {}
        for line in maps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+\s+(/\S+)", line)
            if not m:
                continue
            lo, hi, path = int(m[1], 16), int(m[2], 16), m[5]
            self.bases.setdefault(path, lo)
            self.maps.append((lo, hi, path))

    def at(self, addr):
        for lo, hi, path in self.maps:
            if lo <= addr < hi:
                if path not in self.tables:
                    self.tables[path] = symbols(path, False) or symbols(path, True)
                offset = addr - self.bases[path]
                for start, size, name in self.tables[path]:
                    if start <= offset < start + size:
                        return name
                return f"{os.path.basename(path)}+{offset:#x}"
        return hex(addr)


def read_profile(path):
    """({stack of addresses: bytes in use}, mappings)"""
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    found, at, maps = {}, None, []
    for line in lines:
        if line.startswith("@ "):
            at = tuple(int(word, 16) for word in line.split()[1:])
        elif at and (m := re.match(r"\s+t\*: \d+: (\d+)", line)):
            found[at] = int(m[1])
        elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            maps.append(line)
    return found, maps


def jemalloc(case, running, seconds):
    """jemalloc preloaded, with its profile on: what is more at the last dump than at an early one"""
    refused = allocator_refused(case, JEMALLOC)
    if refused:
        return refused
    for path in glob.glob("/tmp/jeprof.*"):
        os.unlink(path)
    conf = "prof:true,lg_prof_sample:10,lg_prof_interval:18,prof_prefix:/tmp/jeprof"
    preloaded(case, running, JEMALLOC, {"MALLOC_CONF": conf}, seconds)
    dumps = sorted(glob.glob("/tmp/jeprof.*.heap"),
                   key=lambda p: int(re.search(r"\.i(\d+)\.heap", p)[1]))
    if len(dumps) < 2:
        return {"refused": f"{len(dumps)} dumps"}
    before, _ = read_profile(dumps[len(dumps) // 4])
    after, maps = read_profile(dumps[-1])
    names = Names(maps)
    own = re.compile(r"^(libjemalloc|je_|prof_|imalloc|malloc$|calloc$|realloc$|operator new)")
    stacks = []
    for at, weight in after.items():
        more = weight - before.get(at, 0)
        if more > 0:
            frames = [names.at(a - 1) for a in at]
            while frames and own.match(frames[0]):
                frames.pop(0)
            stacks.append((frames, more))
    return heaviest(stacks)


def reason(text):
    """The first error of a compiler, or the last line"""
    lines = text.strip().splitlines() or ["it printed no stack"]
    return next((line for line in lines if "error:" in line), lines[-1]).strip()[-200:]


def bcc_name(line):
    """The name of a frame that bcc prints: ADDRESS TAB NAME+OFFSET [FILE]; a name may have spaces."""
    address, _, name = line.strip().partition("\t")
    return re.sub(r"(\+0x[0-9a-f]+)?( \[[^]]*\])?$", "", name) or address


broken = {}     # why a peer does not work on this machine at all


def memleak(case, running, seconds):
    """memleak-bpfcc, which compiles its program first: for that it has two minutes more"""
    if case.name == "go":
        return {"refused": "it probes malloc"}
    if "memleak" in broken:
        return {"refused": broken["memleak"]}
    if not os.path.exists("/usr/sbin/memleak-bpfcc"):
        return {"refused": "not installed"}
    allocator = ["-O", case.allocator] if case.allocator else []
    program = running(case, False)
    try:
        got = subprocess.run(["memleak-bpfcc", "-p", str(program.pid), "-T", "20", "-o", "2000",
                              *allocator, str(2 * seconds), "1"], timeout=120 + 2 * seconds, text=True,
                             check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        broken["memleak"] = "not ready after two minutes: it compiles its program at each start"
        return {"refused": broken["memleak"]}
    finally:
        program.end()
    stacks = []
    for line in got.stdout.splitlines():
        head = re.match(r"\s+(\d+) bytes in (\d+) allocations from stack", line)
        if head:
            stacks.append(([], int(head[1])))
        elif stacks and line.startswith("\t\t"):
            stacks[-1][0].append(bcc_name(line))
    if not stacks and got.returncode:
        broken["memleak"] = reason(got.stderr)
    if not stacks:
        return {"refused": reason(got.stderr)}
    return heaviest(stacks)


PEERS = {"perf page-faults": perf_faults, "heaptrack": heaptrack, "jemalloc profile": jemalloc,
         "memleak-bpfcc": memleak}
