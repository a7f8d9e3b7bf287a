# SPDX-License-Identifier: GPL-2.0
"""The module's own deciders, through `seepage replay`."""
import json
import subprocess


class ReplayFailed(RuntimeError):
    pass


def parse(text):
    """({series: [(ns, previous, state, confidence, seconds left)]}, the summary) of the
    JSON lines. The summary's "alerts" is the same of what the module tells, by number, or
    by "NAME/group" of a group. There the previous state is what was told before."""
    subjects, summary, told = {}, None, {}
    for line in text.splitlines():
        if not line.strip():
            continue
        record = json.loads(line)
        if "summary" in record:
            summary = record["summary"]
            continue
        if "alert" in record:
            add_alert(told, record["alert"])
            continue
        subjects.setdefault(record["id"], []).append(
            (record["time_ns"], record["prev_state"], record["state"], record["confidence"],
             record.get("tte_seconds")))
    if summary is None:
        raise ReplayFailed("no summary: it did not get to the end")
    summary["alerts"] = told
    return subjects, summary


def add_alert(told, alert):
    subject = f"{alert['comm']}/group" if alert["kind"] == "group" else alert["id"]
    changes = told.setdefault(subject, [])
    changes.append((alert["time_ns"], changes[-1][2] if changes else "ok", alert["state"], None,
                    alert.get("tte_seconds")))


def command(program, path, policy, limit, threshold=None, blind=False):
    words = [program, "-j", "replay", str(path), "--policy", policy]
    if limit is not None:
        words += ["--limit", str(limit)]
    if threshold is not None:
        words += ["--set", f"alert_confidence={threshold}"]
    return words + ["--alerts"] + ["--no-cold"] * blind


def replay(program, path, policy, limit, threshold=None, blind=False):
    words = command(program, path, policy, limit, threshold, blind)
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise ReplayFailed(f"{' '.join(words)}: status {done.returncode}: "
                           f"{done.stderr.strip()[:200]}")
    return parse(done.stdout)
