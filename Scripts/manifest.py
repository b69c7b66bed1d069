"""Reads the targets of Package.swift as text, for the checks of this folder. The package manager needs seconds."""
import pathlib
import re

from swift_text import without_comments

# A declaration, and a table with a row for each target: its name and what it depends on. The table `tests` has those of tests, and `paths`
# the folders of those that are not in Sources.
DECLARATION = re.compile(r'\.(target|executableTarget|testTarget)\(\s*name:\s*"([^"]+)"')
TABLE, PATHS = re.compile(r"\blet (\w+): Rows = \["), re.compile(r"\blet paths = \[")
ROW, PLACE = re.compile(r'"([^"]+)":\s*\['), re.compile(r'"([^"]+)":\s*"([^"]+)"')
PATH = re.compile(r'\bpath:\s*"([^"]+)"')
DEPENDENCIES = re.compile(r"\bdependencies:\s*\[")
PRODUCT = re.compile(r'\.product\(\s*name:\s*"([^"]+)"[^)]*\)')
NAME = re.compile(r'"([^"]+)"')
BRACKET = re.compile(r"[(\[)\]]")


# The package of the tests that need other programs. Its targets use products, which have the names of their targets.
INTEROP = "Interop"


class Target:
    """A target: its kind in the manifest, its folder, and the targets and products of others that it depends on."""

    def __init__(self, kind, name, folder, list):
        self.kind, self.name, self.folder = kind, name, folder
        self.products = PRODUCT.findall(list)
        self.dependencies = NAME.findall(PRODUCT.sub("", list))

    @property
    def is_test(self):
        return self.kind == "testTarget"

    @property
    def is_program(self):
        return self.kind == "executableTarget"


def targets_of(root, package="."):
    """The targets of the package in a folder by name: those of the tables, then the others, in the order of the manifest."""
    text = without_comments((root / package / "Package.swift").read_text(encoding="utf-8"))
    return {
        name: Target(kind, name, pathlib.Path(package) / (path or f"{'Tests' if kind == 'testTarget' else 'Sources'}/{name}"), list)
        for kind, name, path, list in [*in_tables(text), *declared(text)]
    }


def targets_and_interop(root):
    """The targets of the package and of Interop, whose products of the package count as targets."""
    targets = targets_of(root)
    for name, target in targets_of(root, INTEROP).items():
        target.dependencies += [product for product in target.products if product in targets]
        targets[name] = target
    return targets


def in_tables(text):
    found = PATHS.search(text)
    paths = dict(PLACE.findall(inside(text, found))) if found else {}
    for table in TABLE.finditer(text):
        rows = inside(text, table)
        for row in ROW.finditer(rows):
            yield "testTarget" if table[1] == "tests" else "target", row[1], paths.get(row[1]), inside(rows, row)


def declared(text):
    for head in DECLARATION.finditer(text):
        declaration = inside(text, head)
        path, list = PATH.search(declaration), DEPENDENCIES.search(declaration)
        yield head[1], head[2], path and path[1], inside(declaration, list) if list else ""


def inside(text, head):
    """What stands between the bracket that a match opens and the one that ends it. The manifest has no brackets in strings."""
    depth = 1
    for bracket in BRACKET.finditer(text, head.end()):
        depth += 1 if bracket[0] in "([" else -1
        if not depth:
            return text[head.end() : bracket.start()]
    return text[head.end() :]
