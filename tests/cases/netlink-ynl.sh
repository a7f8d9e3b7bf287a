#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own client, tools/net/ynl/cli.py, speaks to the module by
# docs/netlink/seepage.yaml: every do and every dump, all three multicast groups,
# and the text of each refusal. What it decodes is what seepage -j says. The
# operations and attributes of the specification are those that the family has.
# vm: --smp 2 --mem 1052
# about: docs/netlink kmod tests/netlink
# takes: 42
# timeout: 900
# kmod: fakepmu
# source: 6.12-kasan
# only-amd64: the roots of other guests have no YAML for Python
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
[[ ${SEEPAGE_SOURCE:-} ]] || die "there are no kernel sources"
python=/usr/bin/python3	# the one that Debian's python3-yaml is for
spec=$top/docs/netlink/seepage.yaml
schemas=$SEEPAGE_SOURCE/Documentation/netlink

cli() { "$python" -B "$SEEPAGE_SOURCE/tools/net/ynl/cli.py" --output-json "$@"; }

# ynl FILE ARGUMENT...: its answer; what was asked for is kept for the end.
ynl() {
	local file=$1
	shift
	cli --no-schema --spec "$spec" "$@" >"$file" 2>err ||
		die "cli.py $*: $(tail -n 1 err) $(head -c 300 "$file")"
	printf '%s\n' "$@" | awk '/^--(do|dump|multi|subscribe)$/ { how = $0; getline; print how, $0 }' >>asked
}

# refused WORDS OPERATION JSON: refused, and the extended ack says the words.
refused() {
	! cli --no-schema --spec "$spec" --do "$2" --json "$3" >refused 2>&1 || die "$2 $3 is taken"
	grep -qF "extack: {'msg': '$1'" refused || die "$2 $3: $(tail -n 1 refused)"
	sed -n "s/.*extack: /$2 $3: /p" refused
}

# ---- the specification, and a process with all that there is to tell ----

cli --spec "$spec" --schema "$schemas/genetlink-legacy.yaml" --list-ops >operations 2>err ||
	die "the schema: $(tail -n 1 err)"
fake_pmu counters=4
hour=3600000
second=$((1000 * ${SEEPAGE_SLOW:-1}))
load pmc=auto sample_interval_ms=$second suspect_interval_ms=$second max_cpu_permille=1000 \
	min_process_size_mb=1 warmup_s=0 alert_confidence=10 rss_growth_percent=51
perl -e 'for (;;) { push @kept, "x" x (1 << 20); for ($i = 0; $i < 2e5; $i++) {}
	select undef, undef, undef, 0.2 }' &
leak=$!
learned() { [[ $(seepage -j show $leak | field .pmc_baseline) != null ]]; }
wait_for 60 learned
seepage set sample_interval_ms $hour suspect_interval_ms $hour

# ---- the groups: they listen, then passes are made until there is an alert ----

# A row of /proc/net/netlink: a generic netlink socket that is in a group.
listening() { (($(awk '$2 == 16 && $4 !~ /^0*$/' /proc/net/netlink | wc -l) >= 3)); }
# alerted FILTER FILE: is there an alert of the process?
alerted() {
	jq -se --argjson pid $leak --argjson last "$last" \
		"any(.[]$1; .pid == \$pid and .seq > \$last)" "$2" >/dev/null
}
has_alert() {
	seepage -j alerts >alerts.json
	alerted '' alerts.json
}

# hear POLICY SECONDS: another policy makes an alert; was it heard within these?
hear() {
	local group listener listeners=()
	last=$(seepage -j status | jq '.seq_last // 0')
	for group in alert sample series; do
		ynl "heard.$group" --subscribe $group --sleep $(($2 * ${SEEPAGE_SLOW:-1})) &
		listeners+=($!)
	done
	wait_for 60 listening
	seepage set policy "$1" sample_interval_ms $second suspect_interval_ms $second
	wait_for 60 has_alert
	seepage set sample_interval_ms $hour suspect_interval_ms $hour
	for listener in "${listeners[@]}"; do
		wait "$listener" || die "a listener: $(cat err heard.*)"
	done
	alerted '[].msg' heard.alert
}
hear classic 10 || hear ladder 20 || hear classic 40 || die "no alert is heard: $(head -c 300 heard.alert)"

# ---- replies; nothing moves meanwhile ----

kill -STOP $leak
seepage set pmc hold
seepage -j status >status.before
seepage -j ps >ps.before
ynl replies --multi get-status '{}' --multi get-config '{}' --multi get-proc "{\"pid\": $leak}"
ynl procs --dump get-proc
seepage -j ps >ps.after
seepage -j status >status.after
seepage -j show $leak >show.json
seepage -j get >get.json
ynl filtered --dump get-proc --json '{"filter-comm": "perl", "filter-uid": 0, "filter-min-confidence": 1,
	"filter-states": ["suspected", "confirmed", "runaway", "watch", "recovered"]}'
seepage -j alerts >alerts.json
ynl alerts.ynl --dump get-alerts --json '{"since-seq": 1}'

# ---- requests ----

first=$(head -n 1 alerts.json | field .seq)
held() { seepage -j alerts | jq -se --argjson seq "$first" 'any(.[]; .seq == $seq)' >/dev/null; }

refused 'alert_confidence: allowed 0..100' set-config '{"config": {"warmup-s": 7, "alert-confidence": 101}}'
grep -qF "'bad-attr': '.config.alert-confidence'" refused || die "the attribute is not named: $(tail -n 1 refused)"
assert_eq "$(seepage -j get | field .warmup_s)" 0 "warmup_s after a refusal"
refused 'attribute PID is missing' set-facts '{"cold-permille": 900}'
refused 'PID goes with history alone' reset "{\"pid\": $leak, \"reset-what\": [\"alerts\"]}"
held || die "alert $first is gone after a refusal"
ynl sent --multi set-config '{"config": {"warmup-s": 7, "pmc": "off"}, "pmc-wanted": "cycles"}' \
	--multi set-facts "{\"pid\": $leak, \"cold-permille\": 900, \"limit-bytes\": 1000000000,
		\"cgroup-used-bytes\": 5, \"known-rise-bytes\": 67108864, \"known-span-seconds\": 600}" \
	--multi reset '{"reset-what": ["alerts", "counters"]}'
assert_eq "$(seepage -j get | jq -c '[.warmup_s, .pmc, .pmc_events]')" '[7,"off","cycles"]' "what was set"
assert_eq "$(seepage -j show $leak | jq -c '[.cold_permille, .known_rise_bytes, .known_span_seconds]')" \
	'[900,67108864,600]' "facts that were told"
! held || die "alert $first is held after a reset"

# ---- what the family says of itself ----

control=(cli --no-schema --process-unknown --spec "$schemas/specs/nlctrl.yaml" --json '{"family-name": "seepage"}')
"${control[@]}" --do getfamily >family
"${control[@]}" --dump getpolicy >policies

cat >agree.py <<'PYTHON'
import json, struct, sys
sys.path.insert(0, sys.argv[1])
from lib import SpecFamily

spec = SpecFamily(sys.argv[2], "")
leak = int(sys.argv[3])
wrong, figures = [], 0

def load(name):
    return json.load(open(name))

def lines(name):
    return [json.loads(line) for line in open(name)]

def same(what, got, want):
    global figures
    figures += 1
    if got != want:
        wrong.append(f"{what}: cli.py {got}, wanted {want}")

def under(name):
    return name.replace("-", "_") if isinstance(name, str) else name

def keys(d):
    return {under(k): under(v) for k, v in d.items()}

def nested(d, outer, inner, id_):
    """A list of nests as the controller has it: with the kind under its own key."""
    out = []
    for one in map(keys, d.get(outer, {}).get(inner, [])):
        one[id_] = one.pop("id")
        out.append(one)
    return out

def members(hexed, name):
    """The structs of an array, by the specification."""
    data, out = bytes.fromhex(hexed), []
    size = sum(m.len if m.type == "binary" else int(m.type[1:]) // 8 for m in spec.consts[name])
    if len(data) % size:
        wrong.append(f"{name}: {len(data)} bytes are no array of {size}")
    form = "=" + "".join(f"{m.len}s" if m.type == "binary" else
                         {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}[m.type] for m in spec.consts[name])
    names = [under(m.name) for m in spec.consts[name]]
    return [dict(zip(names, values)) for values in struct.iter_unpack(form, data)]

def process(what, got, want, gone=()):
    """got of cli.py, want of seepage -j."""
    # time goes on, and what was free when it was asked
    moving = {"age_seconds", "fault_rate", "tte_seconds", "cold_age_seconds", "time_ns", *gone}
    flat = keys({k: v for k, v in got.items() if not isinstance(v, (dict, list))})
    if want.get("end"):		# a status of waitpid() and flags
        flat["end"] = {"exit": flat["end"] >> 8 & 0xff, "signal": flat["end"] & 0x7f}.get(want["end"]["kind"])
        want = {**want, "end": want["end"]["code"] if want["end"]["kind"] == "exit" else want["end"]["signal"]}
    for key in set(flat) & set(want) - moving - {"pmc_values"}:
        same(f"{what} {key}", flat[key], want[key])
    for key in ("pid", "comm", "state", "confidence", "rss_bytes", "anon_bytes", "vsz_bytes", "faults_user"):
        if key not in flat or key not in want:
            wrong.append(f"{what}: no {key}")
    factors = [{**f, "points": f["points"] - f.pop("against", 0)} for f in nested(got, "factors", "factor", "factor")]
    same(f"{what} factors", factors, [{k: f[k] for k in ("points", "max_points", "value", "baseline", "factor")}
                                      for f in want["factors"]])
    if "gates" in got:
        gates = [{"value": None, "limit": None, **g, "passed": bool(g["passed"])}
                 for g in nested(got, "gates", "gate", "gate")]
        same(f"{what} gates", sorted(gates, key=str), sorted(
            [{k: g[k] for k in ("value", "limit", "gate", "passed")} for g in want["gates"]], key=str))

# What the case has asked for is all that there is.
asked = {tuple(line.split()) for line in open("asked")}
asked |= {("--do", op) for how, op in asked if how == "--multi"}
for op in spec.ops.values():
    for mode in op.modes & {"do", "dump"}:
        if ("--" + mode, op.name) not in asked:
            wrong.append(f"{op.name}: its {mode} is not tried here")
for op in spec.ntfs.values():
    if ("--subscribe", op["mcgrp"]) not in asked:
        wrong.append(f"{op.name}: its group is not tried here")
    if not any(m["name"] == op.name for m in load("heard." + op["mcgrp"])):
        wrong.append(f"{op.name}: not heard")

# The running family: commands, what they can do, groups, and what requests take.
family, policies = load("family"), load("policies")
has = {op["id"]: {f[8:] for f in op["flags"]} & {"do", "dump"} for one in family["ops"] for op in one.values()}
same("commands", has, {op.value: op.modes & {"do", "dump"} for op in spec.ops.values()})
same("groups", {g["name"] for one in family["mcast-groups"] for g in one.values()}, set(spec.mcast_groups))
same("version", family["version"], spec.yaml["version"])
same("maxattr", family["maxattr"], max(spec.attr_sets["seepage"].attrs_by_val))
takes, uses = {}, {}
for p in (m["policy"] for m in policies if "policy" in m):
    takes.setdefault(p["policy-id"], set()).add(p["attr-id"])
for p in (m["op-policy"] for m in policies if "op-policy" in m):
    op = next(op for op in spec.ops.values() if op.value == p["op-id"])
    for mode in op.modes & {"do", "dump"}:
        names = op.yaml[mode].get("request", {}).get("attributes", [])
        uses.setdefault(p[mode], set()).update(op.attr_set[name].value for name in names)
for policy in uses:
    same(f"attributes that requests of policy {policy} take", uses[policy], takes.get(policy, set()))

# Each attribute of a message is one that the specification has for it.
status, config, proc = load("replies")
seen = set()
def known(message, op, mode):
    op = spec.msgs[op]
    while "notify" in op.yaml:
        op, mode = spec.msgs[op["notify"]], "dump"
    lists = op.yaml[mode]
    listed = set(lists.get("reply", lists)["attributes"])
    seen.update(message)
    if set(message) - listed:
        wrong.append(f"{op.name} {mode}: not of the specification: {set(message) - listed}")
known(status, "get-status", "do")
known(config, "get-config", "do")
known(proc, "get-proc", "do")
for one in load("procs"):
    known(one, "get-proc", "dump")
for one in load("alerts.ynl"):
    known(one, "get-alerts", "dump")
heard = {group: load("heard." + group) for group in ("alert", "sample", "series")}
for message in sum(heard.values(), []):
    known(message["msg"], message["name"], "event")

# The status: what counts on lies between what was said before and after.
before, after = load("status.before"), load("status.after")
for key, want in before.items():
    got = status.get(key.replace("_", "-"))
    if got is None or isinstance(want, (dict, list)):
        continue
    if key in ("processes", "memory_bytes", "version"):
        continue		# processes come and go; version is the controller's
    if want == after[key]:
        same(f"status {key}", got if not isinstance(want, bool) else bool(got), want)
same("status version", status["version"], before["module_version"])
same("status pmc", status["pmc"], before["pmc_status"])
counters = keys(status["counters"])
same("counters", set(counters), set(before["counters"]))
for name, value in counters.items():
    if not before["counters"][name] <= value <= after["counters"][name]:
        wrong.append(f"counter {name}: {value}, {before['counters'][name]} before")
    figures += 1
events = status["pmc-events"]["pmc-event"]
same("events", [e["name"] for e in events], list(before["pmc_events"]))
for e in events:
    want = before["pmc_events"][e["name"]]
    for key in ("type", "config", "state", "reason"):
        same(f"event {e['name']} {key}", e.get(key), want[key])
    for key in ("kthreads", "idle", "others", "ended"):
        for member, value in keys(e[key]).items():
            if not want[key][member] <= value <= after["pmc_events"][e["name"]][key][member]:
                wrong.append(f"event {e['name']} {key} {member}: {value}, {want[key][member]} before")
            figures += 1

configured = {**keys(config["config"]), "pmc_events": config["pmc-wanted"]}
same("configuration", configured, load("get.json"))

# The process, which is stopped.
show = load("show.json")
process("get-proc", proc, show, gone=("pmc",))
same("history", [{"epoch_ms": l["epoch-ms"], "minima_bytes": l["minima"]} for l in proc["history"]["level"]],
     [{k: l[k] for k in ("epoch_ms", "minima_bytes")} for l in show["history"]])
same("pmc-values", [v if e["state"] != "unavailable" or v["count"] else None
                    for e, v in zip(events, members(proc["pmc-values"], "pmc-value"))], list(show["pmc"].values()))
usual = proc["pmc-baseline"]
same("signals", [under(e.name) for e in spec.consts["pmc-signal"].entries.values() if usual["signals"] >> e.value & 1],
     show["pmc_signals"])
for key in ("llc-samples", "dtlb-samples"):
    same(key, usual[key], show["pmc_baseline"][under(key)])
ps = [{p["pid"]: p for p in load(name)} for name in ("ps.before", "ps.after")]
dumped = {p["pid"]: p for p in load("procs")}
same("processes of the dump", (set(ps[0]) & set(ps[1])) - set(dumped), set())
same("each once", len(dumped), len(load("procs")))
process("dump", dumped[leak], ps[0][leak], gone=("pmc",))
same("filtered", [p["pid"] for p in load("filtered")], [leak])

# Alerts, in the ring and as they were told.
alerts = {a["seq"]: a for a in lines("alerts.json")}
ring = {a["seq"]: a for a in load("alerts.ynl")}
same("alerts that the ring lacks", set(alerts) - set(ring), set())
for seq in set(ring) & set(alerts):
    process(f"alert {seq}", ring[seq], alerts[seq])
told = {m["msg"]["seq"]: m["msg"] for m in heard["alert"]}
for seq in told:
    same(f"alert {seq} as told", told[seq], ring[seq])
same("alert of the process", leak in {a["pid"] for a in told.values()}, True)
same("sample of the process", leak in {m["msg"]["pid"] for m in heard["sample"]}, True)
raw = []
for m in (m["msg"] for m in heard["series"]):
    if "samples" in m:
        one = members(m["samples"], "raw-sample")
        same("size of a sample", len(one) * m["sample-size"], len(m["samples"]) // 2)
        raw += one
same("sample in the series", {(s["pid"], s["comm"].rstrip(b"\0")) for s in raw if s["pid"] == leak}, {(leak, b"perl")})

if wrong:
    sys.exit("\n".join(reversed(wrong)))
print(f"{figures} figures agree, {len(seen)} attributes in messages,",
      f"{len(told)} alerts, {len(heard['sample'])} samples and {len(raw)} raw ones heard")
PYTHON
"$python" -B agree.py "$SEEPAGE_SOURCE/tools/net/ynl" "$spec" $leak >agreed 2>&1 || {
	mkdir -p /tmp/out/ynl
	cp ./*.* replies procs filtered family policies /tmp/out/ynl
	cat agreed
	die "$(tail -n 1 agreed)"
}
cat agreed
kill -9 $leak
