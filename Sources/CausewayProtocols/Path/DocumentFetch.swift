package import CausewayWire

/// Downloads one document from a web server (RFC 9112): one request and one response of limited length.
///
/// It does no I/O: the owner sends ``request`` and passes on the received bytes.
package struct DocumentFetch: Sendable {
    package struct Document: Equatable, Sendable {
        package var content: [UInt8]
        /// Seconds for which the document may be cached (RFC 9111 §5.2.2); `nil` if the response does not specify it.
        package var freshness: Int?
    }

    package enum Outcome: Equatable, Sendable {
        case document(Document)
        /// A redirect, with the target URL as the server wrote it.
        case elsewhere(String)
        case refused(status: Int)
        case tooLong
        /// The response is not HTTP, ended early, or has a content coding that the request did not ask for.
        case malformed
    }

    private enum Phase {
        case head
        /// The content ends after `left` bytes or, if `left` is `nil`, at the end of the connection.
        case content(left: Int?)
        case chunks(ChunkReader)
        case over
    }

    package let request: [UInt8]
    private let limit: Int
    private var phase = Phase.head
    private var scanner = UpgradeHeadScanner()
    private var document = Document(content: [])

    /// - Parameters:
    ///   - authority: The host and port of the URL: `example.com:8080`.
    ///   - target: The path with the query.
    ///   - limit: The maximum length of the document, in bytes.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if a parameter does not fit on one header line.
    package init(authority: String, target: String, limit: Int) throws(UpgradeError) {
        self.limit = limit
        request = try PlainRequest.bytes(
            authority: authority, target: target, version: "1.1", ["Accept-Encoding: identity"])
    }

    /// Processes received bytes.
    ///
    /// - Returns: The outcome, as soon as there is one. Ignore the results of later calls.
    package mutating func take(_ bytes: [UInt8]) -> Outcome? {
        var rest = bytes[...]
        while true {
            switch phase {
            case .over: return nil
            case .head:
                do throws(UpgradeError) {
                    rest = rest.dropFirst(try scanner.take(rest))
                    guard scanner.isComplete else { return nil }
                    if let outcome = begin(try AnswerHead(parsing: scanner.head)) { return end(outcome) }
                } catch {
                    return end(.malformed)
                }
            case .content(let left):
                let piece = rest.prefix(left ?? .max)
                guard add(piece) else { return end(.tooLong) }
                guard let left else { return nil }
                phase = .content(left: left - piece.count)
                return left == piece.count ? end(.document(document)) : nil
            case .chunks(var reader):
                let isLast = reader.take(rest)
                guard add(reader.takeContent()[...]) else { return end(.tooLong) }
                phase = .chunks(reader)
                guard let isLast else { return end(.malformed) }
                return isLast ? end(.document(document)) : nil
            }
        }
    }

    /// Reports that the server closed the connection. Returns the outcome, if there is one.
    package mutating func end() -> Outcome? {
        switch phase {
        case .over: return nil
        case .content(nil): return end(.document(document))
        case .head, .content, .chunks: return end(.malformed)
        }
    }

    private mutating func end(_ outcome: Outcome) -> Outcome {
        phase = .over
        return outcome
    }

    private mutating func add(_ piece: ArraySlice<UInt8>) -> Bool {
        guard document.content.count + piece.count <= limit else { return false }
        document.content += piece
        return true
    }

    private mutating func begin(_ head: AnswerHead) -> Outcome? {
        switch head.status {
        // After an interim response another response follows (RFC 9110 §15.2).
        case 100..<200:
            scanner = UpgradeHeadScanner()
            return nil
        case 200: break
        case 301, 302, 303, 307, 308:
            return head.fields.onlyValue(of: "Location").map { .elsewhere($0) } ?? .malformed
        default: return .refused(status: head.status)
        }
        document.freshness = Self.freshness(head.fields)
        guard head.fields.elements(of: "Content-Encoding").allSatisfy({ HeaderFields.areEqual($0, "identity") }) else {
            return .malformed
        }
        let codings = head.fields.elements(of: "Transfer-Encoding")
        if !codings.isEmpty {
            guard codings.count == 1, HeaderFields.areEqual(codings[0], "chunked") else { return .malformed }
            phase = .chunks(ChunkReader())
            return nil
        }
        let lengths = Set(head.fields.elements(of: "Content-Length"))
        guard let text = lengths.first else {
            phase = .content(left: nil)
            return nil
        }
        guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .malformed }
        guard let length = Int(text), length <= limit else { return .tooLong }
        phase = .content(left: length)
        return length == 0 ? .document(document) : nil
    }

    private static func freshness(_ fields: HeaderFields) -> Int? {
        var freshness: Int?
        for element in fields.elements(of: "Cache-Control") {
            let word = element.lowercased()
            if word == "no-store" || word == "no-cache" { return 0 }
            if word.hasPrefix("max-age="), let seconds = Int(word.dropFirst(8)), seconds >= 0 { freshness = seconds }
        }
        return freshness
    }
}

/// Decodes the chunked transfer coding (RFC 9112 §7.1).
struct ChunkReader: Sendable {
    private enum Phase {
        case size, content(left: Int), end, trailer
    }

    /// The maximum length of a chunk size line with its extensions, and of a trailer line, in bytes.
    private static let lineLimit = 1_024

    private var phase = Phase.size
    private var line: [UInt8] = []
    private var content: [UInt8] = []
    private var trailerCount = 0

    /// Returns the content decoded so far and clears the buffer.
    mutating func takeContent() -> [UInt8] {
        defer { content = [] }
        return content
    }

    /// - Returns: `true` after the last chunk, `false` before it, `nil` for a malformed chunk.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool? {
        var rest = bytes
        while let byte = rest.first {
            if case .content(let left) = phase {
                let piece = rest.prefix(left)
                content += piece
                rest = rest.dropFirst(piece.count)
                phase = left == piece.count ? .end : .content(left: left - piece.count)
                continue
            }
            rest = rest.dropFirst()
            guard byte == 0x0A else {
                line.append(byte)
                guard line.count <= Self.lineLimit else { return nil }
                continue
            }
            guard let isLast = finishLine() else { return nil }
            if isLast { return true }
        }
        return false
    }

    private mutating func finishLine() -> Bool? {
        guard line.popLast() == 0x0D else { return nil }
        defer { line = [] }
        switch phase {
        case .size:
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
            guard digits.count <= 7, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0,
                digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
            else { return nil }
            phase = size == 0 ? .trailer : .content(left: size)
        case .end:
            guard line.isEmpty else { return nil }
            phase = .size
        case .trailer:
            if line.isEmpty { return true }
            trailerCount += line.count
            guard trailerCount <= Self.lineLimit else { return nil }
        case .content: return nil
        }
        return false
    }
}
