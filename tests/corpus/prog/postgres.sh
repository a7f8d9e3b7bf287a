#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# PostgreSQL in the foreground, from the cluster that tests/corpus/record made.
set -euo pipefail
: "${port:?}" "${bin:?}"
cp -a "$bin/pgdata" data
chmod 711 /tmp/corpus
chown postgres: . data
exec setpriv --reuid postgres --regid postgres --clear-groups \
	/usr/lib/postgresql/15/bin/postgres -D "$PWD/data" -p "$port" -k "$PWD" \
	-c listen_addresses= -c fsync=off -c autovacuum=off -c bgwriter_delay=10s \
	-c wal_writer_delay=10s -c shared_buffers=64MB -c work_mem=8MB -c jit=off \
	-c max_wal_size=128MB -c "checkpoint_timeout=1h" "$@"
