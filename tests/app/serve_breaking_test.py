#!/usr/bin/env python3
"""What breaks under `tidemark serve`, what of it is told and how it is mended: serve_breaking_test.py TIDEMARK"""
import pathlib, tempfile, unittest

from small_client import produce
from running_serve import Serve, create_topic


class Losses(unittest.TestCase):
    def test_an_unclean_election_tells_of_the_risk_and_then_what_is_lost(self):
        data = tempfile.TemporaryDirectory()
        serve = Serve("--brokers", 3, "--separate-controllers", 1, "--port", 0, "--json", "--data", data.name, "--set", "unclean.leader.election.enable=true",
                      "--set", "min.insync.replicas=1", "--set", "replica.high.watermark.checkpoint.interval.ms=100")
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders", "--partitions", "1")
            leader = serve.ask("leader orders-0")["leader"]
            follower, other = (each for each in (1, 2, 3) if each != leader)
            for each in (follower, other):
                self.assertTrue(serve.ask(f"kill {each}")["ok"])
            produce(next(each["listener"] for each in serve.ask("status")["nodes"] if each["id"] == leader), "orders", b"a", b"b", b"c")
            # So that it knows that they are committed when it comes back.
            checkpoint = pathlib.Path(data.name) / f"broker-{leader}" / "replication-offset-checkpoint"
            while not checkpoint.exists() or "orders 0 3" not in checkpoint.read_text():
                serve.ask("faults")
            lost = lambda event: [each for each in serve.events if each["event"] == event]
            for line in (f"kill {leader}", f"restart {follower}"):
                self.assertTrue(serve.ask(line)["ok"])
            while not lost("records-at-risk"):
                serve.ask("faults")
            epoch = lost("records-at-risk")[0]["epoch"]
            self.assertGreater(epoch, 0)
            self.assertEqual(lost("records-at-risk"), [{"event": "records-at-risk", "topic": "orders", "partition": 0, "from": 0, "leader": follower, "epoch": epoch}])
            self.assertEqual(lost("records-lost"), [])
            self.assertTrue(serve.ask(f"restart {leader}")["ok"])
            while not lost("records-lost"):
                serve.ask("faults")
            self.assertEqual(lost("records-lost"), [{"event": "records-lost", "topic": "orders", "partition": 0, "from": 0, "to": 3, "atLeast": 3, "atMost": 3, "leader": follower, "epoch": epoch}])
        finally:
            serve.end()
            data.cleanup()

    def test_what_happens_before_the_brokers_are_ready_is_told_after_they_are(self):
        data = tempfile.TemporaryDirectory()
        arguments = ("--brokers", 3, "--port", 0, "--json", "--data", data.name)
        serve = Serve(*arguments)
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders", "--partitions", "1")
            while next((len(each["isr"]) for each in serve.ask("status")["partitions"] if each["topic"] == "orders"), 0) < 3:
                pass
            serve.process.kill()
            serve.end()
            serve = Serve(*arguments)
            self.assertIn("bootstrap", serve.answer())
            self.assertEqual(serve.events, [], "a script reads that line first")
            while not serve.events:
                serve.ask("status")
            self.assertEqual((serve.events[0]["event"], serve.events[0]["topic"]), ("records-at-risk", "orders"))
        finally:
            serve.end()
            data.cleanup()


class LossOfPower(unittest.TestCase):
    def test_what_it_took_is_told_while_it_is_set(self):
        serve = Serve("--brokers", 3, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            create_topic(bootstrap, "orders", "--partitions", "1")
            leader = serve.ask("leader orders-0")["leader"]
            produce(next(each["listener"] for each in serve.ask("status")["nodes"] if each["id"] == leader), "orders", b"x" * 100)
            loss = serve.ask('fault {"kind":"power-loss","target":"broker %d"}' % leader)["fault"]
            for listed in (serve.ask("status")["faults"], serve.ask("faults")["faults"]):
                (lasting,) = [each["lasting"] for each in listed if each["id"] == loss]
                self.assertEqual(len(lasting["paths"]), len(lasting["lostBytes"]))
                self.assertEqual(lasting["lostBytes"], sorted(lasting["lostBytes"], reverse=True))
                self.assertGreater(lasting["lostBytes"][-1], 0)
                self.assertGreaterEqual(lasting["lostInAll"], sum(lasting["lostBytes"]))
                for path in lasting["paths"]:
                    self.assertTrue(pathlib.Path(path).exists(), path)
            self.assertTrue(serve.ask(f"heal {loss}")["ok"])
        finally:
            serve.end()


class Healing(unittest.TestCase):
    def test_who_was_stopped_is_still_down(self):
        serve = Serve("--brokers", 3, "--port", 0, "--json")
        try:
            serve.answer()
            for line in ("stop 2", "restart 2", "stop 2"):
                self.assertTrue(serve.ask(line)["ok"])
            healed = serve.ask("heal all")
            self.assertEqual(healed["down"], [2])
            self.assertEqual(healed["advice"], "`restart N` starts a broker that was stopped or died of something")
        finally:
            serve.end()


class FullDisk(unittest.TestCase):
    def test_a_broker_that_dies_of_it_says_what_to_do(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            self.assertTrue(serve.ask('fault {"kind": "full-disk", "target": "broker 1"}')["ok"])
            # Whatever it writes next.
            create_topic(bootstrap, "orders", must=False)
            serve.await_told(b"broker 1 died")
            healed = serve.ask("heal 1")
            self.assertEqual((healed["healed"], healed["down"]), (1, [1]))
            self.assertIn("`restart N`", healed["advice"])
            (event,) = serve.events
            self.assertEqual((event["event"], event["broker"]), ("died", 1))
            self.assertIn("No space left on device", event["reason"])
            self.assertEqual(serve.ask("start 1")["broker"], 1)
            self.assertNotIn("down", serve.ask("heal all"))
        finally:
            serve.end()
        self.assertRegex(serve.errors.decode(), r"broker 1 died: .*No space left on device.*; free space on its disk \(or heal the fault that fills it\), then `restart 1`")

    def test_the_end_of_the_fault_says_that_the_broker_stays_down(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            self.assertTrue(serve.ask('fault {"kind": "full-disk", "target": "broker 1", "durationMs": 3000}')["ok"])
            create_topic(bootstrap, "orders", must=False)
            serve.await_told(b"full-disk broker 1 is over, but broker 1 died meanwhile and stays down: `restart 1` starts it")
        finally:
            serve.end()

    def test_a_write_that_was_torn_needs_no_mending(self):
        serve = Serve("--brokers", 1, "--port", 0, "--json")
        try:
            bootstrap = serve.answer()["bootstrap"]
            self.assertTrue(serve.ask('fault {"kind": "torn-write", "target": "broker 1"}')["ok"])
            create_topic(bootstrap, "orders", must=False)
            serve.await_told(b"broker 1 died: the lab tore the write of ")
            serve.await_told(b"; `restart 1` has it recover its logs")
            self.assertNotIn(b"mend that", serve.told)
            self.assertTrue(serve.ask("restart 1")["ok"])
        finally:
            serve.end()


if __name__ == "__main__":
    unittest.main()
