# SPDX-License-Identifier: GPL-2.0
"""The corpus: what there is to judge, and the truth about it."""
from dataclasses import dataclass, field
from pathlib import Path
import re
import shlex

TRUTHS = ("benign", "leak")
HALVES = ("tuning", "frozen")
SERIES = ("anon", "shmem", "vsz", "pgtables", "group", "swap", "-")


@dataclass
class Case:
    name: str
    half: str
    truth: str
    family: str
    series: str			# which one grows
    rate: float			# MB an hour, after the onset
    culprit: str		# name of the processes that leak; "": all
    onset: float		# seconds after the case was started
    limits: list		# MB
    simulated: bool
    limited: bool = True	# the limits are real: memory, or set on the process
    recordings: dict = field(default_factory=dict)	# seed: path

    @property
    def leak(self):
        return self.truth == "leak"


class BadCase(ValueError):
    """What is wrong with a case."""


def one_of(pairs, key, allowed):
    if pairs.get(key) not in allowed:
        raise BadCase(f"{key} is '{pairs.get(key)}', allowed: {' '.join(allowed)}")
    return pairs[key]


def parse(name, text):
    """A Case of the lines KEY=VALUE, quoted as in a shell."""
    pairs = {}
    for word in shlex.split(text, comments=True):
        key, sign, value = word.partition("=")
        if not sign or not re.fullmatch("[a-z_]+", key) or key in pairs:
            raise BadCase(f"'{word}'")
        pairs[key] = value
    truth = one_of(pairs, "truth", TRUTHS)
    limits = [int(mb) for mb in pairs.get("limits", "").split()]
    rate = pairs.get("rate_mb_h", "-")
    case = Case(name, one_of(pairs, "half", HALVES), truth, pairs.get("family", "-"),
                one_of({"series": "-", **pairs}, "series", SERIES),
                0.0 if rate in ("", "-") else float(rate), pairs.get("culprit", ""),
                float(pairs.get("onset_s", 0) or 0), limits, "SIMULATION" in text,
                one_of({"limited": "1", **pairs}, "limited", ("0", "1")) == "1")
    if not limits or min(limits) <= 0:
        raise BadCase("no limits")
    if case.leak and case.rate <= 0:
        raise BadCase("a leak without its rate")
    return case


def find(places):
    """The cases below the directories, by name; their recordings may be in any of them.

    A case is NAME/case or NAME.case; its recordings NAME/series.SEED or
    NAME.SEED.series.
    """
    found = {}
    for place in map(Path, places):
        for path in sorted([*place.glob("*/case"), *place.glob("*.case")]):
            name = path.parent.name if path.name == "case" else path.stem
            if name in found:
                raise BadCase(f"{path}: there is another case {name}")
            try:
                found[name] = parse(name, path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise BadCase(f"{path}: {error}") from error
    for place in map(Path, places):
        for path in sorted([*place.glob("*/series.*"), *place.glob("*.series")]):
            if path.suffix == ".series":
                name, _, seed = path.stem.rpartition(".")
            else:
                name, seed = path.parent.name, path.suffix[1:]
            if name in found and seed.isdigit():
                found[name].recordings.setdefault(int(seed), path)
    return found
