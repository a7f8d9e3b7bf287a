#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Samples and verdicts of the detector in the kernel are recorded, and the detector in
# user space gives the same verdict for every sample. Programs: a leak, a sawtooth, an
# idle process, one that calls exec, one that forks, short-lived ones. The configuration
# and the policy change meanwhile, and histories are reset. Alerts and their factors equal
# those of the kernel. A modified recording is detected. A service of which three members grow
# is one subject: the alerts that replay --alerts says of it are those of the kernel.
# vm: --warp --smp 1 --mem 1536
# about: ctl/lib ctl/series ctl/tools kmod
# timeout: 5000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/replay-lib.sh"

# ---- a long one, with everything that may happen ----

load alert_interval_s=0
for kind in idle saw; do
	named $kind 2400 &
done
sleep 20
seepage record --reset -o long.series 2>record.err &
recorder=$!
wait_for 20 test -s long.series
for kind in leak exec forks; do
	named $kind 2200 &
	declare "$kind=$!"
done
sleep 700
seepage set sample_interval_ms 4000 suspect_interval_ms 500
sleep 300
seepage reset history
sleep 200
seepage set policy classic warmup_s 30 alert_confidence 20
sleep 250
seepage reset history "${leak:?}"
sleep 200
seepage set policy ladder alert_confidence 70 sample_interval_ms 10000 suspect_interval_ms 1000
sleep 350
seepage -j alerts >alerts.json
kill -INT $recorder
wait $recorder || die "record ended with status $?: $(cat record.err)"
cat record.err
grep -q ' 0 messages lost' record.err || die "messages were lost"
kill "$leak" "${exec:?}" "${forks:?}"

replayed long
tail -n 1 long.json.err
samples=$(field .samples long.summary)
assert_eq "$(field .compared long.summary)" "$samples" "samples compared"
((samples >= 2000)) || die "only $samples samples"
# One for each that was there, and again after each reset; each exec and each
# child are others.
series=$(grep -c '^proc ' long.series)
((series > 50)) || die "only $series series"
grep -q '^gone [0-9]* why=reset$' long.series || die "no series was reset"
grep -q '^conf .*policy=classic' long.series || die "no change of the policy"
! grep -q 'history=before' long.series || die "a series began before the file"
states=$(jq -r '.state // empty' long.json | sort -u | tr '\n' ' ')
for state in watch suspected recovered; do
	[[ $states == *$state* ]] || die "nobody was $state, only $states"
done

# Every alert of the kernel, with its factors and its time.
offset=$(python3 -c 'import time; print(time.time_ns() - time.monotonic_ns())')
cat >alerts.py <<'END'
import json, sys
keys = "pid comm state confidence policy severity tte_seconds growth_bytes_per_hour " \
       "score factors gates".split()
told = [json.loads(line) for line in open("long.json")]
offset = int(sys.argv[1])
# An alert has the time when it is told, a sample that when its pass began: on a busy
# machine, where the guest's clock jumps, seconds may be between the two.
near_ns = 60 * 10**9
n = 0
for line in open("alerts.json"):
    a = json.loads(line)
    if a["growing"]:    # the verdict on a member with the figures of its group: no sample has both
        continue
    same = [t for t in told if "state" in t and all(t[k] == a[k] for k in keys)
            and (a["state"] == "exited" or abs(t["time_ns"] + offset - a["time_ns"]) < near_ns)]
    n += 1
    if not same:
        near = [{k: t[k] for k in keys} for t in told if t.get("state") == a["state"]]
        sys.exit("alert %s: not replayed: %s; but %s" % (a["seq"], line, near[:3]))
if n < 4:
    sys.exit("only %d alerts" % n)
print("%d alerts, all replayed" % n)
END
python3 alerts.py "$offset" || die "an alert of the kernel is not replayed"

# ---- a service: those of its members that grow are one subject ----

seepage record --reset -o group.series 2>record.err &
recorder=$!
wait_for 20 test -s group.series
before=$(seepage -j alerts | jq -s 'map(.seq) | max')
named crew 1000 &
crew=$!
sleep 400
crew_pids=$(pgrep -x crew)
# shellcheck disable=SC2086 # a list
kill -KILL $crew_pids
sleep 60
kill -INT $recorder
wait $recorder || die "record ended with status $?: $(cat record.err)"
grep -q ' 0 messages lost' record.err || die "messages were lost: $(cat record.err)"
replayed group
seepage -j alerts | jq -c --argjson before "$before" 'select(.comm == "crew" and .seq > $before) |
	[.state, .pid, .subject, .members, .growing, .growth_bytes_per_hour, .tte_seconds]' >kernel.told
seepage -j replay --alerts group.series | jq -c '.alert // empty | select(.comm == "crew") |
	[.state, .pid, (if .members then "group" else "memory" end), .members, .growing,
	.growth_bytes_per_hour, .tte_seconds]' >replay.told
cat kernel.told
grep -qE "^\[\"(suspected|confirmed|runaway)\",$crew,\"group\",4,[23]," kernel.told ||
	die "the service has no alert of its own"
# A member that was seen to grow before the others may have an alert until the service has one.
for pid in $(jq -r 'select(.[2] == "memory" and .[0] != "recovered" and .[0] != "exited") | .[1]' kernel.told | sort -u); do
	grep -q "^\[\"recovered\",$pid,\"memory\"" kernel.told || die "member $pid of the service has an alert besides"
done
diff kernel.told replay.told || die "replay says other alerts of the service than the kernel"
# What the board had before: a change of state of each worker, and of the sum.
changes=$(jq -c 'select(.comm == "crew" and (.state | IN("suspected", "confirmed", "runaway")))' \
	group.json | wc -l)
((changes > $(wc -l <replay.told))) || die "$changes changes of state, $(wc -l <replay.told) alerts: nothing is merged"
echo "$changes changes of state into an alert are $(wc -l <replay.told) alerts of the service"

# ---- what is not so is found ----

# The series of the leaking program itself: not that of its group, nor that of the process
# before its exec, which is there if a pass came in between.
leaky=$(awk -v pid="pid=$leak" '/^proc/ && $3 == pid && !/ kind=group/ { its[$2] }
	$1 in its && / T[0-9]/ { print $1; exit }' long.series)
[[ $leaky ]] || die "the leak has no series with a time to exhaustion"
awk -v id="$leaky" '$1 == id && !done && /T[0-9]/ { sub(/ T[0-9]+/, " T1"); done = 1 } { print }' \
	long.series >verdict.series
assert_eq "$(status bad seepage replay verdict.series)" 1 "replay of another verdict"
grep -qE "^line [0-9]+: series $leaky differs: .* recorded .*exhausted in 1 s" bad ||
	die "the other verdict is not shown: $(head -n 1 bad)"
perl -ne "print if !/^$leaky a\\+/ || \$n++ < 20" long.series >growth.series
assert_eq "$(status bad seepage replay growth.series)" 1 "replay of other growth"
head -n 400 long.series | head -c -1 >cut.series
assert_eq "$(status bad seepage replay cut.series)" 1 "replay of half a line"
grep -qE 'line [0-9]+: its end is missing' bad.err || die "half a line: $(cat bad.err)"

# Under other circumstances there is nothing to compare, but something to see.
assert_eq "$(status classic.json seepage -j replay --policy classic --set warmup_s=0 long.series)" 0 classic
assert_eq "$(tail -n 1 classic.json | field .summary.compared)" 0 "compared under another policy"
assert_eq "$(status limit.json seepage -j replay --id "$leaky" --limit 200M long.series)" 0 limit
jq -es 'any(.state == "runaway" and .headroom_bytes < 200000000)' limit.json >/dev/null ||
	die "no runaway within 200 MB: $(jq -c '[.state, .headroom_bytes]' limit.json)"
echo "$samples samples of $series series replayed, none differs; $(python3 alerts.py "$offset")"
