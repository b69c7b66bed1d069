/// Builds a message record by record, up to a maximum size.
///
/// Compresses names where the format allows it (RFC 1035 §4.1.4, RFC 6762 §18.14). Suffixes are compared
/// case-sensitively, so every name keeps its case.
package struct DNSMessageWriter: Sendable {
    package enum Section: Int, Sendable {
        case question, answer, authority, additional
    }

    private static let headerByteCount = 12
    /// A compression pointer can only refer to an offset below this limit.
    private static let pointerLimit = 0x4000

    /// Maximum message size in bytes.
    package let limit: Int
    var bytes: [UInt8]
    private var counts: [UInt16] = [0, 0, 0, 0]
    private var suffixes: [ArraySlice<UInt8>: UInt16] = [:]
    /// The first name in the message, with its position. Most queries contain only this name. Only when the writer
    /// writes a second name, it adds this name to ``suffixes``.
    private var first: (name: DNSName, position: Int)?
    private var section = Section.question

    /// Creates an empty message.
    ///
    /// - Parameter limit: Maximum message size in bytes, at least 12.
    package init(
        id: UInt16 = 0, _ flags: DNSMessage.Flags, operation: UInt8 = 0, code: DNSResponseCode = .noError, limit: Int
    ) {
        self.limit = limit
        let bits = flags.rawValue | UInt16(operation & 0xF) << 11 | code.rawValue & 0xF
        bytes = []
        bytes.reserveCapacity(min(limit, 1_500))
        bytes += [UInt8(id >> 8), UInt8(truncatingIfNeeded: id), UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)]
        bytes += [UInt8](repeating: 0, count: 8)
    }

    /// Number of bytes written.
    package var byteCount: Int { bytes.count }

    package var isEmpty: Bool { bytes.count == Self.headerByteCount }

    /// Adds a question. Returns `false` and adds nothing if it does not fit.
    ///
    /// - Precondition: No record was added yet.
    package mutating func add(_ question: DNSQuestion) -> Bool {
        precondition(section == .question, "questions must precede records")
        return attempt(.question) { writer in
            writer.write(question.name, mayCompress: true)
            writer.write(question.type.rawValue)
            writer.write(question.recordClass.rawValue | (question.acceptsUnicast ? 0x8000 : 0))
        }
    }

    /// Adds a record. Returns `false` and adds nothing if it does not fit.
    ///
    /// - Parameter inMulticast: Whether to compress the target in an SRV record and the next name in an NSEC record.
    ///   Some unicast resolvers do not understand these names in compressed form (RFC 6762 §18.14).
    /// - Precondition: Records are added in section order.
    package mutating func add(_ record: DNSRecord, to section: Section, inMulticast: Bool = false) -> Bool {
        precondition(
            section.rawValue >= self.section.rawValue && section != .question, "sections must be filled in order")
        return attempt(section) { writer in
            writer.write(record.name, mayCompress: true)
            writer.write(record.type.rawValue)
            writer.write(record.recordClass.rawValue | (record.flushesCache ? 0x8000 : 0))
            writer.write(record.timeToLive)
            writer.writeContent { $0.write(record.data, inMulticast: inMulticast) }
        }
    }

    package mutating func add(_ extensions: DNSExtensions, code: DNSResponseCode = .noError) -> Bool {
        attempt(.additional) { writer in
            writer.write(DNSName.root, mayCompress: false)
            writer.write(DNSRecordType.opt.rawValue)
            writer.write(extensions.payloadByteCount)
            writer.write(
                UInt32(code.rawValue >> 4) << 24 | UInt32(extensions.version) << 16
                    | (extensions.wantsSecurityRecords ? 0x8000 : 0))
            writer.writeContent { writer in
                for option in extensions.options {
                    writer.write(option.code)
                    writer.write(UInt16(clamping: option.value.count))
                    writer.bytes += option.value.prefix(Int(UInt16.max))
                }
            }
        }
    }

    /// Sets the TC flag. It tells the receiver that records follow in another message or were left out.
    package mutating func markTruncated() { bytes[2] |= UInt8(DNSMessage.Flags.isTruncated.rawValue >> 8) }

    package func finish() -> [UInt8] {
        var result = bytes
        for (index, count) in counts.enumerated() {
            result[4 + 2 * index] = UInt8(count >> 8)
            result[5 + 2 * index] = UInt8(truncatingIfNeeded: count)
        }
        return result
    }

    private mutating func attempt(_ section: Section, _ body: (inout DNSMessageWriter) -> Void) -> Bool {
        let start = bytes.count
        body(&self)
        guard bytes.count <= limit, counts[section.rawValue] < UInt16.max else {
            bytes.removeSubrange(start...)
            suffixes = suffixes.filter { $0.value < start }
            if let position = first?.position, position >= start { first = nil }
            return false
        }
        self.section = section
        counts[section.rawValue] += 1
        return true
    }

    // MARK: Parts

    mutating func write<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }

    mutating func write(_ name: DNSName, mayCompress: Bool) {
        guard let first else {
            // No name was written before, so no pointer is possible. Remember this name as the first one, unless it is
            // the root name. Pointers never refer to the root name.
            if !name.isRoot { first = (name, bytes.count) }
            bytes += name.wire
            return
        }
        if suffixes.isEmpty { index(first.name, at: first.position) }
        var rest = name.wire[...]
        while let length = rest.first, length > 0 {
            if mayCompress, let target = suffixes[rest] { return write(0xC000 | target) }
            // Later names may contain a pointer to this name even if this name itself must not be compressed.
            if bytes.count < Self.pointerLimit { suffixes[rest] = UInt16(bytes.count) }
            bytes += rest.prefix(1 + Int(length))
            rest = rest.dropFirst(1 + Int(length))
        }
        bytes.append(0)
    }

    private mutating func index(_ name: DNSName, at position: Int) {
        var rest = name.wire[...]
        while let length = rest.first, length > 0, position + rest.startIndex < Self.pointerLimit {
            suffixes[rest] = UInt16(position + rest.startIndex)
            rest = rest.dropFirst(1 + Int(length))
        }
    }
}
