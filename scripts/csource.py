# SPDX-License-Identifier: GPL-2.0
"""Reads C sources without a compiler: comments, functions, and which file uses which.

Every branch of #if is read, so that the answer is the same for each configuration. Code in
kernel style is expected: a '}' in the first column ends whatever was open.
"""
import os
import re
import subprocess

LEXEME = re.compile(r"""
    (?P<comment> /\*.*?\*/ | //(?:\\\n|[^\n])* )
  | (?P<string> "(?:\\.|[^"\\\n])*" )
  | (?P<char> '(?:\\.|[^'\\\n])+' )
""", re.X | re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d[\w.]*|->|\.\.\.|\#\#|==|<=|>=|!=|\S")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)", re.S)
NAME = re.compile(r"[A-Za-z_]\w*\Z")
# Words between which and a name no declaration is meant.
NO_TYPE = set("return else case goto sizeof do if while for switch typeof break continue".split())
KEYWORDS = NO_TYPE | set("""struct union enum const volatile static extern inline typedef register
    unsigned signed int char long short void float double default""".split())
ATTRIBUTE = re.compile(r"__\w+\Z|____\w+\Z|asm\Z")


def find(where, *ends):
    """Files below a folder, those of the compat headers and of tests left out."""
    found = []
    for folder, names, files in os.walk(where):
        names[:] = sorted(n for n in names if n not in ("compat", "build"))
        found += [os.path.join(folder, f) for f in sorted(files)
                  if f.endswith(ends) and not f.endswith(".mod.c")]
    return found


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def comments(text):
    """(line, text) of each comment. A word in a literal is in no comment."""
    return [(text.count("\n", 0, m.start()) + 1, m.group())
            for m in LEXEME.finditer(text) if m.lastgroup == "comment"]


def bare(comment):
    """A comment without its marks, line by line, as many lines as before."""
    comment = re.sub(r"\A/\*+|\*+/\Z", "", comment) if comment.startswith("/*") \
        else re.sub(r"^\s*//+", "", comment, flags=re.M)
    return re.sub(r"^[ \t]*\*+", "", comment, flags=re.M)


def code_of(text):
    """The text with its comments blank and its literals emptied; every line stays where it is."""
    def replace(m):
        if m.lastgroup == "comment":
            return blank(m.group())
        return '"' + " " * (len(m.group()) - 2) + '"' if m.lastgroup == "string" else \
            "0" + " " * (len(m.group()) - 1)
    return LEXEME.sub(replace, text)


class Function:
    def __init__(self, name, first, last, head, body):
        self.name, self.first, self.last = name, first, last
        self.head, self.body = head, body	# tokens
        self.lines = last - first + 1
        self.static = "static" in head


class Source:
    """What a file defines (functions, objects, macros) and which names each of them uses."""

    def __init__(self, text):
        code = code_of(text)
        self.functions = []
        self.objects = {}		# name -> whether it is static
        self.macros = {}		# name -> names in its body
        self.pasted = {}		# name -> [(parameter, before, after, static)]: functions it defines
        self.made = set()		# the objects that are functions, made by a macro of this file
        self.loose = []			# tokens of what is no function: initializers, macro calls
        for m in DIRECTIVE.finditer(code):
            self._directive(m.group())
        self._scan(DIRECTIVE.sub(lambda m: blank(m.group()), code))

    def _directive(self, line):
        define = DEFINE.match(line)
        if define:
            name, arguments, body = define.groups()
            own = re.findall(r"\w+", arguments or "")
            tokens = [t for t in TOKEN.findall(body) if t != "\\"]
            self.macros.setdefault(name, set()).update(names(tokens) - set(own))
            for m in re.finditer(r"(\w+) ## (\w+) \(", " ".join(tokens)):
                before, after = m.groups()
                if before in own:
                    self._paste(name, own.index(before), "", after, "static" in tokens)
                elif after in own:
                    self._paste(name, own.index(after), before, "", "static" in tokens)

    def _paste(self, macro, *what):
        self.pasted.setdefault(macro, []).append(what)

    def _scan(self, code):
        depth = parens = 0
        head, body, first, opened = [], [], None, None
        line, last = 1, 0
        for m in TOKEN.finditer(code):
            line += code.count("\n", last, m.start())
            last = m.start()
            column = m.start() - code.rfind("\n", 0, m.start()) - 1
            t = m.group()
            if t == "}" and column == 0:
                depth, parens = (1, 0) if depth else (0, 0)
            if depth == 0 and parens == 0 and head[1:2] == ["("] and NAME.match(t):
                self._macro_call(head, False)	# a macro call without a semicolon
                head, body, first = [], [], None
            if t in "()":
                parens += 1 if t == "(" else -1
            if depth == 0:
                first = first or line
                if t == ";" and parens <= 0:
                    self._declare(head, body)
                    head, body, first, parens = [], [], None, 0
                elif t == "{":
                    depth, opened, parens = 1, list(head), 0
                    body.append(t)
                elif t != "}":
                    (body if "=" in head else head).append(t)
                    if t == "=":
                        head = head if "=" in head else head + [t]
                continue
            body.append(t)
            depth += (t == "{") - (t == "}")
            if depth == 0 and is_function(opened):
                self._function(opened, body, first, line)
                head, body, first = [], [], None

    def _function(self, head, body, first, last):
        name = function_name(head)
        if name:
            self.functions.append(Function(name, first, last, head, body))
        else:
            self.loose += body

    def _declare(self, head, body):
        self.loose += body
        if not head or head[0] in ("typedef",) or "extern" in head:
            return
        static = "static" in head
        plain = [t for t in head if t not in ("static", "const")]
        if "=" in plain:
            plain = plain[:plain.index("=")]
        if len(plain) > 2 and plain[1] == "(" and NAME.match(plain[0]):
            self._macro_call(plain, static)
        elif "(" in plain:
            pointer = re.search(r"\( \* (?:const )?(\w+)", " ".join(plain))
            if pointer:
                self.objects[pointer.group(1)] = static
        else:
            words = [t for t in " ".join(plain).split(",")[0].split("[")[0].split()
                     if NAME.match(t) and t not in KEYWORDS and not ATTRIBUTE.match(t)]
            many = len(words) > 1 or (words and set(plain) & KEYWORDS - {"struct", "union", "enum"})
            if many or (words and body and "=" in head):
                self.objects[words[-1]] = static

    def _macro_call(self, head, static):
        """DEFINE_PER_CPU(type, name), DEFINE_MUTEX(name), LIST_HEAD(name)"""
        arguments = " ".join(head[2:]).rsplit(")", 1)[0].split(",")
        for i, before, after, own in self.pasted.get(head[0], ()):
            if i < len(arguments):
                made = before + arguments[i].strip() + after
                self.objects[made] = static or own
                self.made.add(made)
        if re.match(r"(DEFINE|LIST_HEAD|HLIST_HEAD|DECLARE)", head[0]):
            words = (arguments[1] if "PER_CPU" in head[0] and len(arguments) > 1 else
                     arguments[0]).split()
            if words and NAME.match(words[-1]):
                self.objects[words[-1]] = static
        self.loose += head

    def defined(self, static):
        return {f.name for f in self.functions if f.static == static} | \
            {o for o, s in self.objects.items() if s == static}

    def functions_defined(self):
        return {f.name for f in self.functions if not f.static} | \
            {o for o in self.made if not self.objects[o]}

    def used(self):
        """Every name that the file uses and that is no member, label, tag or local variable."""
        found = names(self.loose)
        for used in self.macros.values():
            found |= used
        for f in self.functions:
            found |= names(f.body) - locals_of(f)
        return found


def is_function(head):
    return bool(head) and "(" in head and "=" not in head and head[0] not in ("typedef",) and \
        function_name(head) is not None


def function_name(head):
    """The name before the parameters; attributes with arguments are passed over."""
    depth = 0
    for i, t in enumerate(head):
        if t == "(" and depth == 0 and i and NAME.match(head[i - 1]) and \
                not re.match(r"__\w+\Z|noinline|typeof", head[i - 1]):
            return head[i - 1]
        depth += (t == "(") - (t == ")")
    # A name may begin with two underscores as well.
    for i, t in enumerate(head):
        if t == "(" and i and NAME.match(head[i - 1]) and not head[i - 1].startswith("__attribute"):
            return head[i - 1]
    return None


def names(tokens):
    """Identifiers in tokens, without members, struct tags, labels and keywords."""
    found = set()
    for i, t in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        if not NAME.match(t) or t in KEYWORDS or before in ("->", ".", "struct", "union", "enum", "goto"):
            continue
        if before in (";", "{", "}") and tokens[i + 1:i + 2] == [":"]:
            continue
        found.add(t)
    return found


def locals_of(function):
    """Names of parameters and local variables. Not exact: a declaration begins a statement."""
    found = set()
    for tokens in (function.head[function.head.index("("):], function.body):
        for i, t in enumerate(tokens):
            if not NAME.match(t) or t in KEYWORDS or i < 1:
                continue
            j = i - 1
            while j > 0 and (tokens[j] == "*" or tokens[j] == "const"):
                j -= 1
            type_word = tokens[j]
            if not NAME.match(type_word) or type_word in NO_TYPE or \
                    type_word in ("struct", "union", "enum"):
                continue
            following = tokens[i + 1] if i + 1 < len(tokens) else ""
            if following not in ("=", ";", ",", ")", "[", ":"):
                continue
            if j != i - 1 and tokens is function.body and not begins(tokens, j):
                continue
            found.add(t)
            found |= declarators(tokens, i + 1)
        for m in re.finditer(r"\( \* (?:const )?(\w+) (?:\[ \w* \] )?\) \(", " ".join(tokens)):
            found.add(m.group(1))		# a pointer to a function
    return found


def begins(tokens, j):
    """Whether the type at j stands where a declaration may: 'a * b' after '=' is a product."""
    while j >= 0 and (NAME.match(tokens[j]) and tokens[j] not in NO_TYPE):
        j -= 1
    return j < 0 or tokens[j] in (";", "{", "}") or tokens[j - 1:j + 1] == ["for", "("] or \
        tokens[j] == ":"


def declarators(tokens, i):
    """The other names of 'int a = f(x), *b, c[2];'"""
    found, depth = set(), 0
    while i < len(tokens) and not (depth == 0 and tokens[i] in (";", ")", "{")):
        t = tokens[i]
        depth += (t in "([{") - (t in ")]}")
        if depth < 0:
            break
        if depth == 0 and t == ",":
            k = i + 1
            while k < len(tokens) and tokens[k] == "*":
                k += 1
            if tokens[k + 1:k + 2] and tokens[k + 1] in ("=", ";", ",", "[", ":"):
                found.add(tokens[k])
            else:
                break
        i += 1
    return found


def near(a, b):
    """How many folders two paths begin with alike."""
    return len(os.path.commonpath([os.path.dirname(a), os.path.dirname(b)]))


def graph(sources, headers, wide=False):
    """{file: {file: names}}: who uses which function that another .c file defines.

    sources and headers: path -> Source. A table that names a function uses it; a call through a
    pointer is no edge. Not seen are functions that macros with '##' of another file make.
    wide: objects count like functions, and a file uses what the macros and inline functions of
    headers use that it names. That is what the linker sees, every #if taken.
    """
    owners = {}
    for path, s in sources.items():
        for name in s.defined(static=False) if wide else s.functions_defined():
            owners.setdefault(name, []).append(path)
    through = {}
    for s in headers.values() if wide else ():
        for name, used in s.macros.items():
            through.setdefault(name, set()).update(used)
        for f in s.functions:
            through.setdefault(f.name, set()).update(names(f.body) - locals_of(f))
    edges = {path: {} for path in sources}
    for path, s in sources.items():
        own = s.defined(static=True) | s.defined(static=False)
        waiting, seen = list(s.used()), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name in own:
                continue
            seen.add(name)
            if name not in owners:
                waiting += through.get(name, ())
                continue
            # Programs may have functions of one name: the one meant is the one nearby.
            closest = max(near(path, o) for o in owners[name])
            for o in owners[name]:
                if near(path, o) == closest:
                    edges[path].setdefault(o, set()).add(name)
    return edges


def graph_of_objects(sources, where, build):
    """The wide graph of one configuration, from the objects of a build: what nm says."""
    owners, wanted, objects = {}, {}, {}
    for path in sources:
        o = os.path.join(build, os.path.relpath(path, where))[:-2] + ".o"
        if os.path.exists(o):
            objects[path] = o
    for path, o in objects.items():
        out = subprocess.run(["nm", "-gP", o], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            name, kind = line.split()[:2]
            if kind in "Uwv":
                wanted.setdefault(path, set()).add(name)
            else:
                owners[name] = path
    edges = {path: {} for path in objects}
    for path, used in wanted.items():
        for name in used:
            if owners.get(name, path) != path:
                edges[path].setdefault(owners[name], set()).add(name)
    return edges


def circles(edges):
    """The strongly connected components of more than one file, the largest first (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
                on.discard(part[-1])
            if len(part) > 1:
                found.append(sorted(part))
    for v in sorted(edges):
        if v not in index:
            visit(v)
    return sorted(found, key=lambda part: (-len(part), part))
