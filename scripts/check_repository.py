#!/usr/bin/env python3
"""Checks what a compiler does not: the direction of includes, the length of files, that READMEs name the headers beside
them, that no two types of one program share a name, and that docs/semantics.md names tests that exist. Prints each fault and exits with 1 if there is one."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 500

# The floor plan: folder -> what it may include besides itself and include/sinter. A row names whole folders, and stands below what it
# names: no arrow runs upward. "codegen" alone is the list of passes, which stands above codegen's rooms; so are "schedule" and "plan".
IR = ["ir", "rewrite", "rewrite/rules"]
RUNTIME = ["runtime/base", "runtime/cpu", "runtime/cuda", "runtime/program", "runtime/exec"]
LOOPS = ["codegen/kernel", "codegen/normalize", "codegen/loopschedule", "codegen/ssa", "codegen/nest"]
TENSOR = ["tensor/core", "tensor/ops", "tensor/eval", "tensor/jit"]
MAY_INCLUDE = {
    "ir": [],
    "rewrite": ["ir"],
    "rewrite/rules": ["ir", "rewrite"],
    "gradient": ["ir", "rewrite"],
    "clang_plugin": [],
    "runtime/base": ["ir"],
    "runtime/cpu": ["runtime/base", "clang_plugin"],
    "cudasim": ["runtime/base", "runtime/cpu", "runtime/cuda"],
    "runtime/cuda": ["runtime/base", "cudasim"],
    "runtime/program": ["runtime/base", "runtime/cpu", "runtime/cuda", "cudasim"],
    "runtime/exec": ["ir", *RUNTIME],
    "interp": [*IR, *RUNTIME],
    "codegen/kernel": [*IR],
    "codegen/normalize": [*IR, "runtime/base", "codegen/kernel"],
    "codegen/loopschedule": [*IR, "codegen/kernel"],
    "codegen/ssa": [*IR],
    "codegen/nest": [*IR, "codegen/kernel", "codegen/loopschedule", "codegen/ssa"],
    "codegen/emit": [*IR, "runtime/base", *LOOPS],
    "codegen/render": ["ir", "runtime/base", "codegen/ssa"],
    "codegen/cpu": ["ir", "runtime/base", "codegen/ssa", "codegen/render"],
    "codegen/gpu": ["ir", "runtime/base", "codegen/ssa", "codegen/render"],
    "codegen/tune/heuristic": [*IR, "runtime/base", *LOOPS, "codegen/emit"],
    "codegen/tune/search": [*IR, "runtime/base", *LOOPS, "codegen/tune/heuristic"],
    "codegen": [*IR, *RUNTIME, "interp", *LOOPS, "codegen/emit", "codegen/cpu", "codegen/gpu", "codegen/tune/heuristic"],
    "schedule/graph": ["ir", "runtime/base"],
    "schedule/simplify": ["ir", "runtime/base", "schedule/graph"],
    "schedule/fusion": [*IR, "schedule/graph", "schedule/simplify"],
    "schedule/lower": [*IR, "runtime/exec", "interp", "codegen/kernel", "schedule/graph", "schedule/fusion"],
    "schedule": [*IR, *RUNTIME, "interp", "codegen/kernel", "codegen/normalize", "schedule/graph", "schedule/simplify", "schedule/fusion", "schedule/lower"],
    "plan": ["ir", *RUNTIME, "interp", "codegen", "codegen/loopschedule", "codegen/nest", "codegen/tune/heuristic", "codegen/tune/search", "schedule",
             "schedule/graph", "schedule/lower"],
    "tensor/core": ["ir", *RUNTIME],
    "tensor/ops": [*IR, "runtime/exec", "tensor/core"],
    "tensor/eval": [*IR, *RUNTIME, "gradient", "interp", "plan", "tensor/core"],
    "tensor/jit": [*IR, *RUNTIME, "plan", "tensor/core", "tensor/eval"],
    "nn": ["runtime/base", "runtime/cpu", "tensor/core", "tensor/eval"],
    "nn/data": ["runtime/base", "runtime/cpu"],
}


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines()]


def include_faults():
    for path in tracked("src/*.h", "src/*.cpp"):
        folder = str(path.parent.relative_to(ROOT / "src"))
        if folder not in MAY_INCLUDE and folder != ".":
            yield f"{path.relative_to(ROOT)}: its folder has no row in MAY_INCLUDE of scripts/check_repository.py"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "([^"]+)/[^"/]+"', line)
            if not found:
                if re.match(r"\s*#include <(llvm|clang)/", line) and folder != "clang_plugin":
                    yield f"{path.relative_to(ROOT)}:{number}: only src/clang_plugin sees LLVM"
                continue
            target = found.group(1)
            if not target.startswith("sinter") and target not in (folder, *MAY_INCLUDE.get(folder, [])):
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
    kinds = sorted({p.relative_to(ROOT).parts[1] for p in tracked("tests/*/*.cpp")})
    for files in (library, *(library + tracked("tests/*.h", f"tests/{kind}/*.cpp") for kind in kinds)):
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
