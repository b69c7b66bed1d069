"""Separates the code of Swift files from comments and strings, for the checks of this folder."""
import re

# Begins a comment or a string.
OPENING = re.compile(r'//[^\n]*|/\*|(#*)("""|")')
# A string on one line without interpolation: almost all are.
PLAIN = re.compile(r'"(?:[^"\\\n]|\\[^(\n])*"')
COMMENT_EDGE = re.compile(r"/\*|\*/")
# What matters in an interpolation: strings, comments and the parentheses up to its own.
INSIDE = re.compile(r'//[^\n]*|/\*|#*"|[()]')


def sources_of(folder):
    """The sources of one target. The code steps of tutorials in a catalogue are programs of their own."""
    return [
        path for path in sorted(folder.rglob("*.swift"))
        if not any(part.endswith(".docc") or part == ".build" for part in path.parts)]


def code_of(text):
    """The text without comments and the contents of strings. Line breaks stay; interpolations follow their string."""
    out, position = [], 0
    while match := OPENING.search(text, position):
        out.append(text[position : match.start()])
        position = _skip(text, match, out)
    out.append(text[position:])
    return "".join(out)


def without_comments(text):
    """The text without comments. Strings stay as they are."""
    out, position = [], 0
    while match := OPENING.search(text, position):
        out.append(text[position : match.start()])
        skipped = []
        end = _skip(text, match, skipped)
        out.append("".join(skipped) if match[0].startswith("/") else text[match.start() : end])
        position = end
    out.append(text[position:])
    return "".join(out)


def _skip(text, match, out):
    """Passes a comment or string. Returns where the code goes on, and adds to `out` what stays of it."""
    if match[0].startswith("//"):
        return match.end()
    if match[0] == "/*":
        return _skip_comment(text, match.end(), out)
    if match[0] == '"' and (plain := PLAIN.match(text, match.start())):
        out.append('""')
        return plain.end()
    return _skip_string(text, match[1], match[2], match.end(), out)


def _skip_comment(text, position, out):
    depth, start = 1, position
    while depth:
        edge = COMMENT_EDGE.search(text, position)
        if not edge:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    out.append("\n" * text.count("\n", start, position))
    return position


def _skip_string(text, hashes, quote, position, out):
    """Passes a string after its opening quote. Its interpolations follow it as code in parentheses."""
    edges = re.compile(rf'{quote}{hashes}|\\{hashes}\(|\\{hashes}.|\n' if not hashes else rf'{quote}{hashes}|\\{hashes}\(|\n')
    out.append('""')
    while edge := edges.search(text, position):
        position = edge.end()
        if edge[0] == "\n":
            out.append("\n")
            if quote == '"':
                return position
        elif edge[0] == quote + hashes:
            return position
        elif edge[0].endswith("("):
            position = _pass_interpolation(text, position, out)
    return len(text)


def _pass_interpolation(text, position, out):
    depth = 1
    out.append(" (")
    while depth:
        edge = INSIDE.search(text, position)
        if not edge:
            return len(text)
        out.append(text[position : edge.start()])
        if edge[0] in "()":
            depth += 1 if edge[0] == "(" else -1
            out.append(edge[0])
            position = edge.end()
        else:
            position = _skip(text, OPENING.match(text, edge.start()), out)
    return position


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
