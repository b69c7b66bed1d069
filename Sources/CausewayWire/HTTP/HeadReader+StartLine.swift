extension HeadReader {
    static let protocolName = Array("HTTP/".utf8)
    /// The byte count of `HTTP/1.1`.
    private static let versionCount = 8

    /// Parses a head's first line.
    static func startLine(
        _ kind: Kind, _ block: borrowing Span<UInt8>, from start: Int, to end: Int
    ) throws(HTTPSyntaxError) -> StartLine {
        kind == .request
            ? try requestLine(block, from: start, to: end) : try statusLine(block, from: start, to: end)
    }

    /// Parses a status line (RFC 9112 §4). Also accepts a line that ends after the status code, because many servers send such lines.
    private static func statusLine(
        _ block: borrowing Span<UInt8>, from start: Int, to end: Int
    ) throws(HTTPSyntaxError) -> StartLine {
        let version = try version(block, at: start, end: end)
        let statusStart = start + versionCount + 1
        guard statusStart + 3 <= end, block[statusStart - 1] == HTTPCharacters.space else {
            throw .invalid("status", at: statusStart - 1)
        }
        var status = 0
        for index in statusStart..<(statusStart + 3) {
            guard HTTPCharacters.isDigit(block[index]) else { throw .invalid("status", at: index) }
            status = status * 10 + Int(block[index] - 0x30)
        }
        guard status >= 100 else { throw .invalid("status", at: statusStart) }
        let afterStatus = statusStart + 3
        guard afterStatus < end else {
            return .response(status: status, reasonStart: end, end: end, version: version)
        }
        guard block[afterStatus] == HTTPCharacters.space else { throw .invalid("status", at: afterStatus) }
        for index in afterStatus..<end where !HTTPCharacters.isFieldValue(block[index]) {
            throw .invalid("reason phrase", at: index)
        }
        return .response(status: status, reasonStart: afterStatus + 1, end: end, version: version)
    }

    /// Parses a request line (RFC 9112 §3). Its parts must be separated by exactly one space.
    private static func requestLine(
        _ block: borrowing Span<UInt8>, from start: Int, to end: Int
    ) throws(HTTPSyntaxError) -> StartLine {
        var methodEnd = start
        while methodEnd < end, HTTPCharacters.isToken(block[methodEnd]) { methodEnd += 1 }
        guard methodEnd > start, methodEnd < end, block[methodEnd] == HTTPCharacters.space else {
            throw .invalid("method", at: methodEnd)
        }
        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        while targetEnd < end, HTTPCharacters.isTarget(block[targetEnd]) { targetEnd += 1 }
        guard targetEnd > targetStart, targetEnd < end, block[targetEnd] == HTTPCharacters.space else {
            throw .invalid("target", at: targetEnd)
        }
        let version = try version(block, at: targetEnd + 1, end: end)
        guard targetEnd + 1 + versionCount == end else { throw .invalid("HTTP version", at: targetEnd + 1) }
        return .request(targetStart: targetStart, targetEnd: targetEnd, version: version)
    }

    /// Parses the protocol name and version (RFC 9112 §2.3). Accepts every version 1.x, because a minor version does
    /// not change message syntax (RFC 9110 §2.5).
    private static func version(
        _ block: borrowing Span<UInt8>, at start: Int, end: Int
    ) throws(HTTPSyntaxError) -> HTTPVersion {
        guard end - start >= versionCount else { throw .invalid("HTTP version", at: start) }
        for offset in 0..<protocolName.count where block[start + offset] != protocolName[offset] {
            throw .invalid("HTTP version", at: start)
        }
        guard block[start + 5] == UInt8(ascii: "1"), block[start + 6] == UInt8(ascii: "."),
            HTTPCharacters.isDigit(block[start + 7])
        else { throw .invalid("HTTP version", at: start) }
        return HTTPVersion(major: 1, minor: block[start + 7] - 0x30)
    }
}
