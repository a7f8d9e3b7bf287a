# SPDX-License-Identifier: GPL-2.0
"""What the guest of make where does to servers: requests, until it is told to stop."""
import http.client
import os
import socket
import subprocess
import time

PAUSE = 0.002
PSQL = ["psql", "-qAt", "-h", "/tmp/pgdata", "-U", "postgres", "postgres"]
SORTS = "select count(*) from (" + " union all ".join(
    f"(select n from generate_series(1, 30) n order by n % {k} limit 9)" for k in range(3, 11)) + ") s;\n"
NGINX_CONF = """daemon off; master_process off; error_log /tmp/nginx/log; pid /tmp/nginx/pid;
events { worker_connections 64; }
http { access_log off; client_body_temp_path /tmp/nginx/b; proxy_temp_path /tmp/nginx/p;
fastcgi_temp_path /tmp/nginx/f; uwsgi_temp_path /tmp/nginx/u; scgi_temp_path /tmp/nginx/s;
server { listen 127.0.0.1:18080; root /usr/share/doc; location / { autoindex on; } } }
"""


def again(stop, request):
    n = 0
    while not stop.is_set():
        try:
            request(n)
            n += 1
        except OSError:
            time.sleep(0.1)
        time.sleep(PAUSE)


def load_http(stop, twin):
    def request(n):
        c = http.client.HTTPConnection("127.0.0.1", 18080, timeout=20)
        c.request("GET", "/bash/" if n % 3 else "/none")
        c.getresponse().read()
        c.close()

    again(stop, request)


def load_redis(stop, twin):
    """Sessions that nothing deletes; of the twin they are always the same ones."""
    link = []

    def request(n):
        try:
            if not link:
                link.append(socket.create_connection(("127.0.0.1", 16379), 20))
            link[0].sendall(b"".join(b"SET session:%d %s\r\n" % ((n * 20 + i) % (64 if twin else 1 << 30), b"v" * 100)
                                     for i in range(20)))
            got = b""
            while got.count(b"\n") < 20:
                part = link[0].recv(4096)
                if not part:
                    raise OSError("closed")
                got += part
        except OSError:
            link.clear()
            raise

    again(stop, request)


def load_postgres(stop, twin):
    """Statements that sort, of one session"""
    link = []

    def request(n):
        if not os.path.exists("/tmp/pgdata/.s.PGSQL.5432"):
            raise OSError("not ready")
        if not link:
            link.append(subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True))
        try:
            link[0].stdin.write(SORTS)
            link[0].stdin.flush()
            if not link[0].stdout.readline():
                raise OSError("closed")
        except OSError:
            end()
            raise

    def end():
        if link:
            link[0].kill()
            link.pop().wait()

    again(stop, request)
    end()


LOADS = {"http": load_http, "redis": load_redis, "postgres": load_postgres}
