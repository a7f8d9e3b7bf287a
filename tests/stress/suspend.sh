#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Suspends as far as each of the kernel's test levels and back, while processes
# fault and all are sampled, and jumps of the wall clock. Nothing is sampled
# while all is frozen, sampling goes on after, and who only stood still is not
# taken for a leak, while one that leaks is told.
# vm: --smp 2 --mem 1024
# timeout: 900
# kmod: stay
. "$(dirname "$0")/lib.sh"
n=$(times 2)
hooks=(tracepoint software) levels=(freezer devices platform processors core)
[[ ! ${SEEPAGE_SHORT:-} ]] || hooks=(tracepoint) levels=(freezer core)
tracing=/sys/kernel/debug/tracing
events=(power/suspend_resume seepage/seepage_tick)
[[ -e /sys/power/pm_test ]] || skip "the kernel has no test levels of suspend (CONFIG_PM_DEBUG)"

suspended=0 refused=0
# suspend LEVEL: a task that waits for the root file system cannot be frozen.
suspend() {
	echo "$1" >/sys/power/pm_test
	if (echo mem >/sys/power/state) 2>/dev/null; then
		suspended=$((suspended + 1))
	else
		refused=$((refused + 1))
	fi
}

# jump SECONDS: of the wall clock.
jump() { date -s "@$(($(date +%s) + $1))" >/dev/null; }

tell_trace() {
	for event in "${events[@]}"; do
		echo "$1" >$tracing/events/"$event"/enable
	done
}

told() { [[ $(seepage -j alerts | jq -r 'select(.comm == "leak") | .comm' | head -n 1) ]]; }

insmod "$SEEPAGE_KMOD/stay.ko"
trap 'echo none >/sys/power/pm_test; rmmod stay || true' EXIT
echo 1 >/sys/module/suspend/parameters/pm_test_delay
ln -s "$idle" leak
"$idle" 30 >/dev/null &
disown
for hook in "${hooks[@]}"; do
	load hook="$hook" sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	echo >$tracing/trace
	tell_trace 1
	storm 300 3
	for level in "${levels[@]}"; do
		for ((i = 0; i < n; i++)); do
			seconds 0 400
			sleep "$drawn"
			ticks=$(status .ticks)
			suspend "$level"
			draw 1 864000
			jump "$drawn"
			wait_for 30 ticks_at_least $((ticks + 3))
			jump -"$drawn"
		done
	done
	tell_trace 0
	grep -v '^#' $tracing/trace >trace
	read -r frozen within outside < <(awk '
		/freeze_processes\[0\] end/ { frozen++; on = 1 }
		/thaw_processes\[0\] begin/ { on = 0 }
		/seepage_tick:/ { tick[on + 0]++ }
		END { print frozen + 0, tick[1] + 0, tick[0] + 0 }' trace)
	assert_eq "$within" 0 "$hook: passes while all was frozen"
	((frozen >= ${#levels[@]} * n / 2 && outside > frozen)) ||
		die "$hook: frozen $frozen times, $outside passes beside: this tests little"
	end_storm
	check_table
	ticks_all+=$(status .ticks)+
done

./leak 1 6144 >/dev/null &
for ((i = 0; i < 3; i++)); do
	sleep 2
	suspend core
	jump 86400
done
jump $((-3 * 86400))
wait_for 120 told
assert_eq "$(seepage -j alerts | jq -r 'select(.comm != "leak") | .comm' | sort -u)" "" "told as leaks"
((suspended > refused)) || die "$suspended suspends, $refused refused: this tests little"
! grep -q 'refusing to freeze, wq_busy=1' <(dmesg) || die "a work kept the system from being frozen"
kill %%
echo "$suspended suspends, at ${levels[*]}, hooks ${hooks[*]}, $refused refused, $((${ticks_all}0)) ticks beside," \
	"as many jumps of the clock, the leak told and nobody else"
