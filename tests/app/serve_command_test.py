#!/usr/bin/env python3
"""The command `tidemark serve`, as a shell or a script runs it: serve_command_test.py TIDEMARK"""
import json, pathlib, random, re, shutil, socket, subprocess, tempfile, time, unittest

from small_client import racks
from running_serve import Serve, TIDEMARK, create_topic


class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve = Serve("--brokers", 1, "--port", 0, "--json")
        cls.ready = cls.serve.answer()

    @classmethod
    def tearDownClass(cls):
        assert cls.serve.end() == 0

    def refused(self, line, why):
        answer = self.serve.ask(line)
        self.assertFalse(answer["ok"], answer)
        self.assertIn(why, answer["error"])
        self.assertTrue(self.serve.ask("faults")["ok"])

    def test_json_that_cannot_be_read_is_an_answer(self):
        self.refused("fault 1e999", "this is no JSON: it holds a number that is too large")
        self.refused('fault {"kind":"clock-drift","target":"broker 1","rate":1e999}', "a number that is too large")
        self.refused('fault {"kind":"cut"', "this is no JSON: it ends too early")
        self.refused(b'fault {"kind":"\xff"}', "this is no JSON")
        self.refused("fault " + '{"kind":' + "[" * 30000 + "]" * 30000 + "}", "nested too deeply")
        self.refused('fault {"kind":"delay","target":"link 1->clients","delayMs":1,"delayMs":2}', '"delayMs" is said twice')
        self.refused("fault", "write the fault as JSON")
        self.refused('fault {"kind":"cut","target":"link 1->clients","durationMs":0}', "durationMs is at least 1")

    def test_what_is_no_number_is_not_taken_for_one(self):
        for line in ("kill 1x", "stop 9999999999"):
            self.refused(line, "is no broker's number")
        for line in ("kill", "restart"):
            self.refused(line, f"write {line} N, the number of a broker: {line} 1")
        self.refused("leader", "write leader TOPIC-PARTITION, as leader orders-0")
        self.refused("heal", "write heal FAULT, a number that `faults` shows, or heal all")
        for line in ("leader orders", "leader orders-", "leader orders-0x", "leader orders-9999999999", "leader -0"):
            self.refused(line, "is no TOPIC-PARTITION")
        for line in ("heal 0", "heal 1x", "heal -1"):
            self.refused(line, "is neither a fault's number nor all")
        self.refused("step", "write step FAULT or step FAULT COUNT")
        for word in ("0", "-3", "x"):
            self.refused(f"step {word}", f'"{word}" is no fault\'s number')
        for word in ("0", "-3", "x", "1000000000000"):
            self.refused(f"step 2 {word}", f'"{word}" is no COUNT: that is a whole number from 1 to 2147483647')

    def test_a_long_line_is_not_echoed_whole(self):
        long = "ü" * 20000
        lines = ["fault " + '"' + long, long, "kill " + "9" * 40000, "kill " + long, "leader " + long + "-0", "leader " + long, "step " + long, "step 1 " + long,
                 "heal " + long, "topics " + long, "kill 1 " + long]
        for fault in ({"kind": long}, {"kind": [long]}, {"kind": "cut", long: 1}, {"kind": "cut", "target": long}, {"kind": "cut", "target": "link " + long + "->1"},
                      {"kind": "kill", "target": "leader of " + long + "-0"}, {"kind": "request-drop", "topic": long}, {"kind": "request-drop", "api": long},
                      {"kind": "request-error", "api": "Produce", "error": long}, {"kind": "disk-error", "target": "broker 1", "path": "/" + long},
                      {"kind": "disk-error", "target": "broker 1", "calls": [long]}, {"kind": "halves", "left": long, "right": [1]},
                      {"kind": "delay", "target": "1->clients", "delayMs": long}, {"kind": "request-drop", "target": "clients named " + long},
                      {"kind": "kill", "target": "broker 1", "trigger": long}, {"kind": "kill", "target": "broker 1", "trigger": {long: 1}},
                      {"kind": "kill", "target": "broker 1", "trigger": {"event": long}}, {"kind": "kill", "target": "broker 1", "trigger": {"event": "IsrShrunk", "partition": long}}):
            lines.append("fault " + json.dumps(fault, ensure_ascii=False))
        for line in lines:
            answer = self.serve.ask(line)
            self.assertFalse(answer["ok"], answer)
            self.assertLess(len(json.dumps(answer, ensure_ascii=False).encode()), 2500)
            self.assertNotIn("\ufffd", answer["error"] + answer["command"])

    def test_all_names_of_events_can_be_learnt(self):
        answer = self.serve.ask('fault {"kind":"cut","target":"link 1->clients","trigger":{"event":"BecameLeadr"}}')
        self.assertFalse(answer["ok"])
        self.assertNotIn("…", answer["error"])
        names = answer["error"].split("there are ")[1].split(", ")
        self.assertGreater(len(names), 60)
        for name in names:
            waits = self.serve.ask('fault {"kind":"cut","target":"link 1->clients","trigger":{"event":"%s"}}' % name)
            self.assertTrue(waits["ok"], waits)
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_how_much_a_link_keeps_back_is_told(self):
        hold = self.serve.ask('fault {"kind":"hold","target":"link clients named tidemark-topics->1"}')["fault"]
        listed = lambda command: next(each for each in self.serve.ask(command)["faults"] if each["id"] == hold)
        self.assertEqual((listed("faults")["held"], listed("status")["held"]), (0, 0))
        asks = subprocess.Popen([TIDEMARK, "topics", "--bootstrap", self.ready["bootstrap"], "list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            while not listed("faults")["held"]:
                self.assertIsNone(asks.poll())
            self.assertEqual(listed("status")["held"], 1)
            self.assertEqual(self.serve.ask(f"step {hold}")["passed"], 1)
            self.assertTrue(self.serve.ask("heal all")["ok"])
            self.assertEqual(asks.wait(60), 0)
        finally:
            asks.kill()
            asks.communicate()

    def test_a_fault_that_can_never_fire_is_refused(self):
        self.refused('fault {"kind":"kill","target":"controller 1"}', "write broker 1")
        self.refused('fault {"kind":"isolate","target":"broker 1","clients":false}', "there is nobody to isolate broker 1 from")

    def test_each_answer_says_which_line_it_answers(self):
        line = self.serve.ask("help")["line"]
        self.serve.send('fault {"kind":"delay","target":"link clients->1","delayMs":1}\n\nnonsense\nheal all\n')
        answers = [self.serve.answer() for _ in range(3)]
        # Whatever is at once refused may come first.
        self.assertEqual({each["line"]: each["command"] for each in answers}, {line + 1: "fault", line + 3: "nonsense", line + 4: "heal"})

    def test_lines_that_are_long_or_blank_count_as_one_each(self):
        line = self.serve.ask("help")["line"]
        # One that comes in parts, one that comes whole with its end, blank ones, one with blanks only.
        self.serve.send("a" * 200000)
        self.assertEqual(self.serve.answer()["line"], line + 1)
        self.serve.send("a" * 1000 + "\n\n\n" + "b" * 65537 + "\n   \nhelp\n")
        self.assertEqual([self.serve.answer()["line"] for _ in range(2)], [line + 4, line + 6])

    def test_help_names_the_faults_and_gives_an_example(self):
        answer = self.serve.ask("help")
        self.assertIn("isolate", answer["faults"])
        self.assertTrue(answer["example"].startswith("fault {"))
        self.assertTrue(self.serve.ask(answer["example"])["ok"])
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_the_list_says_whom_a_fault_means(self):
        self.assertTrue(self.serve.ask('fault {"kind":"slow","target":"the active controller","delayMs":1}')["ok"])
        self.assertEqual(self.serve.ask("faults")["faults"][0]["node"], 1)
        self.assertTrue(self.serve.ask('fault {"kind":"delay","target":"link clients named billing<->the active controller","delayMs":1}')["ok"])
        self.assertEqual(self.serve.ask("faults")["faults"][1]["links"], ["clients named billing->1", "1->clients named billing"])
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_a_line_that_is_too_long_is_dropped_up_to_its_end(self):
        # Up to the limit it is a line like any other.
        self.assertIn("unknown command", self.serve.ask("x" * 65536)["error"])
        for length in (65537, 65536 + 4096, 1 << 20):
            answer = self.serve.ask("x" * length)
            line = answer.pop("line")
            self.assertEqual(answer, {"ok": False, "command": "", "error": "the line is too long (65536 bytes at most)"})
            answer = self.serve.ask("faults")
            self.assertEqual((answer["ok"], answer["line"]), (True, line + 1))
        # In parts, and with the next command right behind it.
        self.serve.send("y" * 70000)
        self.assertIn("too long", self.serve.answer()["error"])
        self.serve.send("kill 1 " * 10000 + "\nfaults\n")
        answer = self.serve.answer()
        self.assertTrue(answer["ok"], answer)
        self.assertEqual(answer["command"], "faults")

    def test_blank_lines_are_passed_over(self):
        self.serve.send("\n  \n\t\n")
        self.assertTrue(self.serve.ask("faults")["ok"])

    def test_heal_all_says_how_many_there_were(self):
        answer = self.serve.ask("heal all")
        self.assertGreater(answer.pop("line"), 0)
        self.assertEqual(answer, {"ok": True, "command": "heal", "healed": "all", "count": 0})
        for path in ("a", "b"):
            self.assertTrue(self.serve.ask("fault " + json.dumps({"kind": "disk-error", "target": "broker 1", "calls": ["read"], "path": path}))["ok"])
        self.assertEqual(self.serve.ask("heal all")["count"], 2)
        self.assertEqual(self.serve.ask("faults")["faults"], [])


    def test_a_fault_that_nothing_matches_says_so(self):
        answer = self.serve.ask('fault {"kind":"request-drop","target":"clients named billing","topic":"payments"}')
        self.assertEqual((answer["ok"], answer["note"]), (True, "nothing matches it now: no client named billing is connected; there is no topic payments"))
        (listed,) = self.serve.ask("faults")["faults"]
        self.assertEqual((listed["id"], listed["fired"]), (answer["fault"], 0))
        self.refused('fault {"kind":"cut","target":"link 1->clients","trigger":{"event":"IsrShrunk","broker":4}}', "there is no node 4: the only node is broker 1")
        self.refused('fault {"kind":"disk-error","target":"broker 1","path":"/etc/*"}', "/etc/* is no path of the brokers'")
        self.assertNotIn("note", self.serve.ask('fault {"kind":"slow-disk","target":"broker 1","delayMs":1,"path":"__cluster_metadata-0/*.log"}'))
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_a_fault_that_waits_is_told_apart_from_one_that_acts(self):
        waits = self.serve.ask('fault {"kind":"delay","target":"link clients->1","delayMs":1,"trigger":{"afterMs":600000}}')["fault"]
        acts = self.serve.ask('fault {"kind":"clock-offset","target":"broker 1","offsetMs":5}')["fault"]
        for listed in (self.serve.ask("status")["faults"], self.serve.ask("faults")["faults"]):
            listed = {each["id"]: each for each in listed}
            self.assertEqual((listed[waits]["state"], listed[waits]["fired"]), ("waiting", 0))
            self.assertTrue(0 < listed[waits]["leftMs"] <= 600000)
            self.assertEqual((listed[acts]["state"], listed[acts]["fired"]), ("active", 1))
            self.assertNotIn("leftMs", listed[acts])
        self.assertEqual(self.serve.ask(f"heal {acts}")["healed"], acts)
        self.refused(f"heal {acts}", f"fault {acts} is over already: healed")
        self.refused("heal 9999", "there is no fault 9999; `faults` lists those that there are")
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_the_profile_is_in_the_first_line(self):
        self.assertEqual(self.ready["profile"]["broker.session.timeout.ms"], "1500")

    def test_faults_that_are_over_are_listed_with_what_stays(self):
        jump = self.serve.ask('fault {"kind":"clock-jump","target":"broker 1","offsetMs":1500}')["fault"]
        flip = self.serve.ask('fault {"kind":"bit-flip","target":"broker 1","path":"__cluster_metadata-0/*.checkpoint"}')["fault"]
        delay = self.serve.ask('fault {"kind":"delay","target":"link clients->1","delayMs":1}')["fault"]
        self.assertTrue(self.serve.ask(f"heal {delay}")["ok"])
        answer = self.serve.ask("faults")
        self.assertEqual(answer["faults"], [])
        over = {each["id"]: each for each in answer["over"]}
        self.assertEqual([over[each]["ended"] for each in (jump, flip, delay)], ["fired out", "fired out", "healed"])
        self.assertEqual(over[jump]["lasting"], {"wallMs": 1500})
        (path,) = over[flip]["lasting"]["paths"]
        self.assertEqual(over[flip]["lasting"]["flippedByte"], pathlib.Path(path).stat().st_size // 2)
        self.assertNotIn("lasting", over[delay])
        self.assertLessEqual(over[delay]["endedAgoMs"], over[delay]["sinceMs"])


class WithoutQuorum(unittest.TestCase):
    def test_what_needs_no_quorum_is_answered_at_once(self):
        serve = Serve("--brokers", 3, "--port", 0, "--json")
        try:
            serve.answer()
            for link in ("1<->2", "1<->3", "2<->3"):
                self.assertTrue(serve.ask('fault {"kind":"cut","target":"link %s"}' % link)["ok"])
            while serve.ask("status")["controller"] is not None:
                pass
            for line in ("faults", "topics", "pause 1", "resume 1", "heal all", "faults"):
                answer = serve.ask(line)
                self.assertEqual((answer["command"], answer["ok"]), (line.split()[0], True), answer)
            self.assertEqual(len(answer["over"]), 4)
        finally:
            serve.end()

    def test_who_does_not_run_neither_leads_nor_controls(self):
        serve = Serve("--brokers", 3, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders")
            leader = serve.ask("leader orders-0")["leader"]
            controller = serve.ask("status")["controller"]
            third = next(each for each in (1, 2, 3) if each not in (leader, controller))
            for each in {leader, controller, third if leader == controller else leader}:
                self.assertTrue(serve.ask(f"kill {each}")["ok"])
            status = serve.ask("status")
            self.assertIsNone(status["controller"])
            self.assertNotIn(leader, [each["leader"] for each in status["partitions"]])
            refused = serve.ask("leader orders-0")
            self.assertIn(f"orders-0 has no leader: broker {leader} led it, which does not run, and without a majority of the controllers", refused["error"])
        finally:
            serve.end()


class Refused(unittest.TestCase):
    """What `serve` says of a command line that cannot be."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tidemark-app-")
        self.data = pathlib.Path(self.folder.name) / "data"

    def tearDown(self):
        self.folder.cleanup()

    def run_to_its_end(self, *arguments):
        done = subprocess.run([TIDEMARK, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        return done

    def test_a_folder_out_of_reach_is_not_called_in_use(self):
        # Nobody can open that, not even the superuser.
        (self.data / ".lock").mkdir(parents=True)
        done = self.run_to_its_end("serve", "--brokers", 1, "--port", 0, "--data", self.data)
        self.assertIn(f"{self.data} cannot be written: open {self.data}/.lock: ", done.stderr)
        self.assertNotIn("in use", done.stderr)

    def test_a_folder_in_use_is_called_so(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json", "--data", self.data)
        try:
            serve.answer()
            done = self.run_to_its_end("serve", "--brokers", 1, "--data", self.data)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{self.data} is in use: ", done.stderr)
        finally:
            serve.end()

    def test_an_unknown_configuration_is_named_with_the_nearest(self):
        done = self.run_to_its_end("serve", "--set", "foo=bar")
        self.assertEqual((done.returncode, done.stderr), (2, "tidemark: --set foo=bar: there is no configuration foo\n"))
        done = self.run_to_its_end("serve", "--set", "num.io.thraeds=7")
        self.assertIn("there is no configuration num.io.thraeds; the nearest is num.io.threads\n", done.stderr)

    def test_an_unknown_command_is_named_with_the_nearest(self):
        done = self.run_to_its_end("bogus")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no command bogus; there are serve, format, topics", done.stderr)
        self.assertIn("there is no command topcis; the nearest is topics; there are", self.run_to_its_end("topcis", "list").stderr)
        self.assertIn("there is no command topics bogus; there are create, list, describe, delete", self.run_to_its_end("topics", "bogus").stderr)
        self.assertIn("there is no command topics craete; the nearest is create; there are", self.run_to_its_end("topics", "--bootstrap", "127.0.0.1:1", "--json", "craete", "t").stderr)
        self.assertNotIn("there is no command", self.run_to_its_end("topics", "create").stderr)

    def test_a_port_in_use_is_answered_by_one_that_is_free(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", PORT))
            taken.listen()
            done = self.run_to_its_end("serve", "--brokers", 1, "--port", PORT)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"port {PORT} is in use; --port {PORT}: --port ", done.stderr)
            free = int(re.search(r"--port (\d+) is free, --port 0 takes free ones\n", done.stderr).group(1))
            serve = Serve("--brokers", 1, "--port", free, "--json")
            try:
                self.assertEqual(serve.answer()["bootstrap"], f"127.0.0.1:{free}")
            finally:
                serve.end()

    def test_what_a_folder_has_already_is_told(self):
        for more, said in ((["--log-dirs", 2], []), ([], []),
                           (["--log-dirs", 2, "--separate-controllers", 0, "--host", "127.0.0.1", "--advertise", "127.0.0.1", "--port", 0], []),
                           (["--log-dirs", 3, "--separate-controllers", 1, "--host", "127.0.0.2", "--advertise", "foo", "--port", PORT],
                            ["its brokers as the controllers, --separate-controllers 1", "the addresses that it has, --host 127.0.0.2",
                             "the host name that clients are told, 127.0.0.1, --advertise foo", f"the ports that it has, --port {PORT}",
                             "the 2 log directories that each broker has, --log-dirs 3"])):
            self.assertEqual(self.not_applied(*more), [f"tidemark: the cluster in {self.data} keeps {each} does not apply" for each in said])

    def test_what_a_folder_has_is_told_only_to_who_says_otherwise(self):
        # Neither of the defaults, 127.0.0.1 and no such controllers, was said.
        apart = ["--host", "127.0.0.2", "--separate-controllers", 2]
        for more, said in ((apart, []), ([], []), (apart, []), (["--separate-controllers", 0], ["the 2 controllers of their own that it has, --separate-controllers 0"])):
            self.assertEqual(self.not_applied(*more), [f"tidemark: the cluster in {self.data} keeps {each} does not apply" for each in said])

    def not_applied(self, *more):
        """What `serve` on the folder says of its options."""
        serve = Serve("--brokers", 1, "--json", "--data", self.data, *([] if "--port" in more else ["--port", 0]), *more)
        try:
            serve.answer()
        finally:
            self.assertEqual(serve.end(), 0)
        return [line for line in serve.errors.decode().splitlines() if "does not apply" in line]

    def test_a_port_that_is_too_high_says_which_fit(self):
        done = self.run_to_its_end("serve", "--port", 65434)
        self.assertEqual((done.returncode, done.stderr), (2, "tidemark: port 65434 is too high: 3 nodes take the ports from it on, and as many from 100 above it; "
                                                              "up to 65433 they fit, and 0 takes free ones\n"))

    def test_a_host_that_is_not_here_is_not_blamed_on_the_port(self):
        for host in ("nosuch.invalid", "192.0.2.1"):
            done = self.run_to_its_end("serve", "--host", host)
            self.assertIn(f"; --host {host}: that is no address of this machine; 127.0.0.1 is", done.stderr)
            self.assertNotIn("--port", done.stderr)

    def test_an_empty_value_is_refused_for_every_option(self):
        for command in (["serve"], ["format"], ["sim"], ["topics"], ["topics", "create"], ["groups"], ["groups", "reset-offsets", "g"],
                        ["groups", "list"], ["transactions"], ["transactions", "list"], ["transactions", "abort"], ["dump-log"], ["verify", "d"], ["repair", "d"]):
            usage = subprocess.run([TIDEMARK, *(word for word in command if word not in ("g", "d")), "--help"], stdin=subprocess.DEVNULL,
                                   capture_output=True, text=True, check=True, timeout=60).stdout
            # Options that take something.
            options = re.findall(r"^\s+(?:-\w,)?(--[a-z-]+)(?:,--[a-z-]+)* (?:TEXT|INT|UINT|FLOAT|whole number|number)", usage, re.M)
            self.assertTrue(options, usage)
            for option in options:
                done = self.run_to_its_end(*command, option, "")
                self.assertEqual(done.returncode, 2, (command, option, done.stderr))
                self.assertRegex(done.stderr, r"^tidemark: (" + "|".join([option, "--bootstrap-server"]) + r") is empty: give it a value", (command, option))
        for command in (["topics", "create", ""], ["groups", "describe", ""], ["transactions", "describe", ""], ["verify", ""], ["dump-log", ""]):
            done = self.run_to_its_end(*command)
            self.assertEqual((done.returncode, " is empty: give it a value" in done.stderr), (2, True), done.stderr)

    def test_numbers_out_of_range_are_told_the_range(self):
        for arguments, said in ((["serve", "--brokers", "8"], "8 is not a whole number from 1 to 7"),
                                (["serve", "--brokers", "99999999999"], "99999999999 is not a whole number from 1 to 7"),
                                (["topics", "create", "t", "--replication-factor", "65537"], "65537 is not a whole number from 1 to 32767"),
                                (["topics", "create", "t", "--partitions", "-5"], "-5 is not a whole number from 1 to 2147483647"),
                                (["dump-log", "--max-bytes", "-1", "x"], "-1 is not a whole number from 0 to"),
                                (["groups", "reset-offsets", "g", "--all-topics", "--to-offset", "-1"], "-1 is not a whole number from 0 to"),
                                (["groups", "reset-offsets", "g", "--all-topics", "--shift-by", "-9223372036854775808"], "is not a whole number from"),
                                (["transactions", "abort", "--topic", "t", "--partition", "4294967296", "--start-offset", "0"], "4294967296 is not a whole number from 0 to 2147483647")):
            done = self.run_to_its_end(*arguments)
            self.assertEqual((done.returncode, said in done.stderr), (2, True), done.stderr)

    def test_a_recording_is_kept_out_of_the_data_and_of_lone_nodes(self):
        self.data.mkdir()
        (self.data / "tidemark.json").write_text("kept")
        done = self.run_to_its_end("serve", "--data", self.data, "--record", self.data / ".." / "data" / "tidemark.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is in the folder of the brokers' data: write it elsewhere", done.stderr)
        self.assertEqual((self.data / "tidemark.json").read_text(), "kept")
        self.assertIn("--record is for clusters of the lab", self.run_to_its_end("serve", "--config", "x", "--record", "y").stderr)

    def test_where_nobody_listens_topics_gives_up_soon(self):
        for action in (["list"], ["create", "t"]):
            began = time.monotonic()
            done = self.run_to_its_end("topics", "--bootstrap", f"127.0.0.1:{PORT}", *action)
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"no broker answers at --bootstrap 127.0.0.1:{PORT}: ", done.stderr)


class EndOfInput(unittest.TestCase):
    def test_it_is_told_once_and_the_brokers_go_on(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        bootstrap = serve.answer()["bootstrap"]
        serve.process.stdin.close()
        said = b"standard input has ended; what runs goes on until SIGTERM or Ctrl-C (with --until-eof it ends)\n"
        serve.await_told(said)
        subprocess.run([TIDEMARK, "topics", "--bootstrap", bootstrap, "list"], stdin=subprocess.DEVNULL, check=True, timeout=60)
        self.assertEqual(serve.end(), 0)
        self.assertEqual(serve.errors.count(said), 1)

    def test_what_is_piped_waits_until_the_brokers_are_ready(self):
        done = subprocess.run([TIDEMARK, "serve", "--brokers", "3", "--port", "0", "--json", "--until-eof"], input='status\nfault {"kind":"slow","target":"the active controller","delayMs":1}\n',
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        ready, status, fault = map(json.loads, done.stdout.splitlines())
        self.assertIn("bootstrap", ready)
        self.assertEqual([each["state"] for each in status["nodes"]], ["running"] * 3)
        self.assertEqual((status["line"], fault["ok"]), (1, True))

    def test_a_start_that_fails_is_a_failure_although_input_has_ended(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            (pathlib.Path(folder) / "other").write_text("x")
            for arguments, status in ((["--set", "num.io.threads=1000000"], 2), (["--data", folder], 2), (["--host", "192.0.2.1"], 1)):
                done = subprocess.run([TIDEMARK, "serve", "--port", "0", "--until-eof", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertNotIn("shut down in control", done.stderr)

    def test_a_start_that_gets_nowhere_is_told_and_ends_with_its_input(self):
        done = subprocess.run([TIDEMARK, "serve", "--port", "0", "--until-eof", "--set", "socket.request.max.bytes=1"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("broker 1 is started and goes on trying, but is not registered after 10 s", done.stderr)
        self.assertIn("and it was launched with socket.request.max.bytes=1", done.stderr)
        self.assertIn("tidemark: standard input has ended, and the brokers are not ready yet\n", done.stderr)

    def test_with_until_eof_it_ends_them_in_control(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json", "--until-eof")
        serve.answer()
        serve.process.stdin.close()
        self.assertEqual(serve.process.wait(), 0)
        serve.end()
        self.assertIn(b"the brokers shut down in control", serve.errors)
        self.assertNotIn(b"standard input has ended", serve.errors)

    def test_what_is_closed_from_the_start_is_no_file_of_the_brokers(self):
        # The answer goes nowhere, and not into what was opened first.
        done = subprocess.run(["sh", "-c", 'exec "$0" serve --brokers 1 --port 0 >&-', TIDEMARK], input=b"quit\n", stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the output could not be written: Bad file descriptor", done.stderr)
        done = subprocess.run(["sh", "-c", 'exec "$0" serve --brokers 1 --port 0 --until-eof <&-', TIDEMARK], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


class Damaged(unittest.TestCase):
    def test_a_damaged_broker_is_told_and_the_others_start(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            data = pathlib.Path(folder) / "data"
            first = Serve("--port", 0, "--json", "--data", data)
            self.assertNotIn("missing", first.answer())
            self.assertEqual(first.end(), 0)
            meta = data / "broker-2" / "meta.properties"
            whole = meta.read_bytes()
            meta.write_bytes(b"rubbish\0\xff")
            serve = Serve("--port", 0, "--json", "--data", data)
            try:
                self.assertEqual(serve.answer()["missing"], [2])
                node = serve.ask("status")["nodes"][1]
                self.assertEqual((node["id"], node["state"]), (2, "stopped"))
                self.assertIn(str(meta), node["diedOf"])
                self.assertFalse(serve.ask("restart 2")["ok"])
                meta.write_bytes(whole)
                self.assertTrue(serve.ask("restart 2")["ok"])
            finally:
                self.assertEqual(serve.end(), 0)
            self.assertIn(f"broker 2 does not start, the others do without it: {meta}: ", serve.errors.decode())
            self.assertIn("then `restart 2`", serve.errors.decode())

    def test_a_cluster_without_any_metadata_log_is_told_what_is_gone(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            data = pathlib.Path(folder) / "data"
            first = Serve("--port", 0, "--json", "--data", data)
            first.answer()
            self.assertEqual(first.end(), 0)
            for broker in (1, 2, 3):
                shutil.rmtree(data / f"broker-{broker}" / "__cluster_metadata-0")
            done = subprocess.run([TIDEMARK, "serve", "--data", data], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, rf"^tidemark: no controller of the cluster in {data} has a metadata log \({data}/broker-1/__cluster_metadata-0, .*restore these folders from a backup, or ")


class Settings(unittest.TestCase):
    def test_connections_may_be_idle_for_ever(self):
        for value in (-1, 2**63 - 1):
            serve = Serve("--brokers", 1, "--port", 0, "--json", "--set", f"connections.max.idle.ms={value}")
            try:
                self.assertEqual(serve.answer()["profile"]["connections.max.idle.ms"], str(value))
            finally:
                self.assertEqual(serve.end(), 0)


class SeparateControllers(unittest.TestCase):
    def test_status_tells_who_is_there_and_who_leads(self):
        serve = Serve("--brokers", 1, "--separate-controllers", 1, "--port", 0, "--json")
        try:
            ready = serve.answer()
            self.assertEqual(ready["brokers"], [1])
            create_topic(ready["bootstrap"], "orders")
            serve.ask('fault {"kind": "delay", "target": "link clients->1", "delayMs": 1}')
            status = serve.ask("status")
            self.assertEqual((status["clusterId"], status["bootstrap"], status["controller"]), (ready["clusterId"], ready["bootstrap"], 2))
            self.assertEqual(status["nodes"], [{"id": 1, "state": "running", "broker": True, "listener": ready["bootstrap"], "leads": 1, "holds": 1}, {"id": 2, "state": "running", "broker": False}])
            (partition,) = status["partitions"]
            self.assertEqual((partition["topic"], partition["partition"], partition["leader"], partition["isr"], partition["replicas"]), ("orders", 0, 1, [1], [1]))
            (fault,) = status["faults"]
            self.assertEqual((fault["id"], fault["fault"], fault["delayMs"], fault["state"], fault["links"]), (1, "delay link clients->1", 1, "active", ["clients->1"]))
            self.assertTrue(serve.ask("kill 2")["ok"])
            self.assertEqual(serve.ask("status")["nodes"][1]["state"], "killed")
        finally:
            serve.end()


    def test_who_starts_does_not_lead_yet(self):
        serve = Serve("--brokers", 2, "--separate-controllers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders")
            leader = serve.ask("leader orders-0")["leader"]
            # Without its controller it never gets further; the other broker knows who led.
            for line in ("kill 3", f"kill {leader}"):
                self.assertTrue(serve.ask(line)["ok"])
            serve.send(f"restart {leader}\n")
            status = serve.ask("status")
            while status["nodes"][leader - 1]["state"] != "starting":
                status = serve.ask("status")
            self.assertEqual(status["nodes"][leader - 1]["leads"], 0)
            (partition,) = [each for each in status["partitions"] if each["partition"] == 0]
            self.assertEqual((partition["leader"], partition["highWatermark"]), (None, None))
            # Its answer needs a quorum.
            serve.process.kill()
        finally:
            serve.end()

    def test_partitions_are_there_without_any_broker(self):
        serve = Serve("--brokers", 1, "--separate-controllers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders")
            self.assertTrue(serve.ask("kill 1")["ok"])
            (partition,) = serve.ask("status")["partitions"]
            self.assertEqual((partition["topic"], partition["leader"], partition["replicas"]), ("orders", None, [1]))
        finally:
            serve.end()


    def test_what_a_node_has_not_is_said_of_what_it_is(self):
        serve = Serve("--brokers", 1, "--separate-controllers", 1, "--port", 0, "--json")
        try:
            serve.answer()
            self.assertEqual(serve.ask('fault {"kind":"request-drop","api":"Produce","target":"controller 2"}')["error"], "controller 2 takes no Produce requests: brokers do")
            self.assertEqual(serve.ask('fault {"kind":"disk-error","target":"controller 2","path":"orders-0/*"}')["note"],
                             "nothing matches it now: controller 2 has no file or folder orders-0/*")
        finally:
            serve.end()


class Racks(unittest.TestCase):
    def test_each_broker_has_its_own(self):
        serve = Serve("--brokers", 2, "--racks", "north,south", "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            self.assertEqual(racks(bootstrap), {1: "north", 2: "south"})
        finally:
            serve.end()

    def test_what_cannot_be_is_told_the_reason(self):
        for arguments, why in ((("--brokers", "3", "--racks", "a,b"), "2 racks for 3 brokers: name one for each broker"),
                               (("--brokers", "1", "--racks", "a", "--set", "broker.rack=b"), "each broker has its own rack, and broker.rack says one for all: leave out either"),
                               (("--brokers", "3", "--racks", "a,,b"), "the rack of broker 2 has no name"),
                               (("--brokers", "2", "--racks", "a,"), "the rack of broker 2 has no name"),
                               (("--brokers", "2", "--racks", ""), "--racks is empty"),
                               (("--config", "x", "--racks", "a"), "--racks and --config exclude each other")):
            done = subprocess.run([TIDEMARK, "serve", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)


class Recorded(unittest.TestCase):
    def test_what_happens_is_written_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lab.jsonl"
            serve = Serve("--brokers", 1, "--port", 0, "--json", "--record", path)
            serve.answer()
            self.assertTrue(serve.ask("pause 1")["ok"])
            self.assertTrue(serve.ask("resume 1")["ok"])
            self.assertEqual(serve.end(), 0)
            lines = [json.loads(each) for each in path.read_text().splitlines()]
            self.assertEqual(lines[0], {"recording": 1})
            self.assertTrue(any("snapshot" in each for each in lines))
            kinds = [each["event"] for each in lines if "event" in each]
            for kind in ("BrokerPaused", "BrokerResumed", "BrokerDown"):
                self.assertIn(kind, kinds)

    def test_a_file_that_cannot_be_written_is_refused(self):
        serve = Serve("--brokers", 1, "--port", 0, "--record", "/no/such/folder/lab.jsonl")
        self.assertEqual(serve.process.wait(), 2)
        serve.end()
        self.assertIn(b"cannot be written", serve.errors)


class Topics(unittest.TestCase):
    def test_topics_of_a_cluster_whose_first_address_is_dead(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        try:
            bootstrap = f"127.0.0.1:{PORT}," + serve.answer()["bootstrap"]
            run = lambda *arguments: subprocess.run([TIDEMARK, "topics", "--json", "--bootstrap", bootstrap, *arguments], stdin=subprocess.DEVNULL,
                                                    capture_output=True, check=True, timeout=60).stdout
            self.assertEqual(json.loads(run("create", "orders"))["created"], "orders")
            self.assertIn("orders", json.loads(run("list"))["topics"])
            self.assertEqual(json.loads(run("describe", "orders"))["topic"], "orders")
            self.assertEqual(json.loads(run("delete", "orders")), {"deleted": "orders"})
        finally:
            serve.end()


class Node(unittest.TestCase):
    def test_a_node_takes_help_and_quit(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            config = pathlib.Path(folder) / "node.properties"
            config.write_text(f"process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://127.0.0.1:{PORT},CONTROLLER://127.0.0.1:{PORT + 1}\n"
                              "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
                              f"controller.quorum.bootstrap.servers=127.0.0.1:{PORT + 1}\nlog.dirs={folder}/data\n")
            subprocess.run([TIDEMARK, "format", "--config", config], check=True, stdout=subprocess.DEVNULL, timeout=60)
            serve = Serve("--config", config, "--json")
            try:
                serve.answer()
                refused = serve.ask("kill 1")
                self.assertFalse(refused["ok"])
                self.assertIn("clusters of the lab", refused["error"])
                self.assertIn("help, quit", serve.ask("help")["commands"])
                self.assertIn("too long", serve.ask("z" * 70000)["error"])
                self.assertEqual(serve.ask("quit"), {"ok": True, "command": "quit"})
                self.assertEqual(serve.process.wait(), 0)
            finally:
                serve.end()


class SeparateNodes(unittest.TestCase):
    def test_a_controller_and_a_broker_of_configuration_files_form_a_cluster(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-app-") as folder:
            common = (f"controller.listener.names=CONTROLLER\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
                      f"controller.quorum.voters=1@127.0.0.1:{PORT + 1}\n")
            files = []
            for role, node, listener in (("controller", 1, f"CONTROLLER://127.0.0.1:{PORT + 1}"), ("broker", 2, f"PLAINTEXT://127.0.0.1:{PORT}")):
                files.append(pathlib.Path(folder) / f"{role}.properties")
                files[-1].write_text(f"process.roles={role}\nnode.id={node}\nlisteners={listener}\nlog.dirs={folder}/{role}\n{common}")
                subprocess.run([TIDEMARK, "format", "--config", files[-1], "--cluster-id", "4L6g3nShT-eMCtK--X86sw"], check=True, stdout=subprocess.DEVNULL, timeout=60)
            nodes = [Serve("--config", file, "--json") for file in files]
            try:
                self.assertEqual(nodes[0].answer()["bootstrap"], "")
                bootstrap = nodes[1].answer()["bootstrap"]
                run = lambda *arguments: subprocess.run([TIDEMARK, "topics", "--json", "--bootstrap", bootstrap, *arguments], stdin=subprocess.DEVNULL,
                                                        capture_output=True, check=True, timeout=60).stdout
                self.assertEqual(json.loads(run("create", "orders"))["created"], "orders")
                self.assertEqual(json.loads(run("describe", "orders"))["topic"], "orders")
            finally:
                # Who hands over needs its controller.
                for node in reversed(nodes):
                    self.assertEqual(node.end(), 0)


def free_port():
    """One whose successor is free too, below those that the system gives to whoever connects meanwhile."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


PORT = free_port()

if __name__ == "__main__":
    unittest.main()
