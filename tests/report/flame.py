# SPDX-License-Identifier: GPL-2.0
"""The flame graph of seepage where --svg in headless Chromium, opened as a file and without a
network: a click makes a frame as wide as the picture, a text marks what has it, and the picture is
the same again after that. usage: flame.py DIR WORD..., the browser and its options; leaves
DIR/flame.png and DIR/flame-zoomed.png. A result line for each check; exits with 1 if any failed."""
import base64
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CTL = f"{TOP}/ctl"
SVG = "{http://www.w3.org/2000/svg}"
DIR, BROWSER = sys.argv[1], sys.argv[2:]
EVIL = "</text></svg><script>document.documentElement.id='evil'</script><b onclick=\"x\">&\"'"
LONG = "a_function_with_a_name_that_has_no_room_in_a_frame_which_is_narrow"

# What a person does, and what the picture has then. It stands behind the script of the picture.
DRIVER = """
const frames = Array.from(document.querySelectorAll('g'));
const of = (name) => frames.find((g) => g.querySelector('title').textContent.startsWith(name + ' '));
const now = () => frames.map((g) => {
	const rect = g.querySelector('rect'), text = g.querySelector('svg text');
	return [g.querySelector('title').textContent.split(' ')[0], g.style.display !== 'none',
		+(+rect.getAttribute('x')).toFixed(1), +(+rect.getAttribute('width')).toFixed(1),
		text ? text.textContent : '', g.getAttribute('class') ?? ''];
});
const find = (text) => {
	const box = document.getElementById('search');
	box.value = text;
	box.dispatchEvent(new Event('input'));
	return document.getElementById('matches').textContent;
};
const click = (e) => e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
const shows = () => document.getElementById('reset').style.display !== 'none';
const told = { first: now(), reset_first: shows() };
click(of('leak'));
told.zoomed = now();
told.reset_zoomed = shows();
told.found = find('KEEP');
told.marked = now();
told.file = find('libx.so');
told.evil = find('<script>');
told.none = find('nothing has this');
click(document.getElementById('reset'));
told.after = now();
told.left = document.getElementById('search').value + document.getElementById('matches').textContent;
click(of('narrow'));
told.narrow = now();
document.documentElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
told.escaped = now();
told.id = document.documentElement.id;
told.scripts = document.querySelectorAll('script').length;
told.bold = document.querySelectorAll('b').length;
const out = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
out.id = 'told';
out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(told))));
document.documentElement.appendChild(out);
"""
SHOW = "click(of('leak')); find('keep');"
failed = []


def check(name, good, why=""):
    print(f"ok flame/{name}" if good else f"not ok flame/{name}: {why}")
    if not good:
        failed.append(name)


def site(size, *names):
    stack = [{"symbol": name, "module": f"/usr/lib/{'libx.so' if name == 'take' else 'program'}",
              "offset": 64, "source": None, "inlined": False} for name in names]
    return {"rank": 1, "bytes_per_hour": 1000, "blocks": size // 64, "bytes": size,
            "survival_permille": 1000, "stack": stack}


def picture():
    """The file, as the tool writes it"""
    sites = [site(3000, "take", "keep", "leak", "serve", "main"), site(1000, "take", EVIL, "leak", "serve", "main"),
             site(1800, "take", "cache", "serve", "main"), site(60, LONG, "narrow", "serve", "main")]
    with open(f"{DIR}/flame.json", "w", encoding="utf-8") as f:
        json.dump({"pid": 4242, "comm": "program", "method": "burst", "samples": 300, "sites": sites}, f)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "json-c", "libnl-genl-3.0"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    parts = ("where/svg", "where/zoom", "where/frame", "lib/fmt", "lib/out")
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-D_GNU_SOURCE", "-iquote", CTL, f"-I{TOP}/include",
                    f"-I{TOP}/include/uapi", "-o", f"{DIR}/draw", f"{TOP}/tests/where/draw.c",
                    *(f"{CTL}/{part}.c" for part in parts), *flags], check=True)
    return subprocess.run([f"{DIR}/draw", f"{DIR}/flame.json"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def browse(name, text, *words):
    """Opens it; returns what the browser printed and what it complained of."""
    path = f"{DIR}/{name}.svg"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    p = subprocess.run([*BROWSER, *words, f"file://{path}"], check=True, capture_output=True, text=True)
    return p.stdout, [line for line in p.stderr.splitlines() if "CONSOLE" in line or "Refused" in line]


def driven(text, code):
    """@code behind everything else in the picture"""
    at = text.rindex("</svg>")
    return f"{text[:at]}<script><![CDATA[{code}]]></script>{text[at:]}"


def shown(frames):
    return {f[0]: f[2:5] for f in frames if f[1]}


def main():
    text = picture()
    _, errors = browse("flame", text, "--window-size=1200,240", f"--screenshot={DIR}/flame.png")
    check("no-error", not errors, errors[:1])
    dom, errors = browse("driven", driven(text, DRIVER), "--dump-dom")
    check("no-error-driven", not errors, errors[:1])
    told = json.loads(base64.b64decode(dom.split('id="told">')[1].split("<")[0]))

    # Before anything is clicked it is the picture of the file.
    static = text.count("<g>") + text.count("<g data-name")
    check("all-shown", len(told["first"]) == static and all(f[1] for f in told["first"]) and not told["reset_first"],
          told["first"])
    check("frame-widths", abs(shown(told["first"])["leak"][1] - 1180 * 4000 / 5860) < 0.2, told["first"])

    zoomed = shown(told["zoomed"])
    check("click-widens", zoomed["leak"][:2] == [10, 1180] and zoomed["serve"][:2] == [10, 1180], zoomed)
    check("click-scales", abs(zoomed["keep"][1] - 885) < 1 and zoomed["keep"][0] == 10, zoomed)
    check("click-hides-others", "cache" not in zoomed and "narrow" not in zoomed and told["reset_zoomed"], zoomed)
    check("callers-are-pale", {f[0] for f in told["zoomed"] if f[5] == "a"} == {"program:", "main", "serve"},
          told["zoomed"])
    check("search-marks", {f[0] for f in told["marked"] if "m" in f[5].split()} == {"keep"}, told["marked"])
    check("search-counts", told["found"] == f"1 frame, {100 * 3000 / 5860:.1f} %", told["found"])
    check("search-finds-files", told["file"].startswith("3 frames, 99.0 %"), told["file"])
    check("search-is-no-pattern", told["none"] == "0 frames, 0.0 %", told["none"])
    check("reset", told["after"] == told["first"] and told["left"] == "", (told["after"], told["left"]))
    check("escape", told["escaped"] == told["first"], told["escaped"])
    # A name that had no room is shown once it has.
    name = next(f[4] for f in told["narrow"] if f[0] == LONG)
    check("name-appears", name == LONG and not any(f[4] == LONG for f in told["first"]), name)
    check("names-are-text", (told["id"], told["scripts"], told["bold"]) == ("", 2, 0) and
          told["evil"].startswith("1 frame"), (told["id"], told["scripts"], told["bold"], told["evil"]))
    before = {f[0]: f[4] for f in told["first"]}
    check("names-stay", all(before[n] == t or not before[n] for n, (_, _, t) in shown(told["after"]).items()), before)

    # What scripts have not touched is the same picture.
    still = [[float(g.find(SVG + "rect").get(key)) for key in ("x", "width")] +
             ["".join(g.find(f"{SVG}svg/{SVG}text").itertext()) if g.find(SVG + "svg") else ""]
             for g in ElementTree.fromstring(text).iter(SVG + "g")]
    check("still", still == [f[2:5] for f in told["first"]], still)
    browse("show", driven(text, DRIVER.split("const told")[0] + SHOW), "--window-size=1200,240",
           f"--screenshot={DIR}/flame-zoomed.png")
    sys.exit(bool(failed))


main()
