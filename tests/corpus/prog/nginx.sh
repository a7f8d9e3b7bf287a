#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# nginx in the foreground with one worker, or $workers, serving $files pages that it packs.
set -euo pipefail
: "${port:?}" "${files:?}" "${workers=}"
mkdir -p www logs
perl -e 'srand $ENV{seed}; for my $i (0 .. $ENV{files} - 1) {
	open my $f, ">", "www/file$i.html" or die;
	print $f join " ", map { join "", map { chr(97 + int rand 26) } 1 .. 1 + int rand 9 } 1 .. 200 * 40**rand }'
cat >nginx.conf <<END
daemon off;
user root;
worker_processes ${workers:-1};
pid $PWD/nginx.pid;
error_log $PWD/error.log;
events { worker_connections 64; }
http {
	access_log off;
	gzip on;
	client_body_temp_path $PWD/body;
	proxy_temp_path $PWD/proxy;
	fastcgi_temp_path $PWD/fastcgi;
	uwsgi_temp_path $PWD/uwsgi;
	scgi_temp_path $PWD/scgi;
	server { listen 127.0.0.1:$port${workers:+ reuseport}; root $PWD/www; }
}
END
exec nginx -p "$PWD" -e "$PWD/error.log" -c "$PWD/nginx.conf"
