# SPDX-License-Identifier: GPL-2.0
"""What Chromium made of a page of report. usage: check.py DIR, with page.html, dom.html, *.log,
page.png. A result line for each check; exits with 1 if any failed."""
import os
import re
import struct
import sys
import zlib

DIR = sys.argv[1]
# Lines, the band of an alert, the line of an alert, as ctl/report/chart.c has them
COLOURS = {"first line": (0x0b, 0x57, 0xa4), "band of watch": (0xff, 0xf6, 0xd6),
           "band of an alert": ((0xfb, 0xe3, 0xcd), (0xf9, 0xcf, 0xae), (0xf3, 0xb3, 0xa8))}


def read(name, mode="r"):
    with open(os.path.join(DIR, name), mode, **({} if "b" in mode else {"encoding": "utf-8"})) as f:
        return f.read()


def pixels(png):
    """The colours of a PNG of 8 bits a channel, with how often each occurs; its size."""
    at, data, header = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", png[at + 8:at + 21])
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += 12 + size
    width, height, depth, kind = header[:4]
    assert depth == 8 and kind in (2, 6), header
    n = 4 if kind == 6 else 3
    raw, before, count = zlib.decompress(data), bytearray(width * n), {}
    for y in range(height):
        row = bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        unfilter(raw[y * (width * n + 1)], row, before, n)
        for x in range(0, len(row), n):
            colour = (row[x], row[x + 1], row[x + 2])
            count[colour] = count.get(colour, 0) + 1
        before = row
    return count, width, height


def unfilter(kind, row, up, n):
    for i, v in enumerate(row):
        a, b, c = row[i - n] if i >= n else 0, up[i], up[i - n] if i >= n else 0
        if kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        else:
            near = (0, a, b, (a + b) // 2)[kind]
        row[i] = v + near & 255


def main():
    page, dom, failed = read("page.html"), read("dom.html"), []

    def check(name, good, why=""):
        print(f"ok report-page/{name}" if good else f"not ok report-page/{name}: {why}")
        if not good:
            failed.append(name)

    for tag in ("section", "svg", "polyline", "table", "details"):
        wanted, found = (len(re.findall(f"<{tag}[ >]", text)) for text in (page, dom))
        check(tag, wanted == found > 0, f"{found} of {wanted} in the browser")
    logs = read("dom.log") + read("shot.log")
    errors = [line for line in logs.splitlines() if "CONSOLE" in line or "Refused" in line]
    check("no-error", not errors, errors[:1])
    count, width, height = pixels(read("page.png", "rb"))
    check("size", (width, height) == (1100, 1800), (width, height))
    for name, wanted in COLOURS.items():
        wanted = wanted if isinstance(wanted[0], tuple) else (wanted,)
        seen = sum(count.get(c, 0) for c in wanted)
        check(name.replace(" ", "-"), seen >= 100, f"{seen} pixels")
    sys.exit(bool(failed))


main()
