"""The rows of `coordinator`: what groups and transactions cost. The load is tidemark_bench_coordinator (coordinator_load.cpp)."""
import json, select, subprocess, statistics

import systems
from systems import BenchError

# Both clusters: no delay before a group is made or an assignment is, and no session that ends while 10 000 others join.
SETTINGS = ["group.initial.rebalance.delay.ms=0", "group.consumer.assignment.interval.ms=0",
            "group.consumer.max.session.timeout.ms=600000", "group.consumer.session.timeout.ms=600000"]
MEMBERS, LANES, PARTITIONS = 100, 4, 100
# Of each command of the load.
STAGES = {"groups": 7, "exchange": 4, "transactions": 2}
# Seconds between a member's heartbeats: heartbeat.interval.ms of a consumer.
INTERVAL = 3


class Load:
    """The program at work: it waits before each of its stages until it is told to go on."""

    def __init__(self, program, words):
        self.process = subprocess.Popen([program, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, start_new_session=True, preexec_fn=systems.die_with_parent)

    def stage(self, seconds=300):
        """What the next stage tells."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass                                                            # it says why, below
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            why = self.process.communicate()[1].strip() if ready else f"a stage took more than {seconds} s"
            raise BenchError(f"tidemark_bench_coordinator: {why[-1000:]}")
        return json.loads(line)

    def close(self):
        self.process.kill()
        self.process.communicate()


def words_of(options):
    return [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), value)]


def stages(cluster, program, command, options):
    """All stages: name -> what it told, with "cpu", the seconds of the broker."""
    load, found = Load(program, [command, *words_of(options)]), {}
    try:
        for _ in range(STAGES[command]):
            before = cluster.cpu()
            told = load.stage()
            found[told["stage"]] = told | {"cpu": cluster.cpu() - before}
    finally:
        load.close()
    return found


def fresh_name(cluster, what):
    """Groups and transactional ids of a pass are new."""
    cluster.passes = getattr(cluster, "passes", 0) + 1
    return f"{what}-{cluster.passes}"


def group_options(cluster, kind, groups, topic, **counts):
    return {"kind": kind, "port": cluster.ports[0], "prefix": fresh_name(cluster, kind), "topic": topic, "partitions": PARTITIONS,
            "groups": groups, "members": MEMBERS, "lanes": LANES, "interval": INTERVAL, **counts}


def rows_of(done):
    found = {}
    for stage, row in (("join", "joins"), ("heartbeat", "heartbeats"), ("commit", "commits")):
        if stage in done:
            found[row] = done[stage]["count"] / done[stage]["seconds"]
            found[f"{row}-cpu"] = done[stage]["cpu"] / done[stage]["count"] * 1e6
    found["stand-by-cpu"] = done["stand-by"]["cpu"] / done["stand-by"]["seconds"] * 100
    return found


def exchange_pass(cluster, program, kind, topic, groups, heartbeats, commits, stand_by, **_):
    """Row -> its value where requests only come and are answered, for those rows that are no more than that."""
    return rows_of(stages(cluster, program, "exchange", group_options(cluster, kind, groups, topic, heartbeats=heartbeats,
                                                                      commits=commits, stand_by=stand_by)))


def groups_pass(cluster, program, kind, topic, groups, heartbeats, commits, rebalances, stand_by):
    """Row -> its value, of one pass."""
    done = stages(cluster, program, "groups", group_options(cluster, kind, groups, topic, heartbeats=heartbeats, commits=commits,
                                                            rebalances=rebalances, stand_by=stand_by))
    found = rows_of(done)
    found["rebalance"] = statistics.median(done["rebalance"]["milliseconds"])
    found["rebalance-cpu"] = done["rebalance"]["cpu"] / done["rebalance"]["count"] * 1e3
    return found


def transactions_pass(cluster, program, topic, producers, transactions):
    done = stages(cluster, program, "transactions",
                  {"port": cluster.ports[0], "prefix": fresh_name(cluster, "transactions"), "topic": topic, "partitions": PARTITIONS,
                   "producers": producers, "transactions": transactions})["commit"]
    return {"transactions": done["count"] / done["seconds"], "transactions-cpu": done["cpu"] / done["count"] * 1e6}


def bytes_per_member(cluster, program, kind, topic, groups):
    """What the broker grows by as all members join. The connections and one group are there before."""
    nothing = {"heartbeats": 0, "commits": 0, "rebalances": 0, "stand_by": 0}
    first = group_options(cluster, kind, 1, topic, **nothing)
    load = Load(program, ["groups", *words_of({**first, "lanes": 1})])
    many = Load(program, ["groups", *words_of(group_options(cluster, kind, groups, topic, **nothing))])
    try:
        load.stage(), load.stage(), many.stage()
        before = cluster.memory_in_use()
        many.stage()
        return (cluster.memory_in_use() - before) / (groups * MEMBERS)
    finally:
        load.close(), many.close()
