#!/usr/bin/env python3
"""Checks what a compiler does not: the direction of includes, the length of files, that READMEs name the headers beside
them, that names are used once, that retired words stay away, that docs/semantics.md names tests that exist, and that
subjects of commits are short. Prints each fault and exits with 1 if there is one."""
import pathlib
import re
import subprocess
import sys

import plot_clock_model

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 500
LONGEST_CHAPTER = 120  # lines of a chapter on code generation
SUBJECT = 72

# The floor plan: folder -> what it includes besides itself and include/sinter. A row names whole folders, all that are
# used and no others, and stands below what it names: no arrow runs upward. A plugin's row names single headers, which declare what it shares
# with the library. "codegen" alone is the list of passes, which stands above codegen's rooms; so are "schedule" and
# "plan".
MAY_INCLUDE = {
    "ir": [],
    "rewrite": ["ir"],
    "rewrite/rules": ["ir", "rewrite"],
    "gradient": ["ir"],
    "batching": ["ir"],
    "clang_plugin": [],
    "runtime/base": ["ir"],
    "runtime/cpu": ["ir/lapack_call.h", "runtime/base", "clang_plugin"],
    "runtime/cuda": ["runtime/base", "runtime/cpu"],
    "cudasim": ["ir/mma_step.h", "runtime/base/build_id.h", "runtime/cuda/driver_api.h", "runtime/cuda/simulator_api.h"],
    "runtime/program": ["runtime/base", "runtime/cpu", "runtime/cuda"],
    "runtime/exec": ["ir", "runtime/base", "runtime/cpu", "runtime/cuda", "runtime/program"],
    "interp": ["ir", "runtime/base", "runtime/cpu", "runtime/exec"],
    "codegen/kernel": ["ir", "rewrite"],
    "codegen/normalize": ["ir", "rewrite", "runtime/base", "codegen/kernel"],
    "codegen/loopschedule": ["ir", "codegen/kernel"],
    "codegen/ssa": ["ir"],
    "codegen/nest": ["ir", "rewrite", "codegen/kernel", "codegen/loopschedule", "codegen/ssa"],
    "codegen/emit": [
        "ir", "rewrite", "runtime/base", "codegen/kernel", "codegen/normalize", "codegen/loopschedule",
        "codegen/ssa", "codegen/nest",
    ],
    "codegen/render": ["ir", "runtime/base", "codegen/ssa"],
    "codegen/opaque": ["ir", "runtime/base", "codegen/kernel"],
    "codegen/cpu": ["runtime/base", "codegen/ssa", "codegen/render"],
    "codegen/gpu": ["runtime/base", "codegen/ssa", "codegen/render"],
    "codegen/tune/heuristic": [
        "ir", "rewrite", "runtime/base", "codegen/kernel", "codegen/loopschedule",
        "codegen/nest", "codegen/emit",
    ],
    "codegen/tune/gpu": [
        "ir", "rewrite", "runtime/base", "codegen/kernel", "codegen/loopschedule", "codegen/nest",
        "codegen/tune/heuristic",
    ],
    "codegen/tune": ["runtime/base", "codegen/kernel", "codegen/loopschedule", "codegen/tune/heuristic", "codegen/tune/gpu"],
    "codegen/tune/search": [
        "ir", "runtime/base", "codegen/kernel", "codegen/loopschedule", "codegen/nest",
        "codegen/tune/heuristic",
    ],
    "codegen": [
        "ir", "rewrite", "rewrite/rules", "runtime/base", "runtime/program", "runtime/exec", "interp",
        "codegen/kernel", "codegen/normalize", "codegen/loopschedule", "codegen/ssa", "codegen/nest",
        "codegen/emit", "codegen/opaque", "codegen/cpu", "codegen/gpu", "codegen/tune",
    ],
    "schedule/graph": ["ir", "runtime/base"],
    "schedule/simplify": ["ir", "runtime/base", "schedule/graph"],
    "schedule/fusion": ["ir", "schedule/graph", "schedule/simplify"],
    "schedule/lower": [
        "ir", "rewrite", "rewrite/rules", "runtime/base", "runtime/exec", "interp", "codegen/kernel",
        "schedule/graph", "schedule/fusion",
    ],
    "schedule": [
        "ir", "rewrite", "rewrite/rules", "runtime/base", "runtime/exec", "interp", "codegen/kernel",
        "codegen/normalize", "schedule/graph", "schedule/simplify", "schedule/fusion", "schedule/lower",
    ],
    "plan": [
        "ir", "runtime/base", "runtime/cpu", "runtime/program", "runtime/exec", "interp", "codegen",
        "codegen/loopschedule", "codegen/nest", "codegen/tune", "codegen/tune/gpu", "codegen/tune/search",
        "schedule", "schedule/graph",
    ],
    "tensor/core": ["ir", "runtime/base", "runtime/cpu", "runtime/cuda", "runtime/program", "runtime/exec"],
    "tensor/ops": ["ir", "runtime/base/log.h", "runtime/cpu/lapack.h", "runtime/exec", "tensor/core"],
    "tensor/transform": ["ir", "gradient", "batching", "tensor/core"],
    "tensor/eval": [
        "ir", "rewrite", "runtime/base", "runtime/cpu", "runtime/program", "runtime/exec", "gradient", "interp",
        "plan", "tensor/core",
    ],
    "tensor/jit": ["ir", "runtime/base", "runtime/exec", "plan", "tensor/core", "tensor/eval"],
    "nn": ["runtime/base", "runtime/cpu", "tensor/core", "tensor/eval"],
    "nn/data": ["runtime/base", "runtime/cpu"],
}


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines()]


def include_faults():
    used = {folder: set() for folder in MAY_INCLUDE}
    for path in tracked("src/*.h", "src/*.cpp"):
        folder = str(path.parent.relative_to(ROOT / "src"))
        if folder not in MAY_INCLUDE and folder != ".":
            yield f"{path.relative_to(ROOT)}: its folder has no row in MAY_INCLUDE of scripts/check_repository.py"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "(([^"]+)/[^"/]+)"', line)
            if not found:
                if re.match(r"\s*#include <(llvm|clang)/", line) and folder != "clang_plugin":
                    yield f"{path.relative_to(ROOT)}:{number}: only src/clang_plugin sees LLVM"
                continue
            header, target = found.groups()
            named = {header, target} & set(MAY_INCLUDE.get(folder, []))
            used.setdefault(folder, set()).update(named)
            if not named and target != folder and not target.startswith("sinter"):
                yield f"{path.relative_to(ROOT)}:{number}: src/{folder} must not include src/{target}"
    below = set()
    for folder, names in MAY_INCLUDE.items():
        for name in names:
            if name in MAY_INCLUDE and name not in below:
                yield f"MAY_INCLUDE: the row {folder} stands above {name}, which it names"
            if name not in used[folder]:
                yield f"MAY_INCLUDE: {folder} does not include {name}"
        below.add(folder)
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
    for path in sorted((ROOT / "docs/chapters").glob("codegen*.md")):
        lines = len(path.read_text().splitlines())
        if lines > LONGEST_CHAPTER:
            yield f"{path.relative_to(ROOT)}: {lines} lines, at most {LONGEST_CHAPTER}"


def readme_faults():
    """A folder's README names each header that stands in it."""
    for path in tracked("src/*.h"):
        readme = path.parent / "README.md"
        if readme.exists() and not re.search(rf"\b{re.escape(path.stem)}\b", readme.read_text()):
            yield f"{readme.relative_to(ROOT)}: does not name {path.name}"


def types_of(path, unnamed=False):
    """Qualified names of the types that a file defines; those in unnamed namespaces only if asked for."""
    scopes = []
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if scope := re.match(r"(?:inline )?namespace\b ?([\w: ]*?) ?\{$", line):
            scopes.append(scope.group(1).replace("inline ", ""))
        elif line.startswith("}  // namespace") or (line == "}" and lines[number - 2].startswith("namespace")):
            scopes.pop()
        elif unnamed or "" not in scopes:
            if found := re.match(r"(?:class|struct|union|enum class) (?:alignas\(\w+\) )?(\w+)\b(?![<:;])[^;]*\{", line):
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


# Short name of a type -> why two namespaces of the library may each have one.
SHARED_TYPE_NAMES = {}

# Stem -> why its files may stand in more folders than a public header and its implementation.
SHARED_STEMS = {
    "attention": "the function of tensor/ops and the layer of nn",
    "conv": "the function of tensor/ops and the layer of nn",
    "norm": "functions of tensor/ops, and clipping by the norm in nn",
    "hooks": "what tensor/core declares, and what tensor/jit registers",
    "ops": "the public functions, and ir/ops.def",
}
MOST_EXCEPTIONS = 8


def short_name_faults():
    """A short name means one type in the whole library, so that a reader who searches for it finds one definition."""
    defined = {}
    for path in tracked("include/*.h", "src/*.h", "src/*.cpp"):
        for name in types_of(path, unnamed=True):
            defined.setdefault(name.rpartition("::")[2], []).append(str(path.relative_to(ROOT)))
    for short, paths in sorted(defined.items()):
        if len(paths) > 1 and short not in SHARED_TYPE_NAMES:
            yield f"{short} names several types: {', '.join(paths)}"


def house_of(path):
    """The folder of a file. A public header is at home where its implementation is: tensor, or nn."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "include":
        return "src/nn" if "nn" in parts else "src/tensor"
    return "src/tensor" if parts[1] == "tensor" and path.suffix == ".cpp" and len(parts) == 4 else "/".join(parts[:-1])


def stem_faults():
    """One file name, one folder."""
    folders = {}
    for path in tracked("include/*.h", "src/*.h", "src/*.cpp", "src/*.def"):
        folders.setdefault(path.stem, {}).setdefault(path.parent, house_of(path))
    for stem, places in sorted(folders.items()):
        headers = [p for p in places if p.is_relative_to(ROOT / "include")]
        distinct = set(places.values()) if headers else set(places)
        if len(distinct) > 1 and stem not in SHARED_STEMS:
            yield f"{stem} is the name of files in " + ", ".join(sorted(str(p.relative_to(ROOT)) for p in places))
    for table in (SHARED_TYPE_NAMES, SHARED_STEMS):
        if len(table) > MOST_EXCEPTIONS:
            yield f"scripts/check_repository.py: at most {MOST_EXCEPTIONS} exceptions a table"
    for stem in SHARED_STEMS:
        if len(folders.get(stem, {})) < 2:
            yield f"scripts/check_repository.py: {stem} needs no exception"


# What src and include no longer say -> the word to use. A word that is also plain English has a pattern of its retired
# sense alone.
RETIRED = {
    r"\w*parametris\w*": "plan lookup",
    r"\w*imprint\w*": "fingerprint",
    r"\w*reliev\w*": "auto_realize",
    r"\w*rerun\w*": "replay",
    r"as (it|they) lies?|\w*as_it_lies\w*": "unpacked; pack_profitability",
    r"turns? of (a|an|the|its|this|that|each|every) (\w+ )?loop|at turn": "iteration; guard",
    r"(in|by) turns|turn by turn": "interleaved",
    r"turned over": "interchanged",
    r"ask(s|ed|ing)?( \w+){0,2} ahead|(rows|streams)_ahead": "prefetch",
    r"gate|gated|ungated|gate_\w+|\w+_gates?|Gated?[A-Z]\w*": "predicate",
    r"(struct|class|const) Stage|Stage(?=[&*{>])|(?<=[<(])Stage": "FusionNode; TileCopy",
    r"copies_": "what is copied; unroll_jam",
    r"rest_|resting_?": "accumulator_home; writeback_buffer",
    r"(int64_t|size_t|double|auto) points|points_|points_of|points? of (a|the|each) (launch|kernel|grid)": "task; block",
    r"(struct|class) (Collected|Lifted|Written|Prepared|Parametrised|Pooled|Found|Met|Taken)": "a noun",
    r"kMost[A-Z]\w*": "kMax...",
    r"prepared_plan|rows_at_once": "executable_plan; multi_row_reduction",
    r"(?i:\w*(canonical|categor|factor|final|general|initial|legal|linear|local|material|maxim|memo|minim|normal|optim|"
    r"organ|parallel|quant|random|real|recogn|serial|special|standard|summar|synchron|token|util|"
    r"vector)is(e|ed|er|ers|es|ing|able|ation|ations))": "American spelling: -ize",
    r"(?i:\w*(neighb|behavi|col|fav|hon)our\w*|analys(e|ed|er|es|ing)|licences?|centres?)": "American spelling",
}


def word_faults():
    patterns = [(re.compile(rf"(?<!\w)(?:{old})(?!\w)"), new) for old, new in RETIRED.items()]
    for path in tracked("include/*.h", "src/*.h", "src/*.cpp", "src/*.def"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for pattern, new in patterns:
                if found := pattern.search(line):
                    yield f"{path.relative_to(ROOT)}:{number}: \"{found.group()}\" is retired; say {new}"


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


def path_faults():
    """Files that pages name in backticks exist. Decisions tell what was, and may name what is gone."""
    for page in tracked("*.md", "docs/*.md", "docs/chapters/*.md", "bench/README.md", "examples/ports/README.md"):
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for name in re.findall(r"`((?:tests|examples|src|include|docs|bench|scripts|sinter)/[\w/.-]+\.(?:cpp|h|md|py))`", line):
                if not re.search("[A-Z]{4}_", name) and not (ROOT / ("include/" + name if name.startswith("sinter/") else name)).exists():
                    yield f"{page.relative_to(ROOT)}:{number}: there is no {name}"


def capability_faults():
    """Each capability that docs/from-pytorch.md lists names a test; path_faults() asks whether it exists."""
    page = ROOT / "docs/from-pytorch.md"
    rows = page.read_text().partition("## By capability")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| .*\|$", rows, re.M)[1:]:
        if not re.search(r"`tests/[\w/]+\.cpp`[^|]*\|$", row):
            yield f"docs/from-pytorch.md: no test proves {row.split(' | ')[0].strip('| ')}"


def reading_path():
    """docs/reading-path.md with the line counts that are true now: of files, of parts, of all."""
    def lines(names):
        return sum(len((ROOT / name).read_text().splitlines()) for name in names)

    head, *parts = re.split(r"(?m)^(?=## \d+\.)", (ROOT / "docs/reading-path.md").read_text())
    row, everything = r"(?m)^(\| `([^`]+)` \| )[\d,]+ \|$", 0
    for i, part in enumerate(parts):
        total = lines(name for _, name in re.findall(row, part))
        parts[i] = re.sub(row, lambda m: f"{m[1]}{lines([m[2]]):,} |", part)
        head = re.sub(rf"(?m)^(\| {i + 1}\. .*\| )[\d,]+ \|$", rf"\g<1>{total:,} |", head)
        everything += total
    return re.sub(r"(?m)^(\| all .*\| )[\d,]+ \|$", rf"\g<1>{everything:,} |", head) + "".join(parts)


def reading_path_faults():
    """Line counts may be off by a tenth."""
    names = re.findall(r"(?m)^\| `([^`]+)` \| [\d,]+ \|$", (ROOT / "docs/reading-path.md").read_text())
    if missing := [name for name in names if not (ROOT / name).exists()]:
        yield from (f"docs/reading-path.md: there is no {name}" for name in missing)
        return
    counts = [re.findall(r"(?m)^(\| .*\| )([\d,]+) \|$", text) for text in ((ROOT / "docs/reading-path.md").read_text(), reading_path())]
    for (row, said), (_, true) in zip(*counts):
        if abs(int(said.replace(",", "")) / int(true.replace(",", "")) - 1) > 0.1:
            yield f"docs/reading-path.md: {row.strip('| ')} has {true} lines, not {said}: scripts/check_repository.py --count"


def picture_faults():
    """docs/clock-model.svg shows its table; a unit test compares the table with the model."""
    if (ROOT / "docs/clock-model.svg").read_text() != plot_clock_model.drawing():
        yield "docs/clock-model.svg: is not drawn from docs/clock-model.tsv; run scripts/plot_clock_model.py"


def subject_faults():
    """Subjects of commits after the one that adds CHANGELOG.md. Merges and reverts are exempt, and so is what git does
    not know."""
    def log(*arguments):
        done = subprocess.run(["git", "log", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.splitlines() if done.returncode == 0 else []

    added = log("--diff-filter=A", "--format=%H", "--", "CHANGELOG.md")
    for line in log("--no-merges", "--ancestry-path", "--format=%h %s", f"{added[-1]}..HEAD") if added else []:
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT and not subject.startswith('Revert "'):
            yield f"commit {commit}: a subject of {len(subject)} characters, at most {SUBJECT}: {subject}"


def main():
    if "--count" in sys.argv[1:]:
        (ROOT / "docs/reading-path.md").write_text(reading_path())
        return 0
    faults = [*include_faults(), *length_faults(), *readme_faults(), *sorted(set(name_faults())), *short_name_faults(),
              *stem_faults(), *word_faults(), *portable_faults(), *semantics_faults(), *path_faults(),
              *capability_faults(), *reading_path_faults(), *picture_faults(), *subject_faults()]
    print("\n".join(faults) if faults else "repository: includes, lengths, READMEs, names, words, semantics, paths, pictures and subjects are in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
