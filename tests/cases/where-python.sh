#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where --burst names the function of python that leaks: leak_session() of a program that
# makes ten times as many blocks of the same class, with the same helper, and frees them.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools tests/where
# takes: 60
# timeout: 300
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
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

# python FILE: the functions of python in the first stack
functions() { field '.sites[0].stack | map(select(.language == "python") | .symbol) | join(" ")' "$1"; }

program
seepage -j where -s 8 --burst --again-after 2,4 "$pid" >large.json
jq -c '{traps, samples, notes}, (.classes[:3][] | [.size_bytes, .growth_blocks])' large.json
jq -c '.sites[] | [.samples, .survival_permille, [.stack[] | .symbol]]' large.json
