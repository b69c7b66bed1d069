internal import CausewayHTTPProtocols
internal import CausewayWire

extension Exercise {
    /// Parses the input as the file of a cached response: once unchanged, and once with valid checksums added.
    ///
    /// Checks that a parsed file can be written and parsed again, and that its contents are used within bounds.
    ///
    /// - Returns: Whether the bytes contain a stored response.
    @discardableResult
    public static func cacheFile(_ bytes: [UInt8]) -> Bool {
        let direct = try? CacheRecord.parse(bytes.span.bytes)
        let sealed = CacheRecord.sealed(bytes)
        guard let (record, start) = direct ?? (try? CacheRecord.parse(sealed.span.bytes)) else { return false }
        precondition(start <= max(bytes.count, sealed.count), "start of the content")
        guard let head = record.serialized() else { preconditionFailure("a record that cannot be written") }
        let content = Array((direct == nil ? sealed : bytes)[start...])
        guard let (again, _) = try? CacheRecord.parse((head + content).span.bytes) else {
            preconditionFailure("a record that cannot be read again")
        }
        precondition(again == record, "another record")
        use(record.stored, content.count)
        return true
    }

    /// Reads the input lines as header fields for a request and a response. Stores the response in a cache, and then
    /// checks its validation.
    ///
    /// - Returns: Whether the response was stored.
    @discardableResult
    public static func cacheExchange(_ bytes: [UInt8]) -> Bool {
        var choices = Choices(bytes)
        let (status, time) = (200 + choices.next(below: 400), 1_700_000_000 + Int(choices.next()))
        let lines = choices.rest.split(separator: 0x0A, maxSplits: 48)
        var (request, response) = (FieldSection(), FieldSection())
        for (index, line) in lines.enumerated() {
            let parts = line.split(separator: 0x3A, maxSplits: 1)
            guard let name = parts.first, HTTPCharacters.isToken(name) else { continue }
            let value = HTTPCharacters.trimmed(parts.count > 1 ? parts[1] : [])
            guard value.allSatisfy(HTTPCharacters.isFieldValue) else { continue }
            if index % 2 == 0 {
                response.append(name: name, value: value)
            } else {
                request.append(name: name, value: value)
            }
        }
        var stored = StoredResponse(
            status: status, fields: response, request: request, requestTime: time, responseTime: time + 1)
        let isStorable = CachePolicy.isStorable(method: "GET", request: request, stored)
        guard stored.notePart(of: request, count: bytes.count) else { return false }
        for now in [time - 9, time + 1, time + 60, .max / 4] {
            let decision = CachePolicy.decide(request, stored, at: now)
            precondition(decision != .reuse || !stored.control.flags.contains(.noCache), "no-cache was ignored")
            _ = CachePolicy.permitsStaleAfterError(request, stored, at: now)
        }
        use(stored, bytes.count)
        stored.freshen(with: response, requestTime: time + 60, responseTime: time + 61)
        use(stored, bytes.count)
        let uri = "http://a.example/x"
        for other in CachePolicy.invalidated(method: "POST", uri: uri, status: 200, fields: response) {
            precondition(other.hasPrefix("http://"), "another origin")
        }
        return isStorable
    }

    private static func use(_ stored: StoredResponse, _ count: Int) {
        precondition(stored.age(at: 1 << 41) >= 0 && stored.lifetime >= 0, "age")
        for text in ["bytes=0-", "bytes=-9", "bytes=3-7", "bytes=9999999999999999999-"] {
            var request = FieldSection()
            request.append("Range", text)
            guard let positions = stored.positions(for: request, count: count) else { continue }
            let available = stored.part?.positions.count ?? count
            precondition(positions.lowerBound >= 0 && positions.upperBound <= available, "positions")
            let fields = stored.fields(forPart: positions, count: count)
            precondition(fields.contains("Content-Range"), "Content-Range")
        }
        var conditional = FieldSection()
        stored.addConditions(to: &conditional)
        precondition(conditional.count <= 2, "conditions")
        _ = StoredResponse.index(in: [stored, stored], for: conditional)
    }
}
