#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Finds what HOUSE's rules for prose refuse, as FILE:LINE: WHAT; exits with 1 if there is any.

usage: prose.py words FILE...       who, whom and whose in the comments of C sources
       prose.py sentences FILE...   sentences of more than 40 words, in Markdown and manual pages

A word is what stands between blanks and has a letter or a digit. A sentence ends at a full stop,
question or exclamation mark, and with its paragraph, item or heading; not at a colon or semicolon.
Words of `code` count. Not looked at: code blocks, tables, synopses, the terms of a list.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import csource  # noqa: E402

LIMIT = 40
WHO = re.compile(r"\b(who|whom|whose)\b", re.I)
ABBREVIATION = re.compile(r"[(\"'“]*(e\.g|i\.e|cf|vs|resp|approx|incl|no|fig)\.\Z", re.I)
STOP = "\x01"		# a full stop that ends no sentence


def who(text):
    """(line, word) of each of the words that comments are to do without."""
    for line, comment in csource.comments(text):
        for m in WHO.finditer(comment):
            yield line + comment.count("\n", 0, m.start()), m.group()


def comment_words(text):
    return sum(len(csource.bare(c).split()) for _, c in csource.comments(text))


def is_word(token):
    return any(c.isalnum() for c in token)


def ends(token, following):
    core = token.rstrip("\"')]*_”’")
    if not core or core[-1] not in ".!?…" or ABBREVIATION.match(core):
        return False
    if core[-1] == "…" or core.endswith("...") or core.lower() == "etc.":
        return is_word(core) and (not following or following[0].isupper())
    return True


def split(block):
    """Sentences of a block [(line, token)]: (line, words)."""
    sentence, found = [], []
    for i, (line, token) in enumerate(block):
        sentence.append((line, token))
        following = block[i + 1][1].lstrip("\"'(*_`") if i + 1 < len(block) else ""
        if ends(token, following) or not following and i + 1 == len(block):
            words = [t.replace(STOP, ".") for _, t in sentence if is_word(t)]
            if words:
                found.append((sentence[0][0], words))
            sentence = []
    return found


def sentences(path, text):
    """(line, words) of each sentence of a file."""
    blocks = markdown(text) if path.endswith(".md") else roff(text)
    return [s for block in blocks for s in split(block)]


def markdown(text):
    def inline(m):
        return re.sub(r"[.!?]", STOP, m.group(1))
    text = re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", "", m.group()), text, flags=re.S)
    blocks, block, fence = [], [], None

    def flush():
        if block:
            first = block[0][0]
            joined = re.sub(r"`+([^`]+)`+", inline, "\n".join(line for _, line in block))
            joined = re.sub(r"!\[[^\]]*\]\([^)]*\)|</?[A-Za-z][^>]*>", "", joined)
            joined = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", joined)
            blocks.append([(first + i, t) for i, line in enumerate(joined.split("\n"))
                           for t in line.split()])
            block.clear()
    for number, line in enumerate(text.split("\n"), 1):
        bare = re.sub(r"^\s*>\s?", "", line)
        mark = re.match(r"\s*(```+|~~~+)", bare)
        if mark or fence:
            flush()
            if mark and (not fence or mark.group(1).startswith(fence)):
                fence = None if fence else mark.group(1)
        elif not bare.strip() or bare.lstrip().startswith("|") or \
                (not block and re.match(r"(    |\t)", bare)):
            flush()
        elif re.match(r"\s*(#+|[-*+]|\d+[.)])\s", bare):
            flush()
            block.append((number, re.sub(r"\s*(#+|[-*+]|\d+[.)])\s", "", bare, count=1)))
            if bare.startswith("#"):
                flush()
        else:
            block.append((number, bare))
    flush()
    return blocks


# Requests of mdoc(7) and man(7) after which something new begins; of most the arguments are no prose.
BREAKS = set("Pp Lp Bl El It Bd Ed Sh Ss Dd Dt Os Nd D1 Dl Rs Re PP P LP TP TQ IP HP RS RE SH SS TH "
             "UR UE MT ME br sp nf fi EX EE TS TE".split())
FONTS = set("B I R BR RB BI IB RI IR SM SB".split())
CALLABLE = set("""Ac An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bx Cd Cm Dc Do Dq Dv Em Er Ev Fa Fl Fn
    Ft Fx Ic In Lb Li Lk Ms Mt Nm No Ns Oc Oo Op Ox Pa Pc Pf Po Pq Qc Ql Qo Qq Sc Sm So Sq St Sx Sy Tn
    Ux Va Vt Xc Xo Xr""".split())
OPEN = {"Po": "(", "Pq": "(", "Oo": "[", "Op": "[", "Dq": '"', "Do": '"', "Qq": '"', "Sq": "'"}
CLOSE = {"Pc": ")", "Oc": "]", "Dc": '"', "Qc": '"'}
VERBATIM = {"nf": "fi", "EX": "EE", "TS": "TE"}


def unescape(text):
    text = re.sub(r"\\f(\[\w*\]|\(..|.)|\\s[-+]?\d|\\[&%/,|^)]", "", text)
    text = re.sub(r"\\\((em|en)|\\\[(em|en)\]", "-", text)
    text = re.sub(r"\\\(..|\\\[\w+\]", "x", text)
    return text.replace(r"\-", "-").replace(r"\e", "\\").replace("\\ ", "_").replace("\\~", "_")


def arguments(line):
    return [a[1:-1] if a[0] == '"' and len(a) > 1 else a
            for a in re.findall(r'"(?:[^"]|"")*"|\S+', line)]


def macro_text(name, args, page):
    """The tokens that a request for a font or a kind of word prints."""
    if name in FONTS:
        joined = (" " if len(name) == 1 or name in ("SM", "SB") else "").join(args)
        return unescape(joined).split()
    out, glue, flag, after, closing = [], False, name == "Fl", "", []

    def put(token):
        nonlocal glue
        alone = not is_word(token)
        if out and (glue or alone and token[0] in ".,:;!?)]"):
            out[-1] += token
        else:
            out.append(token)
        glue = token in "([\"'" and alone
    for word in [name] + args:
        if word in CALLABLE:
            flag = word == "Fl"
            if word == "Nm" and word is name and not [a for a in args if is_word(a)]:
                put(page)
            if word in OPEN:
                put(OPEN[word])
                if word in ("Pq", "Op", "Dq", "Qq", "Sq"):
                    closing.append({"(": ")", "[": "]"}.get(OPEN[word], OPEN[word]))
            elif word in CLOSE:
                put(CLOSE[word])
            elif word in ("Ns", "Ap", "Pf"):
                glue = True
            after = word
            continue
        for token in unescape(word).split():
            if closing and re.match(r"[.,:;!?]+\Z", token):
                put(closing.pop())
            if after == "Xr" and re.match(r"\d\w*\Z", token) and out:
                out[-1] += f"({token})"
            else:
                # A stop inside a name or a literal ends nothing; one of its own does.
                literal = is_word(token) and name != "No"
                put(("-" if flag and is_word(token) else "") +
                    (re.sub(r"[.!?]", STOP, token) if literal else token))
    for mark in closing:
        put(mark)
    return out


def roff(text):
    """Blocks of a manual page, mdoc(7) or man(7)."""
    blocks, block, page = [], [], "it"
    until, lists, skip, tag = None, [], False, False

    def flush():
        if block:
            joined = [block.pop(0)]
            for line, token in block:	# an open bracket belongs to the word after it
                if joined[-1][1] in ("(", "[", '"'):
                    joined[-1] = (joined[-1][0], joined[-1][1] + token)
                else:
                    joined.append((line, token))
            blocks.append(joined)
            block.clear()
    number, lines = 0, text.split("\n")
    while number < len(lines):
        first, line = number + 1, lines[number]
        while line.endswith("\\") and not line.endswith("\\\\") and number + 1 < len(lines):
            number += 1
            line = line[:-1] + " " + lines[number]
        number += 1
        request = re.match(r"[.'][ \t]*(\w+)[ \t]*(.*)", line)
        if re.match(r"[.'][ \t]*(\\\"|$)", line):
            continue
        line = re.sub(r"\\\".*", "", line)
        name, args = (request.group(1), arguments(request.group(2))) if request else (None, [])
        if until:
            until = None if name == until else until
            continue
        if name in VERBATIM:
            flush()
            until = VERBATIM[name]
        elif name == "Bd" and args[:1] and args[0] in ("-literal", "-unfilled"):
            flush()
            until = "Ed"
        elif name in BREAKS:
            flush()
            if name == "Bl":
                lists.append("-column" in args)
            elif name == "El" and lists:
                lists.pop()
            elif name in ("Sh", "SH"):
                skip = " ".join(args) in ("NAME", "SYNOPSIS", "SEE ALSO")
            tag = name in ("TP", "TQ")
        elif skip or any(lists):
            if name == "Nm" and args and is_word(args[0]):
                page = args[0]
        elif tag:
            tag = False
        elif name:
            tokens = macro_text(name, args, page)
            if block and tokens and not is_word(tokens[0]) and tokens[0][0] in ".,:;!?)]":
                block[-1] = (block[-1][0], block[-1][1] + tokens.pop(0))
            block += [(first, t) for t in tokens]
        elif not line.strip():
            flush()
        else:
            block += [(first, t) for t in unescape(line).split()]
    flush()
    return blocks


def long_sentences(path, text, limit=LIMIT):
    return [(line, words) for line, words in sentences(path, text) if len(words) > limit]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("words", "sentences"):
        sys.exit(__doc__.split("\n\n")[1])
    bad = False
    for path in sys.argv[2:]:
        text = csource.read(path)
        if sys.argv[1] == "words":
            hits = [(line, word) for line, word in who(text)]
            lines = text.split("\n")
            found = [f"{path}:{n}: '{word}': {lines[n - 1].strip()}" for n, word in hits]
        else:
            found = [f"{path}:{n}: {len(words)} words: {' '.join(words[:10])} ..."
                     for n, words in long_sentences(path, text)]
        for line in found:
            bad = True
            print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
