#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The screen of top with the real module, in a terminal of 80x24 (tmux): a process that leaks and its
# state, sorted, filtered, by unit, explained, its counters, help. Then the same through sshd, where a
# terminal that is resized gets another screen. tests/ctl/test_top.py has a module that is made up.
# vm: --smp 2 --mem 1536
# takes: 90
# timeout: 1200
# setup: ssh
# about: ctl
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 TERM=screen-256color
work=$PWD

servers=0
t() { tmux -S "$work/tmux-$servers" -f /dev/null "$@"; }
# terminal COLUMNS LINES COMMAND...: a new one, with a shell that says when the command has ended.
# It has a socket of its own: a server that was told to end takes connections for a while.
terminal() {
	((!servers)) || t kill-server
	servers=$((servers + 1))
	t -u new-session -d -x "$1" -y "$2" "${*:3}; echo ended \$?; exec sleep 10000"
}
screen() { t capture-pane -p >"$work/screen"; }
shown() {
	local text
	screen
	for text in "${wanted[@]}"; do
		grep -qE -- "$text" screen || return
	done
	for text in "${unwanted[@]}"; do
		! grep -qE -- "$text" screen || return
	done
}
# sees WANTED... [-- UNWANTED...]: waits until the screen has lines that fit the first and none that
# fit the others
sees() {
	wanted=() unwanted=()
	while (($#)) && [[ $1 != -- ]]; do
		wanted+=("$1")
		shift
	done
	(($#)) && unwanted=("${@:2}")
	local end=$((SECONDS + 30 * patience))
	until shown; do
		((SECONDS < end)) || {
			sed 's/^/| /' screen
			die "not seen: ${wanted[*]} without ${unwanted[*]}"
		}
		sleep 0.5
	done
}
keys() { t send-keys "$@"; }
# fits COLUMNS LINES: no line is longer, the last one has the keys
fits() {
	screen
	assert_eq "$(wc -l <screen)" "$2" "lines of the screen"
	(($(wc -L <screen) <= $1)) || die "$(wc -L <screen) columns of $1: $(cat screen)"
	tail -n 1 screen | grep 'q quit' >/dev/null || die "the last line: $(tail -n 1 screen)"
}
# keep NAME: for those that want to see it
keep() {
	screen
	mkdir -p /tmp/out
	cp screen "/tmp/out/top-$1.screen"
}

load sample_interval_ms=200 suspect_interval_ms=200 max_cpu_permille=1000 alert_interval_s=0
unit=/sys/fs/cgroup/system.slice/shop.service
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
mkdir -p "$unit"
cp "$top/build/tests/idle" leaky
(
	echo 0 >"$unit/cgroup.procs"
	ulimit -d 350000
	exec ./leaky 1 512 >leak
) &
perl -e 'vec($x, 400_000_000, 8) = 1; sleep 10000' &
big=$!
wait_for 5 test -s leak
leak=$(<leak)	# its child
alerted() { seepage -j alerts | jq -es "any(.[]; .pid == $leak and .subject != \"group\")" >/dev/null; }
wait_for 60 alerted
# A mark stands for each state.
accused="^[> ]!+ +$leak leaky "

terminal 80 24 seepage top -d 1
sees "$accused" "^[> ] {3,}$big perl " ' PID ' 'q quit'
fits 80 24
grep -qE '!!! 1 runaway|!! 1 confirmed|! 1 suspected' screen || die "no count of states: $(cat screen)"
grep -qE '[▁▂▃▄▅▆▇█]' screen || die "no floors: $(cat screen)"
first() { sed -n '/ PID /{n;p;}' screen; }
first | grep -E "$accused" >/dev/null || die "the first line is $(first)"
keep list
keys M
sees 'RSS\*'
first | grep " $big perl" >/dev/null || die "by RSS the first line is $(first)"
keys r
sees 'RSS\^'
keys r
sees 'RSS\*'
keys S
sees 'CONF\*' "$accused"
keys f "state=suspected,confirmed,runaway" Enter
sees "$accused" 'filter: state=suspected,confirmed,runaway' -- " $big perl"
keys x Home Enter
sees Explained "pid $leak \(leaky\)" -- Counters
fits 80 24
keep pane
keys Tab
sees Counters 'RSS  ' -- Explained
keys Tab
sees " $big perl" -- Counters
keys t
sees '\[-\] shop.service \(2\)' " $leak +leaky +(suspected|confirmed|runaway) "
keep tree
keys -
sees '\[\+\] shop.service \(2\)' -- " $leak +leaky "
keys t
sees "$leak leaky" -- '\[.\] shop.service'
keys '?'
sees Keys 'any key: back' -- "$leak leaky"
keys '?'
sees "$leak leaky"
t resize-window -x 60 -y 12
sees "$leak leaky" 'q quit'
fits 60 12
t resize-window -x 132 -y 30
sees "$accused" 'FAULTS/s' 'shop\.service'
fits 132 30
keys q
sees 'ended 0' -- 'q quit'

# Through sshd, with keys of its own and no file of the system's
mkdir -p /run/sshd
chmod 700 .
for name in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$name"
done
cat >sshd_config <<END
Port 2222
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/user.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile $work/sshd.pid
END
ip link set lo up
/usr/sbin/sshd -f "$work/sshd_config" -E "$work/sshd.log"
wait_for 30 test -s sshd.pid	# it listens by then; its parent has ended before that
trap 'kill "$(cat sshd.pid)" || :; t kill-server' EXIT
echo "[127.0.0.1]:2222 $(cut -d' ' -f 1,2 host.pub)" >known
far=(ssh -p 2222 -i "$work/user" -o "UserKnownHostsFile=$work/known" -o BatchMode=yes root@127.0.0.1)
program="LC_ALL=C.UTF-8 $(command -v seepage) top"
"${far[@]}" "$program -b -n 1" >listed || die "through ssh: $? $(cat sshd.log)"
grep -qE "^ !+ +$leak leaky" listed || die "-b through ssh: $(cat listed)"
terminal 80 24 "${far[*]} -tt '$program -d 1000'"
sees "$accused" 'q quit'
fits 80 24
# No refresh is due: the resize alone draws it anew, in either direction.
t resize-window -x 132 -y 30
sees "$accused" 'FAULTS/s' 'shop\.service'
fits 132 30
keep ssh
t resize-window -x 60 -y 12
sees "$leak leaky" 'q quit' -- 'shop\.service'
fits 60 12
keys Enter
sees "pid $leak"
keys q
sees 'ended 0' 'Connection to 127.0.0.1 closed'
