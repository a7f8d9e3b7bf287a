#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# On a terminal of 80 columns no line of these commands is longer than that, and the words are those
# that a pipe gets. Tables of ps and alerts end there.
# vm: --smp 2 --mem 1032
# about: ctl
# takes: 60
# kmod: fakepmu
# only-amd64: it has a PMU of its own, which stays in its VM
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pmc-lib.sh"

fake_pmu counters=3
load pmc=auto sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0
mkdir -p a-directory-with-a-name/that-is-longer/than-one-expects/of-a-directory
cp "$top/build/tests/idle" a-directory-with-a-name/that-is-longer/than-one-expects/of-a-directory/fifteen-letters
(
	ulimit -d 200000
	exec a-directory-with-a-name/that-is-longer/than-one-expects/of-a-directory/fifteen-letters 1 1024 >leak
) &
alerts() { seepage -j alerts | jq -s length; }
accused() { (($(alerts) > 0)); }
wait_for 180 accused
alert=$(seepage -j alerts | jq -s '[.[] | select(.subject != "group")][0]')
pid=$(field .pid <<<"$alert") seq=$(field .seq <<<"$alert")
seepage where --keep second --seconds 2 "$pid"
seepage silence --for 2h --comment "a word or two about why it is held back, and until when" --name fifteen-letters
seepage policy add --name fifteen-letters --limit 1T --comment "a word or two about the reason for it, and more"
seepage ack "#$seq" "somebody looks at it, and has found that it is the cache of the sessions" >said

# printed WORD...: what the command prints on a terminal, in out, as long lines as its widest
printed() {
	# doctor finds something wrong with every VM
	script -qec "seepage ${*@Q}" /dev/null </dev/null | tr -d '\r' >out || [[ $* == doctor ]] || die "$*: status $?"
	[[ -s out ]] || die "$* prints nothing"
	widest=$(wc -L <out)
}
# text_of FILE: without how long ago something was, and without blanks, where lines are folded
text_of() { sed 's/([^()]* ago)//' "$1" | tr -d ' \n'; }
export LC_ALL=C.UTF-8
wide=0
while read -r words; do
	# shellcheck disable=SC2086 # words
	printed $words
	# A word that is longer stays whole, in a line of its own.
	((widest <= 80)) || ! grep -E '^.{81}' out | grep -vE '^ *[^ ]+$' >long ||
		die "$words: $widest columns: $(<long)"
	# shellcheck disable=SC2086
	seepage $words >piped 2>&1 || [[ $words == doctor ]] || die "$words: status $?"
	wide=$((wide + $(grep -cE '^.{81}' piped || true)))
	# What a process that lives is like has changed meanwhile.
	case $words in
	"explain #"* | help*)
		[[ $(text_of out) == "$(text_of piped)" ]] ||
			die "$words: another text on a terminal: $(diff out piped)"
		;;
	esac
done <<-END
	explain $pid
	explain #$seq
	ps
	ps -o comm,unit,user,state,rss,anon,file,shmem,swap,vsz,growth,tte,faults,age
	ps --tree --state suspected,confirmed,runaway --sort growth
	alerts
	show $pid
	status
	watch --since 1 --count 1 --timeout 5
	where --seconds 1 $pid
	where --last $pid
	stat --interval 1 --count 1 $pid
	stat --interval 1 --count 1 --all
	stat -- true
	doctor
	top -b -n 1
	silence
	ack
	policy
	report $pid
	help
	help explain
	help stat
	help where
	help record
	help notify
END
seepage ps --tree >piped
[[ $(wc -L <piped) -gt 80 && $(cat piped) == *" AGE"* ]] || die "ps --tree is cut in a pipe: $(cat piped)"
script -qec "seepage -j ps" /dev/null </dev/null | jq -e length >out || die "-j ps is no JSON on a terminal"
seepage alerts >out
[[ $(head -n 1 out) == *" USER "*" UNIT" ]] || die "alerts has no columns USER and UNIT: $(head -n 1 out)"
((wide > 40)) || die "only $wide lines are long in a pipe: nothing is shown"
kill "$pid"
# The alert that tells of its end comes a moment after its record has gone.
gone() { ! seepage -j show "$pid" >none 2>&1; }
ended() { seepage -j alerts | jq -se "any(.[]; .pid == $pid and .state == \"exited\")" && gone; }
wait_for 30 ended
last=$(sed -n "s/^seepage: show: see seepage show '#\([0-9]*\)'$/\1/p" none)
assert_eq "$last" "$(seepage -j alerts | jq -s "[.[] | select(.pid == $pid).seq] | max")" "show of a process that is gone"
seepage show "#$last" >out
seepage explain "$pid" >out
grep -qF "seepage where --last $pid" out || die "explain of a process that is gone: $(cat out)"
echo "$wide long lines in pipes, none on a terminal"
