#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sessions.sh N THINK BATCH: N connections to the postgres of this directory, each with a
# schema and dice of its own.
: "${seed:?}" "${prog:?}" "${port:?}"
for ((i = 1; i <= $1; i++)); do
	{
		echo "CREATE SCHEMA s$i; SET search_path TO s$i;"
		seed=$((seed * 100 + i)) perl "$prog/sql.pl" postgres "$2" "$3"
	} | psql -q -h "$PWD" -p "$port" -U postgres >/dev/null &
done
wait
