#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `notify` tells receivers of a real leak, from its first alert to its exit: a webhook over
# HTTP that fails at first, and a command. Killed with SIGKILL while the webhook fails, it
# goes on with what its spool has and with what the module holds, and tells nothing twice.
# vm: --warp --mem 2048
# about: ctl/notify ctl/tools/notify.c ctl/cmd/watch.c ctl/lib
# takes: 30
# timeout: 1200
. "$(dirname "$0")/lib.sh"

# Says 503 until the file "up" exists; each body that it takes is a line of hook.out.
cat >receiver.py <<'END'
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        up = os.path.exists("up")
        if up:
            with open("hook.out", "ab") as out:
                out.write(body + b"\n")
        self.send_response(200 if up else 503)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 8099), Handler)
open("receiver.ready", "w")
server.serve_forever()
END
cat >cmd <<'END'
#!/bin/sh
printf '%s %s ' "$SEEPAGE_SEQ" "$SEEPAGE_STATE" >>command.env
cat >>command.out
echo >>command.out
END
chmod +x cmd
cat >leak.pl <<'END'
use Time::HiRes qw(sleep);
my @kept;
while (1) {
	push @kept, "x" x (512 * 1024);
	sleep 1;
}
END

notify() {
	seepage notify --state-dir "$PWD/state" --webhook http://127.0.0.1:8099/hook --exec "$PWD/cmd" \
		2>>notify.err &
	notify=$!
}
lines() { [[ ! -e $1 ]] || wc -l <"$1"; }
has_lines() { (($(lines "$1") + 0 >= $2)); }
newest() { seepage -j status | jq '.seq_last // 0'; }
told() { [[ $(jq -r "$2" "$1" 2>/dev/null) == *"$3"* ]]; }
sequence() { jq -c "$2" "$1" | sort -n | paste -sd ' '; }

ip link set lo up
python3 receiver.py &
wait_for 120 test -e receiver.ready
load
notify
perl leak.pl &
leak=$!
wait_long 1200 told command.out "select(.pid == $leak) | .state" suspected
kill -KILL $notify
wait $notify 2>/dev/null || true
! [[ -e hook.out ]] || die "the webhook has taken something"
[[ $(find state -name '0*' -path '*webhook*') ]] || die "the spool is empty"
# It ends while nobody listens.
kill -KILL $leak
wait $leak 2>/dev/null || true
wait_long 1200 eval 'seepage -j alerts | jq -e "select(.state == \"exited\")" >/dev/null'
touch up
notify
wait_long 600 told hook.out '.state' exited
wait_for 120 has_lines command.out "$(newest)"
kill -TERM $notify
wait $notify || die "status of notify after SIGTERM: $?"
all=$(seq -s ' ' "$(newest)")
assert_eq "$(sequence hook.out .alert.seq)" "$all" "numbers at the webhook"
assert_eq "$(jq .seq command.out | sort -nu | paste -sd ' ')" "$all" "numbers at the command"
assert_eq "$(jq -r .id hook.out | sort -u | wc -l)" "$(newest)" "ids at the webhook"
jq -c "select(.pid == $leak) | [.type, .process, .state, .severity, .metrics, .text]" hook.out
assert_eq "$(jq -r "select(.pid == $leak) | .type" hook.out | tail -n 1)" memory_leak_ended "the last type"
assert_eq "$(jq -r "select(.pid == $leak) | .process" hook.out | sort -u)" perl "process"
grep -q '^seepage: notify: webhook http://127.0.0.1:8099: HTTP 503; it is tried again' notify.err ||
	die "no word of the 503: $(head -n 1 notify.err)"
cat notify.err
# Another kill, with nothing to tell: the position is kept.
before=$(wc -l <hook.out)
notify
sleep 60
kill -TERM $notify
wait $notify || die "status of notify: $?"
assert_eq "$(wc -l <hook.out)" "$before" "told again after a restart"
mkdir -p /tmp/out && cp hook.out command.out notify.err /tmp/out/ && seepage -j alerts >/tmp/out/alerts.jsonl
unload
