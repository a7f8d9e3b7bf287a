#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The options of record: a command with its descendants, pids, a name, output to a pipe,
# and when to end. Lost messages are reported when record cannot keep up. Every recording
# is replayed.
# vm: --warp --smp 1 --mem 1536
# about: ctl/lib ctl/series ctl/tools kmod
# takes: 40
# timeout: 900
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/replay-lib.sh"

# ---- a command and what descends from it ----

load sample_interval_ms=1000 suspect_interval_ms=1000
setsid sleep 0	# read once: time that is skipped is that of reading programs, too
assert_eq "$(status out seepage record -o command.series -- \
	bash -c 'sleep 7 & (setsid sleep 9 &); sleep 8; exit 3')" 3 "record of a command"
# Helpers of the shell may have been seen between fork and exec, and so may the shell.
shell=$(sed -nE '/^proc [0-9]+ pid=([0-9]+) comm=bash .*/{s//\1/p;q}' command.series)
grep -v " pid=$shell comm=seepage-record " command.series |
	sed -nE 's/^proc [0-9]+ pid=[0-9]+ comm=([^ ]+) .*/\1/p' | sort | uniq -c >names
grep -qx ' *3 sleep' names || die "series of a command: $(cat names)"
! grep -vE ' (bash|setsid|sleep)$' names || die "series of others: $(cat names)"
! grep -qE "^proc [0-9]+ pid=(1|$$) " command.series || die "the series of this shell"
replayed command
assert_eq "$(field .compared command.summary)" "$(field .samples command.summary)" "samples compared"
assert_eq "$(status out seepage record -o none.series -- ./no-such-program)" 127 "record of no program"
grep -q 'no-such-program: No such file' out.err || die "no program: $(cat out.err)"
[[ ! -e none.series ]] || die "a file of no program"
cp command.series before.series
assert_eq "$(status out seepage record -o command.series -- ./no-such-program)" 127 "record of no program"
assert_eq "$(status out seepage -j record -o killed.series -- sh -c 'kill -KILL $$')" 137 "record of a killed command"
assert_eq "$(status out seepage record -o ended.series --duration 2 -- sleep 100)" 0 "record that ended its command"
cmp command.series before.series || die "no program, and the older recording is gone"
seq 200000 >shorter.series
assert_eq "$(status out seepage record -o shorter.series --duration 2)" 0 "record over a file"
! grep -qx 150000 shorter.series || die "what was in the file is still there"
grep -qx 150000 shorter.series.old || die "the older file is gone"
grep -q 'the older shorter.series is now shorter.series.old' out.err || die "older: $(cat out.err)"

assert_eq "$(status out seepage record -o no.series 1 4194303)" 1 "record of no process"
grep -q 'record: pid 4194303: ' out.err || die "no process: $(cat out.err)"
[[ ! -e no.series ]] || die "a file of what could not be recorded"

# ---- of some, to a pipe, for a time ----

python3 work.py leak 3000 &
leak=$!
sleep 5
assert_eq "$(status piped.series seepage record -o - --duration 20 $leak)" 0 "record to a pipe"
assert_eq "$(grep -c '^proc ' piped.series)" 1 "series of one process"
replayed piped
assert_eq "$(field .compared piped.summary)" 0 "samples compared of one that was known before"
assert_eq "$(status out seepage -j record -o passes.series --count-passes 3 --comm python3)" 0 passes
assert_eq "$(field .passes out)" 3 "passes"

# ---- suspects only, in files of bounded size ----

seepage record --suspects --rotate 64K -o ring.series --duration 1500 2>ring.err &
ring=$!
wait $ring || die "the ring: status $?: $(cat ring.err)"
for name in ring.series ring.series.old; do
	(($(stat -c %s $name) <= 70000)) || die "$name has $(stat -c %s $name) bytes"
	assert_eq "$(stat -c %a $name)" 600 "mode of $name"
	assert_eq "$(sed -nE 's/^proc [0-9]+ (.* )?pid=([0-9]+) .*/\2/p' $name | sort -u)" $leak "who is in $name"
done
(($(stat -c %s ring.series.old) >= 65536)) || die "ring.series.old has $(stat -c %s ring.series.old) bytes only"
[[ ! -e ring.series.new && ! -e ring.series.lnk ]] || die "rotation left a file"
mv ring.series.old ringold.series
replayed ring
replayed ringold
# After its end there is a page.
kill $leak
wait $leak || true
seepage report -o after.html ringold.series
grep -qF "pid $leak: python3" after.html || die "no section of the dead process"
grep -q '<svg ' after.html || die "no chart of the dead process"
python3 work.py leak 3000 &
leak=$!

# ---- one that cannot keep up, without the right to a large buffer ----

# Newer kernels allow larger socket buffers, which would hold it all.
echo 212992 >/proc/sys/net/core/rmem_max
seepage set max_cpu_permille 1000
crowd 60
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=+sys_admin --ambient-caps=+sys_admin \
	seepage record --reset -o - >slow.series 2>slow.err &
recorder=$!
wait_for 100 grep -q "^pass " slow.series
sleep 10
kill -STOP $recorder
sleep 60
kill -CONT $recorder
sleep 10
disperse "$parent"
sleep 2
kill -TERM $recorder
wait $recorder || die "record ended with status $?: $(cat slow.err)"
grep -q '^lost [1-9]' slow.series || die "nothing was lost: $(cat slow.err)"
replayed slow
((60 * 4 < $(field .compared slow.summary))) || die "compared: $(field .compared slow.summary)"
((60 * 4 < $(field '.samples - .compared' slow.summary))) ||
	die "compared after a loss: $(field '[.samples, .compared] | @csv' slow.summary)"
# All that died are gone, although some of the messages were lost.
(($(grep -c '^gone' slow.series) >= 60)) || die "the dead were not noticed"
kill $leak
cat slow.err
