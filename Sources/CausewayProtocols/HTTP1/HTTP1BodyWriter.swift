internal import CausewayWire

/// Writes one message body and checks that it has the stated length.
struct HTTP1BodyWriter: Sendable {
    let length: HTTP1BodyLength
    private var sent = 0
    private(set) var hasEnded: Bool

    /// Creates a writer for the body that follows a message head. If the message has no body, ``hasEnded`` is `true`
    /// from the start, and adding content is an error.
    init(_ length: HTTP1BodyLength) {
        self.length = length
        hasEnded = length == .none
    }

    /// Appends content to the output. Pieces are kept without a copy, unless they are small.
    mutating func append(_ piece: ArraySlice<UInt8>, to output: inout ByteChain) throws(HTTP1Failure) {
        guard !piece.isEmpty else { return }
        guard !hasEnded else { throw .misuse("content after the end of the body") }
        if case .length(let count) = length, piece.count > count - sent {
            throw .misuse("more content than Content-Length")
        }
        if length == .chunked {
            var size: [UInt8] = []
            size.reserveCapacity(ChunkEncoding.maximumSizeCount)
            ChunkEncoding.appendSize(piece.count, isFirst: sent == 0, to: &size)
            output.append(size)
        }
        sent += piece.count
        output.append(piece)
    }

    /// Appends the end of the body.
    ///
    /// - Parameter trailers: The trailer fields. Only a chunked body can carry them; otherwise they are not sent.
    mutating func end(_ trailers: FieldSection, to output: inout ByteChain) throws(HTTP1Failure) {
        guard !hasEnded else { return }
        if case .length(let count) = length, sent != count { throw .misuse("less content than Content-Length") }
        if length == .chunked {
            var end: [UInt8] = []
            do {
                try ChunkEncoding.appendEnd(trailers, isFirst: sent == 0, to: &end)
            } catch {
                throw .unwritable(error)
            }
            output.append(end)
        }
        hasEnded = true
    }
}

/// Header fields for body framing. The state machines write these fields, so that the fields always match the body.
enum HTTP1FramingFields {
    /// Checks that the framing fields which the program has set match the body.
    static func check(_ fields: FieldSection, _ length: HTTP1BodyLength) throws(HTTP1Failure) {
        guard !fields.contains("Transfer-Encoding") else { throw .unwritable(.unwritable("field Transfer-Encoding")) }
        guard fields.contains("Content-Length") else { return }
        let stated = (try? HTTP1BodyLength.contentLength(fields)) ?? nil
        guard let stated, length == .length(stated) || length == .none && stated == 0 else {
            throw .unwritable(.unwritable("field Content-Length"))
        }
    }

    /// Appends a field line to an encoded head, before the empty line at its end.
    static func append(_ line: String, toHead head: inout [UInt8]) {
        head.removeLast(2)
        head.append(contentsOf: line.utf8)
        head.append(contentsOf: "\r\n\r\n".utf8)
    }

    /// Appends the field that states the body length, unless the program's fields already contain it.
    static func append(_ length: HTTP1BodyLength, _ fields: FieldSection, toHead head: inout [UInt8]) {
        switch length {
        case .none, .untilEnd: break
        case .chunked: append("Transfer-Encoding: chunked", toHead: &head)
        case .length(let count):
            if !fields.contains("Content-Length") { append("Content-Length: \(count)", toHead: &head) }
        }
    }
}
