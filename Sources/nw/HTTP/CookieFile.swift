import CausewayHTTPProtocols
import CausewayTypes

/// Netscape cookie files, which curl and wget read and write: one cookie per line, with seven columns separated by tabs.
enum CookieFile {
    private static let mark = "#HttpOnly_"

    /// Parses the lines of a cookie file. Skips comments, and lines that do not have seven columns.
    static func parse(_ text: String) -> [Cookie] {
        text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.compactMap { line in
            var line = line
            let isHTTPOnly = line.hasPrefix(mark)
            if isHTTPOnly { line = line.dropFirst(mark.count) }
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard columns.count == 7, !line.hasPrefix("#"), let end = Int64(digits: columns[4]) else { return nil }
            return Cookie(
                name: Array(columns[5].utf8), value: Array(columns[6].utf8),
                domain: (columns[0].hasPrefix(".") ? columns[0].dropFirst() : columns[0]).lowercased(),
                isHostOnly: columns[1] != "TRUE", path: String(columns[2]),
                // The value 0 means that the cookie expires with the session.
                expires: end == 0 ? nil : .seconds(end), isSecure: columns[3] == "TRUE", isHTTPOnly: isHTTPOnly)
        }
    }

    /// Returns a cookie file's text. Leaves out cookies that have a control character in a column, because other
    /// programs would misread their lines. For example, a tab inside a value would start another column.
    static func text(_ cookies: [Cookie]) -> String {
        let lines = cookies.compactMap { cookie -> String? in
            let name = String(decoding: cookie.name, as: UTF8.self)
            let value = String(decoding: cookie.value, as: UTF8.self)
            let columns = [
                (cookie.isHTTPOnly ? mark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                "\(cookie.expires?.components.seconds ?? 0)", name, value,
            ]
            let isUnwritable = columns.contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
            return isUnwritable ? nil : columns.joined(separator: "\t") + "\n"
        }
        return "# Netscape HTTP Cookie File\n\n" + lines.joined()
    }
}
