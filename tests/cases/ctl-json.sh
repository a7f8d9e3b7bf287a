#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# JSON output: it has every key of the contract with its type, and values that agree
# with /proc, for hostile process names too. The configuration is the same in names.h,
# netlink, debugfs and module parameters.
# vm: --smp 2 --mem 1024
# about: ctl kmod/netlink kmod/view.c
# takes: 75
# timeout: 600
. "$(dirname "$0")/lib.sh"

# json FILTER FILE WHAT: holds of it
json() {
	jq -e "$1" "$2" >json.out 2>json.err ||
		die "$3: $(head -n 1 json.err) not so: $1: $(head -c 300 "$2")"
}

# Hardware counters: of the lab's machines those of arm64 and riscv64 have some.
PMC_STATUS=$(seepage -j status | field .pmc_status)
export PMC_STATUS

# A jq program that names the first key with a wrong type. "?": null as well.
cat >types.jq <<'END'
def wrong(types):
	. as $o | first(types | to_entries[] | .key as $k | .value as $t |
		if ($o | has($k) | not) then "\($k) is missing"
		elif ($t | startswith("?")) and $o[$k] == null then empty
		elif ($o[$k] | type) != ($t | ltrimstr("?")) then "\($k) is \($o[$k] | tojson)"
		elif ($o[$k] | type) == "number" and $o[$k] != ($o[$k] | floor) then "\($k) is no whole number"
		else empty end) // empty;
def process: wrong({
	pid: "number", comm: "string", uid: "number", user: "?string", cgroup: "?string", exe: "?string", cmdline: "?string", unit: "?string", unit_uid: "?number",
	runtime: "?string", container: "?string", pod: "?string",
	state: "string", confidence: "number", policy: "string", score: "object",
	rss_bytes: "number", anon_bytes: "number", file_bytes: "number", shmem_bytes: "number",
	swap_bytes: "number", vsz_bytes: "number", growth_bytes_per_hour: "?number",
	tte_seconds: "?number", faults_user: "number", faults_kernel: "number",
	faults_anon: "number", faults_file: "number", fault_rate: "number",
	age_seconds: "number", pmc: "?object",
	brk_bytes: "number", cgroup_id: "number", factors: "array", limit: "?string",
	subject: "?string", cold_permille: "?number", cold_age_seconds: "?number",
	known_rise_bytes: "?number", known_span_seconds: "?number"}),
	(if (.limit == null) != (.tte_seconds == null) then "limit \(.limit), tte \(.tte_seconds)" else empty end),
	(if .pmc != null and env.PMC_STATUS != "on" then "pmc is not null" else empty end),
	(if .rss_bytes != .anon_bytes + .file_bytes + .shmem_bytes then "rss_bytes is no sum" else empty end),
	(if .confidence < 0 or .confidence > 100 then "confidence \(.confidence)" else empty end),
	(if .state | IN("ok", "watch", "suspected", "confirmed", "runaway", "recovered", "exited") then empty
	 else "state \(.state)" end),
	(if .policy | IN("ladder", "classic") then empty else "policy \(.policy)" end),
	(if all(.score[]; type == "number") then empty else "score \(.score)" end);
def alert: process, wrong({seq: "number", time_ns: "number", time: "string", instance: "number",
	prev_state: "string", severity: "number", ppid: "?number", parent: "?string"}),
	(if .time == (.time_ns / 1e9 | floor | todate) then empty else "time is \(.time)" end);
def status: wrong({version: "string", module_version: "string", policy: "string",
	max_processes: "number", instance: "number", hook: "string", processes: "number",
	rec_bytes: "number", memory_bytes: "number", ticks: "number", tick_cost_ns: "number",
	tick_cost_max_ns: "number", interval_ms: "number", stretched: "boolean",
	pmc_status: "?string", pmc_events: "?object", disabled: "?string", multicast_off: "boolean", seq_first: "?number", seq_last: "?number",
	counters: "object"}),
	(if all(.counters[]; type == "number") then empty else "counters" end);
END

# typed NAME FILE WHAT: each value in the file is one of these
typed() {
	local wrong
	wrong=$(jq -r -L . "include \"types\"; $1" "$2") || die "$3: not JSON"
	[[ ! $wrong ]] || die "$3: ${wrong%%$'\n'*}"
}

# Memory of every kind, a name that no terminal should see, then stopped; in
# the end it has a far larger address space than memory.
cat >odd.py <<'END'
import ctypes, mmap, os, signal
# or khugepaged makes more of its memory while it is compared
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)		# PR_SET_THP_DISABLE
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
with open("/proc/uptime") as f, open("runs", "w") as runs:
    runs.write(f.read())
with open("data", "wb") as f:
    f.write(b"x" * (2 << 20))
keep = [mmap.mmap(-1, 5 << 20, private), mmap.mmap(-1, 3 << 20),
        mmap.mmap(os.open("data", os.O_RDWR), 2 << 20)]
for m in keep:
    for at in range(0, len(m), 4096):
        m[at] = 1
with open("/proc/self/comm", "wb") as f:
    f.write(b'a\n\x1b[31m\xff\xfe"\\b')
keep.append(mmap.mmap(-1, 1 << 30, private | 0x4000))
os.kill(os.getpid(), signal.SIGSTOP)
signal.pause()
END
stopped() { grep -q '^State:.T' "/proc/$1/status"; }
odd() {
	python3 odd.py &
	pid=$!
	disown
	wait_for 120 stopped $pid
}
odd

echo "--- a stopped process, exactly"
age() {
	awk -v now="$(cut -d. -f1 /proc/uptime)" \
		'{ sub(".*[)]", ""); print now - int($20 / 100) }' < <(tr '\n' ' ' </proc/$pid/stat)
}
least=$(($(cut -d. -f1 /proc/uptime) - $(cut -d. -f1 runs)))
seepage -j show $pid >show.json
most=$(age)
typed process show.json "show"
json '.user == "root" and .cmdline == "python3 odd.py"' show.json "show: user and command line"
# Newer kernels' /proc adds up what each CPU keeps to itself, 32 pages at most of each
# counter; the module, which reads every process, does not. Where /proc does, it
# agrees with the page tables.
slack=0
[[ $(awk '$1 == "Anonymous:" { print $2 }' /proc/$pid/smaps_rollup) != \
	$(awk '$1 == "RssAnon:" { print $2 }' /proc/$pid/status) ]] || slack=$((32 * 4096 * $(nproc)))
cat /proc/$pid/status >status
for key in anon:RssAnon file:RssFile shmem:RssShmem swap:VmSwap vsz:VmSize rss:VmRSS; do
	want=$(awk -v f="${key#*:}:" '$1 == f { print $2 * 1024 }' status)
	got=$(field ".${key%:*}_bytes" show.json) allowed=0
	case $key in
	anon:* | file:* | shmem:*) allowed=$slack ;;
	rss:*) allowed=$((3 * slack)) ;;
	esac
	((got - want <= allowed && want - got <= allowed)) ||
		die "${key%:*}_bytes: got $got, /proc has $want, $allowed may be off"
done
# What is shown adds up.
json '.rss_bytes == .anon_bytes + .file_bytes + .shmem_bytes' show.json "the parts of rss_bytes"
(($(field .anon_bytes show.json) > 5 << 20 && $(field .shmem_bytes show.json) >= 3 << 20 &&
	$(field .file_bytes show.json) >= 2 << 20 && $(field .vsz_bytes show.json) > 1 << 30)) ||
	die "the process has not the memory it took"
assert_eq "$(field .pid show.json)" $pid pid
assert_eq "$(field .uid show.json)" 0 uid
assert_eq "$(field .exe show.json)" "$(readlink /proc/$pid/exe)" exe
cgroup=$(sed -n 's/^0:://p' /proc/$pid/cgroup)
assert_eq "$(field .cgroup show.json)" "${cgroup:-null}" cgroup
# It is that of the program: from its exec, which is between fork and its first line.
(($(field .age_seconds show.json) >= least - 1 && $(field .age_seconds show.json) <= most + 1)) ||
	die "age_seconds $(field .age_seconds show.json), allowed $least..$most"
# Its floor was never seen to grow: not known, which is not zero.
json '.growth_bytes_per_hour == null and .tte_seconds == null and
	(.pmc == null) == (env.PMC_STATUS != "on")' show.json "unknown values"
seepage -j ps >ps.json
json 'type == "array" and length > 3' ps.json "ps"
jq '.[]' ps.json >each.json
typed process each.json "ps"
json "map(select(.pid == $pid)) | length == 1" ps.json "ps"
same='del(.age_seconds, .history, .gates, .fault_rate)'
agree() {
	seepage -j show $pid >again.json
	seepage -j ps >ps.json
	diff <(jq -S "$same" again.json) <(jq -S ".[] | select(.pid == $pid) | $same" ps.json) >diff.out
}
# A sample may come in between, but not every time.
agree || agree || agree || agree || die "ps and show differ: $(grep -m 1 '^[<>]' diff.out)"
json 'all(.[]; .gates == null and .history == null)' ps.json "ps: not sent, not known"
assert_eq "$(jq -c 'map(.confidence) | . == (sort | reverse)' ps.json)" true "ps is sorted by confidence"
seepage -j explain $pid >explain.json
typed process explain.json "explain"
typed 'wrong({headline: "string", verdict: "string", would_change: "string",
	gates: "array", history: "array", next: "array", last_alert: "?object", before: "?object"})' explain.json "explain"

echo "--- a name with a line break, an escape and bytes that are no text"
wanted_name='"a\n\u001b[31m\\xff\\xfe\"\\b"'
# harmless FILE WHAT: UTF-8 without control characters but line breaks
harmless() {
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || die "$2: no UTF-8"
	! tr -d '\n' <"$1" | LC_ALL=C grep '[[:cntrl:]]' >/dev/null ||
		die "$2: a control character: $(LC_ALL=C grep -a -m 1 '[[:cntrl:]]' "$1" | cat -v)"
}
# The name as a person sees it.
shown='a\x0a\x1b[31m\xff\xfe"\b'
json ".comm == $wanted_name" show.json "show: comm"
json ".comm == $wanted_name" explain.json "explain: comm"
json "any(.[]; .comm == $wanted_name)" ps.json "ps: comm"
harmless show.json "-j show"
harmless explain.json "-j explain"
harmless ps.json "-j ps"
for command in ps "show $pid" "explain $pid"; do
	# shellcheck disable=SC2086 # words
	seepage $command >text
	harmless text "$command"
	grep -qF -e "$shown" text || die "$command: the name is missing: $(head -n 1 text)"
done
# One row each, and the heading; a process or two may have come since.
((extra = $(seepage ps | wc -l) - 1 - $(seepage -j ps | jq length))) || true
((extra >= -2 && extra <= 2)) || die "ps: $extra rows too many"

echo "--- status, version, and pretty"
seepage -j status >status.json
typed status status.json "status"
json '.seq_first == null and .seq_last == null and .disabled == null' status.json "status without alerts"
seepage -j version >version.json
typed 'wrong({version: "string", module: "string", module_version: "string"})' version.json "version"
assert_eq "$(field .module_version version.json)" "$(</sys/module/seepage/version)" module_version
assert_eq "$(seepage -j alerts)" "" "alerts when there are none"
# pretty COMMAND...: the same keys over several lines. Of ps only the stopped process is
# compared: another one may come, go or be counted between two calls.
pretty() {
	local keys='[.. | objects | keys] | unique' how
	[[ $1 != ps ]] || keys="flatten | map(select(.pid == $pid)) | $keys"
	seepage -j "$@" >one
	seepage -p "$@" >pretty1
	seepage "$@" --json --pretty >pretty2
	for how in pretty1 pretty2; do
		assert_eq "$(jq -s -c "$keys" $how)" "$(jq -s -c "$keys" one)" "$how of '$*'"
		(($(wc -l <$how) > $(wc -l <one))) || die "$how of '$*' is not pretty"
	done
}
pretty status
pretty ps
pretty show $pid
pretty explain $pid
pretty get
pretty get policy
pretty version

echo "--- defaults"
cat >names.c <<'END'
#include <seepage/names.h>
#define NUMBER(ID, name, def, lo, hi, text) @KEY name def lo hi @
#define WORD(ID, name, def, text) @KEY name WORD_##ID##_##def - @
#define VALUE(ID, WORD, word) @VALUE WORD_##ID##_##WORD word @
SEEPAGE_CONFIG_NUMBERS(NUMBER) SEEPAGE_CONFIG_WORDS(WORD)
SEEPAGE_CONFIG_WORD_VALUES(VALUE)
END
cpp -P -I"$top/include" -I"$top/include/uapi" names.c | tr '@' '\n' | awk '
	$1 == "VALUE" { word[$2] = $3 }
	$1 == "KEY" { key[++n] = $2; def[n] = $3; allowed[n] = $5 ? $4 ".." $5 : $4 }
	END {
		for (i = 1; i <= n; i++)
			print key[i], def[i] in word ? word[def[i]] : def[i], allowed[i]
		print "pmc_events - NAME[=EVENT],..."
	}' | sort >defaults
(($(wc -l <defaults) >= 16)) || die "names.h: $(wc -l <defaults) keys"
cut -d' ' -f1,2 defaults >wanted
by_json() { seepage -j get | jq -r 'to_entries[] | "\(.key) \(if .value == "" then "-" else .value end)"' | sort; }
by_debugfs() { awk 'NR > 1 { print $1, $2 }' /sys/kernel/debug/seepage/config | sort; }
by_text() { seepage get | awk 'NR > 1 { print $1, $2 }' | sort; }
# everywhere WHAT: all tell what "wanted" says
everywhere() {
	local how
	for how in by_json by_debugfs by_text; do
		$how >got
		diff wanted got >diff.out || die "$1, $how: $(grep '^[<>]' diff.out | paste -sd ' ')"
	done
}
everywhere "defaults"
seepage get | awk 'NR > 1 { print $1, $3, $4 ~ /[.][.]/ ? $4 : "-" }' | sort >got
diff defaults got >diff.out || die "get: $(grep '^[<>]' diff.out | paste -sd ' ')"
# shellcheck disable=SC2016 # $k is jq's
json 'all(to_entries[]; .key as $k | (.value | type) == (if $k == "policy" or $k == "pmc" or $k == "pmc_events" then "string" else "number" end))' \
	<(seepage -j get) "types of get"

echo "--- set, in one place and seen in all"
cat >other <<END
sample_interval_ms 200
suspect_interval_ms 150
max_processes 4000
min_process_size_mb 0
alert_confidence 10
alert_interval_s 0
alerts_per_minute 100000
fault_rate_warning 11
fault_rate_critical 12
rss_growth_percent 51
monitoring_window_s 10
warmup_s 0
max_cpu_permille 1000
policy classic
pmc off
pmc_max_counters 2
pmc_events cycles
END
sort other >wanted
assert_eq "$(cut -d' ' -f1 wanted | paste -sd ' ')" "$(cut -d' ' -f1 defaults | paste -sd ' ')" "keys that are set"
! join wanted defaults | awk '$2 == $3 { exit 1 }' | grep . || die "a value is the default"
# shellcheck disable=SC2046 # words
seepage set $(<other)
everywhere "after set"

echo "--- alerts"
has_alert() { seepage -j alerts | jq -s -e "any(.[]; .pid == $pid)" >/dev/null; }
wait_for 120 has_alert
# The ring keeps the first of them, however slow what follows is: where that takes
# long, the programs of this case are told of too, and of their end.
seepage set alert_interval_s 3600 alerts_per_minute 1
seepage -j alerts >alerts.json
typed alert alerts.json "alerts"
assert_eq "$(wc -l <alerts.json)" "$(jq -s length alerts.json)" "alerts: lines and objects"
while read -r line; do
	jq -e 'type == "object"' <<<"$line" >/dev/null || die "alerts: a line that is no object: $line"
done < <(head -n 5 alerts.json)
assert_eq "$(jq -c "select(.pid == $pid) | .comm == $wanted_name" alerts.json | sort -u)" true "alerts: comm"
harmless alerts.json "-j alerts"
seepage alerts >text
harmless text "alerts"
grep -qF -e "$shown" text || die "alerts: the name is missing"
# A row each, and the heading; more may have come since. Below a row is what the process executes.
(($(wc -l <text) >= $(wc -l <alerts.json) + 1)) || die "alerts: $(wc -l <text) lines of text"
grep -qE '^    by root, parent [^ ]+ \([0-9]+\): python3 odd.py$' text || die "alerts: no command"
longest=$(awk '{ n = length($0) > n ? length($0) : n } END { print n }' text)
((longest <= 120)) || die "alerts: a line of $longest characters"
timeout 60 seepage watch --since 0 --count 1 >text
harmless text "watch"
first='^20[0-9-]{8} [0-9:]{8} #1 suspected: pid [0-9]+ \(.*\), RSS [0-9.]+ [KMG]?i?B(, [+-]?[0-9.]+ [KMG]?i?B/h)?(, .* left)?, severity [a-z-]+, confidence [0-9]+$'
sed -n 1p text | grep -E "$first" >/dev/null || die "watch: $(sed -n 1p text)"
command='^    by root, parent [^ ]+ \([0-9]+\): [^ ]'
sed -n 2p text | grep -E "$command" >/dev/null || die "watch, command: $(sed -n 2p text)"
sed -n 3p text | grep -E '^    (.*, )?address space [0-9]+ % of RSS \(over' >/dev/null || die "watch, factors: $(sed -n 3p text)"
assert_eq "$(wc -l <text)" 3 "lines of an alert in watch"
# What the ring holds is hinted at, where no program reads it.
for json in '' -j; do
	seepage -j status >status.json
	# shellcheck disable=SC2086 # none is none
	seepage $json watch --min-confidence 100 --timeout 1 >text 2>err
	[[ ! -s text ]] || die "watch $json: printed $(head -n 1 text)"
	grep -qE "^seepage: watch: [0-9]+ earlier alerts? (is|are) held: seepage alerts, or watch --since 1\$" err ||
		die "watch $json: hint: $(<err)"
	told=$(sed 's/^[^0-9]*\([0-9]*\) .*/\1/' err)
	((told >= $(field .seq_last status.json))) || die "watch $json: $told held"
done
seepage watch --since 0 --count 1 2>err >text
[[ ! -s err ]] || die "watch --since 0: $(<err)"
timeout 60 seepage -j watch --since 9999999 --count 1 >beyond.json 2>err
grep -qE "^seepage: watch: --since: '9999999': the last alert is [0-9]+ \\(module reloaded\\?\\), printing all\$" err ||
	die "watch --since 9999999: $(<err)"
assert_eq "$(field .seq beyond.json)" 1 "watch --since 9999999: first alert"
timeout 60 seepage -j watch --since 0 --count 1 >watch.json
typed alert watch.json "watch"
diff <(jq -c 'del(.cgroup, .exe, .unit, .unit_uid, .runtime, .container, .pod)' watch.json) <(head -n 1 alerts.json | jq -c 'del(.cgroup, .exe, .unit, .unit_uid, .runtime, .container, .pod)') >/dev/null ||
	die "watch and alerts print an alert differently"
now=$(date +%s)
json "(.time_ns / 1e9) as \$t | \$t > $now - 300 and \$t <= $now + 1" watch.json "time_ns"
pretty alerts
pretty watch --since 0 --count 1
seepage -j status >status.json
typed status status.json "status with alerts"
json '.seq_first == 1 and .seq_last >= 1 and .policy == "classic"' status.json "status with alerts"
seepage -j explain $pid >explain.json
json '.last_alert.state == "suspected" and .last_alert.seq >= 1' explain.json "explain: last_alert"
seepage -j show $pid >show.json
json '(.history | length) > 1 and all(.history[]; .epoch_ms >= 100 and .age_ms >= 0 and
	(.minima_bytes | length >= 1 and all(. > 0)))' show.json "show: history"
seepage show $pid | sed '1,/^floors: /d' >floors
levels=$(field '.history | length' show.json)	# one more may come meanwhile
seepage -j show $pid >after.json
rows=$(grep -c ' [_.:=+*#-]*$' floors)
((rows >= levels && rows <= $(field '.history | length' after.json))) ||
	die "show: floors of $rows levels, there are $levels"
! grep -E '.{81}' floors || die "show: floors wider than 80 columns"
grep -q '▁' <(LC_ALL=C.UTF-8 seepage show $pid) || die "show: no blocks where the locale has them"
kill -KILL $pid
gone() {
	seepage explain $pid >text 2>err && grep -q '^No process with this pid' text
}
wait_for 120 gone
tail -n +2 text | sed 's/is not known\|is no longer\|is gone//' >past
! grep -qE ' (is|are|has been|does|grows|counts) ' past || die "explain of the dead: $(grep -m 1 -E ' (is|are|has been|does|grows|counts) ' past)"
harmless text "explain of the dead"

echo "--- parameters"
# shellcheck disable=SC2046 # words
load $(tr ' ' = <other)
everywhere "parameters"
seepage set warmup_s 7 policy ladder
seepage reset config
everywhere "reset to the parameters"
unload
# refused PARAMETER=VALUE... -- WORD...: not loaded, and the log says the words
refused() {
	local given=() before
	while [[ $1 != -- ]]; do
		given+=("$1")
		shift
	done
	shift
	before=$(dmesg | wc -l)
	! insmod "$SEEPAGE_KO" "${given[@]}" 2>err || die "insmod takes ${given[*]}"
	[[ ! -e /sys/module/seepage ]] || die "${given[*]}: refused, and yet loaded"
	dmesg | tail -n +$((before + 1)) | grep 'seepage: ' >log || die "${given[*]}: not a word in the log"
	for word; do
		grep -qF -e "$word" log || die "${given[*]}: '$word' is missing in the log: $(tail -n 1 log)"
	done
}
while read -r key _ range; do
	[[ $range =~ ^[0-9]+\.\.[0-9]+$ ]] || continue
	low=${range%..*} high=${range#*..}
	refused "$key=$((high + 1))" -- "$key" "allowed $range" "$((high + 1)) given"
	((low == 0)) || refused "$key=$((low - 1))" -- "$key" "allowed $range" "$((low - 1)) given"
done <defaults
refused sample_interval_ms=-1 -- sample_interval_ms
refused sample_interval_ms=4294967296 -- sample_interval_ms
refused sample_interval_ms=fast -- sample_interval_ms
refused sample_interval_ms=500 -- "suspect_interval_ms must not exceed sample_interval_ms"
refused fault_rate_warning=1001 -- "fault_rate_warning must not exceed fault_rate_critical"
refused warmup_s=5 sample_interval_ms=99 -- sample_interval_ms "allowed 100..3600000"
refused policy=fast -- policy "'fast' given"
refused policy= -- policy
refused pmc=yes -- pmc "'yes' given"

echo "--- another interval, at once"
load sample_interval_ms=3600000 max_cpu_permille=1000
ticks() { seepage -j status | jq .ticks; }
uptime_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
# As many as the time allows: never more, and not less each time, as a host may
# be that busy once.
beats() {
	local interval=$1 from begin n ms try
	seepage set sample_interval_ms "$interval" suspect_interval_ms "$interval"
	for try in 1 2 3 4 5 6; do
		begin=$(uptime_ms) from=$(ticks)
		sleep 3
		n=$(($(ticks) - from)) ms=$(($(uptime_ms) - begin))
		echo "$interval ms: $n ticks in $ms ms"
		((n <= ms / interval + 2)) || die "sample_interval_ms $interval: $n ticks in $ms ms"
		((n < ms * 2 / 3 / interval)) || break
		((try < 6)) || die "sample_interval_ms $interval: $n ticks in $ms ms"
	done
	assert_eq "$(seepage -j status | jq .interval_ms)" "$interval" interval_ms
}
has_ticked() { (($(ticks) >= 1)); }
wait_for 120 has_ticked
sleep 1
assert_eq "$(ticks)" 1 "ticks at an interval of an hour"
beats 500
beats 100
beats 1000
# And slower: the one that was due by the old interval may still come.
seepage set sample_interval_ms 3600000
still() {
	local from
	from=$(ticks)
	sleep 3
	(($(ticks) == from))
}
still || still || die "ticks at an interval of an hour again"

# A refused word is told with those that are allowed.
unload
refused policy=fast -- policy ladder classic
refused pmc=yes -- pmc auto off
