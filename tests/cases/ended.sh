#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Why it ended: an alert about an exit has the exit code, the signal, the OOM killer and the
# cgroup that it acted for, or that another program was executed. What the process was is shown
# after its death, and is never taken from a later process of the same pid.
# vm: --smp 2 --mem 900
# about: kmod/end.c kmod/alert.c kmod/hook_life.c ctl/lib/end.c ctl/lib/procfs.c ctl/cmd
# takes: 80
# timeout: 1200
. "$(dirname "$0")/lib.sh"
scratch=$(mktemp -d)
# Nothing that this case needs may be killed in place of what leaks.
for dir in /proc/[0-9]*; do
	echo -1000 >"$dir/oom_score_adj" 2>/dev/null || true
done
pin bash grep jq perl seepage sleep tail

# leak NAME HOW...: a program of that name gains 512 KB each 1/5 s until it finds
# $scratch/NAME.go; sets pid and pids[NAME].
declare -A pids=()
leak() {
	cp "$(command -v perl)" "$scratch/$1"
	# shellcheck disable=SC2016 # perl's
	"$scratch/$1" -e '($go, $kb, @how) = @ARGV;
		if (open my $f, ">", "/proc/self/oom_score_adj") { print $f 1000; close $f }
		until (-e $go) { push @a, "x" x ($kb << 10); select undef, undef, undef, 0.2 }
		if ($how[0] eq "exit") { exit $how[1] }
		if ($how[0] eq "exec") { exec "sleep", 1000 }
		if ($how[0] eq "kill") { kill $how[1], $$; sleep 100 }' "$scratch/$1.go" "${kb:-512}" "${@:2}" &
	pid=$!
	pids[$1]=$pid
}
of() { seepage -j alerts | jq -c "select(.comm == \"$1\")"; }
is_told() { [[ $(of "$1" | jq -rs '.[0].state') == @(suspected|confirmed|runaway) ]]; }
# heard NAME STATE..: what watch said. Four programs more each time that it is asked for take
# as much of the machine as what is waited for.
heard() {
	local IFS='|'
	grep -qE "\"comm\":\"$1\".*\"state\":\"(${*:2})\"" watched
}
alarmed() { heard "$1" suspected confirmed runaway; }
is_last() { [[ $(of "$1" | jq -rs '.[-1].state') == "$2" ]]; }
has_ended() { heard "$1" exited; }
has_identity() { of "$1" | jq -se 'any(.cmdline != null)' >/dev/null; }
end_of() { of "$1" | jq -sc '.[-1].end | [.kind, .code, .signal, .oom]'; }

# reuse_pid PID: a sleep that has this pid, of a process that has ended. A kernel without
# CONFIG_CHECKPOINT_RESTORE is given so few pids that they soon come round again.
reuse_pid() {
	local i tries=5 last=/proc/sys/kernel/ns_last_pid most
	if [[ ! -e $last ]]; then
		most=$(cat /proc/sys/kernel/pid_max)
		sleep 0 &
		echo $(($! > $1 ? $! + 100 : $1 + 100)) >/proc/sys/kernel/pid_max
		wait $!
		tries=$(($(cat /proc/sys/kernel/pid_max) + 100))
	fi
	for ((i = 0; i < tries; i++)); do
		[[ ! -e $last ]] || echo $(($1 - 1)) >"$last"
		sleep 1000 &
		[[ $! != "$1" ]] || break
		kill $!
		wait $! 2>/dev/null || true
	done
	assert_eq $! "$1" "pid of the later process"
	[[ -e $last ]] || echo "$most" >/proc/sys/kernel/pid_max
}

# The kernel gives pids of up to 300 once.
until (($(bash -c 'echo $$') > 320)); do :; done

load sample_interval_ms=1000 suspect_interval_ms=500 max_cpu_permille=1000 min_process_size_mb=1 pmc=off \
	alerts_per_minute=1000
seepage -j watch >watched &
watch=$!

# All leak at the same time: to be told takes longest. They end before their memory does: what is
# said of them is read after that.
leak code exit 3
leak term kill 15
leak killed kill 9
leak another exec
leak reused exit 7

# ends NAME WANTED
ends() {
	wait_for 120 alarmed "$1"
	wait_for 20 has_identity "$1"
	touch "$scratch/$1.go"
	[[ $1 == another ]] || wait "${pids[$1]}" 2>/dev/null || true
	wait_for 30 has_ended "$1"
	echo "$1: $(of "$1" | tail -n 1 | jq -c '[.end, .exe, .cmdline, .cgroup, .uid, .ppid, .parent]')"
	assert_eq "$(end_of "$1")" "$2" "how $1 ended"
	of "$1" | tail -n 1 | jq -e --arg exe "$scratch/$1" --argjson ppid $$ \
		'.exe == $exe and (.cmdline | startswith($exe)) and .ppid == $ppid and .parent != null and .cgroup != null' >/dev/null ||
		die "the identity of $1 after its end: $(of "$1" | tail -n 1 | jq -c '[.exe, .cmdline, .ppid, .parent]')"
}
# is_past NAME SEQ: the first alert of NAME is explained as one of what has ended, as alert SEQ says.
is_past() {
	local first text
	first=$(of "$1" | sed -n 1p | field .seq)
	((first < $2)) || die "$1 has no alert before #$2"
	text=$(seepage explain "#$first")
	[[ $text == "It ended at "*", see #$2. The alert said:"* && $text == *"where --last ${pids[$1]}"* &&
		$text == *"It grew"* ]] || die "explain #$first: $text"
	! grep -E 'It grows|memory exhausted in|would be exhausted|systemctl|prlimit|seepage where [0-9]' <<<"$text" ||
		die "explain #$first speaks of a process that lives: $text"
	assert_eq "$(seepage -j explain "#$first" | jq -c '[.ended, .exit.seq]')" "[true,$2]" "explain -j #$first"
}
ends code '["exit",3,null,false]'
ends term '["signal",null,15,false]'
ends killed '["signal",null,9,false]'
ends another '["exec",null,null,false]'
kill "${pids[another]}"
wait "${pids[another]}" 2>/dev/null || true

# Reaped by nobody: a zombie has ended as well.
# A process of the same pid as one of an alert: nothing of it is taken.
wait_for 120 alarmed reused
wait_for 20 has_identity reused
pid=${pids[reused]}
kill $watch
wait $watch || true
touch "$scratch/reused.go"
wait "$pid" || true
wait_for 30 is_last reused exited
seq=$(of code | tail -n 1 | field .seq)
text=$(seepage explain "#$seq")
echo "$text" | head -8
[[ $text == *"it exited with code 3"* && $text == *"$scratch/code"* ]] || die "explain #$seq: $text"
text=$(seepage show "#$seq")
[[ $text == *"it exited with code 3"* && $text == *"$scratch/code"* ]] || die "show #$seq: $text"
assert_eq "$(seepage -j show "#$seq" | jq -c .end.code)" 3 "show -j #$seq"
is_past code "$seq"
for command in show explain; do
	! seepage $command '#99999' 2>said || die "$command of an alert that is not held"
	assert_eq "$(cat said)" "seepage: $command: alert #99999 is not held (see seepage alerts; of an earlier boot: \
seepage report PID)" "what $command says of an alert that is not held"
done
reuse_pid "$pid"
last=$(of reused | jq -s 'map(.seq) | max')
is_earlier() { seepage explain "$pid" 2>&1 >explained | grep -Fx "seepage: explain: #$last is of an earlier process" >/dev/null; }
wait_for 30 is_earlier
is_past reused "$last"
assert_eq "$(of reused | jq -sc 'map(.exe) | unique')" "[\"$scratch/reused\"]" "program of the alerts on a pid in use again"
# The same in text, of all alerts of it: not that of sleep, which has the pid now.
told=$(seepage alerts | grep -A1 " $pid  reused ")
[[ $told == *"    by root, parent "*" ($$): $scratch/reused -e "* && $told != *sleep* ]] || die "alerts: $told"
seepage watch --since 0 --timeout 10 >said
told=$(grep -A1 "pid $pid (reused)" said)
[[ $(grep -c "^    by root, parent .* ($$): $scratch/reused -e " <<<"$told") -ge 2 && $told != *sleep* ]] || die "watch: $told"
# without an identity: nothing is known, rather than what the later process is
leak nobody exit 0
wait_for 120 is_told nobody
touch "$scratch/nobody.go"
old=$pid
wait $pid || true
wait_for 30 is_last nobody exited
reuse_pid "$old"
assert_eq "$(of nobody | jq -sc 'map(.exe) | unique')" "[null]" "program of an alert whose pid is in use again"
pkill sleep || true
seepage -j watch >>watched &
watch=$!

# What takes the machine's memory begins beside what takes that of a cgroup.
kb=4096 leak machine never
cg=$(mktemp -d /tmp/cg.XXXXXX)
mount -t cgroup2 none "$cg"
if grep -qw memory "$cg"/cgroup.controllers; then
	echo +memory >"$cg"/cgroup.subtree_control
	mkdir -p "$cg"/small
	echo +memory >"$cg"/small/cgroup.subtree_control
	mkdir -p "$cg"/small/inner
	echo 100M >"$cg"/small/memory.max
	# shellcheck disable=SC2016
	cp "$(command -v perl)" "$scratch/boxed"
	# shellcheck disable=SC2016
	bash -c 'echo 1000 >/proc/self/oom_score_adj; echo $$ >"$1"/small/inner/cgroup.procs; exec "$0" -e "while (1) { push @a, \"x\" x 1048576; select undef, undef, undef, 0.4 }"' \
		"$scratch/boxed" "$cg" &
	pid=$!
	wait_for 120 alarmed boxed
	wait $pid 2>/dev/null || true
	wait_for 30 has_ended boxed
	echo "boxed: $(of boxed | tail -n 1 | jq -c '[.end, .cgroup]')"
	assert_eq "$(end_of boxed)" '["signal",null,9,true]' "how boxed ended"
	assert_eq "$(of boxed | jq -sc '.[-1] | [.end.oom_cgroup, .cgroup]')" '["/small","/small/inner"]' "cgroup that ran out"
	rmdir "$cg"/small/inner "$cg"/small 2>/dev/null || true
fi

# The machine: its memory, not that of a cgroup.
wait_for 120 alarmed machine
wait "${pids[machine]}" 2>/dev/null || true
wait_for 60 has_ended machine
echo "machine: $(of machine | tail -n 1 | jq -c .end)"
assert_eq "$(end_of machine)" '["signal",null,9,true]' "how machine ended"
assert_eq "$(of machine | jq -sc '.[-1].end.oom_cgroup_id')" null "cgroup that ran out"
kill $watch
wait $watch || true
umount "$cg"
rmdir "$cg"
unload
