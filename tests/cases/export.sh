#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage export: an independent parser accepts the page, and its figures agree with show
# and status, with hardware counters and a hostile process name too. A file is replaced as
# a whole, and HTTP is answered. Output without the module, for an unprivileged user and
# for wrong words. The PMU stays loaded, so the VM is not shared with other cases.
# vm: --smp 2 --mem 1052
# about: ctl kmod/netlink
# takes: 40
# timeout: 300
# kmod: fakepmu
# only-amd64: it has a PMU of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"
port=9119
chmod 755 .

# The format by its description, and a page against what -j show and status say.
cat >page.py <<'END'
import json, re, sys

def bad(what):
    sys.exit("page: " + what)

def labels(text):
    found, at = {}, 0
    pattern = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
    while at < len(text):
        m = pattern.match(text, at)
        if not m or m[1] in found:
            bad("labels " + text)
        found[m[1]] = re.sub(r'\\(.)', lambda e: {"n": "\n"}.get(e[1], e[1]), m[2])
        at = m.end()
    return found

def parse(file):
    text = open(file, "rb").read().decode("utf-8")
    if not text.endswith("\n"):
        bad("does not end with a line feed")
    types, helps, seen, samples, last = {}, {}, set(), {}, None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            if name in helps or len(line.split(" ", 3)) < 4:
                bad("HELP: " + line)
            helps[name] = last = name
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != last or name in types or kind not in ("gauge", "counter"):
                bad("TYPE: " + line)
            if (kind == "counter") != name.endswith("_total"):
                bad("a %s named %s" % (kind, name))
            types[name] = kind
        else:
            m = re.fullmatch(r"(seepage_[a-z0-9_]+)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?)", line)
            if not m:
                bad("line: " + line)
            if m[1] != last or m[1] not in types:
                bad("not below its HELP and TYPE: " + line)
            own = labels(m[2] or "")
            key = (m[1], tuple(sorted(own.items())))
            if key in seen:
                bad("twice: " + line)
            seen.add(key)
            samples.setdefault(m[1], []).append((own, float(m[3])))
    if set(types) != set(samples):
        bad("families without samples")
    return samples

page = parse(sys.argv[1])
if len(sys.argv) == 2:
    sys.exit()
show, status = (json.load(open(f)) for f in sys.argv[2:])
pid, wrong, told = str(show["pid"]), [], 0

def got(name, **want):
    """The only sample with these labels, None: there is none"""
    found = [v for own, v in page.get("seepage_" + name, [])
             if all(own.get(k) == w for k, w in want.items())]
    if len(found) > 1:
        bad("%s %s: %d samples" % (name, want, len(found)))
    return found[0] if found else None

def same(name, want, off=1e-6, **own):
    global told
    have = got(name, **own)
    told += have is not None
    if (have is None) != (want is None) or \
       want is not None and abs(have - want) > off + abs(want) * 1e-9:
        wrong.append("%s %s is %s, not %s" % (name, own, have, want))

for name, key, unit in (
        ("processes_max", "max_processes", 1), ("memory_bytes", "memory_bytes", 1),
        ("record_bytes", "rec_bytes", 1), ("passes_total", "ticks", 1),
        ("pass_last_duration_seconds", "tick_cost_ns", 1e-9),
        ("pass_max_duration_seconds", "tick_cost_max_ns", 1e-9),
        ("sample_interval_seconds", "interval_ms", 1e-3),
        ("sample_interval_stretched", "stretched", 1)):
    same(name, status[key] * unit)
same("up", 1)
same("build_info", 1, version=status["version"])
same("module_info", 1, version=status["module_version"], hook=status["hook"],
     policy=status["policy"], pmc="on", load=str(status["instance"]))
for name in status["counters"]:
    if got(name + "_total") is None:
        wrong.append("no counter " + name)
same("alerts_total", status["counters"]["alerts"])
same("alerts_last_seq", status["seq_last"] or 0)
held = status["seq_last"] - status["seq_first"] + 1 if status["seq_last"] else 0
if sum(v for own, v in page["seepage_alerts_held"]) != held:
    wrong.append("alerts_held do not add up to %d" % held)

for event, e in status["pmc_events"].items():
    there = e["state"] != "unavailable"
    same("pmc_event_available", there, event=event)
    if (got("pmc_events_total", event=event) is None) == there:
        wrong.append("totals of " + event)

# A terminal would obey what JSON has as it is.
obeyed = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
who = {"pid": pid, "comm": obeyed.sub(lambda c: "\\x%02x" % ord(c[0]), show["comm"])}
for state in "ok watch suspected confirmed runaway recovered exited".split():
    same("process_state", state == show["state"], state=state, **who)
for key in ("confidence", "rss_bytes", "anon_bytes", "file_bytes", "shmem_bytes", "swap_bytes",
            "vsz_bytes"):
    same("process_" + key, show[key], **who)
same("process_age_seconds", show["age_seconds"], off=3, **who)
same("process_exhaustion_seconds", show["tte_seconds"], off=show["tte_seconds"] or 0, **who)
growth = show["growth_bytes_per_hour"]
same("process_growth_bytes_per_second", growth and growth / 3600, off=1e-3, **who)
for mode in ("user", "kernel"):
    same("process_faults_total", show["faults_" + mode], mode=mode, **who)
factors = {f["factor"]: f["value"] for f in show["factors"]}
same("process_growth_rise_bytes", factors.get("floor") or None, **who)
same("process_info", 1, uid=str(show["uid"]), exe=show["exe"], cgroup=show["cgroup"] or None,
     subject=show["subject"], limit=show["limit"], **who)

scaled = {}
for event, c in show["pmc"].items():
    own = dict(who, event=event)
    same("process_pmc_events_total", c and c["count"], **own)
    same("process_pmc_enabled_seconds_total", c and c["enabled_ns"] / 1e9, **own)
    same("process_pmc_running_seconds_total", c and c["running_ns"] / 1e9, **own)
    if c and c["running_ns"]:
        scaled[event] = c["count"] * c["enabled_ns"] / c["running_ns"]

def ratio(a, b, unit=1):
    return scaled[a] / scaled[b] * unit if a in scaled and scaled.get(b) else None

same("process_instructions_per_cycle", ratio("instructions", "cycles"), off=1e-3, **who)
same("process_llc_misses_per_1000_instructions", ratio("llc_misses", "instructions", 1000),
     off=2e-3, **who)
share = ratio("llc_misses", "llc_references")
same("process_llc_miss_ratio", share and min(share, 1), off=1e-5, **who)
same("process_dtlb_misses_per_1000_instructions", ratio("dtlb_misses", "instructions", 1000),
     off=2e-3, **who)
walks = ratio("dtlb_misses", "loads")
same("process_tlb_efficiency_ratio", None if walks is None else 1 - min(walks, 1), off=1e-5, **who)
same("process_page_walk_ratio", None, **who)
same("process_remote_node_ratio", None, **who)
read = show["pmc_baseline"]["read_kib_per_second"]
same("process_read_bytes_per_second", read and read * 1024, **who)
for signal in ("llc_divergence", "llc_z_score", "tlb_pressure", "tlb_efficiency", "bandwidth",
               "node_imbalance"):
    same("process_pmc_signal", signal in show["pmc_signals"], signal=signal, **who)
if wrong:
    sys.exit("\n".join(reversed(wrong)))
print(told, "figures agree, signals:", *show["pmc_signals"])
END
parsed() { python3 page.py "$@" >parsed 2>&1 || die "$(tail -n 1 parsed)"; }

# ---- without the module ----

unload
down=$'seepage_up 0\nseepage_build_info{version='
status=0
seepage export >page 2>err || status=$?
assert_eq $status 1 "status without the module"
assert_eq "$(cat err)" "seepage: module not loaded (modprobe seepage)" "what it says"
is_down() { [[ $(grep -v '^#' "$1") == "$down"* && $(grep -vc '^#' "$1") == 2 ]]; }
is_up() { grep -qx 'seepage_up 1' "$1"; }
is_down page || die "page without the module: $(cat page)"
parsed page

# ---- against show and status ----

fake_pmu counters=6
interval=$((3000 * ${SEEPAGE_SLOW:-1}))
load pmc=auto sample_interval_ms=$interval suspect_interval_ms=$interval max_cpu_permille=1000
perl -e 'open $f, ">", "/proc/self/comm"; print $f "a\n\"\\\x1b[m\xff\xc3\xbc"; close $f;
	for (;;) { push @kept, "x" x (1 << 20); for ($i = 0; $i < 2e5; $i++) {}
		select undef, undef, undef, 0.2 }' &
leak=$!
seepage_page() { seepage export "$@" >page; }
in_page() {
	seepage_page
	grep -q "^seepage_process_growth_onset_timestamp_seconds{pid=\"$leak\"" page &&
		grep -q "^seepage_process_exhaustion_seconds{pid=\"$leak\"" page &&
		grep -q "^seepage_process_pmc_signal{pid=\"$leak\",.*,signal=\"tlb_efficiency\"} 1\$" page
}
wait_for 90 in_page
# While it is stopped nothing changes but by a pass, and one may come in between.
agree() {
	kill -CONT $leak
	sleep $((interval / 1000 + 1))
	kill -STOP $leak
	seepage -j show $leak >show.json
	seepage -j status >status.json
	seepage_page
	python3 page.py page show.json status.json >parsed 2>&1 && in_page
}
# A busy host needs longer for the three commands than a pass lets them; what is wrong stays wrong.
end=$((SECONDS + 30 * patience))
until agree; do
	((SECONDS < end)) || die "$(tail -n 1 parsed)"
done
cat parsed
mkdir -p /tmp/out && cp page /tmp/out/export.prom
grep -qF "pid=\"$leak\","'comm="a\n\"\\\\x1b[m\\xffü"' page ||
	die "its name: $(grep -m 1 "pid=\"$leak\"" page)"
# How long it has risen for, from when it began; one second for the question.
rises=$(field '[.factors[] | select(.factor == "persist").value][0]' show.json)
onset=$(sed -n "s/^seepage_process_growth_onset_timestamp_seconds{pid=\"$leak\",.*} //p" page)
((rises > 0 && onset <= $(date +%s) - rises && onset >= $(date +%s) - rises - 60)) ||
	die "onset $onset, now $(date +%s), rising for $rises"

# ---- how many ----

pids() { sed -En 's/^seepage_process_rss_bytes\{pid="([0-9]+)".*/\1/p' page; }
seepage_page
assert_eq "$(pids)" $leak "processes in watch or worse"
assert_eq "$(grep '^seepage_processes_left_out ' page)" "seepage_processes_left_out 0" "left out"
seepage_page --all
parsed page
(($(pids | wc -l) > 3)) || die "--all: $(pids | wc -l) processes"
assert_eq "$(pids | head -n 1)" $leak "the most suspicious"
assert_eq "$(grep -c "^seepage_process_state{.*state=\"ok\"} 1" page)" \
	$(($(pids | wc -l) - 1)) "processes in state ok"
kill -CONT $leak
perl -e 'for (;;) { push @kept, "x" x (1 << 20); select undef, undef, undef, 0.1 }' &
second=$!
one_left_out() {
	seepage_page --top 1
	grep -qx 'seepage_processes_left_out 1' page
}
wait_for 60 one_left_out
assert_eq "$(pids | wc -l)" 1 "processes with --top 1"
kill -9 $second
wait $second 2>/dev/null || true
kill -STOP $leak

# ---- into a file ----

mkdir dir
seepage export --output dir/seepage.prom
parsed dir/seepage.prom
(umask 077 && exec seepage export -o dir/seepage.prom -i 1 2>err) &
writer=$!
inode() { stat -c %i dir/seepage.prom; }
first=$(inode)
replaced() { [[ $(inode) != "$first" ]]; }
wait_for 20 replaced
# A reader that has it open keeps a whole page while others come.
exec 5<dir/seepage.prom
sleep 2.5
cat <&5 >kept
exec 5<&-
parsed kept
is_up kept || die "page in the file: $(head -n 3 kept)"
assert_eq "$(stat -c %a dir/seepage.prom)" 644 "mode of the file"
file_is_down() { is_down dir/seepage.prom; }
file_is_up() { is_up dir/seepage.prom; }
unload
wait_for 20 file_is_down
load pmc=auto
wait_for 20 file_is_up
kill -TERM $writer
status=0
wait $writer || status=$?
assert_eq $status 0 "status after SIGTERM"
assert_eq "$(ls -A dir)" seepage.prom "what is left"
parsed dir/seepage.prom
assert_eq "$(cat err)" "seepage: module not loaded (modprobe seepage)
seepage: export: the module answers again" "what it says meanwhile"
unload
status=0
seepage export -o dir/seepage.prom 2>err || status=$?
assert_eq $status 1 "status of a file without the module"
is_down dir/seepage.prom || die "stale figures are left: $(grep -v '^#' dir/seepage.prom)"

# ---- over HTTP ----

get() {
	exec 4<>"/dev/tcp/127.0.0.1/$port"
	printf '%s %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n' "$1" "$2" >&4
	cat <&4 >reply
	exec 4<&-
	tr -d '\r' <reply | sed '/^$/q' >header
	sed '1,/^\r*$/d' reply >page
}
answers() { (get GET /metrics) 2>/dev/null; }
load pmc=auto
if ! pkg-config --exists libmicrohttpd; then
	status=0
	seepage export --listen $port 2>err || status=$?
	assert_eq "$status $(cat err)" \
		"1 seepage: export: --listen: built without libmicrohttpd" "without the library"
else
	ip link set lo up
	seepage export --listen $port 2>err &
	server=$!
	wait_for 30 answers
	get GET /metrics
	assert_eq "$(head -n 1 header)" "HTTP/1.1 200 OK" "answer"
	grep -qx 'Content-Type: text/plain; version=0.0.4; charset=utf-8' header || die "$(cat header)"
	parsed page
	is_up page || die "page over HTTP: $(head -n 3 page)"
	for wrong in "GET /" "GET /metrics/" "POST /metrics" "DELETE /metrics"; do
		get "${wrong% *}" "${wrong#* }"
		assert_eq "$(head -n 1 header)" "HTTP/1.1 404 Not Found" "$wrong"
	done
	# Who says nothing keeps nobody else from it; nor do several at once.
	exec 6<>"/dev/tcp/127.0.0.1/$port"
	for i in 1 2 3 4; do
		(mkdir "$i" && cd "$i" && get GET /metrics && is_up page) &
		clients[i]=$!
	done
	for i in 1 2 3 4; do
		wait "${clients[i]}" || die "client $i of several got: $(cat "$i/header")"
	done
	exec 6<&-
	status=0
	seepage export --listen $port 2>taken || status=$?
	assert_eq "$status $(cat taken)" \
		"1 seepage: export: --listen: 127.0.0.1, port $port: Address already in use" "a taken port"
	unload
	get GET /metrics
	is_down page || die "page over HTTP without the module: $(cat page)"
	kill -TERM $server
	status=0
	wait $server || status=$?
	assert_eq $status 0 "status of the server after SIGTERM"
	load pmc=auto
fi

# ---- who may ----

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mkdir -m 777 theirs
for words in "" "-o theirs/x -i 1" "--listen $port"; do
	pkg-config --exists libmicrohttpd || [[ $words != --listen* ]] || continue
	status=0
	# shellcheck disable=SC2086 # words
	timeout 60 "${nobody[@]}" seepage export $words >page 2>err || status=$?
	assert_eq $status 1 "status of export $words of a plain user"
	grep -q '^seepage: export: not permitted: .*CAP_PERFMON or CAP_SYS_ADMIN' err ||
		die "export $words of a plain user: $(cat err)"
	assert_eq "$(wc -l <err)" 1 "lines on stderr of export $words"
	[[ $words ]] || is_down page || die "page of a plain user: $(grep -v '^#' page)"
done
is_down theirs/x || die "file of a plain user: $(cat theirs/x)"
"${nobody[@]}" --inh-caps +perfmon --ambient-caps +perfmon seepage export >page
is_up page || die "page with CAP_PERFMON: $(cat page)"

# ---- wrong words: nothing is done ----

while read -r want words message; do
	status=0
	# shellcheck disable=SC2086 # words
	seepage export ${words//+/ } >out 2>err || status=$?
	assert_eq $status "$want" "status of export ${words//+/ }"
	grep -qF -- "export: $message" err || die "export ${words//+/ }: $(cat err)"
	[[ ! -s out && $(wc -l <err) == 1 ]] || die "export ${words//+/ }: $(cat out err)"
done <<'END'
2 word unexpected word 'word'
2 -j -j: not allowed
2 --top+0 --top: '0': allowed 1..4294967295
2 --top+5+--all --top: '5': not allowed with --all
2 -i+5 --interval: allowed with --output only
2 -i+0+-o+x --interval: '0': allowed 1..86400
2 --listen+9119+-o+x --listen: '9119': not allowed with --output or --interval
2 --listen+here:9119 --listen: 'here:9119': allowed [ADDR:]PORT
2 --listen+[::1:9119 --listen: '[::1:9119': allowed [ADDR:]PORT
2 --listen+65536 --listen: '65536': allowed [ADDR:]PORT
2 --output= --output: '': allowed the name of a file
1 -o+/dev/null --output: '/dev/null': allowed a regular file, or a new one
1 -o+dir --output: 'dir': allowed a regular file, or a new one
1 -o+missing/x --output: 'missing/x': No such file or directory
END
[[ ! -e x && -c /dev/null ]] || die "a refused word has left something"
