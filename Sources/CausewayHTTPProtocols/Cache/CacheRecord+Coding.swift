package import CausewayWire

extension CacheRecord {
    /// Returns the head of the cache file for this response. Returns `nil` if it would have too many fields
    /// (``maximumFields``) or be too long (``maximumCount``).
    package func serialized() -> [UInt8]? {
        guard stored.fields.count <= Self.maximumFields, stored.selecting.count <= Self.maximumFields else {
            return nil
        }
        var values: [UInt8] = []
        values.reserveCapacity(256 + stored.fields.byteCount)
        append(Array(key.utf8), to: &values)
        append(Array(url.utf8), to: &values)
        append(Array(version.utf8), to: &values)
        values.append(traits.rawValue)
        append(UInt16(clamping: stored.status), to: &values)
        append(Int64(stored.requestTime), to: &values)
        append(Int64(stored.responseTime), to: &values)
        appendPart(to: &values)
        append(UInt16(stored.selecting.count), to: &values)
        for field in stored.selecting {
            append(Array(field.name.utf8), to: &values)
            values.append(field.value == nil ? 0 : 1)
            append(Array((field.value ?? "").utf8), to: &values)
        }
        append(UInt16(stored.fields.count), to: &values)
        for field in stored.fields {
            append(Array(field.name), to: &values)
            append(Array(field.value), to: &values)
        }
        append(attachment, to: &values)
        append(Int64(content.count), to: &values)
        append(content.checksum, to: &values)
        return values.count <= Self.maximumCount ? Self.sealed(values) : nil
    }

    /// Returns the head of a cache file. It consists of a prefix, the size of `values`, the checksum of `values`, and
    /// `values`.
    package static func sealed(_ values: [UInt8]) -> [UInt8] {
        var result = magic
        append(UInt32(truncatingIfNeeded: values.count), to: &result)
        append(CacheChecksum.of(values), to: &result)
        return result + values
    }

    private func appendPart(to values: inout [UInt8]) {
        values.append(stored.part == nil ? 0 : 1)
        guard let part = stored.part else { return }
        append(Int64(part.positions.lowerBound), to: &values)
        append(Int64(part.positions.upperBound), to: &values)
        append(Int64(part.length), to: &values)
        append(Array(part.request.utf8), to: &values)
    }

    private static func append<T: FixedWidthInteger>(_ number: T, to bytes: inout [UInt8]) {
        for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> T(shift)))
        }
    }

    private func append<T: FixedWidthInteger>(_ number: T, to bytes: inout [UInt8]) { Self.append(number, to: &bytes) }

    private func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        append(UInt32(text.count), to: &bytes)
        bytes.append(contentsOf: text)
    }

    /// Parses a file, and verifies the checksums of its head and content.
    ///
    /// - Returns: The head, and the byte offset at which the content starts.
    /// - Throws: ``WireError`` if the file is truncated, damaged or not a cache file.
    package static func parse(_ file: RawSpan) throws(WireError) -> (record: CacheRecord, start: Int) {
        var reader = ByteReader(file)
        guard try reader.readBytes(magic.count) == magic else { throw .invalid("cache file", at: 0) }
        let count = Int(try reader.readInteger(as: UInt32.self))
        let checksum = try reader.readInteger(as: UInt64.self)
        guard count <= maximumCount else { throw .invalid("size of the head", at: 8) }
        let values = try reader.readSpan(count)
        guard CacheChecksum.of(values) == checksum else { throw .invalid("checksum of the head", at: 12) }
        var inner = ByteReader(values, base: prefixCount)
        let record = try CacheRecord(&inner)
        guard inner.isAtEnd else { throw .invalid("size of the head", at: inner.position) }
        guard reader.remaining == record.content.count, CacheChecksum.of(reader.readRest()) == record.content.checksum
        else { throw .invalid("content", at: prefixCount + count) }
        return (record, prefixCount + count)
    }

    private init(_ reader: inout ByteReader) throws(WireError) {
        key = try Self.readText(&reader)
        url = try Self.readText(&reader)
        version = try Self.readText(&reader)
        traits = Traits(rawValue: try reader.readInteger())
        let status = Int(try reader.readInteger(as: UInt16.self))
        let times = (try Self.readTime(&reader), try Self.readTime(&reader))
        let part = try Self.readPart(&reader)
        var selecting: [StoredResponse.Selecting] = []
        for _ in 0..<(try Self.readCount(&reader)) {
            let name = try Self.readText(&reader)
            let hasValue = try reader.readInteger(as: UInt8.self) != 0
            let value = try Self.readText(&reader)
            selecting.append(StoredResponse.Selecting(name: name, value: hasValue ? value : nil))
        }
        var fields = FieldSection()
        for _ in 0..<(try Self.readCount(&reader)) {
            let name = try Self.readField(&reader, HTTPCharacters.isToken)
            let value = try Self.readField(&reader, HTTPCharacters.isFieldValue)
            guard !name.isEmpty else { throw .invalid("field name", at: reader.position) }
            fields.append(name: name, value: value)
        }
        attachment = try Self.readBytes(&reader)
        let count = try reader.readInteger(as: Int64.self)
        guard count >= 0 else { throw .invalid("size of the content", at: reader.position) }
        content = Content(count: Int(count), checksum: try reader.readInteger())
        if let part, part.positions.count != Int(count) { throw .invalid("part", at: reader.position) }
        stored = StoredResponse(
            status: status, fields: fields, requestTime: times.0, responseTime: times.1, selecting: selecting,
            part: part)
    }

    private static func readBytes(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let count = Int(try reader.readInteger(as: UInt32.self))
        return try reader.readBytes(count)
    }

    private static func readText(_ reader: inout ByteReader) throws(WireError) -> String {
        String(decoding: try readBytes(&reader), as: UTF8.self)
    }

    private static func readField(
        _ reader: inout ByteReader, _ isAllowed: (UInt8) -> Bool
    ) throws(WireError) -> [UInt8] {
        let bytes = try readBytes(&reader)
        guard bytes.allSatisfy(isAllowed) else { throw .invalid("field", at: reader.position) }
        return bytes
    }

    private static func readCount(_ reader: inout ByteReader) throws(WireError) -> Int {
        let count = Int(try reader.readInteger(as: UInt16.self))
        guard count <= maximumFields else { throw .invalid("number of fields", at: reader.position) }
        return count
    }

    /// Reads a time in seconds. Values of 2^40 and above, positive or negative, are invalid, so that sums of times
    /// cannot overflow.
    private static func readTime(_ reader: inout ByteReader) throws(WireError) -> Int {
        let time = try reader.readInteger(as: Int64.self)
        guard time > -1 << 40, time < 1 << 40 else { throw .invalid("time", at: reader.position) }
        return Int(time)
    }

    private static func readPart(_ reader: inout ByteReader) throws(WireError) -> StoredResponse.Part? {
        guard try reader.readInteger(as: UInt8.self) != 0 else { return nil }
        let first = try reader.readInteger(as: Int64.self)
        let end = try reader.readInteger(as: Int64.self)
        let length = try reader.readInteger(as: Int64.self)
        guard first >= 0, first < end, end <= length else { throw .invalid("part", at: reader.position) }
        return StoredResponse.Part(
            positions: Int(first)..<Int(end), length: Int(length), request: try readText(&reader))
    }
}
