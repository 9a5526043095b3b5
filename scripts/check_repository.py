#!/usr/bin/env python3
"""Checks what a compiler does not: the direction of includes, the length of files, that READMEs name the headers beside
them, that no two types of one program share a name, and that docs/semantics.md names tests that exist. Prints each fault and exits with 1 if there is one."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 500

BELOW_RUNTIME = {"uop", "rewrite"}
BELOW_CODEGEN = BELOW_RUNTIME | {"runtime"}
BELOW_SCHEDULE = BELOW_CODEGEN | {"codegen"}
BELOW_TENSOR = BELOW_SCHEDULE | {"gradient", "schedule"}

# Folder -> what it may include besides itself and include/sinter: dependencies point one way. A name covers the folders in it, but for
# those of the file's own part of the library: each of them is named.
MAY_INCLUDE = {
    "uop": set(),
    "rewrite": {"uop"},
    "gradient": {"uop", "rewrite"},
    "runtime": BELOW_RUNTIME,
    "runtime/interpreter": BELOW_RUNTIME | {"runtime"},
    "codegen": BELOW_CODEGEN,
    "schedule": BELOW_SCHEDULE,
    "tensor": BELOW_TENSOR,
    "tensor/ops": BELOW_TENSOR | {"tensor"},
    "nn": {"tensor", "runtime"},  # of runtime: writing files
    "nn/data": {"runtime"},  # the environment, and starting a program
    "codegen/kernel": BELOW_CODEGEN,
    "codegen/prepare": BELOW_CODEGEN | {"codegen/kernel"},
    "codegen/opt": BELOW_CODEGEN | {"codegen/kernel"},
    "codegen/instructions": BELOW_CODEGEN,
    "codegen/loops": BELOW_CODEGEN | {"codegen/kernel", "codegen/opt", "codegen/instructions"},
    "codegen/expand": BELOW_CODEGEN | {"codegen/kernel", "codegen/prepare", "codegen/opt", "codegen/instructions", "codegen/loops"},
    "codegen/heuristic": BELOW_CODEGEN | {"codegen/kernel", "codegen/prepare", "codegen/opt", "codegen/loops", "codegen/expand"},
    "codegen/search": BELOW_CODEGEN | {"codegen/kernel", "codegen/opt", "codegen/loops", "codegen/heuristic"},
    "codegen/render": BELOW_CODEGEN | {"codegen/instructions"},
    "schedule/graph": BELOW_SCHEDULE,
    "schedule/collect": BELOW_SCHEDULE | {"schedule/graph"},
    "schedule/simplify": BELOW_SCHEDULE | {"schedule/graph"},
    "schedule/partition": BELOW_SCHEDULE | {"schedule/graph", "schedule/simplify"},
    "schedule/kernels": BELOW_SCHEDULE | {"schedule/graph", "schedule/collect", "schedule/partition"},
    "schedule/run": BELOW_SCHEDULE | {"schedule", "schedule/graph", "schedule/collect", "schedule/partition", "schedule/kernels"},
}

STAGED = {"codegen", "schedule"}  # whose folders have rows of their own, each, and which stand above them
for part in STAGED:
    MAY_INCLUDE[part] = MAY_INCLUDE[part] | {folder for folder in MAY_INCLUDE if folder.startswith(f"{part}/")}


def folder_of(parts):
    """The row of the table for a file's folders, the most specific one; None for what is no folder of src."""
    return next((f for f in ("/".join(parts[:n]) for n in range(len(parts), 0, -1)) if f in MAY_INCLUDE), None)


def may_include(folder, target):
    top = target.split("/")[0]
    return target == folder or target in MAY_INCLUDE[folder] or (top in MAY_INCLUDE[folder] and top != folder.split("/")[0])


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines()]


def include_faults():
    for path in tracked("src/*.h", "src/*.cpp"):
        parts = path.relative_to(ROOT / "src").parts
        folder = folder_of(parts[:-1])
        if folder in STAGED and len(parts) > 2:
            yield f"{path.relative_to(ROOT)}: its folder has no row in MAY_INCLUDE of scripts/check_repository.py"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "([^"]+)"', line)
            if not found:
                if re.match(r"\s*#include <(llvm|clang)/", line) and "clang_plugin" not in parts:
                    yield f"{path.relative_to(ROOT)}:{number}: only src/runtime/clang_plugin sees LLVM"
                continue
            target = folder_of(found.group(1).split("/")[:-1])
            if target and folder and not may_include(folder, target):
                yield f"{path.relative_to(ROOT)}:{number}: src/{folder} must not include src/{target}"
    for path in tracked("include/*.h"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "([^"]+)"', line)
            if found and not found.group(1).startswith("sinter/"):
                yield f"{path.relative_to(ROOT)}:{number}: a public header includes the private {found.group(1)}"


def length_faults():
    for path in tracked("*.h", "*.cpp", "*.def", "*.py"):
        lines = len(path.read_text().splitlines())
        if lines > LONGEST:
            yield f"{path.relative_to(ROOT)}: {lines} lines, at most {LONGEST}"


def readme_faults():
    """A folder's README names each header that stands in it."""
    for path in tracked("src/*.h"):
        readme = path.parent / "README.md"
        if readme.exists() and not re.search(rf"\b{re.escape(path.stem)}\b", readme.read_text()):
            yield f"{readme.relative_to(ROOT)}: does not name {path.name}"


def types_of(path):
    """Qualified names of the types that a file defines, but for those in unnamed namespaces."""
    scopes = []
    for line in path.read_text().splitlines():
        if scope := re.match(r"(?:inline )?namespace\b ?([\w:]*) ?\{$", line):
            scopes.append(scope.group(1))
        elif line.startswith("}  // namespace"):
            scopes.pop()
        elif (found := re.match(r"(?:class|struct|union|enum class) (?:alignas\(\w+\) )?(\w+)\b(?![<:;])[^;]*\{", line)) and "" not in scopes:
            yield "::".join([*scopes, found.group(1)])


def name_faults():
    """Two types of one name in one program are undefined behaviour that no linker reports."""
    library = tracked("include/*.h", "src/*.h", "src/*.cpp")
    kinds = sorted({p.parent for p in tracked("tests/*/*.cpp")})
    for files in (library, *(library + tracked("tests/*.h") + [p for p in kind.glob("*.cpp")] for kind in kinds)):
        defined = {}
        for path in files:
            for name in types_of(path):
                other = defined.setdefault(name, path)
                if other != path:
                    yield f"{path.relative_to(ROOT)}: {name} is a type in {other.relative_to(ROOT)} too"


def portable_faults():
    """What one of the compilers that build the library refuses, found before it is asked."""
    for path in tracked("include/*.h", "src/*.h", "src/*.cpp", "bench/*.cpp", "examples/*.cpp", "tests/*.h", "tests/*.cpp"):
        if "stable_sort(" in path.read_text():
            yield f"{path.relative_to(ROOT)}: Clang 19 calls stable_sort's buffer deprecated; sort by one key more"


def semantics_faults():
    """Each rule of docs/semantics.md names at least one test in backticks, and each such test exists."""
    page = ROOT / "docs/semantics.md"
    tests = "\n".join(p.read_text() for p in tracked("tests/*.cpp"))
    names = set(re.findall(r'TEST_CASE\(\s*"([^"]+)"', tests))
    rules = re.findall(r"^- \*\*([HVGNF]\d)\*\*(.*?)(?=^- \*\*|^## |\Z)", page.read_text(), re.M | re.S)
    expected = [f"{letter}{i}" for letter, last in (("H", 6), ("V", 7), ("G", 7), ("N", 6), ("F", 7)) for i in range(1, last + 1)] + ["F9"]
    for rule in expected:
        if rule not in dict(rules):
            yield f"docs/semantics.md: rule {rule} is missing"
    for rule, text in rules:
        named = re.findall(r"Test: `([^`]+)`", text)
        if not named:
            yield f"docs/semantics.md: rule {rule} names no test"
        for name in named:
            if name not in names:
                yield f"docs/semantics.md: rule {rule} names a test that does not exist: {name}"


def main():
    faults = [*include_faults(), *length_faults(), *readme_faults(), *sorted(set(name_faults())), *portable_faults(), *semantics_faults()]
    print("\n".join(faults) if faults else "repository: includes, lengths, READMEs, names and semantics are in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
