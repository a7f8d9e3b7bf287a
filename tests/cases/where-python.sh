#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where --burst names the function of python that leaks: leak_session() of a program that
# makes ten times as many blocks of the same class, with the same helper, and frees them.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools tests/where
# takes: 90
# timeout: 300
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
[[ $(/usr/bin/python3 -V) == *" 3.11."* ]] || skip "needs python 3.11"
insmod "$where_ko"

# program WORD...: sets pid
program() {
	rm -f fifo
	mkfifo fifo
	/usr/bin/python3 "$top/tests/where/pyleak.py" run "$@" >fifo &
	pid=$!
	exec {from}<fifo
	read -r _ <&"$from"
}

# functions FILE: the functions of python in the first stack
functions() { field '.sites[0].stack | map(select(.language == "python") | .symbol) | join(" ")' "$1"; }

# told FILE: what the answer says
told() {
	jq -c '{traps, samples, notes}, (.classes[:3][] | [.size_bytes, .growth_blocks])' "$1"
	jq -c '.sites[] | [.class_bytes, .samples, .survival_permille, [.stack[] | .symbol]]' "$1"
}

program
seepage -j where -s 8 --burst --again-after 2,4 "$pid" >large.json
told large.json
assert_eq "$(functions large.json)" "make_session leak_session Server.serve <module>" "functions, of blocks of malloc"
assert_eq "$(field '[.sites[].stack[].symbol] | index("drop_session")' large.json)" null "what drops is named"
[[ $(field '.sites[0].stack[] | select(.symbol == "make_session") | .source' large.json) == */pyleak.py:2[0-9] ]] ||
	die "no line of make_session"
seepage where -s 4 --burst --class 1040 --again-after 2 "$pid" >text
grep -qE '% stay: make_session \(pyleak.py:[0-9]+\) <- leak_session \(pyleak.py:[0-9]+\) <- Server.serve ' text ||
	die "text: $(cat text)"
grep '% stay' text
kill -KILL "$pid"

# Objects, of which python asks for memory a pool at a time
program small
seepage -j where -s 8 --burst --again-after 2,4 "$pid" >small.json
told small.json
assert_eq "$(functions small.json)" "make_order leak_session Server.serve <module>" "functions, of blocks of pymalloc"
assert_eq "$(field '.sites[0] | [.class_bytes, .survival_permille] | join(" ")' small.json)" "48 1000" \
	"class and survival"
assert_eq "$(field '[.sites[].stack[].symbol] | index("drop_session")' small.json)" null "what drops is named"
kill -KILL "$pid"

program small twin
seepage -j where -s 4 --burst --class 48 --again-after 2 "$pid" >twin.json
told twin.json
assert_eq "$(field '.sites | length' twin.json)" 0 "sites that the twin is said to have"
kill -KILL "$pid"
rmmod seepage_where
echo "leak_session: of malloc $(field '.sites[0].samples' large.json) samples," \
	"of pymalloc $(field '.sites[0].samples' small.json)"
