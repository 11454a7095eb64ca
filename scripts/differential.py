#!/usr/bin/env python3
"""Runs random small trees and patches through apply_patch and through an executable model of the rules.

    differential.py --model policy_model.py --bin target/release/apply_patch [--count 5000] [--seed 1] [--codex]

Both must leave the same bytes, or both must refuse. Prints each case that differs (at most --show), then a count;
exit status 1 when one differs. Nothing is written outside a temporary directory.

Where the model is known to say less than the written rules, the rules decide, and `mend` brings the model in line:
a hunk with a no-newline note tries the end of the file first, and the anchor of a hunk that only adds lines is widened
tier by tier like any other. `--as-is` leaves the model alone.
"""
import argparse, importlib.util, os, random, shutil, subprocess, sys, tempfile

WORDS = ["a", "b", "c", "x = 1", "y = 2", "return", "end", "}", "{", "", "def f():", "def g(n):", "class A:", "# Title",
         "## Part", "[table]", "key = 1", "print(a)", "foo(bar)", "it’s", "it's", "a – b", "a - b", "“q”", '"q"', "…", "...",
         "if x:", "else:", "pass", "//", "#if X", "#endif", ")", "ﬁn", "fin", "a\u00a0b", "a b"]
INDENT = ["", "", "", "  ", "    ", "\t", "        ", " "]


def line(r, small):
    if small:
        return r.choice(["a", "b", "c", "", "  a", "}"])
    return r.choice(INDENT) + r.choice(WORDS) + r.choice(["", "", "", "", " ", "\t"])


def text(r):
    small = r.random() < 0.4
    n = r.choice([0, 1, 2, 3, 5, 8, 12, 20, 30])
    lines = [line(r, small) for _ in range(n)]
    if n > 6 and r.random() < 0.4:                     # a repeated block
        k, m = r.randrange(n), r.randrange(1, 5)
        lines[r.randrange(n):0] = lines[k:k + m]
    end = r.choice(["\n"] * 8 + ["\r\n", "\r\n", "\r"])
    out = ""
    for i, l in enumerate(lines):
        e = end if r.random() < 0.97 else r.choice(["\n", "\r\n"])
        out += l + e
    if out and r.random() < 0.2:
        out = out.rstrip("\r\n")
    if r.random() < 0.06:
        out = "\ufeff" + out
    return out


def loosen(r, l):
    p = r.random()
    if p < 0.80: return l
    if p < 0.85: return l.rstrip()
    if p < 0.88: return l + " "
    if p < 0.92: return l.strip()
    if p < 0.94: return "  " + l
    if p < 0.96: return l.replace("’", "'").replace("–", "-").replace("“", '"').replace("”", '"').replace("…", "...")
    if p < 0.98: return l[1:]
    return l + "x"


def hunk(r, lines):
    out = []
    n = len(lines)
    at = r.randrange(n + 1) if n else 0
    length = r.choice([0, 1, 1, 2, 3, 3, 4, 6])
    old = lines[at:at + length]
    style = r.random()
    if style < 0.45:
        out.append("@@")
    elif style < 0.75 and n:
        for _ in range(r.choice([1, 1, 1, 2])):
            k = r.randrange(max(0, at - 6), min(n, at + 1)) if r.random() < 0.85 else r.randrange(n)
            a = lines[k]
            q = r.random()
            if q < 0.15: a = a.strip()
            elif q < 0.25: a = a[:max(1, len(a) // 2)]
            elif q < 0.30: a = a.strip() + "()"
            out.append("@@ " + a)
    elif style < 0.9:
        num = max(1, at + 1 + r.choice([0, 0, 0, 1, -1, 3, -5, 40]))
        hint = ""
        if n and r.random() < 0.4:
            hint = " " + lines[r.randrange(n)].strip()[:8]
        out.append(f"@@ -{num},{len(old)} +{num},{len(old)} @@{hint}")
    rows = []
    for l in old:
        p = r.random()
        l = loosen(r, l)
        if p < 0.35:
            rows.append("-" + l)
            if r.random() < 0.6:
                rows.append("+" + r.choice(INDENT) + "new" + str(r.randrange(3)))
        elif l == "" and r.random() < 0.5:
            rows.append("")
        else:
            rows.append(" " + l)
        if r.random() < 0.12:
            rows.append("+" + r.choice(INDENT) + "add" + str(r.randrange(3)))
    if r.random() < 0.15 or not rows:
        rows.insert(r.randrange(len(rows) + 1), "+" + r.choice(INDENT) + "ins")
    if r.random() < 0.06:
        rows.append(r.choice(["", " ", "-"]))
    if r.random() < 0.05:
        rows.insert(r.randrange(1, len(rows) + 1), "\\ No newline at end of file")
    out += rows
    if r.random() < 0.12 or (at + length >= n and r.random() < 0.3):
        out.append("*** End of File")
    return out


LINKS = {"l0": "f0", "ld": "d", "d/up": "../f1", "out": "/etc", "away": "..", "lost": "nowhere", "loop": "loop", "d/e/abs": "{{ROOT}}/f0",
         "chain": "l0", "git": ".git"}
ODD = ["./f0", "d//f2", "d/./e/f3", "d/../f0", "../f0", "/etc/x", "{{ROOT}}/f0", "{{ROOT}}", "{{ROOT}}/d/../f0", ".git/x", "d/.GIT/y", "f0/", "d",
       "a\\b", "ld/f2", "ld/new", "ld/e/f3", "out/x", "away/x", "loop/x", "lost/x", "git/x", "f0/x", "l0/x", "C:\\f0", ".gitx", "d/e"]


def patch(r, tree, odd):
    names = sorted(tree)
    out = ["*** Begin Patch"]
    for _ in range(r.choice([1, 1, 1, 1, 2, 2, 3])):
        kind = r.random()
        path = r.choice(names) if names and r.random() < 0.95 else r.choice(["new.txt", "d/new.txt", "f0", "f0/x", "no"])
        if r.random() < odd:
            path = r.choice(ODD + sorted(LINKS))
        if kind < 0.80:
            out.append("*** Update File: " + path)
            if r.random() < 0.12:
                out.append("*** Move to: " + r.choice(names + ["moved", "d/e/moved", "f1/y", path] + (ODD + sorted(LINKS) if r.random() < odd else [])))
            lines = tree.get(path, "a\nb\n").lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
            if lines and lines[-1] == "":
                lines.pop()
            hunks = [hunk(r, lines) for _ in range(r.choice([1, 1, 1, 2, 2, 3, 4]))]
            for k, h in enumerate(hunks):
                if k and r.random() < 0.04:
                    out.append("")
                out += h
        elif kind < 0.9:
            out.append("*** Add File: " + r.choice(names + ["n1", "d/n2", "d/n3"] + (ODD + sorted(LINKS) if r.random() < odd else [])))
            out += ["+" + line(r, False) for _ in range(r.randrange(3))]
        else:
            out.append("*** Delete File: " + path)
    out.append("*** End Patch")
    if r.random() < 0.03:
        out.insert(r.randrange(len(out)), r.choice(["", " ", "@@", "*** End of File", "junk", "*** Move to: z"]))
    return ("\r\n" if r.random() < 0.03 else "\n").join(out) + r.choice(["\n", "\n", ""])


def mend(model):
    plain_apply, plain_insert = model.Updater.apply, model.Updater.insert

    def apply(self, chunk):
        chunk.eof = chunk.eof or any(row.no_newline for row in chunk.rows)
        plain_apply(self, chunk)

    def insert(self, chunk, rows):
        strict = self.places

        def widened(c, low):
            for self.rung in range(4):
                if found := strict(c, low):
                    return found
            return found

        if chunk.anchors:
            self.places = widened
        try:
            plain_insert(self, chunk, rows)
        finally:
            self.__dict__.pop("places", None)

    model.Updater.apply, model.Updater.insert = apply, insert


def snapshot(root):
    out = {}
    for here, dirs, files in os.walk(root):
        for f in files + [d for d in dirs if os.path.islink(os.path.join(here, d))]:
            p = os.path.join(here, f)
            data = b"->" + os.readlink(p).encode() if os.path.islink(p) else open(p, "rb").read()
            out[os.path.relpath(p, root)] = data.replace(root.encode(), b"{{ROOT}}")
    return out


def build(root, tree):
    for n, t in tree.items():
        p = os.path.join(root, n)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        if t.startswith("->"):
            os.symlink(t[2:].replace("{{ROOT}}", root), p)
            continue
        with open(p, "wb") as f:
            f.write(t.encode("utf-8", "surrogateescape"))


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--model", required=True)
    cli.add_argument("--bin", required=True)
    cli.add_argument("--count", type=int, default=5000)
    cli.add_argument("--seed", type=int, default=1)
    cli.add_argument("--show", type=int, default=5)
    cli.add_argument("--codex", action="store_true")
    cli.add_argument("--as-is", action="store_true")
    args = cli.parse_args()
    binary = os.path.abspath(args.bin)
    sys.argv = [args.model] + (["--codex"] if args.codex else [])
    spec = importlib.util.spec_from_file_location("model", os.path.abspath(args.model))
    model = importlib.util.module_from_spec(spec)
    sys.modules["model"] = model
    spec.loader.exec_module(model)
    if not args.as_is:
        mend(model)
    command = [binary] + (["--profile", "codex"] if args.codex else [])
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    differs = accepted = 0
    home = os.getcwd()
    with tempfile.TemporaryDirectory(dir=base) as box:
        box = os.path.realpath(box)
        for case in range(args.count):
            r = random.Random(args.seed * 1_000_003 + case)
            tree = {n: text(r) for n in r.sample(["f0", "f1", "d/f2", "d/e/f3"], r.choice([1, 1, 2, 3]))}
            odd = r.choice([0, 0, 0.7])
            p = patch(r, tree, odd)
            if odd:
                tree.update((n, "->" + LINKS[n]) for n in r.sample(sorted(LINKS), r.randrange(len(LINKS))))
            a, b = os.path.join(box, "a"), os.path.join(box, "b")
            for d in (a, b):
                shutil.rmtree(d, ignore_errors=True)
                os.makedirs(d)
                build(d, tree)
            os.chdir(a)
            try:
                model.apply(p.replace("{{ROOT}}", a).encode("utf-8", "surrogateescape"))
                want, why = snapshot(a), ""
            except model.Reject as e:
                want, why = None, str(e)
            os.chdir(home)
            done = subprocess.run(command, cwd=b, input=p.replace("{{ROOT}}", b).encode("utf-8", "surrogateescape"), capture_output=True)
            got = snapshot(b) if done.returncode == 0 else None
            accepted += want is not None
            untouched = got is not None or snapshot(b) == {n: t.encode("utf-8", "surrogateescape") for n, t in tree.items()}
            if got != want or not untouched or done.returncode not in (0, 1):
                differs += 1
                if differs <= args.show:
                    print(f"=== case {case}: model {'refuses: ' + why if want is None else 'accepts'}, program exits {done.returncode}")
                    for n, t in tree.items():
                        print(f"--- {n}\n{t!r}")
                    print("--- patch\n" + p)
                    if got and want:
                        for n in sorted(set(got) | set(want)):
                            if got.get(n) != want.get(n):
                                print(f"{n}: got  {got.get(n)!r}\n{n}: want {want.get(n)!r}")
                    print(done.stderr.decode("utf-8", "replace")[:1500])
    print(f"{args.count} cases, {accepted} accepted by the model, {differs} differ")
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()
