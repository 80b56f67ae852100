"""The clusters under test, Tidemark's and Apache Kafka's, behind one face; their processes as /proc shows them."""
import ctypes, json, os, pathlib, random, shutil, signal, socket, subprocess, sys, time

import wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL_KAFKA = ROOT / "tests" / "interop" / "real-kafka" / "real-kafka"
TICK = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    pass


# ---- processes -----------------------------------------------------------------------------------------------------

def cpu_seconds(pids):
    """utime + stime of the processes, all their threads, those that ended included."""
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def rss_bytes(pids):
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1]) * 1024
    return total


def anonymous_bytes(pids):
    """Resident memory that no file is behind."""
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                total += int(line.split()[1]) * 1024
    return total


def live_heap_bytes(pid):
    """What is left on the heap of a JVM after a full collection. (Kafka's flags make System.gc() a concurrent one.)"""
    out = subprocess.run(["jcmd", str(pid), "GC.class_histogram"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [line for line in out.stdout.splitlines() if line.startswith("Total")]
    if out.returncode or not lines:
        raise BenchError(f"jcmd {pid}: {out.stdout[-300:]}{out.stderr[-300:]}")
    return int(lines[-1].split()[2])


def die_with_parent():
    """In a child: it is terminated when the benchmark is killed and cannot clean up."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)                              # PR_SET_PDEATHSIG


def free_port_base(offsets):
    """A port to which each offset can be added and bound, below the ephemeral ones."""
    for _ in range(200):
        base = random.randrange(15000, 32000, 10)
        try:
            for offset in offsets:
                with socket.socket() as s:
                    s.bind(("127.0.0.1", base + offset))
            return base
        except OSError:
            continue
    raise BenchError("no free ports between 15000 and 32768")


# ---- clusters ------------------------------------------------------------------------------------------------------

class Cluster:
    """A cluster of `nodes` brokers in `folder`. launch() returns at once, start() when it serves."""
    name = ""

    def __init__(self, folder, nodes, extra=()):
        self.folder, self.nodes, self.extra, self.ports, self.topics = pathlib.Path(folder), nodes, list(extra), [], 0

    def bootstrap(self):
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def start(self, seconds=240):
        self.launch()
        end = time.monotonic() + seconds
        for port in self.ports:
            while True:
                try:
                    if len(wire.metadata(port, timeout=5).brokers) == self.nodes:
                        break
                except OSError:
                    pass
                self.check()
                if time.monotonic() > end:
                    raise BenchError(f"{self.name} does not serve after {seconds} s{self.log_end()}")
                time.sleep(0.05)
        return self

    def create(self, partitions, replication, configs):
        """A new topic, leaders known and ISR full everywhere. Its name."""
        self.topics += 1
        topic = f"bench-{self.topics}"
        error = wire.create_topic(self.ports[0], topic, partitions, replication, configs)
        if error:
            raise BenchError(f"{self.name}: CreateTopics answered error {error}")
        wire.await_topic(self.ports, topic, partitions, replication)
        return topic

    def delete(self, topic, seconds=30):
        """Deletes it and waits until its bytes are gone from disk, so that the next pass is not disturbed."""
        error = wire.delete_topic(self.ports[0], topic)
        if error:
            raise BenchError(f"{self.name}: DeleteTopics answered error {error}")
        end = time.monotonic() + seconds
        while any(name.startswith(f"{topic}-") for _, names, _ in os.walk(self.folder) for name in names):
            if time.monotonic() > end:
                raise BenchError(f"{self.name} still has files of deleted {topic} after {seconds} s")
            time.sleep(0.1)

    def cpu(self):
        return cpu_seconds(self.pids())

    def log_end(self):
        return ""


class Tidemark(Cluster):
    name = "tidemark"
    binary = ROOT / "build" / "release" / "bin" / "tidemark"

    def launch(self):
        self.folder.mkdir(parents=True)
        base = free_port_base([*range(self.nodes), *(100 + i for i in range(self.nodes))])
        self.ports = [base + i for i in range(self.nodes)]
        sets = [word for setting in self.extra for word in ("--set", setting)]
        self.errors = open(self.folder / "stderr", "wb")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--brokers", str(self.nodes), "--port", str(base), "--data", self.folder / "data", *sets],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.errors, start_new_session=True,
            preexec_fn=die_with_parent)

    def pids(self):
        return [self.process.pid]

    def check(self):
        if self.process.poll() is not None:
            raise BenchError(f"tidemark ended with status {self.process.returncode}{self.log_end()}")

    def tell(self, command):
        self.process.stdin.write(f"{command}\n".encode())
        self.process.stdin.flush()

    def memory_in_use(self):
        """Bytes. All that the process holds, the allocator's slack included."""
        return anonymous_bytes(self.pids())

    def kill(self, node):
        """The node is gone at once, with what it had in memory."""
        self.tell(f"kill {node}")

    def restart(self, node):
        self.tell(f"restart {node}")

    def log_end(self):
        return ":\n" + (self.folder / "stderr").read_text(errors="replace")[-2000:]

    def stop(self):
        process = getattr(self, "process", None)
        if process and process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                print("bench: tidemark did not stop in 20 s: killed", file=sys.stderr)
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Floor(Cluster):
    """The least that a broker can be (floor_broker.cpp): no topics to make, one partition."""
    name = "floor"
    binary = ROOT / "build" / "release" / "bin" / "tidemark_bench_floor_broker"

    def start(self, seconds=10):
        self.folder.mkdir(parents=True)
        self.process = subprocess.Popen([self.binary, "--file", self.folder / "log"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=die_with_parent)
        self.ports = [json.loads(self.process.stdout.readline())["port"]]
        return self

    def create(self, partitions, replication, configs):
        self.topics += 1
        return f"floor-{self.topics}"

    def delete(self, topic, seconds=0):
        pass

    def pids(self):
        return [self.process.pid]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


class Kafka(Cluster):
    name = "kafka"

    def launch(self):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        ids = range(1, self.nodes + 1)
        base = free_port_base([*ids, *(50 + i for i in ids)])
        self.ports = [base + i for i in ids]
        self.starter_log = self.folder.with_suffix(".start")
        with open(self.starter_log, "wb") as log:
            self.starter = subprocess.Popen(
                [REAL_KAFKA, "start", str(self.nodes), self.folder, "--port", str(base), "--perf", *self.extra],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent)

    def memory_in_use(self):
        """Bytes. Of the heap, what is alive: how much of the rest is taken is the collector's choice."""
        return sum(live_heap_bytes(pid) for pid in self.pids())

    def kill(self, node):
        os.kill(int((self.folder / f"node-{node}" / "pid").read_text()), signal.SIGKILL)

    def restart(self, node):
        subprocess.run([REAL_KAFKA, "restart", self.folder, str(node)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, start_new_session=True, check=True)

    def pids(self):
        return [int((self.folder / f"node-{i}" / "pid").read_text()) for i in range(1, self.nodes + 1)]

    def check(self):
        """real-kafka gives up waiting after a minute; on a busy machine its nodes may live on and come up later."""
        if self.starter.poll() in (None, 0):
            return
        try:
            alive = all(pathlib.Path(f"/proc/{pid}").exists() for pid in self.pids())
        except OSError:
            alive = False
        if not alive:
            raise BenchError(f"real-kafka start failed{self.log_end()}")

    def log_end(self):
        ends = [self.starter_log.read_text(errors="replace")[-1000:]]
        for log in sorted(self.folder.glob("node-*/log")):
            ends.append(f"{log.parent.name}: " + log.read_text(errors="replace")[-600:])
        return ":\n" + "\n".join(ends)

    def stop(self):
        starter = getattr(self, "starter", None)
        if not starter:
            return
        if starter.poll() is None:
            os.killpg(starter.pid, signal.SIGKILL)                          # with the storage tool, if that is what it waits for
            starter.wait()
        stop_kafka(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.starter_log.unlink(missing_ok=True)


def stop_kafka(folder):
    if list(folder.glob("node-*")):
        subprocess.run([REAL_KAFKA, "stop", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    # What the tool does not know of: a node whose pid was not written yet when the start was broken off, a format.
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{folder}/node-".encode() in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass                                                            # it ended


def sweep(parent):
    """Ends and removes what runs left that were killed: folders run-PID whose process is gone."""
    for folder in parent.glob("run-*"):
        pid = folder.name[4:]
        if pid.isdigit() and not pathlib.Path(f"/proc/{pid}").exists():
            for cluster in folder.glob("kafka-*"):
                if cluster.is_dir():
                    stop_kafka(cluster)
            shutil.rmtree(folder, ignore_errors=True)


# ---- programs that end by themselves -------------------------------------------------------------------------------

def run_json(command, seconds):
    """Runs a program that prints one JSON object. It dies with us, and with any exception here."""
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True, preexec_fn=die_with_parent)
    try:
        out, err = process.communicate(timeout=seconds)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    if process.returncode:
        raise BenchError(f"{pathlib.Path(command[0]).name} {command[1]}: {err.strip()[-1000:]}")
    return json.loads(out.splitlines()[-1])
