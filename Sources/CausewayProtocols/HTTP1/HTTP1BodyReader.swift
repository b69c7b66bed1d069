internal import CausewayWire

/// Reads one message body.
struct HTTP1BodyReader: Sendable {
    enum Element {
        case content(ArraySlice<UInt8>)
        case end(FieldSection)
    }

    private let length: HTTP1BodyLength
    private var chunks: ChunkDecoder?
    /// Number of content bytes read.
    private(set) var received = 0

    init(_ length: HTTP1BodyLength, limits: HeadReader.Limits) {
        self.length = length
        if length == .chunked { chunks = ChunkDecoder(limits: limits) }
    }

    /// The stated body length in bytes; `nil` if the message does not state the length.
    var expected: Int? {
        switch length {
        case .none: 0
        case .length(let count): count
        case .chunked, .untilEnd: nil
        }
    }

    /// Whether the body continues until the connection closes.
    var endsWithConnection: Bool { length == .untilEnd }

    /// Reads the next part of the body (RFC 9112 §6, §7.1.3).
    ///
    /// - Parameter limit: The maximum number of content bytes.
    /// - Returns: `nil` if more input is needed.
    mutating func next(_ input: inout HTTP1Input, atMost limit: Int) throws(HTTP1Failure) -> Element? {
        switch length {
        case .none: return .end(FieldSection())
        case .length(let count):
            guard received < count else { return .end(FieldSection()) }
            return try takePlain(&input, atMost: min(limit, count - received))
        case .untilEnd:
            if input.isEmpty, input.hasEnded, input.endIsClean { return .end(FieldSection()) }
            return try takePlain(&input, atMost: limit)
        case .chunked: return try takeChunk(&input, atMost: limit)
        }
    }

    /// Counts content that the caller delivers directly, without passing it through this decoder. Returns the number of
    /// content bytes among the next `count` bytes.
    mutating func bypass(_ count: Int) -> Int {
        let share: Int
        switch length {
        case .none, .chunked: return 0
        case .length(let total): share = min(count, total - received)
        case .untilEnd: share = count
        }
        received += share
        return share
    }

    private mutating func takePlain(_ input: inout HTTP1Input, atMost limit: Int) throws(HTTP1Failure) -> Element? {
        guard limit > 0 else { return nil }
        guard let piece = input.popPiece() else {
            try checkEnd(input)
            return nil
        }
        let content = piece.prefix(limit)
        input.putBack(piece.dropFirst(limit))
        received += content.count
        return .content(content)
    }

    private mutating func takeChunk(_ input: inout HTTP1Input, atMost limit: Int) throws(HTTP1Failure) -> Element? {
        guard limit > 0 else { return nil }
        while let piece = input.popPiece() {
            var rest = piece.prefix(limit)
            let element: ChunkDecoder.Element?
            do {
                element = try chunks?.next(&rest)
            } catch {
                throw .syntax(error)
            }
            input.putBack(piece[rest.startIndex...])
            switch element {
            case .content(let content):
                received += content.count
                return .content(content)
            case .end(let trailers): return .end(trailers)
            case nil: continue
            }
        }
        try checkEnd(input)
        return nil
    }

    private func checkEnd(_ input: HTTP1Input) throws(HTTP1Failure) {
        if input.hasEnded { throw .endedEarly(received: received, expected: expected) }
    }
}
