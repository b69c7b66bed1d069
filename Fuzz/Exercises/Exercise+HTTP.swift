internal import CausewayTestKit
internal import CausewayWire

extension Exercise {
    /// Checks that the result of parsing a head does not depend on how the input is split. Also checks that an encoded
    /// head is parsed as an equal head.
    ///
    /// - Returns: The number of head kinds for which the bytes begin with a complete head.
    @discardableResult
    public static func httpHead(_ bytes: [UInt8]) -> Int {
        var count = 0
        for kind in [HeadReader.Kind.request, .response, .trailers] {
            var limits = HeadReader.Limits()
            limits.byteCount = 1 << 10
            limits.fieldCount = 20
            if checkReading(bytes, kind, limits) { count += 1 }
        }
        checkValues(bytes)
        return count
    }

    private static func checkReading(_ bytes: [UInt8], _ kind: HeadReader.Kind, _ limits: HeadReader.Limits) -> Bool {
        var whole = HeadReader(kind, limits: limits)
        var consumed = 0
        let error = captured { () throws(HTTPSyntaxError) in consumed = try whole.take(bytes[...]) }
        var drip = HeadReader(kind, limits: limits)
        var dripped = 0
        let dripError = captured { () throws(HTTPSyntaxError) in
            for byte in bytes where !drip.isComplete { dripped += try drip.take([byte]) }
        }
        precondition(error == dripError)
        guard error == nil else { return false }
        precondition(whole == drip && consumed == dripped && (consumed == bytes.count || whole.isComplete))
        guard whole.isComplete else { return false }
        checkWriting(&whole)
        return true
    }

    private static func captured(_ body: () throws(HTTPSyntaxError) -> Void) -> HTTPSyntaxError? {
        do throws(HTTPSyntaxError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// Encodes the message head from `reader`, parses the result again, and checks that both heads are equal.
    private static func checkWriting(_ reader: inout HeadReader) {
        let kind = reader.kind
        let (request, response) = (reader.finishRequest(), reader.finishResponse())
        var written: [UInt8] = []
        var again = HeadReader(kind)
        do {
            try request?.encode(into: &written)
            try response?.encode(into: &written)
            if kind == .trailers { try reader.finishFields().encode(into: &written) }
            let count = try again.take(written[...])
            precondition(count == written.count && again.isComplete)
        } catch {
            preconditionFailure("a head that was read cannot be written: \(error)")
        }
        precondition(again.finishRequest() == request && again.finishResponse() == response)
    }

    /// Parses the bytes as each supported kind of field value, and checks the results.
    private static func checkValues(_ bytes: [UInt8]) {
        let value = bytes[...]
        for element in ListElements(value) { precondition(!element.isEmpty) }
        if let type = MediaType(parsing: value) { precondition(MediaType(parsing: type.essence) != nil) }
        if let name = ContentDisposition(parsing: value).filename {
            precondition(
                !name.isEmpty && name != ".." && !name.unicodeScalars.contains { $0 == "/" || $0.value < 0x20 })
            precondition(ExtendedValue.text(Array(ExtendedValue.encoded(name).utf8)) == name)
        }
        if let ranges = ByteRange.parse(value) {
            precondition(ByteRange.parse(ByteRange.text(ranges)) == ranges)
            for range in ranges { precondition(range.positions(in: 100)?.upperBound ?? 0 <= 100) }
        }
        if let range = ContentRange(parsing: value) { precondition(ContentRange(parsing: range.text) == range) }
        if let date = HTTPDate.seconds(parsing: value, now: 1_800_000_000) {
            precondition(HTTPDate.seconds(parsing: HTTPDate.text(date), now: 0) == date)
        }
        if let delay = RetryAfter(parsing: value, now: 0) { precondition(delay.delay(now: 0) >= 0) }
        if let text = String(validating: bytes, as: UTF8.self), let quoted = FieldValueReader.quoted(text) {
            var reader = FieldValueReader(quoted)
            precondition(reader.tokenOrQuotedString() == bytes && reader.isAtEnd)
        }
    }

    /// Checks that the result of decoding chunks does not depend on how the input is split, and that the result can be encoded to a body
    /// with equal content.
    ///
    /// - Returns: Whether the bytes begin with a complete body.
    @discardableResult
    public static func httpChunks(_ bytes: [UInt8]) -> Bool {
        let whole = Chunks(bytes, pieceLength: .max)
        for pieceLength in [1, 3] { precondition(Chunks(bytes, pieceLength: pieceLength) == whole) }
        guard let trailers = whole.trailers else { return false }
        var written: [UInt8] = []
        var start = 0
        while start < whole.content.count {
            let end = min(whole.content.count, start + 1 + start % 7)
            ChunkEncoding.appendSize(end - start, isFirst: start == 0, to: &written)
            written += whole.content[start..<end]
            start = end
        }
        guard (try? ChunkEncoding.appendEnd(trailers, isFirst: start == 0, to: &written)) != nil else {
            preconditionFailure("trailers that were read cannot be written")
        }
        let again = Chunks(written, pieceLength: 5)
        precondition(again.content == whole.content && again.trailers == trailers && again.consumed == written.count)
        return true
    }

    /// The result of decoding a chunked body.
    private struct Chunks: Equatable {
        var content: [UInt8] = []
        var trailers: FieldSection?
        var error: HTTPSyntaxError?
        var consumed = 0

        init(_ bytes: [UInt8], pieceLength: Int) {
            var decoder = ChunkDecoder()
            var rest = bytes[...]
            while !rest.isEmpty, trailers == nil, error == nil {
                var piece = rest.prefix(pieceLength)
                let count = piece.count
                do throws(HTTPSyntaxError) {
                    while let element = try decoder.next(&piece) {
                        switch element {
                        case .content(let slice):
                            precondition(!slice.isEmpty)
                            content += slice
                        case .end(let fields): trailers = fields
                        }
                    }
                    precondition(piece.isEmpty || decoder.hasEnded)
                    consumed += count - piece.count
                } catch {
                    self.error = error
                    consumed = 0
                }
                rest = rest.dropFirst(count - piece.count)
            }
            if error != nil { consumed = 0 }
        }
    }
}
