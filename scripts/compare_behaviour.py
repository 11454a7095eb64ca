#!/usr/bin/env python3
"""Runs one change through several programs and prints what each did, as the table in the README says it.

    cargo build && python3 scripts/compare_behaviour.py [--verbose]

RESTITCH_APPLY_PATCH names this project's program (default: target/debug/apply_patch), PEER_APPLY_PATCH the reference tool, RG
ripgrep. Programs that are not there are left out. Each case is a small tree and one change, as an envelope for those that take it
and as a unified diff for `git apply` and GNU `patch`. Nothing is written outside a temporary directory.
"""
import os, pathlib, shutil, stat, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = os.environ.get("RESTITCH_APPLY_PATCH", str(ROOT / "target/debug/apply_patch"))
PEER = os.environ.get("PEER_APPLY_PATCH", "")
RG = os.environ.get("RG", "rg")


def programs():
    """Name, command, and whether it takes the envelope."""
    yield "restitch", [OURS], True
    if PEER:
        yield "reference", [PEER], True
    if shutil.which("git"):
        yield "git apply", ["git", "apply", "-"], False
        yield "git apply --ignore-whitespace", ["git", "apply", "--ignore-whitespace", "-"], False
    if shutil.which("patch"):
        yield "patch", ["patch", "-p1", "-f"], False
        yield "patch -l", ["patch", "-p1", "-f", "-l"], False


def envelope(*operations):
    return "*** Begin Patch\n" + "".join(operations) + "*** End Patch\n"


def update(path, rows):
    return f"*** Update File: {path}\n@@\n{rows}"


def diff(path, rows, line=1, new_line=None):
    old = sum(row[0] in " -" for row in rows.splitlines())
    new = sum(row[0] in " +" for row in rows.splitlines())
    return f"--- a/{path}\n+++ b/{path}\n@@ -{line},{old} +{new_line or line},{new} @@\n{rows}"


EDIT = " one\n-two\n+2\n three\n"
TEXT = b"one\ntwo\nthree\n"

# name: (files, envelope, unified diff)
CASES = {
    "the third of three files does not fit": (
        {"a": TEXT, "b": TEXT, "c": b"other\n"},
        envelope(*(update(name, EDIT) for name in "abc")),
        "".join(diff(name, EDIT) for name in "abc"),
    ),
    "a hunk fits in two places, line 7 is named": (
        {"f": b"k\nx\nm\n" + b"\n" * 5 + b"k\nx\nm\n" + b"\n" * 5},
        envelope(update("f", " k\n-x\n+y\n m\n")),
        diff("f", " k\n-x\n+y\n m\n", 7),
    ),
    "context has spaces where the file has tabs": (
        {"f": b"\tone\n\ttwo\n\tthree\n"},
        envelope(update("f", "     one\n-    two\n+    2\n     three\n")),
        diff("f", "     one\n-    two\n+    2\n     three\n"),
    ),
    "context has plain quotes where the file has typographic ones": (
        {"f": "“one”\ntwo\nthree\n".encode()},
        envelope(update("f", ' "one"\n-two\n+2\n three\n')),
        diff("f", ' "one"\n-two\n+2\n three\n'),
    ),
    "a removed line has plain quotes where the file has typographic ones": (
        {"f": "one\n“two”\nthree\n".encode()},
        envelope(update("f", ' one\n-"two"\n+2\n three\n')),
        diff("f", ' one\n-"two"\n+2\n three\n'),
    ),
    "two lines of context are not there": (
        {"f": b"zero\nONE\ntwo\nTHREE\nfour\n"},
        envelope(update("f", " zero\n one\n-two\n+2\n three\n four\n")),
        diff("f", " zero\n one\n-two\n+2\n three\n four\n"),
    ),
    "the file has CRLF, the patch has LF": (
        {"f": b"one\r\ntwo\r\nthree\r\n"},
        envelope(update("f", EDIT)),
        diff("f", EDIT),
    ),
    "the file has no last newline": (
        {"f": b"one\ntwo\nthree\nfour\nfive\nsix"},
        envelope(update("f", EDIT)),
        diff("f", EDIT),
    ),
    "the file begins with a byte order mark": (
        {"f": b"\xef\xbb\xbfone\ntwo\nthree\n"},
        envelope(update("f", EDIT)),
        diff("f", EDIT),
    ),
    "a Latin-1 byte in a line that stays": (
        {"f": b"one\ntwo\nthree\ncaf\xe9\n"},
        envelope(update("f", EDIT)),
        diff("f", EDIT),
    ),
    "the change is there already": (
        {"f": b"one\n2\nthree\n"},
        envelope(update("f", EDIT)),
        diff("f", EDIT),
    ),
    "two hunks of two files do not fit": (
        {"a": b"x\n", "b": b"y\n"},
        envelope(*(update(name, EDIT) for name in "ab")),
        "".join(diff(name, EDIT) for name in "ab"),
    ),
    "an executable file moves": (
        {"run!": b"one\ntwo\nthree\n"},
        envelope("*** Update File: run\n*** Move to: go\n@@\n" + EDIT),
        "diff --git a/run b/go\nrename from run\nrename to go\n" + diff("run", EDIT).replace("+++ b/run", "+++ b/go"),
    ),
    "a file moves onto another": (
        {"f": TEXT, "g": b"precious\n"},
        envelope("*** Update File: f\n*** Move to: g\n@@\n" + EDIT),
        "diff --git a/f b/g\nrename from f\nrename to g\n" + diff("f", EDIT).replace("+++ b/f", "+++ b/g"),
    ),
    "an added file is there": (
        {"f": b"precious\n"},
        envelope("*** Add File: f\n+new\n"),
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n",
    ),
    "a path leads out by ..": (
        {"f": TEXT},
        envelope("*** Add File: ../out\n+x\n"),
        "--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n",
    ),
    "a path leads out by a link": (
        {"out@": b"OUTSIDE"},
        envelope("*** Add File: out/new\n+x\n"),
        "--- /dev/null\n+++ b/out/new\n@@ -0,0 +1 @@\n+x\n",
    ),
    "a path is in .git": (
        {".git/config": b"[core]\n"},
        envelope("*** Add File: .git/hooks/post-checkout\n+x\n"),
        "--- /dev/null\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+x\n",
    ),
}


def build(top, files):
    """The tree: `name!` is executable, `name@` a link to a directory beside the tree."""
    root, outside = top / "tree", top / "outside"
    root.mkdir()
    outside.mkdir()
    for name, content in files.items():
        path = root / name.rstrip("!@")
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("@"):
            path.symlink_to(outside)
            continue
        path.write_bytes(content)
        if name.endswith("!"):
            path.chmod(0o755)
    return root


def seen(top):
    found = {}
    for path in sorted(top.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != "patch":
            mode = "+x" if path.stat().st_mode & stat.S_IXUSR else ""
            found[str(path.relative_to(top))] = (path.read_bytes(), mode)
    return found


def run(command, takes_envelope, case):
    files, as_envelope, as_diff = case
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        root = build(top, files)
        before = seen(top)
        text = as_envelope if takes_envelope else as_diff
        # Above the tree there must be no repository, or git would leave out what is outside of it.
        env = os.environ | {"GIT_CEILING_DIRECTORIES": directory}
        done = subprocess.run(command, cwd=root, input=text.encode(), capture_output=True, env=env)
        after = seen(top)
        changes = []
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                content, mode = after.get(path, (None, ""))
                shown = "gone" if content is None else repr(content if len(content) < 60 else content[:40] + b"...") + mode
                changes.append(f"{path.removeprefix('tree/')} = {shown}")
        return done, changes


def said(command, cwd):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout + done.stderr


def searches():
    """The same searches by `restitch search` and by `rg`."""
    ours = str(pathlib.Path(OURS).with_name("restitch"))
    content = ["search", "--mode", "content"]
    both = [("restitch search", [ours, *content]), ("rg", [RG, "-n"])]
    if not shutil.which(RG):
        both.pop()
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        (top / ".git").mkdir()
        for number in range(200):
            (top / f"{number}.txt").write_text("".join(f"{line} row\n" for line in range(50)))
        (top / ".git/inside").write_text("needle\n")
        (top / ".hidden").write_text("needle\n")
        (top / ".gitignore").write_text("ignored\n")
        (top / "ignored").write_text("pin\n")
        (top / "long").write_text("a" * 100_000 + "cushion\n")
        for name, command in both:
            many = ["--limit", "100000", "--max-bytes", "10000000"] if name != "rg" else []
            orders = {said([*command, *many, "row"], top)[1] for _ in range(20)}
            print(f"\n## {name}\n\n- twenty times the same: {len(orders)} orders")
            print(f"- very many rows: {len(said([*command, 'row'], top)[1].splitlines())} lines")
            print(f"- a line of 100,000 characters: {len(said([*command, 'cushion'], top)[1])} bytes")
            for what, pattern in [("hidden files", "needle"), ("ignored files", "pin"), ("no regular expression", "a(")]:
                code, text = said([*command, pattern], top)
                print(f"- {what}: exit {code}; {text.decode(errors='replace')!r}")
        if len(both) == 2:
            print(f"- rg -. for hidden files: {said([RG, '-.', 'needle'], top)[1]!r}")
            print(f"- rg --sort path: {len({said([RG, '--sort', 'path', 'row'], top)[1] for _ in range(5)})} orders")


def main():
    verbose = "--verbose" in sys.argv
    for name, case in CASES.items():
        print(f"\n## {name}\n")
        for program, command, takes_envelope in programs():
            done, changes = run(command, takes_envelope, case)
            print(f"- {program}: exit {done.returncode}; {'; '.join(changes) or 'nothing changed'}")
            if verbose:
                for line in (done.stdout + done.stderr).decode(errors="replace").splitlines()[:14]:
                    print(f"      {line}")
    searches()


if __name__ == "__main__":
    main()
