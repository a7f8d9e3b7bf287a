# SPDX-License-Identifier: GPL-2.0
"""Public traces of production memory as recordings of one process each.

A trace has shares of a size that it does not tell, one about every minute. What is held
is that share of a size that we choose; between two samples it stays what it was. A leak
that is added grows from an onset on, as one that nobody wrote would, in whole pages every
pass. Growth comes by page faults, one for each page.
"""
import csv
import io
import tarfile
from dataclasses import dataclass

PAGE = 4096
MB = 1 << 20
PASS_S = 10


@dataclass
class Trace:
    """A machine or container: [(seconds, share of its size)]."""
    name: str
    samples: list

    def days(self):
        return (self.samples[-1][0] - self.samples[0][0]) / 86400


def collect(rows, least_days):
    """Traces of (name, seconds, share), each in the order of time, without short ones."""
    by = {}
    for name, seconds, share in rows:
        by.setdefault(name, {})[seconds] = share
    traces = [Trace(name, sorted(samples.items())) for name, samples in sorted(by.items())]
    return [t for t in traces if len(t.samples) > 1 and t.days() >= least_days]


def machines_2018(data):
    """Alibaba cluster-trace-v2018, machine_usage.csv: machine, seconds, CPU, memory in %."""
    for row in csv.reader(io.StringIO(data.decode("ascii"))):
        if row[3] and 0 <= float(row[3]) <= 100:
            yield row[0], float(row[1]), float(row[3]) / 100


def pods_2026(data):
    """Alibaba cluster-trace-v2026-GenAI, pod_memory_util_anon: share, seconds, container."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        text = tar.extractfile(tar.getmembers()[0]).read().decode("ascii")
    rows = csv.reader(io.StringIO(text))
    next(rows)
    for share, seconds, name in rows:
        yield "pod_" + name[:8], float(seconds), float(share)


def pages_of(trace, size_mb, rate=0.0, onset_s=0.0, limit_mb=None):
    """[(seconds, pages)] of every pass; a leak of rate MB an hour ends at the limit, the
    size if there is none."""
    size = size_mb * MB // PAGE
    most = (limit_mb or size_mb) * MB // PAGE
    start, end = trace.samples[0][0], trace.samples[-1][0]
    out, i, t = [], 0, start
    while t <= end:
        while i + 1 < len(trace.samples) and trace.samples[i + 1][0] <= t:
            i += 1
        leak = int(max(0.0, t - start - onset_s) / 3600 * rate * MB / PAGE)
        out.append((t - start, min(most, int(trace.samples[i][1] * size) + leak)))
        t += PASS_S
    return out


def series(name, pages, size_mb):
    """A recording of them, docs/recording.md."""
    size = size_mb * MB
    yield "seepage-series 1\n"
    yield f"# a public trace, converted by tests/accuracy/trace.py: {name}\n"
    yield f"conf sample_interval_ms={PASS_S * 1000} policy=ladder\n"
    held = 0
    for i, (_, now) in enumerate(pages):
        step = now - held
        yield f"pass {PASS_S * 10**9} full {max(0, size - now * PAGE)}\n"
        if not i:
            yield (f"proc 1 pid=1 comm={name} born_ns={PASS_S * 10**9} begun_ns={PASS_S * 10**9} "
                   "page_shift=12\n")
        if step > 0:
            yield f"1 a{step:+d} v{step:+d} n+{step} m+{step}\n"
        elif step < 0:
            yield f"1 a{step:+d} v{step:+d}\n"
        held = now
