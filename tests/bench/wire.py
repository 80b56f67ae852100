"""As much of Kafka's protocol as a benchmark needs around its load: who is there, create a topic, delete it.

Blocking, one request a connection; every field is big-endian. Only versions that Apache Kafka 4 and Tidemark both serve.
"""
import collections, socket, struct, time

METADATA, CREATE_TOPICS, DELETE_TOPICS, DESCRIBE_QUORUM = 3, 19, 20, 55
Partition = collections.namedtuple("Partition", "error index leader isr")
Metadata = collections.namedtuple("Metadata", "brokers topics")          # broker ids; topic name -> [Partition]
TOPIC_EXISTS, UNKNOWN_TOPIC = 36, 3


class WireError(Exception):
    pass


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values[0] if len(values) == 1 else values

    def string(self):
        size = self.take("h")
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def ints(self):
        return [self.take("i") for _ in range(self.take("i"))]


def string(text):
    return struct.pack(">h", len(text)) + text.encode()


def ask(port, api, version, body, timeout=10, flexible=False):
    """The body of the answer of the broker on 127.0.0.1:port. OSError when there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout) as s:
        frame = struct.pack(">hhi", api, version, 1) + string("tidemark-bench") + (b"\0" if flexible else b"") + body
        s.sendall(struct.pack(">i", len(frame)) + frame)
        size = struct.unpack(">i", receive(s, 4))[0]
        return Reader(receive(s, size)[5 if flexible else 4:])


def receive(s, size):
    data = b""
    while len(data) < size:
        piece = s.recv(size - len(data))
        if not piece:
            raise ConnectionError("closed by the broker")
        data += piece
    return data


def metadata(port, topics=(), timeout=10):
    """Metadata v4, which never creates a topic."""
    body = struct.pack(">i", len(topics)) + b"".join(map(string, topics)) + b"\0"
    r = ask(port, METADATA, 4, body, timeout)
    r.take("i")                                                             # throttle time
    brokers = []
    for _ in range(r.take("i")):
        brokers.append(r.take("i"))
        r.string(), r.take("i"), r.string()                                 # host, port, rack
    r.string(), r.take("i")                                                 # cluster id, controller
    found = {}
    for _ in range(r.take("i")):
        error, name, _ = r.take("h"), r.string(), r.take("b")
        partitions = []
        for _ in range(r.take("i")):
            code, index, leader = r.take("hii")
            r.ints()                                                        # replicas
            partitions.append(Partition(code, index, leader, r.ints()))
        found[name] = partitions if error == 0 else []
    return Metadata(sorted(brokers), found)


def create_topic(port, name, partitions, replication, configs, timeout=30):
    """CreateTopics v2. The error code; 0 is success."""
    entry = string(name) + struct.pack(">ihi", partitions, replication, 0) + struct.pack(">i", len(configs))
    entry += b"".join(string(key) + string(str(value)) for key, value in configs.items())
    r = ask(port, CREATE_TOPICS, 2, struct.pack(">i", 1) + entry + struct.pack(">ib", timeout * 1000, 0), timeout)
    r.take("i"), r.take("i"), r.string()                                    # throttle time, one answer, its name
    return r.take("h")


def delete_topic(port, name, timeout=30):
    """DeleteTopics v1. The error code."""
    r = ask(port, DELETE_TOPICS, 1, struct.pack(">i", 1) + string(name) + struct.pack(">i", timeout * 1000), timeout)
    r.take("i"), r.take("i"), r.string()
    return r.take("h")


def active_controller(port):
    """The leader of the quorum, by DescribeQuorum v0. OSError while there is none."""
    name = b"__cluster_metadata"
    r = ask(port, DESCRIBE_QUORUM, 0, b"\2" + bytes([len(name) + 1]) + name + b"\2" + struct.pack(">i", 0) + b"\0\0\0", flexible=True)
    error = r.take("h")
    if error:
        raise ConnectionError(f"DescribeQuorum answered error {error}")
    r.at += 1 + 1 + len(name) + 1                                           # counts of topics and partitions, the name
    _, error, leader = r.take("ihi")
    if error or leader < 0:
        raise ConnectionError(f"the quorum has no leader: error {error}")
    return leader


def await_topic(ports, name, partitions, replication, seconds=60, pause=0.02):
    """Until every broker names a leader and a full ISR for each partition of the topic."""
    end = time.monotonic() + seconds
    for port in ports:
        while True:
            try:
                found = metadata(port, [name]).topics.get(name, [])
                if len(found) == partitions and all(p.error == 0 and p.leader >= 0 and len(p.isr) == replication for p in found):
                    break
            except OSError:
                pass
            if time.monotonic() > end:
                raise WireError(f"topic {name} has no leader or no full ISR on port {port} after {seconds} s")
            time.sleep(pause)
