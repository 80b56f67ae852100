#!/usr/bin/env python3
"""`./lab` knows the commands of `tidemark`, and looks at what changed last: lab_test.py TIDEMARK LAB"""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile, unittest

TIDEMARK, LAB = sys.argv.pop(1), sys.argv.pop(1)


def commands():
    shown = subprocess.run([TIDEMARK, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    return re.findall(r"^  ([a-z-]+) ", shown[shown.index("Subcommands:"):], re.M)


def tell(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class LabScript(unittest.TestCase):
    def test_help_lists_all_commands(self):
        shown = subprocess.run([LAB, "help"], capture_output=True, text=True, check=True, timeout=60).stdout
        listed = shown[shown.index("./lab COMMAND"):shown.index("./lab build")]
        self.assertGreaterEqual(len(commands()), 7)
        for command in commands():
            self.assertRegex(listed, rf"[ :(]{command}\b")

    def test_each_command_with_arguments_is_run_by_tidemark(self):
        # A copy whose tools only tell what was asked of them.
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            root = pathlib.Path(folder)
            shutil.copy(LAB, root / "lab")
            tools = root / "tools"
            tools.mkdir()
            (root / "build/release/bin").mkdir(parents=True)
            (root / "CMakePresets.json").write_text("{}")
            (root / "build/release/CMakeCache.txt").write_text("TIDEMARK_TESTS:BOOL=ON\n")
            (root / "build/release/build.ninja").write_text("")
            tell(tools / "dpkg-query", "echo install ok installed")
            tell(tools / "cmake", "true")
            tell(tools / "git", "echo engine/some.cpp")
            tell(tools / "clang-format-19", 'echo "layout $*"')
            tell(root / "build/release/bin/tidemark", 'echo "tidemark $*"')
            environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
            ask = lambda *arguments: subprocess.run([root / "lab", *arguments], capture_output=True, text=True, timeout=60, env=environment)
            for command in commands():
                done = ask(command, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                # Nothing of the build: scripts read what the program prints.
                self.assertEqual(done.stdout, f"tidemark {command} --help\n")
            layout = ask("format")
            self.assertIn("layout -i engine/some.cpp", layout.stdout)
            self.assertNotIn("tidemark", layout.stdout)

    def test_a_preset_that_is_none_is_refused_at_once(self):
        done = subprocess.run([LAB, "--no-install", "build", "--wrong"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("./lab build: there is no preset --wrong\n"), done.stderr)

    def test_an_option_that_is_none_is_refused_at_once(self):
        for display in ("", ":7"):
            environment = {**os.environ, "DISPLAY": display, "WAYLAND_DISPLAY": ""}
            done = subprocess.run([LAB, "--no-install", "--wrong=1"], capture_output=True, text=True, timeout=60, env=environment)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertTrue(done.stderr.startswith("./lab: unknown option --wrong; there are --"), done.stderr)
            # Those of a window are known only where there can be one.
            self.assertEqual("--theme" in done.stderr, display != "")

    def test_the_options_that_it_knows_are_those_of_the_programs(self):
        script = pathlib.Path(LAB).read_text()
        known = lambda name: set(re.search(rf"{name}_OPTIONS='(.*)'", script).group(1).split())
        # The window need not be built here.
        window = (pathlib.Path(LAB).parent / "app/window/main.cpp").read_text()
        self.assertEqual(set(re.findall(r'QCommandLineOption \w+\(\s*QStringLiteral\("([a-z-]+)"', window)) | {"help", "version"}, known("WINDOW"))
        serve = subprocess.run([TIDEMARK, "serve", "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(set(re.findall(r"^ +(?:-\w, *)?--([a-z-]+)", serve, re.M)) - {"help-all"}, known("SERVE"))

    # A project of two sources whose tools only tell what was asked of them; each time it is asked, the clock is 200 s further.
    # `worse` has a finding, `good` changed last.
    def tidied(self, folder, *arguments, clone=(), seconds="300"):
        root, tools, log = (folder / name for name in ("root", "tools", "log"))
        (root / "engine").mkdir(parents=True)
        tools.mkdir()
        shutil.copy(LAB, root / "lab")
        (root / "CMakePresets.json").write_text("{}")
        (root / ".clang-tidy").write_text("")
        (root / ".gitignore").write_text("build/\n")
        tell(tools / "dpkg-query", "echo install ok installed")
        tell(tools / "cmake", "true")
        tell(tools / "nproc", "echo 1")
        tell(tools / "date", f"now=$(cat {folder}/now || echo 0); echo $((now + 200)) >{folder}/now; echo $now")
        tell(tools / "clang++-19", 'for file; do true; done; echo "unit: $file"')
        tell(tools / "clang-tidy-19", f"""[ "$1" = --version ] && exit
            grep -h name "$2" >>{log}; ! grep -q worse "$2" || {{ echo "$2:2:1: error: worse [some-check]"; exit 1; }}""")
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache"),
                       "TIDY_SECONDS": seconds, "GIT_CONFIG_GLOBAL": "/dev/null"}
        git = lambda *words: subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=root, env=environment,
                                            capture_output=True, check=True, timeout=60)
        git("init", "-q")
        git("add", "lab")
        git("commit", "-q", "-m", "lab")
        for name in ("worse", "good"):
            (root / f"engine/{name}.cpp").write_text(f"\nint name_{name};\n")
            git("add", ".")
            git("commit", "-q", "-m", name)
        if clone:
            git("clone", "-q", *clone, f"file://{root}", str(folder / "clone"))
            root = folder / "clone"
        (root / "build/fast").mkdir(parents=True)
        (root / "build/fast/CMakeCache.txt").write_text("TIDEMARK_TESTS:BOOL=ON\n")
        (root / "build/fast/build.ninja").write_text("")
        (root / "build/fast/compile_commands.json").write_text("[\n" + ",\n".join(
            "{\n" + f'  "command": "g++ -D{name} -o {name}.o -c {root}/engine/{name}.cpp",\n  "file": "{root}/engine/{name}.cpp"' + "\n}"
            for name in ("good", "worse")) + "\n]\n")
        done = subprocess.run([root / "lab", "tidy", *arguments], capture_output=True, text=True, timeout=60, env=environment)
        return done, log.read_text().split() if log.exists() else []

    def test_tidy_begins_with_what_changed_last_and_tells_what_was_left(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            done, looked = self.tidied(pathlib.Path(folder))
            self.assertEqual(looked, ["int", "name_good;"])
            self.assertIn("1 file looked at, 1 left for want of time, 0 too much for the tool, 0 findings", done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tidy_fails_when_it_finds_something(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            done, looked = self.tidied(pathlib.Path(folder), seconds="600")
            self.assertEqual(looked, ["int", "name_good;", "int", "name_worse;"])
            self.assertIn("engine/worse.cpp:2:1: error: worse [some-check]", done.stdout)
            self.assertIn("2 files looked at, 0 left for want of time, 0 too much for the tool, 1 finding\n", done.stdout)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_tidy_tells_that_a_shallow_clone_does_not_know_what_changed(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            done, looked = self.tidied(pathlib.Path(folder), clone=("--depth", "1"), seconds="600")
            self.assertIn("a shallow clone", done.stdout)
            self.assertEqual(sorted(set(looked)), ["int", "name_good;", "name_worse;"])
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
