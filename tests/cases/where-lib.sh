# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the cases of seepage_where: . "$(dirname "$0")/where-lib.sh"
. "$(dirname "$0")/lib.sh"
where_ko=${SEEPAGE_KO%/*}/seepage_where.ko
[[ -e $where_ko ]] || skip "no seepage_where.ko: the kernel has no uprobes"

unload_where() { ! grep -q '^seepage_where ' /proc/modules || rmmod seepage_where; }

# Address of malloc() by process
declare -A malloc=()

siteleak=$top/build/tests/siteleak

# target MODE [UID]: a siteleak of its own; sets pid.
target() {
	local at
	rm -f fifo
	mkfifo fifo
	"$siteleak" "$@" >fifo &
	exec {from}<fifo
	read -r _ pid at <&"$from"
	malloc[$pid]=$at
}

untouched='' # the case sets it to the code of a process without a breakpoint

# code PID: the first bytes of malloc() there, with any breakpoint.
code() { dd if="/proc/$1/mem" bs=8 count=1 iflag=skip_bytes skip="${malloc[$1]}" status=none | od -An -tx1; }
clean() { [[ $(code "$1") == "$untouched" ]]; }
touched() { ! clean "$1"; }
