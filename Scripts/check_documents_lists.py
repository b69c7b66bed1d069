"""Compares the pages that list tests and environment variables with the tree. Part of Scripts/check-documents."""
import pathlib
import re

ATTACKS, ENVIRONMENT = pathlib.Path("Documentation/Attacks.md"), pathlib.Path("Documentation/Environment.md")
SOLVED = pathlib.Path("Documentation/Solved.md")

# The last cell of an attack, or a line of a solution: the file of the test, and its title.
TEST_CELL = re.compile(r"`(\w+)`: (.+)")
TITLE = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)"')
FUZZER = re.compile(r"`(Fuzz\w+)`")

# A variable of Causeway: in Swift a text, in a script any word. C macros have names of the same form.
OWN = r"CAUSEWAY_[A-Z0-9_]*[A-Z0-9]"
IN_SWIFT = re.compile(rf'"({OWN})\b')
IN_SCRIPT = re.compile(rf"\b({OWN})\b")
# Other variables, where the sources read them by name.
READ = re.compile(r'\b(?:getenv|environment|variables|variable)[\[(]"([A-Za-z]\w+)"')
FOREIGN_IN = {"Sources"}
SPAN = re.compile(r"`([A-Za-z]\w*)`")


def check_attacks(root, report):
    """Reports rows without a test, and tests and fuzzers that do not exist. Returns the number of rows."""
    if not (root / ATTACKS).exists():
        return 0
    titles = titles_of(root)
    count = 0
    for number, line in enumerate((root / ATTACKS).read_text(encoding="utf-8").splitlines(), 1):
        where = f"{ATTACKS}:{number}"
        for name in FUZZER.findall(line):
            if not (root / "Fuzz" / "Sources" / name).is_dir():
                report(where, f"there is no fuzzer {name}")
        if not line.startswith("| ") or line.startswith("| the peer sends |"):
            continue
        count += 1
        check_test(titles, line.strip("| ").rsplit(" | ", 1)[-1], where, report)
    return count


def check_solved(root, report):
    """Reports problems that name neither a test nor a check, and tests that do not exist. Returns the number of problems."""
    if not (root / SOLVED).exists():
        return 0
    titles = titles_of(root)
    problems = re.split(r"^### ", (root / SOLVED).read_text(encoding="utf-8"), flags=re.M)[1:]
    for problem in problems:
        where = f"{SOLVED}: {problem.splitlines()[0]}"
        tests = re.findall(r"^- Test: (.+)$", problem, re.M)
        if not tests and "\n- Check: " not in problem:
            report(where, "the problem names no test: expected '- Test: `File`: title'")
        for test in tests:
            check_test(titles, test, where, report)
    return len(problems)


def titles_of(root):
    """The titles of the tests in each file."""
    titles = {}
    paths = [path for folder in ("Tests", "Interop") for path in (root / folder).rglob("*.swift") if ".build" not in path.parts]
    for path in paths:
        titles.setdefault(path.stem, set()).update(TITLE.findall(path.read_text(encoding="utf-8")))
    return titles


def check_test(titles, text, where, report):
    test = TEST_CELL.fullmatch(text)
    if not test:
        report(where, "the row names no test: expected '`File`: title'")
    elif test[2] not in titles.get(test[1], ()):
        report(where, f"{test[1]} has no test \"{test[2]}\"")


def check_environment(root, report):
    """Reports variables without a row, and names in the page that nothing reads. Returns the number of variables."""
    if not (root / ENVIRONMENT).exists():
        return 0
    own, others = variables_of(root)
    listed = set(SPAN.findall((root / ENVIRONMENT).read_text(encoding="utf-8")))
    for name, place in sorted((own | others).items()):
        if name not in listed and name.lower() not in listed:
            report(place, f"{ENVIRONMENT} does not list the variable {name}")
    for name in sorted(listed):
        if name.startswith("CAUSEWAY_") and name not in own:
            report(ENVIRONMENT, f"nothing reads the variable {name}")
    return len(own)


def variables_of(root):
    """The variables of Causeway, and those of others that the sources read, each with a file."""
    own, others = {}, {}
    for folder in ("Sources", "Tests", "Interop", "Fuzz", "Benchmarks", "Examples", "Peers", "Scripts", ".ci", "."):
        paths = (root / folder).glob("*") if folder == "." else (root / folder).rglob("*")
        for path in sorted(path for path in paths if path.is_file() and ".build" not in path.parts):
            is_swift, is_script = path.suffix == ".swift", folder in {"Scripts", ".ci"}
            if not (is_swift or is_script) or path.name.startswith("check-documents") or path.name == "check_documents_lists.py":
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in (IN_SWIFT if is_swift else IN_SCRIPT).findall(text):
                own.setdefault(name, path.relative_to(root))
            for name in READ.findall(text) if folder in FOREIGN_IN else ():
                others.setdefault(name, path.relative_to(root))
    return own, {name: place for name, place in others.items() if name not in own}
