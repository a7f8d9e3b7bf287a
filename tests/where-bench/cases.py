# SPDX-License-Identifier: GPL-2.0
"""The programs of make where, and what is true of them.

A program leaks in one function, which is its truth, and has a twin that is the same but for the
leak. Some of them are frozen: nobody tunes anything by what they say. Which ones follows from the
name: the lowest bit of the first byte of its SHA-256. What was looked at to mend a fault is not
frozen any more, see SEEN.
"""
import glob
import hashlib
import os
import signal

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, "build/where-bench")
PRELOADED = "/tmp/preloaded"   # of the guest: copies that every user may read
PYTHON = "/usr/bin/python3"
NGINX = "/usr/sbin/nginx"
NODE = "/usr/bin/node"
POSTGRES = ["/usr/bin/setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups",
            (glob.glob("/usr/lib/postgresql/*/bin/postgres") or ["postgres"])[-1], "-D", "/tmp/pgdata",
            "-k", "/tmp/pgdata", "-c", "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off",
            "-c", "jit=off", "-c", "shared_buffers=16MB"]
LIBS = "/usr/lib/x86_64-linux-gnu"
JEMALLOC = f"{LIBS}/libjemalloc.so.2"
TCMALLOC = f"{LIBS}/libtcmalloc_minimal.so.4"
MIMALLOC = f"{LIBS}/libmimalloc.so.2.0"
CONTAINED = "/usr/sbin/nginx"   # of prog/container.py
SEEN = ("c-beside", "c-grow", "c-rare", "nginx", "node-addon", "python-sqlite")


class Case:
    def __init__(self, name, what, argv, truth, **how):
        self.name, self.what = name, what
        self.truth = [truth] if isinstance(truth, str) else truth   # all of them in one stack
        self.argv = [word.format(build=BUILD, here=HERE) for word in argv]
        self.twin_argv = how.get("twin_argv", self.argv + ["twin"])
        self.env, self.twin_env = how.get("env", {}), how.get("twin_env", how.get("env", {}))
        self.load = how.get("load")         # what the guest does to it: a name of load.LOADS
        self.child = how.get("child")       # it is a child of what is started: a word of its command line
        self.allocator = how.get("allocator")   # the file with its malloc, if that is not glibc
        self.kill = how.get("kill", signal.SIGKILL)
        self.end = how.get("end")           # what ends it instead, a command
        self.contained = how.get("contained", False)    # it has namespaces and a root of its own
        self.names = how.get("names")       # words of a note that the tool has to have on it
        self.seconds = how.get("seconds")   # of the looks and of the burst; None: as all others
        self.known = how.get("known", True)     # an allocator that where --burst knows, or Go
        odd = hashlib.sha256(name.encode()).digest()[0] & 1
        self.half = "frozen" if odd and name not in SEEN else "open"


def own(name, what, **how):
    return Case(f"c-{name}", what, ["{build}/own", name], f"keep_{name}", **how)


def cc(name, what):
    return Case(f"cc-{name}", what, ["{build}/owncc", name], f"app::keep_{name}")


def injected(name, what, argv, truth, **how):
    """A real program, with a leak at a chosen function of it. What that function allocates for
    itself is not the truth: see inject_lost()."""
    preload = {"LD_PRELOAD": f"{PRELOADED}/inject.so"}
    return Case(name, what, argv, ["inject_lost", truth], twin_argv=[w.format(build=BUILD, here=HERE) for w in argv],
                env={**preload, "INJECT": truth}, twin_env=preload, **how)


CASES = [
    own("small", "C, one of two callers of malloc"),
    own("wrapped", "C, calloc below two wrappers"),
    own("copy", "C, strdup"),
    own("line", "C, asprintf"),
    own("big", "C, blocks of 40 KB"),
    own("grow", "C, one block that realloc makes larger"),
    own("beside", "C, beside a full cache of the same class"),
    own("rare", "C, one block of 900 bytes in 3 s", seconds=24),
    own("displaced", "C, takes the places that others free"),
    own("threads", "C, four threads with arenas"),
    own("periodic", "C, a job every second that leaks 20 blocks"),
    own("arena", "C, chunks of an allocator of its own"),
    own("tree", "C, nodes of a tree, whose pointers change"),
    cc("map", "C++, nodes of a map"),
    cc("text", "C++, strings in a deque"),
    cc("cycle", "C++, a cycle of shared_ptr"),
    cc("threads", "C++, nodes of lists, four threads with arenas"),
    Case("rust", "Rust, sessions in a map", ["{build}/sessions-rust"], "sessions::app::keep_session"),
    Case("python-native", "python, a C library through ctypes",
         [PYTHON, "{here}/prog/native.py", "{build}/keep.so"], "keep_record"),
    Case("python-frames", "python, objects of its own", [PYTHON, "{here}/prog/orders.py"], "keep_order"),
    injected("perl", "perl, a leak put into it", ["/usr/bin/perl", "{here}/prog/work.pl"],
             "Perl_av_make"),
    injected("nginx", "nginx, a leak put into it", [NGINX, "-c", "/tmp/nginx/nginx.conf"],
             "ngx_http_create_request", load="http"),
    injected("postgres", "postgres, a leak put into one of its servers", POSTGRES, "tuplesort_begin_heap",
             load="postgres", child="[local]", kill=signal.SIGQUIT),
    injected("python-sqlite", "python, a leak put into sqlite", [PYTHON, "{here}/prog/sqlite.py"],
             "sqlite3_backup_init"),
    injected("python-zlib", "python, a leak put into zlib, large blocks",
             [PYTHON, "{here}/prog/zip.py"], "deflateInit2_"),
    injected("node", "node, a leak put into libuv", [NODE, "{here}/prog/files.js"], "uv_fs_stat"),
    Case("node-addon", "node, an addon in C", [NODE, "{here}/prog/addon.js", "{build}/addon.node"],
         "keep_record"),
    Case("node-objects", "node, objects of its own", [NODE, "{here}/prog/objects.js"], "keepSession",
         known=False, names="node: --heapsnapshot-signal"),
    Case("go", "Go, by its own profile", ["{build}/sessions"], "main.keepSession"),
    Case("container", "C, in a container of crun with a root of its own",
         [PYTHON, "{here}/prog/container.py", "where-bench", "{build}/own", "small"], "keep_small",
         child=CONTAINED, contained=True, end=["crun", "delete", "--force", "where-bench"]),
    Case("static", "C, a static program", ["{build}/own-static", "small"], "keep_small",
         allocator=f"{BUILD}/own-static", known=False),
    Case("musl", "C, musl", ["{build}/own-musl", "small"], "keep_small",
         allocator=f"/lib/ld-musl-{os.uname().machine}.so.1", known=False),
    Case("jemalloc", "C, jemalloc preloaded", ["{build}/own", "small"], "keep_small",
         env={"LD_PRELOAD": JEMALLOC}, allocator=JEMALLOC, known=False),
    Case("tcmalloc", "C, tcmalloc preloaded", ["{build}/own", "small"], "keep_small",
         env={"LD_PRELOAD": TCMALLOC}, allocator=TCMALLOC, known=False),
    Case("mimalloc", "C, mimalloc preloaded", ["{build}/own", "small"], "keep_small",
         env={"LD_PRELOAD": MIMALLOC}, allocator=MIMALLOC, known=False),
    Case("redis", "redis with jemalloc, keys that nothing deletes",
         ["/usr/bin/redis-server", "--port", "16379", "--save", "", "--dir", "/tmp"], "setCommand",
         twin_argv=["/usr/bin/redis-server", "--port", "16379", "--save", "", "--dir", "/tmp"],
         load="redis", allocator=JEMALLOC, known=False),
]
