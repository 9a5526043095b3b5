#!/usr/bin/env python3
"""Makes the documentation of the public headers with Doxygen, in build/docs, and checks it: no warning, everything that a user can
name says what it is, and each family of functions shows an example. Within a struct or class that is documented, constructors, call
operators, assignment and plain members may leave it to the struct's text."""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAID_BY_THE_CLASS = {"operator()", "operator=", "visit"}


def text_of(element, *tags):
    return "".join("".join(part.itertext()).strip() for tag in tags for part in element.findall(tag))


def documented(element):
    return bool(text_of(element, "briefdescription", "detaileddescription"))


def place(element):
    where = element.find("location")
    return f"{where.get('file')}:{where.get('line')}" if where is not None else "?"


def faults(compound):
    kind, name = compound.get("kind"), compound.findtext("compoundname")
    if kind not in ("class", "struct", "namespace", "group", "concept"):
        return
    if compound.get("prot") == "private" or name == "std" or "walk" in name.split("::"):
        return
    if not documented(compound):
        yield f"{place(compound)}: {kind} {name} is not documented"
    if kind == "group" and compound.find(".//programlisting") is None:
        yield f"{place(compound)}: the family \"{compound.findtext('title')}\" shows no example"
    # Constructors bear the name of the type, or of the base that they are inherited from.
    types = {text.partition("<")[0].rpartition("::")[2] for text in [name, *(b.text for b in compound.findall("basecompoundref"))]}
    for member in compound.iter("memberdef"):
        if member.get("prot") == "private" or documented(member):
            continue
        own = member.findtext("name")
        of_class = kind in ("class", "struct")
        if of_class and (own in SAID_BY_THE_CLASS or own in types or own.startswith("~") or member.get("kind") == "variable"):
            continue
        yield f"{place(member)}: {own} of {name} is not documented"


def main():
    (ROOT / "build").mkdir(exist_ok=True)
    if subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT).returncode:
        return 1
    folder = ROOT / "build/docs/xml"
    found, checked = [], 0
    for entry in ET.parse(folder / "index.xml").getroot().findall("compound"):
        for compound in ET.parse(folder / f"{entry.get('refid')}.xml").getroot().findall("compounddef"):
            checked += 1
            found += faults(compound)
    print("\n".join(sorted(set(found))) if found else f"{checked} pages are complete: build/docs/html/index.html")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
