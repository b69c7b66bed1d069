"""Reads the targets of Package.swift as text, for the checks of this folder. The package manager needs seconds."""
import pathlib
import re

from swift_text import without_comments

HEAD = re.compile(r"\.(target|executableTarget|testTarget)\(")
NAME, PATH = re.compile(r'\bname:\s*"([^"]+)"'), re.compile(r'\bpath:\s*"([^"]+)"')
DEPENDENCIES = re.compile(r"\bdependencies:\s*\[")
PRODUCT = re.compile(r'\.product\(\s*name:\s*"([^"]+)"[^)]*\)')
BRACKET = re.compile(r"[(\[)\]]")


# The package of the tests that need other programs. Its targets use products, which have the names of their targets.
INTEROP = "Interop"


class Target:
    """A target: its kind in the manifest, its folder, and the targets and products of others that it depends on."""

    def __init__(self, kind, declaration, package):
        self.kind, self.name = kind, NAME.search(declaration)[1]
        path = PATH.search(declaration)
        self.folder = package / (path[1] if path else f"{'Tests' if kind == 'testTarget' else 'Sources'}/{self.name}")
        list = DEPENDENCIES.search(declaration)
        text = declaration[list.end() : closing(declaration, list.end())] if list else ""
        self.products = PRODUCT.findall(text)
        self.dependencies = re.findall(r'"([^"]+)"', PRODUCT.sub("", text))

    @property
    def is_test(self):
        return self.kind == "testTarget"

    @property
    def is_program(self):
        return self.kind == "executableTarget"


def targets_of(root, package="."):
    """The targets by name, in the order of the manifest of the package in a folder."""
    text = without_comments((root / package / "Package.swift").read_text(encoding="utf-8"))
    targets = {}
    for head in HEAD.finditer(text):
        declaration = text[head.end() : closing(text, head.end())]
        # `.target(name:)` is also a kind of dependency.
        if NAME.match(declaration.lstrip()):
            target = Target(head[1], declaration, pathlib.Path(package))
            targets[target.name] = target
    return targets


def targets_and_interop(root):
    """The targets of the package and of Interop, whose products of the package count as targets."""
    targets = targets_of(root)
    for name, target in targets_of(root, INTEROP).items():
        target.dependencies += [product for product in target.products if product in targets]
        targets[name] = target
    return targets


def closing(text, position):
    """The place of the bracket that ends what begins at a position. The manifest has no brackets in strings."""
    depth = 1
    for bracket in BRACKET.finditer(text, position):
        depth += 1 if bracket[0] in "([" else -1
        if not depth:
            return bracket.start()
    return len(text)
