#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# clients.sh N ARG...: N of client.pl ARG..., each with dice of its own.
: "${seed:?}" "${prog:?}"
n=$1
shift
for ((i = 1; i <= n; i++)); do
	seed=$((seed * 100 + i)) perl "$prog/client.pl" "$@" &
done
wait
