extension DNSMessage {
    /// Parses a whole message.
    ///
    /// A record with malformed content is kept as opaque bytes, so that it does not invalidate the other records (RFC 6762 §6.1). Bytes
    /// after the last record are ignored.
    ///
    /// - Throws: ``WireError`` for malformed names and for missing bytes.
    package init(parsing bytes: Span<UInt8>) throws(WireError) {
        // Reading the elements as raw bytes is safe: a `UInt8` is one initialized byte without padding.
        try self.init(parsing: unsafe bytes.bytes)
    }

    /// Maximum number of records for which memory is reserved before they are read.
    private static let reservedCount = 16

    package init(parsing message: RawSpan) throws(WireError) {
        var reader = ByteReader(message)
        id = try reader.readInteger()
        let bits: UInt16 = try reader.readInteger()
        flags = Flags(rawValue: bits).intersection(.all)
        operation = UInt8(truncatingIfNeeded: bits >> 11) & 0xF
        responseCode = DNSResponseCode(rawValue: bits & 0xF)
        let questionCount: UInt16 = try reader.readInteger()
        let answerCount: UInt16 = try reader.readInteger()
        let authorityCount: UInt16 = try reader.readInteger()
        let additionalCount: UInt16 = try reader.readInteger()
        for _ in 0..<questionCount { questions.append(try DNSQuestion(parsing: &reader, in: message)) }
        var names = KnownNames()
        // The header may state more records than the message contains, so limit the memory that is reserved for
        // records.
        answers.reserveCapacity(min(Int(answerCount), Self.reservedCount))
        for _ in 0..<answerCount { answers.append(try DNSRecord(parsing: &reader, in: message, &names)) }
        authorities.reserveCapacity(min(Int(authorityCount), Self.reservedCount))
        for _ in 0..<authorityCount { authorities.append(try DNSRecord(parsing: &reader, in: message, &names)) }
        additionals.reserveCapacity(min(Int(additionalCount), Self.reservedCount))
        for _ in 0..<additionalCount { adopt(try DNSRecord(parsing: &reader, in: message, &names)) }
    }

    private mutating func adopt(_ record: DNSRecord) {
        guard record.type == .opt else { return additionals.append(record) }
        // More than one OPT record is a format error (RFC 6891 §6.1.1). Use the first one.
        guard extensions == nil, record.name.isRoot, case .opaque(let bytes) = record.data else { return }
        var extensions = DNSExtensions(
            payloadByteCount: record.recordClass.rawValue | (record.flushesCache ? 0x8000 : 0))
        extensions.version = UInt8(truncatingIfNeeded: record.timeToLive >> 16)
        extensions.wantsSecurityRecords = record.timeToLive & 0x8000 != 0
        extensions.options = DNSExtensions.options(bytes)
        responseCode.rawValue |= UInt16(truncatingIfNeeded: record.timeToLive >> 24) << 4
        self.extensions = extensions
    }
}

extension DNSExtensions {
    /// Parses the options up to the first malformed option.
    fileprivate static func options(_ bytes: [UInt8]) -> [Option] {
        var options: [Option] = []
        var reader = ByteReader(bytes.span)
        while !reader.isAtEnd {
            guard let code = try? reader.readInteger(as: UInt16.self),
                let count = try? reader.readInteger(as: UInt16.self),
                let value = try? reader.readBytes(Int(count))
            else { break }
            options.append(Option(code: code, value: value))
        }
        return options
    }
}

extension DNSQuestion {
    fileprivate init(parsing reader: inout ByteReader, in message: borrowing RawSpan) throws(WireError) {
        name = try DNSName(parsing: &reader, in: message)
        type = DNSRecordType(rawValue: try reader.readInteger())
        let bits: UInt16 = try reader.readInteger()
        recordClass = DNSRecordClass(rawValue: bits)
        acceptsUnicast = bits & 0x8000 != 0
    }
}

/// The most recently parsed names, by message position.
///
/// Most records begin with a pointer to an earlier name. If several records point to one name, the name is parsed once
/// and the records share it. This is correct because a position in a message always yields the same name.
struct KnownNames {
    /// The number of parsed names to keep. It is small because every lookup searches all of them.
    ///
    /// Four names are enough for the records of one service: the host, the service, the service type, and one more
    /// name.
    private static let limit = 4

    private var names = InlineArray<4, (position: Int, name: DNSName)?>(repeating: nil)
    private var next = 0

    mutating func read(_ reader: inout ByteReader, in message: borrowing RawSpan) throws(WireError) -> DNSName {
        var position = reader.position
        if let first = reader.peek(), first & 0xC0 == 0xC0, let second = reader.peek(at: 1) {
            position = Int(first & 0x3F) << 8 | Int(second)
            for index in 0..<Self.limit {
                guard let known = names[index] else { break }
                guard known.position == position else { continue }
                try reader.skip(2)
                return known.name
            }
        }
        let name = try DNSName(parsing: &reader, in: message)
        names[next] = (position, name)
        next = (next + 1) % Self.limit
        return name
    }
}

extension DNSRecord {
    fileprivate init(
        parsing reader: inout ByteReader, in message: borrowing RawSpan, _ names: inout KnownNames
    ) throws(WireError) {
        name = try names.read(&reader, in: message)
        type = DNSRecordType(rawValue: try reader.readInteger())
        let bits: UInt16 = try reader.readInteger()
        recordClass = DNSRecordClass(rawValue: bits)
        flushesCache = bits & 0x8000 != 0
        timeToLive = try reader.readInteger()
        // A TTL with the top bit set counts as 0 (RFC 2181 §8). In an OPT record, this field holds other values, so
        // keep the field there.
        if type != .opt, timeToLive > Int32.max { timeToLive = 0 }
        let count: UInt16 = try reader.readInteger()
        let content = try reader.readScope(Int(count))
        data = DNSRecordData(parsing: content, type, in: message, &names)
    }
}
