/// The third NTLM message: the client's response (MS-NLMP §2.2.1.3).
package struct NTLMAuthenticateMessage: Equatable, Sendable {
    /// Integrity code (MIC) size in bytes.
    package static let integrityCodeByteCount = 16
    /// The position of the integrity code in bytes. This code follows the version field.
    private static let integrityCodePosition = 72

    package var flags: NTLMFlags
    /// The LM response to the server's challenge. In NTLMv2, this response has 24 bytes.
    package var lmResponse: [UInt8]
    package var ntResponse: [UInt8]
    /// The domain name, in the character set that `flags` states; empty for the server's domain.
    package var domain: [UInt8]
    package var user: [UInt8]
    /// 16 bytes that authenticate all three messages; `nil` if the message has no integrity code.
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

    /// Parses an NTLM AUTHENTICATE message.
    ///
    /// - Parameter hasIntegrityCode: Whether the message has an integrity code. The caller finds this in an attribute
    ///   of the NT response. The fixed part of the message does not contain it.
    package init(parsing bytes: [UInt8], hasIntegrityCode: Bool) throws(WireError) {
        var reader = ByteReader(bytes.span)
        try NTLMMessage.readStart(&reader, type: 3)
        var places: [NTLMMessage.Place] = []
        for _ in 0..<6 { places.append(try NTLMMessage.readPlace(&reader)) }
        flags = NTLMFlags(rawValue: try reader.readLittleEndian())
        integrityCode = nil
        if hasIntegrityCode {
            // Skip the version.
            try reader.skip(8)
            integrityCode = try reader.readBytes(Self.integrityCodeByteCount)
        }
        lmResponse = try NTLMMessage.value(at: places[0], in: bytes)
        ntResponse = try NTLMMessage.value(at: places[1], in: bytes)
        domain = try NTLMMessage.value(at: places[2], in: bytes)
        user = try NTLMMessage.value(at: places[3], in: bytes)
    }

    /// The encoded message, without workstation name and session key. `nil` if a value is longer than 65,535 bytes, or
    /// if the integrity code has a wrong size.
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
        // The version field contains zeros.
        NTLMMessage.append(UInt64(0), to: &bytes)
        return bytes + (integrityCode ?? []) + values.joined()
    }
}
