internal import CausewayWire

/// Fuzz tests for multipart bodies, event streams, and file names that servers suggest.
extension Exercise {
    /// Decodes a multipart body. Checks that the result does not depend on how the input is split, and that decoded parts can be encoded to a
    /// form with equal parts.
    ///
    /// - Returns: The number of parts of a complete body.
    @discardableResult
    public static func multipart(_ bytes: [UInt8]) -> Int {
        guard let boundary = MultipartBoundary("b") else { preconditionFailure("boundary") }
        let whole = DecodedForm(bytes, boundary, pieceLength: .max)
        for pieceLength in [1, 3] {
            precondition(DecodedForm(bytes, boundary, pieceLength: pieceLength) == whole, "split")
        }
        precondition(whole.parts.count <= 8, "parts")
        guard whole.error == nil else { return 0 }
        checkEncoding(whole, boundary)
        return whole.parts.count
    }

    private static func checkEncoding(_ form: DecodedForm, _ boundary: MultipartBoundary) {
        var (written, parts): ([UInt8], [MultipartPart]) = ([], [])
        for part in form.parts {
            guard let description = MultipartPart(part.fields) else { continue }
            guard let head = try? description.head(after: boundary, isFirst: parts.isEmpty) else {
                preconditionFailure("a part that cannot be written")
            }
            written += head + part.content
            parts.append(description)
        }
        written += MultipartPart.end(boundary, isEmpty: parts.isEmpty)
        // Encoding makes names longer: a byte that is not UTF-8 becomes three bytes, and a line end becomes six bytes.
        let again = DecodedForm(written, boundary, pieceLength: 5, headByteCount: 1 << 12)
        let named = form.parts.filter { MultipartPart($0.fields) != nil }
        precondition(again.error == nil && again.parts.map(\.content) == named.map(\.content), "contents")
        for (part, sent) in zip(again.parts, parts) {
            var expected = sent
            expected.name = MultipartPart.withLineEnds(sent.name)
            precondition(MultipartPart(part.fields) == expected, "description")
        }
    }

    /// The result of decoding a multipart body.
    private struct DecodedForm: Equatable {
        struct Part: Equatable {
            var fields: FieldSection
            var content: [UInt8] = []
        }

        var parts: [Part] = []
        var error: HTTPSyntaxError?

        init(_ bytes: [UInt8], _ boundary: MultipartBoundary, pieceLength: Int, headByteCount: Int = 256) {
            var limits = MultipartDecoder.Limits()
            limits.partCount = 8
            limits.headByteCount = headByteCount
            limits.fieldCount = 4
            var decoder = MultipartDecoder(boundary, limits: limits)
            var (rest, isOpen) = (bytes[...], false)
            do throws(HTTPSyntaxError) {
                while !rest.isEmpty {
                    var events: [MultipartDecoder.Event] = []
                    defer { for event in events { add(event, &isOpen) } }
                    try decoder.decode(rest.prefix(pieceLength), into: &events)
                    rest = rest.dropFirst(pieceLength)
                }
                try decoder.finish()
                precondition(!isOpen, "a complete body with an open part")
            } catch {
                self.error = error
            }
        }

        private mutating func add(_ event: MultipartDecoder.Event, _ isOpen: inout Bool) {
            switch event {
            case .part(let fields):
                precondition(!isOpen, "a part inside another")
                isOpen = true
                parts.append(Part(fields: fields))
            case .content(let bytes):
                precondition(isOpen && !bytes.isEmpty, "content without a part")
                parts[parts.count - 1].content += bytes
            case .partEnd:
                precondition(isOpen, "an end without a part")
                isOpen = false
            }
        }
    }

    /// Parses a stream of server-sent events. The result must not depend on how the input is split, and the size of an
    /// event must be bounded. Writing the events to a stream must give equal events.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func events(_ bytes: [UInt8]) -> Int {
        let whole = EventStream(bytes, pieceLength: .max)
        for pieceLength in [1, 3] { precondition(EventStream(bytes, pieceLength: pieceLength) == whole, "split") }
        var written = ":\n"
        for event in whole.events {
            // Each byte that is not UTF-8 becomes U+FFFD, which has three bytes in UTF-8.
            precondition(event.data.utf8.count + event.type.utf8.count <= 3 * EventStream.limit + 7, "size")
            precondition(!event.type.isEmpty && !event.id.contains("\u{0}"), "event")
            written += "id: \(event.id)\nevent: \(event.type)\n"
            for line in event.data.split(separator: "\n", omittingEmptySubsequences: false) {
                written += "data: \(line)\n"
            }
            written += "\n"
        }
        let again = EventStream(Array(written.utf8), pieceLength: 5, limit: 1 << 20)
        precondition(again.events == whole.events && !again.isTooLong, "events")
        return whole.events.count
    }

    /// The result of parsing a stream of server-sent events.
    private struct EventStream: Equatable {
        static let limit = 200

        var events: [EventStreamParser.Event] = []
        var isTooLong = false
        var lastEventID = ""
        var reconnectionTime: Int?

        init(_ bytes: [UInt8], pieceLength: Int, limit: Int = Self.limit) {
            var parser = EventStreamParser(limit: limit)
            var rest = bytes[...]
            while !rest.isEmpty, !isTooLong {
                do { try parser.parse(rest.prefix(pieceLength), into: &events) } catch { isTooLong = true }
                rest = rest.dropFirst(pieceLength)
            }
            (lastEventID, reconnectionTime) = (parser.lastEventID, parser.reconnectionTime)
        }
    }

    /// Parses bytes as a `Content-Disposition` value, and as file names inside such a value. Checks that a suggested
    /// name is a single name without control characters, and that it can be sent again.
    ///
    /// - Returns: The number of suggested names.
    @discardableResult
    public static func suggestedNames(_ bytes: [UInt8]) -> Int {
        var count = 0
        for (start, end) in [
            ("", ""), ("attachment; filename=\"", "\""), ("inline;filename*=utf-8''", ""), ("filename=", ";x"),
        ] {
            let value = Array(start.utf8) + bytes + end.utf8
            guard let name = ContentDisposition(parsing: value[...]).filename else { continue }
            count += 1
            precondition(!name.isEmpty && name != "." && name != "..", "a name of a folder")
            precondition(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "/" && $0 != "\\" }, "characters")
            let again = "attachment; filename*=" + ExtendedValue.encoded(name)
            precondition(ContentDisposition(parsing: again).filename == name, "another name")
        }
        return count
    }
}
