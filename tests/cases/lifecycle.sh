#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The alerts about a process from the first suspicion to its exit, and their number.
# Policy ladder: real programs that leak. Policy classic: programs with a score that goes
# up and down.
# vm: --warp --mem 2048
# about: kmod
# takes: 48
# timeout: 6000
. "$(dirname "$0")/lib.sh"
flap=$top/build/tests/flap
trace=/sys/kernel/tracing
names=(ok watch suspected confirmed runaway recovered exited)

status() { seepage -j status | field "$1"; }
state() { seepage -j show "$1" | field .state; }
# Suspected or already more: the one follows the other within half a minute.
accused() { [[ $(state "$1") =~ ^(suspected|confirmed)$ ]]; }
states_are() { [[ $(state "$1") == "$2" ]]; }
# told PID: the states it was told of, in order, with its name
told() { seepage -j alerts | jq -rs "[.[] | select(.pid == $1) | \"\(.comm | sub(\"[0-9]+$\"; \"\")):\(.state)\"] | join(\" \")"; }
# Where passes come late, as with a clock that jumps, growth has lasted long enough for
# confirmed by the first one that could say suspected.
told_to_its_end() {
	[[ $(told "$1") =~ ^perl:(suspected|suspected\ perl:confirmed|confirmed)\ perl:exited$ ]]
}
# That the last it was told of is an alert; which one it is by now depends on the host.
told_of() { [[ $(told "$1") =~ (suspected|confirmed|runaway)$ ]]; }
found_again() {
	(($(seepage -j alerts | jq -s "[.[] | select(.pid == $1 and .prev_state == \"watch\")] | length") > 1))
}
told_last() { [[ $(told "$1") == *"$2" ]]; }
is_now() { [[ $(seepage -j show "$1" | field '"\(.comm) \(.state) \(.confidence)"') == "$2" ]]; }
in_ring() { seepage -j alerts | jq -s "$1"; }
end() {
	kill -KILL "$@" 2>/dev/null || true
	wait "$@" 2>/dev/null || true
}

# No number left out, none twice, from 1 to what the status says.
check_numbers() {
	assert_eq "$(in_ring '[.[].seq] == [range(1; length + 1)]')" true "$1: numbers without a gap"
	assert_eq "$(in_ring length)" "$(status .seq_last)" "$1: alerts and seq_last"
	assert_eq "$(in_ring length)" "$(status .counters.alerts)" "$1: alerts and their counter"
}

# Each program has a name of its own: processes of one name are one subject, and those that
# come later are its next lives. service-alerts.sh is about that.
born=0

# ---- policy ladder: a perl program that keeps half a megabyte a second ----
# USR1: gives all back and stops. USR2: another program, in place.
cat >leak.pl <<'END'
use Time::HiRes qw(sleep);
my ($kb, @kept, $stop) = ($ARGV[0]);
$SIG{USR1} = sub { @kept = (); $stop = 1 };
$SIG{USR2} = sub { exec "sleep", "100000" };
while (1) {
	push @kept, "x" x ($kb * 1024) unless $stop;
	sleep 1;
}
END
# It has its name from exec on: one that renames itself may be sampled before that.
leak() {
	born=$((born + 1))
	ln -s "$(command -v perl)" perl$born
	./perl$born leak.pl "$1" &
	pid=$!
}

load
seepage -j watch >watched &
watch=$!
# lockdown=confidentiality refuses the files of the tracer
traced=1
[[ $(lockdown_level) != confidentiality ]] || traced=''
if [[ $traced ]]; then
	echo 2048 >$trace/buffer_size_kb
	echo 'state > 0' >$trace/events/seepage/seepage_state/filter
	echo 1 >$trace/events/seepage/seepage_state/enable
fi
leak 512
releases=$pid
leak 512
killed=$pid
leak 512
execs=$pid
begin=$SECONDS

wait_long 900 accused $releases
echo "512 KB/s: suspected after $((SECONDS - begin)) s, $(seepage -j show $releases | jq -c '[.confidence, .tte_seconds]') confidence and s to exhaustion"
wait_long 100 accused $killed
wait_long 100 accused $execs
seepage explain $releases >explained
grep -q . explained || die "explain says nothing"
# On a busy host, where the guest's clock jumps, perl gets less than it asks for:
# its mean since it began is what the rate has to be.
read -r rate mean < <(seepage -j show $releases |
	jq -r '"\(.growth_bytes_per_hour) \(.anon_bytes / .age_seconds * 3600 | floor)"')
((mean > 512 * 3600 * 1024 / 2)) || die "growth: perl takes only $mean bytes an hour"
((rate > mean * 9 / 10 && rate < mean * 12 / 10)) ||
	die "growth: $rate bytes an hour, it takes $mean"

kill -KILL $killed
wait $killed 2>/dev/null || true
kill -USR2 $execs
wait_long 30 told_to_its_end $killed
wait_long 30 told_to_its_end $execs
wrong=$(seepage -j alerts | jq -c 'select(.severity !=
	if .state == "exited" then ([.severity, 6] | max)
	elif .state == "suspected" then (if .tte_seconds < 3600 then 8 else 6 end)
	else .severity end) | [.state, .severity, .tte_seconds]')
assert_eq "$wrong" "" "severity of alerts"
# exec() changes the mm before the name: a record that is made in between has the old name
# until the next pass.
wait_long 30 is_now $execs "sleep ok 0"
echo "killed: $(told $killed); exec: $(told $execs), and pid $execs is sleep, ok"

wait_long 1500 states_are $releases confirmed
echo "512 KB/s: confirmed after $((SECONDS - begin)) s"
kill -USR1 $releases
wait_long 120 states_are $releases recovered
sleep 900
[[ $(told $releases) =~ ^(perl:suspected\ )?perl:confirmed\ perl:recovered$ ]] ||
	die "told of the one that gave back, 15 min later: $(told $releases)"
assert_eq "$(state $releases)" ok "state of the one that gave back, 15 min later"
told_to_its_end $killed || die "told of the killed one, 15 min later: $(told $killed)"
told_to_its_end $execs || die "told of the one that executed, 15 min later: $(told $execs)"
echo "gave back: $(told $releases)"
# path_is_known: every state it was in, without repetition.
path_is_known() {
	local path s
	path=$(awk -v p=" pid=$releases " 'index($0, p) { match($0, / state=[0-9]+/)
	s = substr($0, RSTART + 7, RLENGTH - 7); if (s != last) printf "%s ", s; last = s }' $trace/trace)
	# shellcheck disable=SC2086 # a list
	path=$(for s in $path; do echo "${names[s]}"; done | xargs)
	[[ $path =~ ^watch\ (suspected\ )?confirmed\ recovered$ ]] || die "the states it went through: $path"
	echo 0 >$trace/events/seepage/seepage_state/enable
}
[[ ! $traced ]] || path_is_known
end $releases $execs
sleep 12
assert_eq "$(in_ring length)" "$(wc -w <<<"$(told $releases) $(told $killed) $(told $execs)")" \
	"alerts in all"
check_numbers ladder
# What watch printed is what the ring holds.
end $watch
assert_eq "$(jq -sc '[.[] | [.seq, .pid, .state]]' watched)" \
	"$(seepage -j alerts | jq -sc '[.[] | [.seq, .pid, .state]]')" "watch and alerts"

# RESET of the history of one: no memory of the alert; and it is found again.
leak 4096
wait_long 300 told_of $pid
seepage reset --pid $pid history
assert_eq "$(seepage -j show $pid | field '"\(.state) \(.confidence)"')" "ok 0" "after reset history"
before=$(in_ring length)
wait_long 300 found_again $pid
echo "reset history: ok at once, found again: $(told $pid)"
end $pid
wait_long 30 told_last $pid exited
(($(in_ring length) > before)) || die "reset: nothing new was told"
leak 4096
wait_long 300 told_of $pid
seepage reset history
end $pid
sleep 12
told_of $pid || die "exit of one whose history was forgotten: $(told $pid)"
check_numbers reset

# ---- policy classic: programs whose score goes up and down ----
flap() {
	born=$((born + 1))
	cp "$flap" flap$born
	./flap$born "$@" &
	pid=$!
}

# A threshold that a small load exceeds; 70 points come from its shape.
classic=(policy=classic warmup_s=0 sample_interval_ms=2000 monitoring_window_s=10
	fault_rate_warning=8 suspect_interval_ms=1000)

# Bursts of 20 s every 80 s for 15 min, by the clock of the guest.
load "${classic[@]}"
flap 20 60 20 5
pid=$!
begin=$SECONDS
sleep 900
seepage -j alerts >flapped
took=$((SECONDS - begin))
gaps=$(jq -sc "[.[] | select(.pid == $pid and .state == \"suspected\").time_ns / 1e9] |
	[range(1; length) as \$i | .[\$i] - .[\$i - 1] | floor]" flapped)
bursts=$(jq -s "[.[] | select(.pid == $pid and .state == \"suspected\")] | length" flapped)
held=$(status .counters.alerts_suppressed)
echo "flapping every 80 s for $took s: $bursts times suspected, $gaps s apart, $held held back"
((bursts >= 2 && bursts <= 1 + took / 300)) || die "flapping: $bursts times suspected in $took s"
assert_eq "$(jq 'all(. >= 300)' <<<"$gaps")" true "flapping: 300 s between two alerts ($gaps)"
((held >= 5)) || die "flapping: alerts_suppressed is $held"
# suspected, recovered, suspected, ...: the last burst may not be over
assert_eq "$(jq -sc "[.[] | select(.pid == $pid).state] | . == [range(length) as \$i |
	if \$i % 2 == 0 then \"suspected\" else \"recovered\" end]" flapped)" true \
	"flapping: suspected and recovered in turn"
# The limit is a setting: without it each burst is told.
seepage set alert_interval_s 0
held=$(status .counters.alerts_suppressed)
before=$(in_ring length)
sleep 320
n=$(in_ring ".[$before:] | [.[] | select(.state == \"suspected\")] | length")
((n >= 3)) || die "alert_interval_s 0: $n alerts in four bursts"
assert_eq "$(status .counters.alerts_suppressed)" "$held" "alert_interval_s 0: held back"
echo "alert_interval_s 0: $n of 4 bursts told"
end $pid
check_numbers flapping

# What was held back is told later, if it still holds.
load "${classic[@]}" alert_interval_s=120
flap 20 20 20 5
pid=$!
wait_long 60 told_last $pid suspected
end $pid
flap 1000 0 20 5
pid=$!
seepage set alerts_per_minute 1
others=()
for _ in 1 2 3 4; do
	flap 1000 0 20 5
	others+=($!)
done
sleep 400
seepage -j alerts | jq -sc '[.[] | select(.state == "suspected").time_ns / 1e9]' >told_at
n=$(jq length told_at)
assert_eq "$n" 6 "alerts_per_minute 1: processes told of in 400 s"
assert_eq "$(jq '[range(1; length) as $i | .[$i] - .[$i - 1]] | .[1:] | all(. >= 58)' told_at)" true \
	"alerts_per_minute 1: a minute between two alerts ($(<told_at))"
held=$(status .counters.alerts_suppressed)
((held >= 4)) || die "alerts_per_minute 1: alerts_suppressed is $held"
echo "alerts_per_minute 1: five at once were told $(jq -c '[range(1; length) as $i | .[$i] - .[$i - 1] | floor]' told_at) s apart, $held held back"

# Another policy, live: the alert of the old one is over, and back again.
seepage set alerts_per_minute 60 alert_interval_s 0
seepage set policy ladder
wait_long 30 told_last $pid recovered
assert_eq "$(seepage -j show $pid | field .policy)" ladder "policy of the verdict"
assert_eq "$(told $pid)" "flap:suspected flap:recovered" "policy ladder: told"
seepage set policy classic
wait_long 60 told_last $pid suspected
echo "policy live: $(told $pid)"

# min_process_size_mb, live.
seepage set min_process_size_mb 40
wait_long 30 told_last $pid recovered
assert_eq "$(state $pid)" recovered "min_process_size_mb 40, 20 MB: state"
n=$(in_ring length)
sleep 60
assert_eq "$(in_ring length)" "$n" "min_process_size_mb 40: alerts of smaller ones"
seepage set min_process_size_mb 10
wait_long 60 told_last $pid suspected
end $pid "${others[@]}"
wait_long 30 told_last $pid exited
echo "min_process_size_mb live: $(told $pid)"
check_numbers limits
