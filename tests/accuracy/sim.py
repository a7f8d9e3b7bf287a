#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes SIMULATED recordings: shapes of memory use, in the format of docs/recording.md.

usage: tests/accuracy/sim.py OUTDIR [--seed N] [--hours H] [--cold] [NAME...]

For each shape OUTDIR gets NAME.SEED.series and NAME.case, whose note says that it
is a simulation. Shapes and detector have the same authors: what is measured here
is good for throwing a design away and for the board's own tests, not for claims.

Without --hours each shape lasts as long as its matter needs (12 to 72 hours; what
fills memory within the hour ends there); --hours cuts them all to H at most.

Passes are full and 10 s apart. What grows so fast that the kernel would sample it
every second (Shape.fast) has nine short passes between two full ones, from the
beginning: the kernel would take them from `watch` on, so before it the detector is
told a little more than it would be.

--cold adds the evidence of pages that are not used again (letters c and k), every
ten minutes, as the shape says; without it there is none.
"""
import argparse
import math
import os
import random
import zlib

MB = 256			# pages
GB = 1024 * MB
HOUR, DAY = 3600, 86400
BOOT = 1000			# seconds of uptime when a recording begins
RAM = 8 * GB
USED = GB // 2			# by what is not in the recording

CONF = ("sample_interval_ms=10000 suspect_interval_ms=1000 max_processes=8192 "
        "min_process_size_mb=10 alert_confidence=70 alert_interval_s=300 "
        "alerts_per_minute=60 fault_rate_warning=500 fault_rate_critical=1000 "
        "rss_growth_percent=200 monitoring_window_s=60 warmup_s=300 "
        "max_cpu_permille=5 policy=ladder pmc=auto")


class Proc:
    """One process; memory in pages, faults and CPU time cumulative."""

    def __init__(self, world, number, comm, anon, file, vsz, group=False):
        self.world, self.number, self.comm, self.group = world, number, comm, group
        self.pid = 0 if group else 1000 + number
        self.anon = self.shmem = self.swap = self.free = 0
        self.file = file
        self.vsz = vsz or file + 20 * MB
        self.sparse = 0		# page tables beyond those of what is resident
        self.maps = 40
        self.faults = self.faults_anon = self.cpu = 0
        self.peers = 1 if group else 0	# of a process the others
        self.born = world.now
        self.noise = 0
        self.said = {}
        self.cold = world.shape.cold
        if not group:
            self.faults = file // 16
            self.grow(anon)

    def grow(self, pages, faults=None):
        """Anonymous memory: first what the allocator has kept, then new mappings."""
        pages = int(pages)
        if pages <= 0:
            return
        self.anon += pages
        self.vsz += max(0, pages - self.free)
        self.free = max(0, self.free - pages)
        self.touch(pages if faults is None else faults)

    def touch(self, faults):
        """Faults on memory that is anonymous and does not grow."""
        self.faults += int(faults)
        self.faults_anon += int(faults)
        self.cpu += int(faults) * 2000

    def shrink(self, pages, unmap=False):
        pages = min(int(pages), self.anon)
        self.anon -= pages
        if unmap:
            self.vsz -= pages
        else:
            self.free += pages

    def set_anon(self, pages):
        """To so many pages, with a fault for each one gained."""
        pages = max(0, int(pages))
        if pages > self.anon:
            self.grow(pages - self.anon)
        else:
            self.shrink(self.anon - pages)

    def grow_file(self, pages):
        self.file += int(pages)
        self.faults += int(pages) // 16

    def grow_shmem(self, pages):
        self.shmem += int(pages)
        self.vsz += int(pages)
        self.faults += int(pages)

    def swap_out(self, pages):
        pages = min(int(pages), self.anon)
        self.anon -= pages
        self.swap += pages

    def swap_in(self, pages):
        pages = min(int(pages), self.swap)
        self.anon += pages
        self.swap -= pages
        self.touch(pages)

    def values(self):
        resident = self.anon + self.file + self.shmem
        return {"a": self.anon + self.noise, "f": self.file, "s": self.shmem, "w": self.swap,
                "v": self.vsz, "g": 12 + resident // 512 + self.sparse,
                "n": self.faults, "m": self.faults_anon, "x": self.maps, "u": self.cpu}

    def line(self):
        """What has changed since the last line; empty if nothing has."""
        words, now = [], self.values()
        for letter, value in now.items():
            change = value - self.said.get(letter, 0)
            if change:
                words.append(f"{letter}{change:+d}")
        if self.peers != self.said.get("p", 0):
            words.append(f"p{self.peers}")
        self.said = {**self.said, **now, "p": self.peers}
        return f"{self.number} {' '.join(words)}" if words else ""


class World:
    """The machine of one recording."""

    def __init__(self, shape, seed, out):
        self.shape, self.out = shape, out
        self.rng = random.Random(zlib.crc32(shape.name.encode()) * 1000 + seed)
        self.now = BOOT * 10 ** 9
        self.procs, self.count = [], 0
        self.news, self.ended = [], []	# lines of this pass
        self.last = 0
        self.sum = None

    def t(self):
        """Seconds since the recording began."""
        return self.now / 1e9 - BOOT

    def spawn(self, comm, anon=5 * MB, file=4 * MB, vsz=0):
        self.count += 1
        p = Proc(self, self.count, comm, anon, file, vsz)
        self.add(p)
        return p

    def add(self, p):
        self.procs.append(p)
        kind = " kind=group" if p.group else ""
        self.news.append(f"proc {p.number} pid={p.pid} comm={p.comm} born_ns={p.born} "
                          f"begun_ns={p.born} begun_faults=0 page_shift=12 "
                          f"exe=/usr/lib/sim/{p.comm}{kind}")

    def group(self, comm):
        """From here on there is a series of the sum over all processes."""
        self.count += 1
        self.sum = Proc(self, self.count, comm, 0, 0, 0, group=True)
        self.add(self.sum)

    def gone(self, p):
        self.procs.remove(p)
        if p.said:
            self.ended.append(f"gone {p.number}")
        else:			# between two passes: nobody has seen it
            self.news = [line for line in self.news if not line.startswith(f"proc {p.number} ")]

    def add_up(self):
        members = [p for p in self.procs if not p.group]
        for key in ("anon", "shmem", "swap", "file", "vsz"):
            setattr(self.sum, key, sum(getattr(p, key) for p in members))
        # cumulative: of those who died as well
        for key in ("faults", "faults_anon", "cpu"):
            total = sum(getattr(p, key) for p in members)
            setattr(self.sum, key, max(total, getattr(self.sum, key)))
        self.sum.peers = len(members)
        for p in members:
            p.peers = len(members) - 1

    def write_pass(self, short):
        if self.sum:
            self.add_up()
        for p in self.procs:
            if not p.group and self.rng.random() < 0.2:
                p.noise = self.rng.randrange(0, 24)
        used = sum(p.anon + p.shmem for p in self.procs if not p.group)
        headroom = max(0, RAM - USED - used)
        lines = self.ended + [f"pass {self.now - self.last} {'short' if short else 'full'} "
                              f"{headroom * 4096}"] + self.news
        self.last = self.now
        self.news, self.ended = [], []
        due = self.shape.evidence and not short and int(self.t()) % 600 == 0
        for p in self.procs:
            line = p.line()
            if due and not p.group:
                line = (line or str(p.number)) + f" c{p.cold} k{self.now}"
            if line or short:
                # a sample all the same: in a short pass only lines are fed
                lines.append(line or f"{p.number} a+0")
        self.out.write("\n".join(lines) + "\n")


class Shape:
    def __init__(self, name, run, truth, series="-", rate=0, onset=0, hours=24.0, fast=False,
                 cold=300, limits=(8192, 4096), half="tuning"):
        self.name, self.run, self.truth, self.series = name, run, truth, series
        self.rate, self.onset, self.hours, self.fast = rate, onset, hours, fast
        self.cold, self.limits, self.half = cold, limits, half
        self.evidence = False


SHAPES = []


def benign(name, **kw):
    def add(run):
        SHAPES.append(Shape(name, run, "benign", **kw))
        return run
    return add


def leak(name, rate, **kw):
    kw.setdefault("series", "anon")
    kw.setdefault("cold", 970)

    def add(run):
        SHAPES.append(Shape(name, run, "leak", rate=rate, **kw))
        return run
    return add


def poisson(rng, mean):
    """A count; normal where it makes no difference."""
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, n, product = math.exp(-mean), 0, rng.random()
    while product > limit:
        n += 1
        product *= rng.random()
    return n


class Trickle:
    """A rate in MB an hour, as whole pages."""

    def __init__(self, rate):
        self.rate, self.rest = rate, 0.0

    def __call__(self, dt, factor=1.0):
        self.rest += self.rate * MB / HOUR * dt * factor
        pages = int(self.rest)
        self.rest -= pages
        return pages


# A shape is a generator: it is resumed once a pass with the seconds that have
# gone by, and does to its processes what happened meanwhile.

# ---- benign

@benign("plateau")
def plateau(w):
    p = w.spawn("plateau", 20 * MB)
    while True:
        dt = yield
        p.set_anon(min(300 * MB, p.anon + 5 * MB * dt) if w.t() < 120
                   else 300 * MB + w.rng.gauss(0, MB))


def filling(cap, tau):
    """Keys drawn evenly: the more are there, the fewer are new."""
    def run(w):
        p = w.spawn("cache", 30 * MB)
        filled = 0.0
        while True:
            dt = yield
            filled += (cap - filled) * (1 - math.exp(-dt / tau)) * w.rng.uniform(0.6, 1.4)
            p.set_anon(30 * MB + filled)
            p.touch(poisson(w.rng, 20 * dt))
    return run


benign("cache-2h")(filling(1500 * MB, 2400))
benign("cache-8h", hours=48)(filling(3000 * MB, 9600))
benign("cache-8h-tight", hours=48, limits=(4096, 3300))(filling(3000 * MB, 9600))


@benign("cache-linear-4h", hours=24)
def cache_linear(w):
    p = w.spawn("lru", 30 * MB)
    fill = Trickle(400)
    while True:
        dt = yield
        if p.anon < 1630 * MB:
            p.grow(min(fill(dt, w.rng.uniform(0.5, 1.5)), 1630 * MB - p.anon))
        else:
            p.touch(poisson(w.rng, 7 * dt))


def sawtooth(period, height, rate=0.0, base=150, onset=0):
    """A collector that runs when its heap is full; `rate` is never freed."""
    def run(w):
        p = w.spawn("gc", base * MB)
        floor, above, keep = base * MB, 0.0, Trickle(rate)
        top = height * MB * w.rng.uniform(0.9, 1.1)
        while True:
            dt = yield
            if w.t() >= onset:
                floor += keep(dt)
            above += height * MB / period * dt * w.rng.uniform(0.7, 1.3)
            if above > top:
                above, top = w.rng.uniform(0, 0.06) * height * MB, height * MB * w.rng.uniform(0.9, 1.1)
            p.set_anon(floor + above)
    return run


benign("gc-8min")(sawtooth(480, 200))
benign("gc-2h", hours=48)(sawtooth(7200, 800))


@benign("batch-hourly")
def batch_hourly(w):
    p = w.spawn("batch", 50 * MB)
    while True:
        dt = yield
        phase = (w.t() - 900) % HOUR
        if w.t() > 900 and phase < 1500:
            p.set_anon(min(2050 * MB, p.anon + 2000 * MB / 1200 * dt * w.rng.uniform(0.8, 1.2)))
        elif p.anon > 60 * MB:
            p.shrink(p.anon - 50 * MB, unmap=True)


@benign("batch-daily", hours=72)
def batch_daily(w):
    p = w.spawn("nightly", 60 * MB)
    while True:
        dt = yield
        phase = (w.t() - 7200) % DAY
        if w.t() > 7200 and phase < 4 * HOUR:
            p.grow(1500 * MB / (4 * HOUR) * dt * w.rng.uniform(0.5, 1.5))
        elif p.anon > 70 * MB:
            p.shrink(p.anon - 60 * MB, unmap=True)


@benign("mmap-reader")
def mmap_reader(w):
    p = w.spawn("reader", 20 * MB, vsz=4200 * MB)
    while True:
        dt = yield
        p.grow_file(min(4000 * MB - p.file, w.rng.uniform(0, MB) * dt))


@benign("fork-cow")
def fork_cow(w):
    parent = w.spawn("snapshot", 500 * MB)
    child, end = None, 0
    while True:
        dt = yield
        parent.touch(poisson(w.rng, 30 * dt))
        if not child and w.t() % 1800 < dt and w.t() > 60:
            child, end = w.spawn("snapshot", 0), w.t() + w.rng.uniform(120, 400)
            child.anon, child.vsz = parent.anon, parent.vsz
            child.faults, child.faults_anon = 50, 20
        elif child and w.t() >= end:
            w.gone(child)
            child = None
        elif child:
            child.touch(poisson(w.rng, 100 * dt))


@benign("load-steps")
def load_steps(w):
    p = w.spawn("server", 60 * MB)
    target, until = 100 * MB, 0
    while True:
        dt = yield
        if w.t() >= until:
            target, until = w.rng.uniform(80, 450) * MB, w.t() + w.rng.uniform(600, 5400)
        p.set_anon(p.anon + (target - p.anon) * min(1, dt / 60) + w.rng.gauss(0, MB))


@benign("jit-warmup", hours=48)
def jit_warmup(w):
    p = w.spawn("jit", 80 * MB)
    while True:
        dt = yield
        p.set_anon(max(p.anon, 80 * MB + 60 * MB * math.log1p(w.t() / 60) + w.rng.gauss(0, MB / 2)))
        p.touch(poisson(w.rng, 5 * dt))


@benign("diurnal", hours=72)
def diurnal(w):
    p = w.spawn("web", 100 * MB)
    phase = w.rng.uniform(0, 2 * math.pi)
    while True:
        yield
        load = 1 - math.cos(2 * math.pi * w.t() / DAY + phase)
        p.set_anon((200 + 150 * load + w.rng.gauss(0, 6)) * MB)


@benign("noise")
def noise(w):
    p, x = w.spawn("noise", 200 * MB), 0.0
    while True:
        dt = yield
        x += -x * dt / 900 + w.rng.gauss(0, 4 * math.sqrt(dt / 10))
        p.set_anon((220 + x) * MB)


@benign("fault-churn")
def fault_churn(w):
    p = w.spawn("churn", 120 * MB)
    while True:
        dt = yield
        p.touch(poisson(w.rng, 2000 * dt))
        p.cpu += int(dt * 3e8)


@benign("madv-free")
def madv_free(w):
    p, lazy = w.spawn("lazyfree", 150 * MB), 0
    while True:
        dt = yield
        fresh = poisson(w.rng, 60 * dt)
        p.grow(fresh)
        lazy += fresh
        if lazy > 400 * MB or w.rng.random() < dt / 2400:	# reclaimed under pressure
            p.shrink(lazy)
            lazy = 0


@benign("khugepaged")
def khugepaged(w):
    p, holes = w.spawn("sparse", 300 * MB), 400
    while True:
        dt = yield
        n = min(holes, poisson(w.rng, dt * holes / 400 / 30))
        holes -= n
        p.grow(n * w.rng.randrange(100, 400), faults=0)


@benign("swap-in")
def swap_in(w):
    p = w.spawn("swapped", 600 * MB)
    while True:
        dt = yield
        phase = w.t() % (6 * HOUR)
        if 3600 < phase < 4200:
            p.swap_out(400 * MB * dt / 600)
        elif phase > 5400 and p.swap:
            p.swap_in(poisson(w.rng, 40 * MB * dt / 600))


@benign("tmpfs-scratch")
def tmpfs_scratch(w):
    p = w.spawn("scratch", 30 * MB)
    while True:
        dt = yield
        if w.t() % HOUR < dt:
            p.vsz -= p.shmem
            p.shmem = 0
        p.grow_shmem(w.rng.uniform(0, 2 * 500 * MB / HOUR) * dt)


@benign("exec-in-place")
def exec_in_place(w):
    p = w.spawn("launcher", 12 * MB)
    while True:
        dt = yield
        if w.t() % 1800 < dt and w.t() > 60:
            w.gone(p)		# the record of the old program ends, as with exit
            p = w.spawn("program", 10 * MB)
        p.set_anon(min(150 * MB, p.anon + 2 * MB * dt))


@benign("huge-vsz")
def huge_vsz(w):
    p = w.spawn("reserve", 80 * MB, vsz=64 * GB)
    while True:
        dt = yield
        p.touch(poisson(w.rng, 10 * dt))


@benign("arena-ratchet", hours=48)
def arena_ratchet(w):
    """The allocator keeps the highest of all request peaks."""
    p = w.spawn("arena", 100 * MB)
    while True:
        dt = yield
        peak = 80 * MB * (1 + w.rng.expovariate(3.0)) if w.rng.random() < dt / 40 else 0
        p.set_anon(max(p.anon, 60 * MB + peak))
        p.touch(poisson(w.rng, 3 * dt))


@benign("log-rotation", hours=48)
def log_rotation(w):
    p = w.spawn("logger", 40 * MB)
    keep = Trickle(12)
    while True:
        dt = yield
        p.grow(keep(dt, w.rng.uniform(0.5, 1.5)))
        p.grow_file(w.rng.uniform(0, 20) * dt)
        if w.t() % (6 * HOUR) < dt:
            p.shrink(p.anon - 40 * MB)
            p.file = 4 * MB


@benign("compile-job", hours=12)
def compile_job(w):
    make, jobs = w.spawn("make", 15 * MB), {}
    while True:
        dt = yield
        busy = w.t() % HOUR < 900
        if busy and len(jobs) < 2:
            p = w.spawn("cc1", 8 * MB)
            jobs[p] = (w.t() + w.rng.uniform(5, 90), w.rng.uniform(1, 8) * MB)
        for p, (end, rate) in list(jobs.items()):
            if w.t() >= end:
                w.gone(p)
                del jobs[p]
            else:
                p.grow(rate * dt * w.rng.uniform(0.3, 1.7))
        make.touch(3 if busy else 0)


@benign("buffer-pool")
def buffer_pool(w):
    p = w.spawn("database", 150 * MB)
    while True:
        dt = yield
        if w.t() > 600 and p.shmem < 2000 * MB:
            p.grow_shmem(min(2000 * MB - p.shmem, 2000 * MB / 1200 * dt * w.rng.uniform(0.3, 1.7)))


@benign("buffer-pool-anon")
def buffer_pool_anon(w):
    """Reads a table into its own pool at once, hours after the start."""
    p = w.spawn("innodb", 150 * MB)
    begin = w.rng.uniform(1, 6) * HOUR
    while True:
        dt = yield
        if w.t() > begin and p.anon < 2150 * MB:
            p.grow(min(2150 * MB - p.anon, 2000 * MB / 1500 * dt * w.rng.uniform(0.3, 1.7)))


benign("sessions-ttl", hours=48)(filling(600 * MB, 3 * HOUR))


@benign("prefork", hours=24)
def prefork(w):
    master, workers = w.spawn("prefork", 30 * MB), []
    w.group("prefork")
    while True:
        dt = yield
        if len(workers) < 8 and w.rng.random() < dt / 1800:
            workers.append(w.spawn("prefork", 10 * MB))
        for p in workers:
            p.set_anon(p.anon + (60 * MB - p.anon) * dt / 1200)
        master.touch(1)


@benign("idle")
def idle(w):
    w.spawn("daemon", 25 * MB)
    while True:
        yield


# ---- leaks

def linear(rate, onset=0, faults=True):
    def run(w):
        p, ooze = w.spawn("leaky", 80 * MB), Trickle(rate)
        while True:
            dt = yield
            if w.t() >= onset:
                p.grow(ooze(dt, w.rng.uniform(0.4, 1.6)), None if faults else 0)
    return run


leak("linear-2", 2, hours=72)(linear(2))
leak("linear-10", 10, hours=72)(linear(10))
leak("linear-60", 60, hours=24)(linear(60))
leak("late-onset", 30, onset=12 * HOUR, hours=48)(linear(30, 12 * HOUR))
leak("populate", 40, hours=24)(linear(40, faults=False))
leak("runaway-100", 6000, onset=600, hours=1.5, fast=True)(linear(6000, 600))
leak("runaway-400", 24000, onset=600, hours=0.6, fast=True)(linear(24000, 600))
leak("fill-5min", 96000, onset=900, hours=0.35, fast=True)(linear(96000, 900))
leak("fill-start", 96000, onset=0, hours=0.1, fast=True)(linear(96000, 0))


@leak("brk", 20, hours=36)
def brk(w):
    """In steps of the heap's top pad."""
    p, ooze, owed = w.spawn("brk", 60 * MB), Trickle(20), 0
    while True:
        dt = yield
        owed += ooze(dt)
        if owed >= 33:
            p.grow(owed)
            owed = 0


@leak("mmap", 20, hours=36)
def mmap(w):
    p, ooze, owed = w.spawn("mmap", 60 * MB), Trickle(20), 0
    while True:
        dt = yield
        owed += ooze(dt)
        if owed >= MB:
            p.grow(MB)
            p.maps += 1
            owed -= MB


@leak("thp", 60, hours=24)
def thp(w):
    p, ooze, owed = w.spawn("thp", 80 * MB), Trickle(60), 0
    while True:
        dt = yield
        owed += ooze(dt, w.rng.uniform(0.4, 1.6))
        if owed >= 2 * MB:
            p.grow(2 * MB, faults=1)
            owed -= 2 * MB


@leak("bursty", 30, hours=48)
def bursty(w):
    p = w.spawn("bursty", 90 * MB)
    while True:
        dt = yield
        if w.rng.random() < dt / 1200:
            p.grow(w.rng.uniform(2, 18) * MB)


def per_request(day):
    def run(w):
        p, requests = w.spawn("requests", 120 * MB), 0.0
        while True:
            dt = yield
            load = 1 - 0.8 * math.cos(2 * math.pi * w.t() / DAY) if day else 1
            n = poisson(w.rng, 8 * dt * load)
            requests += n
            p.grow(poisson(w.rng, n * 0.18))	# 5 MB an hour for each request a second
            p.touch(n * 2)
    return run


leak("request-poisson", 20, hours=48)(per_request(False))
leak("request-diurnal", 20, hours=72)(per_request(True))
leak("below-gc-8min", 30, hours=36)(sawtooth(480, 200, rate=30))
leak("below-gc-2h", 30, hours=72)(sawtooth(7200, 800, rate=30))


@leak("vsz-only", 500, series="vsz", hours=24)
def vsz_only(w):
    p, ooze = w.spawn("reserves", 60 * MB), Trickle(500)
    while True:
        dt = yield
        p.vsz += ooze(dt)
        p.maps += w.rng.randrange(0, 2)


@leak("shmem", 50, series="shmem", hours=24)
def shmem(w):
    p, ooze = w.spawn("tmpfs", 40 * MB), Trickle(50)
    while True:
        dt = yield
        p.grow_shmem(ooze(dt, w.rng.uniform(0.4, 1.6)))


@leak("memfd", 120, series="shmem", hours=24)
def memfd(w):
    p, ooze, owed = w.spawn("memfd", 40 * MB), Trickle(120), 0
    while True:
        dt = yield
        owed += ooze(dt)
        if owed >= 4 * MB:
            p.grow_shmem(4 * MB)
            p.maps += 1
            owed -= 4 * MB


@leak("thread-stacks", 240, series="vsz", hours=24)
def thread_stacks(w):
    """A thread in two minutes that nobody joins: 8 MB of addresses, 12 pages of memory."""
    p, due = w.spawn("threads", 40 * MB), 0.0
    while True:
        dt = yield
        due += dt / 120
        if due >= 1:
            due -= 1
            p.vsz += 8 * MB
            p.maps += 2
            p.grow(12)


@leak("swapped-out", 60, series="swap", hours=24)
def swapped_out(w):
    p, ooze = w.spawn("cold", 200 * MB), Trickle(60)
    while True:
        dt = yield
        p.grow(ooze(dt, w.rng.uniform(0.4, 1.6)))
        if p.anon > 300 * MB:
            p.swap_out(p.anon - 300 * MB + w.rng.randrange(0, MB))


@leak("page-tables", 30, series="pgtables", hours=24)
def page_tables(w):
    """Reads of single pages far apart: the zero page, and a table for each."""
    p, ooze = w.spawn("sparse", 40 * MB, vsz=900 * GB), Trickle(30)
    while True:
        dt = yield
        n = ooze(dt, w.rng.uniform(0.4, 1.6))
        p.sparse += n
        p.faults += n


@leak("children-stay", 60, series="group", hours=24)
def children_stay(w):
    parent = w.spawn("forker", 20 * MB)
    w.group("forker")
    while True:
        dt = yield
        parent.touch(1)
        if w.rng.random() < dt / 600:
            w.spawn("forker", 10 * MB)


@leak("children-die", 600, series="group", hours=24)
def children_die(w):
    """Four workers, replaced when they end, each leaking as long as it lives."""
    workers = {}
    w.spawn("pool", 20 * MB)
    w.group("pool")
    while True:
        dt = yield
        while len(workers) < 4:
            workers[w.spawn("pool", 15 * MB)] = (w.t() + w.rng.uniform(1200, 4800), Trickle(150))
        for p, (end, ooze) in list(workers.items()):
            p.grow(ooze(dt, w.rng.uniform(0.4, 1.6)))
            if w.t() >= end:
                w.gone(p)
                del workers[p]


@leak("mapped-files", 100, series="vsz", hours=24)
def mapped_files(w):
    p, ooze, owed = w.spawn("forgets", 40 * MB), Trickle(100), 0
    while True:
        dt = yield
        owed += ooze(dt)
        if owed >= MB:
            p.grow_file(owed)
            p.vsz += owed
            p.maps += 1
            owed = 0


@leak("sighup-steps", 8, hours=72)
def sighup_steps(w):
    p, due = w.spawn("reloads", 100 * MB), 3 * HOUR
    while True:
        yield
        if w.t() >= due:
            due += w.rng.uniform(2, 6) * HOUR
            p.grow(w.rng.uniform(28, 36) * MB)


# The frozen half: shapes that differ in kind from those that are tuned on.
FROZEN = {"cache-8h-tight", "cache-linear-4h", "gc-2h", "batch-daily", "load-steps",
          "arena-ratchet", "madv-free", "buffer-pool-anon", "sessions-ttl", "prefork",
          "swap-in", "diurnal",
          "linear-10", "late-onset", "runaway-400", "fill-start", "mmap", "request-diurnal",
          "below-gc-2h", "memfd", "swapped-out", "children-stay", "mapped-files"}
for _shape in SHAPES:
    _shape.half = "frozen" if _shape.name in FROZEN else "tuning"


def simulate(shape, seed, hours, path):
    """Writes one recording, which ends when the machine is full; returns its seconds."""
    with open(path, "w", encoding="ascii") as out:
        out.write(f"seepage-series 1\n# SIMULATION of the shape {shape.name}, seed {seed}, "
                  f"by tests/accuracy/sim.py: no process ran\nconf {CONF}\n")
        w = World(shape, seed, out)
        run = shape.run(w)
        next(run)
        dt = 1 if shape.fast else 10
        passes = int(min(shape.hours, hours or shape.hours) * HOUR) // dt
        w.write_pass(False)
        for i in range(1, passes + 1):
            w.now += dt * 10 ** 9
            run.send(dt)
            used = sum(p.anon + p.shmem for p in w.procs if not p.group)
            if used > RAM - USED:
                return (i - 1) * dt
            w.write_pass(shape.fast and i % 10 != 0)
    return passes * dt


def write_case(shape, path, duration):
    with open(path, "w", encoding="ascii") as out:
        out.write(f"# SIMULATION, by tests/accuracy/sim.py\n"
                  f"load=sim\nfamily=sim\nhalf={shape.half}\ntruth={shape.truth}\n"
                  f"series={shape.series}\nrate_mb_h={shape.rate}\nonset_s={shape.onset}\n"
                  f"duration_s={duration}\nlimits=\"{' '.join(map(str, shape.limits))}\"\n"
                  f"note=\"simulated shape, not a recording\"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--cold", action="store_true")
    args = parser.parse_args()
    known = {shape.name: shape for shape in SHAPES}
    for name in args.names:
        if name not in known:
            parser.error(f"unknown shape '{name}', known: {' '.join(known)}")
    os.makedirs(args.outdir, exist_ok=True)
    for name in args.names or known:
        shape = known[name]
        shape.evidence = args.cold
        duration = simulate(shape, args.seed, args.hours,
                            f"{args.outdir}/{name}.{args.seed}.series")
        write_case(shape, f"{args.outdir}/{name}.case", duration)


if __name__ == "__main__":
    main()
