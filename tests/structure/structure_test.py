#!/usr/bin/env python3
"""Polices the house: layers of the engine, no Qt in it, no outside world but through platform/native, every source listed.

  structure_test.py ROOT          prints each breach as file:line: what; exit status 1 if there is one
  structure_test.py --self-test   shows that each rule can find a breach
"""
import pathlib, re, sys, tempfile

LAYERS = ["base", "config", "platform", "events", "protocol", "records", "network", "client", "log", "purgatory", "raft",
          "metadata", "replication", "coordinator", "broker", "faults", "observe", "inspect", "cluster", "sim"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
# What reaches outside, each with the word that the message uses. Comments and strings are taken out first.
AMBIENT = [
    (re.compile(r"\b(system_clock|steady_clock|high_resolution_clock)\b"), "asks a clock"),
    (re.compile(r"\b(gettimeofday|clock_gettime|std::time\s*\(|localtime|gmtime)\b"), "asks a clock"),
    (re.compile(r"\bstd::(jthread|thread\s+\w|thread\s*[({]|async\b)"), "starts a thread"),
    (re.compile(r"\bpthread_create\b"), "starts a thread"),
    (re.compile(r"\bstd::condition_variable"), "blocks a thread"),
    (re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b"), "sleeps"),
    (re.compile(r"\b(ifstream|ofstream|fstream|fopen|mkstemp|std::filesystem::(exists|remove|rename|create_))|(?<![\w>])::open\s*\("), "touches a file"),
    (re.compile(r"(?<![\w.>])::(socket|connect|bind|listen|accept|send|recv|sendfile)\s*\("), "opens a socket"),
    (re.compile(r"\basio::"), "names Asio"),
    (re.compile(r"\b(random_device|std::rand\b|srand\b|getrandom)\b"), "draws a random number"),
    (re.compile(r"\bstd::mutex\b|\bstd::shared_mutex\b|\bstd::lock_guard\b|\bstd::unique_lock\b"), "uses a mutex without annotations"),
]


def strip(text):
    """The code without comments and the insides of strings; line numbers stay."""
    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] * 2
        return re.sub(r"[^\n]", " ", found)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def engine_rules(root):
    engine = root / "engine"
    for path in sorted([*engine.rglob("*.h"), *engine.rglob("*.cpp")]):
        inside = path.relative_to(engine)
        folder = inside.parts[0]
        text = path.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(1)
            top = target.split("/")[0]
            if top in LAYERS and folder in LAYERS and LAYERS.index(top) > LAYERS.index(folder):
                yield path, number, f"{folder}/ includes {target}, which lies above it"
            if re.match(r"Q[A-Z]|Qt|qcustomplot", target):
                yield path, number, f"the engine includes Qt's {target}"
            if target.startswith(("platform/native/", "platform/simulated/")) and folder not in ("platform", "cluster", "sim"):
                yield path, number, f"{folder}/ includes {target}: only cluster/ and sim/ choose a platform"
        if folder not in LAYERS and folder != "CMakeLists.txt":
            yield path, 1, f"engine/{folder} has no place in the list of layers"
        outside = inside.parts[:2] == ("platform", "native") or str(inside) == "base/mutex.h" or "generator" in inside.parts
        if not outside:
            for number, line in enumerate(strip(text).splitlines(), 1):
                for pattern, what in AMBIENT:
                    if pattern.search(line):
                        yield path, number, f"{what} outside platform/native"


def widget_rules(root):
    """Widgets know the engine through these folders only (and the types of its clocks); the headless program has no Qt."""
    allowed = {"base", "cluster", "observe", "inspect", "faults", "events"}
    for path in sorted([*(root / "widgets").rglob("*.h"), *(root / "widgets").rglob("*.cpp")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found.group(1) != "platform/clock.h" and found.group(1).split("/")[0] in LAYERS \
                    and found.group(1).split("/")[0] not in allowed:
                yield path, number, f"widgets/ includes {found.group(1)}"
    for path in sorted([*(root / "app").rglob("*.h"), *(root / "app").rglob("*.cpp")]):
        if "window" in path.relative_to(root / "app").parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and re.match(r"Q[A-Z]|Qt", found.group(1)):
                yield path, number, f"the program without a window includes {found.group(1)}"


def listing_rules(root):
    """Each source is named in the CMakeLists.txt of its folder or of one above it."""
    for top in ("engine", "widgets", "app", "tests"):
        for path in sorted((root / top).rglob("*.cpp")):
            named, folder = False, path.parent
            while True:
                lists = folder / "CMakeLists.txt"
                if lists.exists() and re.search(rf"(?<![\w/.-]){re.escape(str(path.relative_to(folder)))}(?![\w.])", lists.read_text()):
                    named = True
                    break
                if folder == root:
                    break
                folder = folder.parent
            if not named:
                yield path, 1, "is listed in no CMakeLists.txt"


def secrecy_rules(root):
    """Nothing in the tree may lean on what lies beside it."""
    for top in ("engine", "widgets", "app", "tests", "cmake", ".ci"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".py", ".txt", ".cmake", ".md", "") and path.is_file() and "data" not in path.parts \
                    and path.name != "structure_test.py":
                for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                    if re.search(r"\.\./shared\b", line):
                        yield path, number, "reads outside the project"


def breaches(root):
    for rules in (engine_rules, widget_rules, listing_rules, secrecy_rules):
        yield from rules(root)


def self_test():
    cases = {
        "engine/log/a.h": ('#include "broker/broker.h"\n', "lies above it"),
        "engine/log/b.h": ("#include <QString>\n", "includes Qt"),
        "engine/log/c.h": ("auto t = std::chrono::steady_clock::now();\n", "asks a clock"),
        "engine/log/d.h": ("std::thread worker([] {});\n", "starts a thread"),
        "engine/log/e.h": ("std::ifstream in(path);\n", "touches a file"),
        "engine/log/f.h": ("boost::asio::io_context io;\n", "names Asio"),
        "engine/log/g.h": ('#include "platform/native/process.h"\n', "only cluster/ and sim/ choose"),
        "engine/log/h.cpp": ("int x;\n", "listed in no CMakeLists"),
        "engine/misc/i.h": ("int x;\n", "no place in the list"),
        "widgets/j.h": ('#include "replication/partition.h"\n', "widgets/ includes"),
        "app/k.h": ("#include <QApplication>\n", "without a window"),
    }
    clean = {"engine/log/ok.h": '// std::thread x; steady_clock\n#include "base/ids.h"\nconst char* s = "steady_clock";\n'}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**{n: t for n, (t, _) in cases.items()}, **clean}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = {}
        for path, _, what in breaches(root):
            found.setdefault(str(path.relative_to(root)), []).append(what)
        wrong = [n for n, (_, what) in cases.items() if not any(what in w for w in found.get(n, []))] + \
                [n for n in clean if n in found]
    for name in wrong:
        print(f"{name}: the rule did not work: {found.get(name)}")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root, count = pathlib.Path(sys.argv[1]).resolve(), 0
    for path, number, what in breaches(root):
        print(f"{path.relative_to(root)}:{number}: {what}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
