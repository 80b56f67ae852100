#!/usr/bin/env python3
"""`./lab` knows the commands of `tidemark`: lab_test.py TIDEMARK LAB"""
import os, pathlib, re, shutil, subprocess, sys, tempfile, unittest

TIDEMARK, LAB = sys.argv.pop(1), sys.argv.pop(1)


def commands():
    shown = subprocess.run([TIDEMARK, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    return re.findall(r"^  ([a-z-]+) ", shown[shown.index("Subcommands:"):], re.M)


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
            tell = lambda path, text: (path.write_text(f"#!/bin/sh\n{text}\n"), path.chmod(0o755))
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


if __name__ == "__main__":
    unittest.main()
