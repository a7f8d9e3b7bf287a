# SPDX-License-Identifier: GPL-2.0
"""scripts/one-source and gen-man name each place that is forgotten: tried by adding and forgetting."""
import contextlib
import functools
import importlib.machinery
import importlib.util
import io
import os
import shutil
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
UAPI, NAMES = "include/uapi/linux/seepage.h", "include/seepage/names.h"
COMMAND = """// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

const struct command cmd_trial = {
	.name = "trial",
};
"""

# What is added, as (place, text there, text instead of it), or (place, None, text) for a new
# file; and, as the fourth, what is said when that alone is forgotten. None: the compiler names it.
ADDITIONS = {
    "counter": [
        (UAPI, "\n\t__SEEPAGE_COUNTER_MAX,", "\tSEEPAGE_COUNTER_TRIAL,\n\n\t__SEEPAGE_COUNTER_MAX,",
         f"{UAPI}: enum seepage_counter: no SEEPAGE_COUNTER_TRIAL, which SEEPAGE_COUNTERS names"),
        (NAMES, "\tX(BIRTHS,", '\tX(TRIAL, trial, "times", "A trial.") \\\n\tX(BIRTHS,',
         f"{NAMES}: SEEPAGE_COUNTERS: 0 entries for SEEPAGE_COUNTER_TRIAL"),
        ("kmod/tick.c", "\tseep_count(TICKS_STRETCHED);", "\tseep_count(TICKS_STRETCHED), seep_count(TRIAL);",
         "kmod: nothing counts SEEPAGE_COUNTER_TRIAL (seep_count(TRIAL))"),
    ],
    "gate": [
        (UAPI, "\n\t__SEEPAGE_GATE_MAX,", "\tSEEPAGE_GATE_TRIAL,\n\n\t__SEEPAGE_GATE_MAX,",
         f"{UAPI}: enum seepage_gate: no SEEPAGE_GATE_TRIAL, which SEEPAGE_GATES names"),
        (NAMES, '\tX(SIZE, size, "bytes",', '\tX(TRIAL, trial, "bytes", "A trial.") \\\n\tX(SIZE, size, "bytes",',
         f"{NAMES}: SEEPAGE_GATES: 0 entries for SEEPAGE_GATE_TRIAL"),
        ("kmod/detect/verdict_classic.c", "\tseep_add_gate(v, SEEPAGE_GATE_WARMUP,",
         "\tseep_add_gate(v, SEEPAGE_GATE_TRIAL, true, 0, 0);\n\tseep_add_gate(v, SEEPAGE_GATE_WARMUP,",
         "kmod/detect: nothing adds SEEPAGE_GATE_TRIAL (seep_add_gate())"),
        ("ctl/lib/sentence_gate.c", "\tcase SEEPAGE_GATE_WARMUP:", "\tcase SEEPAGE_GATE_TRIAL:\n\tcase SEEPAGE_GATE_WARMUP:",
         "switch over enum seepage_gate: no case SEEPAGE_GATE_TRIAL"),
    ],
    "attribute": [
        (UAPI, "\n\t__SEEPAGE_A_MAX,", "\tSEEPAGE_A_TRIAL,\n\n\t__SEEPAGE_A_MAX,", None),
        (UAPI, "[LIMIT] [SHARES_WITH]", "[LIMIT] [TRIAL] [SHARES_WITH]",
         f"{UAPI}: the manual at its head has no TRIAL"),
        ("kmod/netlink/view.c", "\tif (v->has_subject)", "\tat = put_u8(at, SEEPAGE_A_TRIAL, 1);\n\tif (v->has_subject)",
         "kmod: nothing sends or takes SEEPAGE_A_TRIAL"),
        ("kmod/netlink/view.c", "#define SIZE_FACTS\t\t(5 * SIZE_32", "#define SIZE_FACTS\t\t(6 * SIZE_32",
         "SIZE_FACTS has room for 5 of SIZE_32, put_facts() writes 6"),
        ("ctl/lib/attr.c", "\tA(PID,", '\tA(TRIAL, "trial", "TRIAL", UINT, NONE),\n\tA(PID,',
         "ctl/lib/attr.c: attr_table: 0 entries for SEEPAGE_A_TRIAL"),
        ("ctl/lib/json.c", "SEEPAGE_A_SUBJECT, SEEPAGE_A_MEMBERS,", "SEEPAGE_A_SUBJECT, SEEPAGE_A_TRIAL, SEEPAGE_A_MEMBERS,",
         "ctl: nothing reads or sends SEEPAGE_A_TRIAL"),
        ("docs/man/seepage-json.7", ".It Cm members\n", ".It Cm trial\na trial\n.It Cm members\n",
         "docs/man/seepage-json.7: no trial, which ctl/lib/json.c prints"),
    ],
    "attribute of a request": [
        (UAPI, "\n\t__SEEPAGE_A_MAX,", "\tSEEPAGE_A_TRIAL,\n\n\t__SEEPAGE_A_MAX,", None),
        (UAPI, "request: PID (thread ids are accepted) [GROUP]", "request: PID (thread ids are accepted) [GROUP] [TRIAL]",
         f"{UAPI}: the manual at its head has no TRIAL"),
        ("kmod/netlink/takes.c", "\t[SEEPAGE_A_GROUP]\t= { .type = NLA_U8 },",
         "\t[SEEPAGE_A_GROUP]\t= { .type = NLA_U8 },\n\t[SEEPAGE_A_TRIAL]\t= { .type = NLA_U8 },",
         "kmod/netlink/takes.c: seep_dump_proc_takes: no SEEPAGE_A_TRIAL, which GET_PROC takes"),
        ("kmod/netlink/takes.c", "A(PID) | A(GROUP)", "A(PID) | A(GROUP) | A(TRIAL)",
         "kmod/netlink/takes.c: takes[]: no SEEPAGE_A_TRIAL for GET_PROC"),
        ("ctl/lib/attr.c", "\tA(PID,", '\tREQUEST(TRIAL),\n\tA(PID,',
         "ctl/lib/attr.c: attr_table: 0 entries for SEEPAGE_A_TRIAL"),
        ("ctl/cmd/ps.c", "nla_put_u32(msg, SEEPAGE_A_FILTER_UID, (u32)f->uid);",
         "nla_put_u32(msg, SEEPAGE_A_FILTER_UID, (u32)f->uid), nla_put_u8(msg, SEEPAGE_A_TRIAL, 1);",
         "ctl: nothing reads or sends SEEPAGE_A_TRIAL"),
    ],
    "command": [
        ("ctl/cmd/trial.c", None, COMMAND, None),
        ("ctl/main.c", "\t&cmd_version,", "\t&cmd_version,\n\t&cmd_trial,",
         "ctl/main.c: commands[]: no trial, which ctl/cmd/trial.c defines"),
        ("docs/man/seepage-trial.8", None, ".Dt SEEPAGE-TRIAL 8\n",
         "docs/man: no seepage-trial.8, the page of the command trial"),
        ("docs/man/seepage.8", ".It Cm version\n", ".It Cm trial\na trial;\n.Xr seepage-trial 8\n.It Cm version\n",
         "docs/man/seepage.8: no entry of the command trial"),
        ("completion/seepage.bash", "_seepage_commands='", "_seepage_commands='trial ",
         "completion/seepage.bash: _seepage_commands: no trial"),
        ("debian/seepage.manpages", "docs/man/seepage.8\n", "docs/man/seepage.8\ndocs/man/seepage-trial.8\n",
         "debian/seepage.manpages: no docs/man/seepage-trial.8"),
        ("tests/fuzz/fuzz_args.c", "&cmd_version,", "&cmd_version, &cmd_trial,",
         "tests/fuzz/fuzz_args.c: commands[]: no trial"),
    ],
}


def load(script):
    loader = importlib.machinery.SourceFileLoader(script.replace("-", "_"), os.path.join(TOP, "scripts", script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def one_source():
    """scripts/one-source as a module; what it makes of a source is kept for the next run."""
    module = load("one-source")
    module.csource.code_of = functools.lru_cache(None)(module.csource.code_of)
    return module


class OneSource(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="one-source.")
        cls.top = cls.folder.name
        for folder in ("kmod", "ctl", "include", "docs/man", "completion", "debian", "tests/fuzz"):
            shutil.copytree(os.path.join(TOP, folder), os.path.join(cls.top, folder))
        shutil.copy(os.path.join(TOP, "docs/appliance.md"), os.path.join(cls.top, "docs"))
        cls.module = one_source()
        cls.module.TOP = cls.top

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def edit(self, path, old, new, kept):
        where = os.path.join(self.top, path)
        if old is None:
            kept.setdefault(where, None)
            text = new
        else:
            with open(where, encoding="utf-8") as f:
                text = f.read()
            kept.setdefault(where, text)
            self.assertIn(old, text, path)
            text = text.replace(old, new)
        with open(where, "w", encoding="utf-8") as f:
            f.write(text)

    def said(self, additions):
        """What one-source says of the sources with these additions."""
        kept, out = {}, io.StringIO()
        try:
            for path, old, new, *_ in additions:
                self.edit(path, old, new, kept)
            with contextlib.redirect_stdout(out):
                try:
                    self.module.main()
                except SystemExit as e:
                    self.assertEqual(e.code, 1)
                    self.assertNotEqual(out.getvalue(), "")
        finally:
            for where, text in kept.items():
                if text is None:
                    os.remove(where)
                else:
                    with open(where, "w", encoding="utf-8") as f:
                        f.write(text)
        return out.getvalue()

    def forget_each(self, what):
        additions = ADDITIONS[what]
        self.assertEqual(self.said(additions), "")
        for i, (place, _, _, expected) in enumerate(additions):
            if expected:
                with self.subTest(forgotten=place):
                    self.assertIn(expected, self.said(additions[:i] + additions[i + 1:]))

    def test_sources_as_they_are(self):
        self.assertEqual(self.said([]), "")

    def test_counter(self):
        self.forget_each("counter")

    def test_gate(self):
        self.forget_each("gate")

    def test_attribute(self):
        self.forget_each("attribute")

    def test_attribute_of_a_request(self):
        self.forget_each("attribute of a request")

    def test_policy_that_ends_early(self):
        self.assertIn("seep_request_takes up to PAD: no SEEPAGE_A_SINCE_SEQ, which GET_ALERTS takes",
                      self.said([("kmod/netlink/netlink.c", "TAKES_TO(SINCE_SEQ)", "TAKES_TO(PAD)")]))

    def test_command(self):
        self.forget_each("command")

    def test_size_of_a_tool(self):
        path = os.path.join(self.top, "docs/appliance.md")
        with open(path, encoding="utf-8") as f:
            whole = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(whole.replace("| tool ack, ", "| tool trial, "))
        self.assertEqual(list(self.module.commands()),
                         ["docs/appliance.md: no size of the tool ack (make appliance)"])
        with open(path, "w", encoding="utf-8") as f:
            f.write(whole)


class GenMan(unittest.TestCase):
    """The tables of docs/detection.md"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gen-man.")
        self.addCleanup(folder.cleanup)
        self.module = load("gen-man")
        self.page = os.path.join(folder.name, self.module.DETECTION)
        os.mkdir(os.path.dirname(self.page))
        shutil.copy(os.path.join(TOP, self.module.DETECTION), self.page)
        self.module.TOP = folder.name

    def test_page_as_it_is(self):
        self.assertEqual(self.module.detection(False), [])

    def test_a_forgotten_row_is_named_and_written(self):
        for list_, columns in ("GATES", 3), ("STATES", 4):
            self.module.KNOWN[list_]["trial"] = ("", "A trial.")
            self.assertEqual(self.module.detection(False), [f"docs/detection.md: {list_}: trial is missing"])
            self.assertEqual(self.module.detection(True), [])
            with open(self.page, encoding="utf-8") as f:
                row = next(line for line in f if line.startswith("| trial |"))
            self.assertEqual((row.count("|"), "A trial." in row), (columns, True))
            del self.module.KNOWN[list_]["trial"]
            self.assertEqual(self.module.detection(True), [f"docs/detection.md: {list_}: trial: not in {NAMES}"])
            shutil.copy(os.path.join(TOP, self.module.DETECTION), self.page)

    def test_a_factor_without_a_word_is_named(self):
        self.module.KNOWN["FACTORS"]["trial"] = ("", "A trial.")
        self.assertEqual(self.module.detection(True), ["docs/detection.md: nothing about the factor trial"])


if __name__ == "__main__":
    unittest.main()
