# SPDX-License-Identifier: GPL-2.0
"""The screen of top in a real terminal, tmux. Only the module is made up: top_fixture.c."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = os.path.join(TOP, "build/ctl")
PARTS = ("quiet", "filter", "floors", "tree", "view", "keys", "layout", "text", "pane", "screen", "curses")
PROCESSES = """4711 runaway 99 2100 9800 0 php-fpm php8.2-fpm.service
812 confirmed 92 530 410 0 nginx nginx.service
813 ok 0 31 0 0 nginx nginx.service
1203 suspected 74 210 96 0 postgres postgresql.service
388 watch 41 88 24 0 python3 backup.service
900 ok 0 8 0 0 sshd ssh.service
"""
LIMIT_S = 60


def words(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def has_curses():
    return not subprocess.run(["pkg-config", "--exists", "ncursesw"], check=False).returncode


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "tools/seepage-top")), "needs make ctl")
@unittest.skipUnless(has_curses() and shutil.which("tmux"), "needs libncurses-dev and tmux")
class Screen(unittest.TestCase):
    servers = 0

    @classmethod
    def setUpClass(cls):
        # the path of a socket is at most 107 bytes long
        cls.dir = tempfile.mkdtemp(prefix="top-", dir="/tmp")
        cls.program = os.path.join(cls.dir, "top")
        libs = ("libnl-genl-3.0", "json-c")
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-iquote", f"{TOP}/ctl", f"-I{TOP}/include",
                        f"-I{TOP}/include/uapi", *words("pkg-config", "--cflags", *libs), "-o", cls.program,
                        f"{TOP}/tests/ctl/top_fixture.c", f"{BUILD}/tools/main-top.o", f"{BUILD}/tools/top.o",
                        *(f"{BUILD}/top/{p}.o" for p in PARTS), f"{BUILD}/libseepctl.a",
                        *words("pkg-config", "--libs", *libs, "ncursesw")], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.fixture = os.path.join(self.dir, "processes")
        self.write(PROCESSES)
        if os.path.exists(self.fixture + ".count"):
            os.unlink(self.fixture + ".count")
        self.socket = None

    def tearDown(self):
        self.end()

    def end(self):
        if self.socket:
            subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)
        self.socket = None

    def write(self, text):
        with open(self.fixture + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(self.fixture + ".new", self.fixture)

    def tmux(self, *command, env=None):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *command], env=env,
                              capture_output=True, text=True, check=True).stdout

    def start(self, size=(80, 24), options="-d 1", **env):
        """Starts top in a shell, which says when top has ended and in which state the terminal is."""
        env = {**os.environ, "TOP_FIXTURE": self.fixture, "LC_ALL": "C.UTF-8", "NO_COLOR": "", **env}
        # a server that was told to end may still have its socket
        Screen.servers += 1
        self.socket = f"{self.dir}/tmux{Screen.servers}"
        script = f"stty -g >{self.dir}/before; {self.program} {options}; echo ended $?; " \
                 f"stty -g | cmp - {self.dir}/before && echo restored; exec sleep 1000"
        self.tmux("-u", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), f"sh -c '{script}'", env=env)

    def screen(self, *how):
        return self.tmux("capture-pane", "-p", *how)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def sees(self, *texts, without=()):
        """Waits until the screen has all of @texts and none of @without."""
        end = time.monotonic() + LIMIT_S
        while True:
            screen = self.screen()
            if all(t in screen for t in texts) and not any(t in screen for t in without):
                return screen
            if time.monotonic() > end:
                self.fail(f"not seen: {texts} without {without}\n{screen}")
            time.sleep(0.05)

    def top_pid(self):
        found = subprocess.run(["pgrep", "-f", f"^{self.program}"], capture_output=True, text=True, check=True)
        return int(found.stdout.split()[0])

    def test_list_keys_and_pane(self):
        self.start()
        screen = self.sees("6 processes", ">!!!    4711 php-fpm", "q quit")
        self.assertIn("!!! 1 runaway  !! 1 confirmed  ! 1 suspected  ? 1 watch", screen)
        self.assertEqual([len(l) <= 80 for l in screen.splitlines()], [True] * 24)
        self.keys("Down")
        self.sees(">!!      812 nginx")
        self.keys("Enter")
        self.sees("Explained", "pid 812 (nginx): confirmed, confidence 92")
        self.keys("Tab")
        self.sees("Counters", "RSS            530.0 MiB", without=("Explained",))
        self.keys("Tab")
        self.sees("sshd", without=("Counters",))
        self.keys("t")
        self.sees("[-] nginx.service (2)", "561.0M")
        self.keys("-")
        self.sees("[+] nginx.service (2)", without=("812",))
        self.keys("t", "/", "postgres", "Enter")
        self.sees(">!      1203 postgres", "search: postgres")
        self.keys("f", "state=ok", "Enter")
        self.sees("filter: state=ok (2 shown)", without=("4711",))
        self.keys("x", "?")
        self.sees("Keys", "any key: back")
        self.keys("?")
        self.sees("q quit", "4711")

    def test_silenced_and_acknowledged(self):
        """A silence shows at the next refresh, and goes when it is removed."""
        quiet = os.path.join(self.dir, "quiet")
        env = {**os.environ, "SEEPAGE_STATE_DIR": quiet}
        tool = os.path.join(BUILD, "tools/seepage-silence")

        def silence(*words):
            subprocess.run([tool, *words], env=env, capture_output=True, check=True)
        self.start(size=(100, 24), SEEPAGE_STATE_DIR=quiet)
        self.sees(">!!!    4711 php-fpm", without=("silenced",))
        silence("--unit", "php8.2-fpm", "--for", "1h", "--comment", "restart at night")
        silence("--name", "nginx", "--forever")	# of two, one is under alert
        screen = self.sees(">!!!s   4711 php-fpm", " !!s     812 nginx", "s 2 silenced")
        self.assertIn(" !      1203 postgres", screen)
        self.keys("Enter")
        self.sees("silenced by silence 1 until", ": restart at night")
        silence("--remove", "all")
        self.sees(">!!!    4711 php-fpm", without=("silenced",))

    def test_refresh_module_gone_and_back(self):
        self.start()
        self.sees("6 processes", "4711")
        self.write(PROCESSES.replace("nginx nginx.service", "caddy caddy.service"))
        self.sees("caddy", without=("nginx",))
        os.unlink(self.fixture)
        self.sees("module not loaded (modprobe seepage); waiting for it", without=("4711",))
        self.write(PROCESSES)
        self.sees("6 processes", "4711", "nginx", without=("not loaded",))

    def test_one_read_a_refresh(self):
        self.start(options="-d 1000")
        self.sees("4711")
        self.keys("Down", "Down", "Enter", "Tab", "t", "M", "r")
        self.sees("Counters", "RSS^")
        self.assertEqual(os.path.getsize(self.fixture + ".count"), 1)

    def test_resize(self):
        self.start()
        self.sees("FLOORS   UNIT")
        self.tmux("resize-window", "-x", "40", "-y", "10")
        screen = self.sees("4711", without=("FLOORS", "UNIT"))
        self.assertEqual([len(l) <= 40 for l in screen.splitlines()], [True] * 10)
        self.tmux("resize-window", "-x", "150", "-y", "30")
        self.sees("FAULTS/s", "php8.2-fpm.service", "ANON", "q quit")

    def test_ends_with_the_terminal_restored(self):
        for how in ("q", signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(how=how):
                self.start()
                self.sees("4711")
                if how == "q":
                    self.keys("q")
                else:
                    os.kill(self.top_pid(), how)
                self.sees("ended 0", "restored", without=("4711",))
                self.end()

    def test_locale_and_colours(self):
        self.start()
        self.sees("▁")
        self.assertIn("\033[31m", self.screen("-e"))
        self.end()
        self.start(LC_ALL="C", NO_COLOR="1")
        self.assertTrue(self.sees("!!!    4711", "_:").isascii())
        self.assertNotRegex(self.screen("-e"), r"\033\[[0-9;]*3[0-7]m")

    def test_errors(self):
        p = subprocess.run([self.program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("no terminal (-b prints text)", p.stderr)
        p = subprocess.run([self.program, "-b", "--user", "no such"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False)
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn("--user: 'no such': allowed a uid or the name of a user", p.stderr)

    def test_batch(self):
        env = {**os.environ, "TOP_FIXTURE": self.fixture, "LC_ALL": "C"}
        p = subprocess.run([self.program, "-b", "-n", "2", "-d", "1", "-t"], env=env, capture_output=True,
                           text=True, check=True)
        self.assertEqual(p.stdout.count("6 processes"), 2)
        self.assertEqual(p.stdout.count("  every 1s\n"), 2)
        self.assertEqual(p.stdout.count("[-] nginx.service (2)"), 2)
        self.assertTrue(p.stdout.isascii())
        head = next(line for line in p.stdout.splitlines() if " PID " in line)
        self.assertIn(" AGE", head)	# a pipe gets all columns
        p = subprocess.run([self.program, "-b", "-n", "1", "-w", "80"], env=env, capture_output=True,
                           text=True, check=True)
        self.assertLessEqual(max(map(len, p.stdout.splitlines())), 80)
        # no refresh follows
        self.assertTrue(p.stdout.splitlines()[0].endswith("  6 processes"), p.stdout)

    def test_names_of_containers(self):
        """As ps has them, in the list and by unit; the filter of units knows them."""
        cid = "0123456789abcdef" * 4
        at = os.path.join(self.dir, "root/var/lib/docker/containers", cid)
        os.makedirs(at)
        with open(os.path.join(at, "config.v2.json"), "w", encoding="utf-8") as f:
            json.dump({"Name": "/webshop", "Config": {"Labels": {}}}, f)
        self.write(PROCESSES + f"901 ok 0 8 0 0 shop /system.slice/docker-{cid}.scope\n"
                   f"902 ok 0 8 0 0 other /system.slice/docker-{cid[::-1]}.scope\n")
        env = {**os.environ, "TOP_FIXTURE": self.fixture, "LC_ALL": "C", "SEEPAGE_ROOT": os.path.join(self.dir, "root")}
        for more, said in (([], ["container webshop (docker)", f"container {cid[:-13:-1]} (docker)"]),
                           (["-t"], ["[-] container webshop (docker) (1)"]),
                           (["--unit", "webshop"], ["(1 shown)", "container webshop (docker)"])):
            p = subprocess.run([self.program, "-b", "-n", "1", *more], env=env, capture_output=True, text=True, check=True)
            for text in said:
                self.assertIn(text, p.stdout)


if __name__ == "__main__":
    unittest.main()
