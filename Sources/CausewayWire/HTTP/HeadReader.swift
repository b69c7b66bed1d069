/// Reads a message head or a trailer section from pieces of any size (RFC 9112 §2.1, §2.2, §5, §7.1.2).
///
/// The bytes are copied once, into the block of the resulting ``FieldSection``. The reader rejects input that one HTTP
/// implementation interprets differently than another: white space before a colon, a carriage return without a line
/// feed, and control characters. In requests and trailer sections, it also rejects folded fields and bare line feeds.
package struct HeadReader: Equatable, Sendable {
    /// The section kind to read.
    package enum Kind: Sendable { case request, response, trailers }

    /// Section limits (RFC 9110 §2.3, §5.4, §17.5).
    package struct Limits: Equatable, Sendable {
        /// Maximum head length in bytes, including line ends.
        package var byteCount = 64 << 10
        /// Maximum number of field lines.
        package var fieldCount = 1_000

        package init() {}
    }

    /// The parsed first line. Its parts are given as positions in the block.
    enum StartLine: Equatable, Sendable {
        case none
        case request(targetStart: Int, targetEnd: Int, version: HTTPVersion)
        case response(status: Int, reasonStart: Int, end: Int, version: HTTPVersion)
    }

    /// The block's largest initial capacity in bytes. It is large enough for most heads, so reading a head takes only
    /// two allocations: the block and the field index.
    ///
    /// The capacity is below 1024, because the allocator's per-thread cache does not serve an array of 1024 bytes.
    private static let usualByteCount = 960
    private static let usualFieldCount = 16
    /// The maximum number of empty lines before a request line. RFC 9112 §2.2 asks servers to ignore at least one.
    private static let maximumEmptyLines = 4

    package let kind: Kind
    private let limits: Limits
    private(set) var block: [UInt8] = []
    private(set) var entries: [FieldSection.Entry] = []
    private(set) var startLine = StartLine.none
    private var lineStart = 0
    private var emptyLineCount = 0
    /// Whether the empty line at the end was read.
    package private(set) var isComplete = false

    package init(_ kind: Kind, limits: Limits = Limits()) {
        self.kind = kind
        self.limits = limits
    }

    /// Whether the reader has read any section bytes.
    package var hasBegun: Bool { !block.isEmpty }

    /// Whether the reader has read a head's first line.
    package var hasStartLine: Bool { if case .none = startLine { false } else { true } }

    /// Whether the reader accepts lines that end with a line feed alone (RFC 9112 §2.2), and fields that continue on
    /// lines that begin with white space (RFC 9112 §5.2).
    ///
    /// Responses may contain such lines, because some servers and gateways send them. Requests and chunked trailers
    /// must not: implementations interpret such lines differently, which makes request smuggling possible.
    private var allowsObsoleteLines: Bool {
        switch kind {
        case .response: true
        case .request, .trailers: false
        }
    }

    /// Number of bytes read so far.
    package var byteCount: Int { block.count }

    /// Consumes bytes up to the end of the section.
    ///
    /// - Returns: The consumed byte count; less than the size of `bytes` only if the section is complete.
    /// - Throws: ``HTTPSyntaxError``. The error does not depend on how the input is split. The reader must not be used afterwards.
    package mutating func take(_ bytes: ArraySlice<UInt8>) throws(HTTPSyntaxError) -> Int { try take(bytes.span) }

    /// Consumes bytes up to the end of the section. See ``take(_:)-(ArraySlice<UInt8>)``.
    package mutating func take(_ bytes: borrowing Span<UInt8>) throws(HTTPSyntaxError) -> Int {
        if block.isEmpty, !bytes.isEmpty, !isComplete { reserve(bytes.count) }
        var start = 0
        while start < bytes.count, !isComplete {
            var end = start
            while end < bytes.count, bytes[end] != HTTPCharacters.lineFeed { end += 1 }
            let hasLineFeed = end < bytes.count
            if hasLineFeed { end += 1 }
            let room = limits.byteCount - block.count
            let taken = start..<min(end, start + room)
            unsafe bytes.withUnsafeBufferPointer { unsafe block.append(contentsOf: $0[taken]) }
            try checkProtocolName()
            guard end - start <= room else {
                throw .limitExceeded("bytes in the head", limit: limits.byteCount)
            }
            start = end
            if hasLineFeed { try endLine() }
        }
        return start
    }

    private mutating func reserve(_ count: Int) {
        block.reserveCapacity(min(max(count, 256), Self.usualByteCount))
        if kind != .trailers { entries.reserveCapacity(Self.usualFieldCount) }
    }

    /// Processes one line. The last byte of `block` ends this line.
    private mutating func endLine() throws(HTTPSyntaxError) {
        var end = block.count - 1
        if end > lineStart, block[end - 1] == HTTPCharacters.carriageReturn {
            end -= 1
        } else if !allowsObsoleteLines {
            throw .invalid("line end", at: end)
        }
        let start = lineStart
        lineStart = block.count
        guard start < end else { return try endEmptyLine() }
        if kind != .trailers, case .none = startLine {
            startLine = try Self.startLine(kind, block.span, from: start, to: end)
            return
        }
        if allowsObsoleteLines, !entries.isEmpty, HTTPCharacters.isSpace(block[start]) {
            return try unfold(from: start, to: end)
        }
        guard entries.count < limits.fieldCount else { throw .limitExceeded("fields", limit: limits.fieldCount) }
        entries.append(try Self.field(block.span, from: start, to: end))
    }

    /// Appends a folded line to the latest field's value. Spaces replace the line end and the white space around it
    /// (RFC 9112 §5.2).
    private mutating func unfold(from start: Int, to end: Int) throws(HTTPSyntaxError) {
        guard let (first, last) = try Self.value(block.span, from: start, to: end) else { return }
        var entry = entries[entries.count - 1]
        if entry.valueCount == 0 {
            entry.valueStart = UInt32(first)
        } else {
            for index in Int(entry.valueStart + entry.valueCount)..<first { block[index] = HTTPCharacters.space }
        }
        entry.valueCount = UInt32(last) - entry.valueStart
        entries[entries.count - 1] = entry
    }

    private mutating func endEmptyLine() throws(HTTPSyntaxError) {
        guard kind != .trailers, case .none = startLine else {
            isComplete = true
            return
        }
        guard kind == .request, emptyLineCount < Self.maximumEmptyLines else { throw .invalid("start line", at: 0) }
        emptyLineCount += 1
        block.removeAll(keepingCapacity: true)
        lineStart = 0
    }

    /// Checks whether the first bytes are the start of an HTTP version. A response of another protocol is therefore
    /// rejected at its first wrong byte, before its first line has ended.
    private func checkProtocolName() throws(HTTPSyntaxError) {
        guard kind == .response, case .none = startLine else { return }
        guard zip(block, Self.protocolName).allSatisfy(==) else { throw .invalid("HTTP version", at: 0) }
    }

    /// Parses one field line (RFC 9112 §5.1).
    static func field(
        _ block: borrowing Span<UInt8>, from start: Int, to end: Int
    ) throws(HTTPSyntaxError) -> FieldSection.Entry {
        var colon = start
        while colon < end, HTTPCharacters.isToken(block[colon]) { colon += 1 }
        guard colon > start, colon < end, block[colon] == HTTPCharacters.colon else {
            throw .invalid(HTTPCharacters.isSpace(block[start]) ? "folded line" : "field name", at: colon)
        }
        let (first, last) = try value(block, from: colon + 1, to: end) ?? (end, end)
        return FieldSection.Entry(
            nameStart: UInt32(start), nameCount: UInt32(colon - start), valueStart: UInt32(first),
            valueCount: UInt32(last - first))
    }

    /// Returns a value's bounds without the white space around it; `nil` if there is only white space.
    private static func value(
        _ block: borrowing Span<UInt8>, from start: Int, to end: Int
    ) throws(HTTPSyntaxError) -> (first: Int, last: Int)? {
        var (first, last) = (start, end)
        while first < last, HTTPCharacters.isSpace(block[first]) { first += 1 }
        while last > first, HTTPCharacters.isSpace(block[last - 1]) { last -= 1 }
        for index in first..<last where !HTTPCharacters.isFieldValue(block[index]) {
            throw .invalid("field value", at: index)
        }
        return first < last ? (first, last) : nil
    }
}

extension HeadReader {
    /// Returns the request, and resets the reader for the next request. Returns `nil` if the reader does not have a
    /// complete request head.
    package mutating func finishRequest() -> HTTPRequestHead? {
        guard isComplete, case .request(let targetStart, let targetEnd, let version) = startLine else { return nil }
        let method = String(decoding: block[..<(targetStart - 1)], as: UTF8.self)
        let target = String(decoding: block[targetStart..<targetEnd], as: UTF8.self)
        return HTTPRequestHead(method: method, target: target, version: version, fields: finishFields())
    }

    /// Returns the response, and resets the reader for the next one. Returns `nil` unless the reader has a complete response head.
    package mutating func finishResponse() -> HTTPResponseHead? {
        guard isComplete, case .response(let status, let reasonStart, let end, let version) = startLine else {
            return nil
        }
        let reason = String(decoding: block[reasonStart..<end], as: UTF8.self)
        return HTTPResponseHead(status: status, reason: reason, version: version, fields: finishFields())
    }

    /// Returns the fields that were read, and resets the reader for the next section.
    package mutating func finishFields() -> FieldSection {
        let section = FieldSection(block: block, entries: entries)
        self = HeadReader(kind, limits: limits)
        return section
    }
}
