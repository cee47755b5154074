"""What tests start as processes of their own: ``python -m tests.store.processes …``."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

from core.store.database import open_database
from core.store.results import SavedResults
from tests.store.kept import CallKey, Calls

ROOT = Path(__file__).resolve().parents[2]


def key(name, number):
    return CallKey("sample", "table", "1", name, index=number)


def payload(name, number):
    return f'["{name}", {number}, "{"long " * (number % 500)}"]'


def start(*arguments):
    """Start a process; it waits for `go` before it opens the database."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.processes", *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def go(*processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


def write(url, name, count):
    """Write calls and say each number once it is safe; every tenth comes with a result."""
    with open_database(url) as database:
        calls, results = Calls(database), SavedResults(database)
        for number in range(int(count)) if int(count) else itertools.count():
            kept = calls.put(key(name, number), payload(name, number))
            assert kept == payload(name, number)
            if number % 10 == 0:
                results.save("inspection", f"{name} {number}", "", "", payload(name, number))
            print(number, flush=True)


def keeps(url):
    """Save a call whenever it is told to."""
    with open_database(url) as database:
        for number in range(3):
            if number:
                sys.stdin.readline()
            Calls(database).put(key("kept", number), "1")
            print(number, flush=True)


def opens(url, name, count):
    """Open the database and leave, many times: to be killed in the middle of it."""
    for number in range(int(count)):
        open_database(url).close()
        print(number, flush=True)


def ask(url, name, count):
    """Ask what is not kept yet, call by call, slowly; say what was asked before it is kept."""
    with open_database(url) as database:
        calls = Calls(database)
        for number in range(int(count)):
            wanted = key(f"prompt {number % 3}", number)
            with calls.claim([wanted]):
                if calls.get(wanted) is None:
                    print(number, flush=True)
                    time.sleep(0.05)
                    calls.put(wanted, payload(name, number))


def hold(url, name, count):
    """Claim as many calls, say so, and never give them back: to be killed."""
    with open_database(url) as database:
        calls = Calls(database)
        with calls.claim([key(name, number) for number in range(int(count))]):
            print("held", flush=True)
            time.sleep(3600)


if __name__ == "__main__":
    task, *rest = sys.argv[1:]
    print("ready", flush=True)
    sys.stdin.readline()
    {"write": write, "keeps": keeps, "opens": opens, "ask": ask, "hold": hold}[task](*rest)
