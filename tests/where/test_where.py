# SPDX-License-Identifier: GPL-2.0
"""seepage where on programs that leak on command, on their twins without the leak, on forged
heaps, and on processes that it may not read or that end. Runs on this machine, without the
module."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.join(TOP, "build/ctl/tools/seepage-where")
BUILD = os.path.join(TOP, "build/where")
PYTHON = "/usr/bin/python3"
# What a twin may show in one class: it has threads and buffers of its own.
BOUND = 128 << 10
KEYS = ("pid comm method allocator heap_bytes growth_bytes_per_hour seconds look_time_ns traps samples "
        "cost_permille others notes classes sites").split()
CLASS_KEYS = "size_bytes blocks growth_blocks growth_bytes share_permille content contents".split()


CTL = os.path.join(TOP, "ctl")
SVG = "{http://www.w3.org/2000/svg}"


def build(name, *parts):
    """A program of this folder with parts of the tool."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "json-c", "libnl-genl-3.0"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    sources = [f"{CTL}/{part}.c" for part in parts]
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", "-D_GNU_SOURCE", "-iquote", CTL, "-iquote",
                    f"{TOP}/kmod", f"-I{TOP}/include", f"-I{TOP}/include/uapi", "-o",
                    os.path.join(BUILD, name), os.path.join(HERE, name + ".c"), *sources, *flags],
                   check=True)


def setUpModule():
    os.makedirs(BUILD, exist_ok=True)
    build("draw", "where/svg", "where/zoom", "where/frame", "lib/fmt", "lib/out")
    build("pylines", "where/pyline")
    for source, compiler in (("leaky.c", "gcc"), ("hostile.c", "gcc"), ("leaky.cc", "g++")):
        name = source.replace(".cc", "-cc").replace(".c", "")
        subprocess.run([compiler, "-O1", "-pthread", "-o", os.path.join(BUILD, name),
                        os.path.join(HERE, source)], check=True)
    subprocess.run(["gcc", "-O1", "-pthread", "-static", "-o", os.path.join(BUILD, "leaky-static"),
                    os.path.join(HERE, "leaky.c")], check=True)
    library, twice = f"{BUILD}/libgrow.so", os.path.join(HERE, "twice.c")
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-DLIBRARY", "-Wl,-soname,libgrow.so", "-o",
                    library, twice], check=True)
    subprocess.run(["gcc", "-O1", f"-Wl,-rpath,{BUILD},--enable-new-dtags", "-o",
                    f"{BUILD}/twice", twice, library], check=True)
    subprocess.run(["g++", "-O1", "-fno-rtti", "-o", os.path.join(BUILD, "leaky-no-rtti"),
                    os.path.join(HERE, "leaky.cc")], check=True)


class Program:
    """A program that is ready, and ends with the test."""

    def __init__(self, test, *argv, **how):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  **how)
        test.addCleanup(self.end)
        word, *pid = self.p.stdout.readline().split() or [""]
        assert word == "ready", argv
        self.pid = int(pid[0]) if pid else self.p.pid

    def do(self, word, n):
        self.p.stdin.write(f"{word} {n}\n")
        self.p.stdin.flush()
        return tuple(int(v) for v in self.p.stdout.readline().split())

    def end(self):
        self.p.kill()
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()


class Itself(Program):
    """A program that executes itself, where addresses are not random."""

    def __init__(self, test):
        code = '$| = 1; @a = map { "x" x 100 } 1 .. 20000; print "ready\\n"; <STDIN>; '
        super().__init__(test, "setarch", "-R", "perl", "-e", code + 'exec @ARGV', "perl", "-e",
                         code)

    def execute(self):
        self.p.stdin.write("\n")
        self.p.stdin.flush()
        assert self.p.stdout.readline() == "ready\n"


def where(*words, **how):
    return subprocess.run([TOOL, *(str(w) for w in words)], capture_output=True, text=True,
                          timeout=60, check=False, **how)


def started(pid, *words):
    """The tool, after its first look."""
    tool = subprocess.Popen([TOOL, "-j", *words, "-s", "300", str(pid)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    asleep = 0
    while asleep < 3 and tool.poll() is None:
        time.sleep(0.01)
        with open(f"/proc/{tool.pid}/stat", encoding="ascii") as f:
            asleep = asleep + 1 if f.read().rsplit(")", 1)[1].split()[0] == "S" else 0
    return tool


def wait_for_events(pid):
    """The tool has its first event of perf."""
    while subprocess.run(["sh", "-c", f"ls -l /proc/{pid}/fd 2>/dev/null | grep perf_event >/dev/null"],
                         check=False).returncode:
        time.sleep(0.05)


def anon_kib(pid):
    """Anonymous memory of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read())[1])


def faults_of(program):
    """The tool, which records the page faults of a program until it is told to end."""
    tool = subprocess.Popen([TOOL, "-j", "--faults", "-s", "300", str(program.pid)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_events(tool.pid)
    return tool


def second(tool):
    """Its answer: a signal makes it take the second look at once."""
    tool.send_signal(signal.SIGINT)
    out, err = tool.communicate(timeout=60)
    return tool.returncode, out, err


def site(size, *names):
    """A site of the answer; the function that calls malloc first."""
    stack = [{"address": 4096 + i, "module": None if n is None else "/usr/bin/<&\">",
              "build_id": None, "offset": None if n is None else 64 + i, "symbol": n,
              "source": None, "inlined": False} for i, n in enumerate(names)]
    return {"rank": 1, "bytes_per_hour": 1000, "blocks": size // 64, "bytes": size,
            "survival_permille": 1000, "stack": stack}


class Picture(unittest.TestCase):
    """The flame graph of made-up sites."""
    scripts = set()

    def draw(self, *sites, comm="program"):
        answer = {"pid": 4242, "comm": comm, "method": "burst", "samples": 300,
                  "sites": list(sites)}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(answer, f)
            f.flush()
            got = subprocess.run([f"{BUILD}/draw", f.name], stdout=subprocess.PIPE, check=True,
                                 timeout=60).stdout
        if shutil.which("xmllint"):
            subprocess.run(["xmllint", "--noout", "--nonet", "-"], input=got, check=True)
        root = ElementTree.fromstring(got)
        # One script, which is the same in all pictures; none without frames.
        scripts = [e.text for e in root.iter() if e.tag.endswith("script")]
        self.assertEqual(len(scripts), 1 if sites else 0)
        self.assertLessEqual(len({*Picture.scripts, *scripts}), 1)
        Picture.scripts.update(scripts)
        self.assertNotIn(b"href", got)
        self.assertEqual(got.count(b"]]>"), len(scripts))
        return root

    def frames(self, root):
        """(title, x, y, width) of each frame"""
        out = []
        for g in root.iter(SVG + "g"):
            rect = g.find(SVG + "rect")
            out.append((g.find(SVG + "title").text, *(float(rect.get(k))
                                                      for k in ("x", "y", "width"))))
        return out

    def test_widths_are_bytes_and_callers_are_below(self):
        root = self.draw(site(3000, "take", "leak", "main"), site(1000, "take", "cache", "main"))
        frames = {f[0].split()[0]: f for f in self.frames(root) if not f[0].startswith("take")}
        self.assertEqual(sorted(frames), ["cache", "leak", "main", "program:"])
        self.assertEqual(float(root.get("width")), 1200)
        width = 1180
        self.assertAlmostEqual(frames["main"][3], width, delta=0.2)
        self.assertAlmostEqual(frames["leak"][3], width * 3 / 4, delta=0.2)
        self.assertAlmostEqual(frames["cache"][3], width / 4, delta=0.2)
        self.assertEqual(frames["leak"][2], frames["cache"][2])
        self.assertAlmostEqual(frames["leak"][1] + frames["leak"][3], frames["cache"][1], delta=0.2)
        self.assertLess(frames["leak"][2], frames["main"][2])
        self.assertIn("75.0 %", frames["leak"][0])
        takes = [f for f in self.frames(root) if f[0].startswith("take")]
        self.assertEqual(len(takes), 2)

    def test_functions_of_python(self):
        """By their lines, and beside the native frames of the interpreter."""
        def function(name, line):
            return {"address": None, "module": "/srv/<app>.py", "build_id": None, "offset": None,
                    "symbol": name, "source": f"/srv/<app>.py:{line}", "inlined": False,
                    "language": "python"}
        sites = [site(1000, "take", "eval", "main"), site(500, "take", "eval", "main")]
        for s, line in zip(sites, (7, 9)):
            s["stack"][1:1] = [function("keep<", line), function("serve", 20)]
        root = self.draw(*sites)
        titles = [f[0] for f in self.frames(root)]
        for line in (7, 9):
            self.assertTrue(any(t.startswith(f"keep< (<app>.py:{line}): ") for t in titles), titles)
        rects = {g.find(SVG + "title").text.split(" ")[0]: g.find(SVG + "rect").get("class")
                 for g in root.iter(SVG + "g")}
        self.assertEqual((rects["serve"], rects["eval"]), ("y", "p"))
        self.assertIn("python", "".join(root.itertext()))
        self.assertNotIn("python", "".join(self.draw(site(64, "f")).itertext()))

    def test_versions_of_symbols_are_not_shown(self):
        titles = [f[0] for f in self.frames(self.draw(site(64, "malloc@@GLIBC_2.2.5", "@x")))]
        self.assertEqual([t.split()[0] for t in titles], ["program:", "@x", "malloc"])

    def test_text_stays_in_its_frame(self):
        root = self.draw(site(900, "f" * 4096), site(500, "f" * 62), site(100, "\u5bbd" * 400), site(1, "g"))
        for g in root.iter(SVG + "g"):
            rect, inner = g.find(SVG + "rect"), g.find(SVG + "svg")
            if inner is None:
                continue
            # A nested <svg> clips what is in it.
            for key in ("x", "y", "width", "height"):
                self.assertEqual(inner.get(key), rect.get(key))
            text = "".join(inner.itertext())
            self.assertLessEqual(len(text) * 7.2, float(rect.get("width")), text)

    def test_names_from_the_process_are_only_text(self):
        evil = ("<&\">'</text></svg><script>x</script>", "a\x01\x1b[31m\ufffe\u202eb", "]]>",
                "&amp;&#60;", "_ZN" + "3abc" * 1022 + "E", "", None, "a;b c\n")
        root = self.draw(*(site(1000, name, "main") for name in evil), comm="<\x02&\">")
        titles = [f[0] for f in self.frames(root)]
        self.assertTrue(any(t.startswith(evil[0]) for t in titles), titles)
        self.assertTrue(any(t.startswith("a\\x01\\x1b[31m\\xef\\xbf\\xbe") for t in titles), titles)
        self.assertTrue(any(t.startswith("&amp;&#60;") for t in titles), titles)
        self.assertLess(max(len(t) for t in titles), 2200)

    def test_frames_that_are_too_narrow_are_counted(self):
        root = self.draw(site(10 ** 9, "big"), *(site(1, f"small{i}") for i in range(7)))
        self.assertEqual(len(self.frames(root)), 2)
        self.assertIn("7 frames are too narrow", "".join(root.itertext()))

    def test_no_site(self):
        root = self.draw()
        self.assertEqual(self.frames(root), [])
        self.assertIn("no call site has blocks that stay", "".join(root.itertext()))

    def test_it_says_in_words_what_it_shows(self):
        root = self.draw(site(6400, "leak"))
        names = root.get("aria-labelledby").split()
        told = {e.get("id"): e.text for e in root.iter() if e.get("id")}
        self.assertEqual(sorted(told), sorted(names))
        self.assertIn("6.2 KiB in 100 of 300 sampled blocks stay", told["what"])


def functions_of(code):
    """The code of a function of python and of all in it."""
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from functions_of(constant)


@unittest.skipUnless(sys.version_info[:2] == (3, 11), "needs python 3.11")
class Lines(unittest.TestCase):
    """Lines of functions of python, as python itself knows them."""

    def test_lines_of_the_standard_library(self):
        codes = []
        for module in (argparse, json.decoder, os, random, subprocess, tempfile, unittest.case):
            with open(module.__file__, encoding="utf-8") as f:
                codes += functions_of(compile(f.read(), module.__file__, "exec"))
        table = "".join(f"{c.co_firstlineno} {len(c.co_code) // 2} {c.co_linetable.hex()}\n"
                        for c in codes)
        got = subprocess.run([f"{BUILD}/pylines"], input=table, stdout=subprocess.PIPE, text=True,
                             check=True, timeout=60).stdout.splitlines()
        self.assertGreater(len(codes), 500)
        self.assertEqual(len(got), len(codes))
        for code, line in zip(codes, got):
            want = [0] * (len(code.co_code) // 2)
            for begin, end, number in code.co_lines():
                want[begin // 2:end // 2] = [number or 0] * ((end - begin) // 2)
            self.assertEqual([int(v) for v in line.split()], want, code)


@unittest.skipUnless(os.path.exists(TOOL), "needs build/ctl/tools/seepage-where: make ctl")
class Where(unittest.TestCase):
    def between(self, program, word, n, *words):
        tool = started(program.pid, *words)
        told = program.do(word, n)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out), told

    def leak(self, argv, n, size, kind=None, name=None, blocks=True):
        """The class comes first, and grew as the program says, within 5 %."""
        answer, (told_blocks, told_bytes) = self.between(Program(self, *argv), "leak", n)
        first = answer["classes"][0]
        self.assertGreater(told_bytes, 0)
        self.assertAlmostEqual(first["growth_bytes"] / told_bytes, 1, delta=0.05, msg=answer)
        if blocks:
            self.assertEqual(first["size_bytes"], size)
            self.assertAlmostEqual(first["growth_blocks"] / told_blocks, 1, delta=0.05)
        if kind:
            self.assertEqual((first["content"]["kind"], first["content"]["name"]), (kind, name))
            self.assertGreaterEqual(first["content"]["share_permille"], 900)
        return answer

    def twin(self, argv, n):
        answer, told = self.between(Program(self, *argv), "work", n)
        self.assertEqual(told, (0, 0))
        for c in answer["classes"]:
            self.assertLess(c["growth_bytes"], BOUND, answer)

    def pair(self, argv, n, size, **how):
        answer = self.leak(argv, n, size, **how)
        self.twin(argv, n)
        return answer

    def test_small_blocks(self):
        answer = self.pair([f"{BUILD}/leaky", "small"], 20000, 56, kind="binary")
        self.assertEqual(sorted(answer), sorted(KEYS))
        self.assertEqual(sorted(answer["classes"][0]), sorted(CLASS_KEYS))
        self.assertEqual((answer["method"], answer["allocator"], answer["sites"]),
                         ("census", "glibc", []))
        self.assertEqual(answer["traps"], 0)

    def test_small_blocks_beside_ten_megabytes_a_second(self):
        self.pair([f"{BUILD}/leaky", "churn"], 20000, 56)

    def test_arenas_of_threads(self):
        self.pair([f"{BUILD}/leaky", "threads"], 20000, 200)

    def test_a_block_that_grows(self):
        self.pair([f"{BUILD}/leaky", "grow"], 2000, None, blocks=False)

    def test_objects_of_a_class(self):
        self.pair([f"{BUILD}/leaky-cc"], 20000, 120, kind="vtable", name="app::Session")

    def test_objects_of_python(self):
        answer = self.leak([PYTHON, os.path.join(HERE, "leaky.py")], 20000, 48, "python", "Order")
        self.assertEqual(answer["allocator"], "glibc and pymalloc")
        self.assertEqual(answer["classes"][0]["contents"], [answer["classes"][0]["content"]])
        self.twin([PYTHON, os.path.join(HERE, "leaky.py")], 20000)

    def test_objects_of_two_classes_of_one_size(self):
        answer = self.leak([PYTHON, os.path.join(HERE, "leaky.py"), "pairs"], 20000, 48)
        shares = {c["name"]: c["share_permille"] for c in answer["classes"][0]["contents"]}
        self.assertEqual(sorted(shares), ["Order", "Receipt"])
        self.assertGreaterEqual(min(shares.values()), 250)
        self.assertGreaterEqual(sum(shares.values()), 990)

    def test_free_blocks_in_caches_do_not_count(self):
        answer = self.between(Program(self, f"{BUILD}/leaky", "fast"), "work", 3000)[0]
        grown = {c["size_bytes"]: c["growth_blocks"] for c in answer["classes"]}
        self.assertLessEqual(grown[72], 0, answer["notes"])

    def test_the_heap_of_a_child(self):
        self.leak([f"{BUILD}/leaky", "small", "forked"], 20000, 56)

    def test_a_heap_beside_more_memory_that_is_not_of_malloc(self):
        """Such as the heap of node. What grows is malloc's."""
        answer = self.leak([f"{BUILD}/leaky", "beside"], 20000, 56)
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "glibc"))

    def test_memory_that_is_not_of_malloc_grows_beside_a_heap(self):
        """Such as that of PHP, while all that there was is malloc's."""
        answer = self.between(Program(self, f"{BUILD}/leaky", "runtime"), "leak", 20000)[0]
        self.assertEqual((answer["method"], answer["allocator"]), ("pages", "unknown"))
        self.assertAlmostEqual(answer["classes"][0]["growth_bytes"] / (8 << 20), 1, delta=0.05)

    def test_a_runtime_is_known_by_the_name_of_its_file(self):
        """Not by that of a folder, nor by the begin of a longer one."""
        with tempfile.TemporaryDirectory(prefix="node-perl.") as folder:
            for name, runtime in (("node_exporter", None), ("pythonic", None), ("node", "node"),
                                  ("perl5.36", "perl"), ("libruby-3.1.so.3.1", "ruby"),
                                  ("python-tool", None), ("libjvm.so", "Java")):
                program = Program(self, shutil.copy(f"{BUILD}/leaky", f"{folder}/{name}"), "small")
                got = json.loads(where("-j", "-s", 1, program.pid).stdout)["notes"]
                told = [n.split(":")[0] for n in got if re.match("node|perl|python|ruby|Java", n)]
                self.assertEqual(told, [runtime] if runtime else [], name)

    def test_pages_of_an_allocator_that_is_not_known(self):
        answer = self.leak([f"{BUILD}/leaky-cc", "own"], 40000, 4104, "vtable", "app::Session",
                           blocks=False)
        self.assertEqual((answer["method"], answer["allocator"]), ("pages", "unknown"))

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-tools")
    def test_a_small_process_of_musl(self):
        subprocess.run(["musl-gcc", "-O1", "-o", f"{BUILD}/own-musl",
                        os.path.join(TOP, "tests/where-bench/prog/own.c")], check=True)
        program = Program(self, f"{BUILD}/own-musl", "small")
        got = where("-j", "-s", 2, program.pid)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        answer = json.loads(got.stdout)
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "musl"))
        self.assertGreater(answer["growth_bytes_per_hour"], 0)

    def musl(self, *flags):
        """leaky, linked with musl."""
        program = f"{BUILD}/leaky-musl{''.join(flags)}"
        subprocess.run(["musl-gcc", "-O1", "-pthread", *flags, "-o", program,
                        os.path.join(HERE, "leaky.c")], check=True)
        return program

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-tools")
    def test_the_heap_of_musl(self):
        """Blocks by what was asked for, and the slots that these take. A stripped static program
        has no symbol that tells."""
        for flags in ((), ("-static",), ("-static", "-s")):
            program = self.musl(*flags)
            for mode, size, slot in (("small", 48, 64), ("churn", 48, 64), ("threads", 200, 240)):
                with self.subTest(mode, flags=flags):
                    answer, told = self.between(Program(self, program, mode), "leak", 20000)
                    first = answer["classes"][0]
                    self.assertEqual((answer["method"], answer["allocator"]), ("census", "musl"))
                    self.assertEqual(told[0], 20000)
                    self.assertEqual(first["size_bytes"], size + 8 if size == 48 else size)
                    self.assertAlmostEqual(first["growth_blocks"] / told[0], 1, delta=0.05)
                    self.assertAlmostEqual(first["growth_bytes"] / (told[0] * slot), 1, delta=0.05)
                    self.assertEqual(first["content"]["kind"], "binary")
                    self.twin([program, mode], 20000)
            self.leak([program, "grow"], 2000, None, blocks=False)
            self.twin([program, "grow"], 2000)
            answer = self.between(Program(self, program, "small", "forked"), "leak", 20000)[0]
            self.assertAlmostEqual(answer["classes"][0]["growth_blocks"] / 20000, 1, delta=0.05)

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-tools")
    def test_free_blocks_of_musl_do_not_count(self):
        answer = self.between(Program(self, self.musl(), "fast"), "work", 3000)[0]
        grown = {c["size_bytes"]: c["growth_blocks"] for c in answer["classes"]}
        self.assertLessEqual(grown.get(72, 0), 0, answer["notes"])

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-tools")
    def test_a_heap_of_musl_that_is_not_recognised(self):
        """Without the secret its pages are counted, as for any other allocator."""
        answer = self.between(Program(self, self.musl(), "small", "hidden"), "leak", 20000)[0]
        self.assertEqual((answer["method"], answer["allocator"]), ("pages", "musl"))
        self.assertAlmostEqual(answer["classes"][0]["growth_bytes"] / (20000 * 64), 1, delta=0.15)

    def test_a_program_that_is_linked_statically(self):
        """In front of its first chunk are variables of its first thread."""
        answer = self.pair([f"{BUILD}/leaky-static", "small"], 20000, 56, kind="binary")
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "static glibc"))
        self.pair([f"{BUILD}/leaky-static", "threads"], 20000, 200)
        # The heap tells where no symbol does.
        subprocess.run(["strip", "-o", f"{BUILD}/leaky-stripped", f"{BUILD}/leaky-static"],
                       check=True)
        answer = self.pair([f"{BUILD}/leaky-stripped", "small"], 20000, 56, kind="binary")
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "glibc"))

    def test_allocators_that_are_preloaded(self):
        for name, allocator in (("libmimalloc.so.2.0", "mimalloc"),
                                ("libtcmalloc_minimal.so.4", "tcmalloc")):
            path = f"/usr/lib/x86_64-linux-gnu/{name}"
            if not os.path.exists(path):
                continue
            with self.subTest(allocator):
                program = Program(self, "env", f"LD_PRELOAD={path}", f"{BUILD}/leaky", "small")
                answer, told = self.between(program, "leak", 100000)
                self.assertEqual((answer["method"], answer["allocator"]), ("pages", allocator))
                self.assertEqual(answer["classes"][0]["growth_bytes"],
                                 4096 * answer["classes"][0]["growth_blocks"])
                self.assertGreaterEqual(answer["classes"][0]["growth_bytes"], 0.8 * told[1])
                answer = self.between(program, "work", 1000)[0]
                self.assertLess(answer["classes"][0]["growth_bytes"], 2 << 20)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for namespaces")
    def test_a_class_without_typeinfo_in_another_namespace(self):
        """Its name is in the symbols of a file that this namespace does not have."""
        copy = ("mount -t tmpfs none /mnt && cp " + BUILD + "/leaky-no-rtti /mnt/program && "
                "exec /mnt/program")
        program = Program(self, "unshare", "--pid", "--mount", "--fork", "--kill-child", "sh",
                          "-c", copy)
        with open(f"/proc/{program.pid}/task/{program.pid}/children", encoding="ascii") as f:
            program.pid = int(f.read())
        first = self.between(program, "leak", 20000)[0]["classes"][0]
        self.assertAlmostEqual(first["growth_blocks"] / 20000, 1, delta=0.05)
        self.assertEqual(first["content"]["name"], "app::Session")

    @unittest.skipUnless(shutil.which("go"), "needs golang-go")
    def test_the_profile_of_go_is_that_of_its_runtime(self):
        subprocess.run(["go", "build", "-o", f"{BUILD}/leaky-go", os.path.join(HERE, "leaky.go")],
                       check=True, env={**os.environ, "GOCACHE": f"{BUILD}/go", "GOFLAGS": ""})
        for words in ((), ("--profile",)):
            answer, told = self.between(Program(self, f"{BUILD}/leaky-go"), "leak", 20000, *words)
            self.assertEqual((answer["method"], answer["allocator"]), ("profile", "go"))
            site = max(answer["sites"], key=lambda s: s["bytes"])
            self.assertAlmostEqual(site["bytes"] / told[1], 1, delta=0.001)
            self.assertEqual(site["stack"][0]["symbol"], "main.leakSession")
            self.assertEqual(answer["sites"][0]["rank"], 1)
        self.go_picture()

    def go_picture(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "go.svg")
            program = Program(self, f"{BUILD}/leaky-go")
            self.between(program, "leak", 20000, "--profile", "--svg", name)
            with open(name, "rb") as f:
                first = f.read()
            root = ElementTree.fromstring(first)
            frames = [(float(g.find(SVG + "rect").get("width")), g.find(SVG + "title").text)
                      for g in root.iter(SVG + "g")]
            leak = [w for w, t in frames if t.startswith("main.leakSession")]
            self.assertGreater(leak[0], 1000)
            # An answer that fails leaves an earlier picture as it was, and makes no file.
            program.end()
            for path in (name, os.path.join(d, "none.svg")):
                got = where("--profile", "--svg", path, "-s", 1, program.pid)
                self.assertEqual(got.returncode, 1)
            self.assertEqual(os.listdir(d), ["go.svg"])
            with open(name, "rb") as f:
                self.assertEqual(f.read(), first)

    def test_an_earlier_answer_is_the_first_look(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(second(started(program.pid))[1])
            f.flush()
            told = program.do("leak", 20000)
            got = where("-j", "--diff", f.name, program.pid)
            self.assertEqual((got.returncode, got.stderr), (0, ""))
            first = json.loads(got.stdout)["classes"][0]
            self.assertEqual(first["size_bytes"], 56)
            self.assertAlmostEqual(first["growth_blocks"] / told[0], 1, delta=0.05)
            # The answer says when its look was; where an earlier version did not, the file does.
            seconds = json.loads(got.stdout)["seconds"]
            os.utime(f.name, (1, 1))
            again = where("-j", "--diff", f.name, program.pid)
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertAlmostEqual(json.loads(again.stdout)["seconds"], seconds, delta=30)
            with open(f.name, encoding="utf-8") as saved:
                old = {k: v for k, v in json.load(saved).items() if k != "look_time_ns"}
            with tempfile.NamedTemporaryFile("w", suffix=".json") as without:
                json.dump(old, without)
                without.flush()
                self.assertLess(json.loads(where("-j", "--diff", without.name, program.pid).stdout)["seconds"], 30)
                os.utime(without.name, (1, 1))
                self.refused(where("--diff", without.name, program.pid), "it is about another process than")
            other = Program(self, f"{BUILD}/leaky", "small")
            self.refused(where("--diff", f.name, other.pid), "it is about another process than")

    def refused(self, got, text, status=1):
        self.assertEqual((got.returncode, got.stdout), (status, ""))
        self.assertIn(text, got.stderr)
        self.assertEqual(got.stderr.count("\n"), 1)
        self.assertTrue(got.stderr.startswith("seepage: where: "), got.stderr)

    def kept(self, run, kind, pid):
        """The files of one process."""
        at = os.path.join(run, "where")
        return [os.path.join(at, name) for name in sorted(os.listdir(at))
                if name.startswith(f"{kind}-{pid}-")]

    def keep(self, run, *words):
        got = where("--keep", *words, env={**os.environ, "SEEPAGE_RUN": run})
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, "", ""))

    def age(self, name, seconds):
        """Makes a look old enough to compare with."""
        with open(name, encoding="utf-8") as f:
            look = json.load(f)
        look["kept"]["taken_ns"] -= int(seconds * 1e9)
        with open(name, "w", encoding="utf-8") as f:
            json.dump(look, f)

    def test_the_last_answer_names_the_profiler_of_a_runtime(self):
        """explain prints these lines."""
        with tempfile.TemporaryDirectory() as run:
            program = Program(self, shutil.copy(f"{BUILD}/leaky", f"{run}/node"), "small")
            self.keep(run, "first", program.pid)
            self.age(self.kept(run, "first", program.pid)[0], 100)
            self.keep(run, "second", program.pid)
            got = where("--last", program.pid, env={**os.environ, "SEEPAGE_RUN": run})
            self.assertIn("\n  node: --heapsnapshot-signal=SIGUSR2 lets it write its heap\n", got.stdout)

    def test_the_last_answer_is_there_after_the_end(self):
        program = Program(self, f"{BUILD}/leaky-cc")
        with tempfile.TemporaryDirectory() as run:
            env = {**os.environ, "SEEPAGE_RUN": run}
            self.refused(where("--last", program.pid, env=env), "no answer about it is kept")
            self.keep(run, "first", program.pid)
            program.do("leak", 20000)
            self.age(self.kept(run, "first", program.pid)[0], 100)
            self.keep(run, "second", program.pid)
            got = where("--last", program.pid, env=env)
            self.assertRegex(got.stdout, r"^process \d+ \(leaky-cc\), looked at \d+s ago:\n"
                             r"  \+.* vtable app::Session \(\d+ %\)")
            self.assertFalse(json.loads(where("-j", "--last", program.pid, env=env).stdout)["ended"])
            program.end()
            got = where("--last", program.pid, env=env)
            self.assertEqual((got.returncode, got.stderr), (0, ""))
            self.assertIn(" (leaky-cc), which has ended, looked at ", got.stdout)
            answer = json.loads(where("-j", "--last", program.pid, env=env).stdout)
            self.assertTrue(answer["ended"])
            self.assertEqual(answer["classes"][0]["content"]["name"], "app::Session")
            self.assertNotIn("kept", answer)
            self.refused(where(program.pid, env=env), f"process {program.pid}: it has ended, "
                         "--last shows the last answer about it")
            # Of another pid, or of another boot, there is none.
            self.refused(where("--last", program.pid // 10 + 1, env=env), "no answer about it")
            answer, = self.kept(run, "answer", program.pid)
            os.rename(answer, answer[:-1] + ("0" if answer[-1] != "0" else "1"))
            self.refused(where("--last", program.pid, env=env), "no answer about it is kept")

    def test_a_kept_look_is_the_first_one(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        with tempfile.TemporaryDirectory() as run:
            self.keep(run, "first", program.pid)
            first, = self.kept(run, "first", program.pid)
            self.assertEqual((os.stat(os.path.dirname(first)).st_mode & 0o777,
                              os.stat(first).st_mode & 0o777), (0o700, 0o600))
            program.do("leak", 20000)
            self.age(first, 100)
            before = os.stat(first).st_mtime_ns
            self.keep(run, "first", program.pid)
            self.assertEqual(os.stat(first).st_mtime_ns, before, "the first look was replaced")
            begin = time.monotonic()
            self.keep(run, "second", program.pid)
            self.assertLess(time.monotonic() - begin, 30, "it took two looks")
            name, = self.kept(run, "answer", program.pid)
            with open(name, encoding="utf-8") as f:
                answer = json.load(f)
            self.assertEqual([k for k in KEYS if k not in answer], [])
            self.assertEqual(answer["pid"], program.pid)
            self.assertEqual(answer["time"], time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(answer["time_ns"] // 10**9)))
            self.assertLessEqual(len(answer["classes"]), 3)
            self.assertGreaterEqual(answer["classes"][0]["growth_blocks"], 1000)
            self.assertLess(answer["seconds"], 30)
            self.assertRegex(answer["text"][0], r"^\+[0-9.]+ .iB/h in blocks of \d+\.\.\d+ bytes: ")
            with open(os.path.join(run, "where", "ledger"), encoding="utf-8") as f:
                ledger = json.load(f)
            self.assertEqual((ledger["looks"], ledger["bursts"], ledger["left_out"]), (2, 0, 0))
            self.assertGreater(ledger["cpu_ns"], 0)
            # There is an answer now: another look costs nothing.
            self.keep(run, "second", program.pid)
            with open(os.path.join(run, "where", "ledger"), encoding="utf-8") as f:
                self.assertEqual(json.load(f), ledger)
            # A limit that is used up
            os.unlink(name)
            ledger["hour_cpu_ns"] = int(18e9)
            with open(os.path.join(run, "where", "ledger"), "w", encoding="utf-8") as f:
                json.dump(ledger, f)
            got = where("--keep", "second", program.pid, env={**os.environ, "SEEPAGE_RUN": run})
            self.assertEqual((got.returncode, self.kept(run, "answer", program.pid)), (1, []))
            self.assertIn("limit of cost", got.stderr)
            # No file of the process is looked at before: -O would be refused.
            got = where("--keep", "second", "--burst", "-O", "libnone", program.pid,
                        env={**os.environ, "SEEPAGE_RUN": run})
            self.assertIn("limit of cost", got.stderr)

    def test_a_kept_look_of_another_program_is_not_used(self):
        """The key is the same after an exec; the heap is not."""
        for member in ("start_brk", "program"):
            program = Program(self, f"{BUILD}/leaky", "small")
            with tempfile.TemporaryDirectory() as run:
                self.keep(run, "first", program.pid)
                name, = self.kept(run, "first", program.pid)
                with open(name, encoding="utf-8") as f:
                    look = json.load(f)
                look["kept"][member] += 4096
                with open(name, "w", encoding="utf-8") as f:
                    json.dump(look, f)
                self.age(name, 100)
                self.keep(run, "second", "--seconds", "1", program.pid)
                self.assertEqual(self.kept(run, "first", program.pid), [])
                answer, = self.kept(run, "answer", program.pid)
                with open(answer, encoding="utf-8") as f:
                    self.assertLess(json.load(f)["seconds"], 60)

    @unittest.skipIf(subprocess.run(["setarch", "-R", "true"], check=False).returncode,
                     "addresses are random always")
    def test_a_kept_look_from_before_an_exec_is_not_used(self):
        program = Itself(self)
        with tempfile.TemporaryDirectory() as run:
            self.keep(run, "first", program.pid)
            program.execute()
            self.age(self.kept(run, "first", program.pid)[0], 100)
            self.keep(run, "second", "--seconds", "1", program.pid)
            self.assertEqual(self.kept(run, "first", program.pid), [])

    def test_files_that_are_kept_are_bounded(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        with tempfile.TemporaryDirectory() as run:
            os.mkdir(os.path.join(run, "where"), 0o700)
            for i in range(200):
                name = os.path.join(run, "where", f"answer-{i}-1-x")
                with open(name, "w", encoding="utf-8") as f:
                    f.write("{}")
                os.utime(name, (1000 + i,) * 2)
            self.keep(run, "first", program.pid)
            left = [n for n in os.listdir(os.path.join(run, "where")) if n.startswith(("a", "f"))]
            self.assertEqual(len(left), 128)
            self.assertEqual(len(self.kept(run, "first", program.pid)), 1)
            self.assertNotIn("answer-0-1-x", left)
            self.assertIn("answer-199-1-x", left)

    def followed(self, how):
        """The tool as `watch` starts it: beside a program that prints alerts, here from a pipe."""
        at = tempfile.mkdtemp(prefix="where-")
        self.addCleanup(shutil.rmtree, at)
        os.mkdir(os.path.join(at, "tools"))
        tool = shutil.copy(TOOL, os.path.join(at, "tools"))
        with open(os.path.join(at, "seepage"), "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\necho \"$@\" >{at}/words\necho noise >&2\nexec cat {at}/alerts\n")
        os.chmod(os.path.join(at, "seepage"), 0o755)
        os.mkfifo(os.path.join(at, "alerts"))
        tool = subprocess.Popen([tool, "--follow", how], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "SEEPAGE_RUN": at})
        self.follower, self.said = tool.pid, tool.stderr
        alerts = open(os.path.join(at, "alerts"), "w", encoding="utf-8", buffering=1)
        self.addCleanup(alerts.close)
        with open(os.path.join(at, "words"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "-j watch --wait --no-cold --where off --since 0\n")
        return at, tool, alerts

    def alert(self, pid, state, age=0):
        return json.dumps({"instance": 1, "seq": 1, "pid": pid, "state": state,
                           "time_ns": time.time_ns(), "age_seconds": age}) + "\n"

    def hasten(self):
        """Looks give way to all other programs: on a busy machine they would take minutes."""
        try:
            with open(f"/proc/{self.follower}/task/{self.follower}/children",
                      encoding="ascii") as f:
                for pid in map(int, f.read().split()):
                    os.setpriority(os.PRIO_PROCESS, pid, 0)
        except OSError:     # it has ended, or the user may not
            pass

    def state_of(self, at):
        """What those who look for a cause would look at first."""
        said = [json.dumps(self.ledger(at)) if os.path.exists(f"{at}/where/ledger") else "no ledger"]
        said += subprocess.run(["ps", "-L", "-o", "pid,stat,ni,wchan,args", "--ppid",
                                str(self.follower)], capture_output=True, text=True,
                               check=False).stdout.splitlines()
        os.set_blocking(self.said.fileno(), False)
        return "; ".join([*said, self.said.read() or "nothing on stderr"])

    def comes(self, at, kind, pid):
        end = time.monotonic() + 180
        while not os.path.isdir(os.path.join(at, "where")) or not self.kept(at, kind, pid):
            self.assertLess(time.monotonic(), end, f"no {kind} of {pid}: {self.state_of(at)}")
            self.hasten()
            time.sleep(0.05)
        return self.kept(at, kind, pid)[0]

    def ledger(self, at):
        with open(os.path.join(at, "where", "ledger"), encoding="utf-8") as f:
            return json.load(f)

    def settles(self, at):
        """A look is charged with a minute until it has ended, which is after its answer."""
        end = time.monotonic() + 180
        while self.ledger(at)["hour_cpu_ns"] >= 10e9:
            self.assertLess(time.monotonic(), end, "a look is charged with a minute")
            self.hasten()
            time.sleep(0.05)

    def ends(self, tool):
        tool.send_signal(signal.SIGTERM)
        self.assertEqual((tool.communicate(timeout=60), tool.returncode), (("", ""), 0))

    def test_alerts_are_looked_at_as_they_come(self):
        leak, other, gone = (Program(self, f"{BUILD}/leaky", "small") for _ in range(3))
        at, tool, alerts = self.followed("census,7")
        gone.end()
        alerts.write("no alert\n" + self.alert(gone.pid, "suspected") +
                     # a process that began before this one: its pid was given out again
                     self.alert(other.pid, "suspected", 5000) +
                     self.alert(leak.pid, "suspected"))
        first = self.comes(at, "first", leak.pid)
        leak.do("leak", 20000)
        self.age(first, 100)
        alerts.write(self.alert(leak.pid, "confirmed"))
        with open(self.comes(at, "answer", leak.pid), encoding="utf-8") as f:
            self.assertGreaterEqual(json.load(f)["classes"][0]["growth_blocks"], 1000)
        self.ends(tool)
        self.assertEqual(self.kept(at, "first", other.pid), [])
        ledger = self.ledger(at)
        self.assertEqual([ledger[k] for k in ("looks", "left_out", "limit_permille")], [2, 0, 7])

    def test_times_of_an_alert_are_of_whole_seconds(self):
        """What is cut off does not make the process a later one of the same pid."""
        begun = 0.0
        while begun % 1 < 0.5:
            program = Program(self, f"{BUILD}/leaky", "small")
            with open(f"/proc/{program.pid}/stat", encoding="ascii") as f:
                ticks = int(f.read().rsplit(")", 1)[1].split()[19])
            begun = (time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) +
                     ticks / os.sysconf("SC_CLK_TCK"))
        at, tool, alerts = self.followed("census")
        alert = json.loads(self.alert(program.pid, "suspected"))
        alert["time_ns"] = int(begun * 1e9)
        while time.time() % 1 > 0.1:
            time.sleep(0.01)
        alerts.write(json.dumps(alert) + "\n")
        self.comes(at, "first", program.pid)
        self.ends(tool)

    def test_a_signal_ends_a_look_with_an_answer(self):
        leak = Program(self, f"{BUILD}/leaky", "small")
        at, tool, alerts = self.followed("census")
        alerts.write(self.alert(leak.pid, "confirmed"))  # two looks, a minute apart
        end = time.monotonic() + 180
        while not os.path.exists(os.path.join(at, "where", "ledger")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        time.sleep(1)
        self.assertEqual(self.kept(at, "answer", leak.pid), [])
        begin = time.monotonic()
        self.ends(tool)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(len(self.kept(at, "answer", leak.pid)), 1)
        # Not charged as one that was killed
        self.assertLess(self.ledger(at)["hour_cpu_ns"], 20e9)

    def look_of(self, at, tool):
        """The look that a follower has under way, once it is charged."""
        end = time.monotonic() + 180
        while not os.path.exists(os.path.join(at, "where", "ledger")):
            self.assertLess(time.monotonic(), end, "no look")
            time.sleep(0.01)
        self.assertGreater(self.ledger(at)["hour_cpu_ns"], 50e9)
        with open(f"/proc/{tool.pid}/task/{tool.pid}/children", encoding="ascii") as f:
            for pid in f.read().split():
                with open(f"/proc/{pid}/cmdline", encoding="ascii") as line:
                    if "--keep" in line.read().split("\0"):
                        return int(pid)
        self.fail("no look")

    def test_a_look_that_is_killed_costs_the_others_nothing(self):
        """It is charged with what it took. The process that it was about is left out."""
        bad, other, third = (Program(self, f"{BUILD}/leaky", "small") for _ in range(3))
        at, tool, alerts = self.followed("census")
        alerts.write(self.alert(bad.pid, "confirmed"))  # two looks, a minute apart
        os.kill(self.look_of(at, tool), signal.SIGKILL)
        alerts.write(self.alert(other.pid, "suspected"))
        self.comes(at, "first", other.pid)
        self.settles(at)
        alerts.write(self.alert(bad.pid, "confirmed"))  # would come first, and take a minute
        alerts.write(self.alert(third.pid, "suspected"))
        self.comes(at, "first", third.pid)
        self.ends(tool)
        ledger = self.ledger(at)
        self.assertEqual([ledger[k] for k in ("looks", "left_out")], [3, 0])

    def test_following_ends_with_the_program_that_began_it(self):
        at = tempfile.mkdtemp(prefix="where-")
        self.addCleanup(shutil.rmtree, at)
        os.mkdir(os.path.join(at, "tools"))
        tool = shutil.copy(TOOL, os.path.join(at, "tools"))
        with open(os.path.join(at, "seepage"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexec sleep 300\n")
        os.chmod(os.path.join(at, "seepage"), 0o755)
        shell = subprocess.Popen(["sh", "-c", f"{tool} --follow census & echo $!; wait"],
                                 stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, "SEEPAGE_RUN": at})
        pid = int(shell.stdout.readline())
        children = ""
        while not children:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
                children = f.read()
        shell.kill()
        # It has closed its output: the end of the shell is that of the pipe.
        self.assertEqual(shell.communicate(timeout=20)[0], "")
        end = time.monotonic() + 20
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), end, "it goes on")
            time.sleep(0.05)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for clear_refs and the marks")
    def test_a_look_is_marked(self):
        """`watch` would take a leak that was read for memory in use, but for a mark of the time."""
        program = Program(self, f"{BUILD}/leaky", "small")
        program.do("leak", 200000)
        with open(f"/proc/{program.pid}/clear_refs", "w", encoding="ascii") as f:
            f.write("1")
        begin = int(time.monotonic() * 1000)
        with tempfile.TemporaryDirectory() as run:
            self.keep(run, "first", program.pid)
        end = int(time.monotonic() * 1000)
        with open(f"/proc/{program.pid}/smaps_rollup", encoding="ascii") as f:
            kb = dict(re.findall(r"(Rss|Referenced): +(\d+)", f.read()))
        self.assertGreater(int(kb["Referenced"]) / int(kb["Rss"]), 0.7, "nothing was read")
        with open("/run/seepage-cold.lock", "rb") as marks:
            marks.seek(8 * program.pid)
            mark = int.from_bytes(marks.read(8), sys.byteorder)
        self.assertTrue(begin <= mark <= end, f"{mark} is not from {begin} to {end}")

    def test_a_directory_that_others_may_read_is_refused(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        with tempfile.TemporaryDirectory() as run:
            os.mkdir(os.path.join(run, "where"), 0o700)
            os.chmod(os.path.join(run, "where"), 0o755)
            got = where("--keep", "first", program.pid, env={**os.environ, "SEEPAGE_RUN": run})
            self.assertEqual((got.returncode, os.listdir(os.path.join(run, "where"))), (1, []))
            self.assertIn("nobody else may read", got.stderr)

    def test_faults_name_what_makes_it_grow(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        tool = faults_of(program)
        before = anon_kib(program.pid)
        program.do("leak", 100000)
        grown = (anon_kib(program.pid) - before) * 1024
        time.sleep(0.5)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual((answer["method"], answer["classes"]), ("faults", []))
        named = sum(site["bytes"] for site in answer["sites"]
                    if "filled" in [frame["symbol"] for frame in site["stack"]])
        self.assertGreater(grown, 4 << 20)
        seen = [(site["bytes"], site["samples"], [frame["symbol"] for frame in site["stack"]])
                for site in answer["sites"]]
        self.assertGreater(named, grown / 2, seen)
        self.assertLess(named, grown * 2)
        self.assertEqual([site["rank"] for site in answer["sites"]],
                         list(range(1, len(answer["sites"]) + 1)))
        # a busy machine may lose samples, which is the first note then
        self.assertIn("these make the process grow", " ".join(answer["notes"][:2]))

    def test_faults_that_bring_huge_pages(self):
        """A fault stands for what it brought, not for 4 KB."""
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as f:
            if "[never]" in f.read():
                self.skipTest("this kernel gives no huge pages")
        program = Program(self, f"{BUILD}/leaky", "huge")
        tool = faults_of(program)
        before = anon_kib(program.pid)
        program.do("leak", 100)
        grown = (anon_kib(program.pid) - before) * 1024
        time.sleep(0.5)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        named = sum(site["bytes"] for site in answer["sites"]
                    if "huge" in [frame["symbol"] for frame in site["stack"]])
        self.assertGreaterEqual(grown, 200 << 20)
        self.assertGreater(named, grown / 2, answer["notes"])
        self.assertLess(named, grown * 2)

    def test_faults_in_a_library_that_is_mapped_twice(self):
        """Addresses in it count from the mapping that its code belongs to."""
        library = f"{BUILD}/libgrow.so"
        for size in (4096, os.stat(library).st_size):
            program = Program(self, f"{BUILD}/twice", library, str(size))
            tool = faults_of(program)
            program.do("leak", 20000)
            time.sleep(0.5)
            status, out, err = second(tool)
            self.assertEqual((status, err), (0, ""))
            stack = json.loads(out)["sites"][0]["stack"]
            self.assertEqual([f["symbol"] for f in stack[:2]], ["grow_here", "main"])
            begin, end = self.code_of(library, "grow_here")
            self.assertEqual(stack[0]["module"], library)
            self.assertTrue(begin <= stack[0]["offset"] < end, stack[0])

    @unittest.skipUnless(sys.version_info[:2] == (3, 11), "needs python 3.11")
    def test_a_file_that_is_truncated_while_its_names_are_looked_for(self):
        """Stacks of python are unwound as they come, names are looked for at the end."""
        code = ("import ctypes, sys; grow = ctypes.CDLL(sys.argv[1]).grow_here\n"
                "print('ready', flush=True)\n"
                "for line in sys.stdin: grow(int(line.split()[1])); print(0, 0, flush=True)")
        with tempfile.TemporaryDirectory() as folder:
            library = shutil.copy(f"{BUILD}/libgrow.so", folder)
            program = Program(self, PYTHON, "-c", code, library)
            tool = faults_of(program)
            program.do("leak", 20000)
            time.sleep(2)
            os.truncate(library, 64)
            status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        self.assertIn(library, [f["module"] for f in json.loads(out)["sites"][0]["stack"]])

    def test_lines_that_are_large_when_they_are_unpacked(self):
        with tempfile.TemporaryDirectory() as folder:
            library = self.with_packed_zeros(f"{BUILD}/libgrow.so", folder, 400 << 20)
            program = Program(self, f"{BUILD}/twice", library, "4096",
                              env={**os.environ, "LD_LIBRARY_PATH": folder})
            tool = faults_of(program)
            program.do("leak", 20000)
            time.sleep(0.5)
            tool.send_signal(signal.SIGINT)
            answer = json.load(tool.stdout)
            status, used = os.wait4(tool.pid, 0)[1:]
            tool.returncode = status
            tool.communicate()
        self.assertEqual(status, 0)
        self.assertLess(used.ru_maxrss, 200 << 10)
        self.assertEqual([f["symbol"] for f in answer["sites"][0]["stack"][:2]],
                         ["grow_here", "main"])
        self.assertEqual([f["module"] for f in answer["sites"][0]["stack"][:1]], [library])
        self.assertIn("1 files have no lines in stacks", " ".join(answer["notes"]))

    def with_packed_zeros(self, file, folder, size):
        """A copy of a library whose .debug_info is so many zeros, compressed."""
        copy, section = os.path.join(folder, os.path.basename(file)), os.path.join(folder, "zeros")
        pack = zlib.compressobj()
        with open(section, "wb") as f:
            f.write(struct.pack("=IIQQ", 1, 0, size, 1))
            for _ in range(size >> 20):
                f.write(pack.compress(bytes(1 << 20)))
            f.write(pack.flush())
        subprocess.run(["objcopy", "--add-section", f".debug_info={section}", file, copy],
                       check=True)
        with open(copy, "r+b") as f:
            elf = bytearray(f.read())
            at, n, names = struct.unpack_from("=Q", elf, 40) + struct.unpack_from("=HH", elf, 60)
            heads = [at + 64 * i for i in range(n)]
            text = elf[struct.unpack_from("=Q", elf, heads[names] + 24)[0]:]
            for head in heads:
                if text[struct.unpack_from("=I", elf, head)[0]:].startswith(b".debug_info\0"):
                    struct.pack_into("=Q", elf, head + 8, 0x800)    # SHF_COMPRESSED
            f.seek(0)
            f.write(elf)
        return copy

    def code_of(self, file, symbol):
        got = subprocess.run(["nm", "-S", file], stdout=subprocess.PIPE, text=True, check=True)
        begin, size = re.search(rf"^(\S+) (\S+) T {symbol}$", got.stdout, re.M).groups()
        return int(begin, 16), int(begin, 16) + int(size, 16)

    @unittest.skipUnless(sys.version_info[:2] == (3, 11), "needs python 3.11")
    def test_faults_name_functions_of_python(self):
        """The native frames are those of the interpreter, whatever the program does."""
        path = os.path.join(HERE, "pyleak.py")
        program = Program(self, PYTHON, path)
        tool = faults_of(program)
        program.do("leak", 30000)
        time.sleep(0.5)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        with open(path, encoding="utf-8") as f:
            codes = {c.co_qualname: c for c in functions_of(compile(f.read(), path, "exec"))}
        named = 0
        for site in answer["sites"]:
            stack = [f for f in site["stack"] if f["language"] == "python"]
            names = [f["symbol"] for f in stack]
            for frame in stack:
                self.assertEqual(frame["module"], path)
                self.assertEqual(sorted(frame), sorted(site["stack"][0]))
                code = codes[frame["symbol"]]
                lines = {line for _, _, line in code.co_lines()} | {code.co_firstlineno}
                source, line = frame["source"].rsplit(":", 1)
                self.assertEqual(source, path)
                self.assertIn(int(line), lines)
            native = [f["symbol"] for f in site["stack"] if f["language"] is None]
            if "leak_session" in names or names[:1] == ["Server.serve"]:
                self.assertEqual(names[-2:], ["Server.serve", "<module>"], site)
                self.assertIn("_PyEval_EvalFrameDefault", native)
                named += site["bytes"]
        self.assertGreater(named, 20 << 20, answer)
        self.assertEqual([n for n in answer["notes"] if "python" in n], [])

    @unittest.skipUnless(sys.version_info[:2] == (3, 11), "needs python 3.11")
    def test_stacks_of_python_through_native_frames(self):
        """Each thread has its own way from run() to Node.__init__()."""
        ways = {("by_generator", "generate"), ("by_map", "make"), ("by_calls", "make"),
                ("by_sort", "by_sort.<locals>.<lambda>")}
        program = Program(self, PYTHON, os.path.join(HERE, "pystacks.py"))
        tool = faults_of(program)
        self.assertEqual(program.do("go", 1), (160,))
        time.sleep(0.5)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        found, cut = set(), 0
        for site in json.loads(out)["sites"]:
            names = [f["symbol"] for f in site["stack"] if f["language"] == "python"]
            if "Node.__init__" not in names:
                continue
            self.assertEqual(names.count("Node.__init__"), 1, names)
            callers = names[names.index("Node.__init__") + 1:]
            if "run" not in callers:
                cut += site["bytes"]
                continue
            self.assertEqual(callers[2], "run", callers)
            self.assertIn((callers[1], callers[0]), ways)
            found.add((callers[1], callers[0]))
        self.assertEqual(found, ways)
        self.assertLess(cut, 16 << 20)

    def test_faults_of_a_process_that_does_not_grow(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        program.do("work", 1)
        p = subprocess.run([TOOL, "--faults", "-s", "1", str(program.pid)], capture_output=True,
                           text=True, timeout=60, check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("no page fault made it grow", p.stdout)

    @unittest.skipIf(os.path.exists("/dev/seepage_where"), "the module is loaded")
    def test_without_a_choice_it_says_why_there_are_no_sites(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        program.do("leak", 1000)
        p = where("-j", "-s", 1, program.pid)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        answer = json.loads(p.stdout)
        self.assertEqual((answer["method"], answer["sites"]), ("census", []))
        self.assertEqual([n for n in answer["notes"] if n.startswith("sites: ")],
                         ["sites: not known: the heap did not grow between the looks; "
                          "--burst samples it all the same"])
        tool = started(program.pid)
        program.do("leak", 100000)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual((answer["method"], answer["sites"]), ("census", []))
        self.assertGreater(answer["growth_bytes_per_hour"], 0)
        self.assertIn("sites: not known: a signal came between the looks", answer["notes"])

    @unittest.skipIf(os.path.exists("/dev/seepage_where"), "the module is loaded")
    def test_a_picture_without_sites_is_refused_before_the_looks(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        self.refused(where("--folded", "-s", 86400, program.pid), "--burst: ")

    @unittest.skipIf(os.path.exists("/dev/seepage_where"), "the module is loaded")
    def test_without_a_choice_nothing_is_sampled_that_does_not_grow(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        program.do("work", 1)
        p = subprocess.run([TOOL, "-s", "1", str(program.pid)], capture_output=True, text=True,
                           timeout=60, check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("sites: not known: the heap did not grow", p.stdout)

    def test_words_that_are_refused(self):
        self.refused(where("x"), "PID: 'x': allowed 1..", 2)
        self.refused(where("--seconds", 0, 1), "--seconds: '0': allowed 1..86400", 2)
        self.refused(where("--faults", "--burst", 1), "--faults: allowed with --seconds", 2)
        self.refused(where("--faults", "--text", 1), "--faults: allowed with --seconds", 2)
        self.refused(where("--census", "--samples", 5, 1), "not allowed without a burst", 2)
        self.refused(where("--census", "--no-probes", 1), "not allowed without a burst", 2)
        self.refused(where("--census", "-O", "libc", 1), "not allowed without a burst", 2)
        self.refused(where("-O", "", 1), "--object: '': allowed the name of a file", 2)
        self.refused(where("-O", "libnone", os.getpid()), "--object: 'libnone': process ")
        for bad in ("", "0", "5,", "5,,6", "6,5", "5,5", "x", "86401", "1,2,3,4,5,6,7,8,9"):
            self.refused(where("--burst", "--again-after", bad, 1),
                         f"--again-after: '{bad}': allowed up to 8 numbers", 2)
        self.refused(where("--census", "--svg", "x", 1), "--folded, --svg: not allowed with", 2)
        self.refused(where("--profile", "--svg", "", 1), "allowed the name of a file", 2)
        self.refused(where("--profile", "--svg", "/none/x", os.getpid()), "No such file")
        self.refused(where("--burst", "--profile", 1), "not allowed with --profile", 2)
        self.refused(where("--profile", os.getpid()), "no profile of Go or jemalloc in it")
        self.refused(where("--diff", "/dev/null", os.getpid()), "allowed a regular file")
        self.refused(where("--keep", "third", 1), "--keep: 'third': allowed first second", 2)
        self.refused(where("--keep", "first", "--burst", 1), "allowed with --keep second only", 2)
        self.refused(where("--keep", "second", "--text", 1), "--keep: allowed with", 2)
        self.refused(where(), "PID is missing", 2)
        self.refused(where("--last", "--burst", 1), "--last: allowed with -j only", 2)
        self.refused(where("--limit", 5, 1), "--limit: allowed with --keep only", 2)
        self.refused(where("--follow", "off"), "--follow: 'off': allowed census burst", 2)
        self.refused(where("--follow", "census", 1), "--follow: allowed without PID", 2)
        self.refused(where("--follow", "census", "--burst"), "--follow: allowed without PID", 2)
        self.refused(where(2 ** 22 + 1), "No such process")

    @unittest.skipIf(os.path.exists("/dev/seepage_where"), "the module is loaded")
    def test_a_burst_that_cannot_begin_is_refused_before_the_looks(self):
        self.refused(where("--burst", "--seconds", 3600, os.getpid()), "--burst: ")

    def test_one_class(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        answer = self.between(program, "work", 1, "--class", "50")[0]
        self.assertEqual([c["size_bytes"] for c in answer["classes"]], [56])

    def test_text_is_shown_only_if_asked_for_and_without_digits(self):
        code = ("import sys; print('ready', flush=True); n = sys.stdin.readline()\n"
                "keep = ['card 1234-5678 of customer %06d ' % i + 'x' * 500 for i in range(9000)]\n"
                "print(0, 0, flush=True); sys.stdin.readline()")
        for words in ((), ("--text",)):
            program = Program(self, PYTHON, "-c", code)
            answer = self.between(program, "leak", 1, *words)[0]
            self.assertNotIn("1234", json.dumps(answer["classes"]))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_another_user_may_not(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        directory = tempfile.mkdtemp(prefix="where-")
        self.addCleanup(shutil.rmtree, directory)
        os.chmod(directory, 0o755)
        tool = shutil.copy(TOOL, directory)
        got = subprocess.run([tool, str(program.pid)], capture_output=True, text=True, timeout=60,
                             check=False, user=65534, group=65534, extra_groups=[])
        self.refused(got, "not permitted: needs CAP_SYS_PTRACE")

    def test_forged_heaps(self):
        for mode in ("zero", "huge", "odd", "full", "main"):
            program = Program(self, f"{BUILD}/hostile", mode)
            began = time.monotonic()
            status, out, err = second(started(program.pid))
            self.assertEqual((status, err), (0, ""), mode)
            answer = json.loads(out)
            self.assertLess(time.monotonic() - began, 20)
            if mode not in ("zero", "full"):
                self.assertIn("do not add up", " ".join(answer["notes"]), mode)
            if mode != "main":
                self.assertLess(answer["heap_bytes"], 3 << 20, mode)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for userfaultfd")
    def test_pages_that_were_never_used_are_not_asked_for(self):
        """A server of lazy pages, which here never answers, is not waited for."""
        program = Program(self, f"{BUILD}/hostile", "lazy")
        self.assertEqual(program.do("pages", 0), (0,))
        got = where("-j", "--census", "-s", 1, program.pid)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertEqual(program.do("pages", 0), (0,))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for userfaultfd")
    def test_a_read_that_does_not_end_is_the_end_of_the_look(self):
        """By hand there is a line, and the lock of the looks that are kept is free again."""
        stuck, calm = Program(self, f"{BUILD}/hostile", "stuck"), Program(self, f"{BUILD}/leaky", "small")
        at, tool, alerts = self.followed("census")
        alerts.write(self.alert(stuck.pid, "suspected") + self.alert(calm.pid, "suspected"))
        with tempfile.TemporaryDirectory() as run:
            env = {**os.environ, "SEEPAGE_RUN": run}
            words = ["--keep", "first", str(stuck.pid)], ["--census", str(stuck.pid)]
            tools = [subprocess.Popen([TOOL, *w], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, env=env) for w in words]
            for p in tools:
                self.addCleanup(p.kill)
            self.assertEqual([p.communicate(timeout=150) for p in tools],
                             [("", f"seepage: where: process {stuck.pid}: a read of its memory did "
                               "not end within 30 s\n")] * 2)
            self.assertEqual([p.returncode for p in tools], [-signal.SIGKILL, 1])
            self.keep(run, "first", calm.pid)
            self.assertEqual(len(self.kept(run, "first", calm.pid)), 1)
        # The one that follows alerts goes on, and leaves that process out.
        self.comes(at, "first", calm.pid)
        alerts.write(self.alert(stuck.pid, "confirmed"))
        self.ends(tool)
        ledger = self.ledger(at)
        self.assertEqual([ledger[k] for k in ("looks", "left_out")], [2, 0])

    def test_a_process_that_ends_between_the_looks(self):
        program = Program(self, f"{BUILD}/leaky", "small")
        tool = started(program.pid)
        program.end()
        status, out, err = second(tool)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("ended, or executed a program, between the two looks", err)

    def test_a_process_that_executes_another_program_between_the_looks(self):
        code = '@a = map { "x" x 100 } 1 .. 20000; print "ready\\n"; <STDIN>; exec "sleep", 60'
        with subprocess.Popen(["perl", "-e", f"$| = 1; {code}"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "ready\n")
            tool = started(program.pid)
            program.stdin.write("\n")
            program.stdin.flush()
            while os.path.basename(os.readlink(f"/proc/{program.pid}/exe")) != "sleep":
                time.sleep(0.01)
            status, out, err = second(tool)
            program.kill()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("ended, or executed a program, between the two looks", err)

    @unittest.skipIf(subprocess.run(["setarch", "-R", "true"], check=False).returncode,
                     "addresses are random always")
    def test_a_process_that_executes_itself_between_the_looks(self):
        """Where addresses are not random its heap begins where it did."""
        program = Itself(self)
        tool = started(program.pid)
        program.execute()
        status, out, err = second(tool)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("ended, or executed a program, between the two looks", err)

    def test_a_process_that_ends_while_it_is_read(self):
        for i in range(5):
            program = Program(self, f"{BUILD}/leaky", "small")
            program.do("leak", 60000)
            tool = subprocess.Popen([TOOL, "-s", "1", str(program.pid)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
            time.sleep(random.Random(i).random() * 0.02)
            program.p.kill()
            program.p.wait()
            out, err = tool.communicate(timeout=60)
            self.assertEqual(tool.returncode, 1, out + err)
            self.assertEqual(err.count("\n"), 1, err)


if __name__ == "__main__":
    unittest.main()
