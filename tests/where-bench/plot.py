#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the board of make where: where.json on stdin, SVG on stdout. A row is a program, a column
a tool that was asked; a cell is the place of the true site."""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
sys.dont_write_bytecode = True
from svg import FAINT, MARGIN, OURS, WIDTH, Drawing  # noqa: E402  pylint: disable=C0413

from board import PEERS  # noqa: E402  pylint: disable=C0413

ROW, NAMES, COLUMN = 26, 330, 118
NEAR, GREY = "#8fb8d6", "#666"


def fill(said):
    """Colour, text and its colour"""
    if not said:
        return "#fff", "", GREY
    if said["outcome"] != "answered":
        return "#fff", "refused" if said["outcome"] == "refused" else "not run", GREY
    rank = said["rank"]
    if rank == 1:
        return OURS, "1", "#fff"
    return (NEAR, str(rank), "#000") if rank and rank <= 3 else (FAINT, str(rank or "not there"), "#000")


def main():
    board = json.load(sys.stdin)
    d = Drawing()
    d.text(MARGIN, 30, "Which function leaks? The place of the true one in each tool's answer", 18,
           font_weight="bold")
    d.text(MARGIN, 50, "one VM, same programs, same time; f: frozen half", 12, fill=GREY)
    peers = [p for p in PEERS if any(p in r.get("peers", {}) for r in board["programs"])]
    heads = ["seepage where"] + peers
    for i, head in enumerate(heads):
        d.text(NAMES + i * COLUMN + COLUMN / 2, 76, head, 12, text_anchor="middle",
               font_weight="normal" if i else "bold")
    y = 86
    for r in board["programs"]:
        d.text(MARGIN, y + 17, r["what"] + (" (f)" if r["half"] == "frozen" else ""), 12)
        said = [r.get("seepage")] + [r.get("peers", {}).get(p) for p in peers]
        for i, s in enumerate(said):
            colour, text, ink = fill(s)
            if not i and r.get("twin", {}).get("verdict") == "named":
                text += ", twin accused"
            d.add("rect", x=NAMES + i * COLUMN + 2, y=y + 1, width=COLUMN - 4, height=ROW - 3,
                  fill=colour, stroke=FAINT)
            d.text(NAMES + i * COLUMN + COLUMN / 2, y + 17, text, 12, text_anchor="middle", fill=ink)
        y += ROW
    d.text(MARGIN, y + 20, "heaptrack, jemalloc: the program is started under them. seepage where, perf, "
           "memleak: it runs already.", 12, fill=GREY)
    print(d.svg(y + 36))
    return 0 if NAMES + len(heads) * COLUMN <= WIDTH + COLUMN else 1


if __name__ == "__main__":
    sys.exit(main())
