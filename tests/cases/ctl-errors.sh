#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Errors of the controller: one line on stderr that names the word and what is allowed,
# exit status 1 (failed) or 2 (usage), nothing on stdout, and nothing changed.
# vm: --smp 2 --mem 1024
# about: ctl kmod/config.c kmod/netlink
# takes: 28
# timeout: 600
. "$(dirname "$0")/lib.sh"
chmod 755 .

# fails STATUS COMMAND...: with one line, and without any other output
fails() {
	local want=$1 status=0
	shift
	# No process more than needed: there are hundreds of these.
	"$@" >out 2>err || status=$?
	mapfile -t said <err
	assert_eq $status "$want" "status of '$*' (${said[*]})"
	assert_eq ${#said[@]} 1 "lines on stderr of '$*' (${said[*]})"
	[[ ! -s out ]] || die "'$*' fails, but prints '$(head -n 1 out)'"
}

# says WORD...: the text contains each
says() {
	local word text
	mapfile -t said <err
	text="${said[*]}"
	for word; do
		[[ $text == *"$word"* ]] || die "'$word' is missing in '$text'"
	done
}

# does COMMAND...: succeeds without a word on stderr
does() {
	local status=0
	"$@" >out 2>err || status=$?
	assert_eq $status 0 "status of '$*' ($(<err))"
	[[ ! -s err ]] || die "'$*' succeeds, but says '$(head -n 1 err)'"
}

config() { seepage -j get; }
unchanged() { assert_eq "$(config)" "$before" "configuration after $1"; }

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
perfmon=("${nobody[@]}" --inh-caps +perfmon --ambient-caps +perfmon)

echo "--- usage, which needs no module"
unload
fails 2 seepage frobnicate
says "unknown command 'frobnicate': allowed status ps" version help
fails 2 seepage -x status
says "unknown option '-x': allowed -j -p -h -V"
fails 2 seepage --frob status
says "unknown option '--frob'"
fails 2 seepage status --frob
says status "unknown option '--frob': allowed -j -p -h "
fails 2 seepage watch --frob
says watch "unknown option '--frob': allowed --since" "-j -p -h "
fails 2 seepage ps -jx
says ps "unknown option '-jx'"
fails 2 seepage help frobnicate
says "unknown command 'frobnicate': allowed status ps" version help
fails 2 seepage help watch frobnicate
says "unexpected word 'frobnicate': allowed [COMMAND]"
fails 2 seepage --version frobnicate
says "unexpected word 'frobnicate'"
fails 2 seepage replay --policy frobnicate a.series
says replay policy "'frobnicate'" ladder
fails 2 seepage replay --set frobnicate=1 a.series
says replay "'frobnicate'" warmup_s
fails 1 seepage replay /bin/true
says replay /bin/true "not a recording"
for command in show explain; do
	fails 2 seepage $command
	says $command missing PID
	for pid in 0 -1 abc '' 1.5 12abc 2147483648 99999999999999999999 '#' '#0' '#x'; do
		fails 2 seepage $command "$pid"
		says $command "'$pid'" 1..2147483647 "or '#N'"
	done
	fails 2 seepage $command 1 2
	says $command "unexpected word '2'"
done
fails 2 seepage set
says set missing KEY
fails 2 seepage set policy
says set policy missing
fails 2 seepage set policy classic sample_interval_ms
says set sample_interval_ms missing
fails 2 seepage apply
says apply missing FILE
fails 2 seepage apply a b
says apply "unexpected word 'b'"
fails 2 seepage get policy pmc
says get "unexpected word 'pmc'"
fails 2 seepage status now
says status "unexpected word 'now'"
reset_words='allowed history [PID]|alerts|counters|config|all'
for words in '' --; do
	# shellcheck disable=SC2086 # none is none
	fails 2 seepage reset $words
	says reset "words are missing: ${reset_words#allowed }"
done
fails 2 seepage reset everything
says reset "'everything'" "$reset_words"
fails 2 seepage reset ''
says reset "''" "$reset_words"
fails 2 seepage reset 1
says reset "'1'" "$reset_words"
fails 2 seepage reset alerts 1
says reset "'1'" "$reset_words"
fails 2 seepage reset history 0
says reset "'0'" 1..2147483647
fails 2 seepage reset history abc
says reset "PID: 'abc': allowed 1..2147483647"
fails 2 seepage reset history 1 --pid 2
says reset "'1'" twice
for words in "alerts --pid 1" "history 1 alerts" "all --pid 1"; do
	# shellcheck disable=SC2086 # words
	fails 2 seepage reset $words
	says reset "PID: '1': allowed with history alone"
done
fails 2 seepage watch --count
says watch --count missing
fails 2 seepage watch --count 0
says watch --count "'0'" 1..
fails 2 seepage watch --timeout x
says watch --timeout "'x'" 1..
fails 2 seepage watch --since -1
says watch --since "'-1'" 0..
fails 2 seepage watch --min-confidence 101
says watch --min-confidence "'101'" 0..100
for command in watch ps; do
	for option in --state --states; do
		fails 2 seepage $command $option suspected,guilty
		says $command "'guilty'" confirmed runaway
	done
done
fails 2 seepage alerts --since x
says alerts --since "'x'"
fails 2 seepage ps --uid no-such-user
says ps --uid no-such-user
fails 2 seepage ps --comm 0123456789abcdef
says ps --comm 0123456789abcdef 15
fails 2 seepage ps --limit 0
says ps --limit "'0'" 1..
status=0
seepage >out 2>err || status=$?
assert_eq $status 2 "status without a command"
[[ ! -s out ]] || die "without a command: usage is on stdout"
says usage: status explain watch
does seepage --help
does seepage help watch
does seepage help help
grep -q '^usage: seepage ' out || die "help help: $(head -n 1 out)"
does seepage --version
cp out version.out
does seepage -V
assert_eq "$(<out)" "$(<version.out)" "-V and --version"
does seepage watch -h

echo "--- no module"
echo '{"policy": "classic"}' >good.json
while read -r -a words; do
	for json in '' -j; do
		# shellcheck disable=SC2086 # none is none
		fails 1 seepage $json "${words[@]}"
		assert_eq "$(<err)" "seepage: module not loaded (modprobe seepage)" "${words[*]}"
	done
done <<END
status
ps
show $$
explain $$
watch
alerts
get
get policy
set policy classic
apply good.json
reset all
reset alerts
reset history 1
END
does seepage version
assert_eq "$(sed -n 2p out)" "module: not loaded" "version"
does seepage -j version
assert_eq "$(jq -c '[.module, .module_version]' out)" '["not loaded",null]' "version -j"
does seepage apply --check good.json
# Without a module it is the defaults that a file must go with.
echo '{"sample_interval_ms": 500}' >pair.json
fails 1 seepage apply --check pair.json
says apply pair.json "suspect_interval_ms must not exceed sample_interval_ms" "1000 by default"

echo "--- set"
load
before=$(config)
for value in abc -1 1.5 4294967296 99999999999999999999 '' ' ' 0x64 1e3 +500 ' 500' '500 ' 500ms; do
	fails 2 seepage set sample_interval_ms "$value"
	says set sample_interval_ms "'$value'" "allowed 100..3600000"
	fails 2 seepage set "sample_interval_ms=$value"
	says set sample_interval_ms "'$value'" "allowed 100..3600000"
done
unchanged "values that are no numbers"
seepage get | awk '$4 ~ /^[0-9]+[.][.]/ { sub("[.][.]", " ", $4); print $1, $4 }' >ranges
assert_eq "$(wc -l <ranges)" 14 "numbers in the configuration"
while read -r key low high; do
	for value in $((low - 1)) $((high + 1)); do
		fails 2 seepage set "$key" "$value"
		says set "$key" "'$value'" "allowed $low..$high"
	done
done <ranges
for value in fast '' 1 Classic 'classic ' ladder,classic; do
	fails 2 seepage set policy "$value"
	says set policy "'$value'" "ladder" "classic"
done
fails 2 seepage set pmc yes
says set pmc "'yes'" auto off
fails 2 seepage set interval 5
says set "'interval'" sample_interval_ms max_cpu_permille
fails 2 seepage get interval
says get "'interval'" sample_interval_ms max_cpu_permille
fails 2 seepage set policy classic policy ladder
says set policy twice
fails 2 seepage set alert_confidence 50 sample_interval_ms 5
says set sample_interval_ms "'5'" "allowed 100..3600000"
unchanged "what set refused"

# Each is right by itself; only the module can tell.
fails 1 seepage set sample_interval_ms 500 suspect_interval_ms 1000
says set "suspect_interval_ms must not exceed sample_interval_ms"
fails 1 seepage set alert_confidence 55 sample_interval_ms 999
says set "suspect_interval_ms must not exceed sample_interval_ms"
fails 1 seepage set fault_rate_warning 1001 warmup_s 5
says set "fault_rate_warning must not exceed fault_rate_critical"
unchanged "configurations that contradict themselves"
does seepage set sample_interval_ms 500 suspect_interval_ms=500 alert_confidence 55
assert_eq "$(config | jq -c '[.sample_interval_ms, .suspect_interval_ms, .alert_confidence]')" \
	"[500,500,55]" "set of three keys"
does seepage reset config
unchanged "reset config"

echo "--- apply"
# refused TEXT WORD...: this file is, and the line says each of these
refused() {
	printf '%s' "$1" >bad.json
	shift
	fails 1 seepage apply bad.json
	says apply bad.json "$@"
	fails 1 seepage apply - <bad.json
	says apply "$@"
}
shape='{"KEY": VALUE, ...}'
refused '' 'line 1' 'not JSON' "$shape"
refused $'# mine\npolicy=classic\n' 'line 1' 'not JSON' "$shape"
refused '{' 'line 1' 'not JSON' "$shape"
refused '{"alert_confidence": 50,}' 'line 1'
refused $'{\n"alert_confidence": 50,\n"policy" "classic"}' 'line 3'
refused '{"alert_confidence": 50} x' 'line 1'
refused "{'alert_confidence': 50}" 'line 1'
refused '{"alert_confidence": 50 /* }' 'line 1'
refused $'\n[]' 'line 2' object array "$shape"
refused '5' 'line 1' object "$shape"
refused '{"alert_confidence": 50, "colour": 1}' "'colour'" sample_interval_ms
refused '{"alert_confidence": 50, "thresholds": {"colour": 1}}' "'thresholds.colour'" \
	'allowed fault_rate_warning fault_rate_critical rss_growth_percent monitoring_window_sec'
refused '{"alert_confidence": 50, "thresholds": 5}' thresholds "'5'" 'an object is expected'
refused '{"alert_confidence": "50"}' alert_confidence '"50"' 'allowed 0..100' 'without quotes'
refused '{"alert_confidence": 50.5}' alert_confidence 50.5 'allowed 0..100'
refused '{"alert_confidence": 5e1}' alert_confidence 5e1 'allowed 0..100'
refused '{"alert_confidence": true}' alert_confidence true 'allowed 0..100'
refused '{"alert_confidence": null}' alert_confidence null 'allowed 0..100'
refused '{"alert_confidence": [50]}' alert_confidence '[50]' 'allowed 0..100'
refused '{"alert_confidence": -1}' alert_confidence -1 'allowed 0..100'
refused '{"alert_confidence": 101}' alert_confidence 101 'allowed 0..100'
refused '{"alert_confidence": 4294967346}' alert_confidence 4294967346 'allowed 0..100'
refused '{"alert_confidence": 99999999999999999999}' alert_confidence 99999999999999999999 'allowed 0..100'
refused '{"policy": 1}' policy "'1'" ladder classic 'in double quotes'
refused '{"policy": "fast"}' policy fast ladder classic
refused '{"alert_confidence": 50, "warmup_s": 5, "alert_confidence": 60}' alert_confidence twice
refused '{"alert_confidence": 50, "alerting": {"confidence_threshold": 60}}' confidence_threshold twice
refused '{"alert_confidence": 50, "warmup_s": 5, "policy": "classic", "max_processes": 15}' \
	max_processes "'15'" 'allowed 16..65536'
# The module tells: it does not know of files. --check tells what it would say.
echo '{"alert_confidence": 50, "sample_interval_ms": 999}' >bad.json
fails 1 seepage apply bad.json
says apply "suspect_interval_ms must not exceed sample_interval_ms"
fails 1 seepage apply --check bad.json
says apply bad.json "suspect_interval_ms must not exceed sample_interval_ms" "1000 now, 999"
seepage set suspect_interval_ms 500
does seepage apply --check pair.json
seepage reset config
fails 1 seepage apply --check pair.json
fails 1 seepage apply no-such-file.json
says apply no-such-file.json "No such file"
fails 1 seepage apply .
says apply "Is a directory"
head -c 2000000 /dev/zero | tr '\0' ' ' >huge.json
fails 1 seepage apply huge.json
says apply huge.json "too large"
unchanged "what apply refused"
says_ok() { assert_eq "$(config | jq -c "[$1]")" "$2" "after apply"; }
echo '{"alert_confidence": 50, "policy": "classic"}' >flat.json
does seepage apply --check flat.json
unchanged "apply --check"
does seepage apply flat.json
says_ok '.alert_confidence, .policy' '[50,"classic"]'

cat >older.json <<'END'
{
  // of a tracer that went before
  "production_config": {
    "thresholds": {
      "fault_rate_warning": 250,	// faults a second
      "fault_rate_critical": 750,	/* the same */
      "rss_growth_percent": 140,
      "monitoring_window_sec": 110, // "quotes" in { a comment
      "min_process_size_mb": 40
    },
    "alerting": {
      "confidence_threshold": 85,
      "rate_limit_seconds": 900,
      "escalation_delay_minutes": 15 // there is nobody to escalate to
    },
    "performance": { "max_processes": 4000 }
  }
}
END
"$(type -P seepage)" apply older.json >out 2>err || die "older.json: $(<err)"
[[ ! -s out ]] || die "apply older.json prints '$(<out)'"
assert_eq "$(wc -l <err)" 1 "older.json: lines on stderr"
says apply warning alerting.escalation_delay_minutes
says_ok '.fault_rate_warning, .fault_rate_critical, .rss_growth_percent, .monitoring_window_s,
	.min_process_size_mb, .alert_confidence, .alert_interval_s, .max_processes, .policy' \
	'[250,750,140,110,40,85,900,4000,"classic"]'
does seepage reset config
unchanged "reset config"

echo "--- processes that are none"
for command in show explain; do
	fails 1 seepage $command 2147483647
	assert_eq "$(<err)" "seepage: $command: pid 2147483647: no such process" "$command"
	fails 1 seepage -j $command 2147483647
	says $command "pid 2147483647: " "no such process"
	fails 1 seepage $command 2
	says $command "pid 2: " "kernel thread"
done
sleep 0 &
gone=$!
wait $gone
fails 1 seepage show $gone
says show "pid $gone: " "no such process"
for words in "--pid 2147483647" "history 2147483647" "history --pid 2147483647"; do
	# shellcheck disable=SC2086 # words
	fails 1 seepage reset $words
	says reset "pid 2147483647: " "no such process"
done
fails 1 seepage reset --pid 2
says reset "pid 2: " "kernel thread"

echo "--- nobody"
"${nobody[@]}" sleep 1000 &
theirs=$!
sleep 1000 &
ours=$!
disown
wait_for 120 grep -q 'Uid:.65534' /proc/$theirs/status
before=$(config)
while read -r cap words; do
	read -r -a words <<<"$words"
	for json in '' -j; do
		# shellcheck disable=SC2086 # none is none
		fails 1 "${nobody[@]}" seepage $json "${words[@]}"
		says "${words[0]}" "not permitted" "$cap"
	done
done <<END
CAP_PERFMON status
CAP_PERFMON get
CAP_PERFMON get policy
CAP_PERFMON alerts
CAP_PERFMON show $ours
CAP_PERFMON explain $ours
CAP_PERFMON show 1
CAP_SYS_ADMIN set policy classic
CAP_SYS_ADMIN apply flat.json
CAP_SYS_ADMIN watch
CAP_SYS_ADMIN watch --since 0
CAP_SYS_ADMIN watch --wait
CAP_SYS_ADMIN reset all
CAP_SYS_ADMIN reset alerts
CAP_SYS_ADMIN reset history
CAP_SYS_ADMIN reset --pid $theirs
END
unchanged "what nobody tried"
"${nobody[@]}" seepage ps >out 2>err || die "nobody's ps: status $?"
assert_eq "$(<err)" "seepage: ps: only your own processes (others need CAP_PERFMON or CAP_SYS_ADMIN)" "nobody's ps"
"${nobody[@]}" seepage -j ps >out 2>err || die "nobody's -j ps: status $?"
assert_eq "$(jq -c '[.[].uid] | unique' out)" '[65534]' "users in nobody's ps"
jq -e --argjson pid $theirs 'any(.[]; .pid == $pid)' out >/dev/null || die "ps does not show nobody's sleep"
assert_eq "$(seepage -j ps --uid 65534 | jq -c 'map(select(.comm == "sleep") | .pid)')" \
	"[$theirs]" "root's ps --uid 65534"
does "${nobody[@]}" seepage -j show $theirs
assert_eq "$(jq -c '[.pid, .comm, .uid]' out)" "[$theirs,\"sleep\",65534]" "nobody's show"
does "${nobody[@]}" seepage explain $theirs
does "${nobody[@]}" seepage version
grep -q '^module: [0-9]' out || die "nobody's version: $(sed -n 2p out)"
# One capability is enough to read, and not to write.
does "${perfmon[@]}" seepage status
does "${perfmon[@]}" seepage ps
does "${perfmon[@]}" seepage -j show $ours
does "${perfmon[@]}" seepage alerts
fails 1 "${perfmon[@]}" seepage set policy classic
says set "not permitted" CAP_SYS_ADMIN
fails 1 "${perfmon[@]}" seepage watch
assert_eq "$(<err)" "seepage: watch: not permitted: needs CAP_SYS_ADMIN" "watch with CAP_PERFMON"
fails 1 "${nobody[@]}" seepage watch
assert_eq "$(<err)" "seepage: watch: not permitted: needs CAP_SYS_ADMIN" "nobody's watch"
unchanged "what CAP_PERFMON tried"
kill $theirs $ours

echo "--- a full disk"
for words in status "-j status" ps "-j ps" "show $$" "-j show $$" "explain $$" get "-j get" \
	"get policy" alerts version "-j version" help "help watch"; do
	status=0
	# shellcheck disable=SC2086 # words
	seepage $words >/dev/full 2>err || status=$?
	assert_eq $status 1 "status of '$words' on a full disk"
	assert_eq "$(<err)" "seepage: cannot write: No space left on device" "$words"
done
load policy=classic warmup_s=0 min_process_size_mb=0 alert_confidence=0 fault_rate_warning=1 \
	alerts_per_minute=100000 sample_interval_ms=100 suspect_interval_ms=100
python3 -c 'import time; time.sleep(1000)' &
disown
has_alerts() { (($(seepage -j status | jq '.seq_last // 0') > 0)); }
wait_for 120 has_alerts
for words in "-j alerts" "watch --since 0" "-j watch --since 0"; do
	status=0
	# shellcheck disable=SC2086 # words
	timeout 60 seepage $words >/dev/full 2>err || status=$?
	assert_eq $status 1 "status of '$words' on a full disk"
	assert_eq "$(<err)" "seepage: cannot write: No space left on device" "$words"
done
