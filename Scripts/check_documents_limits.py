"""Compares the public members that fail or have no effect with the rows of Documentation/Differences. Part of Scripts/check-documents."""
import re

# The targets whose public declarations a program can see.
TARGETS = [
    "Causeway", "CausewayBonjour", "CausewayStreams", "CausewayTypes", "CausewayURLLoading", "FoundationNetworking", "Network",
    "Security", "SystemConfiguration"]

# What a docstring or a row says of a member that fails, or that has no effect.
FAILS = r"\.ENOTSUP\)|`ENOTSUP`|\bNot (?:supported|implemented)\b|\b(?:is|are) not (?:supported|implemented)\b"
IDLE = r"\b(?:no|without) effect\b|\bnever (?:called|reported|created|set)\b|: ignored\.|\balways `(?:nil|\.\w+)`"
LIMIT = re.compile(f"{FAILS}|(?i:{IDLE})")
# Sentences that need no row: repeated calls, errors and cases that a name describes, members that work elsewhere.
HARMLESS = re.compile(
    r"^(?:(?:Further|Later) calls|Versions without|After the end|Default implementation)|Cancellation: |\b[Nn]o effect (?:on|for) |"
    r"^The (?:operation|function) is not|^Linux has one number")
# What a row claims of its members, and what their docstrings or code must say then.
CLAIMS = [
    (re.compile(r"\.ENOTSUP\)|`ENOTSUP`"), re.compile(r"ENOTSUP|\b[Nn]ot (?:supported|implemented)\b")),
    (re.compile(r"(?i)\b(?:no|without) effect\b|\bnever (?:called|reported|created|set)\b"), re.compile(f"(?i){IDLE}")),
]

DECLARATION = re.compile(
    r"(?:@[\w.]+(?:\([^)]*\))? +)*((?:\w+(?:\(\w+\))? +)*?)"
    r"(class(?! func| var)|struct|enum|protocol|actor|extension|typealias|func|var|let|init|subscript|case(?= +(?!let\b|var\b)\w))\b"
    r"[?!]? *([\w.`]*)")
TYPES = {"class", "struct", "enum", "protocol", "actor", "extension"}
# Stands on a line of its own, with the declaration indented below.
ISOLATION = "nonisolated(nonsending)"
CONTINUATION = ("where ", "{", "}", ")", "#")
ROW_NAME = re.compile(r"(\.\.\.)?\.?(\w[\w.]*)(\([\w:]*\))?")


class Declaration:
    """A public declaration: `Type.member`, the argument labels of an initialiser, its docstring and its body."""

    def __init__(self, path, is_type, labels, comment, body):
        self.path, self.is_type, self.labels = path, is_type, labels
        self.comment, self.body = " ".join(comment.split()), body

    def limits(self):
        """The sentences that need a row."""
        sentences = re.split(r"(?<=[.;]) (?=[A-Z`-])", self.comment)
        return [sentence for sentence in sentences if LIMIT.search(sentence) and not HARMLESS.search(sentence)]

    def says(self, claim):
        """Whether the docstring or the code says what a row claims."""
        return claim.search(self.comment + self.body) is not None

    def hides_failure(self):
        """Whether the code fails with ENOTSUP and the docstring does not say so."""
        return ".ENOTSUP" in self.body and "ENOTSUP" not in self.comment

    def is_named(self, name, types=frozenset()):
        """Whether a code span of a row names this member, or one of `types` that contains it."""
        match = ROW_NAME.fullmatch(name)
        if not match:
            return False
        family, word, labels = match.groups()
        if family:
            return self.path.endswith(word)
        if ends(self.path, word):
            return labels is None or self.labels is None or labels == self.labels
        return any(ends(type, word) and self.path.startswith(type + ".") for type in types)


def ends(path, word):
    return path == word or path.endswith("." + word)


def check(root, report):
    """Reports members without a row and rows without a member. Returns the number of members that need a row."""
    declarations = []
    for target in TARGETS:
        for file in sorted((root / "Sources" / target).rglob("*.swift")):
            name = file.relative_to(root)
            declarations += [(f"{name}:{line}", declaration) for line, declaration in declarations_of(file.read_text())]
    rows = list(rows_of(root))
    # The row of a type that fails stands for its members too.
    types = {declaration.path for _, declaration in declarations if declaration.is_type and declaration.limits()}
    count = 0
    for where, declaration in declarations:
        if declaration.hides_failure():
            report(where, f"{declaration.path} fails with ENOTSUP, and its docstring does not say so")
        if not declaration.limits():
            continue
        count += 1
        if not any(LIMIT.search(row) and declaration.is_named(name, types) for _, row, names, _ in rows for name in names):
            report(where, f"no row of Documentation/Differences names {declaration.path}, which fails or has no effect")
    for where, row, names, subjects in rows:
        check_row([declaration for _, declaration in declarations], row, names, subjects, lambda what: report(where, what))
    return count


def check_row(declarations, row, names, subjects, report):
    """Reports a row that says that something fails or has no effect, but no docstring and no code says so."""
    claims = [evidence for claim, evidence in CLAIMS if claim.search(row)]
    for evidence in claims:
        if not any(declaration.is_named(name) and declaration.says(evidence) for name in names for declaration in declarations):
            report("the row says that something fails or has no effect, and names no member whose docstring or code says so")
    for name in subjects if claims else []:
        members = [declaration for declaration in declarations if declaration.is_named(name) and not declaration.is_type]
        if members and not any(member.says(evidence) for member in members for _, evidence in CLAIMS):
            report(f"the row says that {name} fails or has no effect, and neither its docstring nor its code says so")


def rows_of(root):
    """The rows of all tables: place, text, the names in code spans, and those of the first cell."""
    for page in sorted((root / "Documentation" / "Differences").glob("*.md")):
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if line.startswith("|") and not line.startswith(("| member |", "|---")):
                names, subjects = ([name for name in re.findall(r"`([^`]+)`", text) if "ENOTSUP" not in name]
                                   for text in (line, line.split("|")[1]))
                yield f"{page.relative_to(root)}:{number}", line, names, subjects


def declarations_of(text):
    """The public declarations of a source file with their lines. Relies on the indentation of a formatted file."""
    types, comment = [], []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        code = line.strip()
        indentation = len(line) - len(line.lstrip())
        if code.startswith("///"):
            comment.append(code[3:])
            continue
        if code.startswith("//") or code == ISOLATION or code.startswith("@") and not DECLARATION.match(code):
            continue
        if not code or code.startswith(CONTINUATION):
            comment = comment if code else []
            continue
        while types and types[-1][0] >= indentation:
            types.pop()
        match = DECLARATION.match(code)
        if match:
            modifiers, kind, name = match[1].split(), match[2], "init" if match[2] == "init" else match[3].strip("`")
            outer = types[-1] if types else (0, "", False, "")
            inherits = outer[2] and (outer[3] == "protocol" or outer[3] == "public extension" or kind == "case" and outer[3] == "enum")
            is_public = not {"public", "open"}.isdisjoint(modifiers) or inherits and {"private", "package"}.isdisjoint(modifiers)
            path = f"{outer[1]}.{name}" if outer[1] else name
            if kind in TYPES:
                prefix = "public " if kind == "extension" and is_public else ""
                types.append((indentation, path, is_public or kind == "extension", prefix + kind))
            if is_public and kind != "extension":
                labels = labels_of(lines, number) if kind == "init" else None
                outside = indentation - 4 if number and lines[number - 1].strip() == ISOLATION else indentation
                body = "" if kind in TYPES else body_of(lines, number, outside)
                yield number + 1, Declaration(path, kind in TYPES | {"typealias"}, labels, "\n".join(comment), body)
        comment = []


def body_of(lines, start, indentation):
    """The code of a declaration to its end, without comments."""
    body = [lines[start]]
    for line in lines[start + 1:]:
        code, here = line.strip(), len(line) - len(line.lstrip())
        if code and here <= indentation and not code.startswith(CONTINUATION):
            break
        body += [] if code.startswith("//") else [line]
        if code == "}" and here <= indentation:
            break
    return "\n".join(body)


def labels_of(lines, start):
    """The argument labels of an initialiser, as `(first:second:)`."""
    labels, depth, begins = "", 0, False
    for word in re.findall(r"->|[\w@]+|[^\s\w]", " ".join(lines[start:start + 20]).split("init", 1)[1]):
        if depth == 1 and begins and re.match(r"[A-Za-z_]", word):
            labels, begins = labels + word + ":", False
        if word in "([<" and (depth or word == "("):
            depth += 1
        elif word in ")]>" and depth:
            depth -= 1
            if not depth:
                break
        begins = begins or depth == 1 and word in "(,"
    return f"({labels})"
