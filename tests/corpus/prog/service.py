#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A JSON service: items are parsed, kept in a cache of a fixed number, and
rendered. Memory comes from malloc(3) (PYTHONMALLOC=malloc), so that dropfree
can make it leak."""
import collections
import json
import os
import socketserver
from http.server import BaseHTTPRequestHandler

cache = collections.OrderedDict()
KEEP = 300


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value):
        body = json.dumps(value, indent=1).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cache[value["key"]] = value
        cache.move_to_end(value["key"])
        if len(cache) > KEEP:
            cache.popitem(last=False)
        words = sorted(w for i in value["items"] for w in (i["text"], i["text"].upper()))
        self.answer(200, {"stored": value["key"], "first": words[:3]})

    def do_GET(self):
        value = cache.get(self.path.rsplit("/", 1)[-1])
        self.answer(200 if value else 404, value or {"error": "not found"})

    def log_message(self, format, *args):
        pass


socketserver.TCPServer.allow_reuse_address = True
socketserver.TCPServer(("127.0.0.1", int(os.environ["port"])), Handler).serve_forever()
