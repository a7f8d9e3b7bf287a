# SPDX-License-Identifier: GPL-2.0
"""Samples on an even grid, for deciders that want one."""


def on_grid(series, values, step_ns, start, end):
    """The last value at or before each of start, start + step, ...; None while there is
    no sample, or after the process has gone."""
    out, i, n, time = [], 0, len(series.time), series.time
    last = series.gone_ns
    value = None
    for t in range(start, end + 1, step_ns):
        while i < n and time[i] <= t:
            value = values[i]
            i += 1
        out.append(None if last is not None and t > last else value)
    return out


def total(columns):
    """Sum over what is there at each point; None where nothing is."""
    out = []
    for row in zip(*columns):
        there = [v for v in row if v is not None]
        out.append(sum(there) if there else None)
    return out
