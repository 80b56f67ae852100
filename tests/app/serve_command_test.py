#!/usr/bin/env python3
"""The command `tidemark serve`, as a shell or a script runs it: serve_command_test.py TIDEMARK"""
import json, os, pathlib, signal, subprocess, sys, tempfile, threading, unittest

TIDEMARK = sys.argv.pop(1)


class Serve:
    """A running cluster or node, with its standard input open."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([TIDEMARK, "serve", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.errors = b""
        self.reader = threading.Thread(target=self.read_errors)
        self.reader.start()
        # A test that hangs is a test that failed.
        self.guard = threading.Timer(90, self.process.kill)
        self.guard.start()

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"serve has ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.send(line + (b"\n" if isinstance(line, bytes) else "\n"))
        return self.answer()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait()
        self.guard.cancel()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        return status


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
        self.refused("fault", "this is no JSON")

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
        self.assertEqual(self.serve.ask("heal all"), {"ok": True, "command": "heal", "healed": "all", "count": 0})
        for path in ("a", "b"):
            self.assertTrue(self.serve.ask("fault " + json.dumps({"kind": "disk-error", "target": "broker 1", "calls": ["read"], "path": path}))["ok"])
        self.assertEqual(self.serve.ask("heal all")["count"], 2)
        self.assertEqual(self.serve.ask("faults")["faults"], [])


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


def free_port():
    """One whose successor is free too."""
    import socket
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
