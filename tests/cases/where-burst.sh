#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# seepage where --burst names the site that leaks, with the survival of its blocks, beside a site
# that allocates ten times as much of the same class and frees it. The twin without the leak
# names none. Another process has no breakpoint while a burst is under way, and nobody has one
# after it: not the process, nor children that it forked meanwhile.
# vm: --smp 2 --mem 1024
# about: kmod/where ctl/where ctl/tools
# takes: 190
# timeout: 600
# only-amd64: the static controller for other architectures has no libdw
. "$(dirname "$0")/where-lib.sh"
insmod "$where_ko"

target twin
twin=$pid untouched=$(code "$pid")
target leak
clean "$pid" || die "two processes have other code at malloc()"

# What it finds
seepage -j where -s 8 --burst --again-after 2,5,8 --svg leak.svg "$pid" >leak.json
jq -c '{traps, samples, notes}' leak.json
jq -c '.sites[] | [.rank, .samples, .survival_permille, .unchanged_permille, [.stack[].symbol]]' leak.json
assert_eq "$(field '.sites[0].stack | map(.symbol) | index("site_leak")' leak.json)" 1 \
	"where site_leak is in the first stack"
assert_eq "$(field '.sites[0].stack[0].symbol' leak.json)" wrapped "caller of malloc"
(($(field '.sites[0].survival_permille' leak.json) >= 900)) || die "survival below 900"
assert_eq "$(field '[.sites[].stack[].symbol] | index("site_churn")' leak.json)" null "the churn is named"
(($(field .traps leak.json) > 0 && $(field .samples leak.json) >= 100)) || die "too few traps or samples"
[[ $(field '.sites[0].stack[0].build_id' leak.json) =~ ^[0-9a-f]{40}$ ]] || die "no build id"
assert_eq "$(field .method leak.json)" burst method
assert_eq "$(field '[.notes[] | select(test("traps of children"))] | length' leak.json)" 0 \
	"processes beside it that trapped"
wait_for 5 clean "$pid"

# At each look as much as at the next one, at least, and never more unchanged than there is
jq -c '.sites[0].again' leak.json
assert_eq "$(field '[.sites[0].again[].seconds] | join(" ")' leak.json)" "2 5 8" "times of the looks"
assert_eq "$(field '.sites[] | [.again[].survival_permille] | . == (sort | reverse)' leak.json | sort -u)" \
	true "survival that does not rise"
assert_eq "$(field '.sites[] | .again[-1].survival_permille == .survival_permille and
	all(.again[]; .unchanged_permille <= .survival_permille)' leak.json | sort -u)" true "looks that agree"

# Its picture: the site's frame is nearly as wide as the root's, and the churn is not there.
python3 - leak.svg <<'END' || die "the flame graph is not of site_leak"
import sys
import xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
frames = [(float(g.find(svg + "rect").get("width")), g.find(svg + "title").text)
          for g in tree.parse(sys.argv[1]).iter(svg + "g")]
print(frames)
widest = max(w for w, _ in frames)
leak = max(w for w, t in frames if t.startswith("site_leak "))
sys.exit(leak < 0.9 * widest or any("site_churn" in t for _, t in frames))
END

# --folded, and an early ^C still has an answer
seepage where -s 2 --burst --again-after 60 --folded "$pid" >folded &
tool=$!
sleep 8
kill -INT $tool
wait $tool || die "a signal between the looks: status $?"
grep -qE '^siteleak;.*;site_leak;wrapped [0-9]+$' folded || die "folded: $(head -n 3 folded)"

# Without the right for a burst, the tool says so before its looks, not an hour later.
! text=$(setpriv --bounding-set "-perfmon,-sys_admin" timeout 30 \
	seepage where -s 3600 --burst "$pid" 2>&1) || die "a burst without CAP_PERFMON"
[[ $text == "seepage: where: --burst: not permitted: needs CAP_PERFMON"* ]] || die "$text"
seepage where -s 2 --burst --class 200 --again-after 1,2 "$pid" >text
grep -qE '^\+[^,]*/h, [0-9.]+ [KM]?i?B sampled, [0-9.]+ % stay \([0-9.]+ % after 1 s, [0-9.]+ % after 2 s\): wrapped <- site_leak' text ||
	die "two looks: $(cat text)"

# By itself, as long after the burst as between the looks
seepage -j where -s 6 "$pid" >alone.json
jq -c '{method, seconds, traps, notes}' alone.json
assert_eq "$(field .method alone.json)" burst "method without a choice"
assert_eq "$(field '.sites[0].stack | map(.symbol) | index("site_leak")' alone.json)" 1 \
	"where site_leak is in the first stack, without a choice"
assert_eq "$(field '.sites[0].again | map(.seconds) | join(" ")' alone.json)" 6 "time of the look"
text=$(setpriv --bounding-set "-perfmon,-sys_admin" timeout 60 seepage where -s 2 "$pid" 2>&1) ||
	die "without a choice and CAP_PERFMON: $text"
[[ $text == *"note: sites: not known: not permitted: needs CAP_PERFMON"* ]] || die "$text"

# Compared with the first answer, the site is known; with one whose site has another name it is new.
seepage -j where --diff leak.json --burst --class 200 --again-after 5 "$pid" >later.json
jq -c '.site_changes[] | [.change, .before_bytes_per_hour, .bytes_per_hour, [.stack[].symbol]]' later.json
assert_eq "$(field '[.site_changes[] | select(.stack | map(.symbol) | index("site_leak")) | .change] |
	map(. == "new" or . == "gone") | any' later.json)" false "site_leak is new or gone"
jq '.sites[0].stack[0].symbol = "another" | .sites[0].bytes_per_hour = 1048576' leak.json >edited.json
touch -r leak.json edited.json
seepage where --diff edited.json --burst --class 200 --again-after 5 "$pid" >text
grep -qE '^new, \+[^,]* now: wrapped <- site_leak' text || die "a new site: $(cat text)"
grep -qE '^gone, \+1.0 MiB/h before: another <- site_leak' text || die "a site that is gone: $(cat text)"

# Not the twin
seepage -j where -s 5 --burst --class 200 --again-after 5 "$twin" >twin.json
jq -c '{traps, samples, notes}' twin.json
(($(field .samples twin.json) >= 100)) || die "twin: too few samples"
assert_eq "$(field '.sites | length' twin.json)" 0 "sites that the twin is said to have"

# operator new
mkfifo new
"$top/build/tests/newleak" >new &
read -r _ other <new
seepage -j where -s 4 --burst --again-after 4 "$other" >cc.json
jq -c '[.traps, .sites[0].survival_permille, [.sites[0].stack[].symbol]]' cc.json
[[ $(field '.sites[0].stack | map(.symbol) | join(" ")' cc.json) =~ keep_session ]] ||
	die "keep_session is not in the first stack"
[[ $(field '[.sites[].stack[].symbol] | join(" ")' cc.json) != *handle_request* ]] ||
	die "handle_request is named"
assert_eq "$(field '[.sites[0].stack[].demangled] | index("keep_session()") != null' cc.json)" true \
	"a name as people write it"
kill -KILL "$other"

# Breakpoints, while a burst is under way and after it
"$top/build/tests/bursts" "$pid" cost 120000 >/dev/null &
burst=$!
wait_for 5 touched "$pid"
clean "$twin" || die "another process has a breakpoint"
kill -USR1 "$pid"
read -r word busy quiet <&"$from"
assert_eq "$word" children "what the process says"
malloc[$busy]=${malloc[$pid]} malloc[$quiet]=${malloc[$pid]}
wait_for 5 clean "$busy"
touched "$quiet" || die "a child that does not allocate has lost its breakpoint: nothing is shown"
touched "$pid" || die "the process lost its breakpoint"
clean "$twin" || die "another process has a breakpoint"
kill -KILL $burst
wait $burst || true
wait_for 5 clean "$pid"
for p in "$twin" "$busy" "$quiet"; do
	clean "$p" || die "process $p has a breakpoint after the burst"
done
kill -KILL "$busy" "$quiet" "$pid" "$twin"
rmmod seepage_where
echo "site_leak first, $(field '.sites[0].survival_permille' leak.json) permille stay," \
	"$(field .traps leak.json) traps; the twin names none"
