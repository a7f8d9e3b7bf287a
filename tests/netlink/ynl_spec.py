#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The YNL specification of the netlink family, docs/netlink/seepage.yaml, and the uapi header.

usage: ynl_spec.py --check     names each difference between the two; exits with 1 if there is one
       ynl_spec.py --write     writes the specification from the header (make ynl)

Names, types and texts come from the header and its comments, ranges and units from names.h, all
numbers and sizes from the compiler. --check reads the specification on its own, with the rules
of the kernel's tools/net/ynl, so that an entry that is missing, new or renumbered on either side
has a line with its name.
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = "docs/netlink/seepage.yaml"
HEADER = "include/uapi/linux/seepage.h"
NAMES = "include/seepage/names.h"
SCALARS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
# Lists of names.h that are not called as the enum with an S.
LISTS = {"cfg": ("CONFIG_NUMBERS", "CONFIG_WORDS")}


class Wrong(Exception):
    """The header says something in a form that is not understood."""


# ---- the header ----

class Entry:
    """An enumerator, a member of a struct or a #define, with the comment behind it."""

    def __init__(self, name, text, ctype="", length=""):
        self.name = name
        self.text = text
        self.ctype = ctype
        self.length = length
        self.number = None


def dashes(name):
    return name.lower().replace("_", "-")


def plain(comment):
    """The text of a comment, in one line."""
    text = re.sub(r"^\s*\*", "", comment.strip().removeprefix("/*").removesuffix("*/"), flags=re.M)
    return " ".join(text.split())


def uncommented(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


class Header:
    """What the header declares: enums, structs and defines, each a dict by name."""

    def __init__(self, text):
        self.text = text
        self.enums, self.structs, self.docs = {}, {}, {}
        before = r"((?:/\*(?:(?!\*/).)*\*/)?)\n"
        for m in re.finditer(before + r"(enum|struct) seepage_(\w+) \{\n(.*?)^\};", text, re.S | re.M):
            comment, kind, name, body = m.groups()
            self.docs[kind, name] = plain(comment)
            if kind == "enum":
                self.enums[name] = self.entries(name, body)
            else:
                self.structs[name] = self.members(body)
        self.defines = {}
        for m in re.finditer(r"^#define (SEEPAGE_\w+)[ \t]+((?:\\\n|.)*)$", text, re.M):
            comment = re.search(r"/\*.*\*/", m[2], re.S)
            entry = Entry(m[1], plain(comment[0]) if comment else "")
            entry.ctype = uncommented(m[2]).replace("\\\n", " ").strip()
            self.defines[m[1]] = entry
        self.measure()

    @staticmethod
    def entries(name, body):
        found = {}
        for m in re.finditer(r"^\s*(\w+)([^,/\n]*),?[ \t]*((?:/\*.*?\*/)?)", uncommented_lines(body), re.M):
            if not m[1].startswith("__") and not m[1].endswith("_MAX"):
                found[m[1]] = Entry(m[1], plain(m[3]))
        if not found:
            raise Wrong(f"enum seepage_{name}: no entries found")
        return found

    @staticmethod
    def members(body):
        found = {}
        for m in re.finditer(r"^\s*(__u\d+|__s\d+|char)\s+([^;]+);[ \t]*((?:/\*.*?\*/)?)", body, re.M | re.S):
            for name in m[2].split(","):
                name, _, length = name.strip().rstrip("]").partition("[")
                found[name] = Entry(name, plain(m[3]), m[1].lstrip("_"), length)
        return found

    def measure(self):
        """Numbers, sizes and offsets, as the compiler has them."""
        numbers = [e for enum in self.enums.values() for e in enum.values()]
        numbers += [e for e in self.defines.values() if not e.ctype.startswith('"')]
        lines = [f'printf("%lld\\n", (long long){e.name});' for e in numbers]
        members = [(s, e) for s, members in self.structs.items() for e in members.values()]
        for struct, e in members:
            of = f"struct seepage_{struct}"
            lines.append(f'printf("%zu %zu\\n", offsetof({of}, {e.name}), sizeof((({of} *)0)->{e.name}));')
        lines += [f'printf("%zu\\n", sizeof(struct seepage_{struct}));' for struct in self.structs]
        got = run_c(self.text, lines)
        for e in numbers:
            e.number = int(got.pop(0))
        for struct, e in members:
            e.number = tuple(int(n) for n in got.pop(0).split())
        self.sizes = {struct: int(got.pop(0)) for struct in self.structs}

    def masks(self):
        """#defines that are one bit each, by what their names begin with."""
        found = {}
        for e in self.defines.values():
            if re.fullmatch(r"\(1U << \d+\)", e.ctype):
                found.setdefault(re.match(r"SEEPAGE_([A-Z]+)_", e.name)[1].lower(), []).append(e)
        return found

    def value(self, name):
        return self.defines[name].ctype.strip('"')


def uncommented_lines(body):
    """Without the comments that have lines of their own."""
    return re.sub(r"^\s*/\*.*?\*/[ \t]*$", "", body, flags=re.S | re.M)


def run_c(header, lines):
    with tempfile.TemporaryDirectory() as where:
        with open(f"{where}/seepage.h", "w", encoding="utf-8") as f:
            f.write(header)
        with open(f"{where}/main.c", "w", encoding="utf-8") as f:
            f.write('#include <stddef.h>\n#include <stdio.h>\n#include "seepage.h"\nint main(void)\n{\n\t'
                    + "\n\t".join(lines) + "\n\treturn 0;\n}\n")
        done = subprocess.run([os.environ.get("CC", "gcc"), "-o", f"{where}/main", f"{where}/main.c"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Wrong(f"{HEADER} does not compile: {done.stderr.splitlines()[0]}")
        return subprocess.run([f"{where}/main"], capture_output=True, text=True,
                              check=True).stdout.splitlines()


def read_names(text):
    """names.h: the arguments of each X(ID, ...), by list and ID."""
    lists = {}
    for m in re.finditer(r"^#define SEEPAGE_(\w+)\(X\)((?:.*\\\n)*.*)", text, re.M):
        rows = re.findall(r'X\(((?:[^()"]|"[^"]*")*)\)', m[2].replace("\\\n", " "))
        rows = [[arg.strip() for arg in re.findall(r'(?:"[^"]*"\s*)+|[^,"]+', row) if arg.strip()]
                for row in rows]
        lists[m[1]] = {row[0]: [re.sub(r'"\s*"', "", arg).strip('"') for arg in row[1:]] for row in rows}
    return lists


def rows_of(names, enum):
    return {k: v for name in LISTS.get(enum, (enum.upper() + "S",)) for k, v in names.get(name, {}).items()}


# ---- the manual at its head: what is in a message ----

class Manual:
    """requests and replies: by command and do, dump or event, the attributes in their order."""

    def __init__(self, text, known):
        self.known = known
        self.groups, self.asked, parts = {}, {}, {}
        manual = text[:text.index("#ifndef")]
        key = None
        for line in manual.splitlines():
            m = re.match(r" \* ([A-Z_]+) +(do|dump|multicast)\b(.*)", line)
            more = re.match(r" \* {6,}(do|dump) +(request:.*)", line)
            tree = re.match(r" \* an? (process|alert): (.*)", line)
            if m:
                key = (m[1], m[2].replace("multicast", "event"))
                parts[key] = m[3]
                group = re.search(r'group "(\w+)":', m[3])
                if group:
                    self.groups[m[1]] = group[1]
                    parts[key] = "reply:" + m[3].split(":", 1)[1]
            elif more and key:
                key = (key[0], more[1])
                parts[key] = more[2]
            elif tree:
                key = tree[1]
                parts[key] = tree[2]
            elif not line.strip(" *"):
                key = None
            elif key:
                parts[key] += " " + line.strip(" *")
        self.trees = {}
        for name in ("process", "alert"):
            self.trees[name] = self.attributes(parts.pop(name))
        for key, part in parts.items():
            request, _, reply = part.partition("reply:")
            self.asked[key] = (self.attributes(request.replace("request:", "")), self.attributes(reply))

    def attributes(self, text):
        """The attributes that it names, up to its first sentence, in the header's order."""
        text = re.split(r"\b[A-Z][a-z]+ ", text)[0]
        while "{" in text:
            text, n = re.subn(r"\{[^{}]*\}(\.\.)?", "", text)
            if not n:
                raise Wrong(f"manual: braces that do not close: {text}")
        found = {word for word in re.findall(r"[A-Z_]+", text) if word in self.known}
        for tree in re.findall(r"\b(?:a|an|the) (process|alert)\b", text):
            found.update(self.trees[tree])
        return [word for word in self.known if word in found]


# ---- from the header to the specification ----

class Specification:
    def __init__(self, header, names):
        self.header = header
        self.names = names
        self.used = {}		# enums that are attribute sets: the type of each attribute
        self.multi = set()	# attributes that nests have any number of
        self.silent = []	# what no comment says anything of

    def document(self):
        h = self.header
        attrs = {name: e for name, e in h.enums.items() if re.search(r"(^|_)attr$", name)}
        for entries in attrs.values():
            for e in entries.values():
                m = re.match(r"nest: type is enum seepage_(\w+), (u32|u64)", e.text)
                if m:
                    self.used[m[1]] = m[2]
                m = re.match(r"nest of SEEPAGE_A_(\w+)", e.text)
                if m:
                    self.multi.add(m[1])
        sets = [set_ for name in attrs for set_ in self.attribute_sets(name)]
        sets += [self.keyed_set(name, of) for name, of in self.used.items()]
        operations = self.operations()
        if self.silent:
            raise Wrong("no comment says the unit or meaning of " + ", ".join(self.silent))
        return {
            "name": h.value("SEEPAGE_GENL_NAME"),
            "protocol": "genetlink-legacy",
            "uapi-header": "linux/seepage.h",
            "c-family-name": "seepage-genl-name",
            "c-version-name": "seepage-genl-version",
            "version": h.defines["SEEPAGE_GENL_VERSION"].number,
            "kernel-policy": "per-op",
            "doc": "Memory leaks of user processes. The head comment of the uapi header is the "
                   "manual: permissions, and which attributes a message may be without.",
            "definitions": self.definitions(attrs),
            "attribute-sets": sets,
            "operations": operations,
            "mcast-groups": {"list": [
                {"name": h.value(name), "c-define-name": dashes(name)}
                for name in h.defines if name.startswith("SEEPAGE_MCGRP_")]},
        }

    def definitions(self, attrs):
        h, out = self.header, []
        masks = h.masks()
        in_masks = {e.name for entries in masks.values() for e in entries}
        for e in h.defines.values():
            composed = any(name in e.ctype for name in h.defines)
            if e.number is not None and e.name not in in_masks and not composed and "VERSION" not in e.name:
                out.append({"name": dashes(e.name.removeprefix("SEEPAGE_")), "type": "const",
                            "value": e.number, "doc": e.text})
        for name, entries in h.enums.items():
            if name in attrs or name in self.used or name == "cmd":
                continue
            prefix = f"SEEPAGE_{name.upper()}_"
            out.append({"name": dashes(name), "type": "enum", "doc": h.docs["enum", name],
                        "enum-name": f"seepage-{dashes(name)}", "name-prefix": dashes(prefix),
                        "entries": numbered(0, [self.enum_entry(name, prefix, e) for e in entries.values()
                                                if e.name != prefix + "UNSPEC"])})
        for name, entries in masks.items():
            prefix = f"SEEPAGE_{name.upper()}_"
            out.append({"name": name, "type": "flags", "enum-name": None, "name-prefix": dashes(prefix),
                        "entries": numbered(0, [
                            ({"name": dashes(e.name.removeprefix(prefix)), "doc": e.text},
                             e.number.bit_length() - 1) for e in entries])})
        for name, members in h.structs.items():
            out.append({"name": dashes(name), "type": "struct", "doc": h.docs["struct", name],
                        "members": [self.member(e) for e in members.values()]})
        return out

    def enum_entry(self, enum, prefix, e):
        short = e.name.removeprefix(prefix)
        row = rows_of(self.names, enum).get(short, [])
        text = e.text or (row[-1] if len(row) > 2 else "")
        if enum in ("factor", "gate") and row:
            text = f"{text} [{row[1]}]"
        return {"name": dashes(short), "doc": text}, e.number

    def member(self, e):
        out = {"name": dashes(e.name), "type": e.ctype, "doc": e.text}
        if e.length:
            out.update(type="binary", len=e.number[1])
        enum = re.search(r"(?<!<< )enum seepage_(\w+)", e.text)
        if enum:
            out["enum"] = dashes(enum[1])
        return out

    def attribute_sets(self, enum):
        short = "" if enum == "attr" else enum.removesuffix("attr")
        prefix = f"SEEPAGE_{short.upper()}A_"
        out, subsets = [], []
        for e in self.header.enums[enum].values():
            if not e.name.startswith(prefix):
                raise Wrong(f"enum seepage_{enum}: {e.name} does not begin with {prefix}")
            name = e.name.removeprefix(prefix)
            if name == "UNSPEC":
                continue
            one = self.attribute(name, e)
            if not short and name in self.multi:
                one["multi-attr"] = True
            out.append((one, e.number))
            m = re.match(r"nest of SEEPAGE_A_(\w+)", e.text)
            if m:
                subsets.append({"name": dashes(name), "subset-of": "seepage",
                                "attributes": [{"name": dashes(m[1])}]})
        return [{"name": dashes(enum) if short else "seepage", "enum-name": f"seepage-{dashes(enum)}",
                 "name-prefix": dashes(prefix), "doc": self.header.docs["enum", enum],
                 "attributes": numbered(1, out)}, *subsets]

    def attribute(self, name, e):
        out = {"name": dashes(name)}
        if name == "PAD":
            return {**out, "type": "pad"}
        for pattern, kind in (
                (r"nest of enum seepage_(\w+)", "nest"), (r"nest of SEEPAGE_A_(\w+)", "list"),
                (r"nest: type is enum seepage_(\w+), u(?:32|64)", "nest"),
                (r"binary: struct seepage_(\w+)\[\], one(?=:|;|,|$)", "struct"),
                (r"binary: struct (seepage_\w+\[\](?:, [^;:]*)?)", "structs"),
                (r"binary: (u32|u64)\[\]", "array"), (r"(string)\b", "string"), (r"(u8|u32|u64|s64)\b", "scalar")):
            m = re.match(pattern, e.text)
            if m:
                break
        else:
            raise Wrong(f"{e.name}: no type in its comment '{e.text}'")
        text = e.text[m.end():].lstrip(",:; ")
        if kind == "nest":
            out |= {"type": "nest", "nested-attributes": dashes(m[1])}
        elif kind == "list":
            out |= {"type": "nest", "nested-attributes": dashes(name)}
        elif kind == "struct":
            out |= {"type": "binary", "struct": dashes(m[1])}
        elif kind == "structs":
            out["type"] = "binary"
            text = f"struct {m[1]}; {text}".rstrip("; ")
        elif kind == "array":
            out |= {"type": "binary", "sub-type": m[1]}
        else:
            out["type"] = m[1]
            out |= self.meaning(text)
        if not text and out["type"] != "nest":
            self.silent.append(e.name)
        if "enum" in out:
            text = re.sub(r"^enum seepage_\w+[,;:]?\s*", "", text)
        return {**out, "doc": text}

    def meaning(self, text):
        """The enum or the range of a scalar."""
        out = {}
        mask = re.match(r"mask of (?:1 << enum seepage_(\w+)|SEEPAGE_(\w+)_\*)", text)
        enum = re.match(r"enum seepage_(\w+)", text)
        most = re.match(r"0 to (\d+)", text)
        if mask:
            out["enum"] = dashes(mask[1] or mask[2])
            if mask[1]:
                out["enum-as-flags"] = True
        elif enum:
            out["enum"] = dashes(enum[1])
        elif most:
            out["checks"] = {"max": int(most[1])}
        return out

    def keyed_set(self, enum, of):
        """An enum whose entries are types of attributes."""
        prefix = f"SEEPAGE_{enum.upper()}_"
        out, rows = [], rows_of(self.names, enum)
        for e in self.header.enums[enum].values():
            short = e.name.removeprefix(prefix)
            if short == "UNSPEC":
                if of == "u64":
                    out.append(({"name": "unspec", "type": "pad"}, e.number))
                continue
            row = rows.get(short, [])
            one = {"name": dashes(short), "type": of, "doc": e.text or (row[-1] if row else "")}
            if short.lower() in self.header.enums:
                one["enum"] = dashes(short)
            elif len(row) == 5:	# names.h: name, default, min, max, text
                one["doc"] += f"; {row[2]} to {row[3]}, {row[1]} unless set"
            if not one["doc"]:
                self.silent.append(e.name)
            out.append((one, e.number))
        return {"name": dashes(enum), "enum-name": f"seepage-{dashes(enum)}", "name-prefix": dashes(prefix),
                "doc": self.header.docs["enum", enum], "attributes": numbered(1, out)}

    def operations(self):
        known = [n.removeprefix("SEEPAGE_A_") for n in self.header.enums["attr"]]
        manual, out, replies = Manual(self.header.text, known), [], {}
        prefix = "SEEPAGE_CMD_"
        for e in self.header.enums["cmd"].values():
            name = e.name.removeprefix(prefix)
            if name == "UNSPEC":
                continue
            if not e.text:
                self.silent.append(e.name)
            op = {"name": dashes(name), "doc": e.text}
            modes = [mode for cmd, mode in manual.asked if cmd == name]
            if not modes:
                raise Wrong(f"{e.name}: the manual at the head of the header does not have it")
            for mode in modes:
                request, reply = ([dashes(a) for a in some] for some in manual.asked[name, mode])
                same = [n for n, had in replies.items() if had == reply]
                if mode == "event" and same:
                    op["notify"] = same[0]
                    op["mcgrp"] = manual.groups[name]
                elif mode == "event":
                    op |= {"attribute-set": "seepage", "event": {"attributes": reply},
                           "mcgrp": manual.groups[name]}
                else:
                    op |= {"attribute-set": "seepage", mode: {}}
                    if request:
                        op[mode]["request"] = {"attributes": request}
                    if reply:
                        op[mode]["reply"] = {"attributes": reply}
                        replies[op["name"]] = reply
            out.append((op, e.number))
        return {"enum-model": "unified", "name-prefix": dashes(prefix), "enum-name": "seepage-cmd",
                "list": numbered(1, out)}


def numbered(first, entries):
    """The kernel's tools count; a number is written where the count is not it."""
    out, due = [], first
    for entry, number in entries:
        if number != due:
            entry = {"name": entry.pop("name"), "value": number, **entry}
        out.append(entry)
        due = number + 1
    return out


# ---- YAML, in the manner of the kernel's specifications ----

def scalar(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    # not what YAML would take for a boolean, a number, a key, a list or a comment
    if re.match(r"[A-Za-z]|\d+ ", value) and not re.search(r": |:$| #", value) and \
            value not in ("on", "off", "yes", "no", "true", "false", "null"):
        return value
    return "'" + value.replace("'", "''") + "'"


def emit(value, indent, out):
    pad = " " * indent
    for key, one in value.items():
        if one == "" or one == []:
            continue
        if isinstance(one, dict):
            out.append(f"{pad}{key}:")
            emit(one, indent + 2, out)
        elif isinstance(one, list) and isinstance(one[0], str):
            out.append(f"{pad}{key}:")
            out += textwrap.wrap(f"[ {', '.join(one)} ]", 100, initial_indent=pad + "  ",
                                 subsequent_indent=pad + "    ", break_on_hyphens=False)
        elif isinstance(one, list):
            out.append(f"{pad}{key}:")
            for item in one:
                if set(item) == {"name"}:
                    out.append(f"{pad}  - name: {scalar(item['name'])}")
                else:
                    out.append(f"{pad}  -")
                    emit(item, indent + 4, out)
        elif key == "doc" and indent + len(scalar(one)) > 95:
            out.append(f"{pad}doc: >-")
            out += textwrap.wrap(one, 100, initial_indent=pad + "  ", subsequent_indent=pad + "  ",
                                 break_on_hyphens=False, break_long_words=False)
        else:
            out.append(f"{pad}{key}: {scalar(one)}".rstrip())


def generate(header, names):
    out = ["# SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note",
           "# From include/uapi/linux/seepage.h and include/seepage/names.h by `make ynl`: do not edit.", "---"]
    document = Specification(header, read_names(names)).document()
    emit(document, 0, out)
    return "\n".join(out) + "\n"


# ---- the two, compared ----

def spec_facts(spec):
    """What a specification says, as the kernel's tools number it: (what, name) -> how."""
    facts = {("family", spec["name"]): f"version {spec.get('version', 1)}"}
    for d in spec["definitions"]:
        if d["type"] == "const":
            facts["constant", d["name"]] = d["value"]
        elif d["type"] == "struct":
            at = 0
            for m in d["members"]:
                size = m["len"] if m["type"] == "binary" else int(m["type"][1:]) // 8
                facts[f"struct {d['name']}", m["name"]] = f"{m['type']}, {size} bytes at {at}"
                at += size
            facts["struct", d["name"]] = f"{at} bytes"
        else:
            for name, number, _ in counted(d["entries"], d.get("value-start", 0)):
                facts[f"{d['type']} {d['name']}", name] = number
    for s in spec["attribute-sets"]:
        subset = "subset-of" in s
        for name, number, a in counted(s["attributes"], 1):
            facts[f"attribute set {s['name']}", name] = f"of {s['subset-of']}" if subset else \
                f"{number}: " + ", ".join(str(a[k]) for k in (
                    "type", "multi-attr", "nested-attributes", "struct", "sub-type", "enum",
                    "enum-as-flags", "checks") if k in a)
    for name, number, op in counted(spec["operations"]["list"], 1):
        facts["operation", name] = number
        for mode in ("do", "dump", "event", "notify", "mcgrp"):
            if mode in op:
                facts[f"operation {name}", mode] = op[mode] if isinstance(op[mode], str) else ""
                for part, has in (op[mode] if isinstance(op[mode], dict) else {}).items():
                    for a in has if part == "attributes" else has.get("attributes", []):
                        facts[f"operation {name}, {mode} {part}", a] = "there"
    for g in spec["mcast-groups"]["list"]:
        facts["multicast group", g["name"]] = g["c-define-name"]
    return facts


def counted(entries, due):
    for e in entries:
        e = {"name": e} if isinstance(e, str) else e
        due = e.get("value", due)
        yield e["name"], due, e
        due += 1


def c_names(spec):
    """What the names of a specification are in C, with their values."""
    def c(*parts):
        return "".join(parts).upper().replace("-", "_")

    found = {}
    for d in spec["definitions"]:
        if d["type"] == "const":
            found[c("seepage-", d["name"])] = d["value"]
        for name, number, _ in counted(d.get("entries", []), d.get("value-start", 0)):
            found[c(d["name-prefix"], name)] = 1 << number if d["type"] == "flags" else number
    for s in [*spec["attribute-sets"], {**spec["operations"], "attributes": spec["operations"]["list"]}]:
        if "subset-of" not in s:
            found |= {c(s["name-prefix"], name): number for name, number, _ in counted(s["attributes"], 1)}
    return found


def numbers_differ(spec, text):
    """Each constant that stands anywhere in the header, whatever it was taken for above."""
    have = c_names(spec)
    code = re.sub(r'^#define \w+\s+"', "", uncommented(text), flags=re.M)
    known = set(re.findall(r"\bSEEPAGE_[A-Z0-9_]+\b", code)) - {"SEEPAGE_RESET_ALL", "SEEPAGE_GENL_VERSION"}
    known = sorted(name for name in known if not re.search(r"_(MAX|UNSPEC)$", name) or name in have)
    numbers = run_c(text, [f'printf("%lld\\n", (long long){name});' for name in known])
    want = dict(zip(known, map(int, numbers)))
    for name in want | have:
        if want.get(name) != have.get(name):
            yield f"{name}: header {want.get(name)}, specification {have.get(name)}"


def sizes_differ(spec, header):
    """The compiler's layout of each struct against that of the specification: no holes."""
    for d in spec["definitions"]:
        struct = d["name"].replace("-", "_")
        if d["type"] != "struct" or struct not in header.structs:
            continue
        at = 0
        for m in d["members"]:
            size = m["len"] if m["type"] == "binary" else int(m["type"][1:]) // 8
            e = header.structs[struct].get(m["name"].replace("-", "_"))
            if e and e.number != (at, size):
                yield f"struct {d['name']}: {m['name']}: header {e.number[1]} bytes at {e.number[0]}, " \
                      f"specification {size} at {at}"
            at += size
        if at != header.sizes[struct]:
            yield f"struct {d['name']}: header {header.sizes[struct]} bytes, specification {at}"


def differences(header, names, text):
    """A line for each difference between the header and the text of a specification."""
    import yaml		# not needed to write
    spec = yaml.safe_load(text)
    header = Header(header)
    wanted = generate(header, names)
    want, have = spec_facts(yaml.safe_load(wanted)), spec_facts(spec)
    lines = []
    for key in want | have:
        where = f"{key[0]}: {key[1]}"
        if key not in have:
            lines.append(f"{where}: missing in the specification")
        elif key not in want:
            lines.append(f"{where}: not in the header")
        elif want[key] != have[key]:
            lines.append(f"{where}: header {want[key]}, specification {have[key]}")
    lines += sizes_differ(spec, header)
    if not lines:
        lines += numbers_differ(spec, header.text)
    if not lines and wanted != text:
        pairs = enumerate(zip(wanted.splitlines(), text.splitlines()), 1)
        at, pair = next(((n, p) for n, p in pairs if p[0] != p[1]), (0, ("its end", "its end")))
        lines.append(f"{SPEC}:{at}: '{pair[1].strip()}', of the header '{pair[0].strip()}'")
    return lines


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def main():
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__)
    try:
        if sys.argv[1] == "--write":
            text = generate(Header(read(HEADER)), read(NAMES))
            with open(os.path.join(TOP, SPEC), "w", encoding="utf-8") as f:
                f.write(text)
            return
        lines = differences(read(HEADER), read(NAMES), read(SPEC))
    except Wrong as e:
        sys.exit(f"{HEADER}: {e}")
    for line in lines:
        print(line)
    if lines:
        sys.exit(f"the header decides: make ynl writes {SPEC} anew")


if __name__ == "__main__":
    main()
