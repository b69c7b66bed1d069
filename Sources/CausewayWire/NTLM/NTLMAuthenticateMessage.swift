/// The third message of NTLM: the response of the client (MS-NLMP §2.2.1.3).
package struct NTLMAuthenticateMessage: Equatable, Sendable {
    /// The number of bytes of an integrity code.
    package static let integrityCodeByteCount = 16
    /// The position of the integrity code in a message that has one, behind the version.
    private static let integrityCodePosition = 72

    package var flags: NTLMFlags
    /// The response of the older protocol. Version 2 has one of 24 bytes.
    package var lmResponse: [UInt8]
    package var ntResponse: [UInt8]
    /// The name of the domain, in the character set that `flags` names; empty for that of the server.
    package var domain: [UInt8]
    package var user: [UInt8]
    /// 16 bytes that protect all three messages; `nil` for none.
    package var integrityCode: [UInt8]?

    package init(
        flags: NTLMFlags, lmResponse: [UInt8], ntResponse: [UInt8], domain: [UInt8], user: [UInt8],
        integrityCode: [UInt8]? = nil
    ) {
        self.flags = flags
        self.lmResponse = lmResponse
        self.ntResponse = ntResponse
        self.domain = domain
        self.user = user
        self.integrityCode = integrityCode
    }

    /// Parses a message.
    ///
    /// - Parameter hasIntegrityCode: Whether the message has an integrity code. Its response says that, not its fixed part.
    package init(parsing bytes: [UInt8], hasIntegrityCode: Bool) throws(WireError) {
        var reader = ByteReader(bytes.span)
        try NTLMMessage.readStart(&reader, type: 3)
        var places: [NTLMMessage.Place] = []
        for _ in 0..<6 { places.append(try NTLMMessage.readPlace(&reader)) }
        flags = NTLMFlags(rawValue: try reader.readLittleEndian())
        integrityCode = nil
        if hasIntegrityCode {
            // The version.
            try reader.skip(8)
            integrityCode = try reader.readBytes(Self.integrityCodeByteCount)
        }
        lmResponse = try NTLMMessage.value(at: places[0], in: bytes)
        ntResponse = try NTLMMessage.value(at: places[1], in: bytes)
        domain = try NTLMMessage.value(at: places[2], in: bytes)
        user = try NTLMMessage.value(at: places[3], in: bytes)
    }

    /// The bytes of the message, without a workstation and a session key; `nil` if a value is longer than 65,535 bytes.
    package var encoded: [UInt8]? {
        let values = [lmResponse, ntResponse, domain, user, [], []]
        guard values.allSatisfy({ $0.count <= UInt16.max }),
            integrityCode.map({ $0.count == Self.integrityCodeByteCount }) ?? true
        else { return nil }
        var position = Self.integrityCodePosition + (integrityCode?.count ?? 0)
        var bytes = NTLMMessage.signature
        NTLMMessage.append(UInt32(3), to: &bytes)
        for value in values {
            NTLMMessage.append(NTLMMessage.Place(count: value.count, position: position), to: &bytes)
            position += value.count
        }
        NTLMMessage.append(flags.rawValue, to: &bytes)
        // No version.
        NTLMMessage.append(UInt64(0), to: &bytes)
        return bytes + (integrityCode ?? []) + values.joined()
    }
}
