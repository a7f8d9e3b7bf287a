# SPDX-License-Identifier: GPL-2.0
"""container.py NAME PROGRAM [ARG...]: runs a program in a container of crun, with namespaces of its
own, one of users among them, a memory cgroup, a filter of system calls, and a root of its own, an
overlay as container engines mount it. There are the program, in the place of a program that the
host has, and the C library, in a place where the host has none. `crun delete --force NAME` ends it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

INSIDE = "/usr/sbin/nginx"      # what the host has there does not leak
LIBS = "/usr/lib"               # ld.so looks here last
USER = 100000                   # of the host; root of the container
LIMIT = 512 << 20
SPACES = ("pid", "network", "ipc", "uts", "mount", "user", "cgroup")
REFUSED = ["mount", "pivot_root", "process_vm_readv", "ptrace", "unshare", "userfaultfd"]


def put(root, source, target):
    target = root + target
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copy(source, target)


def make_root(bundle, program):
    """An overlay with nothing but the program and the libraries that it is linked with"""
    for name in ("lower/proc", "lower/dev", "upper", "work", "rootfs"):
        os.makedirs(f"{bundle}/{name}")
    lower = f"{bundle}/lower"
    put(lower, program, INSIDE)
    put(lower, os.environ["LOST"], "/lost")     # what is mounted there needs a file
    linked = subprocess.run(["ldd", program], check=True, text=True, stdout=subprocess.PIPE).stdout
    for path in re.findall(r"=> (/\S+)", linked):
        put(lower, path, f"{LIBS}/{os.path.basename(path)}")
    interpreter = re.search(r"^\s*(/\S+)", linked, re.M)[1]
    put(lower, interpreter, interpreter)
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                    f"lowerdir={lower},upperdir={bundle}/upper,workdir={bundle}/work",
                    f"{bundle}/rootfs"], check=True)


def config(args):
    mapped = [{"containerID": 0, "hostID": USER, "size": 1000}]
    return {
        "ociVersion": "1.0.2", "hostname": "container",
        "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "args": [INSIDE, *args],
                    "env": ["LOST=/lost"], "noNewPrivileges": True},
        "root": {"path": "rootfs"},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                   {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
                   {"destination": "/lost", "type": "bind", "source": os.environ["LOST"],
                    "options": ["bind", "rw"]}],
        "linux": {"namespaces": [{"type": space} for space in SPACES],
                  "uidMappings": mapped, "gidMappings": mapped,
                  "resources": {"memory": {"limit": LIMIT}}, "cgroupsPath": "/where-bench",
                  "seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
                      {"names": REFUSED, "action": "SCMP_ACT_ERRNO"}]}},
    }


def main():
    name, program, *args = sys.argv[1:]
    bundle = tempfile.mkdtemp(prefix="container-")
    os.chmod(bundle, 0o755)
    make_root(bundle, program)
    with open(f"{bundle}/config.json", "w", encoding="ascii") as f:
        json.dump(config(args), f)
    os.execvp("crun", ["crun", "run", "--bundle", bundle, name])


main()
