#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where puts probes at call sites of which its burst saw too few blocks: a site that leaks
# 4 KB once in 17 s beside one that allocates and frees the same class thousands of times a second.
# The burst sees four blocks at most, which are too few; with probes it is named. Another process
# of the same program, and children that are forked while a probe is there, are not sampled. A
# site that is hot loses its probe by itself. Nobody is left with a breakpoint, however it ends.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools
# matrix: five minutes in a VM, most of them between looks
# takes: 320
# timeout: 1200
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
bursts=$top/build/tests/bursts
insmod "$where_ko"

# seldom RATE MS: sets pid; its addresses are seldom[$pid] and busy[$pid]
declare -A seldom=() busy=()
seldom() {
	local a b
	rm -f fifo
	mkfifo fifo
	"$top/build/tests/seldom" "$@" >fifo &
	exec {from}<fifo
	read -r _ pid a b <&"$from"
	seldom[$pid]=$a busy[$pid]=$b
}

# code_at PID ADDRESS: 8 bytes there, with any breakpoint
code_at() { dd if="/proc/$1/mem" bs=8 count=1 iflag=skip_bytes skip="$2" status=none | od -An -tx1; }
at_seldom() { code_at "$1" "${seldom[$1]}"; }
at_busy() { code_at "$1" "${busy[$1]}"; }
clean() { [[ $(at_seldom "$1") == "$seldom_code" && $(at_busy "$1") == "$busy_code" ]]; }
touched() { [[ $(at_seldom "$1") != "$seldom_code" ]]; }
cooled() { [[ $(at_busy "$1") == "$busy_code" ]]; }

seldom 2000 100
beside=$pid seldom_code=$(at_seldom "$pid") busy_code=$(at_busy "$pid")
seldom 5000 17000
slow=$pid
clean "$slow" || die "two processes of one program have other code"

# With probes the site is named, and without them it is not.
named_with_probes() {
	# An earlier look, from which on the class grew by a few blocks; a burst that sees all of its time
	limits=(--class 4000 --again-after 5 --max-traps 5000000 --cost 1000)
	seepage -j where --census -s 1 "$slow" >first.json
	sleep 36
	seepage -j where --burst --diff first.json "${limits[@]}" "$slow" >found.json
	jq -c '.traps, .samples, .cost_permille, .notes[]' found.json
	jq -c '.sites[] | [.class_bytes, .blocks, .samples, .survival_permille, [.stack[] | .symbol]]' found.json
	clean "$slow" || die "a breakpoint is left"
	assert_eq "$(field '[.sites[] | .stack[0].symbol] | join(" ")' found.json)" site_seldom "sites with probes"
	assert_eq "$(field '.sites[0].stack[1].symbol' found.json)" main "the caller of the site"
	assert_eq "$(field '.sites[0].survival_permille' found.json)" 1000 survival
	(($(field '.sites[0].stack[0].address' found.json) == seldom[$slow])) ||
		die "the site is not at $(printf %#x "${seldom[$slow]}")"
	note=$(field '.notes[] | select(test("^probes at "))' found.json)
	[[ $note =~ ^"probes at 1 call site for "([0-9]+)" s: "([0-9]+)" blocks of the class, "([0-9]+)" traps;" ]] ||
		die "no note of the probes: $note"
	seconds=${BASH_REMATCH[1]} blocks=${BASH_REMATCH[2]} traps=${BASH_REMATCH[3]}
	assert_eq "$traps" "$blocks" "traps of probes, a block each"
	((blocks * 17 <= seconds + 17)) || die "more blocks than the site has allocated: $note"
	assert_eq "$(field '[.notes[] | select(test("children"))] | length' found.json)" 0 "traps of others"

	# The same without probes: the burst alone sees too few
	seepage -j where --burst --diff first.json --no-probes "${limits[@]}" "$slow" >none.json
	jq -c '.traps, .notes[]' none.json
	assert_eq "$(field '.sites | length' none.json)" 0 "sites without probes"
	assert_eq "$(field '[.notes[] | select(test("^sites: 1 keeps all blocks, but too few were seen"))] | length' none.json)" \
		1 "notes that too few were seen"
}
# A debug kernel takes most of the time of a burst to place and to remove its probes, so that it sees
# no block of a site that is seldom called.
if ((${SEEPAGE_SLOW:-1} == 1)); then
	named_with_probes
	told="site_seldom with $blocks blocks in $seconds s of probes, not named without"
else
	told="not asked whether it is named: this kernel is too slow"
fi
kill -KILL "$slow"

# A fork while a probe is there: the child that allocates loses it, and is not sampled. On a busy
# machine, and on a debug kernel, it takes long until both have been looked at.
within=$((${SEEPAGE_SLOW:-1} > 1 ? 120000 : 20000))
seldom 2000 400
"$bursts" "$pid" site $within "${seldom[$pid]}" >out &
tool=$!
wait_for 5 touched "$pid"
clean "$beside" || die "another process has a breakpoint"
kill -USR1 "$pid"
read -r word child quiet <&"$from"
assert_eq "$word" children "what the process says"
for p in "$child" "$quiet"; do
	seldom[$p]=${seldom[$pid]} busy[$p]=${busy[$pid]}
done
wait_for 5 clean "$child"
touched "$quiet" || die "a child that does not allocate has lost its breakpoint: nothing is shown"
wait $tool
read -r traps reason samples inherited of < <(tail -n 1 out)
cat out
by_time=2	# SEEPAGE_WHERE_BY_TIME
assert_eq "$reason $inherited" "$by_time 1" "reason, traps of the child"
((samples >= 3 && samples == traps && samples == of)) || die "samples, traps: $(tail -n 1 out)"
((${SEEPAGE_SLOW:-1} > 1 || samples <= 58)) || die "more samples than the process has allocated"
for p in "$pid" "$child" "$quiet" "$beside"; do
	clean "$p" || die "process $p has a breakpoint after the end"
done
kill -KILL "$child" "$quiet"

# A hot site beside it: that one is taken out alone.
"$bursts" "$pid" site $within "${seldom[$pid]}" "${busy[$pid]}" >out &
tool=$!
wait_for 5 touched "$pid"
sleep 3
cooled "$pid" || die "a hot site has its breakpoint after seconds"
touched "$pid" || die "the other site has lost its breakpoint"
wait $tool
cat out
read -r _ reason _ _ of hot < <(tail -n 1 out)
assert_eq "$reason" "$by_time" "the end of a burst beside a hot site"
((hot >= 1000 && hot <= 1010 && of >= 3)) || die "traps of both sites: $of $hot"
# Alone it ends the burst.
"$bursts" "$pid" site 60000 "${busy[$pid]}" >out
cat out
by_traps=1	# SEEPAGE_WHERE_BY_TRAPS
[[ $(tail -n 1 out) == "100"[0-9]" $by_traps 1000 0 100"[0-9] ]] || die "a hot site alone: $(tail -n 1 out)"
clean "$pid" || die "a breakpoint is left at a hot site"

# Whoever has it dies, and rmmod is refused until then; the process ends.
"$bursts" "$pid" site 60000 "${seldom[$pid]}" >out &
tool=$!
wait_for 5 touched "$pid"
! rmmod seepage_where 2>/dev/null || die "rmmod while a probe is there"
kill -KILL $tool
wait $tool || true
wait_for 5 clean "$pid"
wait_for 5 rmmod seepage_where
insmod "$where_ko"
"$bursts" "$pid" site 60000 "${seldom[$pid]}" >out &
tool=$!
wait_for 5 touched "$pid"
kill -KILL "$pid"
wait $tool
by_exit=4	# SEEPAGE_WHERE_BY_EXIT
[[ $(tail -n 1 out) == *" $by_exit "* ]] || die "the process ended: $(cat out)"
clean "$beside" || die "another process has a breakpoint"
kill -KILL "$beside"
rmmod seepage_where
echo "$told"
