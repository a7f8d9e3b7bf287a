#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the cost board of what was measured.

usage: tests/bench/board.py FIGURES... JSON
FIGURES hold lines "fig KEY VALUE" and "cannot KEY REASON". The board is printed
and written to JSON. Exits with 1 if a budget is exceeded, a figure that has a
budget is missing, or a peer has neither figure nor reason.
"""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scale"))
import budgets  # noqa: E402, of a large machine

CLOCK = "guest instructions (not cycles), 1 ns of the counting clock each"
ALL = 8192

# (key, label, limit); what has no limit is a peer or for information. A limit that is a
# key is that peer's figure.
SECTIONS = [
    ("fault_added_instructions", "added per user page fault", [
        ("nothing", "nothing (the baseline, once more)", None),
        ("empty_probe", "empty tracepoint handler", None),
        ("seepage_tracepoint", "seepage, hook=tracepoint", 30),
        ("seepage_software", "seepage, hook=software", None),
        ("bpf_hash", "eBPF raw tracepoint, count in a hash", None),
        ("bpf_percpu", "eBPF raw tracepoint, count in a per-CPU hash", None),
        ("bpf_detector", "eBPF raw tracepoint, detector", None),
        ("bpf_detector_tp", "eBPF tracepoint, detector", None),
        ("perf_stat", "perf stat -a, the tracepoint", None),
        ("perf_record", "perf record -a -c 1 -e page-faults", None),
        ("bpftrace_count", "bpftrace, count by pid", None),
        ("bpftrace_script", "bpftrace, monitoring script", None),
        ("systemtap", "SystemTap, count by pid", None),
        ("seepage_in_turn", "seepage, two faulting in turn", 90),
    ]),
    ("switch_added_instructions", "added per context switch", [
        ("nothing", "nothing (the baseline, once more)", None),
        # Not hooked: what is left is what differs from one load to the next.
        ("seepage", "seepage (budget 0, which the clock tells to +-10)", 10),
        ("perf_stat", "perf stat -a -e context-switches", None),
    ]),
    ("pmc_switch_added_instructions", "added per context switch, hardware counters on", [
        ("nothing", "nothing (the baseline, once more)", None),
        ("off", "seepage, pmc=off (not hooked)", 10),
        ("one", "seepage, per process, 1 event", None),
        ("four", "seepage, per process, 4 events", 400),
        ("perf_stat_per_thread", "perf stat --per-thread -p, the same 4", None),
        ("perf_stat_command", "perf stat COMMAND, the same 4, one sum", None),
        ("perf_stat_all", "perf stat -a, the same 4, one sum (reads nothing)", None),
    ]),
    ("pmc_pipe_added_instructions", "added per perf bench sched pipe, two switches", [
        ("seepage", "seepage, per process, 4 events", None),
        ("perf_stat_all", "perf stat -a, the same 4, one sum", None),
    ]),
    ("pmc_messaging_added_instructions", "added per message of perf bench sched messaging", [
        ("seepage", "seepage, per process, 4 events", None),
        ("perf_stat_all", "perf stat -a, the same 4, one sum", None),
    ]),
    ("pass_instructions_per_process", "per process and full pass", [
        ("idle", "seepage, idle, of 8192 in the table", 400),
        ("growing", "seepage, growing, under watch", 3000),
        ("growing_short", "seepage, growing, short pass", 3000),
        ("statm", "C program reading /proc/PID/statm", None),
        ("ps", "ps -e -o pid,rss,vsz,stat,comm", None),
        ("pidstat", "pidstat -r -p ALL", None),
    ]),
    ("pass_instructions", "per full pass", [
        ("all_8192", "seepage, 8192 idle processes", 400 * ALL),
    ]),
    ("dump_instructions_per_record", "per dumped record", [
        ("kernel", "seepage's dump, without its reader", 5000),
        ("seepage_ps", "seepage ps, kernel and user space", None),
        ("seepage_json", "seepage -j ps, with exe and cgroup from /proc", None),
        ("record", "seepage record, a full pass of an idle process", None),
        ("ps", "ps -e -o pid,rss,vsz,stat,comm", None),
    ]),
    ("memory_bytes", "memory", [
        ("record", "one record, bytes", 2048),
        ("per_process", "per further process, bytes", 2048),
        ("all_8192", "with 8192 processes, bytes", 16 << 20),
        ("bpf_detector_map", "eBPF detector, its hash of 8192, bytes", None),
    ]),
    ("size_bytes", "sizes", [
        ("module_core", "module, code + data, bytes", 96 << 10),
        ("module", "the same with the tables of the kernel's configuration", None),
        ("controller", "controller, stripped, bytes", 108 << 10),
    ]),
]


def read(paths):
    figures, reasons = {}, {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                word = line.rstrip("\n").split(" ", 2)
                if len(word) == 3 and word[0] == "fig":
                    figures[word[1]] = float(word[2])
                elif len(word) == 3 and word[0] == "cannot":
                    reasons[word[1]] = word[2].strip()
    return figures, reasons


def by_number(figures, prefix):
    """The curve of what was measured with so many: [[n, value], ...]."""
    return sorted([int(key[len(prefix) + 1:]), value] for key, value in figures.items()
                  if key.startswith(prefix + "."))


def rates_of_cpus(figures):
    """[[faults a second, added], ...] where some CPUs do nothing but fault, each of 10^9
    instructions a second as with the counting clock, which itself has but one."""
    added = by_number(figures, "fault_added_cpus")
    return [[round(cpus * 1e9 / (figures[f"fault_base_cpus.{cpus}"] + value)), value]
            for cpus, value in added]


def slope(curve):
    """Per one more, between the least and the most."""
    (n0, v0), (n1, v1) = curve[0], curve[-1]
    return (v1 - v0) / (n1 - n0)


def scanned(figures, what):
    """Per process of user space: over the processes that there were, not over
    those in the table."""
    count = dict(by_number(figures, "scan.processes"))
    return slope([[count[n], v] for n, v in by_number(figures, "scan." + what)])


def limit_of(board, section, limit):
    """A limit that is a key is a peer's figure; without that figure nothing is within."""
    return board[section].get(limit, 0) if isinstance(limit, str) else limit


def collect(figures, reasons):
    passes = by_number(figures, "pass")
    dumps = by_number(figures, "dump")
    memory = by_number(figures, "memory_bytes")
    board = {key: {} for key, _, _ in SECTIONS}
    board["fault_added_instructions"] = {
        k[len("fault_added."):]: v for k, v in figures.items() if k.startswith("fault_added.")}
    board["fault_added_instructions"]["seepage_in_turn"] = figures["fault_added_in_turn"]
    board["switch_added_instructions"] = {
        k[len("switch_added."):]: v for k, v in figures.items()
        if k.startswith("switch_added.")}
    for what in ("switch", "pipe", "messaging"):
        prefix = f"pmc_{what}_added"
        board[prefix + "_instructions"] = {
            k[len(prefix) + 1:]: v for k, v in figures.items() if k.startswith(prefix + ".")}
    board["pass_instructions_per_process"] = {
        "idle": slope(passes),
        "growing": figures["pass_growing"],
        "growing_short": figures["pass_growing_short"],
        **{what: scanned(figures, what) for what in ("statm", "ps", "pidstat")},
    }
    board["pass_instructions"] = {"all_8192": passes[-1][1]}
    board["dump_instructions_per_record"] = {
        "kernel": slope(dumps),
        **{what: scanned(figures, what) for what in ("seepage_ps", "seepage_json", "record", "ps")},
    }
    board["memory_bytes"] = {
        "record": figures["rec_bytes"],
        "per_process": slope(memory),
        "all_8192": memory[-1][1],
    }
    board["size_bytes"] = {
        "module_core": figures["module_core_bytes"],
        "module": figures["module_bytes"],
        "controller": figures["controller_bytes"],
    }
    if "peer_memory_bytes.bpf_detector_map" in figures:
        board["memory_bytes"]["bpf_detector_map"] = figures["peer_memory_bytes.bpf_detector_map"]
    board["base_instructions"] = {
        "fault": figures["fault_base"], "switch": figures["switch_base"],
        "pmc_switch": figures["pmc_switch_base"]}
    board["curves"] = {
        "pass_instructions_by_processes": passes,
        "dump_instructions_by_records": dumps,
        "fault_added_instructions_by_processes": by_number(figures, "fault_added_of"),
        "fault_added_instructions_by_faults_per_s":
            by_number(figures, "fault_added_at_rate") + rates_of_cpus(figures),
        "fault_added_instructions_by_cpus": by_number(figures, "fault_added_cpus"),
        "fault_added_instructions_by_cpus_threads":
            by_number(figures, "fault_added_cpus_threads"),
    }
    # Computed, all faults on one CPU. A CPU of the counting clock makes 10^9
    # instructions a second, so that the kernel's own part of 10^6 faults takes seven.
    each = board["fault_added_instructions"]["seepage_tracepoint"]
    board["cpu_percent_by_faults_per_s"] = [
        [rate, each * rate / 1e9 * 100] for rate in (1000, 10000, 100000, 1000000)]
    board["limits"] = {
        section: {key: limit_of(board, section, limit) for key, _, limit in rows
                  if limit is not None}
        for section, _, rows in SECTIONS}
    board["scale"] = budgets.rows_of(figures)
    board["reasons"] = reasons
    return board


def number(value):
    text = f"{value:.1f}" if abs(value) < 1000 and value != int(value) else f"{value:.0f}"
    return "0.0" if text == "-0.0" else text


def show(board):
    """Prints the table; returns what is wrong."""
    wrong = []
    print(f"{CLOCK}; Debian {board['kernel']} x86_64")
    for section, title, rows in SECTIONS:
        print(f"\n{title + ':':58} {'figure':>10} {'limit':>10}")
        for key, label, limit in rows:
            value = board[section].get(key)
            limit = limit_of(board, section, limit)
            reason = board["reasons"].get(section + "." + key)
            if value is None:
                print(f"  {label:56} {'-':>10}  {reason or 'MISSING'}")
                if not reason or limit is not None:
                    wrong.append(f"{label}: no figure")
                continue
            line = f"  {label:56} {number(value):>10}"
            if limit is not None:
                over = value > limit or ("switch" in section and value < -limit)
                line += f" {number(limit):>10}  {'EXCEEDED' if over else 'ok'}"
                if over:
                    wrong.append(f"{label}: {number(value)} of {limit}")
            print(line)
    return wrong


def show_curves(board):
    titles = {
        "pass_instructions_by_processes": "a full pass by idle processes in the table",
        "dump_instructions_by_records": "a dump by records",
        "fault_added_instructions_by_processes":
            "added per fault by processes in the table (8191: full, so that the faulting one is not tracked)",
        "fault_added_instructions_by_faults_per_s":
            "added per fault by faults a second (above 50000: 1, 2, 4 and 8 CPUs that do nothing else)",
        "fault_added_instructions_by_cpus":
            "added per fault by CPUs that fault at a time, each in a process of its own",
        "fault_added_instructions_by_cpus_threads":
            "added per fault by CPUs that fault at a time, threads of one process",
    }
    print("\ncurves:")
    for key, title in titles.items():
        points = board["curves"][key]
        print(f"  {title}: " + (", ".join(f"{n}: {number(v)}" for n, v in points)
                                or board["reasons"].get(key, "MISSING")))
    print("  percent of a CPU of 10^9 instructions a second by faults a second, computed: "
          + ", ".join(f"{n}: {v:.3f}" for n, v in board["cpu_percent_by_faults_per_s"]))


def main():
    figures, reasons = read(sys.argv[1:-1])
    reasons = {key.replace("fault_added.", "fault_added_instructions."): value
               for key, value in reasons.items()}
    board = {"clock": CLOCK, "kernel": "6.1"}
    board.update(collect(figures, reasons))
    with open(sys.argv[-1], "w", encoding="utf-8") as out:
        json.dump(board, out, indent=1)
        out.write("\n")
    wrong = show(board)
    print()
    wrong += budgets.show(board["scale"])
    show_curves(board)
    for text in wrong:
        print(f"\nbench: FAILED: {text}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
