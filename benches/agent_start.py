#!/usr/bin/env python3
"""How long `restitch agent run` takes to its first event, compared with `restitch --version`.

usage: benches/agent_start.py [RUNS]        (RESTITCH names the program; default target/release/restitch)

The agent has the mock model, so what is measured is the program: reading and compiling the agent's files, opening the
sessions' database, recording the session, printing the event. `fresh` makes the database, `kept` opens one. The runs take
turns, so that a busy machine is busy for all alike; medians are told, and the least, which a busy machine disturbs least.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("RESTITCH", "target/release/restitch")
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
REPLIES = '[[replies]]\ntext = "hello"\n'


def first_line(words, directory):
    """Milliseconds until the first line of output is there."""
    begun = time.perf_counter()
    child = subprocess.Popen([PROGRAM, *words], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    line = child.stdout.readline()
    passed = (time.perf_counter() - begun) * 1000
    child.stdout.read()
    if child.wait() != 0 or not line:
        sys.exit(f"{words} failed in {directory}")
    return passed


def project(directory):
    os.makedirs(os.path.join(directory, "agent"))
    files = {
        "agent.toml": '[model]\nid = "mock/start"\nscript = "script.toml"\n',
        "script.toml": REPLIES,
        "instructions.md": "You do as you are told.\n",
    }
    for name, text in files.items():
        with open(os.path.join(directory, "agent", name), "w") as file:
            file.write(text)


def main():
    times = {"version": [], "fresh": [], "kept": []}
    with tempfile.TemporaryDirectory() as directory:
        project(directory)
        run = ["agent", "run", "--json", "hi"]
        for _ in range(RUNS):
            times["version"].append(first_line(["--version"], directory))
            shutil.rmtree(os.path.join(directory, ".restitch"), ignore_errors=True)
            times["fresh"].append(first_line(run, directory))
            times["kept"].append(first_line(run, directory))
    base = times["version"]
    print(f"{RUNS} runs, milliseconds to the first line: median (least)")
    for name, taken in times.items():
        line = f"{name:8} {statistics.median(taken):7.1f} ({min(taken):.1f})"
        if name != "version":
            more = statistics.median(taken) - statistics.median(base)
            line += f"   +{more:.1f} (+{min(taken) - min(base):.1f}), {statistics.median(taken) / statistics.median(base):.1f} times"
        print(line)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(PROGRAM)
    main()
