#!/usr/bin/env python3
"""The command `tidemark serve`, as a shell or a script runs it: serve_command_test.py TIDEMARK"""
import json, pathlib, re, signal, socket, subprocess, sys, tempfile, threading, time, unittest

from running_serve import Serve, TIDEMARK


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
        self.refused("fault 1e999", "this is no JSON: number overflow")
        self.refused('fault {"kind":"clock-drift","target":"broker 1","rate":1e999}', "number overflow")
        self.refused(b'fault {"kind":"\xff"}', "this is no JSON")
        self.refused("fault " + '{"kind":' + "[" * 30000 + "]" * 30000 + "}", "nested too deeply")
        self.refused('fault {"kind":"delay","target":"link 1->clients","delayMs":1,"delayMs":2}', '"delayMs" is said twice')
        self.refused("fault", "write the fault as JSON")
        self.refused('fault {"kind":"cut","target":"link 1->clients","durationMs":0}', "durationMs is at least 1")

    def test_what_is_no_number_is_not_taken_for_one(self):
        for line in ("kill 1x", "kill", "stop 9999999999"):
            self.refused(line, "is no broker's number")
        for line in ("leader orders", "leader orders-", "leader orders-0x", "leader orders-9999999999", "leader -0"):
            self.refused(line, "is no TOPIC-PARTITION")
        for line in ("heal 0", "heal 1x", "heal -1"):
            self.refused(line, "is neither a fault's number nor all")
        self.refused("step 1 0", "write step FAULT")

    def test_a_long_line_is_not_echoed_whole(self):
        for line in ("fault " + '"' + "ü" * 20000, "ü" * 20000, "kill " + "9" * 40000):
            answer = self.serve.ask(line)
            self.assertFalse(answer["ok"], answer)
            self.assertLess(len(json.dumps(answer, ensure_ascii=False).encode()), 2500)
            self.assertNotIn("\ufffd", answer["error"] + answer["command"])

    def test_each_answer_says_which_line_it_answers(self):
        line = self.serve.ask("help")["line"]
        self.serve.send('fault {"kind":"delay","target":"link clients->1","delayMs":1}\n\nnonsense\nheal all\n')
        answers = [self.serve.answer() for _ in range(3)]
        # Whatever is at once refused may come first.
        self.assertEqual({each["line"]: each["command"] for each in answers}, {line + 1: "fault", line + 3: "nonsense", line + 4: "heal"})

    def test_help_names_the_faults_and_gives_an_example(self):
        answer = self.serve.ask("help")
        self.assertIn("isolate", answer["faults"])
        self.assertTrue(answer["example"].startswith("fault {"))

    def test_the_list_says_whom_a_fault_means(self):
        self.assertTrue(self.serve.ask('fault {"kind":"slow","target":"the active controller","delayMs":1}')["ok"])
        self.assertEqual(self.serve.ask("faults")["faults"][0]["node"], 1)
        self.assertTrue(self.serve.ask("heal all")["ok"])

    def test_a_line_that_is_too_long_is_dropped_up_to_its_end(self):
        # Up to the limit it is a line like any other.
        self.assertIn("unknown command", self.serve.ask("x" * 65536)["error"])
        for length in (65537, 65536 + 4096, 1 << 20):
            answer = self.serve.ask("x" * length)
            self.assertEqual(answer, {"ok": False, "command": "", "error": "the line is too long (65536 bytes at most)"})
            self.assertTrue(self.serve.ask("faults")["ok"])
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
        self.refused('fault {"kind":"cut","target":"link 1->clients","trigger":{"event":"IsrShrunk","broker":4}}', "there is no broker 4")
        self.refused('fault {"kind":"disk-error","target":"broker 1","path":"/etc/*"}', "/etc/* is no path of the brokers'")
        self.assertNotIn("note", self.serve.ask('fault {"kind":"slow-disk","target":"broker 1","delayMs":1,"path":"__cluster_metadata-0/*.log"}'))
        self.assertTrue(self.serve.ask("heal all")["ok"])

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
        for more, said in (([], ""), (["--log-dirs", 2], ""), (["--log-dirs", 3], "keeps the 2 log directories that it has, --log-dirs 3 does not apply")):
            serve = Serve("--brokers", 1, "--port", 0, "--json", "--data", self.data, *(more or ["--log-dirs", 2]))
            try:
                serve.answer()
            finally:
                self.assertEqual(serve.end(), 0)
            self.assertIn(said, serve.errors.decode())
            self.assertEqual("does not apply" in serve.errors.decode(), bool(said))

    def test_where_nobody_listens_topics_gives_up_soon(self):
        for action in (["list"], ["create", "t"]):
            began = time.monotonic()
            done = self.run_to_its_end("topics", "--bootstrap", f"127.0.0.1:{PORT}", *action)
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"no broker answers at --bootstrap 127.0.0.1:{PORT}: ", done.stderr)


class SeparateControllers(unittest.TestCase):
    def test_status_tells_who_is_there_and_who_leads(self):
        serve = Serve("--brokers", 1, "--separate-controllers", 1, "--port", 0, "--json")
        try:
            ready = serve.answer()
            self.assertEqual(ready["brokers"], [1])
            subprocess.run([TIDEMARK, "topics", "--bootstrap", ready["bootstrap"], "create", "orders"], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
            serve.ask('fault {"kind": "delay", "target": "link clients->1", "delayMs": 1}')
            status = serve.ask("status")
            self.assertEqual((status["clusterId"], status["bootstrap"], status["controller"]), (ready["clusterId"], ready["bootstrap"], 2))
            self.assertEqual(status["nodes"], [{"id": 1, "state": "running", "broker": True, "listener": ready["bootstrap"], "leads": 1, "holds": 1}, {"id": 2, "state": "running", "broker": False}])
            (partition,) = status["partitions"]
            self.assertEqual((partition["topic"], partition["partition"], partition["leader"], partition["isr"], partition["replicas"]), ("orders", 0, 1, [1], [1]))
            self.assertEqual(status["faults"], [{"id": 1, "fault": "delay link clients->1"}])
            self.assertTrue(serve.ask("kill 2")["ok"])
            self.assertEqual(serve.ask("status")["nodes"][1]["state"], "killed")
        finally:
            serve.end()


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


class FullDisk(unittest.TestCase):
    def test_a_broker_that_dies_of_it_says_what_to_do(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            self.assertTrue(serve.ask('fault {"kind": "full-disk", "target": "broker 1"}')["ok"])
            # Whatever it writes next.
            subprocess.run([TIDEMARK, "topics", "--bootstrap", bootstrap, "create", "orders"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            healed = serve.ask("heal all")
            self.assertEqual((healed["count"], healed["down"]), (1, [1]))
            self.assertEqual(serve.ask("start 1")["broker"], 1)
            self.assertNotIn("down", serve.ask("heal all"))
        finally:
            serve.end()
        self.assertRegex(serve.errors.decode(), r"broker 1 died: .*No space left on device.*; free space on its disk \(or heal the fault that fills it\), then `restart 1`")


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
    """One whose successor is free too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            try:
                second.bind(("127.0.0.1", first.getsockname()[1] + 1))
            except OSError:
                continue
            return first.getsockname()[1]


PORT = free_port()

if __name__ == "__main__":
    unittest.main()
