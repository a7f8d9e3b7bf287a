#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What get -j prints, apply takes: nothing changes and nothing is said. save keeps the configuration
# in a file, which is whole whatever happens.
# vm: --smp 2 --mem 1024
# takes: 15
# about: ctl
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no parameters
load
# unchanged WHAT: the configuration through apply and back
unchanged() {
	seepage -j get >before
	seepage apply before >said 2>&1 || die "$1: apply: $(cat said)"
	assert_eq "$(cat said)" "" "$1: what apply says"
	seepage -j get | cmp - before || die "$1: it has changed"
}
unchanged "all defaults"
seepage set policy classic warmup_s 7 alert_confidence 55 sample_interval_ms 2000 2>/dev/null
unchanged "with changes"
seepage set pmc off
unchanged "without counters"
seepage set pmc auto pmc_events 'a=r1f,b=cycles' 2>/dev/null || true
unchanged "with events"

seepage save -o dir/conf >said
assert_eq "$(cat said)" dir/conf "what save says"
assert_eq "$(stat -c %a dir/conf)" 644 "its mode"
assert_eq "$(jq -cS . dir/conf)" "$(jq -cS . before)" "what is saved"
# Nothing new: the file and its predecessor stay as they are.
inode=$(stat -c %i dir/conf)
seepage save -o dir/conf >/dev/null
assert_eq "$(stat -c %i dir/conf)" "$inode" "the file"
[[ ! -e dir/conf~ ]] || die "a predecessor of the first file"

echo '/* by hand */ {"warmup_s": 9}' >dir/conf
seepage save -o dir/conf warmup_s=11 alert_confidence 60 >/dev/null
assert_eq "$(cat dir/conf~)" '/* by hand */ {"warmup_s": 9}' "the predecessor"
assert_eq "$(seepage get warmup_s) $(field .warmup_s dir/conf) $(field .alert_confidence dir/conf)" "11 11 60" "set and saved"

# refused STATUS TEXT WORD...: it says so in one line, and nothing has changed
refused() {
	local status=0
	seepage -j get >before
	cp dir/conf conf.before
	seepage save "${@:3}" >said 2>&1 || status=$?
	assert_eq $status "$1" "status of save ${*:3}"
	[[ $(cat said) == *"$2"* && $(wc -l <said) == 1 ]] || die "save ${*:3}: $(cat said)"
	seepage -j get | cmp - before || die "save ${*:3}: the configuration has changed"
	cmp dir/conf conf.before || die "save ${*:3}: the file has changed"
}
refused 2 "warmup_s: 'x': allowed 0.." -o dir/conf alert_confidence 61 warmup_s x
refused 2 "unknown key 'none': allowed " -o dir/conf none=1
refused 2 "VALUE is missing" -o dir/conf warmup_s
refused 1 "must not exceed" -o dir/conf suspect_interval_ms=9000
refused 1 "dir: " -o dir
refused 1 "Not a directory" -o dir/conf/x
# The file cannot be written, which only the write tells: what was set is as before.
refused 1 "dir: Is a directory" -o dir warmup_s=12 alert_confidence=62
mkdir full
mount -t tmpfs -o size=4k full full
head -c 4096 /dev/zero >full/zeros || true
refused 1 "full/conf: No space left on device" -o full/conf warmup_s=12
umount full
refused 1 "x: Not a directory" -o dir/conf/x warmup_s=12

# set --save: as set and save
conf=/etc/seepage/seepage.conf
mkdir -p "${conf%/*}"
echo '{"warmup_s": 9}' >"$conf"
seepage set --save warmup_s=13 alert_confidence 63 >said
assert_eq "$(cat said)" "$conf" "what set --save says"
assert_eq "$(seepage get warmup_s) $(field .warmup_s "$conf") $(field .alert_confidence "$conf")" "13 13 63" "set and saved"
assert_eq "$(cat "$conf~")" '{"warmup_s": 9}' "the predecessor of $conf"
seepage -j get | jq -cS . | cmp - <(jq -cS . "$conf") || die "set --save: the file is not what is in force"
seepage set warmup_s 14 && seepage save >/dev/null
cp "$conf" by-two
seepage set --save warmup_s=13 >/dev/null
seepage set --save warmup_s 14 >/dev/null
cmp "$conf" by-two || die "set --save writes another file than set and save"
# not_set STATUS TEXT WORD...: neither set nor saved
not_set() {
	local status=0
	seepage set --save "${@:3}" >said 2>&1 || status=$?
	assert_eq $status "$1" "status of set --save ${*:3}"
	[[ $(cat said) == "seepage: "*"$2"* && $(wc -l <said) == 1 ]] || die "set --save ${*:3}: $(cat said)"
	assert_eq "$(seepage get warmup_s) $(seepage get alert_confidence)" "14 63" "after set --save ${*:3}"
	cmp "$conf" by-two || die "set --save ${*:3}: the file has changed"
}
not_set 2 "set: warmup_s: 'x': allowed 0.." alert_confidence 61 warmup_s x
not_set 1 "must not exceed" warmup_s 15 suspect_interval_ms=9000
# A program without tools beside it
mkdir moved
cp "$(command -v seepage)" moved
status=0
moved/seepage set --save warmup_s=15 >said 2>&1 || status=$?
assert_eq "$status $(seepage get warmup_s)" "1 14" "set --save without the tool save"
grep -q "^seepage: save: not installed: no .*/seepage-save, which is in the package seepage-tools$" said || die "$(<said)"
mount --bind -r "${conf%/*}" "${conf%/*}"
not_set 1 "$conf: Read-only file system" warmup_s 15
umount "${conf%/*}"
seepage set alert_confidence 60 warmup_s 11
unload
status=0
seepage save -o dir/conf >said 2>&1 || status=$?
assert_eq "$status $(cat said)" "1 seepage: module not loaded (modprobe seepage)" "without the module"

# The next load, as the service seepage-config has it
# shellcheck disable=SC2119 # no parameters
load
seepage apply dir/conf
assert_eq "$(seepage get warmup_s) $(seepage get policy)" "11 classic" "after the next load"
