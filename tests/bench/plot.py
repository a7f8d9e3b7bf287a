#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the cost board: bench.json on stdin, SVG on stdout."""
import json
import math
import sys

from board import SECTIONS, number
from svg import FAINT, LIMIT, MARGIN, OURS, PEER, WIDTH, Drawing


def bars(d, board, top):
    """What each observer adds to a fault; returns where the panel ends."""
    key, _, rows = SECTIONS[0]
    figures, limit = board[key], board["limits"][key]["seepage_tracepoint"]
    left, right, height = 340, WIDTH - 90, 24
    rows = [(label, figures[name], name) for name, label, _ in rows
            if name in figures and name != "nothing"]
    rows.sort(key=lambda row: row[1])
    scale = (right - left) / max(value for _, value, _ in rows)
    d.text(MARGIN, top, "Instructions added to a user page fault", 18, font_weight="bold")
    d.text(MARGIN, top + 20, f"the kernel's own part of the fault is {number(board['base_instructions']['fault'])}; "
           "each observer beside a baseline of its own in the same VM", 13, fill="#666")
    y = top + 38
    first = y
    for label, value, name in rows:
        ours = name.startswith("seepage")
        d.text(left - 10, y + 16, label, text_anchor="end",
               font_weight="bold" if ours else "normal")
        d.add("rect", x=left, y=y + 3, width=round(max(value * scale, 1), 1), height=height - 7,
              fill=OURS if ours else PEER)
        d.text(left + max(value * scale, 1) + 7, y + 16, number(value),
               font_weight="bold" if ours else "normal")
        y += height
    d.line(left + limit * scale, first, left + limit * scale, y, LIMIT, stroke_dasharray="4 3")
    d.text(left + limit * scale, y + 14, f"budget {limit}", 12, fill=LIMIT, text_anchor="middle")
    missing = [(label, board["reasons"].get(f"{key}.{name}")) for name, label, _ in SECTIONS[0][2]
               if name not in figures]
    y += 24
    for label, reason in missing:
        d.text(MARGIN, y + 8, f"not measured: {label} ({reason})"[:140], 12, fill="#666")
        y += 18
    return y + 26


def short(n):
    for unit, name in ((10 ** 9, "G"), (10 ** 6, "M"), (10 ** 3, "k")):
        if n >= unit:
            return f"{n / unit:.3g}{name}"
    return f"{n:.3g}"


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10 ** i for i in range(low, max(high, low + 1) + 1)]


def steps(highest):
    step = 15 if highest <= 60 else 10 ** math.ceil(math.log10(highest / 5))
    return [step * i for i in range(math.ceil(highest / step) + 1)]


class Chart:
    """Axes in box (x, y, width, height); x is logarithmic."""

    def __init__(self, d, box, points, limit, logarithmic):
        self.d, self.box, self.logarithmic = d, box, logarithmic
        values = [v for _, v in points]
        self.xs = decades([n for n, _ in points])
        self.ys = decades(values) if logarithmic else steps(max(values + [limit or 0]) + 5)

    def x(self, n):
        x0, _, width, _ = self.box
        return x0 + width * math.log10(n / self.xs[0]) / math.log10(self.xs[-1] / self.xs[0])

    def y(self, v):
        _, y0, _, height = self.box
        low, high = self.ys[0], self.ys[-1]
        share = math.log10(v / low) / math.log10(high / low) if self.logarithmic else v / high
        return y0 + height * (1 - share)

    def axes(self, title, below):
        x0, y0, width, height = self.box
        self.d.text(x0 - 40, y0 - 14, title, 14, font_weight="bold")
        for y in self.ys:
            self.d.line(x0, self.y(y), x0 + width, self.y(y), FAINT)
            self.d.text(x0 - 6, self.y(y) + 4, short(y), 11, text_anchor="end", fill="#666")
        for x in self.xs:
            self.d.line(self.x(x), y0, self.x(x), y0 + height, FAINT)
            self.d.text(self.x(x), y0 + height + 15, short(x), 11, text_anchor="middle",
                        fill="#666")
        self.d.text(x0 + width / 2, y0 + height + 32, below, 12, text_anchor="middle",
                    fill="#666")

    def budget(self, a, b):
        self.d.line(self.x(a[0]), self.y(a[1]), self.x(b[0]), self.y(b[1]), LIMIT,
                    stroke_dasharray="4 3")

    def draw(self, points):
        self.d.add("polyline", fill="none", stroke=OURS, stroke_width=2,
                   points=" ".join(f"{self.x(n):.1f},{self.y(v):.1f}" for n, v in points))
        for n, v in points:
            self.d.add("circle", cx=round(self.x(n), 1), cy=round(self.y(v), 1), r=3.5, fill=OURS)
        n, v = points[-1]
        self.d.text(self.x(n) - 6, self.y(v) - 8, short(v), 12, text_anchor="end",
                    font_weight="bold", fill=OURS)


def flat(d, box, below, points, limit):
    """What is added per fault, under a budget that is the same everywhere."""
    chart = Chart(d, box, points, limit, False)
    chart.axes("instructions added per fault", below)
    chart.budget([chart.xs[0], limit], [chart.xs[-1], limit])
    d.text(box[0] + 6, chart.y(limit) - 6, f"budget {limit}", 11, fill=LIMIT)
    chart.draw(points)


def rising(d, box, title, below, points, each):
    """What grows with the number, and its budget for each one."""
    chart = Chart(d, box, points, None, True)
    chart.axes(title, below)
    first = max(chart.xs[0], chart.ys[0] / each)
    last = min(chart.xs[-1], chart.ys[-1] / each)
    chart.budget([first, first * each], [last, last * each])
    d.text(box[0] + 6, box[1] + 16, f"- - budget: {each} each", 11, fill=LIMIT)
    chart.draw(points)


def curves(d, board, top):
    data, limits = board["curves"], board["limits"]
    width, height, gap = 360, 170, 270
    left, right = MARGIN + 50, WIDTH / 2 + 60
    fault = limits["fault_added_instructions"]["seepage_tracepoint"]
    idle = limits["pass_instructions_per_process"]["idle"]
    record = limits["dump_instructions_per_record"]["kernel"]
    d.text(MARGIN, top, "How seepage's costs grow", 18, font_weight="bold")
    top += 50
    flat(d, (left, top, width, height), "processes in the table (last: full, the faulting one untracked)",
         data["fault_added_instructions_by_processes"], fault)
    flat(d, (right, top, width, height), "faults a second",
         data["fault_added_instructions_by_faults_per_s"], fault)
    top += gap
    flat(d, (left, top, width, height), "CPUs that fault at a time, each in a process of its own",
         data["fault_added_instructions_by_cpus"], fault)
    flat(d, (right, top, width, height), "CPUs that fault at a time, threads of one process",
         data["fault_added_instructions_by_cpus_threads"], fault)
    top += gap
    rising(d, (left, top, width, height), "instructions of a full pass, every 10 s",
           "idle processes in the table", data["pass_instructions_by_processes"], idle)
    rising(d, (right, top, width, height), "instructions of a dump", "records",
           data["dump_instructions_by_records"], record)
    return top + height + 50


def main():
    board = json.load(sys.stdin)
    d = Drawing()
    d.text(MARGIN, 36, "What seepage costs", 24, font_weight="bold")
    d.text(MARGIN, 58, f"{board['clock']}; Debian {board['kernel']} x86_64", 13, fill="#666")
    end = bars(d, board, 100)
    print(d.svg(int(curves(d, board, end + 20))))


if __name__ == "__main__":
    main()
