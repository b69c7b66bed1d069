/// The second NTLM message: the server's challenge (MS-NLMP §2.2.1.2).
package struct NTLMChallengeMessage: Equatable, Sendable {
    /// Challenge size in bytes.
    package static let challengeByteCount = 8

    package var flags: NTLMFlags
    /// The server's challenge: 8 random bytes.
    package var challenge: [UInt8]
    /// The name of the server or its domain, in the character set that `flags` states.
    package var target: [UInt8]
    /// The server's attributes; empty if the server sent none.
    package var attributes: [NTLMAttribute]

    package init(flags: NTLMFlags, challenge: [UInt8], target: [UInt8] = [], attributes: [NTLMAttribute] = []) {
        self.flags = flags
        self.challenge = challenge
        self.target = target
        self.attributes = attributes
    }

    /// Parses a message. Old servers omit the attributes.
    package init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes.span)
        try NTLMMessage.readStart(&reader, type: 2)
        let target = try NTLMMessage.readPlace(&reader)
        flags = NTLMFlags(rawValue: try reader.readLittleEndian())
        challenge = try reader.readBytes(Self.challengeByteCount)
        self.target = try NTLMMessage.value(at: target, in: bytes)
        attributes = []
        guard flags.contains(.hasAttributes) else { return }
        // Skip 8 reserved bytes.
        try reader.skip(8)
        let place = try NTLMMessage.readPlace(&reader)
        let value = try NTLMMessage.value(at: place, in: bytes)
        if !value.isEmpty { attributes = try NTLMAttribute.parse(value, base: place.position) }
    }

    /// The encoded message; `nil` if a value is too long or the challenge has a wrong size.
    package var encoded: [UInt8]? {
        let hasAttributes = flags.contains(.hasAttributes)
        guard challenge.count == Self.challengeByteCount, target.count <= UInt16.max,
            let list = hasAttributes ? NTLMAttribute.encode(attributes) : [], list.count <= UInt16.max
        else { return nil }
        // The size of the message's fixed part, including the version field.
        let start = 56
        var bytes = NTLMMessage.signature
        NTLMMessage.append(UInt32(2), to: &bytes)
        NTLMMessage.append(NTLMMessage.Place(count: target.count, position: start), to: &bytes)
        NTLMMessage.append(flags.rawValue, to: &bytes)
        bytes += challenge
        NTLMMessage.append(UInt64(0), to: &bytes)
        NTLMMessage.append(NTLMMessage.Place(count: list.count, position: start + target.count), to: &bytes)
        NTLMMessage.append(UInt64(0), to: &bytes)
        return bytes + target + list
    }
}
