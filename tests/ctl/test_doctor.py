# SPDX-License-Identifier: GPL-2.0
"""seepage doctor on trees of files that stand for a machine: each line, with what is wrong and
without. The healthy machine is one dictionary; a test changes a few files of it."""
import contextlib
import fcntl
import gzip
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOOL = os.path.join(TOP, "build/ctl/tools/seepage-doctor")
with open(os.path.join(TOP, "VERSION"), encoding="ascii") as version_file:
    VERSION = version_file.read().strip()
RUNNING, NEWEST = "6.1.0-9-amd64", "6.1.0-10-amd64"
EFIVARS = "sys/firmware/efi/efivars/"
SECURE_BOOT = EFIVARS + "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MOK = EFIVARS + "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"
KO = f"lib/modules/{RUNNING}/updates/dkms/seepage.ko"
LIBC = "usr/lib/libc.so.6"
BUILD_ID = bytes(range(20))
DEBUG = f"usr/lib/debug/.build-id/00/{BUILD_ID.hex()[2:]}.debug"
OPTIONS = "MODULES NET PERF_EVENTS TRACEPOINTS DEBUG_FS CGROUPS PROC_PAGE_MONITOR " \
          "CROSS_MEMORY_ATTACH UPROBES".split()
ALL_CAPS = f"{(1 << 41) - 1:016x}"
# Every check, in the order of the lines; dkms and headers have two.
CHECKS = ("module work alerts watch told table hook pmu kernel_log lockdown secure_boot signature dkms "
          "dkms headers headers config debugfs rights where symbols").split()
NOTIFY_CONF = "etc/seepage/notify.conf"
STATUS = "Name:\tx\nState:\tS (sleeping)\nUid:\t0\t0\t0\t0\n"
STATUS_OF_USER = STATUS.replace("0\t0\t0\t0", "1000\t1000\t1000\t1000")
WANTS = "etc/systemd/system/multi-user.target.wants/seepage-notify.service"


def ko(version=VERSION, release=RUNNING, signer=b"DKMS key"):
    """As much of a module's file as doctor reads: .modinfo, and a signature."""
    body = b"\x7fELF\0version=%s\0vermagic=%s SMP mod_unload \0" % (version.encode(), release.encode())
    if signer is None:
        return body
    message = b"\x30\x20\x06\x03\x55\x04\x03\x0c" + bytes([len(signer)]) + signer + b"rest"
    return body + message + b"\0\0\2\0\0\0\0\0" + struct.pack(">I", len(message)) + \
        b"~Module signature appended~\n"


def elf(frames=True, build_id=BUILD_ID):
    """An ELF file with a segment of notes, and one of the unwind table."""
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id
    kinds = [4] + [0x6474e550] * frames
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56,
                                                      len(kinds), 0, 0, 0)
    at = 64 + 56 * len(kinds)
    table = b"".join(struct.pack("<IIQQQQQQ", k, 4, at, at, at, len(note), len(note), 4) for k in kinds)
    return header + table + note


def healthy():
    live = {"status": {"module_version": VERSION, "hook": "tracepoint", "pmc_status": "on", "disabled": None,
                       "ticks": 77, "processes": 3, "max_processes": 8192, "stretched": False,
                       "counters": {"table_full": 0, "share_full": 0}}, "processes": []}
    return {
        "seepage.json": live,
        "sys/module/seepage/version": VERSION + "\n", "sys/module/seepage/initstate": "live\n", "proc/modules": "",
        "proc/sys/kernel/osrelease": RUNNING + "\n",
        "proc/sys/kernel/perf_event_paranoid": "3\n",
        "proc/cpuinfo": "flags\t\t: fpu vme\n",
        "proc/mounts": "debugfs /sys/kernel/debug debugfs rw 0 0\n",
        "proc/self/status": f"Name:\tx\nCapEff:\t{ALL_CAPS}\n",
        "proc/self/uid_map": "         0          0 4294967295\n",
        "proc/self/maps": f"7f00-7f10 r--p 00000000 fe:00 1      /{LIBC}\n",
        "proc/1/status": "Name:\tinit\n", "proc/1/statm": "100 10 1 1 0 1 0\n", "proc/2/statm": "0 0 0 0 0 0 0\n",
        "proc/300/statm": "100 10 1 1 0 1 0\n",
        "proc/300/comm": "seepage\n", "proc/300/cmdline": "/usr/bin/seepage\0watch\0--wait\0",
        "etc/systemd/system/multi-user.target.wants/seepage-watch.service": "",
        "proc/301/statm": "0 0 0 0 0 0 0\n", "proc/301/comm": "seepage-notify\n",
        "proc/301/cgroup": "0::/system.slice/seepage-notify.service\n",
        "proc/301/status": STATUS, "proc/301/cmdline": "seepage-notify\0--journal\0",
        WANTS: "", "lib/systemd/system/seepage-notify.service": "", "run/systemd/system/x": "",
        NOTIFY_CONF: '{"alertmanager": ["http://a", "http://b"], "journal": true, "syslog": false}',
        "dev/kmsg": "6,1,1,-;seepage: loaded\n",
        "sys/bus/event_source/devices/cpu/type": "4\n",
        "sys/kernel/security/lockdown": "[none] integrity confidentiality\n",
        f"lib/modules/{RUNNING}/modules.order": "", f"lib/modules/{NEWEST}/modules.order": "",
        f"lib/modules/{RUNNING}/modules.dep": "kernel/a.ko:\nupdates/dkms/seepage.ko: kernel/a.ko\n",
        f"lib/modules/{RUNNING}/build/Makefile": "", f"lib/modules/{NEWEST}/build/Makefile": "",
        **{f"usr/share/doc/linux-image-{release}/copyright": "" for release in (RUNNING, NEWEST)},
        KO: ko(), KO.replace("seepage.ko", "seepage_where.ko"): ko(),
        f"var/lib/dkms/seepage/kernel-{RUNNING}-x86_64/module": "",
        f"var/lib/dkms/seepage/kernel-{NEWEST}-x86_64/module": "",
        "proc/config.gz": gzip.compress(("#\n" + "".join(f"CONFIG_{o}=y\n" for o in OPTIONS)).encode()),
        LIBC: elf(), DEBUG: "",
    }


@unittest.skipUnless(os.path.exists(TOOL), "needs build/ctl/tools/seepage-doctor: make ctl")
class Doctor(unittest.TestCase):
    def setUp(self):
        self.files = healthy()
        self.live = self.files["seepage.json"]["status"]

    def run_doctor(self, *words, stdout=subprocess.PIPE):
        root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, root)
        for path, content in self.files.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if isinstance(content, dict):
                content = json.dumps(content)
            with open(path, "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
        return subprocess.run([TOOL, *words], env={**os.environ, "SEEPAGE_ROOT": root}, timeout=60,
                              stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)

    def findings(self):
        p = self.run_doctor("-j")
        report = json.loads(p.stdout)
        self.assertEqual(p.returncode, 1 if report["bad"] else 0)
        self.assertEqual(p.stderr, "")
        return report["findings"]

    def finding(self, check):
        return [f for f in self.findings() if f["check"] == check][0]

    def is_found(self, check, level, text, remedy=None, at=0):
        """The line of @check, the others of which stay ok where @level is not for all."""
        f = [f for f in self.findings() if f["check"] == check][at]
        self.assertEqual(f["level"], level, f)
        self.assertIn(text, f["text"])
        if remedy:
            self.assertIn(remedy, f["remedy"])
        else:
            self.assertIsNone(f["remedy"])

    def unload(self):
        del self.files["sys/module/seepage/version"], self.files["sys/module/seepage/initstate"]
        del self.files["seepage.json"]

    def test_a_healthy_machine_has_all_lines_and_no_remedy(self):
        found = self.findings()
        self.assertEqual([f["check"] for f in found], CHECKS)
        self.assertEqual([f for f in found if f["level"] != "ok" or f["remedy"]], [])

    def test_text_has_a_line_for_each_finding_and_the_remedy_below(self):
        self.files["proc/mounts"] = ""
        p = self.run_doctor()
        self.assertEqual(p.returncode, 0)
        lines = p.stdout.splitlines()
        self.assertEqual([line.split()[1] for line in lines[:-1] if not line.startswith(" ")], CHECKS)
        self.assertEqual({len(re.match("[a-z]+ +[a-z_]+ +", line)[0]) for line in lines[:-1] if line[0] != " "}, {21})
        at = next(i for i, line in enumerate(lines) if line.startswith("warn    debugfs "))
        self.assertEqual(lines[at + 1].strip(), "-> mount -t debugfs none /sys/kernel/debug")
        self.assertEqual(lines[-1], f"{len(CHECKS) - 1} ok, 1 warn, 0 bad, 0 unknown")

    def test_status_is_1_if_something_is_bad_in_text_too(self):
        self.live["disabled"] = "bug: x > y"
        self.assertEqual(self.run_doctor().returncode, 1)

    def test_words_are_refused(self):
        p = self.run_doctor("PID")
        self.assertEqual(p.returncode, 2)
        self.assertIn("unexpected word 'PID'", p.stderr)

    def test_module_of_another_version(self):
        self.live["module_version"] = "0.0.1"
        self.is_found("module", "warn", f"loaded is version 0.0.1, this program is {VERSION}", "modprobe")

    def test_module_that_is_there_but_not_loaded(self):
        self.unload()
        self.is_found("module", "warn", f"not loaded; /{KO} is there", "modprobe seepage")
        self.is_found("work", "warn", "not loaded")
        self.is_found("alerts", "unknown", "not loaded")
        self.assertNotIn("depmod", [f for f in self.findings() if f["check"] == "module"][0]["remedy"])

    def test_module_that_modprobe_does_not_find(self):
        self.unload()
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = "kernel/a.ko:\n"
        self.is_found("module", "warn", "is there", "depmod -a && modprobe seepage")

    def test_module_that_is_missing_or_of_another_kernel_or_version(self):
        self.unload()
        self.files[KO] = ko(version="0.0.2")
        self.is_found("module", "warn", "is version 0.0.2", "seepage-dkms")
        self.files[KO] = ko(release=NEWEST)
        self.is_found("module", "bad", f"is for kernel {NEWEST}", f"-k {RUNNING}")
        del self.files[KO]
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = ""
        self.is_found("module", "bad", f"not there for kernel {RUNNING}", "apt install seepage-dkms")

    @unittest.skipUnless(shutil.which("xz"), "needs xz")
    def test_compressed_module(self):
        self.unload()
        raw = ko(version="0.0.3")
        del self.files[KO]
        self.files[KO + ".xz"] = subprocess.run(["xz", "-c"], input=raw, capture_output=True, check=True).stdout
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = "updates/dkms/seepage.ko.xz:\n"
        self.is_found("module", "warn", "is version 0.0.3", "seepage-dkms")
        self.is_found("signature", "ok", "signed by DKMS key")

    def test_module_that_does_not_work(self):
        self.live["disabled"] = "bug: rec->refs > 0"
        self.is_found("work", "bad", "switched itself off: bug: rec->refs > 0", "modprobe seepage")
        self.live["disabled"], self.live["stretched"] = None, True
        self.is_found("work", "warn", "stretched", "max_cpu_permille")
        self.live["multicast_off"] = True
        self.is_found("work", "warn", "stretched", "max_cpu_permille")
        self.is_found("work", "warn", "groups were joined before the load", "modprobe seepage", at=1)
        self.files["seepage.json"] = {"errno": 1}
        self.is_found("work", "unknown", "may not ask", "root")
        self.files["seepage.json"] = {"errno": 2}
        self.is_found("work", "unknown", "network namespace", "network namespace")
        self.files["seepage.json"] = {"errno": 5}
        self.is_found("work", "bad", "no answer: Input/output error")

    def test_alerts_name_the_most_urgent(self):
        leaks = self.files["seepage.json"]["processes"]
        leaks.append({"pid": 7, "comm": "slow", "state": "confirmed", "tte_seconds": 90000})
        leaks.append({"pid": 8, "comm": "new", "state": "suspected"})
        leaks.append({"pid": 9, "comm": "fast", "state": "suspected", "tte_seconds": 3600})
        self.is_found("alerts", "warn", "3 under alert; the first to exhaust its memory is pid 9 (fast), "
                      "suspected, time left: 1h00m", "seepage explain 9")
        leaks[0].update(state="runaway", tte_seconds=600)
        self.is_found("alerts", "bad", "pid 7 (slow), runaway, time left: 10m00s", "seepage explain 7")

    def test_watch(self):
        self.files["proc/300/cmdline"] = "/usr/bin/seepage\0status\0"
        self.is_found("watch", "warn", "its service is enabled", "systemctl status")
        del self.files["etc/systemd/system/multi-user.target.wants/seepage-watch.service"]
        self.is_found("watch", "warn", "does not run", "systemctl enable --now seepage-watch")
        self.files["proc/300/comm"], self.files["proc/300/cmdline"] = "other\n", "other\0watch\0"
        self.is_found("watch", "warn", "does not run", "systemctl enable")

    def test_told(self):
        self.is_found("told", "ok", "3 receivers (alertmanager, journal); seepage-notify is enabled, runs; "
                      "seepage-export is not enabled, does not run")
        # The check before it is the one of watch, which is a command and has no name of its own.
        self.assertNotIn("seepage-watch", self.finding("told")["text"])
        del self.files[WANTS]
        self.is_found("told", "warn", "until the next boot", "systemctl enable seepage-notify")
        self.files["proc/301/status"] = STATUS_OF_USER
        # A user that has a cgroup of his own makes others below it, also with a name that ends in ":".
        for path in ("/user.slice/x:/system.slice/seepage-notify.service", "/system.slice/seepage-notify.service.d",
                     "/user.slice/system.slice/seepage-notify.service"):
            self.files["proc/301/cgroup"] = f"1:name=systemd:{path}\n0::{path}\n"
            self.is_found("told", "warn", "nobody is told by notify, which does not run: 3 receivers",
                          "systemctl enable --now seepage-notify")
        self.files[WANTS] = ""
        self.is_found("told", "warn", "seepage-notify is enabled, does not run",
                      "systemctl status seepage-notify")
        del self.files["lib/systemd/system/seepage-notify.service"]
        self.is_found("told", "warn", "does not run", "install seepage-tools, or make install-units; systemctl")

    def test_told_by_no_receiver(self):
        self.files |= {"proc/301/cgroup": "0::/user.slice\n", "proc/301/status": STATUS_OF_USER}
        for text in ("{}", '{"journal": false, "exec": [], "webhook": "", "url": "http://a"}'):
            self.files[NOTIFY_CONF] = text
            self.is_found("told", "warn", f"nobody is told: notify has no receivers, as /{NOTIFY_CONF} names none",
                          f"put receivers into /{NOTIFY_CONF}")
        del self.files[NOTIFY_CONF]
        self.is_found("told", "warn", f"/{NOTIFY_CONF} is missing", "systemctl enable seepage-notify")
        self.files |= {"proc/302/cgroup": "0::/system.slice/seepage-export.service\n",
                       "proc/302/status": STATUS, "proc/302/cmdline": "seepage-export\0"}
        for text in (None, "{}"):
            self.files.pop(NOTIFY_CONF, None)
            self.files |= {NOTIFY_CONF: text} if text else {}
            self.is_found("told", "warn", "whether Prometheus asks for them is not known", "targets and rules")

    def test_told_by_a_service_whose_receivers_are_elsewhere(self):
        for text, why in (("{}", "names none"), (None, "is missing")):
            self.files.pop(NOTIFY_CONF)
            self.files |= {NOTIFY_CONF: text} if text else {}
            self.is_found("told", "warn", f"notify runs with receivers from elsewhere, as /{NOTIFY_CONF} {why}; "
                          "seepage-notify is enabled, runs;", "look at systemctl cat seepage-notify")

    def test_told_without_systemd(self):
        for path in ("run/systemd/system/x", WANTS, "lib/systemd/system/seepage-notify.service"):
            del self.files[path]
        self.files["proc/301/cgroup"] = "0::/\n"
        del self.files["proc/301/status"]
        found = "seepage-notify does not run; seepage-export does not run"
        run = f"have this machine's service manager run seepage notify --config /{NOTIFY_CONF} as root"
        self.is_found("told", "warn", f"which does not run: 3 receivers (alertmanager, journal); {found}", run)
        self.files[NOTIFY_CONF] = "["
        self.is_found("told", "warn", "is refused by notify", f"mend it, then {run}")
        del self.files[NOTIFY_CONF]
        self.is_found("told", "warn", f"/{NOTIFY_CONF} is missing; {found}",
                      f"put receivers into /{NOTIFY_CONF}, as {{\"syslog\": true}}, then {run}")
        self.assertNotIn("systemctl", self.finding("told")["remedy"])
        self.files["proc/301/status"] = STATUS
        self.is_found("told", "ok", "seepage-notify runs as pid 301; seepage-export does not run")

    def test_told_without_the_service(self):
        del self.files[WANTS], self.files[NOTIFY_CONF]
        self.files["proc/301/cgroup"] = "0::/user.slice\n"
        self.files["proc/301/cmdline"] = "seepage-notify\0--journal\0"
        self.files["proc/301/status"] = STATUS
        self.is_found("told", "ok", "seepage-notify is not enabled, runs as pid 301")
        self.files["proc/301/cmdline"] = "seepage-notify\0--journal\0--from=x\0"
        self.is_found("told", "warn", "nobody is told", "put receivers")
        self.files["proc/301/cmdline"] = "seepage-notify\0--journal\0"
        self.files["proc/301/status"] = STATUS_OF_USER
        self.is_found("told", "warn", "nobody is told", "put receivers")

    def test_told_knows_the_receivers_of_notify_and_prints_none(self):
        notify = os.path.join(os.path.dirname(TOOL), "seepage-notify")
        said = subprocess.run([notify], capture_output=True, text=True, check=False, timeout=60).stderr
        kinds = said.split("allowed ")[1].split(" (")[0].replace("--", "").replace("-", "_").split()
        self.assertGreater(len(kinds), 5)
        for kind in kinds:
            self.files[NOTIFY_CONF] = json.dumps({kind: kind in ("journal", "syslog") or "http://h/secret"})
            self.is_found("told", "ok", f"1 receiver ({kind});")
            self.assertNotIn("secret", self.run_doctor("-j").stdout)

    def test_told_of_a_configuration_that_notify_refuses_prints_none_of_it(self):
        for text, said in (('{"pagerduty_key": 99999999999999999999999999999999}', "it is not valid;"),
                           ('{\n"exec": ["curl -H \\"Token: 9999\\" x": 1]}', "it is not valid, line 2;"),
                           ('{"9999": 1,\n "9999": 2}', "it is not valid, line 2;"),
                           ('{"journal": ', "it is not valid, line 1;"), ("[]", "it is not valid;"),
                           ('{"journal": true, "9999": true}', "an unknown key;"),
                           ('{"journal": true, "dry_run": true}', "an unknown key;"),
                           ('{"journal": "9999"}', "a wrong value of journal;"),
                           ('{"webhook": 9999}', "a wrong value of webhook;"),
                           ('{"exec": ["x", 9999]}', "a wrong value of exec;"),
                           ('{"journal": true, "state": "9999"}', "a wrong value of state;"),
                           ('{"journal": true, "min_severity": 9999}', "a wrong value of min_severity;")):
            with self.subTest(text=text):
                self.files[NOTIFY_CONF] = text
                self.is_found("told", "warn", f"/{NOTIFY_CONF} is refused by notify, which does not start with it: {said}",
                              f"seepage notify --config /{NOTIFY_CONF} --from /dev/null --dry-run says where; "
                              "mend it, then systemctl restart seepage-notify")
                self.assertNotIn("9999", self.run_doctor("-j").stdout)
                notify = self.run_notify(text)
                self.assertEqual(notify.returncode, 2)
                self.assertIn(f"--config: '{self.config}': ", notify.stderr)
        text = '{"journal": true, "exec": null, "spool_size": "64M", "state": "confirmed"}'
        self.files[NOTIFY_CONF] = text
        self.is_found("told", "ok", "1 receiver (journal);")
        self.assertEqual(self.run_notify(text).returncode, 0)

    def run_notify(self, text):
        """The words of the remedy, with a file that has this text."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            self.config = f.name
            return subprocess.run([os.path.join(os.path.dirname(TOOL), "seepage-notify"), "--config", f.name,
                                   "--from", "/dev/null", "--dry-run"], capture_output=True, text=True,
                                  check=False, timeout=60)

    def test_told_by_a_process_that_has_ended(self):
        self.files["proc/301/status"] = STATUS.replace("S (sleeping)", "Z (zombie)")
        self.is_found("told", "warn", "seepage-notify is enabled, does not run", "systemctl status")
        self.files["proc/301/status"] = STATUS
        for cgroup in ("0::/system.slice/seepage-notify.service\n", "0::/\n"):
            self.files["proc/301/cgroup"] = cgroup
            for words in ("", None):
                self.files.pop("proc/301/cmdline", None)
                self.files |= {} if words is None else {"proc/301/cmdline": words}
                self.is_found("told", "warn", "seepage-notify is enabled, does not run", "systemctl status")

    def test_told_by_export_of_another_user(self):
        self.files |= {"proc/301/cgroup": "0::/\n", NOTIFY_CONF: "{}", "proc/302/comm": "seepage-export\n",
                       "proc/302/cmdline": "seepage-export\0", "proc/302/status": STATUS_OF_USER}
        self.files["proc/301/status"] = STATUS_OF_USER
        self.is_found("told", "warn", "metrics are there", "targets and rules")
        self.is_found("told", "warn", "seepage-notify is enabled, does not run; "
                      "seepage-export is not enabled, runs as pid 302 of uid 1000", "targets and rules")

    def test_hidden_processes(self):
        for path in list(self.files):
            if path.startswith(("proc/1/", "proc/300/", "proc/301/")):
                del self.files[path]
        hidden = "is not known, as /proc hides processes of others"
        self.is_found("watch", "unknown", f"whether seepage watch runs {hidden}; its service is enabled", "run it as root")
        self.is_found("told", "unknown", f"whether notify runs {hidden}: 3 receivers (alertmanager, journal); "
                      "seepage-notify is enabled, may run; seepage-export is not enabled, may run", "run it as root")
        del self.files[NOTIFY_CONF]
        self.is_found("told", "unknown", f"whether notify runs {hidden}: /{NOTIFY_CONF} is missing;", "run it as root")

    def test_table(self):
        self.is_found("table", "ok", "room for 8192 processes, 2 are here")
        self.live["max_processes"] = 2
        self.is_found("table", "warn", "room for 2 processes, 2 are here", "max_processes 1024")
        self.live["max_processes"] = 8192
        self.live["counters"]["table_full"] = 4
        self.is_found("table", "warn", "refused attempts: 4 as it was full", "max_processes 16384")
        self.live["counters"]["table_full"] = 0
        del self.files["proc/1/status"]
        self.is_found("table", "unknown", "/proc hides those of others", "as root")

    def test_table_without_an_answer(self):
        self.unload()
        self.is_found("table", "unknown", "not known: the module is not loaded; 2 processes are here, it has room "
                      "for 8192 by default", "load the module")
        self.files["proc/sys/kernel/modules_disabled"] = "1\n"
        self.is_found("table", "unknown", "not known", "before the next boot")
        self.files["sys/module/seepage/initstate"] = "live\n"
        self.is_found("table", "unknown", "the module did not answer", "as root")
        self.files["sys/module/seepage/parameters/max_processes"] = "2\n"
        self.is_found("table", "warn", "room for 2 processes, 2 are here", "max_processes=1024 in /etc/modprobe.d")
        del self.files["sys/module/seepage/initstate"]
        self.is_found("table", "warn", "room for 2 processes", "seepage.max_processes=1024 on the kernel's command")

    def test_hook(self):
        self.live["hook"] = "software"
        self.is_found("hook", "warn", "perf's software event")
        self.files["sys/kernel/tracing/events/exceptions/page_fault_user/id"] = "1\n"
        self.is_found("hook", "warn", "perf's software event", "without hook=software")
        self.unload()
        self.is_found("hook", "ok", "has page-fault tracepoints")
        del self.files["sys/kernel/tracing/events/exceptions/page_fault_user/id"]
        self.files["sys/kernel/tracing/events/enable"] = "0\n"
        self.is_found("hook", "warn", "no page-fault tracepoints")
        del self.files["sys/kernel/tracing/events/enable"]
        self.is_found("hook", "unknown", "not known", "mount -t tracefs")

    def test_pmu(self):
        self.is_found("pmu", "ok", "perf_event_paranoid is 3")
        self.live["pmc_status"] = "off: by configuration"
        self.is_found("pmu", "warn", "off: by configuration", "seepage set pmc auto")
        self.live["pmc_status"] = "off: no PMU (hypervisor TCGTCGTCGTCG), see the log"
        self.is_found("pmu", "warn", "off: no PMU (hypervisor TCG (QEMU without KVM)), see the log", "set pmc auto")
        del self.files["sys/bus/event_source/devices/cpu/type"]
        self.is_found("pmu", "warn", "no driver", "verdicts do not need counters")
        self.files["proc/cpuinfo"] = "flags\t\t: fpu vme hypervisor\n"
        self.is_found("pmu", "warn", "virtual machine without a PMU", "libvirt")

    def test_kernel_log(self):
        self.files["dev/kmsg"] += "3,2,2,-;seepage: switched off: bug: a != b\n SUBSYSTEM=x\n" \
                                  "3,3,3,-;other: bug: mine\n3,4,4,-;seepage: switched off: bug: c\n"
        self.is_found("kernel_log", "bad", "2 reports of a bug of the module: seepage: switched off: "
                      "bug: a != b", "report it")
        del self.files["dev/kmsg"]
        self.is_found("kernel_log", "unknown", "not known: it cannot be read: No such file", "devtmpfs")

    def test_lockdown_and_signature(self):
        self.files[KO] = ko(signer=None)
        self.is_found("signature", "ok", "asks for none")
        self.files["sys/kernel/security/lockdown"] = "none [integrity] confidentiality\n"
        self.is_found("lockdown", "ok", "integrity")
        self.is_found("signature", "bad", "signed modules only", "mokutil --import")
        self.files["sys/kernel/security/lockdown"] = "none integrity [confidentiality]\n"
        self.is_found("lockdown", "warn", "trace events", "lockdown=integrity")
        del self.files["sys/kernel/security/lockdown"]
        self.is_found("lockdown", "ok", "none: this kernel has no lockdown")
        self.is_found("signature", "ok", "asks for none")
        self.files["sys/module/module/parameters/sig_enforce"] = "Y\n"
        self.is_found("signature", "bad", "signed modules only", "mokutil --import")

    def test_lockdown_that_is_not_shown(self):
        del self.files["sys/kernel/security/lockdown"]
        self.files[KO] = ko(signer=None)
        for config in (None, "CONFIG_SECURITY_LOCKDOWN_LSM=y\n"):
            self.files.pop("proc/config.gz", None)
            self.files |= {} if config is None else {"proc/config.gz": gzip.compress(f"#\n{config}".encode())}
            self.is_found("lockdown", "unknown", "securityfs is not mounted", "mount -t securityfs none /sys/kernel/sec")
        # A module that is loaded was not refused.
        self.is_found("signature", "ok", "asks for none")
        self.unload()
        self.is_found("signature", "unknown", "none; whether this kernel asks for one is not known", "securityfs")
        self.files["sys/kernel/security/lockdown"] = ""
        self.is_found("lockdown", "unknown", "lockdown cannot be read", "as root")
        del self.files["sys/kernel/security/lockdown"], self.files["proc/config.gz"]
        self.files["proc/mounts"] += "securityfs /sys/kernel/security securityfs rw 0 0\n"
        self.is_found("lockdown", "ok", "none: this kernel has no lockdown")
        self.is_found("signature", "ok", "asks for none")

    def test_signature_of_a_module_without_a_file(self):
        del self.files[KO]
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = ""
        self.is_found("signature", "unknown", "no file of the module is there", "modinfo -F signer FILE")
        self.unload()
        self.is_found("signature", "unknown", "no file of the module is there", "seepage-dkms")
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = "updates/dkms/seepage.ko:\n"
        self.is_found("signature", "unknown", f"not known: /{KO} cannot be read", "as root")

    def test_kernel_without_modules(self):
        del self.files["proc/modules"], self.files[f"lib/modules/{RUNNING}/modules.dep"]
        for path in [p for p in self.files if p.endswith(".ko") or f"{RUNNING}/build" in p]:
            del self.files[path]
        for path in [p for p in self.files if p.startswith("var/lib/dkms/")]:
            del self.files[path]
        self.files["proc/config.gz"] = gzip.compress(("#\n" + "".join(
            f"CONFIG_{o}=y\n" for o in OPTIONS if o != "MODULES")).encode())
        built_in = "seepage is a part of"
        self.is_found("config", "ok", "all options")
        for check in ("dkms", "headers", "signature"):
            self.is_found(check, "ok", built_in)
        self.is_found("where", "warn", "no module seepage_where", "CONFIG_SEEPAGE_WHERE=y")
        self.live["module_version"] = "0.0.1"
        self.is_found("module", "warn", "loaded is version 0.0.1", f"build this kernel with seepage {VERSION}")
        self.live["disabled"] = "bug: x"
        self.is_found("work", "bad", "switched itself off", "then boot anew")
        self.live["hook"] = "software"
        self.files["sys/kernel/tracing/events/exceptions/page_fault_user/id"] = "1\n"
        self.is_found("hook", "warn", "perf's software event", "boot without seepage.hook=software")
        self.assertNotIn("modprobe", json.dumps(self.findings()))
        self.unload()
        no_modules = "this kernel cannot load modules: build it with CONFIG_MODULES=y, or with seepage in it"
        self.is_found("module", "bad", f"not a part of kernel {RUNNING}, which cannot load modules", no_modules)
        self.is_found("table", "unknown", "not known", no_modules)
        self.is_found("config", "bad", "lacks CONFIG_MODULES", "run a kernel")
        for check in ("dkms", "headers", "signature"):
            self.is_found(check, "ok", "modules")
        for words in ("modprobe", "apt install seepage-dkms", "insmod"):
            self.assertNotIn(words, json.dumps([f for f in self.findings() if NEWEST not in f["text"]]))

    def test_kernel_that_loads_no_more_modules(self):
        self.files["proc/sys/kernel/modules_disabled"] = "1\n"
        self.live["disabled"] = "bug: x"
        self.is_found("work", "bad", "switched itself off", "then boot anew")
        self.unload()
        self.is_found("module", "warn", f"not loaded; /{KO} is there", "before the next boot (kernel.modules_disabled is 1)")

    def test_key_of_dkms(self):
        self.unload()
        self.files["sys/kernel/security/lockdown"] = "none [integrity] confidentiality\n"
        self.files["var/lib/dkms/mok.pub"] = b"0\x82the key"
        self.is_found("signature", "warn", "signed by DKMS key; the key of DKMS is not enrolled", "mokutil")
        self.files[MOK] = b"\6\0\0\0other0\x82the keyrest"
        self.is_found("signature", "ok", "signed by DKMS key")

    def test_secure_boot(self):
        self.is_found("secure_boot", "ok", "not booted by UEFI")
        self.files[SECURE_BOOT] = b"\6\0\0\0\1"
        self.is_found("secure_boot", "ok", "on")
        self.files[SECURE_BOOT] = b"\6\0\0\0\0"
        self.is_found("secure_boot", "ok", "off")
        del self.files[SECURE_BOOT]
        self.files["sys/firmware/efi/fw_vendor"] = ""
        self.is_found("secure_boot", "unknown", "efivarfs is not mounted", "mount -t efivarfs")
        self.files[EFIVARS + "other"] = ""
        self.is_found("secure_boot", "unknown", "efivarfs is not mounted", "mount -t efivarfs")
        self.files["proc/mounts"] += "efivarfs /sys/firmware/efi/efivars efivarfs rw 0 0\n"
        self.is_found("secure_boot", "ok", "off")

    def test_dkms(self):
        del self.files[f"var/lib/dkms/seepage/kernel-{NEWEST}-x86_64/module"]
        self.is_found("dkms", "ok", f"installed for the running kernel, {RUNNING}")
        self.is_found("dkms", "warn", f"not built for the newest kernel, {NEWEST}", f"-k {NEWEST}", at=1)
        self.files[f"var/lib/dkms/seepage/{VERSION}/{NEWEST}/x86_64/module/seepage.ko"] = ""
        self.is_found("dkms", "warn", "not installed", f"dkms install seepage/{VERSION} -k {NEWEST}", at=1)
        del self.files[f"var/lib/dkms/seepage/{VERSION}/{NEWEST}/x86_64/module/seepage.ko"]
        self.files[f"var/lib/dkms/seepage/{VERSION}/build/make.log"] = ""
        self.is_found("dkms", "bad", "the last build failed", f"-k {NEWEST}", at=1)

    def test_machine_without_dkms(self):
        for path in [p for p in self.files if p.startswith("var/lib/dkms/")]:
            del self.files[path]
        self.is_found("dkms", "ok", "not used; the running kernel")
        self.is_found("dkms", "warn", "has no module", "seepage-dkms", at=1)

    def test_the_newest_kernel_is_found_by_number(self):
        self.files["lib/modules/6.1.0-8-amd64/modules.order"] = ""
        self.files["lib/modules/6.1.0-20-amd64/build/Makefile"] = ""	# headers, no kernel
        self.is_found("headers", "ok", f"newest kernel, {NEWEST}", at=1)
        del self.files[f"lib/modules/{NEWEST}/build/Makefile"]
        self.is_found("headers", "warn", f"none for the newest kernel, {NEWEST}",
                      f"apt install linux-headers-{NEWEST}", at=1)
        del self.files[f"lib/modules/{NEWEST}/modules.order"]
        self.assertEqual(len([f for f in self.findings() if f["check"] == "headers"]), 1)

    def of_no_package(self):
        for release in (RUNNING, NEWEST):
            del self.files[f"usr/share/doc/linux-image-{release}/copyright"]

    def test_a_kernel_of_no_package(self):
        self.of_no_package()
        self.is_found("headers", "ok", "there for the running kernel")
        del self.files[f"lib/modules/{RUNNING}/build/Makefile"], self.files[f"lib/modules/{NEWEST}/build/Makefile"]
        self.is_found("headers", "warn", "none for the running", "take its source, with /proc/config.gz as .config")
        self.is_found("headers", "warn", "none for the newest", "its .config, which is not here", at=1)
        self.files["proc/config.gz"] = gzip.compress("#\n".encode() + b"".join(
            b"CONFIG_%s=y\n" % o.encode() for o in OPTIONS if o not in ("NET", "UPROBES")))
        self.is_found("config", "bad", "lacks CONFIG_NET:",
                      "from its configuration, /proc/config.gz, with CONFIG_NET=y CONFIG_UPROBES=y")
        self.unload()
        del self.files[KO]
        self.files[f"lib/modules/{RUNNING}/modules.dep"] = ""
        self.is_found("module", "bad", "not there", "make kmod KDIR=DIR")
        self.files["proc/config.gz"] = gzip.compress(b"#\nCONFIG_NET=y\n")
        self.is_found("module", "bad", "not there", "CONFIG_MODULES=y, or with seepage in it")
        del self.files["proc/config.gz"]
        self.is_found("config", "unknown", "not known", "CONFIG_IKCONFIG_PROC=y")
        self.assertNotIn("apt ", json.dumps(self.findings()))

    def test_a_kernel_of_an_rpm(self):
        self.of_no_package()
        self.files[f"lib/modules/{RUNNING}/vmlinuz"] = self.files["usr/lib/sysimage/rpm/rpmdb.sqlite"] = ""
        del self.files[f"lib/modules/{RUNNING}/build/Makefile"]
        self.is_found("headers", "warn", "none for the running", f"kernel-devel-{RUNNING}")

    def test_lines_are_folded_on_a_terminal_only(self):
        self.of_no_package()
        del self.files[f"lib/modules/{RUNNING}/build/Makefile"]
        whole = self.run_doctor().stdout.splitlines()
        self.assertGreater(max(map(len, whole)), 80)
        for columns in (80, 132):
            folded = self.on_terminal(columns)
            self.assertLessEqual(max(map(len, folded)), columns)
            self.assertEqual(" ".join(" ".join(folded).split()), " ".join(" ".join(whole).split()))

    def on_terminal(self, columns):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.run_doctor(stdout=slave)
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):	# EIO: the last writer has gone
            while part := os.read(master, 65536):
                text += part
        os.close(master)
        return text.decode().replace("\r", "").splitlines()

    def test_options_of_the_kernel(self):
        def config(without):
            return "#\n" + "".join(f"CONFIG_{o}=y\n" for o in OPTIONS if o not in without)
        del self.files["proc/config.gz"]
        self.is_found("config", "unknown", "not known")
        self.files[f"boot/config-{RUNNING}"] = config(())
        self.is_found("config", "ok", f"/boot/config-{RUNNING}")
        self.files[f"boot/config-{RUNNING}"] = config(("UPROBES", "CGROUPS"))
        self.is_found("config", "warn", "CONFIG_CGROUPS (the cgroup of a process), CONFIG_UPROBES", "kernel")
        self.files[f"boot/config-{RUNNING}"] = config(("TRACEPOINTS", "UPROBES"))
        self.is_found("config", "bad", "lacks CONFIG_TRACEPOINTS:", "kernel")

    def test_rights(self):
        def caps(*bits):
            self.files["proc/self/status"] = f"Name:\tx\nCapEff:\t{sum(1 << b for b in bits):016x}\n"
        caps(19, 21)
        self.is_found("rights", "ok", "all commands")
        caps(21)
        self.is_found("rights", "warn", "CAP_SYS_PTRACE", "root")
        caps(38)
        self.is_found("rights", "warn", "may read all", "root")
        caps()
        self.is_found("rights", "warn", "own processes only", "root")
        caps(19, 21)
        self.files["proc/self/uid_map"] = "         0       1000          1\n"
        self.is_found("rights", "warn", "own processes only", "root")

    def test_what_where_needs(self):
        del self.files[KO.replace("seepage.ko", "seepage_where.ko")]
        self.is_found("where", "warn", "no module seepage_where", "CONFIG_UPROBES")
        del self.files[DEBUG]
        self.is_found("symbols", "ok", f"build id {BUILD_ID.hex()}", "apt install libc6-dbg")
        self.files[LIBC] = elf(frames=False)
        self.is_found("symbols", "warn", "no unwind table", "distribution")
        self.files["proc/self/maps"] = ""
        self.is_found("symbols", "warn", "no shared C library")

    def test_damaged_files_do_no_harm(self):
        whole = elf()
        for size in (0, 16, 63, 64, 100, len(whole) - 21, len(whole) - 1):
            self.files[LIBC] = whole[:size]
            self.assertEqual(len(self.findings()), len(CHECKS))
        self.files[KO] = b"\xff" * 12 + b"~Module signature appended~\n"
        self.is_found("signature", "ok", "signed by an unknown name")
        self.files["seepage.json"] = "{"
        self.is_found("work", "unknown", "network namespace", "network namespace")

    def test_terminal_is_not_commanded(self):
        self.files["seepage.json"]["processes"].append(
            {"pid": 7, "comm": "a\033[2Jb", "state": "suspected", "tte_seconds": 9})
        self.assertNotIn("\033", self.run_doctor().stdout)

    def test_this_machine_as_any_user(self):
        """Without a tree: whatever this machine is, each check has a line, and the user does not matter."""
        for user in [None, 65534] if os.geteuid() == 0 else [None]:
            with tempfile.TemporaryDirectory() as dir_:
                tool = shutil.copy(TOOL, dir_)		# nobody may not enter a checkout of root
                os.chmod(dir_, 0o755)
                p = subprocess.run([tool, "-j"], capture_output=True, text=True, check=False, timeout=60,
                                   **({} if user is None else {"user": user, "group": user, "extra_groups": []}))
            report = json.loads(p.stdout)
            self.assertEqual(sorted({f["check"] for f in report["findings"]}), sorted(set(CHECKS)))
            self.assertEqual(p.returncode, 1 if report["bad"] else 0)
            self.assertEqual(p.stderr, "")


if __name__ == "__main__":
    unittest.main()
