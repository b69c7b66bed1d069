/// The elements common to all NTLM messages (MS-NLMP §2.2.1). Integers are little-endian.
package enum NTLMMessage {
    /// The first 8 bytes of every message.
    static let signature = Array("NTLMSSP\0".utf8)

    /// The length and position of a value in the variable part of a message (MS-NLMP §2.2.1).
    ///
    /// In the message, the length is written twice.
    struct Place {
        var count: Int
        var position: Int
    }

    static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    static func append(_ place: Place, to bytes: inout [UInt8]) {
        append(UInt16(truncatingIfNeeded: place.count), to: &bytes)
        append(UInt16(truncatingIfNeeded: place.count), to: &bytes)
        append(UInt32(truncatingIfNeeded: place.position), to: &bytes)
    }

    /// Reads a message's signature and type.
    static func readStart(_ reader: inout ByteReader, type: UInt32) throws(WireError) {
        guard try reader.readBytes(signature.count) == signature else { throw .invalid("signature", at: 0) }
        guard try reader.readLittleEndian(as: UInt32.self) == type else { throw .invalid("message type", at: 8) }
    }

    static func readPlace(_ reader: inout ByteReader) throws(WireError) -> Place {
        let count: UInt16 = try reader.readLittleEndian()
        _ = try reader.readLittleEndian(as: UInt16.self)
        let position: UInt32 = try reader.readLittleEndian()
        return Place(count: Int(count), position: Int(position))
    }

    /// Returns the value at `place` in the NTLM message. A value of zero bytes may have any position.
    static func value(at place: Place, in message: [UInt8]) throws(WireError) -> [UInt8] {
        guard place.count > 0 else { return [] }
        guard place.position <= message.count else { throw .invalid("value position", at: place.position) }
        let available = message.count - place.position
        guard place.count <= available else {
            throw .truncated(needed: place.count, available: available, at: place.position)
        }
        return Array(message[place.position..<place.position + place.count])
    }

    /// Returns a text as little-endian UTF-16.
    package static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }
}

/// The first NTLM message: the client's options (MS-NLMP §2.2.1.1). It names neither a domain nor a workstation.
package struct NTLMNegotiateMessage: Equatable, Sendable {
    package var flags: NTLMFlags

    package init(flags: NTLMFlags) { self.flags = flags }

    /// Parses a negotiate message. Does not read the names in it.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes.span)
        try NTLMMessage.readStart(&reader, type: 1)
        flags = NTLMFlags(rawValue: try reader.readLittleEndian())
    }

    package var encoded: [UInt8] {
        var bytes = NTLMMessage.signature
        NTLMMessage.append(UInt32(1), to: &bytes)
        NTLMMessage.append(flags.rawValue, to: &bytes)
        // The message names neither a domain nor a workstation.
        for _ in 0..<2 { NTLMMessage.append(NTLMMessage.Place(count: 0, position: 0), to: &bytes) }
        return bytes
    }
}
