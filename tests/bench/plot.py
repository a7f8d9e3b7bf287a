#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the cost board: bench.json on stdin, SVG on stdout."""
import html
import json
import math
import sys

from board import SECTIONS, number

WIDTH, MARGIN = 960, 24
OURS, PEER, FAINT, LIMIT = "#1b6ca8", "#b9bec4", "#e3e6e9", "#c0392b"


class Drawing:
    def __init__(self):
        self.parts = []

    def add(self, tag, **attributes):
        text = attributes.pop("text", None)
        words = " ".join(f'{key.replace("_", "-")}="{html.escape(str(value))}"'
                         for key, value in attributes.items())
        end = "/>" if text is None else f">{html.escape(text)}</{tag}>"
        self.parts.append(f"<{tag} {words}{end}")

    def text(self, x, y, text, size=13, **attributes):
        self.add("text", x=round(x, 1), y=round(y, 1), text=text, font_size=size, **attributes)

    def line(self, x1, y1, x2, y2, color, **attributes):
        self.add("line", x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1),
                 stroke=color, **attributes)

    def svg(self, height):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                f'width="{WIDTH}" height="{height}" font-family="sans-serif" fill="#222">\n'
                f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
                + "\n".join(self.parts) + "\n</svg>")


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
           "linear scale; all in one run", 13, fill="#666")
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
            return f"{n / unit:g}{name}"
    return f"{n:g}"


def ticks(low, high):
    return [10 ** i for i in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def curve(d, box, title, below, points, limit=None, logarithmic=True):
    """One chart in box (x, y, width, height), x logarithmic."""
    x0, y0, width, height = box
    xs = ticks(min(n for n, _ in points), max(n for n, _ in points))
    if logarithmic:
        ys = ticks(min(v for _, v in points), max(v for _, v in points))
    else:
        ys = [0, 15, 30, 45, 60]
    fx = lambda n: x0 + width * math.log10(n / xs[0]) / math.log10(xs[-1] / xs[0])
    fy = (lambda v: y0 + height * (1 - math.log10(v / ys[0]) / math.log10(ys[-1] / ys[0]))) \
        if logarithmic else (lambda v: y0 + height * (1 - min(v, ys[-1]) / ys[-1]))
    d.text(x0 - 40, y0 - 14, title, 14, font_weight="bold")
    for y in ys:
        d.line(x0, fy(y), x0 + width, fy(y), FAINT)
        d.text(x0 - 6, fy(y) + 4, short(y), 11, text_anchor="end", fill="#666")
    for x in xs:
        d.line(fx(x), y0, fx(x), y0 + height, FAINT)
        d.text(fx(x), y0 + height + 15, short(x), 11, text_anchor="middle", fill="#666")
    d.text(x0 + width / 2, y0 + height + 32, below, 12, text_anchor="middle", fill="#666")
    if limit:
        ends = limit if isinstance(limit, list) else [[xs[0], limit], [xs[-1], limit]]
        (ax, ay), (bx, by) = ends
        d.line(fx(ax), fy(ay), fx(bx), fy(by), LIMIT, stroke_dasharray="4 3")
        d.text(fx(bx) - 4, fy(by) - 6, "budget", 11, text_anchor="end", fill=LIMIT)
    d.add("polyline", points=" ".join(f"{fx(n):.1f},{fy(v):.1f}" for n, v in points),
          fill="none", stroke=OURS, stroke_width=2)
    for n, v in points:
        d.add("circle", cx=round(fx(n), 1), cy=round(fy(v), 1), r=3.5, fill=OURS)
    n, v = points[-1]
    d.text(fx(n) - 4, fy(v) + 18, number(v), 12, text_anchor="end", font_weight="bold", fill=OURS)


def curves(d, board, top):
    data, limits = board["curves"], board["limits"]
    width, height, gap = 360, 170, 270
    left, right = MARGIN + 50, WIDTH / 2 + 60
    fault = limits["fault_added_instructions"]["seepage_tracepoint"]
    idle = limits["pass_instructions_per_process"]["idle"]
    record = limits["dump_instructions_per_record"]["kernel"]
    d.text(MARGIN, top, "How seepage's costs grow", 18, font_weight="bold")
    top += 50
    curve(d, (left, top, width, height), "added per fault",
          "processes in the table", data["fault_added_instructions_by_processes"], fault, False)
    curve(d, (right, top, width, height), "added per fault",
          "faults a second", data["fault_added_instructions_by_faults_per_s"], fault, False)
    top += gap
    points = data["pass_instructions_by_processes"]
    ends = [points[0][0], points[-1][0]]
    curve(d, (left, top, width, height), "instructions of a full pass, every 10 s",
          "idle processes in the table", points, [[n, n * idle] for n in ends])
    points = data["dump_instructions_by_records"]
    ends = [points[0][0], points[-1][0]]
    curve(d, (right, top, width, height), "instructions of a dump",
          "records", points, [[n, n * record] for n in ends])
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
