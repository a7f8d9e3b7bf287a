#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Permission to read, to write and to listen: by uid, capability and namespace.
# vm: --smp 1
# takes: 6
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$top/tests/netlink/case.sh"
bad=''

# as WHO TEST.. -- COMMAND..: the tests, run by COMMAND as somebody
as() {
	local who=$1 tests=()
	shift
	while [[ $1 != -- ]]; do
		tests+=("$1")
		shift
	done
	shift
	echo "# $who"
	"$@" "$nltest" "${tests[@]}" | tee nltest.out && return
	bad="$who: $(grep -m 1 '^not ok' nltest.out || echo "$*")"
}

# With these capabilities (numbers, for an old setpriv) and no others.
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all)
nobody_with() {
	local caps=$1
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$caps" \
		--ambient-caps="$caps" "$@"
}

# So that there is something to be refused.
"$nltest" perm-alerts || die "no alerts to be refused"

as root perm-admin perm-reader-all -- env
as nobody perm-denied perm-own -- "${nobody[@]}"
as "nobody, root in a user namespace" perm-denied perm-own -- \
	"${nobody[@]}" unshare --user --map-root-user
as "root in a user namespace" perm-denied -- unshare --user --map-root-user
as "root without capabilities" perm-denied -- setpriv --bounding-set=-all
as "CAP_PERFMON" perm-reader -- nobody_with +cap_38
as "CAP_SYS_ADMIN" perm-admin perm-reader-all -- nobody_with +sys_admin
as "CAP_NET_ADMIN" perm-denied perm-own -- nobody_with +net_admin
as "CAP_SYS_PTRACE" perm-denied perm-own -- nobody_with +sys_ptrace
as "another network namespace" perm-absent -- unshare --net
as "a user and network namespace" perm-absent -- \
	"${nobody[@]}" unshare --user --map-root-user --net
as "a user namespace without a map" perm-denied -- "${nobody[@]}" unshare --user
as "root, for others" perm-setuid perm-opener perm-unmapped perm-passed-on perm-factors -- env
[[ ! $bad ]] || die "$bad"
