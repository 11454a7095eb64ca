#!/usr/bin/env python3
"""Writes tests/fixtures/formats/generated/*.cases: scenarios written by hand, each in every shape that its language has.

Scenarios are small files before and after a change; the diffs come from Python's difflib, so they owe nothing to this
crate. What `git apply` and GNU `patch` make of the unified ones is recorded when they are installed.
"""

import difflib
import json
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent / "tests/fixtures/formats/generated"

# name, path, flags, before, after
SCENARIOS = [
    ("python-function", "src/harvest.py", "", """\
import csv

def read(path):
    with open(path) as file:
        return list(csv.reader(file))

def total(rows):
    out = 0
    for row in rows:
        out += float(row[2])
    return out

def main():
    print(total(read('crop.csv')))
""", """\
import csv
from pathlib import Path

def read(path):
    with Path(path).open(newline='') as file:
        return list(csv.reader(file))

def total(rows):
    return sum(float(row[2]) for row in rows)

def main():
    print(total(read('crop.csv')))
"""),
    ("rust-two-hunks", "src/reservoir.rs", "", """\
use std::fmt;

/// A basin that holds water.
pub struct Basin {
    level: f64,
    depth: f64,
}

impl Basin {
    pub fn new(depth: f64) -> Self {
        Basin { level: 0.0, depth }
    }

    pub fn fill(&mut self, by: f64) {
        self.level += by;
    }

    pub fn is_full(&self) -> bool {
        self.level >= self.depth
    }
}

impl fmt::Display for Basin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} of {}", self.level, self.depth)
    }
}
""", """\
use std::fmt;

/// A basin that holds water.
#[derive(Clone, Debug)]
pub struct Basin {
    level: f64,
    depth: f64,
}

impl Basin {
    pub fn new(depth: f64) -> Self {
        Basin { level: 0.0, depth }
    }

    pub fn fill(&mut self, by: f64) {
        self.level = (self.level + by).min(self.depth);
    }

    pub fn is_full(&self) -> bool {
        self.level >= self.depth
    }
}

impl fmt::Display for Basin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} of {:.1}", self.level, self.depth)
    }
}
"""),
    ("sql-comments", "db/002_tides.sql", "", """\
-- tides by harbour
create table tide (
    harbour text not null,
    -- metres above datum
    height real not null,
    at timestamp not null
);

-- old index
create index tide_at on tide (at);
""", """\
-- tides by harbour
create table tide (
    harbour text not null,
    height real not null,
    at timestamptz not null
);

create index tide_harbour_at on tide (harbour, at);
"""),
    ("makefile-tabs", "Makefile", "", """\
all: kiln

kiln: kiln.o fire.o
\tcc -o kiln kiln.o fire.o

clean:
\trm -f *.o
""", """\
all: kiln

kiln: kiln.o fire.o glaze.o
\tcc -o kiln kiln.o fire.o glaze.o

clean:
\trm -f *.o kiln
"""),
    ("yaml-list", ".ci/jobs.yml", "", """\
jobs:
  build:
    steps:
      - run: make
      - run: make check
  deploy:
    steps:
      - run: make
      - run: ./deploy.sh
""", """\
jobs:
  build:
    steps:
      - run: make
      - run: make check
      - run: make lint
  deploy:
    steps:
      - run: make
      - run: ./deploy.sh --dry-run
"""),
    ("markdown-headings", "docs/guide.md", "", """\
# Guide

## Install

Run the script.

## Use

- open the gate
- let the water in

## Notes

---
""", """\
# Guide

## Install

Run the script `setup.sh`.

## Use

- open the gate
- let the water in
- close the gate

## Notes

None.

---
"""),
    ("typescript-class", "src/playlist.ts", "", """\
export class Playlist {
  private songs: Song[] = [];

  add(song: Song) {
    this.songs.push(song);
  }

  next(): Song {
    return this.songs.shift();
  }
}
""", """\
export class Playlist {
  private readonly songs: Song[] = [];

  add(song: Song): void {
    this.songs.push(song);
  }

  next(): Song | undefined {
    return this.songs.shift();
  }
}
"""),
    ("go-error", "store/store.go", "", """\
package store

import "os"

func Load(name string) []byte {
\tdata, _ := os.ReadFile(name)
\treturn data
}
""", """\
package store

import (
\t"fmt"
\t"os"
)

func Load(name string) ([]byte, error) {
\tdata, err := os.ReadFile(name)
\tif err != nil {
\t\treturn nil, fmt.Errorf("load %s: %w", name, err)
\t}
\treturn data, nil
}
"""),
    ("css-colours", "web/site.css", "", """\
:root {
  --ink: #222;
  --paper: #fff;
}

a {
  color: var(--ink);
}

a:hover {
  color: var(--paper);
}
""", """\
:root {
  --ink: #111;
  --paper: #fdfdfd;
}

a {
  color: var(--ink);
}

a:focus,
a:hover {
  color: var(--paper);
}
"""),
    ("html-nested", "web/index.html", "", """\
<html>
  <body>
    <ul>
      <li>one</li>
      <li>two</li>
    </ul>
  </body>
</html>
""", """\
<html lang="en">
  <body>
    <ul>
      <li>one</li>
      <li>two</li>
      <li>three</li>
    </ul>
  </body>
</html>
"""),
    ("toml-tables", "agent.toml", "", """\
[model]
name = "small"
limit = 10

[tools]
edit = true
shell = false
""", """\
[model]
name = "large"
limit = 10

[tools]
edit = true
search = true
shell = false
"""),
    ("c-header", "include/gauge.h", "", """\
#ifndef GAUGE_H
#define GAUGE_H

int gauge_read(int pin);
void gauge_reset(void);

#endif
""", """\
#ifndef GAUGE_H
#define GAUGE_H

#include <stdint.h>

int32_t gauge_read(uint8_t pin);
void gauge_reset(void);

#endif
"""),
    ("shell-script", "bin/backup", "exec", """\
#!/bin/sh
set -e
dir=$1
tar cf backup.tar "$dir"
echo done
""", """\
#!/bin/sh
set -eu
dir=${1:?directory}
tar czf backup.tar.gz "$dir"
echo done
"""),
    ("json-config", "package.json", "", """\
{
  "name": "orchard",
  "version": "1.2.0",
  "scripts": {
    "test": "run-tests"
  }
}
""", """\
{
  "name": "orchard",
  "version": "1.3.0",
  "scripts": {
    "lint": "check .",
    "test": "run-tests"
  }
}
"""),
    ("unicode-text", "notes/grüße.txt", "", """\
Grüße aus Köln – “schön” hier.
Ein zweiter Satz…
Noch ein Satz.
""", """\
Grüße aus Köln – “sehr schön” hier.
Ein zweiter Satz…
Noch ein Satz.
Und Schluss.
"""),
    ("blank-lines", "poem.txt", "", """\
a line


another line



the last line
""", """\
a line

another line



the very last line
"""),
    ("first-and-last", "list.txt", "", """\
alpha
beta
gamma
delta
epsilon
zeta
eta
theta
""", """\
Alpha
beta
gamma
delta
epsilon
zeta
eta
Theta
"""),
    ("delete-lines", "log.txt", "", """\
keep 1
drop 1
keep 2
drop 2
drop 3
keep 3
""", """\
keep 1
keep 2
keep 3
"""),
]


def numbered(name, path, count, changes):
    before = [f"{name} {n}" for n in range(1, count + 1)]
    after = list(before)
    for line, text in changes:
        after[line - 1] = text
    return "\n".join(before) + "\n", "\n".join(line for line in after if line is not None) + "\n"


SCENARIOS.append(("three-far-hunks", "ledger.txt", "", *numbered("entry", "ledger.txt", 60, [(5, "entry five"), (30, None), (55, "entry 55\nentry 55 a")])))


def hunks(before, after, context=3):
    """The hunks of a unified diff: header numbers and rows."""
    a, b = before.splitlines(), after.splitlines()
    groups = difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(context)
    out = []
    for group in groups:
        rows = []
        for tag, i, j, k, l in group:
            if tag == "equal":
                rows += [" " + line for line in a[i:j]]
            else:
                rows += ["-" + line for line in a[i:j]] + ["+" + line for line in b[k:l]]
        i, j, k, l = group[0][1], group[-1][2], group[0][3], group[-1][4]
        out.append((i + 1 if j > i else i, j - i, k + 1 if l > k else k, l - k, rows))
    return out


def at(start, count, new_start, new_count, hint=""):
    side = lambda line, count: f"{line}" if count == 1 else f"{line},{count}"
    return f"@@ -{side(start, count)} +{side(new_start, new_count)} @@" + (f" {hint}" if hint else "")


def body(before, after, *, context=3, shift=0, hint="", counts=None, numbers=True, strip_blank=False):
    out = []
    for start, count, new_start, new_count, rows in hunks(before, after, context):
        if not numbers:
            out.append("@@ ... @@")
        elif counts:
            out.append(at(start, counts, new_start, counts))
        else:
            out.append(at(start + shift, count, new_start + shift, new_count, hint))
        out += [("" if row == " " and strip_blank else row) for row in rows]
    return "\n".join(out) + "\n"


def git_head(path, index=True):
    return f"diff --git a/{path} b/{path}\n" + ("index 3b18e51..7d1f3a2 100644\n" if index else "") + f"--- a/{path}\n+++ b/{path}\n"


MAIL = """\
From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001
From: A. Gardener <gardener@example.org>
Date: Tue, 3 Mar 2026 10:00:00 +0100
Subject: [PATCH] Tend the garden

- weed the beds
- water the trees
---
 {path} | 4 ++--
 1 file changed, 2 insertions(+), 2 deletions(-)

"""

# shape: (text, arguments, strip for the judges or None)
UNIFIED = {
    "git": lambda p, a, b: (git_head(p) + body(a, b), "", 1),
    "plain-dated": lambda p, a, b: (f"--- old/{p}\t2026-03-01 10:00:00.000000000 +0100\n+++ new/{p}\t2026-03-02 10:00:00.000000000 +0100\n" + body(a, b), "", 1),
    "no-prefix": lambda p, a, b: (f"--- {p}\n+++ {p}\n" + body(a, b), "", 0),
    "mail": lambda p, a, b: (MAIL.format(path=p) + git_head(p) + body(a, b) + "-- \n2.47.3\n\n", "", 1),
    "fenced": lambda p, a, b: ("I have made the change:\n\n```diff\n" + git_head(p, False) + body(a, b) + "```\n\nIt does what you asked for.\n", "", 1),
    "small-counts": lambda p, a, b: (f"--- a/{p}\n+++ b/{p}\n" + body(a, b, counts=1), "", 1),
    "no-numbers": lambda p, a, b: (f"--- a/{p}\n+++ b/{p}\n" + body(a, b, numbers=False), "", 1),
    "bare-blank-context": lambda p, a, b: (f"--- a/{p}\n+++ b/{p}\n" + body(a, b, strip_blank=True), "", 1),
    "crlf-patch": lambda p, a, b: ((git_head(p) + body(a, b)).replace("\n", "\r\n"), "", 1),
    "numbers-off": lambda p, a, b: (git_head(p) + body(a, b, shift=7), "", 1),
    "hinted": lambda p, a, b: (git_head(p) + body(a, b, hint="some function("), "", 1),
    "one-line-context": lambda p, a, b: (git_head(p) + body(a, b, context=1), "", 1),
    "svn": lambda p, a, b: (f"Index: {p}\n{'=' * 67}\n--- {p}\t(revision 41)\n+++ {p}\t(working copy)\n" + body(a, b), "", 0),
    "deep-prefix": lambda p, a, b: (f"--- x/y/{p}\n+++ x/z/{p}\n" + body(a, b), "--strip 2", 2),
}


def block_pairs(before, after):
    """Old and new lines of each hunk, with context."""
    out = []
    for _, _, _, _, rows in hunks(before, after, 2):
        old = "".join(row[1:] + "\n" for row in rows if row[0] != "+")
        new = "".join(row[1:] + "\n" for row in rows if row[0] != "-")
        out.append((old, new))
    return out


def block(old, new, mark="<", signs=7):
    first, last = ("<" * signs, ">" * signs) if mark == "<" else ("-" * signs, "+" * signs)
    return f"{first} SEARCH\n{old}{'=' * signs}\n{new}{last} REPLACE\n"


def blocks(pairs, **how):
    return "".join(block(old, new, **how) for old, new in pairs)


BLOCKS = {
    "bare": lambda p, q: "".join(p + "\n" + block(*one) for one in q),
    "named-once": lambda p, q: p + "\n" + blocks(q),
    "name-above-fence": lambda p, q: f"{p}\n```\n{blocks(q)}```\n",
    "name-in-fence": lambda p, q: f"```python\n{p}\n{blocks(q)}```\n",
    "name-behind-fence": lambda p, q: f"```{p if '.' in p or '/' in p else './' + p}\n{blocks(q)}```\n",
    "bold-name": lambda p, q: f"**{p}**\n\n{blocks(q)}",
    "heading": lambda p, q: f"### `{p}`\n\n```\n{blocks(q)}```\n",
    "dashes": lambda p, q: f"{p}\n" + blocks(q, mark="-"),
    "nine-signs": lambda p, q: f"{p}\n" + blocks(q, signs=9),
    "prose": lambda p, q: f"First I change the file as you asked.\n\n{p}\n{blocks(q)}\nThat is all there is to do here.\n",
    "crlf": lambda p, q: f"{p}\n{blocks(q)}".replace("\n", "\r\n"),
}


def texts(before, after):
    """Replacements of whole lines whose old text is there once."""
    return [(old, new) for old, new in block_pairs(before, after)]


def one_line(value):
    return json.dumps(value, ensure_ascii=False) + "\n"


def replacement(old, new, **more):
    return {"old_string": old, "new_string": new, **more}


def headerless(before, after):
    return "".join("@@\n" + "".join(row + "\n" for row in rows) for *_, rows in hunks(before, after))


EDITS = {
    "list": lambda p, a, b: one_line([{"path": p, **replacement(*one)} for one in texts(a, b)]),
    "edits-of-one-file": lambda p, a, b: one_line({"path": p, "edits": [replacement(*one) for one in texts(a, b)]}),
    "edits-of-files": lambda p, a, b: one_line({"edits": [{"path": p, **replacement(*one)} for one in texts(a, b)]}),
    "file-path": lambda p, a, b: one_line([{"file_path": p, **replacement(*one, replace_all=False)} for one in texts(a, b)]),
    "expected": lambda p, a, b: one_line([{"path": p, **replacement(*one, expected_replacements=1)} for one in texts(a, b)]),
    "str-replace": lambda p, a, b: one_line([{"command": "str_replace", "path": p, "old_str": one[0], "new_str": one[1]} for one in texts(a, b)]),
    "whole-file": lambda p, a, b: one_line({"path": p, "content": b}),
    "create-command": lambda p, a, b: one_line({"command": "create", "path": p, "file_text": b}),
    "update-file": lambda p, a, b: one_line({"type": "update_file", "path": p, "diff": headerless(a, b)}),
    "call": lambda p, a, b: one_line([{"type": "apply_patch_call", "call_id": "call_7", "id": "x", "status": "completed", "operation": {"type": "update_file", "path": p, "diff": headerless(a, b)}}]),
    "pretty-in-a-fence": lambda p, a, b: "```json\n" + json.dumps([{"path": p, **replacement(*one)} for one in texts(a, b)], indent=2, ensure_ascii=False) + "\n```\n",
    "without-newlines": lambda p, a, b: one_line([{"path": p, **replacement(one[0][:-1], one[1][:-1])} for one in texts(a, b)]),
}


def envelope(path, before, after):
    return f"*** Begin Patch\n*** Update File: {path}\n{headerless(before, after)}*** End Patch\n"


def heredoc(patch, *, word="EOF", quote="'", command="apply_patch", before="", behind=""):
    return f"{before}{command} <<{quote}{word}{quote}{behind}\n{patch}{word}\n"


def stays(patch):
    """Whether a shell changes nothing in it without quotes."""
    return not set("$`\\") & set(patch)


# shape: words from the patch, and what they are: a call (with a directory), "bare" or "other"
INVOCATIONS = {
    "argument": (lambda p: ["apply_patch", p], "call", None),
    "argument-by-path": (lambda p: ["/usr/local/bin/applypatch", p], "call", None),
    "bash-heredoc": (lambda p: ["bash", "-lc", heredoc(p)], "call", None),
    "sh-heredoc-in-double-quotes": (lambda p: ["/bin/sh", "-c", heredoc(p, quote='"', word="PATCH")], "call", None),
    "zsh-below-a-directory": (lambda p: ["zsh", "-lc", heredoc(p, before="cd src/app && ")], "call", "src/app"),
    "bash-below-a-quoted-directory": (lambda p: ["bash", "-c", heredoc(p, before='cd "my dir" && ')], "call", "my dir"),
    "bash-piped": (lambda p: ["bash", "-lc", heredoc(p, command="cat", behind=" | apply_patch")], "call", None),
    "bash-heredoc-without-quotes": (lambda p: ["bash", "-lc", heredoc(p, quote="")], lambda p: "call" if stays(p) else "other", None),
    "pwsh-here-string": (lambda p: ["pwsh", "-NoProfile", "-Command", f"apply_patch @'\n{p}'@"], "call", None),
    "cmd-heredoc": (lambda p: ["cmd", "/c", heredoc(p)], "call", None),
    "bash-in-single-quotes": (lambda p: ["bash", "-c", f"apply_patch '{p}'"], lambda p: "other" if "'" in p else "call", None),
    "patch-as-command": (lambda p: [p], "bare", None),
    "patch-as-script": (lambda p: ["bash", "-lc", p], "bare", None),
    "something-behind": (lambda p: ["bash", "-lc", heredoc(p, behind=" && make check")], "other", None),
    "into-a-file": (lambda p: ["bash", "-lc", heredoc(p, behind=" > log")], "other", None),
    "as-somebody-else": (lambda p: ["bash", "-lc", heredoc(p, before="sudo ")], "other", None),
    "kept-for-later": (lambda p: ["bash", "-lc", heredoc(p, command="cat", behind=" > change.patch")], "other", None),
    "another-program": (lambda p: ["bash", "-lc", heredoc(p, command="git apply")], "other", None),
    "with-a-flag": (lambda p: ["apply_patch", "--check", p], "other", None),
}


def invocation(name, shape, patch):
    words, want, directory = INVOCATIONS[shape]
    want = want(patch) if callable(want) else want
    case = {"name": f"{name}/{shape}", "words": words(patch), "want": want}
    if want == "call":
        case |= {"patch": patch, "directory": directory}
    return json.dumps(case, ensure_ascii=False) + "\n"


def judge(tool, path, before, text, strip, exe):
    """What another tool makes of a patch."""
    if not shutil.which(tool):
        return None
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory) / "tree"
        file = root / path
        file.parent.mkdir(parents=True)
        file.write_bytes(before.encode())
        (pathlib.Path(directory) / "patch").write_bytes(text.encode())
        command = ["git", "apply", f"-p{strip}", "../patch"] if tool == "git" else ["patch", f"-p{strip}", "-s", "-f", "-i", "../patch"]
        done = subprocess.run(command, cwd=root, capture_output=True)
        return file.read_bytes().decode() if done.returncode == 0 else "refused"


def verdict(tool, path, before, after, text, strip):
    got = judge(tool, path, before, text, strip, False)
    return "same" if got == after else "refuses" if got == "refused" else "differs"


def write(name, cases):
    HERE.mkdir(parents=True, exist_ok=True)
    with open(HERE / name, "w", newline="") as file:
        file.write("".join(cases))
    print(name, len(cases))


def case(name, path, flags, before, after, text, args="", judges=""):
    crlf = text.endswith("\r\n")
    how = (["crlf"] if crlf else []) + ([args] if args else [])
    text = text.replace("\r\n", "\n") if crlf else text
    return "".join([
        f"%% case {name}\n",
        f"%% file {path}{' ' + flags if flags else ''}\n{before}",
        f"%% patch{' ' + ' '.join(how) if how else ''}\n{text}",
        f"%% want {path}{' ' + flags if flags else ''}\n{after}",
        judges,
    ])


def main():
    unified, block_cases, edits, invocations = [], [], [], []
    for name, path, flags, before, after in SCENARIOS:
        for shape, make in UNIFIED.items():
            text, args, strip = make(path, before, after)
            judges = f"%% judges git={verdict('git', path, before, after, text, strip)} patch={verdict('patch', path, before, after, text, strip)} strip={strip}\n"
            unified.append(case(f"{name}/{shape}", path, flags, before, after, text, args, judges))
        pairs = block_pairs(before, after)
        for shape, make in BLOCKS.items():
            block_cases.append(case(f"{name}/{shape}", path, flags, before, after, make(path, pairs)))
        for shape, make in EDITS.items():
            edits.append(case(f"{name}/{shape}", path, flags, before, after, make(path, before, after)))
        invocations += [invocation(name, shape, envelope(path, before, after)) for shape in INVOCATIONS]
    write("unified.cases", unified)
    write("blocks.cases", block_cases)
    write("edits.cases", edits)
    write("invocations.jsonl", invocations)


if __name__ == "__main__":
    main()
