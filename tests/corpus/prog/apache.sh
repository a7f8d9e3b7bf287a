#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Apache in the foreground: prefork, $workers processes, $files pages that it packs.
set -euo pipefail
: "${port:?}" "${files:?}" "${workers:?}"
mkdir -p www
perl -e 'srand $ENV{seed}; for my $i (0 .. $ENV{files} - 1) {
	open my $f, ">", "www/file$i.html" or die;
	print $f join " ", map { join "", map { chr(97 + int rand 26) } 1 .. 1 + int rand 9 } 1 .. 200 * 40**rand }'
chmod 711 /tmp/corpus
chmod -R a+rX . www
m=/usr/lib/apache2/modules
cat >apache.conf <<END
ServerRoot $PWD
ServerName a
PidFile $PWD/apache.pid
DefaultRuntimeDir $PWD
Mutex file:$PWD
ErrorLog $PWD/error.log
Listen 127.0.0.1:$port
User www-data
Group www-data
LoadModule mpm_prefork_module $m/mod_mpm_prefork.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule mime_module $m/mod_mime.so
LoadModule filter_module $m/mod_filter.so
LoadModule deflate_module $m/mod_deflate.so
TypesConfig /dev/null
AddType text/html .html
AddOutputFilterByType DEFLATE text/html
StartServers $workers
MinSpareServers $workers
MaxSpareServers $workers
MaxRequestWorkers $workers
MaxConnectionsPerChild 0
KeepAlive On
DocumentRoot $PWD/www
<Directory $PWD/www>
	Require all granted
</Directory>
END
exec apache2 -f "$PWD/apache.conf" -DFOREGROUND
