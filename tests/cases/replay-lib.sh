# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Helpers for the cases that record and replay, sourced after lib.sh.

# work.py KIND SECONDS: a process that leaks, comes and goes, executes, forks or idles
cat >work.py <<'END'
import os, signal, sys, time
kind, seconds = sys.argv[1], int(sys.argv[2])
end = time.monotonic() + seconds
kept = []
if kind == "forks":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if kind == "crew":      # three children leak, the first process waits
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(3):
        if os.fork() == 0:
            kind = "leak"
            break
if kind == "exec":
    if seconds > 60:
        time.sleep(45)
        os.execv(sys.executable, [sys.executable, sys.argv[0], "exec", str(seconds - 45)])
while time.monotonic() < end:
    if kind == "leak":
        kept.append(bytearray(1 << 20))
        time.sleep(2)
    elif kind == "saw":
        kept.append(bytearray(8 << 20))
        if len(kept) == 8:
            kept.clear()
        time.sleep(3)
    elif kind == "forks":
        kept.append(bytearray(1 << 18))
        if os.fork() == 0:
            kept.append(bytearray(4 << 20))
            time.sleep(13)
            os._exit(0)
        time.sleep(25)
    else:
        time.sleep(5)
END

# named KIND SECONDS: likewise, under the name KIND from its exec on, as processes of one name are
# one subject; in the background, where it takes the place of the shell
named() {
	ln -sf "$(readlink -f "$(type -P python3)")" "$1"
	exec "./$1" work.py "$@"
}

# status FILE COMMAND...: runs it with its output in FILE, prints its status
status() {
	local file=$1 rc=0
	shift
	"$@" >"$file" 2>"$file.err" || rc=$?
	echo $rc
}

# replayed NAME: NAME.series must be replayed without a difference
replayed() {
	assert_eq "$(status "$1.json" seepage -j replay "$1.series")" 0 \
		"replay $1 ($(tail -n 1 "$1.json.err"))"
	tail -n 1 "$1.json" | field .summary >"$1.summary"
	assert_eq "$(field .differing "$1.summary")" 0 "samples of $1 that differ"
}
