# SPDX-License-Identifier: GPL-2.0
"""seepage where: what stacks say of functions that are inlined, of code that a runtime compiles,
and of a program whose symbols are packed. Runs on this machine, without the module."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(HERE)
sys.dont_write_bytecode = True
import test_where as where  # noqa: E402

PROGRAM = f"{where.BUILD}/inlined"
SOURCE = os.path.join(HERE, "inlined.c")


def setUpModule():
    os.makedirs(where.BUILD, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-g", "-o", PROGRAM, SOURCE], check=True)


def line_of(text):
    with open(SOURCE, encoding="ascii") as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


@unittest.skipUnless(os.path.exists(where.TOOL), "needs build/ctl/tools/seepage-where: make ctl")
class Stacks(unittest.TestCase):
    """Of page faults, which need no module."""

    def faults(self, program, *words, blocks=300):
        tool = subprocess.Popen([where.TOOL, *words, "--faults", "-s", "300", str(program.pid)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        where.wait_for_events(tool.pid)
        # A leak at once has no more samples than its ring holds, which is seven.
        for _ in range(blocks):
            program.do("leak", 1)
            time.sleep(0.005)
        time.sleep(0.5 if blocks else 3)
        status, out, err = where.second(tool)
        self.assertEqual((status, err), (0, ""))
        return out

    def handle(self, answer):
        """The frames up to handle() of the stack in which most bytes are written"""
        stack = next(s["stack"] for s in answer["sites"] if s["stack"][0]["symbol"] == "touch")
        return stack[:[f["symbol"] for f in stack].index("main")]

    def test_inlined_functions_are_frames(self):
        program = where.Program(self, PROGRAM)
        stack = self.handle(json.loads(self.faults(program, "-j")))
        self.assertEqual([(f["symbol"], f["inlined"]) for f in stack],
                         [("touch", True), ("cache_put", True), ("handle", False)])
        self.assertEqual([f["source"] for f in stack[1:]],
                         [f"{SOURCE}:{line_of(text)}" for text in ("inner call", "outer call")])
        file, line = stack[0]["source"].rsplit(":", 1)
        self.assertEqual(file, SOURCE)
        self.assertAlmostEqual(int(line), line_of("the write"), delta=1)
        for key in ("address", "module", "build_id", "offset"):
            self.assertEqual(len({f[key] for f in stack}), 1, key)
        self.assertEqual({tuple(sorted(f)) for f in stack}, {tuple(sorted(stack[0]))})

    def test_text_and_pictures_say_what_is_inlined(self):
        frames = ["touch (inlined)", "cache_put (inlined)", "handle"]
        program = where.Program(self, PROGRAM)
        self.assertIn(": " + " <- ".join(frames) + " <- main", self.faults(program))
        out = self.faults(program, "--folded")
        self.assertIn(";main;" + ";".join(reversed(frames)) + " ", out)
        with tempfile.TemporaryDirectory() as folder:
            self.faults(program, "--svg", f"{folder}/f.svg")
            titles = [g.find(where.SVG + "title").text for g in
                      ElementTree.parse(f"{folder}/f.svg").iter(where.SVG + "g")]
        for name in frames:
            self.assertTrue(any(t.startswith(f"{name} ({os.path.basename(PROGRAM)}): ") for t in titles), (name, titles))

    def test_symbols_that_are_packed(self):
        """As Fedora does it: .gnu_debugdata has the names of local functions."""
        with tempfile.TemporaryDirectory() as folder:
            for command in (f"objcopy --only-keep-debug {PROGRAM} only",
                            "objcopy -S --keep-symbol=handle --keep-symbol=main only mini",
                            "xz mini", f"strip -o bare {PROGRAM}",
                            "objcopy --add-section .gnu_debugdata=mini.xz bare packed"):
                subprocess.run(command.split(), cwd=folder, check=True)
            program = where.Program(self, f"{folder}/packed")
            answer = json.loads(self.faults(program, "-j"))
        stacks = [[f["symbol"] for f in s["stack"][:2]] for s in answer["sites"]]
        self.assertIn(["handle", "main"], stacks)
        self.assertEqual({f["inlined"] for s in answer["sites"] for f in s["stack"]
                          if f["module"] == f"{folder}/packed"}, {False})

    @unittest.skipUnless(shutil.which("node"), "needs nodejs")
    def test_code_that_node_compiles(self):
        """With the map that it writes for perf"""
        folder = tempfile.TemporaryDirectory()      # it writes a log where it starts
        self.addCleanup(folder.cleanup)
        program = where.Program(self, "env", "-C", folder.name, "node", "--perf-basic-prof",
                                os.path.join(HERE, "jit.js"))
        self.addCleanup(os.unlink, f"/tmp/perf-{program.pid}.map")
        answer = json.loads(self.faults(program, "-j", blocks=0))
        frame = next(f for s in answer["sites"] for f in s["stack"] if f["language"] == "jit")
        # Node may compile the one into the other.
        self.assertRegex(frame["symbol"], r"(writeInto|serveRequest) .*/jit\.js:(5|11):")
        self.assertIsNone(frame["module"])


if __name__ == "__main__":
    unittest.main()
