"""As much of a client as tests of the commands need: a few requests of old versions, each on a connection of its own."""
import socket, struct

PRODUCE, METADATA = 0, 3
UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER = 3, 6


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(number):
    number = number << 1 if number >= 0 else (-number << 1) - 1
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def ask(address, api, version, body):
    """The answer's body."""
    host, port = address.rsplit(":", 1)
    request = struct.pack(">hhi", api, version, 1) + text("test") + body
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = connection.makefile("rb")
        (size,) = struct.unpack(">i", answer.read(4))
        return answer.read(size)[4:]


def produce(leader, topic, *values):
    """Into partition 0, and acknowledged by every replica in sync."""
    records = b""
    for index, value in enumerate(values):
        record = b"\0" + varint(0) + varint(index) + varint(-1) + varint(len(value)) + value + varint(0)
        records += varint(len(record)) + record
    # From the attributes on, which the sum covers.
    summed = struct.pack(">hiqqqhii", 0, len(values) - 1, 1, 1, -1, -1, -1, len(values)) + records
    batch = struct.pack(">ibI", -1, 2, crc32c(summed)) + summed
    batch = struct.pack(">qi", 0, len(batch)) + batch
    body = struct.pack(">hhii", -1, -1, 30000, 1) + text(topic) + struct.pack(">iii", 1, 0, len(batch)) + batch
    # One topic, its name, one partition, its index, the error.
    at = 4 + 2 + len(topic) + 4 + 4
    while True:
        answer = ask(leader, PRODUCE, 3, body)
        (error,) = struct.unpack(">h", answer[at:at + 2])
        if error == 0:
            return
        # Whoever is told by others that it leads may not have heard of it yet.
        if error not in (UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER):
            raise AssertionError(f"error {error}")


def racks(bootstrap):
    """By broker."""
    answer = ask(bootstrap, METADATA, 1, struct.pack(">i", 0))
    (count,) = struct.unpack(">i", answer[:4])
    at, found = 4, {}
    for _ in range(count):
        node, length = struct.unpack(">ih", answer[at:at + 6])
        at += 6 + length + 4
        (length,) = struct.unpack(">h", answer[at:at + 2])
        found[node] = answer[at + 2:at + 2 + length].decode() if length >= 0 else None
        at += 2 + max(length, 0)
    return found
