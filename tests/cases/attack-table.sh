#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An unprivileged user fills the table with sleeping processes that share 32 MB, then again
# from a user namespace, with a uid for each process. Both times that user gets half of the
# table. A service of another user that starts later is tracked and its leak is reported; so
# is a leak of the first user. In the end no more processes replace each other.
# vm: --smp 2 --mem 2048
# about: ctl/cmd ctl/lib kmod tests/attack
# takes: 36
# timeout: 240
. "$(dirname "$0")/lib.sh"
max=64 crowd=150
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
service=(setpriv --reuid 1 --regid 1 --clear-groups)
# Copies where every user can reach them; the checkout may be in a home directory.
bin=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$bin"
install -m 755 "$top/build/tests/idle" "$top/tests/attack/table.py" "$bin"
cp "$bin/idle" "$bin/hidden"	# a service of its own

status() { seepage -j status | field "$1"; }
fresh() {
	load max_processes=$max sample_interval_ms=500 suspect_interval_ms=500 policy=classic \
		warmup_s=0 min_process_size_mb=1 alert_confidence=40 max_cpu_permille=1000
}
told() { seepage -j alerts | jq -se "any(.pid == $1)" >/dev/null; }
# wait_told WHAT PID: on a slow machine, too; says what the module knows about it, if in vain.
wait_told() {
	local end=$((SECONDS + 30 * patience))
	until told "$2"; do
		((SECONDS < end)) || die "$1 was not told: $(seepage -j show "$2" 2>&1 | jq -c .)," \
			"$(seepage -j status | jq -c '[.processes, .counters]')," \
			"$(seepage -j ps | jq -c '[.[] | "\(.uid) \(.state)"] | group_by(.) | map("\(length) \(.[0])")')," \
			"alerts $(seepage -j alerts | jq -c '[.seq, .pid, .comm, .state, .subject]' | tr '\n' ' ')"
		sleep 0.2
	done
}
tracked() { seepage -j show "$1" >/dev/null 2>&1; }
full() { (($(status .processes) >= max - 2)); }
# records_of FILTER: how many records users have that FILTER takes
records_of() { seepage -j ps | jq "[.[] | select(.uid | $1)] | length"; }

# hidden_is_told: another leak of his own, in a process whose parent waits in vfork for it
hidden_is_told() {
	local parent hidden
	"${nobody[@]}" "$bin/hidden" vfork 8000 >hidden.out &
	parent=$!
	wait_for 10 test -s hidden.out
	read -r hidden <hidden.out
	wait_told "a leak of a vfork child" "$hidden"
	disperse $parent
}

# attack FILTER [--namespace]: 150 processes, of users that FILTER takes. A debug kernel takes
# minutes to copy the page tables of all of them.
attack() {
	local filter=$1 n line
	shift
	fresh
	rm -f in out leak.out own.out	# pids of the attack before
	mkfifo in out
	"${nobody[@]}" "$bin/table.py" $crowd 32768 "$@" <in >out &
	attacker=$!
	exec 7>in 8<out
	if [[ ${1-} ]]; then
		read -r -t 300 line <&8 || die "no answer from table.py"
		echo "0 100000 65536" >"/proc/${line#map }/uid_map"
		echo "0 100000 65536" >"/proc/${line#map }/gid_map"
		echo >&7
	fi
	read -r -t 300 line <&8 || die "no answer from table.py"
	assert_eq "$line" ready "table.py"
	# what else there is, of root: the table is full
	"$top/build/tests/idle" 60 >/dev/null &
	others=$!
	wait_for 20 full
	n=$(records_of "$filter")
	echo "attacker $*: $n of $max records for $((crowd + 1)) processes, share_full" \
		"$(status .counters.share_full)"
	((n > max / 4)) || die "$n records for the attacker: he filled nothing"
	((n <= max / 2)) || die "$n of $max records for one user"
	(($(status .counters.share_full) > 0)) || die "share_full is 0"

	"${service[@]}" "$bin/idle" 1 4000 >leak.out &
	leak_parent=$!
	wait_for 10 test -s leak.out
	read -r leak <leak.out
	wait_for 15 tracked "$leak"
	"${nobody[@]}" "$bin/idle" 1 8000 >own.out &
	own_parent=$!
	wait_for 10 test -s own.out
	read -r own <own.out
	wait_told "the service's leak" "$leak"
	# heavier than what he has, once it has grown to twice 32 MB
	[[ ${1-} ]] || wait_told "a leak of his own" "$own"
	[[ ${1-} ]] || hidden_is_told
	n=$(records_of "$filter")
	((n <= max / 2)) || die "$n of $max records for one user, after exchanges"
	disperse $leak_parent $own_parent
	n=$(status .counters.exchanged)
	echo "the service and the leak are told, $n exchanged"
}

at_rest() {
	local before
	before=$(status .counters.exchanged)
	read -r -t 5 <>never || true	# and nobody comes or goes
	# each program that looks may be exchanged itself
	(($(status .counters.exchanged) - before <= 2))
}

mkfifo never
sysctl -qw kernel.unprivileged_userns_clone=1 2>/dev/null || true
attack '. == 65534'
wait_for 30 at_rest
disperse $attacker $others
attack '. == 65534 or (. >= 100000 and . < 165536)' --namespace
disperse $attacker $others
