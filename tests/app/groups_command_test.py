#!/usr/bin/env python3
"""`tidemark groups` and `tidemark transactions` against brokers that run: groups_command_test.py TIDEMARK"""
import json, re, socket, struct, subprocess, sys, time, unittest

from running_serve import Serve, TIDEMARK


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def blob(value):
    return struct.pack(">i", len(value)) + value


class Member:
    """A member of a classic group, by hand: it joins alone, takes what it wants, and says nothing more."""

    def __init__(self, bootstrap, group, topic, partitions):
        host, port = bootstrap.split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=60)
        self.group = group
        subscription = struct.pack(">hi", 0, 1) + text(topic) + struct.pack(">i", -1)
        while True:
            answer = self.ask(11, 2, text(group) + struct.pack(">ii", 300000, 1000) + text("") + text("consumer") + struct.pack(">i", 1) + text("range") + blob(subscription))
            if struct.unpack_from(">h", answer, 4)[0] == 0:
                break  # Else the coordinator comes into being.
        generation, = struct.unpack_from(">i", answer, 6)
        at = 10
        names = []
        for _ in range(3):  # protocol, leader, this member
            length, = struct.unpack_from(">h", answer, at)
            names.append(answer[at + 2:at + 2 + length].decode())
            at += 2 + length
        self.member = names[2]
        assignment = struct.pack(">hi", 0, 1) + text(topic) + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions) + struct.pack(">i", -1)
        self.ask(14, 1, text(group) + struct.pack(">i", generation) + text(self.member) + struct.pack(">i", 1) + text(self.member) + blob(assignment))

    def ask(self, key, version, body):
        frame = struct.pack(">hhi", key, version, 7) + text("by-hand") + body
        self.connection.sendall(struct.pack(">i", len(frame)) + frame)
        size, = struct.unpack(">i", self.take(4))
        return self.take(size)[4:]

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise AssertionError("the broker hung up")
            data += more
        return data

    def leave(self):
        self.ask(13, 1, text(self.group) + text(self.member))
        self.connection.close()


class NotEverybodyAnswers(unittest.TestCase):
    def setUp(self):
        self.serve = Serve("--brokers", 3, "--port", 0, "--json")
        self.bootstrap = self.serve.answer()["bootstrap"]
        self.run_command("topics", "create", "orders", "--partitions", "1")
        self.run_command("groups", "reset-offsets", "batch", "--topic", "orders", "--to-earliest", "--execute")
        (group,) = json.loads(self.run_command("groups", "--json", "list").stdout)["groups"]
        self.coordinator = group["coordinator"]
        # Whom the commands ask first has to answer.
        nodes = self.serve.ask("status")["nodes"]
        self.asked = next(node["listener"] for node in nodes if node["id"] != self.coordinator)

    def tearDown(self):
        self.serve.end()

    def run_command(self, family, *arguments, status=0):
        done = subprocess.run([TIDEMARK, family, "--bootstrap", self.bootstrap, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_list_has_what_answers_and_says_what_does_not(self):
        self.bootstrap = self.asked
        # Nothing moves away from a broker that takes no requests of clients.
        self.assertTrue(self.serve.ask('fault {"kind":"cut","target":"link clients<->%d"}' % self.coordinator)["ok"])
        for command in (["list"], ["describe"]):
            began = time.monotonic()
            done = self.run_command("groups", *command, status=3)
            self.assertLess(time.monotonic() - began, 15)
            self.assertIn(f"tidemark: broker {self.coordinator} does not answer, the groups that it coordinates are missing: ", done.stderr)
            self.assertNotIn("batch", done.stdout)
        done = self.run_command("groups", "describe", "batch", status=1)
        self.assertIn("there is no group batch at the brokers that answer; it may be at the others", done.stderr)
        done = self.run_command("transactions", "list", status=3)
        self.assertIn(f"broker {self.coordinator} does not answer, the transactions that it coordinates are missing: ", done.stderr)
        self.assertTrue(self.serve.ask("heal all")["ok"])
        self.assertIn("batch", self.run_command("groups", "list").stdout)

    def test_a_topic_that_nobody_can_decide_is_told(self):
        status = self.serve.ask("status")
        left = next(node for node in status["nodes"] if node["id"] != status["controller"])
        for node in status["nodes"]:
            if node["id"] != left["id"]:
                self.assertTrue(self.serve.ask(f"kill {node['id']}")["ok"])
        self.bootstrap = left["listener"]
        began = time.monotonic()
        done = self.run_command("topics", "create", "payments", status=1)
        self.assertLess(time.monotonic() - began, 25)
        self.assertIn("topic payments is not created yet: nobody has decided it, as without a majority of the controllers nobody can", done.stderr)

    def test_topics_are_described_without_a_name_as_well(self):
        shown = self.run_command("topics", "describe").stdout
        self.assertRegex(shown, r"(?m)^orders  id ")
        self.assertRegex(shown, r"(?m)^__consumer_offsets  id ")


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve = Serve("--brokers", 1, "--port", 0, "--json")
        cls.bootstrap = cls.serve.answer()["bootstrap"]
        cls.run_json("topics", "create", "orders", "--partitions", "2")

    @classmethod
    def tearDownClass(cls):
        assert cls.serve.end() == 0

    @classmethod
    def start(cls, family, *arguments):
        return subprocess.run([TIDEMARK, family, "--bootstrap", cls.bootstrap, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)

    @classmethod
    def run_json(cls, family, *arguments):
        done = cls.start(family, "--json", *arguments)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def refused(self, why, family, *arguments, status=1):
        done = self.start(family, *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(why, done.stderr)
        self.assertNotIn("terminate called", done.stderr)

    def committed(self, group):
        return {(one["topic"], one["partition"]): one["currentOffset"] for one in self.run_json("groups", "describe", group)["partitions"]}

    def test_a_reset_changes_nothing_until_it_is_told_to(self):
        plan = self.run_json("groups", "reset-offsets", "fresh", "--topic", "orders", "--to-latest")
        self.assertEqual(plan, {"group": "fresh", "executed": False,
                                "offsets": [{"topic": "orders", "partition": n, "currentOffset": None, "newOffset": 0, "clipped": False} for n in (0, 1)]})
        self.assertNotIn("fresh", [one["group"] for one in self.run_json("groups", "list")["groups"]])
        done = self.start("groups", "reset-offsets", "fresh", "--topic", "orders:1", "--to-earliest")
        self.assertRegex(done.stdout, r"GROUP +TOPIC +PARTITION +CURRENT-OFFSET +NEW-OFFSET\nfresh +orders +1 +- +0\n$")
        self.assertIn("nothing was changed: add --execute to do it", done.stderr)

    def test_a_group_gets_offsets_is_described_and_goes(self):
        self.assertTrue(self.run_json("groups", "reset-offsets", "batch", "--topic", "orders", "--to-earliest", "--execute")["executed"])
        self.assertEqual(self.committed("batch"), {("orders", 0): 0, ("orders", 1): 0})
        listed = [one for one in self.run_json("groups", "list")["groups"] if one["group"] == "batch"]
        self.assertEqual((listed[0]["type"], listed[0]["state"], listed[0]["coordinator"]), ("Classic", "Empty", 1))
        shown = self.start("groups", "describe", "batch")
        self.assertRegex(shown.stdout, r"GROUP +TOPIC +PARTITION +CURRENT-OFFSET +LOG-END-OFFSET +LAG +CONSUMER-ID +HOST +CLIENT-ID\nbatch +orders +0 +0 +0 +0 +- +- +-\n")
        self.assertIn("group batch has no active members", shown.stderr)
        clipped = self.run_json("groups", "reset-offsets", "batch", "--all-topics", "--shift-by", "50")
        self.assertEqual([(one["newOffset"], one["clipped"]) for one in clipped["offsets"]], [(0, True), (0, True)])
        self.assertEqual(self.run_json("groups", "delete-offsets", "batch", "--topic", "orders:1")["deleted"], [{"topic": "orders", "partition": 1}])
        self.assertEqual(self.committed("batch"), {("orders", 0): 0})
        self.refused("nothing is committed for orders-1", "groups", "reset-offsets", "batch", "--topic", "orders:1", "--shift-by", "-1")
        self.assertEqual(self.run_json("groups", "delete", "batch", "--dry-run"), {"wouldDelete": "batch"})
        self.assertEqual(self.run_json("groups", "delete", "batch"), {"deleted": "batch"})
        self.refused("there is no group batch", "groups", "describe", "batch")

    def test_a_group_with_members_is_told_who_they_are_and_what_to_do(self):
        member = Member(self.bootstrap, "billing", "orders", [0, 1])
        described = self.run_json("groups", "describe", "billing")
        self.assertEqual((described["type"], described["state"], described["assignor"]), ("Classic", "Stable", "range"))
        self.assertEqual([(one["clientId"], len(one["assigned"])) for one in described["members"]], [("by-hand", 2)])
        self.assertRegex(self.start("groups", "describe", "billing", "--members", "--verbose").stdout, r"billing +\S+ +- +/127\.0\.0\.1 +by-hand +2 +- +orders:0,1 +-\n")
        self.assertRegex(self.start("groups", "describe", "billing", "--state").stdout, r"billing +1 +range +Stable +- +- +1\n")
        self.refused("group billing is Stable, and offsets can be reset only while it has no members", "groups", "reset-offsets", "billing", "--topic", "orders", "--to-latest", "--execute")
        self.refused("group billing has members: stop its clients first", "groups", "delete", "billing")
        self.refused("group billing has members: stop its clients first", "groups", "delete", "billing", "--dry-run")
        member.leave()
        self.assertEqual(self.run_json("groups", "delete", "billing"), {"deleted": "billing"})

    def test_mistakes_say_what_to_do(self):
        self.run_json("groups", "reset-offsets", "nightly", "--topic", "orders", "--to-latest", "--execute")
        self.refused("there is no group nightyl; the nearest is nightly", "groups", "describe", "nightyl")
        self.refused("there is no topic ordres", "groups", "reset-offsets", "nightly", "--topic", "ordres", "--to-latest")
        for arguments, why in ((["--to-latest"], "either --all-topics or --topic"),
                               (["--to-latest", "--all-topics", "--topic", "orders"], "either --all-topics or --topic"),
                               (["--topic", "orders:x", "--to-latest"], '"x" is no partition; write TOPIC:0,1,2'),
                               (["--topic", "orders", "--to-datetime", "yesterday"], "write YYYY-MM-DDThh:mm:ss.sss"),
                               (["--topic", "orders", "--to-datetime", "2026-02-30T00:00"], "write YYYY-MM-DDThh:mm:ss.sss"),
                               (["--topic", "orders", "--by-duration", "15M"], "write PnDTnHnMnS"),
                               (["--topic", "orders", "--by-duration", "P999999999999D"], "of a hundred years at most"),
                               (["--topic", "orders", "--by-duration", "P36500DT999999999999H"], "of a hundred years at most"),
                               (["--topic", "orders", "--to-offset", "-3"], "-3 is not a whole number from 0 to")):
            self.refused(why, "groups", "reset-offsets", "nightly", *arguments, status=2)
        self.refused("there is no command groups lits; the nearest is list", "groups", "lits", status=2)
        self.refused("group nightly has committed nothing for that", "groups", "delete-offsets", "nightly", "--topic", "elsewhere")
        self.refused("abort takes --start-offset or --producer-id", "transactions", "abort", "--topic", "orders", "--partition", "0", status=2)

    def test_a_reset_by_time_finds_the_first_record_that_is_not_older(self):
        # Whatever is in the future is the end.
        plan = self.run_json("groups", "reset-offsets", "timed", "--topic", "orders", "--to-datetime", "2099-01-01T00:00:00.000+01:00")
        self.assertEqual([one["newOffset"] for one in plan["offsets"]], [0, 0])
        self.assertEqual(len(self.run_json("groups", "reset-offsets", "timed", "--topic", "orders:0", "--by-duration", "P1DT2H3M4.5S")["offsets"]), 1)


if __name__ == "__main__":
    unittest.main()
