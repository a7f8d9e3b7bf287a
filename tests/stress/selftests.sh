#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own selftests of memory management, the fast ones, built from the sources of a
# kernel (tests/stress/build-selftests): each once without the module and once with it and
# its readers. What the test says must be the same.
# vm: --smp 2 --mem 1024
# timeout: 2400
# make: selftests
# only-amd64: they are built for this machine
. "$(dirname "$0")/lib.sh"
dir=$top/build/selftests limit=$((60 * ${SEEPAGE_SLOW:-1}))

# lines PATTERN LOG: how many, 0 is no error
lines() { grep -cE "$1" "$2" || true; }

# selftest NAME LOG: sets said to its status and to its numbers of results. Fails if it does not end.
selftest() {
	local status=0
	(
		trap - ERR
		cd "$dir" && exec timeout -k 5 "$limit" "./$1"
	) >"$2" 2>&1 </dev/null || status=$?
	((status != 124 && status != 137)) || return 1
	said="status $status, $(lines '^(\[?ok|ok )' "$2") ok, $(lines '^not ok ' "$2") not ok"
}

n=0 passed=0 skipped=0 refused=0 left_out=0 told=''
# SEEPAGE_SELFTESTS="A B": these only
for program in ${SEEPAGE_SELFTESTS:-"$dir"/*}; do
	name=${program##*/}
	unload
	# On a debug kernel some take longer than all others together.
	if ! selftest "$name" "$name.without"; then
		echo "$name: not finished after $limit s without the module: left out"
		left_out=$((left_out + 1))
		continue
	fi
	before=$said
	load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	readers strict
	selftest "$name" "$name.with" || die "$name: not finished after $limit s with the module"
	end_readers
	echo "$name: $said; answers: $answers"
	[[ $said == "$before" ]] ||
		die "$name: with the module: $said, without: $before: $(tail -n 1 "$name.with")"
	assert_eq "$(status .disabled)" null "$name: switched off"
	n=$((n + 1))
	case $said in
	"status 0,"*) passed=$((passed + 1)) ;;
	"status 4,"*) skipped=$((skipped + 1)) ;;
	*) refused=$((refused + 1)) told+=" $name" ;;
	esac
done
[[ ${SEEPAGE_SELFTESTS:-} ]] || ((passed > 5)) || die "$passed of $n selftests passed: this tests nothing"
check_table
echo "$n selftests, the same with and without the module: $passed passed, $skipped skipped" \
	"themselves, $refused failed both times${told:+ (${told# })}, $left_out too slow here"
