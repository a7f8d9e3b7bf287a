# SPDX-License-Identifier: GPL-2.0
"""What scripts/csource.py sees in C: functions, objects, uses, circles."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")
sys.path.insert(0, SCRIPTS)
import csource  # noqa: E402


def functions(text):
    return [(f.name, f.first, f.last, f.static) for f in csource.Source(text).functions]


def edges(files, headers=None, wide=False):
    g = csource.graph({p: csource.Source(t) for p, t in files.items()},
                      {p: csource.Source(t) for p, t in (headers or {}).items()}, wide)
    return sorted((p, q, *sorted(n)) for p in g for q, n in g[p].items())


class Functions(unittest.TestCase):
    def test_a_function_goes_from_its_head_to_its_brace(self):
        text = "/* { */\nint\nf(int a)\n{\n\tif (a) {\n\t}\n}\n\nstatic void g(void) { }\n"
        self.assertEqual(functions(text), [("f", 2, 7, False), ("g", 9, 9, True)])

    def test_prototypes_tables_structs_and_calls_of_macros_are_none(self):
        text = ("int f(void);\nstruct s { int (*cb)(int); };\nstatic const struct s t[] = { { f } };\n"
                "DEFINE_MUTEX(m);\nMODULE_LICENSE(\"GPL\");\nenum e { A = (1) };\n"
                "int h(void)\n{\n}\n")
        self.assertEqual(functions(text), [("h", 7, 9, False)])

    def test_attributes_do_not_hide_the_name(self):
        text = ("__printf(1, 2) static void f(const char *s, ...)\n{\n}\n"
                "static int g(void) __must_hold(x)\n{\n}\n")
        self.assertEqual([f[0] for f in functions(text)], ["f", "g"])

    def test_braces_of_two_branches_of_if_do_not_swallow_the_rest(self):
        text = ("int f(int a)\n{\n#ifdef X\n\tif (a) {\n#else\n\twhile (a) {\n#endif\n\t}\n}\n"
                "int g(void)\n{\n}\n")
        self.assertEqual([f[0] for f in functions(text)], ["f", "g"])

    def test_a_brace_in_a_literal_or_a_macro_is_none(self):
        text = "#define B {\nint f(void)\n{\n\tputs(\"{\");\n\tputchar('{');\n}\nint g(void)\n{\n}\n"
        self.assertEqual([f[0] for f in functions(text)], ["f", "g"])

    def test_a_macro_call_without_semicolon_does_not_become_a_head(self):
        text = "#define L(w) int w##_n(void) { return 1; }\nL(a)\nL(b)\nint g(void)\n{\n}\n"
        self.assertEqual([f[0] for f in functions(text)], ["g"])
        self.assertEqual(csource.Source(text).functions_defined(), {"a_n", "b_n", "g"})


class Edges(unittest.TestCase):
    def test_calls_and_tables_are_edges_and_statics_are_none(self):
        files = {"a.c": "int f(void)\n{\n\treturn g() + h();\n}\nstatic int h(void)\n{\n}\n",
                 "b.c": "int g(void)\n{\n}\nint h(void)\n{\n}\n",
                 "c.c": "const struct ops o = { .open = g };\n"}
        self.assertEqual(edges(files), [("a.c", "b.c", "g"), ("c.c", "b.c", "g")])

    def test_members_tags_labels_locals_literals_and_comments_are_none(self):
        files = {"b.c": "int g(void)\n{\n}\n",
                 "a.c": ("int f(struct g *p)\n{\n\tp->g(1);\n\tp->x.g = 1;\n\tgoto g;\ng:\n"
                         "\tputs(\"g()\");\t/* g() */\n\treturn 0;\n}\n"
                         "int e(int g)\n{\n\treturn g;\n}\n"
                         "int d(void)\n{\n\tint a = 1, *g = &a;\n\treturn *g;\n}\n"
                         "int c(int (*g)(int))\n{\n\treturn g(1);\n}\n")}
        self.assertEqual(edges(files), [])

    def test_a_product_declares_nothing(self):
        files = {"b.c": "int g(void)\n{\n}\n", "a.c": "int f(int a)\n{\n\tx = a * g;\n}\n"}
        self.assertEqual(edges(files), [("a.c", "b.c", "g")])

    def test_objects_count_in_the_wide_graph_only(self):
        files = {"a.c": "int f(void)\n{\n\treturn x + y + z + this_cpu_read(p);\n}\n",
                 "b.c": "int x;\nstatic int y;\nextern int z;\nDEFINE_PER_CPU(struct s, p);\n"}
        self.assertEqual(edges(files), [])
        self.assertEqual(edges(files, wide=True), [("a.c", "b.c", "p", "x")])

    def test_headers_are_followed_in_the_wide_graph_only(self):
        files = {"a.c": "int f(void)\n{\n\treturn inl() + MAC(1);\n}\n",
                 "b.c": "int g(void)\n{\n}\nint h(void)\n{\n}\n"}
        headers = {"h.h": "static inline int inl(void)\n{\n\treturn g();\n}\n#define MAC(a) h(a)\n"}
        self.assertEqual(edges(files, headers), [])
        self.assertEqual(edges(files, headers, wide=True), [("a.c", "b.c", "g", "h")])

    def test_of_two_functions_of_a_name_the_nearer_is_meant(self):
        one = "int usage(void)\n{\n}\n"
        files = {"x/tools/stat/u.c": one, "x/cmd/u.c": one,
                 "x/cmd/ps.c": "int ps(void)\n{\n\tusage();\n}\n"}
        self.assertEqual(edges(files), [("x/cmd/ps.c", "x/cmd/u.c", "usage")])


class Circles(unittest.TestCase):
    def test_the_largest_comes_first_and_single_files_are_none(self):
        g = {"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1, "d": 1}, "d": {"e": 1}, "e": {"d": 1},
             "f": {"a": 1}}
        self.assertEqual(csource.circles(g), [["a", "b", "c"], ["d", "e"]])

    def test_a_ladder_has_none(self):
        self.assertEqual(csource.circles({"a": {"b": 1, "c": 1}, "b": {"c": 1}, "c": {}}), [])

    def test_the_target_fails_when_a_circle_is_too_large(self):
        with tempfile.TemporaryDirectory() as top:
            def put(path, text):
                os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(top, path), "w", encoding="utf-8") as f:
                    f.write(text)

            def run():
                return subprocess.run([f"{SCRIPTS}/house", "--circle", top], capture_output=True,
                                      text=True, timeout=60)
            put("kmod/detect/a.c", "int a(void)\n{\n\tb();\n}\n")
            put("kmod/b.c", "int b(void)\n{\n\ta();\n}\n")
            put("ctl/cmd/a.c", "int a(void)\n{\n\tb();\n}\n")
            put("ctl/lib/b.c", "int b(void)\n{\n}\n")
            p = run()
            self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
            self.assertIn("kmod: largest circle 2 of 2 files", p.stdout)
            self.assertIn("b.c -> detect/a.c: a (without: 0)", p.stdout)
            put("ctl/lib/b.c", "int b(void)\n{\n\ta();\n}\n")
            p = run()
            self.assertEqual(p.returncode, 1)
            self.assertIn("ctl: a circle of 2 files, allowed are 0", p.stdout)


if __name__ == "__main__":
    unittest.main()
