#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Checks the text of the documentation: lines within 120 characters, and links that lead somewhere.

    check_docs.py                   check all pages; exit 1 and name page, line and what is wrong
    check_docs.py --wrap FILE...    wrap the paragraphs of these files that have longer lines
    check_docs.py --root DIR        another tree

Longer lines are allowed in tables, headings, images and comments, and in the output of commands (```console): these
cannot be wrapped. A link to a heading must name one: `page.md#the-heading`.
"""

import argparse
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "bench/README.md", "docs/**/*.md"]
#: Pages whose links are checked as well; their lines keep the width in which they were written.
LINKS_ONLY = ["CHANGELOG.md"]
WIDTH = 120

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
MARKER = re.compile(r"( *)([-*+]|\d+\.) +")
#: What a line break must not cut: links and code.
WHOLE = re.compile(r"\[[^\]]*\]\([^)]*\)|`[^`]{1,60}`")


def kinds(lines):
    """What each line is: prose, blank, code, output, table or fixed (headings, comments, images)."""
    result, fence, listed = [], None, False
    for i, line in enumerate(lines):
        opening = re.match(r" *```(\w*)", line)
        if fence is not None:
            result.append("output" if fence == "console" and not command_line(lines, i) else "code")
            fence = None if opening else fence
            continue
        if opening:
            fence = opening[1]
            result.append("code")
        elif not line.strip():
            result.append("blank")
        elif line.lstrip().startswith("|"):
            result.append("table")
        elif re.match(r"#+ |<!--|!\[", line):
            result.append("fixed")
            listed = False
        elif line.startswith("    ") and not listed:
            result.append("code")
        else:
            listed = bool(MARKER.match(line)) or (listed and line.startswith("  "))
            result.append("prose")
    return result


def command_line(lines, i):
    """Whether line i of a console block is a command or goes on with one."""
    return lines[i].lstrip().startswith("$ ") or (lines[i - 1].endswith("\\") and command_line(lines, i - 1))


def slug(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text):
    lines = text.split("\n")
    return {slug(re.sub(r"^#+ ", "", line)) for line, kind in zip(lines, kinds(lines))
            if kind == "fixed" and line.startswith("#")}


def check_links(path, root, lines, what):
    wrong = []
    for number, (line, kind) in enumerate(zip(lines, what), 1):
        if kind in ("code", "output"):
            continue
        for match in LINK.finditer(line):
            target = match[1] or match[2]
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                wrong.append(f"{path.relative_to(root)}:{number}: the link {target} leads nowhere: no {file}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                wrong.append(f"{path.relative_to(root)}:{number}: the link {target}: no heading of {name or 'this page'} "
                             f"is called so")
    return wrong


def check_width(path, root, lines, what):
    return [f"{path.relative_to(root)}:{number}: {len(line)} characters, at most {WIDTH} are allowed "
            f"(check_docs.py --wrap wraps paragraphs)"
            for number, (line, kind) in enumerate(zip(lines, what), 1)
            if len(line) > WIDTH and kind in ("prose", "code") and "://" not in line]


def wrap(text):
    """The text with the paragraphs and list items that have long lines wrapped anew."""
    lines = text.split("\n")
    what = kinds(lines)
    result, i = [], 0
    while i < len(lines):
        if what[i] != "prose":
            result.append(lines[i])
            i += 1
            continue
        end = i + 1
        quoted = lines[i].startswith("> ")
        while (end < len(lines) and what[end] == "prose" and not MARKER.match(lines[end])
               and lines[end].startswith("> ") == quoted):
            end += 1
        block = lines[i:end]
        if any(len(line) > WIDTH for line in block):
            marker = MARKER.match(block[0])
            first = "> " if quoted else marker[0] if marker else re.match(" *", block[0])[0]
            words = " ".join(line[2:] if quoted else line.strip() for line in block)
            words = words if quoted else words[len(first.strip()):].strip()
            words = WHOLE.sub(lambda match: match[0].replace(" ", "\0"), words)
            block = textwrap.wrap(words, WIDTH, initial_indent=first,
                                  subsequent_indent=first if quoted else " " * len(first),
                                  break_long_words=False, break_on_hyphens=False)
            block = [line.replace("\0", " ") for line in block]
        result += block
        i = end
    return "\n".join(result)


def main():
    parser = argparse.ArgumentParser(description="Check the text of the documentation.")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--wrap", nargs="+", type=pathlib.Path, default=[], metavar="FILE")
    options = parser.parse_args()
    for path in options.wrap:
        path.write_text(wrap(path.read_text()))
    if options.wrap:
        return 0
    root = options.root.resolve()
    paths = sorted({path for pattern in PAGES for path in root.glob(pattern)})
    wrong = []
    for path in paths + [root / name for name in LINKS_ONLY if (root / name).exists()]:
        lines = path.read_text().split("\n")
        what = kinds(lines)
        wrong += check_links(path, root, lines, what)
        if path in paths:
            wrong += check_width(path, root, lines, what)
    if not paths:
        wrong.append(f"{root} has no pages")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(paths)} pages, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
