internal import CausewayWire

/// The HTML page that lists a directory.
enum DirectoryListing {
    static func page(_ names: [String], _ entries: [DirectoryWalk.Entry], isRoot: Bool) -> String {
        let title = escaped("/" + names.map { $0 + "/" }.joined())
        var rows = isRoot ? "" : "<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n"
        for entry in entries {
            let slash = entry.isDirectory ? "/" : ""
            // The link needs `./`. Otherwise a name with a colon would look like a URL scheme.
            rows += """
                <tr><td><a href="./\(PercentCoding.encoded(entry.name))\(slash)">\(escaped(entry.name))\(slash)</a></td>\
                <td>\(entry.isDirectory ? "" : String(entry.byteCount))</td><td>\(HTTPDate.text(entry.modified))</td></tr>

                """
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <style>body{font-family:sans-serif;margin:2em}td{padding:.1em 1em .1em 0}td:nth-child(2){text-align:right}</style>
            </head><body><h1>\(title)</h1><table>
            \(rows)</table></body></html>

            """
    }

    /// Escapes the characters that have a meaning in HTML.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{0}"..."\u{1F}", "\u{7F}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
