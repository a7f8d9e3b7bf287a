# SPDX-License-Identifier: GPL-2.0
"""The service of service.py for gunicorn: each worker has a cache of its own. Memory comes
from malloc(3) (PYTHONMALLOC=malloc), so that dropfree can make it leak."""
import collections
import json

cache = collections.OrderedDict()
KEEP = 300


def app(environ, start):
    key = environ["PATH_INFO"].rsplit("/", 1)[-1]
    if environ["REQUEST_METHOD"] == "POST":
        value = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        cache[value["key"]] = value
        cache.move_to_end(value["key"])
        if len(cache) > KEEP:
            cache.popitem(last=False)
        words = sorted(w for i in value["items"] for w in (i["text"], i["text"].upper()))
        answer = {"stored": value["key"], "first": words[:3]}
    else:
        answer = cache.get(key, {"error": "not found"})
    body = json.dumps(answer, indent=1).encode()
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
