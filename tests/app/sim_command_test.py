#!/usr/bin/env python3
"""The command `tidemark sim`, as a shell runs it: sim_command_test.py TIDEMARK"""
import json, pathlib, re, subprocess, sys, tempfile, unittest

TIDEMARK = sys.argv.pop(1)


def run(*arguments):
    done = subprocess.run([TIDEMARK, "sim", *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


HAS_MUTATIONS = "break this rule" in run("--help")[1]


class Sim(unittest.TestCase):
    def test_each_seed_has_a_line_and_is_the_same_again(self):
        status, first, _ = run("--seed", "4", "--seeds", "2", "--until", "4")
        self.assertEqual(status, 0)
        lines = first.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], r"^seed 4: \d brokers?, .*; 4\.\d s, \d+ faults, \d+ events: nothing broken so far$")
        self.assertRegex(lines[2], r"^all seeds, 4 to 5: 2 held, 0 broke; \d+ faults, \d+ events, 0\.1 simulated minutes in \d+\.\d s of CPU$")
        # What it cost is another matter.
        self.assertEqual(run("--seed", "4", "--seeds", "2", "--until", "4")[1].splitlines()[:2], lines[:2])
        self.assertEqual(len(run("--seed", "4", "--seeds", "2", "--until", "4", "--brief")[1].splitlines()), 1)

    def test_a_trace_is_the_same_again(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("1", "2")]
            for path in paths:
                self.assertEqual(run("--seed", "4", "--until", "2", "--trace", str(path))[0], 0)
            self.assertGreater(paths[0].stat().st_size, 10000)
            self.assertEqual(paths[0].read_bytes(), paths[1].read_bytes())

    def test_a_recording_holds_snapshots_and_events_and_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.jsonl"
            status, line, _ = run("--seed", "4", "--until", "4", "--record", str(path))
            self.assertEqual((status, line), run("--seed", "4", "--until", "4")[:2])
            # Of another process, with other addresses.
            again = pathlib.Path(folder) / "again.jsonl"
            run("--seed", "4", "--until", "4", "--record", str(again))
            self.assertEqual(path.read_bytes(), again.read_bytes())
            lines = [json.loads(each) for each in path.read_text().splitlines()]
            self.assertEqual(lines[0], {"recording": 1})
            snapshots = [each["snapshot"] for each in lines if "snapshot" in each]
            self.assertGreaterEqual(len(snapshots), 4)
            self.assertIn("orders", [topic["name"] for topic in snapshots[-1]["topics"]])
            kinds = {each["event"] for each in lines if "event" in each}
            self.assertLessEqual({"BatchAppended", "HighWatermarkAdvanced", "LeaderElected", "BrokerStarted"}, kinds)

    def test_what_makes_no_sense_is_refused(self):
        self.assertEqual(run("--seeds", "2", "--trace", "t")[0], 2)
        self.assertEqual(run("--seeds", "2", "--record", "t")[0], 2)
        self.assertEqual(run("--record", "/no/such/folder/t")[0], 1)
        self.assertEqual(run("--brokers", "8")[0], 2)
        self.assertEqual(run("--record", "t", "--trace", "t")[0], 2)
        for option in ("--until", "--minutes"):
            for value in ("1e300", "inf", "nan", "1e-300", "31536001"):
                status, _, errors = run(option, value)
                self.assertEqual((status, f"{value} is not a number from 0.001 to " in errors), (2, True), errors)
        for value in ("-1", "99999999999999999999"):
            self.assertEqual(run("--faults", value)[0], 2)
        self.assertEqual(run("--seeds", "99999999999999999999")[0], 2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t"
            (pathlib.Path(folder) / "link").symlink_to(path)
            for other in (f"{folder}/./t", f"{folder}/link"):
                status, _, errors = run("--until", "1", "--trace", str(path), "--record", other)
                self.assertEqual((status, errors), (2, "tidemark: --trace and --record need a file each\n"))
                self.assertFalse(path.exists())
        for seed in ("-3", "18446744073709551616", "1e3"):
            self.assertEqual(run("--seed", seed)[0], 2, seed)
        self.assertEqual(run("--seed", "18446744073709551615", "--seeds", "2")[0], 2, "there is one")

    def test_the_last_seed_is_run(self):
        status, line, _ = run("--seed", "18446744073709551615", "--until", "1")
        self.assertEqual(status, 0)
        self.assertTrue(line.startswith("seed 18446744073709551615: "), line)

    def test_a_file_that_cannot_hold_it_all_is_an_error(self):
        for option in ("--trace", "--record"):
            status, _, said = run("--seed", "4", "--until", "2", option, "/dev/full")
            self.assertEqual(status, 1, option)
            self.assertIn("/dev/full could not be written to its end", said)
        self.assertEqual(run("--mutation", "no-such")[0], 2)

    def test_a_fault_that_the_run_does_not_have_is_told(self):
        status, line, said = run("--seed", "4", "--until", "1", "--faults", "99999")
        self.assertEqual(status, 0)
        self.assertIn(" 0 faults", line)
        self.assertIn("fault 99999 did not happen", said)

    def test_the_table_of_mutations_is_printed(self):
        status, table, _ = run("--list-mutations")
        self.assertEqual(status, 0)
        self.assertGreaterEqual(len(re.findall(r"^\| `", table, re.M)), 20)

    def test_a_broken_rule_is_reported_with_a_run_that_shows_it(self):
        if not HAS_MUTATIONS:
            status, _, said = run("--mutation", "high-watermark-alone")
            self.assertEqual(status, 2)
            self.assertIn("./lab build asan", said)
            return
        status, report, _ = run("--mutation", "high-watermark-alone")
        self.assertEqual(status, 1)
        self.assertRegex(report, r"^seed 1: .* BROKEN\n")
        self.assertRegex(report, r"\n\nR[234]: ")
        again = re.search(r"\nagain: tidemark sim (.*)\n", report).group(1).split()
        status, second, _ = run(*again, "--no-shrink")
        self.assertEqual(status, 1)
        self.assertEqual(re.search(r"\n\n(R[234]: .*)\n", second).group(1), re.search(r"\n\n(R[234]: .*)\n", report).group(1))


unittest.main()
