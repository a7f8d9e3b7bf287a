# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# For the cases that run nltest, after lib.sh.
# A copy where every user can reach it; the checkout may be in a home directory.
nltest=/tmp/nltest
install -m 755 "$top/build/tests/nltest" $nltest

# nltest PATTERN...: fails the case with the first test that is not ok.
nltest() {
	"$nltest" "$@" | tee nltest.out || die "$(grep -m 1 '^not ok' nltest.out || echo nltest)"
}
