# SPDX-License-Identifier: GPL-2.0
"""seepage where on programs with jemalloc: its blocks are counted by class. Runs on this machine,
without the module."""
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from test_where import BUILD, HERE, Program, second, started, where

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
REDIS = shutil.which("redis-server")
# What a class of a twin may gain: a table of random blocks varies, and threads keep some.
BOUND = 128 << 10
USABLE = f"{BUILD}/usable"


def setUpModule():
    os.makedirs(BUILD, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-pthread", "-o", USABLE,
                    os.path.join(HERE, "usable.c")], check=True)


def preloaded(test, mode, **environment):
    words = [f"{key}={value}" for key, value in environment.items()]
    return Program(test, "env", f"LD_PRELOAD={JEMALLOC}", *words, USABLE, mode)


def between(program, word, n, *words):
    """The answer for the time in which the program works, and what it says that it lost."""
    tool = started(program.pid, "--census", *words)
    told = program.do(word, n)
    status, out, err = second(tool)
    assert (status, err) == (0, ""), err
    return json.loads(out), told


def static_data(pid):
    """Where the library has its table: what is mapped behind the end of its file."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as f:
        maps = f.read()
    return [int(v, 16) for v in re.search(
        r"-([0-9a-f]+) rw-p .*libjemalloc\S*\n\1-([0-9a-f]+) rw-p 00000000 00:00 0", maps).groups()]


@unittest.skipUnless(os.path.exists(JEMALLOC), "needs libjemalloc2")
class Jemalloc(unittest.TestCase):
    def check(self, answer):
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "jemalloc"), answer)
        self.assertTrue(any("tcache" in note for note in answer["notes"]), answer)

    def leak(self, program, n, size):
        """The class comes first, and grew as the program says, within 5 %."""
        answer, (blocks, size_bytes) = between(program, "leak", n)
        self.check(answer)
        first = answer["classes"][0]
        self.assertGreaterEqual(blocks, n - 3)
        self.assertEqual(first["size_bytes"], size, answer)
        self.assertAlmostEqual(first["growth_bytes"] / size_bytes, 1, delta=0.05, msg=answer)
        self.assertAlmostEqual(first["growth_blocks"] / blocks, 1, delta=0.05, msg=answer)
        self.assertEqual(first["content"]["kind"], "binary", answer)
        return answer

    def twin(self, program, n):
        answer, told = between(program, "work", n)
        self.check(answer)
        self.assertEqual(told, (0, 0))
        for c in answer["classes"]:
            self.assertLess(c["growth_bytes"], BOUND, answer)

    def test_small_blocks(self):
        self.leak(preloaded(self, "small"), 20000, 80)
        self.twin(preloaded(self, "small"), 20000)

    def test_four_threads(self):
        self.leak(preloaded(self, "threads"), 20000, 224)
        self.twin(preloaded(self, "threads"), 20000)

    def test_threads_that_never_rest(self):
        """Extents change while they are read, and are read again."""
        self.leak(preloaded(self, "busy"), 60000, 80)

    def test_large_blocks(self):
        self.leak(preloaded(self, "large"), 500, 20480)
        self.twin(preloaded(self, "large"), 500)

    def test_options_that_change_the_heap(self):
        """Slabs of other sizes, no caches of threads, many arenas, samples with pages of their own"""
        for options in ("slab_sizes:1-4096:8", "tcache:false", "narenas:16,percpu_arena:percpu",
                        "prof:true,lg_prof_sample:12", "dirty_decay_ms:0", "thp:always,metadata_thp:always"):
            with self.subTest(options):
                self.leak(preloaded(self, "small", MALLOC_CONF=options), 20000, 80)

    def test_its_profile_is_the_answer_if_asked_for(self):
        """One block in three or so is a sample: what they stand for is known to some percent."""
        options = "prof:true,lg_prof_sample:8"
        program = preloaded(self, "threads", MALLOC_CONF=options)
        program.do("leak", 2000)
        tool = started(program.pid, "--profile")
        blocks, size_bytes = program.do("leak", 20000)
        status, out, err = second(tool)
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual((answer["method"], answer["allocator"]), ("profile", "jemalloc"), answer)
        site = answer["sites"][0]  # all four threads
        gained = site["bytes_per_hour"] * answer["seconds"] / 3600
        self.assertAlmostEqual(gained / size_bytes, 1, delta=0.1, msg=answer)
        self.assertAlmostEqual(site["bytes"] / size_bytes, 1.1, delta=0.1, msg=answer)
        self.assertAlmostEqual(site["blocks"] / blocks, 1.1, delta=0.1, msg=answer)
        self.assertIn("usable", site["stack"][0]["module"], answer)
        self.assertFalse([n for n in answer["notes"] if "MALLOC_CONF" in n], answer)
        twin = preloaded(self, "threads", MALLOC_CONF=options)
        twin.do("work", 2000)
        tool = started(twin.pid, "--profile")
        twin.do("work", 20000)
        answer = json.loads(second(tool)[1])
        self.assertEqual(answer["method"], "profile")
        for site in answer["sites"]:
            self.assertLess(site["bytes_per_hour"] * answer["seconds"] / 3600, BOUND, answer)

    def test_without_a_profile(self):
        program = preloaded(self, "small")
        got = where("--profile", "-s", 1, program.pid)
        self.assertEqual((got.returncode, got.stdout), (1, ""))
        self.assertIn("no profile of Go or jemalloc in it", got.stderr)
        answer = between(program, "leak", 2000)[0]
        self.assertTrue([n for n in answer["notes"] if "MALLOC_CONF=prof:true" in n], answer)

    def test_one_class(self):
        program = preloaded(self, "small")
        answer = between(program, "leak", 2000, "--class", "72")[0]
        self.assertEqual([c["size_bytes"] for c in answer["classes"]], [80])
        answer = between(program, "leak", 2000, "--class", "81")[0]
        self.assertEqual([c["size_bytes"] for c in answer["classes"]], [96])

    def test_an_earlier_answer_is_the_first_look(self):
        program = preloaded(self, "small")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(between(program, "work", 10)[0], f)
            f.flush()
            told = program.do("leak", 20000)
            got = where("-j", "--census", "--diff", f.name, program.pid)
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        first = json.loads(got.stdout)["classes"][0]
        self.assertEqual(first["size_bytes"], 80)
        self.assertAlmostEqual(first["growth_bytes"] / told[1], 1, delta=0.05)

    def test_a_gigabyte_takes_less_than_two_seconds(self):
        program = preloaded(self, "small")
        program.do("leak", 8_000_000)
        start = os.times()
        answer = between(program, "work", 10)[0]
        end = os.times()
        self.assertGreater(answer["heap_bytes"], 600 << 20)
        cpu = end.children_user - start.children_user + end.children_system - start.children_system
        self.assertLess(cpu * (1 << 30) / answer["heap_bytes"], 4, "two looks")

    def pages(self, program, reason):
        answer = between(program, "leak", 20000)[0]
        self.assertEqual((answer["method"], answer["allocator"]), ("pages", "jemalloc"), answer)
        self.assertTrue(any(reason in note for note in answer["notes"]), answer["notes"])
        self.assertEqual(len(answer["classes"]), 1)
        self.assertGreater(answer["growth_bytes_per_hour"], 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to write into a process")
    def test_a_heap_that_is_damaged_is_one_of_pages(self):
        """The maps of slabs say something else than their records, or the table leads nowhere."""
        program = preloaded(self, "small")
        lo, hi = static_data(program.pid)
        with open(f"/proc/{program.pid}/mem", "r+b", buffering=0) as f:
            for record in {w & ((1 << 48) - 1) & ~127
                           for w in self.slabs(f, program.pid, lo, hi)[::2]}:
                f.seek(record + 64)
                word = struct.unpack("<Q", f.read(8))[0]
                f.seek(record + 64)
                f.write(struct.pack("<Q", word ^ 1))
            tool = started(program.pid, "--census")
            answer = json.loads(second(tool)[1])
            self.assertEqual(answer["method"], "pages")
            self.assertTrue(any("do not agree" in note for note in answer["notes"]), answer["notes"])
            f.seek(lo)
            f.write(b"\0" * (hi - lo))
        answer = json.loads(second(started(program.pid, "--census"))[1])
        self.assertEqual(answer["method"], "pages")
        self.assertTrue(any("was not found" in note for note in answer["notes"]), answer["notes"])

    def slabs(self, f, pid, lo, hi):
        """Elements of pages of slabs: of the leaf to which the one word of the table leads."""
        f.seek(lo)
        words = struct.unpack(f"<{(hi - lo) // 8}Q", f.read(hi - lo))
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            heaps = [[int(v, 16) for v in line.split()[0].split("-")] for line in maps
                     if re.search(r" rw-p 00000000 00:00 0\s*$", line)]
        gibs = {heap[0] >> 30 for heap in heaps}
        for i, word in enumerate(words):
            if word and not word % 64 and any(a <= word < b - (2 << 20) for a, b in heaps) and \
                    any(0 <= i - gib < (hi - lo) // 8 - (1 << 18) for gib in gibs):
                f.seek(word)
                leaf = struct.unpack("<262144Q", f.read(2 << 20))
                if sum(1 for w in leaf if w) > 100:
                    return [w for w in leaf if w & 1]
        self.fail("no leaf")

    def test_a_build_that_is_not_known_is_one_of_pages(self):
        """Another library says by its symbols that it is jemalloc."""
        library = f"{BUILD}/like-jemalloc.so"
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-fPIC", "-shared", "-DLIBRARY", "-o", library,
                        os.path.join(HERE, "usable.c")], check=True)
        self.pages(Program(self, "env", f"LD_PRELOAD={library}", USABLE, "small"), "was not found")


@unittest.skipUnless(REDIS and os.path.exists(JEMALLOC), "needs redis-server")
class Redis(unittest.TestCase):
    def fill(self, link, first, n):
        link.sendall(b"".join(b"SET session:user:%08d %s\r\n" % (first + i, b"token-of-a-session-" * 5)
                              for i in range(n)))
        got = 0
        while got < n:
            got += link.recv(65536).count(b"\n")

    def test_keys_that_nothing_deletes(self):
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen([REDIS, "--port", "0", "--unixsocket", f"{folder}/s", "--save", "",
                                       "--dir", folder], stdout=subprocess.DEVNULL)
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            link = socket.socket(socket.AF_UNIX)
            self.addCleanup(link.close)
            for _ in range(200):
                try:
                    link.connect(f"{folder}/s")
                    break
                except OSError:
                    time.sleep(0.05)
            self.fill(link, 0, 20000)
            tool = started(server.pid, "--census", "--text")
            self.fill(link, 20000, 20000)
            answer = json.loads(second(tool)[1])
        self.assertEqual((answer["method"], answer["allocator"]), ("census", "jemalloc"), answer)
        rows = {c["size_bytes"]: c for c in answer["classes"]}
        # A value of 95 bytes with its object, a key of 21 with its head, an entry of the table
        self.assertEqual(answer["classes"][0]["size_bytes"], 112, answer)
        for size in (112, 32):
            self.assertGreaterEqual(rows[size]["growth_blocks"], 20000 * 0.95)
        texts = [c["name"] or "" for row in rows.values() for c in row["contents"]]
        self.assertTrue(any("session:user:#" in text for text in texts), texts)


if __name__ == "__main__":
    unittest.main()
