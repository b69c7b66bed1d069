/// Decodes a multipart body from pieces of any size (RFC 2046 §5.1).
///
/// Content is passed on as it arrives, so the decoder buffers only the fields of a part, up to their limit. Text before
/// the first part and after the final part is dropped. Folded fields are rejected, as in HTTP.
package struct MultipartDecoder: Sendable {
    /// A decoded element.
    package enum Event: Equatable, Sendable {
        /// A part begins. It has these header fields.
        case part(FieldSection)
        /// More part content: a slice of the input, or earlier bytes that were held back because a delimiter could
        /// begin with them.
        case content(ArraySlice<UInt8>)
        /// The part's content is complete.
        case partEnd
    }

    package struct Limits: Equatable, Sendable {
        /// Maximum part count.
        package var partCount = 1_000
        /// Maximum size of a part's fields in bytes.
        package var headByteCount = 16 << 10
        /// Maximum field count per part.
        package var fieldCount = 32

        package init() {}
    }

    private enum State: Equatable {
        /// The decoder has not reached the first delimiter.
        case preamble
        /// The decoder reads the rest of a delimiter line, after the boundary.
        case delimiter(after: LastCharacter)
        case head
        case content
        /// The decoder has read the closing delimiter.
        case epilogue
    }

    private enum LastCharacter { case boundary, hyphen, space, carriageReturn }

    /// The delimiter, including the line end before it.
    private let delimiter: [UInt8]
    private let limits: Limits
    private var state = State.preamble
    /// How many bytes from the start of the delimiter match the end of the input so far.
    private var matched = 2
    /// The number of delimiter bytes that count as matched although the input does not contain them.
    ///
    /// A delimiter begins with CRLF. At the start of a body or of a part's content, the delimiter line may lack this
    /// CRLF. The CRLF therefore counts as matched at these places.
    private var borrowed = 2
    private var head: HeadReader
    private var partCount = 0
    private var position = 0

    package init(_ boundary: MultipartBoundary, limits: Limits = Limits()) {
        delimiter = Array("\r\n--".utf8) + boundary.text.utf8
        self.limits = limits
        var headLimits = HeadReader.Limits()
        headLimits.byteCount = limits.headByteCount
        headLimits.fieldCount = limits.fieldCount
        head = HeadReader(.trailers, limits: headLimits)
    }

    /// Whether the closing delimiter was read.
    package var isComplete: Bool { state == .epilogue }

    /// Decodes the next bytes and appends the events.
    ///
    /// - Throws: ``HTTPSyntaxError``. The decoder must not be used afterwards.
    package mutating func decode(_ bytes: ArraySlice<UInt8>, into events: inout [Event]) throws(HTTPSyntaxError) {
        var rest = bytes
        while !rest.isEmpty, state != .epilogue {
            let count = rest.count
            switch state {
            case .preamble, .content: search(&rest, &events)
            case .delimiter: try endDelimiter(&rest)
            case .head: try readHead(&rest, &events)
            case .epilogue: break
            }
            position += count - rest.count
        }
    }

    /// Checks that the body is complete.
    package func finish() throws(HTTPSyntaxError) {
        guard isComplete else { throw .invalid("end of the multipart body", at: position) }
    }

    // MARK: Content

    /// Searches for the delimiter. The delimiter contains CR only at its start, so after a mismatch the search resumes
    /// at the next CR.
    private mutating func search(_ rest: inout ArraySlice<UInt8>, _ events: inout [Event]) {
        let start = rest.startIndex
        var index = start
        while index < rest.endIndex {
            if matched == 0 {
                index = rest[index...].firstIndex(of: HTTPCharacters.carriageReturn) ?? rest.endIndex
                guard index < rest.endIndex else { break }
            }
            if rest[index] == delimiter[matched] {
                matched += 1
                index += 1
                guard matched == delimiter.count else { continue }
                emit(rest[start..<max(start, index - matched)], &events)
                endPart(&events)
                rest = rest[index...]
                return
            }
            // Report the bytes that earlier calls held back because they could begin a delimiter. They have turned out
            // to be content.
            let earlier = matched - (index - start)
            if earlier > borrowed { emit(delimiter[borrowed..<earlier], &events) }
            (matched, borrowed) = (0, 0)
            if rest[index] != HTTPCharacters.carriageReturn { index += 1 }
        }
        emit(rest[start..<max(start, rest.endIndex - matched)], &events)
        rest = rest[rest.endIndex...]
    }

    private func emit(_ content: ArraySlice<UInt8>, _ events: inout [Event]) {
        if state == .content, !content.isEmpty { events.append(.content(content)) }
    }

    private mutating func endPart(_ events: inout [Event]) {
        if state == .content { events.append(.partEnd) }
        state = .delimiter(after: .boundary)
    }

    // MARK: Delimiters and heads

    /// Reads the rest of a delimiter line: spaces and the line end, or two hyphens.
    private mutating func endDelimiter(_ rest: inout ArraySlice<UInt8>) throws(HTTPSyntaxError) {
        guard case .delimiter(let last) = state, let byte = rest.popFirst() else { return }
        switch (last, byte) {
        case (.boundary, UInt8(ascii: "-")): state = .delimiter(after: .hyphen)
        case (.hyphen, UInt8(ascii: "-")): state = .epilogue
        case (.boundary, HTTPCharacters.carriageReturn), (.space, HTTPCharacters.carriageReturn):
            state = .delimiter(after: .carriageReturn)
        case (.boundary, _) where HTTPCharacters.isSpace(byte), (.space, _) where HTTPCharacters.isSpace(byte):
            state = .delimiter(after: .space)
        case (.carriageReturn, HTTPCharacters.lineFeed):
            guard partCount < limits.partCount else { throw .limitExceeded("parts", limit: limits.partCount) }
            partCount += 1
            state = .head
        default: throw .invalid("delimiter", at: position)
        }
    }

    private mutating func readHead(
        _ rest: inout ArraySlice<UInt8>, _ events: inout [Event]
    ) throws(HTTPSyntaxError) {
        let start = position - head.byteCount
        do throws(HTTPSyntaxError) {
            let count = try head.take(rest)
            rest = rest.dropFirst(count)
        } catch {
            guard case .invalid(let element, let offset) = error else { throw error }
            throw .invalid(element, at: start + offset)
        }
        guard head.isComplete else { return }
        events.append(.part(head.finishFields()))
        state = .content
        (matched, borrowed) = (2, 2)
    }
}
