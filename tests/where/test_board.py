# SPDX-License-Identifier: GPL-2.0
"""The board of make where: what counts as the true site, and as a twin that is accused."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/where-bench"))
import peers  # noqa: E402  pylint: disable=C0413
import board  # noqa: E402  pylint: disable=C0413
import guest  # noqa: E402  pylint: disable=C0413
import running  # noqa: E402  pylint: disable=C0413
from cases import CASES  # noqa: E402  pylint: disable=C0413


def site(*frames, per_hour=1000):
    return {"bytes_per_hour": per_hour, "survival_permille": 1000, "again": [],
            "stack": [{"symbol": s, "demangled": d} for s, d in frames]}


def answer(*sites, method="burst"):
    return {"wall_seconds": 20.0, "answer": {"sites": list(sites), "traps": 500, "samples": 300,
                                             "method": method}}


OTHER = site(("malloc_wrapper", None), ("other", None))
TRUE = site(("_Znwm", "operator new(unsigned long)"), ("_ZN3app8keep_mapEv", "app::keep_map()"))
REFUSED = {"wall_seconds": 1.0, "refused": "seepage: where: no"}
PEER = {"stacks": [[30, ["malloc", "x"]], [10, ["malloc", "app::keep_map() [clone .isra.0]"]]],
        "total": 40, "wall_seconds": 3.0}
# A tool that is busy for a second, then takes two looks, the second one after a signal
LATE = """
import json, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
end = time.monotonic() + 1
while time.monotonic() < end:
    pass
first = time.monotonic()
signal.sigwait([signal.SIGINT])
print(json.dumps({"first": first, "seconds": time.monotonic() - first}))
"""
# Of some sizes: how far apart most of the blocks are that follow each other, and lost_room()
ROOM = """
#include <stdio.h>
#include "lost.h"

int main(void)
{
	static const size_t size[] = { 60, 100, 200, 300, 500 };
	size_t i, n, apart, least;
	char *p, *old;

	for (i = 0; i < sizeof(size) / sizeof(*size); i++) {
		least = -1UL;
		old = malloc(size[i]);
		for (n = 0; n < 2000; n++, old = p) {
			p = malloc(size[i]);
			apart = p > old ? p - old : old - p;
			least = apart < least ? apart : least;
		}
		printf("%zu %zu %zu\\n", size[i], least, lost_room(malloc_usable_size(p)));
	}
	return 0;
}
"""


class Board(unittest.TestCase):
    def test_the_rank_of_the_true_site(self):
        got = board.judge_leak(answer(OTHER, TRUE), ["app::keep_map"])
        self.assertEqual((got["rank"], got["survival_permille"], got["traps"]), (2, 1000, 500))
        self.assertIsNone(board.judge_leak(answer(OTHER), ["app::keep_map"])["rank"])
        self.assertIsNone(board.judge_leak(answer(TRUE), ["app::keep_ma"])["rank"])
        self.assertEqual(board.rank_of([["x"], ["keep_map (own.cc)"]], ["app::keep_map"]), 2)
        self.assertIsNone(board.rank_of([["other::keep_map()"]], ["app::keep_map"]))
        # What a leak was put into allocates for itself as well: all functions have to be there.
        both = ["app::keep_map", "inject_lost"]
        self.assertIsNone(board.judge_leak(answer(OTHER, TRUE), both)["rank"])
        lost = site(("inject_lost", None), ("_ZN3app8keep_mapEv", "app::keep_map()"))
        self.assertEqual(board.judge_leak(answer(TRUE, lost), both)["rank"], 2)
        self.assertEqual(board.judge_leak(REFUSED, ["x"])["outcome"], "refused")

    def test_the_class_that_the_twin_is_asked_about(self):
        classes = [{"size_bytes": 262144}, {"size_bytes": 200}]
        got = {"answer": {"method": "burst", "classes": classes, "sites": []}}
        self.assertEqual(guest.leak_class(got), 262144)
        got["answer"]["sites"] = [{"class_bytes": 200}]
        self.assertEqual(guest.leak_class(got), 200)
        got["answer"]["method"] = "census"
        self.assertIsNone(guest.leak_class(got))
        self.assertIsNone(guest.leak_class({"refused": "no"}))

    def test_what_was_looked_at_is_not_frozen(self):
        half = {c.name: c.half for c in CASES}
        self.assertEqual({half["c-rare"], half["nginx"]}, {"open"})
        self.assertGreaterEqual(list(half.values()).count("frozen"), 12)

    def test_names_as_tools_print_them(self):
        for name in ("keep", "keep()", "keep(int) [clone .cold]", "keep@@V_1", "keep (inlined)",
                     "keep (own.c)", "keep [own]"):
            self.assertEqual(board.function(name), "keep", name)

    def test_a_twin_of_which_nobody_is_named(self):
        self.assertEqual(board.judge_twin(answer(), {})["verdict"], "nobody")
        self.assertEqual(board.judge_twin(answer(OTHER), {})["named"], ["malloc_wrapper"])
        self.assertEqual(board.judge_twin(REFUSED, {})["verdict"], "refused")
        # Go's profile lists all sites: one that does not grow is no accusation.
        leak = {"bytes_per_hour": 1000}
        slow, fast = site(("a", None), per_hour=50), site(("b", None), per_hour=500)
        self.assertEqual(board.judge_twin(answer(slow, method="profile"), leak)["verdict"], "nobody")
        self.assertEqual(board.judge_twin(answer(slow, fast, method="profile"), leak)["named"], ["b"])

    def test_peers(self):
        got = board.judge_peer(PEER, ["app::keep_map"])
        self.assertEqual((got["rank"], got["share_permille"]), (2, 250))
        self.assertEqual(board.judge_peer({"refused": "why"}, ["x"])["outcome"], "not run")

    def test_where_a_library_cannot_take_the_place_of_malloc(self):
        cases = {c.name: c for c in CASES}
        for name, heaptrack, profile in (("c-small", True, True), ("perl", True, False), ("musl", False, False),
                                         ("jemalloc", False, True), ("mimalloc", False, False),
                                         ("redis", True, True)):
            self.assertEqual(peers.allocator_refused(cases[name]) is None, heaptrack, name)
            self.assertEqual(peers.allocator_refused(cases[name], peers.JEMALLOC) is None, profile, name)

    def test_names_as_bcc_prints_them(self):
        for line, name in (("\t\t0x00005581\tkeep_small+0x1e [own]", "keep_small"),
                           ("\t\t0x00007f80\toperator new(unsigned long)+0x1c [libstdc++.so.6.0.30]",
                            "operator new(unsigned long)"),
                           ("\t\t0x6f63006465707061\t[unknown]", "[unknown]"), ("\t\t0x00251c8b\t", "0x00251c8b")):
            self.assertEqual(peers.bcc_name(line), name)

    def test_stacks_with_the_same_first_frames_are_one(self):
        long = [f"f{i}" for i in range(peers.FRAMES)]
        got = peers.heaviest([(long + ["a"], 2), (["x"], 3), (long + ["b"], 2)])
        self.assertEqual(got, {"stacks": [[4, long], [3, ["x"]]], "total": 7})

    def make(self, leak, twin, case="cc-map", counts=(), **more):
        line = {"name": case, "leak": leak, "twin": twin, "peers": {}, **more}
        return board.make([json.dumps(line)], [json.dumps(c) for c in counts])

    def test_what_is_missed(self):
        self.assertEqual(self.make(answer(TRUE), answer())["missed"], [])
        self.assertIn("among the first three: 0 of 1, the goal is 90%",
                      " ".join(self.make(answer(OTHER), answer())["missed"]))
        gone = {**TRUE, "survival_permille": 899}
        self.assertEqual(self.make(answer(gone), answer())["missed"],
                         ["the same, and 90 % of its samples stay: 0 of 1, the goal is 90%"])
        self.assertIn("goal is 70%", " ".join(self.make(answer(OTHER, TRUE), answer())["missed"]))
        self.assertIn("said to leak", " ".join(self.make(answer(TRUE), answer(OTHER))["missed"]))
        self.assertIn("no", " ".join(self.make(REFUSED, answer())["missed"]))
        # An allocator that is not known has to be refused, and counts for no goal.
        self.assertEqual(self.make(REFUSED, REFUSED, "musl")["missed"], [])
        # Unless it was sampled all the same.
        self.assertIn("0 of 1, the goal", " ".join(self.make(answer(OTHER), answer(), "musl")["missed"]))
        nothing = answer()
        nothing["answer"]["traps"] = 0
        self.assertEqual(self.make(nothing, answer(), "musl")["missed"], [])

    def test_the_note_that_a_refusal_has_to_have(self):
        notes = {"method": "pages", "notes": ["a", "node: --heapsnapshot-signal=SIGUSR2 lets it"]}
        got = self.make(REFUSED, REFUSED, "node-objects", census=notes)
        self.assertEqual(got["missed"], [])
        self.assertIn("seepage says: node: --heap", board.table(got))
        self.assertIn("no note says", " ".join(self.make(REFUSED, REFUSED, "node-objects")["missed"]))

    def test_the_growth_beside_what_was_lost(self):
        def growth(says, lost, steps):
            counted = {"method": "census", "bytes": says,
                       "lost": {"bytes": lost, "blocks": 20 * steps, "steps": steps}}
            return self.make(answer(TRUE), answer(), census=counted)

        self.assertEqual(growth(104900, 100000, 500)["missed"], [])
        self.assertIn(" +4.9 ", board.table(growth(104900, 100000, 500)))
        self.assertIn("0 of 1, cc-map -5.1 %, the goal is within 5 %",
                      " ".join(growth(94900, 100000, 500)["missed"]))
        # One block more is more than that.
        self.assertEqual(growth(90000, 100000, 39)["missed"], [])
        self.assertIsNone(board.judge_growth({"refused": "no"}))
        self.assertIsNone(board.judge_growth({"method": "census", "bytes": 5, "lost": {"bytes": 0}}))

    def test_what_was_lost_between_two_looks(self):
        lost = running.Lost()
        # 10 blocks of 100 bytes a second, and 9 at once after two seconds
        lost.seen = [(t / 10, t + (9 if t >= 20 else 0), 100 * t + (900 if t >= 20 else 0))
                     for t in range(0, 101)]
        self.assertEqual(lost.between(1.01, 7.01), {"bytes": 6900, "blocks": 69, "steps": 60})
        self.assertEqual(lost.between(2.01, 8.01), {"bytes": 6000, "blocks": 60, "steps": 60})
        # A job every two seconds, of 20 blocks
        lost.seen = [(t / 10, t // 20 * 20, t // 20 * 2000) for t in range(0, 101)]
        self.assertEqual(lost.between(1.01, 7.01), {"bytes": 6000, "blocks": 60, "steps": 3})

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-tools")
    def test_what_musl_takes_for_a_block(self):
        """That is how far apart the blocks of a group are, not what malloc_usable_size() says."""
        with tempfile.TemporaryDirectory() as d:
            with open(f"{d}/room.c", "w", encoding="ascii") as f:
                f.write(ROOM)
            subprocess.run(["musl-gcc", "-O1", f"-I{TOP}/tests/where-bench/prog", "-o", f"{d}/room",
                            f"{d}/room.c"], check=True)
            got = subprocess.run([f"{d}/room"], stdout=subprocess.PIPE, text=True, check=True).stdout
        pairs = [line.split() for line in got.splitlines()]
        self.assertGreater(len(pairs), 3)
        for size, apart, room in pairs:
            self.assertEqual(apart, room, size)

    def test_a_tool_that_takes_long_to_start(self):
        """What was lost is that of the time between its looks, however late the first one is."""
        got, second = guest.two_looks(1, lambda: time.sleep(0.5), (sys.executable, "-c", LATE))
        first = got["answer"]["first"]
        self.assertAlmostEqual(second - got["answer"]["seconds"], first, delta=0.1)
        self.assertGreater(got["answer"]["seconds"], 0.5)
        self.assertGreater(got["wall_seconds"] - (second - first), 0.7)
        self.assertEqual(guest.two_looks(1, int, ("sh", "-c", "echo no >&2; exit 1"))[0]["refused"], "no")

    def test_instructions_beyond_the_same_work(self):
        alone = [[0, 0], [1000, 10], [2200, 20]]     # 110 a round, half of them 100, half 120
        self.assertEqual(running.disturbance(alone, [[5000, 40], [9000, 60]]),
                         {"instructions": 4000 - 20 * 110, "rounds": 20, "noise": 200})
        counts = [{"name": "cc-map", "seepage where": {"instructions": 1400000, "noise": 100},
                   "peers": {"heaptrack": {"instructions": 50, "noise": 100}, "perf page-faults": None}}]
        got = self.make(answer(TRUE), answer(), counts=counts)
        said = got["programs"][0]
        self.assertEqual(said["seepage"]["instructions"], 1400000)
        self.assertRegex(board.table(got), r"\ncc-map .* 300 +1\.4M +20 ")
        self.assertEqual(got["missed"], [])
        counts[0]["seepage where"]["instructions"] = 100000001
        self.assertEqual(self.make(answer(TRUE), answer(), counts=counts)["missed"],
                         ["instructions that it costs the program: median 100.0M, most 100.0M, "
                          "the goal is 0.1 s, 100.0M"])
        self.assertEqual(board.cost({"instructions": 50, "noise": 100}), "<100")
        self.assertEqual(board.cost({"instructions": None, "noise": None}), ".")

    def test_usage_is_that_of_all_threads(self):
        before = running.usage(os.getpid())
        time.sleep(0.01)
        sum(range(100000))
        after = running.usage(os.getpid())
        self.assertGreater(after[0], before[0])
        self.assertGreater(after[1], before[1])
        self.assertEqual(running.usage(0), [0, 0])

    def test_the_table_has_a_line_for_each(self):
        text = board.table(self.make(answer(OTHER, TRUE), answer()))
        self.assertRegex(text, r"\ncc-map +open +2 +100\.0 +500 +300 +\. +20 +nobody +\. ")

    def test_programs(self):
        names = [c.name for c in CASES]
        self.assertEqual(len(names), len(set(names)))
        frozen = sum(c.half == "frozen" for c in CASES)
        self.assertGreater(frozen, len(CASES) // 4)
        self.assertGreater(len(CASES) - frozen, len(CASES) // 4)
        for c in CASES:
            self.assertNotEqual((c.argv, c.env, c.load), (c.twin_argv, c.twin_env, None), c.name)


if __name__ == "__main__":
    unittest.main()
