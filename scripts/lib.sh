# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the scripts here and in tests/lab share: where things are cached, and how to reach the
# machine's own Debian mirror without writing its name down anywhere.

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the scripts that source this file
top=$(cd "$scripts/.." && pwd)
# shellcheck disable=SC2034
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/seepage

say() { echo "${0##*/}: $*" >&2; }

die() {
	say "$@"
	exit 1
}

# kernel_column NAME N: column N of a kernel in kernels.list; nothing if there
# is no such kernel.
kernel_column() {
	awk -v name="$1" -v n="$2" '!/^#/ && $1 == name { print $n }' "$scripts/kernels.list"
}

# The names of all of them, in a line.
kernel_names() { awk '!/^#/ && NF { printf "%s%s", n++ ? " " : "", $1 }' "$scripts/kernels.list"; }

# The architecture of a kernel, in Debian's words; amd64 is the machine's own.
arch_of() { kernel_column "$1" 5; }

# arch_row ARCH: what arch.list has behind the name of an architecture; nothing
# if there is no such architecture.
arch_row() {
	awk -v arch="$1" '!/^#/ && $1 == arch { $1 = ""; print }' "$scripts/arch.list"
}

# The architectures whose guests have a root of their own, with commas.
foreign_archs() {
	awk '!/^#/ && NF && $3 != "-" { printf "%s%s", n++ ? ", " : "", $1 }' "$scripts/arch.list"
}

# Checkers make a kernel several times slower and larger.
is_debug_kernel() { [[ ,$(kernel_column "$1" 4), == *,debug,* ]]; }

# The codename, such as bookworm, of the Debian release this machine runs.
host_suite() {
	# shellcheck disable=SC1091
	. /etc/os-release && echo "$VERSION_CODENAME"
}

# mirror_of SUITE: the URI from which this machine's apt would fetch SUITE.
# apt itself is asked, so that .list and .sources files both count. The
# security suites live at another URI than all the others; a suite that the
# machine does not use is expected beside the one it does use.
# ReleaseInfo=false: else apt hides the sources whose lists are not fetched yet.
mirror_of() {
	local own uri

	own=$(host_suite)
	[[ $1 == *-security ]] && own+=-security
	uri=$(apt-get indextargets -o APT::Get::IndexTargets::ReleaseInfo=false \
		--format "\$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
		'Created-By: Packages' |
		awk -v suite="$own" '$2 == suite && $3 == "main" && !n++ { print $1 }')
	[[ $uri ]] || die "the apt sources of this machine name no mirror of $own main"
	echo "$uri"
}

# private_apt DIR SUITE...: points apt, through APT_CONFIG, at a state of its
# own below DIR that knows only these suites, and fetches their lists. The
# system's sources and lists stay untouched, and no root is needed. With
# apt_arch it sees that architecture, and this machine's behind it.
private_apt() {
	local dir=$1 suite uri own key=/usr/share/keyrings/debian-archive-keyring.gpg
	shift

	mkdir -p "$dir"/{lists,archives}/partial "$dir/empty"
	: >"$dir/status"
	for suite; do
		# Not inside echo: there a failure would go unnoticed.
		uri=$(mirror_of "$suite") || exit 1
		[[ -e $key ]] && uri="[signed-by=$key] $uri"
		echo "deb $uri $suite main"
	done >"$dir/sources.list"
	# The machine's apt.conf.d stays in force: it may name a proxy.
	cat >"$dir/apt.conf" <<-END
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "$dir/empty";
		Dir::Etc::preferences "$dir/empty/none";
		Dir::Etc::preferencesparts "$dir/empty";
		Acquire::Languages "none";
		Acquire::Retries "3";
		APT::Sandbox::User "";
	END
	if [[ ${apt_arch:-} ]]; then
		own=$(dpkg --print-architecture)
		echo "APT::Architecture \"$apt_arch\"; APT::Architectures { \"$apt_arch\"; \"$own\"; };"
	fi >>"$dir/apt.conf"
	export APT_CONFIG=$dir/apt.conf
	apt-get -q update >"$dir/update.log" 2>&1 || {
		cat "$dir/update.log" >&2
		die "apt-get update of $* failed"
	}
}
