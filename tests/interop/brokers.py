"""`tidemark serve` with commands on its standard input, one line of JSON each way; used by one thread."""
import json, subprocess


class Brokers:
    def __init__(self, program, data, brokers=3, settings=(), log=None, recording=None):
        more = [word for setting in ("group.initial.rebalance.delay.ms=0", *settings) for word in ("--set", setting)]
        if log is not None:
            more += ["--verbose"]
        if recording is not None:
            more += ["--record", recording]
        self.process = subprocess.Popen([program, "serve", "--brokers", str(brokers), "--port", "0", "--data", data, "--json", *more],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        json.loads(self.process.stdout.readline())
        # All addresses: one of them may be down when a client comes.
        self.bootstrap = ",".join(node["listener"] for node in self.ask("status", show=False)["nodes"])

    def ask(self, command, show=True):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        # A broker that died is told unasked.
        while "event" in answer:
            answer = json.loads(self.process.stdout.readline())
        if show:
            print(f"   {command}: {'done' if answer['ok'] else answer['error']}", flush=True)
        return answer

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "did not stop"
