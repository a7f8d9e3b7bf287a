# SPDX-License-Identifier: GPL-2.0
"""Reads a recording, the format of docs/recording.md.

Written from that page, not from the controller's reader: the two must agree on what
a file says. Strict: what the page does not name is an error.
"""
from array import array
import re

DIFFERENCE = "afswvgnmxude"	# letters whose value is added to the one before
ABSOLUTE = "tbhlckypqrojSCT"	# what they say is kept, or is of one sample only
KEPT = "afswvgn"		# what the deciders here look at
WORD = re.compile(r"(?!y)([A-Za-z])([+-]?[0-9]+|-)|(?P<y>y)(?P<use>[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*)")
PROC_NEEDED = {"pid", "comm", "born_ns", "begun_ns", "page_shift"}
PROC_KEYS = PROC_NEEDED | {"begun_faults", "exe", "uid", "cgroup", "kind", "history", "known_rise",
                           "known_span_ns"}


class BadSeries(ValueError):
    """What is wrong with a recording, and in which line."""


class Series:
    """What was seen of one process (or group): samples as columns, memory in bytes."""

    def __init__(self, number, words):
        self.number = number
        self.kind = words.get("kind", "process")
        self.pid = int(words["pid"])
        self.comm, self.exe = unescape(words["comm"]), unescape(words.get("exe", words["comm"]))
        self.born_ns, self.begun_ns = int(words["born_ns"]), int(words["begun_ns"])
        self.shift = int(words["page_shift"])
        self.history = words.get("history", "all")
        self.gone_ns = None
        self.time, self.full = array("q"), bytearray()
        self.columns = {letter: array("q") for letter in KEPT}
        self.now = dict.fromkeys(DIFFERENCE, 0)

    def feed(self, time, full):
        if time < self.begun_ns or self.time and time < self.time[-1]:
            raise BadSeries(f"series {self.number}: fed before it began, or before its last sample")
        self.time.append(time)
        self.full.append(full)
        for letter, column in self.columns.items():
            value = self.now[letter]
            column.append(value << self.shift if letter != "n" else value)

    def rss(self):
        c = self.columns
        return array("q", map(sum, zip(c["a"], c["f"], c["s"])))

    def days(self):
        """How long it was watched."""
        return (self.time[-1] - self.time[0]) / 86400e9 if self.time else 0.0


class Recording:
    def __init__(self):
        self.conf = {}
        self.series = []
        self.start = self.end = 0	# ns, of the first and the last pass
        self.begin = None	# ns, when the case was started, if a comment says so
        self.passes = 0
        self.lost = 0

    def begun(self):
        return self.start if self.begin is None else self.begin

    def processes(self):
        return [s for s in self.series if s.kind == "process" and s.time]


def unescape(name):
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), name)


def key_values(words, what):
    pairs = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or key in pairs:
            raise BadSeries(f"{what} has '{word}'")
        pairs[key] = value
    return pairs


class Reader:
    def __init__(self):
        self.recording = Recording()
        self.live = {}		# number: Series
        self.fed = set()	# numbers with a line in this pass
        self.time = 0
        self.full = None	# None: in no pass

    def end_pass(self):
        """Those without a line in a full pass have the values they had."""
        if self.full:
            for number, series in self.live.items():
                if number not in self.fed:
                    series.feed(self.time, True)
        self.fed.clear()
        self.full = None

    def do_pass(self, words):
        if len(words) not in (3, 4) or words[1] not in ("full", "short"):
            raise BadSeries("a pass has a time, full or short, and headroom")
        step = int(words[0])
        if step < 0 or int(words[2]) < 0:
            raise BadSeries("a pass before the last one, or negative headroom")
        self.end_pass()
        self.time += step
        self.full = words[1] == "full"
        if not self.recording.passes:
            self.recording.start = self.time
        self.recording.end = self.time
        self.recording.passes += 1

    def do_proc(self, words):
        number = int(words[0])
        if number in self.live:
            raise BadSeries(f"series {number} has begun already")
        pairs = key_values(words[1:], "proc")
        unknown, missing = pairs.keys() - PROC_KEYS, PROC_NEEDED - pairs.keys()
        if unknown or missing:
            raise BadSeries(f"proc: unknown {sorted(unknown)}, missing {sorted(missing)}")
        series = Series(number, pairs)
        if series.kind not in ("process", "group"):
            raise BadSeries(f"kind {series.kind}")
        self.live[number] = series
        self.recording.series.append(series)

    def do_gone(self, words):
        if words[1:] not in ([], ["why=reset"]) or int(words[0]) not in self.live:
            raise BadSeries("gone takes a series that is there, and why=reset or nothing")
        self.live.pop(int(words[0])).gone_ns = self.time
        self.fed.discard(int(words[0]))

    def sample(self, number, words):
        series = self.live.get(number)
        if not series or self.full is None or number in self.fed:
            raise BadSeries(f"a sample of series {number}, which has not begun, has one in "
                            "this pass, or comes before the first pass")
        time, letters = self.time, set()
        for word in words:
            match = WORD.fullmatch(word)
            letter, value = (match[1] or match["y"], match[2] or match["use"]) if match else ("", "")
            if not match or letter in letters:
                raise BadSeries(f"'{word}' in a sample")
            letters.add(letter)
            if letter in DIFFERENCE:
                if value[0] not in "+-" or value == "-":
                    raise BadSeries(f"'{word}' is no difference")
                series.now[letter] += int(value)
                if series.now[letter] < 0:
                    raise BadSeries(f"'{word}' makes it negative")
            elif letter not in ABSOLUTE or value[0] in "+-" and (letter, value) != ("T", "-"):
                raise BadSeries(f"'{word}' in a sample")
            elif letter == "t":
                time += int(value)
        self.fed.add(number)
        series.feed(time, self.full)

    def comment(self, line):
        """tests/corpus/split writes begin_ns=N into one."""
        match = re.search(r"\bbegin_ns=([0-9]+)", line)
        if match and self.recording.begin is None:
            self.recording.begin = int(match[1])

    def line(self, line):
        words = line.split(" ")
        if "" in words:
            raise BadSeries("two spaces")
        if words[0].isdigit():
            self.sample(int(words[0]), words[1:])
        elif words[0] == "pass":
            self.do_pass(words[1:])
        elif words[0] == "proc":
            self.do_proc(words[1:])
        elif words[0] == "gone":
            self.do_gone(words[1:])
        elif words[0] == "conf":
            self.end_pass()
            self.recording.conf.update(key_values(words[1:], "conf"))
        elif words[0] == "lost" and len(words) == 2:
            self.recording.lost += int(words[1])
        else:
            raise BadSeries(f"what is '{words[0]}'")


def read(lines):
    """A Recording of the lines of a file; BadSeries names what is not as the page says."""
    reader, number = Reader(), 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        try:
            if number == 1:
                if line != "seepage-series 1":
                    raise BadSeries("not a series of format 1")
            elif line[:1] == "#":
                reader.comment(line)
            elif line:
                reader.line(line)
        except (ValueError, KeyError) as error:
            raise BadSeries(f"line {number}: {error}") from error
    if not number:
        raise BadSeries("empty")
    reader.end_pass()
    return reader.recording


def read_file(path):
    with open(path, encoding="ascii") as lines:
        try:
            return read(lines)
        except UnicodeDecodeError as error:
            raise BadSeries(str(error)) from error
        except BadSeries as error:
            raise BadSeries(f"{path}: {error}") from error
