"""A program `tidemark serve` for tests; the first argument of the test is the program."""
import json, signal, subprocess, sys, threading

TIDEMARK = sys.argv.pop(1)


def create_topic(bootstrap, name, *options, must=True):
    """By `tidemark topics`; not `must`: the broker may die of it."""
    subprocess.run([TIDEMARK, "topics", "--bootstrap", bootstrap, "create", name, *options], stdin=subprocess.DEVNULL,
                   capture_output=True, check=must, timeout=60)


class Serve:
    """A running cluster or node, with its standard input open."""

    def __init__(self, *arguments):
        # What was told unasked.
        self.events = []
        self.process = subprocess.Popen([TIDEMARK, "serve", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.errors = b""
        # What has come so far, and that more has.
        self.told = b""
        self.told_more = threading.Event()
        self.reader = threading.Thread(target=self.read_errors)
        self.reader.start()
        # A test that hangs is a test that failed.
        self.guard = threading.Timer(200, self.process.kill)
        self.guard.start()

    def read_errors(self):
        for line in self.process.stderr:
            self.told += line
            self.told_more.set()
        self.errors = self.told

    def send(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def answer(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"serve has ended with {self.process.wait()}")
            told = json.loads(line)
            if "event" not in told:
                return told
            self.events.append(told)

    def await_told(self, text):
        """Until standard error says so."""
        while text not in self.told:
            if not self.told_more.wait(60):
                raise AssertionError(self.told)
            self.told_more.clear()

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
