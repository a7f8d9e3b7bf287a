#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the detector's board: accuracy.json on stdin, SVG on stdout.

usage: plot.py [--runway]    the summary; or the runway that each leak has left, a row each
"""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from svg import FAINT, LIMIT, MARGIN, OURS, PEER, WIDTH, Drawing  # pylint: disable=C0413

from board import NAMES, duration  # pylint: disable=C0413

GOAL = 0.95
GREY, CLASSIC = "#666", "#d08a1d"
OPEN = "#8fb8d6"


def percent(share):
    return "-" if share is None else f"{100 * share:.0f}"


def bars(d, board, half, left, top, width):
    """Precision and recall of each decider; returns where the panel ends."""
    d.text(left, top, f"{half} half", 15, font_weight="bold")
    d.text(left + 190, top, "precision, %", 12, fill=GREY)
    d.text(left + 190 + width / 2, top, "recall, %", 12, fill=GREY)
    y, first = top + 10, top + 10
    for decider, s in board["summary"][half].items():
        ours = decider == "ladder"
        d.text(left + 178, y + 16, NAMES[decider], 12, text_anchor="end",
               font_weight="bold" if ours else "normal")
        for i, key in enumerate(("precision", "recall")):
            x, scale = left + 190 + i * width / 2, width / 2 - 50
            value = s[key]
            d.add("rect", x=x, y=y + 4, width=max(1, round(scale * (value or 0), 1)), height=15,
                  fill=OURS if ours else PEER)
            d.text(x + scale + 8, y + 16, percent(value), 12,
                   font_weight="bold" if ours else "normal")
        y += 23
    for i in range(2):
        x = left + 190 + i * width / 2 + (width / 2 - 50) * GOAL
        d.line(x, first, x, y, LIMIT, stroke_dasharray="4 3")
    d.text(left + 190 + (width / 2 - 50) * GOAL, y + 13, "goal 95", 11, fill=LIMIT,
           text_anchor="middle")
    return y + 30


class Square:
    """Axes from 0 to 100 %."""

    def __init__(self, d, x, y, size):
        self.d, self.x0, self.y0, self.size = d, x, y, size

    def at(self, across, up):
        return self.x0 + self.size * across, self.y0 + self.size * (1 - up)

    def axes(self, title, across, up):
        self.d.text(self.x0 - 40, self.y0 - 30, title, 14, font_weight="bold")
        self.d.text(self.x0 - 40, self.y0 - 12, up, 12, fill=GREY)
        for i in range(0, 101, 20):
            x, y = self.at(i / 100, i / 100)
            self.d.line(self.x0, y, self.x0 + self.size, y, FAINT)
            self.d.line(x, self.y0, x, self.y0 + self.size, FAINT)
            self.d.text(self.x0 - 6, y + 4, str(i), 11, text_anchor="end", fill=GREY)
            self.d.text(x, self.y0 + self.size + 15, str(i), 11, text_anchor="middle", fill=GREY)
        self.d.text(self.x0 + self.size / 2, self.y0 + self.size + 32, across, 12,
                    text_anchor="middle", fill=GREY)


def curve(square, points, color):
    points = [(t, fp, tp) for t, fp, tp in points if fp is not None and tp is not None]
    if not points:
        return
    square.d.add("polyline", fill="none", stroke=color, stroke_width=2,
                 points=" ".join("%.1f,%.1f" % square.at(fp, tp) for _, fp, tp in points))
    for t, fp, tp in points:
        x, y = square.at(fp, tp)
        square.d.add("circle", cx=round(x, 1), cy=round(y, 1), r=5 if t == 70 else 2.5, fill=color)


def roc(d, board, half, x, y, size):
    square = Square(d, x, y, size)
    square.axes(f"ROC over alert_confidence, {half} half", "benign units with a false alert, %",
                "leaks found, %")
    for policy, color in (("classic", CLASSIC), ("ladder", OURS)):
        curve(square, board["roc"][half].get(policy, []), color)
    marks = {"coroot": "C", "coroot-nolimit": "N", "mann-kendall": "M"}
    for decider, mark in marks.items():
        fp, tp = board["points"][half][decider]
        if fp is not None and tp is not None:
            mx, my = square.at(fp, tp)
            d.add("rect", x=round(mx - 7, 1), y=round(my - 7, 1), width=14, height=14, fill="#555")
            d.text(mx, my + 4, mark, 11, text_anchor="middle", fill="#fff")
    return y + size + 44


def legend(d, x, y):
    d.add("circle", cx=x + 5, cy=y - 4, r=4, fill=OURS)
    d.text(x + 16, y, "ladder", 12)
    d.add("circle", cx=x + 75, cy=y - 4, r=4, fill=CLASSIC)
    d.text(x + 86, y, "classic (large: the threshold as it is, 70)", 12)
    d.text(x + 340, y, "C: Coroot's rule, limit known; N: no limit; M: Mann-Kendall + Theil-Sen", 12,
           fill=GREY)


def runway_rows(board):
    """Of each leak and limit what the ladder leaves, seeds together."""
    rows = {}
    for u in board["units"]:
        if u["decider"] == "ladder" and u["outcome"] in ("TP", "FN"):
            rows.setdefault((u["half"], u["case"], u["limit_mb"]), []).append(u)
    return sorted(rows.items())


def runway(d, board, top):
    """A line for each leak: what is left at suspected and at confirmed."""
    rows = runway_rows(board)
    left, right, height = 330, WIDTH - 130, 17
    scale = right - left
    d.text(MARGIN, top, "Runway left when the ladder speaks", 18, font_weight="bold")
    d.text(MARGIN, top + 20, "from the onset of the leak to the exhaustion of its limit; each seed a "
           "mark; beside it the seeds that were found, and when", 13, fill=GREY)
    d.add("circle", cx=left + 5, cy=top + 38, r=4, fill=OPEN)
    d.text(left + 16, top + 42, "suspected", 12)
    d.add("circle", cx=left + 95, cy=top + 38, r=4, fill=OURS)
    d.text(left + 106, top + 42, "confirmed", 12)
    d.add("rect", x=left + 186, y=top + 34, width=8, height=8, fill="none", stroke=LIMIT)
    d.text(left + 202, top + 42, "not found: left at the recording's end", 12)
    y = first = top + 56
    for (half, case, limit), units in rows:
        d.text(left - 10, y + 12, f"{case}, {limit} MB, {half}", 11, text_anchor="end")
        d.line(left, y + 8, right, y + 8, FAINT)
        for u in units:
            if u["outcome"] == "FN" and u["left_at_end"] is not None:
                x = left + scale * max(0, u["left_at_end"])
                d.add("rect", x=round(x - 4, 1), y=y + 4, width=8, height=8, fill="none", stroke=LIMIT)
            for key, color in (("left_suspected", OPEN), ("left_confirmed", OURS)):
                if u[key] is not None and u["outcome"] == "TP":
                    d.add("circle", cx=round(left + scale * max(0, u[key]), 1), cy=y + 8, r=4,
                          fill=color)
        found = sorted(u["suspected_s"] for u in units if u["outcome"] == "TP")
        text = f"{len(found)}/{len(units)}" + (f"  {duration(found[len(found) // 2])}" if found else "")
        d.text(right + 10, y + 12, text, 11, fill="#222" if len(found) == len(units) else LIMIT)
        y += height
    for share, color in ((0, FAINT), (0.2, FAINT), (0.4, FAINT), (0.6, LIMIT), (0.8, LIMIT),
                         (1, FAINT)):
        x = left + scale * share
        dashes = {"stroke_dasharray": "4 3"} if color == LIMIT else {}
        d.line(x, first, x, y, color, **dashes)
        goal = {0.6: ": goal, runaways", 0.8: ": goal"}.get(share, "")
        d.text(x, y + 14, f"{100 * share:.0f} %{goal}", 11, text_anchor="middle",
               fill=LIMIT if goal else GREY)
    return y + 30


def summary(d, board):
    d.text(MARGIN, 36, "What the detector finds, and what it takes for a leak", 24, font_weight="bold")
    kind = ("SIMULATED shapes, not recordings: not for claims" if board["simulation"]
            else "recordings of processes")
    d.text(MARGIN, 58, f"{board['cases']} cases, {board['recordings']} {kind}; "
           "a unit is a recording under one limit", 13,
           fill=LIMIT if board["simulation"] else GREY)
    halves = list(board["summary"])
    end = 0
    for i, half in enumerate(halves):
        end = bars(d, board, half, MARGIN + i * 470, 94, 260)
    if any(points for half in halves for points in board["roc"][half].values()):
        top, size = end + 60, 300
        for i, half in enumerate(halves):
            end = roc(d, board, half, MARGIN + 50 + i * 470, top, size)
        legend(d, MARGIN, end + 6)
        end += 30
    return end


def main():
    board = json.load(sys.stdin)
    d = Drawing()
    if sys.argv[1:] == ["--runway"]:
        print(d.svg(int(runway(d, board, 36))))
    else:
        print(d.svg(int(summary(d, board))))


if __name__ == "__main__":
    main()
