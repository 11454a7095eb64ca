#!/usr/bin/env python3
"""Kills the real programs at random moments and recovers: the tree must be entirely before or entirely after, each time.

    cargo build --release
    python3 scripts/kill_test.py [--runs 1000] [--bin target/release] [--seed N] [--root DIR] [--durability power]

Each run makes a tree of some dozen files, starts `apply_patch` with a patch that edits, adds, moves, swaps and deletes, and
kills it with SIGKILL after a random time. About every third run the program `restitch recover`, started next, is killed as
well, up to three times in a row. Then `restitch recover` runs in peace, and every byte and mode is compared. In the other
runs now and then the next patch takes the place of `restitch recover`.
"""
import argparse, collections, os, random, shutil, signal, subprocess, sys, tempfile, time

FILES = 24


def tree(root):
    """Path to (kind, mode, content) of everything below root."""
    found = {}
    for base, dirs, files in os.walk(root):
        for name in dirs + files:
            path = os.path.join(base, name)
            rel = os.path.relpath(path, root)
            if rel == ".git" or rel.startswith(".git/"):
                continue
            if os.path.islink(path):
                found[rel] = ("link", 0, os.readlink(path))
            elif os.path.isdir(path):
                found[rel] = ("dir", os.stat(path).st_mode & 0o7777, None)
            else:
                with open(path, "rb") as file:
                    found[rel] = ("file", os.stat(path).st_mode & 0o7777, file.read())
    return found


def make(root, rng):
    os.makedirs(root)
    if rng.random() < 0.5:
        os.makedirs(f"{root}/.git")
    for number in range(FILES):
        path = f"{root}/d{number % 4}/f{number}.txt"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lines = rng.choice([3, 30, 3000])
        with open(path, "w") as file:
            file.writelines(f"{number} line {line}\n" for line in range(lines))
        os.chmod(path, rng.choice([0o644, 0o755, 0o600]))
    os.symlink("d0/f0.txt", f"{root}/link")
    if rng.random() < 0.5:
        # A second name: this file is written in place.
        os.link(f"{root}/d1/f1.txt", f"{root}/second")


def patch(rng):
    out = ["*** Begin Patch"]
    for number in range(FILES):
        path = f"d{number % 4}/f{number}.txt"
        kind = rng.choice(["keep", "edit", "edit", "edit", "move", "delete", "swap"])
        if number == 1:
            kind = "edit"
        if kind == "swap" and number + 4 >= FILES:
            kind = "edit"
        if kind == "edit":
            out += [f"*** Update File: {path}", "@@", f" {number} line 0", f"-{number} line 1", f"+{number} changed", f"+{rng.random()}"]
        elif kind == "move":
            out += [f"*** Update File: {path}", f"*** Move to: new/deep/f{number}.txt"]
        elif kind == "delete":
            out += [f"*** Delete File: {path}"]
        elif kind == "swap":
            out += [f"*** Update File: {path}", f"*** Move to: swapped/f{number}.txt"]
    for number in range(rng.randrange(6)):
        out += [f"*** Add File: added/a{number}.txt", "+new", f"+{rng.random()}"]
    if rng.random() < 0.3:
        out += ["*** Delete File: link"]
    return "\n".join(out + ["*** End Patch", ""])


def run_killed(argv, root, text, seconds):
    """Starts a program and kills it after that time; whether it was still alive."""
    process = subprocess.Popen(argv, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.stdin.write(text)
        process.stdin.close()
    except BrokenPipeError:
        pass
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and process.poll() is None:
        pass
    alive = process.poll() is None
    if alive:
        process.send_signal(signal.SIGKILL)
    process.wait()
    return alive


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--runs", type=int, default=1000)
    args.add_argument("--bin", default="target/release")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--root", default=None, help="where to make the trees [default: the system's temporary directory]")
    args.add_argument("--durability", default="process")
    args = args.parse_args()
    rng = random.Random(args.seed)
    apply, restitch = os.path.abspath(f"{args.bin}/apply_patch"), os.path.abspath(f"{args.bin}/restitch")
    apply_argv = [apply, "--durability", args.durability]
    home = tempfile.mkdtemp(prefix="restitch-kill-", dir=args.root)
    count = collections.Counter()
    took, limit = 0.002, 0.004
    for number in range(args.runs):
        root = f"{home}/t"
        shutil.rmtree(root, ignore_errors=True)
        make(root, rng)
        before = tree(root)
        text = patch(rng).encode()
        # What it would come to, on a copy.
        whole = f"{home}/whole"
        shutil.rmtree(whole, ignore_errors=True)
        subprocess.run(["cp", "-a", root, whole], check=True)
        start = time.perf_counter()
        done = subprocess.run(apply_argv, cwd=whole, input=text, capture_output=True)
        took = 0.9 * took + 0.1 * (time.perf_counter() - start)
        if done.returncode != 0:
            sys.exit(f"run {number}: the patch does not apply: {done.stderr.decode()}")
        after = tree(whole)
        killed = run_killed(apply_argv, root, text, rng.uniform(0, limit))
        # About one run in four may finish first: the last moments are worth a kill too.
        limit *= 1.03 if killed else 0.91
        count["killed" if killed else "finished first"] += 1
        if killed and (os.path.exists(f"{root}/.restitch-journal") or os.path.exists(f"{root}/.git/restitch-journal")):
            count["left a journal"] += 1
            if rng.random() < 0.34:
                for _ in range(rng.randrange(1, 4)):
                    if run_killed([restitch, "recover"], root, b"", rng.uniform(0, took)):
                        count["recovery killed"] += 1
        if rng.random() < 0.2:
            said = subprocess.run(apply_argv, cwd=root, input=b"*** Begin Patch\n*** Add File: next\n+next\n*** End Patch\n", capture_output=True)
            if said.returncode != 0:
                sys.exit(f"run {number}: the next patch failed: {said.stderr.decode()}; tree in {root}")
            os.remove(f"{root}/next")
            count["recovered by the next patch"] += 1
        said = subprocess.run([restitch, "recover"], cwd=root, capture_output=True, text=True)
        now = tree(root)
        if said.returncode != 0 or now not in (before, after):
            odd = sorted(path for path in set(now) | set(before) if now.get(path) not in (before.get(path), after.get(path)))
            sys.exit(f"run {number}: neither before nor after: {odd}\n{said.stdout}{said.stderr}\ntree in {root}")
        count["before" if now == before else "after"] += 1
        again = subprocess.run([restitch, "recover"], cwd=root, capture_output=True, text=True)
        if again.stdout != "Nothing to recover.\n":
            sys.exit(f"run {number}: a second recovery found something: {again.stdout}")
    shutil.rmtree(home)
    print(f"{args.runs} runs, none lost: " + ", ".join(f"{count[key]} {key}" for key in sorted(count)))


if __name__ == "__main__":
    main()
