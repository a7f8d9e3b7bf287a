# SPDX-License-Identifier: GPL-2.0
"""Public traces of production memory as recordings of one process each.

A trace has shares of a size, one every 30 s to 5 minutes. Where it does not tell the
size, one is assumed. What is held is that share; between two samples it stays what it
was. All of it is one process's anonymous memory, which begins with the trace. A leak
that is added grows from an onset on, as one that nobody wrote would, in whole pages every
pass. Growth comes by page faults, one for each page.
"""
import csv
import hashlib
import io
import pickle
import struct
import tarfile
from dataclasses import dataclass

PAGE = 4096
MB = 1 << 20
PASS_S = 10
PARTS = 8			# of a trace, to see whether it rises to its end
RISE = 0.02			# of its size


@dataclass
class Trace:
    """A machine or container: [(seconds, share of its size)]."""
    name: str
    samples: list
    size_mb: int = None		# None: the trace does not tell it

    def days(self):
        return (self.samples[-1][0] - self.samples[0][0]) / 86400

    def half(self):
        """tuning or frozen, by the name; nobody looks at a frozen one by itself."""
        return ("tuning", "frozen")[hashlib.sha256(self.name.encode()).digest()[0] & 1]

    def rises(self):
        """It, or its last half, rises to its end: the least of each of eight equal parts
        is not below the one before, and the last is higher by 2 % of the size. Nobody can
        say that such a machine does not leak."""
        start, end = self.samples[0][0], self.samples[-1][0]
        return any(rising([share for t, share in self.samples if t >= begin], RISE)
                   for begin in (start, (start + end) / 2))


def rising(shares, least):
    n = len(shares)
    if n < PARTS:
        return False
    floors = [min(shares[i * n // PARTS:(i + 1) * n // PARTS]) for i in range(PARTS)]
    return floors == sorted(floors) and floors[-1] - floors[0] >= least


def collect(rows, least_days):
    """Traces of (name, seconds, share[, size in MB]), without short ones. The size is the
    same in all rows of a name."""
    by, sizes = {}, {}
    for name, seconds, share, *size in rows:
        by.setdefault(name, {})[seconds] = share
        sizes[name] = size[0] if size else None
    traces = [Trace(name, sorted(samples.items()), sizes[name])
              for name, samples in sorted(by.items())]
    return [t for t in traces if len(t.samples) > 1 and t.days() >= least_days]


# ---- formats: each takes [(file name, bytes)]

def machines_2018(files):
    """Alibaba cluster-trace-v2018, machine_usage.csv: machine, seconds, CPU, memory in %."""
    for _, data in files:
        for row in csv.reader(io.StringIO(data.decode("ascii"))):
            if row[3] and 0 <= float(row[3]) <= 100:
                yield row[0], float(row[1]), float(row[3]) / 100


def pods_2026(files):
    """Alibaba cluster-trace-v2026-GenAI, pod_memory_util_anon: share, seconds, container."""
    for _, data in files:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            text = tar.extractfile(tar.getmembers()[0]).read().decode("ascii")
        rows = csv.reader(io.StringIO(text))
        next(rows)
        for share, seconds, name in rows:
            yield "pod_" + name[:8], float(seconds), float(share)


class Array:
    """What numpy pickles of an array, without numpy."""

    def __setstate__(self, state):
        _, self.shape, self.kind, self.by_column, self.data = state

    def column(self, number):
        rows, columns = self.shape
        if self.kind.name not in (b"f4", "f4") or self.by_column or number >= columns:
            raise ValueError(f"an array of {self.kind.name}, {rows} x {columns}")
        return [row[number] for row in struct.iter_unpack(f"<{columns}f", self.data)]


class Kind:
    def __init__(self, name, *_):
        self.name = name

    def __setstate__(self, state):
        pass


class Arrays(pickle.Unpickler):
    """A pickle can run anything; this one builds an array and nothing else."""
    KNOWN = {"_reconstruct": lambda *_: Array(), "ndarray": Array, "dtype": Kind}

    def find_class(self, module, name):
        if module.split(".")[0] != "numpy" or name not in self.KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name} in a pickle")
        return self.KNOWN[name]


SMD_USED = 6			# mem_u_e, memory in use without caches
SMD_LOW, SMD_SPAN = 0.2, 0.6	# where its least and its most are put


def machines_2019(files):
    """Server Machine Dataset as InterFusion has it: machine-N_train.pkl and then _test.pkl,
    arrays of minutes x 38 metrics, each scaled to 0 .. 1 by its own least and most. Real
    shares are not told: 0.2 to 0.8 are assumed."""
    parts = {}
    for name, data in files:
        machine, _, part = name.removesuffix(".pkl").rpartition("_")
        parts.setdefault(machine, {})[part] = data
    for machine, halves in parts.items():
        minute = 0
        for part in ("train", "test"):
            for value in Arrays(io.BytesIO(halves[part]), encoding="bytes").load().column(SMD_USED):
                yield machine, 60.0 * minute, SMD_LOW + SMD_SPAN * min(1, max(0, value))
                minute += 1


def vms_2013(files):
    """Bitbrains, GWA-T-12 rnd, VM.csv: seconds (its head says ms); .. provisioned and used
    memory in KB. Used is what the hypervisor saw in use lately, less than what is held. The
    most that was provisioned is the size."""
    for name, data in files:
        rows = [row.split(";") for row in data.decode("ascii").splitlines()[1:]]
        rows = [(int(row[0]), float(row[5]), float(row[6])) for row in rows]
        most = max((size for _, size, _ in rows), default=0)
        for seconds, size, used in rows:
            if size and used <= most and most >= 1024:
                yield "vm_" + name.removesuffix(".csv"), float(seconds), used / most, int(most / 1024)


def systems_2023(files):
    """Westermo test systems, system-N.csv: named columns, memory in bytes. Used is what is
    neither free nor in caches and buffers."""
    free = ("sys-mem-free", "sys-mem-cache", "sys-mem-buffered")
    for name, data in files:
        for row in csv.DictReader(io.StringIO(data.decode("ascii"))):
            if all(row[key] for key in ("timestamp", "sys-mem-total", *free)):
                total = float(row["sys-mem-total"])
                used = total - sum(float(row[key]) for key in free)
                yield (name.removesuffix(".csv"), float(row["timestamp"]), max(0, used) / total,
                       int(total / MB))


# ---- recordings

def pages_of(trace, size_mb, rate=0.0, onset_s=0.0, limit_mb=None, end_s=None):
    """[(seconds, pages)] of every pass; a leak of rate MB an hour ends at the limit, the
    size if there is none. After end_s nothing is of interest."""
    size = size_mb * MB // PAGE
    most = (limit_mb or size_mb) * MB // PAGE
    start, end = trace.samples[0][0], trace.samples[-1][0]
    if end_s is not None:
        end = min(end, start + end_s)
    samples, last = trace.samples, len(trace.samples) - 1
    growth = rate * MB / PAGE / 3600
    out, i, t = [], 0, start
    while t <= end:
        while i < last and samples[i + 1][0] <= t:
            i += 1
        leak = int((t - start - onset_s) * growth) if t - start > onset_s else 0
        out.append((t - start, min(most, int(samples[i][1] * size) + leak)))
        t += PASS_S
    return out


def series(name, pages, size_mb):
    """A recording of them, docs/recording.md."""
    size = size_mb * MB
    yield "seepage-series 1\n"
    yield f"# a public trace, converted by tests/accuracy/trace.py: {name}\n"
    yield f"conf sample_interval_ms={PASS_S * 1000} policy=ladder\n"
    held, line = 0, ""
    for i, (_, now) in enumerate(pages):
        step = now - held
        if step or not i:
            line = f"pass {PASS_S * 10**9} full {max(0, size - now * PAGE)}\n"
        yield line
        if not i:
            yield (f"proc 1 pid=1 comm={name} born_ns={PASS_S * 10**9} begun_ns={PASS_S * 10**9} "
                   "page_shift=12\n")
        if step > 0:
            yield f"1 a{step:+d} v{step:+d} n+{step} m+{step}\n"
        elif step < 0:
            yield f"1 a{step:+d} v{step:+d}\n"
        held = now
