#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# php-fpm with $workers workers behind nginx; all ends with nginx.
set -euo pipefail
: "${port:?}" "${prog:?}" "${workers:?}"
chmod 711 /tmp/corpus .
cat >fpm.conf <<END
[global]
daemonize = no
error_log = $PWD/fpm.log
[www]
user = root
group = root
listen = $PWD/fpm.sock
pm = static
pm.max_children = $workers
pm.max_requests = 0
END
cat >nginx.conf <<END
daemon off;
user root;
worker_processes 1;
pid $PWD/nginx.pid;
error_log $PWD/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $PWD/body;
	proxy_temp_path $PWD/proxy;
	fastcgi_temp_path $PWD/fastcgi;
	uwsgi_temp_path $PWD/uwsgi;
	scgi_temp_path $PWD/scgi;
	server {
		listen 127.0.0.1:$port;
		location / {
			include /etc/nginx/fastcgi_params;
			fastcgi_param SCRIPT_FILENAME $prog/service.php;
			fastcgi_pass unix:$PWD/fpm.sock;
		}
	}
}
END
# Only php-fpm is made to leak.
LD_PRELOAD='' nginx -p "$PWD" -e "$PWD/error.log" -c "$PWD/nginx.conf" &
exec php-fpm8.2 -R -n -y "$PWD/fpm.conf"
