# SPDX-License-Identifier: GPL-2.0
"""What HOUSE's rules for prose find, and what they leave alone."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")
sys.path.insert(0, SCRIPTS)
import prose  # noqa: E402


def words(n, end="."):
    return " ".join(["word"] * n) + end


def long_in(text, path="README.md"):
    """(line, number of words) of each sentence that is too long."""
    return [(line, len(w)) for line, w in prose.long_sentences(path, text)]


def split(text, path="README.md"):
    return [" ".join(w) for _, w in prose.sentences(path, text)]


def who(text):
    return list(prose.who(text))


class Comments(unittest.TestCase):
    def test_each_of_the_three_words_is_found_with_its_line(self):
        text = "int a;\n/* that is who */\n/*\n * whose\n * or of Whom\n */\n"
        self.assertEqual(who(text), [(2, "who"), (4, "whose"), (5, "Whom")])

    def test_parts_of_other_words_are_not_found(self):
        self.assertEqual(who("/* the whole, whoever; seep_who, who_cares, whosever */"), [])

    def test_a_word_in_a_literal_is_in_no_comment(self):
        self.assertEqual(who('s = "who /* whose */ \\" who"; c = \'"\'; t = "// whom";'), [])

    def test_a_literal_does_not_hide_the_comment_after_it(self):
        self.assertEqual(who('s = "/*"; c = \'"\'; // who\n'), [(1, "who")])

    def test_a_word_in_code_is_in_no_comment(self):
        self.assertEqual(who("int who = whose(1); /* fine */"), [])

    def test_a_line_comment_goes_on_after_a_backslash(self):
        self.assertEqual(who("// one \\\nwho\nint whom;\n"), [(2, "who")])

    def test_comment_words_are_those_between_blanks_without_the_marks(self):
        self.assertEqual(prose.comment_words("/**\n * one two\n * three\n */ x(); // four\n"), 4)

    def test_sources_and_headers_are_read_alike_and_the_status_tells(self):
        with tempfile.TemporaryDirectory() as d:
            for name in ("a.c", "a.h"):
                path = os.path.join(d, name)
                for text, status in (("/* whose */\n", 1), ('char *s = "whose";\n', 0)):
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text)
                    p = subprocess.run([f"{SCRIPTS}/prose.py", "words", path],
                                       capture_output=True, text=True, timeout=60)
                    self.assertEqual(p.returncode, status)
                    self.assertEqual(p.stdout, f"{path}:1: 'whose': /* whose */\n" if status else "")


class Markdown(unittest.TestCase):
    def test_41_words_are_too_many_and_40_are_not(self):
        self.assertEqual(long_in(words(40) + " " + words(40)), [])
        self.assertEqual(long_in(words(41)), [(1, 41)])

    def test_the_line_is_that_of_the_first_word(self):
        self.assertEqual(long_in("# Head\n\nShort one. Then\n" + words(20, "") + "\n" + words(20)),
                         [(3, 41)])

    def test_paragraphs_items_and_headings_end_a_sentence(self):
        self.assertEqual(long_in(words(30, "") + "\n\n" + words(30, "")), [])
        self.assertEqual(long_in("- " + words(30, "") + "\n- " + words(30, "")), [])
        self.assertEqual(long_in("1. " + words(30, "") + "\n2. " + words(30, "")), [])
        self.assertEqual(long_in("# " + words(30, "") + "\n" + words(30, "")), [])

    def test_an_item_goes_on_in_the_next_line(self):
        self.assertEqual(long_in("- " + words(30, "") + "\n  " + words(30)), [(1, 60)])

    def test_a_colon_or_semicolon_ends_no_sentence(self):
        self.assertEqual(long_in(words(20, ":") + " " + words(20, ";") + " " + words(1)), [(1, 41)])

    def test_code_blocks_and_tables_are_not_looked_at(self):
        self.assertEqual(long_in("```\n" + words(50) + "\n```\n| " + words(50) + " |\n\n    " +
                                 words(50)), [])

    def test_text_after_a_code_block_is_looked_at(self):
        self.assertEqual(long_in("```\nx\n```\n" + words(41)), [(4, 41)])

    def test_a_stop_in_a_name_a_number_or_code_ends_nothing(self):
        self.assertEqual(split("See detect.c, v6.1 and `a. b` of 3.5 MB. Then go."),
                         ["See detect.c, v6.1 and `a. b` of 3.5 MB.".replace("`", ""), "Then go."])

    def test_abbreviations_and_dots_end_nothing(self):
        self.assertEqual(len(split("One, e.g. this (i.e. that), etc. and 10 s ... 20 s. Two.")), 2)

    def test_a_closing_mark_after_the_stop_belongs_to_the_sentence(self):
        self.assertEqual(len(split("(One.) **Two.** \"Three!\" Four?")), 4)

    def test_addresses_of_links_and_pictures_are_no_words(self):
        self.assertEqual(split("A [link here](http://a.b/c d) ends.\n\n![picture](p.svg)"),
                         ["A link here ends."])

    def test_marks_alone_are_no_words(self):
        self.assertEqual(long_in(words(20, "") + " — & | - " + words(20)), [])


class Manual(unittest.TestCase):
    def page(self, text):
        return ".Dd x\n.Sh NAME\n.Nm seepage\n.Nd d\n.Sh DESCRIPTION\n" + text

    def test_41_words_over_several_lines_are_too_many(self):
        text = self.page(words(20, "") + "\n" + words(20, "") + "\n")
        self.assertEqual(long_in(text + "end.\n", "a.8"), [(6, 41)])
        self.assertEqual(long_in(text + ".Pp\nend.\n", "a.8"), [])

    def test_macros_are_stripped_and_what_they_print_counts(self):
        text = self.page("The\n.Nm\nprogram reads\n.Ar file\nand\n.Fl j , Fl -json .\nNext is\n"
                         ".Xr ps 1 .\n.\\\" a comment\n")
        self.assertEqual(split(text, "a.8"),
                         ["The seepage program reads file and -j, --json.", "Next is ps(1)."])

    def test_a_macro_in_the_middle_does_not_cut_a_sentence(self):
        self.assertEqual(long_in(self.page(words(20, "") + "\n.Cm on\n" + words(20) + "\n"), "a.8"),
                         [(6, 41)])

    def test_a_stop_on_a_line_of_a_macro_ends_the_sentence(self):
        text = self.page(words(30, "") + "\n.Pq Sx USE .\n" + words(30) + "\n")
        self.assertEqual(long_in(text, "a.8"), [])

    def test_a_stop_inside_a_name_ends_nothing(self):
        text = self.page(words(30, "") + "\n.Pa memory.max .\n" + words(9) + "\n")
        self.assertEqual(len(split(text, "a.8")), 2)
        self.assertEqual(len(split(self.page("Reads\n.Pa a.\nnow.\n"), "a.8")), 1)

    def test_a_stop_after_a_closing_bracket_ends_the_sentence(self):
        text = self.page("One\n.Po\nas\n.Sx Use\nsays\n.Pc .\nTwo.\n")
        self.assertEqual(split(text, "a.8"), ["One (as Use says).", "Two."])

    def test_displays_columns_terms_and_synopsis_are_not_looked_at(self):
        many = words(50)
        for text in (f".Bd -literal -offset indent\n{many}\n.Ed\n",
                     f".Bl -column a b\n.It x Ta {many}\n{many}\n.El\n",
                     f".Bl -tag -width Ds\n.It Cm {many}\nshort.\n.El\n",
                     f".Sh SYNOPSIS\n{many}\n"):
            self.assertEqual(long_in(self.page(text), "a.8"), [], text)

    def test_text_after_them_is_looked_at(self):
        many = words(50)
        for text in (f".Bd -literal\nx\n.Ed\n{many}\n", f".Bl -column a b\n.It x\n.El\n{many}\n",
                     f".Bl -tag\n.It x\n{many}\n.El\n", f".Sh SYNOPSIS\nx\n.Sh EXAMPLES\n{many}\n"):
            self.assertEqual([n for _, n in long_in(self.page(text), "a.8")], [50], text)

    def test_pages_in_man_macros_are_read_too(self):
        text = (".TH X 8\n.SH DESCRIPTION\nThe \\fBbold\\fR word\\-pair of\n.BR seepage (8),\n"
                ".I and more.\n.TP\n.B \\-x\nWhat it does.\n.nf\nno prose here\n.fi\n")
        self.assertEqual(split(text, "a.8"),
                         ["The bold word-pair of seepage(8), and more.", "What it does."])


class RandomComments(unittest.TestCase):
    def test_it_repeats_by_its_seed_and_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(os.path.join(d, "sub"))
            with open(os.path.join(d, "sub", "a.c"), "w", encoding="utf-8") as f:
                f.write("// SPDX-License-Identifier: GPL-2.0 is no text\n/* too short */\n" +
                        "".join(f"/* comment of number\n * {i} */\n" for i in range(100)))

            def run(*args):
                return subprocess.run([f"{SCRIPTS}/random-comments", *args, d], check=True,
                                      capture_output=True, text=True, timeout=60).stdout
            once = run("-s", "7", "5")
            self.assertEqual(once, run("-s", "7", "5"))
            self.assertNotEqual(once, run("-s", "8", "5"))
            found = re.findall(r"/sub/a\.c:(\d+):\n    comment of number (\d+)\n", once)
            self.assertEqual(len(found), 5)
            self.assertTrue(all(int(line) == 3 + 2 * int(i) for line, i in found), found)
            self.assertEqual(run("1000").count("comment of number"), 100)


class Repository(unittest.TestCase):
    def test_the_manual_has_sentences(self):
        """A parser that reads nothing finds nothing."""
        docs = os.path.join(SCRIPTS, "../docs/man")
        pages = [f for f in os.listdir(docs) if f.endswith(".8")]
        sentences = 0
        for f in pages:
            with open(os.path.join(docs, f), encoding="utf-8") as page:
                found = len(split(page.read(), f))
                self.assertGreater(found, 0, f)
                sentences += found
        self.assertGreater(sentences, 300)


if __name__ == "__main__":
    unittest.main()
