# SPDX-License-Identifier: GPL-2.0
"""docs/netlink/seepage.yaml is what the uapi header says; what either gains, loses or renumbers
is named."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ynl_spec  # noqa: E402

HEADER = ynl_spec.read(ynl_spec.HEADER)
NAMES = ynl_spec.read(ynl_spec.NAMES)
SPEC = ynl_spec.read(ynl_spec.SPEC)


def without(text, line):
    """The text less the one line that matches."""
    less, n = re.subn(rf"^.*{line}.*\n", "", text, flags=re.M)
    if n != 1:
        raise AssertionError(f"{n} lines with {line}")
    return less


def behind(text, line, more):
    longer, n = re.subn(rf"^(.*{line}.*\n)", lambda m: m[1] + more + "\n", text, flags=re.M)
    if n != 1:
        raise AssertionError(f"{n} lines with {line}")
    return longer


def swapped(text, line):
    """The one line that matches, and the next, in the other order."""
    other, n = re.subn(rf"^(.*{line}.*\n)(.*\n)", r"\2\1", text, flags=re.M)
    if n != 1:
        raise AssertionError(f"{n} lines with {line}")
    return other


class Agree(unittest.TestCase):
    def test_header_and_specification_agree(self):
        self.assertEqual(ynl_spec.differences(HEADER, NAMES, SPEC), [])

    def test_numbers_are_those_of_the_compiler(self):
        import yaml
        self.assertEqual(list(ynl_spec.numbers_differ(yaml.safe_load(SPEC), HEADER)), [])
        moved = SPEC.replace("name: cgroup-id\n", "name: cgroup-id\n        value: 77\n")
        self.assertIn("SEEPAGE_A_CGROUP_ID: header",
                      "\n".join(ynl_spec.numbers_differ(yaml.safe_load(moved), HEADER)))


class Header(unittest.TestCase):
    """The header changes, the specification stays."""

    def names(self, header, *wanted):
        lines = "\n".join(ynl_spec.differences(header, NAMES, SPEC))
        for want in wanted:
            self.assertRegex(lines, want)

    def test_a_new_attribute_is_named(self):
        more = "\tSEEPAGE_A_FORGOTTEN_BYTES,\t/* u64, of nothing */"
        self.names(behind(HEADER, "SEEPAGE_A_SWAP_BYTES,", more),
                   "attribute set seepage: forgotten-bytes: missing in the specification",
                   r"attribute set seepage: vsz-bytes: header (\d+): u64, specification (?!\1:)\d+: u64")

    def test_a_new_attribute_without_a_type_is_named(self):
        with self.assertRaisesRegex(ynl_spec.Wrong, "SEEPAGE_A_FORGOTTEN: no type"):
            self.names(behind(HEADER, "SEEPAGE_A_SWAP_BYTES,", "\tSEEPAGE_A_FORGOTTEN,"))

    def test_a_new_attribute_without_a_meaning_is_named(self):
        with self.assertRaisesRegex(ynl_spec.Wrong, "meaning of SEEPAGE_A_FORGOTTEN$"):
            self.names(behind(HEADER, "SEEPAGE_A_SWAP_BYTES,", "\tSEEPAGE_A_FORGOTTEN,\t/* u8 */"))

    def test_a_lost_attribute_is_named(self):
        self.names(without(HEADER, "SEEPAGE_GATE_A_PASSED,"),
                   "attribute set gate-attr: passed: not in the header")

    def test_attributes_that_change_places_are_named(self):
        self.names(swapped(HEADER, "SEEPAGE_FACTOR_A_POINTS,"),
                   "attribute set factor-attr: points: header", "attribute set factor-attr: max-points: header")

    def test_another_type_is_named(self):
        self.names(HEADER.replace("SEEPAGE_A_VSZ_BYTES,\t\t/* u64", "SEEPAGE_A_VSZ_BYTES,\t\t/* u32"),
                   "attribute set seepage: vsz-bytes: header .*u32, specification .*u64")

    def test_a_number_given_by_hand_is_named(self):
        self.names(HEADER.replace("SEEPAGE_A_VSZ_BYTES,", "SEEPAGE_A_VSZ_BYTES = 200,"),
                   "attribute set seepage: vsz-bytes: header 200: u64")

    def test_a_new_word_of_an_enum_is_named(self):
        self.names(behind(HEADER, "SEEPAGE_STATE_RUNAWAY,", "\tSEEPAGE_STATE_FORGOTTEN,"),
                   "enum state: forgotten: missing", "enum state: recovered: header 6, specification 5")

    def test_a_new_counter_and_a_new_key_are_named(self):
        self.names(behind(HEADER, "SEEPAGE_COUNTER_DEATHS,", "\tSEEPAGE_COUNTER_FORGOTTEN,\t/* lost */"),
                   "attribute set counter: forgotten: missing")
        self.names(without(HEADER, "SEEPAGE_CFG_WARMUP_S,"), "attribute set cfg: warmup-s: not in the header")

    def test_a_new_enum_is_named(self):
        self.names(HEADER.replace("#endif /* _UAPI", "enum seepage_new {\n\tSEEPAGE_NEW_ONE,\n};\n\n#endif /* _UAPI"),
                   "enum new: one: missing")

    def test_what_is_declared_in_another_form_is_named(self):
        self.names(HEADER.replace("#endif /* _UAPI", "enum { SEEPAGE_ODD = 9 };\n\n#endif /* _UAPI"),
                   "SEEPAGE_ODD: header 9, specification None")

    def test_members_of_a_struct_are_named(self):
        self.names(behind(HEADER, "enabled_ns;", "\t__u32\tforgotten;"),
                   "struct pmc-value: forgotten: missing", "struct pmc-value: running-ns: header u64, 8 bytes at 20")
        self.names(HEADER.replace("__u32\tdtlb_now;", "__u64\tdtlb_now;"), "struct pmc-baseline: dtlb-now: header")

    def test_a_hole_in_a_struct_is_named(self):
        self.names(HEADER.replace("__u8\tpad[2];", "__u8\tpad[1];"), "struct raw-sample: ")

    def test_commands_and_groups_are_named(self):
        self.names(swapped(HEADER, "SEEPAGE_CMD_GET_STATUS,"),
                   "operation: get-status: header 2, specification 1")
        self.names(without(HEADER, "define SEEPAGE_MCGRP_SAMPLE"), "multicast group: sample: not in the header")

    def test_a_command_without_a_manual_is_named(self):
        with self.assertRaisesRegex(ynl_spec.Wrong, "SEEPAGE_CMD_FORGOTTEN: the manual"):
            self.names(behind(HEADER, "SEEPAGE_CMD_RESET,", "\tSEEPAGE_CMD_FORGOTTEN,\t/* does it */"))

    def test_what_a_request_takes_is_named(self):
        self.names(HEADER.replace("[FILTER_UID] [FILTER_COMM]", "[FILTER_UID]"),
                   "operation get-proc, dump request: filter-comm: not in the header")


class Specification(unittest.TestCase):
    """The specification changes, the header stays."""

    def names(self, spec, *wanted):
        self.assertNotEqual(spec, SPEC)
        lines = "\n".join(ynl_spec.differences(HEADER, NAMES, spec))
        for want in wanted:
            self.assertRegex(lines, want)

    def test_an_attribute_too_many_is_named(self):
        self.names(SPEC.replace("        name: swap-bytes\n",
                                "        name: odd\n        type: u8\n      -\n        name: swap-bytes\n"),
                   "attribute set seepage: odd: not in the header",
                   "attribute set seepage: swap-bytes: header")

    def test_another_number_type_or_word_is_named(self):
        self.names(SPEC.replace("name: cgroup-id\n", "name: cgroup-id\n        value: 77\n"),
                   "attribute set seepage: cgroup-id: header .*, specification 77: u64")
        self.names(SPEC.replace("name: warmup-s\n        type: u32", "name: warmup-s\n        type: u16"),
                   "attribute set cfg: warmup-s: header .*u32, specification .*u16")
        self.names(SPEC.replace("name: runaway", "name: gone-wild"),
                   "enum state: runaway: missing", "enum state: gone-wild: not in the header")

    def test_another_text_is_shown(self):
        self.names(SPEC.replace("doc: page tables", "doc: tables of pages"),
                   r"seepage\.yaml:\d+: 'doc: tables of pages'")


if __name__ == "__main__":
    unittest.main()
