# SPDX-License-Identifier: GPL-2.0
"""What kernel-log takes for a complaint: of KCSAN's reports, those of the module."""
import os
import subprocess
import unittest

KERNEL_LOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel-log")
RULE = "=" * 66
OURS = "seep_account+0x12/0x80 [seepage]"
OTHER = "mod_memcg_state+0x1f/0x90"
ELSEWHERE = "ext4_mark_iloc_dirty+0x2e/0x1a0 [ext4]"


def complaints(*lines):
    """The lines of a log that count, without their time; checks the exit status."""
    log = "".join(f"[   12.345678] {line}\n" for line in lines)
    p = subprocess.run([KERNEL_LOG], input=log, capture_output=True, text=True, timeout=60)
    if p.returncode != (0 if p.stdout else 1) or p.stderr:
        raise AssertionError(f"status {p.returncode}: {p.stdout!r} {p.stderr!r}")
    return [line.split("] ", 1)[1] for line in p.stdout.splitlines()]


def access(what, *frames):
    return [what, *(f" {frame}" for frame in frames), ""]


def written(*frames):
    return access("write to 0xffff888105c11000 of 8 bytes by task 99 on cpu 0:", *frames)


def read(*frames):
    return access("read to 0xffff888105c11000 of 8 bytes by interrupt on cpu 1:", *frames)


def report(name, *accesses, after=()):
    return [RULE, f"BUG: KCSAN: data-race in {name}", "", *sum(accesses, []),
            "Reported by Kernel Concurrency Sanitizer on:",
            "CPU: 1 PID: 99 Comm: perl Tainted: G  O  6.12.0 #1", *after, RULE]


TOLD = ["BUG: KCSAN: data-race in a / b"]


class Kcsan(unittest.TestCase):
    def test_an_access_in_the_module(self):
        self.assertEqual(complaints(*report("a / b", written(OURS, OTHER), read(OTHER))), TOLD)
        self.assertEqual(complaints(*report("a / b", written(OTHER), read(OURS))), TOLD)

    def test_the_kernel_with_itself(self):
        self.assertEqual(complaints(*report("a / b", written(OTHER), read(ELSEWHERE))), [])

    def test_the_module_only_called_one_of_them(self):
        self.assertEqual(complaints(*report("a / b", written(OTHER, OURS), read(OTHER))), [])
        self.assertEqual(complaints(*report("a / b", written(OTHER), read(OTHER, OURS, OURS))),
                         [])

    def test_the_module_called_both(self):
        self.assertEqual(complaints(*report("a / b", written(OTHER, OURS), read(OTHER, OURS))),
                         TOLD)

    def test_an_interrupt_of_the_module_is_not_of_the_module(self):
        entry = "asm_sysvec_apic_timer_interrupt+0x16/0x20"
        self.assertEqual(complaints(*report("a / b", written(OTHER, entry, OURS),
                                            read(OTHER, OURS))), [])
        self.assertEqual(complaints(*report("a / b", written(OTHER, OURS, entry, OTHER),
                                            read(OTHER, OURS))), TOLD)
        self.assertEqual(complaints(*report("a / b", written(OURS, entry), read(OTHER))), TOLD)
        fault = "asm_exc_page_fault+0x22/0x30"
        self.assertEqual(complaints(*report("a / b", written(OTHER, fault, OURS),
                                            read(OTHER, OURS))), TOLD)

    def test_marked_and_read_write(self):
        marked = access("read-write (marked) to 0xffff888105c11000 of 8 bytes by task 9 on cpu 0:",
                        OURS)
        self.assertEqual(complaints(*report("a / b", marked, read(OTHER))), TOLD)

    def test_unknown_origin(self):
        def origin(*frames):
            return access("race at unknown origin, with read to 0xffff888105c11000 of 8 bytes "
                          "by task 9 on cpu 0:", *frames)
        self.assertEqual(complaints(*report("a / b", origin(OURS))), TOLD)
        self.assertEqual(complaints(*report("a / b", origin(OTHER))), [])

    def test_what_follows_the_accesses_does_not_count(self):
        self.assertEqual(complaints(*report("a / b", written(OTHER, OURS), read(OTHER),
                                            after=[f"RIP: 0010:{OURS}", f" {OURS}"])), [])

    def test_each_report_counts_by_itself(self):
        self.assertEqual(complaints(*report("a / b", written(OURS), read(OTHER)),
                                    *report("c / d", written(OTHER), read(OTHER)),
                                    *report("e / f", written(OTHER), read(OURS))),
                         TOLD + ["BUG: KCSAN: data-race in e / f"])

    def test_a_report_that_was_cut_off(self):
        self.assertEqual(complaints(*report("a / b", written(OTHER))[:4]), TOLD)


class Others(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(complaints("seepage: loaded", "random: crng init done"), [])
        self.assertEqual(complaints(), [])

    def test_the_rule_of_another_report(self):
        self.assertEqual(complaints(RULE, "BUG: KASAN: use-after-free in x+0x1/0x2",
                                    f"Read of size 8, {OTHER}", RULE),
                         ["BUG: KASAN: use-after-free in x+0x1/0x2"])

    def test_around_a_report_that_does_not_count(self):
        self.assertEqual(complaints("BUG: unable to handle page fault",
                                    *report("a / b", written(OTHER), read(OTHER)),
                                    "INFO: task perl blocked for more than 120 seconds"),
                         ["BUG: unable to handle page fault",
                          "INFO: task perl blocked for more than 120 seconds"])


if __name__ == "__main__":
    unittest.main()
