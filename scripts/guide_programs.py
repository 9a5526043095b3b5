#!/usr/bin/env python3
"""Writes the programs of a page of the documentation into a folder: PAGE FOLDER. Prints the path of each.

A program is a block of C++ that starts with an #include; its file is named after the block, ```cpp NAME.cpp. The block
```text behind it is what it prints, which check_examples.py reads from lines `//> ...` at the file's end."""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def programs(text, page):
    """Pairs of file name and source."""
    found, last = [], None
    for language, name, body in BLOCK.findall(text):
        if language == "text" and last:
            last[1] += "".join(f"//> {line}\n" for line in body.splitlines())
        last = None
        if language == "cpp" and body.startswith("#include"):
            if not name:
                sys.exit(f"{page}: the program `{body.splitlines()[0]}` ... has no name: write ```cpp NAME.cpp")
            last = [name, body]
            found.append(last)
    return found


def main():
    page, folder = (pathlib.Path(a) for a in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in programs(page.read_text(), page):
        path = folder / name
        if not path.exists() or path.read_text() != source:
            path.write_text(source)
        print(path)


if __name__ == "__main__":
    main()
