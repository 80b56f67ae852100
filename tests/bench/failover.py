"""How long after a leader was killed the first acknowledgement comes, beyond the time after which it may be taken for dead."""
import json, subprocess, threading, time

import wire
from systems import BenchError, Tidemark, die_with_parent

# What decides that a broker is dead, in seconds: the lab profile's times for Tidemark, Kafka's defaults for Kafka.
LAB = {"session": 1.5, "fetch": 1.0, "election": 0.25}
DEFAULTS = {"session": 9.0, "fetch": 2.0, "election": 1.0}


class Producer:
    """The load's `gaps`, and what it told."""
    def __init__(self, program, bootstrap, topic):
        self.process = subprocess.Popen([program, "gaps", "--bootstrap", bootstrap, "--topic", topic, "--record", "100", "--every", "5"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                        preexec_fn=die_with_parent)
        self.gaps, self.news = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.gaps.append(json.loads(line))
                self.news.notify_all()

    def again_after(self, moment, seconds):
        """When acknowledgements came again that had ended at about `moment`."""
        with self.news:
            if not self.news.wait_for(lambda: any(gap["again"] > moment + 0.05 for gap in self.gaps), seconds):
                raise BenchError(f"no acknowledgement within {seconds} s of a kill")
            return next(gap["again"] for gap in self.gaps if gap["again"] > moment + 0.05)

    def close(self):
        self.process.kill()
        self.process.wait()


def until(what, condition, seconds):
    end = time.monotonic() + seconds
    while True:
        try:
            found = condition()
            if found:
                return found
        except OSError:
            pass
        if time.monotonic() > end:
            raise BenchError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def kills(cluster, program, count, tell):
    """Milliseconds of each kill of the leader, the time that applies taken off."""
    detection = LAB if isinstance(cluster, Tidemark) else DEFAULTS
    topic, found = cluster.create(1, 3, {"min.insync.replicas": 2}), []
    producer = Producer(program, cluster.bootstrap(), topic)
    try:
        for _ in range(count):
            leader = until("a leader", lambda: wire.metadata(cluster.ports[0], [topic]).topics[topic][0].leader, 60)
            controller = until("a controller", lambda: wire.active_controller(cluster.ports[0]), 60)
            # The load has to run when the leader goes.
            time.sleep(1)
            died = time.monotonic()
            cluster.kill(leader)
            applies = detection["session"] + (detection["fetch"] + detection["election"] if leader == controller else 0)
            took = producer.again_after(died, 120) - died
            found.append((took - applies) * 1000)
            tell(f"failover: {cluster.name} killed {leader}{', the active controller' if leader == controller else ''}: "
                 f"{took:.3f} s, {applies:g} s of it to see that it is dead")
            cluster.restart(leader)
            wire.await_topic(cluster.ports, topic, 1, 3, 120)
        return found
    finally:
        producer.close()
        cluster.delete(topic)
