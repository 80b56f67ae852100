#!/usr/bin/env python3
"""The commands that look at files, as a shell runs them: what they print, their exit status, what they leave untouched.

  storage_commands_test.py TIDEMARK DATA_DIRS CMAKE
"""
import json, os, pathlib, signal, subprocess, sys, tempfile, unittest

TIDEMARK, ARCHIVES, CMAKE = sys.argv[1:4]


def run(*arguments):
    return subprocess.run([TIDEMARK, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def contents(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class StorageCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tidemark-app-")
        self.data = pathlib.Path(self.folder.name) / "data"

    def tearDown(self):
        self.folder.cleanup()

    def unpack(self, case):
        self.data.mkdir()
        subprocess.run([CMAKE, "-E", "tar", "xf", f"{ARCHIVES}/{case}.tar.zst"], cwd=self.data, check=True)
        return [self.data / name for name in sorted(os.listdir(self.data))]

    def test_dump_log_tells_batches_and_records_by_name(self):
        d0, _ = self.unpack("single-clean")
        shown = run("dump-log", d0 / "__consumer_offsets-1" / "00000000000000000000.log", "--records")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("baseOffset: 0 lastOffset: 0 count: 1", shown.stdout)
        self.assertIn('key: {"type":"1","data":{"group":"tx-offsets-group"', shown.stdout)
        kafkas = run("dump-log", "--files", d0 / "__consumer_offsets-1" / "00000000000000000000.log", "--print-data-log")
        self.assertEqual(shown.stdout, kafkas.stdout)

    def test_dump_log_in_json_is_an_object_a_line(self):
        d0, _ = self.unpack("single-clean")
        shown = run("dump-log", "--json", "--records", *d0.glob("*-0"))
        self.assertEqual(shown.returncode, 0, shown.stderr)
        kinds = {json.loads(line)["is"] for line in shown.stdout.splitlines()}
        self.assertLessEqual({"file", "batch", "record", "entry", "aborted", "producer", "epoch", "property"}, kinds)

    def test_dump_log_says_which_name_it_cannot_show(self):
        self.assertEqual(run("dump-log").returncode, 2)
        for path, reason in (("/no/such.log", "no such file"), ("/etc/passwd", "its name is none of a log's files"), ("/etc", "no file of a log")):
            shown = run("dump-log", path)
            self.assertEqual(shown.returncode, 2)
            self.assertIn(reason, shown.stderr)
        self.assertEqual(run("dump-log", "--no-such-flag", "x").returncode, 2)
        self.assertEqual(run("dump-log", "--offsets-decoder", "--cluster-metadata-decoder", "x").returncode, 2)

    def test_verify_and_repair_of_what_is_good(self):
        directories = self.unpack("single-clean")
        before = contents(self.data)
        verified = run("verify", *directories)
        self.assertEqual(verified.returncode, 0, verified.stdout)
        self.assertIn("good: 33 partitions, 58 segments, 1321 batches, 4032 records", verified.stdout)
        repaired = run("repair", *directories)
        self.assertEqual((repaired.returncode, repaired.stdout), (0, "nothing to do\n"))
        self.assertEqual(contents(self.data), before)

    def test_a_directory_that_is_named_twice_is_told(self):
        d0, d1 = self.unpack("single-clean")
        link = self.data / "link"
        link.symlink_to(d0)
        before = contents(self.data)
        for command in (["verify"], ["repair"], ["repair", "--apply"]):
            for other in (d0, f"{d0}/", link, d1 / ".." / d0.name):
                done = run(*command, d0, other)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr, f"tidemark: {command[0]}: {d0} and {other} are the same directory: name it once\n")
            done = run(*command, self.data, d0)
            self.assertEqual((done.returncode, done.stderr), (2, f"tidemark: {command[0]}: {d0} lies in {self.data}: name one of them\n"))
        self.assertEqual(contents(self.data), before)

    def test_help_of_repair_tells_when_a_folder_may_be_removed(self):
        text = " ".join(run("repair", "--help").stdout.split())
        self.assertIn("while the other brokers of the cluster run, or with the marker removed as well", text)
        self.assertIn(".kafka_cleanshutdown", text)

    def test_verify_of_a_partitions_folder_names_what_is_wanted(self):
        d0, _ = self.unpack("single-clean")
        verified = run("verify", d0 / "__consumer_offsets-1")
        self.assertEqual(verified.returncode, 1)
        self.assertIn("name the log directory that holds it", verified.stdout)

    def test_verify_of_no_log_directory_is_one_error(self):
        verified = run("verify", "/etc")
        self.assertEqual(verified.returncode, 1)
        self.assertIn("1 error, 0 warnings, 0 notes", verified.stdout)

    def test_verify_finds_and_repair_mends_only_when_told_to(self):
        directories = self.unpack("single-torn")
        before = contents(self.data)
        verified = run("verify", "--json", *directories)
        self.assertEqual(verified.returncode, 1)
        lines = [json.loads(line) for line in verified.stdout.splitlines()]
        self.assertEqual(lines[-1]["is"], "summary")
        torn = next(line for line in lines if line.get("kind") == "log-torn" and "codec-none-0" in line["file"])
        self.assertEqual((torn["position"], torn["length"], torn["severity"]), (3362, 40, "warning"))
        self.assertTrue(torn["bytes"].startswith("0000 0000 0000 012c"))

        planned = run("repair", *directories)
        self.assertEqual(planned.returncode, 1)
        self.assertIn("cut-log", planned.stdout)
        self.assertIn("nothing was touched: --apply takes them", planned.stdout)
        self.assertEqual(contents(self.data), before)

        # One directory is enough here: on a real disk each copy is synced.
        single = directories[0]
        applied = run("repair", "--apply", "--index-interval", 256, single)
        self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
        copies = next(self.data.glob(single.name + ".before-repair-*"))
        self.assertEqual(run("verify", single).returncode, 0)
        name = "codec-none-0/00000000000000000276.log"
        self.assertEqual((copies / name).read_bytes(), before[str(single / name)])
        self.assertEqual(len((single / name).read_bytes()), 3362)

    def test_a_running_lab_is_verified_and_found_good(self):
        serve = subprocess.Popen([TIDEMARK, "serve", "--brokers", "3", "--port", "0", "--json", "--data", self.data],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            bootstrap = json.loads(serve.stdout.readline())["bootstrap"]
            created = run("topics", "--bootstrap", bootstrap, "create", "orders", "--partitions", "3")
            self.assertEqual(created.returncode, 0, created.stderr)
            running = run("verify", "--json", self.data)
            summary = json.loads(running.stdout.splitlines()[-1])
            self.assertEqual((running.returncode, summary["errors"], summary["warnings"]), (0, 0, 0), running.stdout)
            self.assertTrue(summary["inUse"])
            self.assertEqual(running.stdout.count('"in-use"'), 3)
            self.assertIn("good, while a broker runs: ", run("verify", self.data).stdout)
            refused = run("repair", "--apply", self.data)
            self.assertEqual(refused.returncode, 2)
        finally:
            serve.stdin.write("quit\n")
            serve.stdin.close()
            self.assertEqual(serve.wait(60), 0)
            serve.stdout.close()
        stopped = run("verify", self.data)
        self.assertEqual(stopped.returncode, 0, stopped.stdout)
        self.assertRegex(stopped.stdout, r"^good: |\ngood: ")
        self.assertEqual(run("repair", self.data).stdout, "nothing to do\n")

    def test_links_that_lead_nowhere_are_told_and_set_aside(self):
        single = self.unpack("single-clean")[0]
        name = "00000000000000000000.index"
        dangling, itself, odd = sorted(path.parent for path in single.glob(f"codec-*/{name}") if path.stat().st_size > 3)[:3]
        for folder, target in ((dangling, "nowhere"), (itself, name)):
            (folder / name).unlink()
            (folder / name).symlink_to(target)
        os.truncate(odd / name, 3)
        verified = run("verify", single)
        self.assertEqual(verified.returncode, 1)
        self.assertEqual(verified.stdout.count("a link that leads nowhere"), 2, verified.stdout)
        applied = run("repair", "--apply", "--index-interval", 256, single)
        self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
        self.assertEqual(run("verify", single).returncode, 0)
        copies = next(self.data.glob(single.name + ".before-repair-*"))
        self.assertTrue((copies / dangling.name / name).is_symlink())

    def test_output_that_cannot_be_written_is_a_failure(self):
        single = self.unpack("single-clean")[0]
        log = single / "codec-none-0" / "00000000000000000000.log"
        for arguments in (["verify", single], ["repair", single], ["dump-log", log], ["--help"], ["--version"], ["verify", "--help"]):
            with self.subTest(arguments[0]), open("/dev/full", "w") as full:
                done = subprocess.run([TIDEMARK, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("the output could not be written: No space left on device", done.stderr)

    def test_what_is_no_log_directory_is_refused(self):
        self.assertEqual(run("verify", "/no/such/place").returncode, 2)
        self.assertEqual(run("verify").returncode, 2)
        self.assertEqual(run("repair", "--apply", "/no/such/place").returncode, 2)
        self.assertEqual(run("verify", "--index-interval", "-5", "/tmp").returncode, 2)

    def test_help_says_what_the_commands_are_for(self):
        for command in ("dump-log", "verify", "repair"):
            shown = run(command, "--help")
            self.assertEqual(shown.returncode, 0)
            self.assertIn("Exit status", shown.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
