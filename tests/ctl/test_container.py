# SPDX-License-Identifier: GPL-2.0
"""The names of containers, in the files that runtimes write. Podman's are written by a real Podman
where one is installed (package podman) and this is root; it need not start the container."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOOL = os.path.join(TOP, "build/ctl/tools/seepage-top")
ID = "0123456789abcdef" * 4


@unittest.skipUnless(os.path.exists(TOOL), "needs build/ctl/tools/seepage-top: make ctl")
class Container(unittest.TestCase):
    def setUp(self):
        dir_ = tempfile.TemporaryDirectory()
        self.addCleanup(dir_.cleanup)
        self.dir = dir_.name
        self.storage = os.path.join(self.dir, "var/lib/containers/storage")

    def named(self, cgroup):
        p = subprocess.run([TOOL, "--container", cgroup], capture_output=True, text=True, check=True,
                           env={**os.environ, "SEEPAGE_ROOT": self.dir})
        self.assertEqual(p.stderr, "")
        return p.stdout

    def test_each_storage_driver_of_podman(self):
        for driver in ("overlay", "vfs", "btrfs", "zfs"):
            for name in ("containers.json", "volatile-containers.json"):
                at = os.path.join(self.storage, f"{driver}-containers")
                os.makedirs(at)
                with open(os.path.join(at, name), "w", encoding="utf-8") as f:
                    json.dump([{"id": ID[::-1], "names": ["other"]}, {"id": ID, "names": [f"web-{driver}"]}], f)
                self.assertEqual(self.named(f"/machine.slice/libpod-{ID}.scope"), f"container web-{driver} (podman)\n")
                shutil.rmtree(at)
        self.assertEqual(self.named(f"/machine.slice/libpod-{ID}.scope"), "")

    @unittest.skipUnless(shutil.which("podman") and os.geteuid() == 0, "needs podman, and root")
    def test_a_real_podman(self):
        archive = os.path.join(self.dir, "image.tar")
        subprocess.run(["tar", "-C", os.path.dirname(TOOL), "-cf", archive, os.path.basename(TOOL)], check=True)
        for driver in ("vfs", "overlay"):
            words = ["podman", "--root", self.storage, "--runroot", os.path.join(self.dir, "run"),
                     "--storage-driver", driver]
            made = subprocess.run([*words, "import", "-q", archive, "shop:1"], capture_output=True, text=True, check=False)
            if made.returncode:
                self.skipTest(f"podman cannot import: {made.stderr.strip()}")
            for name, more in (("webshop", []), ("fleeting", ["--rm"])):
                made = subprocess.run([*words, "create", "--network", "none", "--name", name, *more, "shop:1", "/x"],
                                      capture_output=True, text=True, check=True)
                self.assertEqual(self.named(f"/machine.slice/libpod-{made.stdout.strip()}.scope"),
                                 f"container {name} (podman)\n")
            shutil.rmtree(self.storage)


if __name__ == "__main__":
    unittest.main()
