# SPDX-License-Identifier: GPL-2.0
"""What the runner of VMs refuses before it starts one, and the signature of a module."""
import os
import struct
import subprocess
import tempfile
import unittest

LAB = os.path.dirname(os.path.abspath(__file__))
MARK = b"~Module signature appended~\n"


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)


class Lockdown(unittest.TestCase):
    def refuses(self, text, *words):
        p = run(os.path.join(LAB, "vm"), *words, "--", "true")
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn(text, p.stderr)

    def test_an_unknown_level_is_refused(self):
        self.refuses("--lockdown 'none': integrity, confidentiality are allowed",
                     "--lockdown", "none")

    def test_a_level_is_needed(self):
        p = run(os.path.join(LAB, "vm"), "--lockdown")
        self.assertEqual(p.returncode, 2)
        self.assertIn("--lockdown: a value is missing", p.stderr)

    def test_a_kernel_without_lockdown_is_refused(self):
        self.refuses("is built without CONFIG_SECURITY_LOCKDOWN_LSM",
                     "--lockdown", "integrity", "--kernel", "6.12-kasan")

    def test_another_architecture_is_refused(self):
        self.refuses("is not for x86_64", "--lockdown", "integrity", "--arch", "arm64")

    def test_the_manual_has_the_option(self):
        self.assertIn("--lockdown LEVEL", run(os.path.join(LAB, "vm"), "--help").stdout)


class Words(unittest.TestCase):
    def test_an_unknown_kernel_is_refused_by_the_option(self):
        p = run(os.path.join(LAB, "vm"), "--kernel", "foo", "--", "true")
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertRegex(p.stderr, "^vm: --kernel: 'foo': allowed 6\\.1 ")

    def test_setup_has_a_usage(self):
        setup = os.path.join(LAB, "../../scripts/setup")
        p = run(setup, "--help")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertRegex(p.stdout, "^usage: scripts/setup \\[--check\\] SET(.|\n)*\nsets: arm64 .* ctl .*\n$")
        p = run(setup)
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertRegex(p.stderr, "^usage: scripts/setup ")


class Root(unittest.TestCase):
    def refuses(self, text, *words):
        p = run(os.path.join(LAB, "vm"), *words, "--", "true")
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn(text, p.stderr)

    def root(self):
        """A directory with what the runner looks for in a root."""
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        for name in ("lib/systemd/systemd", "bin/busybox"):
            path = os.path.join(root.name, name)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8"):
                os.chmod(path, 0o755)
        return root.name

    def test_a_path_with_the_characters_of_units_is_one_word_of_the_unit(self):
        with open(os.path.join(LAB, "guest/init"), encoding="utf-8") as f:
            init = f.read()
        function = next(line for line in init.splitlines() if line.startswith("in_unit()"))
        self.assertIn('ExecStart="$(in_unit "$project/tests/lab/guest/main")"', init)
        with tempfile.TemporaryDirectory() as base:
            path = os.path.join(base, '50%n of a%%b%', "main")
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n")
            os.chmod(path, 0o755)
            word = run("sh", "-c", function + '\nin_unit "$1"', "sh", path).stdout.rstrip("\n")
            for text, good in ((word, True), (path, False)):
                unit = os.path.join(base, "lab-vm.service")
                with open(unit, "w", encoding="utf-8") as f:
                    f.write(f'[Service]\nExecStart="{text}"\n')
                p = run("systemd-analyze", "verify", "--man=no", unit)
                self.assertEqual("lab-vm.service" not in p.stderr, good, p.stderr)

    def test_a_directory_without_systemd_is_refused(self):
        root = self.root()
        os.unlink(os.path.join(root, "lib/systemd/systemd"))
        self.refuses(f"--root '{root}': the absolute path of a root with systemd", "--root", root)

    def test_a_relative_path_is_refused(self):
        self.refuses("--root 'here': the absolute path of a root", "--root", "here")

    def test_another_architecture_is_refused(self):
        self.refuses("--root: kernel '6.1-arm64' is not for x86_64",
                     "--root", self.root(), "--kernel", "6.1-arm64")

    def test_the_manual_has_the_option(self):
        self.assertIn("--root DIR", run(os.path.join(LAB, "vm"), "--help").stdout)


class Manual(unittest.TestCase):
    def test_it_says_that_tmp_is_the_guests_own(self):
        self.assertIn("The guest's /tmp is its own", run(os.path.join(LAB, "vm"), "--help").stdout)


class SignModule(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        p = run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test",
                "-keyout", self.path("key"), "-out", self.path("cert"))
        self.assertEqual(p.returncode, 0, p.stderr)
        self.module = bytes(range(256)) * 40
        self.write("module", self.module)
        p = run(os.path.join(LAB, "sign-module"), self.path("module"), self.path("signed"),
                self.path("key"), self.path("cert"))
        self.assertEqual(p.returncode, 0, p.stderr)
        with open(self.path("signed"), "rb") as f:
            self.signed = f.read()

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def signature(self):
        """Takes the file apart as the kernel's mod_check_sig() does."""
        self.assertTrue(self.signed.endswith(MARK))
        trailer = self.signed[-len(MARK) - 12:-len(MARK)]
        algo, hash_, id_type, signer, key_id, pad, length = struct.unpack(">5B3sI", trailer)
        self.assertEqual((algo, hash_, id_type, signer, key_id, pad), (0, 0, 2, 0, 0, bytes(3)))
        end = len(self.signed) - len(MARK) - 12
        self.assertEqual(self.signed[:end - length], self.module)
        return self.signed[end - length:end]

    def verifies(self, data):
        self.write("data", data)
        self.write("p7s", self.signature())
        return run("openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", self.path("p7s"),
                   "-content", self.path("data"), "-certfile", self.path("cert"), "-noverify",
                   "-out", self.path("verified")).returncode == 0

    def test_the_signature_is_of_the_module(self):
        self.assertTrue(self.verifies(self.module))

    def test_a_changed_byte_does_not_verify(self):
        self.assertFalse(self.verifies(b"x" + self.module[1:]))


if __name__ == "__main__":
    unittest.main()
